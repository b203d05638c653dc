"""Reads the inputs of the program as data frames, and writes data frames as its outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from lookalike._divided.task_errors import file_error, file_errors
from lookalike.errors import FileError, LookalikeError, OptionError
from lookalike.spark._checkpoint import is_absent
from lookalike.spark._columns import column
from lookalike.spark._json_lines import JsonLines, LineFields
from lookalike.spark._paths import FileNames, named_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# The formats for the extensions of names.
_ENDS = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
    "orc": "orc",
}
# Reads CSV by RFC 4180, as on the command line: a record may have several lines. With
# ``enforceSchema`` false, Spark rejects a file with another header than the first file.
_CSV = {
    "header": "true",
    "quote": '"',
    "escape": '"',
    "multiLine": "true",
    "columnPruning": "false",
    "enforceSchema": "false",
}
# Keeps blanks at the ends of values, and writes an empty text as an empty field without quotes.
_CSV_OUTPUT = {
    "header": "true",
    "quote": '"',
    "escape": '"',
    "emptyValue": "",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_BROKEN = "__lookalike_broken"
_READ_REMEDY = "name existing inputs, and their format by --format"
_CASE_REMEDY = (
    "for columns that differ in case only, set spark.sql.caseSensitive=true; or name the columns "
    "of JSON lines by --schema"
)
_PACKAGE_REMEDY = "install the package for the driver and the workers; Spark uses it for Arrow"
# The name of a table with the name of its schema.
_SCHEMA = re.compile(r"(.+)\.(?:`[^`]+`|[^.`]+)$")
# Parts of the messages of Spark and Sail for an existing output.
_EXISTS = ("PATH_ALREADY_EXISTS", "path already exists")


def format_of(inputs: list[str], name: str | None) -> str:
    """Returns the format of the inputs: ``name``, or the format for the extensions of their names.

    Raises:
        OptionError: The extensions are of several formats.
    """
    if name is not None:
        return _named(name)
    ends = (re.search(r"\.(\w+?)(?:\.gz)?/*$", name.lower()) for name in inputs)
    formats = sorted({_ENDS.get(end[1], "parquet") if end else "parquet" for end in ends})
    if len(formats) > 1:
        raise OptionError(
            f"inputs of several formats: {' and '.join(formats)}; --format names one, or run on "
            "one of them"
        )
    return formats[0]


def _named(name: str) -> str:
    return "jsonl" if name == "json" else name


@dataclass(frozen=True)
class Input:
    """The rows of the inputs of a command."""

    documents: DataFrame
    """The rows with the columns that the run reads; for some formats also other columns."""
    lines: JsonLines | None = None
    """The JSON lines; ``None`` for other formats."""
    schema: StructType | None = None
    """The columns of JSON lines for an output in another format."""
    all_columns: DataFrame | None = None
    """The rows with all columns; ``None`` if ``documents`` has all columns, or for JSON lines."""

    @property
    def rows(self) -> DataFrame:
        """The rows, with everything that ``write`` needs. The caller selects the rows to write."""
        if self.lines is not None:
            return self.lines.documents(with_lines=True)
        return self.documents if self.all_columns is None else self.all_columns

    def write(self, rows: DataFrame, path: str, kind: str) -> None:
        """Writes rows of ``rows``. If inputs and output are JSON lines, writes the original lines,
        with annotations after their fields.

        Args:
            rows: The rows to write.
            path: The folder or table.
            kind: The format.

        Raises:
            FileError: The path cannot be written.
        """
        kind = _named(kind)
        if self.lines is not None:
            rows = (
                self.lines.lines_of(rows)
                if self.schema is None
                else self.lines.columns_of(rows, self.schema)
            )
        with file_errors(f"cannot write {path}"):
            if kind == "table":
                rows.write.saveAsTable(path)
            elif kind == "csv":
                rows.write.options(**_CSV_OUTPUT).csv(path)
            elif kind != "jsonl":
                rows.write.format(kind).save(path)
            elif self.lines is not None:
                rows.write.text(path)
            else:
                rows.write.json(path, ignoreNullFields=False)


def read(
    spark: SparkSession,
    inputs: list[str],
    kind: str,
    fields: LineFields,
    schema: str | None = None,
    *,
    is_typed: bool = False,
    has_paths: bool = False,
) -> Input:
    """Reads the inputs.

    Args:
        spark: The session.
        inputs: Files, folders or tables.
        kind: Their format.
        fields: The fields to read from JSON lines. Other formats are read with all columns. In
            CSV, an empty value in the column of texts is an empty text.
        schema: The columns of JSON lines, for an output in another format. ``None`` to find them.
        is_typed: Whether the output of JSON lines has another format.
        has_paths: Whether to add the column ``lookalike.spark._paths.PATH`` to the documents.

    Raises:
        FileError: An input cannot be read.
        OptionError: ``schema`` or ``has_paths`` is set for a format without it.
        DocumentError: The first JSON line lacks a field.
    """
    if schema is not None and kind != "jsonl":
        raise OptionError(
            f"--schema names the columns of JSON lines, and the inputs are {kind}; leave it out"
        )
    if has_paths and kind == "table":
        raise OptionError(
            "keep='path:GLOB' compares paths of files, and tables have none; path_field='COLUMN' "
            "names a column"
        )
    names = FileNames.of_inputs(inputs) if has_paths else None
    with _read_errors(f"cannot read {', '.join(inputs)} as {kind}"):
        if kind != "table":
            _refuse_unread(spark, inputs)
        if kind == "jsonl":
            lines = JsonLines(spark, inputs, fields, names)
            lines.check_first()
            return Input(lines.documents(), lines, lines.schema(schema) if is_typed else None)
        rows = _rows(spark, inputs, kind, fields.text)
        # Spark Connect opens the inputs only now, when their columns are requested.
        rows.schema  # noqa: B018 - a property
        if names is not None:
            return Input(named_files(rows, fields.names, names), all_columns=rows)
    return Input(rows)


@contextmanager
def _read_errors(problem: str) -> Iterator[None]:
    try:
        yield
    except LookalikeError:
        raise
    except Exception as error:
        message = str(error)
        remedies = {"COLUMN_ALREADY_EXISTS": _CASE_REMEDY, "PACKAGE_NOT_INSTALLED": _PACKAGE_REMEDY}
        found = (remedy for condition, remedy in remedies.items() if condition in message)
        raise file_error(problem, error, next(found, _READ_REMEDY)) from error


def _refuse_unread(spark: SparkSession, inputs: list[str]) -> None:
    """Rejects inputs that an engine would skip silently. Spark skips files whose names begin with
    ``_`` or ``.``, but not files in folders with such names. Sail skips absent files.
    """
    from pyspark.sql.utils import is_remote

    for name in inputs:
        is_hidden = re.search(r"(^|/)([_.][^/]*)/*$", name) is not None
        if (is_hidden or is_remote()) and _is_empty(spark, name):
            if is_hidden:
                raise FileError(
                    f"Spark reads no file whose name begins with _ or ., such as {name}; rename it"
                )
            raise FileError(f"cannot find a file at {name}; {_READ_REMEDY}")


def _is_empty(spark: SparkSession, path: str) -> bool:
    """Returns true if Spark finds no file at a path. Passes the path twice, because Spark logs a
    Java trace if the only path is absent.
    """
    files = spark.read.format("binaryFile").load([path, path]).select("path")
    return not files.limit(1).collect()


def _rows(spark: SparkSession, inputs: list[str], kind: str, text: str) -> DataFrame:
    if kind == "table":
        return reduce(
            lambda all_, more: all_.unionByName(more), [spark.read.table(name) for name in inputs]
        )
    if kind == "csv":
        return _csv(spark, inputs, text)
    return spark.read.format(kind).load(inputs)


def _csv(spark: SparkSession, inputs: list[str], text: str) -> DataFrame:
    """Reads CSV, in which only broken records have no text.

    Spark reads an empty field, and a missing field of a broken record, as null. This function
    replaces the null of an empty text by an empty text. It keeps the null of a broken record,
    which is an error unless ``skip_bad`` leaves the record out.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    options = _CSV | {"lineSep": _line_end(spark, inputs), "columnNameOfCorruptRecord": _BROKEN}
    schema = spark.read.options(**options).csv(inputs).schema.add(_BROKEN, StringType())
    reader = spark.read.options(**options).schema(schema)
    frame: Any = reader.csv(inputs)
    if text in frame.columns:
        intact = f.when(f.col(_BROKEN).isNull(), f.coalesce(column(text), f.lit("")))
        frame = frame.withColumn(text, intact)
    without: DataFrame = frame.drop(_BROKEN)
    return without


@contextmanager
def header_errors() -> Iterator[None]:
    """Converts Spark's error about the header of a CSV file in a ``with`` block. The new error
    names the file.

    Raises:
        FileError: A file has another header than the first file.
    """
    try:
        yield
    except Exception as error:
        # PySpark 3.5 has no error class for this error.
        found = re.search("CSV file: (.+)", f"{error}\n{error.__cause__}")
        if found is None:
            raise
        raise FileError(
            f"{found[1]} has another header than the first file, or other ends of lines; rewrite "
            "one of them, so that all files of an input have the same columns in the same order "
            "and the same ends of lines"
        ) from error


def _line_end(spark: SparkSession, inputs: list[str]) -> str:
    """Returns the line end of the header of the first file. If Spark detected the line end itself,
    it would read CRLF within a value as LF.
    """
    names: list[str] = []
    # With quotes, a name may contain line ends. Without quotes, the last name ends at the line
    # end.
    for quote in ('"', ""):
        names += spark.read.options(**_CSV | {"lineSep": "\n", "quote": quote}).csv(inputs).columns
    if any(re.search(r"\r[^\n]", name) for name in names):
        return "\r"
    return "\r\n" if any(name.endswith("\r") for name in names) else "\n"


def refuse_existing(spark: SparkSession, path: str | None, kind: str) -> None:
    """Rejects an output that already exists, or a table whose schema does not exist, before the
    work begins.

    Args:
        spark: The session.
        path: The path or table; ``None`` for no output.
        kind: ``table``, or any other format.

    Raises:
        FileError: The output exists, or the schema of the table does not.
    """
    if path is None:
        return
    if kind == "table":
        _refuse_table(spark, path)
        return
    from pyspark.sql.utils import is_remote

    try:
        # Spark Connect opens a path when rows are requested. Sail returns no rows for an absent
        # path.
        is_empty = _is_empty(spark, path)
        is_present = not is_remote() or not is_empty
    except Exception as error:
        if is_absent(error):
            return
        raise file_error(f"cannot check whether {path} exists", error) from error
    if is_present:
        raise _exists_error(path)


def _refuse_table(spark: SparkSession, name: str) -> None:
    schema = _SCHEMA.match(name)
    try:
        is_present = spark.catalog.tableExists(name)
        has_schema = is_present or schema is None or spark.catalog.databaseExists(schema[1])
    except Exception as error:
        raise file_error(
            f"cannot check whether the table {name} exists", error, "name another table"
        ) from error
    if is_present:
        raise _exists_error(name)
    if not has_schema:
        raise FileError(
            f"cannot write the table {name}: the schema {schema and schema[1]} does not exist; "
            "create it, or name another table"
        )


def _exists_error(path: str) -> FileError:
    return FileError(f"{path} already exists; name another output, or remove it first")


def check_writable(spark: SparkSession, path: str | None, problem: str) -> None:
    """Checks that a path of a local file system or of HDFS can be written, before the work begins.
    With other file systems and with Spark Connect, the first write fails instead.

    Args:
        spark: The session.
        path: The path; ``None`` for no output.
        problem: The failed action with the path, such as ``cannot write PATH``.

    Raises:
        FileError: The path, or the nearest existing folder above it, is a file or cannot be
            written.
    """
    jvm: Any = getattr(spark, "_jvm", None)
    if path is None or jvm is None:
        return
    try:
        with file_errors(problem):
            place = jvm.org.apache.hadoop.fs.Path(path)
            files = place.getFileSystem(spark._jsc.hadoopConfiguration())
            place = files.makeQualified(place)
            while not files.exists(place) and place.getParent() is not None:
                place = place.getParent()
            reason = _unwritable(jvm, files, place)
    except LookalikeError:
        raise
    except Exception as error:
        raise file_error(problem, error) from error
    if reason is not None:
        raise FileError(
            f"{problem}: {place.toUri().getPath()} {reason}; name another path, or let Spark "
            "write this one"
        )


def _unwritable(jvm: Any, files: Any, place: Any) -> str | None:
    """Returns the reason why an existing path cannot contain new files; ``None`` if it can."""
    if not files.getFileStatus(place).isDirectory():
        return "is not a directory"
    scheme = place.toUri().getScheme()
    if scheme == "file" and not jvm.java.io.File(place.toUri().getPath()).canWrite():
        return "cannot be written by this process"
    if scheme == "hdfs":
        files.access(place, jvm.org.apache.hadoop.fs.permission.FsAction.WRITE)
    return None


def write_lines(lines: DataFrame, folder: str, mode: str = "error") -> None:
    """Writes the texts of a frame as lines to the files of a folder.

    Args:
        lines: The frame, with one column of texts.
        folder: The folder.
        mode: ``"error"`` rejects an existing folder, ``"overwrite"`` replaces it.

    Raises:
        FileError: The folder cannot be written, or exists. ``refuse_existing`` does not detect
            every existing folder.
    """
    try:
        with file_errors(f"cannot write {folder}"):
            lines.write.mode(mode).text(folder)
    except Exception as error:
        if any(sign in str(error) for sign in _EXISTS):
            raise _exists_error(folder) from error
        raise
