"""The number of pairs by similarity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lookalike._measures.tune import TuneResult
from lookalike._options import invalid_option, whole_option
from lookalike._results.find_result import FindResult
from lookalike.plot._table_arguments import refuse_with_table

# Similarities are rounded to six decimals.
_MILLION = 1_000_000
_STEPS, _WIDE_STEPS = 100, 20
"""The default number of steps between 0 and 1, and the number if a similarity or the threshold is
below 0.5. The HTML report uses the same numbers.
"""


@dataclass(frozen=True)
class SimilarityHistogram:
    """The number of pairs by similarity, in steps of equal width up to 1. Pairs of similarity 1
    are counted separately.
    """

    measure: str
    """The measure of similarity: ``jaccard`` or ``containment``."""
    threshold: float
    """The least similarity of a duplicate, 0 to 1."""
    counted: str
    """The type of the counted pairs: ``duplicates`` (each with its kept document),
    ``verified pairs`` or ``pairs of the sample``.
    """
    edges: tuple[float, ...]
    """The bounds of the steps in ascending order. The last bound is 1, and there is one bound more
    than ``counts``. A step includes its lower bound, but not its upper bound.
    """
    counts: tuple[int, ...]
    """The number of pairs in each step."""
    equal: int
    """The number of pairs with similarity 1, which belong to no step."""

    @property
    def total(self) -> int:
        """The number of all pairs, including pairs of similarity 1."""
        return sum(self.counts) + self.equal

    def rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each step with the keys ``from``, ``to`` and ``count``. The last
        dict, from 1 to 1, counts the pairs of similarity 1.
        """
        steps = zip(self.edges, self.edges[1:], self.counts, strict=False)
        rows: list[dict[str, Any]] = [
            {"from": low, "to": high, "count": count} for low, high, count in steps
        ]
        return [*rows, {"from": 1.0, "to": 1.0, "count": self.equal}]


def similarity_histogram(
    result: FindResult | TuneResult | SimilarityHistogram, *, bins: int | None = None
) -> SimilarityHistogram:
    """Counts the pairs of a result by similarity.

    Args:
        result: One of these:

            - a result of ``lookalike.find``: counts all verified pairs if it has them
              (``pairs=True``), else the pairs of a duplicate and its kept document
            - a result of ``lookalike.tune``: counts the pairs of its sample that share a shingle,
              including pairs below the threshold
            - a ``SimilarityHistogram``, which is returned unchanged
        bins: The number of steps between 0 and 1, 1 to 1,000. By default 100, or 20 if a
            similarity or the threshold is below 0.5. The table begins with the step that contains
            the least similarity or the threshold, whichever is less.

    Raises:
        OptionError: ``result`` has another type, ``bins`` is out of range, or ``bins`` is passed
            with a ``SimilarityHistogram``.

    Examples:
        >>> import lookalike.plot
        >>> found = lookalike.find(["a b c d e f", "A b c d e f.", "a b c d e f g", "x"])
        >>> lookalike.plot.tables.similarity_histogram(found, bins=10).rows()[1:]
        [{'from': 0.9, 'to': 1.0, 'count': 0}, {'from': 1.0, 'to': 1.0, 'count': 1}]
    """
    if isinstance(result, SimilarityHistogram):
        refuse_with_table(bins=bins)
        return result
    steps = None if bins is None else _checked_bins(bins)
    if isinstance(result, TuneResult):
        # The similarities of a tuned sample are always Jaccard similarities.
        return _counted(
            result.similarities, "jaccard", result.threshold, "pairs of the sample", steps
        )
    if not isinstance(result, FindResult):
        raise invalid_option("result", "a result of lookalike.find or lookalike.tune", result)
    measure, threshold = result.parameters["measure"], result.parameters["threshold"]
    table, counted = (
        (result.pairs, "verified pairs") if result.has_pairs else (result.groups, "duplicates")
    )
    values = (value for value in table[measure] if value is not None)
    return _counted(values, measure, threshold, counted, steps)


def _checked_bins(bins: int) -> int:
    steps = whole_option("bins", bins, 1)
    if steps > 1_000:
        raise invalid_option("bins", "a whole number from 1 to 1,000", bins)
    return steps


def _counted(
    similarities: Iterable[float], measure: str, threshold: float, counted: str, steps: int | None
) -> SimilarityHistogram:
    # Round down a similarity below 1 that would become 1, as reports do.
    millionths = Counter(
        _MILLION if value >= 1 else min(round(value * _MILLION), _MILLION - 1)
        for value in similarities
    )
    equal = millionths.pop(_MILLION, 0)
    least = min([*millionths, round(threshold * _MILLION), _MILLION - 1])
    if steps is None:
        steps = _WIDE_STEPS if least < _MILLION // 2 else _STEPS
    first = least * steps // _MILLION
    counts = [0] * (steps - first)
    for value, count in millionths.items():
        counts[value * steps // _MILLION - first] += count
    edges = tuple(step / steps for step in range(first, steps + 1))
    return SimilarityHistogram(measure, threshold, counted, edges, tuple(counts), equal)
