"""Adding tables to an index: values of each type, batches, and damaged data."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lookalike import Index
from lookalike.errors import DocumentError, DocumentTypeError

pa = pytest.importorskip("pyarrow")

ONE, TWO = "one two three four five six", "seven eight nine ten eleven twelve"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index", threshold=0.5, store="texts") as index:
        yield index


def described(index: Index, id: str) -> Any:
    document = index.get(id)
    assert document is not None
    return document.metadata


def table(column: Any) -> Any:
    rows = len(column)
    return pa.table({"id": [f"d{row}" for row in range(rows)], "text": [ONE] * rows, "m": column})


def extension(kind: Any, values: list[Any]) -> Any:
    return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))


INTS, TEXTS = pa.int64(), pa.string()
VALUES: dict[str, tuple[Any, Any]] = {
    "null": (pa.nulls(1), None),
    "bool": (pa.array([True]), True),
    "int8": (pa.array([-128], pa.int8()), -128),
    "int16": (pa.array([-5], pa.int16()), -5),
    "int32": (pa.array([-5], pa.int32()), -5),
    "int64": (pa.array([-(2**63)], INTS), -(2**63)),
    "uint8": (pa.array([255], pa.uint8()), 255),
    "uint16": (pa.array([5], pa.uint16()), 5),
    "uint32": (pa.array([5], pa.uint32()), 5),
    "uint64": (pa.array([2**64 - 1], pa.uint64()), 2**64 - 1),
    "half": (pa.array([1.1], pa.float16()), 1.099609375),
    "float": (pa.array([1.1], pa.float32()), 1.100000023841858),
    "double": (pa.array([1.1]), 1.1),
    "zero": (pa.array([0.0]), 0.0),
    "string": (pa.array(["ä"]), "ä"),
    "large_string": (pa.array(["ä"], pa.large_string()), "ä"),
    "string_view": (pa.array(["ä" * 20], pa.string_view()), "ä" * 20),
    "dictionary": (pa.array(["ä"]).dictionary_encode(), "ä"),
    "dictionary of numbers": (pa.array([7]).dictionary_encode(), 7),
    "list": (pa.array([[1, None, 3]]), [1, None, 3]),
    "large_list": (pa.array([[1, None]], pa.large_list(INTS)), [1, None]),
    "list of two": (pa.array([[1, 2]], pa.list_(INTS, 2)), [1, 2]),
    "list_view": (pa.array([[1, None]], pa.list_view(INTS)), [1, None]),
    "large_list_view": (pa.array([[1, None]], pa.large_list_view(INTS)), [1, None]),
    "empty list": (pa.array([[]], pa.list_(INTS)), []),
    "lists in lists": (pa.array([[[1], [2, 3], None]]), [[1], [2, 3], None]),
    "struct": (
        pa.array([{"a": 1, "b": None, "c": {"d": "x"}}]),
        {"a": 1, "b": None, "c": {"d": "x"}},
    ),
    "empty struct": (pa.array([{}], pa.struct([])), {}),
    "map": (pa.array([[("k", 1), ("l", None)]], pa.map_(TEXTS, INTS)), [["k", 1], ["l", None]]),
    "map of numbers": (pa.array([[(1, "x")]], pa.map_(INTS, TEXTS)), [[1, "x"]]),
    "a key twice": (pa.array([[("k", 1), ("k", 2)]], pa.map_(TEXTS, INTS)), [["k", 1], ["k", 2]]),
    "runs": (pa.RunEndEncodedArray.from_arrays([1], ["x"]), "x"),
    "sparse union": (
        pa.UnionArray.from_sparse(pa.array([1], pa.int8()), [pa.array([1]), pa.array(["x"])]),
        "x",
    ),
    "dense union": (
        pa.UnionArray.from_dense(
            pa.array([0], pa.int8()), pa.array([1], pa.int32()), [pa.array([1, 2]), pa.array(["x"])]
        ),
        2,
    ),
    "interval": (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), [1, 2, 3]),
    "no string": (pa.array([None], TEXTS), None),
    "no struct": (pa.array([None], pa.struct([("a", INTS)])), None),
    "no list": (pa.array([None], pa.list_(INTS)), None),
    "no date": (pa.array([None], pa.date32()), None),
    "no bytes": (pa.array([None], pa.binary(3)), None),
}
if hasattr(pa, "bool8"):
    VALUES["bool8"] = (extension(pa.bool8(), [1]), True)
if hasattr(pa, "json_"):
    VALUES["json"] = (pa.array(['{"a": 1}'], pa.json_()), '{"a": 1}')


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_every_type(index: Index, kind: str) -> None:
    column, expected = VALUES[kind]
    index.add(table(column), metadata=["m"])
    # Null values are omitted.
    assert described(index, "d0") == ({} if expected is None else {"m": expected})
    assert type(described(index, "d0").get("m")) is type(expected)


def test_sliced_columns_keep_metadata_values(index: Index) -> None:
    for number, (column, expected) in enumerate(VALUES.values()):
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        try:
            twice = pa.concat_arrays([column, column]).slice(1)
        except (pa.ArrowNotImplementedError, NotImplementedError):
            continue
        index.update(pa.table({"id": [f"{number}"], "text": [ONE], "m": twice}), metadata=["m"])
        assert described(index, f"{number}") == ({} if expected is None else {"m": expected})


DAY = datetime.datetime(2024, 1, 2)
REFUSED: dict[str, tuple[Any, str, str]] = {
    "NaN": (pa.array([None, float("nan")]), "m", "is NaN, which JSON has no number for"),
    "inf": (
        pa.array([None, float("inf")], pa.float32()),
        "m",
        "is inf, which JSON has no number for",
    ),
    "NaN in a list": (pa.array([[], [1.0, float("nan")]]), "m.1", "is NaN"),
    "decimal": (pa.array([None, decimal.Decimal("1.5")]), "m", r"is of type decimal128\(2, 1\)"),
    "date": (pa.array([None, DAY.date()]), "m", "is of type date32"),
    "time": (pa.array([None, DAY.time()]), "m", "is of type time64"),
    "timestamp": (pa.array([None, DAY]), "m", "is of type timestamp"),
    "timestamp with a zone": (
        pa.array([None, 1], pa.timestamp("us", "Europe/Berlin")),
        "m",
        r"is of type timestamp\(µs, Europe/Berlin\)",
    ),
    "duration": (pa.array([None, 1], pa.duration("s")), "m", r"is of type duration\(s\)"),
    "binary": (pa.array([None, b"x"]), "m", "is of type binary"),
    "large_binary": (pa.array([None, b"x"], pa.large_binary()), "m", "is of type large_binary"),
    "binary_view": (pa.array([None, b"x"], pa.binary_view()), "m", "is of type binary_view"),
    "bytes": (pa.array([None, b"xy"], pa.binary(2)), "m", r"is of type fixed_size_binary\(2\)"),
    "binary in a list": (pa.array([[], [b"x"]]), "m.0", "is of type binary"),
    "time in a struct": (pa.array([None, {"a": [{"t": DAY}]}]), "m.a.0.t", "is of type timestamp"),
    "value of a map": (
        pa.array([None, [("k", DAY)]], pa.map_(TEXTS, pa.timestamp("s"))),
        "m.0.1",
        "timestamp",
    ),
    "a member twice": (
        pa.StructArray.from_arrays(
            [pa.nulls(2, INTS), pa.nulls(2, INTS)], ["a", "a"], mask=pa.array([True, False])
        ),
        "m",
        'has several members "a"',
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_non_json_metadata_is_an_error(index: Index, kind: str) -> None:
    column, way, what = REFUSED[kind]
    with pytest.raises(DocumentError, match=f'^document 1: metadata "{way}" .*{what}') as raised:
        index.add(table(column), metadata=["m"])
    assert raised.value.row == 1 and list(index.ids()) == ["d0"]


def test_deeply_nested_types_are_errors(index: Index) -> None:
    def nested(levels: int) -> tuple[Any, Any]:
        array, value = pa.array([1]), 1
        for _ in range(levels):
            array, value = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array), [value]  # type: ignore[assignment]
        return array, value

    array, value = nested(60)
    index.add(table(array), metadata=["m"])
    assert described(index, "d0") == {"m": value}
    with pytest.raises(
        DocumentError,
        match="document 0: column 'm' cannot be read: its type has more than 64 levels",
    ):
        index.update(table(nested(70)[0]), metadata=["m"])
    index.update(table(nested(70)[0]))


def test_more_metadata_than_an_index_keeps(index: Index) -> None:
    # The test takes no memory, because an array of nulls has no buffers.
    many = pa.FixedSizeListArray.from_arrays(pa.nulls(2**28), 2**28)
    with pytest.raises(DocumentError, match="document 0: its metadata has more than 1048576 bytes"):
        index.add(table(many), metadata=["m"])
    with pytest.raises(DocumentError, match="1048576"):
        index.add(table(pa.array(["x" * 2**20])), metadata=["m"])


@pytest.mark.parametrize(
    "kind",
    [
        TEXTS,
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), TEXTS),
        pa.dictionary(pa.int32(), pa.large_string()),
    ],
)
def test_types_of_ids_and_texts(index: Index, kind: Any) -> None:
    ids, texts = pa.array(["", "a", "a longer id than fits into a view"]), pa.array(["", ONE, TWO])
    columns = {"id": ids.cast(kind).slice(1), "text": texts.cast(kind).slice(1)}
    assert index.add(pa.table(columns)).added == 2
    assert index.get("a").text == ONE  # type: ignore[union-attr]
    assert index.get(ids[2].as_py()).text == TWO  # type: ignore[union-attr]


def test_texts_of_runs_and_unions(index: Index) -> None:
    texts = pa.RunEndEncodedArray.from_arrays([2, 3], [ONE, None])
    ids = pa.UnionArray.from_sparse(
        pa.array([1, 1, 1], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
    )
    with pytest.raises(DocumentTypeError, match="document 2: the text is None") as raised:
        index.add(pa.table({"id": ids, "text": texts}))
    assert raised.value.row == 2 and list(index.ids()) == ["a", "b"]


@pytest.mark.parametrize("what", ["id", "text"])
@pytest.mark.parametrize(
    ("column", "got"),
    [
        (pa.nulls(2), "None, expected str: leave out what is missing"),
        (pa.array([None, "x"]), "None, expected str"),
        (
            pa.array([True, False]),
            "of type bool, expected str: cast the column '{}' to strings first",
        ),
        (pa.array([1, 2], pa.uint8()), "of type uint8"),
        (pa.array([1.5, 2]), "of type double"),
        (pa.array([b"x", b"y"]), "of type binary, expected str: decode the column '{}' first"),
        (pa.array([["x"], []]), "of type list"),
        (pa.array([{"x": 1}, None]), "of type struct"),
        (pa.array([1, 2]).dictionary_encode(), "of type int64"),
        (pa.FixedSizeListArray.from_arrays(pa.nulls(2**30), 2**29), "of type list"),
    ],
)
def test_invalid_id_and_text_columns_fail(index: Index, what: str, column: Any, got: str) -> None:
    columns = {"id": pa.array(["a", "b"]), "text": pa.array([ONE, TWO]), what: column}
    if what == "id" and "int" in got:
        assert index.add(pa.table(columns)).added == 2 and list(index.ids()) == ["1", "2"]
        return
    with pytest.raises(
        DocumentTypeError, match=f"^document 0: the {what} is {got.format(what)}"
    ) as raised:
        index.add(pa.table(columns))
    assert raised.value.row == 0 and len(index) == 0


def test_leading_null_text_is_reported(index: Index) -> None:
    numbers = pa.chunked_array([pa.array([], INTS), pa.array([None, 1])])
    with pytest.raises(DocumentTypeError, match="document 0: the text is None"):
        index.add(pa.table({"id": ["a", "b"], "text": numbers}))


def test_index_reads_only_needed_columns(index: Index) -> None:
    broken = pa.Array.from_buffers(
        TEXTS, 1, [None, pa.py_buffer(b"\0\0\0\0\x01\0\0\0"), pa.py_buffer(b"\xff")]
    )
    others = {
        "m": pa.array([1]),
        "n": broken,
        "o": pa.array([DAY]),
        "p": pa.array([b"x"], pa.binary_view()),
    }
    index.add(pa.table({"id": ["a"], "text": [ONE], **others}), metadata=["m", "m", "id", "text"])
    assert described(index, "a") == {"m": 1, "id": "a", "text": ONE}
    index.update(pa.table({"text": ["a"]}), id="text")


def test_names_of_columns(index: Index) -> None:
    twice = pa.Table.from_arrays([pa.array(["a"])] * 3, names=["id", "text", "text"])
    with pytest.raises(
        DocumentTypeError, match="2 columns 'text', expected one; it has 'id', 'text', 'text'"
    ):
        index.add(twice)
    many = pa.table({f"c{number}": [1] for number in range(30)})
    with pytest.raises(
        DocumentTypeError,
        match="no column 'id', expected one; it has 'c0', .*'c19', …: name others",
    ):
        index.add(many)
    with pytest.raises(DocumentTypeError, match="no column 'id', expected one; it has none"):
        index.add(pa.table({}))
    with pytest.raises(DocumentTypeError, match=r"no column 'it\\'s\\n'"):
        index.add(table(pa.array([1])), metadata=["it's\n"])
    for column in (pa.array(["a"]), pa.chunked_array([["a"]])):
        with pytest.raises(
            DocumentTypeError, match="cannot be read as Arrow, .* it is one column of string"
        ):
            index.add(column)


class Array:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.array.__arrow_c_array__()


class Stream:
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.stream.__arrow_c_stream__()


def test_whatever_hands_over_arrow(index: Index) -> None:
    rows = table(pa.array([1, 2]))
    batch = rows.to_batches()[0]
    for documents in (
        rows,
        batch,
        batch.to_struct_array(),
        Array(batch),
        Stream(rows),
        pa.chunked_array([batch.to_struct_array()]),
    ):
        assert sum(index.update(documents, metadata=["m"])[:2]) == 2
        assert described(index, "d1") == {"m": 2}
    assert index.add(rows.slice(0, 0)) == (0, 0, 0, 0, [])
    once = Array(batch)
    capsules = once.__arrow_c_array__()
    once.__arrow_c_array__ = lambda: capsules  # type: ignore[method-assign, assignment]
    index.update(once)
    with pytest.raises(DocumentError, match="by another reader already"):
        index.update(once)


def test_index_rejects_null_struct_rows(index: Index) -> None:
    rows = pa.StructArray.from_arrays(
        [pa.array(["a", "b"]), pa.array([ONE, TWO]), pa.array([1, 2])],
        ["id", "text", "m"],
        mask=pa.array([False, True]),
    )
    with pytest.raises(DocumentTypeError, match="document 1: the id is None") as raised:
        index.add(Array(rows), metadata=["m"])
    assert raised.value.row == 1 and list(index.ids()) == ["a"]


def batches(count: int, rows: int = 1000) -> Iterator[Any]:
    for number in range(count):
        ids = [f"d{number * rows + row}" for row in range(rows)]
        yield pa.record_batch({"id": ids, "text": [f"text of {id}" for id in ids]})


SCHEMA = pa.schema([("id", TEXTS), ("text", TEXTS)])


def reader(batches: Iterator[Any]) -> Any:
    return pa.RecordBatchReader.from_batches(SCHEMA, batches)


def failing(error: BaseException) -> Iterator[Any]:
    yield from batches(7)
    raise error


class Own(Exception):
    pass


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad"),
        KeyboardInterrupt("end"),
        SystemExit(3),
        OSError(5, "io"),
        Own(),
        DocumentError("mine"),
    ],
)
def test_producer_errors_propagate(index: Index, error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        index.add(reader(failing(error)))
    assert raised.value is error and len(index) == 7000


def test_arrow_stream_failures_reach_callers(index: Index) -> None:
    with pytest.raises(DocumentError, match="the Arrow data cannot be read: .*bad"):
        index.add(Stream(reader(failing(ValueError("bad")))))
    assert len(index) == 7000
    with pytest.raises(KeyboardInterrupt):
        index.update(Stream(reader(failing(KeyboardInterrupt()))))

    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise Own

    with pytest.raises(Own):
        index.add(Broken())


def test_rows_are_counted_over_batches(index: Index) -> None:
    def made() -> Iterator[Any]:
        yield from batches(9)
        yield pa.record_batch({"id": ["x", "y", "d17"], "text": [ONE, None, TWO]}, schema=SCHEMA)

    for documents in (reader(made()), Stream(reader(made())), pa.Table.from_batches(made())):
        with pytest.raises(DocumentTypeError, match="document 9001: the text is None") as raised:
            index.update(documents)
        assert raised.value.row == 9001 and len(index) == 9001
    repeated = pa.table({"id": ["new", "d17"], "text": [ONE, TWO]})
    with pytest.raises(
        DocumentError, match='document 1: .*"d17" already exists.*the 1 before it are stored'
    ):
        index.add(repeated)


def test_a_batch_of_other_columns(index: Index) -> None:
    def made() -> Iterator[Any]:
        yield from batches(1)
        yield pa.record_batch({"x": ["a"]})

    with pytest.raises(DocumentTypeError, match="no column 'id'"):
        index.add(reader(made()))
    with pytest.raises(
        DocumentError,
        match="document 1000: column 'id' cannot be read: it has 1 columns, its type 2",
    ):
        index.update(Stream(reader(made())))


def test_batches_are_let_go_of(index: Index) -> None:
    alive: list[int] = []
    references: list[Any] = []

    def watched() -> Iterator[Any]:
        for batch in batches(50, 2000):
            references.append(weakref.ref(batch))
            yield batch
            del batch
            gc.collect()
            alive.append(sum(reference() is not None for reference in references))

    # Garbage collection visits all objects that are not exempt. The modules of other tests have
    # millions.
    gc.freeze()
    try:
        assert index.add(reader(watched())).added == 100_000
    finally:
        gc.unfreeze()
    assert max(alive) <= 5


def test_progress_of_a_table(index: Index) -> None:
    reported: list[Any] = []
    index.add(reader(batches(10)), progress=lambda *what: reported.append(what))
    assert reported[-1] == ("read and add", 10_000, None)
    assert [done for _, done, _ in reported] == sorted(done for _, done, _ in reported)
    with pytest.raises(ZeroDivisionError):
        index.update(reader(batches(10)), progress=lambda *_: 1 // 0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'skip_bad'"):
        index.add(reader(batches(1)), skip_bad=True)  # type: ignore[call-arg]


# Damaged data


def raw(kind: Any, rows: int, *buffers: bytes | None, **more: Any) -> Any:
    owners = [None if buffer is None else pa.py_buffer(buffer) for buffer in buffers]
    return pa.Array.from_buffers(kind, rows, owners, **more)


def numbers(*values: int, size: int = 4) -> bytes:
    return b"".join(value.to_bytes(size, sys.byteorder, signed=True) for value in values)


DAMAGED = {
    "not UTF-8": (raw(TEXTS, 2, None, numbers(0, 1, 2), b"a\xff"), "its byte 0 is not UTF-8"),
    "offsets": (
        raw(TEXTS, 3, None, numbers(0, 1, -7, 2), b"ab"),
        "its offsets point outside the data",
    ),
    "keys": (
        pa.DictionaryArray.from_arrays(pa.array([0, 3]), pa.array(["a"]), safe=False),
        "its key is outside the dictionary, which has 1",
    ),
    "values of a dictionary": (
        pa.DictionaryArray.from_arrays(
            pa.array([0, 1]), raw(TEXTS, 3, None, numbers(0, 1, -7, 2), b"ab")
        ),
        "its offsets point outside the data",
    ),
    "lists": (raw(pa.list_(INTS), 2, None, numbers(0, 2, 2), children=[pa.array([1, 2])]), ""),
    "lists that leave": (
        raw(pa.list_(INTS), 3, None, numbers(0, 1, 9, 2), children=[pa.array([1, 2])]),
        "its offsets leave the values",
    ),
    "lists that go back": (
        raw(pa.list_(INTS), 3, None, numbers(0, 2, -1, 2), children=[pa.array([1, 2])]),
        "its offsets leave the values",
    ),
    "texts in lists": (
        raw(
            pa.list_(TEXTS),
            2,
            None,
            numbers(0, 1, 2),
            children=[raw(TEXTS, 2, None, numbers(0, 1, 2), b"a\xff")],
        ),
        "its byte 0 is not UTF-8",
    ),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_columns(index: Index, what: str) -> None:
    column, why = DAMAGED[what]
    damaged = table(column)
    if not why:
        index.add(damaged, metadata=["m"])
        return
    with pytest.raises(
        DocumentError, match=f"^document 1: column 'm' cannot be read: .*{why}"
    ) as raised:
        index.add(damaged, metadata=["m"])
    assert raised.value.row == 1 and list(index.ids()) == ["d0"]
    if pa.types.is_list(column.type):
        return
    with pytest.raises(
        DocumentError, match=f"document 1: column 'm' cannot be read: .*{why}"
    ) as raised:
        index.update(damaged, text="m")
    assert raised.value.row == 1


class CArray(ctypes.Structure):
    """``struct ArrowArray``."""


CArray._fields_ = [
    *(
        (name, ctypes.c_int64)
        for name in ("length", "null_count", "offset", "n_buffers", "n_children")
    ),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(CArray))),
    ("dictionary", ctypes.POINTER(CArray)),
]

NESTED = [
    pa.array([[1], [2]]),
    pa.array([[1], [2]], pa.list_view(INTS)),
    pa.array([[1, 2], [3, 4]], pa.list_(INTS, 2)),
    pa.array([{"a": 1}, {"a": 2}]),
    pa.array([[("k", 1)], []], pa.map_(TEXTS, INTS)),
    pa.RunEndEncodedArray.from_arrays([1, 2], ["x", "y"]),
    pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]
    ),
    pa.UnionArray.from_dense(
        pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["x"])]
    ),
    pa.array([b"x", b"y"]),
    pa.array([b"x", b"y"], pa.binary_view()),
    pa.array([b"x", b"y"], pa.binary(1)),
    pa.array(["x", "y"]).dictionary_encode(),
]
CHANGES = [
    ("length", -1),
    ("length", 2**62),
    ("length", 1),
    ("offset", -1),
    ("offset", 2**62),
    ("n_buffers", -1),
    ("n_buffers", 0),
    ("n_buffers", 7),
    ("n_children", -1),
    ("n_children", 0),
    ("buffers", None),
    ("dictionary", None),
]


@pytest.mark.parametrize("column", NESTED, ids=lambda column: str(column.type))
@pytest.mark.parametrize("change", CHANGES, ids=str)
@pytest.mark.parametrize("inner", [False, True])
def test_malformed_arrow_structures_never_crash(
    index: Index, column: Any, change: tuple[str, Any], inner: bool
) -> None:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsules = pa.record_batch(
        table(column).to_batches()[0].to_struct_array().flatten(), ["id", "text", "m"]
    ).__arrow_c_array__()
    array = CArray.from_address(pointer(capsules[1], b"arrow_array")).children[2].contents
    if inner:
        if array.n_children == 0:
            return
        array = array.children[0].contents
    name, value = change
    if name == "n_buffers" and value == 7 and str(column.type) == "binary_view":
        # A view column can have any number of buffers.
        return
    if value is None:
        value = type(getattr(array, name))()
    setattr(array, name, value)

    class Pair:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return capsules

    try:
        index.add(Pair(), metadata=["m"])
    except DocumentError as error:
        assert error.row in (0, 1)


class CSchema(ctypes.Structure):
    """``struct ArrowSchema``."""


CSchema._fields_ = [
    *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
    *((name, ctypes.c_int64) for name in ("flags", "n_children")),
    ("children", ctypes.POINTER(ctypes.POINTER(CSchema))),
    ("dictionary", ctypes.POINTER(CSchema)),
]


@pytest.mark.parametrize(
    ("column", "kind", "why"),
    [
        (pa.array([[1]]), None, "a part of a type is missing"),
        (pa.RunEndEncodedArray.from_arrays([1], ["x"]), None, "a part of a type is missing"),
        (pa.array([[1]]), b"+w:-1", "no memory holds|it has 2 buffers"),
        (
            pa.array([[1, 2]], pa.list_(INTS, 2)),
            b"+w:2147483647",
            "no memory holds|is less than|smaller",
        ),
        (pa.array([b"x"], pa.binary(1)), b"w:-3", "no memory holds"),
        (pa.array([1]), b"+l", "a part of a type is missing"),
        (pa.array([1]), b"?", "is not known"),
        (pa.array([1.0]).dictionary_encode(), b"g", "keys that are not whole numbers"),
        (pa.array([{"a": 1}]), b"+us:0,1", "is not known"),
        (pa.array([{"a": 1}]), b"+us:-5", "is not known|cannot be read"),
        (pa.array([{"a": 1}]), b"+m", "it has 1 buffers"),
    ],
    ids=str,
)
def test_malformed_arrow_types_are_errors(
    index: Index, column: Any, kind: bytes | None, why: str
) -> None:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsules = table(column).to_batches()[0].__arrow_c_array__()
    schema = CSchema.from_address(pointer(capsules[0], b"arrow_schema")).children[2].contents
    if kind is None:
        schema.n_children = 0
    else:
        schema.format = kind

    class Pair:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return capsules

    with pytest.raises(DocumentError, match=f"document 0: column 'm'.*({why})") as raised:
        index.add(Pair(), metadata=["m"])
    assert raised.value.row == 0 and len(index) == 0


# Packages


def test_unneeded_pandas_columns_are_ignored(index: Index) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"id": ["a", "b"], "text": [ONE, TWO], "n": [1.0, float("nan")], 5: [1, 2]}
    )
    frame["o"] = pd.Series([object(), "x"], dtype=object)
    assert index.add(frame, metadata=["n", "5"]).added == 2
    assert [described(index, id) for id in "ab"] == [{"n": 1.0, "5": 1}, {"5": 2}]
    assert index.update(frame.set_index("id")).updated == 2
    with pytest.raises(DocumentTypeError, match="the table cannot be read as Arrow"):
        index.update(frame, metadata=["o"])
    twice = pd.DataFrame([["a", "b", "c"]], columns=["id", "text", "text"])
    with pytest.raises(DocumentTypeError, match="2 columns 'text'"):
        index.add(twice)
    with pytest.raises(DocumentTypeError, match="one column of"):
        index.add(pd.Series(["a"]))


def test_frames_of_polars(index: Index) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"id": ["a", "b"], "text": [ONE, TWO], "n": [1, None], "tags": [["x"], []], "c": ["q", "q"]}
    )
    frame = frame.with_columns(
        pl.col("c").cast(pl.Categorical), pl.Series("o", [object(), 1], dtype=pl.Object)
    )
    assert index.add(frame, metadata=["n", "tags", "c"]).added == 2
    assert [described(index, id) for id in "ab"] == [
        {"n": 1, "tags": ["x"], "c": "q"},
        {"tags": [], "c": "q"},
    ]
    assert index.update(frame.drop("o").lazy().filter(pl.col("id") == "b")).updated == 1
    with pytest.raises(
        DocumentTypeError, match="no column 'm', expected one; it has 'id', 'text', 'n'"
    ):
        index.add(frame, metadata=["m"])
    wide = pl.DataFrame({"id": ["a"], "text": [ONE], "n": pl.Series([1], dtype=pl.Int128)})
    with pytest.raises(DocumentTypeError, match="column 'n': its type \"_pli128\" is not known"):
        index.update(wide, metadata=["n"])
    assert index.update(wide).updated == 1


def test_relations(index: Index) -> None:
    duckdb = pytest.importorskip("duckdb")
    query = "select 'a' as id, 'b c' as text, map {'k': 1} as m, [1, 2] as l, {'x': true} as s, date '2024-01-02' as d"
    assert index.add(duckdb.sql(query), metadata=["m", "l", "s"]).added == 1
    assert described(index, "a") == {"m": [["k", 1]], "l": [1, 2], "s": {"x": True}}
    with pytest.raises(DocumentTypeError, match='metadata "d" is of type date32'):
        index.update(duckdb.sql(query), metadata=["d"])
    many = duckdb.sql("select 'd' || range as id, 'text of ' || range as text from range(10000)")
    assert index.add(many).added == 10_000


@pytest.mark.parametrize("form", [None, "numpy", "arrow"])
def test_datasets(index: Index, form: str | None) -> None:
    datasets = pytest.importorskip("datasets")
    rows = {
        "id": [f"d{row}" for row in range(2500)],
        "text": [ONE] * 2500,
        "n": list(range(2500)),
        "o": [b"x"] * 2500,
    }
    dataset = datasets.Dataset.from_dict(rows).with_format(form)
    assert index.add(dataset, metadata=["n"]).added == 2500
    assert described(index, "d2400") == {"n": 2400}
    assert index.update(dataset.to_iterable_dataset(), metadata=["n"]).updated == 2500
    assert index.update(dataset.shuffle(seed=1).select(range(1500)), metadata=["n"]).updated == 1500
    assert described(index, "d2400") == {"n": 2400}
    with pytest.raises(DocumentTypeError, match="no column 'm'"):
        index.add(dataset, metadata=["m"])


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
import lookalike

package = sys.argv[2]
columns = {"id": ["a", "b"], "text": ["one text", "another"], "n": [1, 2]}
if package == "duckdb":
    import duckdb
    given = duckdb.sql("select * from (values ('a', 'one text', 1), ('b', 'another', 2)) as rows(id, text, n)")
else:
    given = __import__(package).DataFrame(columns)
with lookalike.Index.create(sys.argv[1], store="texts") as index:
    assert index.add(given, metadata=["n"]).added == 2
    assert [index.get(id).metadata for id in "ab"] == [{"n": 1}, {"n": 2}]
    assert index.get("b").text == "another"
    if package == "pandas":
        assert index.update(given.set_index("id")).updated == 2
        given["text"] = ["one text", None]
        try:
            index.update(given)
        except lookalike.errors.DocumentTypeError as error:
            assert error.row == 1
print("stored")
"""


@pytest.mark.parametrize("package", ["polars", "duckdb", "pandas"])
def test_tables_without_pyarrow(tmp_path: Path, package: str) -> None:
    pytest.importorskip(package)
    command = [sys.executable, "-c", WITHOUT_PYARROW, str(tmp_path / "index"), package]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "stored\n", done.stderr


# Memory

MEASURE = """
import sys, pyarrow, lookalike

def resident(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(what))

def peak(table):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = resident("VmRSS")
    index.update(table)
    return resident("VmHWM") - before

# Few words: what is made of each takes memory of its own.
text = ("x" * 999 + " ") * 40_000
index = lookalike.Index.create(sys.argv[1], store="signatures")
index.add({"warm": "one text"})
for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.dictionary(pyarrow.int8(), pyarrow.string())):
    print(peak(pyarrow.table({"id": ["a"], "text": pyarrow.array([text], pyarrow.string()).cast(kind)})), len(text))

def batches():
    for number in range(40):
        yield pyarrow.record_batch({"id": [str(number)], "text": [text]})

reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"id": pyarrow.string(), "text": pyarrow.string()}), batches())
print(peak(reader), 5 * len(text))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured by Linux")
def test_texts_are_not_copied(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "index")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(lines) == 5
    for more, most in lines:
        assert more < most // 4, lines
