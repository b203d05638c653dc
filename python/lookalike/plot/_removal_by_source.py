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

# The number of sources by default.
_SHOWN = 30
# The units of a result, each with its columns: all, and removed.
_OF_DUPLICATES = {"documents": ("documents", "duplicates"), "bytes": ("bytes", "duplicate_bytes")}
_OF_PASSAGES = {"documents": ("documents", "removed"), "words": ("words", "cut_words")}


@dataclass(frozen=True)
class SourceRemoval:
    """A source with its removed part."""

    source: str
    """The name of the source."""
    reference: bool
    """Whether the source belongs to a reference collection, whose documents are always kept."""
    total: int
    """The number of documents, bytes or words of the source."""
    removed: int
    """The removed part of the total."""

    @property
    def kept(self) -> int:
        """The kept part of the total."""
        return self.total - self.removed

    @property
    def share(self) -> float:
        """The removed share, 0 to 1; 0 for an empty source."""
        return self.removed / self.total if self.total else 0.0

    @property
    def label(self) -> str:
        """The name, with a note for a reference."""
        return f"{self.source} (reference)" if self.reference else self.source


@dataclass(frozen=True)
class RemovalBySource:
    """Sources by the removed number, descending; ties in the order of the result."""

    by: str
    """The counted unit: ``documents``, ``bytes`` or ``words``."""
    sources: tuple[SourceRemoval, ...]
    """The sources with the most removed."""
    left_out: int
    """The number of further sources, with less removed."""

    def rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each source: ``source``, ``reference``, ``total``, ``removed``,
        ``kept``, ``share``.
        """
        return [
            {
                "source": each.source,
                "reference": each.reference,
                "total": each.total,
                "removed": each.removed,
                "kept": each.kept,
                "share": each.share,
            }
            for each in self.sources
        ]


def removal_by_source(
    result: Any,
    *,
    by: Literal["documents", "bytes", "words"] | None = None,
    most: int | None = None,
) -> RemovalBySource:
    """Counts the removed part of each source.

    Args:
        result: A result of ``lookalike.find``, ``lookalike.spark.find`` or ``lookalike.ray.find``,
            which removes duplicates; a result of ``lookalike.cut_files``, which removes passages;
            or a ``RemovalBySource``, which is returned.
        by: The counted unit: ``documents``, the default; ``bytes`` of duplicates; or ``words`` of
            passages. With passages, a document counts as removed if no word of it is left.
        most: The number of sources, 30 by default; the sources with the most removed come first.

    Raises:
        OptionError: ``result`` has no figures by source, or not in this unit; or ``by`` or ``most``
            is used with a table, which has its own.

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
    most = _SHOWN if most is None else whole_option("most", most, 1)
    by = "documents" if by is None else by
    rows, columns = _figures(result)
    if not isinstance(by, str) or by not in columns:
        raise invalid_option("by", " or ".join(map(repr, columns)), by)
    total, removed = columns[by]
    sources = [
        SourceRemoval(row["source"], bool(row.get("reference")), row[total], row[removed])
        for row in rows
    ]
    sources.sort(key=lambda each: -each.removed)
    return RemovalBySource(by, tuple(sources[:most]), max(len(sources) - most, 0))


def _figures(result: Any) -> tuple[Iterable[Mapping[str, Any]], Mapping[str, tuple[str, str]]]:
    """The rows of a result's sources, and the columns that count."""
    if isinstance(result, CutResult):
        return result.sources, _OF_PASSAGES
    if isinstance(result, FindResult):
        return result.sources, _OF_DUPLICATES
    if isinstance(result, DividedFindResult):
        return result.run.sums.sources, _OF_DUPLICATES
    raise invalid_option("result", "a result of lookalike.find or lookalike.cut_files", result)
