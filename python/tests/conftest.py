"""Fixtures and settings of all tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# A shell starts background processes with Ctrl-C ignored, and their children inherit this. Tests
# that send Ctrl-C would then wait forever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def program() -> str:
    """The path of the program ``lookalike``, which ``cargo x python`` sets."""
    path = os.environ.get("LOOKALIKE_PROGRAM")
    if path is None:
        pytest.skip("LOOKALIKE_PROGRAM does not say where the binary is; run cargo x python")
    return path


@pytest.fixture(scope="session")
def check_types(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """A function that checks a file with mypy. All tests share the cache of mypy. mypy runs in its
    own process, because its many objects would slow down garbage collection in this one."""
    pytest.importorskip("mypy", reason="mypy checks the types")
    options = [
        "--strict",
        "--allow-empty-bodies",
        "--disable-error-code=empty-body",
        "--follow-imports=silent",
    ]
    command = [
        sys.executable,
        "-m",
        "mypy",
        *options,
        "--cache-dir",
        str(tmp_path_factory.mktemp("mypy")),
    ]

    def check(file: Path) -> None:
        done = subprocess.run([*command, str(file)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr

    return check
