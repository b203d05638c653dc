"""Converts the errors of tasks to the errors of this package.

Engines keep only the text of an exception, surrounded by tracebacks. A task therefore raises a
``TaskError``, whose text is a mark and one line of JSON. The driver finds this line in any format
of tracebacks. It recognises errors outside of tasks (a full disk of the JVM, a worker without this
package) by their text.
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
# The system's message for a full disk. Errors of the JVM contain it.
_NO_SPACE = os.strerror(errno.ENOSPC)
# Messages of Python on a worker without this package, or with another version than the driver.
_NO_PACKAGE = re.compile(
    r"No module named 'lookalike['.]|Can't get attribute '\w+' on <module 'lookalike\b|cannot "
    r"import name '\w+' from 'lookalike\b"
)
# The message of Python on a worker without pyarrow, which PySpark imports before a task begins.
_NO_ARROW = "No module named 'pyarrow'"
# The most characters of an engine's message in an error. The last characters are kept.
_MOST_CHARACTERS = 300
_NO_SPACE_REMEDY = (
    "a worker has no space left for temporary files; make room there, name a larger disk (Spark: "
    "spark.local.dir, or SPARK_LOCAL_DIRS of the workers; Ray: object_spilling_directory; both: "
    "TMPDIR), or add workers; or the disk of the output, of the checkpoint or of the driver is "
    "full; with checkpoint the same call resumes from the finished stages"
)

# Lines that state an exception of the JVM, or one of its causes.
_STATED = re.compile(r"^(?:: |Caused by: )(.*)$", re.MULTILINE)
# The class name before the message of an exception. Spark Connect puts it in parentheses.
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+\w+: |^\((?:[a-z]\w*\.)+\w+\) ")
# Messages of Hadoop, Spark and Sail for a path whose scheme is unknown, or whose classes are
# missing.
_NO_SCHEME = re.compile(
    r"No FileSystem for scheme|Class org\.apache\.hadoop\.fs\.\S+ not found|Unable to recognise "
    r"URL"
)
# Messages of Hadoop, Spark and Sail for a path that cannot be read or written.
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
    """Wraps an error of this package, or a full disk, in a task. The text states the type and
    message of the error.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(_MARK + json.dumps({"type": _type_of(error), "message": str(error)}))


def _type_of(error: BaseException) -> str | None:
    """Returns the name under which an error is sent to the caller: a class of this package, or
    ``OSError`` for a full disk. Returns ``None`` for other errors.
    """
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
    """Converts errors in a ``with`` block that come from tasks, and raises them without the
    engine's traces. Other errors pass unchanged.

    Args:
        remedy: The remedy if a worker has no lookalike, another version, or no pyarrow.

    Raises:
        LookalikeError: A task raised this error.
        OptionError: A worker has no lookalike, another version than the driver, or no pyarrow.
        FileError: A disk is full.
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
    """Converts errors in a ``with`` block about paths that the engine cannot read or write, and
    raises them without the engine's traces. Other errors pass unchanged.

    Args:
        problem: The failed action with the path, such as ``cannot write PATH``.

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
    """Makes the error for a path that an engine cannot read or write.

    Args:
        problem: The failed action with the path.
        error: The error of the engine.
        remedy: The remedy, unless the engine does not know the scheme of the path.
    """
    is_unknown = _NO_SCHEME.search(str(error)) is not None
    return FileError(f"{problem}: {cause_of(error)}; {_NO_SCHEME_REMEDY if is_unknown else remedy}")


def cause_of(error: Exception) -> str:
    """Returns the cause of an error in one line: the last cause in the text of a JVM exception, or
    else the first line of the text.
    """
    text = str(error)
    stated = [match for match in _STATED.finditer(text) if match[1].strip()]
    if not stated:
        return _CLASS.sub("", _first_line(error))
    line = stated[-1][1].strip()
    if line.endswith("Traceback (most recent call last):"):
        # The message of a Python exception is the last line before the trace of the JVM.
        of_python = re.split(r"\n\s*at ", text[stated[-1].end() :], maxsplit=1)[0]
        line = next(
            (line for line in reversed(of_python.splitlines()) if line.strip()), line
        ).strip()
    # Drop the temporary folder of the task, which is not part of the user's path.
    return re.sub(r"/_temporary/.*$", "", _CLASS.sub("", line))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _found(error: Exception, remedy: str) -> LookalikeError | None:
    if _type_of(error) is not None:
        return _error_of("OSError", str(error))
    text = str(error)
    at = text.find(_MARK)
    if at >= 0:
        with contextlib.suppress(ValueError):
            stated, _ = json.JSONDecoder().raw_decode(text, at + len(_MARK))
            return _error_of(stated["type"], stated["message"])
    if _NO_PACKAGE.search(text):
        return OptionError(
            f"a worker has no lookalike, or another version than {VERSION}, which the driver "
            f"has: {remedy}"
        )
    if _NO_ARROW in text:
        return OptionError(f"a worker has no pyarrow, which the driver has: {remedy}")
    if _NO_SPACE in text:
        return _error_of(
            "OSError", next(line.strip() for line in text.splitlines() if _NO_SPACE in line)
        )
    return None


def _error_of(name: str, message: str) -> LookalikeError:
    if name == "OSError":
        return FileError(f"{_NO_SPACE_REMEDY} ({message[-_MOST_CHARACTERS:]})")
    kind: type[LookalikeError] = getattr(errors, name)
    return kind(message)
