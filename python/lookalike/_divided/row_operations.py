"""The operations of an engine for rounds over large components. Spark and Ray have a class each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

RowTask = Callable[[Iterable[Any]], Iterator[Any]]
"""From Arrow batches to Arrow batches."""
R = TypeVar("R")
"""Rows as the engine has them."""
D = TypeVar("D")
"""Documents with their texts."""


class RowOperations(Protocol[R, D]):
    """Operations on rows, which are small, and on documents, which have texts.

    Conditions and columns are expressions made from ``functions``, by ``==``, ``<=``, ``>``,
    ``>=``, ``&``, ``|``, ``~``, ``+`` and ``*``.
    """

    @property
    def functions(self) -> Any:
        """``col``, ``lit``, ``coalesce``, ``when``, ``least`` and ``greatest``, as in
        ``pyspark.sql.functions``.
        """
        ...

    @property
    def parts(self) -> int:
        """The number of parts of documents."""
        ...

    def stored(self, stage: str, make: Callable[[], R]) -> R:
        """Stores the result of a stage, so that it is computed once."""
        ...

    def documents(self, labels: R) -> D:
        """The documents of some nodes, with ``check``; stored.

        Args:
            labels: ``node`` and ``check``.
        """
        ...

    def connected(self, documents: D, count: int) -> R:
        """The labels of documents that share rare shingles.

        Args:
            count: The number of documents.
        """
        ...

    def texts(self, documents: D, rows: R) -> D:
        """The documents of rows with ``id`` and ``reference``, once for each of these rows, with
        their columns ``lookalike.stages.PART`` and ``lookalike.stages.KEPT``.
        """
        ...

    def map(self, rows: R, task: RowTask, columns: str) -> R:
        """Rows through a task."""
        ...

    def map_documents(self, documents: D, task: RowTask, columns: str) -> R:
        """Documents through a task."""
        ...

    def map_parts(self, documents: D, task: RowTask, columns: str) -> R:
        """Documents with one value of ``lookalike.stages.PART`` through one call of a task."""
        ...

    def semi_joined(self, documents: D, nodes: R) -> D:
        """The documents of some nodes."""
        ...

    def sliced(self, places: Callable[[], R], slice_bytes: int) -> R:
        """Rows of ``lookalike.stages.PLACES``, in the order of their places divided into
        slices of some bytes, whose numbers are ``slice``; stored.
        """
        ...

    def repeated(self, rows: R, name: str, count: int) -> R:
        """Each row ``count`` times, with the numbers from 0 in a column ``name``."""
        ...

    def share(self, column: str, shares: int) -> Any:
        """A number below ``shares``, by a column of whole numbers."""
        ...

    def table(self, rows: Sequence[tuple[int, int]], names: tuple[str, str]) -> R:
        """Rows of two numbers each; few."""
        ...

    def select(self, rows: R, columns: Mapping[str, Any]) -> R:
        """Columns by their names."""
        ...

    def where(self, rows: R, condition: Any) -> R:
        """Rows for which a condition is true."""
        ...

    def union(self, rows: R, others: R) -> R:
        """Rows of both, which have the same columns."""
        ...

    def join(
        self, rows: R, others: R, on: Sequence[str], how: Literal["inner", "left", "semi", "anti"]
    ) -> R:
        """Joins rows that are equal in some columns. Both sides have no other column in common."""
        ...

    def grouped(self, rows: R, by: Sequence[str], sums: Mapping[str, tuple[str, str]]) -> R:
        """A row for each value of some columns.

        Args:
            sums: New columns: ``sum``, ``max``, ``count`` (of values that are not null) or
                ``count_distinct`` of a column.
        """
        ...

    def best(self, rows: R, by: str, order: Sequence[str]) -> R:
        """Returns the greatest row for each value of a column, with the columns of ``order``. Rows
        compare column by column.
        """
        ...

    def collected(self, rows: R) -> list[dict[str, Any]]:
        """Rows in the process of the caller; few."""
        ...
