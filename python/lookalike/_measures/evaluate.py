"""Results compared with what is known to be there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lookalike import _engine
from lookalike._options import flag_option, invalid_option, number_option, path_option
from lookalike._results.find_result import FindResult
from lookalike._results.table import Table


@dataclass(frozen=True)
class EvaluateResult:
    """How a report agrees with a truth; ``docs/reference/report.md`` says what is counted."""

    precision: float | None
    """Pairs in both among those reported; ``None`` where none is."""
    recall: float | None
    """Pairs in both among those of the truth; ``None`` where it has none."""
    f1: float | None
    """The harmonic mean of both."""
    adjusted_rand_index: float | None
    """Agreement of the groups, 1 for equal ones; ``None`` where the truth has pairs."""
    reported: int
    """Pairs of the report, of the truth, and in both."""
    truth: int
    true_positives: int
    false_positives: list[tuple[str, str]] = field(repr=False)
    """Pairs of the report that the truth does not have, the first of them by their ids."""
    missed: list[tuple[str, str]] = field(repr=False)
    """Pairs of the truth that the report does not have."""
    details: dict[str, Any] = field(repr=False)
    """All figures, as ``lookalike evaluate --json`` prints them."""


def evaluate(
    found: Any, truth: Any, *, threshold: float | None = None, all_members: bool = False
) -> EvaluateResult:
    """Compares what was found with what is known to be there.

    Args:
        found: What ``lookalike.find`` gave, whose pairs are taken where it listed them, else
            its groups; or any that ``truth`` may be.
        truth: A file of pairs or groups, as ``lookalike evaluate`` reads it; a list of pairs of ids
            (tuples); a list of groups (lists or sets of ids); a dict of the group of each id; or a
            table with the columns ``id_a`` and ``id_b``, or ``id`` and ``cluster``.
        threshold: Pairs below this similarity do not count, where there are similarities.
        all_members: Whether a group of ``found`` is all pairs of its documents, not only those with
            the keeper.

    Raises:
        DocumentError: There is something else in a file.

    Examples:
        >>> import lookalike
        >>> docs = ["the same old story again", "The same old story, again.", "news"]
        >>> e = lookalike.evaluate(lookalike.find(docs), [(0, 1), (1, 2)])
        >>> e.precision, e.recall, e.missed
        (1.0, 0.5, [('1', '2')])
    """
    import tempfile

    least = None if threshold is None else number_option("threshold", threshold)
    flag_option("all_members", all_members)
    with tempfile.TemporaryDirectory() as folder:
        files = [
            side
            if isinstance(side, (str, os.PathLike))
            else _written(side, name, os.path.join(folder, f"{name}.csv"))
            for name, side in (("found", found), ("truth", truth))
        ]
        report, known = (
            path_option(name, file) for name, file in zip(("found", "truth"), files, strict=True)
        )
        figures = json.loads(_engine.evaluate(report, known, least, all_members))
    same = (
        "precision",
        "recall",
        "f1",
        "adjusted_rand_index",
        "reported",
        "truth",
        "true_positives",
    )
    values: dict[str, Any] = {name: figures[name] for name in same}
    for name in ("false_positives", "missed"):
        values[name] = [(pair["id_a"], pair["id_b"]) for pair in figures[name]["examples"]]
    return EvaluateResult(**values, details=figures)


def _written(side: Any, name: str, path: str) -> str:
    """Writes pairs or groups to a file."""
    import csv

    header, rows = _rows(side, name)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


# The columns of tables that are read, those of a run before others.
_LAYOUTS = (
    ("id_a", "id_b", "jaccard"),
    ("id_a", "id_b"),
    ("id", "keeper", "group", "role", "jaccard"),
    ("id", "cluster"),
)


def _rows(side: Any, name: str) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    """A header and lines."""
    if isinstance(side, FindResult):
        return _table_rows(side.pairs if side.has_pairs else side.groups, name)
    if isinstance(side, Mapping):
        return ("id", "cluster"), list(side.items())
    if isinstance(side, Table) or hasattr(side, "columns") or hasattr(side, "column_names"):
        return _table_rows(side, name)
    if isinstance(side, (bytes, bytearray)) or not isinstance(side, Iterable):
        raise invalid_option(name, "a file, pairs, groups or a table", side)
    parts = list(side)
    if all(isinstance(part, tuple) and len(part) == 2 for part in parts):
        return ("id_a", "id_b"), parts
    if all(isinstance(part, (list, tuple, set, frozenset)) for part in parts):
        return ("id", "cluster"), [
            (id_, number) for number, part in enumerate(parts) for id_ in sorted(part, key=str)
        ]
    raise invalid_option(
        name, "a list of pairs (tuples of two ids), or of groups (lists of ids)", side
    )


def _table_rows(table: Any, name: str) -> tuple[Sequence[str], Iterator[Sequence[Any]]]:
    names = list(getattr(table, "column_names", None) or table.columns)
    for layout in _LAYOUTS:
        if set(layout) <= set(names):
            columns = [_cells(table[column]) for column in layout]
            return layout, zip(*columns, strict=True)
    raise invalid_option(name, "a table with the columns id_a and id_b, or id and cluster", names)


def _cells(column: Any) -> list[Any]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [f"{value:.6f}" if isinstance(value, float) else value for value in values]
