"""Inputs of the program as DataFrames, and DataFrames as its outputs."""

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

# Formats by the ends of names.
_ENDS = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
    "orc": "orc",
}
# CSV by RFC 4180, as on the command line. A record may have several lines. Without
# ``enforceSchema`` Spark rejects a file with another header than the first file.
_CSV = {
    "header": "true",
    "quote": '"',
    "escape": '"',
    "multiLine": "true",
    "columnPruning": "false",
    "enforceSchema": "false",
}
# The writer keeps blanks at the ends of values, and writes nothing for an empty value.
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
# The name of a table with its schema.
_SCHEMA = re.compile(r"(.+)\.(?:`[^`]+`|[^.`]+)$")
# The messages of Spark and Sail for an existing output.
_THERE = ("PATH_ALREADY_EXISTS", "path already exists")


def format_of(inputs: list[str], name: str | None) -> str:
    """The format of the inputs: ``name``, or by the ends of their names.

    Raises:
        OptionError: The names end in several formats.
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
    """The inputs of a command."""

    documents: DataFrame
    """The columns that the run reads."""
    lines: JsonLines | None = None
    """The JSON lines; ``None`` for other formats."""
    schema: StructType | None = None
    """The columns of JSON lines for an output in another format."""
    whole: DataFrame | None = None
    """Rows with all columns; ``None`` if ``documents`` has them."""

    @property
    def rows(self) -> DataFrame:
        """The rows from which the caller selects the rows to write."""
        if self.lines is not None:
            return self.lines.documents(with_lines=True)
        return self.documents if self.whole is None else self.whole

    def write(self, rows: DataFrame, path: str, kind: str) -> None:
        """Writes rows. Rows of JSON lines are written as the original lines, with annotations after
        their fields.

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
    """The rows of the inputs.

    Args:
        fields: The fields to read of JSON lines. Other formats are read with all columns; an empty
            field of CSV is an empty text.
        schema: Columns of JSON lines.
        is_typed: Whether JSON lines are written in another format.
        has_paths: Whether documents get the column ``lookalike.spark._paths.PATH``.

    Raises:
        FileError: An input cannot be read.
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
    names = FileNames.below(inputs) if has_paths else None
    with _read_errors(f"cannot read {', '.join(inputs)} as {kind}"):
        if kind != "table":
            _refuse_unread(spark, inputs)
        if kind == "jsonl":
            lines = JsonLines(spark, inputs, fields, names)
            lines.check_first()
            return Input(lines.documents(), lines, lines.schema(schema) if is_typed else None)
        rows = _rows(spark, inputs, kind, fields.text)
        # Spark Connect opens inputs when their columns are requested.
        rows.schema  # noqa: B018 - a property
        if names is not None:
            return Input(named_files(rows, fields.names, names), whole=rows)
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
    """Rejects inputs that an engine would skip silently. Spark skips files with hidden names, but
    not files in folders with such names. Sail skips absent files.
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
    """Whether Spark finds no file. It logs a trace of Java for one absent path, and no trace for
    two.
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
    """Reads CSV. Spark reads null for an empty field and for missing fields of a broken record.
    Here an empty text stays empty and the text of a broken record is null, so that ``skip_bad``
    decides about it.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    options = _CSV | {"lineSep": _line_end(spark, inputs), "columnNameOfCorruptRecord": _BROKEN}
    schema = spark.read.options(**options).csv(inputs).schema.add(_BROKEN, StringType())
    reader = spark.read.options(**options).schema(schema)
    frame: Any = reader.csv(inputs)
    if text in frame.columns:
        whole = f.when(f.col(_BROKEN).isNull(), f.coalesce(column(text), f.lit("")))
        frame = frame.withColumn(text, whole)
    without: DataFrame = frame.drop(_BROKEN)
    return without


@contextmanager
def header_errors() -> Iterator[None]:
    """Names the file if Spark ends a run because of its header.

    Raises:
        FileError: A file has another header than the first file.
    """
    try:
        yield
    except Exception as error:
        # PySpark 3.5 has no error class for it.
        found = re.search("CSV file: (.+)", f"{error}\n{error.__cause__}")
        if found is None:
            raise
        raise FileError(
            f"{found[1]} has another header than the first file, or other ends of lines; rewrite "
            "one of them, so that all files of an input have the same columns in the same order "
            "and the same ends of lines"
        ) from error


def _line_end(spark: SparkSession, inputs: list[str]) -> str:
    """The line end of the header of the first file. If Spark detected it, it would read CRLF in a
    value as LF.
    """
    names: list[str] = []
    # A quoted name may have several lines. Without quotes, a line end is not part of the last name.
    for quote in ('"', ""):
        names += spark.read.options(**_CSV | {"lineSep": "\n", "quote": quote}).csv(inputs).columns
    if any(re.search(r"\r[^\n]", name) for name in names):
        return "\r"
    return "\r\n" if any(name.endswith("\r") for name in names) else "\n"


def refuse_existing(spark: SparkSession, path: str | None, kind: str) -> None:
    """Rejects an existing output, or a table without a schema, before the work begins.

    Raises:
        FileError: The output exists, or the schema does not.
    """
    if path is None:
        return
    if kind == "table":
        _refuse_table(spark, path)
        return
    from pyspark.sql.utils import is_remote

    try:
        # Spark Connect opens paths when rows are requested; Sail returns no rows for absent paths.
        is_empty = _is_empty(spark, path)
        there = not is_remote() or not is_empty
    except Exception as error:
        if is_absent(error):
            return
        raise file_error(f"cannot look at {path}", error) from error
    if there:
        raise _is_there(path)


def _refuse_table(spark: SparkSession, name: str) -> None:
    schema = _SCHEMA.match(name)
    try:
        is_there = spark.catalog.tableExists(name)
        has_schema = is_there or schema is None or spark.catalog.databaseExists(schema[1])
    except Exception as error:
        raise file_error(f"cannot look at the table {name}", error, "name another table") from error
    if is_there:
        raise _is_there(name)
    if not has_schema:
        raise FileError(
            f"cannot write the table {name}: the schema {schema and schema[1]} does not exist; "
            "create it, or name another table"
        )


def _is_there(path: str) -> FileError:
    return FileError(f"{path} already exists; name another output, or remove it first")


def check_writable(spark: SparkSession, path: str | None, problem: str) -> None:
    """Checks that a path of a local or Hadoop file system can be written, before the work begins.
    Other file systems and servers of Spark Connect report it at the first write.

    Args:
        problem: The action that fails, with the path, such as ``cannot write PATH``.

    Raises:
        FileError: An existing folder above the path is a file, or cannot be written.
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
    """The reason why an existing path cannot contain new files; ``None`` if it can."""
    if not files.getFileStatus(place).isDirectory():
        return "is not a directory"
    scheme = place.toUri().getScheme()
    if scheme == "file" and not jvm.java.io.File(place.toUri().getPath()).canWrite():
        return "cannot be written by this process"
    if scheme == "hdfs":
        files.access(place, jvm.org.apache.hadoop.fs.permission.FsAction.WRITE)
    return None


def write_lines(lines: DataFrame, folder: str, mode: str = "error") -> None:
    """Writes each text as a line.

    Args:
        mode: ``"error"``, or ``"overwrite"``, which replaces an existing folder.

    Raises:
        FileError: The folder cannot be written, or exists without a file that
            ``refuse_existing`` could see.
    """
    try:
        with file_errors(f"cannot write {folder}"):
            lines.write.mode(mode).text(folder)
    except Exception as error:
        if any(sign in str(error) for sign in _THERE):
            raise _is_there(folder) from error
        raise
