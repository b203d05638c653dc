"""The command of a second interpreter that reads files for this one.

Parsers of formats such as PDF are not trusted. A parser that crashes or never ends affects only the
second process. It is the same interpreter, which loads only the extension module, from the same
file. So its code does not depend on the environment, the module path or the current folder, and
imports nothing from there.
"""

from __future__ import annotations

import os
import sys

# Ctrl-C reaches the whole process group. Python would not raise an exception while the extension
# reads a file, so the signal must end the process.
_PROGRAM = """\
import importlib.util as util, signal, sys
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
spec = util.spec_from_file_location("lookalike._engine", sys.argv[1])
engine = util.module_from_spec(spec)
spec.loader.exec_module(engine)
engine.extract_worker()
"""


def command() -> tuple[str, list[str]] | None:
    """Returns the program and its arguments.

    Returns:
        ``None`` if ``sys.executable`` is not an interpreter. A frozen application, or a program
        that embeds Python, would start itself again. Files are then read in this process.

    Example:
        >>> program, arguments = command()
        >>> program == sys.executable
        True
    """
    from lookalike import _engine

    name = os.path.basename(sys.executable or "").lower()
    if getattr(sys, "frozen", False) or "python" not in name:
        return None
    return sys.executable, ["-I", "-S", "-c", _PROGRAM, _engine.__file__]
