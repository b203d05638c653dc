"""`lookalike.ray` on a cluster of two nodes writes the same bytes as one machine."""

from __future__ import annotations

import copy
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from divided_runs import (
    BUCKET,
    WORK,
    by_id,
    by_source,
    filled_in,
    joined,
    large,
    named_oddly,
    python_path,
    rows_of,
    same_attributes,
    skewed,
    sources,
    star_round_calls,
    textless,
    with_annotations,
)
from soak import IS_SOAK, slow
from test_stages import corpus

import lookalike
from lookalike.errors import ChangedError, DocumentError, DocumentTypeError, FileError, OptionError

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("ray.data", reason="Ray Data is not installed")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = python_path()
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    node = {"num_cpus": 1, "object_store_memory": 256 << 20}
    ray_cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    ray_cluster.add_node(**node)
    ray.init(address=ray_cluster.address, log_to_driver=False, logging_level="ERROR")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    yield
    ray.shutdown()
    ray_cluster.shutdown()


def dataset(rows: list[dict[str, Any]], pieces: int = 3) -> Any:
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in ("id", "text", "date", "site")])
    tables = [pa.Table.from_pylist(rows[start::pieces], schema=schema) for start in range(pieces)]
    return ray.data.from_arrow(tables)


def compare(
    place: Path,
    rows: list[dict[str, Any]],
    /,
    *,
    reference: list[dict[str, Any]] | None = None,
    partitions: int = 3,
    pieces: int = 3,
    groups: int = 3,
    same_work: bool = True,
    task_memory: int = 2 << 30,
    **options: Any,
) -> Any:
    """Compares the files and counts of a run on the cluster with those of one machine."""
    import lookalike.ray

    place.mkdir()
    single = lookalike.find(rows, reference=reference, pairs=True, **options)
    reference_dataset = None if reference is None else dataset(reference)
    found = lookalike.ray.find(
        dataset(rows, pieces),
        reference=reference_dataset,
        pairs=True,
        partitions=partitions,
        task_memory=task_memory,
        **options,
    )
    expected = (
        single.counts if same_work else single.counts | {name: found.counts[name] for name in WORK}
    )
    assert found.counts == expected and found.counts["groups"] >= groups
    for form in ("csv", "jsonl"):
        single.write(place / f"one.{form}")
        found.write(str(place / form), format=form)  # type: ignore[arg-type]
        assert joined(place / form) == (place / f"one.{form}").read_bytes()
    single.write_pairs(place / "one-pairs.csv")
    found.write_pairs(str(place / "pairs"))
    assert joined(place / "pairs") == (place / "one-pairs.csv").read_bytes()
    assert textless(found.empty.to_pylist()) == textless(single.empty)
    assert found.groups.to_pylist() == rows_of(single.groups, found.groups.column_names)
    assert found.pairs.to_pylist() == list(single.pairs)
    assert list(found) == list(single) and len(found) == len(single)
    assert found.sources.to_pylist() == (by_source(single) if "source_field" in options else [])
    skipped = [(row["id"], row["reason"]) for row in found.skipped.to_pylist()]
    assert sorted(skipped, key=str) == sorted(
        zip(single.skipped["id"], single.skipped["reason"]), key=str
    )
    return found


def test_ray_outputs_equal_one_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import lookalike.ray._run as module

    monkeypatch.setattr(module, "_FILE_ROWS", 7)
    rows = corpus(300)
    options: dict[str, Any] = {"threshold": 0.5, "keep": "field:date", "source_field": "site"}
    # The reference reuses ids of documents, so several pairs may have the same two ids.
    reference = [{**row, "id": rows[place]["id"]} for place, row in enumerate(rows[250:])]
    compare(tmp_path / "reference", rows[:250], reference=reference, groups=6, **options)
    assert all(
        len(list((tmp_path / "reference" / name).iterdir())) > 2
        for name in ("csv", "jsonl", "pairs")
    )


CASES: list[dict[str, Any]] = [
    {"keep": ["field:site:asc", "shortest"], "partitions": 5, "shingle": "chars:9"}
]
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


#: Options of runs without signatures, which compare other documents than one machine does.
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


@pytest.mark.parametrize(
    "kind", ["copies", "chains", "forms", "bucket"] if IS_SOAK else ["copies", "chains", "bucket"]
)
def test_skew(tmp_path: Path, kind: str) -> None:
    import lookalike.ray

    rows = skewed(
        kind,
        {"copies": 10_000, "chains": 3_000, "forms": 5_000, "bucket": 3_000}[kind]
        if IS_SOAK
        else 300,
    )
    # Copies are decided in rounds. The component of the bucket is divided.
    is_small = kind in ("copies", "bucket")
    options: dict[str, Any] = (
        {"task_memory": 12_000 if not IS_SOAK else 1_000_000} if is_small else {}
    )
    similar = BUCKET if kind == "bucket" else {"threshold": 0.7, "shingle": "words:3"}
    one, found = (
        lookalike.find(rows, **similar),
        lookalike.ray.find(dataset(rows), **similar, **options),
    )
    assert found.counts == one.counts | (
        {name: found.counts[name] for name in WORK} if is_small else {}
    )
    assert ("rounds" in found.seconds, "divide" in found.seconds) == (kind == "copies", is_small)
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()


LARGE: list[dict[str, Any]] = [
    {
        "kind": "edits",
        "keep": "shortest",
        "source_field": "site",
        "references": 30,
        "task_memory": 22_000,
        "documents": 80,
    },
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
    found = compare(
        tmp_path / "run",
        rows[references:],
        reference=rows[:references] or None,
        same_work=False,
        **case,
    )
    assert "rounds" in found.seconds
    if "source_field" in case:
        assert found.sources.to_pylist() == sources(
            rows, references, case["threshold"], case["shingle"], case["keep"]
        )


def test_ray_divides_template_components(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two large components is divided by rare shingles. The other is decided in rounds."""
    from lookalike._divided.large_components import LargeComponents

    options: dict[str, Any] = {
        "threshold": 0.8,
        "bands": 20,
        "rows": 2,
        "num_hashes": 40,
        "shingle": "words:3",
        "recall": None,
    }
    divide, numbers = LargeComponents.divide, []

    def noted(self: Any, labels: Any) -> Any:
        parts = divide(self, labels)
        numbers.append((labels, parts, self._dense))
        return parts

    monkeypatch.setattr(LargeComponents, "divide", noted)
    copies = [
        {"id": f"copy{number:02}", "text": " ".join(f"v{n}" for n in range(60))}
        for number in range(40)
    ]
    found = compare(
        tmp_path / "run", [*filled_in(), *copies], same_work=False, task_memory=4_000, **options
    )
    ((before, parts, dense),) = numbers
    components = [
        {row["component"]: row["bytes"] for row in table.to_pylist()} for table in (before, parts)
    ]
    # First there are two components, of forms and of copies. The forms are divided into 30 pairs.
    assert (len(components[0]), len(components[1]), dense.num_rows) == (2, 30, 40)
    assert "rounds" in found.seconds and found.counts["copies"] == 30 + 39


def test_ray_rounds_survive_killed_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unstable_tasks import KillWorkerOnce

    import lookalike.ray._large as module

    original, flag = module.BatchTask, tmp_path / "killed"

    def unstable(task: Any, columns: str, is_combined: bool) -> Any:
        batch_task = original(task, columns, is_combined)
        return (
            KillWorkerOnce(batch_task, str(flag))
            if type(task).__name__ == "MatchTask"
            else batch_task
        )

    monkeypatch.setattr(module, "BatchTask", unstable)
    compare(
        tmp_path / "run",
        large("edits", 60),
        threshold=0.6,
        shingle="words:3",
        task_memory=12_000,
        same_work=False,
    )
    assert flag.exists()


@pytest.mark.parametrize("kind", ["chains", "edits"])
def test_a_graph_larger_than_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Components are found in rounds. The components of `edits` also exceed a task."""
    import lookalike.ray._connect as module
    from lookalike._divided import star_rounds

    calls = star_round_calls(monkeypatch, module)
    options: dict[str, Any] = {"threshold": 0.7, "shingle": "words:3", "partitions": 5, "groups": 1}
    if kind == "chains":
        monkeypatch.setattr(module, "edge_limit", lambda _: 500)
        compare(tmp_path / "run", skewed(kind, 3_000 if IS_SOAK else 80), **options)
    else:
        monkeypatch.setattr(star_rounds, "LEAST_EDGE_BYTES", 0)
        compare(
            tmp_path / "run",
            large(kind, 80),
            **{**options, "threshold": 0.6, "task_memory": 9_000, "same_work": False},
        )
    assert calls


def test_components_are_not_decided_in_rounds() -> None:
    import lookalike.ray

    with pytest.raises(OptionError, match="task_memory allows 9000"):
        lookalike.ray.find(
            dataset(large("edits", 120)),
            task_memory=9_000,
            threshold=0.6,
            shingle="words:3",
            group="components",
        )


def test_ray_writes_empty_results(tmp_path: Path) -> None:
    import lookalike.ray

    rows = [{"id": "a", "text": "one two three four five six"}, {"id": "b", "text": "..."}]
    one, found = lookalike.find(rows), lookalike.ray.find(dataset(rows, 1), pairs=True)
    assert found.counts == one.counts
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    assert found.pairs.num_rows == 0


@pytest.mark.parametrize(
    "task",
    ["KeyTask", "ConnectTask", "_labels", "UnsortedDecideTask"]
    if IS_SOAK
    else ["_labels", "UnsortedDecideTask"],
)
def test_ray_survives_killed_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    from unstable_tasks import KillWorkerOnce

    from lookalike.ray import _connect, _run

    module = _run if task == "UnsortedDecideTask" else _connect
    original, flag = getattr(module, task), tmp_path / "killed"
    if task == "_labels":

        def unstable(*arguments: Any) -> Any:
            return KillWorkerOnce(lambda all_: original(*all_), str(flag))(arguments)

    else:

        def unstable(*arguments: Any) -> Any:
            return KillWorkerOnce(original(*arguments), str(flag))

    monkeypatch.setattr(module, task, unstable)
    compare(tmp_path / "run", corpus(200), threshold=0.5)
    assert flag.exists()


def test_dedup_keeps_rows_as_they_are() -> None:
    import lookalike.ray

    rows = corpus(200)
    docs = dataset(rows)
    kept = lookalike.ray.dedup(docs, threshold=0.5)
    assert kept.columns() == docs.columns()
    assert by_id(kept.take_all()) == by_id(lookalike.dedup(rows, threshold=0.5))
    annotated = lookalike.ray.dedup(docs, threshold=0.5, annotate=True).take_all()
    assert by_id(annotated) == by_id(with_annotations(rows, threshold=0.5))


def test_columns_have_any_names(tmp_path: Path) -> None:
    import pyarrow as pa

    import lookalike.ray

    rows = corpus(120)
    one = lookalike.find(rows, threshold=0.5, keep="field:date", source_field="site")
    docs = ray.data.from_arrow(pa.Table.from_pylist(named_oddly(rows)))
    columns = {"id": "Doc.`id`", "text": "the text"}
    found = lookalike.ray.find(
        docs, threshold=0.5, keep='field:date"', source_field="Site", **columns
    )  # type: ignore[arg-type]
    one.write(tmp_path / "one.csv")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    assert found.sources.to_pylist() == by_source(one)
    kept = lookalike.ray.dedup(docs, threshold=0.5, keep='field:date"', **columns).take_all()
    expected = named_oddly(lookalike.dedup(rows, threshold=0.5, keep="field:date"))
    assert sorted(kept, key=str) == sorted(expected, key=str)


def test_bands_are_chosen_for_many_documents() -> None:
    import lookalike.ray

    rows, reported = corpus(120), []
    found = lookalike.ray.find(
        dataset(rows), threshold=0.8, documents=10**11, progress=lambda *what: reported.append(what)
    )
    chosen = {name: found.parameters[name] for name in ("num_hashes", "bands", "rows")}
    one = lookalike.find(rows, threshold=0.8, **chosen)
    assert chosen != {name: lookalike.find(rows, threshold=0.8).parameters[name] for name in chosen}
    assert found.counts == one.counts and found.parameters == one.parameters
    assert reported == [(stage, done, 1) for stage in found.seconds for done in (0, 1)]


@pytest.mark.parametrize("column", ["id", "text", "date"])
def test_ray_column_type_errors_suggest_cast(column: str) -> None:
    import pyarrow as pa

    import lookalike.ray

    rows = [{**row, column: [row[column]]} for row in corpus(30)]
    problem = rf'^column "{column}": .*list.*; ds\.map_batches\(.* casts the column'
    with pytest.raises(DocumentTypeError, match=problem) as error:
        lookalike.ray.find(ray.data.from_arrow(pa.Table.from_pylist(rows)), keep="field:date")
    assert "\n" not in str(error.value)


def test_ray_accepts_integer_ids() -> None:
    import pyarrow as pa

    import lookalike.ray

    rows = [{**row, "id": number} for number, row in enumerate(corpus(60))]
    found = lookalike.ray.find(ray.data.from_arrow(pa.Table.from_pylist(rows)), threshold=0.5)
    assert found.counts == lookalike.find(rows, threshold=0.5).counts
    with pytest.raises(OptionError, match="id: expected the name of a column"):
        lookalike.ray.find(dataset(corpus(9)), id=None)  # type: ignore[arg-type]


def test_ray_reports_full_worker_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    from unstable_tasks import no_space

    import lookalike.ray
    import lookalike.ray._run as module

    monkeypatch.setattr(module, "UnsortedDecideTask", lambda *_: no_space)
    with pytest.raises(
        FileError, match="a worker has no space left for temporary files; make room there"
    ) as error:
        lookalike.ray.find(dataset(corpus(100)), threshold=0.5)
    assert "\n" not in str(error.value)


def test_ray_reports_bad_input(tmp_path: Path) -> None:
    import pyarrow as pa

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
    assert found.counts["skipped"] == 1 and found.skipped["id"].to_pylist() == ["d00004"]
    rows[5] = {**rows[5], "id": None}
    found = lookalike.ray.find(dataset(rows), skip_bad=True)
    assert found.counts == lookalike.find(
        [row for row in rows if row["id"]], skip_bad=True
    ).counts | {"skipped": 2}
    assert sorted(str(skipped["id"]) for skipped in found.skipped.to_pylist()) == ["None", "d00004"]
    assert (
        len(lookalike.ray.dedup(dataset(rows), skip_bad=True).take_all())
        == len(rows) - 2 - found.counts["duplicates"]
    )
    remedy = r"fill it or leave the row out, or use skip_bad=True to leave out and count such rows$"
    with pytest.raises(
        DocumentError,
        match=rf'^a document cannot be used: the column "id" is null in this row; {remedy}',
    ):
        lookalike.ray.find(dataset(rows[5:]))
    # The ids of a block are all null, so the type of its column is null instead of string.
    block = pa.table(
        {"id": pa.nulls(1), **{name: [rows[5][name]] for name in rows[5] if name != "id"}}
    )
    apart = dataset([row for row in rows if row["id"]]).union(ray.data.from_arrow(block))
    assert lookalike.ray.find(apart, skip_bad=True).counts == found.counts
    assert (
        len(lookalike.ray.dedup(apart, skip_bad=True).take_all())
        == len(rows) - 2 - found.counts["duplicates"]
    )
    with pytest.raises(
        DocumentError,
        match=rf'^a document cannot be used: the column "id" is null in this row; {remedy}',
    ):
        lookalike.ray.find(ray.data.from_arrow(block))
    rows[5] = {**rows[5], "id": ""}
    with pytest.raises(
        DocumentError,
        match=r'^a document cannot be used: the id, the column "id", is empty in this row; '
        rf"{remedy}",
    ):
        lookalike.ray.find(dataset(rows[5:]))
    empty = lookalike.ray.find(dataset(rows), skip_bad=True)
    assert empty.counts == found.counts
    assert min(
        (str(skipped["id"]), skipped["reason"]) for skipped in empty.skipped.to_pylist()
    ) == (
        "None",
        "the id is empty",
    )
    assert (
        len(lookalike.ray.dedup(dataset(rows), skip_bad=True).take_all())
        == len(rows) - 2 - found.counts["duplicates"]
    )
    roles = lookalike.ray.dedup(dataset(rows), annotate=True, skip_bad=True).take_all()
    assert sorted(
        row["id"] for row in roles if not row["lookalike_kept"] and row["lookalike_keeper"] is None
    ) == ["", "d00004"]
    with pytest.raises(OptionError, match="pairs were not requested"):
        found.pairs
    (tmp_path / "there").mkdir()
    with pytest.raises(FileError, match=f"^{tmp_path}/there already exists; name another"):
        found.write(tmp_path / "there")
    with pytest.raises(OptionError, match="^folder: expected the name of a file or folder, got ''"):
        found.write("")
    for name, documents in (("ds", rows), ("ds", None), ("reference", rows)):
        for call in (lookalike.ray.find, lookalike.ray.dedup):
            with pytest.raises(
                DocumentTypeError, match=f"^{name}: expected a Dataset of Ray, got builtins"
            ):
                call(**{"ds": dataset(rows), name: documents})
    with pytest.raises(
        OptionError,
        match="^find has no option 'checkpoint'; see help",
    ):
        lookalike.ray.find(dataset(rows), checkpoint="x")


def test_ray_attributes_equal_one_machine() -> None:
    import pyarrow as pa

    import lookalike.ray

    rows = [*corpus(60), {"id": "empty", "text": "..."}, {"id": "none", "text": None}]
    options: dict[str, Any] = {"threshold": 0.5, "skip_bad": True, "source_field": "site"}
    found = lookalike.ray.find(dataset(rows), pairs=True, **options)
    one = lookalike.find(rows, pairs=True, **options)
    for name, columns in same_attributes(found, one).items():
        table = getattr(found, name)
        assert isinstance(table, pa.Table)
        assert {field.name: str(field.type) for field in table.schema} == columns


def test_results_are_not_pickled() -> None:
    import lookalike.ray

    found = lookalike.ray.find(dataset(corpus(30)), threshold=0.5)
    message = "^a FindResult of a cluster cannot be pickled: it refers to objects of this cluster"
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match=message):
            copied(found)
    assert copy.copy(found) is found
    assert pickle.loads(pickle.dumps(list(found))) == list(found)


def test_ray_folder_suffix_selects_format(tmp_path: Path) -> None:
    import lookalike.ray

    rows = corpus(60)
    one = lookalike.find(rows, threshold=0.5)
    found = lookalike.ray.find(dataset(rows), threshold=0.5)
    for name in ("groups.jsonl", "groups.csv"):
        one.write(tmp_path / name)
        found.write(tmp_path / "folder" / name)
        assert joined(tmp_path / "folder" / name) == (tmp_path / name).read_bytes()
    for name in ("groups.parquet", "groups.csv.gz"):
        with pytest.raises(OptionError, match=r"written as CSV or JSON lines, not compressed"):
            found.write(tmp_path / name)
        assert not (tmp_path / name).exists()


def test_folders_above_a_report_are_created(tmp_path: Path) -> None:
    import lookalike.ray

    found = lookalike.ray.find(dataset(corpus(30)), threshold=0.5)
    found.write(tmp_path / "new" / "run" / "groups")
    before = joined(tmp_path / "new" / "run" / "groups")
    found.write(tmp_path / "new" / "run" / "groups", mode="overwrite")
    assert joined(tmp_path / "new" / "run" / "groups") == before
    (tmp_path / "new" / "run" / "groups" / "notes.txt").touch()
    with pytest.raises(
        FileError, match=r"^cannot overwrite .*notes\.txt in it is not part of a report"
    ):
        found.write(tmp_path / "new" / "run" / "groups", mode="overwrite")


def test_ids_keep_their_type() -> None:
    import pyarrow as pa

    import lookalike.ray

    docs = pa.table(
        {
            "id": [7, 8, 9],
            "text": ["one two three", "One two three", "four"],
            "role": ["a", "b", "c"],
        }
    )
    found = lookalike.ray.find(ray.data.from_arrow(docs), pairs=True)
    assert found.groups["id"].to_pylist() == [7, 8] and found.groups["keeper"].to_pylist() == [7, 7]
    assert found.pairs.to_pylist() == [{"id_a": 7, "id_b": 8, "jaccard": 1.0}]
    rows = lookalike.ray.dedup(ray.data.from_arrow(docs), annotate=True).take_all()
    assert by_id(rows) == by_id(with_annotations(docs.to_pylist()))


@pytest.mark.parametrize("keep", ["path:*/final*", "name"])
def test_ray_path_rules_require_path_field(keep: str) -> None:
    import pyarrow as pa

    import lookalike.ray

    docs = pa.table(
        {
            "id": ["a", "b"],
            "text": ["one two three", "One two three"],
            "file": ["x/minutes draft.txt", "y/final minutes.txt"],
        }
    )
    with pytest.raises(OptionError, match="path_field='COLUMN' names a column of paths"):
        lookalike.ray.find(ray.data.from_arrow(docs), keep=keep)
    kept = lookalike.ray.dedup(ray.data.from_arrow(docs), keep=keep, path_field="file").take_all()
    assert [row["id"] for row in kept] == ["b"]


def test_ray_detects_changing_rows() -> None:
    from unstable_tasks import changing_table

    import lookalike.ray

    docs = ray.data.range(200).map_batches(changing_table, batch_format="pyarrow")
    with pytest.raises(ChangedError, match="each time"):
        lookalike.ray.find(docs, threshold=0.5)


def test_ray_names_mismatched_worker_version(monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    import lookalike.ray
    import lookalike.ray._run as module

    plan = module.stages.plan
    monkeypatch.setattr(
        module.stages,
        "plan",
        lambda **options: dataclasses.replace(plan(**options), version="90.1"),
    )
    with pytest.raises(OptionError, match=r"this worker has lookalike \S+, the driver has 90\.1"):
        lookalike.ray.find(dataset(corpus(20)))


#: A program that runs on a cluster whose workers find packages in the given folder.
_OTHER_PACKAGES = """
import sys
import ray

environment = {"env_vars": {"PYTHONPATH": sys.argv[1]}}
ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR", runtime_env=environment)
ray.data.DataContext.get_current().enable_progress_bars = False
import lookalike.ray
from lookalike.errors import OptionError

try:
    lookalike.ray.find(ray.data.from_items([{"id": "a", "text": "one two"}]))
except OptionError as error:
    print("refused:", error)
"""


@slow
@pytest.mark.parametrize(
    "content", ["raise ModuleNotFoundError(\"No module named 'lookalike'\", name='lookalike')", ""]
)
def test_ray_rejects_mismatched_worker_packages(tmp_path: Path, content: str) -> None:
    (tmp_path / "lookalike").mkdir()
    (tmp_path / "lookalike" / "__init__.py").write_text(content)
    done = subprocess.run(
        [sys.executable, "-c", _OTHER_PACKAGES, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    expected = f"refused: a worker has no lookalike, or another version than {lookalike.__version__}, which the driver has: "
    assert done.stdout.startswith(expected) and len(done.stdout.splitlines()) == 1, (
        done.stderr[-3000:] + done.stdout
    )
