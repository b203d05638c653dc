"""The stages of a divided run, called as an engine calls them, return the same bytes as one run."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pickle
import random
import re
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike import _engine, stages
from lookalike._divided.run_sums import NODE_SUM_RANGE, RunSums
from lookalike._options import Options
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
        {
            "id": f"d{number:05}",
            "text": " ".join(text),
            "date": draw.choice(dates),
            "site": f"s{number % 3}",
        }
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
    """Runs all stages in this process. Returns the plan, the decided rows, and the notes."""
    plan = pickle.loads(pickle.dumps(stages.plan(**options)))
    sides = [(documents, False)] + ([(reference, True)] if reference is not None else [])
    tables = []
    for rows, is_reference in sides:
        table = pa.Table.from_pylist(
            rows, schema=pa.schema([(n, pa.string()) for n in ("id", "text", "date", "site")])
        )
        table = table.append_column("node", stages.nodes(plan, table, reference=is_reference))
        if reference is not None:
            table = table.append_column("reference", pa.array([is_reference] * len(rows)))
        tables.append(table)
    table = pa.concat_tables(tables)
    shares = [
        table.take(pa.array(range(task, table.num_rows, tasks), pa.int64())).to_batches(50)
        for task in range(tasks)
    ]
    counters = counted(plan, shares) if plan.is_counted else None
    blocks = [row for share in shares for row in stages.keys(plan, share, parts, counters=counters)]
    connected = [
        row
        for part in range(parts)
        for row in stages.connect(of_part(blocks, part), parts, probed=plan.is_probed)
    ]
    notes = [note for batch in connected for note in batch["note"].to_pylist() if note is not None]
    edges, identities = of_kind(connected, "edges"), of_kind(connected, "identities")
    forest = list(stages.merge(edges, parts))
    labels = [
        row for part in range(parts) for row in stages.label(of_part([*forest, *identities], part))
    ]
    decided: list[Any] = []
    if labels:
        joined = (
            change(table)
            .join(pa.Table.from_batches(labels), "node", join_type="inner")
            .sort_by("component")
        )
        decided = list(stages.decide(plan, joined.to_batches(64)))
        shuffled = joined.take(
            pa.array(random.Random(3).sample(range(joined.num_rows), joined.num_rows), pa.int64())
        )
        for slice_bytes in (1, 1 << 12, 1 << 40):
            found = list(stages.decide_unsorted(plan, shuffled, slice_bytes=slice_bytes))
            assert rows_and_sums(plan, found) == rows_and_sums(plan, decided)
    return plan, decided, notes


def rows_and_sums(
    plan: stages.Plan, decided: list[Any]
) -> tuple[list[str], dict[str, int], list[Any]]:
    """Returns members and pairs in a fixed order, and the sums of the notes."""
    rows = [
        row
        for kind in ("member", "pair")
        for batch in of_kind(decided, kind)
        for row in batch.to_pylist()
    ]
    sums = RunSums()
    sums.add_notes(
        [note for batch in of_kind(decided, "note") for note in batch["note"].to_pylist()]
    )
    # Without signatures, the compared documents depend on the order of the rows.
    work = ("candidates", "verified") if plan.is_counted else ()
    counts = {name: count for name, count in sums.counts.items() if name not in work}
    return sorted(map(repr, rows)), counts, sums.sources


def counted(plan: stages.Plan, shares: list[Any]) -> bytes:
    """Returns the shingle counters of shares of the documents."""
    rows = [row for share in shares for row in stages.count(plan, share)]
    return next(
        (bytes(row["rows"][0].as_py()) for row in stages.total(rows)), stages.empty_counters(plan)
    )


def of_part(batches: list[Any], part: int) -> list[Any]:
    return [batch.filter(pa.compute.equal(batch["part"], part)) for batch in batches]


def of_kind(batches: list[Any], kind: str) -> list[Any]:
    return [batch.filter(pa.compute.equal(batch["kind"], kind)) for batch in batches]


def lines(plan: stages.Plan, decided: list[Any], form: Any = "csv") -> bytes:
    rows = pa.Table.from_batches(of_kind(decided, "member"))
    order = [
        ("size", "descending"),
        ("keeper", "ascending"),
        ("reference", "ascending"),
        ("role", "descending"),
        ("rank", "descending"),
        ("id", "ascending"),
    ]
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
        {"threshold": 0.5, "exact": True, "pairs": True, "keep": "shortest"},
        {"threshold": 0.7, "measure": "containment", "pairs": True},
        {"threshold": 0.6, "measure": "containment", "shingle": "words:2", "group": "components"},
    ],
)
def test_divided_outputs_equal_one_run(options: dict[str, Any], parts: int, tmp_path: Path) -> None:
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
            pairs = pa.Table.from_batches(of_kind(decided, "pair")).sort_by(
                [("keeper", "ascending"), ("id", "ascending")]
            )
            assert (
                stages.pair_lines(plan, pairs, header=True) == (tmp_path / "pairs.csv").read_bytes()
            )


#: Values of every option of a divided run. Each value changes the groups, unless the option is in
#: :data:`UNSEEN`.
DIVIDED: dict[str, list[Any]] = {
    "measure": ["containment"],
    "exact": [True],
    "num_hashes": [24],
    "bands": [60],
    "rows": [9],
    "scheme": ["multiply-shift", "mod-prime", "xor", "xor-multiply"],
    "seed": [7],
    "shingle": ["words:2", "chars:5", "bytes:9", "bag"],
    "tokens": ["word-runs", "whitespace"],
    "case": ["keep"],
    "frequencies": [True],
    "stop_words": ["en", ["river", "stone", "of"]],
    "normalize": ["nfc", "nfkc", "fold", "unaccent", "language:auto", "segment:dictionary"],
    "keep": ["shortest", "field:date", "field:site:asc", ["field:site", "longest"]],
    "path_field": ["id"],
    "group": ["components"],
    "source_field": ["site", "date"],
    "skip_bad": [True],
}
#: Options that do not change the groups: they select how pairs are found or what is reported.
UNSEEN = {
    "exact",
    "num_hashes",
    "bands",
    "rows",
    "scheme",
    "seed",
    "source_field",
    "skip_bad",
}


def test_an_option_is_divided_or_refused() -> None:
    refused = Options.__optional_keys__ - DIVIDED.keys()
    assert DIVIDED.keys() <= Options.__optional_keys__
    for name in (*refused, "estimates", "reference_pairs", "drop"):
        with pytest.raises(
            OptionError,
            match=rf"{name} (has no meaning for rows of a cluster|is for one machine)|unit=1 "
            r"compares parts of texts",
        ):
            stages.plan(**{name: 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checkpint": "x"}, "find has no option 'checkpint'; see help(lookalike.find) for"),
        ({"thresold": 0.5}, "find has no option 'thresold'; did you mean 'threshold'?"),
        ({"num_perm": 128}, "find has no option 'num_perm'; use num_hashes="),
        ({"id_field": "url"}, "find has no option 'id_field'; use id="),
        ({"id": ":line"}, "id=':line' is for lines of files; name a column of ids"),
    ],
    ids=str,
)
def test_unknown_plan_options_are_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}") as error:
        stages.plan(**options)
    assert len(str(error.value)) < 100 and "\n" not in str(error.value)


def wordings(documents: int) -> list[dict[str, Any]]:
    """Returns documents of words in several scripts, and copies that differ in details which the
    options of wording and tokens handle."""
    draw = random.Random(11)
    plain = [
        "river",
        "stone",
        "window",
        "garden",
        "letter",
        "winter",
        "morning",
        "copper",
        "bridge",
        "island",
        "market",
        "silver",
        "thunder",
        "orchard",
    ]
    marked = [
        "café",
        "naïve",
        "Straße",
        "ﬁnal",
        "ｆｕｌｌ",
        "don't",
        "e-mail",
        "3.14",
        "Ångström",
        "2nd",
    ]
    stops, asian = (
        ["the", "of", "and", "is", "to", "in"],
        ["我们今天去北京大学", "自然语言处理很有用", "東京都に住んでいます"],
    )
    changes: list[Callable[[str], str]] = [
        str.upper,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: unicodedata.normalize("NFKC", text),
        lambda text: "".join(
            c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)
        ),
        lambda text: " ".join(word for word in text.split() if word not in stops),
        lambda text: text.replace("-", " ").replace("'", " "),
        lambda text: text.replace(" ", ", ", 5),
        lambda text: f"{text} {text}",
        lambda text: text[: len(text) * 3 // 4],
        lambda text: text.replace("今天", "昨天"),
        lambda text: text.replace("river", "rivers"),
    ]
    texts: list[str] = []
    for number in range(documents):
        if number % 3 and texts:
            texts.append(draw.choice(changes)(draw.choice(texts[-9:])))
            continue
        words = [
            draw.choice(plain if draw.random() < 0.5 else marked if draw.random() < 0.5 else stops)
            for _ in range(24)
        ]
        words.insert(draw.randrange(24), draw.choice(asian))
        texts.append(" ".join(words))
    dates = ["2026-01-01", "2025-07-30", None]
    return [
        {"id": f"d{number:04}", "text": text, "date": draw.choice(dates), "site": f"s{number % 3}"}
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("option", "value"), [(option, value) for option, values in DIVIDED.items() for value in values]
)
def test_divided_options_equal_one_run(option: str, value: Any, tmp_path: Path) -> None:
    rows = wordings(160)
    if option == "skip_bad":
        rows[20]["text"] = None
    options: dict[str, Any] = {"threshold": 0.6, "shingle": "words:3", "pairs": True, option: value}
    if option == "path_field":
        options["keep"] = ["path:*7", "path:*3"]
    plan, decided, notes = divided(rows, **options)
    found = lookalike.find(rows, **options)
    assert plan.parameters == found.parameters and len(found) > 20
    found.write(tmp_path / "groups.csv")
    groups = (tmp_path / "groups.csv").read_bytes()
    assert lines(plan, decided) == groups
    found.write_pairs(tmp_path / "pairs.csv")
    pairs = pa.Table.from_batches(of_kind(decided, "pair")).sort_by(
        [("keeper", "ascending"), ("id", "ascending")]
    )
    assert stages.pair_lines(plan, pairs, header=True) == (tmp_path / "pairs.csv").read_bytes()
    sums = RunSums(options.get("source_field"))
    sums.add_notes(
        [
            *notes,
            *(note for batch in of_kind(decided, "note") for note in batch["note"].to_pylist()),
        ]
    )
    # Without signatures, the two runs compare different documents.
    work = (
        {name: sums.counts[name] for name in ("candidates", "verified")} if plan.is_counted else {}
    )
    assert sums.counts == found.counts | work
    if option == "source_field":
        assert sums.sources == sorted(
            found.sources, key=lambda row: (row["reference"], row["source"])
        )
        assert len(sums.sources) == 3
    lookalike.find(wordings(160), threshold=0.6, shingle="words:3").write(tmp_path / "usual.csv")
    assert option in UNSEEN or groups != (tmp_path / "usual.csv").read_bytes()


def test_parameters_are_chosen_once() -> None:
    plan = stages.plan(threshold=0.7, keep="field:date", source_field="site")
    assert plan.parameters == lookalike.find([], threshold=0.7).parameters
    assert plan.columns == ["id", "text", "date", "site"]
    assert (plan.options["bands"], plan.options["rows"]) == (
        plan.parameters["bands"],
        plan.parameters["rows"],
    )
    other = stages.plan(documents=1_000_000_000)
    assert {"num_hashes", "bands", "rows"} <= other.options.keys()


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"keep": "first"}, "field:COLUMN"),
        ({"keep": ["longest", "last"]}, "field:COLUMN"),
        ({"keep": ["newest"]}, "dates of files, and rows have none; .*field:COLUMN"),
        ({"keep": "oldest"}, "dates of files, and rows have none; .*field:COLUMN"),
        ({"decisions": "decided.jsonl"}, r"leave it out, or use lookalike\.find"),
        ({"decisions": []}, r"leave it out, or use lookalike\.find"),
        ({"drop": ["d1"]}, r"leave it out, or use lookalike\.dedup"),
        ({"estimates": True}, r"leave it out, or use lookalike\.find"),
        ({"id": None}, "id: expected the name of a column .*a hash of the columns that differ"),
        ({"id": False}, "id: expected the name of a column .*a hash of the columns that differ"),
        ({"id": ["a", "b"]}, "id: expected the name of a column"),
        ({"text": ["title", "body"]}, "text: expected the name of a column"),
        ({"keep": 5}, "keep"),
        ({"keep": [["longest"]]}, "keep"),
        ({"bands": "auto"}, "documents=N"),
        ({"memory": "1GiB"}, "leave it out"),
        ({"format": "jsonl"}, "leave it out"),
        ({"text": "node"}, "rename"),
        ({"keep": "field:check"}, "rename"),
        ({"text": "Node"}, "rename"),
        ({"keep": "field:lookalike_part"}, "rename"),
        ({"treshold": 0.8}, "threshold"),
        ({"threshold": 2.0}, "threshold"),
    ],
)
def test_plan_rejects_unsupported_options(options: dict[str, Any], remedy: str) -> None:
    with pytest.raises(OptionError, match=remedy):
        stages.plan(**options)


def test_another_version_is_refused() -> None:
    import dataclasses

    plan = dataclasses.replace(stages.plan(), version="0.0.1")
    with pytest.raises(OptionError, match=r"driver has 0\.0\.1"):
        list(stages.keys(plan, [], 1))


def test_repeated_ids_are_noted_and_rejected() -> None:
    texts = ("one two three four five six", "seven eight nine ten eleven twelve")
    plan = stages.plan()
    table = pa.table({"id": ["x", "x"], "text": list(texts)})
    table = table.append_column("node", stages.nodes(plan, table))
    connected = pa.Table.from_batches(
        list(stages.connect(stages.keys(plan, table.to_batches(), 1), 1))
    )
    assert (
        len(
            [
                note
                for note in connected["note"].to_pylist()
                if note is not None and "repeated" in note
            ]
        )
        == 1
    )
    # Both documents are in one component, where the repeated id is found.
    with pytest.raises(DocumentError, match='the id "x" is already used in row 0'):
        divided([{"id": "x", "text": text, "date": None, "site": ""} for text in texts])


@pytest.mark.parametrize("bits", [0, 8, 16])
def test_colliding_nodes_preserve_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bits: int
) -> None:
    original = stages.nodes

    def cut(*arguments: Any, **options: Any) -> Any:
        nodes = original(*arguments, **options)
        return pa.chunked_array(
            [[node >> (64 - bits) << (64 - bits) if bits else 7 for node in nodes.to_pylist()]],
            pa.int64(),
        )

    monkeypatch.setattr(stages, "nodes", cut)
    rows = corpus(400)
    for side in (None, rows[330:]):
        plan, decided, _ = divided(rows[:330], side, threshold=0.5)
        lookalike.find(rows[:330], reference=side, threshold=0.5).write(tmp_path / "groups.csv")
        assert lines(plan, decided) == (tmp_path / "groups.csv").read_bytes()


def test_changed_documents_are_named() -> None:
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


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_rows_without_ids_fail_or_skip(kind: Any) -> None:
    table = pa.table(
        {"id": pa.array(["a", "", "b", None, ""]).cast(kind), "text": ["one two three"] * 5}
    )
    for rows, problem in (
        (table.slice(1), 'the id, the column "id", is empty'),
        (table.slice(2), 'the column "id" is null'),
    ):
        with pytest.raises(DocumentError, match=f"{problem} in this row; .*skip_bad=True"):
            stages.nodes(stages.plan(), rows.slice(0, 2))
        with pytest.raises(DocumentError, match=f"{problem} in this row; .*skip_bad=True"):
            list(
                stages.keys(
                    stages.plan(),
                    rows.append_column("node", [range(rows.num_rows)]).slice(0, 2).to_batches(),
                    1,
                )
            )
    plan = stages.plan(skip_bad=True)
    table = table.append_column("node", stages.nodes(plan, table))
    sums, notes = (
        RunSums(),
        pa.Table.from_batches(stages.keys(plan, table.to_batches(2), 2))["note"]
        .drop_null()
        .to_pylist(),
    )
    sums.add_notes(notes)
    assert sums.counts["documents"] == 2 and sums.counts["skipped"] == 3
    sums.check_rows(5, sum(node % NODE_SUM_RANGE for node in table["node"].to_pylist()))
    reasons = [json.loads(note)["skipped"] for note in notes if "reason" in note]
    assert (
        sorted(map(str, reasons)).count("{'id': None, 'reason': 'the id is empty'}") == 2
        and len(reasons) == 3
    )


@pytest.mark.parametrize("ids", [pa.array([7, None]), pa.nulls(2), pa.nulls(0)])
def test_null_id_columns_skip_their_rows(ids: Any) -> None:
    plan = stages.plan(skip_bad=True)
    table = pa.table({"id": ids, "text": ["one two three"] * len(ids)})
    table = table.append_column("node", stages.nodes(plan, table))
    sums = RunSums()
    sums.add_notes(
        pa.Table.from_batches(stages.keys(plan, table.to_batches(), 2))["note"]
        .drop_null()
        .to_pylist()
    )
    assert (
        sums.counts["skipped"] == ids.null_count
        and sums.counts["documents"] == len(ids) - ids.null_count
    )


def test_damaged_blocks_are_refused() -> None:
    plan = stages.plan()
    table = pa.table({"id": ["a"], "text": ["a b c d e f"]})
    table = table.append_column("node", stages.nodes(plan, table))
    blocks = pa.Table.from_batches(list(stages.keys(plan, table.to_batches(), 1)))
    short = pa.array([rows and rows[:-1] for rows in blocks["rows"].to_pylist()], pa.binary())
    cut = blocks.set_column(2, "rows", short).to_batches()
    with pytest.raises(DamagedError, match="cut short"):
        list(stages.connect(cut, 1))


def test_unsorted_group_rows_are_errors() -> None:
    plan, decided, _ = divided(corpus(200), threshold=0.5)
    rows = pa.Table.from_batches(of_kind(decided, "member")).sort_by([("role", "ascending")])
    with pytest.raises(DocumentError, match="sort the rows"):
        stages.group_lines(plan, rows)


def test_unsorted_components_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unsorted rows would divide a component into several parts, each with a keeper."""
    monkeypatch.setattr(stages, "BATCH_BYTES", 1)
    rows = [
        {"id": f"d{number}", "text": "one two three four five six", "component": number % 2}
        for number in range(8)
    ]
    table = pa.Table.from_pylist([row | {"check": None} for row in rows])
    table = table.set_column(
        table.schema.get_field_index("check"), "check", pa.nulls(8, pa.int64())
    )
    plan = stages.plan()
    for size in (1, 2, 3, 8):
        with pytest.raises(DocumentError, match="sort them"):
            list(stages.decide(plan, table.to_batches(size)))
        decided = pa.Table.from_batches(
            list(stages.decide(plan, table.sort_by("component").to_batches(size)))
        )
        assert decided["role"].to_pylist().count("keeper") == 2


@pytest.mark.parametrize("components", [[None, 1, 1, 1], [1, 1, None, 1], [1, 1, 1, None]])
@pytest.mark.parametrize("size", [1, 4])
def test_rows_without_a_component_are_refused(components: list[int | None], size: int) -> None:
    rows = [
        {"id": f"d{number}", "text": "one two three four five six", "component": each}
        for number, each in enumerate(components)
    ]
    table = pa.Table.from_pylist(rows).append_column("check", pa.nulls(4, pa.int64()))
    with pytest.raises(DocumentError, match="no component"):
        list(stages.decide(stages.plan(), table.to_batches(size)))


def test_unsorted_slices_contain_whole_components(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []

    def decide(documents: Any, reference: Any, options: Any, checks: Any, rows: Any) -> Any:
        calls.append(len(checks))
        return engine(documents, reference, options, checks, rows)

    engine = _engine.decide
    monkeypatch.setattr(_engine, "decide", decide)
    rows = [
        {
            "id": f"d{number}",
            "text": f"{number % 5} two three four five six",
            "component": number % 5,
        }
        for number in range(40)
    ]
    table = pa.Table.from_pylist(rows).append_column("check", pa.nulls(40, pa.int64()))
    for slice_bytes, slices in ((1, [8] * 5), (250 * 2, [24, 16]), (1 << 40, [40])):
        calls.clear()
        chunked = pa.concat_tables([table.slice(at, 7) for at in range(0, 40, 7)])
        decided = pa.Table.from_batches(
            list(stages.decide_unsorted(stages.plan(), chunked, slice_bytes=slice_bytes))
        )
        assert calls == slices
        assert decided["role"].to_pylist().count("keeper") == 5
    assert list(stages.decide_unsorted(stages.plan(), table.slice(0, 0))) == []
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        other = table.set_column(1, "text", table["text"].cast(kind))
        calls.clear()
        found = pa.Table.from_batches(
            list(stages.decide_unsorted(stages.plan(), other, slice_bytes=250 * 2))
        )
        assert calls == [24, 16] and found["role"].to_pylist().count("keeper") == 5
    changed = table.set_column(3, "check", pa.array([None] * 39 + [1], pa.int64()))
    with pytest.raises(ChangedError, match="d39"):
        list(stages.decide_unsorted(stages.plan(), changed, slice_bytes=1))
    with pytest.raises(DocumentError, match="no component"):
        list(
            stages.decide_unsorted(
                stages.plan(), table.set_column(2, "component", pa.nulls(40, pa.int64()))
            )
        )
    with pytest.raises(OptionError, match="slice_bytes: expected 1 or more, got 0"):
        list(stages.decide_unsorted(stages.plan(), table, slice_bytes=0))
    with pytest.raises(DocumentError, match="negative"):
        engine(
            stages.documents_of(stages.plan(), table),
            None,
            {},
            pa.nulls(1, pa.int64()),
            (pa.array([-1]), pa.array([], pa.int64())),
        )
    with pytest.raises(DocumentError, match="below 40"):
        engine(
            stages.documents_of(stages.plan(), table),
            None,
            {},
            pa.nulls(1, pa.int64()),
            (pa.array([40]), pa.array([], pa.int64())),
        )


_NO_ENGINE = """
import sys
import lookalike.audit_stages
from lookalike import stages
import pyarrow as pa

plan = stages.plan()
table = pa.table({"id": ["a", "b"], "text": ["one two three four five six"] * 2})
table = table.append_column("node", stages.nodes(plan, table))
connected = list(stages.connect(stages.keys(plan, table.to_batches(), 1), 1))
assert any(batch.num_rows for batch in connected)
print([name for name in ("pyspark", "ray") if name in sys.modules])
"""


def test_the_stages_import_no_engine() -> None:
    done = subprocess.run([sys.executable, "-c", _NO_ENGINE], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_keeper_and_reference_may_share_id(tmp_path: Path) -> None:
    one, two = (" ".join(f"{letter}{n}" for n in range(20)) for letter in "xy")
    texts = {"a": f"{one} z", "b": one, "c": two}
    documents = [
        {"id": name, "text": text, "date": None, "site": ""} for name, text in texts.items()
    ]
    reference = [{"id": "a", "text": two, "date": None, "site": ""}]
    plan, decided, _ = divided(documents, reference, threshold=0.5)
    lookalike.find(documents, reference=reference, threshold=0.5).write(tmp_path / "groups.csv")
    assert lines(plan, decided) == (tmp_path / "groups.csv").read_bytes()


def test_combiner_flushes_preserve_results(tmp_path: Path) -> None:
    """Containment has a key for each shingle, so a task of 5,000 documents flushes its keys more
    than once."""
    draw = random.Random(8)
    words = [f"w{number}" for number in range(5_000)]
    rows = [
        {
            "id": f"d{number:05}",
            "text": " ".join(draw.choices(words, k=300)),
            "date": None,
            "site": "",
        }
        for number in range(5_000)
    ]
    for number in range(0, 5_000, 97):
        rows[number]["text"] = rows[(number * 7 + 1) % 5_000]["text"]
    options: dict[str, Any] = {"measure": "containment", "threshold": 0.9}
    plan, decided, _ = divided(rows, tasks=1, parts=3, **options)
    table = pa.Table.from_pylist(rows)
    table = table.append_column("node", stages.nodes(plan, table))
    counters = counted(plan, [table.to_batches()])
    blocks = [
        row
        for batch in stages.keys(plan, table.to_batches(500), 1, counters=counters)
        for row in batch.to_pylist()
    ]
    assert len([row for row in blocks if row["kind"] == "keys"]) > 1
    one = lookalike.find(rows, **options)
    assert one.counts["groups"] >= 40
    one.write(tmp_path / "groups.csv")
    assert lines(plan, decided) == (tmp_path / "groups.csv").read_bytes()


def in_rounds(plan: stages.Plan, table: Any, most: int) -> set[tuple[str, str, bool, int]]:
    """Finds duplicates in rounds, with their keepers and ranks. In each round, the first `most`
    undecided documents of the keep order are decided among themselves, and all others are compared
    with their keepers."""
    plan = dataclasses.replace(plan, options={**plan.options, "pairs": False})
    order = (
        pa.Table.from_batches(list(stages.places(plan, table.to_batches(37))))
        .sort_by("place")
        .to_pylist()
    )
    rows = {
        (row["id"], row["reference"]): number
        for number, row in enumerate(table.select(["id", "reference"]).to_pylist())
    }
    undecided = [(row["id"], row["reference"]) for row in order]
    dropped: list[tuple[str, bool]] = []
    best: dict[str, tuple[int, bool, int, bool, str]] = {}
    decided: set[tuple[str, str, bool, int]] = set()
    number = 0
    while undecided:
        prefix, undecided = undecided[:most], undecided[most:]
        present = table.take(pa.array([rows[key] for key in prefix]))
        present = present.append_column("component", pa.array([0] * len(prefix), pa.int64()))
        found = pa.Table.from_batches(list(stages.decide(plan, present.to_batches())))
        members = [
            row
            for row in found.to_pylist()
            if row["kind"] == "member" and row["role"] == "duplicate"
        ]
        decided |= {(row["id"], row["keeper"], row["reference"], row["rank"]) for row in members}
        removed = {row["id"] for row in members}
        kept = [key for key in prefix if key[1] or key[0] not in removed]
        others = [key for key in [*undecided, *dropped] if not key[1]]
        matched: set[str] = set()
        if others:
            documents, keepers = (
                table.take(pa.array([rows[key] for key in keys])) for keys in (others, kept)
            )
            for batch in stages.match(plan, documents, keepers):
                for row in batch.to_pylist():
                    if row["kind"] == "member":
                        matched.add(row["id"])
                        is_equal = row["intersection"] == row["left"] == row["right"]
                        new = (row["rank"], is_equal, -number, row["reference"], row["keeper"])
                        best[row["id"]] = max(new, best.get(row["id"], new))
        dropped += [key for key in undecided if not key[1] and key[0] in matched]
        undecided = [key for key in undecided if key[1] or key[0] not in matched]
        number += 1
    return decided | {
        (id, keeper, reference, rank) for id, (rank, _, _, reference, keeper) in best.items()
    }


def dense(kind: str, documents: int, seed: int) -> list[dict[str, Any]]:
    """Returns documents of one large component."""
    draw = random.Random(seed)
    words = [f"w{number}" for number in range(600)]
    text, rows = draw.choices(words, k=40), []
    for number in range(documents):
        if kind == "chain":
            text = text[1:] + draw.choices(words, k=1)
        own = text[: draw.randrange(30, 41)]
        for _ in range(draw.choice([0, 0, 1, 2, 4])):
            own[draw.randrange(len(own))] = draw.choice(words)
        date = draw.choice(["2024", "2025", None])
        rows.append(
            {
                "id": f"{kind}{draw.randrange(10**6):06}-{number}",
                "text": " ".join(own),
                "date": date,
                "site": "s",
            }
        )
    return rows


@pytest.mark.parametrize("most", [1, 7, 40, 1000])
@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0.6, "shingle": "words:2"},
        {"threshold": 0.5, "shingle": "words:2", "keep": ["field:date", "shortest"]},
        {"threshold": 0.5, "shingle": "words:3", "exact": True},
        {"threshold": 0.8, "shingle": "words:2", "measure": "containment"},
    ],
)
def test_rounds_find_groups_of_one_run(options: dict[str, Any], most: int) -> None:
    for seed, kind in enumerate(["chain", "template", "chain", "template"]):
        rows = dense(kind, 120 if most > 1 else 40, seed)
        references = rows[:20] if seed > 1 else []
        plan = stages.plan(**options)
        sides = [(rows[len(references) :], False), (references, True)]
        tables = []
        for side, is_reference in sides:
            table = pa.Table.from_pylist(
                side, schema=pa.schema([(n, pa.string()) for n in ("id", "text", "date", "site")])
            )
            table = table.append_column("node", stages.nodes(plan, table, reference=is_reference))
            tables.append(
                table.append_column("reference", pa.array([is_reference] * len(side), pa.bool_()))
            )
        table = pa.concat_tables(tables)
        table = table.append_column("check", checks(plan, table))
        one = lookalike.find(sides[0][0], reference=references or None, **options)
        expected = {(member.id, group.keeper) for group in one for member in group.duplicates}
        found = in_rounds(plan, table, most)
        assert {(id, keeper) for id, keeper, _, _ in found} == expected and len(expected) > 10
        assert all(
            is_reference == (keeper in {row["id"] for row in references})
            for _, keeper, is_reference, _ in found
        )


def checks(plan: stages.Plan, table: Any) -> Any:
    """Returns the checks of documents, in the order of the documents."""
    counters = counted(plan, [table.to_batches()]) if plan.is_counted else None
    blocks = list(stages.keys(plan, table.to_batches(), 1, counters=counters))
    connected = stages.connect(blocks, 1, probed=plan.is_probed)
    found = {}
    for row in (
        pa.Table.from_batches(list(connected))
        .filter(pa.compute.field("kind") == "identities")["rows"]
        .to_pylist()
    ):
        memberships, edges, identities = struct.unpack_from("<III", row, 4)
        assert (memberships, edges) == (0, 0)
        for node, check, _ in struct.iter_unpack("<qqq", row[16:]):
            found[node] = check
        assert len(found) == identities
    return pa.array([found[node] for node in table["node"].to_pylist()], pa.int64())


@pytest.mark.parametrize(
    ("documents", "threshold", "chosen"),
    [
        (10**6, 0.8, (128, 21, 6)),
        (10**9, 0.8, (288, 32, 9)),
        (10**10, 0.8, (288, 32, 9)),
        (10**11, 0.8, (416, 41, 10)),
        (10**11, 0.95, (128, 8, 16)),
        (10**9, 0.5, (512, 128, 4)),
    ],
)
def test_bands_are_chosen_for_the_documents(
    documents: int, threshold: float, chosen: tuple[int, int, int]
) -> None:
    """The bands keep the number of accidental candidates low: 10^11 * 41 * 0.05^10 < 1, while
    10^11 * 32 * 0.05^9 > 1."""
    is_too_many = (documents, threshold) == (10**9, 0.5)
    with (
        pytest.warns(UserWarning, match="about 800,000 candidates by accident")
        if is_too_many
        else contextlib.nullcontext()
    ):
        parameters = stages.plan(threshold=threshold, documents=documents).parameters
    assert tuple(parameters[name] for name in ("num_hashes", "bands", "rows")) == chosen


def test_plan_warnings_name_the_caller() -> None:
    """The warning names the caller's line even if several functions of the package are between, as
    in ``lookalike.spark``."""
    inner: dict[str, Any] = {"__name__": "lookalike.spark._find"}
    exec(
        "def outer(plan): return inner(plan)\ndef inner(plan): return plan(threshold=0.5, "
        "documents=10**9)",
        inner,
    )
    for plan in (stages.plan, lambda **_: inner["outer"](stages.plan)):
        with pytest.warns(UserWarning, match="candidates by accident") as caught:
            plan(threshold=0.5, documents=10**9)
        assert caught[0].filename == __file__


def test_plan_parameters_reproduce_on_one_machine() -> None:
    rows = corpus(150)
    parameters = stages.plan(threshold=0.7, documents=10**11).parameters
    options = {name: parameters[name] for name in ("num_hashes", "bands", "rows")}
    assert stages.plan(threshold=0.7, **options).parameters == parameters
    assert lookalike.find(rows, threshold=0.7, **options).parameters == parameters


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"bands": 20, "rows": 5}, "leave out documents or bands"),
        ({"num_hashes": 64}, "leave out documents or num_hashes"),
        ({"exact": True}, "leave it out"),
        ({"measure": "containment"}, "leave it out"),
        ({"documents": 0}, "documents"),
    ],
)
def test_documents_and_bands_exclude_each_other(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        stages.plan(**{"documents": 10**6, **options})


def test_decide_yields_bounded_batches() -> None:
    rows = [
        {"id": f"d{number:03}", "text": "one two three four five six seven"}
        for number in range(400)
    ]
    batch = pa.Table.from_pylist([row | {"component": 1, "check": None} for row in rows])
    batch = batch.set_column(
        batch.schema.get_field_index("check"), "check", pa.nulls(400, pa.int64())
    )
    decided = list(stages.decide(stages.plan(pairs=True), batch.to_batches()))
    kinds = [kind for each in decided for kind in each.column("kind").to_pylist()]
    assert (kinds.count("member"), kinds.count("pair")) == (400, 400 * 399 // 2)
    assert len(decided) == 2 and max(each.num_rows for each in decided) == 1 << 16
    # The iterator can be closed early; the other batches are never created.
    first = stages.decide(stages.plan(pairs=True), batch.to_batches())
    assert next(first).num_rows == 1 << 16
    first.close()


_PAIRS_OF_COPIES = """
import sys
import pyarrow as pa
from lookalike import stages

def peak():
    # Not that of resource.getrusage, which begins with the peak of the parent.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

copies = int(sys.argv[1])
documents = pa.table({
    "id": [f"d{number:06}" for number in range(copies)], "text": ["one two three four five six seven"] * copies,
    "component": [1] * copies, "check": pa.nulls(copies, pa.int64()),
})
before = peak()
rows = sum(batch.num_rows for batch in stages.decide(stages.plan(pairs=True), documents.to_batches()))
# Pairs, members, and a note each of the counts and of the source.
assert rows == copies * (copies - 1) // 2 + copies + 2, rows
after = peak()
print(before, after)
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="the memory of a process is measured as on Linux"
)
def test_pairs_of_copies_take_little_memory() -> None:
    """All rows of 3,000 copies at once would take 600 MB. The process may use 512 MiB, also for the
    50 million pairs of 10,000 copies in soak tests."""
    copies = 10_000 if "LOOKALIKE_SOAK" in os.environ else 3_000
    done = subprocess.run(
        [sys.executable, "-c", _PAIRS_OF_COPIES, str(copies)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, after = (int(number) << 10 for number in done.stdout.split())
    assert after < 512 << 20 and after - before < 200 << 20, (before, after)
