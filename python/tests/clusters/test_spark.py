"""`lookalike.spark` on a cluster of a master and two workers writes the same bytes as one
machine."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import spark_cluster
from divided_runs import (
    BUCKET,
    WORK,
    by_id,
    compare,
    filled_in,
    frame,
    joined,
    kill_once,
    large,
    python_path,
    same_attributes,
    skewed,
    sources,
    star_round_calls,
    with_annotations,
)
from soak import IS_SOAK, slow
from spark_core_cases import later_files
from test_stages import corpus

import lookalike
from lookalike.errors import ChangedError, DocumentError, DocumentTypeError, FileError, OptionError

if (reason := spark_cluster.missing()) is not None:
    pytest.skip(reason, allow_module_level=True)


def test_spark_outputs_equal_one_machine(spark: Any, tmp_path: Path) -> None:
    rows = corpus(300)
    documents, reference = rows[:250], rows[250:]
    options: dict[str, Any] = {"threshold": 0.5, "keep": "field:date", "source_field": "site"}
    if IS_SOAK:
        compare(spark, tmp_path / "alone", documents, groups=6, **options)
    compare(
        spark,
        tmp_path / "reference",
        documents,
        reference=reference,
        groups=6,
        frames=True,
        **options,
    )


def test_stages_are_logged_and_reported(spark: Any, caplog: pytest.LogCaptureFixture) -> None:
    import lookalike.spark

    reported: list[tuple[str, int, int | None]] = []
    with caplog.at_level("INFO", "lookalike.spark"):
        found = lookalike.spark.find(
            frame(spark, corpus(30)), threshold=0.5, progress=lambda *what: reported.append(what)
        )
    assert reported == [(stage, done, 1) for stage in found.seconds for done in (0, 1)]
    events = [
        (record.stage, getattr(record, "seconds", None))
        for record in caplog.records
        if record.name == "lookalike.spark"
    ]  # type: ignore[attr-defined]
    assert events[::2] == [(stage, None) for stage in found.seconds]
    assert events[1::2] == list(found.seconds.items())
    assert "stage keys begins" in caplog.messages
    with pytest.raises(ZeroDivisionError):
        _spark_find(spark, corpus(30), progress=lambda *_: 1 // 0)


CASES: list[dict[str, Any]] = [
    {
        "keep": ["field:site:asc", "shortest"],
        "partitions": 5,
        "scheme": "xor",
        "seed": 7,
        "shingle": "chars:9",
    },
]
#: Options of runs without signatures, which compare other documents than one machine does.
EXACT: list[dict[str, Any]] = [
    {"measure": "containment", "threshold": 0.8, "keep": "shortest"},
]
SOAK_EXACT: list[dict[str, Any]] = [
    {"exact": True, "threshold": 0.5, "partitions": 7},
    {"exact": True, "threshold": 0.6, "task_memory": 4_000, "shingle": "words:2"},
    {"measure": "containment", "threshold": 0.9, "task_memory": 4_000, "shingle": "words:2"},
]
SOAK_CASES: list[dict[str, Any]] = [
    {"keep": ["field:site:asc", "shortest"], "partitions": 1, "shingle": "chars:9"},
    {"keep": "longest", "partitions": 8, "scheme": "xor", "seed": 7, "shingle": "words:2"},
    {"partitions": 64, "keep": ["field:date", "shortest"]},
    {"partitions": 2, "case": "keep", "frequencies": True, "shingle": "bag"},
    {"partitions": 17, "group": "components", "tokens": "whitespace", "shingle": "words:3"},
    {"partitions": 5, "normalize": "nfkc", "keep": ["field:date:asc", "longest"]},
    {"partitions": 8, "num_hashes": 64, "bands": 16, "rows": 4, "scheme": "mod-prime"},
]


@slow
@pytest.mark.parametrize("case", CASES + SOAK_CASES)
def test_options_and_partitions(spark: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    rows = corpus(250, seed=3)
    random.Random(1).shuffle(rows)
    compare(spark, tmp_path / "run", rows, pieces=5, **{"threshold": 0.5, **case})


@pytest.mark.parametrize("case", EXACT + (SOAK_EXACT if IS_SOAK else []))
def test_runs_without_signatures(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    """Outside of soak tests, also simulates more than 10 million documents in components, whose
    labels are not sent to all executors."""
    if not IS_SOAK:
        monkeypatch.setattr("lookalike.spark._run._BROADCAST", 1)
    rows = corpus(250, seed=3)
    compare(spark, tmp_path / "run", rows[40:], reference=rows[:40], same_work=False, **case)


#: Kinds of skew and the memory of a task. With little memory, components are decided in rounds.
SKEWED: list[tuple[str, int]] = [("copies", 2 << 30)]
SOAK_SKEWED: list[tuple[str, int]] = [
    (kind, memory)
    for kind in ("copies", "forms", "chains", "bucket")
    for memory in (2 << 30, 200_000)
]


@pytest.mark.parametrize(("kind", "task_memory"), SOAK_SKEWED if IS_SOAK else SKEWED)
def test_skew(spark: Any, tmp_path: Path, kind: str, task_memory: int) -> None:
    documents = (
        {"copies": 10_000, "forms": 5_000, "chains": 3_000, "bucket": 3_000}[kind]
        if IS_SOAK
        else 300
    )
    rows, is_small = skewed(kind, documents), task_memory < 1 << 30
    options = BUCKET if kind == "bucket" else {"threshold": 0.7, "shingle": "words:3"}
    one, found = (
        lookalike.find(rows, **options),
        _spark_find(spark, rows, task_memory=task_memory, **options),
    )
    # Rare shingles divide the bucket, because most of its documents resemble no other.
    assert ("divide" in found.seconds) == is_small and ("rounds" in found.seconds) == (
        is_small and kind != "bucket"
    )
    work = {name: found.counts[name] for name in WORK} if is_small else {}
    assert found.counts == one.counts | work and found.counts["groups"] > 3
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    found.release()


#: Options of runs with large components. `killed` is the task during which an executor is killed.
LARGE: list[dict[str, Any]] = [
    {
        "kind": "edits",
        "keep": "shortest",
        "source_field": "site",
        "references": 30,
        "task_memory": 22_000,
        "killed": "MatchTask",
    },
]
SOAK_LARGE: list[dict[str, Any]] = [
    {"kind": "templates", "threshold": 0.7},
    {"kind": "edits", "keep": ["field:date", "longest"], "partitions": 7},
    {"kind": "templates", "threshold": 0.5, "references": 100, "partitions": 1},
    {"kind": "edits", "task_memory": 3_000, "references": 150},
    *(
        {"kind": "edits", "killed": task}
        for task in ("CountTask", "PlaceTask", "SliceTask", "DecideTask", "BlockTask")
    ),
]


@pytest.mark.parametrize("case", LARGE + (SOAK_LARGE if IS_SOAK else []))
def test_components_larger_than_a_task(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    case = {"threshold": 0.6, "shingle": "words:3", "task_memory": 12_000, **case}
    task, flag, references = (
        case.pop("killed", None),
        tmp_path / "killed",
        case.pop("references", 0),
    )
    rows = large(case.pop("kind"), 80 if task else 600)
    reference = rows[:references] or None
    if task:
        case["checkpoint"] = str(tmp_path / "checkpoint")
        kill_once(monkeypatch, task, flag)
    found = compare(
        spark, tmp_path / "run", rows[references:], reference=reference, same_work=False, **case
    )
    assert "rounds" in found.seconds and flag.exists() == (task is not None)
    if "source_field" in case:
        assert [row.asDict() for row in found.sources.collect()] == sources(
            rows, references, case["threshold"], case["shingle"], case["keep"]
        )


@slow
def test_spark_divides_template_components(spark: Any, tmp_path: Path) -> None:
    rows = filled_in()
    # With few rows in a band, the forms share buckets although they are below the threshold.
    options: dict[str, Any] = {
        "threshold": 0.8,
        "bands": 20,
        "rows": 2,
        "num_hashes": 40,
        "shingle": "words:3",
        "recall": None,
    }
    found = compare(spark, tmp_path / "run", rows, same_work=False, task_memory=2_000, **options)
    # Buckets connect all forms. After the division, forms without a copy are in no component.
    assert found.counts["candidates"] <= 30 and found.counts["copies"] == 30
    assert lookalike.find(rows, **options).counts["candidates"] == 90


@slow
@pytest.mark.parametrize("kind", ["chains", "edits"])
def test_a_graph_larger_than_a_task(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Components are found in rounds. The components of `edits` also exceed a task."""
    from lookalike._divided import star_rounds
    from lookalike.spark import _connect

    calls = star_round_calls(monkeypatch, _connect)
    options: dict[str, Any] = {"threshold": 0.7, "shingle": "words:3", "partitions": 5, "groups": 1}
    if kind == "chains":
        monkeypatch.setattr(_connect, "edge_limit", lambda _: 500)
        compare(spark, tmp_path / "run", skewed(kind, 3_000), **options)
    else:
        monkeypatch.setattr(star_rounds, "LEAST_EDGE_BYTES", 0)
        options |= {
            "threshold": 0.6,
            "task_memory": 3_000,
            "same_work": False,
            "checkpoint": str(tmp_path / "checkpoint"),
        }
        compare(spark, tmp_path / "run", large(kind, 200), **options)
    assert calls


@slow
def test_spark_bands_reproduce_on_one_machine(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    rows = corpus(120)
    found = lookalike.spark.find(frame(spark, rows), threshold=0.7, documents=10**11)
    chosen = {name: found.parameters[name] for name in ("num_hashes", "bands", "rows")}
    assert chosen != {name: lookalike.find(rows, threshold=0.7).parameters[name] for name in chosen}
    one = lookalike.find(rows, threshold=0.7, **chosen)
    assert found.counts == one.counts and found.parameters == one.parameters
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()


@slow
def test_components_are_not_decided_in_rounds(spark: Any) -> None:
    with pytest.raises(OptionError, match="task_memory allows 9000"):
        _spark_find(
            spark,
            large("edits", 120),
            task_memory=9_000,
            threshold=0.6,
            shingle="words:3",
            group="components",
        )


def _spark_find(spark: Any, rows: list[dict[str, Any]], /, **options: Any) -> Any:
    import lookalike.spark

    return lookalike.spark.find(frame(spark, rows), **options)


KILLED = ["KeyTask", "ConnectTask", "MergeTask", "LabelTask", "DecideTask", "LineTask"]


@pytest.mark.parametrize("task", KILLED if IS_SOAK else ["DecideTask"])
def test_spark_survives_killed_executors(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    flag = tmp_path / "killed"
    kill_once(monkeypatch, task, flag)
    compare(spark, tmp_path / "run", corpus(200), threshold=0.5)
    assert flag.exists()


class Stopped(Exception):
    """Ends a run as if the driver had stopped."""


def stop_at(monkeypatch: pytest.MonkeyPatch, stage: str, *, is_whole: bool) -> None:
    """Ends a run when the result of a stage is written. `is_whole` decides whether its manifest is
    written first."""
    from lookalike.spark._checkpoint import Checkpoint

    original = Checkpoint.result

    def result(self: Any, name: str, make: Any, check: Any = lambda _: None) -> Any:
        def stopping(_: Any) -> None:
            raise Stopped

        rows = original(self, name, make, stopping if name == stage and not is_whole else check)
        if name == stage:
            raise Stopped
        return rows

    monkeypatch.setattr(Checkpoint, "result", result)


#: Stages, and whether the manifest is written.
STOPPED = [("labels", True)]
SOAK_STOPPED = [
    *(
        (stage, is_whole)
        for stage in ("connected", "labels", "decided", "members")
        for is_whole in (False, True)
    ),
    *(
        (f"large-12000-{stage}", True)
        for stage in (
            "documents",
            "connected",
            "labels",
            "decided",
            "places",
            "slices",
            "round-0-decided",
            "round-0-matched",
            "round-1",
            "duplicates",
            "pairs",
            "members",
        )
    ),
    ("large-12000-round-0-matched", False),
]


@pytest.mark.parametrize(("stage", "is_whole"), SOAK_STOPPED if IS_SOAK else STOPPED)
def test_stopped_runs_resume_finished_stages(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, is_whole: bool
) -> None:
    import lookalike.spark

    is_large = stage.startswith("large")
    rows = large("edits", 80) if is_large else corpus(150)
    options: dict[str, Any] = {"threshold": 0.6, "shingle": "words:3", "pairs": True}
    one = lookalike.find(rows, **options)
    one.write(tmp_path / "one.csv")
    options |= {"checkpoint": str(tmp_path / "run"), "task_memory": 12_000 if is_large else "2GiB"}
    with monkeypatch.context() as patched:
        stop_at(patched, stage, is_whole=is_whole)
        with pytest.raises(Stopped):
            lookalike.spark.find(frame(spark, rows), **options).write(str(tmp_path / "stopped"))
    written = {path: path.read_bytes() for path in (tmp_path / "run").rglob("part-*")}
    assert (
        any(path.parent.name == stage for path in written) and not (tmp_path / "stopped").exists()
    )
    found = lookalike.spark.find(frame(spark, rows), **options)
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    work = {name: found.counts[name] for name in WORK} if is_large else {}
    assert found.counts == one.counts | work and found.counts["groups"] > 3
    assert ("rounds" in found.seconds) == is_large
    for path, content in written.items():
        assert (path.parent.name == stage and not is_whole) or path.read_bytes() == content


@slow
def test_checkpoints_survive_killed_drivers(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    rows, folder, docs = corpus(200), tmp_path / "run", str(tmp_path / "docs")
    frame(spark, rows).write.parquet(docs)
    script = textwrap.dedent(f"""
        import os, signal
        import lookalike.spark, lookalike.spark._run as module
        from pyspark.sql import SparkSession
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        session = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
        module.SparkRun.decide = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
        lookalike.spark.find(session.read.parquet({docs!r}), threshold=0.5, checkpoint={str(folder)!r})
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    before = set(folder.rglob("part-*"))
    assert {path.parent.name for path in before} >= {"connected", "labels"}
    assert not (folder / "decided").exists()
    found = lookalike.spark.find(spark.read.parquet(docs), threshold=0.5, checkpoint=str(folder))
    assert found.counts == lookalike.find(rows, threshold=0.5).counts
    assert before <= set(folder.rglob("part-*"))


def test_checkpoints_reject_different_runs(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    docs, folder = frame(spark, corpus(120)), str(tmp_path / "run")
    first = lookalike.spark.find(docs, threshold=0.5, checkpoint=folder)
    files = sorted(path for path in Path(folder).rglob("part-*"))
    repeated = lookalike.spark.find(docs, threshold=0.5, checkpoint=folder)
    assert repeated.counts == first.counts
    assert files == sorted(path for path in Path(folder).rglob("part-*"))
    with pytest.raises(OptionError, match=r"threshold was 0\.5 and is 0\.6"):
        lookalike.spark.find(docs, threshold=0.6, checkpoint=folder)
    with pytest.raises(OptionError, match=r"partitions was 3 and is 5"):
        lookalike.spark.find(docs, threshold=0.5, checkpoint=folder, partitions=5)
    with pytest.raises(OptionError, match=r"reference was False and is True"):
        lookalike.spark.find(docs, threshold=0.5, checkpoint=folder, reference=docs)


def test_later_added_files_are_read(spark: Any, tmp_path: Path) -> None:
    later_files(spark, tmp_path, corpus(60))


def test_dedup_keeps_rows_as_they_are(spark: Any) -> None:
    import lookalike.spark

    rows = corpus(200)
    docs = frame(spark, rows)
    persisted = spark.sparkContext._jsc.sc().getPersistentRDDs().size()
    kept = lookalike.spark.dedup(docs, threshold=0.5)
    assert kept.columns == docs.columns
    expected = lookalike.dedup(rows, threshold=0.5)
    assert by_id(row.asDict() for row in kept.collect()) == by_id(expected)
    # The cluster keeps only the duplicates, and releases the results of all other stages.
    assert spark.sparkContext._jsc.sc().getPersistentRDDs().size() <= persisted + 1
    annotated = lookalike.spark.dedup(docs, threshold=0.5, annotate=True).collect()
    assert by_id(row.asDict() for row in annotated) == by_id(with_annotations(rows, threshold=0.5))


@pytest.mark.parametrize(
    ("column", "kind", "expected"),
    [
        *(
            ("id", kind, "string or whole numbers")
            for kind in ("double", "decimal(9,2)", "date", "boolean", "binary", "array<string>")
        ),
        *(("text", kind, "string") for kind in ("int", "binary", "array<string>")),
        *(
            ("date", kind, "string, numbers, booleans, dates or times")
            for kind in ("binary", "array<int>", "map<string,int>", "struct<a:int>")
        ),
    ],
)
def test_columns_of_other_types_are_refused(
    spark: Any, column: str, kind: str, expected: str
) -> None:
    import lookalike.spark

    docs = frame(spark, corpus(2)).withColumn(column, functions().expr(f"cast(null as {kind})"))
    with pytest.raises(DocumentTypeError) as error:
        lookalike.spark.find(docs, keep="field:date")
    remedy = f"df.withColumn('{column}', df['{column}'].cast('string')) makes texts of it"
    assert str(error.value) == f"df: the column '{column}' is {kind}, expected {expected}; {remedy}"
    # Spark accepts the suggested remedy.
    assert (
        docs.withColumn(column, docs[column].cast("string")).schema[column].dataType.simpleString()
        == "string"
    )


def functions() -> Any:
    from pyspark.sql import functions

    return functions


def test_ids_are_whole_numbers_or_texts(spark: Any) -> None:
    import lookalike.spark

    rows = corpus(60)
    docs = frame(spark, rows).withColumn("id", functions().expr("cast(substring(id, 2) as int)"))
    found = lookalike.spark.find(docs, threshold=0.5, keep="field:date")
    numbered = [{**row, "id": str(int(row["id"][1:]))} for row in rows]
    assert found.counts == lookalike.find(numbered, threshold=0.5, keep="field:date").counts
    with pytest.raises(OptionError, match="id: expected the name of a column"):
        lookalike.spark.find(docs, id=None)  # type: ignore[arg-type]


def test_spark_reports_bad_input(spark: Any) -> None:
    import lookalike.spark

    rows = corpus(30)
    twice = [*rows, rows[3]]
    with pytest.raises(
        DocumentError, match=r"'d00003' \(2 rows\).*df\.dropDuplicates\(\['id'\]\) leaves"
    ):
        lookalike.spark.find(frame(spark, twice))
    with pytest.raises(DocumentError, match="no column 'url'"):
        lookalike.spark.find(frame(spark, rows), id="url")
    with pytest.raises(DocumentTypeError, match="the column 'text' is int, expected string"):
        lookalike.spark.find(
            frame(spark, rows).selectExpr("id", "cast(length(text) as int) as text")
        )
    rows[4] = {**rows[4], "text": None}
    with pytest.raises(
        DocumentError, match=r'^the document "d00004" cannot be used.*count such rows$'
    ):
        lookalike.spark.find(frame(spark, rows))
    found = lookalike.spark.find(frame(spark, rows), skip_bad=True)
    assert found.counts["skipped"] == 1 and found.skipped.collect()[0]["id"] == "d00004"
    rows[4] = {**rows[4], "id": None, "text": "a b c d e f"}
    with pytest.raises(DocumentError, match="cannot be used"):
        lookalike.spark.find(frame(spark, rows))


def test_spark_attributes_equal_one_machine(spark: Any) -> None:
    import lookalike.spark

    rows = [*corpus(60), {"id": "empty", "text": "..."}, {"id": "none", "text": None}]
    options: dict[str, Any] = {"threshold": 0.5, "skip_bad": True, "source_field": "site"}
    one = lookalike.find(rows, pairs=True, **options)
    with lookalike.spark.find(frame(spark, rows), pairs=True, **options) as found:
        types = {"bigint": "int64", "boolean": "bool"}
        for name, columns in same_attributes(found, one).items():
            table = getattr(found, name)
            assert type(table).__name__ == "DataFrame"
            assert {column: types.get(kind, kind) for column, kind in table.dtypes} == columns
        assert found.empty.collect()[0]["id"] == "empty"
        without = lookalike.spark.find(frame(spark, rows), skip_bad=True)
        assert without.sources.count() == 0 and not without.has_pairs
        for copied in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="its frames belong to this session of Spark; wr"):
                copied(found)
        assert copy.copy(found) is found


def test_groups_arrive_in_parts(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result yields its first group without collecting all rows."""
    from pyspark.sql import DataFrame

    import lookalike.spark

    rows = corpus(120)
    found = lookalike.spark.find(frame(spark, rows), threshold=0.5, partitions=4)
    monkeypatch.setattr(DataFrame, "collect", lambda _: pytest.fail("all rows were collected"))
    monkeypatch.setattr(DataFrame, "toPandas", lambda _: pytest.fail("all rows were collected"))
    groups = iter(found)
    assert next(groups) == lookalike.find(rows, threshold=0.5)[0]
    found.release()


def test_spark_detects_changing_rows(spark: Any) -> None:
    from unstable_tasks import changing_rows

    import lookalike.spark

    docs = spark.range(200).mapInArrow(changing_rows, "id string, text string")
    with pytest.raises(ChangedError, match="each time"):
        lookalike.spark.find(docs, threshold=0.5)


@slow
def test_colliding_spark_nodes_preserve_results(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash that identifies a document has only 256 values. Documents with the same value are
    compared, and are not rejected as repeated."""
    import lookalike.spark
    import lookalike.spark._run as module

    original = module._node

    def cut(columns: list[Any]) -> Any:
        from pyspark.sql import functions as f

        return f.shiftleft(f.shiftright(original(columns), 56), 56)

    monkeypatch.setattr(module, "_node", cut)
    rows = corpus(300)
    found = compare(spark, tmp_path / "run", rows[60:], reference=rows[:60], threshold=0.5)
    sampled = lookalike.audit(
        lookalike.find(rows[60:], reference=rows[:60], threshold=0.5, pairs=True), sample=50
    )
    assert lookalike.spark.audit(found, sample=50) == sampled
    rounds: dict[str, Any] = {
        "threshold": 0.5,
        "shingle": "words:2",
        "task_memory": 15_000,
        "same_work": False,
    }
    assert any(not row["text"] for row in rows)
    assert "rounds" in compare(spark, tmp_path / "rounds", rows, **rounds).seconds
    with pytest.raises(DocumentError, match=r"'d00003' \(2 rows\)"):
        _spark_find(spark, [*rows, rows[3]])


#: The files of packages that workers may have instead of this package, with their content.
OTHER_PACKAGES: dict[str, dict[str, str]] = {
    "none": {
        "lookalike/__init__.py": "raise ModuleNotFoundError(\"No module named 'lookalike'\", name='lookalike')"
    },
    "without Spark": {"lookalike/__init__.py": ""},
    "without the task": {
        "lookalike/__init__.py": "",
        "lookalike/spark/__init__.py": "",
        "lookalike/spark/_worker.py": "",
    },
    "another version": {
        "lookalike/__init__.py": """
            __path__ = [{package!r}]
            __file__ = {package!r} + "/__init__.py"
            exec(compile(open(__file__).read(), __file__, "exec"))
            from lookalike import _engine
            _engine.VERSION = "0.0.1"
        """
    },
}


@pytest.mark.parametrize(
    "there", OTHER_PACKAGES if IS_SOAK else ["without the task", "another version"]
)
def test_spark_rejects_mismatched_worker_packages(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    for name, content in OTHER_PACKAGES[there].items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            textwrap.dedent(content).format(package=str(Path(lookalike.__file__).parent))
        )
    # Sets PYTHONPATH for the Python processes of executors.
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(tmp_path))
    expected = {
        "another version": rf"this worker has lookalike 0\.0\.1, the driver has {lookalike.__version__}",
    }.get(
        there,
        f"a worker has no lookalike, or another version than {lookalike.__version__}.* install "
        "the version of the driver",
    )
    with pytest.raises(OptionError, match=expected) as error:
        _spark_find(spark, corpus(20))
    assert "\n" not in str(error.value)


@slow
def test_spark_reports_full_task_disk(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from unstable_tasks import no_space

    import lookalike.spark._run as module

    monkeypatch.setattr(module, "DecideTask", lambda *_: no_space)
    with pytest.raises(
        FileError, match="a worker has no space left for temporary files; make room there"
    ) as error:
        _spark_find(spark, corpus(100), threshold=0.5)
    assert "\n" not in str(error.value)


#: A program that runs `find` in a session of its own, in the given folder.
_ON_ITS_OWN = """
import contextlib
import sys
from pathlib import Path
import spark_cluster
from divided_runs import frame
from test_stages import corpus
import lookalike.spark
from lookalike.errors import FileError

place = Path(sys.argv[1])
with contextlib.ExitStack() as stack:
    {session}
    try:
        lookalike.spark.find(frame(spark, corpus(3000)), num_hashes=600, bands=300, rows=2, checkpoint=str(place / "run"))
    except FileError as error:
        print("refused:", error)
    spark.stop()
"""


#: Sessions, and the folders for temporary files of their workers.
SMALL_DISKS = {
    "one process": (
        "spark = spark_cluster.local_session().config('spark.local.dir', str(place / "
        "'local')).getOrCreate()",
        ["local"],
    ),
    "a cluster": (
        "spark = stack.enter_context(spark_cluster.SparkCluster(place)).session()",
        ["local-worker1", "local-worker2"],
    ),
}


@slow
@pytest.mark.parametrize("where", SMALL_DISKS)
def test_spark_reports_full_worker_disks(tmp_path: Path, where: str) -> None:
    """The disk of each worker has 3 MiB, and the keys need 14 MB."""
    session, disks = SMALL_DISKS[where]
    command = [sys.executable, "-c", _ON_ITS_OWN.format(session=session), str(tmp_path)]
    with contextlib.ExitStack() as mounts:
        for disk in [tmp_path / name for name in disks]:
            disk.mkdir()
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)],
                capture_output=True,
                text=True,
            )
            if mounted.returncode != 0:
                pytest.skip(f"this user cannot mount a small disk: {mounted.stderr.strip()}")
            mounts.callback(subprocess.run, ["umount", "--lazy", str(disk)], check=True)
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": python_path()},
        )
        try:
            # Spark restarts executors until a task has failed four times. This takes 88 s, or over
            # 300 s while three other runs use the machine.
            printed, log = child.communicate(timeout=1200)
        except subprocess.TimeoutExpired:
            # The program must handle the signal, so that it stops the cluster.
            child.send_signal(signal.SIGINT)
            printed, log = child.communicate(timeout=60)
        assert "refused: a worker has no space left for temporary files" in printed, (
            log[-3000:] + printed
        )
        assert not (tmp_path / "run" / "connected.manifest").exists()


@dataclasses.dataclass(frozen=True)
class FailingTask:
    """Yields the lines of a task, and then fails in all partitions but the first two."""

    task: Any

    def __call__(self, batches: Any) -> Any:
        from pyspark import TaskContext

        yield from self.task(batches)
        if TaskContext.get().partitionId() > 1:  # type: ignore[union-attr]
            raise DocumentError("this task fails")


def test_failed_spark_writes_leave_no_parts(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lookalike.spark._run as module

    rows, one = corpus(200), tmp_path / "one.csv"
    found = _spark_find(spark, rows, threshold=0.5)
    lookalike.find(rows, threshold=0.5).write(one)
    with monkeypatch.context() as patched:
        original = module.LineTask
        patched.setattr(module, "LineTask", lambda *arguments: FailingTask(original(*arguments)))
        with pytest.raises(DocumentError, match="this task fails"):
            found.write(str(tmp_path / "failed"))
    # Spark keeps the folder. Tasks that still run may have files there (_temporary).
    assert joined(tmp_path / "failed") == b"" and not (tmp_path / "failed" / "_SUCCESS").exists()
    with pytest.raises(
        FileError, match="failed already exists; name another output, or remove it first"
    ):
        found.write(str(tmp_path / "failed"))
    found.write(str(tmp_path / "again"))
    assert (
        joined(tmp_path / "again") == one.read_bytes()
        and (tmp_path / "again" / "_SUCCESS").exists()
    )
    output = tmp_path / "there"
    output.mkdir()
    (output / "part-of-mine").write_text("x")
    with pytest.raises(FileError, match="already exists"):
        found.write(str(output))
    assert sorted(path.name for path in output.iterdir()) == ["part-of-mine"]
