"""Extracts the texts of files, from rows of Spark's source ``binaryFile``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from lookalike._divided.task_errors import file_errors, task_errors
from lookalike._options import (
    Reading,
    Unpack,
    check_options,
    invalid_option,
    path_option,
    with_columns,
)
from lookalike.errors import DocumentError, DocumentTypeError, OptionError
from lookalike.spark._checkpoint import kept
from lookalike.spark._columns import check_frame
from lookalike.spark._run import REMEDY, functions_module
from lookalike.spark._spool import FileSpool, FolderName
from lookalike.spark._worker import map_rows
from lookalike.stages import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The columns of the rows of a task. A row is a document, or a skipped file or record with a
# reason.
_ROWS = "id string, text string, modified string, source string, line long, reason string"
_COLUMNS = {"path": "string", "content": "binary"}
# The most bytes of a batch of rows, unless one row has more.
_PIECE = 64 << 20
# Options that select files of a folder.
_WALK = ("include", "exclude", "all_files", "follow")


class ExtractResult:
    """The result of ``extract``: the documents of files, and the skipped files and records. The
    cluster keeps both until ``release``.
    """

    def __init__(self, rows: DataFrame, fields: Sequence[str]) -> None:
        self._rows, self._fields = kept(rows), list(fields)
        try:
            kinds = (
                self._rows.selectExpr("reason is null as is_document")
                .groupBy("is_document")
                .count()
                .collect()
            )
        except BaseException:
            self.release()
            raise
        counts = {row["is_document"]: int(row["count"]) for row in kinds}
        self._counts = {"documents": counts.get(True, 0), "skipped": counts.get(False, 0)}

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of rows of ``documents`` and of ``skipped``, by name."""
        return dict(self._counts)

    @property
    def documents(self) -> DataFrame:
        """A row for each document: ``id``, ``text``, ``modified``, and a column for each of the
        ``fields``.

        ``modified`` is the time of the file, such as ``2026-01-31T12:00:00.000000Z``. The keep
        rule ``field:modified`` prefers the newest document.
        """
        functions = functions_module()
        named = [
            functions.col(_field(number)).alias(name) for number, name in enumerate(self._fields)
        ]
        return self._rows.where("reason is null").select("id", "text", "modified", *named)

    @property
    def skipped(self) -> DataFrame:
        """A row for each skipped file or record: ``source`` (the path in the folder), ``line``,
        ``id`` and ``reason``.
        """
        return self._rows.where("reason is not null").select("source", "line", "id", "reason")

    def release(self) -> None:
        """Releases the rows that the cluster keeps. Do not use the frames afterwards."""
        self._rows.unpersist()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an ExtractResult cannot be pickled: its frames belong to this session of Spark; write "
            "its documents to a table, and pickle its counts"
        )


def extract(
    files: DataFrame,
    *,
    folder: str | os.PathLike[str],
    text: str | None = None,
    id: str | None = None,
    fields: Sequence[str] = (),
    ids_by_file: bool = False,
    **options: Unpack[Reading],
) -> ExtractResult:
    """Extracts the texts of files: web pages, mail, PDF, office files, archives, plain text,
    records.

    Texts, limits, reasons and ids are the same as with ``lookalike find FOLDER``. The id of a
    document is the path of its file in the folder, followed by its names in archives. Spark lists
    the files. It omits empty files, and files whose names begin with ``.`` or ``_``.

    Before a long run, write the documents to a table, because ``lookalike.spark.find`` reads its
    frame more than once.

    Args:
        files: A row for each file, with the columns ``path``, ``content`` and optionally
            ``modificationTime`` of ``spark.read.format("binaryFile").option("recursiveFileLookup",
            True).load(folder)``.
        folder: The folder that contains all files: an absolute path, or an address such as
            ``s3a://bucket/mail``. Ids are relative to it.
        text: The column of texts of records, as for ``lookalike.find_files``.
        id: The column of ids of records, as for ``lookalike.find_files``.
        fields: The names of further columns of the result: ``title``, ``author``, ``date``,
            ``language``, ``subject``, ``from``, ``to``, ``message-id``, ``url``, ``record-id``, or
            columns of records.
        ids_by_file: Whether the ids of records begin with the name of their file. On one machine
            they do if records of several files have the same id.
        options: Options of ``lookalike.find_files`` for reading files, except options that select
            files of a folder.

    Raises:
        OptionError: An option is unknown or has an invalid value.
        DocumentTypeError: ``files`` is not a frame, or a column is missing or has another type.
        DocumentError: A file is not in the folder, or a record cannot be used.
        FileError: The engine cannot read the files, or a worker has no space left.
    """
    check_options(options, "extract", Reading)
    for argument, name in (("text", text), ("id", id)):
        if name is not None and not isinstance(name, str):
            raise invalid_option(argument, "the name of a column (str), or None", name)
    for name in _WALK:
        if options.get(name) not in (None, False):
            raise OptionError(
                f"{name} selects files of a folder, and every row is read; leave it out"
            )
    check_frame(files, "files")
    kinds = {field.name: field.dataType.simpleString() for field in files.schema.fields}
    for name, kind in _COLUMNS.items():
        if kinds.get(name) != kind:
            raise DocumentTypeError(
                f"files: the column {name!r} is {kinds.get(name, 'absent')}, expected {kind}; "
                'spark.read.format("binaryFile") has it'
            )
    _check_fields(fields)
    folder = path_option("folder", folder)
    time = ["modificationTime"] if "modificationTime" in kinds else []
    reading = with_columns(
        {name: value for name, value in options.items() if value is not None}, text, id
    )
    task = _ExtractTask(Plan(reading, {}), FolderName.of(folder), tuple(fields), ids_by_file)
    schema = ", ".join([_ROWS, *(f"{_field(number)} string" for number in range(len(task.fields)))])
    with task_errors(REMEDY), file_errors(f"cannot read the files of {folder}"):
        return ExtractResult(
            map_rows(files.select("path", "content", *time), task, schema), task.fields
        )


def _check_fields(fields: object) -> None:
    if isinstance(fields, str) or not isinstance(fields, Sequence):
        raise invalid_option("fields", "a list of names", fields)
    for name in fields:
        if name in ("id", "text", "modified") or list(fields).count(name) > 1:
            raise OptionError(f"fields: the column {name!r} already exists; leave it out")


def _field(number: int) -> str:
    return f"field_{number}"


@dataclass(frozen=True)
class _ExtractTask:
    plan: Plan
    folder: FolderName
    fields: tuple[str, ...]
    ids_by_file: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        self.plan.check()
        with FileSpool(dict(self.plan.options), self.fields, self.ids_by_file) as spool:
            for batch in batches:
                for name, content, modified in self._files(batch):
                    if not spool.add(name, content, modified):
                        yield from self._read(spool)
                        spool.add(name, content, modified)
            yield from self._read(spool)

    def _read(self, spool: FileSpool) -> Iterator[Any]:
        for part in spool.read():
            yield from self._rows(part)

    def _files(self, batch: Any) -> Iterator[tuple[str, Any, int | None]]:
        import pyarrow as pa

        times = None
        if "modificationTime" in batch.schema.names:
            times = (
                batch.column("modificationTime").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
            )
        paths, contents = batch.column("path"), batch.column("content")
        for row in range(batch.num_rows):
            path, content = paths[row].as_py(), contents[row].as_buffer()
            if path is None or content is None:
                raise DocumentError(
                    f"the file {path!r} has no path or no content; leave the row out"
                )
            time = None if times is None else times[row].as_py()
            yield self.folder.name_of(path), content, None if time is None else 1000 * time

    def _rows(self, part: tuple[Any, Any]) -> Iterator[Any]:
        """Yields documents and skipped files as rows with the same schema."""
        import pyarrow as pa
        import pyarrow.compute as pc

        documents, skipped = part
        times = documents["modified"].cast(pa.timestamp("ns")).cast(pa.timestamp("us"), safe=False)
        formatted = pc.binary_join_element_wise(pc.strftime(times, "%Y-%m-%dT%H:%M:%S"), "Z", "")
        documents = documents.set_column(2, "modified", formatted)
        documents = documents.rename_columns(
            ["id", "text", "modified", *map(_field, range(len(self.fields)))]
        )
        kinds = [column.split() for column in _ROWS.split(", ")]
        kinds += [[_field(number), "string"] for number in range(len(self.fields))]
        schema = pa.schema(
            [(name, pa.int64() if kind == "long" else pa.string()) for name, kind in kinds]
        )
        for rows in (documents, skipped):
            for piece in _pieces(rows):
                yield from _as(piece, schema).combine_chunks().to_batches()


def _pieces(table: Any) -> Iterator[Any]:
    """Yields slices of a table that are small enough for a batch of the engine."""
    if table.num_rows <= 1 or table.nbytes <= _PIECE:
        yield table
        return
    middle = table.num_rows // 2
    yield from _pieces(table.slice(0, middle))
    yield from _pieces(table.slice(middle))


def _as(table: Any, schema: Any) -> Any:
    """Converts a table to a schema. Missing columns become null."""
    import pyarrow as pa

    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
