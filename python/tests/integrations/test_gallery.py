"""The code of docs/guides/gallery.md makes its pictures, in target/gallery."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "guides" / "gallery.md"
TEXT = PAGE.read_text(encoding="utf-8")
FOLDER = ROOT / "target" / "gallery"
EXAMPLES = [
    (TEXT[: block.start(1)].count("\n"), block.group(1))
    for block in re.finditer(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
]
PICTURES = re.findall(r"^!\[.+\]\(\.\./\.\./target/gallery/(.+)\)$", TEXT, re.MULTILINE)
PNG = b"\x89PNG\r\n\x1a\n"
# The smallest picture with axes is larger; an empty canvas of this size is not.
LEAST_BYTES = 8_000


@dataclass
class Run:
    """What the code of the page printed and defined."""

    printed: list[str]
    defined: dict[str, Any]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """The code of the page, run in the folder of the pictures."""
    pytest.importorskip(
        "matplotlib", reason="matplotlib is not installed, which draws the gallery"
    ).use("agg")
    pytest.importorskip("altair", reason="altair is not installed, which draws the gallery")
    # A picture of an earlier run would hide that none is made.
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    out, before, defined = io.StringIO(), os.getcwd(), dict[str, Any]()
    os.chdir(FOLDER)
    try:
        with contextlib.redirect_stdout(out):
            for line, example in EXAMPLES:
                # Empty lines before it make the numbers in a traceback those of the page.
                exec(compile("\n" * line + example, str(PAGE), "exec"), defined)
        yield Run(out.getvalue().splitlines(), defined)
    finally:
        os.chdir(before)
        sys.modules["matplotlib.pyplot"].close("all")


def test_what_is_said_is_printed(run: Run) -> None:
    said = re.findall(r"^(?:print\(.*)?\)  # (.*)$", TEXT, re.MULTILINE)
    assert said and run.printed == said


@pytest.mark.parametrize("picture", PICTURES)
def test_each_picture_is_made(picture: str, run: Run) -> None:
    made = (FOLDER / picture).read_bytes()
    assert made.startswith(PNG) and len(made) > LEAST_BYTES


def test_each_picture_is_shown(run: Run) -> None:
    assert {path.name for path in FOLDER.glob("*.png")} == set(PICTURES) and len(PICTURES) == 8


def test_charts_are_put_together(run: Run) -> None:
    chart = run.defined["chart"].to_dict()
    assert "vega-lite" in chart["$schema"] and len(chart["concat"]) == 4
    assert "vegaEmbed" in (FOLDER / "altair.html").read_text(encoding="utf-8")
