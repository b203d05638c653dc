"""Intervals of set sizes for :class:`~lookalike.datasketch.lshensemble.MinHashLSHEnsemble`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike.datasketch import _native

__all__ = ["optimal_partitions"]


def optimal_partitions(sizes: Any, counts: Any, num_part: int) -> list[tuple[int, int]]:
    """The intervals with the least expected number of false positives.

    Args:
        sizes: Sizes that occur, ascending.
        counts: How often each of them does.
        num_part: How many intervals; fewer come out where there are fewer sizes.

    Returns:
        Least and greatest size of each interval, both included.

    Raises:
        ValueError: There are no sizes, or they are not ascending.

    >>> optimal_partitions([1, 2, 10, 12], [5, 5, 5, 5], 2)
    [(1, 2), (10, 12)]
    """
    return _native.best_partitions(_ints(sizes), _ints(counts), num_part)


def _ints(numbers: Sequence[Any]) -> list[int]:
    return [int(number) for number in numbers]
