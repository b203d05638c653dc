"""How much of each source is removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lookalike._cut import CutResult
from lookalike._options import invalid_option, whole_option
from lookalike._results.find_result import FindResult
from lookalike.plot._table_arguments import refuse_with_table

# Sources that are shown by default.
_SHOWN = 30
# Of a result: what is counted, the columns of all and of what is removed.
_OF_DUPLICATES = {"documents": ("documents", "duplicates"), "bytes": ("bytes", "duplicate_bytes")}
_OF_PASSAGES = {"documents": ("documents", "removed"), "words": ("words", "cut_words")}


@dataclass(frozen=True)
class SourceRemoval:
    """What a source has, and what of it is removed."""

    source: str
    """Its name."""
    reference: bool
    """Whether it is of a reference collection, whose documents always stay."""
    total: int
    """How many documents, bytes or words it has."""
    removed: int
    """How many of these are removed."""

    @property
    def kept(self) -> int:
        """How many stay."""
        return self.total - self.removed

    @property
    def share(self) -> float:
        """The share that is removed, 0 to 1; 0 where there is nothing."""
        return self.removed / self.total if self.total else 0.0

    @property
    def label(self) -> str:
        """The name, and whether it is of a reference."""
        return f"{self.source} (reference)" if self.reference else self.source


@dataclass(frozen=True)
class RemovalBySource:
    """Sources, those with the most removed first, then in the order of the result."""

    by: str
    """What is counted: ``documents``, ``bytes`` or ``words``."""
    sources: tuple[SourceRemoval, ...]
    left_out: int
    """How many further sources there are, with less removed."""

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each source: ``source``, ``reference``, ``total``, ``removed``, ``kept``,
        ``share``.
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
    """Counts what is removed of each source.

    Args:
        result: Of ``lookalike.find``, ``lookalike.spark.find`` or
            ``lookalike.ray.find``, whose duplicates are removed; of ``lookalike.cut_files``, which
            removes passages of documents; or a ``RemovalBySource``, which is returned.
        by: What is counted: ``documents``, the default; their ``bytes``, of duplicates; or
            ``words``, of passages. Only documents of which nothing is left count as removed where
            passages are cut.
        most: How many sources, from 1, 30 by default; those with the most removed.

    Raises:
        OptionError: ``result`` has no figures by source, ``by`` is none of them, or ``by`` or
            ``most`` is given with a table, which has its own.

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
    # What is found on a cluster has a list; its type needs packages that may not be there.
    sources = getattr(result, "sources", None)
    if isinstance(sources, list) and hasattr(result, "counts"):
        return sources, _OF_DUPLICATES
    raise invalid_option("result", "what lookalike.find or lookalike.cut_files returned", result)
