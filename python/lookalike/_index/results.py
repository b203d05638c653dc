"""Results of an index."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

#: A value of metadata: any value of JSON.
Json = Any


class Match(NamedTuple):
    """A document of the index that is similar to the query."""

    #: Its id.
    id: str
    #: From 0 to 1: shared shingles among all of both.
    similarity: float
    #: Whether ``similarity`` is an estimate by signatures (an index with ``store="signatures"``);
    #: else it is exact.
    estimated: bool
    #: How many shingles both have; None where estimated.
    shared: int | None
    #: How many shingles the match has; None where estimated.
    shingles: int | None
    #: From 0 to 1: which part of the text's shingles the match has; None where estimated.
    containment_of_query: float | None
    #: From 0 to 1: which part of the match's shingles the text has; None where estimated.
    containment_of_match: float | None
    #: Length of its text in bytes of UTF-8.
    bytes: int
    #: Its metadata.
    metadata: dict[str, Json]
    #: When it was added, in UTC.
    added: datetime
    #: When its file was last changed, in UTC, where that is known.
    modified: datetime | None
    #: When it expires, in UTC; None for never.
    expires: datetime | None
    #: Its text; None unless ``texts=True`` was asked for.
    text: str | None


class Matches(list[Match]):
    """Matches by descending similarity, then by id, and figures of the query."""

    __slots__ = (
        "candidates",
        "found",
        "predicted_recall",
        "recall_caveat",
        "shingles",
        "threshold",
    )

    #: How many documents were compared; for the nearest, how many were looked at.
    candidates: int
    #: How many reach the threshold; more than ``len()`` where a limit cut the list.
    found: int
    #: The probability, from 0 to 1, that a document exactly at the threshold is found; for the
    #: nearest, one as similar as the last match.
    predicted_recall: float
    #: A sentence why recall may be lower; None if the prediction holds.
    recall_caveat: str | None
    #: How many shingles the text has; a text without shingles is similar to no document.
    shingles: int | None
    #: The threshold of the query; 0.0 for the nearest.
    threshold: float

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
        """From the rows of the engine and its figures of the query."""
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

    #: Its id.
    id: str
    #: Length of its text in bytes of UTF-8.
    bytes: int
    #: How many shingles it has; None where the index keeps signatures only.
    shingles: int | None
    #: Its metadata.
    metadata: dict[str, Json]
    #: When it was added, in UTC.
    added: datetime
    #: When its file was last changed, in UTC, where that is known.
    modified: datetime | None
    #: When it expires, in UTC; None for never.
    expires: datetime | None
    #: Its text; None unless the index was made with ``store="texts"``.
    text: str | None


class SkippedRecord(NamedTuple):
    """A skipped record or file."""

    #: The file.
    source: str
    #: The line that the record begins on, or its row in a Parquet file, from 1; None for all of
    #: the file.
    line: int | None
    #: The id of the record, where it has one that can be read.
    id: str | None
    #: The reason.
    reason: str


class AddResult(NamedTuple):
    """Counts of an addition, which is durable."""

    #: Documents with new ids.
    added: int
    #: Documents that replaced others with their ids.
    updated: int
    #: Documents that were not added because their ids exist.
    kept: int
    #: Number of stored documents without shingles, which are similar to no document.
    without_shingles: int
    #: Skipped records of files: those that have no text, and with ``skip_bad`` bad records.
    skipped: list[SkippedRecord]


class RemoveResult(NamedTuple):
    """Counts of a removal, which is durable."""

    #: Removed documents.
    removed: int
    #: Ids of which there was no document, in the order in which they were given.
    absent: list[str]


class Problem(NamedTuple):
    """A problem that :meth:`Index.check` found."""

    #: The file, table or document.
    place: str
    #: The problem.
    what: str
    #: Whether :meth:`Index.repair` fixes it without loss.
    repairable: bool


class Category(NamedTuple):
    """Documents of an index that have words in common."""

    #: Its place in the tree: ``"2"``, ``"2.1"``, ``"2.1.3"``.
    path: str
    #: The path of the category that it is in; None for a topic.
    parent: str | None
    #: The least similarity of its level: 0.2 for topics, 0.5 and 0.8 below them.
    level: float
    #: The words that tell it from the others, the most telling first.
    label: tuple[str, ...]
    #: Documents in it and below it; expired ones count until :meth:`Index.compact`.
    documents: int


class OriginalStats(NamedTuple):
    """Counts and sizes of what the documents of an index were read from."""

    #: Versions of documents, the current ones among them.
    versions: int
    #: Distinct originals.
    originals: int
    #: Originals that are stored as a difference from another one.
    differences: int
    #: Bytes of the distinct originals.
    bytes: int
    #: Bytes that they take.
    stored_bytes: int


class DocumentVersion(NamedTuple):
    """What a document of an index was, and when."""

    #: Its number among the versions of its id, from 1 by time.
    version: int
    #: When it was added, in UTC.
    added: datetime
    #: When the next version replaced it, in UTC; None for the current one.
    ended: datetime | None
    #: When its file was last changed, in UTC, where that is known.
    modified: datetime | None
    #: The media type of its original.
    type: str
    #: The name of its file; empty if it is unknown.
    name: str
    #: The length of its original.
    bytes: int
    #: The SHA-256 of its original, in hexadecimal digits.
    sha256: str


class IndexStats(NamedTuple):
    """Counts and sizes of an index."""

    #: Documents, including expired ones until :meth:`Index.compact`.
    documents: int
    #: Documents without shingles, which are similar to no document.
    without_shingles: int
    #: Band postings, including those of removed documents.
    postings: int
    #: Files with postings.
    segments: int
    #: Documents whose postings are in no segment yet.
    tail: int
    #: Bytes of the catalogue on the disk.
    catalogue_bytes: int
    #: Bytes of shingle sets in it.
    set_bytes: int
    #: Bytes of compressed texts in it.
    text_bytes: int
    #: Bytes of segments on the disk.
    segment_bytes: int
    #: Of an index with ``store="originals"``; None for others.
    originals: OriginalStats | None
