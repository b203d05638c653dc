"""Waits for a state of the code under test, never for a fixed time.

A state that is not reached within :data:`PATIENCE` seconds is a failure.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

#: Seconds after which waiting fails.
PATIENCE = 60.0
#: A thread at the same instruction this many times in a row is in native code without the lock.
LOOKS = 20


def wait_until(has_happened: Callable[[], bool], state: str) -> None:
    """Waits for a state. ``state`` names it in the error message."""
    deadline = time.monotonic() + PATIENCE
    while not has_happened():
        assert time.monotonic() < deadline, f"{state}: not within {PATIENCE:.0f} s"
        time.sleep(0.001)


class NativeCode:
    """Detects that a thread is in native code that has released the interpreter's lock.

    Call the object repeatedly, with a short sleep between the calls. It returns true once
    :data:`LOOKS` consecutive calls found the thread at the same instruction as the call before. A
    thread that executes Python changes its position, and a thread that waits for the lock gets it
    during the sleep. A short loop may appear at the same instruction every time, so create the
    arguments of the code under test before the call.
    """

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.place: tuple[object, int] | None = None
        self.looks = 0

    def __call__(self) -> bool:
        frame = sys._current_frames().get(self.thread)
        place = None if frame is None else (frame.f_code, frame.f_lasti)
        self.looks = self.looks + 1 if place == self.place and place is not None else 0
        self.place = place
        return self.looks >= LOOKS


def interrupt(begun: threading.Event | None = None) -> None:
    """Sends SIGINT when the calling thread, which must be the main thread, is in native code or
    ``begun`` is set."""
    in_native_code = NativeCode(threading.get_ident())

    def press() -> None:
        wait_until(
            lambda: in_native_code() or (begun is not None and begun.is_set()),
            "the call that is to be interrupted",
        )
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def writer(pipe: Path) -> BinaryIO:
    """Waits until a reader has opened or is opening a named pipe. Returns the writing end."""
    ends: list[int] = []

    def has_reader() -> bool:
        try:
            ends.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError as error:
            assert error.errno == errno.ENXIO, error
        return bool(ends)

    wait_until(has_reader, f"a reader of {pipe}")
    os.set_blocking(ends[0], True)
    return os.fdopen(ends[0], "wb")
