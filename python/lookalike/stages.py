"""The stages of ``lookalike.find`` for documents that are divided over tasks.

Cluster software moves rows between tasks, and the functions of this module decide about documents.
They read and return Arrow batches, and import no cluster software. The result of a function
depends only on its arguments, so a failed task can run again. The stages, in order, with their
rows:

    plan                                     Once.
    count     documents  → counters          If Plan.is_counted. Then total.
    keys      documents  → blocks            A task for each piece of the collection.
    connect   blocks     → edges, identities A task for each part (rows with equal part).
    merge     edges      → edges             16 parts to a task, until one task is left.
    stars     edges      → edges             Instead of merge, if one task cannot hold all
                                             edges. Rounds of three steps, a task for each part.
    label     edges and identities → nodes of components       A task for each part.
    decide    documents of components → members, pairs, notes  Whole components to a task, sorted.
                                             decide_unsorted: in any order.
    group_lines, pair_lines   sorted rows → the bytes of the reports

If a component is too large for a task, its documents receive other keys: their rarest shingles. If
these keys do not divide the component into parts that fit, its documents are decided in rounds
over the keep order:

    count     documents  → counters          A task for each piece.
    total     counters   → their sums        One task.
    keys      documents  → blocks            With counters. Then connect, merge and label.
    places    documents  → places in the keep order            A task for each piece.
    decide    the first documents in the keep order            One task. Finds their keepers.
    match     other documents and keepers → duplicates, pairs  A task for each piece.

The last two stages are repeated until all documents are decided. ``docs/reference/stages.md``
specifies the rows. ``lookalike.spark`` and ``lookalike.ray`` run the stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from lookalike import _engine
from lookalike._divided.arrow_values import (
    bool_scalar,
    import_arrow,
    int_scalar,
    read_table,
    text_array,
)
from lookalike._options import (
    FILE_OPTIONS,
    LINE,
    check_options,
    invalid_option,
    whole_option,
    with_columns,
)
from lookalike._progress import warn
from lookalike.errors import DocumentError, OptionError

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "BLOCKS",
    "DECIDED",
    "INTERNAL",
    "KEPT",
    "LABELS",
    "PART",
    "PLACES",
    "STAR_STEPS",
    "Plan",
    "StarStep",
    "connect",
    "count",
    "decide",
    "decide_unsorted",
    "empty_counters",
    "empty_table",
    "group_lines",
    "keep_rules",
    "keys",
    "label",
    "match",
    "merge",
    "nodes",
    "pair_lines",
    "places",
    "plan",
    "stars",
    "total",
]

BLOCKS: Final = "kind string, part int, rows binary, note string"
"""The columns of the rows of ``keys``, ``connect``, ``merge``, ``stars``, ``count`` and ``total``,
with their SQL types.
"""
LABELS: Final = "node long, component long, check long, bytes long, documents long"
"""The columns of the rows of ``label``, with their SQL types."""
PLACES: Final = (
    "node long, id string, reference boolean, place binary, fingerprint binary, bytes long, "
    "source string"
)
"""The columns of the rows of ``places``, with their SQL types."""
DECIDED: Final = (
    "kind string, size long, keeper string, reference boolean, role string, rank long, id string, "
    "intersection long, left long, right long, jaccard double, containment double, note string"
)
"""The columns of the results of ``decide`` and ``match``, with their SQL types."""
# The assumed similarity of unrelated documents, which share words, phrases and some boilerplate.
_BACKGROUND: Final = 0.05
# The most rows of a batch that a stage yields.
_BATCH_ROWS = 1 << 16
# The least and the greatest signature length that `documents=N` chooses.
_LEAST_HASHES: Final = 128
_MOST_HASHES: Final = 512
# The binary logarithm of the number of shingle counters. A counter takes 4 bytes.
_LOG2_COUNTERS: Final = 20
# The number of batches of counters that are added up at once.
_PENDING_COUNTERS: Final = 8
BATCH_BYTES: Final = 64 << 20
"""About how many bytes of documents one call of the engine takes, unless a component has more."""

# Keep rules that need a property that rows of a cluster lack, with the reason.
_ORDERED: Final = {
    **dict.fromkeys(("first", "last"), "the rows of a data frame have no order"),
    **dict.fromkeys(("newest", "oldest"), "it compares the dates of files, and rows have none"),
}
# Options that work on one machine only, with the function that has the option.
_ONE_MACHINE: Final = {
    "estimates": "find",
    "reference_pairs": "find",
    "decisions": "find",
    "drop": "dedup",
}
_RUN: Final = ("memory", "temp_dir", "threads")
# Columns that the stages add to the documents.
_ADDED: Final = ("node", "reference", "component", "check")
INTERNAL: Final = "lookalike_"
"""The prefix of the columns that engines add. The columns of documents must not begin with it."""
PART: Final = f"{INTERNAL}part"
"""The column with the part of a document in a round."""
KEPT: Final = f"{INTERNAL}kept"
"""The column that tells whether a document of a round is a kept document of its part."""
StarStep: TypeAlias = Literal["request", "reply", "join"]
"""A step of ``stars``."""
STAR_STEPS: Final[tuple[StarStep, ...]] = ("request", "reply", "join")
"""The steps of a round of ``stars``, in order."""


@dataclass(frozen=True)
class Plan:
    """The data that all tasks of a run share. A plan can be pickled. Workers with another version
    of lookalike reject it.
    """

    options: Mapping[str, Any]
    """The options of the engine, with all defaults resolved."""
    parameters: Mapping[str, Any]
    """The chosen parameters, as in ``lookalike.FindResult.parameters``."""
    text: str = "text"
    """The column of texts."""
    id: str = "id"
    """The column of ids."""
    fields: Sequence[str] = ()
    """The columns that ``keep``, ``path_field`` and ``source_field`` name, in the order of the
    engine.
    """
    version: str = field(default=_engine.VERSION)
    """The version of lookalike that made the plan."""

    @property
    def is_counted(self) -> bool:
        """Whether keys are shingles instead of bucket keys. If so, ``count`` and ``total`` run
        before ``keys``, to find the rare ones.
        """
        return bool(self.options.get("exact")) or self.is_probed

    @property
    def is_probed(self) -> bool:
        """Whether a shared shingle connects documents only if it is among the rarest shingles of
        at least one of them, which looks it up. This is so for containment.
        """
        return bool(self.parameters["measure"] == "containment")

    @property
    def columns(self) -> list[str]:
        """The columns of the documents that a run reads."""
        return list(dict.fromkeys([self.id, self.text, *self.fields]))

    def check(self) -> None:
        """Rejects a plan of another version.

        Raises:
            OptionError: The versions differ; the message names both.
        """
        if self.version != _engine.VERSION:
            raise OptionError(
                f"this worker has lookalike {_engine.VERSION}, the driver has {self.version}; "
                "install the version of the driver on all workers"
            )


def plan(
    *,
    text: str = "text",
    id: str = "id",
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    pairs: bool = False,
    documents: int | None = None,
    **options: Any,
) -> Plan:
    """Makes the plan of a run from options of ``lookalike.find``. Makes all automatic choices,
    once for all tasks.

    Args:
        text: The column of texts.
        id: The column of ids.
        threshold: As for ``lookalike.find``.
        recall: As for ``lookalike.find``.
        pairs: Whether to list all verified pairs.
        documents: The expected number of documents. Signatures become as long as needed, up to 512
            values, so that documents of a similarity of 0.05 are seldom candidates. With ``None``,
            bands and rows depend on the threshold and the recall only, as on one machine.
        options: Options of ``lookalike.find``.

    Raises:
        OptionError: An option is unknown, has an invalid value, exists on one machine only, or
            depends on an order of the documents, which the rows of a cluster do not have.

    Warns:
        UserWarning: Signatures of 512 values are too short for the number of ``documents``.
    """
    options = {name: value for name, value in options.items() if value is not None}
    _refuse_undivided(options)
    check_options(options)
    _check_names(text, id)
    _refuse_order(options.get("keep", []))
    _refuse_unnamed_paths(options)
    if documents is not None:
        options |= _bands(documents, {"threshold": threshold, "recall": recall, **options})
    named_options = with_columns(
        {"threshold": threshold, "recall": recall, "pairs": pairs, **options}, text, id
    )
    deciding: dict[str, Any] = {
        name: options[name] for name in ("keep", "path_field", "source_field") if name in options
    }
    fields = _engine.fields(deciding)
    for name in (text, id, *fields):
        # Some engines ignore the case of column names.
        if name.lower() in _ADDED or name.lower().startswith(INTERNAL):
            raise OptionError(
                f"cannot use the column {name!r} of the documents: the stages add a column of that "
                "name; rename it first"
            )
    no_values: list[str | None] = []
    no_documents = _engine.Documents.of_texts([[]], [], [(name, no_values) for name in fields])
    parameters = _engine.find(no_documents, None, named_options, False).parameters()
    chosen: dict[str, Any] = {
        name: parameters[name] for name in ("num_hashes", "bands", "rows") if name in parameters
    }
    resolved: dict[str, Any] = {**named_options, **chosen, "threads": 1}
    return Plan(resolved, parameters, text, id, tuple(fields))


def _refuse_undivided(options: Mapping[str, Any]) -> None:
    """Rejects options that divided runs do not support."""
    for name, function in _ONE_MACHINE.items():
        if options.get(name) not in (None, False):
            raise OptionError(
                f"{name} is for one machine only; leave it out, or use lookalike.{function}"
            )
    if options.get("bands") == "auto":
        raise OptionError(
            "bands='auto' would read the documents twice; use documents=N, which chooses bands for "
            "N documents"
        )
    if options.get("unit") not in (None, "document"):
        raise OptionError(
            f"unit={options['unit']!r} compares parts of texts, which needs all parts of a "
            "document in one task; use lookalike.find on one machine, or make each part a row of "
            "its own"
        )
    for name in (*FILE_OPTIONS, *_RUN):
        if options.get(name) not in (None, False):
            raise OptionError(f"{name} has no meaning for rows of a cluster; leave it out")


def _check_names(text: object, id_: object) -> None:
    """Rejects values of ``text`` and ``id`` that do not name one column each."""
    if not isinstance(text, str):
        raise invalid_option("text", "the name of a column (str)", text)
    if not isinstance(id_, str):
        found = invalid_option("id", "the name of a column (str)", id_)
        raise OptionError(
            f"{found}; rows of a cluster have no numbers, so add a column of ids, such as a hash "
            "of the columns that differ"
        )
    if id_ == LINE:
        raise OptionError(f"id={LINE!r} is for lines of files; name a column of ids")


def _refuse_order(keep: object) -> None:
    """Rejects keep rules that need an order of the documents or dates of files, which rows do not
    have. The engine rejects values that are not rules.
    """
    for rule in keep if isinstance(keep, (list, tuple)) else [keep]:
        reason = _ORDERED.get(rule) if isinstance(rule, str) else None
        if reason is not None:
            raise OptionError(
                f"cannot use keep={rule!r}: {reason}; use keep='field:COLUMN' to keep the greatest "
                "value of a column, or 'field:COLUMN:asc' to keep the least"
            )


def keep_rules(options: Mapping[str, Any]) -> list[str]:
    """Returns the keep rules of a run, in their order."""
    keep = options.get("keep")
    rules = keep if isinstance(keep, (list, tuple)) else [keep]
    # The engine rejects values that are not rules.
    return [rule for rule in rules if isinstance(rule, str)]


def _refuse_unnamed_paths(options: Mapping[str, Any]) -> None:
    """Rejects keep rules about paths if ``path_field`` names no column of paths. On one machine,
    these rules use the paths of files.
    """
    for rule in keep_rules(options):
        if rule == "name" or rule.startswith("path:"):
            if options.get("path_field") is None:
                raise OptionError(
                    f"keep={rule!r} compares paths of files, and rows have none; "
                    "path_field='COLUMN' names a column of paths"
                )


def _bands(documents: int, options: dict[str, Any]) -> dict[str, int]:
    """Chooses the shortest signature with which a document is expected to have at most one
    accidental candidate. Warns if no signature of up to 512 values is long enough.

    With :math:`b` bands of :math:`r` rows, a pair of similarity :math:`s` is a candidate with a
    probability of at most :math:`b s^r`. If documents have more than one accidental candidate
    each, most of them are connected (Erdős and Rényi 1960). A single task would then receive them
    all.
    """
    from lookalike import tune

    for name in ("num_hashes", "bands", "rows"):
        if name in options:
            raise OptionError(
                f"documents={documents} chooses num_hashes, bands and rows; leave out documents or "
                f"{name}"
            )
    if options.get("exact") or options.get("measure") == "containment":
        raise OptionError(
            f"documents={documents} chooses bands and rows, which exact runs and containment do "
            "not use; leave it out"
        )
    documents = whole_option("documents", documents, 1)
    explicit = {
        name: options[name]
        for name in ("threshold", "recall", "shingle", "scheme", "seed")
        if name in options
    }
    num_hashes = _LEAST_HASHES
    while True:
        tuned = tune(num_hashes=num_hashes, **explicit)
        accidental = documents * tuned.bands * _BACKGROUND**tuned.rows
        if accidental <= 1 or num_hashes >= _MOST_HASHES:
            if accidental > 1:
                warn(
                    f"documents={documents}: with signatures of {tuned.num_hashes} values, each "
                    f"document has about {accidental:,.0f} candidates by accident, so that most "
                    "documents are connected; use a greater threshold or larger shingles",
                    UserWarning,
                )
            return {"num_hashes": tuned.num_hashes, "bands": tuned.bands, "rows": tuned.rows}
        num_hashes += 16


_NO_COMPONENT = (
    "cannot decide about a row that has no component (null); join the documents with the rows of "
    "label by node"
)


def _compute() -> Any:
    import_arrow()
    import pyarrow.compute

    return pyarrow.compute


def _schema(columns: str) -> Any:
    pa = import_arrow()
    kinds = {
        "string": pa.string(),
        "int": pa.int32(),
        "long": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "binary": pa.binary(),
    }
    named_kinds = (column.split() for column in columns.split(", "))
    return pa.schema([(name, kinds[kind]) for name, kind in named_kinds])


def empty_table(columns: str) -> pyarrow.Table:
    """Returns a table without rows.

    Args:
        columns: The columns with their SQL types, such as ``BLOCKS`` or ``DECIDED``.
    """
    schema = _schema(columns)
    pa = import_arrow()
    # `schema.empty_table()` would import pandas.
    return pa.Table.from_arrays([pa.nulls(0, kind.type) for kind in schema], schema=schema)


def _rows(table: Any, columns: str) -> Iterator[pyarrow.RecordBatch]:
    """Yields the rows of a table in batches that are not empty, with the column types that engines
    declare. Limits the size of batches, because an engine holds a whole batch, and one component
    can have tens of millions of pairs.
    """
    schema = _schema(columns)
    rows = read_table(table).select(schema.names).cast(schema)
    yield from (batch for batch in rows.to_batches(max_chunksize=_BATCH_ROWS) if batch.num_rows)


def documents_of(plan: Plan, table: Any) -> _engine.Documents:
    """Converts the rows of a table with the columns of a plan to documents for the engine. With
    ``skip_bad``, the engine skips rows without an id later.

    Raises:
        DocumentError: An id is null or empty, and ``skip_bad`` is not set.
    """
    if not plan.options.get("skip_bad"):
        _refuse_missing_ids(plan, table[plan.id])
    return _engine.Documents.of_arrow(
        table.select(plan.columns), [plan.text], plan.id, False, plan.fields
    )


def _refuse_missing_ids(plan: Plan, ids: Any) -> None:
    """Rejects rows without an id. The engine's own error would name the number of the row in its
    batch, which does not identify the row on a cluster.
    """
    if ids.null_count:
        raise _no_id(f'the column "{plan.id}" is null in this row')
    is_empty = empty_texts(ids)
    if is_empty is not None and _compute().any(is_empty).as_py():
        raise _no_id(f'the id, the column "{plan.id}", is empty in this row')


def _no_id(reason: str) -> DocumentError:
    return DocumentError(
        f"a document cannot be used: {reason}; fill it or leave the row out, or use "
        "skip_bad=True to leave out and count such rows"
    )


def empty_texts(column: Any) -> Any:
    """Tells for each value of a column whether it is an empty text. Returns ``None`` if the column
    does not contain texts.
    """
    pa = import_arrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if hasattr(pa.types, "is_string_view") and pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return _compute().equal(column, text_array(b"")[0].cast(column.type)) if is_text else None


def nodes(plan: Plan, table: pyarrow.Table, *, reference: bool = False) -> pyarrow.ChunkedArray:
    """Computes the nodes of documents, for engines that lack a 64-bit hash function with the same
    values on all machines.

    Args:
        plan: The plan of the run.
        table: Documents with the columns of the plan.
        reference: Whether the documents belong to the reference collection. A document and a
            reference document with the same id have different nodes.

    Raises:
        DocumentError: A row has no id, and ``skip_bad`` is not set. With ``skip_bad``, such a row
            has the node of a placeholder.
    """
    if plan.options.get("skip_bad"):
        table = _with_any_ids(plan, table)
    return read_table(_engine.nodes(documents_of(plan, table), reference))["node"]


def _with_any_ids(plan: Plan, table: Any) -> Any:
    """Replaces missing and empty ids by a placeholder."""
    pa, pc, ids = import_arrow(), _compute(), table[plan.id]
    text = pa.large_string()
    if pa.types.is_integer(ids.type) or pa.types.is_null(ids.type):
        ids = ids.cast(text)
    is_empty = empty_texts(ids)
    if is_empty is None:
        return table
    has_none = pc.fill_null(is_empty, bool_scalar(True))
    ids = pc.if_else(has_none, text_array(b"-")[0].cast(text), ids.cast(text))
    return table.set_column(table.column_names.index(plan.id), plan.id, ids)


def keys(
    plan: Plan, batches: Iterable[pyarrow.RecordBatch], parts: int, *, counters: bytes | None = None
) -> Iterator[pyarrow.RecordBatch]:
    """Yields the keys, identities and notes of documents (``BLOCKS``). Two similar documents share
    a key with the predicted probability, or always if keys are shingles.

    Args:
        plan: The plan of the run.
        batches: Documents with the columns of the plan and ``node`` (int64). If there is a
            reference collection, they have ``reference`` (bool). If an earlier stage has read the
            documents, they have the ``check`` of ``label``.
        parts: The number of parts into which keys and documents are divided.
        counters: The counters of ``total``, by which the rarest shingles of a document are found.
            Required if ``Plan.is_counted``. The keys are then these shingles; for containment,
            they are all shingles. Without counters, keys are the bucket keys of signatures.

    Raises:
        DocumentError: A document cannot be used, and ``skip_bad`` is not set.
        ChangedError: The shingles of a document do not agree with its ``check``.
    """
    plan.check()
    pa = import_arrow()
    stage = _engine.KeyStage(dict(plan.options), parts, counters)
    for batch in batches:
        if batch.num_rows == 0:
            continue
        for reference, rows in sides_of(pa.Table.from_batches([batch])):
            # An empty table may have no chunks, and combining no chunks would import pandas.
            if rows.num_rows == 0:
                continue
            checks = _combine_chunks(rows["check"]) if "check" in rows.column_names else None
            stage.add(documents_of(plan, rows), _combine_chunks(rows["node"]), reference, checks)
        ready = stage.take(False)
        if ready is not None:
            yield from _rows(ready, BLOCKS)
    yield from _rows(stage.take(True), BLOCKS)


def count(plan: Plan, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Counts shingles approximately and yields at most one row, of the kind ``counters``
    (``BLOCKS``).

    Args:
        plan: The plan of the run.
        batches: Documents with the columns of the plan.
    """
    plan.check()
    pa = import_arrow()
    stage = None
    for batch in batches:
        if batch.num_rows:
            stage = stage or _engine.CountStage(dict(plan.options), _LOG2_COUNTERS)
            stage.add(documents_of(plan, pa.Table.from_batches([batch])))
    if stage is not None:
        yield from _rows(stage.counters(), BLOCKS)


def total(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Adds up counters and yields at most one row (``BLOCKS``). The value of its column ``rows``
    is the argument ``counters`` of ``keys``.

    Args:
        batches: Rows of ``count`` or of this function.
    """
    pa, pending = import_arrow(), []
    for batch in batches:
        pending.append(batch)
        if len(pending) == _PENDING_COUNTERS:
            pending = read_table(
                _engine.total_counters(pa.Table.from_batches(pending))
            ).to_batches()
    if pending:
        yield from _rows(_engine.total_counters(pa.Table.from_batches(pending)), BLOCKS)


def empty_counters(plan: Plan) -> bytes:
    """Returns the counters of a run without documents, for ``keys``."""
    rows = read_table(_engine.CountStage(dict(plan.options), _LOG2_COUNTERS).counters())
    return bytes(rows["rows"][0].as_py())


def places(plan: Plan, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yields the places of documents in the keep order (``PLACES``).

    Args:
        plan: The plan of the run.
        batches: Documents with the columns of the plan, ``node`` and ``check`` (int64). If there
            is a reference collection, they have ``reference`` (bool).

    Raises:
        ChangedError: The shingles of a document do not agree with its ``check``, or a document is
            missing.
    """
    plan.check()
    pa = import_arrow()
    for batch in batches:
        if batch.num_rows == 0:
            continue
        for reference, table in sides_of(pa.Table.from_batches([batch])):
            if table.num_rows == 0:
                continue
            found = read_table(
                _engine.places(
                    documents_of(plan, table),
                    dict(plan.options),
                    reference,
                    _combine_chunks(table["check"]),
                )
            )
            found = found.append_column("node", table["node"])
            found = found.append_column("id", table[plan.id].cast(pa.string()))
            found = found.append_column(
                "reference", pa.repeat(bool_scalar(reference), table.num_rows)
            )
            yield from _rows(found, PLACES)


def match(
    plan: Plan, documents: pyarrow.Table, kept: pyarrow.Table
) -> Iterator[pyarrow.RecordBatch]:
    """Compares documents with kept documents, and not with each other.

    Yields rows (``DECIDED``):

    - of the kind ``member``: each document that resembles a kept document before it in the keep
      order, with the best of these kept documents. ``size`` counts the documents of this call
      only.
    - of the kind ``pair``, if the plan lists pairs: the verified pairs of a document and a kept
      document
    - of the kind ``note``, with the counts ``candidates`` and ``verified``

    Args:
        plan: The plan of the run.
        documents: Documents with the columns of the plan, none of them a reference document.
        kept: Kept documents with the columns of the plan. If there is a reference collection, they
            have ``reference`` (bool).
    """
    plan.check()
    options = dict(plan.options)
    docs = documents_of(plan, documents)
    for reference, table in sides_of(kept):
        if table.num_rows:
            for rows in _engine.match_kept(docs, documents_of(plan, table), options, reference):
                yield from _rows(rows, DECIDED)


def _combine_chunks(column: Any) -> Any:
    """Converts a column to one array."""
    combined = column.combine_chunks()
    return (
        combined
        if isinstance(combined, import_arrow().Array)
        else import_arrow().concat_arrays(combined.chunks)
    )


def sides_of(table: Any) -> list[tuple[bool, Any]]:
    """Splits a table into the documents and the reference documents. Returns pairs of a flag, true
    for reference documents, and a table. Without the column ``reference`` there is one pair.
    """
    if "reference" not in table.column_names:
        return [(False, table)]
    pc = _compute()
    flags = pc.fill_null(table["reference"], bool_scalar(False))
    return [(False, table.filter(pc.invert(flags))), (True, table.filter(flags))]


def connect(
    batches: Iterable[pyarrow.RecordBatch], parts: int, *, probed: bool = False
) -> Iterator[pyarrow.RecordBatch]:
    """Connects documents that share a key. Yields edges, identities and notes (``BLOCKS``).

    Args:
        batches: All rows of ``keys`` in the parts of this task. Their notes are yielded unchanged.
        parts: The number of parts, as for ``keys``.
        probed: ``Plan.is_probed``.
    """
    yield from _of_blocks(batches, lambda table: _engine.connect(table, parts, probed), BLOCKS)


def merge(
    batches: Iterable[pyarrow.RecordBatch], parts: int, *, task_bytes: int = 2 << 30
) -> Iterator[pyarrow.RecordBatch]:
    """Joins forests into one forest and yields its edges (``BLOCKS``).

    Args:
        batches: Rows of ``connect`` or ``merge`` of the kind ``edges``.
        parts: The number of parts, as for ``keys``.
        task_bytes: The most bytes that the edges may take, at 24 bytes each. At least 64 MiB are
            allowed.

    Raises:
        OptionError: The edges take more.
    """

    def limited() -> Iterator[Any]:
        size, most = 0, max(task_bytes, BATCH_BYTES)
        for batch in batches:
            # A block has 16 bytes for each edge, and the numbers of its nodes take 8.
            size += batch.nbytes * 3 // 2
            if size > most:
                raise OptionError(
                    "cannot join the components: their edges take more than the "
                    f"{most} bytes that task_memory allows; increase task_memory, or connect fewer "
                    "documents with a greater threshold, larger shingles or documents=N"
                )
            yield batch

    yield from _of_blocks(limited(), lambda table: _engine.merge_forests(table, parts), BLOCKS)


def stars(
    batches: Iterable[pyarrow.RecordBatch], parts: int, step: StarStep
) -> Iterator[pyarrow.RecordBatch]:
    """Runs one step of a round that finds components if ``merge`` cannot hold all edges. Yields
    edges, and notes of the last step (``BLOCKS``).

    A round consists of the steps ``STAR_STEPS``, in order. The rows of a step, divided by their
    parts, are the input of the next step. The rounds end when no task of the step ``join`` yields
    a note ``unsettled``, a number of edges. The rows are then the input of ``label``.

    Args:
        batches: All rows of ``connect`` or of this function in the parts of this task. Rows of
            other kinds than ``edges`` are ignored.
        parts: The number of parts, as for ``keys``.
        step: The step.
    """
    pc = _compute()
    blocks = (
        batch.filter(pc.equal(batch.column("kind"), text_array(b"edges")[0])) for batch in batches
    )
    yield from _of_blocks(
        (batch for batch in blocks if batch.num_rows),
        lambda table: _engine.stars(table, parts, step),
        BLOCKS,
    )


def label(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yields the nodes of components (``LABELS``). ``check`` is null if several documents have the
    same node.

    Args:
        batches: All rows of the last ``merge`` or ``stars`` in the parts of this task, and all
            rows of ``connect`` of the kind ``identities`` in these parts.
    """
    yield from _of_blocks(batches, _engine.label, LABELS)


def _of_blocks(batches: Iterable[Any], work: Any, columns: str) -> Iterator[Any]:
    pa = import_arrow()
    blocks: list[Any] = []
    pc = _compute()
    for batch in batches:
        if batch.num_rows and not batch.column("rows").null_count:
            blocks.append(batch.select(["rows"]))
            continue
        is_note = pc.is_null(batch.column("rows"))
        notes = batch.filter(is_note)
        if notes.num_rows:
            yield from _rows(pa.Table.from_batches([notes]), columns)
        if notes.num_rows < batch.num_rows:
            blocks.append(batch.filter(pc.invert(is_note)).select(["rows"]))
    if blocks:
        yield from _rows(work(pa.Table.from_batches(blocks)), columns)


def decide(
    plan: Plan, batches: Iterable[pyarrow.RecordBatch], *, task_bytes: int = 2 << 30
) -> Iterator[pyarrow.RecordBatch]:
    """Verifies the pairs of whole components, groups their documents, and yields the results
    (``DECIDED``).

    Args:
        plan: The plan of the run.
        batches: Documents of whole components, sorted by ``component``, with the columns of the
            plan, ``component`` and ``check`` (int64). If there is a reference collection, they
            have ``reference`` (bool).
        task_bytes: The most bytes that the documents of a component may take.

    Raises:
        ChangedError: The shingles of a document do not agree with its ``check``.
        DocumentError: The rows are not sorted, or a row has no component.
        OptionError: A component is too large.
    """
    plan.check()
    pa, pending, size = import_arrow(), [], 0
    for batch in _by_component(batches):
        pending.append(batch)
        size += batch.nbytes
        if size > BATCH_BYTES:
            table = pa.Table.from_batches(pending)
            end = _last_component(table["component"])
            if end:
                yield from _decided(plan, table.slice(0, end))
                # Copy the rest, so that it does not keep the decided batches in memory.
                remaining = table.slice(end)
                remaining = remaining.filter(_compute().is_valid(remaining["component"]))
                pending = remaining.combine_chunks().to_batches()
                size = sum(batch.nbytes for batch in pending)
            if size > task_bytes:
                raise OptionError(
                    f"cannot decide a component of {table.num_rows - end} documents: it takes more "
                    f"than the {task_bytes} bytes that task_memory allows; increase task_memory, "
                    "or use larger shingles, which connect fewer documents"
                )
    if pending:
        yield from _decided(plan, pa.Table.from_batches(pending))


def decide_unsorted(
    plan: Plan, rows: pyarrow.Table, *, slice_bytes: int = BATCH_BYTES
) -> Iterator[pyarrow.RecordBatch]:
    """Like ``decide``, for rows in any order from engines that do not sort them. Does not copy
    texts.

    Args:
        plan: The plan of the run.
        rows: Documents of whole components, with the columns that ``decide`` requires.
        slice_bytes: About the number of bytes of texts that one call of the engine processes, 1 or
            more. A larger component is processed in one call.

    Raises:
        ChangedError: The shingles of a document do not agree with its ``check``.
        DocumentError: A row has no component.
        OptionError: ``slice_bytes`` is less than 1.
    """
    plan.check()
    if slice_bytes < 1:
        raise OptionError(f"slice_bytes: expected 1 or more, got {slice_bytes}")
    pa, pc = import_arrow(), _compute()
    if rows.num_rows == 0:
        return
    if rows["component"].null_count:
        raise DocumentError(_NO_COMPONENT)
    order = pc.sort_indices(rows["component"])
    flags = (
        _combine_chunks(pc.fill_null(rows["reference"], bool_scalar(False)))
        if "reference" in rows.column_names
        else None
    )
    documents, checks = documents_of(plan, rows), _combine_chunks(rows["check"])
    for first, end in pairwise(_slices(rows, documents, order, slice_bytes)):
        indices = order.slice(first, end - first)
        document_indices = (
            indices if flags is None else indices.filter(pc.invert(flags.take(indices)))
        )
        kept = None if flags is None else indices.filter(flags.take(indices))
        kept = kept if kept is not None and len(kept) else None
        selected = [
            array.cast(pa.int64())
            for array in (document_indices, document_indices.slice(0, 0) if kept is None else kept)
        ]
        reference = None if kept is None else documents
        for table in _engine.decide(
            documents,
            reference,
            dict(plan.options),
            checks.take(pa.concat_arrays(selected)),
            tuple(selected),
        ):
            yield from _rows(table, DECIDED)


def _slices(rows: Any, documents: Any, order: Any, slice_bytes: int) -> list[int]:
    """Divides documents, ordered by component, into slices of whole components. Returns the start
    of each slice, and the end of the last slice, as places in the order.
    """
    pa, pc = import_arrow(), _compute()
    components = _combine_chunks(rows["component"]).take(order)
    sizes = _combine_chunks(read_table(documents.text_bytes())["bytes"]).take(order)
    begins = pc.add(
        pc.indices_nonzero(pc.not_equal(components[1:], components[:-1])), int_scalar(1)
    )
    # The number of the slice of a component follows from the bytes of texts before the component.
    slices = pc.divide(
        pc.cumulative_sum(sizes).take(pc.subtract(begins, int_scalar(1))), int_scalar(slice_bytes)
    )
    before = pa.concat_arrays([pa.repeat(int_scalar(0), 1), slices])[:-1]
    return [0, *begins.filter(pc.not_equal(slices, before)).to_pylist(), rows.num_rows]


def _by_component(batches: Iterable[Any]) -> Iterator[Any]:
    """Yields the batches that are not empty. Rejects rows that are not sorted by component,
    because a divided component would have other groups.

    Raises:
        DocumentError: The rows are not sorted, or a row has no component.
    """
    pc, before = _compute(), None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        components = batch.column("component")
        if components.null_count:
            raise DocumentError(_NO_COMPONENT)
        is_later = before is None or before <= components[0].as_py()
        if (
            not is_later
            or not pc.all(pc.less_equal(components[:-1], components[1:]), min_count=0).as_py()
        ):
            raise DocumentError(
                "cannot decide about rows that are not sorted by component; sort them, so that "
                "components are whole"
            )
        before = components[-1].as_py()
        yield batch


def _last_component(components: Any) -> int:
    """Returns the index of the first row of the last component."""
    last = components[-1].as_py()
    first, end = 0, len(components)
    while first < end:
        middle = (first + end) // 2
        if components[middle].as_py() == last:
            end = middle
        else:
            first = middle + 1
    return first


def _decided(plan: Plan, table: Any) -> Iterator[Any]:
    pa = import_arrow()
    sides = [side for _, side in sides_of(table)]
    checks = _combine_chunks(
        pa.chunked_array([chunk for side in sides for chunk in side["check"].chunks], pa.int64())
    )
    documents = [documents_of(plan, side) for side in sides if side is sides[0] or side.num_rows]
    reference = documents[1] if len(documents) > 1 else None
    for rows in _engine.decide(documents[0], reference, dict(plan.options), checks):
        yield from _rows(rows, DECIDED)


def group_lines(
    plan: Plan,
    rows: pyarrow.Table,
    *,
    first: int = 1,
    header: bool = False,
    format: Literal["csv", "jsonl"] = "csv",
) -> bytes:
    """Formats groups as ``lookalike find -o`` writes them.

    Args:
        plan: The plan of the run.
        rows: Rows of ``decide`` of the kind ``member``, of whole groups, sorted by ``size``
            (descending), ``keeper``, ``reference``, ``role`` (descending), ``rank`` (descending)
            and ``id``.
        first: The number of the first group, from 1.
        header: Whether to begin with the header of a CSV file.
        format: The format of the lines.
    """
    return _engine.group_lines(rows, str(plan.parameters["measure"]), format, first, header)


def pair_lines(plan: Plan, rows: pyarrow.Table, *, header: bool = False) -> bytes:
    """Formats pairs as ``lookalike find --pairs`` writes them to a CSV file.

    Args:
        plan: The plan of the run.
        rows: Rows of ``decide`` of the kind ``pair``, sorted by ``keeper``, ``id``,
            ``intersection``, ``left`` and ``right``.
        header: Whether to begin with the header.
    """
    return _engine.pair_lines(rows, str(plan.parameters["measure"]), header)
