"""Documents of an iterable that need not fit in memory: their texts go to a temporary file as they come.

Whether an iterable is kept is decided by the caller: it is not where a limit on memory is given and no
document is to be given back. Ids, and the columns that decide what is kept, stay in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import chain
from typing import Any

from lookalike import _engine
from lookalike._given import Columns, Given
from lookalike._python_rows import RowKind, row_kind
from lookalike.errors import DocumentError, DocumentTypeError

__all__ = ["is_streamed", "of_stream"]

#: Rows that are taken at a time: at most so many, of about so many characters.
_ROWS, _CHARACTERS = 1024, 1 << 20


def is_streamed(docs: object) -> bool:
    """Whether it makes its rows one by one. What has a length has them already."""
    return isinstance(docs, Iterable) and not isinstance(docs, Sized)


def of_stream(first: Any, rest: Iterator[Any], columns: Columns, memory: Mapping[str, Any]) -> Given:
    """The documents of an iterable whose first row was taken.

    :param memory: the options ``memory`` and ``temp_dir``.
    :raises FileError: the temporary file cannot be made, or written.
    """
    kind = row_kind(first, columns)
    spool = _engine.DocumentSpool(dict(memory))
    tokens: bool | None = None
    for rows in _parts(chain((first,), rest), kind):
        tokens = _append(spool, columns, kind, rows, tokens)
        # Nothing of them is in memory while the next ones come.
        rows.clear()
    kind.check_all()

    def select(_: Sequence[bool]) -> Any:
        raise DocumentTypeError("the documents of this iterable are not in memory, and cannot be given back")

    return Given(spool.finish(), select, unused=kind.unused, tokens=bool(tokens))


def _append(
    spool: _engine.DocumentSpool, columns: Columns, kind: RowKind, rows: list[Any], tokens: bool | None
) -> bool | None:
    """Adds some rows; gives what is known by then of whether texts are lists of tokens."""
    start = len(spool)
    values = kind.values(rows, start)
    try:
        texts, fields, tokens = columns.engine_values(values, tokens)
        spool.append(texts, values.ids, fields)
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
