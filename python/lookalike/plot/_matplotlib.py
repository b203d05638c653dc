"""Tables → Axes of matplotlib."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from lookalike.plot._group_sizes import GroupSizes
from lookalike.plot._removal_by_source import RemovalBySource
from lookalike.plot._s_curve import SCurve
from lookalike.plot._similarity_histogram import SimilarityHistogram
from lookalike.plot._style import (
    BLUE,
    EQUAL,
    GREY,
    INK,
    ORANGE,
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
# Inches of a bar of a source.
_BAR = 0.32


def _axes(ax: Axes | None, size: tuple[float, float] = _SIZE) -> Axes:
    """Axes to draw on: those of the caller, or new ones of a figure of pyplot, which notebooks
    show.
    """
    if ax is not None:
        return ax
    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def _dress(ax: Axes, grid: Literal["x", "y", "both"], title: str, **labels: str) -> None:
    """Title and labels, and lines behind the figures."""
    ax.set_title(title)
    ax.set(**labels)
    ax.set_axisbelow(True)
    ax.grid(axis=grid, color=GREY, linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)


def _mark_threshold(ax: Axes, threshold: float) -> None:
    ax.axvline(
        threshold, color=ORANGE, linestyle="--", linewidth=1.5, label=f"threshold {threshold:g}"
    )


def _whole(axis: Any) -> None:
    """Counts have whole numbers next to their axis, and begin at 0."""
    axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10]))


def similarity_histogram(table: SimilarityHistogram, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    edges, width = table.edges, table.edges[1] - table.edges[0]
    widths = [high - low for low, high in itertools.pairwise(edges)]
    ax.bar(
        edges[:-1], table.counts, widths, align="edge", color=BLUE, edgecolor="white", linewidth=0.5
    )
    ax.bar(
        [edges[-1]], [table.equal], width, align="edge", color=EQUAL, label=f"{table.equal:,} equal"
    )
    _mark_threshold(ax, table.threshold)
    _dress(
        ax,
        "y",
        xlabel=f"{table.measure} similarity",
        ylabel=table.counted,
        title=histogram_title(table),
    )
    ax.set_xlim(edges[0] - width / 2, edges[-1] + width * 1.5)
    ax.set_ylim(bottom=0)
    _whole(ax.yaxis)
    ax.legend(loc="best", framealpha=0.9)
    return ax


def s_curve(table: SCurve, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    ax.axvspan(table.threshold, 1, color=BLUE, alpha=0.08, linewidth=0)
    ax.plot(table.similarities, table.probabilities, color=BLUE, linewidth=2.5, label="predicted")
    _mark_threshold(ax, table.threshold)
    measured = table.measured_rows()
    if measured:
        middles, recalls = [row["middle"] for row in measured], [row["recall"] for row in measured]
        below = [row["recall"] - row["low"] for row in measured]
        above = [row["high"] - row["recall"] for row in measured]
        half = [(row["to"] - row["from"]) / 2 for row in measured]
        ax.errorbar(
            middles,
            recalls,
            yerr=[below, above],
            xerr=half,
            fmt="o",
            markersize=5,
            color=INK,
            elinewidth=1.2,
            capsize=3,
            label=measured_label(table),
        )
    title = "\n".join(curve_title(table))
    _dress(
        ax, "both", xlabel="similarity of a pair", ylabel="probability of being found", title=title
    )
    ax.set(xlim=(0, 1.02), ylim=(0, 1.04))
    ax.legend(loc="best", framealpha=0.9)
    return ax


def group_sizes(table: GroupSizes, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    bars = ax.bar(range(len(table.steps)), [step.groups for step in table.steps], color=BLUE)
    ax.bar_label(bars, [f"{step.groups:,}" for step in table.steps], padding=2)
    ax.set_xticks(range(len(table.steps)), [step.label for step in table.steps])
    _dress(
        ax, "y", xlabel="documents in a group", ylabel="groups", title=f"{table.groups:,} groups"
    )
    # The numbers above the bars take room.
    ax.margins(y=0.1)
    ax.set_ylim(bottom=0)
    _whole(ax.yaxis)
    return ax


def removal_by_source(table: RemovalBySource, axes: Axes | None) -> Axes:
    sources = table.sources
    ax = _axes(axes, (_SIZE[0], 1.4 + _BAR * max(len(sources), 1)))
    places = range(len(sources))
    removed = [each.removed for each in sources]
    ax.barh(places, removed, color=ORANGE, label="removed")
    ends = ax.barh(places, [each.kept for each in sources], left=removed, color=BLUE, label="kept")
    ax.bar_label(ends, [f"{each.share:.1%}" for each in sources], padding=3, color=INK)
    ax.set_yticks(places, [shown_name(each.label) for each in sources])
    for label in ax.get_yticklabels():
        # A name is no formula, though it may have two dollar signs.
        label.set_parse_math(False)
    ax.invert_yaxis()
    _dress(ax, "x", xlabel=source_label(table), title=f"{table.by} by source")
    ax.margins(x=0.12)
    ax.set_xlim(left=0)
    _whole(ax.xaxis)
    # Bars may be anywhere within the axes.
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def threshold_sweep(table: ThresholdSweep, axes: Axes | None) -> Axes:
    ax = _axes(axes)
    thresholds = [step.threshold for step in table.steps]
    ax.plot(
        thresholds,
        [step.duplicates for step in table.steps],
        "o-",
        color=ORANGE,
        label="duplicates",
    )
    ax.plot(thresholds, [step.groups for step in table.steps], "s-", color=BLUE, label="groups")
    _dress(ax, "both", xlabel="threshold", ylabel="groups, duplicates", title=sweep_title(table))
    ax.set_ylim(bottom=0)
    _whole(ax.yaxis)
    drawn: list[Any] = list(ax.get_lines())
    measured = table.measured()
    if measured:
        recall = ax.twinx()
        recalls = [row["recall"] for row in measured]
        below = [row["recall"] - row["low"] for row in measured]
        above = [row["high"] - row["recall"] for row in measured]
        drawn.append(
            recall.errorbar(
                [row["threshold"] for row in measured],
                recalls,
                yerr=[below, above],
                fmt="D:",
                color=INK,
                elinewidth=1.2,
                capsize=3,
                label="measured recall",
            )
        )
        recall.set(ylabel="recall", ylim=(0, 1.04))
        recall.spines["top"].set_visible(False)
    # Counts fall with the threshold, and recall is above.
    ax.legend(drawn, [str(each.get_label()) for each in drawn], loc="lower left", framealpha=0.9)
    return ax
