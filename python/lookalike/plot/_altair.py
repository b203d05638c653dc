"""Draws tables as altair charts."""

from __future__ import annotations

import json
from typing import Any, Final

import altair as alt

from lookalike.plot._group_sizes import GroupSizes
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

# The background is unknown, because the page that shows the chart can choose a theme later. Each
# of these colours is legible on white, light grey, dark grey and black.
MAIN: Final = "#3b7fdc"
REMOVED: Final = "#d95412"
EQUAL: Final = "#198e7f"
MEASURED: Final = "#a165cc"
COLOURS: Final = {
    "below 1": MAIN,
    "predicted": MAIN,
    "kept": MAIN,
    "groups": MAIN,
    "removed": REMOVED,
    "duplicates": REMOVED,
    "threshold": REMOVED,
    "equal": EQUAL,
    "measured": MEASURED,
}
"""The colours of all marks by their names. All charts have this same scale, because combined
charts share one scale.
"""
_SCALE = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))

_WIDTH, _HEIGHT = 460, 260
# Label the axis of counts with whole numbers only.
_COUNTS = alt.Axis(format=",d", tickMinStep=1)


def _data(rows: list[dict[str, Any]]) -> Any:
    """Embeds rows in the chart, so that no data frame is needed."""
    data: Any = alt.Data
    return data(values=rows)


def _entries(*labels: str) -> Any:
    """Returns the colours of the marks by their field ``of``, with a legend of the given names. A
    single name has no legend.
    """
    legend = alt.Legend(values=list(labels)) if len(labels) > 1 else None
    return alt.Color("of:N", title=None, legend=legend, scale=_SCALE)


def _named(rows: list[dict[str, Any]], name: str, colours: Any) -> Any:
    """Returns a layer whose marks all have the field ``of`` with this name."""
    layer = alt.Chart(_data(rows)).transform_calculate(of=json.dumps(name))
    return layer.encode(color=colours)


def _threshold(threshold: float, title: str, colours: Any) -> Any:
    """Returns the layer with the line of the threshold.

    Args:
        threshold: The threshold.
        title: The title of the axis in all other layers. altair would append another title to it.
        colours: The colours of the marks.
    """
    rule = _named([{"threshold": threshold}], "threshold", colours)
    return rule.mark_rule(strokeDash=[6, 4], strokeWidth=1.5).encode(
        x=alt.X("threshold:Q", title=title), tooltip=[alt.Tooltip("threshold:Q")]
    )


def similarity_histogram(table: SimilarityHistogram) -> Any:
    width = table.edges[1] - table.edges[0]
    *steps, equal = table.rows()
    bars = [{**row, "of": "below 1"} for row in steps]
    if table.equal:
        # Pairs of similarity 1 have their own step, to the right of 1.
        bars.append({**equal, "to": 1.0 + width, "of": "equal"})
    colours = _entries("below 1", *(["equal"] if table.equal else []), "threshold")
    name = f"{table.measure} similarity"
    scale = alt.Scale(
        domain=[table.edges[0] - width / 2, 1.0 + width * 1.5], nice=False, zero=False
    )
    chart = alt.Chart(_data(bars)).mark_bar()
    chart = chart.encode(
        # Without ``bin``, altair would draw a bar with two ends as a line.
        x=alt.X("from:Q", title=name, scale=scale, bin="binned"),
        x2="to:Q",
        y=alt.Y("count:Q", title=table.counted, axis=_COUNTS),
        color=colours,
        tooltip=["from:Q", "to:Q", "count:Q"],
    )
    return alt.layer(
        chart,
        _threshold(table.threshold, name, colours),
        title=histogram_title(table),
        width=_WIDTH,
        height=_HEIGHT,
    )


def s_curve(table: SCurve) -> Any:
    x_title, y_title = "similarity of a pair", "probability of being found"
    measured = table.measured_rows()
    colours = _entries("predicted", "threshold", *(["measured"] if measured else []))
    line = _named(table.rows(), "predicted", colours).mark_line(strokeWidth=2.5)
    line = line.encode(
        x=alt.X("similarity:Q", title=x_title, scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("probability:Q", title=y_title, scale=alt.Scale(domain=[0, 1])),
        tooltip=["similarity:Q", "probability:Q"],
    )
    layers: list[Any] = [line, _threshold(table.threshold, x_title, colours)]
    title = curve_title(table)
    if measured:
        points = _named(measured, "measured", colours).encode(
            x=alt.X("middle:Q", title=x_title), y=alt.Y("recall:Q", title=y_title)
        )
        fields = ["from:Q", "to:Q", "documents:Q", "found:Q", "recall:Q", "low:Q", "high:Q"]
        layers += [
            points.mark_rule().encode(y=alt.Y("low:Q", title=y_title), y2="high:Q"),
            points.mark_rule().encode(x=alt.X("from:Q", title=x_title), x2="to:Q"),
            points.mark_point(filled=True, size=45, opacity=1).encode(tooltip=fields),
        ]
        title.append(measured_label(table))
    return alt.layer(*layers, title=title, width=_WIDTH, height=_HEIGHT)


def group_sizes(table: GroupSizes) -> Any:
    chart = alt.Chart(
        _data(table.rows()), title=f"{table.groups:,} groups", width=_WIDTH, height=_HEIGHT
    )
    return chart.mark_bar(color=MAIN).encode(
        x=alt.X("sizes:N", title="documents in a group", sort=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("groups:Q", axis=_COUNTS),
        tooltip=["sizes:N", "groups:Q", "documents:Q"],
    )


def removal_by_source(table: RemovalBySource) -> Any:
    # Leave out of the legend a part that is 0 in all sources.
    parts = [part for part in ("removed", "kept") if any(row[part] for row in table.rows())]
    # Two sources may have the same name, so identify bars by their place, and label them from a
    # list.
    rows = [
        {"place": place, "of": part, "count": row[part], "order": order, **row}
        for place, row in enumerate(table.rows())
        for order, part in enumerate(("removed", "kept"))
    ]
    # Add the share to the label of the axis: themes colour labels of axes, but not text next to a
    # bar.
    labels = json.dumps(
        [f"{shown_name(source.label)}  {source.share:.1%}" for source in table.sources]
    )
    chart = alt.Chart(_data(rows), title=f"{table.by} by source, share removed", width=_WIDTH)
    return chart.mark_bar().encode(
        x=alt.X("count:Q", title=source_label(table), stack="zero", axis=_COUNTS),
        y=alt.Y(
            "place:O", title=None, axis=alt.Axis(labelExpr=f"{labels}[datum.value]", labelLimit=400)
        ),
        color=_entries(*parts),
        order="order:Q",
        tooltip=[
            "source:N",
            "removed:Q",
            "kept:Q",
            "total:Q",
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )


def threshold_sweep(table: ThresholdSweep) -> Any:
    threshold = alt.X("threshold:Q", scale=alt.Scale(zero=False))
    measured = table.measured()
    colours = _entries("duplicates", "groups", *(["measured"] if measured else []))
    rows = [
        {"threshold": step.threshold, "of": name, "count": count}
        for step in table.steps
        for name, count in (("duplicates", step.duplicates), ("groups", step.groups))
    ]
    lines = (
        alt.Chart(_data(rows))
        .mark_line(point=True)
        .encode(
            x=threshold,
            y=alt.Y("count:Q", title="groups, duplicates", axis=_COUNTS),
            color=colours,
            tooltip=["threshold:Q", "of:N", "count:Q"],
        )
    )
    layers: list[Any] = [lines]
    if measured:
        y_title, scale = "measured recall", alt.Scale(domain=[0, 1])
        points = _named(measured, "measured", colours).encode(
            x=threshold, y=alt.Y("recall:Q", title=y_title, scale=scale)
        )
        ends = points.mark_rule().encode(y=alt.Y("low:Q", title=y_title, scale=scale), y2="high:Q")
        line = points.mark_line(strokeDash=[2, 3], point=True)
        layers.append(
            alt.layer(line.encode(tooltip=["threshold:Q", "recall:Q", "low:Q", "high:Q"]), ends)
        )
    chart = alt.layer(*layers, title=sweep_title(table), width=_WIDTH, height=_HEIGHT)
    return chart.resolve_scale(y="independent")
