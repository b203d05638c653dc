"""Finds the components of the documents of datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike import stages
from lookalike._divided.stage_tasks import ConnectTask, CountTask, LabelTask, TotalTask
from lookalike._divided.star_rounds import StarTask, edge_limit, star_rounds
from lookalike.ray._shuffle import each, shuffle
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

# Counters that one task adds up.
_JOINED = 16


@dataclass(frozen=True)
class ConnectedBlocks:
    """Edges and identities in the object store."""

    tables: list[Any]
    size: int
    """Their bytes."""
    notes: list[str]


@dataclass(frozen=True)
class RayDocuments:
    """The documents of a run, in datasets, and its passes over them."""

    ray: Any
    plan: Plan
    parts: int
    task_bytes: int
    """The most that the documents of a task may take."""
    sides: list[Any]
    """The documents of each side, with ``node``."""

    def _all_mapped(self, sides: list[Any], task: Any) -> Any:
        """The documents of all sides through a task."""
        first, *others = (map_dataset(side, task) for side in sides)
        return first.union(*others) if others else first

    def gathered(self, ds: Any, columns: str) -> Any:
        """The rows of a dataset as one table."""
        return self._table(ds.to_arrow_refs(), columns)

    def _table(self, refs: list[Any], columns: str) -> Any:
        """Tables in the object store as one."""
        import pyarrow as pa

        names = stages.empty_table(columns).column_names
        tables = [table for table in self.ray.get(refs) if table.num_rows]
        return (
            pa.concat_tables([table.select(names) for table in tables])
            if tables
            else stages.empty_table(columns)
        )

    def grouped(self, ds: Any, column: str, task: Any, columns: str) -> Any:
        """Calls a task for all rows with one value of a column. The results are one table."""
        return self._table(self._shuffled(ds.to_arrow_refs(), column, task, columns), columns)

    def _shuffled(self, tables: list[Any], column: str, task: Any, columns: str) -> list[Any]:
        return shuffle(self.ray, tables, column, self.parts, task, columns)

    def connected(self, sides: list[Any], counters: Any) -> ConnectedBlocks:
        """The edges, identities and notes of documents.

        Args:
            counters: The frequencies of shingles, if keys are rare shingles.
        """
        blocks = self._all_mapped(
            sides, BatchTask(KeyTask(self.plan, self.parts, counters), BLOCKS, is_combined=True)
        )
        probed = counters is not None and self.plan.is_probed
        task = BatchTask(ConnectTask(self.parts, probed), BLOCKS)
        return self._summed(self._shuffled(blocks.to_arrow_refs(), "part", task, BLOCKS))

    def _summed(self, tables: list[Any]) -> ConnectedBlocks:
        """Blocks in the object store, with their notes here."""
        sums = self.ray.get(each(self.ray, tables, summary))
        return ConnectedBlocks(
            tables, sum(size for size, _ in sums), [note for _, notes in sums for note in notes]
        )

    def components(self, blocks: ConnectedBlocks) -> pyarrow.Table:
        """The labels of all documents of components."""
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
        tables = each(self.ray, edges, KindTask("edges")) + each(
            self.ray, blocks.tables, KindTask("identities")
        )
        return self._table(
            self._shuffled(tables, "part", BatchTask(LabelTask(), LABELS), LABELS), LABELS
        )

    def counters(self, sides: list[Any]) -> Any:
        """The approximate frequencies of shingles, in the object store."""
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
        """The documents of some nodes, with ``check``, and with components and their parts if the
        labels have components.
        """
        labels = labels.sort_by("node")
        checks = labels["check"].combine_chunks()
        components = labels["component"].to_numpy() if "component" in labels.column_names else None
        columns = (labels["node"].to_numpy(), components, checks)
        return self._all_mapped(self.sides, LabelJoin(self.plan, self.ray.put(columns), self.parts))


def _labels(parts: int, *tables: Any) -> Any:
    """The documents of components, by one task."""
    import pyarrow as pa

    there = [table for table in tables if table.num_rows]
    return AllLabelsTask(parts)(pa.concat_tables(there) if there else stages.empty_table(BLOCKS))


def _total(*tables: Any) -> Any:
    """Adds counters of shingles up."""
    import pyarrow as pa

    there = [table for table in tables if table.num_rows]
    return run_task(BatchTask(TotalTask(), BLOCKS), pa.concat_tables(there)) if there else tables[0]
