"""The result of ``find`` on a cluster."""

from __future__ import annotations

import os
from typing import Any, Generic, Literal, TypeVar

from lookalike._divided.row_operations import R
from lookalike._divided.run import DividedRun
from lookalike._options import invalid_option, path_option

Run = TypeVar("Run", bound=DividedRun[Any, Any, Any])


class DividedFindResult(Generic[R, Run]):
    """The common part of the results of Spark and Ray."""

    def __init__(self, run: Run) -> None:
        # The stages; private to the package.
        self.run = run

    @property
    def groups(self) -> R:
        """A row for each document of a group, in the order of the report: ``group`` (from 1),
        ``id``, ``role``, ``keeper``, ``jaccard`` (null for keepers). Ids have their type in the
        input.
        """
        groups: R = self.run.groups()
        return groups

    @property
    def pairs(self) -> R:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard``.

        Raises:
            OptionError: The run does not list pairs; ``find(…, pairs=True)`` does.
        """
        self.run.expect_pairs()
        pairs: R = self.run.pairs()
        return pairs

    @property
    def counts(self) -> dict[str, int]:
        """As ``lookalike.FindResult.counts``."""
        return dict(self.run.sums.counts)

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Documents, duplicates and their bytes of each value of ``source_field``, by name; none
        without it.
        """
        return [dict(source) for source in self.run.sums.sources]

    @property
    def parameters(self) -> dict[str, Any]:
        """As ``lookalike.FindResult.parameters``."""
        return dict(self.run.plan.parameters)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage that ran."""
        return dict(self.run.seconds)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        format: Literal["csv", "jsonl"] = "csv",
        mode: Literal["error", "overwrite"] = "error",
    ) -> None:
        """Writes the groups as a folder of text files. Joined in the order of their names, they are
        the bytes of ``lookalike find -o``.

        Args:
            folder: The folder to create. Spark writes the file ``_SUCCESS`` last: remove a folder
                without it, which a failed write left. Sail writes no such file, and no folder for a
                report without a line. Ray writes to this machine; its folder appears when it is
                complete.
            format: ``"csv"`` or ``"jsonl"``.
            mode: ``"error"`` refuses an existing folder; ``"overwrite"`` replaces it. Ray replaces
                only folders of an earlier call.

        Raises:
            FileError: The folder exists and ``mode`` is ``"error"``, or it cannot be written.
        """
        if format not in ("csv", "jsonl"):
            raise invalid_option("format", "'csv' or 'jsonl'", format)
        self.run.write_groups(path_option("folder", folder), format, mode_option(mode))

    def write_pairs(
        self, folder: str | os.PathLike[str], *, mode: Literal["error", "overwrite"] = "error"
    ) -> None:
        """Writes the pairs: the bytes of ``lookalike find --pairs``. Takes the parameters of
        ``write``.
        """
        self.run.expect_pairs()
        self.run.write_pairs(path_option("folder", folder), mode_option(mode))

    def __repr__(self) -> str:
        counts = self.run.sums.counts
        shown = ", ".join(
            f"{name}={counts[name]}" for name in ("documents", "groups", "duplicates")
        )
        return f"FindResult({shown})"


def mode_option(mode: object) -> str:
    """Checks ``mode``, which decides how a write treats an existing folder."""
    if mode not in ("error", "overwrite"):
        raise invalid_option("mode", "'error' or 'overwrite'", mode)
    return str(mode)
