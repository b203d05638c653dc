"""Fast, verified search for near-duplicate documents.

>>> import lookalike
>>> docs = {
...     "draft": "we meet on monday at ten in the hall",
...     "final": "We meet on Monday at ten in the hall!",
... }
>>> [
...     (group.keeper, [d.id for d in group.duplicates])
...     for group in lookalike.find(docs)
... ]
[('final', ['draft'])]

- ``find``: finds groups of near-duplicates; ``find_files`` for files
- ``dedup``: removes near-duplicates and returns the type of the input; ``dedup_files`` for files
- ``passages``: finds passages that are repeated in one or several documents
- ``cut``: removes such passages from documents; ``cut_files`` for files
- ``Files``: files and folders, for every argument that takes documents
- ``contamination``: finds the items of a benchmark that a corpus contains
- ``compare``: computes the similarity of two texts, and their differences
- ``prepare``: computes signatures and bucket keys
- ``audit``: measures the recall of a run
- ``evaluate``: computes precision and recall of a run against known duplicates
- ``tune``: chooses bands and rows for a threshold and a recall, and predicts their cost
- ``Index``: a collection of documents in a folder that answers queries
- ``lookalike.aio``: an index for event loops
- ``lookalike.pandas`` and ``lookalike.polars``: importing one of them registers ``df.lookalike``
- ``lookalike.sklearn``: signatures as features, and splits that keep near-duplicates together
- ``lookalike.errors``: all exceptions

This package and the command line (also ``python -m lookalike``) share an engine: the same documents
and parameters produce the same bytes.
"""

from lookalike._compare import CompareResult, Difference, DifferenceCounts, compare
from lookalike._contamination import ContaminationResult, contamination
from lookalike._cut import CutResult, cut, cut_files
from lookalike._decisions import DecisionCounts
from lookalike._dedup import DedupResult, dedup, dedup_files
from lookalike._documents.files import Files
from lookalike._documents.types import Documents
from lookalike._engine import VERSION as __version__
from lookalike._find import find, find_files
from lookalike._index.index import Index
from lookalike._index.results import (
    AddResult,
    Category,
    Document,
    DocumentVersion,
    IndexStats,
    Match,
    Matches,
    OriginalStats,
    Problem,
    RemoveResult,
    SkippedRecord,
)
from lookalike._measures.audit import AuditResult, audit
from lookalike._measures.evaluate import EvaluateResult, evaluate
from lookalike._measures.tune import TuneResult, tune
from lookalike._options import (
    OPTIONS,
    CutOptions,
    DedupOptions,
    FileOptions,
    Limits,
    Options,
)
from lookalike._passages import Passage, PassagesResult, passages
from lookalike._prepare import PrepareResult, prepare
from lookalike._results.explanation import Explanation
from lookalike._results.find_result import FindResult, Group, Member
from lookalike._results.table import Table
from lookalike._shingles import Bytes, Chars, Field, PathPattern, Words

__all__ = [
    "OPTIONS",
    "AddResult",
    "AuditResult",
    "Bytes",
    "Category",
    "Chars",
    "CompareResult",
    "ContaminationResult",
    "CutOptions",
    "CutResult",
    "DecisionCounts",
    "DedupOptions",
    "DedupResult",
    "Difference",
    "DifferenceCounts",
    "Document",
    "DocumentVersion",
    "Documents",
    "EvaluateResult",
    "Explanation",
    "Field",
    "FileOptions",
    "Files",
    "FindResult",
    "Group",
    "Index",
    "IndexStats",
    "Limits",
    "Match",
    "Matches",
    "Member",
    "Options",
    "OriginalStats",
    "Passage",
    "PassagesResult",
    "PathPattern",
    "PrepareResult",
    "Problem",
    "RemoveResult",
    "SkippedRecord",
    "Table",
    "TuneResult",
    "Words",
    "__version__",
    "audit",
    "compare",
    "contamination",
    "cut",
    "cut_files",
    "dedup",
    "dedup_files",
    "evaluate",
    "find",
    "find_files",
    "passages",
    "prepare",
    "tune",
]
