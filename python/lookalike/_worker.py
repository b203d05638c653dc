"""The command of a second interpreter that reads files for this one.

Parsers of formats such as PDF are not trusted: one that crashes or never ends takes only the
process it runs in. That process is this interpreter with nothing but the extension loaded, from
the file it has here. So its code does not depend on the environment, the module path or the
current folder, and nothing is imported from there.
"""

from __future__ import annotations

import os
import sys

# Ctrl-C reaches the whole process group; an exception would not be raised while the extension
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
    """Gives the program and its arguments.

    Returns:
        ``None`` where ``sys.executable`` is not an interpreter: in a frozen application, or in a
        program that embeds Python, which would start itself again. Files are then read in this
        process.

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
