"""Adds up the notes of a run, and reads amounts of memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from lookalike._options import invalid_option, whole_option
from lookalike._progress import warn
from lookalike.errors import ChangedError, OptionError

_COUNTS = (
    "documents",
    "reference",
    "empty",
    "skipped",
    "copies",
    "candidates",
    "verified",
    "groups",
    "duplicates",
)
_SOURCE = ("documents", "bytes", "duplicates", "duplicate_bytes")
SOURCES: Final = ", ".join(
    ["source string, reference boolean", *(f"{name} long" for name in _SOURCE)]
)
"""The columns of the sources of a run, with their SQL types."""
NODE_SUM_RANGE = 1 << 24
"""A run adds up all nodes, each modulo this number, to detect a frame with other rows."""
# The prefix of the counts of keep rules; the place of the rule in the list follows.
_RULE = "rule_"
_UNITS = {
    "": 1,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
}


class RunSums:
    """The counts and sources of a run: sums of the notes of its tasks."""

    def __init__(self, source_field: str | None = None) -> None:
        """Starts all sums at zero.

        Args:
            source_field: The column of sources. Without this column, no sources are counted.
        """
        self._has_sources = source_field is not None
        self.counts: dict[str, int] = dict.fromkeys(_COUNTS, 0)
        self._sources: dict[tuple[bool, str], dict[str, Any]] = {}
        self._decided = self._nodes = 0
        # For each keep rule, by its place in the list: how many tasks had a document with a value
        # in the field of the rule, or with a path that matches its pattern.
        self._used_rules: dict[int, int] = {}

    def add(self, counts: Mapping[str, int] | None, source: Mapping[str, Any] | None) -> None:
        """Adds the ``counts`` and the ``source`` of a note."""
        for name, count in (counts or {}).items():
            if name in self.counts:
                self.counts[name] += count
            elif name == "decided":
                self._decided += count
            elif name == "nodes":
                self._nodes += count
            elif name.startswith(_RULE):
                place = int(name.removeprefix(_RULE))
                self._used_rules[place] = self._used_rules.get(place, 0) + count
        if source is not None and self._has_sources:
            key = (bool(source["reference"]), str(source["source"]))
            zeros: dict[str, Any] = {
                "source": key[1],
                "reference": key[0],
                **dict.fromkeys(_SOURCE, 0),
            }
            sums = self._sources.setdefault(key, zeros)
            for name in _SOURCE:
                sums[name] += source.get(name, 0)

    def add_notes(self, notes: Iterable[str]) -> None:
        """Adds notes of the stages, each a JSON text."""
        for note in notes:
            members = json.loads(note)
            self.add(members.get("counts"), members.get("source"))

    def warn_of_idle_rules(self, rules: Sequence[str]) -> None:
        """Warns about keep rules that decide nothing, as the command line does.

        Args:
            rules: All keep rules of the run, in their order.

        Warns:
            UserWarning: No document has a value in the field of a rule, or matches its pattern.
        """
        for place, used in sorted(self._used_rules.items()):
            if used or not self.counts["documents"]:
                continue
            kind, _, name = rules[place].partition(":")
            reason = (
                f"no document matches the pattern {name!r}"
                if kind == "path"
                else "no document has a value in this field"
            )
            warn(f"keep={rules[place]!r} decides nothing: {reason}", UserWarning)

    def check_rows(self, rows: int, nodes: int) -> None:
        """Checks that the frame has the rows of the frame in the checkpoint.

        Args:
            rows: The number of rows of the frame.
            nodes: The sum of their nodes, each modulo ``NODE_SUM_RANGE``.

        Raises:
            ChangedError: One of these numbers differs.
        """
        counted = self.counts["documents"] + self.counts["skipped"]
        if (rows, nodes) != (counted, self._nodes):
            others = "" if rows != counted else ", with other ids"
            raise ChangedError(
                f"the frame has {rows} rows{others}, the checkpoint is of one with {counted}; name "
                "another folder, or remove this one"
            )

    def check_decided(self, documents: int) -> None:
        """Checks that the second reading returned all documents in components.

        Raises:
            ChangedError: Some documents are missing.
        """
        check_read(self._decided, documents)

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The sources, sorted by name; sources of the reference collection come last."""
        return [self._sources[key] for key in sorted(self._sources)]


def check_read(returned: int, expected: int) -> None:
    """Checks that the second reading returned as many documents as the first.

    Raises:
        ChangedError: The numbers differ.
    """
    if returned != expected:
        raise ChangedError(
            f"the second reading of the frame returned {returned} of {expected} documents; it must "
            "return the same rows each time: write it to a table first, and read the table"
        )


def check_largest(largest: int, task_bytes: int) -> None:
    """Checks that the largest component fits a task.

    Raises:
        OptionError: The component does not fit.
    """
    if largest > task_bytes:
        raise OptionError(
            f"a component has documents of {largest} bytes, task_memory allows {task_bytes}; "
            "increase task_memory, or use larger shingles, which connect fewer documents"
        )


def bytes_of(name: str, value: int | str) -> int:
    """Converts an amount of memory to bytes. The value is a number of bytes, or a text such as
    ``"512MiB"``.

    Raises:
        OptionError: The value is not an amount of memory of at least one byte.
    """
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", value.lower())
        if match is None or match[2] not in _UNITS:
            raise invalid_option(name, "bytes, or a text such as '512MiB'", value)
        return whole_option(name, int(match[1]) * _UNITS[match[2]], 1)
    return whole_option(name, value, 1)
