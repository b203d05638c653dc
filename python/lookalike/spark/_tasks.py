"""The tasks of Spark: functions from Arrow batches to Arrow batches that can be pickled with their
plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lookalike import stages
from lookalike._divided.arrow_values import MOST_BYTES, text_array
from lookalike._divided.row_operations import RowTask
from lookalike._divided.stage_tasks import NO_LIMIT, RowOrder, by_range, group_numbers
from lookalike.errors import OptionError
from lookalike.stages import Plan

_Batches = Iterable[Any]

# `LineTask` collects this many rows of groups before it formats them as a batch of JSON lines.
_LINE_ROWS = 1 << 16
# The most rows of a batch of sorted rows.
_SORTED_ROWS = 1 << 12
# In tables of more bytes, columns of texts get offsets of 64 bits. 32 bits suffice for twice as
# many.
_SHORT_BYTES = 1 << 30


@dataclass(frozen=True)
class MergeTask:
    """Joins forests. The driver has checked that the forests fit a task."""

    parts: int

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.merge(batches, self.parts, task_bytes=NO_LIMIT)


@dataclass(frozen=True)
class DecideTask:
    """Decides about components. The driver has checked that each component fits a task."""

    plan: Plan

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.decide(self.plan, batches, task_bytes=NO_LIMIT)


@dataclass(frozen=True)
class SortedTask:
    """Sorts the rows of a partition and runs a task over them, for engines that do not sort rows.
    Holds all rows of the partition.
    """

    task: RowTask
    order: RowOrder

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return self.task(self._sorted(batches))

    def _sorted(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        nonempty = [batch for batch in batches if batch.num_rows]
        if not nonempty:
            return
        table = pa.Table.from_batches(nonempty)
        if table.nbytes > _SHORT_BYTES:
            wide = [
                field.with_type(pa.large_string()) if pa.types.is_string(field.type) else field
                for field in table.schema
            ]
            table = table.cast(pa.schema(wide))
        table = table.combine_chunks()
        places = pc.sort_indices(table, sort_keys=list(self.order))
        for start in range(0, table.num_rows, _SORTED_ROWS):
            yield from table.take(places.slice(start, _SORTED_ROWS)).combine_chunks().to_batches()


@dataclass(frozen=True)
class SameTask:
    """Returns the rows unchanged."""

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        yield from batches


@dataclass(frozen=True)
class OneFileTask:
    """Runs a task and returns its lines, after a header, as one batch. For engines that distribute
    the batches of a partition over several files.
    """

    task: RowTask
    header: str

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        lines = [self.header] if self.header else []
        size = 0
        for batch in self.task(batches):
            size += batch.nbytes
            if size > MOST_BYTES:
                raise OptionError(
                    "the report has more than 2 GiB, which this engine cannot write in order; "
                    "write found.groups or found.pairs as a table, or run it on Spark"
                )
            lines += batch.column("value").to_pylist()
        yield pa.record_batch([pa.array(lines, pa.string())], names=["value"])


@dataclass(frozen=True)
class NumberTask:
    """Adds the column ``group``, the number of the group of a row. Rows are sorted by range, in
    the order of the report.
    """

    offsets: dict[int, int]

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        at, group = None, 0
        for batch in batches:
            for table in by_range(batch):
                if table["range"][0].as_py() != at:
                    at = table["range"][0].as_py()
                    group = self.offsets[at]
                numbers = group_numbers(table["role"], group)
                group = numbers[-1].as_py()
                yield from table.append_column("group", numbers).combine_chunks().to_batches()


@dataclass(frozen=True)
class LineTask:
    """Formats groups as lines of the report, with one text for each batch. Without offsets,
    formats pairs.
    """

    plan: Plan
    form: str = "csv"
    offsets: dict[int, int] | None = None
    """The offsets for ``NumberTask``."""

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        if self.offsets is not None:
            batches = NumberTask(self.offsets)(batches)
        for table, keeper in self._pieces(batches):
            lines = (
                self._lines(table)
                if keeper is None
                else self._lines(pa.concat_tables([keeper, table]))
            )
            if keeper is not None:
                lines = lines[len(self._lines(keeper)) :]
            if len(lines) > MOST_BYTES:
                is_whole = self.offsets is not None and self.form == "jsonl"
                remedy = (
                    'write format="csv", which has a line for each document'
                    if is_whole
                    else ("set spark.sql.execution.arrow.maxRecordsPerBatch to fewer rows")
                )
                raise OptionError(
                    f"the lines of {table.num_rows} documents take {len(lines)} bytes, and a row "
                    f"of the engine holds {MOST_BYTES}; {remedy}"
                )
            # Omit the last line end, which the engine adds.
            yield pa.record_batch([text_array(lines[:-1])], names=["value"])

    def _lines(self, table: Any) -> bytes:
        if self.offsets is None:
            return stages.pair_lines(self.plan, table)
        first = table["group"][0].as_py()
        return stages.group_lines(self.plan, table, first=first, format=self.form)  # type: ignore[arg-type]

    def _pieces(self, batches: _Batches) -> Iterator[tuple[Any, Any]]:
        """Yields tables of rows. If a table begins within a group, also yields the row of the
        keeper of this group, else ``None``.
        """
        import pyarrow as pa

        if self.offsets is not None and self.form == "jsonl":
            # In JSON lines, a group is one line, so tables must contain whole groups.
            yield from ((table, None) for table in self._whole_groups(batches))
            return
        keeper = None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            table = pa.Table.from_batches([batch])
            if self.offsets is None:
                yield table, None
                continue
            yield table, None if table["role"][0].as_py() == "keeper" else keeper
            at = _last_keeper(table["role"])
            keeper = keeper if at is None else table.slice(at, 1)

    def _whole_groups(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        pending: list[Any] = []
        rows = 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            pending.append(batch)
            rows += batch.num_rows
            if rows >= _LINE_ROWS and batch.column("group")[0] != batch.column("group")[-1]:
                table = pa.Table.from_batches(pending)
                end = table["group"].index(table["group"][-1]).as_py()
                yield table.slice(0, end)
                pending = table.slice(end).to_batches()
                rows = table.num_rows - end
        if pending:
            yield pa.Table.from_batches(pending)


def _last_keeper(roles: Any) -> int | None:
    """Returns the row number of the last keeper, or ``None`` without a keeper."""
    import pyarrow.compute as pc

    at = pc.indices_nonzero(pc.equal(roles, text_array(b"keeper")[0]))
    return at[-1].as_py() if len(at) else None
