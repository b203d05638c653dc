"""The documents of a call in the form that the engine takes, and functions that convert results
back to the type of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from itertools import groupby
from numbers import Integral
from typing import Any

from lookalike import _engine
from lookalike._progress import warn
from lookalike._results.table import Table
from lookalike.errors import DocumentError, DocumentTypeError, IdWarning, OptionError

TEXT, ID = "text", "id"
"""The default names of the columns of texts and of ids."""

# Columns that ``lookalike.dedup`` adds.
_ADDED = tuple(
    f"lookalike_{name}"
    for name in (
        "kept",
        "group",
        "keeper",
        "jaccard",
        "containment",
        "reason",
        "neighbour",
        "neighbour_jaccard",
        "neighbour_containment",
        "group_size",
    )
)


@dataclass(frozen=True)
class InputDocuments:
    """The documents of a caller."""

    engine: _engine.Documents | list[str]
    """The input of the engine: documents in memory, or paths."""
    select: Callable[[Sequence[bool]], Any]
    """Returns the kept rows in the type of the input. Its argument has a flag for each row."""
    annotate: Callable[[_engine.Table, dict[str, str]], Any] | None = None
    """Returns all rows with added columns, in the type of the input. Its arguments are a table of
    columns, and the new name of each column to add. ``None`` if columns cannot be added.
    """
    rewrite: Callable[[Table], Any] | None = None
    """Returns the kept rows with changed texts, in the type of the input. Its argument is a table
    with the columns ``kept`` and ``text``; ``text`` is null for unchanged texts. ``None`` if texts
    cannot be changed.
    """
    names: Sequence[str] = ()
    """The names of the input's columns, if it has columns."""
    reading: Mapping[str, Any] | None = None
    """The options of ``Files``; ``None`` for documents in memory and for an index."""
    unused: Mapping[str, str] = field(default_factory=dict)
    """Error messages of the arguments ``text`` and ``id`` that these documents cannot use."""

    @property
    def tokens(self) -> bool:
        """Whether documents are lists of tokens. The engine receives the tokens of a document as
        one text, joined by blanks.
        """
        return not isinstance(self.engine, list) and self.engine.are_tokens

    def refuse_added(self) -> None:
        """Rejects documents that already have a column which ``annotate`` adds.

        Raises:
            OptionError: Such a column exists.
        """
        for name in self.names:
            if name in _ADDED:
                raise OptionError(
                    f"annotate=True adds the column {name!r}, which already exists; drop or "
                    "rename it first"
                )


@dataclass(frozen=True)
class RowValues:
    """The values of some rows, by column."""

    texts: Sequence[Sequence[Any]]
    """The values of each text column."""
    ids: Sequence[Any] | None = None
    """The ids; ``None`` if row numbers are the ids."""
    fields: Sequence[Iterable[Any]] = ()
    """The values of each column that decides which documents are kept."""
    names: Sequence[str] = ()
    """The names of the text columns; empty if the documents have no columns."""
    id_name: str | None = None
    """The name of the column of ids; ``None`` if the documents have no such column."""


@dataclass(frozen=True)
class Columns:
    """The columns that a call reads."""

    text: str | tuple[str, ...] | None
    """The text column, or several text columns whose texts are joined; ``None`` for ``"text"``."""
    id: str | bool | None
    """The column of ids, or ``False`` for row numbers. ``None`` uses the column ``"id"`` if it
    exists, else row numbers.
    """
    fields: tuple[str, ...]
    """Columns that decide which documents are kept."""
    back: bool
    """Whether the call returns some of the documents."""
    tokens: bool = False
    """Whether rows that are lists are lists of tokens, not pairs."""

    @property
    def texts(self) -> list[str]:
        """The names of the text columns."""
        if self.text is None:
            return [TEXT]
        return [self.text] if isinstance(self.text, str) else list(self.text)

    @property
    def only_text(self) -> str:
        """The name of the single text column.

        Raises:
            OptionError: Several text columns are named.
        """
        if len(self.texts) > 1:
            raise OptionError(
                "text names several columns, but parts of texts can be removed from one only; name "
                "one column"
            )
        return self.texts[0]

    def refuse_fields(self, type_name: str) -> None:
        """Rejects keep rules and options that name other columns than ids and texts.

        Args:
            type_name: The type of the documents, which have no such columns, for the message.

        Raises:
            OptionError: A rule or option names a column.
        """
        if self.fields:
            names = ", ".join(map(repr, self.fields))
            raise OptionError(
                f"keep, path_field or source_field name {names}, but {type_name} has no such "
                "column; pass dicts or a table"
            )

    def without_meaning(self, type_name: str) -> dict[str, str]:
        """Returns an error message for each of ``text`` and ``id`` that names a column.

        Args:
            type_name: The type of the documents, which have no columns, for the messages.
        """
        columns = (("text", self.text), ("id", self.id))
        return {
            name: f"{name}={column!r} names a column, but {type_name} has none; pass dicts or a "
            "table, or leave it out"
            for name, column in columns
            if isinstance(column, (str, tuple))
        }

    def without_rows(self) -> dict[str, str]:
        """Returns the error message for ``id=False`` with files; empty for other ids."""
        if self.id is not False:
            return {}
        return {
            "id": "id=False is for documents in memory; leave it out for files, or use id='name' "
            "for the ids of a field or id=':line' for ids FILE:LINE"
        }

    def usable_ids(self, values: Sequence[Any]) -> Sequence[Any] | None:
        """Returns the values of the column of ids. If the caller did not name this column and its
        first value cannot be an id, warns and returns ``None``: row numbers become the ids.
        """
        if self.id is None:
            present = (value for value in values if value is not None and value == value)
            first = next(present, "")
            if isinstance(first, bool) or not isinstance(first, (str, Integral)):
                warn(
                    f"row numbers are used as ids: the column {ID!r} has {description(first)}, "
                    "but ids are str or int; name another column by id=, or use id=False for row "
                    "numbers",
                    IdWarning,
                )
                return None
        return values

    @property
    def id_name(self) -> str | None:
        return self.id if isinstance(self.id, str) else None

    def used(self, names: Sequence[str]) -> list[str]:
        """Returns the columns that the call reads, each once.

        Args:
            names: The names of all columns of the table.

        Raises:
            DocumentError: A needed column is missing, or two columns have its name.
        """
        ids = [ID] if self.id is None and ID in names else []
        if self.id_name is not None:
            ids = [self.id_name]
        used = list(dict.fromkeys((*self.texts, *ids, *self.fields)))
        for name in used:
            count = sum(other == name for other in names)
            if count == 0:
                existing = ", ".join(map(str, names)) or "none"
                raise DocumentError(
                    f"the column {name!r} does not exist; existing columns: {existing}; text= and "
                    "id= name columns"
                )
            if count > 1:
                raise DocumentError(
                    f"there are several columns {name!r}; rename all but one of them"
                )
        return used

    def engine(self, table: Any) -> _engine.Documents:
        """Makes documents from the columns of an object with the Arrow PyCapsule interface."""
        texts = None if self.text is None else self.texts
        return _engine.Documents.of_arrow(
            table, texts, self.id_name, self.id is None, list(self.fields), True
        )

    def of_rows(self, values: RowValues) -> _engine.Documents:
        """Makes documents from Python values."""
        return _engine.Documents.of_texts(
            *self.engine_values(values), bool(token_lists(values.texts))
        )

    def engine_values(self, values: RowValues) -> EngineValues:
        """Converts the values of some rows to the first arguments of ``Documents.of_texts`` and
        ``DocumentSpool.append``.
        """
        named = zip(self.fields, values.fields, strict=True)
        fields = [(name, field_values(name, column)) for name, column in named]
        return values.texts, values.ids, fields, values.names, values.id_name


EngineValues = tuple[
    Sequence[Sequence[Any]],
    "Sequence[Any] | None",
    "list[tuple[str, list[str | None]]]",
    Sequence[str],
    "str | None",
]
"""The text columns, the ids, the fields by name, the names of the text columns, and the name of
the column of ids.
"""


def is_list(value: object) -> bool:
    """Tells whether a value is a list, a tuple, or an array of NumPy."""
    return isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray"


def token_lists(texts: Sequence[Sequence[Any]]) -> bool | None:
    """Returns whether the first text is a list of tokens; ``None`` without a text."""
    first = next((value for value in texts[0] if value is not None), None)
    return None if first is None else is_list(first)


def is_of(package: str, value: Any) -> bool:
    """Tells whether a value's type, or one of its base classes, is from a package."""
    return any(base.__module__.partition(".")[0] == package for base in type(value).__mro__)


def field_values(name: str, values: Iterable[Any]) -> list[str | None]:
    """Converts the values of a field to texts, and missing values to ``None``."""
    return [_text_or_none(name, row, value) for row, value in enumerate(values)]


def _text_or_none(name: str, row: int, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "__len__"):
        raise at_row(
            row,
            f"the field {name!r} must be one value (a str, a number or a date), got "
            f"{description(value)}",
        )
    if type(value).__name__ in ("bool", "bool_"):
        # Arrow converts booleans to the same texts.
        return "true" if value else "false"
    # NaN and NaT are not equal to themselves. Comparing pandas.NA with itself returns pandas.NA.
    other = value != value
    if other is value or bool(other):
        return None
    if isinstance(value, timedelta):
        return str(value // timedelta(microseconds=1))
    # Convert times with a zone to UTC, so that their texts sort like the times.
    is_aware = isinstance(value, datetime) and value.utcoffset() is not None
    return str(value.astimezone(timezone.utc) if is_aware else value)


def stretches(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Returns the start and the length of each run of true flags."""
    stretches: list[tuple[int, int]] = []
    row = 0
    for is_kept, rows in groupby(flags):
        count = sum(1 for _ in rows)
        if is_kept:
            stretches.append((row, count))
        row += count
    return stretches


def description(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}"


def at_row(row: int, text: str) -> DocumentTypeError:
    error = DocumentTypeError(f"row {row}: {text}")
    error.row = row
    return error
