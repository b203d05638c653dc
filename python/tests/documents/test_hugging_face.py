"""Hugging Face datasets: only the used columns are read, and no file is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts

import lookalike

datasets = pytest.importorskip("datasets")
pa = pytest.importorskip("pyarrow")

DOCS = texts(90)
IDS = [f"d{i:03}" for i in range(90)]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A dataset in files. Its functions would write copies next to the files or to the cache."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    rows = {"id": IDS, "text": DOCS, "n": list(range(90)), "blob": [b"x" * 1000] * 90}
    datasets.Dataset.from_dict(rows).save_to_disk(str(tmp_path / "data"))
    return datasets.load_from_disk(str(tmp_path / "data"))


def files(folder: Path) -> dict[str, int]:
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return {path: os.path.getsize(path) for path in paths}


def chosen(dataset: Any) -> dict[str, Any]:
    """Returns variants of a dataset. The library stores the chosen rows separately from the
    data."""
    return {
        "whole": dataset,
        "shuffled": dataset.shuffle(seed=5, keep_in_memory=True),
        "filtered": dataset.filter(lambda n: n % 4 != 1, input_columns="n", keep_in_memory=True),
        "twice": dataset.select([*range(90), 3, 3]),
        "none": dataset.select([]),
        "part": dataset.select(range(9, 60)),
    }


@pytest.mark.parametrize("kind", ["whole", "shuffled", "filtered", "twice", "none", "part"])
def test_dataset_calls_write_no_files(stored: Any, tmp_path: Path, kind: str) -> None:
    dataset = chosen(stored)[kind]
    before = files(tmp_path)
    rows = dataset[:]
    dedup: Any = lookalike.dedup
    calls: list[tuple[Any, dict[str, Any]]] = [
        (dedup, {}),
        (dedup, {"annotate": True}),
        (dedup, {"unit": "line"}),
        (lookalike.cut, {"min_words": 3}),
    ]
    for call, options in calls:
        changed: Any = call(dataset, id=False, **options)
        assert isinstance(changed, datasets.Dataset)
        expected = call(pa.table(rows), id=False, **options) if len(dataset) else None
        for name in expected.column_names if expected is not None else ():
            assert changed[name][:] == expected[name].to_pylist(), (options, name)
        assert list(changed.column_names[:4]) == ["id", "text", "n", "blob"]
    assert files(tmp_path) == before
    assert dataset[:] == rows, "the dataset itself stays as it is"


def test_dataset_reads_only_used_columns(stored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from lookalike._documents.input_documents import Columns

    read: list[list[str]] = []
    engine = Columns.engine

    def spy(columns: Columns, table: Any) -> Any:
        read.append(table.column_names)
        return engine(columns, table)

    monkeypatch.setattr(Columns, "engine", spy)
    for dataset in chosen(stored).values():
        lookalike.find(dataset, id=False)
        lookalike.dedup(dataset, id=False, keep="field:n")
        lookalike.passages(dataset, id=False)
    assert read == [["text"], ["text", "n"], ["text"]] * 6


def test_annotated_datasets_keep_type_and_format(stored: Any) -> None:
    shuffled = stored.shuffle(seed=5, keep_in_memory=True)
    marked = lookalike.dedup(shuffled, annotate=True)
    assert marked["id"][:] == shuffled["id"][:]
    assert (
        marked.features["lookalike_group"].dtype == "uint64"
        and marked.features["blob"] == stored.features["blob"]
    )
    kept = marked.filter(lambda kept: kept, input_columns="lookalike_kept", keep_in_memory=True)
    assert kept["id"][:] == lookalike.dedup(shuffled)["id"][:]
    numbers = lookalike.dedup(shuffled.with_format("numpy", columns=["n"]), annotate=True)
    assert numbers.format["type"] == "numpy" and "lookalike_kept" in numbers.format["columns"]
    with_parts = datasets.Dataset.from_dict({"text": DOCS[:2]}, split="train")
    assert lookalike.dedup(with_parts, annotate=True).split == "train"


def test_lists_of_tokens_in_a_dataset() -> None:
    dataset = datasets.Dataset.from_dict(
        {"tokens": [["New York", "is", "big"], ["new york", "is", "big"], ["x"], []]}
    )
    found = lookalike.find(dataset, text="tokens", skip_bad=True)
    assert [(group.keeper, len(group)) for group in found] == [(0, 2)] and found.counts[
        "empty"
    ] == 1
    assert lookalike.dedup(dataset, text="tokens")["tokens"][:] == [
        ["New York", "is", "big"],
        ["x"],
        [],
    ]


def test_rows_are_filtered_by_the_mask(stored: Any) -> None:
    """``filter``, ``select`` and ``map`` of ``datasets`` accept the masks, rows and labels of a
    result, for a dataset in files, for a shuffled dataset, and for a stream."""
    for dataset in (stored, stored.shuffle(seed=5, keep_in_memory=True)):
        found = lookalike.find(dataset)
        mask = found.is_kept
        expected = lookalike.dedup(dataset)["id"][:]
        filtered = dataset.filter(lambda _, row: mask[row], with_indices=True, keep_in_memory=True)
        assert filtered["id"][:] == expected
        assert dataset.select(found.kept_rows)["id"][:] == expected
        labels = found.labels
        labelled = dataset.map(
            lambda _, row: {"group": labels[row]}, with_indices=True, keep_in_memory=True
        )
        assert labelled["group"][:] == labels
        assert labelled.filter(
            lambda n, row: labels[row] == row, with_indices=True, keep_in_memory=True
        ).num_rows == len(set(labels))
    streamed = stored.to_iterable_dataset()
    mask = lookalike.find(streamed, memory="200MiB").is_kept
    kept = [row["id"] for row in streamed.filter(lambda _, row: mask[row], with_indices=True)]
    assert kept == lookalike.dedup(stored)["id"][:]
