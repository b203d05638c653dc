"""The examples of docs/python.md run, one behind the other, and print what they say."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
TEXT = GUIDE.read_text(encoding="utf-8")
BLOCKS = list(re.finditer(r"^```python\n(.*?)^```", TEXT, re.M | re.S))
EXAMPLES = [block.group(1) for block in BLOCKS]
LINES = [TEXT[: block.start(1)].count("\n") for block in BLOCKS]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the examples have defined so far; they run in a folder of their own."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("guide"))
    yield {}
    os.chdir(before)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 10


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=[f"line{line + 1}" for line in LINES])
def test_example(number: int, names: dict[str, Any]) -> None:
    """What a comment behind a ``print`` says is printed, and nothing that is not said."""
    example = EXAMPLES[number]
    if re.search(r"\b(pyarrow|table)\b", example) and not importlib.util.find_spec("pyarrow"):
        pytest.skip("pyarrow is not installed, which the example is about")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        # Empty lines before it make the numbers in a traceback those of the guide.
        exec(compile("\n" * LINES[number] + example, str(GUIDE), "exec"), names)
    said = re.findall(r"^\s*print\(.*\)\s+# (.*)$", example, re.M)
    told = printed.getvalue().splitlines()
    if "progress=" in example:
        # How often it is told of the work depends on how long that takes.
        told = [line for line in told if " of " not in line]
    assert told == said


def test_files_that_are_named_are_there() -> None:
    for name in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (GUIDE.parent / name).exists(), name
