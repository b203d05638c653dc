"""Runs of an engine next to those of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lookalike

#: Counts of comparisons.
WORK = ("candidates", "verified")
COLUMNS = ("id", "text", "date", "site")


def frame(spark: Any, rows: list[dict[str, Any]], pieces: int = 3) -> Any:
    values = [tuple(row.get(name) for name in COLUMNS) for row in rows]
    schema = ", ".join(f"{name} string" for name in COLUMNS)
    return spark.createDataFrame(values, schema).repartition(pieces)


def joined(folder: Path) -> bytes:
    """The bytes of the files of a folder, but for those that engines add."""
    files = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    return b"".join(path.read_bytes() for path in files)


def compare(
    spark: Any, place: Path, rows: list[dict[str, Any]], /, *, reference: list[dict[str, Any]] | None = None,
    partitions: int | None = None, pieces: int = 3, groups: int = 3, same_work: bool = True,
    task_memory: int | str = "2GiB", checkpoint: str | None = None, **options: Any,
) -> Any:
    """Compares files and counts of the cluster with those of one machine.

    :param same_work: whether as many documents are compared; where components are divided by rare
        shingles, or decided in rounds, they are others.
    """
    import lookalike.spark

    place.mkdir()
    one = lookalike.find(rows, reference=reference, pairs=True, **options)
    there = None if reference is None else frame(spark, reference)
    found = lookalike.spark.find(
        frame(spark, rows, pieces), reference=there, pairs=True, partitions=partitions, task_memory=task_memory,
        checkpoint=checkpoint, **options,
    )
    expected = one.counts if same_work else one.counts | {name: found.counts[name] for name in WORK}
    assert found.counts == expected and found.counts["groups"] >= groups
    for form in ("csv", "jsonl"):
        one.write(place / f"one.{form}")
        found.write(str(place / form), format=form)
        assert joined(place / form) == (place / f"one.{form}").read_bytes()
    one.write_pairs(place / "one-pairs.csv")
    found.write_pairs(str(place / "pairs"))
    assert joined(place / "pairs") == (place / "one-pairs.csv").read_bytes()
    assert sorted(row["id"] for row in found.empty.collect()) == one.empty["id"]
    found.release()
    return found
