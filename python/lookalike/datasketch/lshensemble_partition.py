"""Intervals of set sizes for ``lookalike.datasketch.lshensemble.MinHashLSHEnsemble``."""

from __future__ import annotations

from typing import Any

from lookalike.datasketch import _native

__all__ = ["optimal_partitions"]


def optimal_partitions(sizes: Any, counts: Any, num_part: int) -> list[tuple[Any, Any]]:
    """The intervals with the least expected number of false positives.

    Args:
        sizes: Sizes that occur, ascending: integers, or others, such as estimates.
        counts: How often each of them does.
        num_part: How many intervals; fewer come out where there are fewer sizes.

    Returns:
        Least and greatest size of each interval, both included.

    Raises:
        ValueError: There are no sizes, they are not ascending or not above 0, or counts are too
            great to be summed.
        MemoryError: There are more than fit: their costs find no room: 8 bytes for each interval.

    Examples:
        >>> optimal_partitions([1, 2, 10, 12], [5, 5, 5, 5], 2)
        [(1, 2), (10, 12)]
    """
    sizes, counts = _plain(sizes), _plain(counts)
    partitions = _native.best_partitions(sizes, counts, max(num_part, 0))
    return [(sizes[lower], sizes[upper]) for lower, upper in partitions]


def _plain(numbers: Any) -> list[Any]:
    """A list of numbers of Python, also of an array."""
    return list(numbers.tolist() if hasattr(numbers, "tolist") else numbers)
