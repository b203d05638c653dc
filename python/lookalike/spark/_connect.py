"""Finds the components of the documents in Spark frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lookalike import stages
from lookalike._divided.stage_tasks import ConnectTask, CountTask, KeyTask, LabelTask, TotalTask
from lookalike._divided.star_rounds import StarTask, edge_limit, star_rounds
from lookalike.spark._tasks import MergeTask
from lookalike.spark._worker import map_rows
from lookalike.stages import BLOCKS, LABELS, Plan, StarStep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The number of forests, or of tables of counters, that one task joins.
_JOINED = 16


def by_part(frame: DataFrame, parts: int, part: str = "part") -> DataFrame:
    """Moves all rows of a part to one partition.

    Args:
        frame: The rows.
        parts: The number of parts.
        part: The name of the column with the part.
    """
    from pyspark.sql.utils import is_remote

    if hasattr(frame, "repartitionById") and not is_remote():
        from pyspark.sql.functions import col

        return frame.repartitionById(parts, col(part))
    return frame.repartition(parts, part)


def connect_documents(
    documents: DataFrame, plan: Plan, parts: int, counters: bytes | None
) -> DataFrame:
    """Connects documents that share a key. Returns their edges, identities and notes.

    Args:
        documents: The documents, with ``node``.
        plan: The plan of the run.
        parts: The number of parts.
        counters: The result of ``shingle_counters`` if keys are rare shingles, else ``None``.
    """
    blocks = map_rows(documents, KeyTask(plan, parts, counters), BLOCKS)
    probed = counters is not None and plan.is_probed
    return map_rows(by_part(blocks, parts), ConnectTask(parts, probed), BLOCKS)


def shingle_counters(documents: DataFrame, plan: Plan, parts: int) -> bytes:
    """Counts shingles approximately. Returns the counters of all documents."""
    counters, tasks = map_rows(documents, CountTask(plan), BLOCKS), parts
    while tasks > 1:
        tasks = -(-tasks // _JOINED)
        counters = map_rows(counters.repartition(tasks), TotalTask(), BLOCKS)
    rows = map_rows(counters.repartition(1), TotalTask(), BLOCKS).select("rows").collect()
    return bytes(rows[0]["rows"]) if rows else stages.empty_counters(plan)


def label_components(
    edges_and_identities: DataFrame,
    parts: int,
    task_bytes: int,
    stored: Callable[[str, Callable[[], DataFrame]], DataFrame],
) -> DataFrame:
    """Returns the labels of all documents in components.

    Args:
        edges_and_identities: Rows of ``connect_documents``.
        parts: The number of parts.
        task_bytes: The most memory of a task for edges; at least 64 MiB are allowed. Graphs with
            more edges are processed in rounds.
        stored: Stores an intermediate result under a name, so that it is computed once.
    """
    edges = _forest(
        edges_and_identities.where("kind = 'edges'"), parts, edge_limit(task_bytes), stored
    )
    identities = edges_and_identities.where("kind = 'identities'")
    return map_rows(by_part(edges.union(identities), parts), LabelTask(), LABELS)


def _forest(
    edges: DataFrame,
    parts: int,
    most: int,
    stored: Callable[[str, Callable[[], DataFrame]], DataFrame],
) -> DataFrame:
    """Returns edges from the least node of each component to all of its nodes.

    Tasks join forests of edges, until one task has joined all. If the edges are too many for the
    tasks, the components are found in rounds of ``star_rounds``.
    """
    tasks, size = parts, _block_bytes(edges)
    while True:
        tasks = -(-tasks // _JOINED)
        if size > most * tasks:
            return _starred(edges, parts, stored)
        # A task can join rows of any parts.
        merged = map_rows(edges.repartition(tasks), MergeTask(parts), BLOCKS)
        if tasks == 1:
            return merged
        edges = merged
        if size > most:
            edges = stored(f"merged-{tasks}", lambda merged=merged: merged)  # type: ignore[misc]
            size = _block_bytes(edges)


def _starred(
    edges: DataFrame, parts: int, stored: Callable[[str, Callable[[], DataFrame]], DataFrame]
) -> DataFrame:
    def run(rows: DataFrame, step: StarStep) -> DataFrame:
        return map_rows(by_part(rows, parts), StarTask(parts, step), BLOCKS)

    def notes(rows: DataFrame) -> list[str]:
        return [row["note"] for row in rows.where("kind = 'note'").select("note").collect()]

    return star_rounds(edges, run, stored, notes).where("kind = 'edges'")


def _block_bytes(blocks: DataFrame) -> int:
    from pyspark.sql import functions as f

    row = blocks.agg(f.sum(f.length("rows"))).first()
    return int(row[0] or 0) if row is not None else 0
