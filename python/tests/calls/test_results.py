"""Result tables: types, pickling, and files that change."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import DocumentError, FileError, LookalikeError, OptionError

DOCS = ["one two three four five six", "One two three four five six!", "other words are here now"]


def test_tables_are_pickled() -> None:
    found = lookalike.find([*DOCS, None], pairs=True, skip_bad=True)
    of_texts = lookalike.find(dict(zip("abc", DOCS)), reference={"r": DOCS[0]})
    for table in (found.groups, found.pairs, found.skipped, found.empty, of_texts.groups):
        loaded = pickle.loads(pickle.dumps(table))
        assert isinstance(loaded, lookalike.Table)
        assert loaded.to_pylist() == table.to_pylist()
        assert loaded.column_names == table.column_names
        assert loaded.column_types == table.column_types
        assert copy.deepcopy(table).to_pydict() == table.to_pydict()


def test_signatures_are_pickled() -> None:
    rows = lookalike.prepare([*DOCS, "", None], skip_bad=True)
    loaded = pickle.loads(pickle.dumps(rows))
    assert isinstance(loaded, lookalike.PrepareResult)
    assert (loaded.to_pydict(), loaded.parameters) == (rows.to_pydict(), rows.parameters)
    assert (loaded.skipped["line"], loaded.skipped["row"]) == ([5], [4])
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(loaded).equals(pyarrow.table(rows))


def prepared(texts: list[str]) -> lookalike.PrepareResult:
    return lookalike.prepare(texts, threads=1)


def test_workers_return_prepared_tables() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows = pool.map_async(prepared, [DOCS]).get(120)[0]
    assert rows["band_keys"] == prepared(DOCS)["band_keys"]


def test_find_result_pickling_suggests_tables() -> None:
    found = lookalike.find(DOCS)
    with pytest.raises(TypeError, match="found.groups"):
        pickle.dumps(found)
    assert copy.copy(found) is found


def test_damaged_pickles_are_errors() -> None:
    """Damaged pickles never cause a read outside of the bytes."""
    table = lookalike.prepare(DOCS).engine
    state = table.state()
    draw = random.Random(5)

    def damaged(value: Any) -> Any:
        if isinstance(value, (tuple, list)) and value:
            at = draw.randrange(len(value))
            return type(value)(damaged(v) if i == at else v for i, v in enumerate(value))
        if isinstance(value, bytes):
            return draw.choice(
                [value[:-1], value + b"\xff", bytes(len(value)), b"", b"\xff" * len(value)]
            )
        if isinstance(value, int):
            return draw.choice([0, value + 1, 2**40, 2**62])
        if isinstance(value, str):
            return draw.choice(
                ["int64", "string", "bool", "bytes 3", "list 9 string", "list 2 list", ""]
            )
        return value

    errors = 0
    for _ in range(600):
        try:
            again = type(table).of_state(damaged(state))
        except (LookalikeError, TypeError, OverflowError):
            errors += 1
        else:
            for column in range(len(again.column_names)):
                again.values(column, 0, len(again))
    assert errors > 200


def test_pandas_types_are_independent_of_rows() -> None:
    pytest.importorskip("pandas")
    with_rows = lookalike.find(DOCS, pairs=True)
    without_rows = lookalike.find(DOCS[1:], pairs=True)
    for name in ("groups", "pairs"):
        types = [
            getattr(found, name).to_pandas().dtypes.to_dict() for found in (with_rows, without_rows)
        ]
        assert types[0] == types[1]
    types = with_rows.groups.to_pandas().dtypes.astype(str).to_dict()
    assert types["group"] == "uint64" and types["jaccard"] == "float64"
    assert types["row"] == types["keeper_row"] == "UInt64" and types["id"] == "int64"


def test_skipping_preserves_row_numbers() -> None:
    found = lookalike.find([None, *DOCS], skip_bad=True)
    assert [found.text(row) for row in (1, 2, 3)] == DOCS
    assert (found.skipped["line"], found.skipped["row"]) == ([1], [0])
    with pytest.raises(DocumentError, match="document 0 does not exist.*found.skipped"):
        found.text(0)
    with pytest.raises(DocumentError, match="document 4 does not exist"):
        found.text(4)


def test_skipped_csv_includes_row_numbers(tmp_path: Any) -> None:
    lookalike.find([None, *DOCS], skip_bad=True).write_skipped(tmp_path / "skipped.csv")
    assert "documents,0,0," in (tmp_path / "skipped.csv").read_text()


def test_prepare_reports_skipped_rows() -> None:
    records = [("a", DOCS[0]), ("b", None), ("a", DOCS[1]), ("c", DOCS[2]), ("a", DOCS[2])]
    rows = lookalike.prepare(records, skip_bad=True)
    assert rows["id"] == ["a", "c"]
    assert rows["band_keys"][1] == lookalike.prepare(DOCS)["band_keys"][2]
    assert (rows.skipped["row"], rows.skipped["id"]) == ([1, 2, 4], ["b", "a", "a"])
    assert rows.skipped["line"] == [2, 3, 5]
    found = lookalike.find(records, skip_bad=True).skipped
    assert sorted(rows.skipped["reason"]) == sorted(found["reason"])
    assert len(lookalike.prepare(DOCS).skipped) == 0
    with pytest.raises(DocumentError, match='row 2: the id "a" is already used in row 0') as raised:
        lookalike.prepare([records[0], records[3], records[2]])
    assert raised.value.row == 2


def test_prepare_reports_skipped_file_records(tmp_path: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "one"}\n{"id": "a", "text": "two"}\n{"id": 5}\n')
    with pytest.raises(DocumentError):
        lookalike.prepare(lookalike.Files(path))
    rows = lookalike.prepare(lookalike.Files(path), skip_bad=True)
    assert rows["id"] == ["a"] and len(rows.skipped) == 2


def test_index_groups_reject_text_and_audit(tmp_path: Any) -> None:
    with lookalike.Index.create(tmp_path / "index", store="texts") as index:
        index.add(dict(zip("abc", DOCS)))
        groups = index.groups()
        with pytest.raises(
            lookalike.errors.OptionError, match=r'index.get\(id\).text.*store="texts"'
        ):
            groups.text(0)
        with pytest.raises(lookalike.errors.OptionError, match="cannot be audited"):
            lookalike.audit(groups)


def test_results_recognise_inputs_after_chdir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_, other = tmp_path / "here", tmp_path / "other"
    for folder, text in ((folder_, "the same old story"), (other, "another one")):
        folder.mkdir()
        (folder / "docs.jsonl").write_text(f'{{"id": "a", "text": "{text}"}}\n')
    monkeypatch.chdir(folder_)
    found = lookalike.find_files("docs.jsonl", reference=lookalike.Files("docs.jsonl"), id=":line")
    before = (folder_ / "docs.jsonl").read_bytes()
    monkeypatch.chdir(other)
    for write in (found.write, found.write_skipped, found.write_report):
        with pytest.raises(FileError, match="is an input"):
            write(folder_ / "docs.jsonl")
    assert (folder_ / "docs.jsonl").read_bytes() == before
    # The result does not read the file of the same name in the current folder.
    for call in (lambda: found.text(0), lambda: lookalike.audit(found)):
        with pytest.raises(
            FileError, match=r"here.docs\.jsonl, .*other.docs\.jsonl from .*change back"
        ):
            call()
    monkeypatch.chdir(folder_)
    assert found.text(0) == "the same old story"


def test_tables_of_large_strings_are_pickled() -> None:
    table = type(lookalike.prepare(DOCS).engine)
    ends = b"".join(end.to_bytes(8, "little") for end in (0, 1, 3))
    state = [("a", "large_string", False, (2, None, [ends, b"abc"], []))]
    loaded = table.of_state(table.of_state(state).state())
    assert loaded.column_types == ["large_string"] and loaded.values(0, 0, 2) == ["a", "bc"]


def test_nested_list_columns_are_errors() -> None:
    table = type(lookalike.prepare(DOCS).engine)
    empty: tuple[Any, ...] = (0, None, [], [])
    deep = empty
    for _ in range(500):
        deep = (0, None, [], [deep])
    for kind, data in [
        ("list 1 list 1 int64", empty),
        ("list 1 " * 300_000 + "int64", empty),
        ("list 1 int64", (0, None, [], [(0, None, [b""], [empty])])),
        ("list 1 int64", deep),
    ]:
        with pytest.raises((OptionError, TypeError)):
            table.of_state([("a", kind, False, data)])


# The text column is larger than 32-bit offsets allow, and the test takes four times its memory.
@pytest.mark.skipif(
    "LOOKALIKE_LARGE" not in os.environ, reason="takes 10 GB of memory; LOOKALIKE_LARGE=1 runs it"
)
def test_text_columns_grow() -> None:
    long = "x" * (200 << 20)
    found = lookalike.find([(long, None)] * 11 + [("a", "some text")], skip_bad=True, threads=1)
    skipped = found.skipped
    assert len(skipped) == 11
    assert dict(zip(skipped.column_names, skipped.engine.column_types))["id"] == "large_string"


def test_input_digest_depends_on_documents(tmp_path: Path) -> None:
    lines = [f'{{"id": "d{n}", "text": "text number {n} of a few"}}\n' for n in range(9)]

    def inputs(*parts: list[str]) -> Any:
        paths = [tmp_path / f"part{number}.jsonl" for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_text("".join(part), encoding="utf-8")
        report = tmp_path / "report.json"
        lookalike.find_files(paths).write_report(report)
        return json.loads(report.read_text(encoding="utf-8"))["inputs"]

    complete = inputs(lines)
    assert complete["documents"] == 9
    assert inputs(lines[::-1]) == complete
    assert inputs(lines[5:], lines[:5]) == complete
    assert inputs([*lines[:8], lines[8].replace("few", "lot")])["digest"] != complete["digest"]
    assert inputs([*lines[:8], lines[8].replace("d8", "d9")])["digest"] != complete["digest"]


def test_html_reports_match_command_line(tmp_path: Path, program: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": DOCS[0]}) + "\n" for n in "abc"))
    lookalike.find_files(path).write_report(tmp_path / "ours.html")
    arguments = [program, "find", str(path), "--quiet", "--report", str(tmp_path / "theirs.html")]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    ours, theirs = ((tmp_path / f"{name}.html").read_text() for name in ("ours", "theirs"))
    assert f"<title>Near-duplicates in {path}</title>" in ours
    # The page has a wall-clock time for each stage, and these times differ.
    seconds = re.compile(r"less than 1 millisecond|\b[0-9.]+ (milli)?seconds\b")
    assert len(seconds.findall(ours)) == len(seconds.findall(theirs)) > 2
    assert seconds.sub("", ours) == seconds.sub("", theirs)


def test_json_reports_match_command_line(tmp_path: Path, program: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": DOCS[0]}) + "\n" for n in "abc"))
    lookalike.find_files(path).write_report(tmp_path / "ours.json")
    arguments = [program, "find", str(path), "--quiet", "--report", str(tmp_path / "theirs.json")]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    own_report, cli_report = (
        (tmp_path / f"{name}.json").read_text() for name in ("ours", "theirs")
    )
    assert re.sub(r'"seconds":[0-9.e-]+', "", own_report) == re.sub(
        r'"seconds":[0-9.e-]+', "", cli_report
    )


def test_html_reports_of_memory_contain_texts(tmp_path: Path) -> None:
    found = lookalike.find({"<a>": DOCS[0], "b": f"{DOCS[0]}!"})
    found.write_report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<title>Near-duplicates</title>" in page
    assert "&lt;a&gt;" in page and "<a>" not in page
    assert DOCS[0] in page
