"""Draws results with matplotlib or altair.

- ``similarity_histogram``: the number of pairs by similarity, and the threshold
- ``s_curve``: the probability that a pair is found, by its similarity, and the measured recall
- ``group_sizes``: the number of groups by their number of documents
- ``removal_by_source``: the removed part of each source
- ``threshold_sweep``: groups, duplicates and recall by threshold
- ``lookalike.plot.tables``: the numbers in these pictures, without any other package

Each function draws with the library that you name in ``backend``, by default matplotlib if it is
installed, else altair. It returns the ``Axes`` or the chart, which you can change further.
``docs/guides/gallery.md`` shows all pictures. Instead of a result, each function also takes its
table of ``lookalike.plot.tables``.

Examples:
    >>> import lookalike.plot
    >>> found = lookalike.find(["a b c d e f"] * 3)
    >>> lookalike.plot.group_sizes(found, backend="altair").to_dict()["mark"]["type"]
    'bar'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from lookalike.plot import tables
from lookalike.plot._backend import Backend, draw
from lookalike.plot._threshold_sweep import checked_sweep

if TYPE_CHECKING:
    import altair
    from matplotlib.axes import Axes

    from lookalike._measures.audit import AuditResult
    from lookalike._measures.tune import TuneResult
    from lookalike._results.find_result import FindResult

__all__ = [
    "group_sizes",
    "removal_by_source",
    "s_curve",
    "similarity_histogram",
    "tables",
    "threshold_sweep",
]


@overload
def similarity_histogram(
    result: FindResult | TuneResult | tables.SimilarityHistogram,
    *,
    bins: int | None = ...,
    backend: Literal["altair"],
) -> altair.LayerChart: ...
@overload
def similarity_histogram(
    result: FindResult | TuneResult | tables.SimilarityHistogram,
    *,
    bins: int | None = ...,
    backend: Literal["matplotlib"],
    ax: Axes | None = ...,
) -> Axes: ...
@overload
def similarity_histogram(
    result: FindResult | TuneResult | tables.SimilarityHistogram,
    *,
    bins: int | None = ...,
    backend: Backend | None = ...,
    ax: Axes | None = ...,
) -> Any: ...
def similarity_histogram(
    result: FindResult | TuneResult | tables.SimilarityHistogram,
    *,
    bins: int | None = None,
    backend: Backend | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draws the number of pairs by similarity, and the threshold. Pairs of similarity 1 have their
    own bar, to the right of 1.

    Args:
        result: As for ``lookalike.plot.tables.similarity_histogram``, or the table that this
            function returns.
        bins: As for ``lookalike.plot.tables.similarity_histogram``.
        backend: ``"matplotlib"`` or ``"altair"``; by default matplotlib if it is installed or
            ``ax`` is passed, else altair.
        ax: The Axes of matplotlib to draw on; by default new Axes.

    Returns:
        The Axes of matplotlib, or the chart of altair.

    Raises:
        ImportError: The library is not installed.
        OptionError: ``result`` or ``bins`` is not valid for the table, ``backend`` is unknown, or
            ``ax`` is passed with ``backend="altair"``.

    Examples:
        >>> import lookalike.plot
        >>> found = lookalike.find(["a b c d e f", "A b c d e f.", "x"])
        >>> ax = lookalike.plot.similarity_histogram(found)
        >>> ax.get_title()
        '1 duplicates; threshold 0.8'
    """
    return draw("similarity_histogram", tables.similarity_histogram(result, bins=bins), backend, ax)


@overload
def s_curve(
    result: FindResult | TuneResult | tables.SCurve,
    audit: AuditResult | None = ...,
    *,
    backend: Literal["altair"],
) -> altair.LayerChart: ...
@overload
def s_curve(
    result: FindResult | TuneResult | tables.SCurve,
    audit: AuditResult | None = ...,
    *,
    backend: Literal["matplotlib"],
    ax: Axes | None = ...,
) -> Axes: ...
@overload
def s_curve(
    result: FindResult | TuneResult | tables.SCurve,
    audit: AuditResult | None = ...,
    *,
    backend: Backend | None = ...,
    ax: Axes | None = ...,
) -> Any: ...
def s_curve(
    result: FindResult | TuneResult | tables.SCurve,
    audit: AuditResult | None = None,
    *,
    backend: Backend | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draws the probability that a pair is found, by its similarity. With an audit, also draws the
    measured recall: a point with its interval for each range of similarities in which documents of
    the sample have neighbours.

    Args:
        result: As for ``lookalike.plot.tables.s_curve``, or the table that this function returns.
        audit: As for ``lookalike.plot.tables.s_curve``. Without an audit, no recall is drawn.
        backend: As for ``similarity_histogram``, with the same errors.
        ax: As for ``similarity_histogram``.

    Returns:
        The Axes of matplotlib, or the chart of altair.

    Examples:
        >>> import lookalike.plot
        >>> ax = lookalike.plot.s_curve(lookalike.tune(threshold=0.8))
        >>> ax.get_title()
        '21 bands of 6 rows: 0.9983 at 0.8'
    """
    return draw("s_curve", tables.s_curve(result, audit), backend, ax)


@overload
def group_sizes(
    result: FindResult | tables.GroupSizes, *, backend: Literal["altair"]
) -> altair.Chart: ...
@overload
def group_sizes(
    result: FindResult | tables.GroupSizes, *, backend: Literal["matplotlib"], ax: Axes | None = ...
) -> Axes: ...
@overload
def group_sizes(
    result: FindResult | tables.GroupSizes, *, backend: Backend | None = ..., ax: Axes | None = ...
) -> Any: ...
def group_sizes(
    result: FindResult | tables.GroupSizes,
    *,
    backend: Backend | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draws the number of groups by their number of documents.

    Args:
        result: As for ``lookalike.plot.tables.group_sizes``, or the table that this function
            returns.
        backend: As for ``similarity_histogram``, with the same errors.
        ax: As for ``similarity_histogram``.

    Returns:
        The Axes of matplotlib, or the chart of altair.

    Examples:
        >>> import lookalike.plot
        >>> ax = lookalike.plot.group_sizes(lookalike.find(["a b c d e f"] * 3))
        >>> [int(bar.get_height()) for bar in ax.patches]
        [0, 1]
    """
    return draw("group_sizes", tables.group_sizes(result), backend, ax)


_By = Literal["documents", "bytes", "words"]


@overload
def removal_by_source(
    result: Any, *, by: _By | None = ..., most: int | None = ..., backend: Literal["altair"]
) -> altair.Chart: ...
@overload
def removal_by_source(
    result: Any,
    *,
    by: _By | None = ...,
    most: int | None = ...,
    backend: Literal["matplotlib"],
    ax: Axes | None = ...,
) -> Axes: ...
@overload
def removal_by_source(
    result: Any,
    *,
    by: _By | None = ...,
    most: int | None = ...,
    backend: Backend | None = ...,
    ax: Axes | None = ...,
) -> Any: ...
def removal_by_source(
    result: Any,
    *,
    by: _By | None = None,
    most: int | None = None,
    backend: Backend | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draws the removed and the kept part of each source.

    Args:
        result: As for ``lookalike.plot.tables.removal_by_source``, or the table that this function
            returns.
        by: As for ``lookalike.plot.tables.removal_by_source``.
        most: As for ``lookalike.plot.tables.removal_by_source``.
        backend: As for ``similarity_histogram``, with the same errors.
        ax: As for ``similarity_histogram``.

    Returns:
        The Axes of matplotlib, or the chart of altair.

    Examples:
        >>> import lookalike.plot
        >>> docs = [
        ...     {"text": "a b c d e f", "site": "x"},
        ...     {"text": "A B C D E F!", "site": "y"},
        ... ]
        >>> ax = lookalike.plot.removal_by_source(lookalike.find(docs, source_field="site"))
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['x', 'y']
    """
    return draw(
        "removal_by_source", tables.removal_by_source(result, by=by, most=most), backend, ax
    )


@overload
def threshold_sweep(
    sweep: tables.ThresholdSweep, *, backend: Literal["altair"]
) -> altair.LayerChart: ...
@overload
def threshold_sweep(
    sweep: tables.ThresholdSweep, *, backend: Literal["matplotlib"], ax: Axes | None = ...
) -> Axes: ...
@overload
def threshold_sweep(
    sweep: tables.ThresholdSweep, *, backend: Backend | None = ..., ax: Axes | None = ...
) -> Any: ...
def threshold_sweep(
    sweep: tables.ThresholdSweep, *, backend: Backend | None = None, ax: Axes | None = None
) -> Any:
    """Draws the numbers of groups and duplicates at each threshold, and the measured recall on its
    own axis.

    Args:
        sweep: A table of ``lookalike.plot.tables.threshold_sweep``. This function does not take
            documents, because each threshold needs a run, whose numbers would be lost.
        backend: As for ``similarity_histogram``, with the same errors.
        ax: As for ``similarity_histogram``.

    Returns:
        The Axes of matplotlib, or the chart of altair.

    Examples:
        >>> import lookalike.plot
        >>> docs = ["a b c d e f g h", "a b c d e f g x", "new"]
        >>> sweep = lookalike.plot.tables.threshold_sweep(docs, [0.5, 0.9], sample=10)
        >>> ax = lookalike.plot.threshold_sweep(sweep)
        >>> [line.get_ydata().tolist() for line in ax.get_lines()]
        [[1, 0], [1, 0]]
    """
    return draw("threshold_sweep", checked_sweep(sweep), backend, ax)
