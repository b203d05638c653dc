"""The code of docs/gallery.md makes its pictures, in target/gallery."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gallery.md"
TEXT = PAGE.read_text(encoding="utf-8")
FOLDER = ROOT / "target" / "gallery"
EXAMPLES = [
    (TEXT[: block.start(1)].count("\n"), block.group(1))
    for block in re.finditer(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
]
PICTURES = re.findall(r"^!\[.+\]\(\.\./target/gallery/(.+)\)$", TEXT, re.M)
PNG = b"\x89PNG\r\n\x1a\n"
# The smallest picture with axes is larger; an empty canvas of this size is not.
LEAST_BYTES = 8_000


@pytest.fixture(scope="module")
def printed() -> Iterator[list[str]]:
    """What the code of the page prints; it runs in the folder of the pictures."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed, which draws the gallery").use("agg")
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
        yield out.getvalue().splitlines()
    finally:
        os.chdir(before)
        import matplotlib.pyplot as plt

        plt.close("all")


def test_what_is_said_is_printed(printed: list[str]) -> None:
    said = re.findall(r"^print\(.*\)  # (.*)$", TEXT, re.M)
    assert said and printed == said


@pytest.mark.parametrize("picture", PICTURES)
def test_each_picture_is_made(picture: str, printed: list[str]) -> None:
    made = (FOLDER / picture).read_bytes()
    assert made.startswith(PNG) and len(made) > LEAST_BYTES


def test_each_picture_is_shown(printed: list[str]) -> None:
    assert {path.name for path in FOLDER.glob("*.png")} == set(PICTURES) and len(PICTURES) == 7


def test_the_chart_is_one(printed: list[str]) -> None:
    chart = json.loads((FOLDER / "altair.json").read_text(encoding="utf-8"))
    assert "vega-lite" in chart["$schema"] and len(chart["vconcat"]) == 2
