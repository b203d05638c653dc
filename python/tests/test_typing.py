"""What type checkers know of results."""

from __future__ import annotations

from pathlib import Path

import pytest

CODE = '''
from __future__ import annotations

from collections.abc import Iterator
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
    assert_type(lookalike.dedup(frame, passages=True, min_words=8), Frame)
    assert_type(lookalike.dedup(lazy), Frame)
    assert_type(lookalike.dedup(reader, annotate=True), Frame)
    assert_type(lookalike.dedup(dataset), Dataset)
    assert_type(lookalike.dedup(["a"]), list[str])
    assert_type(lookalike.dedup(["a"], annotate=True), list[tuple[str, dict[str, Any]]])
    assert_type(lookalike.dedup([("a", "text")], unit="line"), list[tuple[str, str]])
    assert_type(lookalike.dedup(("a", "b")), list[str])
    assert_type(lookalike.dedup(rows), list[str])
    assert_type(lookalike.dedup({1: "text"}), dict[int, str])
    assert_type(lookalike.dedup({1: "text"}, annotate=True), list[tuple[tuple[int, str], dict[str, Any]]])
    assert_type(lookalike.dedup("a.jsonl", output="b.jsonl"), lookalike.Written)
    assert_type(lookalike.dedup([Path("a.jsonl")], output=Path("b/"), passages=True), lookalike.Written)
    assert_type(lookalike.dedup(unknown), Any)
    found = lookalike.find(frame)
    assert_type(found[0], lookalike.Group)
    assert_type(found[:2], list[lookalike.Group])
'''


def test_dedup_has_the_type_of_its_documents(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy checks the types")
    (tmp_path / "uses.py").write_text(CODE)
    options = ["--strict", "--allow-empty-bodies", "--disable-error-code=empty-body", "--cache-dir", str(tmp_path / "cache")]
    said, complaints, code = api.run([*options, "--follow-imports=silent", str(tmp_path / "uses.py")])
    assert (code, complaints) == (0, ""), said
