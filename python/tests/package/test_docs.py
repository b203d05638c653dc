"""Runs the Python code of the documentation block by block, and compares its output with the pages.

Each page has a folder of its own, with links to the folders ``fixtures`` and ``examples`` of the
repository. The blocks of a page share their names. A block after ``<!-- not run: REASON -->`` is
not run."""

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
#: Pages with tests of their own, because their code needs a cluster or draws pictures.
OTHERS = {"docs/guides/cluster.md", "docs/guides/gallery.md"}
OPTIONAL = {"numpy", "pyarrow", "pandas", "polars", "datasets", "sklearn", "matplotlib", "altair"}
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "python/README.md", *sorted(ROOT.glob("docs/**/*.md"))]
}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: The page, the number of lines before the block, and the code of the block.
EXAMPLES = [
    pytest.param(name, text[: block.start(1)].count("\n"), block[1], id=f"{name}-{number}")
    for name, text in PAGES.items()
    if name not in OTHERS
    for number, block in enumerate(BLOCK.finditer(text))
    if not re.search(r"<!-- not run: [^>]+ -->\n*\Z", text[: block.start()])
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that contains the folders of all pages."""
    before = os.getcwd()
    yield tmp_path_factory.mktemp("pages")
    os.chdir(before)


@pytest.fixture(scope="module")
def defined(folder: Path) -> dict[str, dict[str, Any]]:
    """The names that the blocks of each page have defined, by page."""
    for name in PAGES:
        page = folder / name
        page.mkdir(parents=True)
        for link in ("fixtures", "examples"):
            (page / link).symlink_to(ROOT / link)
    return {name: {} for name in PAGES}


def missing(example: str) -> set[str]:
    """Returns the packages that a block needs but that are not installed."""
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
    """The output equals the comments after ``print`` calls."""
    if packages := missing(example):
        pytest.skip(f"{', '.join(sorted(packages))} is not installed, which the example is about")
    os.chdir(folder / page)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        # Empty lines before the code make tracebacks show line numbers of the page.
        exec(compile("\n" * line + example, page, "exec"), defined[page])
    expected = re.findall(r"^\s*(?:print\(.*)?\)\s+# (.*)$", example, re.MULTILINE)
    lines = printed.getvalue().splitlines()
    if "progress=" in example:
        # The number of progress reports depends on the duration.
        lines = [line for line in lines if " of " not in line]
    assert lines == expected


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
