"""Files and folders as documents: ``lookalike.Files`` and the functions of files."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike import Files
from lookalike.errors import DocumentTypeError, FileError, OptionError

TEXTS = texts(12)
SHARED = "This message is confidential; if it is not for you, please delete it."


def jsonl(path: Path, docs: list[str]) -> Path:
    rows = [json.dumps({"id": f"{path.stem}{n}", "text": text}) for n, text in enumerate(docs)]
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with text files and two files of records."""
    path = tmp_path / "in"
    path.mkdir()
    for number, text in enumerate(TEXTS):
        (path / f"{number:02}.txt").write_text(text, encoding="utf-8")
    jsonl(path / "a.jsonl", TEXTS[:6])
    jsonl(path / "b.jsonl", TEXTS[6:])
    return path


def ids(found: lookalike.FindResult) -> list[Any]:
    return list(found.groups["id"])


# Paths, patterns and folders


def test_patterns_are_matched_in_order(folder: Path) -> None:
    pattern = str(folder / "*.jsonl")
    both = [str(folder / "a.jsonl"), str(folder / "b.jsonl")]
    assert Files(pattern).find() == both
    assert Files([folder / "b.jsonl", pattern]).find() == [both[1], *both]
    assert Files(str(folder.parent / "**" / "[ab].jsonl")).find() == both
    (folder / "x[1].jsonl").write_bytes(b"")
    assert Files(str(folder / "x[1].jsonl")).find() == [str(folder / "x[1].jsonl")]
    assert lookalike.find(Files(pattern)).counts == lookalike.find_files(pattern).counts


def test_path_objects_are_never_patterns(folder: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        Files(folder / "*.jsonl").find()


def test_paths_may_come_from_an_iterator(folder: Path) -> None:
    files = Files(path for path in sorted(folder.glob("*.jsonl")))
    assert files.paths == (folder / "a.jsonl", folder / "b.jsonl")
    assert lookalike.find(files).counts["documents"] == 12
    assert lookalike.find(files).counts["documents"] == 12, "they can be used again"


def test_repr_has_paths_and_options(folder: Path) -> None:
    assert repr(Files("a.jsonl")) == "Files(['a.jsonl'])"
    files = Files(["a", Path("b")], include=["*.txt"], max={"pages": 3})
    assert repr(files) == "Files(['a', 'b'], include=['*.txt'], max={'pages': 3})"
    assert eval(repr(files)).options == files.options


@pytest.mark.parametrize("paths", [[], (), None, 5, b"a.txt", [5], ["a.txt", None], [b"a.txt"]])
def test_invalid_path_arguments_are_errors(paths: Any) -> None:
    with pytest.raises(OptionError, match="^paths: expected a file, a folder, a pattern"):
        Files(paths)
    for function in (lookalike.find_files, lookalike.dedup_files, lookalike.cut_files):
        with pytest.raises(OptionError, match="^paths: expected"):
            function(paths, **({} if function is lookalike.find_files else {"output": "out"}))


def test_missing_files_are_named_whole(tmp_path: Path) -> None:
    missing = tmp_path / ("a folder of a long name" * 5) / "nowhere.jsonl"
    calls: list[Callable[[], Any]] = [
        lambda: Files(missing).find(),
        lambda: lookalike.find(Files(missing)),
        lambda: lookalike.find_files([missing]),
        lambda: lookalike.dedup_files(missing, output=tmp_path / "out"),
        lambda: lookalike.cut_files(missing, output=tmp_path / "out"),
        lambda: lookalike.find(TEXTS, reference=Files(missing)),
        lambda: lookalike.passages(Files(missing)),
    ]
    for call in calls:
        with pytest.raises(FileError, match="does not exist; check the path$") as raised:
            call()
        assert str(missing) in str(raised.value) and raised.value.errno == 2
    with pytest.raises(FileError, match=r"nothing matches the pattern '.*\*\.csv'"):
        lookalike.find_files(str(tmp_path / "*.csv"))
    with pytest.raises(FileError) as raised:
        lookalike.find_files("a text in place of a path " * 1000)
    assert len(str(raised.value)) < 600


# Options for files


def test_options_say_how_files_are_read(folder: Path) -> None:
    (folder / ".hidden.txt").write_text(TEXTS[0], encoding="utf-8")
    for options, documents in (
        ({"exclude": "*.jsonl"}, 12),
        ({"exclude": ["0*", "b.jsonl"]}, 8),
        ({"include": ["0*.txt", "a.jsonl"]}, 16),
        ({"exclude": "*.jsonl", "all_files": True}, 13),
        ({"exclude": "*.jsonl", "format": None, "max": None}, 12),
    ):
        named: Any = options
        for found in (
            lookalike.find(Files(folder, **named)),
            lookalike.find_files(folder, **named),
        ):
            assert found.counts["documents"] == documents, options


def test_id_option_selects_line_ids(folder: Path) -> None:
    path = folder / "a.jsonl"
    for found in (
        lookalike.find_files(path, id=":line", keep="first"),
        lookalike.find(Files(path), id=":line", keep="first"),
    ):
        assert ids(found)[:2] == [f"{path}:1", f"{path}:2"]


def test_text_accepts_one_field_lists(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "one", "body": "two"}\n')
    found = lookalike.find(Files(path), text=["body"])
    assert found.text(0) == "two"
    with pytest.raises(OptionError, match="several columns, which is for documents in memory"):
        lookalike.find(Files(path), text=["text", "body"])


def test_unknown_options_of_files() -> None:
    for option, remedy in (
        ("threshold", r"see help\(lookalike.Files\) for options"),
        ("formt", "did you mean 'format'"),
        ("hidden", "use all_files=True"),
        ("max_pages", "use max={'pages': …}"),
        ("id_field", "use id="),
    ):
        options: Any = {option: 1}
        with pytest.raises(OptionError, match=f"^Files has no option '{option}'; {remedy}"):
            Files("a.jsonl", **options)


def test_both_sides_need_equal_options(folder: Path) -> None:
    texts_, records = Files(folder, include="*.txt"), Files(folder / "a.jsonl")
    for call in (
        lambda: lookalike.find(texts_, reference=records),
        lambda: lookalike.find_files(folder, reference=records, include="*.txt"),
        lambda: lookalike.find_files(folder / "a.jsonl", reference=texts_),
        lambda: lookalike.contamination(texts_, records),
    ):
        with pytest.raises(
            OptionError, match="different options, got .*'include': .*; pass the same"
        ) as e:
            call()
        assert "\n" not in str(e.value)
    same = Files(folder / "a.jsonl", include="*.txt")
    assert lookalike.find(texts_, reference=same).counts["reference"] == 6
    # None means the default value.
    unset = Files(folder / "b.jsonl", include=None, format=None)
    assert lookalike.find(records, reference=unset).counts["reference"] == 6


def test_files_with_options_accept_index_reference(folder: Path, tmp_path: Path) -> None:
    with lookalike.Index.create(tmp_path / "index") as index:
        index.add({"old": TEXTS[0]})
        for found in (
            lookalike.find(Files(folder, include="*.txt"), reference=index),
            lookalike.find_files(folder, include="*.txt", reference=index),
        ):
            assert found.counts["reference"] == 1
            of_index = next(group for group in found if group.keeper == "old")
            assert sorted(member.id for member in of_index.duplicates) == [
                "00.txt",
                "01.txt",
                "02.txt",
            ]
        out = tmp_path / "kept"
        written = lookalike.dedup_files(
            folder, include="*.txt", output=f"{out}{os.sep}", reference=index
        )
        assert written.kept == 3 and not (out / "00.txt").exists()


def test_files_beside_documents_in_memory(folder: Path) -> None:
    reference = Files(folder, include="*.txt")
    assert lookalike.dedup(TEXTS, reference=reference) == []
    assert lookalike.cut([f"{SHARED} new"], reference=reference, min_words=4) == [f"{SHARED} new"]


# Paths instead of documents


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "find": lookalike.find,
    "dedup": lookalike.dedup,
    "cut": lookalike.cut,
    "passages": lookalike.passages,
    "prepare": lookalike.prepare,
    "tune": lookalike.tune,
    "contamination": lambda docs: lookalike.contamination(docs, ["a text"]),
    "against": lambda docs: lookalike.contamination(["a text"], docs),
    "reference": lambda docs: lookalike.find(["a text"], reference=docs),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_paths_are_rejected_as_documents(name: str, folder: Path) -> None:
    path = folder / "00.txt"
    for docs in (str(path), path, [path], [path, path], "*.txt", "-"):
        with pytest.raises(DocumentTypeError, match=r"lookalike\.Files\(paths?\)") as raised:
            FUNCTIONS[name](docs)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_open_files_are_rejected_as_documents(name: str, folder: Path) -> None:
    path = folder / "00.txt"
    with (
        path.open(encoding="utf-8") as text,
        path.open("rb") as binary,
        gzip.open(path) as packed,
    ):
        for docs in (text, binary, packed, io.StringIO("a\nb"), io.BytesIO(b"a")):
            with pytest.raises(
                DocumentTypeError, match=r"got an open file .*lookalike\.Files\(path\)$"
            ):
                FUNCTIONS[name](docs)
        assert text.tell() == 0, "nothing was read"


def test_fsspec_files_are_rejected_as_documents(folder: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    of_path = fsspec.open(str(folder / "00.txt"))
    with of_path as opened, lookalike.Index.create(tmp_path / "index") as index:
        for docs in (of_path, opened, fsspec.open_files(str(folder / "*.txt"))):
            for function in (*FUNCTIONS.values(), index.add, index.update):
                with pytest.raises(DocumentTypeError, match="an open file"):
                    function(docs)


def test_index_rejects_open_files(folder: Path, tmp_path: Path) -> None:
    with lookalike.Index.create(tmp_path / "index") as index:
        with (folder / "00.txt").open() as file:
            with pytest.raises(DocumentTypeError, match="docs: expected .*got an open file"):
                index.add(file)
        assert len(index) == 0


def test_memory_functions_suggest_file_functions(folder: Path) -> None:
    files = Files(folder, include="*.txt")
    with pytest.raises(OptionError, match="use dedup_files for files"):
        lookalike.dedup(files)
    with pytest.raises(OptionError, match="use cut_files for files"):
        lookalike.cut(files)


# The command line


def run(program: str, *words: object) -> None:
    subprocess.run([program, *map(str, words), "--quiet"], check=True, capture_output=True)


def test_find_files_is_the_command(folder: Path, tmp_path: Path, program: str) -> None:
    found = lookalike.find_files(folder, include="*.txt", threshold=0.7, pairs=True)
    for name, write in (("g.csv", found.write), ("p.csv", found.write_pairs)):
        write(tmp_path / name)
    command = ["find", folder, "--include", "*.txt", "--threshold", "0.7"]
    run(program, *command, "-o", tmp_path / "cli-g.csv", "--pairs", tmp_path / "cli-p.csv")
    for name in ("g.csv", "p.csv"):
        assert (tmp_path / name).read_bytes() == (tmp_path / f"cli-{name}").read_bytes()
    assert found.counts["groups"] == 4


def test_dedup_files_is_the_command(folder: Path, tmp_path: Path, program: str) -> None:
    for annotate in (False, True):
        own_file, cli_file = tmp_path / f"ours-{annotate}.jsonl", tmp_path / f"cli-{annotate}.jsonl"
        removed = [tmp_path / f"{name}-{annotate}.csv" for name in ("ours", "cli")]
        written = lookalike.dedup_files(
            folder / "a.jsonl", output=own_file, removed=removed[0], annotate=annotate, keep="first"
        )
        command = ["dedup", folder / "a.jsonl", "-o", cli_file, "--removed", removed[1]]
        run(program, *command, "--keep", "first", *(["--annotate"] if annotate else []))
        assert own_file.read_bytes() == cli_file.read_bytes()
        assert removed[0].read_bytes() == removed[1].read_bytes()
        assert (written.kept, written.removed, written.files) == (2, 4, 1)


def test_cut_files_is_the_command(tmp_path: Path, program: str) -> None:
    path = jsonl(tmp_path / "m.jsonl", [f"Dear {name}. {SHARED}" for name in ("Ada", "Ben", "Cy")])
    own_file, cli_file = tmp_path / "ours.jsonl", tmp_path / "cli.jsonl"
    written = lookalike.cut_files(path, output=own_file, min_words=6, at="sentence")
    run(program, "cut", path, "-o", cli_file, "--min-words", 6, "--at", "sentence")
    assert own_file.read_bytes() == cli_file.read_bytes()
    assert (written.kept, written.removed, written.changed, written.dropped) == (3, 0, 2, 0)
    assert written.sources["source"] == [str(path)] and written.sources["changed"] == [2]
    assert repr(written) == "CutResult(kept=3, removed=0, files=1, changed=2, dropped=0)"


def test_writers_need_an_output(folder: Path) -> None:
    with pytest.raises(OptionError, match="output is missing"):
        lookalike.dedup_files(folder / "a.jsonl")
    with pytest.raises(OptionError, match="is an input"):
        lookalike.cut_files(folder / "a.jsonl", output=folder / "a.jsonl")
