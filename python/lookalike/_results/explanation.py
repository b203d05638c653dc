"""Explains why two documents are, or are not, in the same group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lookalike import _engine
from lookalike._compare import CompareResult, compare
from lookalike._decisions import DecisionCounts
from lookalike._options import row_or_id
from lookalike._results.notebook import frame_texts
from lookalike._results.table import Table
from lookalike.errors import OptionError


@dataclass(frozen=True)
class Explanation:
    """The reason why two documents are, or are not, in the same group. ``FindResult.explain``
    returns it.
    """

    a: Any
    """The id of the first document."""
    b: Any
    """The id of the second document."""
    comparison: CompareResult = field(repr=False)
    """The similarity of the documents, and their differences."""
    keeper_a: Any
    """The id of the kept document of the first document's group; ``None`` without a group."""
    keeper_b: Any
    """The id of the kept document of the second document's group; ``None`` without a group."""
    probability: float | None
    """The probability that a run compares two documents of this similarity; ``None`` if the run
    compares all similar pairs (``exact=True`` or containment).
    """
    reason: str
    """The explanation in one sentence."""

    def __str__(self) -> str:
        return self.reason

    def _repr_html_(self) -> str:
        """Returns the page for notebooks: the reason, and both texts side by side with marked
        differences.
        """
        comparison = self.comparison
        sentences = [self.reason, comparison._sentence()]
        return frame_texts(
            (str(self.a), str(self.b)), sentences, comparison._texts(), comparison._options
        )


def explain_pair(
    findings: _engine.Findings,
    groups: Table,
    decisions: DecisionCounts | None,
    a: Any,
    b: Any,
    options: Mapping[str, Any] | None,
) -> Explanation:
    """Compares two documents of a run with the options of the run.

    Args:
        findings: The engine's findings of the run.
        groups: The groups of the run.
        decisions: The decisions of the run.
        a: The id of the first document.
        b: The id of the second document.
        options: The options of the run; ``None`` if the documents are in an index.

    Raises:
        OptionError: The documents are in an index.
    """
    if options is None:
        raise OptionError(
            "cannot explain documents of an index: read their texts with index.get, and compare "
            "them with lookalike.compare"
        )
    run = findings.parameters()
    comparing: Any = {**options}
    comparing.update((name, run[name]) for name in ("num_hashes", "bands", "rows") if name in run)
    texts = [findings.text(*row_or_id(None, id_)) for id_ in (a, b)]
    comparison = compare(*texts, differences=True, **comparing)
    members: Iterator[tuple[Any, Any]] = zip(groups["id"], groups["keeper"], strict=True)
    keepers = dict(members)
    keeper_a, keeper_b = keepers.get(a), keepers.get(b)
    similarity, measured = comparison.jaccard, "jaccard"
    if run["measure"] == "containment":
        similarity, measured = (
            max(comparison.containment_a, comparison.containment_b),
            "containment",
        )
    signed = "bands" in run
    probability = _engine.curve([similarity], run["bands"], run["rows"])[0] if signed else None
    figures = f"their {measured} is {similarity:.6f}, the threshold {run['threshold']:g}"
    decided = _in_effect(findings, decisions, a, b)
    reason = _reason((a, keeper_a), (b, keeper_b), comparison, figures, probability, decided)
    return Explanation(a, b, comparison, keeper_a, keeper_b, probability, reason)


@dataclass(frozen=True)
class _PairDecisions:
    """The user decisions about two documents that had an effect."""

    duplicates: bool
    no_duplicates: bool
    both_kept: bool


def _in_effect(
    findings: _engine.Findings, decisions: DecisionCounts | None, a: Any, b: Any
) -> _PairDecisions:
    pair, *kept = findings.judged(str(a), str(b))
    unapplied = decisions.unapplied if decisions else []
    without_effect = {
        (decision["line"], str(id)) for decision in unapplied for id in decision["documents"]
    }
    judged = None if pair is None or (pair[1], str(a)) in without_effect else pair[0]
    lines = zip(kept, (a, b), strict=True)
    both_kept = all(
        line is not None and (line, str(id)) not in without_effect for line, id in lines
    )
    return _PairDecisions(judged is True, judged is False, both_kept)


def _reason(
    first: tuple[Any, Any],
    second: tuple[Any, Any],
    comparison: CompareResult,
    figures: str,
    probability: float | None,
    decided: _PairDecisions,
) -> str:
    (a, keeper_a), (b, keeper_b) = first, second
    if a == b:
        return f"Both ids refer to the same document, {a!r}."
    if keeper_a is not None and keeper_a == keeper_b:
        if keeper_a not in (a, b):
            return f"Both are duplicates of {keeper_a!r}; {figures}."
        other = b if keeper_a == a else a
        by_decision = decided.duplicates and not comparison.similar
        suffix = f": people decided that they are duplicates; {figures}" if by_decision else ""
        return f"{other!r} is a duplicate of {keeper_a!r}, which is kept{suffix}."
    empty = [
        id_
        for id_, shingles in ((a, comparison.shingles_a), (b, comparison.shingles_b))
        if not shingles
    ]
    if empty:
        subject = " and ".join(map(repr, empty))
        return f"No shingles, and so not similar to any document: {subject}."
    if not comparison.similar:
        return f"They are not similar: {figures}."
    if decided.no_duplicates:
        return f"They are similar ({figures}), but people decided that they are not duplicates."
    if decided.both_kept:
        return f"They are similar ({figures}), but people decided that both are kept."
    return _unlinked(first, second, figures, probability)


def _unlinked(
    first: tuple[Any, Any], second: tuple[Any, Any], figures: str, probability: float | None
) -> str:
    """Explains why two similar documents are not in the same group."""
    (_, keeper_a), (_, keeper_b) = first, second
    if keeper_a is None and keeper_b is None and probability is not None:
        return (
            f"They are similar ({figures}), but were not compared: signatures make "
            f"{probability:.4f} of such pairs candidates; use exact=True to miss none."
        )
    kept = [id_ for id_, keeper in (first, second) if keeper is None or keeper == id_]
    if len(kept) == 2:
        return (
            f"They are similar ({figures}), but not candidates of each other; use exact=True to "
            "miss no pair."
        )
    sides = " and ".join(
        f"{id_!r} is a duplicate of {keeper!r}"
        for id_, keeper in (first, second)
        if id_ not in kept
    )
    return (
        f"They are similar ({figures}), but {sides}: a duplicate belongs to the group of the most "
        "similar kept document."
    )
