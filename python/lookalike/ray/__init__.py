"""Near-duplicates of a Ray Dataset: the groups, pairs and counts of ``lookalike.find``, byte for
byte.

Examples:
    >>> import lookalike.ray  # doctest: +SKIP
    >>> found = lookalike.ray.find(ds, id="url")  # doctest: +SKIP
    >>> found.write("groups")  # doctest: +SKIP
    >>> survivors = lookalike.ray.dedup(ds, id="url")  # doctest: +SKIP

Nodes need this package and pyarrow. ``docs/guides/cluster.md`` says when a cluster is worth it.
"""

from lookalike.ray._find import FindResult, dedup, find

__all__ = ["FindResult", "dedup", "find"]
