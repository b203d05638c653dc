"""The operations that rounds over large components need from an engine. Spark and Ray each have a
class for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

RowTask = Callable[[Iterable[Any]], Iterator[Any]]
"""A function from Arrow batches to Arrow batches."""
R = TypeVar("R")
"""The engine's type for rows."""
D = TypeVar("D")
"""The engine's type for documents with their texts."""


class RowOperations(Protocol[R, D]):
    """Operations on rows, which are small, and on documents, which contain texts.

    Conditions and columns are expressions of ``functions`` and of the operators ``==``, ``<=``,
    ``>``, ``>=``, ``&``, ``|``, ``~``, ``+`` and ``*``.
    """

    @property
    def functions(self) -> Any:
        """An object with the functions ``col``, ``lit``, ``coalesce``, ``when``, ``least`` and
        ``greatest`` of ``pyspark.sql.functions``.
        """
        ...

    @property
    def parts(self) -> int:
        """The number of parts into which documents are divided."""
        ...

    def stored(self, stage: str, make: Callable[[], R]) -> R:
        """Computes and stores the result of a stage, so that it is computed once."""
        ...

    def documents(self, labels: R) -> D:
        """Selects the documents of some nodes, adds the column ``check``, and stores them.

        Args:
            labels: Rows with the columns ``node`` and ``check``.
        """
        ...

    def connected(self, documents: D, count: int) -> R:
        """Connects documents that share rare shingles. Returns the labels of their components,
        with the columns ``lookalike.stages.LABELS``.

        Args:
            documents: The documents, with ``node`` and ``check``.
            count: The expected number of documents.

        Raises:
            ChangedError: The number of documents differs.
        """
        ...

    def texts(self, documents: D, rows: R) -> D:
        """Joins rows with their documents. Returns the document once for each row that names it,
        with the other columns of the row.

        Args:
            documents: The documents to select from.
            rows: Rows with the columns ``id``, ``reference``, ``lookalike.stages.PART`` and
                ``lookalike.stages.KEPT``.
        """
        ...

    def map(self, rows: R, task: RowTask, columns: str) -> R:
        """Runs a task over rows. The result has the ``columns``, with SQL types."""
        ...

    def map_documents(self, documents: D, task: RowTask, columns: str) -> R:
        """Runs a task over documents. The result has the ``columns``, with SQL types."""
        ...

    def map_parts(self, documents: D, task: RowTask, columns: str) -> R:
        """Runs a task over documents, so that one call receives all documents of a part.
        ``lookalike.stages.PART`` is the column with the part.
        """
        ...

    def semi_joined(self, documents: D, nodes: R) -> D:
        """Selects the documents whose ``node`` is in ``nodes``."""
        ...

    def sliced(self, places: Callable[[], R], slice_bytes: int) -> R:
        """Divides rows into slices of about ``slice_bytes`` bytes in the order of their places.
        Replaces the column ``place`` by ``slice``, the number of the slice, and stores the rows.

        Args:
            places: Makes the rows, with the columns ``lookalike.stages.PLACES``.
            slice_bytes: The bytes of the texts of a slice.
        """
        ...

    def repeated(self, rows: R, name: str, count: int) -> R:
        """Repeats each row ``count`` times. The new column ``name`` numbers the copies from 0."""
        ...

    def share(self, column: str, shares: int) -> Any:
        """Returns an expression that maps a column of integers to numbers below ``shares``."""
        ...

    def table(self, rows: Sequence[tuple[int, int]], names: tuple[str, str]) -> R:
        """Makes a small table of two columns of integers."""
        ...

    def select(self, rows: R, columns: Mapping[str, Any]) -> R:
        """Computes the columns of new rows, given as expressions by name."""
        ...

    def where(self, rows: R, condition: Any) -> R:
        """Selects the rows for which a condition is true."""
        ...

    def union(self, rows: R, others: R) -> R:
        """Returns the rows of both arguments, which have the same columns."""
        ...

    def join(
        self, rows: R, others: R, on: Sequence[str], how: Literal["inner", "left", "semi", "anti"]
    ) -> R:
        """Joins rows with equal values in the columns ``on``. The two sides have no other column
        in common.
        """
        ...

    def grouped(self, rows: R, by: Sequence[str], sums: Mapping[str, tuple[str, str]]) -> R:
        """Returns a row for each combination of values of the columns ``by``.

        Args:
            by: The columns to group by. Without any, all rows are one group.
            sums: New columns by name, each a column with a function: ``sum``, ``max``, ``count``
                (of values that are not null) or ``count_distinct``.
        """
        ...

    def best(self, rows: R, by: str, order: Sequence[str]) -> R:
        """Returns the greatest row for each value of the column ``by``. Rows are compared by the
        columns ``order``, one after the other. The result has these columns.
        """
        ...

    def collected(self, rows: R) -> list[dict[str, Any]]:
        """Returns a small number of rows as dicts, in the process of the caller."""
        ...
