"""User decisions in find, dedup and audit, given as a file, an index or a list."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import FileError, LookalikeError, OptionError

DOCS = {
    "a": "the council decided to close the old bridge for all of winter",
    "b": "The council decided to close the old bridge for all of winter!",
    "c": "the council decided to close the old bridge for all of summer",
    "d": "a text about the harvest of apples, which was late this year",
    "e": "another one about the late harvest of apples and of pears",
}
DECISIONS: list[dict[str, Any]] = [
    {"decision": "not_duplicate", "documents": ["a", "c"], "who": "ann"},
    {"decision": "duplicate", "documents": ["d", "e"], "who": "bob", "note": "the same harvest"},
    {"decision": "keep", "documents": ["b"], "when": datetime(2026, 1, 2, tzinfo=timezone.utc)},
    {"decision": "keep", "documents": ["nobody"]},
]
LINES = "".join(
    json.dumps({**one, **({"when": "2026-01-02"} if "when" in one else {})}) + "\n"
    for one in DECISIONS
)


def groups(found: lookalike.FindResult) -> list[tuple[str, list[str]]]:
    return sorted((group.keeper, [member.id for member in group.duplicates]) for group in found)


def test_every_form_of_decisions_is_applied(tmp_path: Path) -> None:
    path, folder = tmp_path / "decisions.jsonl", tmp_path / "index"
    path.write_text(LINES)
    with lookalike.Index.create(folder, threshold=0.6, store="texts") as index:
        index.add(DOCS)
    lookalike_cli("index", "decisions", str(folder), "--add", str(path))
    expected = [("b", ["a"]), ("d", ["e"])]
    plain = lookalike.find(DOCS, threshold=0.6, keep="first")
    assert groups(plain) == [("a", ["b", "c"])] and plain.decisions is None
    with lookalike.Index.open(folder, read_only=True) as index:
        for decisions in (
            path,
            str(path),
            folder,
            index,
            DECISIONS,
            tuple(DECISIONS),
            iter(DECISIONS),
        ):
            found = lookalike.find(DOCS, threshold=0.6, keep="first", decisions=decisions)
            assert groups(found) == expected, decisions
            counts = found.decisions
            assert counts is not None
            assert (counts.read, counts.in_force, counts.applied) == (4, 4, 3)
            assert counts.unapplied == [{"line": 4, "documents": ["nobody"], "reason": "unknown"}]
            assert counts.contradictions == [] and counts.asked_again == []
        # By default, an index applies its own decisions to its groups.
        assert groups(index.groups(keep="first")) == expected
        assert groups(index.groups(keep="first", decisions=False)) == [("a", ["b", "c"])]
        assert groups(index.groups(keep="first", decisions=path)) == expected
        kept = index.groups(keep="first", decisions=DECISIONS[2:3]).decisions
        assert kept is not None and kept.applied == 1


def lookalike_cli(*arguments: str) -> None:
    # The command installs signal handlers, so it runs in a separate process.
    subprocess.run([sys.executable, "-m", "lookalike", *arguments], check=True)


def test_decided_groups_match_command_line(tmp_path: Path) -> None:
    docs, path = tmp_path / "docs.jsonl", tmp_path / "decisions.jsonl"
    docs.write_text(
        "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in DOCS.items())
    )
    path.write_text(LINES)
    options: dict[str, Any] = {"threshold": 0.6, "keep": "first"}
    lookalike.find_files(docs, decisions=path, **options).write(tmp_path / "python.csv")
    lookalike_cli(
        "find",
        str(docs),
        "--threshold",
        "0.6",
        "--keep",
        "first",
        "--decisions",
        str(path),
        "-q",
        "-o",
        str(tmp_path / "command.csv"),
    )
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "command.csv").read_bytes()


def test_dedup_obeys_decisions(tmp_path: Path) -> None:
    kept = lookalike.dedup(DOCS, threshold=0.6, keep="first", decisions=DECISIONS)
    assert list(kept) == ["b", "c", "d"]
    marked = {
        key: decision
        for (key, _), decision in lookalike.dedup(
            DOCS, threshold=0.6, keep="first", decisions=DECISIONS, annotate=True
        )
    }
    assert marked["a"]["reason"] == "decision" and marked["a"]["group_size"] is None
    assert {
        key: decision["group_size"] for key, decision in marked.items() if decision["kept"]
    } == {
        "b": 2,
        "c": 1,
        "d": 2,
    }
    docs = tmp_path / "docs.jsonl"
    docs.write_text(
        "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in DOCS.items())
    )
    written = lookalike.dedup_files(
        docs, output=tmp_path / "kept.jsonl", threshold=0.6, keep="first", decisions=DECISIONS
    )
    assert written.kept == 3 and written.decisions is not None and written.decisions.applied == 3
    assert [
        json.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()
    ] == ["b", "c", "d"]
    with pytest.raises(OptionError, match="cut has no option 'decisions'"):
        lookalike.cut(DOCS, decisions=DECISIONS)  # type: ignore[call-overload]


def test_audit_ignores_pairs_decided_as_different(tmp_path: Path) -> None:
    decisions = [{"decision": "not_duplicate", "documents": ["a", "b"]}]
    docs = {"a": DOCS["a"], "b": DOCS["b"], "d": DOCS["d"], "f": DOCS["d"].upper()}
    found = lookalike.find(docs, decisions=decisions)
    assert lookalike.audit(found).recall == 1.0
    report = tmp_path / "run.json"
    found.write_report(report)
    missed = lookalike.audit(report, docs)
    assert missed.recall == 0.5
    assert lookalike.audit(report, docs, decisions=decisions).recall == 1.0
    with pytest.raises(OptionError, match="decisions belongs to a report"):
        lookalike.audit(found, decisions=decisions)


def test_stale_and_contradictory_decisions_are_listed() -> None:
    """A decision is asked again if a text has changed since. Contradictory decisions are listed."""
    decisions: list[dict[str, Any]] = [
        {
            "decision": "not_duplicate",
            "documents": ["a", "b"],
            "contents": ["0" * 64, None],
            "who": "ann",
        },
        {"decision": "duplicate", "documents": ["d", "e"], "who": "ann"},
        {"decision": "not_duplicate", "documents": ["e", "d"], "who": "bob"},
    ]
    counts = lookalike.find(DOCS, decisions=decisions).decisions
    assert counts is not None
    assert (counts.read, counts.in_force, counts.applied) == (3, 2, 1)
    assert counts.asked_again == [{"line": 1, "documents": ["a", "b"], "reason": "changed"}]
    assert counts.contradictions == [
        {"lines": [2, 3], "documents": ["d", "e"], "kind": "two_people"}
    ]


def test_ids_are_rows_and_numbers_too() -> None:
    """A decision can name documents by their row numbers."""
    texts = list(DOCS.values())
    found = lookalike.find(texts, keep="first", decisions=[{"decision": "keep", "documents": [1]}])
    assert [(group.keeper, group.duplicates[0].id) for group in found] == [(1, 0)]


def test_invalid_decisions_are_refused(tmp_path: Path) -> None:
    cases: list[tuple[Any, str]] = [
        ({"decision": "keep", "documents": ["a"]}, "decisions: expected the path"),
        (7, "decisions: expected the path"),
        (b"{}", "decisions: expected the path"),
        (["keep"], "decisions, line 1: expected a dict"),
        (
            [{"decision": "keep", "documents": ["a"]}, {"decision": "maybe", "documents": ["a"]}],
            "line 2",
        ),
        ([{"decision": "keep", "documents": ["a", "b"]}], "line 1"),
        ([{"decision": "keep", "documents": {"a"}}], "decisions, line 1: .*set"),
        ([{"decision": "keep", "documents": ["\ud800"]}], "decisions, line 1: .*surrogates"),
        ([{"decision": "keep"}], "documents"),
        ("", "decisions: expected the name"),
    ]
    for decisions, message in cases:
        with pytest.raises(OptionError, match=message):
            lookalike.find(DOCS, decisions=decisions)
    with pytest.raises(FileError, match="nothing-there"):
        lookalike.find(DOCS, decisions=tmp_path / "nothing-there.jsonl")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"decision":"keep","documents":["a"]}\nnonsense\n')
    with pytest.raises(LookalikeError, match="bad.jsonl.*2"):
        lookalike.find(DOCS, decisions=bad)
    assert lookalike.find(DOCS, decisions=None).decisions is None
    empty = lookalike.find(DOCS, decisions=[]).decisions
    assert empty is not None and empty.read == 0


def test_decisions_use_unpadded_row_numbers(tmp_path: Path) -> None:
    """The engine pads row numbers with zeros. Decisions and results use unpadded numbers."""
    docs = [
        DOCS["a"],
        DOCS["b"],
        *(f"page {n} has words w{n} of its own" for n in range(9)),
        DOCS["d"],
        DOCS["e"],
    ]
    decisions: list[dict[str, Any]] = [
        {"decision": "not_duplicate", "documents": [1, 0]},
        {"decision": "duplicate", "documents": ["11", 12]},
        {"decision": "keep", "documents": [99]},
        {"decision": "keep", "documents": [0]},
        {"decision": "keep", "documents": [2]},
        {"decision": "duplicate", "documents": [0, 2]},
    ]
    found = lookalike.find(docs, decisions=decisions, keep="first")
    assert [(group.keeper, [member.id for member in group.duplicates]) for group in found] == [
        (11, [12])
    ]
    counts = found.decisions
    assert counts is not None and counts.unapplied == [
        {"line": 3, "documents": ["99"], "reason": "unknown"}
    ]
    assert [pair["documents"] for pair in counts.contradictions] == [["0", "2"]]
    assert "people decided that they are not duplicates" in found.explain(0, 1).reason
    assert "people decided that they are duplicates" in found.explain(11, 12).reason
    report = tmp_path / "run.json"
    found.write_report(report)
    assert lookalike.audit(report, docs).recall == 0.0
    assert lookalike.audit(report, docs, decisions=decisions).recall is None, (
        "no pair is left to find"
    )
    units = [
        "one line of a text that is here\nshared line of words",
        "shared line of words",
        *docs[2:],
    ]
    unit = lookalike.find(
        units, unit="line", decisions=[{"decision": "not_duplicate", "documents": ["0#2", "1#1"]}]
    )
    assert unit.decisions is not None and unit.decisions.applied == 1 and len(unit) == 0
