"""Whatever holds documents → what the engine takes, and the way back to the survivors.

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
from dataclasses import dataclass
from typing import Any

from lookalike import _engine
from lookalike.errors import DocumentError, DocumentTypeError, FileError, OptionError

__all__ = ["Given", "given"]

#: How columns are found where nobody names them.
_TEXT, _ID = "text", "id"


@dataclass(frozen=True)
class Given:
    """Documents as they were given."""

    #: What the engine takes: documents in memory, or paths.
    engine: _engine.Documents | list[str]
    #: Gives the rows that stay, in the type that was given: from a list of flags, a row each.
    select: Callable[[Sequence[bool]], Any]
    #: Adds columns to all rows, in the type that was given.
    annotate: Callable[[_engine.Table, dict[str, str]], Any] | None = None


def given(
    docs: Any,
    *,
    text: str | None = None,
    id: str | None | bool = None,  # noqa: A002 - the name of the column
    fields: Sequence[str] = (),
) -> Given:
    """Takes documents of any kind.

    :param text: the column of texts; ``"text"`` where it is not named and there is one.
    :param id: the column of ids; ``"id"`` where there is one, ``False`` for rows.
    :param fields: columns that decide what is kept.
    """
    if isinstance(docs, (str, os.PathLike)):
        return _files([docs])
    if docs is None or isinstance(docs, (bytes, bytearray, memoryview, int, float)):
        raise DocumentTypeError(
            f"expected documents (a list of str, (id, text) pairs, a table, a path …), "
            f"got {type(docs).__name__}"
        )
    columns = _Columns(text, id, tuple(fields))
    for taker in (_pandas, _datasets, _polars_lazy, _arrow, _mapping):
        taken = taker(docs, columns)
        if taken is not None:
            return taken
    if not isinstance(docs, Iterable):
        raise DocumentTypeError(
            f"expected documents (a list of str, (id, text) pairs, a table, a path …), "
            f"got {type(docs).__name__}"
        )
    return _iterable(docs, columns)


@dataclass(frozen=True)
class _Columns:
    text: str | None
    id: str | None | bool
    fields: tuple[str, ...]

    def refuse_fields(self, what: str) -> None:
        """Of documents that have an id and a text at most."""
        if self.fields:
            names = ", ".join(map(repr, self.fields))
            raise OptionError(f"keep or source_field name {names}, but {what} has no such column; give dicts or a table")

    def engine(self, table: Any) -> _engine.Documents:
        """The columns of a table with the Arrow PyCapsule interface."""
        name = self.id if isinstance(self.id, str) else None
        return _engine.Documents.of_arrow(table, self.text, name, self.id is None, list(self.fields))


def _package(value: Any) -> str:
    """The package that a value's type is from."""
    return type(value).__module__.partition(".")[0]


def _files(paths: Iterable[Any]) -> Given:
    def select(_: Sequence[bool]) -> Any:
        raise DocumentTypeError("what stays of files is written to files, not given back")

    return Given(_paths(paths), select)


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
    if _package(docs) != "pandas":
        return None
    if not hasattr(docs, "columns"):
        documents = _pandas_series(docs)
        return Given(documents, lambda kept: docs[list(kept)])
    names = [name for name in docs.columns if isinstance(name, str)]
    text = columns.text if columns.text is not None else _TEXT
    for name in (text, *columns.fields, *([columns.id] if isinstance(columns.id, str) else [])):
        if name not in names:
            there = ", ".join(names) or "none"
            raise DocumentError(f"there is no column {name!r}; there are {there}")
    id_name = columns.id if isinstance(columns.id, str) else None
    if columns.id is None and _ID in names:
        id_name = _ID
    used = [text, *([id_name] if id_name is not None else []), *columns.fields]
    if all(_is_arrow(docs[name]) for name in used):
        exact = _Columns(text, id_name if id_name is not None else False, columns.fields)
        documents = exact.engine(docs[list(dict.fromkeys(used))])
    else:
        fields = [(name, [_text_or_none(v) for v in docs[name].tolist()]) for name in columns.fields]
        ids = None if id_name is None else _present(docs[id_name])
        documents = _engine.Documents.of_texts(_present(docs[text]), ids, fields)

    def annotate(table: _engine.Table, names: dict[str, str]) -> Any:
        from lookalike._results import Table

        more = Table(table).to_pandas()
        more.index = docs.index
        return docs.assign(**{new: more[old] for old, new in names.items()})

    return Given(documents, lambda kept: docs[list(kept)], annotate)


def _pandas_series(series: Any) -> _engine.Documents:
    if _is_arrow(series) and hasattr(series, "__arrow_c_stream__"):
        return _engine.Documents.of_arrow(series, None, None, False, [])
    return _engine.Documents.of_texts(_present(series), None, [])


def _present(series: Any) -> list[Any]:
    """The values; ``None`` for what pandas says is missing, such as NaN."""
    missing = series.isna().tolist()
    values: list[Any] = series.tolist()
    if True not in missing:
        return values
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]


def _is_arrow(series: Any) -> bool:
    """Whether the values lie in memory as Arrow has them, so that nothing has to be converted."""
    kind = type(series.dtype).__name__
    is_text = kind == "StringDtype" and getattr(series.dtype, "storage", "") == "pyarrow"
    return is_text or kind == "ArrowDtype"


def _text_or_none(value: Any) -> str | None:
    if value is None or value != value:  # NaN and NaT are not equal to themselves
        return None
    return value if isinstance(value, str) else str(value)


def _datasets(docs: Any, columns: _Columns) -> Given | None:
    """Hugging Face datasets."""
    if _package(docs) != "datasets":
        return None
    if hasattr(docs, "with_format") and hasattr(docs, "select"):
        table = docs.with_format("arrow")[:]
        rows = columns.engine(table)

        def annotate(more: _engine.Table, names: dict[str, str]) -> Any:
            from lookalike._results import Table

            added, annotated = Table(more), docs
            for old, new in names.items():
                annotated = annotated.add_column(new, added[old])
            return annotated

        return Given(rows, lambda kept: docs.select([i for i, keep in enumerate(kept) if keep]), annotate)
    if isinstance(docs, Mapping):
        splits = ", ".join(map(str, docs))
        raise DocumentTypeError(f"a dict of splits was given; choose one of them: {splits}")
    return None


def _polars_lazy(docs: Any, columns: _Columns) -> Given | None:
    if _package(docs) == "polars" and hasattr(docs, "collect"):
        return _arrow(docs.collect(), columns)
    return None


def _arrow(docs: Any, columns: _Columns) -> Given | None:
    """Anything with the Arrow PyCapsule interface."""
    if not (hasattr(docs, "__arrow_c_stream__") or hasattr(docs, "__arrow_c_array__")):
        return None
    if _package(docs) == "polars":
        return _polars(docs, columns)
    if hasattr(docs, "read_all"):
        # A reader gives its rows once; they are kept, so that survivors can be given back.
        docs = docs.read_all()
    documents = columns.engine(docs)
    return Given(documents, lambda kept: _filtered(docs, kept), lambda more, names: _widened(docs, more, names))


def _pyarrow_of(docs: Any) -> Any:
    """The same rows in pyarrow."""
    import pyarrow

    if isinstance(docs, (pyarrow.Table, pyarrow.RecordBatch, pyarrow.Array, pyarrow.ChunkedArray)):
        return docs
    return pyarrow.table(docs)


def _filtered(docs: Any, kept: Sequence[bool]) -> Any:
    import pyarrow

    return _pyarrow_of(docs).filter(pyarrow.array(list(kept), type=pyarrow.bool_()))


def _widened(docs: Any, more: _engine.Table, names: dict[str, str]) -> Any:
    import pyarrow

    table, added = _pyarrow_of(docs), pyarrow.table(more)
    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.table({_TEXT: table})
    for old, new in names.items():
        table = table.append_column(new, added[old])
    return table


def _polars(docs: Any, columns: _Columns) -> Given:
    import polars

    def annotate(more: _engine.Table, names: dict[str, str]) -> Any:
        frame = docs.to_frame(_TEXT) if isinstance(docs, polars.Series) else docs
        added = polars.DataFrame(more).select(list(names)).rename(names)
        return frame.hstack(added)

    return Given(
        columns.engine(docs),
        lambda kept: docs.filter(polars.Series(list(kept), dtype=polars.Boolean)),
        annotate,
    )


def _mapping(docs: Any, columns: _Columns) -> Given | None:
    """Texts by id."""
    if not isinstance(docs, Mapping):
        return None
    columns.refuse_fields("a dict of texts by id")
    ids, texts = list(docs.keys()), list(docs.values())
    documents = _engine.Documents.of_texts(texts, ids, [])
    return Given(documents, lambda kept: {i: t for (i, t), keep in zip(docs.items(), kept, strict=True) if keep})


def _iterable(docs: Iterable[Any], columns: _Columns) -> Given:
    """Texts, pairs or records; which of them, the first one tells."""
    rows = docs if isinstance(docs, (list, tuple)) else list(docs)
    first = next(iter(rows), "")
    if isinstance(first, os.PathLike):
        return _files(rows)

    def survivors(kept: Sequence[bool]) -> Any:
        return [row for row, keep in zip(rows, kept, strict=True) if keep]

    if isinstance(first, Mapping):
        return Given(_records(rows, columns), survivors)
    columns.refuse_fields("a list of texts")
    if isinstance(first, (tuple, list)):
        return Given(_pairs(rows), survivors)
    return Given(_engine.Documents.of_texts(rows, None, []), survivors)


def _pairs(rows: Sequence[Any]) -> _engine.Documents:
    ids: list[Any] = []
    texts: list[Any] = []
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or len(row) != 2:
            raise _at(number, f"expected a pair (id, text), got {_shown(row)}")
        ids.append(row[0])
        texts.append(row[1])
    return _engine.Documents.of_texts(texts, ids, [])


def _records(rows: Sequence[Any], columns: _Columns) -> _engine.Documents:
    text = columns.text if columns.text is not None else _TEXT
    has_id = isinstance(columns.id, str) or (columns.id is None and _ID in rows[0])
    id_name = columns.id if isinstance(columns.id, str) else _ID
    wanted = [text, *([id_name] if has_id else [])]
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise _at(number, f"expected a dict like those before, got {_shown(row)}")
        for name in wanted:
            if name not in row:
                there = ", ".join(map(str, row)) or "none"
                raise _at(number, f"there is no {name!r}; there are {there}")
    ids = [row[id_name] for row in rows] if has_id else None
    fields = [(name, [_text_or_none(row.get(name)) for row in rows]) for name in columns.fields]
    return _engine.Documents.of_texts([row[text] for row in rows], ids, fields)


def _shown(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}"


def _at(row: int, text: str) -> DocumentTypeError:
    error = DocumentTypeError(f"row {row}: {text}")
    error.row = row
    return error
