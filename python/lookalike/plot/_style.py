"""Titles, labels and names that both libraries use."""

from __future__ import annotations

import textwrap

from lookalike.plot._removal_by_source import RemovalBySource
from lookalike.plot._s_curve import SCurve
from lookalike.plot._similarity_histogram import SimilarityHistogram
from lookalike.plot._threshold_sweep import ThresholdSweep

# The maximum number of characters of a line of a title.
_LINE = 72
# The maximum number of characters of a name on an axis.
_NAME = 48


def histogram_title(histogram: SimilarityHistogram) -> str:
    return f"{histogram.total:,} {histogram.counted}; threshold {histogram.threshold:g}"


def curve_title(curve: SCurve) -> list[str]:
    """Returns the lines of the title: the predicted recall, and the reason why it may not hold."""
    if curve.bands is None:
        return ["every similar pair is compared"]
    prediction = f"{curve.predicted_recall:.4f} at {curve.threshold:g}"
    lines = [f"{curve.bands} bands of {curve.rows_per_band} rows: {prediction}"]
    return (
        lines
        if curve.recall_caveat is None
        else [*lines, *textwrap.wrap(curve.recall_caveat, _LINE)]
    )


def measured_label(curve: SCurve) -> str:
    """Returns the label of measured recall, with the recall over all ranges if it is known."""
    if curve.overall is None:
        return "measured"
    low, high = curve.overall.interval
    return f"measured: {curve.overall.recall:.4f} of all, {low:.4f} to {high:.4f}"


def source_label(removal: RemovalBySource) -> str:
    """Returns the counted unit, and the number of sources that are not shown if there are any."""
    if removal.left_out == 0:
        return removal.by
    return f"{removal.by}; {removal.left_out:,} further sources with less removed are not shown"


def sweep_title(sweep: ThresholdSweep) -> str:
    return f"{sweep.documents:,} documents"


def shown_name(name: str) -> str:
    """Returns a name in one line, cut to the maximum length for an axis. Escapes control
    characters and marks that reverse the direction of writing.
    """
    name = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in name)
