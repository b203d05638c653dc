"""Documents of an iterable, or of a reader of record batches, that need not fit in memory: their
texts go to a temporary file as they come.

Whether an iterable is kept is decided by the caller: it is not where a limit on memory is given.
Where documents are to be given back, whole rows go to a second file (``_row_file.py``). Ids, and
the columns that decide what is kept, stay in memory.
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
"""Rows that are taken at a time: the most, and about how many characters they have."""


def is_streamed(docs: object) -> bool:
    """Whether it makes its rows one by one. What has a length has them already."""
    return isinstance(docs, Iterable) and not isinstance(docs, Sized)


def of_stream(
    first: Any, rest: Iterator[Any], columns: Columns, memory: Mapping[str, Any]
) -> InputDocuments:
    """The documents of an iterable whose first row was taken.

    Args:
        memory: The options ``memory`` and ``temp_dir``.

    Raises:
        FileError: A temporary file cannot be made, or written.
    """
    kind = row_kind(first, columns)
    spool = _engine.DocumentSpool(dict(memory))
    whole = RowFile(memory) if columns.back else None
    tokens: bool | None = None
    for rows in _parts(chain((first,), rest), kind):
        tokens = _append(spool, columns, kind, rows, tokens)
        if whole is not None:
            whole.append(rows)
        # Nothing of them is in memory while the next ones come.
        rows.clear()
    kind.check_all()
    select = _not_given_back if whole is None else partial(KeptRows, whole)
    return InputDocuments(spool.finish(), select, unused=kind.unused)


def of_batches(docs: Any, columns: Columns, memory: Mapping[str, Any]) -> InputDocuments | None:
    """The documents of a reader of record batches, or of a query of DuckDB, polars or a pyarrow
    dataset, which is executed once; ``None`` for others, and for one without a batch.

    Args:
        memory: As for ``of_stream``.
    """
    batches: Iterator[Any]
    query = batches_of_query(docs, columns, _ROWS)
    if query is not None:
        batches = query
    elif is_of("pyarrow", docs) and hasattr(docs, "read_next_batch"):
        batches = iter(docs)
    else:
        # Of a relation; the second name is that of earlier versions.
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
        "the documents of this iterable are not in memory, and cannot be given back"
    )


def _append(
    spool: _engine.DocumentSpool,
    columns: Columns,
    kind: RowKind,
    rows: list[Any],
    tokens: bool | None,
) -> bool | None:
    """Adds some rows; gives what is known by then of whether texts are lists of tokens."""
    start = len(spool)
    values = kind.values(rows, start)
    tokens = token_lists(values.texts) if tokens is None else tokens
    try:
        spool.append(*columns.engine_values(values), bool(tokens))
    except DocumentError as error:
        raise _further(error, start) from None
    return tokens


def _parts(rows: Iterable[Any], kind: RowKind) -> Iterator[list[Any]]:
    """Rows that are in memory at a time."""
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
    """An error that names a row among some, with its number among all."""
    text, prefix = str(error), f"row {error.row}: "
    if error.row is None or not text.startswith(prefix):
        return error
    moved = type(error)(f"row {start + error.row}: {text.removeprefix(prefix)}")
    moved.row = start + error.row
    return moved
