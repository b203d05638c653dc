"""What tasks of Ray run: functions from Arrow tables to Arrow tables, which pickle with their plan."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lookalike import stages
from lookalike.errors import DocumentError
from lookalike.stages import BLOCKS, DECIDED, INTERNAL, LABELS, Plan

__all__ = [
    "BIN",
    "ConnectTask",
    "CountTask",
    "DecideTask",
    "DocumentTask",
    "KeyTask",
    "LabelJoin",
    "LabelTask",
    "SurvivorTask",
    "TotalTask",
    "run_task",
]


#: The part of the component of a row, by which rows are grouped.
BIN = f"{INTERNAL}bin"


def _is_readable(plan: Plan, table: Any) -> Any:
    """Which rows are not those that ``skip_bad`` leaves out."""
    import pyarrow.compute as pc

    return pc.and_(pc.is_valid(table[plan.text]), pc.is_valid(table[plan.id])).to_numpy()


def run_task(task: Callable[[Any], Any], table: Any) -> Any:
    """Calls a task. Ray names what runs by a function."""
    return task(table)


def _stored(reference: Any) -> Any:
    """A value in the object store."""
    return importlib.import_module("ray").get(reference)


def _table(batches: Iterable[Any], columns: str) -> Any:
    """Batches as one table, with its columns where there are none."""
    import pyarrow as pa

    there = list(batches)
    return pa.Table.from_batches(there) if there else stages.empty_table(columns)


@dataclass(frozen=True)
class DocumentTask:
    """The columns of the plan, ids as texts, with ``node``, and ``reference`` if there is one."""

    plan: Plan
    is_reference: bool | None

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        for name in self.plan.columns:
            if name not in table.column_names:
                there = ", ".join(table.column_names) or "none"
                raise DocumentError(f"the dataset has no column {name!r}; there are {there}")
        table = table.select(self.plan.columns)
        at = table.column_names.index(self.plan.id)
        if pa.types.is_integer(table.schema.field(at).type):
            table = table.set_column(at, self.plan.id, table[self.plan.id].cast(pa.string()))
        is_reference = bool(self.is_reference)
        table = table.append_column("node", stages.nodes(self.plan, table, reference=is_reference))
        if self.is_reference is None:
            return table
        return table.append_column("reference", pa.array([is_reference] * table.num_rows, pa.bool_()))


@dataclass(frozen=True)
class CountTask:
    documents: DocumentTask

    def __call__(self, table: Any) -> Any:
        batches = self.documents(table).combine_chunks().to_batches()
        return _table(stages.count(self.documents.plan, batches), BLOCKS)


@dataclass(frozen=True)
class TotalTask:
    def __call__(self, table: Any) -> Any:
        return _table(stages.total(table.to_batches()), BLOCKS)


@dataclass(frozen=True)
class KeyTask:
    documents: DocumentTask
    parts: int
    #: Counters of shingles in the object store, where keys are rare shingles.
    counters: Any = None

    def __call__(self, table: Any) -> Any:
        batches = self.documents(table).combine_chunks().to_batches()
        counters = None if self.counters is None else _stored(self.counters)
        return _table(stages.keys(self.documents.plan, batches, self.parts, counters=counters), BLOCKS)


@dataclass(frozen=True)
class ConnectTask:
    parts: int
    probed: bool

    def __call__(self, table: Any) -> Any:
        return _table(stages.connect(table.to_batches(), self.parts, probed=self.probed), BLOCKS)


@dataclass(frozen=True)
class LabelTask:
    """The labels of all documents of components, of the results of all parts."""

    parts: int

    def __call__(self, connected: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        of_kind = {kind: connected.filter(pc.equal(connected["kind"], kind)) for kind in ("edges", "identities")}
        forest = list(stages.merge(of_kind["edges"].to_batches(), self.parts))
        rows = []
        for part in range(self.parts):
            batches = [*forest, *of_kind["identities"].to_batches()]
            here = [batch.filter(pc.equal(batch["part"], part)) for batch in batches]
            rows += list(stages.label([batch for batch in here if batch.num_rows]))
        return pa.Table.from_batches(rows) if rows else stages.empty_table(LABELS)


@dataclass(frozen=True)
class LabelJoin:
    """The documents that are in components, with their labels and the part of their component."""

    documents: DocumentTask
    labels: Any
    parts: int

    def __call__(self, table: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        nodes, components, checks = _stored(self.labels)
        table = self.documents(table)
        own = table["node"].to_numpy()
        at = np.minimum(np.searchsorted(nodes, own), max(len(nodes) - 1, 0))
        hit = nodes[at] == own if len(nodes) else np.zeros(len(own), bool)
        if self.documents.plan.options.get("skip_bad"):
            # Rows that are left out may have the ids of others.
            hit &= _is_readable(self.documents.plan, table)
        kept = table.filter(pa.array(hit)).append_column("component", pa.array(components[at][hit]) if len(nodes) else pa.array([], pa.int64()))
        kept = kept.append_column("check", checks.take(pa.array(at[hit])))
        # The least of several hashes is not spread evenly; its lower bits are.
        bins = (kept["component"].to_numpy().view(np.uint64) % np.uint64(self.parts)).astype(np.int64)
        return kept.append_column(BIN, pa.array(bins))


@dataclass(frozen=True)
class DecideTask:
    plan: Plan
    task_bytes: int

    def __call__(self, table: Any) -> Any:
        rows = table.drop_columns([BIN]).sort_by("component").combine_chunks()
        return _table(stages.decide(self.plan, rows.to_batches(4096), task_bytes=self.task_bytes), DECIDED)


@dataclass(frozen=True)
class SurvivorTask:
    """Rows that are no duplicates; or all rows with ``role``, ``keeper`` and ``jaccard``."""

    plan: Plan
    annotate: bool
    #: Sorted ids of documents of groups, and their roles, keepers and similarities.
    members: Any

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        members = _stored(self.members)
        is_readable = None
        if self.plan.options.get("skip_bad"):
            is_readable = pa.array(_is_readable(self.plan, table))
            table = table if self.annotate else table.filter(is_readable)
        at = pc.index_in(table[self.plan.id].cast(pa.string()), value_set=members["id"])
        if self.annotate and is_readable is not None:
            at = pc.if_else(is_readable, at, pa.scalar(None, pa.int32()))
        if not self.annotate:
            return table.filter(pc.is_null(at))
        for name in ("role", "keeper", "jaccard"):
            values = members[name].take(at.combine_chunks() if isinstance(at, pa.ChunkedArray) else at)
            if name == "role":
                values = pc.fill_null(values, "unique")
                if is_readable is not None:
                    values = pc.if_else(is_readable, values, "skipped")
            table = table.append_column(name, values)
        return table
