"""``add=True`` of ``dedup`` adds the kept documents to the index with which they were compared, as
``lookalike dedup --add`` does."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError, OptionError, StoreError

FOX = "the quick brown fox jumps over the lazy dog in the green park"
OLD = {
    "a": f"{FOX} today",
    "b": "something completely different about the weather in the north of it",
}
CITY = "another new text about a city by the sea with its harbour and its old streets"
BATCHES = [
    {"w": f"{FOX} now", "y": f"{CITY} now", "z": f"{CITY} and parks", "e": "..."},
    {"w": f"{FOX} now", "x": f"{FOX} at noon", "v": f"{CITY} of stone"},
    {"m": "a text that nothing else resembles, of a batch that has no others"},
]
EXPECTED = {"a": 3, "b": 1, "z": 3, "m": 1}
OPTIONS: Any = {"threshold": 0.6}


@pytest.fixture
def news(tmp_path: Path) -> Iterator[lookalike.Index]:
    with lookalike.Index.create(tmp_path / "news", store="texts") as index:
        index.add(OLD)
        yield index


def exported(index: lookalike.Index, path: Path) -> list[dict[str, Any]]:
    """Exports an index, and returns the lines without the times of addition."""
    index.export(path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in line.items() if name != "added"} for line in lines]


def test_added_files_match_command_line(
    news: lookalike.Index, program: str, tmp_path: Path
) -> None:
    with lookalike.Index.create(tmp_path / "other", store="texts") as other:
        other.add(OLD)
    for number, batch in enumerate(BATCHES):
        path, out = tmp_path / f"{number}.jsonl", tmp_path / f"out{number}.jsonl"
        lines = (
            json.dumps({"id": id, "text": text, "title": f"of {id}"}) for id, text in batch.items()
        )
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        written = lookalike.dedup_files(path, output=out, reference=news, add=True, **OPTIONS)
        command = [
            program,
            "dedup",
            str(path),
            "--reference",
            str(tmp_path / "other"),
            "--add",
            "-t",
            "0.6",
        ]
        subprocess.run([*command, "-o", str(tmp_path / "same.jsonl"), "-q"], check=True)
        assert out.read_bytes() == (tmp_path / "same.jsonl").read_bytes()
        assert written.added == [1, 0, 1][number]
    with lookalike.Index.open(tmp_path / "other", read_only=True) as other:
        lines_of_other = exported(other, tmp_path / "other.jsonl")
    here = exported(news, tmp_path / "news.jsonl")
    assert here == lines_of_other
    assert {line["id"]: line.get("group_size", 1) for line in here} == EXPECTED
    assert here[2]["metadata"]["source"].endswith("0.jsonl")


def test_files_are_added_without_an_output(
    news: lookalike.Index, program: str, tmp_path: Path
) -> None:
    with lookalike.Index.create(tmp_path / "other", store="texts") as other:
        other.add(OLD)
    for number, batch in enumerate(BATCHES):
        path, listed = tmp_path / f"{number}.jsonl", tmp_path / "drop.jsonl"
        lines = [json.dumps({"id": id, "text": text}) for id, text in batch.items()]
        path.write_text(
            "".join(f"{line}\n" for line in [*lines, '{"id": "no text"}']), encoding="utf-8"
        )
        listed.write_text('{"id": "y"}\n')
        options: Any = {"drop": listed, "skip_bad": True, **OPTIONS}
        expected = lookalike.dedup_files(
            path, output=tmp_path / "same.jsonl", reference=news, **options
        )
        written = lookalike.dedup_files(path, reference=news, add=True, **options)
        assert written == dataclasses.replace(expected, files=0, added=[1, 0, 1][number])
        assert written.parameters == expected.parameters
        command = [
            program,
            "dedup",
            path,
            "--reference",
            tmp_path / "other",
            "--add",
            "-t",
            "0.6",
            "--skip-bad",
        ]
        subprocess.run([*map(str, command), "--drop", str(listed), "-q"], check=True)
    with lookalike.Index.open(tmp_path / "other", read_only=True) as other:
        assert exported(news, tmp_path / "news.jsonl") == exported(other, tmp_path / "other.jsonl")
    for more in ({"annotate": True}, {"removed": tmp_path / "removed.csv"}):
        with pytest.raises(OptionError, match="output is missing; name a file"):
            lookalike.dedup_files(path, reference=news, add=True, **more)


def rows(batch: dict[str, str]) -> list[tuple[Any, dict[str, Any]]]:
    """Returns the same documents in several forms, each with the options that it needs."""
    import pyarrow

    table = pyarrow.table({"key": list(batch), "text": list(batch.values())})
    return [
        (batch, {}),
        (list(batch.items()), {"annotate": True}),
        (iter(batch.items()), {"memory": "256MiB"}),
        ([{"id": id, "text": text} for id, text in batch.items()], {}),
        (table, {"id": "key"}),
        (table.to_reader(), {"id": "key", "annotate": True}),
    ]


@pytest.mark.parametrize("form", range(6))
def test_documents_in_memory_are_added(news: lookalike.Index, tmp_path: Path, form: int) -> None:
    for batch in BATCHES:
        docs, options = rows(batch)[form]
        kept = lookalike.dedup(docs, reference=news, add=True, **options, **OPTIONS)
        same_rows, options = rows(batch)[form]
        same = lookalike.dedup(same_rows, reference=news, add=True, **options, **OPTIONS)
        if form == 0:
            assert set(kept) == {id for id in batch if id in EXPECTED or id == "e"}
            assert set(same) == {"e"} & set(batch), "now the index has them"
    lines = exported(news, tmp_path / "news.jsonl")
    assert {line["id"]: line.get("group_size", 1) for line in lines} == EXPECTED
    assert [line["metadata"] for line in lines] == [{}] * 4
    assert news.group_sizes(EXPECTED) == list(EXPECTED.values())
    assert news.get("z").text == BATCHES[0]["z"]  # type: ignore[union-attr]


def test_numbers_are_ids(news: lookalike.Index) -> None:
    lookalike.dedup(
        {7: f"{CITY} now", 12: f"{CITY} and parks", 3: FOX}, reference=news, add=True, **OPTIONS
    )
    assert list(news.ids()) == ["a", "b", "12"] and news.group_sizes(["12", "a"]) == [2, 2]


def test_group_sizes_follow_requested_ids(news: lookalike.Index) -> None:
    lookalike.dedup(BATCHES[0], reference=news, add=True, **OPTIONS)
    assert news.group_sizes(["z", "nobody", "a", "w", "z"]) == [2, 0, 2, 0, 2]
    assert news.group_sizes([]) == [] and news.group_sizes(iter(["b"])) == [1]
    for ids in ("a", 3):
        with pytest.raises(DocumentTypeError, match="an iterable of str"):
            news.group_sizes(ids)  # type: ignore[arg-type]
    with pytest.raises(DocumentTypeError, match="id 1"):
        news.group_sizes(["a", 3.5])  # type: ignore[list-item]
    news.remove(["w"])
    assert news.group_sizes(["a"]) == [1]


def test_add_needs_an_open_index(news: lookalike.Index, tmp_path: Path) -> None:
    batch = BATCHES[0]
    for reference in (None, {"r": FOX}, str(tmp_path / "news")):
        with pytest.raises(OptionError, match=r"reference=lookalike\.Index\.open\(path\)"):
            lookalike.dedup(batch, reference=reference, add=True)
    for options, message in (
        ({"passages": True}, "use lookalike.cut"),
        ({"unit": "line"}, "unit compares parts of documents"),
        ({"normalize": "nfkc"}, "leave out add or normalize"),
        ({"add": "yes"}, "add: expected"),
    ):
        arguments: dict[str, Any] = {"add": True, **options}
        with pytest.raises(OptionError, match=message):
            lookalike.dedup(batch, reference=news, **arguments)
    with pytest.raises(OptionError, match="these have none"):
        lookalike.dedup(list(batch.values()), reference=news, add=True)
    with pytest.raises(OptionError, match="lists of tokens"):
        lookalike.dedup({"t": ["one", "two"]}, reference=news, add=True)
    with lookalike.Index.open(tmp_path / "news", read_only=True) as reading:
        with pytest.raises(StoreError, match="read_only=False"):
            lookalike.dedup(batch, reference=reading, add=True)
    with pytest.raises(StoreError, match="is closed"):
        lookalike.dedup(batch, reference=reading, add=True)
    assert list(news.ids()) == ["a", "b"] and news.group_sizes(["a"]) == [1]


def test_ids_with_changed_texts_are_errors(news: lookalike.Index) -> None:
    docs = {"n": f"{CITY} now", "a": "an article about something that nobody has written about yet"}
    with pytest.raises(DocumentError, match=r'has document "a" with another text.*Index\.remove'):
        lookalike.dedup(docs, reference=news, add=True)
    assert list(news.ids()) == ["a", "b", "n"]


def test_dedup_without_add_preserves_index(news: lookalike.Index) -> None:
    assert list(lookalike.dedup(BATCHES[0], reference=news, **OPTIONS)) == ["z", "e"]
    assert list(news.ids()) == ["a", "b"] and news.group_sizes(["a"]) == [1]
