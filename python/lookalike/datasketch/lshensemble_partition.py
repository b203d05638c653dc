"""Divides set sizes into intervals for ``lookalike.datasketch.MinHashLSHEnsemble``."""

from __future__ import annotations

from typing import Any

from lookalike.datasketch import _native

__all__ = ["optimal_partitions"]


def optimal_partitions(sizes: Any, counts: Any, num_part: int) -> list[tuple[Any, Any]]:
    """Divides set sizes into the intervals with the least expected number of false positives.

    Args:
        sizes: The distinct sizes in ascending order: integers or other numbers, such as estimates.
        counts: The number of sets of each size.
        num_part: The number of intervals. If there are fewer sizes, each size is an interval.

    Returns:
        The least and the greatest size of each interval, both included.

    Raises:
        ValueError: ``sizes`` is empty or not ascending, ``counts`` has another length, or a number
            is not finite. If ``num_part`` is at least 2 and less than the number of sizes, also if
            a size is not above 0 or the sum of the counts is too great for a float.
        MemoryError: The costs of all possible intervals, 8 bytes each, do not fit into memory.

    Examples:
        >>> optimal_partitions([1, 2, 10, 12], [5, 5, 5, 5], 2)
        [(1, 2), (10, 12)]
    """
    sizes, counts = _plain(sizes), _plain(counts)
    partitions = _native.best_partitions(sizes, counts, max(num_part, 0))
    return [(sizes[lower], sizes[upper]) for lower, upper in partitions]


def _plain(numbers: Any) -> list[Any]:
    """Converts a sequence or a NumPy array to a list of Python numbers."""
    return list(numbers.tolist() if hasattr(numbers, "tolist") else numbers)
