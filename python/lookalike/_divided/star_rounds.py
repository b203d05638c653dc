"""Components of a graph with more edges than a task may hold, in rounds over its parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from lookalike import stages
from lookalike.stages import STAR_STEPS, StarStep

_R = TypeVar("_R")

LEAST_EDGE_BYTES = 64 << 20
"""Bytes of edges that a task may hold, whatever ``task_memory`` is."""


def edge_limit(task_bytes: int) -> int:
    """The bytes that blocks of edges may have, 16 for each: their numbers take 8 more."""
    return max(task_bytes, LEAST_EDGE_BYTES) * 2 // 3


@dataclass(frozen=True)
class StarTask:
    """A step of a round on rows of one part or of several."""

    parts: int
    step: StarStep

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        return stages.stars(batches, self.parts, self.step)


def star_rounds(
    edges: _R,
    run: Callable[[_R, StarStep], _R],
    stored: Callable[[str, Callable[[], _R]], _R],
    notes: Callable[[_R], Iterable[str]],
) -> _R:
    """Returns edges from the least node of each component to each of its nodes, itself included.
    Some edges are repeated.

    Args:
        edges: Rows of ``lookalike.stages.connect`` of the kind ``edges``.
        run: Runs a step; the rows of a part are in one task.
        stored: Stores the result of a round, so that it is computed once.
        notes: Selects the notes of rows.
    """
    number = 0
    while True:

        def joined(edges: _R = edges) -> _R:
            for step in STAR_STEPS:
                edges = run(edges, step)
            return edges

        edges = stored(f"stars-{number}", joined)
        if not sum(json.loads(note).get("unsettled", 0) for note in notes(edges)):
            return edges
        number += 1
