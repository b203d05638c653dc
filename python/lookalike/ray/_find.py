"""``find`` and ``dedup`` of a Ray Dataset."""

from __future__ import annotations

import json
import os
import re
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from lookalike import stages
from lookalike._divided.run_sums import RunSums, bytes_of, timed
from lookalike._divided.large_components import LargeComponents, component_sizes
from lookalike._options import path_option, refuse_add, refused, whole_option
from lookalike._progress import Progress, reporting
from lookalike._divided.stage_tasks import ANNOTATIONS, MEMBER_ORDER, PAIR_ORDER
from lookalike._divided.star_rounds import StarTask, edge_limit, star_rounds
from lookalike._divided.task_errors import task_errors
from lookalike.errors import DocumentError, DocumentTypeError, FileError, LookalikeError, OptionError
from lookalike.ray._large import RayRows
from lookalike.ray._shuffle import each, shuffled
from lookalike.ray._tasks import (
    BIN,
    BatchTask,
    ConnectTask,
    CountTask,
    DecideTask,
    DocumentTask,
    KeyTask,
    KindTask,
    LabelJoin,
    LabelTask,
    PartLabelTask,
    SurvivorTask,
    TotalTask,
    run_task,
    summary,
)
from lookalike.stages import Plan, StarStep

if TYPE_CHECKING:
    import pyarrow

__all__ = ["FindResult", "dedup", "find"]

_T = TypeVar("_T")
_REMEDY = "install the version of the driver on all nodes, or in the runtime_env of ray.init"
#: Counters that one task adds up.
_JOINED = 16
#: How many repeated ids a message names.
_NAMED = 5
#: Members of groups in a file.
_FILE_ROWS = 1 << 20
#: The names of files that a report has.
_PART = re.compile(r"part-\d{5,}")


class FindResult:
    """What :func:`find` found: tables of Arrow in the process that called it."""

    def __init__(self, run: _RayRun) -> None:
        self._run = run

    @property
    def groups(self) -> pyarrow.Table:
        """A row for each document of a group, in the order of the report: ``group`` (from 1), ``id``,
        ``role``, ``keeper``, ``jaccard`` (null for keepers). Ids have the type that they have in the dataset."""
        return self._run.shown_ids(self._run.numbered().select(["group", "id", "role", "keeper", "jaccard"]))

    @property
    def pairs(self) -> pyarrow.Table:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard``.

        :raises OptionError: pairs were not asked for by ``find(…, pairs=True)``.
        """
        rows = self._run.pairs()
        return self._run.shown_ids(rows.select(["keeper", "id", "jaccard"])).rename_columns(["id_a", "id_b", "jaccard"])

    @property
    def empty(self) -> list[str]:
        """Ids of the documents without a token, ascending."""
        return sorted(note["id"] for note in self._run.noted("empty"))

    @property
    def skipped(self) -> list[dict[str, Any]]:
        """Rows that were left out by ``skip_bad``: ``id``, ``reason``."""
        return [{"id": note["id"], "reason": note["reason"]} for note in self._run.noted("skipped")]

    @property
    def counts(self) -> dict[str, int]:
        """As :attr:`lookalike.FindResult.counts`."""
        return dict(self._run.sums.counts)

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Documents, duplicates and their bytes of each value of ``source_field``, by name; none without it."""
        return [dict(source) for source in self._run.sums.sources]

    @property
    def parameters(self) -> dict[str, Any]:
        """As :attr:`lookalike.FindResult.parameters`."""
        return dict(self._run.plan.parameters)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage."""
        return dict(self._run.seconds)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        format: Literal["csv", "jsonl"] = "csv",  # noqa: A002 - as in the command line
        mode: Literal["error", "overwrite"] = "error",
    ) -> None:
        """Writes the groups as a folder of files, which appears whole. Joined in the order of their
        names, they are the bytes of ``lookalike find -o``.

        :param folder: of this machine; folders above it are created.
        :param mode: ``"error"`` refuses an existing folder; ``"overwrite"`` replaces a folder that
            an earlier call wrote.
        :raises FileError: the folder exists already, or cannot be written.
        """
        if format not in ("csv", "jsonl"):
            raise refused("format", "'csv' or 'jsonl'", format)
        _write(path_option("folder", folder), self._run.group_files(format), mode)

    def write_pairs(self, folder: str | os.PathLike[str], *, mode: Literal["error", "overwrite"] = "error") -> None:
        """Writes the pairs likewise: the bytes of ``lookalike find --pairs``.

        :param mode: as in :meth:`write`.
        """
        _write(path_option("folder", folder), self._run.pair_files(), mode)

    def __repr__(self) -> str:
        c = self._run.sums.counts
        return f"FindResult(documents={c['documents']}, groups={c['groups']}, duplicates={c['duplicates']})"


def find(
    ds: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the name of the column
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    reference: Any = None,
    pairs: bool = False,
    documents: int | None = None,
    task_memory: int | str = "2GiB",
    partitions: int = 16,
    progress: bool | Progress | None = False,
    **options: Any,
) -> FindResult:
    """Finds the near-duplicates among the rows of a Ray Dataset; groups, pairs and counts are those of
    :func:`lookalike.find` on the same documents with the same parameters.

    The dataset is read twice, so it must give the same rows each time. Labels of all documents in
    components (24 bytes each) are held by each node, members of groups by the caller.

    :param ds: documents: the columns ``text`` and ``id``, and those that ``keep`` and
        ``source_field`` name.
    :param reference: documents that are always kept, with the same columns.
    :param pairs: whether all verified pairs are listed, too.
    :param documents: how many documents are expected; bands and rows are chosen for that many.
    :param task_memory: the most that a task may take for the documents of one component.
    :param partitions: into how many parts buckets and documents are divided.
    :param progress: as in :func:`lookalike.spark.find`.
    :param options: options of :func:`lookalike.find`, but for those that are about files and about
        one machine.

    :raises OptionError: an option cannot be what was given.
    :raises DocumentError: a document cannot be used, or two have one id.
    :raises ChangedError: the dataset gave other rows when it was read again.
    """
    plan = stages.plan(text=text, id=id, threshold=threshold, recall=recall, pairs=pairs, documents=documents, **options)
    parts = whole_option("partitions", partitions, 1, 31)
    run = _RayRun(plan, ds, reference, parts, bytes_of("task_memory", task_memory))
    with task_errors(_REMEDY), reporting(progress) as run.progress:
        run.run()
    return FindResult(run)


def dedup(ds: Any, *, annotate: bool = False, **options: Any) -> Any:
    """The rows of a Ray Dataset that are no duplicates, with the columns as they are.

    :param annotate: whether all rows stay, and get the columns of :func:`lookalike.spark.dedup`.
    :param options: those of :func:`find`.
    """
    refuse_add(options)
    ray = _ray()
    _check_dataset(ds, "ds")
    import pyarrow.compute as pc

    taken = [name for name in ANNOTATIONS if annotate and name in (ds.columns() or [])]
    if taken:
        raise OptionError(f"annotate=True adds the column {taken[0]!r}, which is there; rename it first")
    run = find(ds, **options)._run
    members = run.numbered()
    # Keepers of the reference are no rows of the dataset, whatever their ids are.
    is_duplicate = pc.equal(members["role"], "duplicate")
    wanted = pc.or_(is_duplicate, pc.invert(members["reference"])) if annotate else is_duplicate
    members = members.filter(wanted).combine_chunks()
    task = SurvivorTask(run.plan, ray.put(_annotations(run, members)), annotate)
    return ds.map_batches(partial(run_task, task), batch_format="pyarrow", batch_size=None)


def _annotations(run: _RayRun, members: Any) -> Any:
    """The ids of documents of groups, as texts, and their columns of annotations."""
    import pyarrow as pa
    import pyarrow.compute as pc

    measure = run.plan.parameters["measure"]
    is_kept, none = pc.equal(members["role"], "keeper"), pa.scalar(None, pa.string())
    keepers = pa.table({"keeper": pc.if_else(is_kept, none, members["keeper"])})
    return pa.table(
        {
            "id": members["id"],
            "lookalike_kept": is_kept,
            "lookalike_group": members["group"],
            "lookalike_keeper": run.shown_ids(keepers)["keeper"],
            f"lookalike_{measure}": members[measure],
            "lookalike_group_size": pc.if_else(is_kept, members["size"], pa.scalar(None, pa.int64())),
        }
    )


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise OptionError("lookalike.ray needs Ray Data 2.50 or later: pip install 'ray[data]'") from None
    return ray


def _check_dataset(ds: object, name: str) -> None:
    """Refuses what is no dataset.

    :param name: what the dataset is called.
    :raises DocumentTypeError: it is none.
    """
    if not isinstance(ds, _ray().data.Dataset):
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


class _RayRun:
    """The stages of a run."""

    def __init__(self, plan: Plan, ds: Any, reference: Any, parts: int, task_bytes: int) -> None:
        self._ray = _ray()
        self.plan, self.parts, self._task_bytes = plan, parts, task_bytes
        _check_dataset(ds, "ds")
        if reference is not None:
            _check_dataset(reference, "reference")
        self._id_kind = _id_kind(plan.id, ds, reference)
        sides = [(ds, None)] if reference is None else [(ds, False), (reference, True)]
        self._sides = [self._mapped(side, DocumentTask(plan, is_reference)) for side, is_reference in sides]
        self.progress: Progress | None = None
        self.seconds: dict[str, float] = {}
        self.sums = RunSums(self.plan.options.get("source_field"))
        self._notes: list[str] = []
        self._decided: Any = None
        self.members: Any = None

    def run(self) -> None:
        """Runs all stages."""
        import pyarrow as pa
        import pyarrow.compute as pc

        connected = self._timed("keys", self._connect)
        self._notes = connected.notes
        self._refuse_repeated()
        labels = self._timed("components", lambda: self.labels(connected))
        engine = RayRows(self, self._ray)
        total, largest = component_sizes(engine, labels)
        large = LargeComponents(engine, self.plan, self._task_bytes) if largest > self._task_bytes else None
        if large is not None:
            labels = self._timed("divide", lambda: large.divide(labels))
            total, _ = component_sizes(engine, labels)
        self._decided = self._timed("decide", lambda: self._decide(labels))
        self.sums.add_notes(self._notes)
        self.sums.add_notes(_of_kind(self._decided, "note")["note"].to_pylist())
        self.sums.check_decided(total)
        others = self._timed("rounds", large.decide) if large is not None and large.undivided else None
        if others is not None:
            self._decided = pa.concat_tables([self._decided, others.rows])
            for note in others.notes:
                self.sums.add(note.get("counts"), note.get("source"))
        members = self._decided.filter(pc.equal(self._decided["kind"], "member"))
        self.members = members.sort_by(list(MEMBER_ORDER))
        self.sums.warn_of_idle_rules(stages.keep_rules(self.plan.options))

    def numbered(self) -> Any:
        """Members of groups with ``group``, in the order of the report."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = self.members
        is_keeper = pc.cast(pc.equal(rows["role"], "keeper"), pa.int64())
        numbers = pc.cumulative_sum(is_keeper) if rows.num_rows else pa.array([], pa.int64())
        return rows.append_column("group", numbers)

    def shown_ids(self, rows: Any) -> Any:
        """Rows with the ids in the type that they have in the dataset."""
        if self._id_kind is None:
            return rows
        for at, name in enumerate(rows.column_names):
            if name in ("id", "keeper"):
                rows = rows.set_column(at, name, rows[name].cast(self._id_kind))
        return rows

    def _timed(self, stage: str, work: Callable[[], _T]) -> _T:
        with timed(stage, self.seconds, self.progress):
            return work()

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
        return shuffled(self._ray, tables, column, self.parts, task, columns)

    def _connect(self) -> ConnectedBlocks:
        counters = self.counters(self._sides) if self.plan.is_counted else None
        return self.connected(self._sides, counters)

    def connected(self, sides: list[Any], counters: Any) -> ConnectedBlocks:
        """The edges, identities and notes of documents.

        :param counters: how often shingles occur, where keys are rare shingles.
        """
        blocks = self._all_mapped(sides, KeyTask(self.plan, self.parts, counters))
        probed = counters is not None and self.plan.is_probed
        task = ConnectTask(self.parts, probed)
        return self._summed(self._shuffled(blocks.to_arrow_refs(), "part", task, stages.BLOCKS))

    def _summed(self, tables: list[Any]) -> ConnectedBlocks:
        """Blocks in the object store, with their notes here."""
        sums = self._ray.get(each(self._ray, tables, summary))
        return ConnectedBlocks(tables, sum(size for size, _ in sums), [note for _, notes in sums for note in notes])

    def labels(self, connected: ConnectedBlocks) -> Any:
        """The documents of components."""
        if connected.size <= edge_limit(self._task_bytes):
            return self._ray.get(self._ray.remote(_labels).remote(self.parts, *connected.tables))

        def run(tables: list[Any], step: StarStep) -> list[Any]:
            return self._shuffled(tables, "part", BatchTask(StarTask(self.parts, step), stages.BLOCKS), stages.BLOCKS)

        edges = star_rounds(
            connected.tables, run, lambda _, make: make(), lambda tables: self._summed(tables).notes
        )
        tables = each(self._ray, edges, KindTask("edges")) + each(self._ray, connected.tables, KindTask("identities"))
        return self._table(self._shuffled(tables, "part", PartLabelTask(), stages.LABELS), stages.LABELS)

    def counters(self, sides: list[Any]) -> Any:
        """How often shingles occur, about, in the object store."""
        counted = self._all_mapped(sides, CountTask(self.plan)).to_arrow_refs()
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

    def _decide(self, labels: Any) -> Any:
        documents = self.labelled_documents(labels)
        return self.grouped(documents, BIN, DecideTask(self.plan), stages.DECIDED)

    def noted(self, kind: str) -> list[Any]:
        """Notes of a kind."""
        return [note[kind] for note in map(json.loads, self._notes) if kind in note]

    def _refuse_repeated(self) -> None:
        """Refuses documents with one id."""
        import pyarrow as pa
        import pyarrow.compute as pc

        nodes = pa.array([int(node) for node in self.noted("repeated")], pa.int64())
        if not len(nodes):
            return
        named: list[str] = []
        for side in self._sides:
            tables = [
                table.filter(pc.is_in(table["node"], value_set=nodes)).select([self.plan.id])
                for table in self._ray.get(side.to_arrow_refs()) if table.num_rows
            ]
            if tables:
                rows = pc.value_counts(pa.concat_tables(tables)[self.plan.id]).to_pylist()
                named += [f"{row['values']!r} ({row['counts']} rows)" for row in rows if row["counts"] > 1]
        if named:
            more = " and others" if len(named) > _NAMED else ""
            raise DocumentError(
                f"ids must be unique, these are those of several documents: {', '.join(sorted(named)[:_NAMED])}{more}; "
                "name another column, or leave one row of each"
            )

    def pairs(self) -> Any:
        """Verified pairs in order."""
        if not self.plan.options.get("pairs"):
            raise OptionError("pairs were not asked for: find(…, pairs=True)")
        return _of_kind(self._decided, "pair").sort_by(list(PAIR_ORDER))

    def group_files(self, form: Literal["csv", "jsonl"]) -> Iterator[bytes]:
        """The bytes of the files of groups."""
        import pyarrow.compute as pc

        rows, first = self.members, 1
        starts = [at for at, role in enumerate(rows["role"].to_pylist()) if role == "keeper"]
        start = 0
        while start < rows.num_rows or start == 0:
            # Whole groups: a file ends before the keeper that is behind its last row.
            place = bisect_left(starts, start + _FILE_ROWS)
            end = starts[place] if place < len(starts) else rows.num_rows
            some = rows.slice(start, end - start)
            yield stages.group_lines(self.plan, some, first=first, header=form == "csv" and start == 0, format=form)
            first += pc.sum(pc.equal(some["role"], "keeper")).as_py() or 0
            if end == rows.num_rows:
                return
            start = end

    def pair_files(self) -> Iterator[bytes]:
        """The bytes of the files of pairs."""
        rows = self.pairs()
        for start in range(0, max(rows.num_rows, 1), _FILE_ROWS):
            yield stages.pair_lines(self.plan, rows.slice(start, _FILE_ROWS), header=start == 0)


def _labels(parts: int, *tables: Any) -> Any:
    """The documents of components, by one task."""
    import pyarrow as pa

    there = [table for table in tables if table.num_rows]
    return LabelTask(parts)(pa.concat_tables(there) if there else stages.empty_table(stages.BLOCKS))


def _total(*tables: Any) -> Any:
    """Adds counters of shingles up."""
    import pyarrow as pa

    there = [table for table in tables if table.num_rows]
    return run_task(TotalTask(), pa.concat_tables(there)) if there else tables[0]


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
    :raises FileError: it is there, or cannot be written.
    """
    if mode not in ("error", "overwrite"):
        raise refused("mode", "'error' or 'overwrite'", mode)
    place = Path(folder).absolute()
    try:
        if place.exists() and mode == "error":
            raise FileError(f"{folder} is there already; name another output, or remove it first")
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
        made = Path(temporary) / "files"
        made.mkdir()
        for number, lines in enumerate(files):
            with (made / f"part-{number:05}").open("wb") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        if place.exists():
            place.rename(Path(temporary) / "before")
        made.rename(place)
