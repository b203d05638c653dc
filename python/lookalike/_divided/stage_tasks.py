"""The tasks that all engines share. Each is a function from Arrow batches to Arrow batches that
can be pickled with its plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias

from lookalike import stages
from lookalike._divided.arrow_values import int_scalar, text_array
from lookalike.stages import DECIDED, KEPT, PART, Plan

_Batches = Iterable[Any]
RowOrder: TypeAlias = Sequence[tuple[str, str]]
"""The columns by which rows are sorted, each with ``ascending`` or ``descending``."""

MEMBER_ORDER: Final[RowOrder] = (
    ("size", "descending"),
    ("keeper", "ascending"),
    ("reference", "ascending"),
    ("role", "descending"),
    ("rank", "descending"),
    ("id", "ascending"),
)
"""The order of the members of groups in reports."""
PAIR_ORDER: Final[RowOrder] = (
    ("keeper", "ascending"),
    ("id", "ascending"),
    ("intersection", "ascending"),
    ("left", "ascending"),
    ("right", "ascending"),
)
"""The order of pairs in reports. If documents and references share ids, two ids can have several
pairs. The last three columns then decide.
"""
NO_LIMIT = 1 << 62
"""A ``task_bytes`` that no component exceeds."""
# The rank of a keeper in the rows of ``decide``.
_GREATEST = (1 << 63) - 1


@dataclass(frozen=True)
class KeyTask:
    plan: Plan
    parts: int
    counters: bytes | None = None

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.keys(self.plan, batches, self.parts, counters=self.counters)


@dataclass(frozen=True)
class ConnectTask:
    parts: int
    probed: bool

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.connect(batches, self.parts, probed=self.probed)


@dataclass(frozen=True)
class CountTask:
    plan: Plan

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.count(self.plan, batches)


@dataclass(frozen=True)
class TotalTask:
    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.total(batches)


@dataclass(frozen=True)
class LabelTask:
    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.label(batches)


@dataclass(frozen=True)
class UnsortedDecideTask:
    """Decides about components whose rows are in any order. Holds all rows of its partition."""

    plan: Plan

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        nonempty = [batch for batch in batches if batch.num_rows]
        if nonempty:
            yield from stages.decide_unsorted(self.plan, pa.Table.from_batches(nonempty))


@dataclass(frozen=True)
class PlaceTask:
    plan: Plan

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.places(self.plan, batches)


@dataclass(frozen=True)
class SliceTask:
    """Adds the column ``slice``, the number of the slice of a row, to rows in the keep order. The
    rows of a range are in one task. A slice has documents of about ``slice_bytes`` bytes.
    """

    offsets: dict[int, int]
    slice_bytes: int

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow.compute as pc

        at, before = None, 0
        for batch in batches:
            for table in by_range(batch):
                if table["range"][0].as_py() != at:
                    at = table["range"][0].as_py()
                    before = self.offsets[at]
                ends = pc.add(pc.cumulative_sum(table["bytes"]), int_scalar(before))
                before = ends[-1].as_py()
                slices = pc.divide(pc.subtract(ends, table["bytes"]), int_scalar(self.slice_bytes))
                yield from table.append_column("slice", slices).combine_chunks().to_batches()


@dataclass(frozen=True)
class MatchTask:
    """Compares the documents of each part with the kept documents of the same part. Expects rows
    that are sorted by ``PART``.
    """

    plan: Plan

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        for table in _by_part(batches):
            kept, documents = _kept_and_others(table)
            if kept.num_rows and documents.num_rows:
                yield from stages.match(self.plan, documents, kept)


@dataclass(frozen=True)
class BlockTask:
    """Decides about the documents of each part. If the part has kept documents, compares its other
    documents with them. Otherwise treats the part as one component.
    """

    plan: Plan

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        for table in _by_part(batches):
            kept, documents = _kept_and_others(table)
            if kept.num_rows == 0:
                component = pa.repeat(int_scalar(0), documents.num_rows)
                rows = documents.append_column("component", component)
                yield from stages.decide(self.plan, rows.to_batches(), task_bytes=NO_LIMIT)
            elif documents.num_rows:
                yield from stages.match(self.plan, documents, kept)


@dataclass(frozen=True)
class MemberTask:
    """Converts rows of members to the columns ``lookalike.stages.DECIDED``. Missing columns become
    null. Rows without a column ``id`` are keepers.
    """

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        schema = stages.empty_table(DECIDED).schema
        for batch in batches:
            columns = {name: batch.column(name) for name in batch.schema.names}
            role = b"duplicate" if "id" in columns else b"keeper"
            if role == b"keeper":
                columns |= {
                    "id": columns["keeper"],
                    "rank": pa.repeat(int_scalar(_GREATEST), batch.num_rows),
                }
            columns |= {
                name: pa.repeat(text_array(value)[0], batch.num_rows)
                for name, value in (("kind", b"member"), ("role", role))
            }
            arrays = [
                columns[kind.name].cast(kind.type)
                if kind.name in columns
                else pa.nulls(batch.num_rows, kind.type)
                for kind in schema
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _kept_and_others(table: Any) -> tuple[Any, Any]:
    import pyarrow.compute as pc

    return table.filter(table[KEPT]), table.filter(pc.invert(table[KEPT]))


def _by_part(batches: _Batches) -> Iterator[Any]:
    """Yields the rows of each part as one table.

    Raises:
        RuntimeError: The rows of a part are not consecutive, because the engine did not sort them.
    """
    import pyarrow as pa

    pending: list[Any] = []
    seen: set[int] = set()
    for batch in batches:
        for table in _runs(batch, PART):
            part = table[PART][0].as_py()
            if pending and pending[0][PART][0].as_py() != part:
                yield pa.concat_tables(pending)
                pending = []
            if not pending and part in seen:
                raise RuntimeError(
                    f"the rows of part {part} are not adjacent; sort the rows by part"
                )
            seen.add(part)
            pending.append(table)
    if pending:
        yield pa.concat_tables(pending)


def group_numbers(roles: Any, before: int) -> Any:
    """Numbers the groups of members. Returns the number of the group of each member.

    Args:
        roles: The roles of the members, in the order of the reports.
        before: The number of the last group before these members.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    is_keeper = pc.cast(pc.equal(roles, text_array(b"keeper")[0]), pa.int64())
    return pc.add(pc.cumulative_sum(is_keeper), int_scalar(before))


def by_range(batch: Any) -> Iterator[Any]:
    """Yields the rows of each range of a batch as a table. The batch is sorted by ``range``."""
    return _runs(batch, "range")


def _runs(batch: Any, column: str) -> Iterator[Any]:
    """Yields a table for each value of a column, by which the batch is sorted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.Table.from_batches([batch])
    values = table[column]
    changes = pc.indices_nonzero(pc.not_equal(values[1:], values[:-1])).to_pylist()
    starts = [0, *(change + 1 for change in changes)] if table.num_rows else []
    for start, end in pairwise([*starts, table.num_rows]):
        yield table.slice(start, end - start)
