"""Tables → charts of altair."""

from __future__ import annotations

import json
from typing import Any

import altair as alt

from lookalike.plot._group_sizes import GroupSizes
from lookalike.plot._removal_by_source import RemovalBySource
from lookalike.plot._s_curve import SCurve
from lookalike.plot._similarity_histogram import SimilarityHistogram
from lookalike.plot._style import (
    BLUE,
    EQUAL,
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

_WIDTH, _HEIGHT = 460, 260
# Counts have whole numbers next to their axis.
_COUNTS = alt.Axis(format=",d", tickMinStep=1)


def _data(rows: list[dict[str, Any]]) -> Any:
    """Rows in the chart itself: what altair takes without a data frame."""
    data: Any = alt.Data
    return data(values=rows)


def _threshold(threshold: float, title: str) -> Any:
    """Layers with other titles than that of the axis would add theirs to it."""
    rule = alt.Chart(_data([{"threshold": threshold}])).mark_rule(
        color=ORANGE, strokeDash=[6, 4], strokeWidth=1.5
    )
    return rule.encode(x=alt.X("threshold:Q", title=title), tooltip=[alt.Tooltip("threshold:Q")])


def similarity_histogram(table: SimilarityHistogram) -> Any:
    width = table.edges[1] - table.edges[0]
    *steps, equal = table.rows()
    bars = [{**row, "of": "below 1"} for row in steps]
    # Equal pairs have a step of their own behind 1.
    bars.append({**equal, "to": 1.0 + width, "of": "equal"})
    name = f"{table.measure} similarity"
    scale = alt.Scale(
        domain=[table.edges[0] - width / 2, 1.0 + width * 1.5], nice=False, zero=False
    )
    chart = alt.Chart(_data(bars)).mark_bar(stroke="white", strokeWidth=0.5)
    chart = chart.encode(
        # With both ends of a bar and without this, what is drawn at a count is a line.
        x=alt.X("from:Q", title=name, scale=scale, bin="binned"),
        x2="to:Q",
        y=alt.Y("count:Q", title=table.counted, axis=_COUNTS),
        color=alt.Color(
            "of:N", title=None, scale=alt.Scale(domain=["below 1", "equal"], range=[BLUE, EQUAL])
        ),
        tooltip=["from:Q", "to:Q", "count:Q"],
    )
    title = f"{histogram_title(table)}; threshold {table.threshold:g}"
    return alt.layer(
        chart, _threshold(table.threshold, name), title=title, width=_WIDTH, height=_HEIGHT
    )


def s_curve(table: SCurve) -> Any:
    across, up = "similarity of a pair", "probability of being found"
    line = alt.Chart(_data(table.rows())).mark_line(color=BLUE, strokeWidth=2.5)
    line = line.encode(
        x=alt.X("similarity:Q", title=across, scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("probability:Q", title=up, scale=alt.Scale(domain=[0, 1])),
        tooltip=["similarity:Q", "probability:Q"],
    )
    layers: list[Any] = [line, _threshold(table.threshold, across)]
    title = curve_title(table)
    measured = table.measured_rows()
    if measured:
        points = alt.Chart(_data(measured)).encode(
            x=alt.X("middle:Q", title=across), y=alt.Y("recall:Q", title=up)
        )
        shown = ["from:Q", "to:Q", "documents:Q", "found:Q", "recall:Q", "low:Q", "high:Q"]
        layers += [
            points.mark_rule(color=INK).encode(y=alt.Y("low:Q", title=up), y2="high:Q"),
            points.mark_rule(color=INK).encode(x=alt.X("from:Q", title=across), x2="to:Q"),
            points.mark_point(color=INK, filled=True, size=45, opacity=1).encode(tooltip=shown),
        ]
        title.append(measured_label(table))
    return alt.layer(*layers, title=title, width=_WIDTH, height=_HEIGHT)


def group_sizes(table: GroupSizes) -> Any:
    chart = alt.Chart(
        _data(table.rows()), title=f"{table.groups:,} groups", width=_WIDTH, height=_HEIGHT
    )
    return chart.mark_bar(color=BLUE).encode(
        x=alt.X("sizes:N", title="documents in a group", sort=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("groups:Q", axis=_COUNTS),
        tooltip=["sizes:N", "groups:Q", "documents:Q"],
    )


def removal_by_source(table: RemovalBySource) -> Any:
    # Two sources may have one name, so bars are by place, and a list has their labels.
    rows = [
        {"place": place, "part": part, "count": row[part], "order": order, **row}
        for place, row in enumerate(table.rows())
        for order, part in enumerate(("removed", "kept"))
    ]
    labels = json.dumps([shown_name(source.label) for source in table.sources])
    chart = alt.Chart(_data(rows), title=f"{table.by} by source", width=_WIDTH)
    return chart.mark_bar().encode(
        x=alt.X("count:Q", title=source_label(table), stack="zero", axis=_COUNTS),
        y=alt.Y(
            "place:O", title=None, axis=alt.Axis(labelExpr=f"{labels}[datum.value]", labelLimit=320)
        ),
        color=alt.Color(
            "part:N", title=None, scale=alt.Scale(domain=["removed", "kept"], range=[ORANGE, BLUE])
        ),
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
    rows = [
        {"threshold": step.threshold, "of": of, "count": count}
        for step in table.steps
        for of, count in (("duplicates", step.duplicates), ("groups", step.groups))
    ]
    lines = (
        alt.Chart(_data(rows))
        .mark_line(point=True)
        .encode(
            x=threshold,
            y=alt.Y("count:Q", title="groups, duplicates", axis=_COUNTS),
            color=alt.Color(
                "of:N",
                title=None,
                scale=alt.Scale(domain=["duplicates", "groups"], range=[ORANGE, BLUE]),
            ),
            tooltip=["threshold:Q", "of:N", "count:Q"],
        )
    )
    layers: list[Any] = [lines]
    measured = table.measured()
    if measured:
        up, scale = "measured recall", alt.Scale(domain=[0, 1])
        points = alt.Chart(_data(measured)).encode(
            x=threshold, y=alt.Y("recall:Q", title=up, scale=scale)
        )
        ends = points.mark_rule(color=INK).encode(
            y=alt.Y("low:Q", title=up, scale=scale), y2="high:Q"
        )
        line = points.mark_line(color=INK, strokeDash=[2, 3], point=alt.OverlayMarkDef(color=INK))
        layers.append(
            alt.layer(line.encode(tooltip=["threshold:Q", "recall:Q", "low:Q", "high:Q"]), ends)
        )
    chart = alt.layer(*layers, title=sweep_title(table), width=_WIDTH, height=_HEIGHT)
    return chart.resolve_scale(y="independent")
