"""The stages of ``lookalike.audit`` for documents that are divided over tasks.

Arrow batches in, Arrow batches out, as in ``lookalike.stages``, whose plan they take::

    draw      documents → drawn documents       a task for each piece of the collection
    search    documents, the sample → findings  likewise; the sample is pickled with the task
    merge     findings → findings               any number to a task
    read_texts  blocks of the run → digests    any number to a task
    SampleSearch.judge   findings, what the run reports of some ids → the figures

The figures are those of one machine: the same documents are drawn, and what is found adds up.
``docs/reference/stages.md`` specifies the rows. ``lookalike.spark.audit`` runs them on Spark.
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
"""Columns of the rows of ``draw``, and their types in SQL."""
FOUND: Final = "note string"
"""Those of ``search`` and ``merge``."""
TEXTS: Final = "documents long, digest string"
"""Those of ``read_texts``."""


def draw_limit(population: int, sample: int, attempt: int = 0) -> int:
    """The greatest hash of an id that ``draw`` takes, for some more documents than ``sample``.

    Args:
        population: Documents with a token.
        attempt: Number of attempts that drew fewer than ``sample`` ids; each draws more. All were
            drawn where the limit is :math:`2^{64} - 1`.
    """
    return _engine.draw_limit(population, sample, attempt)


def draw(
    plan: Plan, batches: Iterable[pyarrow.RecordBatch], *, seed: int, limit: int
) -> Iterator[pyarrow.RecordBatch]:
    """The documents that may be in the sample, with their shingles; ``DRAWN``.

    Args:
        batches: Documents: the columns of the plan, and ``reference`` where there is a reference
            collection.
        seed: Random seed of the sample.
        limit: What ``draw_limit`` gives.
    """
    plan.check()
    for documents, reference in _documents(plan, batches):
        drawn = _engine.draw(documents, reference, dict(plan.options), seed, limit)
        yield from read_table(drawn).to_batches()


@dataclass(frozen=True)
class AuditSample:
    """The documents that were drawn, and how. It pickles, with some 8 bytes for each shingle of the
    sample.
    """

    plan: Plan
    drawn: pyarrow.Table
    """Rows of ``draw``, of all documents."""
    documents: int
    """All documents, those without a token included."""
    sample: int
    """Documents in the sample, if there are as many."""
    seed: int
    """That of ``draw``."""
    confidence: float
    """Confidence level of the intervals."""

    def searched(self) -> _engine.SampleSearch:
        """A search of this sample that has not begun."""
        self.plan.check()
        options = dict(self.plan.options)
        return _engine.SampleSearch(
            options, self.drawn, self.documents, self.sample, self.seed, self.confidence
        )


def search(
    sample: AuditSample, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Compares documents with the sample, exactly; ``FOUND``, one row.

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
    """Adds up what several tasks found; ``FOUND``, one row.

    Args:
        batches: Rows of ``search`` and of this function.
    """
    searched = sample.searched()
    for batch in batches:
        for found in batch.column("note").to_pylist():
            searched.merge(found)
    yield _found(searched)


def read_texts(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The documents that a run has read, by which a changed collection is noticed; ``TEXTS``,
    one row.

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
    """The number and the digest of the documents of several parts."""
    documents, digest = 0, 0
    for part in parts:
        documents, digest = documents + part[0], (digest + part[1]) % (1 << 64)
    return documents, digest


def _found(searched: _engine.SampleSearch) -> Any:
    return import_arrow().record_batch([text_array(searched.found().encode())], names=["note"])


def _documents(plan: Plan, batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The documents of batches, and those of the reference collection among them."""
    pa = import_arrow()
    for batch in batches:
        if batch.num_rows == 0:
            continue
        sides = [documents_of(plan, rows) for _, rows in sides_of(pa.Table.from_batches([batch]))]
        yield sides[0], sides[1] if len(sides) > 1 else None
