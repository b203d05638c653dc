"""Decides about components with more documents than a task may hold, on any engine.

A second pass connects the documents of these components by their rarest shingles, which separates
documents that share a template. Components that are still too large are decided in rounds over
prefixes of the keep order::

    while documents are undecided:
        prefix = the first undecided documents in keep order, as many as fit half of a task
        decide(prefix)                 one task; its keepers are keepers of the whole collection
        match(others, keepers)         all tasks; drops the documents that resemble a keeper

The undecided documents of a prefix resemble no keeper of an earlier prefix. So the decisions about
them depend on the prefix alone. A dropped document is also compared with the keepers of later
rounds that precede it in the keep order. It becomes a duplicate of its best keeper.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Generic

from lookalike._divided.row_operations import D, R, RowOperations
from lookalike._divided.run_sums import RunSums, check_largest, check_read
from lookalike._divided.stage_tasks import BlockTask, MatchTask, MemberTask, PlaceTask
from lookalike.stages import DECIDED, KEPT, PART, PLACES, Plan

# How many slices of the keep order fit a prefix, unless documents are large or already decided.
_SLICES = 16
_OVERLAP = ("intersection", "left", "right", "jaccard", "containment")
_STATE = ("node", "id", "reference", "slice", "bytes")
_LABELS = ("node", "component", "check", "bytes", "documents")
# The best keeper of a duplicate has the greatest rank. Among equal ranks, a keeper with equal
# shingles is better. Otherwise the keeper that is first in the keep order is best: earlier rounds
# come first, and in a round the reference collection comes first.
_BEST = ("rank", "equal", "earlier", "reference", "keeper", *_OVERLAP)


@dataclass(frozen=True)
class LargeDecisions(Generic[R]):
    """The decisions about the documents of the large components."""

    rows: R
    """Members and pairs, with the columns ``lookalike.stages.DECIDED``."""
    notes: list[dict[str, Any]]
    """The counts and sources of these documents, in the form of notes."""


def component_sizes(engine: RowOperations[R, D], labels: R) -> tuple[int, int]:
    """Returns the number of documents in components, and the bytes of the largest component."""
    sizes = engine.grouped(
        labels, ["component"], {"bytes": ("bytes", "sum"), "documents": ("documents", "sum")}
    )
    rows = engine.collected(
        engine.grouped(sizes, [], {"documents": ("documents", "sum"), "bytes": ("bytes", "max")})
    )
    return (int(rows[0]["documents"] or 0), int(rows[0]["bytes"] or 0)) if rows else (0, 0)


class LargeComponents(Generic[R, D]):
    """The components that are too large for a task."""

    def __init__(self, engine: RowOperations[R, D], plan: Plan, task_bytes: int) -> None:
        """Starts without components.

        Args:
            task_bytes: The most bytes that the documents of a task may take.
        """
        self._engine, self._plan, self._task_bytes = engine, plan, task_bytes
        # The number of documents in parts that are too large for a task.
        self.undivided = 0
        self._f = engine.functions

    def divide(self, labels: R) -> R:
        """Returns the labels of the components that fit a task, and of the fitting parts of larger
        components. ``decide`` decides about the documents of the other parts.

        Args:
            labels: The labels of all components.

        Raises:
            OptionError: A part does not fit a task, and the plan has ``group="components"``.
                Rounds find stars only.
        """
        engine, plan = self._engine, self._plan
        large = self._larger(labels)
        nodes = engine.join(labels, large, ["component"], "semi")
        self._documents = engine.documents(self._columns(nodes, "node", "check"))
        # If keys are rare shingles already, a second pass would find the same components.
        parts = (
            nodes
            if plan.is_counted
            else engine.connected(self._documents, self._count(nodes, "documents", "sum"))
        )
        larger_parts = self._larger(parts)
        self._dense = self._columns(
            engine.join(parts, larger_parts, ["component"], "semi"), "node", "documents"
        )
        self.undivided = self._count(self._dense, "documents", "sum")
        if plan.options.get("group") == "components":
            check_largest(component_sizes(engine, parts)[1], self._task_bytes)
        fitting = self._columns(engine.join(parts, larger_parts, ["component"], "anti"), *_LABELS)
        return engine.union(
            self._columns(engine.join(labels, large, ["component"], "anti"), *_LABELS), fitting
        )

    def _columns(self, rows: R, *names: str) -> R:
        return self._engine.select(rows, {name: self._f.col(name) for name in names})

    def _count(self, rows: R, column: str, function: str) -> int:
        found = self._engine.collected(
            self._engine.grouped(rows, [], {"amount": (column, function)})
        )
        return int(found[0]["amount"] or 0) if found else 0

    def _larger(self, labels: R) -> R:
        sizes = self._engine.grouped(labels, ["component"], {"bytes": ("bytes", "sum")})
        return self._columns(
            self._engine.where(sizes, self._f.col("bytes") > self._task_bytes), "component"
        )

    def decide(self) -> LargeDecisions[R]:
        """Decides in rounds about the documents of the parts that are too large for a task."""
        engine = self._engine
        slices = self._slices(self.undivided)
        rounds = self._rounds(slices)
        duplicates = engine.stored("duplicates", lambda: self._duplicates(rounds))
        sizes = engine.grouped(duplicates, ["keeper", "reference"], {"others": ("id", "count")})
        size = {
            "keeper": self._f.col("keeper"),
            "reference": self._f.col("reference"),
            "size": self._f.col("others") + 1,
        }
        sizes = engine.select(sizes, size)
        members = engine.join(duplicates, sizes, ["keeper", "reference"], "inner")
        rows = engine.union(
            engine.map(sizes, MemberTask(), DECIDED), engine.map(members, MemberTask(), DECIDED)
        )
        work = [frame for round_ in rounds for frame in (round_.decided, round_.matched)]
        if self._plan.options.get("pairs"):
            pairs = self._pairs(slices)
            rows = engine.union(rows, engine.where(pairs, self._f.col("kind") == "pair"))
            work.append(pairs)
        return LargeDecisions(rows, [*self._work(work), *self._counts(slices, duplicates, sizes)])

    def _slices(self, documents: int) -> R:
        """Returns the places of the documents with the column ``slice``: the number of their slice
        in the keep order.
        """
        engine = self._engine

        def places() -> R:
            dense = engine.semi_joined(self._documents, self._columns(self._dense, "node"))
            return engine.map_documents(dense, PlaceTask(self._plan), PLACES)

        slices = engine.sliced(places, max(1, self._task_bytes // 2 // _SLICES))
        check_read(self._count(slices, "node", "count"), documents)
        return slices

    def _rounds(self, slices: R) -> list[_Round[R]]:
        plan = dataclasses.replace(self._plan, options={**self._plan.options, "pairs": False})
        state = self._engine.select(
            slices, {**{name: self._f.col(name) for name in _STATE}, "dropped": self._f.lit(False)}
        )
        rounds: list[_Round[R]] = []
        while (prefix := self._prefix(state)) is not None:
            rounds.append(self._round(plan, len(rounds), state, prefix))
            state = self._next_state(len(rounds), state, prefix, rounds[-1])
        return rounds

    def _next_state(self, number: int, state: R, prefix: _Prefix, round_: _Round[R]) -> R:
        """Returns the state of the documents after a prefix. ``dropped`` marks the documents that
        resemble a keeper of this round or an earlier one.
        """
        engine, f = self._engine, self._f

        def compute() -> R:
            found = engine.grouped(
                engine.where(round_.matched, f.col("kind") == "member"),
                ["id"],
                {"matches": ("keeper", "count")},
            )
            rows = engine.join(
                engine.where(state, f.col("slice") > prefix.last), found, ["id"], "left"
            )
            # The join is by id, and a reference document may have the id of a dropped document.
            is_dropped = f.col("dropped") | (
                (f.coalesce(f.col("matches"), f.lit(0)) > 0) & ~f.col("reference")
            )
            return engine.select(
                rows, {**{name: f.col(name) for name in _STATE}, "dropped": is_dropped}
            )

        return engine.stored(f"round-{number}", compute)

    def _prefix(self, state: R) -> _Prefix | None:
        """Returns the first slices with undecided documents, at least one, and as many as fit half
        of a task. Returns ``None`` if all documents are decided.
        """
        engine = self._engine
        sums = engine.collected(
            engine.grouped(state, ["slice", "dropped"], {"amount": ("bytes", "sum")})
        )
        undecided = sorted((row["slice"], row["amount"]) for row in sums if not row["dropped"])
        if not undecided:
            return None
        last, size = undecided[0]
        for number, more in undecided[1:]:
            if size + more > self._task_bytes // 2:
                break
            last, size = number, size + more
        others = sum(row["amount"] for row in sums if row["dropped"] or row["slice"] > last)
        return _Prefix(last, size, others)

    def _round(self, plan: Plan, number: int, state: R, prefix: _Prefix) -> _Round[R]:
        """Decides about the undecided documents of a prefix, and compares the other documents with
        their keepers.
        """
        engine, f = self._engine, self._f
        is_early = f.col("slice") <= prefix.last
        members = engine.where(state, is_early & ~f.col("dropped"))
        others = engine.where(state, (~is_early | f.col("dropped")) & ~f.col("reference"))

        def decide() -> R:
            return self._mapped(members, f.lit(0), f.lit(False), BlockTask(plan))

        decided = engine.stored(f"round-{number}-decided", decide)

        def match() -> R:
            is_duplicate = (f.col("kind") == "member") & (f.col("role") == "duplicate")
            duplicates = engine.select(
                engine.where(decided, is_duplicate), {"id": f.col("id"), "reference": f.lit(False)}
            )
            kept = self._columns(
                engine.join(members, duplicates, ["id", "reference"], "anti"), "id", "reference"
            )
            shares = prefix.shares(engine.parts, self._task_bytes)
            copies = self._parted(
                engine.repeated(kept, "share", shares), f.col("share"), f.lit(True)
            )
            remaining = self._parted(others, engine.share("node", shares), f.lit(False))
            texts = engine.texts(self._documents, engine.union(copies, remaining))
            return engine.map_parts(texts, MatchTask(plan), DECIDED)

        return _Round(decided, engine.stored(f"round-{number}-matched", match))

    def _parted(self, rows: R, part: Any, kept: Any) -> R:
        return self._engine.select(
            rows,
            {
                "id": self._f.col("id"),
                "reference": self._f.col("reference"),
                PART: part,
                KEPT: kept,
            },
        )

    def _mapped(self, rows: R, part: Any, kept: Any, task: Any) -> R:
        texts = self._engine.texts(self._documents, self._parted(rows, part, kept))
        return self._engine.map_parts(texts, task, DECIDED)

    def _duplicates(self, rounds: list[_Round[R]]) -> R:
        """Returns a row for each duplicate, with its best keeper."""
        engine, f = self._engine, self._f
        duplicates = None
        equal = (f.col("intersection") == f.col("left")) & (f.col("left") == f.col("right"))
        for number, round_ in enumerate(rounds):
            members = engine.union(round_.decided, round_.matched)
            members = engine.where(
                members, (f.col("kind") == "member") & (f.col("role") == "duplicate")
            )
            names = ("id", "rank", "reference", "keeper", *_OVERLAP)
            columns = {
                **{name: f.col(name) for name in names},
                "equal": equal,
                "earlier": f.lit(-number),
            }
            rows = engine.select(members, columns)
            duplicates = rows if duplicates is None else engine.union(duplicates, rows)
        assert duplicates is not None
        return self._columns(
            engine.best(duplicates, "id", _BEST), "id", "rank", "reference", "keeper", *_OVERLAP
        )

    def _pairs(self, slices: R) -> R:
        """Returns the pairs of all documents. Divides the keep order into blocks, and compares
        each block with itself and with all later blocks.
        """
        engine, f = self._engine, self._f

        def pairs() -> R:
            sums = engine.collected(engine.grouped(slices, ["slice"], {"amount": ("bytes", "sum")}))
            blocks, number, size = [], 0, 0
            for row in sorted(sums, key=lambda row: int(row["slice"])):
                if size and size + row["amount"] > self._task_bytes // 2:
                    number, size = number + 1, 0
                size += row["amount"]
                blocks.append((int(row["slice"]), number))
            count = number + 1
            places = self._columns(slices, "id", "reference", "slice")
            places = engine.join(
                places, engine.table(blocks, ("slice", "block")), ["slice"], "inner"
            )
            places = engine.repeated(places, "other", count)
            places = engine.where(places, (f.col("other") >= f.col("block")) | ~f.col("reference"))
            least, greatest = (
                f.least(f.col("block"), f.col("other")),
                f.greatest(f.col("block"), f.col("other")),
            )
            return self._mapped(
                places,
                least * count + greatest,
                f.col("other") > f.col("block"),
                BlockTask(self._plan),
            )

        return engine.stored("pairs", pairs)

    def _work(self, frames: list[R]) -> list[dict[str, Any]]:
        """Returns the numbers of candidate pairs and of compared pairs, as one note."""
        engine, f = self._engine, self._f
        sums = RunSums()
        for frame in frames:
            notes = engine.select(
                engine.where(frame, f.col("kind") == "note"), {"note": f.col("note")}
            )
            sums.add_notes(row["note"] for row in engine.collected(notes))
        return [{"counts": {name: sums.counts[name] for name in ("candidates", "verified")}}]

    def _counts(self, slices: R, duplicates: R, sizes: R) -> list[dict[str, Any]]:
        engine, f = self._engine, self._f
        # Documents without a token have no fingerprint, so they do not count as copies.
        fingerprints = [
            self._count(slices, "fingerprint", function) for function in ("count", "count_distinct")
        ]
        counts = {
            "copies": fingerprints[0] - fingerprints[1],
            "groups": self._count(sizes, "keeper", "count"),
            "duplicates": self._count(duplicates, "id", "count"),
        }
        notes: list[dict[str, Any]] = [{"counts": counts}]
        if self._plan.options.get("source_field") is not None:
            found = engine.join(
                engine.where(slices, ~f.col("reference")),
                self._columns(duplicates, "id"),
                ["id"],
                "semi",
            )
            rows = engine.select(
                found,
                {
                    "source": f.coalesce(f.col("source"), f.lit("")),
                    "id": f.col("id"),
                    "bytes": f.col("bytes"),
                },
            )
            sums = {"duplicates": ("id", "count"), "duplicate_bytes": ("bytes", "sum")}
            for row in engine.collected(engine.grouped(rows, ["source"], sums)):
                notes.append({"source": {**row, "reference": False}})
        return notes


@dataclass(frozen=True)
class _Prefix:
    """The undecided documents up to and including the slice ``last``."""

    last: int
    size: int
    """The bytes of these documents."""
    others: int
    """The bytes of all other documents."""

    def shares(self, parts: int, task_bytes: int) -> int:
        """Returns the number of shares into which the other documents are divided. Each share is
        compared with all keepers of the prefix.
        """
        fitting = -(-self.others // max(1, task_bytes // 2))
        return max(1, fitting, min(parts, self.others // max(1, self.size)))


@dataclass(frozen=True)
class _Round(Generic[R]):
    decided: R
    """The results for the prefix, with the columns ``lookalike.stages.DECIDED``."""
    matched: R
    """The results for the other documents, with the same columns."""
