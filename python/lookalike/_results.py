"""Results: tables for any package that reads Arrow, and for those who have none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lookalike import _engine

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Table"]

_SHOWN_ROWS = 10
_CHUNK = 65_536


class Table:
    """Columns of one length.

    Any package that reads Arrow takes it as it is, without copying: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``, ``duckdb.sql("select * from t")``. Without one, :meth:`to_pylist` and
    ``t["column"]`` give Python values.

    >>> import lookalike
    >>> groups = lookalike.find(["a b c d e f", "a b c d e f", "x y z"]).groups
    >>> len(groups), groups.column_names[:4]
    (2, ['group', 'id', 'role', 'keeper'])
    >>> groups["id"]
    [0, 1]
    """

    __slots__ = ("_table",)

    def __init__(self, table: _engine.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._table)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return self._table.column_names

    @property
    def column_types(self) -> list[str]:
        """The types of the columns, as Arrow names them, in order."""
        return self._table.column_types

    def __getitem__(self, name: str) -> list[Any]:
        """The values of a column; ``None`` where there is none.

        :raises KeyError: there is no such column.
        """
        try:
            column = self.column_names.index(name)
        except ValueError:
            there = ", ".join(self.column_names)
            raise KeyError(f"there is no column {name!r}; there are {there}") from None
        return self._table.values(column, 0, len(self))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, each a dict by column."""
        names = self.column_names
        for start in range(0, len(self), _CHUNK):
            columns = [self._table.values(i, start, _CHUNK) for i in range(len(names))]
            for row in zip(*columns, strict=True):
                yield dict(zip(names, row, strict=True))

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows, each a dict by column. Cost: a Python object for each value."""
        return list(self)

    def to_pydict(self) -> dict[str, list[Any]]:
        """The columns by name, each a list of Python values."""
        return {name: self[name] for name in self.column_names}

    def to_pyarrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``; nothing is copied.

        :raises ImportError: pyarrow is not installed.
        """
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``.

        :raises ImportError: polars is not installed.
        """
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``; integers that may be missing are of pandas' nullable types.

        :raises ImportError: pandas is not installed.
        """
        import pandas

        nullable = {"int64": "Int64", "uint64": "UInt64", "uint32": "UInt32"}
        columns: dict[str, Any] = {}
        for name, kind in zip(self.column_names, self.column_types, strict=True):
            values = self[name]
            missing = None in values
            columns[name] = pandas.Series(values, dtype=nullable.get(kind) if missing else None)
        frame: pandas.DataFrame = pandas.DataFrame(columns)
        return frame

    def __repr__(self) -> str:
        rows = [self.column_names]
        shown = min(len(self), _SHOWN_ROWS)
        columns = [self._table.values(i, 0, shown) for i in range(len(self.column_names))]
        rows += [[_short(value) for value in row] for row in zip(*columns, strict=True)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.column_names))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        if shown < len(self):
            lines.append(f"… {len(self) - shown} more rows")
        return "\n".join(lines)


def _short(value: object) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
