"""Adding files and folders to an index, and reporting progress."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError, FileError, OptionError

TEXTS = {
    "a": "the hall is closed on monday since the floor is being laid anew and the paint is wet",
    "b": "minutes of the meeting on noise with a list of those who came and of those who did not",
}


def lines(path: Path, texts: dict[str, str], **more: object) -> Path:
    records = [json.dumps({"id": key, "text": text, **more}) for key, text in texts.items()]
    path.write_text("\n".join(records) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def index(tmp_path: Path) -> lookalike.Index:
    return lookalike.Index.create(tmp_path / "index", store="texts")


def test_add_files_accepts_paths_and_patterns(index: lookalike.Index, tmp_path: Path) -> None:
    first = lines(tmp_path / "one.jsonl", {"a": TEXTS["a"]})
    second = lines(tmp_path / "two.jsonl", {"b": TEXTS["b"]})
    assert index.add_files(first) == (1, 0, 0, 0, [])
    with pytest.raises(DocumentError, match=r"one\.jsonl:1: .*already exists.*Index\.update"):
        index.add_files(str(tmp_path / "*.jsonl"))
    assert index.add_files(str(tmp_path / "*.jsonl"), on_existing="keep") == (1, 0, 1, 0, [])
    assert index.add_files([first, second], on_existing="update") == (0, 2, 0, 0, [])
    document = index.get("b")
    assert document is not None and document.text == TEXTS["b"]
    assert document.metadata == {"source": str(second)}


def test_fields_become_metadata(index: lookalike.Index, tmp_path: Path) -> None:
    path = lines(tmp_path / "one.jsonl", TEXTS, year=2024)
    with pytest.warns(UserWarning, match="metadata names 'language'"):
        index.add_files(path, metadata=["year", "language"])
    document = index.get("a")
    assert document is not None and document.metadata["year"] == 2024
    with pytest.raises(OptionError, match="names of fields"):
        index.add_files(path, metadata={"year": 2024})  # type: ignore[arg-type]


def test_other_names_of_fields(index: lookalike.Index, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps({"key": "k", "body": TEXTS["a"]}) + "\n", encoding="utf-8")
    assert index.add_files(path, id="key", text="body").added == 1
    assert "k" in index


def test_add_files_reports_skipped_files(index: lookalike.Index, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "good.txt").write_text(TEXTS["a"], encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    added = index.add_files(folder)
    assert added.added == 1
    [skipped] = added.skipped
    assert skipped.source.endswith("picture.png") and skipped.line is None and skipped.reason


def test_add_files_skips_the_index(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(TEXTS["a"], encoding="utf-8")
    with lookalike.Index.create(tmp_path / "index") as index:
        assert index.add_files(tmp_path) == (1, 0, 0, 0, [])


def test_bad_records(index: lookalike.Index, tmp_path: Path) -> None:
    path = lines(tmp_path / "some.jsonl", {"a": TEXTS["a"]})
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": "x"}\n' + json.dumps({"id": "b", "text": TEXTS["b"]}) + "\n")
    with pytest.raises(DocumentError, match=r"some\.jsonl:2.*1 document"):
        index.add_files(path)
    assert len(index) == 1
    added = index.add_files(path, skip_bad=True, on_existing="update")
    assert (added.added, added.updated) == (1, 1)
    assert [(record.line, record.id) for record in added.skipped] == [(2, "x")]


def test_add_files_rejects_invalid_arguments(index: lookalike.Index, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="'nowhere.jsonl' does not exist"):
        index.add_files("nowhere.jsonl")
    with pytest.raises(FileError, match="nothing matches"):
        index.add_files(str(tmp_path / "*.csv"))
    paths: list[Any] = [TEXTS["a"], tmp_path, [tmp_path, tmp_path], lookalike.Files(tmp_path)]
    for docs in paths:
        for add in (index.add, index.update):
            with pytest.raises(DocumentTypeError, match="add_files.paths. for files"):
                add(docs)
    with pytest.raises(TypeError, match="unexpected keyword argument 'skip_bad'"):
        index.add([("a", TEXTS["a"])], skip_bad=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'format'"):
        index.add(TEXTS, format="jsonl")  # type: ignore[call-arg]
    path = lines(tmp_path / "one.jsonl", TEXTS)
    with pytest.raises(
        OptionError,
        match="Index.add_files has no option 'colour'; see help.lookalike.Index.add_files. for options",
    ):
        index.add_files(path, colour="red")  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="format"):
        index.add_files(path, format="wav")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="1 to 1024"):
        index.add_files(path, threads=100_000)
    with pytest.raises(OptionError, match="1 to 1024"):
        index.add(TEXTS, threads=100_000)
    for options in ({"text": ["a", "b"]}, {"text": 5}, {"id": False}, {"id": ["a"]}):
        with pytest.raises(OptionError, match="is .*, expected str"):
            index.add_files(path, **options)  # type: ignore[arg-type]
    assert len(index) == 0
    # The default values of these options are accepted.
    assert index.add_files(path, unit=None, skip_bad=False, format=None, max=None).added == 2


def test_progress(index: lookalike.Index, tmp_path: Path) -> None:
    reported: list[tuple[str, int, int | None]] = []
    index.add(TEXTS, progress=lambda *step: reported.append(step))
    assert reported[-1] == ("read and add", 2, 2)
    reported.clear()
    path = lines(tmp_path / "one.jsonl", TEXTS)
    index.add_files(path, on_existing="update", progress=lambda *step: reported.append(step))
    assert reported[-1] == ("read and add", path.stat().st_size, path.stat().st_size)

    class Enough(Exception):
        pass

    def stop(*_: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        index.update(({"id": str(n), "text": TEXTS["a"]} for n in range(10_000)), progress=stop)


def test_as_the_command_line(program: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "one.jsonl", TEXTS, year=2024)
    subprocess.run(
        [
            program,
            "index",
            "create",
            tmp_path / "theirs",
            path,
            "--metadata",
            "year",
            "--store",
            "sets",
            "--quiet",
        ],
        check=True,
    )
    with lookalike.Index.create(tmp_path / "ours", store="sets") as index:
        index.add_files(path, metadata=["year"])
    exported = []
    for name in ("theirs", "ours"):
        with lookalike.Index.open(tmp_path / name, read_only=True) as index:
            documents = [index.get(id) for id in index.ids()]
            exported.append([d._replace(added=None) for d in documents if d is not None])  # type: ignore[arg-type]
    assert exported[0] == exported[1] and len(exported[0]) == 2


def test_advice_names_options_of_the_call(index: lookalike.Index, tmp_path: Path) -> None:
    for options, advice in (
        ({"text_field": "body"}, "use text=$"),
        ({"id_field": "key"}, "use id=$"),
        ({"formt": "jsonl"}, "did you mean 'format'"),
        ({"threshold": 0.5}, "see help.lookalike.Index.add_files. for options$"),
    ):
        name = next(iter(options))
        with pytest.raises(OptionError, match=f"^Index.add_files has no option '{name}'; {advice}"):
            index.add_files(tmp_path, **options)  # type: ignore[arg-type]


def test_records_name_their_members(index: lookalike.Index) -> None:
    rows: list[Any] = [{"key": "a", "body": 5}]
    with pytest.raises(DocumentError, match='document 0: the text in "body" is of type int'):
        index.add(rows, id="key", text="body")
