"""``unit=`` compares parts of documents in memory, such as paragraphs, as documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import DocumentError, OptionError

SHARED = "A paragraph of several words which more than one document has."
DOCS = [
    f"The first document begins like this.\n\n{SHARED}\n",
    f"{SHARED.upper()}\n\nAnd this one goes on — in another way.",
    "Nothing of it is anywhere else.",
    f"{SHARED}\n\n  \n",
]
UNITS = ("parent", "start", "end", "start_char", "end_char")


def test_tables_have_the_ranges() -> None:
    found = lookalike.find(DOCS, unit="paragraph", keep="first", pairs=True)
    assert found.groups["id"] == ["0#2", "1#1", "3#1"] and found.groups["parent"] == [0, 1, 3]
    assert found.groups["row"] == [0, 1, 3] and found.groups["keeper_row"] == [0, 0, 0]
    assert found.groups.column_names == [
        "group",
        "id",
        "role",
        "keeper",
        "jaccard",
        *UNITS,
        "row",
        "keeper_row",
    ]
    parts = zip(*(found.groups[name] for name in ("row", "start_char", "end_char")), strict=True)
    assert [DOCS[row][start:end].strip().lower() for row, start, end in parts] == [
        SHARED.lower()
    ] * 3
    assert [name for name in found.pairs.column_names if name.startswith("parent")] == [
        "parent_a",
        "parent_b",
    ]
    assert sorted(found.pairs["parent_b"]) == [1, 3, 3]
    assert [(group.keeper, len(group)) for group in found] == [("0#2", 3)]
    assert found.text("1#2") == found.text(id="1#2") == "And this one goes on — in another way."
    with pytest.raises(OptionError, match="a row may have several units"):
        found.text(1)
    for name in ("is_kept", "labels"):
        with pytest.raises(OptionError, match=f"{name} is for whole documents"):
            getattr(found, name)
    assert lookalike.audit(found, sample=10).recall == 1.0


def test_document_tables_omit_unit_ranges() -> None:
    found = lookalike.find(DOCS, pairs=True)
    assert not set(UNITS) & set(found.groups.column_names)
    assert lookalike.find(DOCS, unit="document").groups.column_names == found.groups.column_names


def test_units_keep_row_order_and_ids() -> None:
    many = [f"Line number {n} is here only.\n{SHARED}" for n in range(120)]
    found = lookalike.find(many, unit="line", shingle="words:3")
    assert found.groups["keeper"][0] == "0#2" and found.groups["id"][100] == "100#2"
    assert found.text("7#2") == SHARED
    documents = dict(zip(["x#1", "007", "0"], DOCS))
    ids = lookalike.find(documents, unit="paragraph", keep="first").groups
    assert ids["id"] == ["x#1#2", "007#1"] and ids["parent"] == ["x#1", "007"]
    numbers = lookalike.find(
        [(2**40, DOCS[0]), (-5, DOCS[1])], unit="paragraph", keep="first"
    ).groups
    assert numbers["id"] == [f"{2**40}#2", "-5#1"] and numbers["parent"] == [2**40, -5]


def test_units_go_from_the_texts() -> None:
    expected = [DOCS[0], "And this one goes on — in another way.", DOCS[2]]
    assert lookalike.dedup(DOCS, unit="paragraph", keep="first") == expected
    frame = pytest.importorskip("pandas").DataFrame({"text": DOCS, "n": range(4)})
    kept = lookalike.dedup(frame, unit="paragraph", keep="first")
    assert kept["text"].tolist() == expected and kept["n"].tolist() == [0, 1, 2]
    with pytest.raises(OptionError, match="text names several columns"):
        lookalike.dedup(frame.assign(title="x"), text=["title", "text"], unit="line")


def test_unit_dedup_of_files_equals_memory(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text(
        "".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(DOCS))
    )
    for unit in ("line", "paragraph", "sentence"):
        options: Any = {"unit": unit, "keep": "first"}
        lookalike.dedup_files(path, output=out, **options)
        remaining = {
            row["id"]: row["text"] for row in map(json.loads, out.read_text().splitlines())
        }
        assert (
            lookalike.dedup({f"d{n}": text for n, text in enumerate(DOCS)}, **options) == remaining
        )
        in_files = lookalike.find_files(path, **options).groups
        in_memory = lookalike.find({f"d{n}": text for n, text in enumerate(DOCS)}, **options).groups
        assert [in_files[name] for name in in_files.column_names] == [
            in_memory[name] for name in in_files.column_names
        ]


def test_references_and_bad_rows() -> None:
    kept = lookalike.dedup([None, *DOCS], unit="paragraph", reference=[SHARED], skip_bad=True)
    assert kept == [
        "The first document begins like this.\n\n",
        "And this one goes on — in another way.",
        DOCS[2],
    ]
    found = lookalike.find([None, *DOCS], unit="paragraph", reference=[SHARED], skip_bad=True)
    assert set(found.groups["row"]) == {None, 1, 2, 4}
    with pytest.raises(DocumentError, match="row 2: the id .a#1. is already used in row 0"):
        lookalike.find([("a", DOCS[0]), ("b", DOCS[1]), ("a", DOCS[2])], unit="line")
    assert lookalike.dedup(["", "?!", SHARED], unit="line") == ["", "?!", SHARED]


def test_other_functions_take_units() -> None:
    rows = lookalike.prepare(
        [("a", DOCS[0]), ("b", DOCS[1]), ("a", DOCS[2])], unit="paragraph", skip_bad=True
    )
    assert rows["id"] == ["a#1", "a#2", "b#1", "b#2"] and rows.skipped["row"] == [2]
    assert rows["fingerprint"][1] == rows["fingerprint"][2]
    assert lookalike.prepare(DOCS, unit="line")["id"][:2] == ["0#1", "0#2"]
    assert lookalike.tune(DOCS, unit="sentence").sampled > 4
    report = lookalike.passages(DOCS, unit="paragraph", min_words=3)
    assert report.places["id"] == ["0#2", "1#1", "3#1"]
