"""Result tables, for packages that read Arrow and for plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lookalike import _engine

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_PREVIEW_ROWS = 10
_CHUNK = 65_536
# The pandas type of a column, by its Arrow type and whether values may be missing. Texts and lists
# are not in this table.
_PANDAS = {
    ("int64", False): "int64",
    ("int64", True): "Int64",
    ("uint64", False): "uint64",
    ("uint64", True): "UInt64",
    ("uint32", False): "uint32",
    ("uint32", True): "UInt32",
    ("double", False): "float64",
    ("double", True): "float64",
    ("bool", False): "bool",
    ("bool", True): "boolean",
}


class Table:
    """A table of named columns.

    Packages that read Arrow use the table without copying it: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``, ``duckdb.sql("select * from t")``. ``to_pylist`` and ``t["column"]``
    return Python values and need no package.

    Examples:
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

    @property
    def engine(self) -> _engine.Table:
        """The engine's object, for use within the package."""
        return self._table

    def __reduce__(self) -> tuple[Callable[..., Table], tuple[Any, ...]]:
        return _unpickled, (self._table.state(),)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._table)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return self._table.column_names

    @property
    def column_types(self) -> list[str]:
        """The Arrow types of the columns, in order."""
        return self._table.column_types

    def __getitem__(self, name: str) -> list[Any]:
        """Returns the values of a column as a list, with ``None`` for missing values.

        Raises:
            KeyError: The column does not exist.
        """
        try:
            column = self.column_names.index(name)
        except ValueError:
            existing = ", ".join(self.column_names)
            raise KeyError(f"unknown column {name!r}; the columns are {existing}") from None
        return self._table.values(column, 0, len(self))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields the rows, each a dict of values by column name."""
        names = self.column_names
        for start in range(0, len(self), _CHUNK):
            columns = [self._table.values(i, start, _CHUNK) for i in range(len(names))]
            for row in zip(*columns, strict=True):
                yield dict(zip(names, row, strict=True))

    def to_pylist(self) -> list[dict[str, Any]]:
        """Returns the rows, each a dict of values by column name. Makes a Python object for each
        value.
        """
        return list(self)

    def to_pydict(self) -> dict[str, list[Any]]:
        """Returns the columns by name, each a list of Python values."""
        return {name: self[name] for name in self.column_names}

    def to_pyarrow(self) -> pyarrow.Table:
        """Returns a ``pyarrow.Table`` without copying values.

        Raises:
            ImportError: The package pyarrow is not installed.
        """
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """Returns a ``polars.DataFrame``.

        Raises:
            ImportError: The package polars is not installed.
        """
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a ``pandas.DataFrame``. A column of integers or booleans that may have missing
        values has a nullable type of pandas, even if no value is missing.

        Raises:
            ImportError: The package pandas is not installed.
        """
        import pandas

        # The type of texts, which depends on the version of pandas.
        text = pandas.Series([""]).dtype
        columns: dict[str, Any] = {}
        described = (self.column_names, self.column_types, self._table.column_nullable)
        for name, kind, nullable in zip(*described, strict=True):
            dtype = text if kind == "string" else _PANDAS.get((kind, nullable), "object")
            columns[name] = pandas.Series(self[name], dtype=dtype)
        frame: pandas.DataFrame = pandas.DataFrame(columns)
        return frame

    def _preview(self) -> tuple[list[list[str]], str | None]:
        """Returns the cells of the first rows, and a line that counts the other rows, or ``None``
        without other rows.
        """
        row_count = min(len(self), _PREVIEW_ROWS)
        columns = [self._table.values(i, 0, row_count) for i in range(len(self.column_names))]
        rows = [[_short(value) for value in row] for row in zip(*columns, strict=True)]
        return rows, f"… {len(self) - row_count} more rows" if row_count < len(self) else None

    def __repr__(self) -> str:
        preview, more = self._preview()
        rows = [self.column_names, *preview]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.column_names))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join(lines if more is None else [*lines, more])

    def _repr_html_(self) -> str:
        """Returns the table for notebooks, with the rows of ``repr``."""
        from html import escape

        def cells(tag: str, texts: list[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts) + "</tr>"

        preview, more = self._preview()
        body = "".join(cells("td", row) for row in preview)
        table = (
            f"<table><thead>{cells('th', self.column_names)}</thead><tbody>{body}</tbody></table>"
        )
        return table if more is None else f"{table}<p>{more}</p>"


def _short(value: object) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _unpickled(state: Any) -> Table:
    return Table(_engine.Table.of_state(state))
