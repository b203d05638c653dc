"""The stages of a divided run, called as an engine calls them: the bytes are those of one run."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike import stages
from lookalike.errors import ChangedError, DamagedError, DocumentError, OptionError

pa = pytest.importorskip("pyarrow")


def corpus(documents: int, seed: int = 1) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    words = [f"w{number}" for number in range(400)]
    texts: list[list[str]] = [["w1"]]
    for _ in range(documents):
        kind = draw.randrange(6)
        text = draw.choice(texts)[:] if kind < 3 else draw.choices(words, k=draw.randrange(60))
        for _ in range(draw.randrange(3)):
            if text:
                text[draw.randrange(len(text))] = draw.choice(words)
        texts.append(text)
    dates = ["2026-01-01", "2025-07-30", None]
    return [
        {"id": f"d{number:05}", "text": " ".join(text), "date": draw.choice(dates), "site": f"s{number % 3}"}
        for number, text in enumerate(texts[1:])
    ]


def divided(
    documents: list[dict[str, Any]],
    reference: list[dict[str, Any]] | None = None,
    *,
    tasks: int = 5,
    parts: int = 4,
    change: Callable[[Any], Any] = lambda table: table,
    **options: Any,
) -> tuple[stages.Plan, Any, list[str]]:
    """All stages in this process: the plan, the rows that were decided, and the notes."""
    plan = pickle.loads(pickle.dumps(stages.plan(**options)))
    sides = [(documents, False)] + ([(reference, True)] if reference is not None else [])
    tables = []
    for rows, is_reference in sides:
        table = pa.Table.from_pylist(rows, schema=pa.schema([(n, pa.string()) for n in ("id", "text", "date", "site")]))
        table = table.append_column("node", stages.nodes(plan, table, reference=is_reference))
        if reference is not None:
            table = table.append_column("reference", pa.array([is_reference] * len(rows)))
        tables.append(table)
    table = pa.concat_tables(tables)
    blocks = [
        row
        for task in range(tasks)
        for row in stages.keys(plan, table.take(pa.array(range(task, table.num_rows, tasks), pa.int64())).to_batches(50), parts)
    ]
    connected = [row for part in range(parts) for row in stages.connect(of_part(blocks, part), parts)]
    notes = [note for batch in connected for note in batch["note"].to_pylist() if note is not None]
    edges, identities = of_kind(connected, "edges"), of_kind(connected, "identities")
    forest = list(stages.merge(edges, parts))
    labels = [row for part in range(parts) for row in stages.label(of_part([*forest, *identities], part))]
    decided: list[Any] = []
    if labels:
        joined = change(table).join(pa.Table.from_batches(labels), "node", join_type="inner").sort_by("component")
        decided = list(stages.decide(plan, joined.to_batches(64)))
    return plan, decided, notes


def of_part(batches: list[Any], part: int) -> list[Any]:
    return [batch.filter(pa.compute.equal(batch["part"], part)) for batch in batches]


def of_kind(batches: list[Any], kind: str) -> list[Any]:
    return [batch.filter(pa.compute.equal(batch["kind"], kind)) for batch in batches]


def lines(plan: stages.Plan, decided: list[Any], form: Any = "csv") -> bytes:
    rows = pa.Table.from_batches(of_kind(decided, "member"))
    order = [("size", "descending"), ("keeper", "ascending"), ("reference", "ascending"),
             ("role", "descending"), ("rank", "descending"), ("id", "ascending")]
    return stages.group_lines(plan, rows.sort_by(order), header=form == "csv", format=form)


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 0.5, "pairs": True},
        {"threshold": 0.5, "keep": ["field:date", "shortest"]},
        {"threshold": 0.6, "shingle": "chars:4", "group": "components"},
        {"threshold": 0.6, "source_field": "site", "normalize": "fold", "case": "keep"},
    ],
)
def test_the_bytes_are_those_of_one_run(options: dict[str, Any], parts: int, tmp_path: Path) -> None:
    rows = corpus(400)
    documents, reference = rows[:330], rows[330:]
    for side in (None, reference):
        plan, decided, _ = divided(documents, side, parts=parts, **options)
        found = lookalike.find(documents, reference=side, **options)
        for form in ("csv", "jsonl"):
            found.write(tmp_path / f"groups.{form}")
            assert lines(plan, decided, form) == (tmp_path / f"groups.{form}").read_bytes()
        assert len(found) > 5
        if options.get("pairs"):
            found.write_pairs(tmp_path / "pairs.csv")
            pairs = pa.Table.from_batches(of_kind(decided, "pair")).sort_by([("keeper", "ascending"), ("id", "ascending")])
            assert stages.pair_lines(plan, pairs, header=True) == (tmp_path / "pairs.csv").read_bytes()


def test_parameters_are_chosen_once() -> None:
    plan = stages.plan(threshold=0.7, keep="field:date", source_field="site")
    assert plan.parameters == lookalike.find([], threshold=0.7).parameters
    assert plan.columns == ["id", "text", "date", "site"]
    assert (plan.options["bands"], plan.options["rows"]) == (plan.parameters["bands"], plan.parameters["rows"])
    other = stages.plan(documents=1_000_000_000)
    assert {"num_hashes", "bands", "rows"} <= other.options.keys()


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"keep": "first"}, "field:COLUMN"),
        ({"keep": ["longest", "last"]}, "field:COLUMN"),
        ({"exact": True}, "one machine"),
        ({"measure": "containment"}, "one machine"),
        ({"bands": "auto"}, "documents=N"),
        ({"memory": "1GiB"}, "leave it out"),
        ({"format": "jsonl"}, "leave it out"),
        ({"text": "node"}, "rename"),
        ({"keep": "field:check"}, "rename"),
        ({"treshold": 0.8}, "threshold"),
        ({"threshold": 2.0}, "threshold"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(options: dict[str, Any], remedy: str) -> None:
    with pytest.raises(OptionError, match=remedy):
        stages.plan(**options)


def test_another_version_is_refused() -> None:
    import dataclasses

    plan = dataclasses.replace(stages.plan(), version="0.0.1")
    with pytest.raises(OptionError, match=r"driver has 0\.0\.1"):
        list(stages.keys(plan, [], 1))


def test_repeated_ids_are_named_by_their_node() -> None:
    texts = ("one two three four five six", "seven eight nine ten eleven twelve")
    _, _, notes = divided([{"id": "x", "text": text, "date": None, "site": ""} for text in texts])
    assert len([note for note in notes if "repeated" in note]) == 1


def test_a_document_that_changed_is_named() -> None:
    text = " ".join(f"w{n}" for n in range(30))
    rows = [{"id": name, "text": text, "date": None, "site": ""} for name in ("a", "b")]

    def change(table: Any) -> Any:
        texts = pa.array([value + " x" for value in table["text"].to_pylist()])
        return table.set_column(table.column_names.index("text"), "text", texts)

    with pytest.raises(ChangedError, match="'a'|\"a\""):
        divided(rows, change=change)


def test_null_texts_are_errors_or_listed() -> None:
    rows = corpus(20)
    rows[4]["text"] = None
    with pytest.raises(DocumentError, match=r'"d00004".*skip_bad=True'):
        divided(rows)
    _, _, notes = divided(rows, skip_bad=True)
    assert any('"skipped"' in note and "d00004" in note for note in notes)


def test_damaged_blocks_are_refused() -> None:
    plan = stages.plan()
    table = pa.table({"id": ["a"], "text": ["a b c d e f"]})
    table = table.append_column("node", stages.nodes(plan, table))
    blocks = pa.Table.from_batches(list(stages.keys(plan, table.to_batches(), 1)))
    short = pa.array([rows and rows[:-1] for rows in blocks["rows"].to_pylist()], pa.binary())
    cut = blocks.set_column(2, "rows", short).to_batches()
    with pytest.raises(DamagedError, match="cut short"):
        list(stages.connect(cut, 1))


def test_rows_that_are_not_sorted_are_refused() -> None:
    plan, decided, _ = divided(corpus(200), threshold=0.5)
    rows = pa.Table.from_batches(of_kind(decided, "member")).sort_by([("role", "ascending")])
    with pytest.raises(DocumentError, match="sort the rows"):
        stages.group_lines(plan, rows)


def test_a_keeper_and_one_of_the_reference_may_have_one_id(tmp_path: Path) -> None:
    one, two = (" ".join(f"{letter}{n}" for n in range(20)) for letter in "xy")
    texts = {"a": f"{one} z", "b": one, "c": two}
    documents = [{"id": name, "text": text, "date": None, "site": ""} for name, text in texts.items()]
    reference = [{"id": "a", "text": two, "date": None, "site": ""}]
    plan, decided, _ = divided(documents, reference, threshold=0.5)
    lookalike.find(documents, reference=reference, threshold=0.5).write(tmp_path / "groups.csv")
    assert lines(plan, decided) == (tmp_path / "groups.csv").read_bytes()
