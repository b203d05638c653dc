"""The stages of a run on Spark, and the frames of its results."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lookalike import stages
from lookalike._divided.run import MOST_NAMED_IDS, DividedRun
from lookalike._divided.run_sums import NODE_SUM_RANGE, SOURCES, bytes_of
from lookalike._divided.stage_tasks import MEMBER_ORDER, PAIR_ORDER, RowOrder, UnsortedDecideTask
from lookalike._divided.survivors import is_own_member, member_columns, row_columns
from lookalike._divided.task_errors import file_errors, task_errors
from lookalike._options import path_option, whole_option
from lookalike.errors import (
    ChangedError,
    DamagedError,
    DocumentError,
    DocumentTypeError,
    OptionError,
)
from lookalike.spark._checkpoint import Checkpoint
from lookalike.spark._columns import check_frame, column, literal_row
from lookalike.spark._connect import connect_documents, label_components, shingle_counters
from lookalike.spark._large import SparkRows
from lookalike.spark._order import OrderedRows, offsets_of
from lookalike.spark._tables import check_writable, refuse_existing, write_lines
from lookalike.spark._tasks import DecideTask, LineTask, NumberTask, OneFileTask
from lookalike.spark._worker import map_rows
from lookalike.stages import DECIDED, Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# If components have at most this many documents in all, their nodes are sent to all executors.
_BROADCAST = 10_000_000
# The most nodes of several documents whose ids are compared, to find repeated ids.
_COMPARED = 1_000_000
REMEDY = (
    "install the version of the driver on all workers, or name the workers' interpreter by "
    "PYSPARK_PYTHON"
)
"""The remedy if a worker has no lookalike, another version, or no pyarrow."""
# The order of the rows of groups after their division into ranges.
_REPORT_ORDER = (("range", "ascending"), *MEMBER_ORDER)
_PAIR_RANGES = ["keeper", "id"]
_LINES = "value string"
_MEMBERS = (
    "size",
    "keeper",
    "reference",
    "role",
    "rank",
    "id",
    "intersection",
    "left",
    "right",
    "jaccard",
    "containment",
)


def _is_readable(plan: Plan) -> Any:
    """Returns the condition that a row is readable: ``skip_bad`` does not leave it out."""
    return (
        column(plan.text).isNotNull()
        & column(plan.id).isNotNull()
        & (column(plan.id).cast("string") != "")
    )


def functions_module() -> Any:
    try:
        from pyspark.sql import functions
    except ImportError:
        raise OptionError(
            "lookalike.spark needs PySpark 3.5 or later: pip install pyspark"
        ) from None
    return functions


class SparkRun(DividedRun["DataFrame", "DataFrame", "DataFrame"]):
    """A run on Spark. Rows are data frames, which Spark computes when they are used."""

    def __init__(
        self,
        df: DataFrame,
        reference: DataFrame | None,
        plan: Plan,
        checkpoint: str | os.PathLike[str] | None,
        task_memory: int | str,
        partitions: int | None,
    ) -> None:
        self.functions = functions_module()
        _check_columns(df, plan, "df")
        if reference is not None:
            _check_columns(reference, plan, "reference")
        self.spark: SparkSession = df.sparkSession
        parts = (
            whole_option("partitions", partitions, 1, 31)
            if partitions is not None
            else self._default_parts()
        )
        super().__init__(
            plan, parts, bytes_of("task_memory", task_memory), logging.getLogger("lookalike.spark")
        )
        self.has_reference = reference is not None
        division = {"partitions": self.parts, "reference": self.has_reference}
        folder = None if checkpoint is None else path_option("checkpoint", checkpoint)
        self.checkpoint = Checkpoint(self.spark, folder, plan, division)
        kinds = {dict(_typed(frame))[plan.id] for frame in (df, reference) if frame is not None}
        # The type of the ids if it is the same on both sides, else string.
        self._id_kind = kinds.pop() if len(kinds) == 1 else "string"
        # All documents, with ``node``, and with ``reference`` if there is a reference collection.
        self.documents = self._documents(df, reference)
        self._order = OrderedRows(self.spark, self.parts)
        # The prefix of the names of stages whose results depend on the division of components.
        self._stages = ""

    def _id_column(self, name: str, alias: str | None = None) -> Any:
        """Returns a column of ids in the type of the ids of the frame."""
        return column(name).cast(self._id_kind).alias(alias or name)

    def _default_parts(self) -> int:
        try:
            return max(1, int(self.spark.conf.get("spark.sql.shuffle.partitions", "200") or 200))
        except Exception:
            return 200

    def _documents(self, df: DataFrame, reference: DataFrame | None) -> DataFrame:
        f, plan = self.functions, self.plan
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
        """Returns the documents without the rows that ``skip_bad`` leaves out. The ids of such
        rows may repeat ids of other rows.
        """
        return (
            self.documents.where(_is_readable(self.plan))
            if self.plan.options.get("skip_bad")
            else self.documents
        )

    def run(self) -> None:
        """Runs all stages."""
        try:
            with task_errors(REMEDY), file_errors(self._file_problem()):
                check_writable(
                    self.spark,
                    self.checkpoint.folder,
                    f"cannot use the checkpoint {self.checkpoint.folder}",
                )
                self.checkpoint.begin()
                self.run_stages()
        except DamagedError as error:
            if self.checkpoint.folder is not None:
                raise
            # The engine does not keep results in the cluster, but computes them again from the
            # frame.
            raise ChangedError(
                f"{str(error).split(';')[0]}; without a checkpoint a stage may run again for later "
                "stages, and this one had other rows: the frame must return the same rows each "
                "time, so write it to a table first, and read the table"
            ) from error

    def _file_problem(self) -> str:
        """Returns the failed action for errors about a path. A frame has no known path."""
        folder = self.checkpoint.folder
        return (
            "cannot read the documents"
            if folder is None
            else f"cannot use the checkpoint {folder}, or read the documents"
        )

    def connect(self) -> DataFrame:
        is_new = False

        def make() -> DataFrame:
            nonlocal is_new
            is_new = True
            counters = (
                shingle_counters(self.documents, self.plan, self.parts)
                if self.plan.is_counted
                else None
            )
            return connect_documents(self.documents, self.plan, self.parts, counters)

        blocks = self.checkpoint.result(
            "connected", make, lambda rows: self._check_ids(_notes(self.functions, rows))
        )
        self._add_notes(_notes(self.functions, blocks))
        if not is_new:
            self._refuse_other_rows()
        # The edges, identities and notes of all documents.
        self.blocks = blocks
        return blocks

    def _add_notes(self, notes: DataFrame) -> None:
        for row in (
            notes.where("counts is not null or source is not null")
            .select("counts", "source")
            .collect()
        ):
            self.sums.add(*(json.loads(row[name] or "null") for name in ("counts", "source")))

    def _refuse_other_rows(self) -> None:
        """Rejects a frame whose ids differ from the ids of the frame in the checkpoint."""
        f = self.functions
        row = self.documents.agg(f.count("*"), f.sum(f.pmod("node", f.lit(NODE_SUM_RANGE)))).first()
        assert row is not None
        self.sums.check_rows(row[0], row[1] or 0)

    def components(self, blocks: DataFrame) -> DataFrame:
        def stored(stage: str, make: Callable[[], DataFrame]) -> DataFrame:
            return self.checkpoint.stored(f"forest-{self.task_bytes}-{stage}", make)

        return self.checkpoint.result(
            "labels", lambda: label_components(blocks, self.parts, self.task_bytes, stored)
        )

    def row_operations(self) -> SparkRows:
        return SparkRows(
            self.spark,
            self.plan,
            self.parts,
            self.task_bytes,
            self.checkpoint,
            self._order,
            self._readable(),
            self.has_reference,
        )

    def decide(self, labels: DataFrame, total: int, is_divided: bool) -> DataFrame:
        f = self.functions
        self._stages = f"large-{self.task_bytes}-" if is_divided else ""

        def make() -> DataFrame:
            nodes = labels.select("node", "component", "check")
            docs = self._readable().join(
                f.broadcast(nodes) if total <= _BROADCAST else nodes, "node"
            )
            docs = docs.repartition(self.parts, "component")
            if not self._order.is_sorting:
                return map_rows(docs, UnsortedDecideTask(self.plan), DECIDED)
            return map_rows(docs.sortWithinPartitions("component"), DecideTask(self.plan), DECIDED)

        decided = self.checkpoint.result(f"{self._stages}decided", make)
        self._add_notes(_notes(f, decided))
        return decided

    def _check_ids(self, notes: DataFrame) -> None:
        """Rejects documents with the same id. Compares the ids of documents that share a node."""
        f, plan = self.functions, self.plan
        nodes = notes.where("repeated is not null").select(
            f.col("repeated").cast("long").alias("node")
        )
        if not nodes.take(1):
            return
        keys = [column(plan.id).alias("id"), *(["reference"] if self.has_reference else [])]
        # If very many nodes have several documents, most of them have repeated ids, and some of
        # these suffice for the message.
        ids = (
            self._readable()
            .join(f.broadcast(nodes.limit(_COMPARED)), "node", "left_semi")
            .select(*keys)
        )
        counts = ids.groupBy(*ids.columns).agg(f.count("*").alias("rows")).where("rows > 1")
        repeated = counts.orderBy("id").limit(MOST_NAMED_IDS + 1).collect()
        remedy = f"df.dropDuplicates([{plan.id!r}]) leaves one row of each"
        self.refuse_repeated([(row["id"], row["rows"]) for row in repeated], remedy)

    def members(self) -> DataFrame:
        """Returns the members of groups, in any order."""
        return self.decided.where("kind = 'member'").select(*_MEMBERS)

    def numbered(self) -> DataFrame:
        """Returns the members of groups in the order of the report, with ``group``, the number of
        the group.
        """
        rows, offsets = self._ranges()
        schema = f"{_schema(rows)}, group long"
        return self._order.mapped(rows, ["range"], _REPORT_ORDER, NumberTask(offsets), schema)

    def _ranges(self) -> tuple[DataFrame, dict[int, int]]:
        """Returns the members of groups with their ranges, and for each range the number of groups
        before it.
        """
        f = self.functions

        def make() -> DataFrame:
            # Divide by size, keeper and reference, so that the members of a group are in one
            # range.
            return self._order.divided(self.members(), MEMBER_ORDER[:3])

        rows = self.checkpoint.result(f"{self._stages}members", make)
        keepers = (
            rows.where("role = 'keeper'")
            .groupBy("range")
            .agg(f.count("*").alias("keepers"))
            .collect()
        )
        offsets = offsets_of({int(row["range"]): int(row["keepers"]) for row in keepers})
        return rows, offsets

    def keeper_column(self) -> Any:
        """Returns the column of keepers, in the type of the ids of the frame."""
        return self._id_column("keeper")

    def groups(self) -> DataFrame:
        id_, keeper = map(self._id_column, ("id", "keeper"))
        return self.numbered().select("group", id_, "role", keeper, *self.similarities)

    def member_rows(self) -> Iterator[tuple[int, Any, Any, Any]]:
        # Reads one partition at a time.
        rows = self.groups().select("group", "id", "keeper", self.similarities[-1])
        with task_errors(REMEDY):
            yield from rows.toLocalIterator()

    def pairs(self) -> DataFrame:
        rows = self.verified_pairs()
        rows = self._order.sorted(rows, _PAIR_RANGES, PAIR_ORDER, _schema(rows))
        return rows.select(
            self._id_column("keeper", "id_a"), self._id_column("id", "id_b"), *self.similarities
        )

    def verified_pairs(self) -> DataFrame:
        """Returns the verified pairs, in any order."""
        return self.decided.where("kind = 'pair'").select(
            "keeper", "id", "intersection", "left", "right", *self.similarities
        )

    def empty(self) -> DataFrame:
        """Returns the documents without a token."""
        f = self.functions
        notes = _notes(f, self.blocks).where("empty is not null").select("empty")
        rows = notes.select(
            *(
                f.get_json_object("empty", f"$.{name}").alias(name)
                for name in ("id", "reference", "content")
            )
        )
        # A document precedes all reference documents, which may have the same id.
        side = f.when(f.col("reference") == "true", f.lit("r")).otherwise(f.lit("d"))
        rows = rows.select("id", "content", f.concat(side, "id").alias("document"))
        first = (
            rows.where("content is not null")
            .groupBy("content")
            .agg(f.min("document").alias("first"))
        )
        rows = rows.join(first, "content", "left")
        equal_id = f.when(f.col("first") != f.col("document"), f.expr("substring(first, 2)"))
        return rows.select(
            self._id_column("id"), equal_id.cast(self._id_kind).alias("same_text_as")
        )

    def skipped(self) -> DataFrame:
        """Returns the rows that ``skip_bad`` left out."""
        f = self.functions
        notes = _notes(f, self.blocks).where("skipped is not null").select("skipped")
        id_, reason = (f.get_json_object("skipped", f"$.{name}") for name in ("id", "reason"))
        return notes.select(id_.cast(self._id_kind).alias("id"), reason.alias("reason"))

    def sources(self) -> DataFrame:
        rows = [tuple(source.values()) for source in self.sums.sources]
        return self.spark.createDataFrame(rows, SOURCES)

    def write_groups(self, folder: str, form: str, mode: str) -> None:
        with task_errors(REMEDY):
            if mode == "error":
                refuse_existing(self.spark, folder, "files")
            rows, offsets = self._ranges()
            header = (
                stages.group_lines(self.plan, _no_members(), header=True).decode()
                if form == "csv"
                else ""
            )
            task = LineTask(self.plan, form, offsets)
            self._write(rows, ["range"], _REPORT_ORDER, task, header.rstrip("\n"), folder, mode)

    def write_pairs(self, folder: str, mode: str) -> None:
        with task_errors(REMEDY):
            if mode == "error":
                refuse_existing(self.spark, folder, "files")
            header = stages.pair_lines(self.plan, _no_members(), header=True).decode()
            self._write(
                self.verified_pairs(),
                _PAIR_RANGES,
                PAIR_ORDER,
                LineTask(self.plan),
                header.rstrip("\n"),
                folder,
                mode,
            )

    def _write(
        self,
        rows: DataFrame,
        ranges: list[str],
        order: RowOrder,
        task: LineTask,
        header: str,
        folder: str,
        mode: str,
    ) -> None:
        if not self._order.is_sorting:
            lines = self._order.mapped(rows, ranges, order, OneFileTask(task, header), _LINES)
            write_lines(lines, folder, mode)
            return
        lines = self._order.mapped(rows, ranges, order, task, _LINES)
        if header:
            # A union keeps the order of its two sides, and of the partitions of each side.
            lines = literal_row(self.spark, value=header).union(lines)
        write_lines(lines, folder, mode)


def survivors(df: DataFrame, run: SparkRun, *, annotate: bool) -> DataFrame:
    """Returns the result of ``lookalike.spark.dedup`` for a frame.

    Without a checkpoint, releases all other results of the run except the results of rounds. The
    cluster keeps only the duplicates, or with ``annotate`` the members of groups. The caller must
    not use the results of the run afterwards.

    Args:
        df: The frame of the run, which may have further columns.
        run: The run.
        annotate: Whether to return all rows with annotations.
    """
    f, plan = run.functions, run.plan
    key = "lookalike_id"
    while key in map(str.lower, df.columns):
        key += "_"
    on = column(plan.id).cast("string") == f.col(key)
    is_readable = _is_readable(plan) if plan.options.get("skip_bad") else f.lit(True)
    if not annotate:
        duplicates = run.members().where("role = 'duplicate'").select(f.col("id").alias(key))
        return df.where(is_readable).join(run.checkpoint.last(duplicates), on, "left_anti")
    columns = member_columns(f, plan.parameters["measure"], run.keeper_column())
    members = run.numbered().where(is_own_member(f))
    members = members.select(
        f.col("id").alias(key), *(value.alias(name) for name, value in columns.items())
    )
    rows = df.join(run.checkpoint.last(members), on & is_readable, "left").drop(key)
    for name, value in row_columns(f, is_readable).items():
        rows = rows.withColumn(name, value)
    return rows


def _node(columns: list[Any]) -> Any:
    """Returns the expression of the node of a document. Several documents may share a node."""
    return functions_module().xxhash64(*columns)


def _no_members() -> Any:
    import pyarrow as pa

    texts, numbers = pa.array([], pa.string()), pa.array([], pa.int64())
    return pa.table(
        {
            "keeper": texts,
            "role": texts,
            "id": texts,
            "reference": pa.array([], pa.bool_()),
            "intersection": numbers,
            "left": numbers,
            "right": numbers,
        }
    )


def _typed(frame: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]


def _schema(frame: DataFrame) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in _typed(frame))


def _notes(functions: Any, frame: DataFrame) -> DataFrame:
    """Returns the notes of a frame, with a column for each kind of note."""
    notes = frame.where("kind = 'note'").select("note")
    kinds = ("counts", "source", "repeated", "empty", "skipped")
    return notes.select(
        *(functions.get_json_object("note", f"$.{kind}").alias(kind) for kind in kinds)
    )


_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
# The prefixes of the names of types whose values keep rules cannot compare.
_UNORDERED = ("binary", "array", "map", "struct", "variant", "interval")


def _check_columns(frame: DataFrame, plan: Plan, name: str) -> None:
    """Checks that a frame has each column of the plan exactly once, in a type that the run can
    use.

    Args:
        frame: The frame.
        plan: The plan of the run.
        name: The name of the argument, for messages.

    Raises:
        DocumentError: A column is missing, or several columns have its name.
        DocumentTypeError: The value is not a frame, or a column has another type.
    """
    check_frame(frame, name)
    kinds = dict(_typed(frame))
    for required in plan.columns:
        if required not in kinds:
            raise DocumentError(
                f"{name} has no column {required!r}; there are {', '.join(kinds) or 'none'}"
            )
        if (count := frame.columns.count(required)) > 1:
            raise DocumentError(
                f"{name} has {count} columns {required!r}; rename all but one of them, or leave "
                "them out"
            )
        alike = [other for other in frame.columns if other.lower() == required.lower()]
        if len(alike) > 1 and not _tells_case(frame):
            raise DocumentError(
                f"{name} has the columns {', '.join(map(repr, alike))}, which Spark takes for one; "
                "rename all but one of them, or leave them out"
            )
    if kinds[plan.text] != "string":
        raise _wrong_type(name, plan.text, kinds[plan.text], "string")
    if kinds[plan.id] not in ("string", *_WHOLE_NUMBERS):
        raise _wrong_type(name, plan.id, kinds[plan.id], "string or whole numbers")
    for field in plan.fields:
        if kinds[field].startswith(_UNORDERED):
            raise _wrong_type(
                name, field, kinds[field], "string, numbers, booleans, dates or times"
            )


def _tells_case(frame: DataFrame) -> bool:
    """Returns true if the session distinguishes names of columns by case."""
    return str(frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"


def _wrong_type(name: str, column: str, kind: str, expected: str) -> DocumentTypeError:
    return DocumentTypeError(
        f"{name}: the column {column!r} is {kind}, expected {expected}; "
        f"{name}.withColumn({column!r}, {name}[{column!r}].cast('string')) makes texts of it"
    )
