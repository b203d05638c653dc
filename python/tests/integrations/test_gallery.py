"""The code of docs/guides/gallery.md draws the pictures that the page shows.

The test writes the pictures in both styles to ``target/gallery``. Copy them to ``docs/guides/img``
after a change of the page or of ``lookalike.plot``."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import shutil
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
PICTURES = re.findall(r"(?:src|srcset)=\"img/(.+?)\"", TEXT)
MOST_BYTES = 30_000


@dataclass
class Run:
    """The lines that the code of the page printed, and the names that it defined."""

    printed: list[str]
    defined: dict[str, Any]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs the code of the page in the folder of the pictures, with a dark and a light style."""
    matplotlib = pytest.importorskip(
        "matplotlib", reason="matplotlib, which draws the gallery, is not installed"
    )
    pytest.importorskip("altair", reason="altair, which draws the gallery, is not installed")
    matplotlib.use("agg")
    plt = importlib.import_module("matplotlib.pyplot")
    # Removes the pictures of earlier runs, which would hide a missing picture.
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    before = os.getcwd()
    os.chdir(FOLDER)
    fixed = {"svg.fonttype": "none", "svg.hashsalt": "gallery", "savefig.transparent": True}
    try:
        for style, suffix in [("dark_background", "-dark"), ("default", "")]:
            out, defined = io.StringIO(), dict[str, Any]()
            with (
                contextlib.redirect_stdout(out),
                plt.style.context(style),
                plt.rc_context(fixed),
                pytest.MonkeyPatch.context() as patch,
            ):
                # A fixed date makes the pictures reproducible.
                patch.setenv("SOURCE_DATE_EPOCH", "0")
                for line, example in EXAMPLES:
                    # Empty lines before the code make tracebacks show line numbers of the page.
                    exec(compile("\n" * line + example, str(PAGE), "exec"), defined)
            for path in FOLDER.glob("*.svg"):
                if suffix and not path.stem.endswith(suffix):
                    path.rename(path.with_stem(path.stem + suffix))
            plt.close("all")
        yield Run(out.getvalue().splitlines(), defined)
    finally:
        os.chdir(before)


def labels(picture: Path) -> list[str]:
    """Returns the texts of a picture."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))


def test_gallery_comments_match_printed_output(run: Run) -> None:
    expected = re.findall(r"^(?:print\(.*)?\)  # (.*)$", TEXT, re.MULTILINE)
    assert expected and run.printed == expected


@pytest.mark.parametrize("name", PICTURES)
def test_the_page_shows_the_picture(name: str, run: Run) -> None:
    picture = PAGE.parent / "img" / name
    assert picture.stat().st_size < MOST_BYTES
    assert labels(picture) and labels(picture) == labels(FOLDER / name)


def test_each_picture_is_shown(run: Run) -> None:
    assert {path.name for path in FOLDER.glob("*.svg")} == set(PICTURES)


def test_altair_charts_are_concatenated(run: Run) -> None:
    chart = run.defined["chart"].to_dict()
    assert "vega-lite" in chart["$schema"] and len(chart["concat"]) == 4
    assert "vegaEmbed" in (FOLDER / "altair.html").read_text(encoding="utf-8")
