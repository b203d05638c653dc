"""A run whose documents are divided over tasks: the order of its stages, for any engine."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from lookalike import stages
from lookalike._divided.large_components import LargeComponents, component_sizes
from lookalike._divided.row_operations import D, R, RowOperations
from lookalike._divided.run_sums import RunSums
from lookalike._progress import Progress
from lookalike.errors import DocumentError, OptionError
from lookalike.stages import Plan

B = TypeVar("B")
"""Edges and identities as the engine has them."""
_T = TypeVar("_T")

MOST_NAMED_IDS = 5
"""How many repeated ids a message names."""


class DividedRun(ABC, Generic[B, R, D]):
    """The stages of a run. An engine has one subclass, which knows how to move rows."""

    decided: R
    """Rows of ``lookalike.stages.DECIDED``, once the run has ended."""

    def __init__(self, plan: Plan, parts: int, task_bytes: int, log: logging.Logger) -> None:
        """Starts a run.

        Args:
            parts: The number of parts of buckets and documents.
            task_bytes: The most that the documents of a task may take.
            log: Reports when stages begin and end.
        """
        self.plan = plan
        self.parts = parts
        self.task_bytes = task_bytes
        self.progress: Progress | None = None
        self.seconds: dict[str, float] = {}
        self.sums = RunSums(plan.options.get("source_field"))
        self._log = log

    @abstractmethod
    def connect(self) -> B:
        """Connects documents that share a key, adds the notes to the sums, and rejects repeated
        ids.
        """

    @abstractmethod
    def components(self, blocks: B) -> R:
        """The labels of all documents of components."""

    @abstractmethod
    def decide(self, labels: R, total: int, is_divided: bool) -> R:
        """Decides about the ``total`` documents of ``labels``, and adds the notes to the sums.

        Args:
            is_divided: Whether a component was larger than a task.
        """

    @abstractmethod
    def row_operations(self) -> RowOperations[R, D]:
        """The operations of the engine on rows and documents."""

    @abstractmethod
    def groups(self) -> R:
        """The rows of ``DividedFindResult.groups``."""

    @abstractmethod
    def pairs(self) -> R:
        """The rows of ``DividedFindResult.pairs``."""

    @abstractmethod
    def empty(self) -> R:
        """The rows of ``DividedFindResult.empty``."""

    @abstractmethod
    def skipped(self) -> R:
        """The rows of ``DividedFindResult.skipped``."""

    @abstractmethod
    def sources(self) -> R:
        """The rows of ``DividedFindResult.sources``."""

    @abstractmethod
    def member_rows(self) -> Iterator[tuple[int, Any, Any, Any]]:
        """Group, id, keeper and similarity of each row of ``groups``, in the process of the caller,
        which holds one part at a time.
        """

    @abstractmethod
    def write_groups(self, folder: str, form: str, mode: str) -> None:
        """Writes the files of the groups; ``form`` is ``csv`` or ``jsonl``."""

    @abstractmethod
    def write_pairs(self, folder: str, mode: str) -> None:
        """Writes the files of the pairs."""

    @property
    def similarities(self) -> list[str]:
        """The columns of similarities in ``groups`` and ``pairs``; the last one is the measure."""
        is_containment = self.plan.parameters["measure"] == "containment"
        return ["jaccard", "containment"] if is_containment else ["jaccard"]

    def run_stages(self) -> None:
        """Runs all stages, up to ``decided``."""
        blocks = self.timed("keys", self.connect)
        rows = self.row_operations()

        def sized_components() -> tuple[R, int, int]:
            labels = self.components(blocks)
            return labels, *component_sizes(rows, labels)

        labels, total, largest = self.timed("components", sized_components)
        large = (
            LargeComponents(rows, self.plan, self.task_bytes) if largest > self.task_bytes else None
        )
        if large is not None:
            all_labels = labels
            labels = self.timed("divide", lambda: large.divide(all_labels))
            total, _ = component_sizes(rows, labels)
        decided = self.timed("decide", lambda: self.decide(labels, total, large is not None))
        self.sums.check_decided(total)
        if large is not None and large.undivided:
            others = self.timed("rounds", large.decide)
            decided = rows.union(decided, others.rows)
            for note in others.notes:
                self.sums.add(note.get("counts"), note.get("source"))
        self.decided = decided
        self.sums.warn_of_idle_rules(stages.keep_rules(self.plan.options))

    def timed(self, stage: str, work: Callable[[], _T]) -> _T:
        """Runs a stage, and reports its beginning and its end."""
        self._log.info("stage %s begins", stage, extra={"stage": stage})
        if self.progress is not None:
            self.progress(stage, 0, 1)
        start = time.monotonic()
        result = work()
        seconds = time.monotonic() - start
        self.seconds[stage] = seconds
        if self.progress is not None:
            self.progress(stage, 1, 1)
        self._log.info(
            "stage %s took %.1f s", stage, seconds, extra={"stage": stage, "seconds": seconds}
        )
        return result

    def expect_pairs(self) -> None:
        """Checks that the run lists pairs.

        Raises:
            OptionError: The run does not list pairs.
        """
        if not self.plan.options.get("pairs"):
            raise OptionError("pairs were not requested: find(…, pairs=True)")

    def refuse_repeated(self, rows_by_id: Sequence[tuple[str, int]], remedy: str) -> None:
        """Rejects ids of several documents.

        Args:
            rows_by_id: Repeated ids, ascending, and the rows of each; one more than a message names
                suffices.

        Raises:
            DocumentError: There is one.
        """
        if rows_by_id:
            named = ", ".join(f"{id_!r} ({rows} rows)" for id_, rows in rows_by_id[:MOST_NAMED_IDS])
            more = " and others" if len(rows_by_id) > MOST_NAMED_IDS else ""
            raise DocumentError(
                f"ids must be unique, and several documents have these: {named}{more}; name "
                f"another column, or {remedy}"
            )
