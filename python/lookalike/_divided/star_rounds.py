"""Finds the components of a graph with more edges than a task may hold, in rounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from lookalike import stages
from lookalike.stages import STAR_STEPS, StarStep

_R = TypeVar("_R")

LEAST_EDGE_BYTES = 64 << 20
"""The bytes of edges that a task may hold even if ``task_memory`` is smaller."""


def edge_limit(task_bytes: int) -> int:
    """Returns the most bytes of blocks of edges in one task. For each edge, a block has 16 bytes,
    and a task needs 8 more bytes for the numbers of the nodes.
    """
    return max(task_bytes, LEAST_EDGE_BYTES) * 2 // 3


@dataclass(frozen=True)
class StarTask:
    """Runs one step of a round on the rows of one or several parts."""

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
    """Returns edges from the least node of each component to each of its nodes, including itself.
    Some edges are repeated.

    Args:
        edges: Rows of ``lookalike.stages.connect`` of the kind ``edges``. Rows of other kinds are
            ignored.
        run: Runs a step of a round. One task must receive all rows of a part.
        stored: Stores the result of a round under a name, so that it is computed once.
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
