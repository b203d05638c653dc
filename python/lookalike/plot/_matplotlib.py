"""Draws tables on Axes of matplotlib."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import matplotlib.pyplot as plt
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import MaxNLocator

from lookalike.plot._group_sizes import GroupSizes
from lookalike.plot._matplotlib_colours import Palette, palette
from lookalike.plot._removal_by_source import RemovalBySource
from lookalike.plot._s_curve import SCurve
from lookalike.plot._similarity_histogram import SimilarityHistogram
from lookalike.plot._style import (
    curve_title,
    histogram_title,
    measured_label,
    shown_name,
    source_label,
    sweep_title,
)
from lookalike.plot._threshold_sweep import ThresholdSweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (6.4, 3.8)
# The height in inches for the bar of a source.
_BAR = 0.32


def _axes(ax: Axes | None, size: tuple[float, float] = _SIZE) -> Axes:
    """Returns the Axes of the caller, or new Axes. Creates new Axes with pyplot, so that notebooks
    show them.
    """
    if ax is not None:
        return ax
    _, new_axes = plt.subplots(figsize=size, layout="constrained")
    return new_axes


def _dress(
    ax: Axes, colours: Palette, grid: Literal["x", "y", "both"], title: str, **labels: str
) -> None:
    """Adds the title, the labels of the axes, and grid lines below the marks."""
    ax.set_title(title)
    ax.set(**labels)
    ax.set_axisbelow(True)
    ax.grid(axis=grid, color=colours.grid, linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)


def _mark_threshold(ax: Axes, colours: Palette, threshold: float) -> None:
    line = ax.axvline(
        threshold,
        color=colours.removed,
        linestyle="--",
        linewidth=1.5,
        label=f"threshold {threshold:g}",
    )
    # The line may cross bars. An edge in the colour of the background sets it off.
    line.set_path_effects([Stroke(linewidth=3.5, foreground=colours.background), Normal()])


def _show_legend(ax: Axes, drawn: Sequence[Any] | None = None, **options: Any) -> None:
    """Adds a legend if it has more than one entry.

    Args:
        ax: The Axes.
        drawn: The marks of the entries; by default all labelled marks of the Axes.
        options: Options of ``Axes.legend``.
    """
    entries = ax.get_legend_handles_labels()[0] if drawn is None else list(drawn)
    if len(entries) > 1:
        ax.legend(entries, [str(entry.get_label()) for entry in entries], **options)


def _use_whole_numbers(axis: Any) -> None:
    """Labels an axis with whole numbers only."""
    axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10]))


def similarity_histogram(table: SimilarityHistogram, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    colours = palette(ax)
    edges, width = table.edges, table.edges[1] - table.edges[0]
    widths = [high - low for low, high in itertools.pairwise(edges)]
    ax.bar(
        edges[:-1],
        table.counts,
        widths,
        align="edge",
        color=colours.main,
        edgecolor=colours.background,
        linewidth=0.5,
    )
    ax.bar(
        [edges[-1]],
        [table.equal],
        width,
        align="edge",
        color=colours.equal,
        label=f"{table.equal:,} equal" if table.equal else None,
    )
    _mark_threshold(ax, colours, table.threshold)
    _dress(
        ax,
        colours,
        "y",
        xlabel=f"{table.measure} similarity",
        ylabel=table.counted,
        title=histogram_title(table),
    )
    ax.set_xlim(edges[0] - width / 2, edges[-1] + width * 1.5)
    ax.set_ylim(bottom=0)
    _use_whole_numbers(ax.yaxis)
    _show_legend(ax, loc="best", framealpha=0.9)
    return ax


def s_curve(table: SCurve, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    colours = palette(ax)
    ax.axvspan(table.threshold, 1, color=colours.main, alpha=0.08, linewidth=0)
    ax.plot(
        table.similarities,
        table.probabilities,
        color=colours.main,
        linewidth=2.5,
        label="predicted",
    )
    _mark_threshold(ax, colours, table.threshold)
    measured = table.measured_rows()
    if measured:
        middles, recalls = [row["middle"] for row in measured], [row["recall"] for row in measured]
        lower_errors = [row["recall"] - row["low"] for row in measured]
        upper_errors = [row["high"] - row["recall"] for row in measured]
        half = [(row["to"] - row["from"]) / 2 for row in measured]
        ax.errorbar(
            middles,
            recalls,
            yerr=[lower_errors, upper_errors],
            xerr=half,
            fmt="o",
            markersize=5,
            color=colours.ink,
            elinewidth=1.2,
            capsize=3,
            label=measured_label(table),
        )
    title = "\n".join(curve_title(table))
    _dress(
        ax,
        colours,
        "both",
        xlabel="similarity of a pair",
        ylabel="probability of being found",
        title=title,
    )
    ax.set(xlim=(0, 1.02), ylim=(0, 1.04))
    _show_legend(ax, loc="best", framealpha=0.9)
    return ax


def group_sizes(table: GroupSizes, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    colours = palette(ax)
    bars = ax.bar(
        range(len(table.steps)), [step.groups for step in table.steps], color=colours.main
    )
    ax.bar_label(bars, [f"{step.groups:,}" for step in table.steps], padding=2, color=colours.ink)
    ax.set_xticks(range(len(table.steps)), [step.label for step in table.steps])
    _dress(
        ax,
        colours,
        "y",
        xlabel="documents in a group",
        ylabel="groups",
        title=f"{table.groups:,} groups",
    )
    # Leave room for the numbers above the bars.
    ax.margins(y=0.1)
    ax.set_ylim(bottom=0)
    _use_whole_numbers(ax.yaxis)
    return ax


def removal_by_source(table: RemovalBySource, axes: Axes | None) -> Axes:
    sources = table.sources
    ax = _axes(axes, (_SIZE[0], 1.4 + _BAR * max(len(sources), 1)))
    colours = palette(ax)
    places = range(len(sources))
    removed = [source.removed for source in sources]
    kept = [source.kept for source in sources]
    # Leave out of the legend a part that is 0 in all sources.
    ax.barh(places, removed, color=colours.removed, label="removed" if any(removed) else None)
    ends = ax.barh(
        places, kept, left=removed, color=colours.main, label="kept" if any(kept) else None
    )
    ax.bar_label(ends, [f"{source.share:.1%}" for source in sources], padding=3, color=colours.ink)
    ax.set_yticks(places, [shown_name(source.label) for source in sources])
    for label in ax.get_yticklabels():
        # Do not parse a name with two dollar signs as a formula.
        label.set_parse_math(False)
    ax.invert_yaxis()
    _dress(ax, colours, "x", xlabel=source_label(table), title=f"{table.by} by source")
    ax.margins(x=0.12)
    ax.set_xlim(left=0)
    _use_whole_numbers(ax.xaxis)
    # Bars may cover any part of the Axes, so place the legend next to them.
    _show_legend(ax, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def threshold_sweep(table: ThresholdSweep, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    colours = palette(ax)
    thresholds = [step.threshold for step in table.steps]
    ax.plot(
        thresholds,
        [step.duplicates for step in table.steps],
        "o-",
        color=colours.removed,
        label="duplicates",
    )
    ax.plot(
        thresholds, [step.groups for step in table.steps], "s-", color=colours.main, label="groups"
    )
    _dress(
        ax,
        colours,
        "both",
        xlabel="threshold",
        ylabel="groups, duplicates",
        title=sweep_title(table),
    )
    ax.set_ylim(bottom=0)
    _use_whole_numbers(ax.yaxis)
    drawn: list[Any] = list(ax.get_lines())
    measured = table.measured()
    if measured:
        recall = ax.twinx()
        # Hide the grid that a style may add to these Axes, because it would cross the lines.
        recall.grid(visible=False)
        recalls = [row["recall"] for row in measured]
        lower_errors = [row["recall"] - row["low"] for row in measured]
        upper_errors = [row["high"] - row["recall"] for row in measured]
        drawn.append(
            recall.errorbar(
                [row["threshold"] for row in measured],
                recalls,
                yerr=[lower_errors, upper_errors],
                fmt="D:",
                color=colours.ink,
                elinewidth=1.2,
                capsize=3,
                label="measured recall",
            )
        )
        recall.set(ylabel="recall", ylim=(0, 1.04))
        recall.spines["top"].set_visible(False)
    # The lower left corner is usually empty: counts fall with the threshold, and recall is high.
    _show_legend(ax, drawn, loc="lower left", framealpha=0.9)
    return ax
