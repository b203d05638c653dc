"""Public names do not change unnoticed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from public_api import MODULES, public_api, public_names

GOLDEN = Path(__file__).with_name("public_api.txt")
USES = Path(__file__).with_name("public_uses.py")


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
