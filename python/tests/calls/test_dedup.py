"""dedup returns and writes exactly the documents that it has compared."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts
from waiting import PATIENCE, wait_until, writer

import lookalike
from lookalike.errors import DocumentError, FileError, LookalikeError, OptionError

SAME = "one two three four five six seven"
OTHER = "eight nine ten eleven twelve thirteen"


def jsonl(path: Path, docs: list[str]) -> str:
    lines = (json.dumps({"id": f"{path.stem}{i}", "text": text}) for i, text in enumerate(docs))
    text = "".join(line + "\n" for line in lines)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return text


def test_removed_file_never_overwrites_inputs(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    first, second = folder / "a.jsonl", folder / "b.jsonl"
    before = {path: jsonl(path, [SAME, OTHER]) for path in (first, second)}
    reference = tmp_path / "reference.jsonl"
    before[reference] = jsonl(reference, [SAME])
    out = tmp_path / "out.jsonl"
    for docs, output, removed, reason in [
        (first, out, first, "is an input"),
        (folder, tmp_path / "kept", folder / ".." / "in" / "b.jsonl", "is an input"),
        (first, out, reference, "is an input"),
        (first, out, out, "two outputs"),
    ]:
        with pytest.raises(OptionError, match=reason):
            lookalike.dedup_files(
                docs, output=output, reference=lookalike.Files(reference), removed=removed
            )
    assert {path: path.read_text(encoding="utf-8") for path in before} == before
    assert not out.exists()


def test_removed_file_inside_output_is_error(tmp_path: Path) -> None:
    jsonl(tmp_path / "in" / "a.jsonl", [SAME, SAME])
    (tmp_path / "kept").mkdir()
    with pytest.raises(OptionError, match="lies in the output"):
        lookalike.dedup_files(
            tmp_path / "in", output=tmp_path / "kept", removed=tmp_path / "kept" / "a.jsonl"
        )


def test_results_never_overwrite_input_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    corpus = folder / "a.jsonl"
    before = jsonl(corpus, [SAME, SAME])
    found = lookalike.find_files(folder)
    with pytest.raises(FileError, match="is an input"):
        found.write(corpus)
    assert corpus.read_text(encoding="utf-8") == before
    for _ in range(2):
        found.write(folder / "groups.csv")
    assert (folder / "groups.csv").read_text(encoding="utf-8").startswith("group,id")


def test_annotating_twice_is_an_error(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", [SAME, SAME])
    lookalike.dedup_files(tmp_path / "a.jsonl", output=tmp_path / "b.jsonl", annotate=True)
    with pytest.raises(FileError, match='already has the field "lookalike_kept"; rename it first'):
        lookalike.dedup_files(tmp_path / "b.jsonl", output=tmp_path / "c.jsonl", annotate=True)
    assert not (tmp_path / "c.jsonl").exists()


NAMED_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")


@NAMED_PIPES
def test_opening_files_lets_threads_run(tmp_path: Path) -> None:
    pipe, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(pipe)

    def write() -> None:
        # The main thread blocks while it opens the pipe. It must release the interpreter's lock, so
        # that this thread can open the other end.
        with writer(pipe) as end:
            end.write(json.dumps({"id": "a", "text": SAME}).encode() + b"\n")

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    assert lookalike.dedup_files(pipe, output=out, format="jsonl").kept == 1
    thread.join(PATIENCE)


@NAMED_PIPES
@pytest.mark.parametrize("output", ["kept.csv.gz", "kept"])
def test_ctrl_c_removes_partial_output(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C during the writing of a compressed list of files, and of a folder with records and
    files, removes the unfinished output.

    The pass that writes reads the inputs again. A named pipe replaces an empty file. The pass opens
    the pipe, and waits there until the signal is handled. More files to write follow the pipe.
    """
    folder, records, out = tmp_path / "in", tmp_path / "records.jsonl", tmp_path / output
    folder.mkdir()
    for number, text in enumerate(texts(900)[::3]):
        (folder / f"{number:03}.txt").write_text(f"{number} {text}", encoding="utf-8")
    pipe = folder / "100.txt"
    pipe.write_bytes(b"")
    inputs = [folder]
    target = str(out)
    if out.suffix:
        out.write_bytes(b"old")
    else:
        target += os.sep
        jsonl(records, texts(300, seed=8)[::3])
        inputs = [records, folder]
    before = {path.name for path in tmp_path.iterdir()}
    handled, unfinished = [], []

    def handle(*_: object) -> None:
        handled.append(True)
        raise KeyboardInterrupt

    def was_handled() -> bool:
        # While this thread holds the interpreter's lock, the position of the main thread is stable.
        frame = sys._current_frames()[threading.main_thread().ident or 0]
        return bool(handled) and frame.f_code is not handle.__code__

    def press() -> None:
        with writer(pipe):
            unfinished.extend(tmp_path.glob(".lookalike-*"))
            os.kill(os.getpid(), signal.SIGINT)
            wait_until(was_handled, "the signal handler")

    presser = threading.Thread(target=press, daemon=True)

    def replace(stage: str, *_: object) -> None:
        # All files have been read. No two files resemble each other, so none is read again for a
        # comparison. The pipe has the size and time of the file, so the inputs count as unchanged.
        if stage == "verify and group" and not pipe.is_fifo():
            times = pipe.stat().st_atime_ns, pipe.stat().st_mtime_ns
            pipe.unlink()
            os.mkfifo(pipe)
            os.utime(pipe, ns=times)
            presser.start()

    previous = signal.signal(signal.SIGINT, handle)
    try:
        with pytest.raises(KeyboardInterrupt):
            lookalike.dedup_files(inputs, output=target, progress=replace, threads=1)
    finally:
        signal.signal(signal.SIGINT, previous)
    presser.join(PATIENCE)
    assert not presser.is_alive() and len(unfinished) == 1
    assert {path.name for path in tmp_path.iterdir()} == before
    assert not out.exists() or out.read_bytes() == b"old"


def test_dedup_ignores_later_list_changes() -> None:
    docs = [SAME, OTHER, SAME]
    expected = lookalike.dedup(list(docs), keep="first")

    def shuffle(*_: object) -> None:
        docs.reverse()
        docs.append("more")

    documents = {"a": SAME, "b": OTHER, "c": SAME}
    assert lookalike.dedup(docs, keep="first", progress=shuffle) == expected
    assert lookalike.dedup(documents, keep="first", progress=lambda *_: documents.clear()) == {
        "a": SAME,
        "b": OTHER,
    }


def test_dedup_ignores_later_frame_changes() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": [SAME, OTHER, SAME], "n": [3, 1, 2]})

    def sort(*_: object) -> None:
        frame.sort_values("n", inplace=True)

    kept = lookalike.dedup(frame, keep="first", progress=sort)
    assert kept["text"].tolist() == [SAME, OTHER] and kept["n"].tolist() == [3, 1]
    assert frame["n"].tolist() == [1, 2, 3]
    pl = pytest.importorskip("polars")
    other = pl.DataFrame({"text": [SAME, OTHER, SAME]})

    def extend(*_: object) -> None:
        other.extend(pl.DataFrame({"text": ["more"]}))

    assert lookalike.dedup(other, keep="first", progress=extend)["text"].to_list() == [SAME, OTHER]


def test_an_empty_frame_keeps_its_columns() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": pd.Series([], dtype=int), "text": pd.Series([], dtype=str)})
    assert lookalike.dedup(frame).columns.tolist() == ["id", "text"]
    assert lookalike.dedup(frame, annotate=True).columns.tolist()[:3] == [
        "id",
        "text",
        "lookalike_kept",
    ]
    assert len(lookalike.dedup(frame["text"])) == 0


class Once:
    """A stream that can be read once."""

    def __init__(self, table: Any) -> None:
        self.streams = [table.__arrow_c_stream__()]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.streams.pop()


def test_single_use_tables_are_read_once() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": [SAME, OTHER, SAME], "n": [1, 2, 3]}).replace_schema_metadata(
        {"who": "me"}
    )
    kept = lookalike.dedup(Once(table), keep="first")
    assert kept["n"].to_pylist() == [1, 2] and kept.schema.metadata == {b"who": b"me"}
    column = lookalike.dedup(Once(pa.chunked_array([table["text"].to_pylist()])), keep="first")
    assert column.to_pylist() == [SAME, OTHER]
    assert lookalike.find(Once(table)).counts["duplicates"] == 1
    marked = lookalike.dedup(Once(table), keep="first", annotate=True)
    assert marked["lookalike_kept"].to_pylist() == [True, True, False]


def test_a_query_runs_once() -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    runs = []
    connection = duckdb.connect()

    def count(number: int) -> str:
        runs.append(number)
        return SAME if number % 2 else f"{number} {OTHER}"

    connection.create_function("text_of", count, ["BIGINT"], "VARCHAR", side_effects=True)
    relation = connection.sql("select i as id, text_of(i) as text from range(5) t(i)")
    kept = lookalike.dedup(relation, keep="first")
    assert sorted(runs) == list(range(5))
    assert kept["id"].to_pylist() == [0, 1, 2, 4]


def test_dedup_of_unordered_queries_is_consistent() -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    connection = duckdb.connect()
    connection.execute(
        "create table docs as select (i % 20000) as id, 'text of number ' || (i % 10000) || ' "
        "and so on' as text "
        "from range(60000) t(i)"
    )
    for query in (
        "select text, min(id) as id from docs group by text",
        "select * from docs using sample 5000 rows",
    ):
        kept = lookalike.dedup(connection.sql(query), id=False, shingle="words:1", threshold=1.0)
        distinct = set(kept["text"].to_pylist())
        assert len(distinct) == kept.num_rows
        if "group by" in query:
            assert kept.num_rows == 10_000


def test_existing_annotation_columns_are_errors() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": [SAME, SAME], "lookalike_kept": [1, 2]})
    tables: list[Any] = [table]
    for package, make in [
        ("pandas", lambda m: table.to_pandas()),
        ("polars", lambda m: m.DataFrame(table)),
        ("datasets", lambda m: m.Dataset(table)),
    ]:
        with contextlib.suppress(ImportError):
            tables.append(make(__import__(package)))
    for docs in tables:
        begun: list[object] = []
        with pytest.raises(OptionError, match="'lookalike_kept', which already exists"):
            lookalike.dedup(docs, annotate=True, progress=lambda *a: begun.append(a))
        assert not begun
        assert len(lookalike.dedup(docs)) == 1


def test_dedup_filters_unsupported_arrow_types() -> None:
    pa = pytest.importorskip("pyarrow")
    view = pa.array([SAME, OTHER, SAME, None], pa.string_view())
    table = pa.table({"text": view, "n": [1, 2, 3, 4]})
    runs = pa.RunEndEncodedArray.from_arrays([2, 4], ["x", "y"])
    kept = lookalike.dedup(table.append_column("runs", runs), keep="first", skip_bad=True)
    assert (
        kept["text"].to_pylist() == [SAME, OTHER]
        and kept.schema.field("text").type == pa.string_view()
    )
    assert kept["runs"].to_pylist() == ["x", "x"]
    batch = lookalike.dedup(table.to_batches()[0].slice(0, 3), keep="first")
    assert isinstance(batch, pa.RecordBatch) and batch["n"].to_pylist() == [1, 2]
    assert lookalike.dedup(view.slice(0, 3), keep="first").to_pylist() == [SAME, OTHER]
    chunks = lookalike.dedup(pa.chunked_array([view.slice(0, 2), view.slice(2, 1)]), keep="last")
    assert isinstance(chunks, pa.ChunkedArray) and chunks.to_pylist() == [OTHER, SAME]
    empty = lookalike.dedup(view.slice(0, 3), reference=[SAME, OTHER])
    assert empty.to_pylist() == [] and empty.type == pa.string_view()
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"text": pd.Series(view.slice(0, 3), dtype=pd.ArrowDtype(pa.string_view())), "n": [1, 2, 3]}
    )
    assert lookalike.dedup(frame, keep="first")["n"].tolist() == [1, 2]
    assert lookalike.dedup(frame["text"], keep="first").tolist() == [SAME, OTHER]
    assert lookalike.dedup(frame, reference=[SAME, OTHER]).columns.tolist() == ["text", "n"]


def test_iterator_keyboard_interrupts_propagate() -> None:
    def rows() -> Iterator[str]:
        yield SAME
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lookalike.dedup(rows())
    pa = pytest.importorskip("pyarrow")

    def batches() -> Iterator[Any]:
        yield pa.record_batch({"text": [SAME]})
        raise KeyboardInterrupt

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            schema = pa.schema([("text", pa.string())])
            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    with pytest.raises(KeyboardInterrupt):
        lookalike.find(Stream())
    with pytest.raises(KeyboardInterrupt):
        lookalike.dedup(Stream())


def test_arrow_stream_failures_are_errors() -> None:
    pa = pytest.importorskip("pyarrow")

    def batches() -> Iterator[Any]:
        yield pa.record_batch({"text": [SAME]})
        raise ValueError("the disk is gone")

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            schema = pa.schema([("text", pa.string())])
            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    for work in (lookalike.find, lookalike.dedup):
        with pytest.raises(DocumentError, match="the disk is gone"):
            work(Stream())


def test_memory_annotations_equal_file_annotations(tmp_path: Path) -> None:
    # b is a duplicate of a. c resembles b, but a and c are below the threshold.
    a = " ".join(f"w{n}" for n in range(40))
    b = a.replace("w0 w1 w2 w3 ", "")
    c = b.replace(" w36 w37 w38 w39", "")
    texts = {"a": a, "b": b, "c": c, "empty": "...", "alone": OTHER, "same": a}
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in texts.items()))
    for measure in ("jaccard", "containment"):
        options: Any = {"measure": measure, "threshold": 0.85 if measure == "jaccard" else 0.95}
        if measure == "containment":
            options["shingle"] = "words:3"
        out = tmp_path / "out.jsonl"
        lookalike.dedup_files(path, output=out, annotate=True, **options)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        prefix = "lookalike_"
        of_file = {
            line["id"]: {
                name.removeprefix(prefix): line[name] for name in line if name.startswith(prefix)
            }
            for line in lines
        }
        in_memory = lookalike.dedup(list(texts.items()), annotate=True, **options)
        named = {id_: row for (id_, _), row in in_memory}
        for id_, decision in of_file.items():
            assert {name: named[id_][name] for name in decision} == decision, (measure, id_)
            # In memory, an annotation also has the members without a value.
            for name in named[id_].keys() - decision.keys():
                assert named[id_][name] is None, (measure, id_, name)
        reasons = {row["reason"] for row in of_file.values()}
        related = {"related"} if measure == "jaccard" else set[str]()
        assert reasons == {"keeper", "longest", "id", "empty", "unique"} | related


def test_related_documents_name_their_neighbour() -> None:
    a = " ".join(f"w{n}" for n in range(40))
    b = a.replace("w0 w1 w2 w3 ", "")
    c = b.replace(" w36 w37 w38 w39", "")
    docs = [{"id": "a", "text": a}, {"id": "b", "text": b}, {"id": "c", "text": c}]
    decisions = [decision for _, decision in lookalike.dedup(docs, threshold=0.87, annotate=True)]
    assert [decision["reason"] for decision in decisions] == ["keeper", "longest", "related"]
    assert [decision["neighbour"] for decision in decisions] == [None, None, "b"]
    assert decisions[2]["kept"] and decisions[2]["group"] is None and decisions[2]["keeper"] is None
    assert decisions[2]["neighbour_jaccard"] == round(28 / 32, 6)
    bad: Any = [*docs, {"id": "d", "text": None}, {"id": "a", "text": OTHER}]
    decisions = [
        decision
        for _, decision in lookalike.dedup(bad, threshold=0.87, annotate=True, skip_bad=True)
    ]
    assert [decision["reason"] for decision in decisions[3:]] == ["skipped", "skipped"]
    assert [decision["kept"] for decision in decisions] == [True, False, True, False, False]
    assert [decision["group_size"] for decision in decisions] == [2, None, 1, None, None]
    reference = lookalike.dedup([b, OTHER], reference=[a], annotate=True)
    assert [decision["reason"] for _, decision in reference] == ["reference", "unique"]
    pa = pytest.importorskip("pyarrow")
    marked = lookalike.dedup(pa.Table.from_pylist(docs), threshold=0.87, annotate=True)
    assert marked.column_names == ["id", "text"] + [
        f"lookalike_{name}"
        for name in (
            "kept",
            "group",
            "keeper",
            "jaccard",
            "reason",
            "neighbour",
            "neighbour_jaccard",
            "group_size",
        )
    ]
    assert marked["lookalike_neighbour"].to_pylist() == [None, None, "b"]
    assert marked["lookalike_group_size"].to_pylist() == [2, None, 1]
    with pytest.raises(OptionError, match="'lookalike_reason', which already exists"):
        lookalike.dedup(pa.table({"text": [a], "lookalike_reason": [1]}), annotate=True)


@pytest.mark.skipif(os.name != "posix", reason="hard links of Unix")
def test_hard_links_require_equal_bytes(tmp_path: Path) -> None:
    """Three files have the same size and the same words. The last letter of one file is upper
    case."""
    text = " ".join(f"w{number}" for number in range(50_000))
    for name, end in (("a.txt", "end"), ("b.txt", "end"), ("c.txt", "enD")):
        (tmp_path / name).write_text(f"{text} {end}", encoding="utf-8")
    command = [sys.executable, "-m", "lookalike", "dedup", str(tmp_path), "--link", "hard"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert "c.txt: its bytes differ from its keeper" in done.stderr, done.stderr
    first, second, third = ((tmp_path / name).stat().st_ino for name in ("a.txt", "b.txt", "c.txt"))
    assert first == second != third
    assert (tmp_path / "c.txt").read_text(encoding="utf-8").endswith("enD")


def test_records_become_utf8_with_final_newline(tmp_path: Path) -> None:
    """JSONL and CSV in UTF-16 and with a byte order mark, as in ``docs/guides/dedup.md``."""
    jsonl = '{"id": "a",  "text": "é one"}\r\n\n{"text": "two", "id": "b", "n": 1.50}'
    (tmp_path / "in.jsonl").write_bytes(jsonl.encode("utf-16"))
    (tmp_path / "in.csv").write_bytes('\ufeffid,text\r\na,"é\none"\nb,two'.encode())
    for name in ("in.jsonl", "in.csv"):
        lookalike.dedup_files(tmp_path / name, output=tmp_path / f"out-{name}")
    written = (tmp_path / "out-in.jsonl").read_bytes()
    assert written == jsonl.replace("\n\n", "\n").encode() + b"\n"
    written = (tmp_path / "out-in.csv").read_bytes()
    assert written == '\ufeffid,text\r\na,"é\none"\nb,two\n'.encode()


def test_annotations_name_the_deciding_rule() -> None:
    text = texts(1)[0]
    rows = [
        {"id": "a", "text": text, "score": 1},
        {"id": "b", "text": text, "score": 2},
        {"id": "c", "text": f"{text} more", "score": 1},
        {"id": "d", "text": "...", "score": 0},
        {"id": "e", "text": "another text", "score": 0},
    ]

    def reasons(**options: Any) -> list[str]:
        return [
            decision["reason"] for _, decision in lookalike.dedup(rows, annotate=True, **options)
        ]

    assert reasons() == ["longest", "longest", "keeper", "empty", "unique"]
    by_score = reasons(keep=["field:score", "longest"])
    assert by_score == ["field:score:desc", "keeper", "field:score:desc", "empty", "unique"]
    assert reasons(keep="shortest")[:3] == ["keeper", "id", "shortest"]
    assert reasons(reference=[text])[:3] == ["reference"] * 3


def test_unusable_output_folders_are_errors(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("one")
    full = tmp_path / "full"
    full.mkdir()
    (full / "old").write_text("old")
    for output, message in (
        (folder, "is an input"),
        (folder / "out", "lies in the input"),
        (full, "the folder is not empty"),
    ):
        with pytest.raises(LookalikeError, match=message):
            lookalike.dedup_files(folder, output=f"{output}{os.sep}")
    assert [path.name for path in folder.iterdir()] == ["a.txt"]
    assert (full / "old").read_text() == "old"


def test_duplicate_units_are_cut_from_files(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    jsonl(path, [f"{OTHER}\n\n{SAME}", f"{SAME}\n\nanother end of seven words in all"])
    found = lookalike.find_files(path, unit="paragraph", keep="first")
    assert found.groups["id"] == ["in0#2", "in1#1"]
    lookalike.dedup_files(path, output=out, unit="paragraph", keep="first")
    kept = [json.loads(line)["text"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert kept == [f"{OTHER}\n\n{SAME}", "another end of seven words in all"]
    with pytest.raises(OptionError, match="document, paragraph, line or sentence"):
        lookalike.find_files(path, unit="page")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="document, paragraph, line or sentence"):
        lookalike.find([SAME, OTHER], unit="page")  # type: ignore[arg-type]


def test_an_index_is_a_reference(tmp_path: Path) -> None:
    fox = "the quick brown fox jumps over the lazy dog in the green park"
    docs = {
        "x": f"{fox} now",
        "y": "something completely different about the weather in the north of it",
    }
    for store in ("texts", "sets"):
        path = tmp_path / store
        with lookalike.Index.create(path, store=store) as index:
            index.add([("a", f"{fox} today")])
            assert lookalike.dedup(docs, reference=index, threshold=0.7) == {"y": docs["y"]}
        found = lookalike.find(docs, reference=lookalike.Files(path), threshold=0.7)
        assert [(group.keeper, [member.id for member in group.duplicates]) for group in found] == [
            ("a", ["x"])
        ]
    with pytest.raises(lookalike.errors.LookalikeError, match="words:3"):
        lookalike.find(docs, reference=lookalike.Files(tmp_path / "sets"), shingle="words:3")
