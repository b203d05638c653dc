"""The stages of ``lookalike.audit`` for documents that are divided over tasks.

The stages read and return Arrow batches, as in ``lookalike.stages``, and use the plan of the run:

    draw        documents → drawn documents       a task for each piece of the collection
    search      documents, sample → findings      likewise; the task contains the sample
    merge       findings → findings               any number to a task
    read_texts  blocks of the run → digests       any number to a task
    SampleSearch.judge   findings, results of the run for the ids of the sample → figures

The figures are the same as on one machine, because the stages draw the same documents and the
findings of tasks add up. ``docs/reference/stages.md`` specifies the rows.
``lookalike.spark.audit`` runs the stages on Spark.
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
"""The columns of the rows of ``draw``, with their SQL types."""
FOUND: Final = "note string"
"""The columns of the rows of ``search`` and ``merge``, with their SQL types."""
TEXTS: Final = "documents long, digest string"
"""The columns of the rows of ``read_texts``, with their SQL types."""


def draw_limit(population: int, sample: int, attempt: int = 0) -> int:
    """Returns the ``limit`` for ``draw``: the greatest hash of a drawn id. Chooses it so that
    somewhat more than ``sample`` documents are drawn. Fewer are drawn with a probability below
    10⁻⁸.

    Args:
        population: The number of documents with a token.
        sample: The number of documents in the sample.
        attempt: The number of earlier attempts that drew fewer than ``sample`` ids. Each of them
            makes the limit four times as large, up to ``2**64 - 1``, which draws all documents.
    """
    return _engine.draw_limit(population, sample, attempt)


def draw(
    plan: Plan, batches: Iterable[pyarrow.RecordBatch], *, seed: int, limit: int
) -> Iterator[pyarrow.RecordBatch]:
    """Yields the documents that may be in the sample, with their shingles (``DRAWN``).

    Args:
        plan: The plan of the run.
        batches: Documents with the columns of the plan, and with ``reference`` (bool) if there is
            a reference collection.
        seed: The random seed of the sample.
        limit: The result of ``draw_limit``.
    """
    plan.check()
    for documents, reference in _documents(plan, batches):
        drawn = _engine.draw(documents, reference, dict(plan.options), seed, limit)
        yield from read_table(drawn).to_batches()


@dataclass(frozen=True)
class AuditSample:
    """The drawn documents, with the parameters of the audit. Its pickle takes about 8 bytes for
    each shingle of the drawn documents.
    """

    plan: Plan
    """The plan of the run."""
    drawn: pyarrow.Table
    """The rows of all tasks of ``draw``."""
    documents: int
    """The number of documents in the collection, including documents without a token."""
    sample: int
    """The number of documents to sample. A smaller collection is sampled as a whole."""
    seed: int
    """The random seed of ``draw``."""
    confidence: float
    """The confidence level of the intervals."""

    def searched(self) -> _engine.SampleSearch:
        """Returns a new search, without findings, for documents that are similar to the sample."""
        self.plan.check()
        options = dict(self.plan.options)
        return _engine.SampleSearch(
            options, self.drawn, self.documents, self.sample, self.seed, self.confidence
        )


def search(
    sample: AuditSample, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Compares documents with the sample exactly, and yields the findings in one row (``FOUND``).

    Args:
        sample: The sample.
        batches: Documents, as for ``draw``.
    """
    searched = sample.searched()
    for documents, reference in _documents(sample.plan, batches):
        searched.search(documents, reference)
    yield _found(searched)


def merge(
    sample: AuditSample, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Adds up the findings of several tasks, and yields the sum in one row (``FOUND``).

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
    """Yields the number and the digest of the documents that a run has read, in one row
    (``TEXTS``). If both equal the values of the audit, the collection has not changed since the
    run.

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
    """Adds up the numbers of documents, and their digests modulo 2⁶⁴, of several parts."""
    documents, digest = 0, 0
    for part in parts:
        documents, digest = documents + part[0], (digest + part[1]) % (1 << 64)
    return documents, digest


def _found(searched: _engine.SampleSearch) -> Any:
    return import_arrow().record_batch([text_array(searched.found().encode())], names=["note"])


def _documents(plan: Plan, batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yields, for each batch, its documents and its reference documents (or ``None``)."""
    pa = import_arrow()
    for batch in batches:
        if batch.num_rows == 0:
            continue
        sides = [documents_of(plan, rows) for _, rows in sides_of(pa.Table.from_batches([batch]))]
        yield sides[0], sides[1] if len(sides) > 1 else None
