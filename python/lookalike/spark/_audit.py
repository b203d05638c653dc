"""``audit`` for a run over a Spark DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lookalike import audit_stages
from lookalike._divided.task_errors import file_errors, task_errors
from lookalike._measures.audit import AuditResult
from lookalike._options import number_option, whole_option
from lookalike.audit_stages import DRAWN, FOUND, TEXTS, AuditSample
from lookalike.errors import ChangedError, OptionError
from lookalike.spark._find import FindResult
from lookalike.spark._run import REMEDY
from lookalike.spark._worker import map_rows
from lookalike.stages import Plan

# The limit that draws all documents.
_ALL = (1 << 64) - 1
# The most tasks that merge the findings of other tasks.
_MERGING = 32


def audit(
    found: FindResult, *, sample: int = 2_000, confidence: float = 0.95, seed: int = 1
) -> AuditResult:
    """Measures the recall of a run. Draws a random sample of documents and compares it exactly
    with all documents. The figures are the same as from ``lookalike.audit`` for these documents,
    parameters and seed.

    The audit reads the frame of the run at least twice. The first reading shingles only the texts
    of documents that may be in the sample. Each task of the second reading receives some 8 bytes
    for each shingle of the sample.

    Args:
        found: A result of ``lookalike.spark.find`` that was not released. The audit judges by the
            pairs of the run if it listed pairs, else by its groups.
        sample: The number of documents to draw, 1 or more. If the collection is smaller, all
            documents are drawn.
        confidence: The least probability that an interval contains the true recall; above 0, below
            1.
        seed: The random seed of the sample, from 0.

    Raises:
        ChangedError: The frame returned other documents than in the run.
        OptionError: An argument is invalid.
        FileError: The engine cannot read the documents.
    """
    if not isinstance(found, FindResult):
        raise OptionError(
            "found: expected a result of lookalike.spark.find, got "
            f"{type(found).__module__}.{type(found).__qualname__}; audit(find(df)) takes a frame"
        )
    sample_size = whole_option("sample", sample, 1)
    run = _AuditRun(
        found, sample_size, number_option("confidence", confidence), whole_option("seed", seed, 0)
    )
    with task_errors(REMEDY), file_errors("cannot read the documents"):
        return AuditResult.of_json(found.run.timed("audit", run.figures))


@dataclass(frozen=True)
class _DrawTask:
    plan: Plan
    seed: int
    limit: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        return audit_stages.draw(self.plan, batches, seed=self.seed, limit=self.limit)


@dataclass(frozen=True)
class _SearchTask:
    sample: AuditSample

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        return audit_stages.search(self.sample, batches)


@dataclass(frozen=True)
class _MergeTask:
    sample: AuditSample

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        return audit_stages.merge(self.sample, batches)


class _AuditRun:
    def __init__(self, found: FindResult, sample: int, confidence: float, seed: int) -> None:
        self._run = found.run
        self._sample = sample
        self._confidence = confidence
        self._seed = seed
        counts = found.counts
        self._documents, self._population = (
            counts["documents"],
            counts["documents"] - counts["empty"],
        )

    def figures(self) -> str:
        """Runs the audit. Returns the figures as JSON."""
        sample = AuditSample(
            self._run.plan,
            self._drawn(),
            self._documents,
            self._sample,
            self._seed,
            self._confidence,
        )
        searched = sample.searched()
        rows = map_rows(self._run.documents, _SearchTask(sample), FOUND)
        rows = map_rows(rows.repartition(min(self._run.parts, _MERGING)), _MergeTask(sample), FOUND)
        for row in rows.collect():
            searched.merge(row["note"])
        self._refuse_changed(searched)
        return self._judged(searched)

    def _refuse_changed(self, searched: Any) -> None:
        documents, population = searched.counts()
        if (documents, population) == (self._documents, self._population):
            blocks = self._run.blocks.where("kind = 'identities'").select("rows")
            rows = map_rows(blocks, audit_stages.read_texts, TEXTS).collect()
            if (
                audit_stages.added((row["documents"], int(row["digest"])) for row in rows)
                == searched.texts()
            ):
                return
        raise ChangedError(
            f"the frame returned {documents} documents, {population} of them with a token; the run "
            f"read {self._documents} and {self._population}, or other texts; it must return the "
            "same rows each time: write it to a table first, and run on the table"
        )

    def _drawn(self) -> Any:
        """Draws at least as many documents as the sample needs, or all documents of a smaller
        collection.
        """
        import pyarrow as pa

        attempt = 0
        while True:
            limit = audit_stages.draw_limit(self._population, self._sample, attempt)
            rows = map_rows(
                self._run.documents, _DrawTask(self._run.plan, self._seed, limit), DRAWN
            ).collect()
            if limit == _ALL or len({row["id"] for row in rows}) >= self._sample:
                break
            attempt += 1
        kinds = {
            "id": pa.string(),
            "reference": pa.bool_(),
            "fingerprint": pa.binary(),
            "shingles": pa.binary(),
        }
        return pa.table(
            {name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
        )

    def _judged(self, searched: Any) -> str:
        """Judges which drawn neighbours the run found, by its duplicates or its pairs. Returns the
        figures as JSON.
        """
        run = self._run
        functions = run.functions
        ids = run.spark.createDataFrame([(id_,) for id_ in searched.ids()], "id string")
        if not run.plan.options.get("pairs"):
            duplicates = run.members().where("role = 'duplicate'").select("id")
            rows = duplicates.join(functions.broadcast(ids), "id", "left_semi").collect()
            return str(searched.judge([row["id"] for row in rows], None))
        pairs = run.verified_pairs().select(
            functions.col("keeper").alias("id_a"), functions.col("id").alias("id_b")
        )
        for side in ("id_a", "id_b"):
            pairs = pairs.join(
                functions.broadcast(ids.withColumnRenamed("id", side)), side, "left_semi"
            )
        return str(searched.judge([], [(row["id_a"], row["id_b"]) for row in pairs.collect()]))
