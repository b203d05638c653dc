"""``find`` and ``dedup`` of a Spark DataFrame."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from lookalike import stages
from lookalike._divided.run_sums import NODE_SUM_RANGE, RunSums, bytes_of, timed
from lookalike._divided.large_components import LargeComponents, component_sizes
from lookalike._options import path_option, refuse_add, refused, whole_option
from lookalike._progress import Progress, reporting
from lookalike._divided.stage_tasks import MEMBER_ORDER, PAIR_ORDER, RowOrder
from lookalike._divided.task_errors import file_errors, task_errors
from lookalike.errors import ChangedError, DamagedError, DocumentError, DocumentTypeError, OptionError
from lookalike.spark._checkpoint import Checkpoint
from lookalike.spark._columns import check_frame, column, literal_row, refuse_annotations
from lookalike.spark._connect import connected, labelled, shingle_counters
from lookalike.spark._large import SparkRows
from lookalike.spark._order import OrderedRows, offsets_of
from lookalike.spark._tables import check_writable, refuse_existing, write_lines
from lookalike.spark._tasks import DecideTask, LineTask, NumberTask, OneFileTask, UnsortedDecideTask
from lookalike.spark._worker import map_rows
from lookalike.stages import DECIDED, Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["REMEDY", "FindResult", "dedup", "find", "mode_option", "release", "survivors"]

_T = TypeVar("_T")

#: Says when stages begin and end.
_LOG = logging.getLogger("lookalike.spark")
#: Documents of components up to which their nodes are sent to all executors.
_BROADCAST = 10_000_000
#: Nodes of several documents whose ids are compared.
_COMPARED = 1_000_000
#: How many repeated ids a message names.
_NAMED = 5
#: Where a worker has no lookalike.
REMEDY = "install the version of the driver on all workers, or name the workers' interpreter by PYSPARK_PYTHON"
#: The order of groups whose rows are divided into ranges, and columns by which pairs are divided.
_REPORT_ORDER = (("range", "ascending"), *MEMBER_ORDER)
_PAIR_RANGES = ["keeper", "id"]
_LINES = "value string"
_MEMBERS = ("size", "keeper", "reference", "role", "rank", "id", "intersection", "left", "right", "jaccard", "containment")


class FindResult:
    """What :func:`find` found. The frames are computed when they are used."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    @property
    def groups(self) -> DataFrame:
        """A row for each document of a group: ``group`` (from 1), ``id``, ``role``, ``keeper``,
        ``jaccard`` (null for keepers). Ids have the type that they have in the frame."""
        id_, keeper = map(self._run.shown_id, ("id", "keeper"))
        return self._run.numbered().select("group", id_, "role", keeper, "jaccard")

    @property
    def pairs(self) -> DataFrame:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard``.

        :raises OptionError: pairs were not asked for by ``find(…, pairs=True)``.
        """
        rows = self._run.pairs()
        return rows.select(self._run.shown_id("keeper", "id_a"), self._run.shown_id("id", "id_b"), "jaccard")

    @property
    def empty(self) -> DataFrame:
        """Documents without a token: ``id``, ``same_text_as`` (the least id of those that have the
        same text, documents before the reference; null for that one, and for texts that are alone)."""
        return self._run.empty().select(*map(self._run.shown_id, ("id", "same_text_as")))

    @property
    def skipped(self) -> DataFrame:
        """Rows that were left out by ``skip_bad``: ``id``, ``reason``."""
        return self._run.skipped().select(self._run.shown_id("id"), "reason")

    @property
    def counts(self) -> dict[str, int]:
        """As :attr:`lookalike.FindResult.counts`."""
        return dict(self._run.counts)

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Documents, duplicates and their bytes of each value of ``source_field``, by name; none without it."""
        return [dict(source) for source in self._run.sources]

    @property
    def parameters(self) -> dict[str, Any]:
        """As :attr:`lookalike.FindResult.parameters`."""
        return dict(self._run.plan.parameters)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage that ran."""
        return dict(self._run.seconds)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        format: str = "csv",  # noqa: A002 - as in the command line
        mode: str = "error",
    ) -> None:
        """Writes the groups as a folder of text files. Joined in the order of their names, they are the
        bytes of ``lookalike find -o``.

        :param folder: the folder to create. Spark writes the file ``_SUCCESS`` last: a folder
            without it is left from a failed write, and you must remove it. Sail does not write this
            file, and creates no folder for a report without a line.
        :param format: ``"csv"`` or ``"jsonl"``.
        :param mode: ``"error"`` refuses an existing folder; ``"overwrite"`` replaces it, with all
            files in it.
        :raises FileError: the folder exists and ``mode`` is ``"error"``, or it cannot be written.
        """
        if format not in ("csv", "jsonl"):
            raise refused("format", "'csv' or 'jsonl'", format)
        self._run.write_groups(path_option("folder", folder), format, mode_option(mode))

    def write_pairs(self, folder: str | os.PathLike[str], *, mode: str = "error") -> None:
        """Writes the pairs likewise: the bytes of ``lookalike find --pairs``.

        :param mode: as in :meth:`write`.
        """
        self._run.write_pairs(path_option("folder", folder), mode_option(mode))

    def release(self) -> None:
        """Releases the results of the stages that the cluster keeps; the frames must not be used afterwards.
        A ``with`` block calls it at its end."""
        self._run.checkpoint.release()

    def __enter__(self) -> FindResult:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        c = self._run.counts
        return f"FindResult(documents={c['documents']}, groups={c['groups']}, duplicates={c['duplicates']})"


def find(
    df: DataFrame,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the name of the column
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    reference: DataFrame | None = None,
    pairs: bool = False,
    documents: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    task_memory: int | str = "2GiB",
    partitions: int | None = None,
    progress: bool | Progress | None = False,
    **options: Any,
) -> FindResult:
    """Finds the near-duplicates among the rows of a DataFrame; groups, pairs and counts are those of
    :func:`lookalike.find` on the same documents with the same parameters.

    The frame is read at least twice, so it must give the same rows each time: one with ``rand()`` or
    ``limit`` is written to a table first. Ids are compared as texts.

    :param df: documents: the columns ``text`` and ``id``, and those that ``keep`` and
        ``source_field`` name.
    :param reference: documents that are always kept, with the same columns.
    :param pairs: whether all verified pairs are listed, too.
    :param documents: how many documents are expected; bands and rows are chosen for that many.
    :param checkpoint: a folder for the results of stages, from which the same call goes on; without
        one the cluster keeps them as long as the session. An address such as ``s3a://b/run7`` is a text.
    :param task_memory: the most that the documents of a task may take; larger components are divided,
        and decided in rounds.
    :param partitions: into how many parts buckets and documents are divided;
        ``spark.sql.shuffle.partitions`` by default.
    :param progress: as in :func:`lookalike.find`; of each stage it is said that 0 of 1 is done when it begins, and 1 of 1 when
        it has ended.
    :param options: options of :func:`lookalike.find`, but for those that are about files and about
        one machine.

    :raises OptionError: an option cannot be what was given.
    :raises DocumentError: a document cannot be used, or two have one id.
    :raises ChangedError: the frame gave other rows when it was read again.
    """
    run = _Run(df, text, id, reference, {"threshold": threshold, "recall": recall, "pairs": pairs,
                                         "documents": documents, **options},
               checkpoint, task_memory, partitions)
    try:
        with reporting(progress) as run.progress:
            run.run()
        run.progress = None
    except BaseException:
        run.checkpoint.release()
        raise
    return FindResult(run)


def dedup(
    df: DataFrame,
    *,
    annotate: bool = False,
    **options: Any,
) -> DataFrame:
    """Returns the rows of a DataFrame that are not duplicates. The columns do not change.

    Rows that ``skip_bad`` leaves out are returned only with ``annotate``. Without ``checkpoint``,
    the cluster keeps the ids of the members of groups until :func:`release` or the end of the
    session.

    :param annotate: keeps all rows and adds columns with the result: ``lookalike_kept``,
        ``lookalike_group``, ``lookalike_keeper``, ``lookalike_jaccard`` (or
        ``lookalike_containment``, by the measure) and ``lookalike_group_size``. Their values are
        the same as in :func:`lookalike.dedup`. Rows that ``skip_bad`` leaves out have the value
        false in ``lookalike_kept``, and no keeper.
    :param options: those of :func:`find`.
    """
    refuse_add(options)
    if annotate:
        refuse_annotations(df)
    found = find(df, **options)
    try:
        rows = survivors(df, found, annotate=annotate)
    except BaseException:
        found.release()
        raise
    _KEPT[rows] = found
    return rows


#: Results in the cluster of each frame that :func:`dedup` returned.
_KEPT: WeakKeyDictionary[DataFrame, FindResult] = WeakKeyDictionary()


def release(rows: DataFrame) -> None:
    """Releases the results that the cluster keeps for a frame that :func:`dedup` returned. Do not
    use the frame afterwards.

    :raises DocumentTypeError: :func:`dedup` did not return the frame, for example because it is
        derived from such a frame; or the frame was released before.
    """
    found = _KEPT.pop(rows, None) if hasattr(rows, "sparkSession") else None
    if found is None:
        raise DocumentTypeError("rows: expected the frame that lookalike.spark.dedup gave, which was not released before")
    found.release()


def survivors(df: DataFrame, found: FindResult, *, annotate: bool) -> DataFrame:
    """Returns the result of :func:`dedup` for a frame. The caller does not use ``found``
    afterwards: the cluster keeps only the members of groups."""
    f, run = _functions(), found._run
    rows = run.numbered() if annotate else run.members().where("role = 'duplicate'")
    if run.has_reference:
        # Keepers of the reference are no rows of the frame, whatever their ids are.
        rows = rows.where("role = 'duplicate' or not reference")
    key, plan = "lookalike_id", run.plan
    while key in map(str.lower, df.columns):
        key += "_"
    decided = _annotations(run) if annotate else []
    rows = run.checkpoint.last(rows.select(f.col("id").alias(key), *decided))
    on = column(plan.id).cast("string") == f.col(key)
    is_readable = _is_readable(plan) if plan.options.get("skip_bad") else f.lit(True)
    if not annotate:
        return df.where(is_readable).join(rows, on, "left_anti")
    joined = df.join(rows, on & is_readable, "left").drop(key)
    kept = f.coalesce("lookalike_kept", is_readable)
    joined = joined.withColumn("lookalike_kept", kept)
    size = f.when(f.col("lookalike_kept"), f.coalesce("lookalike_group_size", f.lit(1).cast("long")))
    return joined.withColumn("lookalike_group_size", size)


def _annotations(run: _Run) -> list[Any]:
    """The columns of annotations of documents of groups."""
    f, measure = _functions(), run.plan.parameters["measure"]
    is_kept = f.col("role") == "keeper"
    return [
        is_kept.alias("lookalike_kept"),
        f.col("group").alias("lookalike_group"),
        f.when(~is_kept, run.shown_id("keeper")).alias("lookalike_keeper"),
        f.col(measure).alias(f"lookalike_{measure}"),
        f.when(is_kept, f.col("size")).alias("lookalike_group_size"),
    ]


def mode_option(mode: object) -> str:
    """Checks ``mode``, which decides how a write treats an existing folder."""
    if mode not in ("error", "overwrite"):
        raise refused("mode", "'error' or 'overwrite'", mode)
    return str(mode)


def _is_readable(plan: Plan) -> Any:
    """Whether a row is not one that ``skip_bad`` leaves out."""
    return column(plan.text).isNotNull() & column(plan.id).isNotNull() & (column(plan.id).cast("string") != "")


def _functions() -> Any:
    try:
        from pyspark.sql import functions
    except ImportError:
        raise OptionError("lookalike.spark needs PySpark 3.5 or later: pip install pyspark") from None
    return functions


class _Run:
    """The stages of a run."""

    def __init__(
        self,
        df: DataFrame,
        text: str,
        id_: Any,
        reference: DataFrame | None,
        options: dict[str, Any],
        checkpoint: str | os.PathLike[str] | None,
        task_memory: int | str,
        partitions: int | None,
    ) -> None:
        self._functions = _functions()
        self.plan: Plan = stages.plan(text=text, id=id_, **options)
        _check_columns(df, self.plan, "df")
        if reference is not None:
            _check_columns(reference, self.plan, "reference")
        self.spark: SparkSession = df.sparkSession
        self.parts = whole_option("partitions", partitions, 1, 31) if partitions is not None else self._default_parts()
        self._task_bytes = bytes_of("task_memory", task_memory)
        self.has_reference = reference is not None
        division = {"partitions": self.parts, "reference": self.has_reference}
        folder = None if checkpoint is None else path_option("checkpoint", checkpoint)
        self.checkpoint = Checkpoint(self.spark, folder, self.plan, division)
        kinds = {dict(_typed(frame))[self.plan.id] for frame in (df, reference) if frame is not None}
        #: The type of ids if both sides have the same, else strings.
        self._id_kind = kinds.pop() if len(kinds) == 1 else "string"
        self._docs = self._documents(df, reference)
        self.progress: Progress | None = None
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self.sources: list[dict[str, Any]] = []
        self._sums = RunSums(self.plan.options.get("source_field"))
        self._decided: DataFrame | None = None
        self._connected: DataFrame | None = None
        self._order = OrderedRows(self.spark, self.parts)
        #: How the names of the stages begin whose results depend on what was divided.
        self._stages = ""

    def shown_id(self, name: str, alias: str | None = None) -> Any:
        """A column of ids in the type of the frame."""
        return column(name).cast(self._id_kind).alias(alias or name)

    def _default_parts(self) -> int:
        try:
            return max(1, int(self.spark.conf.get("spark.sql.shuffle.partitions", "200") or 200))
        except Exception:  # noqa: BLE001 - an engine without that setting
            return 200

    def _documents(self, df: DataFrame, reference: DataFrame | None) -> DataFrame:
        f, plan = self._functions, self.plan
        columns = [column(plan.id).cast("string").alias(plan.id)]
        columns += [column(name) for name in plan.columns if name != plan.id]

        def side(frame: DataFrame, is_reference: bool) -> DataFrame:
            rows = frame.select(*columns)
            hashed = [column(plan.id)] + ([f.lit(True)] if is_reference else [])
            rows = rows.withColumn("node", _node(hashed))
            return rows.withColumn("reference", f.lit(is_reference)) if self.has_reference else rows

        docs = side(df, False)
        return docs if reference is None else docs.unionByName(side(reference, True))

    def _readable(self) -> DataFrame:
        """Documents without the rows that ``skip_bad`` leaves out, whose ids may be those of others."""
        return self._docs.where(_is_readable(self.plan)) if self.plan.options.get("skip_bad") else self._docs

    def run(self) -> None:
        """Runs all stages up to the decisions."""
        try:
            self._run_stages()
        except DamagedError as error:
            if self.checkpoint.folder is not None:
                raise
            # An engine that keeps no results, or has lost one, makes it again from the frame.
            raise ChangedError(
                f"{str(error).split(';')[0]}; without a checkpoint a stage may run again for those behind it, and it had other "
                "rows: the frame must give the same rows each time, so write it to a table first, and read that"
            ) from error

    def _run_stages(self) -> None:
        with task_errors(REMEDY), file_errors(self._file_problem()):
            check_writable(self.spark, self.checkpoint.folder, f"cannot use the checkpoint {self.checkpoint.folder}")
            self.checkpoint.begin()
            blocks = self._timed("keys", self._connect)
            self._connected = blocks
            labels, total, largest = self._timed("components", lambda: self._components(blocks))
            large = self._large() if largest > self._task_bytes else None
            if large is not None:
                labels = self._timed("divide", lambda: large.divide(labels))
                total, _ = self._sizes(labels)
                self._stages = f"large-{self._task_bytes}-"
            decided = self._timed("decide", lambda: self._decide(labels, total))
            others = self._timed("rounds", large.decide) if large is not None and large.undivided else None
            self._decided = decided if others is None else decided.where("kind <> 'note'").unionByName(others.rows)
            for note in others.notes if others is not None else ():
                self._sums.add(note.get("counts"), note.get("source"))
            self.counts, self.sources = self._sums.counts, self._sums.sources
            self._sums.warn_of_idle_rules(stages.keep_rules(self.plan.options))

    def _file_problem(self) -> str:
        """What cannot be done where a run cannot read or write a path; frames have no paths."""
        folder = self.checkpoint.folder
        return "cannot read the documents" if folder is None else f"cannot use the checkpoint {folder}, or read the documents"

    def _timed(self, stage: str, work: Callable[[], _T]) -> _T:
        _LOG.info("stage %s begins", stage, extra={"stage": stage})
        with timed(stage, self.seconds, self.progress):
            result = work()
        seconds = self.seconds[stage]
        _LOG.info("stage %s took %.1f s", stage, seconds, extra={"stage": stage, "seconds": seconds})
        return result

    def _connect(self) -> DataFrame:
        is_new = False

        def make() -> DataFrame:
            nonlocal is_new
            is_new = True
            counters = shingle_counters(self._docs, self.plan, self.parts) if self.plan.is_counted else None
            return connected(self._docs, self.plan, self.parts, counters)

        blocks = self.checkpoint.result("connected", make, lambda rows: self._refuse_repeated(_notes(self._functions, rows)))
        self._add_notes(_notes(self._functions, blocks))
        if not is_new:
            self._refuse_other_rows()
        return blocks

    def _add_notes(self, notes: DataFrame) -> None:
        for row in notes.where("counts is not null or source is not null").select("counts", "source").collect():
            self._sums.add(*(json.loads(row[name] or "null") for name in ("counts", "source")))

    def _refuse_other_rows(self) -> None:
        """Refuses a frame that has other ids than the one that a checkpoint is of."""
        f = self._functions
        row = self._docs.agg(f.count("*"), f.sum(f.pmod("node", f.lit(NODE_SUM_RANGE)))).first()
        assert row is not None
        self._sums.check_rows(row[0], row[1] or 0)

    def _components(self, blocks: DataFrame) -> tuple[DataFrame, int, int]:
        """The documents of components, how many these are, and the bytes of the largest component."""

        def stored(stage: str, make: Callable[[], DataFrame]) -> DataFrame:
            return self.checkpoint.stored(f"forest-{self._task_bytes}-{stage}", make)

        labels = self.checkpoint.result("labels", lambda: labelled(blocks, self.parts, self._task_bytes, stored))
        return labels, *self._sizes(labels)

    def _large(self) -> LargeComponents[DataFrame, DataFrame]:
        return LargeComponents(self._engine(), self.plan, self._task_bytes)

    def _engine(self) -> SparkRows:
        return SparkRows(
            self.spark, self.plan, self.parts, self._task_bytes, self.checkpoint, self._order, self._readable(), self.has_reference
        )

    def _sizes(self, labels: DataFrame) -> tuple[int, int]:
        """Documents of components, and bytes of the largest component."""
        return component_sizes(self._engine(), labels)

    def _decide(self, labels: DataFrame, total: int) -> DataFrame:
        """What was decided about the ``total`` documents of components."""
        f = self._functions

        def make() -> DataFrame:
            nodes = labels.select("node", "component", "check")
            docs = self._readable().join(f.broadcast(nodes) if total <= _BROADCAST else nodes, "node")
            docs = docs.repartition(self.parts, "component")
            if not self._order.is_sorting:
                return map_rows(docs, UnsortedDecideTask(self.plan), DECIDED)
            return map_rows(docs.sortWithinPartitions("component"), DecideTask(self.plan), DECIDED)

        decided = self.checkpoint.result(f"{self._stages}decided", make)
        self._add_notes(_notes(f, decided))
        self._sums.check_decided(total)
        return decided

    def _refuse_repeated(self, notes: DataFrame) -> None:
        """Refuses documents with one id."""
        f, plan = self._functions, self.plan
        found = notes.where("repeated is not null").select(f.col("repeated").cast("long").alias("node"))
        if not found.take(1):
            return
        keys = [column(plan.id).alias("id"), *(["reference"] if self.has_reference else [])]
        # Of very many most are no collisions.
        ids = self._readable().join(f.broadcast(found.limit(_COMPARED)), "node", "left_semi").select(*keys)
        many = ids.groupBy(*ids.columns).agg(f.count("*").alias("rows")).where("rows > 1").orderBy("id").limit(_NAMED + 1).collect()
        if many:
            named = ", ".join(f"{row['id']!r} ({row['rows']} rows)" for row in many[:_NAMED])
            more = " and others" if len(many) > _NAMED else ""
            raise DocumentError(
                f"ids must be unique, these are those of several documents: {named}{more}; name another column, or "
                f"df.dropDuplicates([{plan.id!r}]) leaves one row of each"
            )

    def members(self) -> DataFrame:
        """Documents of groups, in any order."""
        assert self._decided is not None
        return self._decided.where("kind = 'member'").select(*_MEMBERS)

    def numbered(self) -> DataFrame:
        """Documents of groups in the order of the report, with ``group``."""
        rows, offsets = self._ranges()
        schema = f"{_schema(rows)}, group long"
        return self._order.mapped(rows, ["range"], _REPORT_ORDER, NumberTask(offsets), schema)

    def _ranges(self) -> tuple[DataFrame, dict[int, int]]:
        """Documents of groups with the ranges that they are in, and the groups before each range."""
        f = self._functions

        def make() -> DataFrame:
            # Size, keeper and side tell a group from others.
            return self._order.divided(self.members(), MEMBER_ORDER[:3])

        rows = self.checkpoint.result(f"{self._stages}members", make)
        keepers = rows.where("role = 'keeper'").groupBy("range").agg(f.count("*").alias("keepers")).collect()
        offsets = offsets_of({int(row["range"]): int(row["keepers"]) for row in keepers})
        return rows, offsets

    def pairs(self) -> DataFrame:
        """Verified pairs in the order of the report."""
        rows = self._pairs()
        return self._order.sorted(rows, _PAIR_RANGES, PAIR_ORDER, _schema(rows))

    def _pairs(self) -> DataFrame:
        if not self.plan.options.get("pairs"):
            raise OptionError("pairs were not asked for: find(…, pairs=True)")
        assert self._decided is not None
        return self._decided.where("kind = 'pair'").select("keeper", "id", "intersection", "left", "right", "jaccard")

    def empty(self) -> DataFrame:
        """Documents without a token."""
        f = self._functions
        assert self._connected is not None
        notes = _notes(f, self._connected).where("empty is not null").select("empty")
        rows = notes.select(*(f.get_json_object("empty", f"$.{name}").alias(name) for name in ("id", "reference", "content")))
        # A document comes before one of the reference, which may have its id.
        side = f.when(f.col("reference") == "true", f.lit("r")).otherwise(f.lit("d"))
        rows = rows.select("id", "content", f.concat(side, "id").alias("document"))
        first = rows.where("content is not null").groupBy("content").agg(f.min("document").alias("first"))
        rows = rows.join(first, "content", "left")
        same = f.when(f.col("first") != f.col("document"), f.expr("substring(first, 2)"))
        return rows.select("id", same.alias("same_text_as"))

    def skipped(self) -> DataFrame:
        """Rows that were left out."""
        f = self._functions
        assert self._connected is not None
        notes = _notes(f, self._connected).where("skipped is not null").select("skipped")
        return notes.select(f.get_json_object("skipped", "$.id").alias("id"), f.get_json_object("skipped", "$.reason").alias("reason"))

    def write_groups(self, folder: str, form: str, mode: str) -> None:
        """Writes the files of the groups."""
        with task_errors(REMEDY):
            if mode == "error":
                refuse_existing(self.spark, folder, "files")
            rows, offsets = self._ranges()
            header = stages.group_lines(self.plan, _nothing(), header=True).decode() if form == "csv" else ""
            task = LineTask(self.plan, form, offsets)
            self._write(rows, ["range"], _REPORT_ORDER, task, header.rstrip("\n"), folder, mode)

    def write_pairs(self, folder: str, mode: str) -> None:
        """Writes the files of the pairs."""
        with task_errors(REMEDY):
            if mode == "error":
                refuse_existing(self.spark, folder, "files")
            header = stages.pair_lines(self.plan, _nothing(), header=True).decode()
            self._write(self._pairs(), _PAIR_RANGES, PAIR_ORDER, LineTask(self.plan), header.rstrip("\n"), folder, mode)

    def _write(
        self, rows: DataFrame, ranges: list[str], order: RowOrder, task: LineTask, header: str, folder: str, mode: str
    ) -> None:
        if not self._order.is_sorting:
            lines = self._order.mapped(rows, ranges, order, OneFileTask(task, header), _LINES)
            write_lines(lines, folder, mode)
            return
        lines = self._order.mapped(rows, ranges, order, task, _LINES)
        if header:
            # A union keeps the order of its sides, and of the partitions of each.
            lines = literal_row(self.spark, value=header).union(lines)
        write_lines(lines, folder, mode)


def _node(columns: list[Any]) -> Any:
    """The node of a document; it may be that of another one, too."""
    return _functions().xxhash64(*columns)


def _nothing() -> Any:
    import pyarrow as pa

    texts, numbers = pa.array([], pa.string()), pa.array([], pa.int64())
    return pa.table({"keeper": texts, "role": texts, "id": texts, "reference": pa.array([], pa.bool_()),
                     "intersection": numbers, "left": numbers, "right": numbers})


def _typed(frame: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]


def _schema(frame: DataFrame) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in _typed(frame))


def _notes(functions: Any, frame: DataFrame) -> DataFrame:
    """Notes, a column for each kind."""
    notes = frame.where("kind = 'note'").select("note")
    kinds = ("counts", "source", "repeated", "empty", "skipped")
    return notes.select(*(functions.get_json_object("note", f"$.{kind}").alias(kind) for kind in kinds))


_WHOLE = ("tinyint", "smallint", "int", "bigint")
#: How the names of types begin whose values no rule compares.
_UNORDERED = ("binary", "array", "map", "struct", "variant", "interval")


def _check_columns(frame: DataFrame, plan: Plan, name: str) -> None:
    """Refuses a frame without the columns of the plan, or with others of these names.

    :param name: what the frame is called.
    :raises DocumentError: it is one, or no frame.
    """
    check_frame(frame, name)
    kinds = dict(_typed(frame))
    for column in plan.columns:
        if column not in kinds:
            raise DocumentError(f"{name} has no column {column!r}; there are {', '.join(kinds) or 'none'}")
        if (count := frame.columns.count(column)) > 1:
            raise DocumentError(f"{name} has {count} columns {column!r}; rename all but one of them, or leave them out")
        alike = [other for other in frame.columns if other.lower() == column.lower()]
        if len(alike) > 1 and not _tells_case(frame):
            raise DocumentError(
                f"{name} has the columns {', '.join(map(repr, alike))}, which Spark takes for one; rename all but one of them, "
                "or leave them out"
            )
    if kinds[plan.text] != "string":
        raise _wrong_type(name, plan.text, kinds[plan.text], "string")
    if kinds[plan.id] not in ("string", *_WHOLE):
        raise _wrong_type(name, plan.id, kinds[plan.id], "string or whole numbers")
    for field in plan.fields:
        if kinds[field].startswith(_UNORDERED):
            raise _wrong_type(name, field, kinds[field], "string, numbers, booleans, dates or times")


def _tells_case(frame: DataFrame) -> bool:
    """Whether the session tells names apart by case."""
    return str(frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"


def _wrong_type(name: str, column: str, got: str, expected: str) -> DocumentTypeError:
    return DocumentTypeError(
        f"{name}: the column {column!r} is {got}, expected {expected}; "
        f"{name}.withColumn({column!r}, {name}[{column!r}].cast('string')) makes texts of it"
    )
