"""Arrow data of other packages: unused columns are not read, and errors are reported."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sys
from typing import Any

import pytest

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError

pa = pytest.importorskip("pyarrow")

A = "one two three four five six"
B = "seven eight nine ten eleven twelve"


def test_unused_arrow_columns_are_ignored() -> None:
    used = {"id": ["a", "b"], "text": [A, A]}
    unions = pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]
    )
    others = {
        "nothing": pa.nulls(2),
        "structs": pa.array([{"x": None}, None]),
        "unions": unions,
        "views": pa.array([[1], [2]], pa.list_view(pa.int64())),
        "runs": pa.RunEndEncodedArray.from_arrays([2], ["x"]),
    }
    assert lookalike.find(pa.table({**used, **others}), keep="first").groups["id"] == ["a", "b"]
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {**used, "nothing": [None, None], "wide": pl.Series([1, 2], dtype=pl.Int128)}
    )
    frame = frame.with_columns(
        pl.struct(pl.lit(None).alias("x")).alias("structs"),
        pl.Series("objects", [object(), 1], dtype=pl.Object),
    )
    assert lookalike.find(frame, keep="first").groups["id"] == ["a", "b"]
    assert lookalike.dedup(frame, keep="first").columns == frame.columns


def test_columns_without_a_value() -> None:
    with pytest.raises(DocumentError, match="row 0 has no text"):
        lookalike.find(pa.table({"text": pa.nulls(2)}))
    pl = pytest.importorskip("polars")
    with pytest.raises(DocumentError, match="row 0 has no text"):
        lookalike.find(pl.DataFrame({"text": [None, None]}))
    assert (
        lookalike.find(pl.DataFrame({"text": [A, A], "n": [None, None]}), keep="field:n").counts[
            "groups"
        ]
        == 1
    )
    with pytest.raises(DocumentTypeError, match='column "n": its type "_pli128" is not known'):
        lookalike.find(
            pl.DataFrame({"text": [A], "n": pl.Series([1], dtype=pl.Int128)}), keep="field:n"
        )


def test_columns_can_serve_two_roles() -> None:
    table = pa.table({"id": ["a", "b"], "text": [A, A]})
    assert lookalike.find(table, keep="field:id").counts["groups"] == 1
    assert (
        lookalike.find(table, id="text", keep="field:text", skip_bad=True).counts["documents"] == 1
    )


def test_null_struct_rows_are_errors() -> None:
    rows = pa.StructArray.from_arrays(
        [pa.array([A, B, A]), pa.array([1, 2, 3])],
        ["text", "id"],
        mask=pa.array([False, True, False]),
    )
    for column in (rows, pa.concat_arrays([rows, rows]).slice(3), pa.chunked_array([rows])):
        with pytest.raises(DocumentError, match="row 1 has no text") as raised:
            lookalike.find(column)
        assert raised.value.row == 1
        found = lookalike.find(column, skip_bad=True, keep="first")
        assert (found.groups["id"], found.counts["skipped"]) == ([1, 3], 1)
    flags = pa.StructArray.from_arrays(
        [pa.array([A, A]), pa.array([True, False])], ["text", "f"], mask=pa.array([False, True])
    )
    assert lookalike.find(flags, skip_bad=True, keep="field:f").counts["documents"] == 1


def test_keys_outside_of_the_dictionary() -> None:
    def keys(*keys: int) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(keys), pa.array([A, B]), safe=False)

    assert lookalike.find(keys(0, 1, 0), keep="first").groups["id"] == [0, 2]
    for table in (
        pa.table({"text": pa.chunked_array([keys(0, 1), keys(1, 7)])}),
        pa.table({"text": [A, B, A, B], "id": pa.chunked_array([keys(0, 1, 1), keys(-1)])}),
    ):
        with pytest.raises(
            DocumentError, match="row 3: .*its key is outside the dictionary, which has 2 values"
        ) as raised:
            lookalike.find(table)
        assert raised.value.row == 3


def changed(kind: Any, offsets: list[int], last: int) -> Any:
    """Returns an array whose last offset is changed after its creation."""
    np = pytest.importorskip("numpy")
    places = np.array(offsets, dtype=np.int64 if kind == pa.large_string() else np.int32)
    array = pa.Array.from_buffers(
        kind, len(offsets) - 1, [None, pa.py_buffer(places), pa.py_buffer(b"abcdefghijkl")]
    )
    places[-1] = last
    return array


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_invalid_arrow_offsets_are_errors(kind: Any) -> None:
    with pytest.raises(DocumentError, match="offsets go from 0 to -1"):
        lookalike.find(changed(kind, [0, 5, 10, 12], -1))
    with pytest.raises(DocumentError, match="row 1: .*offsets point outside the data"):
        lookalike.find(changed(kind, [0, 5, 10, 12], 7))
    with pytest.raises(
        DocumentError, match="the Arrow data cannot be read: its offsets go from 10 to 9"
    ):
        lookalike.find(changed(kind, [0, 5, 10, 12], 9).slice(2))
    assert lookalike.find(changed(kind, [0, 5, 10, 12], 11)).text(2) == "k"


class Again:
    """Exports the same capsules on each call."""

    def __init__(self, array: Any) -> None:
        self.capsules = array.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.capsules


class Stream:
    def __init__(self, source: object) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.source


class Pair:
    def __init__(self, *capsules: object) -> None:
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.capsules


def test_consumed_arrow_objects_are_errors() -> None:
    array = Again(pa.array([A, A]))
    assert lookalike.find(array).counts["documents"] == 2
    stream = Stream(pa.table({"text": [A]}).__arrow_c_stream__())
    assert lookalike.find(stream).counts["documents"] == 1
    objects: list[Any] = [array, stream]
    for docs in objects:
        with pytest.raises(DocumentError, match="by another reader already"):
            lookalike.find(docs)


def test_capsules_of_another_kind() -> None:
    texts, numbers = pa.array([A]).__arrow_c_array__(), pa.array([1, 2, 3]).__arrow_c_array__()
    with pytest.raises(DocumentError, match="it has 2 buffers, expected 3"):
        lookalike.find(Pair(texts[0], numbers[1]))
    batch = pa.record_batch({"text": [A]}).__arrow_c_array__()
    with pytest.raises(DocumentError, match="it has 0 columns, its type 1"):
        lookalike.find(Pair(batch[0], pa.array([1]).__arrow_c_array__()[1]))
    cases: list[Any] = [
        Stream(None),
        Stream(texts[1]),
        Pair(),
        Pair(1, 2),
        Pair(texts[1], texts[0]),
    ]
    for docs in cases:
        with pytest.raises(
            DocumentTypeError, match="expected a (pair of )?capsule|a capsule of another name"
        ):
            lookalike.find(docs)


class CArray(ctypes.Structure):
    """``struct ArrowArray``."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("length", "null_count", "offset", "n_buffers", "n_children")
    ]


def test_invalid_arrow_lengths_are_errors() -> None:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for name, value in [
        ("length", -1),
        ("offset", -1),
        ("length", 2**62),
        ("n_buffers", -1),
        ("n_buffers", 2),
    ]:
        schema, array = pa.array([A, B]).__arrow_c_array__()
        struct = CArray.from_address(pointer(array, b"arrow_array"))
        before = getattr(struct, name)
        setattr(struct, name, value)
        with pytest.raises(DocumentError, match="cannot be read: it"):
            lookalike.find(Pair(schema, array))
        del before
    schema, array = pa.record_batch({"text": [A, B]}).__arrow_c_array__()
    CArray.from_address(pointer(array, b"arrow_array")).length = 3
    with pytest.raises(DocumentError, match="it has 2 rows, expected 3"):
        lookalike.find(Pair(schema, array))


def test_nan_counts_as_missing_value() -> None:
    values = [1.0, float("nan")]
    records = [{"text": A, "v": value} for value in values]
    inputs: list[Any] = [records, pa.table({"text": [A, A], "v": values})]
    for package in ("pandas", "polars"):
        with contextlib.suppress(ImportError):
            inputs.append(__import__(package).DataFrame({"text": [A, A], "v": values}))
    for docs in inputs:
        for rule in ("field:v", "field:v:asc"):
            assert lookalike.find(docs, keep=rule).groups["keeper"] == [0, 0], (docs, rule)


def test_values_of_fields_in_python() -> None:
    pd = pytest.importorskip("pandas")
    np = pytest.importorskip("numpy")
    rows = [{"text": A, "v": pd.NA}, {"text": A, "v": 1}, {"text": A, "v": pd.NaT}]
    assert lookalike.find(rows, keep="field:v").groups["keeper"] == [1, 1, 1]
    frame = pd.DataFrame({"text": [A, A], "v": pd.array([None, 1], dtype="Int64")})
    assert lookalike.find(frame, keep="field:v").groups["keeper"] == [1, 1]
    for value in (np.array([1, 2]), [1], {"a": 1}, b"x"):
        with pytest.raises(DocumentTypeError, match="row 1: the field 'v'") as raised:
            lookalike.find([{"text": A, "v": 1}, {"text": A, "v": value}], keep="field:v")
        assert raised.value.row == 1
    flags = [{"text": A, "v": value} for value in (True, False)]
    table = pa.table({"text": [A, A], "v": [True, False]})
    for rule in ("field:v", "field:v:asc"):
        assert (
            lookalike.find(flags, keep=rule).groups["keeper"]
            == lookalike.find(table, keep=rule).groups["keeper"]
        )


def test_unusable_pandas_frames_are_errors() -> None:
    pd = pytest.importorskip("pandas")
    twice = pd.DataFrame([[A, A, 1]], columns=["text", "text", "n"])
    with pytest.raises(DocumentError, match="several columns 'text'"):
        lookalike.find(twice)
    frame = pd.DataFrame({"text": [A], "n": [1]})
    with pytest.raises(DocumentTypeError, match="got DataFrameGroupBy"):
        lookalike.find(frame.groupby("n"))


MEASURE = """
import pyarrow, lookalike

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

text = "x " * 10_000_000
for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
    table = pyarrow.table({"text": pyarrow.array([text, text + "y"], kind)})
    before = resident()
    documents = lookalike._engine.Documents.of_arrow(table, None, None, True, [])
    assert documents.total_bytes == 2 * len(text) + 1
    print(resident() - before, len(text))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured by Linux")
def test_text_is_not_copied() -> None:
    process = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    for line in process.stdout.splitlines():
        more, length = map(int, line.split())
        assert more < length, "the texts are twice in memory"


@pytest.mark.parametrize("call", [lookalike.prepare, lookalike.find])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_first_bad_row_is_always_reported(call: Any, threads: int) -> None:
    count, bad = 40_000, (9_000, 20_000, 30_000)
    intact = pa.array([f"w{i} " * 50 for i in range(count)])
    _, offsets, words = intact.buffers()
    broken = bytearray(words.to_pybytes())
    for row in bad:
        broken[memoryview(offsets).cast("i")[row]] = 0xFF
    damaged = pa.Array.from_buffers(
        pa.string(), count, [None, offsets, pa.py_buffer(bytes(broken))]
    )
    for _ in range(3):
        with pytest.raises(lookalike.errors.DocumentError) as raised:
            call(damaged, threads=threads)
        assert raised.value.row == bad[0]
