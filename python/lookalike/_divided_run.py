"""Shared by the engines that run the stages: sums of notes, amounts of memory, errors of tasks."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lookalike import errors
from lookalike._options import refused, whole_option
from lookalike.errors import ChangedError, FileError, LookalikeError, OptionError

__all__ = ["NODE_SUM_RANGE", "RunSums", "bytes_of", "check_largest", "check_read", "task_errors"]

_COUNTS = ("documents", "reference", "empty", "skipped", "copies", "candidates", "verified", "groups", "duplicates")
_SOURCE = ("documents", "bytes", "duplicates", "duplicate_bytes")
#: The sum of all nodes modulo this tells rows apart.
NODE_SUM_RANGE = 1 << 24
_UNITS = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_RAISED = re.compile(
    r"^\s*(?:E\s+)?lookalike\.errors\.(\w+): (.*?)(?=^\s*$|\Z|^\s*(?:JVM|\tat |  File |Traceback|\S+Error:))", re.M | re.S
)
#: The message of the system for a full disk, which engines wrap.
_NO_SPACE = "No space left on device"
#: Characters of its message that are shown.
_SHOWN = 300
_NO_SPACE_REMEDY = (
    "a worker has no space left for temporary files; make room there, name a larger disk (Spark: spark.local.dir, or "
    "SPARK_LOCAL_DIRS of the workers; Ray: object_spilling_directory; both: TMPDIR), or add workers; or the disk of the "
    "output, of the checkpoint or of the driver is full; with checkpoint the same call goes on from the stages that are finished"
)


class RunSums:
    """The counts and sources of a run: sums of the notes of its tasks."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {name: 0 for name in _COUNTS}
        self._sources: dict[tuple[bool, str], dict[str, Any]] = {}
        self._decided = self._nodes = 0

    def add(self, counts: Mapping[str, int] | None, source: Mapping[str, Any] | None) -> None:
        """Adds the members of a note."""
        for name, count in (counts or {}).items():
            if name in self.counts:
                self.counts[name] += count
            elif name == "decided":
                self._decided += count
            elif name == "nodes":
                self._nodes += count
        if source is not None:
            key = (bool(source["reference"]), str(source["source"]))
            none: dict[str, Any] = {"source": key[1], "reference": key[0], **{name: 0 for name in _SOURCE}}
            there = self._sources.setdefault(key, none)
            for name in _SOURCE:
                there[name] += source.get(name, 0)

    def add_notes(self, notes: Iterable[str]) -> None:
        """Adds notes as the stages give them."""
        for note in notes:
            members = json.loads(note)
            self.add(members.get("counts"), members.get("source"))

    def check_rows(self, rows: int, nodes: int) -> None:
        """Refuses rows that are not those of the first reading.

        :param nodes: the sum of their nodes.
        :raises ChangedError: the counts are of others.
        """
        there = self.counts["documents"] + self.counts["skipped"]
        if (rows, nodes) != (there, self._nodes):
            others = "" if rows != there else ", with other ids"
            raise ChangedError(
                f"the frame has {rows} rows{others}, the checkpoint is of one with {there}; name another folder, or remove "
                "this one"
            )

    def check_decided(self, labelled: int) -> None:
        """Refuses a second reading that did not give all documents of components.

        :raises ChangedError: it did not.
        """
        check_read(self._decided, labelled)

    @property
    def sources(self) -> list[dict[str, Any]]:
        """By name, those of the reference collection last."""
        return [self._sources[key] for key in sorted(self._sources)]


def check_read(got: int, expected: int) -> None:
    """Refuses a reading that gave ``got`` of ``expected`` documents.

    :raises ChangedError: these differ.
    """
    if got != expected:
        raise ChangedError(
            f"the frame gave {got} of {expected} documents of the first reading when it was read again; it must "
            "give the same rows each time: write it to a table first, and read that"
        )


def check_largest(largest: int, task_bytes: int) -> None:
    """Refuses a component whose documents take more than a task may.

    :raises OptionError: it does.
    """
    if largest > task_bytes:
        raise OptionError(
            f"a component has documents of {largest} bytes, task_memory allows {task_bytes}; give task_memory more, or "
            "larger shingles, which connect fewer documents"
        )


def bytes_of(name: str, value: int | str) -> int:
    """An amount of memory: bytes, or a text such as ``"512MiB"``."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", value.lower())
        if match is None or match[2] not in _UNITS:
            raise refused(name, "bytes, or a text such as '512MiB'", value)
        return whole_option(name, int(match[1]) * _UNITS[match[2]], 1)
    return whole_option(name, value, 1)


@contextlib.contextmanager
def task_errors(remedy: str) -> Iterator[None]:
    """Raises the error of a task without the traces of the engine.

    :param remedy: what to do where a worker has no lookalike.
    :raises FileError: a worker has no space left.
    """
    try:
        yield
    except LookalikeError:
        raise
    except Exception as error:
        text = str(error)
        if "No module named 'lookalike'" in text:
            raise OptionError(f"a worker has no lookalike: {remedy}") from error
        match = _RAISED.search(text)
        kind = getattr(errors, match[1], None) if match else None
        if (match is None or kind is None) and _NO_SPACE in text:
            where = next(line.strip() for line in text.splitlines() if _NO_SPACE in line)
            raise FileError(f"{_NO_SPACE_REMEDY} ({where[-_SHOWN:]})") from error
        if match is None or kind is None:
            raise
        raise kind(match[2].strip()) from error
