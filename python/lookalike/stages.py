"""The stages of ``lookalike.find`` for documents that are divided over tasks.

Cluster software moves rows; these functions decide about documents. Arrow batches in, Arrow batches
out, no engine imported; every function depends on its rows alone, so a task may run again. The
order of the stages, with what is between them::

    plan                                     once
    count     documents  → counters          where Plan.is_counted; likewise total
    keys      documents  → blocks            a task for each piece of the collection
    connect   blocks     → edges, identities a task for each part (rows with equal ``part``)
    merge     edges      → edges             16 parts to a task, until one task is left
    stars edges → edges instead, where one task cannot hold them: rounds of three
                                             steps, a task for each part
    label     edges and identities → nodes of components       a task for each part
    decide    documents of components → members, pairs, notes  whole components to a task, sorted;
                                             in any order for decide_unsorted
    group_lines, pair_lines   sorted rows → the bytes of the reports

Documents of components that are larger than a task get other keys, those of their rarest shingles;
where these do not divide them either, they are decided in rounds over the keep order::

    count     documents  → counters          a task for each piece
    total     counters   → their sums        one task
    keys      documents  → blocks            with counters; then connect, merge and label
    places    documents  → places in the keep order            a task for each piece
    decide    the first documents in the keep order            one task: their keepers are known
    match     other documents and keepers → duplicates, pairs  a task for each piece; and again

``docs/reference/stages.md`` specifies the rows. ``lookalike.spark`` runs them on Spark.
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
"""Columns of the rows of ``keys``, ``connect``, ``merge`` and ``count``, and their types in SQL."""
LABELS: Final = "node long, component long, check long, bytes long, documents long"
"""Columns of ``label``."""
PLACES: Final = (
    "node long, id string, reference boolean, place binary, fingerprint binary, bytes long, "
    "source string"
)
"""Columns of ``places``."""
DECIDED: Final = (
    "kind string, size long, keeper string, reference boolean, role string, rank long, id string, "
    "intersection long, left long, right long, jaccard double, containment double, note string"
)
"""Columns of ``decide`` and ``match``."""
# Maximum similarity of unrelated documents, which share words, phrases, some boilerplate.
_BACKGROUND: Final = 0.05
# The most rows of a batch that a stage gives.
_BATCH_ROWS = 1 << 16
# Values of a signature that are tried where the number of documents is given.
_LEAST_HASHES: Final = 128
_MOST_HASHES: Final = 512
# Counters of shingles: 2 to this power, 4 bytes each.
_LOG2_COUNTERS: Final = 20
# Batches of counters that are added up at once.
_PENDING_COUNTERS: Final = 8
BATCH_BYTES: Final = 64 << 20
"""Bytes of documents that one call of the engine gets, unless a component has more."""

# Rules that go by what rows have not, and the reasons.
_ORDERED: Final = {
    **dict.fromkeys(("first", "last"), "the rows of a data frame have no order"),
    **dict.fromkeys(("newest", "oldest"), "it goes by the dates of files, and rows have none"),
}
# Options that are not divided, and the functions that have them.
_ONE_MACHINE: Final = {
    "estimates": "find",
    "reference_pairs": "find",
    "decisions": "find",
    "drop": "dedup",
}
_RUN: Final = ("memory", "temp_dir", "threads")
# Columns that the stages add to those of documents, and how the names begin of those that engines
# add.
_ADDED: Final = ("node", "reference", "component", "check")
INTERNAL: Final = "lookalike_"
PART: Final = f"{INTERNAL}part"
"""The part of a row of a round, and whether the document is kept."""
KEPT: Final = f"{INTERNAL}kept"
StarStep: TypeAlias = Literal["request", "reply", "join"]
"""A step of ``stars``, and all of them in order."""
STAR_STEPS: Final[tuple[StarStep, ...]] = ("request", "reply", "join")


@dataclass(frozen=True)
class Plan:
    """The shared data of all tasks of a run. It pickles; a worker with another version of
    lookalike refuses it.
    """

    options: Mapping[str, Any]
    """The options of the engine, all of them resolved."""
    parameters: Mapping[str, Any]
    """The parameters as ``lookalike.FindResult.parameters`` has them."""
    text: str = "text"
    """The column of texts."""
    id: str = "id"
    """The column of ids."""
    fields: Sequence[str] = ()
    """Columns that decide what is kept and where documents are counted, in their order."""
    version: str = field(default=_engine.VERSION)
    """The version that made it."""

    @property
    def is_counted(self) -> bool:
        """Whether keys are rare shingles, which ``count`` finds before ``keys``."""
        return bool(self.options.get("exact")) or self.is_probed

    @property
    def is_probed(self) -> bool:
        """Whether documents that share a rare shingle are connected only if one of them looks it
        up.
        """
        return bool(self.parameters["measure"] == "containment")

    @property
    def columns(self) -> list[str]:
        """The columns of documents that are read."""
        return list(dict.fromkeys([self.id, self.text, *self.fields]))

    def check(self) -> None:
        """Refuses a plan of another version.

        Raises:
            OptionError: It is one; both versions are named.
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
    """The plan of a run: options of ``lookalike.find``, with all that is chosen chosen once.

    Args:
        documents: How many documents are expected: signatures have as many values, up to 512, as
            are needed so that documents that share a twentieth of their shingles are seldom
            candidates. Bands and rows are chosen for the threshold and the recall alone where it is
            ``None``, as on one machine.

    Raises:
        OptionError: An option has an invalid value, or depends on an order of the documents, which
            rows of a cluster have not.
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
        # Some engines do not tell names apart by case.
        if name.lower() in _ADDED or name.lower().startswith(INTERNAL):
            raise OptionError(
                f"the stages have a column {name!r} of their own; rename that of the documents "
                "first"
            )
    none: list[str | None] = []
    nothing = _engine.Documents.of_texts([[]], [], [(name, none) for name in fields])
    parameters = _engine.find(nothing, None, named_options, False).parameters()
    chosen: dict[str, Any] = {
        name: parameters[name] for name in ("num_hashes", "bands", "rows") if name in parameters
    }
    resolved: dict[str, Any] = {**named_options, **chosen, "threads": 1}
    return Plan(resolved, parameters, text, id, tuple(fields))


def _refuse_undivided(options: Mapping[str, Any]) -> None:
    """Refuses options that a divided run has not."""
    for name, function in _ONE_MACHINE.items():
        if options.get(name) not in (None, False):
            raise OptionError(
                f"{name} is for one machine: lookalike.{function} takes it; leave it out here"
            )
    if options.get("bands") == "auto":
        raise OptionError(
            "bands='auto' reads the documents twice; documents=N chooses bands for N documents"
        )
    if options.get("unit") not in (None, "document"):
        raise OptionError(
            f"unit={options['unit']!r} compares parts of texts, which needs all parts of a "
            "document in one task; lookalike.find on one machine takes it, or give each part a "
            "row of its own"
        )
    for name in (*FILE_OPTIONS, *_RUN):
        if options.get(name) not in (None, False):
            raise OptionError(f"{name} has no meaning for rows of a cluster; leave it out")


def _check_names(text: object, id_: object) -> None:
    """Refuses texts and ids that are not in one column each."""
    if not isinstance(text, str):
        raise invalid_option("text", "the name of a column (str)", text)
    if not isinstance(id_, str):
        found = invalid_option("id", "the name of a column (str)", id_)
        raise OptionError(
            f"{found}; rows of a cluster have no numbers: add a column, such as a hash of those "
            "that differ"
        )
    if id_ == LINE:
        raise OptionError(f"id={LINE!r} is for lines of files; name a column of ids")


def _refuse_order(keep: object) -> None:
    """Refuses rules that need an order or dates, which rows do not have. The engine refuses values
    that are not rules.
    """
    for rule in keep if isinstance(keep, (list, tuple)) else [keep]:
        reason = _ORDERED.get(rule) if isinstance(rule, str) else None
        if reason is not None:
            raise OptionError(
                f"keep={rule!r}: {reason}; keep='field:COLUMN' keeps the greatest value of a "
                "column, 'field:COLUMN:asc' the least"
            )


def keep_rules(options: Mapping[str, Any]) -> list[str]:
    """The keep rules of a run, in their order."""
    keep = options.get("keep")
    rules = keep if isinstance(keep, (list, tuple)) else [keep]
    # The engine refuses values that are not rules.
    return [rule for rule in rules if isinstance(rule, str)]


def _refuse_unnamed_paths(options: Mapping[str, Any]) -> None:
    """Refuses patterns of paths where no column has paths. One machine compares the names of
    files.
    """
    for rule in keep_rules(options):
        if rule == "name" or rule.startswith("path:"):
            if options.get("path_field") is None:
                raise OptionError(
                    f"keep={rule!r} compares paths of files, and rows have none; "
                    "path_field='COLUMN' names a column of paths"
                )


def _bands(documents: int, options: dict[str, Any]) -> dict[str, int]:
    """The fewest values of a signature with which a document meets at most one other by accident.

    Bands of :math:`r` rows make a pair of similarity :math:`s` a candidate with a probability of at
    most :math:`b s^r`; where a document has more than one candidate by accident, most documents are
    connected (Erdős and Rényi 1960), and one task has them all.
    """
    from lookalike import tune

    for name in ("num_hashes", "bands", "rows"):
        if name in options:
            raise OptionError(
                f"documents={documents} chooses num_hashes, bands and rows; leave out documents "
                f"or {name}"
            )
    if options.get("exact") or options.get("measure") == "containment":
        raise OptionError(
            "documents chooses bands and rows, which exact runs and containment have not; leave "
            "it out"
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
                    f"documents={documents}: signatures of {tuned.num_hashes} values leave each "
                    f"document about {accidental:,.0f} candidates by accident, so that most "
                    "documents are connected; take a greater threshold or larger shingles",
                    UserWarning,
                )
            return {"num_hashes": tuned.num_hashes, "bands": tuned.bands, "rows": tuned.rows}
        num_hashes += 16


# What rows without a component are refused with.
_NO_COMPONENT = "a row has no component (null); rows are those of labels, joined by node"


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
    """A table without rows.

    Args:
        columns: ``BLOCKS``, ``LABELS`` or ``DECIDED``.
    """
    schema = _schema(columns)
    pa = import_arrow()
    # Without pandas, which `empty_table` of a schema imports.
    return pa.Table.from_arrays([pa.nulls(0, kind.type) for kind in schema], schema=schema)


def _rows(table: Any, columns: str) -> Iterator[pyarrow.RecordBatch]:
    """The batches of a table, without empty ones, in the types that engines state for them. An
    engine holds a batch at once, and the pairs of one component may be tens of millions.
    """
    schema = _schema(columns)
    rows = read_table(table).select(schema.names).cast(schema)
    yield from (batch for batch in rows.to_batches(max_chunksize=_BATCH_ROWS) if batch.num_rows)


def documents_of(plan: Plan, table: Any) -> _engine.Documents:
    """Documents of a table with the columns of a plan. With ``skip_bad`` the engine leaves out
    those without an id.

    Raises:
        DocumentError: An id is null or empty, and ``skip_bad`` does not leave the row out.
    """
    if not plan.options.get("skip_bad"):
        _refuse_missing_ids(plan, table[plan.id])
    return _engine.Documents.of_arrow(
        table.select(plan.columns), [plan.text], plan.id, False, plan.fields
    )


def _refuse_missing_ids(plan: Plan, ids: Any) -> None:
    """The engine's error names the row of a batch, which says nothing on a cluster."""
    if ids.null_count:
        raise _no_id(f'the column "{plan.id}" is null in this row')
    is_empty = empty_texts(ids)
    if is_empty is not None and _compute().any(is_empty).as_py():
        raise _no_id(f'the id, the column "{plan.id}", is empty in this row')


def _no_id(reason: str) -> DocumentError:
    return DocumentError(
        f"a document cannot be used: {reason}; fill it or leave the row out, or let "
        "skip_bad=True leave out and count such rows"
    )


def empty_texts(column: Any) -> Any:
    """Which values of a column are empty texts; ``None`` where it has none."""
    pa = import_arrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if hasattr(pa.types, "is_string_view") and pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return _compute().equal(column, text_array(b"")[0].cast(column.type)) if is_text else None


def nodes(plan: Plan, table: pyarrow.Table, *, reference: bool = False) -> pyarrow.ChunkedArray:
    """The nodes of documents, for engines without a hash of 64 bits that is the same everywhere.

    Args:
        table: Documents, with the columns of the plan.
        reference: Whether they are of the reference collection, whose ids are names of their own.

    Raises:
        DocumentError: A row has no id; with ``skip_bad`` such rows have nodes, too.
    """
    if plan.options.get("skip_bad"):
        table = _with_any_ids(plan, table)
    return read_table(_engine.nodes(documents_of(plan, table), reference))["node"]


def _with_any_ids(plan: Plan, table: Any) -> Any:
    """Rows of which those without an id have any."""
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
    """Finds the keys of documents, of which similar documents share one; ``BLOCKS``.

    Args:
        batches: Documents: the columns of the plan, ``node`` (int64), and ``reference`` (bool)
            where there is a reference collection; ``check`` of ``label`` where an earlier stage
            has read them.
        parts: Into how many parts keys and documents are divided.
        counters: The sums of ``total``: keys are the rarest shingles. Without them keys are the
            buckets of signatures, which ``Plan.is_counted`` runs have not.

    Raises:
        DocumentError: A document cannot be used; ``skip_bad`` leaves it out.
        ChangedError: A document is not what its ``check`` states.
    """
    plan.check()
    pa = import_arrow()
    stage = _engine.KeyStage(dict(plan.options), parts, counters)
    for batch in batches:
        if batch.num_rows == 0:
            continue
        for reference, rows in sides_of(pa.Table.from_batches([batch])):
            # Columns without chunks are put together with pandas.
            if rows.num_rows == 0:
                continue
            checks = _whole(rows["check"]) if "check" in rows.column_names else None
            stage.add(documents_of(plan, rows), _whole(rows["node"]), reference, checks)
        ready = stage.take(False)
        if ready is not None:
            yield from _rows(ready, BLOCKS)
    yield from _rows(stage.take(True), BLOCKS)


def count(plan: Plan, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Counts shingles; ``BLOCKS`` of the kind ``counters``.

    Args:
        batches: Documents, with the columns of the plan.
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
    """Adds counters up; ``BLOCKS``, at most one row, whose ``rows`` are those of ``keys``.

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
    """Counters of no document, for ``keys``."""
    rows = read_table(_engine.CountStage(dict(plan.options), _LOG2_COUNTERS).counters())
    return bytes(rows["rows"][0].as_py())


def places(plan: Plan, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Finds the places of documents in the keep order; ``PLACES``.

    Args:
        batches: Documents: the columns of the plan, ``node``, ``check``, and ``reference`` where
            there is a reference collection.

    Raises:
        ChangedError: A document is not what its ``check`` states.
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
                    documents_of(plan, table), dict(plan.options), reference, _whole(table["check"])
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
    """Compares documents with kept ones, and not with each other; ``DECIDED``: a row of the
    kind ``member`` for each document that resembles a kept one before it in the keep order, with
    the best of them; the verified pairs of a document and such a kept one, where the plan lists
    pairs; notes with the counts ``candidates`` and ``verified``. ``size`` is that of this call
    alone.

    Args:
        documents: The columns of the plan.
        kept: Those, and ``reference`` where there is a reference collection.
    """
    plan.check()
    options = dict(plan.options)
    docs = documents_of(plan, documents)
    for reference, table in sides_of(kept):
        if table.num_rows:
            for rows in _engine.match_kept(docs, documents_of(plan, table), options, reference):
                yield from _rows(rows, DECIDED)


def _whole(column: Any) -> Any:
    """A column as one array."""
    whole = column.combine_chunks()
    return (
        whole
        if isinstance(whole, import_arrow().Array)
        else import_arrow().concat_arrays(whole.chunks)
    )


def sides_of(table: Any) -> list[tuple[bool, Any]]:
    """Documents, and those of the reference collection."""
    if "reference" not in table.column_names:
        return [(False, table)]
    pc = _compute()
    flags = pc.fill_null(table["reference"], bool_scalar(False))
    return [(False, table.filter(pc.invert(flags))), (True, table.filter(flags))]


def connect(
    batches: Iterable[pyarrow.RecordBatch], parts: int, *, probed: bool = False
) -> Iterator[pyarrow.RecordBatch]:
    """Connects documents that share a key; ``BLOCKS``.

    Args:
        batches: Rows of ``keys``, all of the parts of this task. Notes pass through.
        parts: That of ``keys``.
        probed: ``Plan.is_probed``.
    """
    yield from _of_blocks(batches, lambda table: _engine.connect(table, parts, probed), BLOCKS)


def merge(
    batches: Iterable[pyarrow.RecordBatch], parts: int, *, task_bytes: int = 2 << 30
) -> Iterator[pyarrow.RecordBatch]:
    """Joins forests to one; ``BLOCKS``.

    Args:
        batches: Rows of ``connect`` or ``merge`` of the kind ``edges``.
        task_bytes: The most that they may take with 24 bytes for each edge, from 64 MiB on.

    Raises:
        OptionError: They take more.
    """

    def limited() -> Iterator[Any]:
        size, most = 0, max(task_bytes, BATCH_BYTES)
        for batch in batches:
            # A block has 16 bytes for each edge; their numbers take 8.
            size += batch.nbytes * 3 // 2
            if size > most:
                raise OptionError(
                    f"the edges of documents in components take more than the {most} bytes that "
                    "task_memory allows; give task_memory more, or take a greater threshold, "
                    "larger shingles, or documents=N, which connect fewer documents"
                )
            yield batch

    yield from _of_blocks(limited(), lambda table: _engine.merge_forests(table, parts), BLOCKS)


def stars(
    batches: Iterable[pyarrow.RecordBatch], parts: int, step: StarStep
) -> Iterator[pyarrow.RecordBatch]:
    """A step of a round that finds components where ``merge`` cannot hold all edges;
    ``BLOCKS``.

    The steps follow each other, each with the rows of the one before by their parts, until no task
    of ``join`` gives a note: ``unsettled``, a number of edges. Then their rows are for
    ``label``.

    Args:
        batches: Rows of ``connect`` or of this function, all of the parts of this task; of
            their kinds ``edges`` is read.
        parts: That of ``keys``.
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
    """The nodes of components; ``LABELS``. ``check`` is null where several documents have one
    node.

    Args:
        batches: Rows of the last ``merge`` or ``stars``, and those of ``connect`` of
            the kind ``identities``, all of the parts of this task.
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
    """Verifies and groups whole components; ``DECIDED``.

    Args:
        batches: Documents of components, sorted by ``component``: the columns of the plan,
            ``component`` and ``check`` (int64), and ``reference`` where there is a reference
            collection.
        task_bytes: The most that the documents of a component may take.

    Raises:
        ChangedError: A document is not what it was in ``keys``.
        DocumentError: The rows are not sorted, or one has no component.
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
                # A copy: the batches that were decided are not to stay because of these rows.
                rest = table.slice(end)
                rest = rest.filter(_compute().is_valid(rest["component"]))
                pending = rest.combine_chunks().to_batches()
                size = sum(batch.nbytes for batch in pending)
            if size > task_bytes:
                raise OptionError(
                    f"a component of {table.num_rows - end} documents takes more than the "
                    f"{task_bytes} bytes that task_memory allows; give task_memory more, or larger "
                    "shingles, which connect fewer documents"
                )
    if pending:
        yield from _decided(plan, pa.Table.from_batches(pending))


def decide_unsorted(
    plan: Plan, rows: pyarrow.Table, *, slice_bytes: int = BATCH_BYTES
) -> Iterator[pyarrow.RecordBatch]:
    """As ``decide``, of rows in any order, for engines that do not sort them: their texts are
    not copied.

    Args:
        rows: Documents of whole components, with the columns that ``decide`` has.
        slice_bytes: About as many bytes of texts are worked on at once, or a larger component.

    Raises:
        ChangedError: A document is not what it was in ``keys``.
        DocumentError: A row has no component.
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
        _whole(pc.fill_null(rows["reference"], bool_scalar(False)))
        if "reference" in rows.column_names
        else None
    )
    documents, checks = documents_of(plan, rows), _whole(rows["check"])
    for first, end in pairwise(_slices(rows, documents, order, slice_bytes)):
        taken = order.slice(first, end - first)
        here = taken if flags is None else taken.filter(pc.invert(flags.take(taken)))
        kept = None if flags is None else taken.filter(flags.take(taken))
        kept = kept if kept is not None and len(kept) else None
        selected = [
            array.cast(pa.int64()) for array in (here, here.slice(0, 0) if kept is None else kept)
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
    """Where slices of whole components begin in an order by component, and where the last ends."""
    pa, pc = import_arrow(), _compute()
    components = _whole(rows["component"]).take(order)
    sizes = _whole(read_table(documents.text_bytes())["bytes"]).take(order)
    begins = pc.add(
        pc.indices_nonzero(pc.not_equal(components[1:], components[:-1])), int_scalar(1)
    )
    # The bytes of texts before a component give the number of its slice.
    slices = pc.divide(
        pc.cumulative_sum(sizes).take(pc.subtract(begins, int_scalar(1))), int_scalar(slice_bytes)
    )
    before = pa.concat_arrays([pa.repeat(int_scalar(0), 1), slices])[:-1]
    return [0, *begins.filter(pc.not_equal(slices, before)).to_pylist(), rows.num_rows]


def _by_component(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches, without empty ones. Rows in another order would divide a component, with other
    groups.
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
                "the rows of decide are not sorted by component; sort them, so that it has whole "
                "components"
            )
        before = components[-1].as_py()
        yield batch


def _last_component(components: Any) -> int:
    """Where the last component begins."""
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
    checks = _whole(
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
    """The lines of ``lookalike find -o``.

    Args:
        rows: Rows of ``decide`` of the kind ``member``, sorted by ``size`` (descending),
            ``keeper``, ``reference``, ``role`` (descending), ``rank`` (descending) and ``id``;
            whole groups.
        first: The number of the first group, from 1.
        header: Whether the lines begin with the header of a CSV file.
    """
    return _engine.group_lines(rows, str(plan.parameters["measure"]), format, first, header)


def pair_lines(plan: Plan, rows: pyarrow.Table, *, header: bool = False) -> bytes:
    """The lines of ``lookalike find --pairs``.

    Args:
        rows: Rows of ``decide`` of the kind ``pair``, sorted by ``keeper`` and ``id``.
        header: Whether the lines begin with the header.
    """
    return _engine.pair_lines(rows, str(plan.parameters["measure"]), header)
