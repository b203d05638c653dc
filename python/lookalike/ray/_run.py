"""The stages of a run on Ray, and the tables of its results."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import stages
from lookalike._divided.run import DividedRun
from lookalike._divided.stage_tasks import (
    MEMBER_ORDER,
    PAIR_ORDER,
    ConnectTask,
    CountTask,
    LabelTask,
    TotalTask,
    UnsortedDecideTask,
    group_numbers,
)
from lookalike._divided.star_rounds import StarTask, edge_limit, star_rounds
from lookalike.errors import DocumentTypeError, FileError, LookalikeError, OptionError
from lookalike.ray._large import RayRows
from lookalike.ray._shuffle import each, shuffle
from lookalike.ray._tasks import (
    BIN,
    AllLabelsTask,
    BatchTask,
    DocumentTask,
    KeyTask,
    KindTask,
    LabelJoin,
    run_task,
    summary,
)
from lookalike.stages import BLOCKS, DECIDED, LABELS, Plan, StarStep

if TYPE_CHECKING:
    import pyarrow

#: Counters that one task adds up.
_JOINED = 16
#: Members of groups in a file.
_FILE_ROWS = 1 << 20
#: The names of files that a report has.
_PART = re.compile(r"part-\d{5,}")


def ray_module() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise OptionError("lookalike.ray needs Ray Data 2.50 or later: pip install 'ray[data]'") from None
    return ray


def check_dataset(ds: object, name: str) -> None:
    """Checks that a value is a dataset.

    :param name: the name of the dataset in messages.
    :raises DocumentTypeError: it is not a dataset.
    """
    if not isinstance(ds, ray_module().data.Dataset):
        raise DocumentTypeError(
            f"{name}: expected a Dataset of Ray, got {type(ds).__module__}.{type(ds).__qualname__}; ray.data.from_items, "
            "from_arrow and from_pandas make one of rows"
        )


@dataclass(frozen=True)
class ConnectedBlocks:
    """Edges and identities in the object store."""

    tables: list[Any]
    #: Their bytes.
    size: int
    notes: list[str]


class RayRun(DividedRun[ConnectedBlocks, "pyarrow.Table", Any]):
    """A run on Ray. Its rows are tables in the process of the caller."""

    #: Members of groups, in the order of the report.
    members: pyarrow.Table

    def __init__(self, plan: Plan, ds: Any, reference: Any, parts: int, task_bytes: int) -> None:
        super().__init__(plan, parts, task_bytes, logging.getLogger("lookalike.ray"))
        self._ray = ray_module()
        check_dataset(ds, "ds")
        if reference is not None:
            check_dataset(reference, "reference")
        self._id_kind = _id_kind(plan.id, ds, reference)
        sides = [(ds, None)] if reference is None else [(ds, False), (reference, True)]
        self._sides = [self._mapped(side, DocumentTask(plan, is_reference)) for side, is_reference in sides]
        self._notes: list[str] = []

    def run(self) -> None:
        """Runs all stages."""
        self.run_stages()
        self.members = _of_kind(self.decided, "member").sort_by(list(MEMBER_ORDER))

    def numbered(self) -> pyarrow.Table:
        """Members of groups with ``group``, in the order of the report."""
        import pyarrow as pa

        rows = self.members
        numbers = group_numbers(rows["role"], 0) if rows.num_rows else pa.array([], pa.int64())
        return rows.append_column("group", numbers)

    def id_column(self, name: str) -> Any:
        """A column of ids in the type that they have in the dataset."""
        ids = self.row_operations().functions.col(name)
        return ids if self._id_kind is None else ids.cast(self._id_kind)

    def groups(self) -> pyarrow.Table:
        return self._columns(self.numbered(), {"group": "group", "id": "id", "role": "role", "keeper": "keeper", "jaccard": "jaccard"})

    def pairs(self) -> pyarrow.Table:
        return self._columns(self._pairs(), {"id_a": "keeper", "id_b": "id", "jaccard": "jaccard"})

    def _columns(self, rows: pyarrow.Table, names: dict[str, str]) -> pyarrow.Table:
        """Columns under new names, with ids in the type of the dataset."""
        engine = self.row_operations()
        col = engine.functions.col
        columns = {new: self.id_column(name) if name in ("id", "keeper") else col(name) for new, name in names.items()}
        return engine.select(rows, columns)

    def _mapped(self, ds: Any, task: Any) -> Any:
        return ds.map_batches(partial(run_task, task), batch_format="pyarrow", batch_size=None)

    def _all_mapped(self, sides: list[Any], task: Any) -> Any:
        """The documents of all sides through a task."""
        mapped = [self._mapped(side, task) for side in sides]
        return mapped[0].union(*mapped[1:]) if len(mapped) > 1 else mapped[0]

    def gathered(self, ds: Any, columns: str) -> Any:
        """The rows of a dataset as one table."""
        return self._table(ds.to_arrow_refs(), columns)

    def _table(self, refs: list[Any], columns: str) -> Any:
        """Tables in the object store as one."""
        import pyarrow as pa

        names = stages.empty_table(columns).column_names
        tables = [table for table in self._ray.get(refs) if table.num_rows]
        return pa.concat_tables([table.select(names) for table in tables]) if tables else stages.empty_table(columns)

    def grouped(self, ds: Any, column: str, task: Any, columns: str) -> Any:
        """All rows with one value of a column in one call of a task; the results as one table."""
        return self._table(self._shuffled(ds.to_arrow_refs(), column, task, columns), columns)

    def _shuffled(self, tables: list[Any], column: str, task: Any, columns: str) -> list[Any]:
        return shuffle(self._ray, tables, column, self.parts, task, columns)

    def connect(self) -> ConnectedBlocks:
        counters = self.counters(self._sides) if self.plan.is_counted else None
        blocks = self.connected(self._sides, counters)
        self._notes = blocks.notes
        self._check_ids()
        self.sums.add_notes(self._notes)
        return blocks

    def connected(self, sides: list[Any], counters: Any) -> ConnectedBlocks:
        """The edges, identities and notes of documents.

        :param counters: how often shingles occur, where keys are rare shingles.
        """
        blocks = self._all_mapped(sides, BatchTask(KeyTask(self.plan, self.parts, counters), BLOCKS, is_combined=True))
        probed = counters is not None and self.plan.is_probed
        task = BatchTask(ConnectTask(self.parts, probed), BLOCKS)
        return self._summed(self._shuffled(blocks.to_arrow_refs(), "part", task, BLOCKS))

    def _summed(self, tables: list[Any]) -> ConnectedBlocks:
        """Blocks in the object store, with their notes here."""
        sums = self._ray.get(each(self._ray, tables, summary))
        return ConnectedBlocks(tables, sum(size for size, _ in sums), [note for _, notes in sums for note in notes])

    def components(self, blocks: ConnectedBlocks) -> pyarrow.Table:
        if blocks.size <= edge_limit(self.task_bytes):
            labels: pyarrow.Table = self._ray.get(self._ray.remote(_labels).remote(self.parts, *blocks.tables))
            return labels

        def run(tables: list[Any], step: StarStep) -> list[Any]:
            return self._shuffled(tables, "part", BatchTask(StarTask(self.parts, step), BLOCKS, is_combined=True), BLOCKS)

        edges = star_rounds(
            blocks.tables, run, lambda _, make: make(), lambda tables: self._summed(tables).notes
        )
        tables = each(self._ray, edges, KindTask("edges")) + each(self._ray, blocks.tables, KindTask("identities"))
        return self._table(self._shuffled(tables, "part", BatchTask(LabelTask(), LABELS), LABELS), LABELS)

    def counters(self, sides: list[Any]) -> Any:
        """How often shingles occur, about, in the object store."""
        counted = self._all_mapped(sides, BatchTask(CountTask(self.plan), BLOCKS, is_combined=True)).to_arrow_refs()
        total = self._ray.remote(_total)
        while len(counted) > 1:
            counted = [total.remote(*counted[at : at + _JOINED]) for at in range(0, len(counted), _JOINED)]
        tables = [table for table in self._ray.get(counted) if table.num_rows]
        sums = [row for table in tables for row in stages.total(table.to_batches())]
        return self._ray.put(sums[0]["rows"][0].as_py() if sums else stages.empty_counters(self.plan))

    def labelled_documents(self, labels: Any) -> Any:
        """The documents of some nodes, with ``check``; where labels have components, with these and their parts."""
        labels = labels.sort_by("node")
        checks = labels["check"].combine_chunks()
        components = labels["component"].to_numpy() if "component" in labels.column_names else None
        columns = (labels["node"].to_numpy(), components, checks)
        return self._all_mapped(self._sides, LabelJoin(self.plan, self._ray.put(columns), self.parts))

    def decide(self, labels: pyarrow.Table, total: int, is_divided: bool) -> pyarrow.Table:
        documents = self.labelled_documents(labels)
        decided = self.grouped(documents, BIN, BatchTask(UnsortedDecideTask(self.plan), DECIDED), DECIDED)
        self.sums.add_notes(_of_kind(decided, "note")["note"].to_pylist())
        return decided

    def row_operations(self) -> RayRows:
        return RayRows(self, self._ray)

    def notes(self, kind: str) -> list[Any]:
        """Notes of a kind about documents."""
        return [note[kind] for note in map(json.loads, self._notes) if kind in note]

    def _check_ids(self) -> None:
        """Rejects documents with one id."""
        import pyarrow as pa
        import pyarrow.compute as pc

        nodes = pa.array([int(node) for node in self.notes("repeated")], pa.int64())
        if not len(nodes):
            return
        repeated: list[tuple[str, int]] = []
        for side in self._sides:
            tables = [
                table.filter(pc.is_in(table["node"], value_set=nodes)).select([self.plan.id])
                for table in self._ray.get(side.to_arrow_refs()) if table.num_rows
            ]
            if tables:
                rows = pc.value_counts(pa.concat_tables(tables)[self.plan.id]).to_pylist()
                repeated += [(row["values"], row["counts"]) for row in rows if row["counts"] > 1]
        self.refuse_repeated(sorted(repeated), "leave one row of each")

    def _pairs(self) -> pyarrow.Table:
        """Verified pairs in the order of the report."""
        return _of_kind(self.decided, "pair").sort_by(list(PAIR_ORDER))

    def write_groups(self, folder: str, form: str, mode: str) -> None:
        _write(folder, self._group_files(form), mode)

    def write_pairs(self, folder: str, mode: str) -> None:
        _write(folder, self._pair_files(), mode)

    def _group_files(self, form: str) -> Iterator[bytes]:
        """The bytes of the files of groups."""
        import pyarrow.compute as pc

        rows, first = self.members, 1
        starts = [at for at, role in enumerate(rows["role"].to_pylist()) if role == "keeper"]
        start = 0
        while start < rows.num_rows or start == 0:
            # Whole groups: a file ends before the next keeper.
            place = bisect_left(starts, start + _FILE_ROWS)
            end = starts[place] if place < len(starts) else rows.num_rows
            some = rows.slice(start, end - start)
            yield stages.group_lines(self.plan, some, first=first, header=form == "csv" and start == 0, format=form)  # type: ignore[arg-type]
            first += pc.sum(pc.equal(some["role"], "keeper")).as_py() or 0
            if end == rows.num_rows:
                return
            start = end

    def _pair_files(self) -> Iterator[bytes]:
        """The bytes of the files of pairs."""
        rows = self._pairs()
        for start in range(0, max(rows.num_rows, 1), _FILE_ROWS):
            yield stages.pair_lines(self.plan, rows.slice(start, _FILE_ROWS), header=start == 0)


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


def _of_kind(rows: Any, kind: str) -> Any:
    import pyarrow.compute as pc

    return rows.filter(pc.equal(rows["kind"], kind))


def _id_kind(name: str, *sides: Any) -> Any:
    """The type of whole numbers that the ids of all sides have; ``None`` for texts, and where the sides differ."""
    import pyarrow as pa

    kinds = set()
    for side in sides:
        schema = None if side is None else side.schema()
        if schema is not None and name in schema.names:
            kinds.add(schema.types[schema.names.index(name)])
    is_one = len(kinds) == 1 and all(isinstance(kind, pa.DataType) and pa.types.is_integer(kind) for kind in kinds)
    return kinds.pop() if is_one else None


def _write(folder: str, files: Iterator[bytes], mode: str) -> None:
    """Writes a folder that appears whole, and creates the folders above it.

    :param mode: ``"error"``, or ``"overwrite"``: a folder with files of an earlier call alone is replaced.
    :raises FileError: the folder exists, or cannot be written.
    """
    place = Path(folder).absolute()
    try:
        if place.exists() and mode == "error":
            raise FileError(f"{folder} exists already; name another output, or remove it first")
        if place.exists():
            _refuse_others(place, folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(place, files)
    except LookalikeError:
        raise
    except OSError as error:
        problem = f"cannot write {folder}: {error.strerror or error}"
        raise FileError(f"{problem}; name another output, or let this process write that one") from error


def _refuse_others(place: Path, folder: str) -> None:
    """Refuses to replace what an earlier call did not write."""
    if not place.is_dir():
        raise FileError(
            f"cannot overwrite {folder}: it is a file, not a folder; name another output"
        )
    for entry in place.iterdir():
        if not (entry.is_file() and _PART.fullmatch(entry.name)):
            raise FileError(
                f"cannot overwrite {folder}: {entry.name} in it is not part of a report; "
                "name another output"
            )


def _write_whole(place: Path, files: Iterator[bytes]) -> None:
    with tempfile.TemporaryDirectory(prefix=".lookalike-", dir=place.parent) as temporary:
        files_folder = Path(temporary) / "files"
        files_folder.mkdir()
        for number, lines in enumerate(files):
            with (files_folder / f"part-{number:05}").open("wb") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        if place.exists():
            place.rename(Path(temporary) / "before")
        files_folder.rename(place)
