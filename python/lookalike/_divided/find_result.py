"""The result of ``find`` on a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NoReturn, TypeVar

from lookalike._divided.row_operations import R
from lookalike._divided.run import DividedRun
from lookalike._options import invalid_option, path_option
from lookalike._results.find_result import Group, Member
from lookalike.errors import OptionError

Run = TypeVar("Run", bound=DividedRun[Any, Any, Any])

ONE_MACHINE: Final = frozenset(
    {
        "better_setting",
        "cut_from_mail",
        "decisions",
        "explain",
        "folding",
        "is_kept",
        "kept_rows",
        "labels",
        "text",
        "write_report",
        "write_skipped",
    }
)
"""Attributes of ``lookalike.FindResult`` that a cluster does not have."""


class OneMachineError(OptionError, AttributeError):
    """The error of an attribute that exists only on one machine. ``hasattr`` returns false."""


class DividedFindResult(Generic[R, Run]):
    """The common part of the results of Spark and Ray."""

    _why_not_pickled: str

    def __init__(self, run: Run) -> None:
        # The stages; private to the package.
        self.run = run

    def __iter__(self) -> Iterator[Group]:
        """Yields the groups in the order of ``groups``, largest first. The process of the caller
        holds one part of the rows at a time.
        """
        for _, rows in groupby(self.run.member_rows(), key=itemgetter(0)):
            (_, keeper, _), *others = [row[1:] for row in rows]
            yield Group(keeper, tuple(Member(id_, similarity) for id_, _, similarity in others))

    def __len__(self) -> int:
        """Returns the number of groups."""
        return self.run.sums.counts["groups"]

    @property
    def groups(self) -> R:
        """A row for each document of a group, in the order of the report: ``group`` (from 1),
        ``id``, ``role``, ``keeper``, ``jaccard`` (null for keepers), and ``containment`` if that is
        the measure. Ids have their type in the input.
        """
        groups: R = self.run.groups()
        return groups

    @property
    def pairs(self) -> R:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard``, and ``containment`` if
        that is the measure.

        Raises:
            OptionError: The run does not list pairs; ``find(…, pairs=True)`` does.
        """
        self.run.expect_pairs()
        pairs: R = self.run.pairs()
        return pairs

    @property
    def has_pairs(self) -> bool:
        """Whether all verified pairs are listed."""
        return bool(self.run.plan.options.get("pairs"))

    @property
    def empty(self) -> R:
        """Documents without a token: ``id``, ``same_text_as`` (the least id of the documents with
        the same text, documents before the reference; null for that document, and for a text that
        occurs once).
        """
        empty: R = self.run.empty()
        return empty

    @property
    def skipped(self) -> R:
        """Rows that ``skip_bad`` left out: ``id``, ``reason``. Rows have no file and no line."""
        skipped: R = self.run.skipped()
        return skipped

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of ``lookalike.FindResult.counts``."""
        return dict(self.run.sums.counts)

    @property
    def sources(self) -> R:
        """A row for each value of ``source_field``, by name, the reference last, with the columns
        of ``lookalike.FindResult.sources``. Without ``source_field`` the table is empty.
        """
        sources: R = self.run.sources()
        return sources

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of ``lookalike.FindResult.parameters``."""
        return dict(self.run.plan.parameters)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage that ran; the stages are others than on one machine."""
        return dict(self.run.seconds)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        format: Literal["csv", "jsonl"] | None = None,
        mode: Literal["error", "overwrite"] = "error",
    ) -> None:
        """Writes the groups as a folder of text files. Joined in the order of their names, they are
        the bytes of ``lookalike find -o``.

        Args:
            folder: The folder to create. Spark writes the file ``_SUCCESS`` last: remove a folder
                without it, which a failed write left. Sail writes no such file, and no folder for a
                report without a line. Ray writes to this machine; its folder appears when it is
                complete.
            format: ``"csv"`` or ``"jsonl"``; by default the end of the folder's name decides,
                ``.jsonl`` or else CSV.
            mode: ``"error"`` refuses an existing folder; ``"overwrite"`` replaces it. Ray replaces
                only folders of an earlier call.

        Raises:
            FileError: The folder exists and ``mode`` is ``"error"``, or it cannot be written.
            OptionError: The name of the folder ends in another format.
        """
        if format not in ("csv", "jsonl", None):
            raise invalid_option("format", "'csv' or 'jsonl'", format)
        path = path_option("folder", folder)
        self.run.write_groups(path, format or _format_of(path), mode_option(mode))

    def write_pairs(
        self, folder: str | os.PathLike[str], *, mode: Literal["error", "overwrite"] = "error"
    ) -> None:
        """Writes the pairs: the bytes of ``lookalike find --pairs``. Takes the parameters of
        ``write``.
        """
        self.run.expect_pairs()
        self.run.write_pairs(path_option("folder", folder), mode_option(mode))

    if not TYPE_CHECKING:
        # Type checkers report these names as unknown.
        def __getattr__(self, name: str) -> NoReturn:
            if name in ONE_MACHINE:
                raise OneMachineError(
                    f"{name} is for one machine: lookalike.find of the same documents has it"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __copy__(self) -> DividedFindResult[R, Run]:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a FindResult of a cluster cannot be pickled: {self._why_not_pickled}")

    def __repr__(self) -> str:
        counts = self.run.sums.counts
        shown = ", ".join(
            f"{name}={counts[name]}" for name in ("documents", "groups", "duplicates")
        )
        return f"FindResult({shown})"


def _format_of(folder: str) -> str:
    """The format that the name of a folder ends in, as the names of files do on one machine."""
    name = folder.rstrip("/").lower()
    if name.endswith((".parquet", ".gz", ".zst")):
        raise OptionError(
            f"cannot write {folder}: groups are written as CSV or JSON lines, not compressed; name "
            "a folder .csv or .jsonl, or write the rows of found.groups"
        )
    return "jsonl" if name.endswith(".jsonl") else "csv"


def mode_option(mode: object) -> str:
    """Checks ``mode``, which decides how a write treats an existing folder."""
    if mode not in ("error", "overwrite"):
        raise invalid_option("mode", "'error' or 'overwrite'", mode)
    return str(mode)
