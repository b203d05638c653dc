"""Finds near-duplicates in a Ray Dataset. Groups, pairs and counts are the same as from
``lookalike.find``, byte for byte.

Examples:
    >>> import lookalike.ray  # doctest: +SKIP
    >>> found = lookalike.ray.find(ds, id="url")  # doctest: +SKIP
    >>> found.write("groups")  # doctest: +SKIP
    >>> survivors = lookalike.ray.dedup(ds, id="url")  # doctest: +SKIP

All nodes need this package and pyarrow. ``docs/guides/cluster.md`` explains when a cluster is
worth its cost.
"""

from lookalike.ray._find import FindResult, dedup, find

__all__ = ["FindResult", "dedup", "find"]
