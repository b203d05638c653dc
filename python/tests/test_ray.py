"""`lookalike.ray` on a cluster of two nodes: the bytes are those of one machine."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from divided_runs import WORK, filled_in, joined, large, skewed, sources, star_round_calls
from soak import IS_SOAK
from test_stages import corpus

import lookalike
from lookalike.errors import ChangedError, DocumentError, OptionError

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("ray.data", reason="Ray Data is not installed")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    from ray.cluster_utils import Cluster

    tests = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    node = {"num_cpus": 1, "object_store_memory": 256 << 20}
    made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    made.add_node(**node)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    yield
    ray.shutdown()
    made.shutdown()


def dataset(rows: list[dict[str, Any]], pieces: int = 3) -> Any:
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in ("id", "text", "date", "site")])
    tables = [pa.Table.from_pylist(rows[start::pieces], schema=schema) for start in range(pieces)]
    return ray.data.from_arrow(tables)


def compare(
    place: Path, rows: list[dict[str, Any]], /, *, reference: list[dict[str, Any]] | None = None,
    partitions: int = 3, pieces: int = 3, groups: int = 3, same_work: bool = True, task_memory: int = 2 << 30, **options: Any,
) -> Any:
    """Compares files and counts of the cluster with those of one machine."""
    import lookalike.ray

    place.mkdir()
    one = lookalike.find(rows, reference=reference, pairs=True, **options)
    there = None if reference is None else dataset(reference)
    found = lookalike.ray.find(
        dataset(rows, pieces), reference=there, pairs=True, partitions=partitions, task_memory=task_memory, **options
    )
    expected = one.counts if same_work else one.counts | {name: found.counts[name] for name in WORK}
    assert found.counts == expected and found.counts["groups"] >= groups
    for form in ("csv", "jsonl"):
        one.write(place / f"one.{form}")
        found.write(str(place / form), format=form)  # type: ignore[arg-type]
        assert joined(place / form) == (place / f"one.{form}").read_bytes()
    one.write_pairs(place / "one-pairs.csv")
    found.write_pairs(str(place / "pairs"))
    assert joined(place / "pairs") == (place / "one-pairs.csv").read_bytes()
    assert found.empty == one.empty["id"]
    assert found.groups.num_rows == found.counts["groups"] + found.counts["duplicates"]
    assert found.pairs.column_names == ["id_a", "id_b", "jaccard"]
    return found


def test_files_and_counts_are_those_of_one_machine(tmp_path: Path) -> None:
    rows = corpus(300)
    options: dict[str, Any] = {"threshold": 0.5, "keep": "field:date", "source_field": "site"}
    compare(tmp_path / "reference", rows[:250], reference=rows[250:], groups=6, **options)


CASES: list[dict[str, Any]] = [{"keep": ["field:site:asc", "shortest"], "partitions": 5, "shingle": "chars:9"}]
SOAK_CASES: list[dict[str, Any]] = [
    {"keep": "longest", "partitions": 64, "scheme": "xor", "seed": 7, "shingle": "words:2"},
    {"partitions": 1, "group": "components", "tokens": "whitespace", "shingle": "words:3"},
    {"partitions": 2, "case": "keep", "frequencies": True, "shingle": "bag"},
    {"partitions": 17, "normalize": "nfkc", "keep": ["field:date:asc", "longest"]},
]


@pytest.mark.parametrize("case", CASES + (SOAK_CASES if IS_SOAK else []))
def test_options_and_partitions(tmp_path: Path, case: dict[str, Any]) -> None:
    rows = corpus(250, seed=3)
    random.Random(1).shuffle(rows)
    compare(tmp_path / "run", rows, pieces=5, **{"threshold": 0.5, **case})


#: Runs without signatures: other documents are compared than on one machine.
EXACT: list[dict[str, Any]] = [
    {"measure": "containment", "threshold": 0.8, "keep": "shortest"},
    {"exact": True, "threshold": 0.5, "partitions": 3},
]


SOAK_EXACT: list[dict[str, Any]] = [
    {"exact": True, "threshold": 0.6, "task_memory": 4_000, "shingle": "words:2"},
    {"measure": "containment", "threshold": 0.9, "task_memory": 4_000, "shingle": "words:2"},
]


@pytest.mark.parametrize("case", EXACT + (SOAK_EXACT if IS_SOAK else []))
def test_runs_without_signatures(tmp_path: Path, case: dict[str, Any]) -> None:
    rows = corpus(250, seed=3)
    compare(tmp_path / "run", rows[40:], reference=rows[:40], same_work=False, **case)


@pytest.mark.parametrize("kind", ["copies", "chains"])
def test_skew(tmp_path: Path, kind: str) -> None:
    import lookalike.ray

    rows = skewed(kind, {"copies": 10_000, "chains": 3_000}[kind] if IS_SOAK else 300)
    # Copies are decided in rounds.
    options: dict[str, Any] = {"task_memory": 12_000 if not IS_SOAK else 1_000_000} if kind == "copies" else {}
    similar: dict[str, Any] = {"threshold": 0.7, "shingle": "words:3"}
    one, found = lookalike.find(rows, **similar), lookalike.ray.find(dataset(rows), **similar, **options)
    assert found.counts == one.counts | {name: found.counts[name] for name in WORK}
    assert ("rounds" in found.seconds) == (kind == "copies")
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()


LARGE: list[dict[str, Any]] = [
    {"kind": "edits", "keep": "shortest", "source_field": "site", "references": 30, "task_memory": 22_000, "documents": 80},
    {"kind": "edits", "exact": True, "documents": 80, "task_memory": 9_000},
]
SOAK_LARGE: list[dict[str, Any]] = [
    {"kind": "templates", "threshold": 0.7},
    {"kind": "edits", "keep": ["field:date", "longest"], "partitions": 7},
    {"kind": "templates", "threshold": 0.5, "references": 100, "partitions": 1},
    {"kind": "edits", "task_memory": 3_000, "references": 150},
    {"kind": "edits", "measure": "containment", "threshold": 0.8},
]


@pytest.mark.parametrize("case", LARGE + (SOAK_LARGE if IS_SOAK else []))
def test_components_larger_than_a_task(tmp_path: Path, case: dict[str, Any]) -> None:
    case = {"threshold": 0.6, "shingle": "words:3", "task_memory": 12_000, **case}
    references = case.pop("references", 0)
    rows = large(case.pop("kind"), case.pop("documents", 600))
    found = compare(tmp_path / "run", rows[references:], reference=rows[:references] or None, same_work=False, **case)
    assert "rounds" in found.seconds
    if "source_field" in case:
        assert found.sources == sources(rows, references, case["threshold"], case["shingle"], case["keep"])


def test_a_template_falls_apart_by_rare_shingles(tmp_path: Path) -> None:
    options: dict[str, Any] = {"threshold": 0.8, "bands": 20, "rows": 2, "num_hashes": 40, "shingle": "words:3", "recall": None}
    found = compare(tmp_path / "run", filled_in(), same_work=False, task_memory=2_000, **options)
    assert found.counts["candidates"] <= 30 and found.counts["copies"] == 30


def test_a_worker_that_is_killed_in_a_round_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unstable_tasks import KillWorkerOnce

    import lookalike.ray._large as module

    made, flag = module.BatchTask, tmp_path / "killed"

    def unstable(task: Any, columns: str) -> Any:
        is_match = type(task).__name__ == "MatchTask"
        return KillWorkerOnce(made(task, columns), str(flag)) if is_match else made(task, columns)

    monkeypatch.setattr(module, "BatchTask", unstable)
    compare(tmp_path / "run", large("edits", 60), threshold=0.6, shingle="words:3", task_memory=12_000, same_work=False)
    assert flag.exists()


@pytest.mark.parametrize("kind", ["chains", "edits"])
def test_a_graph_larger_than_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Components are found in rounds; of `edits` they are larger than a task, too."""
    import lookalike.ray._find as module
    from lookalike import _star_rounds

    calls = star_round_calls(monkeypatch, module)
    options: dict[str, Any] = {"threshold": 0.7, "shingle": "words:3", "partitions": 5, "groups": 1}
    if kind == "chains":
        monkeypatch.setattr(module, "edge_limit", lambda _: 500)
        compare(tmp_path / "run", skewed(kind, 3_000 if IS_SOAK else 80), **options)
    else:
        monkeypatch.setattr(_star_rounds, "LEAST_EDGE_BYTES", 0)
        compare(tmp_path / "run", large(kind, 80), **{**options, "threshold": 0.6, "task_memory": 9_000, "same_work": False})
    assert calls


def test_components_are_not_decided_in_rounds() -> None:
    import lookalike.ray

    with pytest.raises(OptionError, match="task_memory allows 9000"):
        lookalike.ray.find(dataset(large("edits", 120)), task_memory=9_000, threshold=0.6, shingle="words:3", group="components")


def test_nothing_is_found_among_nothing(tmp_path: Path) -> None:
    import lookalike.ray

    rows = [{"id": "a", "text": "one two three four five six"}, {"id": "b", "text": "..."}]
    one, found = lookalike.find(rows), lookalike.ray.find(dataset(rows, 1), pairs=True)
    assert found.counts == one.counts
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    assert found.pairs.num_rows == 0


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unstable_tasks import KillWorkerOnce

    import lookalike.ray._find as module

    made, flag = module.DecideTask, tmp_path / "killed"
    monkeypatch.setattr(module, "DecideTask", lambda *arguments: KillWorkerOnce(made(*arguments), str(flag)))
    compare(tmp_path / "run", corpus(200), threshold=0.5)
    assert flag.exists()


def test_dedup_keeps_rows_as_they_are() -> None:
    import lookalike.ray

    rows = corpus(200)
    docs = dataset(rows)
    kept = lookalike.ray.dedup(docs, threshold=0.5)
    assert kept.columns() == docs.columns()
    expected = lookalike.dedup(rows, threshold=0.5)
    assert sorted(row["id"] for row in kept.take_all()) == [row["id"] for row in expected]
    roles = lookalike.ray.dedup(docs, threshold=0.5, annotate=True).take_all()
    assert len(roles) == len(rows) and {row["role"] for row in roles} == {"unique", "keeper", "duplicate"}


def test_bad_input_is_one_clear_error(tmp_path: Path) -> None:
    import lookalike.ray

    rows = corpus(30)
    with pytest.raises(DocumentError, match=r"'d00003' \(2 rows\)"):
        lookalike.ray.find(dataset([*rows, rows[3]]))
    with pytest.raises(DocumentError, match="no column 'url'"):
        lookalike.ray.find(dataset(rows), id="url")
    rows[4] = {**rows[4], "text": None}
    with pytest.raises(DocumentError, match='the document "d00004" cannot be used'):
        lookalike.ray.find(dataset(rows))
    found = lookalike.ray.find(dataset(rows), skip_bad=True)
    assert found.counts["skipped"] == 1 and found.skipped[0]["id"] == "d00004"
    rows[5] = {**rows[5], "id": None}
    found = lookalike.ray.find(dataset(rows), skip_bad=True)
    assert found.counts == lookalike.find([row for row in rows if row["id"]], skip_bad=True).counts | {"skipped": 2}
    assert sorted(str(skipped["id"]) for skipped in found.skipped) == ["None", "d00004"]
    assert len(lookalike.ray.dedup(dataset(rows), skip_bad=True).take_all()) == len(rows) - 2 - found.counts["duplicates"]
    with pytest.raises(DocumentError, match="a document has no id"):
        lookalike.ray.find(dataset(rows[5:]))
    with pytest.raises(OptionError, match="pairs were not asked for"):
        found.pairs  # noqa: B018 - a property
    (tmp_path / "there").mkdir()
    with pytest.raises(OptionError, match="exists"):
        found.write(str(tmp_path / "there"))


def test_rows_that_change_are_noticed() -> None:
    from unstable_tasks import changing_table

    import lookalike.ray

    docs = ray.data.range(200).map_batches(changing_table, batch_format="pyarrow")
    with pytest.raises(ChangedError, match="each time"):
        lookalike.ray.find(docs, threshold=0.5)


def test_a_worker_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    import lookalike.ray
    import lookalike.ray._find as module

    plan = module.stages.plan
    monkeypatch.setattr(module.stages, "plan", lambda **options: dataclasses.replace(plan(**options), version="90.1"))
    with pytest.raises(OptionError, match=r"this worker has lookalike \S+, the driver has 90\.1"):
        lookalike.ray.find(dataset(corpus(20)))


