"""Tables of the numbers that ``lookalike.plot`` draws. They need no other package.

- ``similarity_histogram``: the number of pairs by similarity
- ``s_curve``: the predicted recall by similarity, and the measured recall
- ``group_sizes``: the number of groups by their number of documents
- ``removal_by_source``: the removed part of each source
- ``threshold_sweep``: groups, duplicates and recall by threshold

The method ``rows`` of each table returns a list of dicts, from which you can make any data frame.
The functions of ``lookalike.plot`` take these tables instead of results. You can therefore change
a table, or make one by hand, and draw it.

Examples:
    >>> import lookalike.plot
    >>> found = lookalike.find(["a b c d e f"] * 3)
    >>> lookalike.plot.tables.group_sizes(found).rows()[1]
    {'sizes': '3', 'from': 3, 'to': 3, 'groups': 1, 'documents': 3}
"""

from lookalike.plot._group_sizes import GroupSizes, SizeStep, group_sizes
from lookalike.plot._removal_by_source import RemovalBySource, SourceRemoval, removal_by_source
from lookalike.plot._s_curve import MeasuredRecall, SCurve, s_curve
from lookalike.plot._similarity_histogram import SimilarityHistogram, similarity_histogram
from lookalike.plot._threshold_sweep import SweepStep, ThresholdSweep, threshold_sweep

__all__ = [
    "GroupSizes",
    "MeasuredRecall",
    "RemovalBySource",
    "SCurve",
    "SimilarityHistogram",
    "SizeStep",
    "SourceRemoval",
    "SweepStep",
    "ThresholdSweep",
    "group_sizes",
    "removal_by_source",
    "s_curve",
    "similarity_histogram",
    "threshold_sweep",
]
