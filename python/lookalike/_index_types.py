"""What an index gives back."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

__all__ = [
    "Added",
    "Document",
    "Match",
    "Matches",
    "Problem",
    "Removed",
    "Skipped",
    "Stats",
]

#: A value of metadata: what JSON has.
Json = Any


class Match(NamedTuple):
    """A document of the index that resembles what was asked for."""

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
    #: What is known of it other than its text.
    metadata: dict[str, Json]
    #: When it was added, in UTC.
    added: datetime
    #: When its file was last changed, in UTC, where that is known.
    modified: datetime | None
    #: From when on it counts as removed, in UTC; None for never.
    expires: datetime | None
    #: What it says; None unless ``texts=True`` was asked for.
    text: str | None


class Matches(list[Match]):
    """Matches, the most similar first, then by id, and what is known of all of them."""

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
    #: Why fewer may be found than that, for people; None where the prediction holds.
    recall_caveat: str | None
    #: How many shingles the text has; a text without shingles resembles nothing.
    shingles: int | None
    #: The least similarity that was asked for; 0.0 where the nearest were.
    threshold: float


class Document(NamedTuple):
    """A document of an index."""

    #: Its id.
    id: str
    #: Length of its text in bytes of UTF-8.
    bytes: int
    #: How many shingles it has; None where the index keeps signatures only.
    shingles: int | None
    #: What is known of it other than its text.
    metadata: dict[str, Json]
    #: When it was added, in UTC.
    added: datetime
    #: When its file was last changed, in UTC, where that is known.
    modified: datetime | None
    #: From when on it counts as removed, in UTC; None for never.
    expires: datetime | None
    #: What it says; None unless the index was made with ``store="texts"``.
    text: str | None


class Skipped(NamedTuple):
    """Something among files that is no document."""

    #: The file.
    source: str
    #: The line that the record begins on, or its row in a Parquet file, from 1; None for all of
    #: the file.
    line: int | None
    #: The id of the record, where it has one that can be read.
    id: str | None
    #: Why it was left out.
    reason: str


class Added(NamedTuple):
    """What was added, for good."""

    #: Documents with new ids.
    added: int
    #: Documents that replaced others with their ids.
    updated: int
    #: Documents that were left out, for their ids were there.
    kept: int
    #: How many of those stored have no shingles, and resemble nothing.
    without_shingles: int
    #: What was left out of files: those that have no text, and with ``skip_bad`` bad records.
    skipped: list[Skipped]


class Removed(NamedTuple):
    """What was removed, for good."""

    #: Documents that are gone now.
    removed: int
    #: Ids of which there was no document, in the order in which they were given.
    absent: list[str]


class Problem(NamedTuple):
    """Something in the folder of an index that is not as it should be."""

    #: The file, table or document.
    place: str
    #: What is wrong with it.
    what: str
    #: Whether :meth:`Index.repair` makes it right without loss.
    repairable: bool


class Stats(NamedTuple):
    """Counts and sizes of an index."""

    #: Documents, expired ones among them until :meth:`Index.compact`.
    documents: int
    #: Those of them without shingles, which resemble nothing.
    without_shingles: int
    #: Band postings, with those of documents that are gone.
    postings: int
    #: Files that postings are searched in.
    segments: int
    #: Documents whose postings are in no segment yet.
    tail: int
    #: Bytes of the catalogue on the disk.
    catalogue_bytes: int
    #: Bytes of shingle sets in it.
    set_bytes: int
    #: Bytes of texts in it, as compressed.
    text_bytes: int
    #: Bytes of segments on the disk.
    segment_bytes: int


def matches(
    found: tuple[list[tuple[Any, ...]], int, int, float, float, str | None, int | None],
) -> Matches:
    """Of what the engine gives: rows, and what it says of all of them."""
    rows, total, candidates, threshold, recall, caveat, shingles = found
    all = Matches(map(Match._make, rows))
    all.found = total
    all.candidates = candidates
    all.threshold = threshold
    all.predicted_recall = recall
    all.recall_caveat = caveat
    all.shingles = shingles
    return all
