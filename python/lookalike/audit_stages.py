"""The stages of ``lookalike.audit`` for documents that are divided over tasks.

The stages read and return Arrow batches, as in ``lookalike.stages``, and use the plan of the run:

    draw        documents → drawn documents       a task for each piece of the collection
    search      documents, sample → findings      likewise; the sample is pickled with the task
    merge       findings → findings               any number to a task
    read_texts  blocks of the run → digests       any number to a task
    SampleSearch.judge   findings, reports of the run about some ids → the figures

The figures equal those on one machine, since the same documents are drawn and the findings of
tasks add up. ``docs/reference/stages.md`` specifies the rows. ``lookalike.spark.audit`` runs the
stages on Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lookalike import _engine
from lookalike._divided.arrow_values import import_arrow, int_scalar, read_table, text_array
from lookalike.stages import Plan, documents_of, sides_of

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "DRAWN",
    "FOUND",
    "TEXTS",
    "AuditSample",
    "added",
    "draw",
    "draw_limit",
    "merge",
    "read_texts",
    "search",
]

DRAWN: Final = "id string, reference boolean, fingerprint binary, shingles binary"
"""Columns of the rows of ``draw``, with their SQL types."""
FOUND: Final = "note string"
"""Columns of the rows of ``search`` and ``merge``, with their SQL types."""
TEXTS: Final = "documents long, digest string"
"""Columns of the rows of ``read_texts``, with their SQL types."""


def draw_limit(population: int, sample: int, attempt: int = 0) -> int:
    """Returns the greatest hash of an id that ``draw`` takes, so that it draws somewhat more
    documents than ``sample``.

    Args:
        population: The number of documents with a token.
        sample: The number of documents in the sample.
        attempt: The number of earlier attempts, which drew fewer than ``sample`` ids. Each attempt
            draws more. The limit ``2**64 - 1`` draws all documents.
    """
    return _engine.draw_limit(population, sample, attempt)


def draw(
    plan: Plan, batches: Iterable[pyarrow.RecordBatch], *, seed: int, limit: int
) -> Iterator[pyarrow.RecordBatch]:
    """Yields the documents that may be in the sample, with their shingles (``DRAWN``).

    Args:
        batches: Documents with the columns of the plan. With a reference collection they have
            ``reference``.
        seed: The random seed of the sample.
        limit: The result of ``draw_limit``.
    """
    plan.check()
    for documents, reference in _documents(plan, batches):
        drawn = _engine.draw(documents, reference, dict(plan.options), seed, limit)
        yield from read_table(drawn).to_batches()


@dataclass(frozen=True)
class AuditSample:
    """The drawn documents, and the parameters of the drawing. A pickle takes about 8 bytes for each
    shingle of the sample.
    """

    plan: Plan
    """The plan of the run."""
    drawn: pyarrow.Table
    """All rows of ``draw``."""
    documents: int
    """The number of all documents, including documents without a token."""
    sample: int
    """The number of documents in the sample, if the collection has as many."""
    seed: int
    """The random seed of ``draw``."""
    confidence: float
    """Confidence level of the intervals."""

    def searched(self) -> _engine.SampleSearch:
        """Returns a new search for the documents similar to this sample."""
        self.plan.check()
        options = dict(self.plan.options)
        return _engine.SampleSearch(
            options, self.drawn, self.documents, self.sample, self.seed, self.confidence
        )


def search(
    sample: AuditSample, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Compares documents with the sample exactly, and yields one row (``FOUND``).

    Args:
        batches: Documents, as for ``draw``.
    """
    searched = sample.searched()
    for documents, reference in _documents(sample.plan, batches):
        searched.search(documents, reference)
    yield _found(searched)


def merge(
    sample: AuditSample, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Adds up the findings of several tasks, and yields one row (``FOUND``).

    Args:
        sample: The sample.
        batches: Rows of ``search`` and of this function.
    """
    searched = sample.searched()
    for batch in batches:
        for found in batch.column("note").to_pylist():
            searched.merge(found)
    yield _found(searched)


def read_texts(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yields the number and digest of the documents that a run has read, in one row (``TEXTS``).
    They reveal whether the collection has changed.

    Args:
        batches: Rows of ``lookalike.stages.connect`` of the kind ``identities``.
    """
    pa = import_arrow()
    sums = added(
        _engine.read_texts(pa.Table.from_batches([batch])) for batch in batches if batch.num_rows
    )
    yield pa.record_batch(
        [pa.repeat(int_scalar(sums[0]), 1), text_array(str(sums[1]).encode())],
        names=["documents", "digest"],
    )


def added(parts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Adds up the numbers and the digests of the documents of several parts."""
    documents, digest = 0, 0
    for part in parts:
        documents, digest = documents + part[0], (digest + part[1]) % (1 << 64)
    return documents, digest


def _found(searched: _engine.SampleSearch) -> Any:
    return import_arrow().record_batch([text_array(searched.found().encode())], names=["note"])


def _documents(plan: Plan, batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yields the documents of each batch, and its documents of the reference collection or None."""
    pa = import_arrow()
    for batch in batches:
        if batch.num_rows == 0:
            continue
        sides = [documents_of(plan, rows) for _, rows in sides_of(pa.Table.from_batches([batch]))]
        yield sides[0], sides[1] if len(sides) > 1 else None
