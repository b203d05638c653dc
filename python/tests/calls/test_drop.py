"""``drop`` of ``dedup`` removes the documents of a list. The others are compared as if the list's
documents did not exist."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import FileError, OptionError

PAGE = (
    "the same old story of the town by the river, written again by one who was there when it began"
)
QUESTION = "written again by one who was there"
#: The first text is the longest, so it is kept unless it is dropped.
TEXTS = [
    f"{PAGE}, and so on",
    PAGE,
    "nothing of the kind",
    *(f"page {n} has words w{n} of its own" for n in range(9)),
]
OPTIONS: Any = {"threshold": 0.6, "shingle": "words:3"}
REMAINING = TEXTS[1:]


def pages(path: Path, texts: list[str]) -> Path:
    path.write_text(
        "".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts))
    )
    return path


def test_dropped_documents_are_never_compared(tmp_path: Path) -> None:
    assert lookalike.dedup(TEXTS, **OPTIONS) == [TEXTS[0], *TEXTS[2:]]
    listed = tmp_path / "drop.jsonl"
    listed.write_text('{"id":"0"}\n')
    dropping: list[Any] = [
        [0],
        (number for number in [0]),
        ["0"],
        [{"id": 0}],
        [{"id": "0", "source": "documents"}],
    ]
    for drop in (*dropping, listed, str(listed)):
        assert lookalike.dedup(TEXTS, drop=drop, **OPTIONS) == REMAINING, drop
    dropping = [[], None, ["no such id", 99], [{"id": 0, "source": "elsewhere"}]]
    for drop in dropping:
        assert lookalike.dedup(TEXTS, drop=drop, **OPTIONS) == [TEXTS[0], *TEXTS[2:]], drop
    assert lookalike.dedup(iter(TEXTS), drop=[0], **OPTIONS) == REMAINING
    by_id = {f"x{n}": text for n, text in enumerate(TEXTS)}
    assert list(lookalike.dedup(by_id, drop=["x0", "x2"], **OPTIONS).values()) == [
        TEXTS[1],
        *TEXTS[3:],
    ]
    rows = lookalike.dedup(TEXTS, drop=[0, 11], annotate=True, **OPTIONS)
    assert [text for text, _ in rows] == TEXTS
    decided = [(row["kept"], row["reason"]) for _, row in rows]
    assert decided == [(False, "dropped"), *[(True, "unique")] * 10, (False, "dropped")]
    # The ids of the reference are texts, so row numbers are not padded with zeros.
    assert lookalike.dedup(TEXTS, drop=[0, 1], reference={"r": TEXTS[2]}, **OPTIONS) == TEXTS[3:]


def test_cut_and_units_ignore_dropped_documents() -> None:
    docs = [f"First of all. {PAGE}", f"Then. {PAGE}.", f"Last. {PAGE}!"]
    assert lookalike.cut(docs, min_words=8, drop=[0]) == [docs[1], "Last. !"]
    lines = [f"{PAGE}\nlonger than the other", f"{PAGE}\nshort", "short"]
    assert lookalike.dedup(lines, unit="line", drop=[0], keep="first") == [lines[1]]


def test_frames_lose_the_rows() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [70 + n for n in range(len(TEXTS))], "text": TEXTS})
    kept = lookalike.dedup(frame, drop=frame["id"][:1], **OPTIONS)
    assert list(kept["text"]) == REMAINING and list(kept.index) == list(range(1, len(TEXTS)))


def test_contaminated_documents_can_be_dropped(tmp_path: Path) -> None:
    texts = [f"{n}: {PAGE if n % 5 == 0 else 'other words'}" for n in range(12)]
    found = lookalike.contamination(texts, [QUESTION], ngram=5)
    assert found.documents["id"] == [0, 5, 10] and set(found.documents["source"]) == {"documents"}
    clean = [text for n, text in enumerate(texts) if n % 5]
    found.write_documents(tmp_path / "drop.jsonl")
    for drop in (found.documents, found.documents["id"], tmp_path / "drop.jsonl"):
        kept = lookalike.dedup(texts, drop=drop, exact=True, threshold=1.0, annotate=True)
        assert [text for text, row in kept if row["reason"] != "dropped"] == clean


def test_dropped_files_match_command_line(tmp_path: Path, program: str) -> None:
    corpus = pages(tmp_path / "web.jsonl", TEXTS)
    found = lookalike.contamination(lookalike.Files(corpus), [QUESTION], ngram=5)
    assert found.documents.to_pylist() == [{"id": f"d{n}", "source": str(corpus)} for n in (0, 1)]
    listed, other, own_file = (
        tmp_path / name for name in ("drop.jsonl", "cli.jsonl", "mine.jsonl")
    )
    found.write_documents(listed)
    writers: dict[str, Any] = {"dedup": lookalike.dedup_files, "cut": lookalike.cut_files}
    for name, write in writers.items():
        command: list[Any] = [program, name, corpus, "--drop", listed, "-o", other, "--quiet"]
        subprocess.run(command, check=True)
        for drop in (listed, found.documents):
            written = write(corpus, output=own_file, drop=drop)
            assert own_file.read_bytes() == other.read_bytes()
            assert (written.kept, written.removed, written.dropped) == (10, 0, 2)
    assert b'"d0"' not in own_file.read_bytes() and b'"d2"' in own_file.read_bytes()


def test_invalid_lists_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id":"a"}\n{"name":"b"}\n')
    cases: list[tuple[Any, type[Exception], str]] = [
        (7, OptionError, "drop: expected the path of a list, or ids"),
        (b"d", OptionError, "drop: expected the path"),
        ({"id": "d"}, OptionError, "drop: expected the path"),
        ([None], OptionError, r"drop\[0\]: expected an id"),
        ([0, 1.5], OptionError, r"drop\[1\]: expected an id"),
        ([True], OptionError, r"drop\[0\]: expected an id"),
        ([{"source": "x"}], OptionError, r"drop\[0\]: expected an id"),
        ([{"id": "d", "source": 3}], OptionError, r"drop\[0\]: expected an id"),
        (["\ud800"], OptionError, r"drop\[0\]"),
        (tmp_path / "none.jsonl", FileError, "none.jsonl"),
    ]
    for drop, error, words in cases:
        with pytest.raises(error, match=words):
            lookalike.dedup(TEXTS, drop=drop)
    with pytest.raises(Exception, match="line 2") as raised:
        lookalike.dedup(TEXTS, drop=bad)
    assert isinstance(raised.value, lookalike.errors.LookalikeError)
    with pytest.raises(OptionError, match="find has no option 'drop'"):
        lookalike.find(TEXTS, drop=["d"])  # type: ignore[call-arg]
