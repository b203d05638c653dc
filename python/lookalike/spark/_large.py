"""Components whose documents are more than a task may hold.

Their documents are connected once more, by their rarest shingles, which separates documents that
share a template. What stays together is decided in rounds over prefixes of the keep order::

    while documents are undecided:
        prefix = the first of them in keep order, as many as fit a task
        decide(prefix)                 one task; its keepers are those of the whole collection
        match(others, keepers)         all tasks; those that resemble a keeper are dropped

The members of a prefix resemble no keeper of an earlier one, so the prefix decides about itself.
A dropped document is compared with the keepers of later rounds that come before it in the keep
order, too, and is a duplicate of the best of all.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike._divided_run import RunSums, check_largest, check_read
from lookalike.spark._checkpoint import Checkpoint
from lookalike.spark._columns import column
from lookalike.spark._connect import by_part, connected, labelled, shingle_counters
from lookalike.spark._order import RangeOrder, offsets_of
from lookalike.spark._tasks import DecideTask, MatchTask, PairTask, PlaceTask, SliceTask
from lookalike.spark._worker import map_rows
from lookalike.stages import DECIDED, KEPT, PART, PLACES, Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["LargeComponents", "LargeDecisions"]

#: Slices of the keep order that the documents of a task are made of, unless documents are large.
_SLICES = 16
#: The rank of a keeper, as ``decide`` has it.
_GREATEST = (1 << 63) - 1
_SLICED = f"{PLACES}, range int, slice long"
_KEYS = ("id", "reference")
#: These of rows that are joined with documents, whose columns may have these names.
_ID, _REFERENCE = "lookalike_id", "lookalike_reference"
_OVERLAP = ("intersection", "left", "right", "jaccard", "containment")


@dataclass(frozen=True)
class LargeDecisions:
    """What becomes of the documents of large components."""

    #: Members and pairs, as :data:`lookalike.stages.DECIDED`.
    rows: DataFrame
    #: Their counts and sources.
    notes: list[dict[str, Any]]


@dataclass
class LargeComponents:
    """The components that are larger than a task."""

    spark: SparkSession
    plan: Plan
    parts: int
    #: The most that the documents of a task may take.
    task_bytes: int
    checkpoint: Checkpoint
    order: RangeOrder
    #: All documents, with ``node``, and ``reference`` where there is a reference collection.
    all_documents: DataFrame
    has_reference: bool

    def divide(self, labels: DataFrame) -> DataFrame:
        """The labels of components that fit a task: all of them, and the parts of larger ones that
        do. :meth:`decide` decides about the documents of the other parts.

        :param labels: those of all components.
        :raises OptionError: the engine gives rows no order; or a part does not fit a task, and groups are components, which rounds
            cannot find.
        """
        self.order.check("a component is larger than task_memory, and is decided in an order; give task_memory more")
        large = self._larger(labels)
        nodes = labels.join(large, "component", "left_semi")
        documents = self.all_documents.join(nodes.select("node", "check"), "node")
        self._documents = self._result("documents", lambda: documents)
        # Rare shingles divide no further what they connect.
        parts = nodes if self.plan.is_counted else self._connected(_documents(nodes))
        self._dense = parts.join(self._larger(parts), "component", "left_semi").select("node", "documents")
        if self.plan.options.get("group") == "components":
            largest = parts.groupBy("component").sum("bytes").agg({"sum(bytes)": "max"}).first()
            check_largest(int(largest[0] or 0) if largest is not None else 0, self.task_bytes)
        fitting = parts.join(self._larger(parts), "component", "left_anti")
        return labels.join(large, "component", "left_anti").unionByName(fitting)

    def _result(self, stage: str, make: Any) -> DataFrame:
        # What fits a task decides what these stages do, so it is part of their names.
        return self.checkpoint.result(f"large-{self.task_bytes}-{stage}", make)

    def _stored(self, stage: str, make: Any) -> DataFrame:
        return self.checkpoint.stored(f"large-{self.task_bytes}-{stage}", make)

    def _larger(self, labels: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        sizes = labels.groupBy("component").agg(f.sum("bytes").alias("bytes"))
        return sizes.where(f.col("bytes") > self.task_bytes).select("component")

    def _connected(self, documents: int) -> DataFrame:
        """The labels of documents that share rare shingles."""

        def make() -> DataFrame:
            counters = shingle_counters(self._documents, self.plan, self.parts)
            return connected(self._documents, self.plan, self.parts, counters)

        blocks, sums = self._result("connected", make), RunSums()
        notes = blocks.where("kind = 'note'").select("note").collect()
        sums.add_notes(row["note"] for row in notes)
        check_read(sums.counts["documents"], documents)
        return self._stored("labels", lambda: labelled(blocks, self.parts, self.task_bytes))

    def decide(self) -> LargeDecisions | None:
        """Decides about the documents of the parts that are larger than a task, if there are any."""
        from pyspark.sql import functions as f

        if not self._dense.take(1):
            return None
        slices = self._slices()
        rounds = self._rounds(slices)
        duplicates = self._stored("duplicates", lambda: self._duplicates(rounds))
        sizes = duplicates.groupBy("keeper", "reference").agg((f.count("*") + 1).alias("size"))
        rows = _decided_rows(f, _members(f, duplicates, sizes))
        work = [frame for round_ in rounds for frame in (round_.decided, round_.matched)]
        if self.plan.options.get("pairs"):
            pairs = self._pairs(slices)
            rows = rows.unionByName(pairs.where("kind = 'pair'"))
            work.append(pairs)
        return LargeDecisions(rows, [*_work(work), *self._counts(slices, duplicates, sizes)])

    def _slices(self) -> DataFrame:
        """The places of documents, with ``slice``: slices are numbered in the keep order."""
        from pyspark.sql import functions as f

        def places() -> DataFrame:
            documents = self._documents.join(self._dense, "node", "left_semi")
            return self.order.divided(map_rows(documents, PlaceTask(self.plan), PLACES), "place")

        def slices() -> DataFrame:
            sums = ranges.groupBy("range").agg(f.sum("bytes").alias("bytes")).collect()
            offsets = offsets_of({int(row["range"]): int(row["bytes"]) for row in sums})
            ordered = self.order.sorted(ranges, ["range"], ["range", "place"])
            task = SliceTask(offsets, max(1, self.task_bytes // 2 // _SLICES))
            return map_rows(ordered, task, _SLICED).drop("place", "range")

        ranges = self._stored("places", places)
        check_read(ranges.count(), _documents(self._dense))
        return self._stored("slices", slices)

    def _rounds(self, slices: DataFrame) -> list[_Round]:
        from pyspark.sql import functions as f

        plan = dataclasses.replace(self.plan, options={**self.plan.options, "pairs": False})
        state = slices.select("id", "reference", "slice", "bytes").withColumn("dropped", f.lit(False))
        rounds: list[_Round] = []
        while (prefix := self._prefix(state)) is not None:
            rounds.append(self._round(plan, len(rounds), state, prefix))
            state = self._later(len(rounds), state, prefix, rounds[-1])
        return rounds

    def _later(self, number: int, state: DataFrame, prefix: _Prefix, done: _Round) -> DataFrame:
        """What is behind a prefix; whether it was dropped is known by now."""
        from pyspark.sql import functions as f

        def later() -> DataFrame:
            found = done.matched.where("kind = 'member'").select("id").distinct().withColumn("new", f.lit(True))
            rows = state.where(f.col("slice") > prefix.last).join(found, "id", "left")
            # An id of the reference collection is a name of its own.
            is_dropped = f.col("dropped") | (f.coalesce("new", f.lit(False)) & ~f.col("reference"))
            return rows.select("id", "reference", "slice", "bytes", is_dropped.alias("dropped"))

        return self._stored(f"round-{number}", later)

    def _prefix(self, state: DataFrame) -> _Prefix | None:
        """The first slices with undecided documents, as many as fit half of a task; ``None`` where
        all are decided."""
        from pyspark.sql import functions as f

        sums = state.groupBy("slice", "dropped").agg(f.sum("bytes").alias("bytes")).collect()
        undecided = sorted((row["slice"], row["bytes"]) for row in sums if not row["dropped"])
        if not undecided:
            return None
        last, size = undecided[0]
        for number, more in undecided[1:]:
            if size + more > self.task_bytes // 2:
                break
            last, size = number, size + more
        others = sum(row["bytes"] for row in sums if row["dropped"] or row["slice"] > last)
        return _Prefix(last, size, others)

    def _round(self, plan: Plan, number: int, state: DataFrame, prefix: _Prefix) -> _Round:
        """Decides about a prefix, and compares the other documents with its keepers."""
        from pyspark.sql import functions as f

        members = state.where((f.col("slice") <= prefix.last) & ~f.col("dropped"))
        others = state.where(((f.col("slice") > prefix.last) | f.col("dropped")) & ~f.col("reference"))

        def decide() -> DataFrame:
            rows = self._texts(members.select(*_KEYS)).withColumn("component", f.lit(0).cast("long")).repartition(1)
            return map_rows(rows, DecideTask(plan), DECIDED)

        decided = self._stored(f"round-{number}-decided", decide)

        def match() -> DataFrame:
            duplicates = decided.where("kind = 'member' and role = 'duplicate'").select("id", f.lit(False).alias("reference"))
            kept = members.join(duplicates, ["id", "reference"], "left_anti")
            shares = prefix.shares(self.parts, self.task_bytes)
            numbers = self.spark.range(shares).select(f.col("id").cast("int").alias(PART))
            copies = self._texts(kept.select(*_KEYS)).crossJoin(f.broadcast(numbers)).withColumn(KEPT, f.lit(True))
            part = f.pmod(f.col("node"), f.lit(shares)).cast("int")
            rest = self._texts(others.select(*_KEYS)).withColumn(PART, part).withColumn(KEPT, f.lit(False))
            return map_rows(self._by_part(copies.unionByName(rest)), MatchTask(plan), DECIDED)

        return _Round(decided, self._stored(f"round-{number}-matched", match))

    def _texts(self, rows: DataFrame) -> DataFrame:
        """The documents of some rows with ``id`` and ``reference``, with the other columns of these."""
        from pyspark.sql import functions as f

        renamed = rows.withColumnRenamed("id", _ID).withColumnRenamed("reference", _REFERENCE)
        is_one = column(self.plan.id) == f.col(_ID)
        if self.has_reference:
            is_one &= f.col("reference") == f.col(_REFERENCE)
        return self._documents.join(renamed, is_one).drop(_ID, _REFERENCE)

    def _by_part(self, rows: DataFrame) -> DataFrame:
        """Rows of one part in one partition, the kept ones first."""
        from pyspark.sql import functions as f

        return by_part(rows, self.parts, PART).sortWithinPartitions(PART, f.desc(KEPT))

    def _duplicates(self, rounds: list[_Round]) -> DataFrame:
        """Every duplicate, with its keeper."""
        from pyspark.sql import functions as f

        frames = []
        for number, round_ in enumerate(rounds):
            rows = round_.decided.unionByName(round_.matched).where("kind = 'member' and role = 'duplicate'")
            frames.append(rows.withColumn("earlier", f.lit(-number)))
        every = frames[0]
        for frame in frames[1:]:
            every = every.unionByName(frame)
        # Of equal ranks the keeper with equal shingles is the best, then the one that comes first in
        # the keep order; those of the reference collection come first.
        equal = (f.col("intersection") == f.col("left")) & (f.col("left") == f.col("right"))
        every = every.withColumn("equal", equal)
        best = f.max(f.struct("rank", "equal", "earlier", "reference", "keeper", *_OVERLAP)).alias("best")
        return every.groupBy("id").agg(best).select("id", "best.*").drop("earlier", "equal")

    def _pairs(self, slices: DataFrame) -> DataFrame:
        """Pairs of all documents: blocks of the keep order, each with itself and with every later one."""
        from pyspark.sql import functions as f

        def pairs() -> DataFrame:
            sums = slices.groupBy("slice").agg(f.sum("bytes").alias("bytes")).collect()
            blocks, number, size = [], 0, 0
            for row in sorted(sums, key=lambda row: int(row["slice"])):
                if size and size + row["bytes"] > self.task_bytes // 2:
                    number, size = number + 1, 0
                size += row["bytes"]
                blocks.append((int(row["slice"]), number))
            count = number + 1
            numbered = f.broadcast(self.spark.createDataFrame(blocks, "slice long, block int"))
            places = slices.join(numbered, "slice").select("id", "reference", "block")
            others = self.spark.range(count).select(f.col("id").cast("int").alias("other"))
            places = places.crossJoin(f.broadcast(others)).where("other >= block or not reference")
            least, greatest = f.least("block", "other"), f.greatest("block", "other")
            places = places.select("id", "reference", (least * count + greatest).alias(PART), (f.col("other") > f.col("block")).alias(KEPT))
            rows = self._texts(places).withColumn("component", f.lit(0).cast("long"))
            return map_rows(self._by_part(rows), PairTask(self.plan), DECIDED)

        return self._stored("pairs", pairs)

    def _counts(self, slices: DataFrame, duplicates: DataFrame, sizes: DataFrame) -> list[dict[str, Any]]:
        from pyspark.sql import functions as f

        row = slices.agg(f.count("fingerprint").alias("all"), f.countDistinct("fingerprint").alias("different")).first()
        assert row is not None
        counts = {"copies": row["all"] - row["different"], "groups": sizes.count(), "duplicates": duplicates.count()}
        notes: list[dict[str, Any]] = [{"counts": counts}]
        if self.plan.options.get("source_field") is not None:
            found = slices.where("not reference").join(duplicates.select("id"), "id", "left_semi")
            sums = found.groupBy(f.coalesce("source", f.lit("")).alias("source")).agg(f.count("*").alias("rows"), f.sum("bytes").alias("bytes"))
            for row in sums.collect():
                figures = {"duplicates": row["rows"], "duplicate_bytes": row["bytes"]}
                notes.append({"source": {"source": row["source"], "reference": False, **figures}})
        return notes


@dataclass(frozen=True)
class _Prefix:
    """The undecided documents up to a slice."""

    last: int
    #: Their bytes.
    size: int
    #: The bytes of all other documents.
    others: int

    def shares(self, parts: int, task_bytes: int) -> int:
        """Into how many shares the others are divided: each is compared with all that was kept."""
        fitting = -(-self.others // max(1, task_bytes // 2))
        return max(1, fitting, min(parts, self.others // max(1, self.size)))


@dataclass(frozen=True)
class _Round:
    #: Rows about the prefix.
    decided: DataFrame
    #: Rows about the other documents.
    matched: DataFrame


def _documents(labels: DataFrame) -> int:
    row = labels.agg({"documents": "sum"}).first()
    return int(row[0] or 0) if row is not None else 0


def _members(f: Any, duplicates: DataFrame, sizes: DataFrame) -> DataFrame:
    """The rows of groups."""
    of_keepers = sizes.select(
        "size", "keeper", "reference", f.lit("keeper").alias("role"), f.lit(_GREATEST).alias("rank"), f.col("keeper").alias("id"),
        *(f.lit(None).cast("long").alias(name) for name in _OVERLAP[:3]),
        *(f.lit(None).cast("double").alias(name) for name in _OVERLAP[3:]),
    )
    others = duplicates.join(sizes, ["keeper", "reference"]).withColumn("role", f.lit("duplicate"))
    return of_keepers.unionByName(others)


def _decided_rows(f: Any, members: DataFrame) -> DataFrame:
    names = [column.split()[0] for column in DECIDED.split(", ")]
    rows = members.withColumn("kind", f.lit("member")).withColumn("note", f.lit(None).cast("string"))
    return rows.select(*names)


def _work(frames: list[DataFrame]) -> list[dict[str, Any]]:
    """The documents that were compared."""
    sums = RunSums()
    for frame in frames:
        sums.add_notes(row["note"] for row in frame.where("kind = 'note'").select("note").collect())
    return [{"counts": {name: sums.counts[name] for name in ("candidates", "verified")}}]
