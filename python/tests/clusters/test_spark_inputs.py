"""Columns of any name, skipped rows, and checkpoints from which other runs continue."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spark_cluster
from divided_runs import by_id, compare, frame, joined, large, with_annotations
from soak import IS_SOAK, slow
from test_stages import corpus

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError, FileError, OptionError

if (reason := spark_cluster.missing()) is not None:
    pytest.skip(reason, allow_module_level=True)

#: Options with little memory for a task, so that documents are decided in rounds.
ROUNDS: dict[str, Any] = {"threshold": 0.6, "shingle": "words:3", "task_memory": 22_000}


@slow
@pytest.mark.parametrize("name", ["kept", "part", "slice", "range", "earlier"])
def test_rounds_accept_any_column_name(spark: Any, tmp_path: Path, name: str) -> None:
    import lookalike.spark

    rows = [{**row, name: row["date"]} for row in large("edits", 80)]
    docs = frame(spark, rows).withColumnRenamed("date", name)
    options = ROUNDS | {"keep": [f"field:{name}:asc"]}
    found = lookalike.spark.find(docs, **options)
    options.pop("task_memory")
    one = lookalike.find(rows, **options)
    assert "rounds" in found.seconds and len(one) > 3
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()


@pytest.mark.parametrize("name", ["Node", "COMPONENT", "lookalike_part"])
def test_reserved_column_names_are_errors(spark: Any, name: str) -> None:
    import lookalike.spark

    docs = frame(spark, corpus(20)).withColumnRenamed("date", name)
    with pytest.raises(OptionError, match=f"'{name}'.*rename"):
        lookalike.spark.find(docs, keep=f"field:{name}")


@pytest.mark.parametrize(
    ("id_", "text"), [("i`d", "é.b ü"), *([("a.b", "te`xt"), ("é ü", "a,b")] if IS_SOAK else [])]
)
def test_names_with_signs_are_names(spark: Any, id_: str, text: str) -> None:
    import lookalike.spark

    rows = corpus(150)
    docs = frame(spark, rows).withColumnRenamed("id", id_).withColumnRenamed("text", text)
    options: dict[str, Any] = {"id": id_, "text": text, "threshold": 0.5}
    expected = [row["id"] for row in lookalike.dedup(rows, threshold=0.5)]
    kept = lookalike.spark.dedup(docs, **options)
    assert sorted(row[id_] for row in kept.collect()) == expected and kept.columns == docs.columns
    roles = lookalike.spark.dedup(docs, annotate=True, **options)
    assert roles.where("lookalike_kept").count() == len(expected)


@pytest.mark.parametrize("name", ["lookalike_kept", "Lookalike_Keeper", "LOOKALIKE_JACCARD"])
def test_annotation_columns_fail_before_run(
    spark: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    import lookalike.spark._run as module

    monkeypatch.setattr(module.SparkRun, "run", lambda _: pytest.fail("the run has begun"))
    with pytest.raises(OptionError, match=f"'{name}'"):
        lookalike.spark.dedup(
            frame(spark, corpus(10)).withColumnRenamed("site", name), annotate=True
        )


def test_a_column_named_role_is_annotated(spark: Any) -> None:
    import lookalike.spark

    docs = (
        frame(spark, corpus(40))
        .withColumnRenamed("site", "role")
        .withColumnRenamed("date", "jaccard")
    )
    rows = [row.asDict() for row in docs.collect()]
    annotated = lookalike.spark.dedup(docs, threshold=0.5, annotate=True).collect()
    assert by_id(row.asDict() for row in annotated) == by_id(with_annotations(rows, threshold=0.5))


def test_spark_path_rules_require_path_field(spark: Any) -> None:
    import lookalike.spark

    docs = [
        {"id": "a", "text": "see you at ten at the usual place", "file": "x/late.txt"},
        {"id": "b", "text": "See you at ten at the usual place", "file": "y/orig.txt"},
    ]
    rows = spark.createDataFrame(docs, "id string, text string, file string")
    with pytest.raises(
        OptionError, match="rows have none; path_field='COLUMN' names a column of paths"
    ):
        lookalike.spark.find(rows, keep="path:**/orig.*")
    keep: dict[str, Any] = {"keep": "path:**/orig.*", "path_field": "file"}
    assert [row["id"] for row in lookalike.spark.dedup(rows, **keep).collect()] == ["b"]
    assert [row["id"] for row in lookalike.dedup(docs, **keep)] == ["b"]
    with pytest.warns(UserWarning, match="no document matches the pattern 'no/\\*\\*'"):
        lookalike.spark.find(rows, keep="path:no/**", path_field="file")


def test_ids_keep_their_type(spark: Any) -> None:
    import lookalike.spark

    docs = [
        {"id": n, "text": text}
        for n, text in enumerate(["one two three", "One two three", "four five six", ""])
    ]
    rows = spark.createDataFrame(docs, "id bigint, text string")
    found = lookalike.spark.find(rows, pairs=True)
    assert [(row["id"], row["keeper"]) for row in found.groups.collect()] == [(0, 0), (1, 0)]
    assert [tuple(row)[:2] for row in found.pairs.collect()] == [(0, 1)]
    assert [row["id"] for row in found.empty.collect()] == [3]
    annotated = lookalike.spark.dedup(rows, annotate=True).where("not lookalike_kept").collect()
    assert [row["lookalike_keeper"] for row in annotated] == [0]


def test_rows_of_dedup_are_released(spark: Any) -> None:
    import lookalike.spark

    storage = spark.sparkContext._jsc.getPersistentRDDs
    before = set(storage().keySet())
    rows = lookalike.spark.dedup(frame(spark, corpus(20)))
    assert rows.count() and not set(storage().keySet()) <= before
    lookalike.spark.release(rows)
    assert set(storage().keySet()) <= before
    with lookalike.spark.find(frame(spark, corpus(20))) as found:
        assert found.groups.count() and not set(storage().keySet()) <= before
    assert set(storage().keySet()) <= before
    with pytest.raises(DocumentTypeError, match="^rows: expected a frame that"):
        lookalike.spark.release(rows)


def test_a_report_is_overwritten_on_request(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    found = lookalike.spark.find(frame(spark, corpus(20)), threshold=0.5, pairs=True)
    for write in (found.write, found.write_pairs):
        write(tmp_path / "report")
        before = joined(tmp_path / "report")
        (tmp_path / "report" / "part-99999-old.txt").write_text("old")
        with pytest.raises(FileError, match="already exists"):
            write(tmp_path / "report")
        write(tmp_path / "report", mode="overwrite")
        assert joined(tmp_path / "report") == before
        shutil.rmtree(tmp_path / "report")
    with pytest.raises(OptionError, match="^mode: expected 'error' or 'overwrite'"):
        found.write(tmp_path / "report", mode="append")


def test_unusable_checkpoint_fails_before_stages(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lookalike.spark._run as module

    (tmp_path / "file").touch()
    monkeypatch.setattr(
        module.SparkRun, "connect", lambda _: pytest.fail("the first stage has begun")
    )
    with pytest.raises(
        FileError,
        match=f"^cannot use the checkpoint {tmp_path}/file/run: {tmp_path}/file is not a directory",
    ):
        lookalike.spark.find(frame(spark, corpus(5)), checkpoint=tmp_path / "file" / "run")


@pytest.mark.parametrize("task_memory", ["2GiB", *([ROUNDS["task_memory"]] if IS_SOAK else [])])
def test_bad_rows_may_reuse_ids(spark: Any, task_memory: Any) -> None:
    import lookalike.spark

    rows = large("edits", 80)
    ids = [row["id"] for row in rows]
    bad = [{"id": name, "text": None} for name in ids] + [
        {"id": None, "text": "no id " * 9},
        {"id": "", "text": "no id " * 9},
    ]
    options: dict[str, Any] = {"threshold": 0.6, "shingle": "words:3", "skip_bad": True}
    docs = frame(spark, [*rows, *bad])
    found = lookalike.spark.find(docs, task_memory=task_memory, **options)
    one = lookalike.find(rows, **options)
    assert found.counts["skipped"] == len(rows) + 2
    assert [row["id"] for row in found.skipped.where("reason = 'the id is empty'").collect()] == [
        None
    ]
    assert {name: found.counts[name] for name in ("groups", "duplicates")} == {
        name: one.counts[name] for name in ("groups", "duplicates")
    }
    kept = lookalike.spark.dedup(docs, task_memory=task_memory, **options).collect()
    assert sorted(row["id"] for row in kept) == sorted(
        row["id"] for row in lookalike.dedup(rows, **options)
    )
    roles = lookalike.spark.dedup(docs, annotate=True, task_memory=task_memory, **options).collect()
    skipped = [row for row in roles if row["text"] is None or not row["id"]]
    assert all(not row["lookalike_kept"] and row["lookalike_keeper"] is None for row in skipped)
    assert len(skipped) == len(rows) + 2 and len(roles) == 2 * len(rows) + 2
    with pytest.raises(
        DocumentError,
        match='^a document cannot be used: the id, the column "id", is empty in this row; '
        ".*skip_bad=True",
    ):
        lookalike.spark.find(frame(spark, [*rows, bad[-1]]))


@slow
@pytest.mark.parametrize(
    ("first", "then"), [(ROUNDS["task_memory"], "2GiB"), ("2GiB", ROUNDS["task_memory"])]
)
def test_checkpoints_resume_with_other_memory(
    spark: Any, tmp_path: Path, first: Any, then: Any
) -> None:
    rows, folder = large("edits", 80), str(tmp_path / "run")
    options = {**ROUNDS, "checkpoint": folder, "same_work": False}
    for number, task_memory in enumerate((first, then)):
        compare(spark, tmp_path / str(number), rows, **(options | {"task_memory": task_memory}))


def test_checkpoints_resume_without_repeated_ids(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    rows, folder = corpus(150), str(tmp_path / "run")
    twice = frame(spark, [*rows, rows[3], rows[4]])
    with pytest.raises(DocumentError, match=r"'d00003' \(2 rows\), 'd00004'"):
        lookalike.spark.find(twice, threshold=0.5, checkpoint=folder)
    found = lookalike.spark.find(twice.dropDuplicates(["id"]), threshold=0.5, checkpoint=folder)
    assert found.counts == lookalike.find(rows, threshold=0.5).counts


def test_failed_runs_release_storage(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import lookalike.spark._run as module

    def fails(*_: object) -> None:
        raise OptionError("the labels fail")

    storage = spark.sparkContext._jsc.getPersistentRDDs
    before = set(storage().keySet())
    monkeypatch.setattr(module, "label_components", fails)
    with pytest.raises(OptionError, match="the labels fail"):
        lookalike.spark.find(frame(spark, corpus(20)))
    assert set(storage().keySet()) <= before


def test_unusable_spark_paths_are_errors(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    file = tmp_path / "file"
    file.touch()
    docs = frame(spark, corpus(10))
    unknown = (
        'No FileSystem for scheme "foo"; name a scheme whose file system Spark has, such as s3a://'
    )
    for checkpoint, cause in ((str(file), "not a directory"), ("foo://x/y", unknown)):
        with pytest.raises(FileError) as error:
            lookalike.spark.find(docs, checkpoint=checkpoint)
        assert str(error.value).startswith(
            f"cannot use the checkpoint {checkpoint}"
        ) and cause in str(error.value)
        assert "\n" not in str(error.value)
    found = lookalike.spark.find(docs)
    with pytest.raises(
        FileError,
        match=rf"^cannot write {file}/groups: .*not a directory: file:{file}; name another path",
    ):
        found.write(f"{file}/groups")
    with pytest.raises(FileError, match=f"^cannot check whether foo://x/y exists: {unknown}"):
        found.write("foo://x/y")


def test_spark_inputs_must_be_dataframes(spark: Any) -> None:
    import lookalike.spark

    rows = corpus(5)
    for name, documents in (("df", rows), ("df", None), ("reference", rows)):
        for call in (
            lookalike.spark.find,
            lambda df, **options: lookalike.spark.dedup(df, annotate=True, **options),
        ):
            with pytest.raises(
                DocumentTypeError,
                match=f"^{name}: expected a DataFrame of Spark, got builtins.*createDataFrame",
            ):
                call(**{"df": frame(spark, rows), name: documents})


#: Invalid calls of `find`: a function that changes the data frame, arguments, the error, and its
#: message.
REFUSED: list[tuple[Callable[[Any], Any], dict[str, Any], type[Exception], str]] = [
    (
        lambda df: df.withColumnRenamed("site", "text"),
        {},
        DocumentError,
        "^df has 2 columns 'text'; rename",
    ),
    (
        lambda df: df.withColumnRenamed("site", "TEXT"),
        {},
        DocumentError,
        "^df has the columns 'text', 'TEXT', .*; rename",
    ),
    (
        lambda df: df.withColumnRenamed("site", "Date"),
        {"keep": "field:date"},
        DocumentError,
        "the columns 'date', 'Date', ",
    ),
    (
        lambda df: df.sparkSession.readStream.format("rate").load(),
        {},
        DocumentTypeError,
        "^df: .* got a stream; write it to a table",
    ),
    (
        lambda df: df,
        {"checkpoint": ""},
        OptionError,
        "^checkpoint: expected the name of a file or folder, got ''",
    ),
    (
        lambda df: df,
        {"checkpoint": 5},
        OptionError,
        "^checkpoint: expected a str or a pathlib.Path, got 5",
    ),
    (
        lambda df: df,
        {"partitions": 2**31},
        OptionError,
        r"^partitions: expected a whole number from 1 to 2\*\*31 - 1, got 21",
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_invalid_inputs_fail_before_run(
    spark: Any, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    import lookalike.spark._run as module

    change, options, kind, problem = REFUSED[number]
    monkeypatch.setattr(module.SparkRun, "run", lambda _: pytest.fail("the run has begun"))
    with pytest.raises(kind, match=problem) as error:
        lookalike.spark.find(change(frame(spark, corpus(5))), **options)
    assert "\n" not in str(error.value)


def test_case_sensitive_sessions_distinguish_columns(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lookalike.spark._run as module

    monkeypatch.setattr(module.SparkRun, "run", lambda run: run.documents.collect())
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        lookalike.spark.find(frame(spark, corpus(5)).withColumnRenamed("site", "TEXT"))
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_spark_accepts_pathlib_and_result_columns(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark._run as module

    rows = corpus(60)
    docs = frame(spark, rows).withColumnRenamed("site", "Lookalike_ID")
    found = lookalike.spark.find(docs, threshold=0.5, pairs=True, checkpoint=tmp_path / "run")
    found.write(tmp_path / "groups")
    found.write_pairs(tmp_path / "pairs")
    assert (
        all(joined(tmp_path / name) for name in ("groups", "pairs"))
        and (tmp_path / "run" / "decided").is_dir()
    )
    expected = [row["id"] for row in lookalike.dedup(rows, threshold=0.5)]
    kept, roles = (
        module.survivors(docs, found.run, annotate=annotate) for annotate in (False, True)
    )
    assert sorted(row["id"] for row in kept.collect()) == expected and kept.columns == docs.columns
    assert roles.columns == [
        *docs.columns,
        *(f"lookalike_{name}" for name in ("kept", "group", "keeper", "jaccard", "group_size")),
    ]
    assert roles.where("lookalike_kept").count() == len(expected)
