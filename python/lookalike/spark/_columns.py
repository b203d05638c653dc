"""Names of columns, as Spark has them: without case, and quoted wherever they are expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ANNOTATIONS", "column", "refuse_annotations"]

#: Columns that annotated rows get.
ANNOTATIONS = ("role", "keeper", "jaccard")


def column(name: str) -> Any:
    """The column with exactly this name, whatever signs are in it."""
    from pyspark.sql import functions

    quoted = name.replace("`", "``")
    return functions.col(f"`{quoted}`")


def refuse_annotations(df: DataFrame) -> None:
    """Refuses a frame that has a column which annotated rows get.

    :raises OptionError: it has.
    """
    for name in df.columns:
        if name.lower() in ANNOTATIONS:
            raise OptionError(f"annotate=True adds the column {name!r}, which is there; rename it first")
