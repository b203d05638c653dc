"""A run over documents that are divided over tasks: the order of its stages, for any engine."""

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
"""The engine's type for edges, identities and notes."""
_T = TypeVar("_T")

MOST_NAMED_IDS = 5
"""The most repeated ids that a message names."""


class DividedRun(ABC, Generic[B, R, D]):
    """The stages of a run. Each engine has a subclass, which moves the rows between tasks."""

    decided: R
    """The results, with the columns ``lookalike.stages.DECIDED``. ``run_stages`` sets them."""

    def __init__(self, plan: Plan, parts: int, task_bytes: int, log: logging.Logger) -> None:
        """Prepares a run.

        Args:
            plan: The plan of the run.
            parts: The number of parts into which buckets and documents are divided.
            task_bytes: The most bytes that the documents of a task may take.
            log: The logger that records when stages begin and end.
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
        """Connects documents that share a key. Adds the notes of the tasks to the sums, and
        rejects repeated ids.
        """

    @abstractmethod
    def components(self, blocks: B) -> R:
        """Returns the labels of all documents in components."""

    @abstractmethod
    def decide(self, labels: R, total: int, is_divided: bool) -> R:
        """Decides about the documents of ``labels``, and adds the notes of the tasks to the sums.

        Args:
            labels: The labels of components that fit a task.
            total: The number of documents in these components.
            is_divided: Whether a component was too large for a task.
        """

    @abstractmethod
    def row_operations(self) -> RowOperations[R, D]:
        """Returns the operations of the engine on rows and documents."""

    @abstractmethod
    def groups(self) -> R:
        """Returns the rows of ``DividedFindResult.groups``."""

    @abstractmethod
    def pairs(self) -> R:
        """Returns the rows of ``DividedFindResult.pairs``."""

    @abstractmethod
    def empty(self) -> R:
        """Returns the rows of ``DividedFindResult.empty``."""

    @abstractmethod
    def skipped(self) -> R:
        """Returns the rows of ``DividedFindResult.skipped``."""

    @abstractmethod
    def sources(self) -> R:
        """Returns the rows of ``DividedFindResult.sources``."""

    @abstractmethod
    def member_rows(self) -> Iterator[tuple[int, Any, Any, Any]]:
        """Yields the group, id, keeper and similarity of each row of ``groups``, in the process of
        the caller. Makes Python objects of a part of the rows at a time.
        """

    @abstractmethod
    def write_groups(self, folder: str, form: str, mode: str) -> None:
        """Writes the groups to the files of a folder.

        Args:
            folder: The folder to create.
            form: ``csv`` or ``jsonl``.
            mode: ``error`` rejects an existing folder, ``overwrite`` replaces it.
        """

    @abstractmethod
    def write_pairs(self, folder: str, mode: str) -> None:
        """Writes the pairs to the CSV files of a folder, as ``write_groups`` writes groups."""

    @property
    def similarities(self) -> list[str]:
        """The names of the similarity columns of ``groups`` and ``pairs``. The last one is the
        measure of the run.
        """
        is_containment = self.plan.parameters["measure"] == "containment"
        return ["jaccard", "containment"] if is_containment else ["jaccard"]

    def run_stages(self) -> None:
        """Runs all stages and sets ``decided``.

        Divides components that are too large for a task. Decides about fitting parts in tasks, and
        about the remaining documents in rounds.
        """
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
        """Runs a stage. Reports its beginning and its end to the log and to ``progress``, and
        stores its seconds.
        """
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
        """Rejects a run if several documents have the same id.

        Args:
            rows_by_id: Repeated ids, ascending, each with the number of its rows. The message
                names the first ``MOST_NAMED_IDS``, and tells whether there are more.
            remedy: The second remedy of the message; the first is another column of ids.

        Raises:
            DocumentError: ``rows_by_id`` is not empty.
        """
        if rows_by_id:
            named = ", ".join(f"{id_!r} ({rows} rows)" for id_, rows in rows_by_id[:MOST_NAMED_IDS])
            more = " and others" if len(rows_by_id) > MOST_NAMED_IDS else ""
            raise DocumentError(
                f"ids must be unique, and several documents have these: {named}{more}; name "
                f"another column, or {remedy}"
            )
