"""The removed part of each source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lookalike._cut import CutResult
from lookalike._divided.find_result import DividedFindResult
from lookalike._options import invalid_option, whole_option
from lookalike._results.find_result import FindResult
from lookalike.plot._table_arguments import refuse_with_table

# The default maximum number of sources.
_DEFAULT_MOST = 30
# The units in which a result can be counted, each with the columns of the total and the removed
# number.
_OF_DUPLICATES = {"documents": ("documents", "duplicates"), "bytes": ("bytes", "duplicate_bytes")}
_OF_PASSAGES = {"documents": ("documents", "removed"), "words": ("words", "cut_words")}


@dataclass(frozen=True)
class SourceRemoval:
    """A source, with its total and its removed part."""

    source: str
    """The name of the source."""
    reference: bool
    """Whether the source belongs to the reference, whose documents are always kept."""
    total: int
    """The number of documents, bytes or words of the source."""
    removed: int
    """The removed number of documents, bytes or words."""

    @property
    def kept(self) -> int:
        """The kept number of documents, bytes or words."""
        return self.total - self.removed

    @property
    def share(self) -> float:
        """The removed share, 0 to 1; 0 for an empty source."""
        return self.removed / self.total if self.total else 0.0

    @property
    def label(self) -> str:
        """The name of the source, followed by ``(reference)`` for a source of the reference."""
        return f"{self.source} (reference)" if self.reference else self.source


@dataclass(frozen=True)
class RemovalBySource:
    """Sources by descending removed number. Sources with equal numbers are in the order of the
    result.
    """

    by: str
    """The counted unit: ``documents``, ``bytes`` or ``words``."""
    sources: tuple[SourceRemoval, ...]
    """The sources with the greatest removed numbers."""
    left_out: int
    """The number of other sources, whose removed numbers are less or equal."""

    def rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each source with the keys ``source``, ``reference``, ``total``,
        ``removed``, ``kept`` and ``share``.
        """
        return [
            {
                "source": source.source,
                "reference": source.reference,
                "total": source.total,
                "removed": source.removed,
                "kept": source.kept,
                "share": source.share,
            }
            for source in self.sources
        ]


def removal_by_source(
    result: Any,
    *,
    by: Literal["documents", "bytes", "words"] | None = None,
    most: int | None = None,
) -> RemovalBySource:
    """Counts the removed part of each source.

    Args:
        result: One of these:

            - a result of ``lookalike.find``, ``lookalike.spark.find`` or ``lookalike.ray.find``:
              its duplicates are the removed documents
            - a result of ``lookalike.cut_files``, which removes passages
            - a ``RemovalBySource``, which is returned unchanged
        by: The counted unit. ``"documents"`` is the default. ``"bytes"`` is available for
            duplicates, ``"words"`` for passages. With passages, a document counts as removed if no
            word of it is left.
        most: The maximum number of sources, 30 by default. Sources with a greater removed number
            have priority.

    Raises:
        OptionError: ``result`` has another type, ``by`` is not available for it, or ``most`` is
            not a whole number from 1. Or ``by`` or ``most`` is passed with a ``RemovalBySource``.

    Examples:
        >>> import lookalike.plot
        >>> docs = [
        ...     {"text": "a b c d e f", "site": "x"},
        ...     {"text": "A B C D E F!", "site": "y"},
        ...     {"text": "new", "site": "x"},
        ... ]
        >>> removal = lookalike.plot.tables.removal_by_source(
        ...     lookalike.find(docs, source_field="site")
        ... )
        >>> [(source.source, source.removed, source.total) for source in removal.sources]
        [('x', 1, 2), ('y', 0, 1)]
    """
    if isinstance(result, RemovalBySource):
        refuse_with_table(by=by, most=most)
        return result
    most = _DEFAULT_MOST if most is None else whole_option("most", most, 1)
    by = "documents" if by is None else by
    rows, columns = _figures(result)
    if not isinstance(by, str) or by not in columns:
        raise invalid_option("by", " or ".join(map(repr, columns)), by)
    total, removed = columns[by]
    sources = [
        SourceRemoval(row["source"], bool(row.get("reference")), row[total], row[removed])
        for row in rows
    ]
    sources.sort(key=lambda source: -source.removed)
    return RemovalBySource(by, tuple(sources[:most]), max(len(sources) - most, 0))


def _figures(result: Any) -> tuple[Iterable[Mapping[str, Any]], Mapping[str, tuple[str, str]]]:
    """Returns the rows of the sources of a result, and the columns to use for each unit."""
    if isinstance(result, CutResult):
        return result.sources, _OF_PASSAGES
    if isinstance(result, FindResult):
        return result.sources, _OF_DUPLICATES
    if isinstance(result, DividedFindResult):
        return result.run.sums.sources, _OF_DUPLICATES
    raise invalid_option("result", "a result of lookalike.find or lookalike.cut_files", result)
