"""The code that runs in a Python process of an executor, without an engine."""

from __future__ import annotations

import errno
import importlib
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike import stages
from lookalike._divided.stage_tasks import (
    MEMBER_ORDER,
    BlockTask,
    ConnectTask,
    KeyTask,
    LabelTask,
    MatchTask,
    MemberTask,
    PlaceTask,
    SliceTask,
    UnsortedDecideTask,
    _runs,
)
from lookalike._divided.task_errors import TaskError, cause_of, file_errors, task_errors
from lookalike.errors import DocumentError, FileError, LookalikeError, OptionError
from lookalike.spark._json_lines import LineFields, ParseTask
from lookalike.spark._tasks import (
    DecideTask,
    LineTask,
    MergeTask,
    OneFileTask,
    SameTask,
    SortedTask,
)
from lookalike.spark._worker import _WorkerTask
from lookalike.stages import KEPT, PART


def doubled(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        yield 2 * batch


@pytest.mark.parametrize(
    "name", ["pyspark.zip", "py4j-0.10.9.9-src.zip", "spark-core_2.13-4.1.4.jar"]
)
def test_packages_of_archives_are_found_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = str(tmp_path / name)
    with zipfile.ZipFile(archive, "w") as file:
        for name in ("one", "two"):
            file.writestr(f"packed_{name}/__init__.py", "")
            file.writestr(f"packed_{name}/module.py", f"VALUE = {name!r}")
    monkeypatch.syspath_prepend(archive)
    # The modules of an earlier archive have the same names.
    for module in [module for module in sys.modules if module.startswith("packed_")]:
        monkeypatch.delitem(sys.modules, module)
    assert importlib.import_module("packed_one.module").VALUE == "one"
    assert any(path.startswith(archive) and path != archive for path in sys.path_importer_cache)
    task = pickle.loads(pickle.dumps(_WorkerTask(doubled)))
    assert list(task([1, 2])) == [2, 4]
    # From Python 3.12 on, importers read their directories on use, so they remain in the cache.
    is_kept = sys.version_info >= (3, 12)
    assert any(path.startswith(archive) for path in sys.path_importer_cache) == is_kept
    assert importlib.import_module("packed_two.module").VALUE == "two"
    monkeypatch.delitem(sys.modules, "packed_one.module")
    assert importlib.import_module("packed_one.module").VALUE == "one"


def test_worker_tasks_keep_their_names() -> None:
    assert _WorkerTask(doubled).__name__ == "doubled"
    assert _WorkerTask(MergeTask(3)).__name__ == "MergeTask"


@pytest.mark.parametrize("values", [[], [4], [4, 4], [1, 2, 3], [1, 1, 2, 3, 3, 3]])
def test_equal_values_form_runs(values: list[int]) -> None:
    pa = pytest.importorskip("pyarrow")
    batch = pa.record_batch([pa.array(values, pa.int64())], names=["range"])
    runs = [table["range"].to_pylist() for table in _runs(batch, "range")]
    assert runs == [[value] * values.count(value) for value in sorted(set(values))]


@pytest.mark.parametrize("most", [0, 1 << 30])
def test_sorted_task_orders_rows(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    from lookalike.spark import _tasks

    monkeypatch.setattr(_tasks, "_SHORT_BYTES", most)
    monkeypatch.setattr(_tasks, "_SORTED_ROWS", 3)
    rows = [
        {"size": size, "id": name, "kept": kept}
        for size in (2, 9, 4)
        for name in ("é", "b", "z")
        for kept in (False, True)
    ]
    batches = pa.Table.from_pylist(rows).to_batches(5)
    task = pickle.loads(
        pickle.dumps(
            SortedTask(
                SameTask(), [("size", "descending"), ("id", "ascending"), ("kept", "descending")]
            )
        )
    )
    found = list(task([batches[0].slice(0, 0), *batches]))
    assert all(batch.num_rows <= 3 for batch in found)
    expected = sorted(
        rows, key=lambda row: (-row["size"], str(row["id"]).encode(), not row["kept"])
    )
    assert pa.Table.from_batches(found).to_pylist() == expected
    assert list(task([])) == []


def test_unsorted_decide_task_equals_sorted_task() -> None:
    pa = pytest.importorskip("pyarrow")
    plan = stages.plan()
    rows = [
        {
            "id": f"d{number}",
            "text": f"{number % 3} two three four five six",
            "component": number % 3,
        }
        for number in range(12)
    ]
    table = pa.Table.from_pylist(rows).append_column("check", pa.nulls(12, pa.int64()))
    task = pickle.loads(pickle.dumps(UnsortedDecideTask(plan)))
    found = pa.Table.from_batches(
        list(task([table.to_batches()[0].slice(0, 0), *table.to_batches(5)]))
    )
    expected = pa.Table.from_batches(
        list(DecideTask(plan)(table.sort_by("component").to_batches(5)))
    )
    assert (
        found.to_pylist() == expected.to_pylist() and found["role"].to_pylist().count("keeper") == 3
    )
    assert list(task([])) == []


def test_one_file_task_merges_batches() -> None:
    pa = pytest.importorskip("pyarrow")
    batches = [
        pa.record_batch([pa.array(values, pa.string())], names=["value"])
        for values in (["a\nb"], [], ["c"])
    ]
    lines = [
        batch.to_pydict()
        for header in ("h", "")
        for batch in OneFileTask(SameTask(), header)(batches)
    ]
    assert lines == [{"value": ["h", "a\nb", "c"]}, {"value": ["a\nb", "c"]}]
    assert [batch.to_pydict() for batch in OneFileTask(SameTask(), "h")([])] == [{"value": ["h"]}]


def raising(error: Exception) -> Any:
    def task(_: Iterable[Any]) -> Iterator[Any]:
        raise error
        yield

    return task


@pytest.mark.parametrize(
    "around", ["{}", "org.apache.X: Traceback:\n  File x\nT: {}\n\n\tat org.Y\nError: no", "a{}b"]
)
@pytest.mark.parametrize(
    "message",
    ["a document", 'two\nlines, "quoted" é', "Error: \tat lookalike.errors.OptionError: x"],
)
def test_task_errors_survive_engine_wrapping(message: str, around: str) -> None:
    with pytest.raises(TaskError) as stated:
        list(_WorkerTask(raising(DocumentError(message)))([]))
    with pytest.raises(DocumentError) as found, task_errors("install it"):
        raise RuntimeError(around.format(stated.value))
    assert str(found.value) == message and type(found.value) is DocumentError


def test_worker_environment_failures_are_recognised() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/x")
    with pytest.raises(TaskError) as stated:
        list(_WorkerTask(raising(full))([]))
    for error in (
        full,
        RuntimeError(f"x\n{stated.value}"),
        RuntimeError(f"at\njava.io.IOException: {os.strerror(errno.ENOSPC)}\n\tat"),
    ):
        with (
            pytest.raises(FileError, match="a worker has no space left") as found,
            task_errors("install it"),
        ):
            raise error
        assert os.strerror(errno.ENOSPC) in str(found.value) and "\n" not in str(found.value)
    for message in (
        "No module named 'lookalike'",
        "No module named 'lookalike.spark'",
        "cannot import name 'x' from 'lookalike.stages' (x.py)",
        "Can't get attribute 'MergeTask' on <module 'lookalike.spark._tasks' from 'x.py'>",
    ):
        with (
            pytest.raises(
                OptionError, match="a worker has no lookalike, or another .* install it"
            ) as missing,
            task_errors("install it"),
        ):
            raise RuntimeError(f"Traceback:\nImportError: {message}\n\tat org.X")
        assert lookalike._engine.VERSION in str(missing.value)
    with (
        pytest.raises(
            OptionError, match="a worker has no pyarrow, which the driver has: install it"
        ),
        task_errors("install it"),
    ):
        raise RuntimeError("Traceback:\nModuleNotFoundError: No module named 'pyarrow'\n\tat org.X")
    with pytest.raises(RuntimeError), task_errors("install it"):
        raise RuntimeError("No module named 'lookalikes'")


def test_other_task_errors_pass_through() -> None:
    class OwnError(LookalikeError):
        pass

    for error in (KeyError("x"), OSError(errno.EACCES, "no"), OwnError("own")):
        with pytest.raises(type(error)) as found, task_errors("install it"):
            raise error
        assert found.value is error
    with pytest.raises(KeyError):
        list(_WorkerTask(raising(KeyError("x")))([]))


#: A module that prints the number of objects exempt from garbage collection, before and after two
#: tasks.
WORKER = """
import gc
from lookalike.spark._tasks import MergeTask
from lookalike.spark._worker import _WorkerTask

def task(batches):
    return iter([gc.get_freeze_count()])

before = gc.get_freeze_count()
counts = [*_WorkerTask(task)([]), *_WorkerTask(task)([])]
print(before, *counts)
"""


@pytest.mark.parametrize(
    ("name", "is_worker"), [("pyspark.worker", True), ("pyspark.daemon", True), ("server", False)]
)
def test_worker_modules_are_exempt_from_gc(name: str, is_worker: bool, tmp_path: Path) -> None:
    *packages, module = name.split(".")
    folder = tmp_path.joinpath(*packages)
    if packages:
        folder.mkdir()
        (folder / "__init__.py").touch()
    (folder / f"{module}.py").write_text(WORKER)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    run = subprocess.run(
        [sys.executable, "-m", name],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    before, first, second = map(int, run.stdout.split())
    if is_worker:
        # Some exempt objects are freed later. The second task exempts no further objects.
        assert first - 100 < second <= first and first > 1000
    else:
        assert first == second == before


#: A program that runs a task on the batches of a file, and prints the imported modules.
RUN_TASK = """
import pickle, sys
import pyarrow as pa
from lookalike.spark._worker import _WorkerTask

task, given, made = sys.argv[1:]
batches = pa.ipc.open_file(given)
rows = [batches.get_batch(number) for number in range(batches.num_record_batches)]
with open(task, "rb") as file:
    found = list(_WorkerTask(pickle.load(file))(rows))
with pa.ipc.new_file(made, found[0].schema) as file:
    for batch in found:
        file.write_batch(batch)
print([name for name in ("pandas", "pyspark", "ray") if name in sys.modules])
"""


def test_tasks_do_not_import_pandas(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")

    def run(task: Any, table: Any) -> Any:
        paths = [
            str(tmp_path / f"{type(task).__name__}.{end}") for end in ("task", "given", "made")
        ]
        Path(paths[0]).write_bytes(pickle.dumps(task))
        with pa.ipc.new_file(paths[1], table.schema) as file:
            file.write_table(table, max_chunksize=5)
        done = subprocess.run(
            [sys.executable, "-c", RUN_TASK, *paths], capture_output=True, text=True
        )
        assert (done.stdout, done.returncode) == ("[]\n", 0), (
            f"{type(task).__name__}: {done.stderr}"
        )
        return pa.ipc.open_file(paths[2]).read_all()

    def of_kind(table: Any, kind: str) -> Any:
        return table.filter(pa.compute.equal(table["kind"], kind))

    plan = stages.plan()
    rows = [
        {"id": f"d{number:02}", "text": f"{number % 3} two three four five six seven"}
        for number in range(12)
    ]
    documents = pa.Table.from_pylist(rows)
    documents = documents.append_column("node", stages.nodes(plan, documents))
    # A null means that the document is not a reference document.
    documents = documents.append_column("reference", pa.array([None, *[False] * 8, *[True] * 3]))
    lines = pa.table({"__lookalike_line": [b" ", *(json.dumps(row).encode() for row in rows)]})
    assert run(ParseTask(LineFields("text", "id"), with_lines=False), lines).to_pylist() == rows
    connected = run(ConnectTask(2, probed=plan.is_probed), run(KeyTask(plan, 2), documents))
    forest = run(MergeTask(2), of_kind(connected, "edges"))
    labels = run(LabelTask(), pa.concat_tables([forest, of_kind(connected, "identities")]))
    joined = documents.join(labels, "node", join_type="inner").sort_by("component")
    decided = run(DecideTask(plan), joined)
    assert run(UnsortedDecideTask(plan), joined).num_rows == decided.num_rows
    in_part = (
        joined.drop_columns(["component"]).append_column(PART, pa.array([0] * 12)).sort_by(plan.id)
    )
    assert (
        of_kind(
            run(BlockTask(plan), in_part.append_column(KEPT, pa.array([False] * 12))), "member"
        ).num_rows
        > 0
    )
    assert (
        of_kind(
            run(MatchTask(plan), in_part.append_column(KEPT, pa.array([True, *[False] * 11]))),
            "member",
        ).num_rows
        > 0
    )
    places = run(PlaceTask(plan), joined)
    assert (
        run(SliceTask({0: 0}, 100), places.append_column("range", pa.array([0] * 12, pa.int32())))[
            "slice"
        ][-1].as_py()
        > 1
    )
    members = of_kind(decided, "member").sort_by(list(MEMBER_ORDER))
    assert set(
        run(MemberTask(), members.drop_columns(["kind", "role", "id"]))["role"].to_pylist()
    ) == {"keeper"}
    ranged = members.append_column("range", pa.array([0] * members.num_rows, pa.int32()))
    lines = run(LineTask(plan, offsets={0: 0}), ranged)
    groups = b"".join(f"{text}\n".encode() for text in lines["value"].to_pylist())
    assert groups == stages.group_lines(plan, members)
    assert members.num_rows == 12


def test_oversized_line_rows_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    plan = stages.plan()
    rows = [
        {"id": f"d{number}", "text": "one two three four five six", "component": 1}
        for number in range(9)
    ]
    documents = pa.Table.from_pylist(rows).append_column("check", pa.nulls(9, pa.int64()))
    decided = pa.Table.from_batches(list(DecideTask(plan)(documents.to_batches())))
    members = decided.filter(pa.compute.equal(decided["kind"], "member")).sort_by(
        list(MEMBER_ORDER)
    )
    batches = members.append_column("range", pa.array([0] * 9, pa.int32())).to_batches()
    (line,) = list(LineTask(plan, "jsonl", offsets={0: 0})(batches))
    size = len(line["value"][0].as_py()) + 1
    monkeypatch.setattr("lookalike.spark._tasks.MOST_BYTES", size)
    assert list(LineTask(plan, "jsonl", offsets={0: 0})(batches)) == [line]
    monkeypatch.setattr("lookalike.spark._tasks.MOST_BYTES", size - 1)
    with pytest.raises(
        OptionError,
        match=f"lines of 9 documents take {size} bytes, and a row of the engine holds "
        f'{size - 1}; write format="csv"',
    ):
        list(LineTask(plan, "jsonl", offsets={0: 0})(batches))
    monkeypatch.setattr("lookalike.spark._tasks.MOST_BYTES", 20)
    with pytest.raises(
        OptionError,
        match=r"a row of the engine holds 20; set spark\.sql\.execution\.arrow\.maxRecordsPerBatch",
    ):
        list(LineTask(plan, offsets={0: 0})(batches))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "An error occurred while calling o1.load.\n: org.x.SparkException: Job aborted\n\tat "
            "org.x.A(A.java:1)\n"
            "Caused by: java.io.IOException: Mkdirs failed to create file:/x/_temporary/0 "
            "(exists=false)\n\tat org.x.B(B.java:2)",
            "Mkdirs failed to create file:/x",
        ),
        (
            "An error occurred while calling o1.load.\n: org.x.PythonException: Traceback (most "
            'recent call last):\n  File "a"\n'
            "ValueError: no\n\n\tat org.x.A(A.java:1)",
            "ValueError: no",
        ),
        (
            '(org.x.UnsupportedFileSystemException) No FileSystem for scheme "s3"\n\nJVM '
            "stacktrace:\norg.x.A\n\tat org.x.B",
            'No FileSystem for scheme "s3"',
        ),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03",
            "[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03",
        ),
        ("", "ValueError"),
    ],
)
def test_engine_error_causes_are_one_line(text: str, cause: str) -> None:
    assert cause_of(ValueError(text)) == cause


def test_file_errors_convert_only_file_failures() -> None:
    for text in (
        "Caused by: java.io.EOFException",
        f"\n: {TaskError(OptionError('permission denied'))}",
        os.strerror(errno.ENOSPC),
    ):
        with pytest.raises(ValueError), file_errors("cannot write x"):
            raise ValueError(text)
    with (
        pytest.raises(
            FileError, match="^cannot write x: Permission denied: user=a; name another path"
        ),
        file_errors("cannot write x"),
    ):
        raise ValueError(
            "An error\n: org.apache.hadoop.security.AccessControlException: Permission denied: "
            "user=a\n\tat org.x.A"
        )


def test_parse_task_extracts_field_columns() -> None:
    pa = pytest.importorskip("pyarrow")
    lines = [
        b'{"id": 1.0, "text": "x", "d": [2]} ',
        b"\t",
        b'{"id": "b", "text": null}',
        b"\xff",
        b"[]",
    ]
    batch = pa.record_batch({"day": ["1", "2", "3", "4", "5"], "__lookalike_line": lines})

    def rows(
        fields: LineFields, *, with_lines: bool = False, part: Any = batch
    ) -> list[dict[str, Any]]:
        return [
            row
            for found in ParseTask(fields, with_lines)([part.slice(0, 0), part])
            for row in found.to_pylist()
        ]

    first = {"id": "1.0", "text": "x", "d": "[2]", "day": "1"}
    empty = {"id": None, "text": None, "d": None}
    found = rows(LineFields("text", "id", ("d", "text"), skip_bad=True), with_lines=True)
    assert found[0] == first | {"__lookalike_line": lines[0], "__lookalike_is_object": True}
    assert found[1] == empty | {
        "day": "3",
        "__lookalike_line": lines[2],
        "__lookalike_is_object": True,
    }
    assert [row["__lookalike_is_object"] for row in found] == [True, True, False, False]
    assert rows(LineFields("text", None), part=batch.slice(0, 2)) == [{"text": "x", "day": "1"}]
    assert rows(LineFields("text", "text"), part=batch.slice(0, 2)) == [{"text": "x", "day": "1"}]
    with pytest.raises(
        DocumentError, match='"text" must be a string, got null; fix it, .*it begins with .*null'
    ):
        rows(LineFields("text", "id"))
    with pytest.raises(
        OptionError, match='a line has the field "d", which annotate=True adds; rename it first'
    ):
        rows(LineFields("text", "id", refused=("role", "d")))
    with pytest.raises(
        lookalike.errors.DocumentTypeError, match="lines: expected binary without nulls, got string"
    ):
        lookalike._engine.JsonLines("text", "id", [], False, []).read(pa.table({"lines": ["{}"]}))


def test_first_line_must_contain_fields() -> None:
    reader = LineFields("text", "id", skip_bad=True).reader()
    for line in (b'{"id": "a", "text": "x"}', b'{"id": "a", "text": 1}', b"not json", b" "):
        reader.check_first(line)
    for line, problem in ((b'{"id": "a"}', 'no field "text"'), (b"[1]", "expected a JSON object")):
        with pytest.raises(DocumentError, match=f"the first line cannot be used: {problem}"):
            reader.check_first(line)
