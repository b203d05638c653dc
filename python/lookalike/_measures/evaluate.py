"""Compares results with known duplicates."""

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
    """The agreement of a result with the known duplicates (the truth).
    ``docs/reference/report.md`` defines the counts.
    """

    precision: float | None
    """The share of reported pairs that are true; ``None`` if no pair is reported."""
    recall: float | None
    """The share of true pairs that are reported; ``None`` without true pairs."""
    f1: float | None
    """The harmonic mean of precision and recall; ``None`` without reported and true pairs."""
    adjusted_rand_index: float | None
    """The agreement of the groups (adjusted Rand index), 1 for equal groups; ``None`` if the truth
    is a list of pairs.
    """
    reported: int
    """The number of reported pairs."""
    truth: int
    """The number of true pairs."""
    true_positives: int
    """The number of pairs that are reported and true."""
    false_positives: list[tuple[str, str]] = field(repr=False)
    """The first 5 reported pairs that are not true, in the order of their ids."""
    missed: list[tuple[str, str]] = field(repr=False)
    """The first 5 true pairs that are not reported, in the order of their ids."""
    details: dict[str, Any] = field(repr=False)
    """All figures of ``lookalike evaluate --json``."""


def evaluate(
    found: Any, truth: Any, *, threshold: float | None = None, all_members: bool = False
) -> EvaluateResult:
    """Compares a result with known duplicates.

    Args:
        found: The result of ``lookalike.find``, or a value of any type of ``truth``. A result
            counts by its pairs if it lists pairs, else by its groups.
        truth: The known duplicates:

            - the path of a file of pairs or groups, as for ``lookalike evaluate``
            - a list of pairs of ids (tuples of two ids)
            - a list of groups (lists or sets of ids)
            - a dict that maps each id to its group
            - a table with the columns ``id_a`` and ``id_b``, or ``id`` and ``cluster``
        threshold: Pairs below this similarity do not count. Pairs without a similarity always
            count.
        all_members: Whether a group of ``found`` counts as the pairs of all its documents. By
            default, a group with a keeper counts as the pairs of the keeper with each duplicate.
            If the truth consists of groups, or a group has no keeper, all pairs always count.

    Raises:
        DocumentError: A file does not contain pairs or groups.
        FileError: A file cannot be read.
        OptionError: An argument has another type.

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
        report_path, truth_path = (
            path_option(name, file) for name, file in zip(("found", "truth"), files, strict=True)
        )
        figures = json.loads(_engine.evaluate(report_path, truth_path, least, all_members))
    figure_names = (
        "precision",
        "recall",
        "f1",
        "adjusted_rand_index",
        "reported",
        "truth",
        "true_positives",
    )
    values: dict[str, Any] = {name: figures[name] for name in figure_names}
    for name in ("false_positives", "missed"):
        values[name] = [(pair["id_a"], pair["id_b"]) for pair in figures[name]["examples"]]
    return EvaluateResult(**values, details=figures)


def _written(side: Any, name: str, path: str) -> str:
    """Writes pairs or groups to a CSV file, and returns its path."""
    import csv

    header, rows = _rows(side, name)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


# The columns of the tables that `evaluate` takes. The first layout that fits is used.
_LAYOUTS = (
    ("id_a", "id_b", "jaccard"),
    ("id_a", "id_b"),
    ("id", "keeper", "group", "role", "jaccard"),
    ("id", "cluster"),
)


def _rows(side: Any, name: str) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    """Returns the header and the rows of the CSV file for one side."""
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
