"""What both libraries draw alike: the colours of the HTML report, and words."""

from __future__ import annotations

from typing import Final

from lookalike.plot._removal_by_source import RemovalBySource
from lookalike.plot._s_curve import SCurve
from lookalike.plot._similarity_histogram import SimilarityHistogram
from lookalike.plot._threshold_sweep import ThresholdSweep

__all__ = [
    "BLUE",
    "EQUAL",
    "GREY",
    "INK",
    "ORANGE",
    "curve_title",
    "histogram_title",
    "measured_label",
    "shown_name",
    "source_title",
    "sweep_title",
]

#: What stays, and pairs; what goes, and the threshold; what was measured; grids; equal pairs.
BLUE: Final = "#2a66c4"
ORANGE: Final = "#a03a00"
INK: Final = "#1b2027"
GREY: Final = "#d9dde3"
EQUAL: Final = "#7ea6e0"

#: Characters of a name that an axis has room for.
_NAME = 48


def histogram_title(histogram: SimilarityHistogram) -> str:
    return f"{histogram.total:,} {histogram.counted}, {histogram.equal:,} of them equal"


def curve_title(curve: SCurve) -> str:
    if curve.bands is None:
        return "every similar pair is compared"
    return f"{curve.bands} bands of {curve.rows_per_band} rows: {curve.predicted_recall:.4f} at {curve.threshold:g}"


def measured_label(curve: SCurve) -> str:
    """What is measured; empty where nothing was."""
    if curve.overall is None:
        return ""
    low, high = curve.overall.interval
    return f"measured: {curve.overall.recall:.4f} of all, {low:.4f} to {high:.4f}"


def source_title(removal: RemovalBySource) -> str:
    if removal.left_out == 0:
        return f"{removal.by} by source"
    return f"{removal.by} by source: the {len(removal.sources):,} with the most removed, {removal.left_out:,} left out"


def sweep_title(sweep: ThresholdSweep) -> str:
    return f"{sweep.documents:,} documents"


def shown_name(name: str) -> str:
    """A name in one line: control characters and marks that reverse writing as escapes, and no more than there is room
    for."""
    name = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in name)
