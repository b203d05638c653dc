"""What tasks of Ray run: functions from Arrow tables to Arrow tables, which pickle with their plan."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lookalike import stages
from lookalike.errors import DocumentError, DocumentTypeError
from lookalike._divided.row_operations import RowTask
from lookalike._divided.stage_tasks import NO_LIMIT
from lookalike._divided.task_errors import stated_errors
from lookalike.stages import BLOCKS, DECIDED, INTERNAL, LABELS, Plan

__all__ = [
    "BIN",
    "BatchTask",
    "ConnectTask",
    "CountTask",
    "DecideTask",
    "DocumentTask",
    "KeyTask",
    "LabelJoin",
    "KindTask",
    "LabelTask",
    "PartLabelTask",
    "SemiJoin",
    "SurvivorTask",
    "TextJoin",
    "TotalTask",
    "run_task",
    "summary",
]


#: The part of the component of a row, by which rows are grouped.
BIN = f"{INTERNAL}bin"
#: The number of a document in its table.
_AT = f"{INTERNAL}at"


def _is_readable(plan: Plan, table: Any) -> Any:
    """Which rows are not those that ``skip_bad`` leaves out."""
    import pyarrow.compute as pc

    is_readable = pc.and_(pc.is_valid(table[plan.text]), pc.is_valid(table[plan.id])).to_numpy()
    is_empty = stages.empty_texts(table[plan.id])
    return is_readable if is_empty is None else is_readable & ~pc.fill_null(is_empty, True).to_numpy()


def run_task(task: Callable[[Any], Any], table: Any) -> Any:
    """Calls a task. Ray names what runs by a function."""
    with stated_errors():
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
class BatchTask:
    """A task of batches as one of tables."""

    task: RowTask
    columns: str

    def __call__(self, table: Any) -> Any:
        return _table(self.task(table.combine_chunks().to_batches()), self.columns)


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
        kind = table.schema.field(at).type
        # The ids of a block may all be null.
        if pa.types.is_integer(kind) or pa.types.is_null(kind):
            table = table.set_column(at, self.plan.id, table[self.plan.id].cast(pa.string()))
        is_reference = bool(self.is_reference)
        table = table.append_column("node", self._nodes(table, is_reference))
        if self.is_reference is None:
            return table
        return table.append_column("reference", pa.array([is_reference] * table.num_rows, pa.bool_()))

    def _nodes(self, table: Any, is_reference: bool) -> Any:
        try:
            return stages.nodes(self.plan, table, reference=is_reference)
        except DocumentTypeError as error:
            raise DocumentTypeError(
                f"{error}; ds.map_batches(function, batch_format='pyarrow') with a function that casts the column makes "
                "such values of it"
            ) from None


@dataclass(frozen=True)
class CountTask:
    plan: Plan

    def __call__(self, table: Any) -> Any:
        return _table(stages.count(self.plan, table.combine_chunks().to_batches()), BLOCKS)


@dataclass(frozen=True)
class TotalTask:
    def __call__(self, table: Any) -> Any:
        return _table(stages.total(table.to_batches()), BLOCKS)


@dataclass(frozen=True)
class KeyTask:
    plan: Plan
    parts: int
    #: Counters of shingles in the object store, where keys are rare shingles.
    counters: Any = None

    def __call__(self, table: Any) -> Any:
        counters = None if self.counters is None else _stored(self.counters)
        return _table(stages.keys(self.plan, table.combine_chunks().to_batches(), self.parts, counters=counters), BLOCKS)


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
        forest = list(stages.merge(of_kind["edges"].to_batches(), self.parts, task_bytes=NO_LIMIT))
        rows = []
        for part in range(self.parts):
            batches = [*forest, *of_kind["identities"].to_batches()]
            here = [batch.filter(pc.equal(batch["part"], part)) for batch in batches]
            rows += list(stages.label([batch for batch in here if batch.num_rows]))
        return pa.Table.from_batches(rows) if rows else stages.empty_table(LABELS)


@dataclass(frozen=True)
class PartLabelTask:
    """The labels of the documents of a part."""

    def __call__(self, table: Any) -> Any:
        return _table(stages.label(table.to_batches()), LABELS)


@dataclass(frozen=True)
class KindTask:
    """The blocks of one kind."""

    kind: str

    def __call__(self, table: Any) -> Any:
        import pyarrow.compute as pc

        return table.filter(pc.equal(table["kind"], self.kind))


def summary(table: Any) -> tuple[int, list[str]]:
    """The bytes of blocks, and the notes among them."""
    import pyarrow.compute as pc

    if not table.num_rows:
        return 0, []
    return pc.sum(pc.binary_length(table["rows"])).as_py() or 0, table["note"].drop_null().to_pylist()


@dataclass(frozen=True)
class LabelJoin:
    """The documents of some nodes, with ``check``; with their components and the parts of these, if there are any."""

    plan: Plan
    labels: Any
    parts: int

    def __call__(self, table: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        nodes, components, checks = _stored(self.labels)
        there = table["node"].to_numpy()
        at = np.minimum(np.searchsorted(nodes, there), max(len(nodes) - 1, 0))
        hit = nodes[at] == there if len(nodes) else np.zeros(len(there), bool)
        if self.plan.options.get("skip_bad"):
            # Rows that are left out may have the ids of others.
            hit &= _is_readable(self.plan, table)
        kept = table.filter(pa.array(hit)).append_column("check", checks.take(pa.array(at[hit])))
        if components is None:
            return kept
        own = components[at][hit] if len(nodes) else np.zeros(0, np.int64)
        kept = kept.append_column("component", pa.array(own))
        # The least of several hashes is not spread evenly; its lower bits are.
        bins = (own.view(np.uint64) % np.uint64(self.parts)).astype(np.int64)
        return kept.append_column(BIN, pa.array(bins))


@dataclass(frozen=True)
class SemiJoin:
    """The documents of some nodes."""

    nodes: Any

    def __call__(self, table: Any) -> Any:
        import pyarrow.compute as pc

        return table.filter(pc.is_in(table["node"], value_set=_stored(self.nodes)))


#: Bytes of documents that :class:`TextJoin` gives at once.
_JOINED_BYTES = 64 << 20


@dataclass(frozen=True)
class TextJoin:
    """Documents once for each row that names them, with the other columns of these rows."""

    plan: Plan
    #: ``id``, ``reference`` and other columns.
    rows: Any

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        numbers = pa.array(range(table.num_rows), pa.int64())
        has_reference = "reference" in table.column_names
        reference = table["reference"] if has_reference else pa.array([False] * table.num_rows)
        own = pa.table({"id": table[self.plan.id], "reference": reference, _AT: numbers})
        rows = _stored(self.rows).join(own, ["id", "reference"], join_type="inner").combine_chunks()
        others = [name for name in rows.column_names if name not in ("id", "reference", _AT)]
        count = max(1, _JOINED_BYTES * table.num_rows // max(1, table.nbytes))
        for start in range(0, max(1, rows.num_rows), count):
            some = rows.slice(start, count)
            found = table.take(some[_AT])
            for name in others:
                found = found.append_column(name, some[name])
            yield found


@dataclass(frozen=True)
class DecideTask:
    """Decides about components, which the caller has found to fit a task."""

    plan: Plan

    def __call__(self, table: Any) -> Any:
        return _table(stages.decide_unsorted(self.plan, table.drop_columns([BIN])), DECIDED)


@dataclass(frozen=True)
class SurvivorTask:
    """Selects the rows that are not duplicates, or annotates all rows."""

    plan: Plan
    #: In the object store: ids of documents of groups as texts, and the columns that these rows get.
    members: Any
    annotate: bool

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        members = _stored(self.members)
        is_readable = pa.array([True] * table.num_rows, pa.bool_())
        if self.plan.options.get("skip_bad"):
            is_readable = pa.array(_is_readable(self.plan, table))
            if not self.annotate:
                table = table.filter(is_readable)
        at = pc.index_in(table[self.plan.id].cast(pa.string()), value_set=members["id"])
        at = at.combine_chunks() if isinstance(at, pa.ChunkedArray) else at
        if not self.annotate:
            return table.filter(pc.is_null(at))
        rows = members.take(pc.if_else(is_readable, at, pa.scalar(None, pa.int32())))
        kept = pc.coalesce(rows["lookalike_kept"], is_readable)
        size = pc.coalesce(rows["lookalike_group_size"], pa.scalar(1, pa.int64()))
        size = pc.if_else(kept, size, pa.scalar(None, pa.int64()))
        added = {name: rows[name] for name in rows.column_names if name != "id"}
        for name, values in (added | {"lookalike_kept": kept, "lookalike_group_size": size}).items():
            table = table.append_column(name, values)
        return table
