"""Groups, duplicates and recall of a collection by threshold."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from lookalike._find import find
from lookalike._measures.audit import AuditResult, audit
from lookalike._options import Options, Unpack, invalid_option, number_option
from lookalike._progress import Progress
from lookalike._results.find_result import FindResult
from lookalike.errors import ChangedError, DocumentTypeError, OptionError


@dataclass(frozen=True)
class SweepStep:
    """The figures of a run at one threshold."""

    threshold: float
    """The least similarity of a duplicate, 0 to 1."""
    groups: int
    """The number of groups."""
    duplicates: int
    """The number of duplicates in these groups."""
    recall: float | None = None
    """The recall that an audit measured. ``None`` without an audit, or if no document of its
    sample has a neighbour.
    """
    interval: tuple[float, float] | None = None
    """An interval that contains the true recall with at least the confidence of the audit;
    ``None`` without ``recall``.
    """


@dataclass(frozen=True)
class ThresholdSweep:
    """The figures of runs over the same documents at several thresholds."""

    documents: int
    """The number of documents."""
    steps: tuple[SweepStep, ...]
    """The figures of each run, by ascending threshold."""

    def rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each threshold with the keys ``threshold``, ``groups``,
        ``duplicates``, ``recall``, ``low`` and ``high``. The last three are ``None`` without a
        measured recall.
        """
        return [
            {
                "threshold": step.threshold,
                "groups": step.groups,
                "duplicates": step.duplicates,
                "recall": step.recall,
                "low": None if step.interval is None else step.interval[0],
                "high": None if step.interval is None else step.interval[1],
            }
            for step in self.steps
        ]

    def measured(self) -> list[dict[str, Any]]:
        """Returns the dicts of ``rows`` that have a measured recall."""
        return [row for row in self.rows() if row["recall"] is not None]

    @classmethod
    def of_runs(cls, runs: Iterable[tuple[FindResult, AuditResult | None]]) -> ThresholdSweep:
        """Makes a sweep from results that you already have.

        Args:
            runs: Results of ``lookalike.find`` for the same documents at different thresholds,
                each in a pair with its result of ``lookalike.audit`` or ``None``.

        Raises:
            OptionError: ``runs`` is empty, or two runs have the same threshold.
            ChangedError: The runs had different numbers of documents.
        """
        return cls._of_steps(
            (found.counts["documents"], _step(found, audited)) for found, audited in runs
        )

    @classmethod
    def _of_steps(cls, counted: Iterable[tuple[int, SweepStep]]) -> ThresholdSweep:
        """Makes a sweep from pairs of a number of documents and a step.

        Raises:
            OptionError: ``counted`` is empty, or two steps have the same threshold.
            ChangedError: The numbers of documents differ.
        """
        documents, steps = None, list[SweepStep]()
        for count, step in counted:
            if documents not in (None, count):
                raise ChangedError(
                    f"docs had {documents} documents in the first run and {count} in a later one; "
                    "a sweep compares runs over the same documents: use a list or files"
                )
            documents = count
            steps.append(step)
        steps.sort(key=lambda step: step.threshold)
        if documents is None:
            raise OptionError("thresholds: expected one or more, got none")
        for before, after in itertools.pairwise(steps):
            if before.threshold == after.threshold:
                raise OptionError(
                    f"thresholds: expected different numbers, got {after.threshold:g} twice"
                )
        return cls(documents, tuple(steps))


def _step(found: FindResult, audited: AuditResult | None) -> SweepStep:
    counts = found.counts
    recall = None if audited is None else audited.recall
    interval = None if audited is None or recall is None else audited.interval
    return SweepStep(
        found.parameters["threshold"], counts["groups"], counts["duplicates"], recall, interval
    )


def threshold_sweep(
    docs: Any,
    thresholds: Iterable[float],
    *,
    sample: int | None = None,
    confidence: float = 0.95,
    audit_seed: int | None = None,
    progress: bool | Progress | None = False,
    text: Any = None,
    id: str | Literal[False] | None = None,
    reference: Any = None,
    recall: float | None = 0.99,
    **options: Unpack[Options],
) -> ThresholdSweep:
    """Finds the near-duplicates of the same documents at each of these thresholds.

    Calls ``lookalike.find`` for each threshold. With ``sample``, also audits each result, which
    reads the documents twice. Memory holds only one result at a time.

    Args:
        docs: As for ``lookalike.find``, but not an iterator or a reader, which can be read only
            once.
        thresholds: Different numbers above 0, at most 1.
        sample: The number of documents that the audit of each run draws (``lookalike.audit``). By
            default, recall is not measured.
        confidence: The confidence level of the intervals, as for ``lookalike.audit``.
        audit_seed: The random seed of the samples, as ``seed`` of ``lookalike.audit``.
        progress: As for ``lookalike.find``.
        text: As for ``lookalike.find``.
        id: As for ``lookalike.find``.
        reference: As for ``lookalike.find``, with the same exception as ``docs``.
        recall: As for ``lookalike.find``.
        options: Other options of ``lookalike.find``.

    Raises:
        OptionError: A threshold or another option has an invalid value.
        DocumentTypeError: ``docs`` or ``reference`` can be read only once.
        ChangedError: The documents changed between two runs.

    Examples:
        >>> import lookalike.plot
        >>> docs = ["a b c d e f g h", "a b c d e f g x", "new"]
        >>> sweep = lookalike.plot.tables.threshold_sweep(docs, [0.5, 0.9], sample=10)
        >>> [
        ...     (step.threshold, step.groups, step.duplicates, step.recall)
        ...     for step in sweep.steps
        ... ]
        [(0.5, 1, 1, 1.0), (0.9, 0, 0, None)]
    """
    for side, name in ((docs, "docs"), (reference, "reference")):
        if isinstance(side, Iterator) or hasattr(side, "read_next_batch"):
            raise DocumentTypeError(
                f"{name}: expected documents that can be read for each threshold, got "
                f"{type(side).__name__}, which can be read once; use a list"
            )
    checked_thresholds = _checked_thresholds(thresholds)
    drawn: Any = {} if audit_seed is None else {"seed": audit_seed}

    def run(threshold: float) -> tuple[int, SweepStep]:
        # The result is freed at the end of this function, before the next run.
        found = find(
            docs,
            threshold=threshold,
            recall=recall,
            text=text,
            id=id,
            reference=reference,
            progress=progress,
            **options,
        )
        measured = None
        if sample is not None:
            measured = audit(
                found, sample=sample, confidence=confidence, progress=progress, **drawn
            )
        return found.counts["documents"], _step(found, measured)

    return ThresholdSweep._of_steps(map(run, checked_thresholds))


def _checked_thresholds(thresholds: Any) -> list[float]:
    """Checks all thresholds before the first run, because a run may take long."""
    if isinstance(thresholds, (str, bytes)) or not isinstance(thresholds, Iterable):
        raise invalid_option("thresholds", "a list of numbers above 0, at most 1", thresholds)
    checked = [number_option("thresholds", threshold) for threshold in thresholds]
    for threshold in checked:
        if not 0 < threshold <= 1:
            raise invalid_option("thresholds", "numbers above 0, at most 1", threshold)
    repeated = {threshold for threshold in checked if checked.count(threshold) > 1}
    if repeated:
        raise OptionError(f"thresholds: expected different numbers, got {min(repeated):g} twice")
    return checked


def checked_sweep(sweep: object) -> ThresholdSweep:
    """Checks that a value is a sweep.

    Raises:
        OptionError: It has another type.
    """
    if not isinstance(sweep, ThresholdSweep):
        raise invalid_option("sweep", "a result of lookalike.plot.tables.threshold_sweep", sweep)
    return sweep
