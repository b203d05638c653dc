"""From blocks of keys to the components that documents are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.spark._tasks import ConnectTask, LabelTask, MergeTask
from lookalike.stages import BLOCKS, LABELS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["by_part", "connected", "labelled"]

#: Forests that one task joins.
_JOINED = 16


def by_part(frame: DataFrame, parts: int) -> DataFrame:
    """Rows of one part in one partition."""
    from pyspark.sql.utils import is_remote

    if hasattr(frame, "repartitionById") and not is_remote():
        from pyspark.sql.functions import col

        return frame.repartitionById(parts, col("part"))
    return frame.repartition(parts, "part")


def connected(blocks: DataFrame, parts: int) -> DataFrame:
    """The edges, identities and notes of blocks of keys."""
    return by_part(blocks, parts).mapInArrow(ConnectTask(parts), BLOCKS)


def labelled(edges_and_identities: DataFrame, parts: int) -> DataFrame:
    """The documents of components.

    :param edges_and_identities: rows of :func:`connected`.
    """
    edges = edges_and_identities.where("kind = 'edges'")
    tasks = parts
    while True:
        tasks = -(-tasks // _JOINED)
        # Rows of any part may meet: a forest is one of all its rows.
        edges = edges.repartition(tasks).mapInArrow(MergeTask(parts), BLOCKS)
        if tasks == 1:
            break
    identities = edges_and_identities.where("kind = 'identities'")
    return by_part(edges.union(identities), parts).mapInArrow(LabelTask(), LABELS)
