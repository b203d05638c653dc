"""The types of the results of an index."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

Json = Any
"""A value of metadata: any JSON value."""


class Match(NamedTuple):
    """A document of the index that is similar to the query."""

    id: str
    """The id of the match."""
    similarity: float
    """The similarity in the measure of the index, 0 to 1."""
    estimated: bool
    """Whether ``similarity`` is estimated from signatures, as in an index with
    ``store="signatures"``. Otherwise it is exact.
    """
    shared: int | None
    """The number of shingles that the query and the match share; None if estimated."""
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
    """The time of the last change of the file, in UTC; None if it is unknown."""
    expires: datetime | None
    """The time of expiry, in UTC; None for never."""
    text: str | None
    """The text of the match; None unless the query had ``with_texts=True``."""


class Matches(list[Match]):
    """The matches of a query, by descending similarity, then id. Attributes describe the query."""

    __slots__ = (
        "candidates",
        "found",
        "predicted_recall",
        "recall_caveat",
        "shingles",
        "threshold",
    )

    candidates: int
    """The number of documents that share a bucket key with the query and have not expired; with
    ``nearest``, the number of compared documents.
    """
    found: int
    """The number of found documents that reach the threshold. It is greater than ``len()`` if
    ``limit`` shortened the list.
    """
    predicted_recall: float
    """The probability, from 0 to 1, that the query finds a document whose similarity equals the
    threshold; with ``nearest``, a document as similar as the last match.
    """
    recall_caveat: str | None
    """The reason why the recall may be lower than predicted; None if the prediction holds."""
    shingles: int | None
    """The number of shingles of the query, or None if the index does not store the number for a
    document that was queried by id. A text without shingles has no matches.
    """
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
        """Makes matches from a result of the engine, for use within the package."""
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
    """The time of the last change of the file, in UTC; None if it is unknown."""
    expires: datetime | None
    """The time of expiry, in UTC; None for never."""
    text: str | None
    """The text; None unless the index stores texts (``store="texts"`` or ``"originals"``)."""


class SkippedRecord(NamedTuple):
    """A record or file that was not added."""

    source: str
    """The name of the file."""
    line: int | None
    """The first line of the record, or its row in a Parquet file, from 1; None if the whole file
    was skipped.
    """
    id: str | None
    """The id of the record; None if it is unknown."""
    reason: str
    """The reason why the record was skipped."""


class AddResult(NamedTuple):
    """The numbers of documents of an addition. All its changes are on the disk."""

    added: int
    """The number of documents with new ids."""
    updated: int
    """The number of documents that replaced an existing document with the same id."""
    kept: int
    """The number of documents that were not added because their ids exist."""
    without_shingles: int
    """The number of stored documents without shingles, which are similar to no document."""
    skipped: list[SkippedRecord]
    """Skipped records of files: records without a text, and with ``skip_bad`` invalid records."""


class RemoveResult(NamedTuple):
    """The result of a removal. All its changes are on the disk."""

    removed: int
    """The number of removed documents."""
    absent: list[str]
    """The ids without a document, in the order of the argument."""


class Problem(NamedTuple):
    """A problem that ``Index.check`` found."""

    place: str
    """The file, table or document with the problem."""
    what: str
    """The description of the problem."""
    repairable: bool
    """Whether ``Index.repair`` fixes the problem without loss."""


class Category(NamedTuple):
    """A group of documents of an index that have words in common."""

    path: str
    """The place of the category in the tree, such as ``"2"``, ``"2.1"`` or ``"2.1.3"``."""
    parent: str | None
    """The path of the parent category; None for a topic."""
    level: float
    """The similarity of the level: 0.2 for topics, 0.5 and 0.8 for the levels below."""
    label: tuple[str, ...]
    """The words that distinguish the category from others, the most distinctive first."""
    documents: int
    """The number of documents in the category and in the categories below it. Expired documents
    count until ``Index.compact``.
    """


class OriginalStats(NamedTuple):
    """Counts and sizes of the originals from which the documents of an index were read."""

    versions: int
    """The number of versions of all documents, including the current versions."""
    originals: int
    """The number of distinct originals."""
    differences: int
    """The number of originals that are stored as a difference from another original."""
    bytes: int
    """The size of the distinct originals in bytes."""
    stored_bytes: int
    """The size of the distinct originals in the store, in bytes."""


class DocumentVersion(NamedTuple):
    """A version of a document of an index."""

    version: int
    """The number of the version among the versions of the document, from 1 in order of time."""
    added: datetime
    """The time of the addition, in UTC."""
    ended: datetime | None
    """The time of replacement by the next version, in UTC; None for the current version."""
    modified: datetime | None
    """The time of the last change of the file, in UTC; None if it is unknown."""
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
    """The number of documents. Expired documents count until ``Index.compact``."""
    without_shingles: int
    """The number of documents without shingles, which are similar to no document."""
    postings: int
    """The number of band postings, including postings of removed documents."""
    segments: int
    """The number of segments, which are files with postings."""
    tail: int
    """The number of documents whose postings are not in a segment yet."""
    catalogue_bytes: int
    """The size of the catalogue on the disk, in bytes."""
    set_bytes: int
    """The size of the shingle sets in the catalogue, in bytes."""
    text_bytes: int
    """The size of the compressed texts in the catalogue, in bytes."""
    segment_bytes: int
    """The size of the segments on the disk, in bytes."""
    originals: OriginalStats | None
    """Counts and sizes of the originals; None unless the index has ``store="originals"``."""
