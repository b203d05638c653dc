"""Rows in an order over all partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["RangeOrder", "offsets_of"]

_NO_ORDER = "groups and pairs have no order in it; counts and lookalike.spark.dedup need none, the rest needs Spark"


def offsets_of(amounts: dict[int, int]) -> dict[int, int]:
    """The sums of the amounts of the ranges before each range."""
    offsets, before = {}, 0
    for number in sorted(amounts):
        offsets[number] = before
        before += amounts[number]
    return offsets


class RangeOrder:
    """Divides rows into ranges of their values, and sorts these."""

    def __init__(self, spark: SparkSession, parts: int) -> None:
        self._spark, self._parts = spark, parts
        self._has_ranges: bool | None = None

    def divided(self, rows: DataFrame, *columns: Any) -> DataFrame:
        """Rows with ``range``, the number of the range that they are in, in the order of the columns."""
        from pyspark.sql import functions

        self.check(_NO_ORDER)
        ranges = rows.repartitionByRange(self._parts, *columns)
        return ranges.withColumn("range", functions.spark_partition_id())

    def sorted(self, rows: DataFrame, ranges: list[str], order: list[Any]) -> DataFrame:
        """Rows in order, those with equal values of ``ranges`` in one partition."""
        self.check(_NO_ORDER)
        return rows.repartitionByRange(self._parts, *ranges).sortWithinPartitions(*order)

    def check(self, consequence: str) -> None:
        """Refuses an engine that does not divide rows into ranges; Sail 0.7 does not.

        :param consequence: what is not possible without, and what is.
        :raises OptionError: it does not.
        """
        from pyspark.sql import functions

        if self._has_ranges is None:
            divided = self._spark.range(64).repartitionByRange(4, "id")
            numbered = divided.select("id", functions.spark_partition_id().alias("range")).collect()
            at = [row["range"] for row in sorted(numbered, key=lambda row: int(row["id"]))]
            self._has_ranges = len(set(at)) > 1 and at == sorted(at)
        if not self._has_ranges:
            raise OptionError(
                f"this engine does not divide rows into ranges of their values (repartitionByRange): {consequence}"
            )
