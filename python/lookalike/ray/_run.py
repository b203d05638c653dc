"""The stages of a run on Ray, and the tables of its results."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import stages
from lookalike._divided.run import DividedRun
from lookalike._divided.run_sums import SOURCES
from lookalike._divided.stage_tasks import (
    MEMBER_ORDER,
    PAIR_ORDER,
    UnsortedDecideTask,
    group_numbers,
)
from lookalike.errors import DocumentTypeError, FileError, LookalikeError, OptionError
from lookalike.ray._connect import ConnectedBlocks, RayDocuments
from lookalike.ray._large import RayRows
from lookalike.ray._tasks import BIN, BatchTask, DocumentTask, map_dataset
from lookalike.stages import DECIDED, Plan

if TYPE_CHECKING:
    import pyarrow

# The least number of rows of a file of groups, and the number of rows of a file of pairs. The last
# file may have fewer.
_FILE_ROWS = 1 << 20
# The number of rows that become Python objects at a time.
_BATCH_ROWS = 1 << 16
# The names of the files of a report.
_PART = re.compile(r"part-\d{5,}")


def ray_module() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise OptionError(
            "lookalike.ray needs Ray Data 2.50 or later: pip install 'ray[data]'"
        ) from None
    return ray


def check_dataset(ds: object, name: str) -> None:
    """Checks that a value is a Ray dataset.

    Args:
        ds: The value.
        name: The name of the argument, for the message.

    Raises:
        DocumentTypeError: The value is not a dataset.
    """
    if not isinstance(ds, ray_module().data.Dataset):
        raise DocumentTypeError(
            f"{name}: expected a Dataset of Ray, got "
            f"{type(ds).__module__}.{type(ds).__qualname__}; ray.data.from_items, from_arrow and "
            "from_pandas make one of rows"
        )


class RayRun(DividedRun[ConnectedBlocks, "pyarrow.Table", Any]):
    """A run on Ray. Rows are Arrow tables in the process of the caller."""

    members: pyarrow.Table
    """The members of groups, in the order of the report."""

    def __init__(self, plan: Plan, ds: Any, reference: Any, parts: int, task_bytes: int) -> None:
        super().__init__(plan, parts, task_bytes, logging.getLogger("lookalike.ray"))
        check_dataset(ds, "ds")
        if reference is not None:
            check_dataset(reference, "reference")
        self._id_kind = _id_kind(plan.id, ds, reference)
        sides = [(ds, None)] if reference is None else [(ds, False), (reference, True)]
        documents = [
            map_dataset(side, DocumentTask(plan, is_reference)) for side, is_reference in sides
        ]
        self._documents = RayDocuments(ray_module(), plan, parts, task_bytes, documents)
        self._notes: list[str] = []

    def run(self) -> None:
        """Runs all stages."""
        self.run_stages()
        self.members = _of_kind(self.decided, "member").sort_by(list(MEMBER_ORDER))

    def numbered(self) -> pyarrow.Table:
        """Returns the members of groups in the order of the report, with ``group``, the number of
        the group.
        """
        import pyarrow as pa

        rows = self.members
        numbers = group_numbers(rows["role"], 0) if rows.num_rows else pa.array([], pa.int64())
        return rows.append_column("group", numbers)

    def id_column(self, name: str) -> Any:
        """Returns the expression of a column of ids, in the type of the ids in the dataset."""
        ids = self.row_operations().functions.col(name)
        return ids if self._id_kind is None else ids.cast(self._id_kind)

    def groups(self) -> pyarrow.Table:
        return self._columns(
            self.numbered(),
            {
                "group": "group",
                "id": "id",
                "role": "role",
                "keeper": "keeper",
                **{name: name for name in self.similarities},
            },
        )

    def member_rows(self) -> Iterator[tuple[int, Any, Any, Any]]:
        rows = self.groups().select(["group", "id", "keeper", self.similarities[-1]])
        for batch in rows.to_batches(max_chunksize=_BATCH_ROWS):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def pairs(self) -> pyarrow.Table:
        similarities = {name: name for name in self.similarities}
        return self._columns(self._pairs(), {"id_a": "keeper", "id_b": "id", **similarities})

    def empty(self) -> pyarrow.Table:
        notes = sorted(self.notes("empty"), key=_document)
        first: dict[str, Any] = {}
        for note in notes:
            if note["content"] is not None:
                first.setdefault(note["content"], note)
        originals = [first.get(note["content"], note) for note in notes]
        equal_ids = [
            None if original is note else original["id"]
            for note, original in zip(notes, originals, strict=True)
        ]
        return self._table(id=[note["id"] for note in notes], same_text_as=equal_ids)

    def skipped(self) -> pyarrow.Table:
        import pyarrow as pa

        notes = self.notes("skipped")
        reasons = pa.array([note["reason"] for note in notes], pa.string())
        return self._table(id=[note["id"] for note in notes]).append_column("reason", reasons)

    def sources(self) -> pyarrow.Table:
        import pyarrow as pa

        empty = stages.empty_table(SOURCES)
        return pa.Table.from_pylist(self.sums.sources, schema=empty.schema)

    def _table(self, **ids: list[str | None]) -> pyarrow.Table:
        """Makes a table of columns of ids, in the type of the ids in the dataset."""
        import pyarrow as pa

        kind = self._id_kind or pa.string()
        return pa.table(
            {name: pa.array(column, pa.string()).cast(kind) for name, column in ids.items()}
        )

    def _columns(self, rows: pyarrow.Table, names: dict[str, str]) -> pyarrow.Table:
        """Selects columns under new names, with ids in the type of the ids in the dataset."""
        engine = self.row_operations()
        col = engine.functions.col
        columns = {
            new: self.id_column(name) if name in ("id", "keeper") else col(name)
            for new, name in names.items()
        }
        return engine.select(rows, columns)

    def connect(self) -> ConnectedBlocks:
        sides = self._documents.sides
        counters = self._documents.counters(sides) if self.plan.is_counted else None
        blocks = self._documents.connected(sides, counters)
        self._notes = blocks.notes
        self._check_ids()
        self.sums.add_notes(self._notes)
        return blocks

    def components(self, blocks: ConnectedBlocks) -> pyarrow.Table:
        return self._documents.components(blocks)

    def decide(self, labels: pyarrow.Table, total: int, is_divided: bool) -> pyarrow.Table:
        documents = self._documents.labelled(labels)
        decided = self._documents.grouped(
            documents, BIN, BatchTask(UnsortedDecideTask(self.plan), DECIDED), DECIDED
        )
        self.sums.add_notes(_of_kind(decided, "note")["note"].to_pylist())
        return decided

    def row_operations(self) -> RayRows:
        return RayRows(self._documents)

    def notes(self, kind: str) -> list[Any]:
        """Returns the notes of one kind from the stage ``connect``."""
        return [note[kind] for note in map(json.loads, self._notes) if kind in note]

    def _check_ids(self) -> None:
        """Rejects documents with the same id. Reads the ids of documents that share a node."""
        import pyarrow as pa
        import pyarrow.compute as pc

        nodes = pa.array([int(node) for node in self.notes("repeated")], pa.int64())
        if not len(nodes):
            return
        repeated: list[tuple[str, int]] = []
        for side in self._documents.sides:
            tables = [
                table.filter(pc.is_in(table["node"], value_set=nodes)).select([self.plan.id])
                for table in self._documents.ray.get(side.to_arrow_refs())
                if table.num_rows
            ]
            if tables:
                rows = pc.value_counts(pa.concat_tables(tables)[self.plan.id]).to_pylist()
                repeated += [(row["values"], row["counts"]) for row in rows if row["counts"] > 1]
        self.refuse_repeated(sorted(repeated), "leave one row of each")

    def _pairs(self) -> pyarrow.Table:
        """Returns the verified pairs in the order of the report."""
        return _of_kind(self.decided, "pair").sort_by(list(PAIR_ORDER))

    def write_groups(self, folder: str, form: str, mode: str) -> None:
        _write(folder, self._group_files(form), mode)

    def write_pairs(self, folder: str, mode: str) -> None:
        _write(folder, self._pair_files(), mode)

    def _group_files(self, form: Any) -> Iterator[bytes]:
        """Yields the content of each file of groups. A file contains whole groups."""
        import pyarrow.compute as pc

        rows, first = self.members, 1
        starts = [at for at, role in enumerate(rows["role"].to_pylist()) if role == "keeper"]
        start = 0
        while start < rows.num_rows or start == 0:
            # End the file before a keeper, so that groups are not divided.
            place = bisect_left(starts, start + _FILE_ROWS)
            end = starts[place] if place < len(starts) else rows.num_rows
            piece = rows.slice(start, end - start)
            has_header = form == "csv" and start == 0
            yield stages.group_lines(
                self.plan,
                piece,
                first=first,
                header=has_header,
                format=form,
            )
            first += pc.sum(pc.equal(piece["role"], "keeper")).as_py() or 0
            if end == rows.num_rows:
                return
            start = end

    def _pair_files(self) -> Iterator[bytes]:
        """Yields the content of each file of pairs."""
        rows = self._pairs()
        for start in range(0, max(rows.num_rows, 1), _FILE_ROWS):
            yield stages.pair_lines(self.plan, rows.slice(start, _FILE_ROWS), header=start == 0)


def _document(note: Any) -> tuple[bool, str]:
    """Returns the sort key of a document without a token: by id, reference documents last."""
    return note["reference"], note["id"]


def _of_kind(rows: Any, kind: str) -> Any:
    import pyarrow.compute as pc

    return rows.filter(pc.equal(rows["kind"], kind))


def _id_kind(name: str, *sides: Any) -> Any:
    """Returns the integer type of the ids, if the ids of all sides have the same one. Otherwise
    returns ``None``, and ids are texts.
    """
    import pyarrow as pa

    kinds = set()
    for side in sides:
        schema = None if side is None else side.schema()
        if schema is not None and name in schema.names:
            kinds.add(schema.types[schema.names.index(name)])
    is_uniform = len(kinds) == 1 and all(
        isinstance(kind, pa.DataType) and pa.types.is_integer(kind) for kind in kinds
    )
    return kinds.pop() if is_uniform else None


def _write(folder: str, files: Iterator[bytes], mode: str) -> None:
    """Writes a folder of files, which appears when it is complete. Creates missing parent folders.

    Args:
        folder: The folder.
        files: The content of each file.
        mode: ``"error"`` rejects an existing folder. ``"overwrite"`` replaces it if it contains
            nothing but files of an earlier call.

    Raises:
        FileError: The folder exists and must not be replaced, or cannot be written.
    """
    place = Path(folder).absolute()
    try:
        if place.exists() and mode == "error":
            raise FileError(f"{folder} already exists; name another output, or remove it first")
        if place.exists():
            _refuse_others(place, folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(place, files)
    except LookalikeError:
        raise
    except OSError as error:
        problem = f"cannot write {folder}: {error.strerror or error}"
        raise FileError(
            f"{problem}; name another output, or let this process write that one"
        ) from error


def _refuse_others(place: Path, folder: str) -> None:
    """Rejects a path that is not a folder, or a folder with files that no earlier call wrote.

    Raises:
        FileError: The path must not be replaced.
    """
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
