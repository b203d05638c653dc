"""The command that starts a second interpreter, which reads files for this process.

Parsers of formats such as PDF are not trusted. If a parser crashes or never ends, only the second
process is affected. It runs the same interpreter and loads only the extension module, from the
file that this process has loaded. So its code does not depend on the environment, the module path
or the current folder.
"""

from __future__ import annotations

import os
import sys

# Ctrl-C sends a signal to the whole process group. Python cannot raise an exception while the
# extension reads a file, so the signal must end the process.
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
    """Returns the path of the interpreter and the arguments of the second process.

    Returns:
        The path and the arguments, or ``None`` if ``sys.executable`` is not an interpreter. A
        frozen application, or a program that embeds Python, would start itself again. This process
        then reads the files.

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
