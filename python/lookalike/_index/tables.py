"""Converts the tables of each package to objects with the Arrow PyCapsule interface, for an index.

If a package has to convert its data to Arrow, it converts only the needed columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lookalike import _engine
from lookalike._documents.arrow_input import (
    Stream,
    batches_of_dataset,
    is_dataset,
    is_lazy_polars,
)
from lookalike._documents.input_documents import is_of
from lookalike._documents.pandas_input import present
from lookalike.errors import DocumentTypeError

# The number of rows that are read from a dataset or a query at a time.
_ROWS = 1000


def tables_of(documents: Any, columns: Sequence[str]) -> Iterator[Any] | None:
    """Returns an iterator over tables with the Arrow PyCapsule interface, or ``None`` if the
    documents are not a table.

    Args:
        documents: The documents.
        columns: The needed columns; the first of them contains the ids.

    Raises:
        DocumentTypeError: A column is missing or ambiguous, and the columns are known before
            reading. Or pandas cannot convert a column to Arrow.
    """
    if isinstance(documents, Mapping):
        return None
    if is_of("pandas", documents) and hasattr(documents, "iloc") and hasattr(documents, "columns"):
        frame = _arrow_of_pandas(documents, columns)
        return None if frame is None else iter((frame,))
    if is_lazy_polars(documents) or is_dataset(documents):
        return _batches_of_query(documents, columns)
    if is_of("polars", documents) and hasattr(documents, "select"):
        return iter((_columns_of_polars(documents, columns),))
    if is_of("datasets", documents) and hasattr(documents, "num_rows"):
        return _batches_of_dataset(documents, columns)
    if is_of("pyarrow", documents) and hasattr(documents, "read_next_batch"):
        # Read batches one by one, so that exceptions of a generator reach the caller. A stream
        # would convert them to text.
        return _batch_iterator(documents)
    if hasattr(documents, "__arrow_c_stream__") or hasattr(documents, "__arrow_c_array__"):
        return iter((documents,))
    fetch = getattr(documents, "fetch_arrow_reader", None)
    return None if fetch is None else _batch_iterator(fetch())


def _batch_iterator(batches: Any) -> Iterator[Any]:
    iterator: Iterator[Any] = iter(batches)
    return iterator


def as_records(documents: Any, columns: Sequence[str]) -> Any:
    """Converts documents for which ``tables_of`` returned ``None`` to an iterable of records."""
    if is_of("pandas", documents) and hasattr(documents, "columns"):
        return _records_of_pandas(documents, columns)
    if is_of("datasets", documents) and hasattr(documents, "with_format"):
        # Rows of a dataset with a format are arrays or tables.
        return documents.with_format(None)
    return documents


def _columns_of_polars(frame: Any, columns: Sequence[str]) -> Any:
    _engine.check_columns(frame.columns, columns)
    return frame.select(list(dict.fromkeys(columns)))


def _batches_of_query(query: Any, columns: Sequence[str]) -> Iterator[Any]:
    """Yields the needed columns of a ``polars.LazyFrame`` or a ``pyarrow.dataset.Dataset``."""
    names = list(dict.fromkeys(columns))
    if is_dataset(query):
        _engine.check_columns(query.schema.names, columns)
        return batches_of_dataset(query, names, _ROWS)
    _engine.check_columns(query.collect_schema().names(), columns)
    return _batch_iterator(query.select(names).collect_batches(chunk_size=_ROWS))


def _batches_of_dataset(dataset: Any, columns: Sequence[str]) -> Iterator[Any]:
    _engine.check_columns(dataset.column_names, columns)
    selected = dataset.select_columns(list(dict.fromkeys(columns)))
    return _batch_iterator(selected.with_format("arrow").iter(batch_size=_ROWS))


def _select_columns(frame: Any, columns: Sequence[str]) -> Any:
    """Selects the needed columns of a pandas frame. Keeps its index if a level of the index is a
    needed column.
    """
    names = [str(name) for name in frame.columns]
    index = [name for name in frame.index.names if name in columns and name not in names]
    _engine.check_columns([*names, *index], columns)
    selected = frame.iloc[:, [place for place, name in enumerate(names) if name in columns]]
    selected = selected.set_axis([name for name in names if name in columns], axis=1)
    return selected if index else selected.reset_index(drop=True)


def _arrow_of_pandas(frame: Any, columns: Sequence[str]) -> Any:
    """Converts a pandas frame to Arrow. Returns ``None`` if pandas cannot do so, for example
    because pyarrow is not installed.
    """
    selected = _select_columns(frame, columns)
    ids = columns[0]
    if ids in selected and any(type(value).__name__ == "UUID" for value in selected[ids].head(1)):
        # pyarrow would convert UUIDs to bytes.
        selected = selected.assign(**{ids: selected[ids].map(str, na_action="ignore")})
    try:
        return Stream(selected.__arrow_c_stream__())
    except (ImportError, AttributeError):
        return None
    except (ValueError, TypeError, NotImplementedError, OverflowError) as error:
        row = _mixed_row(selected, columns[:2])
        place = "the table" if row is None else f"document {row}: the column"
        reported = DocumentTypeError(f"{place} cannot be read as Arrow, expected str: {error}")
        reported.row = row
        raise reported from error


def _mixed_row(frame: Any, columns: Sequence[str]) -> int | None:
    """Returns the number of the first row with a value that is neither a text nor missing. Checks
    one column after the other.
    """
    for column in columns:
        for row, value in enumerate(present(frame[column]) if column in frame else ()):
            if value is not None and not isinstance(value, str):
                return row
    return None


def _records_of_pandas(frame: Any, columns: Sequence[str]) -> Any:
    selected = _select_columns(frame, columns)
    if any(name is not None for name in selected.index.names):
        selected = selected.reset_index()
    values = {name: present(selected[name]) for name in dict.fromkeys(columns)}
    return (dict(zip(values, row)) for row in zip(*values.values()))
