"""Numbers as ids of an index, and texts from several columns."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.aio import AsyncIndex
from lookalike.errors import DocumentError, DocumentTypeError, OptionError

ONE = "the quick brown fox jumps over the lazy dog in the green park today"
TWO = "something different about the weather in the north of the country"
NUMBERS = [7, -3, 0, 2**63 + 1]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[lookalike.Index]:
    with lookalike.Index.create(tmp_path / "index", threshold=0.5) as created:
        yield created


def text_of(index: lookalike.Index, id: Any) -> str | None:
    document = index.get(id)
    assert document is not None
    return document.text


# Numbers as ids


def test_numbers_are_stored_as_their_texts(index: lookalike.Index) -> None:
    assert index.add([(7, ONE), (-3, TWO)]).added == 2
    assert index.add({0: ONE, 2**63 + 1: TWO}).added == 2
    assert index.add([{"id": 2**70, "text": ONE}]).added == 1
    assert index.add_one(10**25, TWO).added == 1
    assert list(index.ids()) == ["7", "-3", "0", str(2**63 + 1), str(2**70), str(10**25)]
    for number in (*NUMBERS, 2**70, 10**25):
        assert number in index and str(number) in index
        assert index.get(number) == index.get(str(number)) is not None


def test_numeric_and_text_ids_are_equal(index: lookalike.Index) -> None:
    index.add([(7, ONE)])
    with pytest.raises(DocumentError, match='document "7" already exists'):
        index.add({"7": TWO})
    assert index.update({"7": TWO}).updated == 1 and text_of(index, 7) == TWO
    assert index.add([(7, ONE), ("7", ONE)], on_existing="keep").kept == 2
    assert "07" not in index and 70 not in index


def test_calls_take_numbers(index: lookalike.Index) -> None:
    index.add([(1, ONE), (2, f"{ONE} again"), (3, TWO)])
    assert [match.id for match in index.query(id=1)] == ["2"]
    assert index.group_sizes([1, "3", 9]) == [1, 1, 0]
    assert index.remove(9) == (0, ["9"]) and index.remove(3) == (1, [])
    assert index.remove([1, "2", 5]) == (2, ["5"]) and len(index) == 0


def test_numbers_of_numpy_are_ids(index: lookalike.Index) -> None:
    numpy = pytest.importorskip("numpy")
    kinds = [numpy.int8, numpy.uint16, numpy.int32, numpy.int64, numpy.uint64]
    assert index.add([(kind(n), ONE) for n, kind in enumerate(kinds)]).added == 5
    assert index.add([{"id": numpy.int64(-5), "text": TWO}]).added == 1
    assert index.add_one(numpy.uint64(2**64 - 1), TWO).added == 1
    assert list(index.ids()) == ["0", "1", "2", "3", "4", "-5", str(2**64 - 1)]
    assert numpy.int16(3) in index and text_of(index, numpy.int64(-5)) == TWO
    assert {match.id for match in index.query(id=numpy.int8(1))} == {"0", "2", "3", "4"}
    assert index.remove(numpy.int64(4)) == (1, [])
    assert index.remove(numpy.array([0, 1, 8])) == (2, ["8"])
    assert index.group_sizes(numpy.array([2, 8])) == [1, 0]


def test_columns_of_numbers_are_ids(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    datasets = pytest.importorskip("datasets")
    numbers = [5, 3, 100]
    table = pa.table({"id": pa.array(numbers, pa.int64()), "text": [ONE, TWO, "x y z"]})
    forms: list[Any] = [
        *(table.set_column(0, "id", table["id"].cast(kind)) for kind in ("int8", "uint16")),
        table.set_column(0, "id", table["id"].cast("int64").dictionary_encode()),
        table.to_reader(2),
        table.to_batches()[0],
        pandas.DataFrame({"id": numbers, "text": table["text"].to_pylist()}),
        pandas.DataFrame({"id": pandas.array(numbers, dtype="Int64"), "text": [ONE, TWO, "x y z"]}),
        pandas.DataFrame({"id": numbers, "text": [ONE, TWO, "x y z"]}).set_index("id"),
        polars.DataFrame(table),
        polars.DataFrame(table).lazy(),
        datasets.Dataset(table),
        datasets.Dataset(table).to_iterable_dataset(),
        pytest.importorskip("duckdb").connect().from_arrow(table),
    ]
    for number, form in enumerate(forms):
        with lookalike.Index.create(tmp_path / str(number)) as index:
            assert index.add(form).added == 3
            assert list(index.ids()) == ["5", "3", "100"], type(form)
            assert text_of(index, 3) == TWO


def test_numbers_of_the_largest_types(index: lookalike.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    least, most = -(2**63), 2**64 - 1
    index.add(pa.table({"id": pa.array([least], pa.int64()), "text": [ONE]}))
    index.add(pa.table({"id": pa.array([most], pa.uint64()), "text": [TWO]}))
    assert text_of(index, least) == ONE and text_of(index, most) == TWO


@pytest.mark.parametrize("wrong", [True, False, 1.0, 1.5, float("nan"), None, b"a", (1,), 1j])
def test_index_rejects_other_id_types(index: lookalike.Index, wrong: Any) -> None:
    index.add([(1, ONE), (0, TWO)])
    calls: list[Callable[[], Any]] = [
        lambda: index.add([("x", ONE), (wrong, ONE)]),
        lambda: index.add([{"id": wrong, "text": ONE}]),
        lambda: index.add_one(wrong, ONE),
        lambda: index.get(wrong),
        lambda: wrong in index,
        lambda: index.remove([wrong]),
        lambda: index.group_sizes([wrong]),
        lambda: index.versions(wrong),
        lambda: index.category(wrong),
    ]
    if wrong is not None:
        calls.append(lambda: index.query(id=wrong))
    for call in calls:
        with pytest.raises(DocumentTypeError, match="id") as raised:
            call()
        assert "\n" not in str(raised.value)
    assert list(index.ids()) == ["1", "0", "x"]


def test_index_rejects_other_id_columns(index: lookalike.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    for column in (pa.array([1.0]), pa.array([True]), pa.array([b"a"]), pa.array([[1]])):
        with pytest.raises(DocumentTypeError, match="document 0: the id is of type"):
            index.add(pa.table({"id": column, "text": [ONE]}))
    with pytest.raises(DocumentTypeError, match="document 1: the id is None"):
        index.add(pa.table({"id": pa.array([1, None]), "text": [ONE, TWO]}))
    assert list(index.ids()) == ["1"]


def test_dedup_adds_integer_ids(index: lookalike.Index) -> None:
    docs = {1: ONE, 2: f"{ONE}!", 30: TWO}
    assert list(lookalike.dedup(docs, reference=index, add=True)) == [2, 30]
    assert list(index.ids()) == ["2", "30"] and index.group_sizes([2, 30]) == [2, 1]


def test_numbers_in_an_event_loop(tmp_path: Path) -> None:
    async def work() -> list[Any]:
        async with AsyncIndex.create(tmp_path / "index") as index:
            await index.add(docs={5: ONE})
            await index.update([(5, TWO)])
            document = await index.get(5)
            return [
                await index.contains(5),
                document is not None and document.text,
                (await index.remove(5)).removed,
                await index.count(),
            ]

    assert asyncio.run(work()) == [True, TWO, 1, 0]


def test_uuids_and_numbers_beside_each_other(index: lookalike.Index) -> None:
    first = uuid.UUID(int=5)
    assert index.add([(first, ONE), (5, TWO)]).added == 2
    assert text_of(index, first) == ONE and text_of(index, 5) == TWO


# Several columns


ROWS = [
    {"id": 1, "title": "A title", "body": ONE},
    {"id": 2, "title": None, "body": TWO},
    {"id": 3, "title": "Only a title", "body": None},
]
JOINED = [f"A title\n\n{ONE}", TWO, "Only a title"]


def forms() -> dict[str, Any]:
    pa = pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    datasets = pytest.importorskip("datasets")
    table = pa.Table.from_pylist(ROWS)
    return {
        "dicts": ROWS,
        "iterator": iter(ROWS),
        "pyarrow": table,
        "reader": table.to_reader(1),
        "pandas": pandas.DataFrame(ROWS),
        "polars": polars.DataFrame(ROWS),
        "lazy": polars.DataFrame(ROWS).lazy(),
        "dataset": pytest.importorskip("pyarrow.dataset").dataset(table),
        "datasets": datasets.Dataset(table),
        "streamed": datasets.Dataset(table).to_iterable_dataset(),
    }


@pytest.mark.parametrize("text", [["title", "body"], ("title", "body")])
def test_texts_of_several_columns_are_joined(index: lookalike.Index, text: Any) -> None:
    for kind, docs in forms().items():
        index.update(docs, text=text)
        assert [text_of(index, n) for n in (1, 2, 3)] == JOINED, kind
    assert [text_of(index, n) for n in (1, 2, 3)] == [
        lookalike.find(ROWS, text=["title", "body"]).text(row) for row in range(3)
    ]


def test_columns_are_joined_in_their_order(index: lookalike.Index) -> None:
    index.add(ROWS, text=["body", "title"])
    assert text_of(index, 1) == f"{ONE}\n\nA title"
    index.update(ROWS[:1], text=["title"])
    assert text_of(index, 1) == "A title"


def test_text_columns_can_be_metadata(index: lookalike.Index) -> None:
    for kind, docs in forms().items():
        index.update(docs, text=["title", "body"], metadata=["title"])
        document = index.get(1)
        assert document is not None and document.metadata == {"title": "A title"}, kind
        assert text_of(index, 1) == JOINED[0]


def test_rows_without_any_text_are_refused(index: lookalike.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    empty = {"id": 4, "title": None, "body": None}
    tables: list[Any] = [
        [*ROWS, empty],
        pa.Table.from_pylist([*ROWS, empty]),
        pytest.importorskip("pandas").DataFrame([*ROWS, empty]),
    ]
    for docs in tables:
        with pytest.raises(DocumentError, match="document 3: .*None") as raised:
            index.update(docs, text=["title", "body"])
        assert raised.value.row == 3 and list(index.ids()) == ["1", "2", "3"]


def test_index_rejects_invalid_text_columns(index: lookalike.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    wrong: Any
    for wrong in ([], (), ["title", "title"], ["title", 5], 5, {"title": 1}, ["title", "\ud800"]):
        for docs in (ROWS, pa.Table.from_pylist(ROWS)):
            with pytest.raises(OptionError, match="^(text|a name in text) is"):
                index.add(docs, text=wrong)
    with pytest.raises(DocumentError, match='document 0: the record has no "nowhere"'):
        index.add(ROWS, text=["title", "nowhere"])
    with pytest.raises(DocumentTypeError, match="no column 'nowhere', expected one"):
        index.add(pa.Table.from_pylist(ROWS), text=["title", "nowhere"])
    numbers = [{"id": 1, "title": "x", "body": 5}]
    for docs in (numbers, pa.Table.from_pylist(numbers)):
        with pytest.raises(DocumentTypeError, match="document 0: the text .*is of type int"):
            index.add(docs, text=["title", "body"])
    assert len(index) == 0
