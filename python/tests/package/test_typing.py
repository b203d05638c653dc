"""The types of results for type checkers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CODE = """
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import assert_type

import lookalike


class Frame:
    @property
    def columns(self) -> list[str]: ...


class Lazy:
    @property
    def columns(self) -> list[str]: ...
    def collect(self) -> Frame: ...


class Reader:
    def read_all(self) -> Frame: ...


class Dataset: ...


def of_each(frame: Frame, lazy: Lazy, reader: Reader, dataset: Dataset, rows: Iterator[str], unknown: Any) -> None:
    assert_type(lookalike.dedup(frame), Frame)
    assert_type(lookalike.dedup(frame, annotate=True), Frame)
    assert_type(lookalike.cut(frame, min_words=8), Frame)
    assert_type(lookalike.cut(lazy), Frame)
    assert_type(lookalike.cut(["a"]), list[str])
    assert_type(lookalike.cut(("a", "b")), list[str])
    assert_type(lookalike.cut(rows), Sequence[str])
    assert_type(lookalike.dedup(lazy), Frame)
    assert_type(lookalike.dedup(reader, annotate=True), Frame)
    assert_type(lookalike.dedup(dataset), Dataset)
    assert_type(lookalike.dedup(["a"]), list[str])
    assert_type(lookalike.dedup(["a"], annotate=True), list[tuple[str, dict[str, Any]]])
    assert_type(lookalike.dedup([("a", "text")], unit="line"), list[tuple[str, str]])
    assert_type(lookalike.dedup(("a", "b")), list[str])
    assert_type(lookalike.dedup(rows), Sequence[str])
    assert_type(lookalike.dedup({1: "text"}), dict[int, str])
    assert_type(lookalike.dedup({1: "text"}, annotate=True), list[tuple[tuple[int, str], dict[str, Any]]])
    assert_type(lookalike.dedup_files("a.jsonl", output="b.jsonl"), lookalike.DedupResult)
    assert_type(lookalike.cut_files([Path("a.jsonl")], output=Path("b/")), lookalike.CutResult)
    assert_type(lookalike.find_files("a.jsonl", max={"pages": 3}), lookalike.FindResult)
    lookalike.find(["a"], format="jsonl")  # type: ignore[call-arg]
    lookalike.Files("a.jsonl", threshold=0.5)  # type: ignore[call-arg]
    assert_type(lookalike.dedup(unknown), Any)
    found = lookalike.find(frame)
    assert_type(found[0], lookalike.Group)
    assert_type(found[:2], list[lookalike.Group])
"""


AWAITED = """
from __future__ import annotations

from collections.abc import AsyncIterator

from typing_extensions import assert_type

import lookalike
from lookalike.aio import AsyncIndex, OpeningIndex


async def of_each(rows: AsyncIterator[tuple[str, str]]) -> None:
    assert_type(AsyncIndex.create("news", threshold=0.5), OpeningIndex)
    async with AsyncIndex.open("news", read_only=True) as index:
        assert_type(index, AsyncIndex)
        assert_type(await index.add(rows, on_existing="keep"), lookalike.AddResult)
        assert_type(await index.query("a text", limit=3), lookalike.Matches)
        assert_type(await index.query_many(["a text"]), list[lookalike.Matches])
        assert_type(await index.get("a"), lookalike.Document | None)
        assert_type(await index.original("a", version=1), bytes)
        assert_type(await index.versions("a"), list[lookalike.DocumentVersion])
        assert_type(await index.groups(keep="first"), lookalike.FindResult)
        assert_type(await index.count(), int)
        async for id in index.ids():
            assert_type(id, str)
        async for matches in index.query_stream(["a text"]):
            assert_type(matches, lookalike.Matches)
        await index.query("a text", limits=3)  # type: ignore[call-arg]
        AsyncIndex.create("news", thresholds=0.5)  # type: ignore[call-arg]
"""


CODES = {"dedup": CODE, "awaited": AWAITED}


@pytest.mark.parametrize("name", CODES)
def test_static_types_follow_inputs(
    check_types: Callable[[Path], None], tmp_path: Path, name: str
) -> None:
    (tmp_path / "uses.py").write_text(CODES[name])
    check_types(tmp_path / "uses.py")


def test_pyright_accepts_the_same_types(tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="pyright checks the types")
    for name, code in CODES.items():
        (tmp_path / f"uses_{name}.py").write_text(code)
    wrong = "import lookalike\nnumber: int = lookalike.dedup(['a'])\n"
    (tmp_path / "wrong.py").write_text(wrong)
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    # The only error is in the wrong file, which shows that the files were checked.
    assert "wrong.py:2:15 - error" in done.stdout and "\n1 error," in done.stdout, (
        done.stdout + done.stderr
    )
