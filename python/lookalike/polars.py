"""Near-duplicates in polars: ``df.lookalike`` of a ``DataFrame``, a ``LazyFrame`` and a ``Series``,
and ``pl.col("text").lookalike`` of an expression.

Importing this module registers all four.

Examples:
    >>> import polars
    >>> import lookalike.polars
    >>> frame = polars.DataFrame(
    ...     {
    ...         "body": ["one text of the day", "One text, of the day!", "another"],
    ...         "n": [7, 8, 9],
    ...     }
    ... )
    >>> frame.lookalike.dedup("body")["n"].to_list()
    [8, 9]
    >>> frame.lazy().lookalike.dedup("body")["n"].to_list()
    [8, 9]
    >>> frame.filter(frame.lookalike.is_kept("body"))["n"].to_list()
    [8, 9]
    >>> frame.lazy().filter(polars.col("body").lookalike.is_kept()).collect()[
    ...     "n"
    ... ].to_list()
    [8, 9]
    >>> frame.with_columns(group=polars.col("body").lookalike.labels())[
    ...     "group"
    ... ].to_list()
    [0, 0, 2]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars

from lookalike._find import find
from lookalike._frame_methods import KEPT, LABEL, ColumnMethods, FrameMethods

__all__ = ["ExprNamespace", "FrameNamespace", "LazyFrameNamespace", "SeriesNamespace"]


class FrameNamespace(FrameMethods[polars.DataFrame, polars.DataFrame, polars.Series]):
    """The methods ``df.lookalike`` of a ``polars.DataFrame``.

    ``text`` is the column of texts (``"text"`` by default), or several columns whose texts are
    joined. ``id`` is the column of ids. Other arguments are passed to the function of the same
    name; ``is_kept`` and ``labels`` pass them to ``lookalike.find``.
    """

    def _column(self, values: Sequence[Any], name: str) -> polars.Series:
        return _series(values, name)


class LazyFrameNamespace(FrameMethods[polars.LazyFrame, polars.DataFrame, polars.Series]):
    """The methods ``lf.lookalike`` of a ``polars.LazyFrame``. Each method executes the query once.
    Within a query, use an expression: ``lf.filter(pl.col("text").lookalike.is_kept())``.

    The methods take the same arguments as the methods of ``FrameNamespace``.
    """

    def _column(self, values: Sequence[Any], name: str) -> polars.Series:
        return _series(values, name)


class SeriesNamespace(ColumnMethods[polars.Series, polars.Series]):
    """The methods ``series.lookalike`` of a ``polars.Series`` of texts.

    Arguments are passed to the function of the same name; ``is_kept`` and ``labels`` pass them to
    ``lookalike.find``.
    """

    def _column(self, values: Sequence[Any], name: str) -> polars.Series:
        return _series(values, name)


class ExprNamespace:
    """The methods ``pl.col("text").lookalike`` of an expression of texts.

    Arguments are passed to ``lookalike.find``. All rows are compared with each other. So the whole
    column is in memory, even if polars executes the query in batches.
    """

    def __init__(self, texts: polars.Expr) -> None:
        self._texts = texts

    def is_kept(self, **options: Any) -> polars.Expr:
        """Returns an expression of booleans, true for each text that is kept."""
        return self._texts.map_batches(
            lambda texts: _series(find(texts, **options).is_kept, KEPT).alias(texts.name),
            return_dtype=polars.Boolean,
        )

    def labels(self, **options: Any) -> polars.Expr:
        """Returns an expression of 64-bit integers that are equal for the texts of a group, as in
        ``lookalike.FindResult.labels``.
        """
        return self._texts.map_batches(
            lambda texts: _series(find(texts, **options).labels, LABEL).alias(texts.name),
            return_dtype=polars.Int64,
        )


def _series(values: Sequence[Any], name: str) -> polars.Series:
    # Polars cannot infer the type of a column without rows.
    return polars.Series(name, values, dtype=polars.Boolean if name == KEPT else polars.Int64)


polars.api.register_dataframe_namespace("lookalike")(FrameNamespace)
polars.api.register_lazyframe_namespace("lookalike")(LazyFrameNamespace)
polars.api.register_series_namespace("lookalike")(SeriesNamespace)
polars.api.register_expr_namespace("lookalike")(ExprNamespace)
