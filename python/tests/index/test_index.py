"""An index from Python: stored documents, queries, and errors."""

from __future__ import annotations

import copy
import doctest
import enum
import itertools
import json
import multiprocessing
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import UserDict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE, NativeCode, wait_until

import lookalike
from lookalike import Index, Match
from lookalike._index import index as index_module
from lookalike.errors import (
    DamagedError,
    DocumentError,
    DocumentTypeError,
    FileError,
    LookalikeError,
    MismatchError,
    OptionError,
    StoreError,
)

FOX = "the quick brown fox jumps over the lazy dog in the green park today"
FOX_NOW = "the quick brown fox jumps over the lazy dog in the green park now"
WEATHER = "an entirely different text about the weather in the north of the country"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "news"


@pytest.fixture
def index(folder: Path) -> Iterator[Index]:
    with Index.create(folder, threshold=0.5, store="texts") as index:
        yield index


def texts(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Returns texts with ids. Every fourth text is an earlier one with a changed word."""
    draw = random.Random(seed)
    words = [f"w{number}" for number in range(2000)]
    made: list[list[str]] = []
    for number in range(count):
        if number % 4 == 3:
            changed = list(draw.choice(made))
            changed[draw.randrange(len(changed))] = "changed"
            made.append(changed)
        else:
            made.append(draw.choices(words, k=60))
    return [(f"d{number}", " ".join(text)) for number, text in enumerate(made)]


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return {tuple(words[at : at + 5]) for at in range(max(1, len(words) - 4))}


def jaccard(a: str, b: str) -> float:
    left, right = shingles(a), shingles(b)
    return len(left & right) / len(left | right)


# Stored documents and queries


def test_added_documents_are_found(index: Index) -> None:
    assert index.add([("a", FOX), ("b", WEATHER)]) == (2, 0, 0, 0, [])
    matches = index.query(FOX_NOW)
    assert [match.id for match in matches] == ["a"]
    match = matches[0]
    assert match.similarity == pytest.approx(9 / 11)
    assert not match.estimated
    assert (match.shared, match.shingles, matches.shingles) == (9, 10, 10)
    assert match.containment_of_query == match.containment_of_match == pytest.approx(0.9)
    assert match.bytes == len(FOX) and match.text is None
    assert index.query(FOX_NOW, with_texts=True)[0].text == FOX
    assert (matches.found, matches.threshold) == (1, 0.5)
    assert matches.candidates >= 1 and 0.98 < matches.predicted_recall <= 1
    assert isinstance(match, Match) and hash(match.id)


def test_similarities_equal_exact_jaccard(folder: Path) -> None:
    documents = texts(400)
    with Index.create(folder, threshold=0.5) as index:
        index.add(documents)
        text_by_id = dict(documents)
        expected = found = 0
        for _id, text in documents[:100]:
            similar = {b: jaccard(text, other) for b, other in documents}
            similar = {b: value for b, value in similar.items() if value >= 0.5}
            matches = index.query(text, limit=None)
            for match in matches:
                assert match.similarity == pytest.approx(jaccard(text, text_by_id[match.id]))
            assert {match.id for match in matches} <= similar.keys()
            assert matches == sorted(matches, key=lambda m: (-m.similarity, m.id))
            expected += len(similar)
            found += len(matches)
        # Recall is far above the recall at the threshold, because most pairs differ in one of sixty
        # words.
        assert found >= 0.99 * expected > 100


def test_index_matches_command_line(program: str, folder: Path, tmp_path: Path) -> None:
    documents = texts(200)
    lines = tmp_path / "documents.jsonl"
    with lines.open("w") as out:
        for id, text in documents:
            out.write(json.dumps({"id": id, "text": text}) + "\n")
    with Index.create(folder) as index:
        index.add(documents)
        # Equal counts and sizes show that both store the same documents in the same form.
        own_stats = index.stats()
    command = [program, "index", "create", str(tmp_path / "theirs"), str(lines), "--quiet"]
    subprocess.run(command, check=True)
    with Index.open(tmp_path / "theirs", read_only=True) as other:
        cli_stats = other.stats()
        assert (own_stats.documents, own_stats.postings, own_stats.set_bytes) == (
            cli_stats.documents,
            cli_stats.postings,
            cli_stats.set_bytes,
        )
    query_command = [program, "query", str(folder), str(lines), "--json", "--top", "0"]
    answers = subprocess.run(query_command, check=True, capture_output=True, text=True).stdout
    with Index.open(folder, read_only=True) as index:
        for line, (id, text) in zip(answers.splitlines(), documents, strict=True):
            answer = json.loads(line)
            matches = index.query(text, limit=None)
            assert answer["document"] == id
            assert answer["candidates"] == matches.candidates
            assert [(m["id"], m["similarity"], m["shared"]) for m in answer["matches"]] == [
                (m.id, round(m.similarity, 6), m.shared) for m in matches
            ]


def test_documents_come_in_many_shapes(index: Index) -> None:
    assert index.add({"a": "one text"}).added == 1
    assert index.add([["b", "two texts"], ("c", "three texts", {"n": 3})]).added == 2
    assert index.add(pair for pair in [("d", "four texts")]).added == 1
    records = [{"id": "e", "text": "five texts", "n": 5, "more": None}]
    with pytest.warns(UserWarning, match="'?\"absent\"'?, which none of the 1 documents"):
        assert index.add(records, metadata=["n", "more", "absent"]).added == 1
    assert index.add([{"key": "f", "body": "six"}], id="key", text="body").added == 1
    assert list(index.ids()) == ["a", "b", "c", "d", "e", "f"]
    described = [index.get(id).metadata for id in "abcdef"]  # type: ignore[union-attr]
    assert described == [{}, {}, {"n": 3}, {}, {"n": 5}, {}]
    assert index.add([]) == (0, 0, 0, 0, [])


def test_tables_with_the_arrow_interface(index: Index) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table({"id": ["a", "b"], "text": [FOX, WEATHER], "year": [2024, None]})
    assert index.add(table, metadata=["year"]).added == 2
    assert index.get("a").metadata == {"year": 2024}  # type: ignore[union-attr]
    assert index.get("b").metadata == {}  # type: ignore[union-attr]
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert index.update(reader).updated == 2
    with pytest.raises(DocumentTypeError, match="no column 'body', expected one"):
        index.add(table, text="body")
    broken = pa.table({"id": ["c", "d"], "text": ["x", None]})
    with pytest.raises(DocumentTypeError, match="document 1: the text is None") as caught:
        index.add(broken)
    assert caught.value.row == 1 and "c" in index
    numbers = pa.table({"id": [1.5], "text": ["x"]})
    with pytest.raises(DocumentTypeError, match="document 0: the id is of type double"):
        index.add(numbers)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(index: Index, library: str) -> None:
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    frame = frames.DataFrame({"id": ["a", "b"], "text": [FOX, WEATHER], "year": [2023, 2024]})
    assert index.add(frame, metadata=["year"]).added == 2
    assert index.get("b").metadata == {"year": 2024}  # type: ignore[union-attr]


def test_index_names_missing_pandas_texts(index: Index) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"id": ["a", "b"], "text": [FOX, float("nan")]})
    with pytest.raises(DocumentTypeError, match="document 1: the text is None"):
        index.add(frame)


def test_relations_and_datasets(index: Index) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    relation = duckdb.sql("select 'a' as id, 'one text' as text")
    assert index.add(relation).added == 1
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    dataset = datasets.Dataset.from_dict({"id": ["b"], "text": ["two"], "n": [1]})
    assert index.add(dataset, metadata=["n"]).added == 1
    streamed = dataset.to_iterable_dataset()
    assert index.update(streamed).updated == 1


def test_existing_documents(index: Index) -> None:
    index.add({"a": FOX})
    with pytest.raises(DocumentError, match='document 1: .*"a" already exists') as caught:
        index.add([("b", FOX), ("a", WEATHER), ("c", FOX)])
    assert caught.value.row == 1
    assert list(index.ids()) == ["a", "b"], "what is before the row is stored"
    assert index.add({"a": WEATHER, "c": FOX}, on_existing="keep") == (1, 0, 1, 0, [])
    assert index.get("a").text == FOX  # type: ignore[union-attr]
    assert index.add({"a": WEATHER}, on_existing="update") == (0, 1, 0, 0, [])
    assert index.update({"a": "x y z", "d": ""}) == (1, 1, 0, 1, [])
    assert list(index.ids()) == ["b", "c", "a", "d"]
    assert index.remove(["a", "e", "a", "f"]) == (1, ["e", "f"])
    assert index.remove("b") == (1, [])
    assert index.remove([]) == (0, [])
    assert "a" not in index and "c" in index and len(index) == 2


def test_repeated_ids_fail_or_update(index: Index) -> None:
    with pytest.raises(DocumentError) as caught:
        index.add([("a", FOX), ("b", FOX), ("a", WEATHER)])
    assert caught.value.row == 2 and len(index) == 2
    assert index.update([("x", FOX), ("x", WEATHER)]) == (1, 1, 0, 0, [])
    assert index.get("x").text == WEATHER  # type: ignore[union-attr]


def test_rows_are_counted_over_batches(index: Index) -> None:
    many = [(f"d{number}", f"text number {number}") for number in range(10_000)]
    many[9_000] = ("d17", "again")
    with pytest.raises(DocumentError, match="document 9000") as caught:
        index.add(many)
    assert caught.value.row == 9_000 and len(index) == 9_000
    many[9_000] = ("d9000", None)  # type: ignore[assignment]
    with pytest.raises(DocumentTypeError, match="document 9000: the text is None") as caught:
        index.update(iter(many))
    assert caught.value.row == 9_000 and len(index) == 9_000


def test_index_iterable_errors_propagate(index: Index) -> None:
    def documents() -> Iterator[tuple[str, str]]:
        yield "a", FOX
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        index.add(documents())
    assert list(index.ids()) == ["a"]


def test_an_iterable_may_ask_the_index(index: Index) -> None:
    def new() -> Iterator[tuple[str, str]]:
        for id, text in [("a", FOX), ("b", FOX_NOW)]:
            if not index.query(text):
                yield id, text

    assert index.add(new()).added == 2, "they are written together, after both were asked for"


def test_metadata_round_trips(index: Index) -> None:
    metadata: dict[str, Any] = {
        "text": "ü\n\"'",
        "whole": -(2**63),
        "large": 2**64 - 1,
        "real": 0.1,
        "one": 1.0,
        "yes": True,
        "none": None,
        "list": [1, [2.5, {"x": []}], "y"],
        "object": {"": {}, "a.b": 1},
    }
    index.add([("a", FOX, metadata)], metadata={"common": 1, "yes": False})
    stored = index.get("a")
    assert stored is not None and stored.metadata == {"common": 1, **metadata}
    assert isinstance(stored.metadata["one"], float)
    assert index.query(FOX)[0].metadata == stored.metadata
    index.add_one("b", WEATHER, {"pair": (1, 2)})
    assert index.get("b").metadata == {"pair": [1, 2]}  # type: ignore[union-attr]


def test_times(index: Index) -> None:
    before = datetime.now(timezone.utc)
    modified = datetime(2020, 2, 29, 12, 30, 15, 123456, timezone(timedelta(hours=2)))
    far = datetime(2200, 1, 1, tzinfo=timezone.utc)
    index.add_one("a", FOX, modified=modified, expires=far)
    stored = index.get("a")
    assert stored is not None
    assert stored.modified == modified and stored.expires == far
    assert stored.modified.tzinfo is timezone.utc
    assert before - timedelta(milliseconds=1) <= stored.added <= datetime.now(timezone.utc)
    old = datetime(1901, 5, 6, 7, 8, 9, 10, timezone.utc)
    index.add_one("b", FOX, modified=old)
    assert index.get("b").modified == old  # type: ignore[union-attr]


def test_documents_expire(index: Index) -> None:
    index.add({"b": FOX})
    # Increases the lifetime until a query finds the document before it expires.
    for seconds in (1, 4, 16, 64):
        begun = datetime.now(timezone.utc)
        index.add({"a": FOX}, expires=timedelta(seconds=seconds), on_existing="update")
        matches = {match.id for match in index.query(FOX)}
        if datetime.now(timezone.utc) < begun + timedelta(seconds=seconds):
            break
    assert matches == {"a", "b"}
    expired = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    while datetime.now(timezone.utc) <= expired:
        time.sleep(0.01)
    assert [match.id for match in index.query(FOX)] == ["b"]
    assert index.get("a") is None and "a" not in index and list(index.ids()) == ["b"]
    assert len(index) == 2
    index.compact()
    assert len(index) == 1


def test_conditions(index: Index) -> None:
    when = datetime(2024, 5, 1, tzinfo=timezone.utc)
    index.add(
        [
            ("a", FOX, {"year": 2019, "by": {"name": "Ann"}, "tags": ["x"], "ok": True}),
            ("b", FOX, {"year": 2024, "by": {"name": "Bob"}, "time": when.isoformat()[:19] + "Z"}),
        ]
    )

    def found(where: Any) -> list[str]:
        return [match.id for match in index.query(FOX, where=where)]

    assert found(None) == ["a", "b"]
    assert found("year>=2020") == ["b"]
    assert found(["year>=2000", "by.name=Ann"]) == ["a"]
    assert found({"year": 2019}) == ["a"]
    assert found({"year": ("<=", 2019.5), "tags": "x"}) == ["a"]
    assert found({"by.name": ("~", "BO")}) == ["b"]
    assert found({"ok": True}) == ["a"]
    assert found({"year": ("!=", 2019)}) == ["b"]
    assert found("time") == ["b"]
    assert found({"time": (">=", when)}) == ["b"]
    assert found({"time": (">", when)}) == []
    assert found({}) == found([]) == ["a", "b"]


@pytest.mark.parametrize(
    "where",
    [
        5,
        b"year=1",
        "=x",
        [5],
        {"year": None},
        {"year": [1]},
        {"year": float("nan")},
        {"year": ("==", 1)},
        {"year": (">", 1, 2)},
        {"a=b": 1},
        {"": 1},
        {5: 1},
        {"time": datetime(2024, 1, 1)},
        {"year\ud800": 1},
        {"year": "\udfff"},
        "year=\ud800",
    ],
)
def test_wrong_conditions(index: Index, where: Any) -> None:
    with pytest.raises(OptionError, match="expected"):
        index.query(FOX, where=where)


def test_numbers_of_numpy(index: Index) -> None:
    numpy = pytest.importorskip("numpy")
    index.add([("a", FOX, {"year": 2019, "share": 0.5}), ("b", FOX, {"year": 2024, "share": 1.5})])
    two, half = numpy.int64(2), numpy.float32(0.5)
    assert len(index.query(FOX, threshold=half, limit=two)) == 2
    assert (
        index.query(FOX, where={"year": (">=", numpy.int64(2020)), "share": numpy.float64(1.5)})[
            0
        ].id
        == "b"
    )
    assert len(index.query_many([FOX, FOX], threads=two)) == 2
    year = enum.IntEnum("Year", {"NOW": 2024})
    language = enum.Enum("Language", {"EN": "en"}, type=str)
    index.add_one("c", FOX, metadata={"year": 2024, "language": "en"})
    assert [
        match.id for match in index.query(FOX, where={"year": year.NOW, "language": language.EN})
    ] == ["c"]
    for threshold in (numpy.array([1, 2]), numpy.True_):
        with pytest.raises(OptionError, match="expected"):
            index.query(FOX, threshold=threshold)
        with pytest.raises(OptionError, match="expected"):
            index.query(FOX, limit=threshold)
    with pytest.raises(OptionError, match="expected a str, a number"):
        index.query(FOX, where={"time": numpy.datetime64("2024-01-01", "ns")})


def test_large_integers_compare_exactly(index: Index) -> None:
    index.add(
        [
            (name, FOX, {"n": 1700000000000000001 + 99 * k, "code": "0" * k + "1234"})
            for k, name in enumerate("ab")
        ]
    )
    found = lambda where: [match.id for match in index.query(FOX, where=where)]  # noqa: E731
    assert found({"n": 1700000000000000001}) == ["a"]
    assert found({"n": (">", 1700000000000000001)}) == ["b"]
    assert found({"code": "1234"}) == ["a"] and found({"code": ("!=", "1234")}) == ["b"]


def test_nearest_ignores_the_threshold(folder: Path) -> None:
    documents = texts(400)
    with Index.create(folder, threshold=0.9) as index:
        index.add(documents)
        for id, text in documents[:20]:
            words = text.split()
            part = " ".join(words[: len(words) // 3])
            expected = sorted(((-jaccard(part, other), b) for b, other in documents))[:3]
            found = index.query(part, nearest=3)
            similar = [(b, -value) for value, b in expected if value < 0]
            assert [match.id for match in found] == [b for b, _ in similar]
            assert [match.similarity for match in found] == pytest.approx([s for _, s in similar])
            assert (found.found, found.threshold) == (len(similar), 0.0)
            assert found.predicted_recall >= 0.999
            assert index.query_many([part], nearest=3) == [found]
            assert id not in [match.id for match in index.query(id=id, nearest=2)]
        for bad in (0, -1, 2.5, True, "3"):
            with pytest.raises(OptionError, match="nearest is .* expected a whole number from 1"):
                index.query(FOX, nearest=bad)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="cannot combine nearest with limit or threshold"):
            index.query(FOX, nearest=3, threshold=0.5)
        with pytest.raises(OptionError, match="cannot combine nearest with limit or threshold"):
            index.query_many([FOX], nearest=3, limit=5)


def test_containment_index_finds_copied_texts(folder: Path) -> None:
    documents = texts(300)
    with Index.create(folder, measure="containment", threshold=0.6) as index:
        index.add(documents)
        assert index.settings["containment"] == {"anchors": 6}
        long = " ".join(text for _, text in documents[:8])
        found = {match.id: match for match in index.query(long, limit=None)}
        assert {id for id, _ in documents[:8]} <= set(found)
        for id, _ in documents[:8]:
            assert found[id].similarity == found[id].containment_of_match == 1.0
        index.add_one("long", long)
        assert index.query(documents[3][1])[0].similarity == 1.0
        assert "long" in [match.id for match in index.query(documents[3][1], limit=None)]
        with pytest.raises(OptionError, match="nearest"):
            index.query(long, nearest=3)
    with Index.open(folder, read_only=True, shingle="words:5") as index:
        assert index.settings["predicted_recall"] == pytest.approx(1 - 0.4**6)
    with pytest.raises(OptionError, match="store"):
        Index.create(folder.with_name("other"), measure="containment", store="signatures")


def test_limits_and_thresholds(index: Index) -> None:
    index.add((f"d{number:02}", FOX) for number in range(30))
    assert len(index.query(FOX)) == 10
    assert len(index.query(FOX, limit=None)) == index.query(FOX, limit=3).found == 30
    assert [match.id for match in index.query(FOX, limit=2)] == ["d00", "d01"]
    assert index.query(FOX_NOW, threshold=0.9) == []
    low = index.query(FOX_NOW, threshold=0.2)
    assert low.predicted_recall < index.query(FOX_NOW).predicted_recall
    for threshold in (0, 1.5, -1, float("nan"), float("inf")):
        with pytest.raises(OptionError, match="above 0 and at most 1"):
            index.query(FOX, threshold=threshold)
    for limit in (0, -1, 2.5, True, "3", 2**70):
        with pytest.raises(OptionError, match="limit is .* expected a whole number from 1"):
            index.query(FOX, limit=limit)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="threshold is '0.5'"):
        index.query(FOX, threshold="0.5")  # type: ignore[arg-type]


def test_a_document_does_not_find_itself(index: Index) -> None:
    index.add({"a": FOX, "b": FOX_NOW, "c": WEATHER})
    assert [match.id for match in index.query(id="a")] == ["b"]
    with pytest.raises(DocumentError, match='document "z" does not exist in'):
        index.query(id="z")
    with pytest.raises(OptionError, match="both a text and an id"):
        index.query(FOX, id="a")
    with pytest.raises(OptionError, match="neither"):
        index.query()


def test_many_questions_at_once(index: Index) -> None:
    documents = texts(500)
    index.add(documents)
    queries = [text for _, text in documents]
    one_by_one = [index.query(text, limit=3) for text in queries]
    for threads in (1, 3, None):
        together = index.query_many(queries, limit=3, threads=threads)
        assert together == one_by_one
        assert [m.candidates for m in together] == [m.candidates for m in one_by_one]
    assert index.query_many([]) == []
    assert index.query_many(iter(queries[:2]), with_texts=True)[0][0].text == queries[0]
    with pytest.raises(DocumentTypeError, match="text 1 is None, expected str"):
        index.query_many([FOX, None])  # type: ignore[list-item]
    with pytest.raises(OptionError, match="use query for a single text"):
        index.query_many("abc")
    with pytest.raises(DocumentTypeError, match="texts is 5"):
        index.query_many(5)  # type: ignore[arg-type]


def test_signature_matches_are_marked_estimated(folder: Path) -> None:
    with Index.create(folder, threshold=0.5, store="signatures") as index:
        index.add({"a": FOX})
        match = index.query(FOX)[0]
        assert match.estimated and match.similarity == 1.0
        assert match.shared is match.shingles is match.containment_of_query is None
        assert index.get("a").shingles is None  # type: ignore[union-attr]
        with pytest.raises(OptionError, match="keeps signatures"):
            index.query(FOX, with_texts=True)


def test_groups_are_independent_of_history(tmp_path: Path) -> None:
    documents = dict(texts(400))
    with Index.create(tmp_path / "fresh", threshold=0.7) as fresh:
        fresh.add(documents)
        found = fresh.groups()
        expected = list(found)
        found.write(tmp_path / "index.jsonl")
        lookalike.find(documents, threshold=0.7).write(tmp_path / "find.jsonl")
        written = (tmp_path / "index.jsonl").read_bytes()
        assert written == (tmp_path / "find.jsonl").read_bytes()
    draw = random.Random(5)
    with Index.create(tmp_path / "news", threshold=0.7) as index:
        index.add((id, text + " and more") for id, text in documents.items() if draw.random() < 0.5)
        index.add([("gone", documents["d0"]), ("gone too", documents["d0"])])
        index.update(documents)
        index.remove(["gone", "gone too"])
        assert list(index.groups()) == expected
        index.compact()
        assert list(index.groups(threads=1)) == expected
        exact = list(index.groups(exact=True))
        members = [group.keeper for group in expected]
        members += [duplicate.id for group in expected for duplicate in group.duplicates]
        assert len(members) == len(set(members)) > 100
        for group in exact:
            keeper = documents[group.keeper]
            for duplicate in group.duplicates:
                similarity = jaccard(keeper, documents[duplicate.id])
                assert similarity >= 0.7
                assert duplicate.similarity == pytest.approx(similarity, abs=1e-6)
        assert sum(len(group.duplicates) for group in exact) >= len(members) - len(expected)
        assert list(index.groups(threshold=1.0)) == []


def test_options_of_groups(index: Index) -> None:
    index.add([("a", FOX, {"n": 1}), ("b", FOX, {"n": 3}), ("c", FOX, {"n": 2}), ("d", WEATHER)])
    assert next(iter(index.groups(keep="first"))).keeper == "a"
    assert next(iter(index.groups(keep=["last"]))).keeper == "c"
    (group,) = index.groups(keep="field:n")
    assert group.keeper == "b" and [d.id for d in group.duplicates] == ["a", "c"]
    others = index.groups(measure="containment", group="components", memory="1GiB", pairs=True)
    assert len(others) == 1 and len(others.pairs) == 3
    assert others.counts["documents"] == 4
    cases: list[dict[str, Any]] = [
        {"threshold": 2},
        {"keep": "best"},
        {"keep": 5},
        {"group": "chains"},
        {"measure": "cosine"},
        {"exact": "yes"},
        {"memory": "much"},
        {"threads": 0},
        {"temp_dir": 5},
    ]
    for options in cases:
        with pytest.raises(OptionError):
            index.groups(**options)


def test_signature_indexes_have_no_groups(folder: Path) -> None:
    with Index.create(folder, store="signatures") as index:
        with pytest.raises(StoreError, match="keeps no shingle sets.*store sets"):
            index.groups()


# Opening, closing, maintenance


def test_settings_stay(folder: Path) -> None:
    chosen: dict[str, Any] = {
        "threshold": 0.7,
        "recall": 0.95,
        "shingle": "chars:7",
        "tokens": "whitespace",
        "case": "keep",
        "frequencies": True,
        "stop_words": "en",
        "normalize": "nfkc",
        "num_hashes": 64,
        "bands": 16,
        "rows": 4,
        "scheme": "xor",
        "seed": 2**64 - 1,
        "store": "texts",
    }
    with Index.create(folder, **chosen) as index:
        created = index.settings
    with Index.open(folder) as index:
        assert index.settings == created
    for name, value in chosen.items():
        if name != "normalize":
            assert created[name] == value, name
    assert created["wording"] == "nfkc" and 0.9 < created["predicted_recall"] < 1
    del chosen["threshold"], chosen["recall"]
    with Index.open(folder, **chosen, read_only=True) as index:
        assert index.read_only


def test_other_settings_are_refused_with_both(folder: Path) -> None:
    Index.create(folder).close()
    others: list[dict[str, Any]] = [
        {"shingle": "words:3"},
        {"case": "keep"},
        {"tokens": "whitespace"},
        {"frequencies": True},
        {"stop_words": "de"},
        {"normalize": "nfc"},
        {"normalize": "language:auto"},
        {"normalize": ["segment:dictionary"]},
        {"scheme": "xor"},
        {"seed": 5},
        {"rows": 1},
        {"store": "sets"},
    ]
    for other in others:
        with pytest.raises(MismatchError, match="was requested"):
            Index.open(folder, read_only=True, **other)
    with pytest.raises(MismatchError, match="shingle words:5, but words:3 was requested"):
        Index.open(folder, shingle="words:3")
    Index.open(folder, wait=0).close()


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("threshold", 0, "above 0"),
        ("threshold", float("nan"), "above 0"),
        ("threshold", "0.8", "expected a number"),
        ("threshold", True, "expected a number"),
        ("recall", 1.0, "below 1"),
        ("shingle", "words", "words:N"),
        ("shingle", "words:0", "256"),
        ("shingle", 5, "expected a str"),
        ("tokens", "letters", "whitespace"),
        ("case", "upper", "fold"),
        ("frequencies", "yes", "True or False"),
        ("stop_words", "xx", "two-letter"),
        ("normalize", "nfd", "nfc"),
        ("normalize", "language:en", "language:auto"),
        ("segment", "yes", "dictionary"),
        ("num_hashes", 0, "1 or more"),
        ("num_hashes", -5, "whole number"),
        ("num_hashes", 2.5, "whole number"),
        ("bands", 10**30, "whole number"),
        ("scheme", "md5", "fss"),
        ("seed", -1, "whole number"),
        ("store", "all", "signatures"),
    ],
)
def test_create_rejects_invalid_options(folder: Path, option: str, value: Any, text: str) -> None:
    with pytest.raises(OptionError, match=text):
        Index.create(folder, **{option: value})
    assert not folder.exists()


def test_unknown_options(folder: Path) -> None:
    with pytest.raises(OptionError, match="no option 'shingles'; did you mean 'shingle'"):
        Index.create(folder, shingles="words:5")  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="no option 'num_perm'; use num_hashes="):
        Index.open(folder, num_perm=128)  # type: ignore[call-arg]
    with Index.create(folder) as index:
        with pytest.raises(TypeError, match="top"):
            index.query(FOX, top=3)  # type: ignore[call-arg]
        with pytest.raises(OptionError, match='on_existing is "skip", expected'):
            index.add({"a": FOX}, on_existing="skip")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="on_existing is None"):
            index.add_one("a", FOX, on_existing=None)  # type: ignore[arg-type]
        for threads in (0, -1, 1.5, True):
            with pytest.raises(OptionError, match="threads is"):
                index.add({"a": FOX}, threads=threads)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="one of the two"):
        Index.create(folder, stop_words="en", normalize="language:auto")
    with pytest.raises(TypeError, match="Index.create"):
        Index()
    with pytest.raises(TypeError, match="Index.create.* or lookalike.Index.open"):
        Index("news")


def test_places(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="index .* does not exist; .*Index.create"):
        Index.open(folder)
    Index.create(folder).close()
    with pytest.raises(StoreError, match="already exists"):
        Index.create(folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(StoreError, match="does not contain catalog.sqlite"):
        Index.open(empty)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(StoreError, match="is not a folder"):
        Index.open(file)
    for path in (None, 5, b"news", "", "a\0b"):
        with pytest.raises(OptionError, match="path is"):
            Index.open(path)  # type: ignore[arg-type]
    # A package with the PostgreSQL backend tries to connect. A package without it rejects the
    # address.
    for call in (Index.create, Index.open):
        with pytest.raises(StoreError, match="postgres") as caught:
            call("postgres://user:secret@localhost:1/base?index=news")
        assert "secret" not in str(caught.value)
    with pytest.raises(OptionError, match="wait is -1"):
        Index.open(folder, wait=-1)
    Index.create(str(tmp_path / "name with ü and \n")).close()


def test_damaged_catalogues_are_errors(folder: Path) -> None:
    Index.create(folder).close()
    (folder / "catalog.sqlite").write_bytes(b"not a database at all" * 1000)
    with pytest.raises(StoreError):
        Index.open(folder)


def test_another_version(folder: Path) -> None:
    Index.create(folder).close()
    base = sqlite3.connect(folder / "catalog.sqlite")
    base.execute("pragma user_version = 2")
    base.commit()
    base.close()
    with pytest.raises(StoreError, match="version 2.*reads 1"):
        Index.open(folder)


def test_damage_is_reported_and_repaired(folder: Path) -> None:
    with Index.create(folder) as index:
        index.add(texts(300))
        index.compact()
    (segment,) = folder.glob("*.seg")
    bytes = bytearray(segment.read_bytes())
    bytes[5000] ^= 1
    segment.write_bytes(bytes)
    with Index.open(folder) as index:
        problems = index.check()
        assert problems and all(problem.repairable for problem in problems)
        with pytest.raises(DamagedError, match="Index.check"):
            for _, text in texts(300):
                index.query(text)
        assert index.repair() == []
        assert len(index.query(texts(300)[0][1])) >= 1


def test_reading_only(folder: Path) -> None:
    with Index.create(folder, threshold=0.5) as writer:
        writer.add({"a": FOX})
        with Index.open(folder, read_only=True) as reader:
            assert [match.id for match in reader.query(FOX)] == ["a"]
            writer.add({"b": FOX})
            assert len(reader.query(FOX)) == 2, "each call sees what is there then"
            for change in (
                lambda: reader.add({"c": FOX}),
                lambda: reader.remove("a"),
                lambda: reader.compact(),
                lambda: reader.repair(),
            ):
                with pytest.raises(StoreError, match="read_only=True"):
                    change()
    assert reader.closed and writer.closed


def test_unwritable_index_folders_are_errors(folder: Path) -> None:
    if os.name == "nt" or os.geteuid() == 0:
        pytest.skip("rights are not looked at for this user")
    Index.create(folder).close()
    for path in [*folder.iterdir(), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with pytest.raises(StoreError, match="no right to write"):
            Index.open(folder)
    finally:
        folder.chmod(0o755)


def test_index_allows_one_writer(folder: Path) -> None:
    with Index.create(folder) as first:
        begun = time.monotonic()
        with pytest.raises(StoreError, match="another process writes"):
            Index.open(folder, wait=0.3)
        assert time.monotonic() - begun >= 0.3
        first.close()
        Index.open(folder, wait=0).close()


def test_closed(folder: Path) -> None:
    index = Index.create(folder)
    assert "writing" in repr(index) and not index.closed and bool(index)
    ids = index.ids()
    index.close()
    index.close()
    assert index.closed and "closed" in repr(index)
    calls: list[Callable[[], object]] = [
        lambda: index.query(FOX),
        lambda: index.add({"a": FOX}),
        lambda: index.add_one("a", FOX),
        lambda: index.get("a"),
        lambda: "a" in index,
        lambda: len(index),
        lambda: next(ids),
        lambda: index.stats(),
        lambda: index.check(),
        lambda: index.compact(),
        lambda: index.settings,
        lambda: index.query_many([FOX]),
        lambda: index.remove("a"),
        lambda: index.backup(folder.with_name("copy")),
        lambda: index.export(folder.with_name("x.jsonl")),
    ]
    for call in calls:
        with pytest.raises(StoreError, match="is closed: open it again"):
            call()


def test_backup_and_export(index: Index, tmp_path: Path) -> None:
    index.add([("a", FOX, {"n": 1}), ("b\n/ü", WEATHER)])
    index.backup(tmp_path / "copy")
    with Index.open(tmp_path / "copy") as copied:
        assert list(copied.ids()) == ["a", "b\n/ü"]
    with pytest.raises(StoreError, match="already exists"):
        index.backup(tmp_path / "copy")
    assert index.export(tmp_path / "out.jsonl") == 2
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(line["id"], line["text"], line["metadata"]) for line in lines] == [
        ("a", FOX, {"n": 1}),
        ("b\n/ü", WEATHER, {}),
    ]
    with pytest.raises(OptionError, match="jsonl"):
        index.export(tmp_path / "out.csv")
    with pytest.raises(FileError):
        index.export(tmp_path / "nowhere" / "out.jsonl")


def test_stats(index: Index) -> None:
    index.add({"a": FOX, "b": ""})
    stats = index.stats()
    assert (stats.documents, stats.without_shingles, stats.tail) == (2, 1, 2)
    assert stats.postings == index.settings["bands"]
    assert stats.catalogue_bytes > stats.set_bytes > 0 and stats.text_bytes > 0


# Invalid documents and arguments


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (("a", None), "document 1: the text is None, expected str"),
        (("a", b"x"), "document 1: the text is of type bytes, expected str: decode"),
        (("a", float("nan")), "document 1: the text is of type float"),
        (("a", 5), "document 1: the text is of type int"),
        ((None, "x"), "document 1: the id is None"),
        ((5.5, "x"), "document 1: the id is of type float"),
        ((True, "x"), "document 1: the id is of type bool"),
        (("a",), "document 1 is a tuple of 1, expected .id, text."),
        (("a", "b", {}, 1), "document 1 is a tuple of 4"),
        ("ab", "document 1 is of type str"),
        (5, "document 1 is of type int"),
        (None, "document 1 is None"),
        (("a", "x", 5), "document 1: the metadata is of type int, expected a dict"),
        (("a", "x", {5: 1}), "document 1: the metadata has a key 5 that is of type int"),
        (("a", "x", {"k": {"l": [object()]}}), 'document 1: metadata "k.l.0" is of type object'),
        (("a", "x", {"k": {1, 2}}), 'metadata "k" is of type set'),
        (("a", "x", {"k": datetime(2020, 1, 1)}), 'metadata "k" is of type datetime.*isoformat'),
        (("a", "x", {"k": b"x"}), 'metadata "k" is of type bytes'),
    ],
)
def test_documents_of_wrong_types(index: Index, document: Any, text: str) -> None:
    with pytest.raises(DocumentTypeError, match=text) as caught:
        index.add([("first", FOX), document])
    assert caught.value.row == 1 and isinstance(caught.value, TypeError)
    assert list(index.ids()) == ["first"]


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (("a", "x\ud800y"), "document 1: the text has a lone surrogate"),
        (("a\udfff", "x"), "document 1: the id has a lone surrogate"),
        (("", "x"), "its id is empty"),
        (("a\0b", "x"), "NUL"),
        (("x" * 16_385, "x"), "more than 16,384 bytes"),
        (("a", "x", {"k": float("inf")}), 'metadata "k" is inf'),
        (("a", "x", {"k": float("nan")}), 'metadata "k" is NaN'),
        (("a", "x", {"k": 2**64}), 'metadata "k" is a whole number of more than 64 bits'),
        (("a", "x", {"k": "\ud800"}), 'metadata "k" has a lone surrogate'),
        (("a", "x", {"\ud800": 1}), "key .* with a lone surrogate"),
        (("a", "x", {"k": "x" * (1 << 20)}), "its metadata has 104"),
        ({"id": "a"}, 'the record has no "text", expected "id" and "text"'),
        ({"text": "x"}, 'the record has no "id"'),
    ],
)
def test_unstorable_documents_are_errors(index: Index, document: Any, text: str) -> None:
    with pytest.raises(DocumentError, match=text) as caught:
        index.add([("first", FOX), document])
    assert caught.value.row == 1
    assert list(index.ids()) == ["first"]


def test_cyclic_metadata_is_an_error(index: Index) -> None:
    loop: dict[str, Any] = {}
    loop["k"] = loop
    with pytest.raises(DocumentError, match="levels deep, or holds itself"):
        index.add_one("a", FOX, loop)
    deep: Any = 1
    for _ in range(90):
        deep = [deep]
    index.add_one("a", FOX, {"deep": deep})
    assert index.get("a").metadata == {"deep": deep}  # type: ignore[union-attr]


def test_ids_of_all_kinds(index: Index) -> None:
    ids = ["a/b", "../x", "new\nline", "x" * 10_000, " ", "ü", "\U0001f600", ".", "%2F", "'\"`;"]
    index.add((id, FOX) for id in ids)
    assert list(index.ids()) == ids
    for id in ids:
        assert id in index
        assert index.get(id).id == id  # type: ignore[union-attr]
    assert {match.id for match in index.query(FOX, limit=None)} == set(ids)
    assert index.remove(ids) == (len(ids), [])


def test_texts_of_all_sizes(index: Index) -> None:
    large = "".join(f"word{number} " for number in range(4_500_000))
    assert len(large) > 50_000_000
    assert index.add({"empty": "", "blank": " \n", "large": large}) == (3, 0, 0, 2, [])
    assert index.query("") == [] and index.query("").shingles == 0
    match = index.query(large)[0]
    assert match.id == "large" and match.similarity == 1.0


@pytest.mark.parametrize("value", [None, 5.5, b"a", float("nan")])
def test_calls_with_wrong_types(index: Index, value: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: index.get(value),
        lambda: value in index,
        lambda: index.remove([value]),
        lambda: index.add_one("a", value),
        lambda: index.add_one(value, FOX),
        lambda: index.add(value),
        lambda: index.remove(value),
    ]
    if value is not None:
        calls += [lambda: index.query(value), lambda: index.query(id=value)]
    for call in calls:
        with pytest.raises(DocumentTypeError, match="expected"):
            call()


def test_index_rejects_bytes(index: Index) -> None:
    with pytest.raises(DocumentTypeError, match="use add_one for one document"):
        index.add(b"x")


def test_wrong_options_of_adding(index: Index) -> None:
    now = datetime.now(timezone.utc)
    for expires in (5, "30d", datetime(2100, 1, 1), now, timedelta(0), timedelta(days=-1)):
        with pytest.raises(OptionError, match="expires is"):
            index.add({"a": FOX}, expires=expires)  # type: ignore[arg-type]
    for far in (timedelta.max, datetime(9999, 1, 1, tzinfo=timezone.utc)):
        with pytest.raises(OptionError, match="expires is"):
            index.add({"a": FOX}, expires=far)
    with pytest.raises(OptionError, match="modified is"):
        index.add_one("a", FOX, modified="2020")  # type: ignore[arg-type]
    for metadata in ("year", 5, ["year", 5]):
        with pytest.raises(OptionError, match="metadata"):
            index.add({"a": FOX}, metadata=metadata)  # type: ignore[arg-type]
    assert len(index) == 0


# Threads, processes, signals


def test_pickling_is_refused(index: Index) -> None:
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="pass its path to the other"):
            refuse(index)
    matches = index.query(FOX)
    assert pickle.loads(pickle.dumps(list(matches))) == []


def test_many_threads(index: Index) -> None:
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(20):
                id = f"{thread}-{number}"
                index.add_one(id, f"{FOX} {id}")
                assert index.get(id) is not None
                assert any(match.id == id for match in index.query(f"{FOX} {id}", limit=None))
                if number % 2:
                    assert index.remove(id).removed == 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(index) == 40


def test_closing_while_others_ask(folder: Path) -> None:
    index = Index.create(folder)
    index.add(texts(2000))
    queries = [text for _, text in texts(2000)]
    outcome: list[object] = []
    answered = threading.Event()

    def ask() -> None:
        try:
            while True:
                index.query_many(queries[:200])
                answered.set()
        except StoreError as error:
            outcome.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    assert answered.wait(PATIENCE)
    index.close()
    thread.join(PATIENCE)
    assert len(outcome) == 1 and "is closed" in str(outcome[0])
    Index.open(folder, wait=5).close()


def fork(work: Any) -> str:
    """Runs a function in a forked process, and returns its result or error as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            message = work()
        except BaseException as error:
            message = f"{type(error).__name__}: {error}"
        os.write(write, str(message).encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        message = pipe.read().decode()
    os.waitpid(child, 0)
    return message


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_indexes_must_reopen(folder: Path) -> None:
    with Index.create(folder, threshold=0.5) as index:
        index.add({"a": FOX})
        for call in (
            lambda: index.query(FOX),
            lambda: index.add({"b": FOX}),
            lambda: index.compact(),
            lambda: index.query_many([FOX]),
            lambda: next(index.ids()),
        ):
            message = fork(call)
            assert message.startswith("StoreError") and "open it again in process" in message, (
                message
            )

        def closed() -> str:
            index.close()
            return repr(index) if index.closed else "open"

        assert fork(closed).endswith(", closed>")

        def again() -> list[str]:
            with Index.open(folder, read_only=True) as other:
                return [match.id for match in other.query(FOX)]

        assert fork(again) == "['a']"

        def dropped() -> str:
            nonlocal index
            del index
            return "dropped"

        assert fork(dropped) == "dropped"
        index.add({"c": FOX})
        assert len(index.query(FOX)) == 2 and index.check() == []
    with Index.open(folder) as index:
        assert list(index.ids()) == ["a", "c"] and index.check() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_children_hold_no_lock(folder: Path) -> None:
    index = Index.create(folder)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    try:
        index.close()
        Index.open(folder, wait=0).close()
    finally:
        os.close(write)
        os.waitpid(child, 0)


def ask_elsewhere(path: str, text: str) -> list[str]:
    with Index.open(path, read_only=True) as index:
        return [match.id for match in index.query(text)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_processes_read(folder: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{method} is not there")
    with Index.create(folder, threshold=0.5) as index:
        index.add({"a": FOX})
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply(ask_elsewhere, (str(folder), FOX_NOW)) == ["a"]


INTERRUPTED = """
import itertools, sys, threading
from lookalike import Index
what, path, tests = sys.argv[1:]
sys.path.append(tests)
import waiting
index = Index.create(path)
if what == "query_many":
    index.add((f"d{n}", f"some words that are the same and {n}") for n in range(20_000))
if what == "groups":
    index.add((f"d{n}", f"some words that are the same {n % 7} and {n}") for n in range(20_000))
begun = threading.Event()
def counted():
    for n in itertools.count():
        if n == 5_000:
            begun.set()
        yield n
try:
    waiting.interrupt(begun)
    if what == "add":
        index.add((f"d{n}", f"this is text number {n}") for n in counted())
    elif what == "groups":
        while True:
            index.groups(threshold=0.2)
    else:
        index.query_many(["some words that are the same and 5"] * 1_000_000, threshold=0.3)
except KeyboardInterrupt:
    index.close()
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are others here")
@pytest.mark.parametrize("what", ["add", "query_many", "groups"])
def test_long_calls_can_be_interrupted(folder: Path, what: str) -> None:
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", INTERRUPTED, what, str(folder), tests]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * PATIENCE)
    assert done.stdout == "interrupted\n", done.stderr
    with Index.open(folder) as index:
        assert index.check() == []
        ids = list(index.ids())
        assert ids == [f"d{number}" for number in range(len(ids))]


def test_killed_writers_lose_nothing(folder: Path) -> None:
    code = (
        "import sys, itertools\nfrom lookalike import Index\n"
        "index = Index.create(sys.argv[1])\n"
        "for n in itertools.count():\n"
        "    index.add_one(f'd{n}', f'this is text {n}')\n"
        "    print(n, flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        last = [int(line) for line in itertools.islice(writer.stdout, 50)][-1]
        writer.kill()
    with Index.open(folder) as index:
        ids = set(index.ids())
        assert {f"d{number}" for number in range(last + 1)} <= ids
        assert index.check() == []


# The package


def test_import_loads_no_optional_packages() -> None:
    code = (
        "import sys, lookalike\n"
        "print(sorted({'numpy', 'pyarrow', 'pandas', 'polars'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_examples_run() -> None:
    failed, tried = doctest.testmod(index_module)
    assert failed == 0 and tried >= 35


def test_index_errors_are_package_errors(index: Index) -> None:
    with pytest.raises(LookalikeError):
        index.add({"": "x"})
    assert issubclass(lookalike.errors.DocumentTypeError, TypeError)


def test_signals_are_left_as_they_are(index: Index) -> None:
    before = signal.getsignal(signal.SIGINT)
    index.query_many([FOX])
    assert signal.getsignal(signal.SIGINT) is before


class Record(dict[str, object]):
    """A record that raises an error on access to one of its members."""

    def __init__(self, member: str, error: BaseException) -> None:
        super().__init__(id="a", text="one text", n=1)
        self.member, self.error = member, error

    def __getitem__(self, name: str) -> object:
        if name == self.member:
            raise self.error
        return super().__getitem__(name)


@pytest.mark.parametrize("member", ["id", "text", "n"])
@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt(), ValueError("bad")])
def test_record_errors_propagate(index: Index, member: str, error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        index.add([Record(member, error)], metadata=["n"])
    assert raised.value is error and len(index) == 0


def test_partial_metadata_fields_are_accepted(
    index: Index, recwarn: pytest.WarningsRecorder
) -> None:
    records = [{"id": "a", "text": "one", "n": 1}, {"id": "b", "text": "two"}]
    index.add(records, metadata=["n"])
    index.add([], metadata=["n"])
    assert not recwarn.list and index.get("b").metadata == {}  # type: ignore[union-attr]
    with pytest.warns(UserWarning, match="nn"):
        index.add({"c": "three"}, metadata=["nn"])


def test_unreadable_table_values_are_errors(index: Index) -> None:
    pa = pytest.importorskip("pyarrow")
    offsets, data = (
        pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])),
        pa.py_buffer(b"a\xff"),
    )
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, data])
    with pytest.raises(DocumentError, match="document 1: column 'text' cannot be read") as raised:
        index.add(pa.table({"id": ["a", "b"], "text": texts}))
    assert raised.value.row == 1
    with pytest.raises(DocumentTypeError, match="cannot be read as Arrow"):
        index.add(pa.chunked_array([["a", "b"]]))
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": ["a", "b"], "text": pd.Series(["one", 5], dtype=object)})
    with pytest.raises(DocumentTypeError, match="document 1") as mixed:
        index.add(frame)
    assert mixed.value.row == 1


def test_enormous_thresholds_are_errors(index: Index) -> None:
    with pytest.raises(OptionError, match="threshold"):
        index.query("a", threshold=10**400)


def test_changing_metadata_is_read_consistently(index: Index) -> None:
    described: dict[Any, Any] = {}

    class Grows(UserDict[str, Any]):
        def items(self) -> Any:
            described[f"new{len(described)}"] = 1
            return super().items()

    described.update(a=Grows(b=1), c=2)
    index.add_one("a", FOX, described)
    found = index.get("a")
    assert found is not None and found.metadata == {"a": {"b": 1}, "c": 2}


def test_closing_waits_for_others(folder: Path) -> None:
    index = Index.create(folder)
    begun, may_continue = threading.Event(), threading.Event()

    def slow() -> Iterator[tuple[str, str]]:
        begun.set()
        yield "a", FOX
        assert may_continue.wait(PATIENCE)

    adding = threading.Thread(target=lambda: index.add(slow()))
    adding.start()
    assert begun.wait(PATIENCE)
    closing = [threading.Thread(target=index.close) for _ in range(2)]
    for thread in closing:
        thread.start()
        wait_until(NativeCode(thread.ident or 0), "a thread that waits in close")
    assert index.closed and all(thread.is_alive() for thread in closing)
    may_continue.set()
    for thread in closing:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    with Index.open(folder, wait=0) as reopened:
        assert list(reopened.ids()) == ["a"]
    adding.join()


def test_closing_from_within_a_call(folder: Path) -> None:
    index = Index.create(folder)

    def closes() -> Iterator[tuple[str, str]]:
        yield "a", FOX
        index.close()
        yield "b", WEATHER

    assert index.add(closes()).added == 2
    with Index.open(folder, wait=0) as reopened:
        assert list(reopened.ids()) == ["a", "b"]


def test_group_pairs_include_estimates(index: Index) -> None:
    documents = texts(40)
    index.add(documents)
    found = index.groups(pairs=True, estimates=True)
    expected = lookalike.find(documents, threshold=0.5, pairs=True, estimates=True)
    names = ["id_a", "id_b", "jaccard", "estimated_jaccard", "error", "standard_error"]
    assert found.pairs.column_names == names and len(found.pairs) > 0
    assert found.pairs.to_pylist() == expected.pairs.to_pylist()
    assert index.groups(pairs=True).pairs.column_names == names[:3]
    with pytest.raises(OptionError, match="add pairs"):
        index.groups(estimates=True)
