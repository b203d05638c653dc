"""Results of an index."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

Json = Any
"""A value of metadata: any value of JSON."""


class Match(NamedTuple):
    """A document of the index that is similar to the query."""

    id: str
    """The id of the match."""
    similarity: float
    """The share of the shingles of both that they have in common, 0 to 1."""
    estimated: bool
    """Whether ``similarity`` is estimated from signatures (an index with ``store="signatures"``).
    Otherwise it is exact.
    """
    shared: int | None
    """The number of shingles in common; None if estimated."""
    shingles: int | None
    """The number of shingles of the match; None if estimated."""
    containment_of_query: float | None
    """The share of the query's shingles that the match contains, 0 to 1; None if estimated."""
    containment_of_match: float | None
    """The share of the match's shingles that the query contains, 0 to 1; None if estimated."""
    bytes: int
    """The length of the match's text in bytes of UTF-8."""
    metadata: dict[str, Json]
    """The metadata of the match."""
    added: datetime
    """The time of the addition, in UTC."""
    modified: datetime | None
    """The time of the last change of the file, in UTC, if it is known."""
    expires: datetime | None
    """The time of expiry, in UTC; None for never."""
    text: str | None
    """The text of the match; None unless the query had ``with_texts=True``."""


class Matches(list[Match]):
    """The matches of a query by descending similarity, then by id, with figures of the query."""

    __slots__ = (
        "candidates",
        "found",
        "predicted_recall",
        "recall_caveat",
        "shingles",
        "threshold",
    )

    candidates: int
    """The number of compared documents; with ``nearest``, of examined documents."""
    found: int
    """The number of documents that reach the threshold; more than ``len()`` if ``limit`` shortened
    the list.
    """
    predicted_recall: float
    """The probability, from 0 to 1, of finding a document exactly at the threshold; with
    ``nearest``, a document as similar as the last match.
    """
    recall_caveat: str | None
    """A sentence why recall may be lower; None if the prediction holds."""
    shingles: int | None
    """The number of shingles of the query. A text without shingles is similar to no document."""
    threshold: float
    """The threshold of the query; 0.0 with ``nearest``."""

    @classmethod
    def of_rows(
        cls,
        rows: list[tuple[Any, ...]],
        found: int,
        candidates: int,
        threshold: float,
        predicted_recall: float,
        recall_caveat: str | None,
        shingles: int | None,
    ) -> Matches:
        """Makes matches from the rows and figures of the engine, for use within the package."""
        matches = cls(map(Match._make, rows))
        matches.found = found
        matches.candidates = candidates
        matches.threshold = threshold
        matches.predicted_recall = predicted_recall
        matches.recall_caveat = recall_caveat
        matches.shingles = shingles
        return matches


class Document(NamedTuple):
    """A document of an index."""

    id: str
    """The id of the document."""
    bytes: int
    """The length of the text in bytes of UTF-8."""
    shingles: int | None
    """The number of shingles; None if the index stores signatures only."""
    metadata: dict[str, Json]
    """The metadata of the document."""
    added: datetime
    """The time of the addition, in UTC."""
    modified: datetime | None
    """The time of the last change of the file, in UTC, if it is known."""
    expires: datetime | None
    """The time of expiry, in UTC; None for never."""
    text: str | None
    """The text; None unless the index stores texts (``store="texts"`` or ``"originals"``)."""


class SkippedRecord(NamedTuple):
    """A skipped record or file."""

    source: str
    """The file."""
    line: int | None
    """The first line of the record, or its row in a Parquet file, from 1; None for the whole file.
    """
    id: str | None
    """The id of the record, if it is readable."""
    reason: str
    """The reason."""


class AddResult(NamedTuple):
    """Counts of a durable addition."""

    added: int
    """Documents with new ids."""
    updated: int
    """Documents that replaced documents with the same ids."""
    kept: int
    """Documents that were not added because their ids exist."""
    without_shingles: int
    """The number of stored documents without shingles, which are similar to no document."""
    skipped: list[SkippedRecord]
    """Skipped records of files: records without a text, and with ``skip_bad`` bad records."""


class RemoveResult(NamedTuple):
    """Counts of a durable removal."""

    removed: int
    """Removed documents."""
    absent: list[str]
    """Ids without a document, in the order of the argument."""


class Problem(NamedTuple):
    """A problem that ``Index.check`` found."""

    place: str
    """The file, table or document."""
    what: str
    """The problem."""
    repairable: bool
    """Whether ``Index.repair`` fixes it without loss."""


class Category(NamedTuple):
    """A category of documents of an index that have words in common."""

    path: str
    """The place of the category in the tree: ``"2"``, ``"2.1"``, ``"2.1.3"``."""
    parent: str | None
    """The path of the parent category; None for a topic."""
    level: float
    """The least similarity of the level: 0.2 for topics, 0.5 and 0.8 below them."""
    label: tuple[str, ...]
    """The words that distinguish the category from others, the most distinctive first."""
    documents: int
    """Documents in the category and below it. Expired documents count until ``Index.compact``."""


class OriginalStats(NamedTuple):
    """Counts and sizes of the originals from which the documents of an index were read."""

    versions: int
    """Versions of documents, including the current versions."""
    originals: int
    """Distinct originals."""
    differences: int
    """Originals that are stored as a difference from another original."""
    bytes: int
    """Bytes of the distinct originals."""
    stored_bytes: int
    """Bytes of the distinct originals in the store."""


class DocumentVersion(NamedTuple):
    """A version of a document of an index."""

    version: int
    """The number of the version among the versions of the id, from 1 by time."""
    added: datetime
    """The time of the addition, in UTC."""
    ended: datetime | None
    """The time of the replacement by the next version, in UTC; None for the current version."""
    modified: datetime | None
    """The time of the last change of the file, in UTC, if it is known."""
    type: str
    """The media type of the original."""
    name: str
    """The name of the file; empty if it is unknown."""
    bytes: int
    """The length of the original in bytes."""
    sha256: str
    """The SHA-256 of the original, in hexadecimal digits."""


class IndexStats(NamedTuple):
    """Counts and sizes of an index."""

    documents: int
    """Documents, including expired ones until ``Index.compact``."""
    without_shingles: int
    """Documents without shingles, which are similar to no document."""
    postings: int
    """Band postings, including postings of removed documents."""
    segments: int
    """Files with postings."""
    tail: int
    """Documents whose postings are not in a segment yet."""
    catalogue_bytes: int
    """Bytes of the catalogue on the disk."""
    set_bytes: int
    """Bytes of shingle sets in the catalogue."""
    text_bytes: int
    """Bytes of compressed texts in the catalogue."""
    segment_bytes: int
    """Bytes of segments on the disk."""
    originals: OriginalStats | None
    """Figures of the originals; None unless the index has ``store="originals"``."""
