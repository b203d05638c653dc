"""Uses of every public name, for type checkers. The code is never executed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy
import numpy.typing
import pandas
import polars
import pyarrow
import pyarrow.dataset
from typing_extensions import assert_type

import lookalike
import lookalike.aio
import lookalike.audit_stages
import lookalike.datasketch
import lookalike.errors
import lookalike.pandas
import lookalike.plot
import lookalike.plot.tables
import lookalike.polars
import lookalike.ray
import lookalike.sklearn
import lookalike.spark
import lookalike.stages

TEXTS = ["we meet on monday at ten", "We meet on Monday at ten!"]


def documents(
    texts: list[str],
    pairs: Iterator[tuple[int, str]],
    records: list[dict[str, Any]],
    by_id: dict[str, str],
    tokens: list[list[str]],
    frame: pandas.DataFrame,
    query: polars.LazyFrame,
    table: pyarrow.Table,
    dataset: pyarrow.dataset.Dataset,
) -> list[lookalike.Documents]:
    return [
        texts,
        pairs,
        records,
        by_id,
        tokens,
        frame,
        query,
        table,
        dataset,
        lookalike.Files("folder", include="*.txt", max=lookalike.Limits(pages=10)),
    ]


def options() -> None:
    reading: lookalike.FileOptions = {"format": "csv", "html": "main", "quotes": "keep"}
    comparing: lookalike.Options = {"measure": "containment", "shingle": lookalike.Words(5)}
    removing: lookalike.DedupOptions = {"keep": ["newest", lookalike.Field("date")], "drop": [1]}
    cutting: lookalike.CutOptions = {"at": "line", "min_share": 0.3}
    lookalike.find_files("docs", **reading)
    lookalike.find(TEXTS, **comparing)
    lookalike.dedup(TEXTS, **removing)
    lookalike.cut(TEXTS, **cutting)
    rules: list[str] = [lookalike.Chars(9), lookalike.Bytes(4), lookalike.PathPattern("*/final/*")]
    assert_type(lookalike.OPTIONS, dict[str, str])
    assert_type(lookalike.__version__, str)
    lookalike.find(TEXTS, shingle=rules[0], normalize=["fold", "language:auto"])
    lookalike.find(TEXTS, measure="cosine")  # type: ignore[arg-type]
    lookalike.find(TEXTS, num_perm=128)  # type: ignore[call-arg]
    lookalike.find(TEXTS, format="csv")  # type: ignore[call-arg]


def found(found: lookalike.FindResult) -> None:
    for group in found:
        assert_type(group, lookalike.Group)
        for member in group.duplicates:
            assert_type(member, lookalike.Member)
    assert_type(len(found), int)
    assert_type(found[0], lookalike.Group)
    assert_type(found[:2], list[lookalike.Group])
    assert_type(found.groups, lookalike.Table)
    assert_type(found.is_kept, list[bool])
    assert_type(found.explain("a", "b"), lookalike.Explanation)
    if found.decisions is not None:
        assert_type(found.decisions, lookalike.DecisionCounts)
    assert_type(lookalike.audit(found, sample=100), lookalike.AuditResult)
    assert_type(lookalike.evaluate(found, "truth.csv"), lookalike.EvaluateResult)


def calls(path: Path, frame: pandas.DataFrame, query: polars.LazyFrame) -> None:
    assert_type(lookalike.find(TEXTS, reference=lookalike.Files(path)), lookalike.FindResult)
    assert_type(lookalike.dedup(TEXTS), list[str])
    assert_type(lookalike.dedup_files(path, output="kept/"), lookalike.DedupResult)
    assert_type(lookalike.cut(TEXTS, min_words=8), list[str])
    assert_type(lookalike.cut_files([path], output=path), lookalike.CutResult)
    repeated = lookalike.passages(TEXTS, unit="paragraph")
    assert_type(repeated, lookalike.PassagesResult)
    for passage in repeated:
        assert_type(passage, lookalike.Passage)
    contaminated = lookalike.contamination(TEXTS, lookalike.Files("quiz.jsonl"))
    assert_type(contaminated, lookalike.ContaminationResult)
    for item in contaminated:
        assert_type(item, dict[str, Any])
    compared = lookalike.compare("a", "b", differences=True)
    assert_type(compared, lookalike.CompareResult)
    assert_type(compared.differences[0], lookalike.Difference)
    assert_type(compared.difference_counts, lookalike.DifferenceCounts | None)
    assert_type(lookalike.prepare(TEXTS), lookalike.PrepareResult)
    assert_type(lookalike.tune(TEXTS, bands="auto"), lookalike.TuneResult)
    assert_type(lookalike.dedup(frame), pandas.DataFrame)
    assert_type(lookalike.dedup(query), polars.DataFrame)


def index(path: Path, day: timedelta, rows: list[dict[str, Any]]) -> None:
    with lookalike.Index.create(path, shingle=lookalike.Chars(7), store="originals") as index:
        assert_type(index, lookalike.Index)
        added = index.add(rows, text=["title", "body"], id="key", expires=day)
        assert_type(added, lookalike.AddResult)
        assert_type(added.skipped[0], lookalike.SkippedRecord)
        assert_type(index.update({1: "a text"}), lookalike.AddResult)
        assert_type(index.add_files(path, format="mbox"), lookalike.AddResult)
        assert_type(
            index.add_one(UUID(int=1), "a text", modified=datetime.now(timezone.utc)),
            lookalike.AddResult,
        )
        assert_type(index.remove([1, "b"]), lookalike.RemoveResult)
        matches = index.query("a text", with_texts=True, where={"year": (">", 2020)})
        assert_type(matches, lookalike.Matches)
        assert_type(matches[0], lookalike.Match)
        assert_type(index.query_many(TEXTS, with_texts=True), list[lookalike.Matches])
        assert_type(index.get(1), lookalike.Document | None)
        assert_type(index.versions("a"), list[lookalike.DocumentVersion])
        assert_type(index.categories(), list[lookalike.Category])
        assert_type(index.stats(), lookalike.IndexStats)
        assert_type(index.stats().originals, lookalike.OriginalStats | None)
        assert_type(index.check(), list[lookalike.Problem])
        assert_type(index.groups(), lookalike.FindResult)


async def coroutines() -> None:
    opening = lookalike.aio.AsyncIndex.open("news", read_only=True)
    assert_type(opening, lookalike.aio.OpeningIndex)
    async with opening as index:
        assert_type(await index.add_files("folder"), lookalike.AddResult)
        assert_type(await index.query("a text", with_texts=True), lookalike.Matches)


def errors() -> list[type[Exception]]:
    return [
        lookalike.errors.ChangedError,
        lookalike.errors.DamagedError,
        lookalike.errors.DocumentError,
        lookalike.errors.DocumentTypeError,
        lookalike.errors.FileError,
        lookalike.errors.IdWarning,
        lookalike.errors.LookalikeError,
        lookalike.errors.MismatchError,
        lookalike.errors.OptionError,
        lookalike.errors.RunawayWarning,
        lookalike.errors.StoreError,
    ]


def accessors(
    frame: lookalike.pandas.FrameAccessor,
    series: lookalike.pandas.SeriesAccessor,
    polars_frame: lookalike.polars.FrameNamespace,
    query: lookalike.polars.LazyFrameNamespace,
    column: lookalike.polars.SeriesNamespace,
    expression: lookalike.polars.ExprNamespace,
) -> None:
    assert_type(frame.find("body"), lookalike.FindResult)
    frame.is_kept("body")
    series.labels(threshold=0.5)
    polars_frame.dedup("body")
    query.cut("body", min_words=8)
    column.is_kept()
    expression.is_kept(exact=True)


def pictures(found: lookalike.FindResult, audit: lookalike.AuditResult) -> None:
    histogram = lookalike.plot.tables.similarity_histogram(found)
    assert_type(histogram, lookalike.plot.tables.SimilarityHistogram)
    curve = lookalike.plot.tables.s_curve(found, audit)
    assert_type(curve, lookalike.plot.tables.SCurve)
    assert_type(curve.measured[0], lookalike.plot.tables.MeasuredRecall)
    sizes = lookalike.plot.tables.group_sizes(found)
    assert_type(sizes, lookalike.plot.tables.GroupSizes)
    assert_type(sizes.steps[0], lookalike.plot.tables.SizeStep)
    removal = lookalike.plot.tables.removal_by_source(found, by="bytes")
    assert_type(removal, lookalike.plot.tables.RemovalBySource)
    assert_type(removal.sources[0], lookalike.plot.tables.SourceRemoval)
    sweep = lookalike.plot.tables.threshold_sweep(TEXTS, [0.5, 0.8])
    assert_type(sweep, lookalike.plot.tables.ThresholdSweep)
    assert_type(sweep.steps[0], lookalike.plot.tables.SweepStep)
    lookalike.plot.similarity_histogram(histogram)
    lookalike.plot.s_curve(curve)
    lookalike.plot.group_sizes(sizes)
    lookalike.plot.removal_by_source(removal)
    lookalike.plot.threshold_sweep(sweep)


def learning(texts: Sequence[str]) -> None:
    labels = lookalike.sklearn.near_duplicate_groups(texts)
    assert_type(labels, numpy.typing.NDArray[numpy.int64])
    lookalike.sklearn.SignatureTransformer(shingle=lookalike.Chars(5)).fit(texts)
    lookalike.sklearn.NearDuplicateKFold(5, threshold=0.7).split(texts)


def clusters(frame: Any, dataset: Any) -> None:
    found = lookalike.spark.find(frame, text="body", threshold=0.7)
    assert_type(found, lookalike.spark.FindResult)
    assert_type(lookalike.spark.audit(found), lookalike.AuditResult)
    lookalike.spark.dedup(frame, keep=["field:date", "longest"])
    lookalike.spark.release(frame)
    extracted = lookalike.spark.extract(frame, folder="mail", quotes="cut")
    assert_type(extracted, lookalike.spark.ExtractResult)
    assert_type(lookalike.ray.find(dataset), lookalike.ray.FindResult)
    lookalike.ray.dedup(dataset)


def stages(batches: Iterator[pyarrow.RecordBatch], table: pyarrow.Table, step: str) -> None:
    plan = lookalike.stages.plan(documents=1_000_000)
    assert_type(plan, lookalike.stages.Plan)
    star_steps: tuple[lookalike.stages.StarStep, ...] = lookalike.stages.STAR_STEPS
    counters = lookalike.stages.empty_counters(plan)
    lookalike.stages.count(plan, batches)
    lookalike.stages.total(batches)
    lookalike.stages.keys(plan, batches, 4, counters=counters)
    lookalike.stages.connect(batches, 4)
    lookalike.stages.merge(batches, 4)
    lookalike.stages.stars(batches, 4, star_steps[0])
    lookalike.stages.label(batches)
    lookalike.stages.nodes(plan, table)
    lookalike.stages.places(plan, batches)
    lookalike.stages.match(plan, table, table)
    lookalike.stages.decide(plan, batches)
    lookalike.stages.decide_unsorted(plan, table)
    lookalike.stages.empty_table(lookalike.stages.BLOCKS)
    lookalike.stages.keep_rules({"keep": "longest"})
    lookalike.stages.group_lines(plan, table, format="jsonl")
    lookalike.stages.pair_lines(plan, table)
    columns: list[str] = [
        lookalike.stages.DECIDED,
        lookalike.stages.INTERNAL,
        lookalike.stages.KEPT,
        lookalike.stages.LABELS,
        lookalike.stages.PART,
        lookalike.stages.PLACES,
        lookalike.audit_stages.DRAWN,
        lookalike.audit_stages.FOUND,
        lookalike.audit_stages.TEXTS,
    ]
    print(columns)


def audit_stages(sample: lookalike.audit_stages.AuditSample) -> None:
    print(
        lookalike.audit_stages.added,
        lookalike.audit_stages.draw,
        lookalike.audit_stages.draw_limit(1_000, 100, 1),
        lookalike.audit_stages.merge,
        lookalike.audit_stages.read_texts,
        lookalike.audit_stages.search,
        sample,
    )


def sketches(file: io.BytesIO) -> None:
    minhash = lookalike.datasketch.MinHash(num_perm=64)
    minhash.update(b"token")
    lsh = lookalike.datasketch.MinHashLSH(threshold=0.5, num_perm=64)
    lsh.insert("a", minhash)
    lookalike.datasketch.dump(lsh, file)
    lookalike.datasketch.load(file)
    lookalike.datasketch.loads(lookalike.datasketch.dumps(lsh))
    lookalike.datasketch.from_token_sets([[b"token"]], num_perm=64)
    print(
        lookalike.datasketch.HyperLogLog,
        lookalike.datasketch.HyperLogLogPlusPlus,
        lookalike.datasketch.LeanMinHash(minhash),
        lookalike.datasketch.MinHashLSHBloom,
        lookalike.datasketch.MinHashLSHDeletionSession,
        lookalike.datasketch.MinHashLSHEnsemble,
        lookalike.datasketch.MinHashLSHForest(num_perm=64),
        lookalike.datasketch.MinHashLSHInsertionSession,
        lookalike.datasketch.WeightedMinHash,
        lookalike.datasketch.WeightedMinHashGenerator,
        lookalike.datasketch.WeightedMinHashLSH,
        lookalike.datasketch.WeightedMinHashLSHForest,
        lookalike.datasketch.bBitMinHash,
        lookalike.datasketch.sha1_hash32(b"token"),
        lookalike.datasketch.sha1_hash64(b"token"),
        lookalike.datasketch.token_hash32(b"token"),
        lookalike.datasketch.token_hash64(b"token"),
    )
