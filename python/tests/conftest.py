"""What all tests rely on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# A shell starts what runs in the background with Ctrl-C ignored, and what that starts inherits it;
# the tests that press it would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def program() -> str:
    """The binary; ``cargo x python`` says where it is."""
    path = os.environ.get("LOOKALIKE_PROGRAM")
    if path is None:
        pytest.skip("LOOKALIKE_PROGRAM does not say where the binary is; run cargo x python")
    return path


@pytest.fixture(scope="session")
def check_types(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Has mypy check a file; what it knows of the libraries serves all tests. A process of its own,
    since what mypy leaves in this one is looked at by each collection of garbage."""
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
