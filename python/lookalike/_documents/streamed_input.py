"""Documents of an iterable or of a reader of record batches, which together may exceed the memory.
This module writes their texts to a temporary file while it reads them.

The caller uses this module if a limit on memory is set. If the call returns documents, whole rows
are written to a second file (``row_file.py``). Ids, and the columns that decide which documents
are kept, remain in memory.
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
"""Limits of a part of the rows that is read at a time: rows, and approximately characters."""


def is_streamed(docs: object) -> bool:
    """Returns true for an iterable without a length, which may produce its rows one by one."""
    return isinstance(docs, Iterable) and not isinstance(docs, Sized)


def of_stream(
    first: Any, rest: Iterator[Any], columns: Columns, memory: Mapping[str, Any]
) -> InputDocuments:
    """Reads the documents of an iterable.

    Args:
        first: The first row, which was read already.
        rest: The other rows.
        columns: The columns.
        memory: The options ``memory`` and ``temp_dir``.

    Raises:
        FileError: A temporary file cannot be created or written.
    """
    kind = row_kind(first, columns)
    spool = _engine.DocumentSpool(dict(memory))
    whole = RowFile(memory) if columns.back else None
    tokens: bool | None = None
    for rows in _parts(chain((first,), rest), kind):
        tokens = _append(spool, columns, kind, rows, tokens)
        if whole is not None:
            whole.append(rows)
        # Free these rows before the next ones are read.
        rows.clear()
    kind.check_all()
    select = _not_given_back if whole is None else partial(KeptRows, whole)
    return InputDocuments(spool.finish(), select, unused=kind.unused)


def of_batches(docs: Any, columns: Columns, memory: Mapping[str, Any]) -> InputDocuments | None:
    """Reads the documents of a reader of record batches, or of a query of DuckDB, polars or a
    pyarrow dataset, which is executed once. Returns ``None`` for other types, and for zero batches.

    Args:
        docs: The documents.
        columns: The columns.
        memory: The options ``memory`` and ``temp_dir``.
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
                raise _further(error, start) from None
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
    """Adds some rows to ``spool``. Returns whether texts are lists of tokens, or ``None`` if no
    text was read yet.
    """
    start = len(spool)
    values = kind.values(rows, start)
    tokens = token_lists(values.texts) if tokens is None else tokens
    try:
        spool.append(*columns.engine_values(values), bool(tokens))
    except DocumentError as error:
        raise _further(error, start) from None
    return tokens


def _parts(rows: Iterable[Any], kind: RowKind) -> Iterator[list[Any]]:
    """Divides the rows into parts, so that only one part is in memory at a time."""
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


def _further(error: DocumentError, start: int) -> DocumentError:
    """Returns an error that counts its row among all rows. ``error`` counts it in its part."""
    text, prefix = str(error), f"row {error.row}: "
    if error.row is None or not text.startswith(prefix):
        return error
    moved = type(error)(f"row {start + error.row}: {text.removeprefix(prefix)}")
    moved.row = start + error.row
    return moved
