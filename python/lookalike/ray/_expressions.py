"""Makes Arrow expressions under the names of ``pyspark.sql.functions``, and evaluates them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


class Expressions:
    """The ``functions`` of ``lookalike._divided.row_operations.RowOperations`` for Arrow."""

    def __init__(self) -> None:
        import pyarrow.compute as pc

        self.col = pc.field
        self.lit = pc.scalar
        self.coalesce = pc.coalesce
        self.least = pc.min_element_wise
        self.greatest = pc.max_element_wise

    def when(self, condition: Any, value: Any) -> Any:
        """Returns an expression with the value if the condition is true, else null."""
        import pyarrow.compute as pc

        return pc.if_else(condition, value, pc.scalar(None))


def project(rows: pyarrow.Table, columns: Mapping[str, Any]) -> pyarrow.Table:
    """Computes a table whose columns are expressions of the columns of another table."""
    from pyarrow import acero

    source = acero.Declaration("table_source", acero.TableSourceNodeOptions(rows))
    computed = acero.ProjectNodeOptions(list(columns.values()), list(columns))
    # Threads would change the order of the rows.
    return acero.Declaration("project", computed, [source]).to_table(use_threads=False)
