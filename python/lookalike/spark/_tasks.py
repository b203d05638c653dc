"""What tasks run: functions from Arrow batches to Arrow batches, which pickle with their plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lookalike import stages
from lookalike.stages import Plan

__all__ = ["ConnectTask", "DecideTask", "KeyTask", "LabelTask", "LineTask", "MergeTask", "NumberTask"]

_Batches = Iterable[Any]


@dataclass(frozen=True)
class KeyTask:
    plan: Plan
    parts: int

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.keys(self.plan, batches, self.parts)


@dataclass(frozen=True)
class ConnectTask:
    parts: int

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.connect(batches, self.parts)


@dataclass(frozen=True)
class MergeTask:
    parts: int

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.merge(batches, self.parts)


@dataclass(frozen=True)
class LabelTask:
    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.label(batches)


@dataclass(frozen=True)
class DecideTask:
    plan: Plan
    task_bytes: int

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        return stages.decide(self.plan, batches, task_bytes=self.task_bytes)


@dataclass(frozen=True)
class NumberTask:
    """Adds ``group``, the number of the group of each row, to sorted rows of one range."""

    offsets: dict[int, int]

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        at, group = None, 0
        for batch in batches:
            for table in _by_range(batch):
                if table["range"][0].as_py() != at:
                    at = table["range"][0].as_py()
                    group = self.offsets[at]
                is_keeper = pc.cast(pc.equal(table["role"], "keeper"), pa.int64())
                numbers = pc.add(pc.cumulative_sum(is_keeper), group)
                group = numbers[-1].as_py()
                yield from table.append_column("group", numbers).combine_chunks().to_batches()


@dataclass(frozen=True)
class LineTask:
    """Lines of numbered groups, or of pairs, as one text for each batch."""

    plan: Plan
    kind: str
    form: str

    def __call__(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        for table in self._whole_groups(batches):
            if self.kind == "pairs":
                lines = stages.pair_lines(self.plan, table)
            else:
                first = table["group"][0].as_py()
                lines = stages.group_lines(self.plan, table, first=first, format=self.form)  # type: ignore[arg-type]
            # The engine ends what it writes with a line end of its own.
            yield pa.record_batch([pa.array([lines.decode()[:-1]])], names=["value"])

    def _whole_groups(self, batches: _Batches) -> Iterator[Any]:
        import pyarrow as pa

        held: list[Any] = []
        for batch in batches:
            if batch.num_rows == 0:
                continue
            held.append(batch)
            if self.kind == "pairs":
                yield pa.Table.from_batches(held)
                held = []
            elif sum(each.num_rows for each in held) >= 1 << 16:
                table = pa.Table.from_batches(held)
                end = table["group"].index(table["group"][-1]).as_py()
                if end:
                    yield table.slice(0, end)
                    held = table.slice(end).to_batches()
        if held:
            yield pa.Table.from_batches(held)


def _by_range(batch: Any) -> Iterator[Any]:
    """The rows of each range of a batch; ranges are in order."""
    import pyarrow as pa

    table, start = pa.Table.from_batches([batch]), 0
    while start < table.num_rows:
        this = table["range"][start].as_py()
        end = start
        while end < table.num_rows and table["range"][end].as_py() == this:
            end += 1
        yield table.slice(start, end - start)
        start = end
