"""The examples of the guides run, one behind the other, and print what they say."""

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

DOCS = Path(__file__).resolve().parents[3] / "docs" / "guides"
GUIDES = {
    name: (DOCS / name).read_text(encoding="utf-8") for name in ("python.md", "python-index.md")
}
#: The guide, how many lines are before it, and itself.
EXAMPLES = [
    pytest.param(name, text[: block.start(1)].count("\n"), block.group(1), id=f"{name}-{number}")
    for name, text in GUIDES.items()
    for number, block in enumerate(
        re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    )
]


@pytest.fixture(scope="module")
def defined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """What the examples of each guide have defined so far; they run in a folder of their own."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("guide"))
    yield {name: {} for name in GUIDES}
    os.chdir(before)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 12


@pytest.mark.parametrize(("guide", "line", "example"), EXAMPLES)
def test_example(guide: str, line: int, example: str, defined: dict[str, dict[str, Any]]) -> None:
    """What a comment behind a ``print`` says is printed, and nothing that is not said."""
    if re.search(r"\b(pyarrow|table)\b", example) and not importlib.util.find_spec("pyarrow"):
        pytest.skip("pyarrow is not installed, which the example is about")
    for package in ("pandas", "polars", "datasets", "sklearn"):
        if re.search(
            rf"^(import|from) (lookalike\.)?{package}\b", example, re.MULTILINE
        ) and not importlib.util.find_spec(package):
            pytest.skip(f"{package} is not installed, which the example is about")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        # Empty lines before it make the numbers in a traceback those of the guide.
        exec(compile("\n" * line + example, str(DOCS / guide), "exec"), defined[guide])
    said = re.findall(r"^\s*(?:print\(.*)?\)\s+# (.*)$", example, re.MULTILINE)
    reported = printed.getvalue().splitlines()
    if "progress=" in example:
        # How often it reports progress depends on how long that takes.
        reported = [line for line in reported if " of " not in line]
    assert reported == said


@pytest.mark.parametrize("guide", GUIDES)
def test_files_that_are_named_are_there(guide: str) -> None:
    for name in re.findall(r"\]\(([^)#]+)\)", GUIDES[guide]):
        assert (DOCS / name).exists(), name
