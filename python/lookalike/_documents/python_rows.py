"""Rows of Python values: texts, ``(id, text)`` pairs, or records.

The type of the first row determines how all rows are read. The caller passes the rows all at once
or in parts. Errors contain the number of a row among all rows, from 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from lookalike._documents.input_documents import (
    ID,
    Columns,
    RowValues,
    at_row,
    description,
    is_list,
)
from lookalike.errors import DocumentError


class RowKind(ABC):
    """Extracts ids, texts and fields from rows of one kind."""

    unused: Mapping[str, str]
    """Error messages of the arguments ``text`` and ``id`` that these rows cannot use."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.unused = {}

    @abstractmethod
    def values(self, rows: Sequence[Any], start: int) -> RowValues:
        """Returns the values of some rows.

        Args:
            rows: The rows.
            start: The number of the first of these rows among all rows.

        Raises:
            DocumentError: A row is not of this kind, has no text or id, or has an id although
                earlier rows have none.
        """

    @abstractmethod
    def texts(self, row: Any) -> Sequence[Any]:
        """Returns the texts of a row, so that the caller can add up their lengths. For a row of
        another kind, the result has no meaning.
        """

    def check_all(self) -> None:
        """Checks that every field occurred in at least one row. Call it after the last row.

        Raises:
            DocumentError: A field occurred in no row.
        """


def row_kind(first: Any, columns: Columns) -> RowKind:
    """Returns the kind of rows, by the type of the first row."""
    if isinstance(first, Mapping):
        return _Records(first, columns)
    columns.refuse_fields("a list of texts")
    if is_list(first) and not columns.tokens:
        return _Pairs(columns)
    return _Texts(columns)


class _Texts(RowKind):
    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self.unused = columns.without_meaning("a list of texts")

    def values(self, rows: Sequence[Any], start: int) -> RowValues:
        return RowValues([rows])

    def texts(self, row: Any) -> Sequence[Any]:
        return (row,)


class _Pairs(RowKind):
    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self.unused = columns.without_meaning("a list of (id, text) pairs")

    def values(self, rows: Sequence[Any], start: int) -> RowValues:
        ids: list[Any] = []
        texts: list[Any] = []
        for number, row in enumerate(rows, start):
            if not is_list(row) or len(row) != 2:
                raise at_row(
                    number,
                    f"expected a pair (id, text), got {description(row)}; use tokens='given' for "
                    "lists of tokens",
                )
            ids.append(row[0])
            texts.append(row[1])
        return RowValues([texts], None if self.columns.id is False else ids)

    def texts(self, row: Any) -> Sequence[Any]:
        return row[1:] if is_list(row) else ()


class _Records(RowKind):
    def __init__(self, first: Mapping[Any, Any], columns: Columns) -> None:
        super().__init__(columns)
        self._first = tuple(map(str, first))
        self._has_id = columns.id_name is not None or (columns.id is None and ID in first)
        self._id_name = columns.id_name if columns.id_name is not None else ID
        self._absent = set(columns.fields)
        self._rows = 0

    def values(self, rows: Sequence[Any], start: int) -> RowValues:
        columns = self.columns
        required = [*columns.texts, *([self._id_name] if self._has_id else [])]
        for number, row in enumerate(rows, start):
            self._check(number, row, required)
        self._rows = start + len(rows)
        self._absent -= {name for name in self._absent if any(name in row for row in rows)}
        ids: Sequence[Any] | None = None
        if self._has_id:
            ids = [row[self._id_name] for row in rows]
            # The first part decides whether rows have ids. All later rows must agree with it.
            ids = columns.usable_ids(ids) if start == 0 else ids
            self._has_id = ids is not None
        fields = [[row.get(name) for row in rows] for name in columns.fields]
        texts = [[row[name] for row in rows] for name in columns.texts]
        return RowValues(texts, ids, fields, columns.texts, self._id_name if self._has_id else None)

    def _check(self, number: int, row: Any, required: Sequence[str]) -> None:
        if not isinstance(row, Mapping):
            raise at_row(number, f"expected a dict like those before, got {description(row)}")
        for name in required:
            if name not in row:
                existing = ", ".join(map(str, row)) or "none"
                raise at_row(number, f"{name!r} is missing; there are {existing}")
        # Rows whose ids were unusable in the first part still have the column.
        has_earlier_ids = self._has_id or ID in self._first
        if self.columns.id is None and not has_earlier_ids and ID in row:
            raise at_row(
                number,
                f"there is an {ID!r}, but earlier rows have none; add one to all rows, or use "
                "id=False for row numbers",
            )

    def texts(self, row: Any) -> Sequence[Any]:
        return [row.get(name) for name in self.columns.texts] if isinstance(row, Mapping) else ()

    def check_all(self) -> None:
        for name in self.columns.fields:
            if name in self._absent:
                existing = ", ".join(self._first)
                raise DocumentError(
                    f"{name!r} is missing in all {self._rows} dicts; the first one has {existing}"
                )
