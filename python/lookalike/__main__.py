"""The command ``lookalike``, as an installed script and as ``python -m lookalike``."""

from __future__ import annotations

import os
import signal
import sys

from lookalike import _engine

__all__ = ["main"]


def main() -> int:
    """Runs the command in ``sys.argv``, as the program ``lookalike`` does.

    The output and the exit code are the same as the program's. Removes Python's handler of SIGINT,
    so that Ctrl-C ends the process at once.

    Returns:
        The exit code: 0 for success, 1 for an error, 2 for wrong arguments, 3 if the condition of
        ``--exit-code`` is true.
    """
    _open_standard_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return _engine.cli(["lookalike", *sys.argv[1:]])


def _open_standard_streams() -> None:
    """Opens closed standard streams, as every Rust program does when it starts.

    Otherwise the next opened file would get the number of the closed stream and receive its
    output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(main())
