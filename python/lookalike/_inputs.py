"""Converts collections of documents for the engine, and its results back to their types.

====================================  ==========================================================
given                                 taken as
====================================  ==========================================================
``str`` or path, list of paths        files and folders, read by the engine; a ``str`` may be a
                                      pattern such as ``news/*.jsonl``
list or tuple of ``str``              texts; their rows, from 0, are their ids
list or iterable of ``(id, text)``    texts with ids, all ``str`` or all ``int``
list or iterable of ``dict``          records with the columns ``text`` and, if there is one, ``id``
``dict``                              texts by id
anything with the Arrow PyCapsule     columns of it, not copied: pyarrow, polars, pandas, DuckDB
interface
``datasets.Dataset``                  its Arrow table
``datasets.IterableDataset``          an iterable of ``dict``
====================================  ==========================================================
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from importlib import import_module
from itertools import groupby
from typing import Any

from lookalike import _engine
from lookalike._options import FILE_OPTIONS
from lookalike.errors import DocumentError, DocumentTypeError, FileError, OptionError

__all__ = ["Given", "given", "refuse_unused"]

#: Default names of columns.
_TEXT, _ID = "text", "id"
#: Columns that :func:`lookalike.dedup` adds.
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
    )
)


@dataclass(frozen=True)
class Given:
    """Documents of the caller."""

    #: The input of the engine: documents in memory, or paths.
    engine: _engine.Documents | list[str]
    #: Selects the kept rows, in the type of the input: from a list of flags, one per row.
    select: Callable[[Sequence[bool]], Any]
    #: Adds columns to all rows, in the type of the input.
    annotate: Callable[[_engine.Table, dict[str, str]], Any] | None = None
    #: Its columns, if it has some.
    names: Sequence[str] = ()
    #: Arguments for columns that have no meaning here, with what these documents are.
    unused: Mapping[str, str] = field(default_factory=dict)

    def refuse_added(self) -> None:
        """Refuses columns that are there already.

        :raises OptionError: one of them is.
        """
        for name in self.names:
            if name in _ADDED:
                raise OptionError(
                    f"annotate=True adds the column {name!r}, which is there already; drop or rename it first"
                )


def given(
    docs: Any,
    *,
    text: str | None = None,
    id: str | None | bool = None,  # noqa: A002 - the name of the column
    fields: Sequence[str] = (),
    back: bool = False,
    alone: bool = True,
) -> Given:
    """Takes documents of any type, in their current state.

    :param text: the column of texts; ``"text"`` where it is not named and there is one.
    :param id: the column of ids; ``"id"`` where there is one, ``False`` for rows.
    :param fields: columns that decide what is kept.
    :param back: whether some of them are to be given back.
    :param alone: whether there are no others that ``text`` and ``id`` may be for; see
        :func:`refuse_unused`.
    """
    if text is not None and not _is_name(text):
        raise OptionError(f"text: expected the name of a column, got {_shown(text)}")
    if id is not None and id is not False and not _is_name(id):
        raise OptionError(
            f"id: expected the name of a column, or False for rows, got {_shown(id)}"
        )
    taken = _taken(docs, _Columns(text, id, tuple(fields), back))
    if alone:
        refuse_unused({}, taken)
    return taken


def _is_name(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def refuse_unused(options: Mapping[str, Any], *sides: Given) -> None:
    """Refuses arguments for columns that have a meaning for none of the sides.

    :param options: those of the call; some are for files.
    :raises OptionError: there is such an argument.
    """
    for name in ("text", "id"):
        if all(name in side.unused for side in sides):
            raise OptionError(sides[0].unused[name])
    if not any(isinstance(side.engine, list) for side in sides):
        for name in ("text", "id"):
            if f"{name}_field" in options:
                raise OptionError(
                    f"{name}_field is for files; {name} names the column of dicts and of tables"
                )
        for name in FILE_OPTIONS:
            # The default value is no error.
            if options.get(name) not in (None, False):
                raise OptionError(
                    f"{name} is for files, and these documents are in memory; leave it out, or name files"
                )


def _taken(docs: Any, columns: _Columns) -> Given:
    if isinstance(docs, (str, os.PathLike)):
        return _files([docs], columns)
    expected = "expected documents (a list of str, (id, text) pairs, a table, a path …), got"
    if docs is None or isinstance(docs, (bytes, bytearray, memoryview, int, float)):
        raise DocumentTypeError(f"{expected} {type(docs).__name__}")
    for taker in (_pandas, _datasets, _polars_lazy, _arrow, _mapping):
        taken = taker(docs, columns)
        if taken is not None:
            return taken
    if not isinstance(docs, Iterable):
        raise DocumentTypeError(f"{expected} {type(docs).__name__}")
    if hasattr(docs, "columns"):
        # Iteration over one of these gives the names of its columns.
        raise DocumentTypeError(
            f"{expected} {type(docs).__name__}, a frame without the Arrow PyCapsule interface; convert it first, "
            "to pandas, polars or pyarrow"
        )
    return _iterable(docs, columns)


@dataclass(frozen=True)
class _Columns:
    text: str | None
    id: str | None | bool
    fields: tuple[str, ...]
    back: bool

    def refuse_fields(self, what: str) -> None:
        """Of documents that have an id and a text at most."""
        if self.fields:
            names = ", ".join(map(repr, self.fields))
            raise OptionError(f"keep or source_field name {names}, but {what} has no such column; give dicts or a table")

    def without_meaning(self, what: str) -> dict[str, str]:
        """Names of columns that were given for documents without columns."""
        columns = (("text", self.text), ("id", self.id))
        return {
            name: f"{name}={column!r} names a column, but {what} has none; give dicts or a table, or leave it out"
            for name, column in columns
            if isinstance(column, str)
        }

    def without_rows(self) -> dict[str, str]:
        """``id=False`` that was given for files."""
        if self.id is not False:
            return {}
        return {
            "id": "id=False is for documents in memory; files have ids of their own, id='name' names "
            "the field, and with line_ids=True they are FILE:LINE"
        }

    @property
    def id_name(self) -> str | None:
        return self.id if isinstance(self.id, str) else None

    def used(self, names: Sequence[str]) -> list[str]:
        """The columns that are read, each once, of a table with these columns."""
        text = self.text if self.text is not None else _TEXT
        ids = [_ID] if self.id is None and _ID in names else []
        if self.id_name is not None:
            ids = [self.id_name]
        used = list(dict.fromkeys((text, *ids, *self.fields)))
        for name in used:
            count = sum(other == name for other in names)
            if count == 0:
                there = ", ".join(map(str, names)) or "none"
                raise DocumentError(f"there is no column {name!r}; there are {there}")
            if count > 1:
                raise DocumentError(f"there are several columns {name!r}; name one of them otherwise")
        return used

    def engine(self, table: Any) -> _engine.Documents:
        """The columns of a table with the Arrow PyCapsule interface."""
        return _engine.Documents.of_arrow(table, self.text, self.id_name, self.id is None, list(self.fields))


def _is_of(package: str, value: Any) -> bool:
    """Whether a value's type is from a package, or made from one that is."""
    return any(base.__module__.partition(".")[0] == package for base in type(value).__mro__)


def _files(paths: Iterable[Any], columns: _Columns) -> Given:
    def select(_: Sequence[bool]) -> Any:
        raise DocumentTypeError("what stays of files is written to files, not given back")

    return Given(_paths(paths), select, unused=columns.without_rows())


def _paths(paths: Iterable[Any]) -> list[str]:
    """Paths, patterns among them, as they are found."""
    found: list[str] = []
    for path in paths:
        name = os.fspath(path)
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        is_pattern = isinstance(path, str) and glob.has_magic(name) and not os.path.exists(name)
        if isinstance(path, str) and name != "-" and not is_pattern and not os.path.exists(name):
            shown = name if len(name) <= 80 else name[:79] + "…"
            raise FileError(
                f"there is no file or folder {shown!r}; check the path, or give texts in a list"
            )
        matches = sorted(glob.glob(name, recursive=True)) if is_pattern else [name]
        if not matches:
            raise FileError(f"nothing matches the pattern {name!r}; check the path")
        found += matches
    return found


def _pandas(docs: Any, columns: _Columns) -> Given | None:
    """pandas, whose columns of Python objects are looked at value by value."""
    if not _is_of("pandas", docs):
        return None
    import pandas

    if isinstance(docs, pandas.DataFrame):
        frame = docs.copy(deep=False)
        documents = _pandas_frame(frame, columns)

        def annotate(table: _engine.Table, names: dict[str, str]) -> Any:
            from lookalike._results import Table

            more = Table(table).to_pandas()
            more.index = frame.index
            return frame.assign(**{new: more[old] for old, new in names.items()})

        return Given(documents, lambda kept: _pandas_kept(frame, kept), annotate, list(frame.columns))
    if not (hasattr(docs, "isna") and hasattr(docs, "tolist")):
        raise DocumentTypeError(
            f"expected a DataFrame or a Series of pandas, got {type(docs).__name__}"
        )
    columns.refuse_fields("a column of texts")
    series = docs.copy(deep=False) if isinstance(docs, pandas.Series) else docs.copy()
    unused = columns.without_meaning("a column of texts")
    return Given(_pandas_series(series), lambda kept: _pandas_kept(series, kept), unused=unused)


def _pandas_kept(docs: Any, kept: Sequence[bool]) -> Any:
    """The rows of a frame or a series, or the stretches of them where a column is of a type whose
    rows pyarrow cannot pick."""
    import numpy
    import pandas

    try:
        return docs[numpy.asarray(kept, dtype=bool)]
    except NotImplementedError:
        rows = docs.iloc if hasattr(docs, "iloc") else docs
        pieces = [rows[start : start + count] for start, count in _stretches(kept)]
    return pandas.concat(pieces) if pieces else rows[:0]


def _pandas_frame(frame: Any, columns: _Columns) -> _engine.Documents:
    used = columns.used(list(frame.columns))
    text = columns.text if columns.text is not None else _TEXT
    id_name = columns.id_name
    if columns.id is None and _ID in used:
        id_name = _ID
    if all(_is_arrow(frame[name]) for name in used):
        exact = _Columns(text, id_name if id_name is not None else False, columns.fields, False)
        return exact.engine(frame[used])
    fields = [(name, _field(name, frame[name].tolist())) for name in columns.fields]
    ids = None if id_name is None else _present(frame[id_name])
    return _engine.Documents.of_texts(_present(frame[text]), ids, fields)


def _pandas_series(series: Any) -> _engine.Documents:
    if hasattr(series, "__arrow_c_stream__") and _is_arrow(series):
        return _engine.Documents.of_arrow(series, None, None, False, [])
    return _engine.Documents.of_texts(_present(series), None, [])


def _present(series: Any) -> list[Any]:
    """The values; ``None`` for missing values of pandas, such as NaN."""
    missing = series.isna().tolist()
    values: list[Any] = series.tolist()
    if True not in missing:
        return values
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]


def _is_arrow(series: Any) -> bool:
    """Whether the values are in memory in the format of Arrow, so that no conversion is needed."""
    kind = type(series.dtype).__name__
    is_text = kind == "StringDtype" and getattr(series.dtype, "storage", "") == "pyarrow"
    return is_text or kind == "ArrowDtype"


def _field(name: str, values: Iterable[Any]) -> list[str | None]:
    """The values of a column of a keep rule, as texts."""
    return [_text_or_none(name, row, value) for row, value in enumerate(values)]


def _text_or_none(name: str, row: int, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "__len__"):
        raise _at(row, f"the field {name!r} is to be one value, a str, a number or a date, got {_shown(value)}")
    if type(value).__name__ in ("bool", "bool_"):
        # As Arrow's are written.
        return "true" if value else "false"
    # NaN and NaT are not equal to themselves; of pandas.NA nothing is known, not even that.
    other = value != value
    if other is value or bool(other):
        return None
    if isinstance(value, timedelta):
        return str(value // timedelta(microseconds=1))
    # Texts of times in one zone are ordered as the times are.
    is_aware = isinstance(value, datetime) and value.utcoffset() is not None
    return str(value.astimezone(timezone.utc) if is_aware else value)


def _datasets(docs: Any, columns: _Columns) -> Given | None:
    """Hugging Face datasets."""
    if not _is_of("datasets", docs):
        return None
    if hasattr(docs, "with_format") and hasattr(docs, "select"):
        rows = columns.engine(_few_chunks(docs.with_format("arrow")[:]))

        def annotate(more: _engine.Table, names: dict[str, str]) -> Any:
            import pyarrow

            datasets = import_module("datasets")
            added, annotated = pyarrow.table(more), docs
            for old, new in names.items():
                annotated = annotated.add_column(new, added[old].to_pylist())
                # Without a duplicate there are no values, which would have no type, either.
                annotated = annotated.cast_column(new, datasets.Value(str(added[old].type)))
            return annotated

        def select(kept: Sequence[bool]) -> Any:
            return docs.select([i for i, keep in enumerate(kept) if keep])

        return Given(rows, select, annotate, docs.column_names)
    if isinstance(docs, Mapping):
        splits = ", ".join(map(str, docs))
        raise DocumentTypeError(f"a dict of splits was given; choose one of them: {splits}")
    return None


def _few_chunks(table: Any) -> Any:
    """The same rows. Those that were chosen from others come in a chunk each, and to hand over a
    chunk takes longer than to copy the texts of many rows."""
    chunks = max((column.num_chunks for column in table.columns), default=0)
    return table.combine_chunks() if chunks > len(table) // 64 else table


def _polars_lazy(docs: Any, columns: _Columns) -> Given | None:
    if _is_of("polars", docs) and hasattr(docs, "collect"):
        return _arrow(docs.collect(), columns)
    return None


def _arrow(docs: Any, columns: _Columns) -> Given | None:
    """Anything with the Arrow PyCapsule interface."""
    if not (hasattr(docs, "__arrow_c_stream__") or hasattr(docs, "__arrow_c_array__")):
        return None
    if _is_of("polars", docs):
        return _polars(docs, columns)
    if _is_of("pyarrow", docs) and hasattr(docs, "read_all"):
        docs = docs.read_all()
    elif columns.back:
        docs = _held(docs)
    names = getattr(getattr(docs, "schema", None), "names", ()) if columns.back else ()
    return Given(
        columns.engine(docs),
        lambda kept: _filtered(docs, kept),
        lambda more, added: _widened(docs, more, added),
        names,
    )


def _held(docs: Any) -> Any:
    """The same rows in pyarrow. Another reading of what makes its rows on the way, such as a query,
    may give others or none, so there is only this one."""
    try:
        import pyarrow
    except ImportError:
        raise OptionError(
            f"what stays of {type(docs).__name__} comes back as a pyarrow.Table, and there is no "
            "pyarrow; install it, or take the rows that find names"
        ) from None
    if isinstance(docs, (pyarrow.Table, pyarrow.RecordBatch, pyarrow.Array, pyarrow.ChunkedArray)):
        return docs
    if not hasattr(docs, "__arrow_c_stream__"):
        array = pyarrow.array(docs)
        is_table = pyarrow.types.is_struct(array.type)
        return pyarrow.Table.from_batches([pyarrow.RecordBatch.from_struct_array(array)]) if is_table else array
    stream = docs.__arrow_c_stream__()
    try:
        columns = _engine.stream_columns(stream)
        return pyarrow.chunked_array(_Stream(stream)) if columns is None else pyarrow.table(_Stream(stream))
    except (pyarrow.ArrowException, OSError) as error:
        _engine.producer_failed(str(error))


@dataclass(frozen=True)
class _Stream:
    """A stream that was begun."""

    capsule: object

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.capsule


def _filtered(docs: Any, kept: Sequence[bool]) -> Any:
    import pyarrow

    flags = pyarrow.array(list(kept), type=pyarrow.bool_())
    if isinstance(docs, pyarrow.Table):
        columns = [_kept(column, flags) for column in docs.columns]
        return pyarrow.Table.from_arrays(columns, schema=docs.schema) if columns else docs.filter(flags)
    if isinstance(docs, pyarrow.RecordBatch):
        columns = [_kept(column, flags) for column in docs.columns]
        return pyarrow.RecordBatch.from_arrays(columns, schema=docs.schema) if columns else docs.filter(flags)
    return _kept(docs, flags)


def _kept(column: Any, flags: Any) -> Any:
    """The rows of a column, or the stretches of them where pyarrow cannot pick rows of its type."""
    import pyarrow

    try:
        return column.filter(flags)
    except pyarrow.ArrowNotImplementedError:
        pieces = [column.slice(start, count) for start, count in _stretches(flags.to_pylist())]
    if not pieces:
        return column.slice(0, 0)
    if isinstance(column, pyarrow.Array):
        return pyarrow.concat_arrays(pieces)
    chunks = [chunk for piece in pieces for chunk in piece.chunks]
    return pyarrow.chunked_array([pyarrow.concat_arrays(chunks)], type=column.type)


def _stretches(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Start and length of each run of kept rows."""
    stretches: list[tuple[int, int]] = []
    row = 0
    for stays, rows in groupby(flags):
        count = sum(1 for _ in rows)
        if stays:
            stretches.append((row, count))
        row += count
    return stretches


def _widened(docs: Any, more: _engine.Table, names: dict[str, str]) -> Any:
    import pyarrow

    table, added = docs, pyarrow.table(more)
    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.table({_TEXT: table})
    for old, new in names.items():
        table = table.append_column(new, added[old])
    return table


def _polars(docs: Any, columns: _Columns) -> Given:
    import polars

    rows = docs.clone()

    def annotate(more: _engine.Table, names: dict[str, str]) -> Any:
        frame = rows.to_frame(_TEXT) if isinstance(rows, polars.Series) else rows
        added = polars.DataFrame(more).select(list(names)).rename(names)
        return frame.hstack(added)

    is_frame = isinstance(rows, polars.DataFrame)
    read = rows.select(columns.used(rows.columns)) if is_frame else rows
    return Given(
        columns.engine(read),
        lambda kept: rows.filter(polars.Series(list(kept), dtype=polars.Boolean)),
        annotate,
        rows.columns if is_frame else (),
    )


def _mapping(docs: Any, columns: _Columns) -> Given | None:
    """Texts by id."""
    if not isinstance(docs, Mapping):
        return None
    what = "a dict of texts by id"
    columns.refuse_fields(what)
    items = list(docs.items())
    ids = None if columns.id is False else [key for key, _ in items]
    documents = _engine.Documents.of_texts([text for _, text in items], ids, [])

    def survivors(kept: Sequence[bool]) -> Any:
        return {key: text for (key, text), keep in zip(items, kept, strict=True) if keep}

    return Given(documents, survivors, unused=columns.without_meaning(what))


def _iterable(docs: Iterable[Any], columns: _Columns) -> Given:
    """Texts, pairs or records, as determined by the first one."""
    # Another thread of the caller may change the list in the meantime.
    rows = list(docs)
    first = next(iter(rows), "")
    if isinstance(first, os.PathLike):
        return _files(rows, columns)

    def survivors(kept: Sequence[bool]) -> Any:
        return [row for row, keep in zip(rows, kept, strict=True) if keep]

    if isinstance(first, Mapping):
        return Given(_records(rows, columns), survivors)
    columns.refuse_fields("a list of texts")
    if isinstance(first, (tuple, list)):
        unused = columns.without_meaning("a list of (id, text) pairs")
        return Given(_pairs(rows, columns), survivors, unused=unused)
    unused = columns.without_meaning("a list of texts")
    return Given(_engine.Documents.of_texts(rows, None, []), survivors, unused=unused)


def _pairs(rows: Sequence[Any], columns: _Columns) -> _engine.Documents:
    ids: list[Any] = []
    texts: list[Any] = []
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or len(row) != 2:
            raise _at(number, f"expected a pair (id, text), got {_shown(row)}")
        ids.append(row[0])
        texts.append(row[1])
    return _engine.Documents.of_texts(texts, None if columns.id is False else ids, [])


def _records(rows: Sequence[Any], columns: _Columns) -> _engine.Documents:
    text = columns.text if columns.text is not None else _TEXT
    has_id = columns.id_name is not None or (columns.id is None and _ID in rows[0])
    id_name = columns.id_name if columns.id_name is not None else _ID
    wanted = [text, *([id_name] if has_id else [])]
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise _at(number, f"expected a dict like those before, got {_shown(row)}")
        for name in wanted:
            if name not in row:
                there = ", ".join(map(str, row)) or "none"
                raise _at(number, f"there is no {name!r}; there are {there}")
        if columns.id is None and not has_id and _ID in row:
            raise _at(
                number, f"there is an {_ID!r}, those before have none; give all of them one, or take rows by id=False"
            )
    for name in columns.fields:
        if not any(name in row for row in rows):
            there = ", ".join(map(str, rows[0]))
            raise DocumentError(f"there is no {name!r} in any of the {len(rows)} dicts; in the first there are {there}")
    ids = [row[id_name] for row in rows] if has_id else None
    fields = [(name, _field(name, (row.get(name) for row in rows))) for name in columns.fields]
    return _engine.Documents.of_texts([row[text] for row in rows], ids, fields)


def _shown(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}"


def _at(row: int, text: str) -> DocumentTypeError:
    error = DocumentTypeError(f"row {row}: {text}")
    error.row = row
    return error
