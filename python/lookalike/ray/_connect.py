"""Finds the components of the documents in Ray datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike import stages
from lookalike._divided.stage_tasks import ConnectTask, CountTask, LabelTask, TotalTask
from lookalike._divided.star_rounds import StarTask, edge_limit, star_rounds
from lookalike.ray._shuffle import map_tables, shuffle
from lookalike.ray._tasks import (
    AllLabelsTask,
    BatchTask,
    KeyTask,
    KindTask,
    LabelJoin,
    map_dataset,
    run_task,
    summary,
)
from lookalike.stages import BLOCKS, LABELS, Plan, StarStep

if TYPE_CHECKING:
    import pyarrow

# The number of tables of counters that one task adds up.
_JOINED = 16


@dataclass(frozen=True)
class ConnectedBlocks:
    """Edges, identities and notes of documents, in the object store."""

    tables: list[Any]
    size: int
    """The bytes of the blocks."""
    notes: list[str]


@dataclass(frozen=True)
class RayDocuments:
    """The documents of a run as datasets, with the operations that read them."""

    ray: Any
    plan: Plan
    parts: int
    task_bytes: int
    """The most bytes that the documents of a task may take."""
    sides: list[Any]
    """The datasets: the documents, and the reference documents if there are any; with ``node``."""

    def _all_mapped(self, sides: list[Any], task: Any) -> Any:
        """Runs a task over the documents of all sides, and joins the results."""
        first, *others = (map_dataset(side, task) for side in sides)
        return first.union(*others) if others else first

    def gathered(self, ds: Any, columns: str) -> Any:
        """Returns the rows of a dataset as one table with these columns."""
        return self._table(ds.to_arrow_refs(), columns)

    def _table(self, refs: list[Any], columns: str) -> Any:
        """Reads tables from the object store and joins them."""
        import pyarrow as pa

        names = stages.empty_table(columns).column_names
        tables = [table for table in self.ray.get(refs) if table.num_rows]
        return (
            pa.concat_tables([table.select(names) for table in tables])
            if tables
            else stages.empty_table(columns)
        )

    def grouped(self, ds: Any, column: str, task: Any, columns: str) -> Any:
        """Calls a task once for each value of a column, with all its rows. Returns the results as
        one table.
        """
        return self._table(self._shuffled(ds.to_arrow_refs(), column, task, columns), columns)

    def _shuffled(self, tables: list[Any], column: str, task: Any, columns: str) -> list[Any]:
        return shuffle(self.ray, tables, column, self.parts, task, columns)

    def connected(self, sides: list[Any], counters: Any) -> ConnectedBlocks:
        """Connects documents that share a key. Returns their edges, identities and notes.

        Args:
            sides: The datasets of documents.
            counters: The result of ``counters`` if keys are rare shingles, else ``None``.
        """
        blocks = self._all_mapped(
            sides, BatchTask(KeyTask(self.plan, self.parts, counters), BLOCKS, is_combined=True)
        )
        probed = counters is not None and self.plan.is_probed
        task = BatchTask(ConnectTask(self.parts, probed), BLOCKS)
        return self._summed(self._shuffled(blocks.to_arrow_refs(), "part", task, BLOCKS))

    def _summed(self, tables: list[Any]) -> ConnectedBlocks:
        """Reads the size and the notes of blocks in the object store."""
        sums = self.ray.get(map_tables(self.ray, tables, summary))
        return ConnectedBlocks(
            tables, sum(size for size, _ in sums), [note for _, notes in sums for note in notes]
        )

    def components(self, blocks: ConnectedBlocks) -> pyarrow.Table:
        """Returns the labels of all documents in components. Uses one task if it can hold all
        edges, else rounds of several tasks.
        """
        if blocks.size <= edge_limit(self.task_bytes):
            labels: pyarrow.Table = self.ray.get(
                self.ray.remote(_labels).remote(self.parts, *blocks.tables)
            )
            return labels

        def run(tables: list[Any], step: StarStep) -> list[Any]:
            return self._shuffled(
                tables,
                "part",
                BatchTask(StarTask(self.parts, step), BLOCKS, is_combined=True),
                BLOCKS,
            )

        edges = star_rounds(
            blocks.tables, run, lambda _, make: make(), lambda tables: self._summed(tables).notes
        )
        tables = map_tables(self.ray, edges, KindTask("edges")) + map_tables(
            self.ray, blocks.tables, KindTask("identities")
        )
        return self._table(
            self._shuffled(tables, "part", BatchTask(LabelTask(), LABELS), LABELS), LABELS
        )

    def counters(self, sides: list[Any]) -> Any:
        """Counts shingles approximately. Returns a reference to the counters."""
        counted = self._all_mapped(
            sides, BatchTask(CountTask(self.plan), BLOCKS, is_combined=True)
        ).to_arrow_refs()
        total = self.ray.remote(_total)
        while len(counted) > 1:
            counted = [
                total.remote(*counted[at : at + _JOINED]) for at in range(0, len(counted), _JOINED)
            ]
        tables = [table for table in self.ray.get(counted) if table.num_rows]
        sums = [row for table in tables for row in stages.total(table.to_batches())]
        return self.ray.put(
            sums[0]["rows"][0].as_py() if sums else stages.empty_counters(self.plan)
        )

    def labelled(self, labels: Any) -> Any:
        """Selects the documents of some nodes and adds ``check``. If the labels have components,
        also adds the component and its part.
        """
        labels = labels.sort_by("node")
        checks = labels["check"].combine_chunks()
        components = labels["component"].to_numpy() if "component" in labels.column_names else None
        columns = (labels["node"].to_numpy(), components, checks)
        return self._all_mapped(self.sides, LabelJoin(self.plan, self.ray.put(columns), self.parts))


def _labels(parts: int, *tables: Any) -> Any:
    """Labels the documents in components, in one task."""
    import pyarrow as pa

    nonempty = [table for table in tables if table.num_rows]
    return AllLabelsTask(parts)(
        pa.concat_tables(nonempty) if nonempty else stages.empty_table(BLOCKS)
    )


def _total(*tables: Any) -> Any:
    """Adds up tables of counters."""
    import pyarrow as pa

    nonempty = [table for table in tables if table.num_rows]
    return (
        run_task(BatchTask(TotalTask(), BLOCKS), pa.concat_tables(nonempty))
        if nonempty
        else tables[0]
    )
