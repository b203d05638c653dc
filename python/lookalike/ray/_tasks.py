"""The tasks of Ray: functions from Arrow tables to Arrow tables that can be pickled with their
plan.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from lookalike import stages
from lookalike._divided.row_operations import RowTask
from lookalike._divided.stage_tasks import NO_LIMIT
from lookalike._divided.survivors import row_columns
from lookalike._divided.task_errors import stated_errors
from lookalike.errors import DocumentError, DocumentTypeError
from lookalike.ray._expressions import Expressions, project
from lookalike.stages import INTERNAL, LABELS, Plan

BIN = f"{INTERNAL}bin"
"""The column by which rows are grouped: the part of the component of a document."""
# The row number of a document in its table.
_AT = f"{INTERNAL}at"
# Whether a row is readable: ``skip_bad`` does not leave it out.
_READABLE = f"{INTERNAL}readable"


def _is_readable(plan: Plan, table: Any) -> Any:
    """Tells for each row whether it is readable: ``skip_bad`` does not leave it out."""
    import pyarrow.compute as pc

    is_readable = pc.and_(pc.is_valid(table[plan.text]), pc.is_valid(table[plan.id])).to_numpy()
    is_empty = stages.empty_texts(table[plan.id])
    return (
        is_readable if is_empty is None else is_readable & ~pc.fill_null(is_empty, True).to_numpy()
    )


def run_task(task: Callable[[Any], Any], table: Any) -> Any:
    """Calls a task and converts its errors. Ray displays the name of this function."""
    with stated_errors():
        return task(table)


def map_dataset(ds: Any, task: Callable[[Any], Any]) -> Any:
    """Runs a task over a dataset, one block at a time."""
    return ds.map_batches(partial(run_task, task), batch_format="pyarrow", batch_size=None)


def _stored(reference: Any) -> Any:
    """Returns a value from the object store."""
    return importlib.import_module("ray").get(reference)


def _table(batches: Iterable[Any], columns: str) -> Any:
    """Joins batches to one table. Without batches, returns an empty table with the columns."""
    import pyarrow as pa

    batch_list = list(batches)
    return pa.Table.from_batches(batch_list) if batch_list else stages.empty_table(columns)


@dataclass(frozen=True)
class BatchTask:
    """Converts a task on batches to a task on tables."""

    task: RowTask
    columns: str
    is_combined: bool = False
    """Whether to copy the rows into one batch, for tasks that process one batch at a time."""

    def __call__(self, table: Any) -> Any:
        rows = table.combine_chunks() if self.is_combined else table
        return _table(self.task(rows.to_batches()), self.columns)


@dataclass(frozen=True)
class DocumentTask:
    """Selects the columns of the plan, converts ids to texts, and adds ``node``. Adds
    ``reference`` if the run has a reference collection.
    """

    plan: Plan
    is_reference: bool | None

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        for name in self.plan.columns:
            if name not in table.column_names:
                existing = ", ".join(table.column_names) or "none"
                raise DocumentError(f"the dataset has no column {name!r}; there are {existing}")
        table = table.select(self.plan.columns)
        at = table.column_names.index(self.plan.id)
        kind = table.schema.field(at).type
        # If all ids of a block are null, their type is null.
        if pa.types.is_integer(kind) or pa.types.is_null(kind):
            table = table.set_column(at, self.plan.id, table[self.plan.id].cast(pa.string()))
        is_reference = bool(self.is_reference)
        table = table.append_column("node", self._nodes(table, is_reference))
        if self.is_reference is None:
            return table
        return table.append_column(
            "reference", pa.array([is_reference] * table.num_rows, pa.bool_())
        )

    def _nodes(self, table: Any, is_reference: bool) -> Any:
        try:
            return stages.nodes(self.plan, table, reference=is_reference)
        except DocumentTypeError as error:
            raise DocumentTypeError(
                f"{error}; ds.map_batches(function, batch_format='pyarrow') with a function that "
                "casts the column makes such values of it"
            ) from None


@dataclass(frozen=True)
class KeyTask:
    """Like ``lookalike._divided.stage_tasks.KeyTask``, with counters from the object store."""

    plan: Plan
    parts: int
    counters: Any = None
    """A reference to the counters of shingles, if keys are rare shingles."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        counters = None if self.counters is None else _stored(self.counters)
        return stages.keys(self.plan, batches, self.parts, counters=counters)


@dataclass(frozen=True)
class AllLabelsTask:
    """Labels all documents in components. Takes the edges and identities of all parts."""

    parts: int

    def __call__(self, connected: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        of_kind = {
            kind: connected.filter(pc.equal(connected["kind"], kind))
            for kind in ("edges", "identities")
        }
        forest = list(stages.merge(of_kind["edges"].to_batches(), self.parts, task_bytes=NO_LIMIT))
        rows = []
        for part in range(self.parts):
            batches = [*forest, *of_kind["identities"].to_batches()]
            matching = [batch.filter(pc.equal(batch["part"], part)) for batch in batches]
            rows += list(stages.label([batch for batch in matching if batch.num_rows]))
        return pa.Table.from_batches(rows) if rows else stages.empty_table(LABELS)


@dataclass(frozen=True)
class KindTask:
    """Selects the blocks of one kind."""

    kind: str

    def __call__(self, table: Any) -> Any:
        import pyarrow.compute as pc

        return table.filter(pc.equal(table["kind"], self.kind))


def summary(table: Any) -> tuple[int, list[str]]:
    """Returns the bytes of the blocks of a table, and its notes."""
    import pyarrow.compute as pc

    if not table.num_rows:
        return 0, []
    return pc.sum(pc.binary_length(table["rows"])).as_py() or 0, table[
        "note"
    ].drop_null().to_pylist()


@dataclass(frozen=True)
class LabelJoin:
    """Selects the documents of some nodes and adds ``check``. If the labels have components, also
    adds ``component`` and ``BIN``, the part of the component.
    """

    plan: Plan
    labels: Any
    parts: int

    def __call__(self, table: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        nodes, components, checks = _stored(self.labels)
        row_nodes = table["node"].to_numpy()
        at = np.minimum(np.searchsorted(nodes, row_nodes), max(len(nodes) - 1, 0))
        hit = nodes[at] == row_nodes if len(nodes) else np.zeros(len(row_nodes), bool)
        if self.plan.options.get("skip_bad"):
            # A row that `skip_bad` leaves out may have the id, and so the node, of another row.
            hit &= _is_readable(self.plan, table)
        kept = table.filter(pa.array(hit)).append_column("check", checks.take(pa.array(at[hit])))
        if components is None:
            return kept
        own = components[at][hit] if len(nodes) else np.zeros(0, np.int64)
        kept = kept.append_column("component", pa.array(own))
        # A component is the least of several hashes, so its upper bits are not evenly distributed.
        # Its lower bits are.
        bins = (own.view(np.uint64) % np.uint64(self.parts)).astype(np.int64)
        return kept.append_column(BIN, pa.array(bins))


@dataclass(frozen=True)
class SemiJoin:
    """Selects the documents of some nodes."""

    nodes: Any

    def __call__(self, table: Any) -> Any:
        import pyarrow.compute as pc

        return table.filter(pc.is_in(table["node"], value_set=_stored(self.nodes)))


# The approximate bytes of documents in a table that ``TextJoin`` yields.
_JOINED_BYTES = 64 << 20


@dataclass(frozen=True)
class TextJoin:
    """Yields a document once for each row that names it, with the other columns of the row."""

    plan: Plan
    rows: Any
    """A reference to rows with ``id``, ``reference`` and other columns."""

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        numbers = pa.array(range(table.num_rows), pa.int64())
        has_reference = "reference" in table.column_names
        reference = table["reference"] if has_reference else pa.array([False] * table.num_rows)
        own_rows = pa.table({"id": table[self.plan.id], "reference": reference, _AT: numbers})
        rows = (
            _stored(self.rows)
            .join(own_rows, ["id", "reference"], join_type="inner")
            .combine_chunks()
        )
        others = [name for name in rows.column_names if name not in ("id", "reference", _AT)]
        count = max(1, _JOINED_BYTES * table.num_rows // max(1, table.nbytes))
        for start in range(0, max(1, rows.num_rows), count):
            piece = rows.slice(start, count)
            found = table.take(piece[_AT])
            for name in others:
                found = found.append_column(name, piece[name])
            yield found


@dataclass(frozen=True)
class SurvivorTask:
    """Selects the rows that are not duplicates, or annotates all rows."""

    plan: Plan
    members: Any
    """A reference to a table: the ids of members of groups as texts, and the columns to add to
    their rows. Without ``annotate``, only duplicates are members.
    """
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
        rows = members.take(pc.if_else(is_readable, at, pa.scalar(None, pa.int32()))).drop_columns(
            ["id"]
        )
        names = rows.column_names
        rows = rows.append_column(_READABLE, is_readable)
        functions = Expressions()
        columns = {name: functions.col(name) for name in names}
        rows = project(rows, columns | row_columns(functions, functions.col(_READABLE)))
        for name in names:
            table = table.append_column(name, rows[name])
        return table
