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
"""Attributes of ``lookalike.FindResult`` that results of a cluster lack."""


class OneMachineError(OptionError, AttributeError):
    """Raised for an attribute that only results on one machine have. It is an ``AttributeError``,
    so that ``hasattr`` returns false.
    """


class DividedFindResult(Generic[R, Run]):
    """The common base class of the results of Spark and Ray."""

    _why_not_pickled: str

    def __init__(self, run: Run) -> None:
        # The run with its stages; for use within the package.
        self.run = run

    def __iter__(self) -> Iterator[Group]:
        """Yields the groups in the order of ``groups``, largest first. On Spark, the driver holds
        one partition of the rows at a time.
        """
        for _, rows in groupby(self.run.member_rows(), key=itemgetter(0)):
            (_, keeper, _), *others = [row[1:] for row in rows]
            yield Group(keeper, tuple(Member(id_, similarity) for id_, _, similarity in others))

    def __len__(self) -> int:
        """Returns the number of groups."""
        return self.run.sums.counts["groups"]

    @property
    def groups(self) -> R:
        """A row for each document of a group, in the order of the report.

        The columns are ``group`` (from 1), ``id``, ``role`` (``keeper`` or ``duplicate``),
        ``keeper`` (an id), ``jaccard`` (null for keepers), and ``containment`` if that is the
        measure. Ids have the type of the input.
        """
        groups: R = self.run.groups()
        return groups

    @property
    def pairs(self) -> R:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard``, and ``containment`` if
        that is the measure.

        Raises:
            OptionError: Pairs were not requested by ``find(…, pairs=True)``.
        """
        self.run.expect_pairs()
        pairs: R = self.run.pairs()
        return pairs

    @property
    def has_pairs(self) -> bool:
        """Whether the run lists the verified pairs."""
        return bool(self.run.plan.options.get("pairs"))

    @property
    def empty(self) -> R:
        """A row for each document without a token: ``id`` and ``same_text_as``.

        ``same_text_as`` is the id of the first of these documents with the same text: the least id
        in the frame or dataset, or else in the reference. It is null for this first document, and
        for documents whose text is empty.
        """
        empty: R = self.run.empty()
        return empty

    @property
    def skipped(self) -> R:
        """The rows that ``skip_bad`` left out: ``id`` and ``reason``."""
        skipped: R = self.run.skipped()
        return skipped

    @property
    def counts(self) -> dict[str, int]:
        """The counts of the run, with the names of ``lookalike.FindResult.counts``."""
        return dict(self.run.sums.counts)

    @property
    def sources(self) -> R:
        """A row for each value of ``source_field``, with the columns of
        ``lookalike.FindResult.sources``. Rows are sorted by name; sources of the reference come
        last. Without ``source_field`` the table is empty.
        """
        sources: R = self.run.sources()
        return sources

    @property
    def parameters(self) -> dict[str, Any]:
        """The chosen parameters, as in ``lookalike.FindResult.parameters``."""
        return dict(self.run.plan.parameters)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage of the run. The stages differ from the stages on one
        machine.
        """
        return dict(self.run.seconds)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        format: Literal["csv", "jsonl"] | None = None,
        mode: Literal["error", "overwrite"] = "error",
    ) -> None:
        """Writes the groups as a folder of text files. The files, joined in the order of their
        names, equal the file that ``lookalike find -o`` writes.

        Args:
            folder: The folder to create. Spark writes the file ``_SUCCESS`` last. A folder without
                this file is incomplete, because a write failed: remove it. Sail does not write
                this file, and creates no folder for a report without a line. Ray writes to this
                machine, and the folder appears when it is complete.
            format: ``"csv"`` or ``"jsonl"``. The default is ``"jsonl"`` if the name of the folder
                ends in ``.jsonl``, and else ``"csv"``.
            mode: ``"error"`` rejects an existing folder; ``"overwrite"`` replaces it. Ray replaces
                only folders that contain nothing but files of an earlier call.

        Raises:
            FileError: The folder exists and ``mode`` is ``"error"``, or it cannot be written.
            OptionError: An argument is invalid, or the name of the folder ends in ``.parquet``,
                ``.gz`` or ``.zst`` and ``format`` is not set.
        """
        if format not in ("csv", "jsonl", None):
            raise invalid_option("format", "'csv' or 'jsonl'", format)
        path = path_option("folder", folder)
        self.run.write_groups(path, format or _format_of(path), mode_option(mode))

    def write_pairs(
        self, folder: str | os.PathLike[str], *, mode: Literal["error", "overwrite"] = "error"
    ) -> None:
        """Writes the verified pairs as a folder of CSV files. The joined files equal the file that
        ``lookalike find --pairs`` writes.

        Args:
            folder: As for ``write``.
            mode: As for ``write``.

        Raises:
            FileError: The folder exists and ``mode`` is ``"error"``, or it cannot be written.
            OptionError: An argument is invalid, or pairs were not requested by ``find(…,
                pairs=True)``.
        """
        self.run.expect_pairs()
        self.run.write_pairs(path_option("folder", folder), mode_option(mode))

    if not TYPE_CHECKING:
        # Hidden from type checkers, so that they report these names as unknown.
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
        text = ", ".join(f"{name}={counts[name]}" for name in ("documents", "groups", "duplicates"))
        return f"FindResult({text})"


def _format_of(folder: str) -> str:
    """Returns the format for the name of a folder: ``jsonl`` if it ends in ``.jsonl``, else
    ``csv``.

    Raises:
        OptionError: The name has the ending of a format that a cluster does not write.
    """
    name = folder.rstrip("/").lower()
    if name.endswith((".parquet", ".gz", ".zst")):
        raise OptionError(
            f"cannot write {folder}: groups are written as CSV or JSON lines, not compressed; name "
            "a folder .csv or .jsonl, or write the rows of found.groups"
        )
    return "jsonl" if name.endswith(".jsonl") else "csv"


def mode_option(mode: object) -> str:
    """Checks the argument ``mode``, which decides what a write does with an existing folder."""
    if mode not in ("error", "overwrite"):
        raise invalid_option("mode", "'error' or 'overwrite'", mode)
    return str(mode)
