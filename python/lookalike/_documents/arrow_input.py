"""Documents from objects with the Arrow PyCapsule interface, and from queries that return such
objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lookalike import _engine
from lookalike._documents.input_documents import TEXT, Columns, InputDocuments, is_of, stretches
from lookalike._results.table import Table
from lookalike.errors import OptionError


def of_query(docs: Any, columns: Columns) -> InputDocuments | None:
    """Executes a ``polars.LazyFrame`` or reads a ``pyarrow.dataset.Dataset``. Reads only the
    needed columns, unless the call returns documents. Returns ``None`` for other types.
    """
    if is_lazy_polars(docs):
        query = docs if columns.back else docs.select(columns.used(docs.collect_schema().names()))
        return of_arrow(query.collect(engine="streaming"), columns)
    if is_dataset(docs):
        names = None if columns.back else columns.used(docs.schema.names)
        return of_arrow(docs.to_table(columns=names), columns)
    return None


def batches_of_query(docs: Any, columns: Columns, rows: int) -> Iterator[Any] | None:
    """Returns an iterator over Arrow tables or batches with the needed columns of a query.

    Args:
        docs: A ``polars.LazyFrame`` or a ``pyarrow.dataset.Dataset``. For other types, the
            function returns ``None``.
        columns: The columns of the call.
        rows: The requested number of rows of each table or batch.
    """
    if is_lazy_polars(docs):
        query = docs.select(columns.used(docs.collect_schema().names()))
        return (frame.to_arrow() for frame in query.collect_batches(chunk_size=rows))
    if is_dataset(docs):
        return batches_of_dataset(docs, columns.used(docs.schema.names), rows)
    return None


def batches_of_dataset(docs: Any, names: Sequence[str], rows: int) -> Iterator[Any]:
    """Returns an iterator over the record batches of a ``pyarrow.dataset.Dataset``, or of a
    dataset of another library that is derived from this class.

    Args:
        docs: The dataset.
        names: The columns to read.
        rows: The maximum number of rows of a batch.
    """
    scan_options = {"columns": list(names), "batch_size": rows}
    serial = {**scan_options, "use_threads": False}
    # Use only pyarrow's own fragments: the fragments of other libraries take other arguments.
    is_own = type(docs).__module__.startswith("pyarrow")
    try:
        fragments = docs.get_fragments() if is_own else None
    except ValueError:
        # pyarrow raises this error for a filtered dataset.
        fragments = None
    if fragments is None:
        ahead = {"batch_readahead": 1, "fragment_readahead": 1}
        batches: Iterator[Any] = iter(docs.scanner(**scan_options, **ahead).to_reader())
        return batches
    # Read one row group at a time. A scanner would read all row groups of a file ahead of a slow
    # consumer, despite its limits on readahead.
    return (
        batch
        for fragment in fragments
        for part in _row_groups(fragment)
        for batch in part.to_batches(schema=docs.schema, **serial)
    )


def _row_groups(fragment: Any) -> Sequence[Any]:
    return fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]


def is_lazy_polars(docs: Any) -> bool:
    return is_of("polars", docs) and hasattr(docs, "collect_schema") and hasattr(docs, "collect")


def is_dataset(docs: Any) -> bool:
    """Tells whether the documents are a ``pyarrow.dataset.Dataset``."""
    return is_of("pyarrow", docs) and hasattr(docs, "scanner") and hasattr(docs, "to_table")


def of_arrow(docs: Any, columns: Columns) -> InputDocuments | None:
    """Reads an object with the Arrow PyCapsule interface. Returns ``None`` for other types."""
    if not (hasattr(docs, "__arrow_c_stream__") or hasattr(docs, "__arrow_c_array__")):
        return None
    if is_of("polars", docs):
        return _polars(docs, columns)
    if is_of("pyarrow", docs) and hasattr(docs, "read_all"):
        docs = docs.read_all()
    elif columns.back:
        docs = _held(docs)
    names = getattr(getattr(docs, "schema", None), "names", ()) if columns.back else ()
    return InputDocuments(
        columns.engine(docs),
        lambda kept: _filtered(docs, kept),
        lambda more, added: _widened(docs, more, added),
        lambda remaining: _filtered(with_texts(docs, remaining, columns), remaining["kept"]),
        names,
    )


def _held(docs: Any) -> Any:
    """Copies the rows to pyarrow, so that they are read only once. An object that computes its
    rows, such as a query, may return other rows or none when it is read again.
    """
    try:
        import pyarrow
    except ImportError:
        raise OptionError(
            f"cannot return the kept rows of {type(docs).__name__} as a pyarrow.Table: pyarrow is "
            "not installed; install it, or call find and select the rows yourself"
        ) from None
    if isinstance(docs, (pyarrow.Table, pyarrow.RecordBatch, pyarrow.Array, pyarrow.ChunkedArray)):
        return docs
    if not hasattr(docs, "__arrow_c_stream__"):
        array = pyarrow.array(docs)
        is_table = pyarrow.types.is_struct(array.type)
        return (
            pyarrow.Table.from_batches([pyarrow.RecordBatch.from_struct_array(array)])
            if is_table
            else array
        )
    stream = docs.__arrow_c_stream__()
    try:
        columns = _engine.stream_columns(stream)
        return (
            pyarrow.chunked_array(Stream(stream))
            if columns is None
            else pyarrow.table(Stream(stream))
        )
    except (pyarrow.ArrowException, OSError) as error:
        _engine.producer_failed(str(error))


@dataclass(frozen=True)
class Stream:
    """Passes on an Arrow stream that was already requested from its producer."""

    capsule: object

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.capsule


def _filtered(docs: Any, kept: Sequence[bool]) -> Any:
    import pyarrow

    flags = pyarrow.array(list(kept), type=pyarrow.bool_())
    if isinstance(docs, pyarrow.Table):
        columns = [_kept(column, flags) for column in docs.columns]
        return (
            pyarrow.Table.from_arrays(columns, schema=docs.schema)
            if columns
            else docs.filter(flags)
        )
    if isinstance(docs, pyarrow.RecordBatch):
        columns = [_kept(column, flags) for column in docs.columns]
        return (
            pyarrow.RecordBatch.from_arrays(columns, schema=docs.schema)
            if columns
            else docs.filter(flags)
        )
    return _kept(docs, flags)


def _kept(column: Any, flags: Any) -> Any:
    """Selects rows of a column. If pyarrow cannot filter a column of this type, concatenates the
    runs of kept rows.
    """
    import pyarrow

    try:
        return column.filter(flags)
    except pyarrow.ArrowNotImplementedError:
        pieces = [column.slice(start, count) for start, count in stretches(flags.to_pylist())]
    if not pieces:
        return column.slice(0, 0)
    if isinstance(column, pyarrow.Array):
        return pyarrow.concat_arrays(pieces)
    chunks = [chunk for piece in pieces for chunk in piece.chunks]
    return pyarrow.chunked_array([pyarrow.concat_arrays(chunks)], type=column.type)


def _widened(docs: Any, more: _engine.Table, names: dict[str, str]) -> Any:
    import pyarrow

    table, added = docs, pyarrow.table(more)
    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.table({TEXT: table})
    for old, new in names.items():
        table = table.append_column(new, added[old])
    return table


def with_texts(docs: Any, remaining: Table, columns: Columns) -> Any:
    """Returns the rows of a pyarrow object with changed texts.

    Args:
        docs: The rows: a table, a record batch, an array or a chunked array.
        remaining: A table whose column ``text`` has the new text of each row, null for
            unchanged texts.
        columns: The columns of the call, which name the column of the text.
    """
    import pyarrow

    texts = pyarrow.table(remaining)["text"]
    if not hasattr(docs, "columns"):
        replaced = _replaced(docs, texts)
        return replaced.combine_chunks() if isinstance(docs, pyarrow.Array) else replaced
    name = columns.only_text
    replaced = _replaced(docs[name], texts)
    arrays = [replaced if field.name == name else docs[field.name] for field in docs.schema]
    fields = [
        field.with_type(replaced.type) if field.name == name else field for field in docs.schema
    ]
    schema = pyarrow.schema(fields, docs.schema.metadata)
    if isinstance(docs, pyarrow.RecordBatch):
        flat = [
            array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
            for array in arrays
        ]
        return pyarrow.RecordBatch.from_arrays(flat, schema=schema)
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _replaced(column: Any, texts: Any) -> Any:
    """Returns a column in which the texts that are not null replace the old ones. Converts a
    dictionary column to a column of plain texts.
    """
    import pyarrow
    import pyarrow.compute

    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    plain = kind if pyarrow.types.is_string(kind) else pyarrow.large_string()
    column = pyarrow.chunked_array([column]) if isinstance(column, pyarrow.Array) else column
    return pyarrow.compute.coalesce(texts.cast(plain), column.cast(plain)).cast(kind)


def _polars(docs: Any, columns: Columns) -> InputDocuments:
    import polars

    rows = docs.clone()

    def annotate(more: _engine.Table, names: dict[str, str]) -> Any:
        frame = rows.to_frame(TEXT) if isinstance(rows, polars.Series) else rows
        added = polars.DataFrame(more).select(list(names)).rename(names)
        return frame.hstack(added)

    def rewrite(remaining: Table) -> Any:
        texts = polars.DataFrame(remaining)["text"]
        old = rows[columns.only_text] if is_frame else rows
        new = texts.zip_with(texts.is_not_null(), old.cast(polars.String)).alias(old.name)
        new = new.cast(old.dtype) if old.dtype == polars.Categorical else new
        return kept_rows(rows.with_columns(new) if is_frame else new, remaining["kept"])

    def kept_rows(docs: Any, kept: Sequence[bool]) -> Any:
        return docs.filter(polars.Series(list(kept), dtype=polars.Boolean))

    is_frame = isinstance(rows, polars.DataFrame)
    read = rows.select(columns.used(rows.columns)) if is_frame else rows
    names = rows.columns if is_frame else ()
    return InputDocuments(
        columns.engine(read), lambda kept: kept_rows(rows, kept), annotate, rewrite, names
    )
