"""The worker process, which runs the parsers that may crash on untrusted files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lookalike import _worker

PDF = Path(__file__).resolve().parents[3] / "fixtures" / "extract" / "pdf"


def started() -> list[str]:
    command = _worker.command()
    assert command is not None
    return [command[0], *command[1]]


def test_it_ends_with_its_input() -> None:
    done = subprocess.run(started(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_worker_ignores_surrounding_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lookalike", "signal", "importlib", "site", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "site.py"))
    test_it_ends_with_its_input()


@pytest.mark.parametrize(
    ("name", "value"), [("frozen", True), ("executable", ""), ("executable", "/usr/bin/editor")]
)
def test_applications_have_no_worker_command(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, name, value, raising=False)
    assert _worker.command() is None


@pytest.mark.parametrize(
    ("executable", "read"), [("sys.executable", True), ("'/nowhere/python'", False), ("''", True)]
)
def test_files_are_read_by_it(executable: str, read: bool) -> None:
    code = (
        f"import sys; sys.executable = {executable}; "
        f"sys.argv = ['x', 'find', {str(PDF / 'simple.pdf')!r}]; "
        "from lookalike.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == (0 if read else 1), done
    assert ("/nowhere/python could not be started" in done.stderr) is not read, done
