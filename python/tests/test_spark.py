"""Spark in this process: the bytes are those of one machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_stages import corpus

import lookalike
from lookalike.errors import DocumentError, OptionError

pytest.importorskip("pyspark", reason="pyspark is not installed")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    yield session
    session.stop()


def frame(spark: Any, rows: list[dict[str, Any]]) -> Any:
    values = [tuple(row[name] for name in ("id", "text", "date", "site")) for row in rows]
    return spark.createDataFrame(values, "id string, text string, date string, site string").repartition(3)


def joined(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("part-*")))


def test_files_and_counts_are_those_of_one_machine(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    rows = corpus(300)
    documents, reference = rows[:250], rows[250:]
    options: dict[str, Any] = {"threshold": 0.5, "keep": "field:date", "source_field": "site", "pairs": True}
    for side in (None, reference):
        one = lookalike.find(documents, reference=side, **options)
        there = None if side is None else frame(spark, side)
        found = lookalike.spark.find(frame(spark, documents), reference=there, **options)
        assert found.counts == one.counts and found.counts["groups"] > 5
        name = "alone" if side is None else "reference"
        one.write(tmp_path / f"{name}.csv")
        one.write_pairs(tmp_path / f"{name}-pairs.csv")
        found.write(str(tmp_path / name))
        found.write_pairs(str(tmp_path / f"{name}-pairs"))
        assert joined(tmp_path / name) == (tmp_path / f"{name}.csv").read_bytes()
        assert joined(tmp_path / f"{name}-pairs") == (tmp_path / f"{name}-pairs.csv").read_bytes()
        assert sorted(row["id"] for row in found.empty.collect()) == one.empty["id"]


def test_a_checkpoint_goes_on_and_refuses_another_run(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    docs, folder = frame(spark, corpus(120)), str(tmp_path / "run")
    first = lookalike.spark.find(docs, threshold=0.5, checkpoint=folder)
    files = sorted(path for path in Path(folder).rglob("part-*"))
    again = lookalike.spark.find(docs, threshold=0.5, checkpoint=folder)
    assert again.counts == first.counts
    assert files == sorted(path for path in Path(folder).rglob("part-*"))
    with pytest.raises(OptionError, match=r"threshold was 0\.5 and is 0\.6"):
        lookalike.spark.find(docs, threshold=0.6, checkpoint=folder)
    with pytest.raises(OptionError, match=r"partitions was 3 and is 5"):
        lookalike.spark.find(docs, threshold=0.5, checkpoint=folder, partitions=5)
    with pytest.raises(OptionError, match=r"reference was False and is True"):
        lookalike.spark.find(docs, threshold=0.5, checkpoint=folder, reference=docs)


def test_dedup_keeps_rows_as_they_are(spark: Any) -> None:
    import lookalike.spark

    rows = corpus(200)
    docs = frame(spark, rows)
    kept = lookalike.spark.dedup(docs, threshold=0.5)
    assert kept.columns == docs.columns
    expected = lookalike.dedup(rows, threshold=0.5)
    assert sorted(row["id"] for row in kept.collect()) == [row["id"] for row in expected]
    roles = lookalike.spark.dedup(docs, threshold=0.5, annotate=True).collect()
    assert len(roles) == len(rows) and {row["role"] for row in roles} == {"unique", "keeper", "duplicate"}


def test_bad_input_is_one_clear_error(spark: Any) -> None:
    import lookalike.spark

    rows = corpus(30)
    twice = [*rows, rows[3]]
    with pytest.raises(DocumentError, match=r"'d00003' \(2 rows\)"):
        lookalike.spark.find(frame(spark, twice))
    with pytest.raises(DocumentError, match="no column 'url'"):
        lookalike.spark.find(frame(spark, rows), id="url")
    rows[4] = {**rows[4], "text": None}
    with pytest.raises(DocumentError, match=r'^the document "d00004" cannot be used.*count such rows$'):
        lookalike.spark.find(frame(spark, rows))
    found = lookalike.spark.find(frame(spark, rows), skip_bad=True)
    assert found.counts["skipped"] == 1 and found.skipped.collect()[0]["id"] == "d00004"
    with pytest.raises(OptionError, match="task_memory"):
        lookalike.spark.find(frame(spark, rows), skip_bad=True, threshold=0.5, task_memory=10)
