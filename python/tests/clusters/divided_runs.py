"""Compares runs of an engine with runs on one machine."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from soak import IS_SOAK
from test_stages import corpus

import lookalike
from lookalike._divided.find_result import ONE_MACHINE
from lookalike.errors import OptionError

#: Names of the counts of comparisons.
WORK = ("candidates", "verified")
COLUMNS = ("id", "text", "date", "site")


def python_path() -> str:
    """Returns the PYTHONPATH with which other processes find the test modules."""
    folder = Path(__file__).parent
    return os.pathsep.join(
        filter(None, [str(folder), str(folder.parent), os.environ.get("PYTHONPATH")])
    )


def frame(spark: Any, rows: list[dict[str, Any]], pieces: int = 3) -> Any:
    values = [tuple(row.get(name) for name in COLUMNS) for row in rows]
    schema = ", ".join(f"{name} string" for name in COLUMNS)
    return spark.createDataFrame(values, schema).repartition(pieces)


def joined(folder: Path) -> bytes:
    """Returns the bytes of the files of a folder in the order of their names. Omits the files that
    engines add."""
    files = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    return b"".join(path.read_bytes() for path in files)


def compare(
    spark: Any,
    place: Path,
    rows: list[dict[str, Any]],
    /,
    *,
    reference: list[dict[str, Any]] | None = None,
    partitions: int | None = None,
    pieces: int = 3,
    groups: int = 3,
    same_work: bool = True,
    task_memory: int | str = "2GiB",
    checkpoint: str | None = None,
    frames: bool = IS_SOAK,
    **options: Any,
) -> Any:
    """Compares the files and counts of a run on the cluster with those of one machine.

    :param same_work: whether both runs compare the same number of documents. A run that divides
        components by rare shingles, or decides in rounds, compares a different number.
    :param frames: whether to compare also the rows of the data frames.
    """
    import lookalike.spark

    place.mkdir()
    single = lookalike.find(rows, reference=reference, pairs=True, **options)
    reference_frame = None if reference is None else frame(spark, reference)
    found = lookalike.spark.find(
        frame(spark, rows, pieces),
        reference=reference_frame,
        pairs=True,
        partitions=partitions,
        task_memory=task_memory,
        checkpoint=checkpoint,
        **options,
    )
    expected = (
        single.counts if same_work else single.counts | {name: found.counts[name] for name in WORK}
    )
    assert found.counts == expected and found.counts["groups"] >= groups
    for form in ("csv", "jsonl"):
        single.write(place / f"one.{form}")
        found.write(str(place / form), format=form)
        assert joined(place / form) == (place / f"one.{form}").read_bytes()
    single.write_pairs(place / "one-pairs.csv")
    found.write_pairs(str(place / "pairs"))
    assert joined(place / "pairs") == (place / "one-pairs.csv").read_bytes()
    assert textless(row.asDict() for row in found.empty.collect()) == textless(single.empty)
    skipped = [(row["id"], row["reason"]) for row in found.skipped.collect()]
    assert sorted(skipped, key=str) == sorted(
        zip(single.skipped["id"], single.skipped["reason"]), key=str
    )
    sources = [row.asDict() for row in found.sources.collect()]
    assert sources == (by_source(single) if "source_field" in options else [])
    if frames:
        groups, pairs = found.groups.collect(), found.pairs.collect()
        assert [row.asDict() for row in groups] == rows_of(single.groups, found.groups.columns)
        assert [row.asDict() for row in pairs] == list(single.pairs)
        assert list(found) == list(single) and len(found) == len(single)
    found.release()
    return found


def rows_of(table: Any, columns: list[str]) -> list[dict[str, Any]]:
    """Returns the rows of a table of one machine, with only the named columns."""
    return [{name: row[name] for name in columns} for row in table]


def by_source(one: lookalike.FindResult) -> list[dict[str, Any]]:
    """Sorts the sources of one machine, which are in reading order, as a cluster sorts them."""
    return sorted(one.sources, key=lambda row: (row["reference"], row["source"]))


#: Columns that only one machine has: rows in memory and lines of files.
_PLACES = ("row", "keeper_row", "source", "line")


def same_attributes(found: Any, one: lookalike.FindResult) -> dict[str, dict[str, str]]:
    """Checks a result of a cluster against the result of one machine.

    :returns: the expected columns of each table of the cluster, with their types. Integers of a
        cluster are signed.
    """
    cluster_names, single_names = (
        {name for name in dir(type(result)) if name[0] != "_"} for result in (found, one)
    )
    assert (
        cluster_names - single_names <= {"release"}
        and single_names - cluster_names - {"engine"} == ONE_MACHINE
    )
    # The docstring names the missing attributes. Access to them raises an OptionError.
    assert set(re.findall(r"``(\w+)``", type(found).__doc__)) - {"find"} == ONE_MACHINE
    for name in ONE_MACHINE:
        assert not hasattr(found, name)
        with pytest.raises(OptionError, match=f"^{name} is for one machine: lookalike.find of"):
            getattr(found, name)
    with pytest.raises(AttributeError, match="has no attribute 'group'"):
        found.group
    assert found.counts == one.counts and found.parameters == one.parameters
    assert found.has_pairs is one.has_pairs and repr(found) == repr(one).partition(";")[0]
    assert list(found) == list(one) and len(found) == len(one) > 0
    assert all(isinstance(seconds, float) for seconds in found.seconds.values())
    tables = {name: getattr(one, name) for name in ("groups", "pairs", "empty", "skipped")}
    columns = {
        name: {
            column: kind.replace("uint", "int")
            for column, kind in zip(table.column_names, table.column_types)
            if column not in _PLACES
        }
        for name, table in tables.items()
    }
    sources = zip(one.sources.column_names, one.sources.column_types)
    columns["sources"] = {column: kind.replace("uint", "int") for column, kind in sources}
    return columns


def textless(rows: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Returns the ids of documents without a token, grouped by text. A row names another document
    with the same text. One machine chooses it by reading order, a cluster by id."""
    same: dict[str, list[str]] = {}
    for row in rows:
        same.setdefault(row["same_text_as"] or row["id"], []).append(row["id"])
    return sorted(sorted(ids) for ids in same.values())


def named_oddly(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Renames the columns to names with special characters."""
    names = {"id": "Doc.`id`", "text": "the text", "date": 'date"', "site": "Site"}
    return [{names[name]: value for name, value in row.items()} for row in rows]


def by_id(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sorts rows by their ids. A row without an id comes first."""
    return sorted((dict(row) for row in rows), key=lambda row: row["id"] or "")


def with_annotations(rows: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    """Annotates the rows on one machine, with the columns that a cluster adds."""
    names = ("kept", "group", "keeper", options.get("measure", "jaccard"), "group_size")
    found = []
    for row, about in lookalike.dedup(rows, annotate=True, **options):
        found.append({**row, **{f"lookalike_{name}": about[name] for name in names}})
    return found


#: Options with bands of one row. Most documents of the kind `bucket` of :func:`skewed` then share a
#: bucket, but few resemble each other.
BUCKET: dict[str, Any] = {
    "threshold": 0.8,
    "bands": 20,
    "rows": 1,
    "num_hashes": 20,
    "shingle": "words:3",
    "recall": None,
}


def skewed(kind: str, documents: int) -> list[dict[str, Any]]:
    draw = random.Random(2)
    words = [f"w{number}" for number in range(3000)]
    text = draw.choices(words, k=60)
    rows = []
    for number in range(documents):
        if kind == "copies":
            own = text
        elif kind == "forms":
            own = text[:50] + draw.choices(words, k=6)
        elif kind == "bucket":
            own = text[:40] + draw.choices(words, k=20) if number % 50 else text[:40] + words[:20]
        else:  # Each document resembles the next: a chain through all partitions.
            text = text[1:] + draw.choices(words, k=1)
            own = text
        rows.append({"id": f"{kind}{number:05}", "text": " ".join(own)})
    return [*rows, *corpus(60, seed=5)]


def large(kind: str, documents: int) -> list[dict[str, Any]]:
    """Returns documents of components that one task cannot hold. Few documents of the kind
    `templates` resemble each other. Many of the kind `edits` do, some of them are equal, and a
    chain of similar documents connects them."""
    draw = random.Random(4)
    words = [f"w{number}" for number in range(3000)]
    text, rows = draw.choices(words, k=60), []
    for number in range(documents):
        own = text[:]
        if kind == "templates":
            own = text[:48] + draw.choices(words, k=12) if number % 5 else own
        else:
            for _ in range(draw.choice([0, 1, 1, 2, 3])):
                own[draw.randrange(60)] = draw.choice(words)
            text = text[1:] + draw.choices(words, k=1) if number % 3 == 0 else text
        site = f"s{number % 3}"
        rows.append(
            {
                "id": f"{kind}{number:05}",
                "text": " ".join(own),
                "site": site,
                "date": f"20{number % 100:02}",
            }
        )
    rows += corpus(60, seed=5)
    draw.shuffle(rows)
    return rows


def sources(
    rows: list[dict[str, Any]], references: int, threshold: float, shingle: str, keep: str
) -> list[dict[str, Any]]:
    """Returns the expected rows of ``sources``: documents and duplicates of each site. The first
    `references` rows are the reference collection."""
    one = lookalike.find(
        rows[references:],
        reference=rows[:references],
        threshold=threshold,
        shingle=shingle,
        keep=keep,
    )
    removed_ids = {member.id for group in one for member in group.duplicates}
    found = []
    for is_reference, side in ((False, rows[references:]), (True, rows[:references])):
        for site in sorted({row["site"] for row in side}):
            site_rows = [row for row in side if row["site"] == site]
            removed_rows = [row for row in site_rows if row["id"] in removed_ids]
            sums = {
                name: sum(len(row["text"]) for row in selected)
                for name, selected in (("bytes", site_rows), ("duplicate_bytes", removed_rows))
            }
            found.append(
                {
                    "source": site,
                    "reference": is_reference,
                    "documents": len(site_rows),
                    "duplicates": len(removed_rows),
                    **sums,
                }
            )
    return found


def filled_in() -> list[dict[str, Any]]:
    """Returns documents of one template, whose similarity is below the threshold, and copies of
    some of them."""
    draw = random.Random(6)
    words = [f"w{number}" for number in range(3000)]
    text = draw.choices(words, k=60)
    filled = [" ".join(text[:46] + draw.choices(words, k=14)) for _ in range(90)]
    return [{"id": f"t{number:03}", "text": one} for number, one in enumerate(filled + filled[:30])]


def star_round_calls(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[Any]:
    """Returns a list that receives the edges of each later call of ``star_rounds`` by a module of
    an engine."""
    calls, rounds = [], module.star_rounds

    def noted(edges: Any, *others: Any) -> Any:
        calls.append(edges)
        return rounds(edges, *others)

    monkeypatch.setattr(module, "star_rounds", noted)
    return calls


def kill_once(monkeypatch: pytest.MonkeyPatch, task: str, flag: Path) -> None:
    """Kills the first executor that runs a task of this kind. The file `flag` records the kill."""
    from unstable_tasks import KillOnce

    from lookalike._divided import large_components, stage_tasks
    from lookalike.spark import _connect, _large, _run, _tasks

    original = getattr(_tasks, task, None) or getattr(stage_tasks, task)
    for module in (_connect, _run, _large, large_components):
        if hasattr(module, task):
            monkeypatch.setattr(
                module, task, lambda *arguments: KillOnce(original(*arguments), str(flag))
            )
