"""Test cases that run on every engine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from divided_runs import by_source, compare, frame
from soak import IS_SOAK
from spark_cluster import PARQUET_CODEC
from test_stages import corpus

from lookalike.errors import ChangedError, DamagedError, DocumentError, FileError, OptionError


def run_all(spark: Any, place: Path) -> None:
    """Compares runs with runs on one machine, and checks errors and checkpoints."""
    import lookalike.spark

    rows = corpus(250)
    options: dict[str, Any] = {"threshold": 0.5, "keep": "field:date", "source_field": "site"}
    documents, reference = rows[:200], rows[200:]
    found = lookalike.spark.find(frame(spark, documents), partitions=5, **options)
    one = lookalike.find(documents, **options)
    assert found.counts == one.counts and found.counts["groups"] > 5
    assert list(found) == list(one)
    assert [row.asDict() for row in found.sources.collect()] == by_source(one)
    # The reference reuses ids of documents, so several pairs may have the same two ids.
    shared = [{**row, "id": documents[place]["id"]} for place, row in enumerate(reference)]
    compare(spark, place / "files", documents, reference=shared, partitions=5, **options)
    if IS_SOAK:
        rounds: dict[str, Any] = {
            "threshold": 0.5,
            "shingle": "words:2",
            "task_memory": 1_300,
            "same_work": False,
        }
        # Sail does not keep rows between rounds, so they must be written to a folder.
        rounds["checkpoint"] = str(place / "of-rounds")
        assert "rounds" in compare(spark, place / "rounds", rows, **rounds).seconds
    folder = str(place / "run")
    first = lookalike.spark.find(frame(spark, rows), threshold=0.5, checkpoint=folder)
    repeated = lookalike.spark.find(frame(spark, rows), threshold=0.5, checkpoint=folder)
    assert first.counts == repeated.counts == lookalike.find(rows, threshold=0.5).counts
    for other, problem in (
        (rows[1:], "249 rows, the checkpoint is of one with 250"),
        ([*rows[1:], rows[0] | {"id": "x"}], "other ids"),
    ):
        refused(
            ChangedError,
            problem,
            lambda rows=other: lookalike.spark.find(
                frame(spark, rows), threshold=0.5, checkpoint=folder
            ),
        )
    outputs_and_checkpoints(spark, place, rows, first)
    kept = lookalike.spark.dedup(frame(spark, rows), threshold=0.5).collect()
    assert sorted(row["id"] for row in kept) == [
        row["id"] for row in lookalike.dedup(rows, threshold=0.5)
    ]
    bad = [*rows, *({"id": name, "text": "no id " * 9} for name in ("", None, ""))]
    for _ in range(2):
        found = lookalike.spark.find(
            frame(spark, bad), threshold=0.5, skip_bad=True, checkpoint=str(place / "bad")
        )
        assert found.counts == {**first.counts, "skipped": 3}
    assert sorted(row["reason"] for row in found.skipped.collect())[1:] == ["the id is empty"] * 2
    audited(spark, documents, reference)
    extracted(spark)
    lines_of_json(spark, place, rows)
    later_files(spark, place, rows[:60])
    twice = frame(spark, [*rows, rows[3]])
    refused(DocumentError, "'d00003' (2 rows)", lambda: lookalike.spark.find(twice))


def lines_of_json(spark: Any, place: Path, rows: list[dict[str, Any]]) -> None:
    """Checks that lines are read and written, and that a missing input is an error."""
    import lookalike.spark
    from lookalike.spark import _tables
    from lookalike.spark._json_lines import LineFields

    docs, absent, fields = place / "docs.jsonl", str(place / "absent"), LineFields("text", "id")
    docs.write_text("\n".join(map(json.dumps, rows)))
    for kind in ("jsonl", "parquet"):
        refused(
            FileError,
            absent,
            lambda kind=kind: _tables.read(spark, [str(docs), absent], kind, fields),
        )
    inputs = _tables.read(spark, [str(docs)], "jsonl", fields)
    found = lookalike.spark.find(inputs.documents, threshold=0.5)
    assert found.counts == lookalike.find(rows, threshold=0.5).counts
    inputs.write(inputs.rows, str(place / "lines"), "jsonl")
    lines = [
        line for file in (place / "lines").glob("*.txt") for line in file.read_text().splitlines()
    ]
    assert sorted(lines) == sorted(map(json.dumps, rows))


def outputs_and_checkpoints(
    spark: Any, place: Path, rows: list[dict[str, Any]], found: Any
) -> None:
    """Checks that existing files are neither overwritten nor misread: files that are not Parquet,
    existing outputs, and checkpoints that are incomplete or belong to another run."""
    import lookalike.spark
    from lookalike.spark import _tables
    from lookalike.spark._json_lines import LineFields
    from lookalike.spark._order import OrderedRows

    no_parquet = place / "no.parquet"
    no_parquet.write_text("no such thing")
    problem = f"cannot read {no_parquet} as parquet: "
    refused(
        FileError,
        problem,
        lambda: _tables.read(spark, [str(no_parquet)], "parquet", LineFields("text", "id")),
    )
    (place / "empty").mkdir()
    refused(FileError, "empty already exists", lambda: found.write(str(place / "empty")))
    # A file of a stage is missing, which is an error. Without its manifest, the stage runs again.
    max((place / "run" / "labels").glob("*.parquet"), key=lambda path: path.stat().st_size).unlink()
    options: dict[str, Any] = {"threshold": 0.5, "checkpoint": str(place / "run")}
    refused(
        DamagedError,
        "rows of the stage labels, expected",
        lambda: lookalike.spark.find(frame(spark, rows), **options),
    )
    shutil.rmtree(place / "run" / "labels.manifest")
    assert lookalike.spark.find(frame(spark, rows), **options).counts == found.counts
    other: dict[str, Any] = {"threshold": 0.9, "checkpoint": str(place / "run")}
    refused(
        OptionError, "is of another run", lambda: lookalike.spark.find(frame(spark, rows), **other)
    )
    if not OrderedRows(spark, 2).is_sorting:
        rounds: dict[str, Any] = {"threshold": 0.5, "shingle": "words:2", "task_memory": 1_300}
        refused(
            OptionError,
            "name a folder by checkpoint",
            lambda: lookalike.spark.find(frame(spark, rows), **rounds),
        )


def audited(spark: Any, documents: list[dict[str, Any]], reference: list[dict[str, Any]]) -> None:
    """Compares audits of a run that misses pairs with audits on one machine."""
    import lookalike.spark

    lossy: dict[str, Any] = {"threshold": 0.5, "num_hashes": 12, "bands": 3, "rows": 4}
    for pairs in (False, True) if IS_SOAK else (True,):
        one = lookalike.find(documents, reference=reference, pairs=pairs, **lossy)
        found = lookalike.spark.find(
            frame(spark, documents), reference=frame(spark, reference), pairs=pairs, **lossy
        )
        for sample in (50, 1_000):
            assert lookalike.spark.audit(found, sample=sample) == lookalike.audit(
                one, sample=sample
            )


def extracted(spark: Any) -> None:
    """Extracts files that are given as rows of any data frame."""
    import lookalike.spark

    files = [
        ("s3a://b/x/page.html", b"<p>one two</p>"),
        ("s3a://b/x/c/note.rtf", b"{\\rtf1 Two words.}"),
        ("s3a://b/x/picture.png", b"\x89PNG\r\n\x1a\n\0"),
    ]
    result = lookalike.spark.extract(
        spark.createDataFrame(files, "path string, content binary"), folder="s3a://b/x"
    )
    texts = {row["id"]: row["text"] for row in result.documents.collect()}
    assert texts == {"page.html": "one two", "c/note.rtf": "Two words."}
    assert [row["source"] for row in result.skipped.collect()] == ["picture.png"]


def later_files(spark: Any, place: Path, rows: list[dict[str, Any]]) -> None:
    """A second call reads the current files of a folder, even if the cluster has cached the first
    call."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import lookalike.spark
    from lookalike.spark._order import OrderedRows

    (place / "tables").mkdir()
    for number in (20, 60):
        pq.write_table(
            pa.Table.from_pylist(rows[number - 20 : number]),
            place / "tables" / f"{number}.parquet",
            compression=PARQUET_CODEC,
        )
        table = spark.read.parquet(str(place / "tables"))
        found = lookalike.spark.find(table, threshold=0.5, partitions=2)
        assert found.counts["documents"] == table.count()
    if not OrderedRows(spark, 2).is_sorting:
        # Classic Spark draws the same ids again; this engine draws other ids.
        drawn = table.selectExpr("uuid() as id", "text")
        refused(
            ChangedError,
            "must return the same rows each time",
            lambda: lookalike.spark.find(drawn, threshold=0.5, partitions=2),
        )
    (place / "mail").mkdir()
    for name, text in (("a.txt", "one two"), ("b.jsonl", '{"id": ')):
        (place / "mail" / name).write_text(text)

    def read() -> Any:
        files = spark.read.format("binaryFile").load(str(place / "mail"))
        return lookalike.spark.extract(files, folder=str(place / "mail"))

    assert sum(read().counts.values()) == 2
    (place / "mail" / "b.jsonl").unlink()
    assert [row["id"] for row in read().documents.collect()] == ["a.txt"]


def refused(kind: type[Exception], message: str, call: Any) -> None:
    """Asserts that a call raises an error with a message."""
    try:
        call()
    except kind as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"{message!r} was expected")
