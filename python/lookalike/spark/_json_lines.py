"""Reads JSON lines as rows by the rules of the command line, and writes the lines of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lookalike import _engine
from lookalike._divided.arrow_values import read_table
from lookalike._divided.survivors import ANNOTATIONS
from lookalike.errors import DocumentError
from lookalike.spark._columns import column
from lookalike.spark._paths import PATH, FileNames, with_files
from lookalike.spark._worker import map_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# The column with the unchanged line.
_LINE = "__lookalike_line"
# The column that tells whether a line is a JSON object.
_IS_OBJECT = "__lookalike_is_object"
# The column with the values that Spark parses from a line.
_PARSED = "__lookalike_parsed"
# The column in which Spark's reader puts lines that are not objects.
_BROKEN = "__lookalike_broken"
# The field or column that contains an annotated line that is not an object.
_CORRUPT = "_corrupt_record"


@dataclass(frozen=True)
class LineFields:
    """The fields to read from lines. ``meta.id`` is the field ``id`` of the object ``meta``."""

    text: str
    id: str | None
    """The field of ids; ``None`` if names of folders (such as ``id=VALUE``) contain the ids."""
    others: tuple[str, ...] = ()
    """The fields that ``keep``, ``path_field`` and ``source_field`` name."""
    skip_bad: bool = False
    """Whether a line that is not a document becomes a row without values. Otherwise it is an
    error.
    """
    refused: tuple[str, ...] = ()
    """Fields that no line may have, because annotations add them."""

    @property
    def names(self) -> list[str]:
        """The names of all fields to read, each once."""
        return list(
            dict.fromkeys(name for name in (self.id, self.text, *self.others) if name is not None)
        )

    def reader(self) -> _engine.JsonLines:
        """Makes the engine's reader of these fields."""
        return _engine.JsonLines(
            self.text, self.id, list(self.others), self.skip_bad, list(self.refused)
        )


class JsonLines:
    """The JSON lines of the input files and folders."""

    def __init__(
        self,
        spark: SparkSession,
        inputs: list[str],
        fields: LineFields,
        names: FileNames | None = None,
    ) -> None:
        """Opens the inputs.

        Args:
            spark: The session.
            inputs: The files and folders.
            fields: The fields to read.
            names: The names of files for the column ``PATH``; ``None`` to omit this column.
        """
        self._spark, self._inputs, self._names = spark, inputs, names
        self._lines = spark.read.schema(f"{_LINE} string").option("lineSep", "\n").text(inputs)
        # Spark makes columns from names of folders (`NAME=VALUE`). They replace fields of these
        # names.
        self._folders = [name for name in self._lines.columns if name != _LINE]
        others = tuple(name for name in fields.others if name not in self._folders)
        self._fields = replace(
            fields, id=None if fields.id in self._folders else fields.id, others=others
        )

    def check_first(self) -> None:
        """Checks that the first line has the fields.

        Raises:
            DocumentError: A field is missing.
        """
        lines = self._lines.where(column(_LINE).rlike(r"\S")).select(
            column(_LINE).cast("binary").alias(_LINE)
        )
        for row in lines.limit(1).collect():
            try:
                self._fields.reader().check_first(bytes(row[_LINE]))
            except DocumentError as error:
                raise DocumentError(
                    f"{error}; name the fields by --id and --text, or another format by --format"
                ) from None

    def documents(self, *, with_lines: bool = False) -> DataFrame:
        """Returns a row for each line that is not blank, with the fields, and the columns from
        names of folders.

        Args:
            with_lines: Whether rows also contain their line, for ``lines_of`` and ``columns_of``.
        """
        from pyspark.sql.types import BinaryType, BooleanType, StringType, StructType

        schema = StructType()
        for name in self._fields.names:
            schema.add(name, StringType())
        for field in self._lines.schema.fields:
            if field.name != _LINE:
                schema.add(field)
        # Pass lines as bytes: strings of Arrow must be UTF-8, and lines can have other bytes.
        lines = self._lines.withColumn(_LINE, column(_LINE).cast("binary"))
        if not with_lines:
            if self._names is not None:
                lines = with_files(lines)
                schema.add(PATH, StringType())
            return map_rows(lines, ParseTask(self._fields, with_lines, self._names), schema)
        schema.add(_LINE, BinaryType()).add(_IS_OBJECT, BooleanType())
        rows = map_rows(lines, ParseTask(self._fields, with_lines), schema)
        return rows.withColumn(_LINE, column(_LINE).cast("string"))

    def schema(self, columns: str | None) -> StructType:
        """Returns the columns of the lines. If ``columns`` is ``None``, Spark reads the lines to
        find them.
        """
        reader = self._spark.read.option("columnNameOfCorruptRecord", _BROKEN)
        return (reader if columns is None else reader.schema(columns)).json(self._inputs).schema

    def lines_of(self, rows: DataFrame) -> DataFrame:
        """Returns the lines of rows as a column of texts. Inserts the annotations that the rows
        have.
        """
        return rows.select(_annotated(rows))

    def columns_of(self, rows: DataFrame, schema: StructType) -> DataFrame:
        """Returns rows with the columns of their lines, and with their annotations.

        Args:
            rows: Rows of ``documents``, with their lines.
            schema: The result of ``schema``.
        """
        from pyspark.sql import functions as f
        from pyspark.sql.types import StructType

        line, is_object = column(_LINE), column(_IS_OBJECT)
        others = [name for name in rows.columns if name in (*self._folders, *ANNOTATIONS)]
        fields = StructType([field for field in schema if field.name not in (*others, _BROKEN)])
        if not fields.fields:
            # The input has no lines.
            return rows.drop(_LINE, _IS_OBJECT)
        # A value that Spark cannot parse would be null; FAILFAST ends the run instead.
        parsed = f.from_json(f.when(is_object, line), fields, {"mode": "FAILFAST"})
        has_broken = _BROKEN in schema.names and bool(_annotations(rows))
        broken = (
            [f.when(~is_object, line).alias(_CORRUPT)]
            if has_broken and _CORRUPT not in fields.names
            else []
        )
        return rows.withColumn(_PARSED, parsed).select(
            f"{_PARSED}.*", *broken, *map(column, others)
        )


def _annotated(rows: DataFrame) -> Any:
    """Returns the expression of the line of a row, with the annotations that the rows have. An
    annotated line that is not an object becomes a field of an object.
    """
    from pyspark.sql import functions as f

    line = column(_LINE)
    annotations = _annotations(rows)
    if not annotations:
        return line
    how = {"ignoreNullFields": "false"}
    added = f.to_json(f.struct(*annotations), how)
    head = f.regexp_replace(line, r"\}\s*\z", "")
    annotated = f.concat(
        head, f.when(head.rlike(r"\A\s*\{\s*\z"), "").otherwise(","), f.substring(added, 2, 1 << 30)
    )
    broken = f.to_json(f.struct(line.alias(_CORRUPT), *annotations), how)
    return f.when(column(_IS_OBJECT), annotated).otherwise(broken)


def _annotations(rows: DataFrame) -> list[str]:
    """Returns the names of the annotations that rows have."""
    return [name for name in rows.columns if name in ANNOTATIONS]


@dataclass(frozen=True)
class ParseTask:
    """Reads the fields of lines, which are bytes."""

    fields: LineFields
    with_lines: bool
    names: FileNames | None = None
    """The names that replace the addresses in ``PATH``; ``None`` without this column."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        reader = self.fields.reader()
        for batch in batches:
            if not batch.num_rows:
                continue
            found = read_table(reader.read(batch.select([_LINE])))
            if not found.num_rows:
                continue
            rows = (
                batch if found.num_rows == batch.num_rows else batch.take(found.column(0).chunk(0))
            )
            columns = self._columns(found)
            columns |= {
                name: rows.column(at) for at, name in enumerate(rows.schema.names) if name != _LINE
            }
            if self.names is not None:
                columns[PATH] = self.names.named(columns[PATH])
            if self.with_lines:
                columns |= {
                    _LINE: rows.column(rows.schema.get_field_index(_LINE)),
                    _IS_OBJECT: found.column(1),
                }
            yield from pa.Table.from_arrays(
                list(columns.values()), names=list(columns)
            ).to_batches()

    def _columns(self, found: Any) -> dict[str, Any]:
        """Returns the columns of the fields by name, from the columns that the engine read."""
        how = self.fields
        values = [
            (how.id, 2),
            (how.text, 3),
            *((name, 4 + at) for at, name in enumerate(how.others)),
        ]
        columns: dict[str, Any] = {}
        for name, at in values:
            if name is not None:
                columns.setdefault(name, found.column(at))
        return columns
