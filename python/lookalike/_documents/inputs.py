"""Converts collections of documents for the engine, and results back to the type of the input.

- ``lookalike.Files``: the engine reads these files and folders
- list or iterable of ``str``: texts; their row numbers, from 0, are their ids
- list or iterable of ``(id, text)``: texts with ids; the ids are all ``str`` or all ``int``
- list or iterable of ``dict``: records with the column ``text``, and with ``id`` if it exists
- list of ``str`` instead of a text: the tokens of a document. ``tokens="given"`` is needed if the
  rows of an iterable or of a NumPy array are such lists
- ``dict``: texts by id
- NumPy array: texts, or two columns of ids and texts
- object with the Arrow PyCapsule interface (pyarrow, polars, pandas, DuckDB): the engine reads its
  columns
- ``polars.LazyFrame`` and ``pyarrow.dataset.Dataset``: executed or read to a table
- ``datasets.Dataset``: its Arrow table
- ``datasets.IterableDataset``: an iterable of ``dict``

With ``memory``, the texts of an iterable without a length are written to a temporary file while
they are read. If the call returns no documents, this also applies to a reader of batches, a DuckDB
relation, a ``polars.LazyFrame`` and a ``pyarrow.dataset.Dataset``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from lookalike._documents.arrow_input import of_arrow, of_query
from lookalike._documents.datasets_input import of_datasets
from lookalike._documents.files import Files
from lookalike._documents.input_documents import (
    Columns,
    InputDocuments,
    RowValues,
    description,
    is_list,
    is_of,
)
from lookalike._documents.numpy_input import of_numpy
from lookalike._documents.pandas_input import of_pandas
from lookalike._documents.python_rows import row_kind
from lookalike._documents.streamed_input import is_streamed, of_batches, of_stream
from lookalike._results.table import Table
from lookalike.errors import DocumentTypeError, OptionError


def input_documents(
    docs: Any,
    *,
    text: str | Sequence[str] | None = None,
    id: str | bool | None = None,
    tokens: object = None,
    fields: Sequence[str] = (),
    back: bool = False,
    alone: bool = True,
    memory: Mapping[str, Any] | None = None,
) -> InputDocuments:
    """Converts documents of any type, in their current state, for the engine.

    Args:
        docs: The documents.
        text: The column of texts, or several columns whose texts are joined. ``None`` uses
            ``"text"``.
        id: The column of ids, or ``False`` for row numbers. ``None`` uses ``"id"`` if it exists,
            else row numbers.
        tokens: The option ``tokens``; ``"given"`` if rows are lists of tokens.
        fields: Columns that decide which documents are kept.
        back: Whether the call returns some of the documents.
        alone: Whether ``text`` and ``id`` apply to these documents only. Then they are rejected if
            the documents cannot use them (``refuse_unused``).
        memory: The options ``memory`` and ``temp_dir`` if the texts of an iterable are written to
            a temporary file; ``None`` if they are kept in memory.

    Raises:
        OptionError: An argument is invalid.
        DocumentError: A column is missing, or a document is not valid.
        DocumentTypeError: The documents have another type.
        FileError: A file does not exist, or a temporary file cannot be written.
    """
    names = text if text is None or isinstance(text, str) else _names(text)
    if isinstance(names, str) and not _is_name(names):
        raise OptionError(f"text: expected the name of a column, got {description(text)}")
    if id is not None and id is not False and not _is_name(id):
        raise OptionError(
            f"id: expected the name of a column, or False for rows, got {description(id)}"
        )
    documents = _read(docs, Columns(names, id, tuple(fields), back, tokens == "given"), memory)
    if alone:
        refuse_unused(documents)
    return documents


def _is_name(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def _names(text: Any) -> str | tuple[str, ...]:
    """Checks a list of names of text columns. Returns a single name as ``str``."""
    names = (
        tuple(text)
        if isinstance(text, Iterable) and not isinstance(text, (bytes, bytearray))
        else ()
    )
    if not names or not all(map(_is_name, names)) or len(set(names)) < len(names):
        raise OptionError(
            "text: expected the name of a column, or a list of different names, got "
            f"{description(text)}"
        )
    return names[0] if len(names) == 1 else names


def token_rule(options: Mapping[str, Any], *sides: InputDocuments) -> dict[str, Any]:
    """Returns the options of the engine for these documents. If they are lists of tokens, the
    engine receives texts of tokens joined by blanks, and splits them at white space.

    Raises:
        OptionError: ``tokens="given"`` was passed for texts, or a rule other than ``"given"`` and
            ``"whitespace"`` for lists of tokens.
    """
    rule, tokens = options.get("tokens"), any(side.tokens for side in sides)
    if rule == "given" and not tokens:
        raise OptionError(
            "tokens='given' is for lists of tokens (list[list[str]]), but these documents are "
            "texts; leave it out"
        )
    if tokens and rule not in (None, "given", "whitespace"):
        raise OptionError(
            f"tokens={rule!r} cuts texts, but these documents are lists of tokens; leave it out"
        )
    return {**options, "tokens": "whitespace"} if tokens else {**options}


def refuse_file_rules(options: Mapping[str, Any], documents: InputDocuments) -> None:
    """Rejects keep rules that compare files if the documents are in memory.

    Raises:
        OptionError: A rule compares dates of files, or names of files without ``path_field``.
    """
    keep = options.get("keep")
    rules = [keep] if isinstance(keep, str) else keep
    if isinstance(documents.engine, list):
        return
    for rule in rules if isinstance(rules, (list, tuple)) else ():
        if rule == "name" and options.get("path_field") is None:
            raise OptionError(
                "keep='name' compares the names of files, and documents in memory have none; use "
                "path_field='COLUMN' for a column of paths"
            )
        if rule in ("newest", "oldest"):
            direction = "" if rule == "newest" else ":asc"
            raise OptionError(
                f"keep={rule!r} compares the dates of files, and documents in memory have none; "
                f"use keep='field:COLUMN{direction}' to compare the values of a column"
            )


def refuse_unused(*sides: InputDocuments) -> None:
    """Rejects ``text`` and ``id`` if none of the sides can use them.

    Args:
        sides: All documents of the call, such as the documents and the reference.

    Raises:
        OptionError: An argument was passed that no side can use.
    """
    for name in ("text", "id"):
        if all(name in side.unused for side in sides):
            raise OptionError(sides[0].unused[name])


def reading_options(*sides: InputDocuments) -> Mapping[str, Any]:
    """Returns the reading options that all ``Files`` of a call share; empty without ``Files``.

    Raises:
        OptionError: Two ``Files`` of the call have different options.
    """
    readings = [side.reading for side in sides if side.reading is not None]
    for other in readings[1:]:
        if other != readings[0]:
            raise OptionError(
                "cannot read the files of a call with different options, got "
                f"{dict(readings[0])} and {dict(other)}; pass the same options to all "
                "lookalike.Files"
            )
    return readings[0] if readings else {}


def _read(docs: Any, columns: Columns, memory: Mapping[str, Any] | None) -> InputDocuments:
    if isinstance(docs, Files):
        return _files(docs, columns)
    expected = "expected documents (a list of str, (id, text) pairs, dicts, a table …), got"
    if isinstance(docs, (str, os.PathLike)):
        raise DocumentTypeError(
            f"{expected} {description(docs)}; pass texts in a list, or a path as "
            "lookalike.Files(path)"
        )
    if docs is None or isinstance(docs, (bytes, bytearray, memoryview, int, float)):
        raise DocumentTypeError(f"{expected} {type(docs).__name__}")
    refuse_handle(docs, expected)
    if isinstance(docs, (set, frozenset)):
        raise DocumentTypeError(
            f"{expected} a {type(docs).__name__}, which has no order, so that rows and results "
            "would change from run to run; pass a list, such as sorted(docs), or a dict of texts "
            "by id"
        )
    # If the call returns documents, it needs all batches as a table in memory anyway.
    batches = None if memory is None or columns.back else of_batches(docs, columns, memory)
    if batches is not None:
        return batches
    for reader in (of_pandas, of_datasets, of_query, of_arrow, of_numpy, _mapping):
        documents = reader(docs, columns)
        if documents is not None:
            return documents
    if not isinstance(docs, Iterable):
        raise DocumentTypeError(f"{expected} {type(docs).__name__}")
    if hasattr(docs, "columns"):
        # Iterating over such a frame would yield the names of its columns.
        raise DocumentTypeError(
            f"{expected} {type(docs).__name__}, a frame without the Arrow PyCapsule interface; "
            "convert it first, to pandas, polars or pyarrow"
        )
    return _iterable(docs, columns, memory)


def refuse_handle(docs: Any, expected: str) -> None:
    """Rejects an open file. Iterating over it would yield lines, whatever the format of the file.

    Args:
        docs: The documents.
        expected: The beginning of the message.

    Raises:
        DocumentTypeError: The argument is an open file.
    """
    kind = type(docs).__name__
    if is_of("fsspec", docs) or (hasattr(docs, "readline") and hasattr(docs, "seek")):
        raise DocumentTypeError(
            f"{expected} an open file ({kind}); read its texts into a list, or pass a local file "
            "as lookalike.Files(path)"
        )


def _files(files: Files, columns: Columns) -> InputDocuments:
    if isinstance(columns.text, tuple):
        raise OptionError(
            "text names several columns, which is for documents in memory; name one field of the "
            "files"
        )

    def select(_: Sequence[bool]) -> Any:
        raise DocumentTypeError(
            "cannot return documents of files; use lookalike.dedup_files or lookalike.cut_files, "
            "which copy files"
        )

    reading = {name: value for name, value in files.options.items() if value is not None}
    return InputDocuments(files.find(), select, unused=columns.without_rows(), reading=reading)


def _mapping(docs: Any, columns: Columns) -> InputDocuments | None:
    """Reads a mapping from ids to texts. Returns ``None`` for other types."""
    if not isinstance(docs, Mapping):
        return None
    type_name = "a dict of texts by id"
    columns.refuse_fields(type_name)
    items = list(docs.items())
    if not columns.tokens and "text" in docs and all(is_list(text) for _, text in items):
        raise DocumentTypeError(
            "expected a dict of texts by id, got a dict of lists, which may be columns; pass a "
            "table of them, such as pandas.DataFrame(docs), or tokens='given' for lists of tokens "
            "by id"
        )
    ids = None if columns.id is False else [key for key, _ in items]
    documents = columns.of_rows(RowValues([[text for _, text in items]], ids))

    def survivors(kept: Sequence[bool]) -> Any:
        return {key: text for (key, text), keep in zip(items, kept, strict=True) if keep}

    def rewrite(remaining: Table) -> Any:
        parts = zip(items, remaining["kept"], remaining["text"], strict=True)
        return {key: old if text is None else text for (key, old), keep, text in parts if keep}

    unused = columns.without_meaning(type_name)
    return InputDocuments(documents, survivors, rewrite=rewrite, unused=unused)


def _iterable(
    docs: Iterable[Any], columns: Columns, memory: Mapping[str, Any] | None
) -> InputDocuments:
    """Reads texts, pairs or records. The type of the first row decides which of them."""
    if memory is not None and is_streamed(docs):
        iterator = iter(docs)
        first_rows = list(islice(iterator, 1))
        if first_rows and not isinstance(first_rows[0], os.PathLike):
            return of_stream(first_rows[0], iterator, columns, memory)
        docs = chain(first_rows, iterator)
    # Copy the list, since another thread of the caller may change it meanwhile.
    rows = list(docs)
    first = next(iter(rows), "")
    if isinstance(first, os.PathLike):
        raise DocumentTypeError(
            f"expected texts, got a list of paths ({type(first).__name__}); pass them as "
            "lookalike.Files(paths)"
        )

    def survivors(kept: Sequence[bool]) -> Any:
        return [row for row, keep in zip(rows, kept, strict=True) if keep]

    def rewrite(remaining: Table) -> Any:
        def put(row: Any, text: str | None) -> Any:
            if text is None or isinstance(row, str):
                return row if text is None else text
            if isinstance(row, Mapping):
                return {**row, columns.only_text: text}
            return (row[0], text) if isinstance(row, tuple) else [row[0], text]

        parts = zip(rows, remaining["kept"], remaining["text"], strict=True)
        return [put(row, text) for row, keep, text in parts if keep]

    kind = row_kind(first, columns)
    values = kind.values(rows, 0)
    kind.check_all()
    documents = columns.of_rows(values)
    return InputDocuments(documents, survivors, rewrite=rewrite, unused=kind.unused)
