"""Columns of Spark: names, which are without case and quoted wherever they are expressions, and
literals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike._divided.survivors import ANNOTATIONS
from lookalike.errors import DocumentTypeError, OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def column(name: str) -> Any:
    """The column with exactly this name, whatever signs are in it."""
    from pyspark.sql import functions

    quoted = name.replace("`", "``")
    return functions.col(f"`{quoted}`")


def literal_row(spark: SparkSession, **values: str | int) -> DataFrame:
    """A frame of one row in one partition. ``createDataFrame`` would start a process of Python on
    an executor.
    """
    from pyspark.sql import functions

    columns = [functions.lit(value).alias(name) for name, value in values.items()]
    return spark.range(0, 1, 1, numPartitions=1).select(*columns)


def check_frame(frame: Any, name: str) -> None:
    """Refuses what is no frame, or one of a stream. Those of Spark Connect have another class,
    before PySpark 4.0 with no common one.

    Args:
        name: What the frame is called.

    Raises:
        DocumentTypeError: It is none, or its rows are still to come.
    """
    if not hasattr(frame, "sparkSession"):
        raise DocumentTypeError(
            f"{name}: expected a DataFrame of Spark, got "
            f"{type(frame).__module__}.{type(frame).__qualname__}; spark.createDataFrame makes one "
            "of rows, and of a pandas DataFrame"
        )
    if frame.isStreaming:
        raise DocumentTypeError(
            f"{name}: expected rows that are there, got a DataFrame of a stream; write it to a "
            "table, and give what spark.read gives of that"
        )


def refuse_annotations(df: DataFrame) -> None:
    """Refuses a frame that has a column which annotated rows get.

    Raises:
        OptionError: It has.
    """
    check_frame(df, "df")
    for name in df.columns:
        if name.lower() in ANNOTATIONS:
            raise OptionError(
                f"annotate=True adds the column {name!r}, which is there; rename it first"
            )
