"""The Python code of the documentation runs, block by block, and prints what the pages show.

Each page has a folder with the folders ``fixtures`` and ``examples`` of the repository, and the
blocks of a page share their names. A block after ``<!-- not run: REASON -->`` is not run."""

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

ROOT = Path(__file__).resolve().parents[3]
#: Pages whose code has tests of its own: it needs a cluster, or draws pictures.
OTHERS = {"docs/guides/cluster.md", "docs/guides/gallery.md"}
OPTIONAL = {"numpy", "pyarrow", "pandas", "polars", "datasets", "sklearn", "matplotlib", "altair"}
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "python/README.md", *sorted(ROOT.glob("docs/**/*.md"))]
}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: The page, how many lines are before the block, and the block.
EXAMPLES = [
    pytest.param(name, text[: block.start(1)].count("\n"), block[1], id=f"{name}-{number}")
    for name, text in PAGES.items()
    if name not in OTHERS
    for number, block in enumerate(BLOCK.finditer(text))
    if not re.search(r"<!-- not run: [^>]+ -->\n*\Z", text[: block.start()])
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of all pages, in which each page has its own."""
    before = os.getcwd()
    yield tmp_path_factory.mktemp("pages")
    os.chdir(before)


@pytest.fixture(scope="module")
def defined(folder: Path) -> dict[str, dict[str, Any]]:
    """The names that the blocks of each page have defined so far."""
    for name in PAGES:
        page = folder / name
        page.mkdir(parents=True)
        for link in ("fixtures", "examples"):
            (page / link).symlink_to(ROOT / link)
    return {name: {} for name in PAGES}


def missing(example: str) -> set[str]:
    """The packages that a block needs and that are not installed."""
    used = set(re.findall(r"^\s*(?:from|import) (?:lookalike\.)?(\w+)", example, re.MULTILINE))
    if re.search(r"\btable\b", example):
        used.add("pyarrow")
    if "lookalike.datasketch" in example:
        used.add("numpy")
    return {name for name in used & OPTIONAL if not importlib.util.find_spec(name)}


@pytest.mark.parametrize(("page", "line", "example"), EXAMPLES)
def test_example(
    page: str, line: int, example: str, folder: Path, defined: dict[str, dict[str, Any]]
) -> None:
    """The output is the comment behind ``print``, and nothing else."""
    if packages := missing(example):
        pytest.skip(f"{', '.join(sorted(packages))} is not installed, which the example is about")
    os.chdir(folder / page)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        # Empty lines before it make the numbers in a traceback those of the page.
        exec(compile("\n" * line + example, page, "exec"), defined[page])
    shown = re.findall(r"^\s*(?:print\(.*)?\)\s+# (.*)$", example, re.MULTILINE)
    lines = printed.getvalue().splitlines()
    if "progress=" in example:
        # How often it reports progress depends on how long that takes.
        lines = [line for line in lines if " of " not in line]
    assert lines == shown


def test_most_pages_run() -> None:
    assert len(EXAMPLES) > 40


def test_yaml_blocks_are_valid() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed, which reads the blocks")
    blocks = [
        block
        for text in PAGES.values()
        for block in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]
    assert blocks and all(list(yaml.safe_load_all(block)) for block in blocks)
