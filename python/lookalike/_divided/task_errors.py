"""Errors of tasks on their way to the caller, through an engine that has texts of its own around
them.

Engines keep the text of an exception only, with tracebacks around it. So a task raises a
``TaskError``, whose text is JSON in one line after a mark, and nothing depends on how an engine
prints tracebacks. What happens outside of a task (a disk of the JVM that is full, a worker without
this package) is known by its text alone.
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
# What the system says of a full disk. The JVM has it in texts only.
_NO_SPACE = os.strerror(errno.ENOSPC)
# What Python says before a task begins where the package is absent, or has not what the driver's
# has.
_NO_PACKAGE = re.compile(
    r"No module named 'lookalike['.]|Can't get attribute '\w+' on <module 'lookalike\b|cannot "
    r"import name '\w+' from 'lookalike\b"
)
# What Python says where Arrow is absent: PySpark needs it before a task begins.
_NO_ARROW = "No module named 'pyarrow'"
# Characters of its message that are shown.
_SHOWN = 300
_NO_SPACE_REMEDY = (
    "a worker has no space left for temporary files; make room there, name a larger disk (Spark: "
    "spark.local.dir, or SPARK_LOCAL_DIRS of the workers; Ray: object_spilling_directory; both: "
    "TMPDIR), or add workers; or the disk of the output, of the checkpoint or of the driver is "
    "full; with checkpoint the same call goes on from the stages that are finished"
)

# How the lines begin that state an exception of the JVM, and the causes of it.
_STATED = re.compile(r"^(?:: |Caused by: )(.*)$", re.MULTILINE)
# The class of an exception before its message; Spark Connect has it in parentheses.
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+\w+: |^\((?:[a-z]\w*\.)+\w+\) ")
# What Hadoop, Spark and Sail say where a path has a scheme that they do not know, or have no
# classes for.
_NO_SCHEME = re.compile(
    r"No FileSystem for scheme|Class org\.apache\.hadoop\.fs\.\S+ not found|Unable to recognise "
    r"URL"
)
# What they say where a path cannot be read or written.
_FILE_PROBLEM = re.compile(
    r"\bhadoop\.(fs|security)\.|\bjava\.nio\.file\.|\bFAILED_READ_FILE\b|mkdirs failed|not a "
    r"directory|permission denied|access denied"
    r"|read-only file system|is not a \w+ file|generic \w+ error|error encountered while "
    r"finalizing writes|failed to lookup address",
    re.IGNORECASE,
)
_NO_SCHEME_REMEDY = (
    "name a scheme whose file system Spark has, such as s3a:// with the package hadoop-aws "
    "(spark-submit --packages org.apache.hadoop:hadoop-aws:VERSION, that of the Hadoop of Spark)"
)

_PATH_REMEDY = "name another path, or let Spark and its workers read and write this one"


class TaskError(Exception):
    """An error of this package, or of a full disk, in a task; its text states which."""

    def __init__(self, error: Exception) -> None:
        super().__init__(_MARK + json.dumps({"type": _type_of(error), "message": str(error)}))


def _type_of(error: BaseException) -> str | None:
    """The name of an error that the caller gets as such."""
    if isinstance(error, LookalikeError):
        kinds = (kind.__name__ for kind in type(error).__mro__)
        return next(name for name in kinds if hasattr(errors, name))
    is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    return "OSError" if is_full else None


@contextlib.contextmanager
def stated_errors() -> Iterator[None]:
    """Around the work of a task.

    Raises:
        TaskError: An error of this package, or a full disk.
    """
    try:
        yield
    except Exception as error:
        if _type_of(error) is None:
            raise
        raise TaskError(error) from error


@contextlib.contextmanager
def task_errors(remedy: str) -> Iterator[None]:
    """The error of a task as that error, without the traces of the engine around it.

    Args:
        remedy: What to do where a worker has no lookalike, or no pyarrow.

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
    """The error of a path that an engine cannot read or write, without the traces of the engine
    around it.

    Args:
        problem: What cannot be done, with the path.

    Raises:
        FileError: The error is of that kind, and none that ``task_errors`` knows.
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
        problem: What cannot be done, with the path.
        remedy: What to do where the path has a scheme that the engine knows.
    """
    is_unknown = _NO_SCHEME.search(str(error)) is not None
    return FileError(f"{problem}: {cause_of(error)}; {_NO_SCHEME_REMEDY if is_unknown else remedy}")


def cause_of(error: Exception) -> str:
    """What an engine says of the cause of an error, in one line. The text of an exception of the
    JVM begins with the call that it is of, and the causes are between its traces.
    """
    text = str(error)
    stated = [match for match in _STATED.finditer(text) if match[1].strip()]
    if not stated:
        return _CLASS.sub("", _first_line(error))
    line = stated[-1][1].strip()
    if line.endswith("Traceback (most recent call last):"):
        # An exception of Python: what it says is behind its trace, and before that of the JVM.
        of_python = re.split(r"\n\s*at ", text[stated[-1].end() :], maxsplit=1)[0]
        line = next(
            (line for line in reversed(of_python.splitlines()) if line.strip()), line
        ).strip()
    # Where a task began to write says nothing of the path.
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
