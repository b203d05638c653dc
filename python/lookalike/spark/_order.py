"""Rows in an order, over all partitions or in each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lookalike._divided.stage_tasks import RowOrder
from lookalike.spark._tasks import SameTask, SortedTask
from lookalike.spark._worker import map_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_Task = Callable[[Iterable[Any]], Iterator[Any]]


def offsets_of(amounts: dict[int, int]) -> dict[int, int]:
    """The sums of the amounts of the ranges before each range."""
    offsets, before = {}, 0
    for number in sorted(amounts):
        offsets[number] = before
        before += amounts[number]
    return offsets


class OrderedRows:
    """Gives tasks rows in an order.

    Spark sorts ranges of rows, each in a partition. Sail 0.7 does not divide rows into ranges of
    their values, and omits sorts before tasks. There a task sorts its own rows. An order over all
    partitions needs one task for all rows.
    """

    def __init__(self, spark: SparkSession, parts: int) -> None:
        self._spark, self._parts = spark, parts
        self._is_sorting: bool | None = None

    @property
    def is_sorting(self) -> bool:
        """Whether the engine sorts rows for tasks."""
        if self._is_sorting is None:
            self._is_sorting = self._has_ranges()
        return self._is_sorting

    def _has_ranges(self) -> bool:
        """Whether the engine divides rows into ranges. This tells Spark Connect from Sail."""
        from pyspark.sql import functions
        from pyspark.sql.utils import is_remote

        if not is_remote():
            return True
        divided = self._spark.range(64).repartitionByRange(4, "id")
        numbered = divided.select("id", functions.spark_partition_id().alias("range")).collect()
        at = [row["range"] for row in sorted(numbered, key=lambda row: int(row["id"]))]
        return len(set(at)) > 1 and at == sorted(at)

    def divided(self, rows: DataFrame, order: RowOrder) -> DataFrame:
        """Rows with ``range``, the number of the range that they are in."""
        from pyspark.sql import functions as f

        if not self.is_sorting:
            return rows.withColumn("range", f.lit(0))
        ranges = rows.repartitionByRange(self._parts, *_expressions(order))
        return ranges.withColumn("range", f.spark_partition_id())

    def sorted(self, rows: DataFrame, ranges: list[str], order: RowOrder, schema: str) -> DataFrame:
        """Rows in an order over all partitions.

        Args:
            ranges: As in ``mapped``.
            schema: Their columns.
        """
        return (
            self._sorted(rows, ranges, order)
            if self.is_sorting
            else self.mapped(rows, ranges, order, SameTask(), schema)
        )

    def mapped(
        self, rows: DataFrame, ranges: list[str], order: RowOrder, task: _Task, schema: str
    ) -> DataFrame:
        """Runs a task over rows in an order over all partitions. The results also have this order.

        Args:
            ranges: The first columns of the order, ascending. Rows with equal values are in one
                partition.
        """
        if not self.is_sorting:
            return map_rows(rows.repartition(1), SortedTask(task, order), schema)
        return map_rows(self._sorted(rows, ranges, order), task, schema)

    def _sorted(self, rows: DataFrame, ranges: list[str], order: RowOrder) -> DataFrame:
        return rows.repartitionByRange(self._parts, *ranges).sortWithinPartitions(
            *_expressions(order)
        )

    def mapped_in_each(
        self, rows: DataFrame, order: RowOrder, task: _Task, schema: str
    ) -> DataFrame:
        """Runs a task over rows in an order in each partition."""
        if not self.is_sorting:
            return map_rows(rows, SortedTask(task, order), schema)
        return map_rows(rows.sortWithinPartitions(*_expressions(order)), task, schema)


def _expressions(order: RowOrder) -> list[Any]:
    from pyspark.sql import functions as f

    return [f.desc(column) if way == "descending" else f.asc(column) for column, way in order]
