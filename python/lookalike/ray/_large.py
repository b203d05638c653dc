"""The operations of Ray for rounds over large components. Rows are Arrow tables in the process of
the caller, and documents are datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from lookalike import stages
from lookalike._divided.row_operations import RowTask
from lookalike._divided.run_sums import RunSums, check_read
from lookalike._divided.stage_tasks import SliceTask
from lookalike.ray._connect import RayDocuments
from lookalike.ray._expressions import Expressions, project
from lookalike.ray._tasks import BatchTask, SemiJoin, TextJoin, map_dataset
from lookalike.stages import PART

if TYPE_CHECKING:
    import pyarrow

_JOINS = {"inner": "inner", "left": "left outer", "semi": "left semi", "anti": "left anti"}


class RayRows:
    """Implements ``lookalike._divided.row_operations.RowOperations`` for tables and datasets."""

    def __init__(self, documents: RayDocuments) -> None:
        self._documents = documents
        self.functions: Any = Expressions()
        self.parts = documents.parts

    def stored(self, stage: str, make: Callable[[], pyarrow.Table]) -> pyarrow.Table:
        return make()

    def documents(self, labels: pyarrow.Table) -> Any:
        return self._documents.labelled(labels).materialize()

    def connected(self, documents: Any, count: int) -> pyarrow.Table:
        counters = self._documents.counters([documents])
        blocks, sums = self._documents.connected([documents], counters), RunSums()
        sums.add_notes(blocks.notes)
        check_read(sums.counts["documents"], count)
        return self._documents.components(blocks)

    def texts(self, documents: Any, rows: pyarrow.Table) -> Any:
        return map_dataset(
            documents,
            TextJoin(self._documents.plan, self._documents.ray.put(rows.combine_chunks())),
        )

    def map(self, rows: pyarrow.Table, task: RowTask, columns: str) -> pyarrow.Table:
        return BatchTask(task, columns, is_combined=True)(rows)

    def map_documents(self, documents: Any, task: RowTask, columns: str) -> pyarrow.Table:
        return self._documents.gathered(
            map_dataset(documents, BatchTask(task, columns, is_combined=True)), columns
        )

    def map_parts(self, documents: Any, task: RowTask, columns: str) -> pyarrow.Table:
        return self._documents.grouped(
            documents, PART, BatchTask(task, columns, is_combined=True), columns
        )

    def semi_joined(self, documents: Any, nodes: pyarrow.Table) -> Any:
        return map_dataset(
            documents, SemiJoin(self._documents.ray.put(nodes["node"].combine_chunks()))
        )

    def sliced(self, places: Callable[[], pyarrow.Table], slice_bytes: int) -> pyarrow.Table:
        import pyarrow as pa

        rows = places().sort_by("place")
        rows = rows.append_column("range", pa.array([0] * rows.num_rows, pa.int32()))
        columns = f"{stages.PLACES}, range int, slice long"
        return self.map(rows, SliceTask({0: 0}, slice_bytes), columns).drop_columns(
            ["place", "range"]
        )

    def repeated(self, rows: pyarrow.Table, name: str, count: int) -> pyarrow.Table:
        import pyarrow as pa

        tables = [
            rows.append_column(name, pa.array([number] * rows.num_rows, pa.int64()))
            for number in range(count)
        ]
        return pa.concat_tables(tables)

    def share(self, column: str, shares: int) -> Any:
        import pyarrow.compute as pc

        # Arrow has no function for remainders. The mask makes the number positive.
        number = pc.bit_wise_and(pc.field(column), pc.scalar((1 << 62) - 1))
        return pc.subtract(
            number, pc.multiply(pc.divide(number, pc.scalar(shares)), pc.scalar(shares))
        )

    def table(self, rows: Sequence[tuple[int, int]], names: tuple[str, str]) -> pyarrow.Table:
        import pyarrow as pa

        return pa.table(
            {name: pa.array([row[at] for row in rows], pa.int64()) for at, name in enumerate(names)}
        )

    def select(self, rows: pyarrow.Table, columns: Mapping[str, Any]) -> pyarrow.Table:
        return project(rows, columns)

    def where(self, rows: pyarrow.Table, condition: Any) -> pyarrow.Table:
        return rows.filter(condition)

    def union(self, rows: pyarrow.Table, others: pyarrow.Table) -> pyarrow.Table:
        import pyarrow as pa

        return pa.concat_tables([rows, others.select(rows.column_names)])

    def join(
        self,
        rows: pyarrow.Table,
        others: pyarrow.Table,
        on: Sequence[str],
        how: Literal["inner", "left", "semi", "anti"],
    ) -> pyarrow.Table:
        return rows.join(others, list(on), join_type=_JOINS[how])

    def grouped(
        self, rows: pyarrow.Table, by: Sequence[str], sums: Mapping[str, tuple[str, str]]
    ) -> pyarrow.Table:
        found = rows.group_by(list(by)).aggregate(
            [(name, function) for name, function in sums.values()]
        )
        return found.select(
            [*by, *(f"{name}_{function}" for name, function in sums.values())]
        ).rename_columns([*by, *sums])

    def best(self, rows: pyarrow.Table, by: str, order: Sequence[str]) -> pyarrow.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        ordered = (
            rows.select([by, *order])
            .sort_by([(name, "ascending") for name in (by, *order)])
            .combine_chunks()
        )
        if not ordered.num_rows:
            return ordered
        keys = ordered[by]
        is_last = pc.not_equal(keys[:-1], keys[1:]).to_pylist()
        return ordered.filter(pa.array([*is_last, True]))

    def collected(self, rows: pyarrow.Table) -> list[dict[str, Any]]:
        return list(rows.to_pylist())
