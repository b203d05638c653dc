"""Near-duplicates in pandas: ``df.lookalike`` and ``series.lookalike``.

Importing this module registers both.

Examples:
    >>> import pandas
    >>> import lookalike.pandas
    >>> frame = pandas.DataFrame(
    ...     {"body": ["one text of the day", "One text, of the day!", "another"]},
    ...     index=[7, 8, 9],
    ... )
    >>> frame.lookalike.dedup("body").index.tolist()
    [8, 9]
    >>> frame[frame.lookalike.is_kept("body")].index.tolist()
    [8, 9]
    >>> frame.assign(group=frame.lookalike.labels("body"))["group"].tolist()
    [0, 0, 2]
    >>> frame["body"].lookalike.find().counts["duplicates"]
    1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas

from lookalike._frame_methods import KEPT, ColumnMethods, FrameMethods

__all__ = ["FrameAccessor", "SeriesAccessor"]


class FrameAccessor(FrameMethods["pandas.DataFrame", "pandas.DataFrame", "pandas.Series"]):
    """The methods ``df.lookalike`` of a ``pandas.DataFrame``. Returned columns have the index of
    the frame.

    ``text`` is the column of texts (``"text"`` by default), or several columns whose texts are
    joined. ``id`` is the column of ids. Other arguments are passed to the function of the same
    name; ``is_kept`` and ``labels`` pass them to ``lookalike.find``.
    """

    def _column(self, values: Sequence[Any], name: str) -> pandas.Series:
        return _series(values, name, self._docs.index)


class SeriesAccessor(ColumnMethods["pandas.Series", "pandas.Series"]):
    """The methods ``series.lookalike`` of a ``pandas.Series`` of texts. Returned columns have its
    index.

    Arguments are passed to the function of the same name; ``is_kept`` and ``labels`` pass them to
    ``lookalike.find``.
    """

    def _column(self, values: Sequence[Any], name: str) -> pandas.Series:
        return _series(values, name, self._docs.index)


def _series(values: Sequence[Any], name: str, index: pandas.Index) -> pandas.Series:
    # Pandas cannot infer the type of a column without rows.
    return pandas.Series(values, index=index, name=name, dtype="bool" if name == KEPT else "int64")


pandas.api.extensions.register_dataframe_accessor("lookalike")(FrameAccessor)
pandas.api.extensions.register_series_accessor("lookalike")(SeriesAccessor)
