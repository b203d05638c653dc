"""Results of an index."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

Json = Any
"""A value of metadata: any value of JSON."""


class Match(NamedTuple):
    """A document of the index that is similar to the query."""

    id: str
    """Its id."""
    similarity: float
    """From 0 to 1: shared shingles among all of both."""
    estimated: bool
    """Whether ``similarity`` is an estimate by signatures (an index with ``store="signatures"``);
    else it is exact.
    """
    shared: int | None
    """How many shingles both have; None where estimated."""
    shingles: int | None
    """How many shingles the match has; None where estimated."""
    containment_of_query: float | None
    """From 0 to 1: which part of the text's shingles the match has; None where estimated."""
    containment_of_match: float | None
    """From 0 to 1: which part of the match's shingles the text has; None where estimated."""
    bytes: int
    """Length of its text in bytes of UTF-8."""
    metadata: dict[str, Json]
    """Its metadata."""
    added: datetime
    """When it was added, in UTC."""
    modified: datetime | None
    """When its file was last changed, in UTC, where that is known."""
    expires: datetime | None
    """When it expires, in UTC; None for never."""
    text: str | None
    """Its text; None without ``with_texts=True``."""


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

    candidates: int
    """How many documents were compared; for the nearest, how many were looked at."""
    found: int
    """How many reach the threshold; more than ``len()`` where a limit cut the list."""
    predicted_recall: float
    """The probability, from 0 to 1, that a document exactly at the threshold is found; for the
    nearest, one as similar as the last match.
    """
    recall_caveat: str | None
    """A sentence why recall may be lower; None if the prediction holds."""
    shingles: int | None
    """How many shingles the text has; a text without shingles is similar to no document."""
    threshold: float
    """The threshold of the query; 0.0 for the nearest."""

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

    id: str
    """Its id."""
    bytes: int
    """Length of its text in bytes of UTF-8."""
    shingles: int | None
    """How many shingles it has; None where the index keeps signatures only."""
    metadata: dict[str, Json]
    """Its metadata."""
    added: datetime
    """When it was added, in UTC."""
    modified: datetime | None
    """When its file was last changed, in UTC, where that is known."""
    expires: datetime | None
    """When it expires, in UTC; None for never."""
    text: str | None
    """Its text; None unless the index was made with ``store="texts"``."""


class SkippedRecord(NamedTuple):
    """A skipped record or file."""

    source: str
    """The file."""
    line: int | None
    """The line that the record begins on, or its row in a Parquet file, from 1; None for all of the
    file.
    """
    id: str | None
    """The id of the record, where it has one that can be read."""
    reason: str
    """The reason."""


class AddResult(NamedTuple):
    """Counts of an addition, which is durable."""

    added: int
    """Documents with new ids."""
    updated: int
    """Documents that replaced others with their ids."""
    kept: int
    """Documents that were not added because their ids exist."""
    without_shingles: int
    """Number of stored documents without shingles, which are similar to no document."""
    skipped: list[SkippedRecord]
    """Skipped records of files: those that have no text, and with ``skip_bad`` bad records."""


class RemoveResult(NamedTuple):
    """Counts of a removal, which is durable."""

    removed: int
    """Removed documents."""
    absent: list[str]
    """Ids of which there was no document, in the order in which they were given."""


class Problem(NamedTuple):
    """A problem that ``Index.check`` found."""

    place: str
    """The file, table or document."""
    what: str
    """The problem."""
    repairable: bool
    """Whether ``Index.repair`` fixes it without loss."""


class Category(NamedTuple):
    """Documents of an index that have words in common."""

    path: str
    """Its place in the tree: ``"2"``, ``"2.1"``, ``"2.1.3"``."""
    parent: str | None
    """The path of the category that it is in; None for a topic."""
    level: float
    """The least similarity of its level: 0.2 for topics, 0.5 and 0.8 below them."""
    label: tuple[str, ...]
    """The words that tell it from the others, the most telling first."""
    documents: int
    """Documents in it and below it; expired ones count until ``Index.compact``."""


class OriginalStats(NamedTuple):
    """Counts and sizes of what the documents of an index were read from."""

    versions: int
    """Versions of documents, the current ones among them."""
    originals: int
    """Distinct originals."""
    differences: int
    """Originals that are stored as a difference from another one."""
    bytes: int
    """Bytes of the distinct originals."""
    stored_bytes: int
    """Bytes that they take."""


class DocumentVersion(NamedTuple):
    """What a document of an index was, and when."""

    version: int
    """Its number among the versions of its id, from 1 by time."""
    added: datetime
    """When it was added, in UTC."""
    ended: datetime | None
    """When the next version replaced it, in UTC; None for the current one."""
    modified: datetime | None
    """When its file was last changed, in UTC, where that is known."""
    type: str
    """The media type of its original."""
    name: str
    """The name of its file; empty if it is unknown."""
    bytes: int
    """The length of its original."""
    sha256: str
    """The SHA-256 of its original, in hexadecimal digits."""


class IndexStats(NamedTuple):
    """Counts and sizes of an index."""

    documents: int
    """Documents, including expired ones until ``Index.compact``."""
    without_shingles: int
    """Documents without shingles, which are similar to no document."""
    postings: int
    """Band postings, including those of removed documents."""
    segments: int
    """Files with postings."""
    tail: int
    """Documents whose postings are in no segment yet."""
    catalogue_bytes: int
    """Bytes of the catalogue on the disk."""
    set_bytes: int
    """Bytes of shingle sets in it."""
    text_bytes: int
    """Bytes of compressed texts in it."""
    segment_bytes: int
    """Bytes of segments on the disk."""
    originals: OriginalStats | None
    """Of an index with ``store="originals"``; None for others."""
