"""Rows in an order over all partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["RangeOrder"]


class RangeOrder:
    """Divides rows into ranges of their values, and sorts these."""

    def __init__(self, spark: SparkSession, parts: int) -> None:
        self._spark, self._parts = spark, parts
        self._has_ranges: bool | None = None

    def divided(self, rows: DataFrame, *columns: Any) -> DataFrame:
        """Rows with ``range``, the number of the range that they are in, in the order of the columns."""
        from pyspark.sql import functions

        self._check()
        ranges = rows.repartitionByRange(self._parts, *columns)
        return ranges.withColumn("range", functions.spark_partition_id())

    def sorted(self, rows: DataFrame, ranges: list[str], order: list[Any]) -> DataFrame:
        """Rows in order, those with equal values of ``ranges`` in one partition."""
        self._check()
        return rows.repartitionByRange(self._parts, *ranges).sortWithinPartitions(*order)

    def _check(self) -> None:
        """:raises OptionError: the engine does not divide rows into ranges; Sail 0.7 does not."""
        from pyspark.sql import functions

        if self._has_ranges is None:
            divided = self._spark.range(64).repartitionByRange(4, "id")
            numbered = divided.select("id", functions.spark_partition_id().alias("range")).collect()
            at = [row["range"] for row in sorted(numbered, key=lambda row: int(row["id"]))]
            self._has_ranges = len(set(at)) > 1 and at == sorted(at)
        if not self._has_ranges:
            raise OptionError(
                "this engine does not divide rows into ranges of their values (repartitionByRange), so groups and "
                "pairs have no order in it; counts and lookalike.spark.dedup need none, the rest needs Spark"
            )
