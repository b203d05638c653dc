"""Checks and quotes names of columns, and makes literal rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike._divided.survivors import ANNOTATIONS
from lookalike.errors import DocumentTypeError, OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def column(name: str) -> Any:
    """Returns the column with this name, which may contain any characters."""
    from pyspark.sql import functions

    quoted = name.replace("`", "``")
    return functions.col(f"`{quoted}`")


def literal_row(spark: SparkSession, **values: str | int) -> DataFrame:
    """Makes a frame of one row in one partition. ``createDataFrame`` would start a Python process
    on an executor.
    """
    from pyspark.sql import functions

    columns = [functions.lit(value).alias(name) for name, value in values.items()]
    return spark.range(0, 1, 1, numPartitions=1).select(*columns)


def check_frame(frame: Any, name: str) -> None:
    """Checks that a value is a data frame and not a stream. Does not check the class, because
    frames of Spark Connect have another class, and PySpark before 4.0 has no common base class.

    Args:
        frame: The value.
        name: The name of the argument, for the message.

    Raises:
        DocumentTypeError: The value is not a frame, or its rows are a stream.
    """
    if not hasattr(frame, "sparkSession"):
        raise DocumentTypeError(
            f"{name}: expected a DataFrame of Spark, got "
            f"{type(frame).__module__}.{type(frame).__qualname__}; spark.createDataFrame makes one "
            "of rows, and of a pandas DataFrame"
        )
    if frame.isStreaming:
        raise DocumentTypeError(
            f"{name}: expected a DataFrame with stored rows, got a stream; write it to a table, "
            "and read the table with spark.read"
        )


def refuse_annotations(df: DataFrame) -> None:
    """Rejects a frame with a column that annotations add.

    Raises:
        OptionError: The frame has such a column.
    """
    check_frame(df, "df")
    for name in df.columns:
        if name.lower() in ANNOTATIONS:
            raise OptionError(
                f"annotate=True adds the column {name!r}, which already exists; rename it first"
            )
