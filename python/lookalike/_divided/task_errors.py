"""Conversion of errors of tasks to the errors of this package.

Engines keep only the text of an exception, between tracebacks. A task therefore raises a
``TaskError``, whose text is one line of JSON after a mark, so that the format of tracebacks does
not matter. Errors outside of tasks (a full disk of the JVM, a worker without this package) are
recognised by their text.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
from collections.abc import Iterator

from lookalike import errors
from lookalike._engine import VERSION
from lookalike.errors import FileError, LookalikeError, OptionError

_MARK = "lookalike-task-error "
# The message of the system for a full disk, which the JVM repeats in its own texts.
_NO_SPACE = os.strerror(errno.ENOSPC)
# The messages of Python if a worker has no package, or another version than the driver.
_NO_PACKAGE = re.compile(
    r"No module named 'lookalike['.]|Can't get attribute '\w+' on <module 'lookalike\b|cannot "
    r"import name '\w+' from 'lookalike\b"
)
# The message of Python if a worker has no Arrow, which PySpark needs before a task begins.
_NO_ARROW = "No module named 'pyarrow'"
# The last characters of a message that an error contains.
_SHOWN = 300
_NO_SPACE_REMEDY = (
    "a worker has no space left for temporary files; make room there, name a larger disk (Spark: "
    "spark.local.dir, or SPARK_LOCAL_DIRS of the workers; Ray: object_spilling_directory; both: "
    "TMPDIR), or add workers; or the disk of the output, of the checkpoint or of the driver is "
    "full; with checkpoint the same call resumes from the finished stages"
)

# The lines with an exception of the JVM and its causes.
_STATED = re.compile(r"^(?:: |Caused by: )(.*)$", re.MULTILINE)
# The class of an exception before its message; Spark Connect has it in parentheses.
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+\w+: |^\((?:[a-z]\w*\.)+\w+\) ")
# The messages of Hadoop, Spark and Sail for a path with an unknown scheme, or without its classes.
_NO_SCHEME = re.compile(
    r"No FileSystem for scheme|Class org\.apache\.hadoop\.fs\.\S+ not found|Unable to recognise "
    r"URL"
)
# Their messages for a path that cannot be read or written.
_FILE_PROBLEM = re.compile(
    r"\bhadoop\.(fs|security)\.|\bjava\.nio\.file\.|\bFAILED_READ_FILE\b|mkdirs failed|not a "
    r"directory|permission denied|access denied"
    r"|read-only file system|is not a \w+ file|generic \w+ error|error encountered while "
    r"finalizing writes|failed to lookup address",
    re.IGNORECASE,
)
_NO_SCHEME_REMEDY = (
    "name a scheme whose file system Spark has, such as s3a:// with the package hadoop-aws "
    "(spark-submit --packages org.apache.hadoop:hadoop-aws:VERSION, the Hadoop version of Spark)"
)

_PATH_REMEDY = "name another path, or let Spark and its workers read and write this one"


class TaskError(Exception):
    """An error of this package in a task, or a full disk; its text states the type."""

    def __init__(self, error: Exception) -> None:
        super().__init__(_MARK + json.dumps({"type": _type_of(error), "message": str(error)}))


def _type_of(error: BaseException) -> str | None:
    """The name of an error that reaches the caller; ``None`` for other errors."""
    if isinstance(error, LookalikeError):
        kinds = (kind.__name__ for kind in type(error).__mro__)
        return next(name for name in kinds if hasattr(errors, name))
    is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    return "OSError" if is_full else None


@contextlib.contextmanager
def stated_errors() -> Iterator[None]:
    """Wraps the work of a task, and converts its errors.

    Raises:
        TaskError: The work raised an error of this package, or the disk is full.
    """
    try:
        yield
    except Exception as error:
        if _type_of(error) is None:
            raise
        raise TaskError(error) from error


@contextlib.contextmanager
def task_errors(remedy: str) -> Iterator[None]:
    """Raises the error of a task without the traces of the engine.

    Args:
        remedy: The remedy if a worker has no lookalike, or no pyarrow.

    Raises:
        FileError: A worker has no space left.
    """
    try:
        yield
    except LookalikeError:
        raise
    except Exception as error:
        found = _found(error, remedy)
        if found is None:
            raise
        raise found from error


@contextlib.contextmanager
def file_errors(problem: str) -> Iterator[None]:
    """Raises the error of a path that an engine cannot read or write, without the traces of the
    engine.

    Args:
        problem: The failed action, with the path.

    Raises:
        FileError: The engine cannot read or write the path.
    """
    try:
        yield
    except LookalikeError:
        raise
    except Exception as error:
        text = str(error)
        stated = "\n".join([_first_line(error), *_STATED.findall(text)])
        is_of_files = _NO_SCHEME.search(stated) or _FILE_PROBLEM.search(stated)
        if not is_of_files or _found(error, "") is not None:
            raise
        raise file_error(problem, error) from error


def file_error(problem: str, error: Exception, remedy: str = _PATH_REMEDY) -> FileError:
    """The error of a path that an engine cannot read or write.

    Args:
        problem: The failed action, with the path.
        remedy: The remedy if the engine knows the scheme of the path.
    """
    is_unknown = _NO_SCHEME.search(str(error)) is not None
    return FileError(f"{problem}: {cause_of(error)}; {_NO_SCHEME_REMEDY if is_unknown else remedy}")


def cause_of(error: Exception) -> str:
    """The cause of an error in one line. The text of an exception of the JVM begins with the failed
    call; its causes follow between traces.
    """
    text = str(error)
    stated = [match for match in _STATED.finditer(text) if match[1].strip()]
    if not stated:
        return _CLASS.sub("", _first_line(error))
    line = stated[-1][1].strip()
    if line.endswith("Traceback (most recent call last):"):
        # The message of an exception of Python is between its trace and the trace of the JVM.
        of_python = re.split(r"\n\s*at ", text[stated[-1].end() :], maxsplit=1)[0]
        line = next(
            (line for line in reversed(of_python.splitlines()) if line.strip()), line
        ).strip()
    # The temporary folder of a task is not part of the path.
    return re.sub(r"/_temporary/.*$", "", _CLASS.sub("", line))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _found(error: Exception, remedy: str) -> LookalikeError | None:
    if _type_of(error) is not None:
        return _made("OSError", str(error))
    text = str(error)
    at = text.find(_MARK)
    if at >= 0:
        with contextlib.suppress(ValueError):
            stated, _ = json.JSONDecoder().raw_decode(text, at + len(_MARK))
            return _made(stated["type"], stated["message"])
    if _NO_PACKAGE.search(text):
        return OptionError(
            f"a worker has no lookalike, or another version than {VERSION}, which the driver "
            f"has: {remedy}"
        )
    if _NO_ARROW in text:
        return OptionError(f"a worker has no pyarrow, which the driver has: {remedy}")
    if _NO_SPACE in text:
        return _made(
            "OSError", next(line.strip() for line in text.splitlines() if _NO_SPACE in line)
        )
    return None


def _made(name: str, message: str) -> LookalikeError:
    if name == "OSError":
        return FileError(f"{_NO_SPACE_REMEDY} ({message[-_SHOWN:]})")
    kind: type[LookalikeError] = getattr(errors, name)
    return kind(message)
