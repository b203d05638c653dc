"""Reads documents that may be larger than the memory, from an iterable or from record batches.
Writes their texts to a temporary file during reading.

A call uses this module if it has a limit on memory. If the call returns documents, this module
also writes the whole rows to a second file (``row_file.py``). Ids, and the columns that decide
which documents are kept, stay in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from itertools import chain
from typing import Any

from lookalike import _engine
from lookalike._documents.arrow_input import batches_of_query
from lookalike._documents.input_documents import Columns, InputDocuments, is_of, token_lists
from lookalike._documents.python_rows import RowKind, row_kind
from lookalike._documents.row_file import KeptRows, RowFile
from lookalike.errors import DocumentError, DocumentTypeError

_ROWS, _CHARACTERS = 1024, 1 << 20
"""A part ends when it has this many rows or at least this many characters. Only one part of the
rows is in memory at a time.
"""


def is_streamed(docs: object) -> bool:
    """Returns true for an iterable without a length, which may produce its rows one by one."""
    return isinstance(docs, Iterable) and not isinstance(docs, Sized)


def of_stream(
    first: Any, rest: Iterator[Any], columns: Columns, memory: Mapping[str, Any]
) -> InputDocuments:
    """Reads the documents of an iterable.

    Args:
        first: The first row, which the caller has already read.
        rest: The other rows.
        columns: The columns of the call.
        memory: The options ``memory`` and ``temp_dir``.

    Raises:
        DocumentError: A row is not valid.
        FileError: A temporary file cannot be created or written.
    """
    kind = row_kind(first, columns)
    spool = _engine.DocumentSpool(dict(memory))
    row_file = RowFile(memory) if columns.back else None
    tokens: bool | None = None
    for rows in _parts(chain((first,), rest), kind):
        tokens = _append(spool, columns, kind, rows, tokens)
        if row_file is not None:
            row_file.append(rows)
        # Free these rows before the next rows are read.
        rows.clear()
    kind.check_all()
    select = _not_given_back if row_file is None else partial(KeptRows, row_file)
    return InputDocuments(spool.finish(), select, unused=kind.unused)


def of_batches(docs: Any, columns: Columns, memory: Mapping[str, Any]) -> InputDocuments | None:
    """Reads the documents of a reader of record batches, a DuckDB relation, a ``polars.LazyFrame``
    or a ``pyarrow.dataset.Dataset``. Executes a query only once.

    Args:
        docs: The documents.
        columns: The columns of the call.
        memory: The options ``memory`` and ``temp_dir``.

    Returns:
        The documents; ``None`` for other types, and for zero batches.

    Raises:
        DocumentError: A document is not valid.
        FileError: A temporary file cannot be created or written.
    """
    batches: Iterator[Any]
    query = batches_of_query(docs, columns, _ROWS)
    if query is not None:
        batches = query
    elif is_of("pyarrow", docs) and hasattr(docs, "read_next_batch"):
        batches = iter(docs)
    else:
        # DuckDB renamed this method of relations; support both names.
        fetch = getattr(docs, "to_arrow_reader", None) or getattr(docs, "fetch_arrow_reader", None)
        if fetch is None:
            return None
        batches = iter(fetch(_ROWS))
    spool, is_empty = _engine.DocumentSpool(dict(memory)), True
    for batch in batches:
        is_empty = False
        for first in range(0, batch.num_rows, _ROWS):
            start = len(spool)
            try:
                spool.append_documents(columns.engine(batch.slice(first, _ROWS)))
            except DocumentError as error:
                raise _convert_row_number(error, start) from None
    # Without a batch, the columns are unknown.
    return None if is_empty else InputDocuments(spool.finish(), _not_given_back)


def _not_given_back(_: Sequence[bool]) -> Any:
    raise DocumentTypeError(
        "cannot return the documents of this iterable, which are not in memory; pass a list"
    )


def _append(
    spool: _engine.DocumentSpool,
    columns: Columns,
    kind: RowKind,
    rows: list[Any],
    tokens: bool | None,
) -> bool | None:
    """Adds some rows to ``spool``.

    Args:
        spool: The documents so far.
        columns: The columns of the call.
        kind: The kind of the rows.
        rows: The rows.
        tokens: Whether texts are lists of tokens; ``None`` if no text was read yet.

    Returns:
        The value of ``tokens`` for the next call.
    """
    start = len(spool)
    values = kind.values(rows, start)
    tokens = token_lists(values.texts) if tokens is None else tokens
    try:
        spool.append(*columns.engine_values(values), bool(tokens))
    except DocumentError as error:
        raise _convert_row_number(error, start) from None
    return tokens


def _parts(rows: Iterable[Any], kind: RowKind) -> Iterator[list[Any]]:
    """Yields the rows in parts of at most ``_ROWS`` rows. A part also ends after the row with
    which it has ``_CHARACTERS`` characters.
    """
    part: list[Any] = []
    characters = 0
    for row in rows:
        part.append(row)
        characters += sum(len(text) for text in kind.texts(row) if isinstance(text, Sized))
        if len(part) >= _ROWS or characters >= _CHARACTERS:
            yield part
            part, characters = [], 0
    if part:
        yield part


def _convert_row_number(error: DocumentError, start: int) -> DocumentError:
    """Converts the row number of an error from a number within a part to a number among all rows.

    Args:
        error: The error, whose row is counted within the part.
        start: The number of the first row of the part.
    """
    text, prefix = str(error), f"row {error.row}: "
    if error.row is None or not text.startswith(prefix):
        return error
    converted = type(error)(f"row {start + error.row}: {text.removeprefix(prefix)}")
    converted.row = start + error.row
    return converted
