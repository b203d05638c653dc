"""Rows of Python values: texts, ``(id, text)`` pairs, or records.

The first row decides which of them all rows are. Rows come all at once, or some at a time: the
number of each, from 0, is in errors.
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
    """What rows are, and how their values are taken out."""

    unused: Mapping[str, str]
    """Arguments for columns that have no meaning for these rows."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.unused = {}

    @abstractmethod
    def values(self, rows: Sequence[Any], start: int) -> RowValues:
        """The values of some rows, of which the first has the number ``start``."""

    @abstractmethod
    def texts(self, row: Any) -> Sequence[Any]:
        """The texts of a row, for their length; of what is no such row anything."""

    def check_all(self) -> None:
        """Refuses what can be known only when all rows have come.

        Raises:
            DocumentError: There is no row with one of the fields.
        """


def row_kind(first: Any, columns: Columns) -> RowKind:
    """What the rows are that begin with this one."""
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
                    f"expected a pair (id, text), got {description(row)}; tokens='given' takes "
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
        wanted = [*columns.texts, *([self._id_name] if self._has_id else [])]
        for number, row in enumerate(rows, start):
            self._check(number, row, wanted)
        self._rows = start + len(rows)
        self._absent -= {name for name in self._absent if any(name in row for row in rows)}
        ids: Sequence[Any] | None = None
        if self._has_id:
            ids = [row[self._id_name] for row in rows]
            # All rows have ids, or none has.
            ids = columns.usable_ids(ids) if start == 0 else ids
            self._has_id = ids is not None
        fields = [[row.get(name) for row in rows] for name in columns.fields]
        texts = [[row[name] for row in rows] for name in columns.texts]
        return RowValues(texts, ids, fields, columns.texts, self._id_name if self._has_id else None)

    def _check(self, number: int, row: Any, wanted: Sequence[str]) -> None:
        if not isinstance(row, Mapping):
            raise at_row(number, f"expected a dict like those before, got {description(row)}")
        for name in wanted:
            if name not in row:
                there = ", ".join(map(str, row)) or "none"
                raise at_row(number, f"there is no {name!r}; there are {there}")
        if self.columns.id is None and not self._has_id and ID in row:
            raise at_row(
                number,
                f"there is an {ID!r}, those before have none; give all of them one, or take rows "
                "by id=False",
            )

    def texts(self, row: Any) -> Sequence[Any]:
        return [row.get(name) for name in self.columns.texts] if isinstance(row, Mapping) else ()

    def check_all(self) -> None:
        for name in self.columns.fields:
            if name in self._absent:
                there = ", ".join(self._first)
                raise DocumentError(
                    f"there is no {name!r} in any of the {self._rows} dicts; in the first there "
                    f"are {there}"
                )
