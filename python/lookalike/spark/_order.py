"""Sorts rows for tasks, over all partitions or within each partition."""

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
    """Returns, for each range, the sum of the amounts of all ranges before it."""
    offsets, before = {}, 0
    for number in sorted(amounts):
        offsets[number] = before
        before += amounts[number]
    return offsets


class OrderedRows:
    """Passes sorted rows to tasks.

    Spark divides rows into ranges and sorts each range in a partition. Sail 0.7 cannot divide rows
    into ranges of their values, and omits sorts before tasks. On Sail, each task therefore sorts
    its own rows, and an order over all partitions needs one task for all rows.
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
        """Tests whether the engine divides rows into ranges. Spark Connect does, and Sail does
        not.
        """
        from pyspark.sql import functions
        from pyspark.sql.utils import is_remote

        if not is_remote():
            return True
        divided = self._spark.range(64).repartitionByRange(4, "id")
        numbered = divided.select("id", functions.spark_partition_id().alias("range")).collect()
        at = [row["range"] for row in sorted(numbered, key=lambda row: int(row["id"]))]
        return len(set(at)) > 1 and at == sorted(at)

    def divided(self, rows: DataFrame, order: RowOrder) -> DataFrame:
        """Divides rows into ranges in an order. Adds the column ``range``, the number of the range
        of a row.
        """
        from pyspark.sql import functions as f

        if not self.is_sorting:
            return rows.withColumn("range", f.lit(0))
        ranges = rows.repartitionByRange(self._parts, *_expressions(order))
        return ranges.withColumn("range", f.spark_partition_id())

    def sorted(self, rows: DataFrame, ranges: list[str], order: RowOrder, schema: str) -> DataFrame:
        """Sorts rows over all partitions.

        Args:
            rows: The rows.
            ranges: As in ``mapped``.
            order: The order.
            schema: The columns of the rows.
        """
        return (
            self._sorted(rows, ranges, order)
            if self.is_sorting
            else self.mapped(rows, ranges, order, SameTask(), schema)
        )

    def mapped(
        self, rows: DataFrame, ranges: list[str], order: RowOrder, task: _Task, schema: str
    ) -> DataFrame:
        """Sorts rows over all partitions and runs a task over them. The results have the same
        order.

        Args:
            rows: The rows.
            ranges: The first columns of the order, which must be ascending. Rows with equal values
                in these columns are in one partition.
            order: The order.
            task: The task.
            schema: The columns of the results.
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
        """Sorts the rows of each partition and runs a task over them."""
        if not self.is_sorting:
            return map_rows(rows, SortedTask(task, order), schema)
        return map_rows(rows.sortWithinPartitions(*_expressions(order)), task, schema)


def _expressions(order: RowOrder) -> list[Any]:
    from pyspark.sql import functions as f

    return [
        f.desc(column) if direction == "descending" else f.asc(column)
        for column, direction in order
    ]
