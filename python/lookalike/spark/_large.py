"""The operations of Spark for rounds over large components."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lookalike._divided.row_operations import RowTask
from lookalike._divided.run_sums import RunSums, check_read
from lookalike._divided.stage_tasks import SliceTask
from lookalike.spark._checkpoint import Checkpoint
from lookalike.spark._columns import column
from lookalike.spark._connect import by_part, connect_documents, label_components, shingle_counters
from lookalike.spark._order import OrderedRows, offsets_of
from lookalike.spark._worker import map_rows
from lookalike.stages import INTERNAL, KEPT, PART, PLACES, Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ID, _REFERENCE = f"{INTERNAL}id", f"{INTERNAL}reference"
"""The columns ``id`` and ``reference`` of rows, renamed for joins with documents, which may have
columns with the original names.
"""
_JOINS = {"inner": "inner", "left": "left", "semi": "left_semi", "anti": "left_anti"}


@dataclass
class SparkRows:
    """Implements ``lookalike._divided.row_operations.RowOperations`` for data frames."""

    spark: SparkSession
    plan: Plan
    parts: int
    task_bytes: int
    """The most bytes that the documents of a task may take."""
    checkpoint: Checkpoint
    order: OrderedRows
    all_documents: DataFrame
    """All documents, with ``node``, and with ``reference`` if there is a reference collection."""
    has_reference: bool

    @property
    def functions(self) -> Any:
        from pyspark.sql import functions

        return functions

    def _result(self, stage: str, make: Callable[[], DataFrame]) -> DataFrame:
        # Results depend on ``task_bytes``, so the names of stages contain it.
        return self.checkpoint.result(f"large-{self.task_bytes}-{stage}", make)

    def stored(self, stage: str, make: Callable[[], DataFrame]) -> DataFrame:
        return self.checkpoint.stored(f"large-{self.task_bytes}-{stage}", make)

    def documents(self, labels: DataFrame) -> DataFrame:
        return self._result("documents", lambda: self.all_documents.join(labels, "node"))

    def connected(self, documents: DataFrame, count: int) -> DataFrame:
        def make() -> DataFrame:
            counters = shingle_counters(documents, self.plan, self.parts)
            return connect_documents(documents, self.plan, self.parts, counters)

        blocks, sums = self._result("connected", make), RunSums()
        notes = blocks.where("kind = 'note'").select("note").collect()
        sums.add_notes(row["note"] for row in notes)
        check_read(sums.counts["documents"], count)
        return self.stored(
            "labels", lambda: label_components(blocks, self.parts, self.task_bytes, self.stored)
        )

    def texts(self, documents: DataFrame, rows: DataFrame) -> DataFrame:
        f = self.functions
        renamed = rows.withColumnRenamed("id", _ID).withColumnRenamed("reference", _REFERENCE)
        is_same = column(self.plan.id) == f.col(_ID)
        if self.has_reference:
            is_same &= f.col("reference") == f.col(_REFERENCE)
        return documents.join(renamed, is_same).drop(_ID, _REFERENCE)

    def map(self, rows: DataFrame, task: RowTask, columns: str) -> DataFrame:
        return map_rows(rows, task, columns)

    def map_documents(self, documents: DataFrame, task: RowTask, columns: str) -> DataFrame:
        return map_rows(documents, task, columns)

    def map_parts(self, documents: DataFrame, task: RowTask, columns: str) -> DataFrame:
        f = self.functions
        numbered = documents.withColumn(PART, f.col(PART).cast("int"))
        # Kept documents come first.
        order = ((PART, "ascending"), (KEPT, "descending"))
        return self.order.mapped_in_each(by_part(numbered, self.parts, PART), order, task, columns)

    def semi_joined(self, documents: DataFrame, nodes: DataFrame) -> DataFrame:
        return documents.join(nodes, "node", "left_semi")

    def sliced(self, places: Callable[[], DataFrame], slice_bytes: int) -> DataFrame:
        f = self.functions
        ranges = self.stored(
            "places", lambda: self.order.divided(places(), [("place", "ascending")])
        )

        def slices() -> DataFrame:
            sums = ranges.groupBy("range").agg(f.sum("bytes").alias("bytes")).collect()
            offsets = offsets_of({int(row["range"]): int(row["bytes"]) for row in sums})
            order, schema = (
                [("range", "ascending"), ("place", "ascending")],
                f"{PLACES}, range int, slice long",
            )
            sliced = self.order.mapped(
                ranges, ["range"], order, SliceTask(offsets, slice_bytes), schema
            )
            return sliced.drop("place", "range")

        return self.stored("slices", slices)

    def repeated(self, rows: DataFrame, name: str, count: int) -> DataFrame:
        f = self.functions
        numbers = self.spark.range(count).select(f.col("id").cast("int").alias(name))
        return rows.crossJoin(f.broadcast(numbers))

    def share(self, column: str, shares: int) -> Any:
        return self.functions.pmod(self.functions.col(column), self.functions.lit(shares))

    def table(self, rows: Sequence[tuple[int, int]], names: tuple[str, str]) -> DataFrame:
        frame = self.spark.createDataFrame(list(rows), ", ".join(f"{name} long" for name in names))
        return self.functions.broadcast(frame)  # type: ignore[no-any-return,unused-ignore]

    def select(self, rows: DataFrame, columns: Mapping[str, Any]) -> DataFrame:
        return rows.select(*(expression.alias(name) for name, expression in columns.items()))

    def where(self, rows: DataFrame, condition: Any) -> DataFrame:
        return rows.where(condition)

    def union(self, rows: DataFrame, others: DataFrame) -> DataFrame:
        return rows.unionByName(others)

    def join(
        self,
        rows: DataFrame,
        others: DataFrame,
        on: Sequence[str],
        how: Literal["inner", "left", "semi", "anti"],
    ) -> DataFrame:
        return rows.join(others, list(on), _JOINS[how])

    def grouped(
        self, rows: DataFrame, by: Sequence[str], sums: Mapping[str, tuple[str, str]]
    ) -> DataFrame:
        f = self.functions
        columns = [getattr(f, function)(name).alias(new) for new, (name, function) in sums.items()]
        return rows.groupBy(*by).agg(*columns)

    def best(self, rows: DataFrame, by: str, order: Sequence[str]) -> DataFrame:
        f = self.functions
        return rows.groupBy(by).agg(f.max(f.struct(*order)).alias("best")).select(by, "best.*")

    def collected(self, rows: DataFrame) -> list[dict[str, Any]]:
        return [row.asDict() for row in rows.collect()]
