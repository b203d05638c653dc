"""Public names are documented, and changes of them fail a test."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from public_api import (
    MODULES,
    Definition,
    defined_names,
    definition,
    public_api,
    public_names,
    statements,
)

GOLDEN = Path(__file__).with_name("public_api.txt")
USES = Path(__file__).with_name("public_uses.py")
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PAGES = Path(__file__).parents[3] / "docs/reference/api"


def test_names_and_signatures_are_golden(tmp_path: Path) -> None:
    current = "\n".join(public_api()) + "\n"
    (tmp_path / GOLDEN.name).write_text(current, encoding="utf-8")
    assert current == GOLDEN.read_text(encoding="utf-8"), (
        f"the public interface changed; review {tmp_path / GOLDEN.name}, then copy it to {GOLDEN}"
    )


def test_uses_name_every_public_name() -> None:
    uses = USES.read_text(encoding="utf-8")
    missing = [
        f"{module}.{name}"
        for module in MODULES
        for name in public_names(module)
        if not re.search(rf"\b{re.escape(f'{module}.{name}')}\b", uses)
    ]
    assert missing == []


def test_public_names_have_one_page() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md")))
    blocks = Counter(re.findall(r"^::: (\S+)$", text, re.MULTILINE))
    names = [f"{module}.{name}" for module in MODULES for name in public_names(module)]
    assert {name: blocks[name] for name in names if blocks[name] != 1} == {}


def is_documented(body: list[ast.stmt], name: str) -> bool:
    """Returns true if a name has a docstring. A property needs one only on its getter."""
    return any(
        ast.get_docstring(node) if isinstance(node, DEFINITIONS) else isinstance(after, ast.Expr)
        for node, after in zip(body, [*body[1:], None], strict=True)
        if name in defined_names(node)
    )


def undocumented_members(found: Definition) -> Iterator[str]:
    """Yields the public members of a class that have no docstring, inherited members included.
    The keys of option ``TypedDict`` classes and the methods that ``AsyncIndex`` assigns need none.
    """
    if not isinstance(found.node, ast.ClassDef) or found.node.keywords:
        return
    for member in found.node.body:
        for name in () if isinstance(member, ast.Assign) else defined_names(member):
            if not name.startswith("_") and not is_documented(found.node.body, name):
                yield name
    for base in found.node.bases:
        inherited = definition(found.module, ast.unparse(base).partition("[")[0])
        if inherited is not None:
            yield from undocumented_members(inherited)


def test_public_names_have_docstrings() -> None:
    missing = []
    for public in (f"{module}.{name}" for module in MODULES for name in public_names(module)):
        found = definition(*public.rsplit(".", 1))
        if found is None:
            continue
        if not is_documented(statements(found.module), defined_names(found.node)[0]):
            missing.append(public)
        missing += [f"{public}.{member}" for member in undocumented_members(found)]
    assert missing == []


def test_mypy_accepts_the_uses() -> None:
    pytest.importorskip("mypy", reason="mypy checks the types")
    config = str(GOLDEN.parents[2] / "pyproject.toml")
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--follow-imports=silent"]
    done = subprocess.run([*command, str(USES)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_accepts_the_uses(tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="pyright checks the types")
    copied = shutil.copy(USES, tmp_path)
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, copied]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
