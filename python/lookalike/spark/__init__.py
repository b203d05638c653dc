"""Finds near-duplicates in a Spark DataFrame, on Spark 3.5 and later, Spark Connect, and Sail.
Groups, pairs and counts are the same as from ``lookalike.find``, byte for byte.

Examples:
    >>> import lookalike.spark  # doctest: +SKIP
    >>> found = lookalike.spark.find(
    ...     df, id="url", checkpoint="s3a://b/run7"
    ... )  # doctest: +SKIP
    >>> found.groups.show()  # doctest: +SKIP
    >>> survivors = lookalike.spark.dedup(df, id="url")  # doctest: +SKIP
    >>> lookalike.spark.audit(found, sample=2000).recall  # doctest: +SKIP

Executors need this package and pyarrow. ``docs/guides/cluster.md`` explains when a cluster is
worth its cost.
"""

from lookalike.spark._audit import audit
from lookalike.spark._extract import ExtractResult, extract
from lookalike.spark._find import FindResult, dedup, find, release

__all__ = ["ExtractResult", "FindResult", "audit", "dedup", "extract", "find", "release"]
