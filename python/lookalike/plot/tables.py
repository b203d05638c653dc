"""What ``lookalike.plot`` draws, as tables; no other package is needed for them.

- ``similarity_histogram``: pairs by similarity
- ``s_curve``: predicted recall by similarity, and what an audit measured
- ``group_sizes``: groups by their number of documents
- ``removal_by_source``: what is removed of each source
- ``threshold_sweep``: groups, duplicates and recall at one threshold after another

Each has ``rows()``, a list of dicts, which every data frame takes. The functions of
``lookalike.plot`` take these tables in place of results, so that one that was changed, or put
together by hand, can be drawn.

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
