"""The examples of python/README.md do what they say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import lookalike

README = Path(__file__).resolve().parents[2] / "README.md"
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a comment behind a ``print`` says is printed."""
    if "lookalike.find" in example and not hasattr(lookalike, "find"):
        pytest.skip("this build has no lookalike.find")
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, str(README), "exec"), {})
    said = re.findall(r"^\s*(?:print\(.*)?\)\s+# (.*)$", example, re.MULTILINE)
    assert printed.getvalue().splitlines() == said
