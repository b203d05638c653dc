"""Documents in tables of other packages are read without copying, and returned in the same type."""

from __future__ import annotations

import math
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike._documents.inputs import input_documents
from lookalike.errors import DocumentError, DocumentTypeError, FileError

pa = pytest.importorskip("pyarrow")

DOCS = texts(90)
IDS = [f"d{i:03}" for i in range(90)]
KEPT = DOCS[::3]
FOX = "the quick brown fox jumps over the lazy dog"


def groups(found: lookalike.FindResult) -> list[tuple[Any, list[Any]]]:
    return [(g.keeper, [d.id for d in g.duplicates]) for g in found]


EXPECTED = groups(lookalike.find(list(zip(IDS, DOCS)), keep="first"))


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
)
def test_arrow_strings_of_every_kind(kind: Any) -> None:
    table = pa.table(
        {
            "id": IDS,
            "text": pa.array(DOCS).cast(kind) if kind != pa.string_view() else pa.array(DOCS, kind),
        }
    )
    assert groups(lookalike.find(table, keep="first")) == EXPECTED
    column = table["text"]
    rows = lookalike.find(column, keep="first")
    assert [k for k, _ in groups(rows)] == [IDS.index(k) for k, _ in EXPECTED]


def test_arrow_in_every_form() -> None:
    table = pa.table({"id": IDS, "text": DOCS})
    chunked = pa.concat_tables([table.slice(i, 7) for i in range(0, 90, 7)])
    sliced = pa.concat_tables([table, table]).slice(90, 90)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(11))
    for form in (table, chunked, sliced, table.to_batches()[0], reader):
        assert groups(lookalike.find(form, keep="first")) == EXPECTED
    short = pa.table({"text": ["a b", "A B", "a b " + "long " * 9]}).slice(1)
    assert lookalike.find(short).counts["documents"] == 2


def test_arrow_is_given_back() -> None:
    table = pa.table({"id": IDS, "text": DOCS, "n": range(90)})
    kept = lookalike.dedup(table, keep="first")
    assert isinstance(kept, pa.Table) and kept.schema == table.schema
    assert kept["n"].to_pylist() == list(range(0, 90, 3))
    batch = lookalike.dedup(table.to_batches()[0], keep="first")
    assert isinstance(batch, pa.RecordBatch) and batch.num_rows == 30
    assert lookalike.dedup(pa.array(DOCS), keep="first").to_pylist() == KEPT
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(11))
    assert lookalike.dedup(reader, keep="first").num_rows == 30
    marked = lookalike.dedup(table, keep="first", annotate=True)
    assert marked.column_names == [
        "id",
        "text",
        "n",
        "lookalike_kept",
        "lookalike_group",
        "lookalike_keeper",
        "lookalike_jaccard",
        "lookalike_reason",
        "lookalike_neighbour",
        "lookalike_neighbour_jaccard",
        "lookalike_group_size",
    ]
    assert marked["lookalike_kept"].to_pylist() == [i % 3 == 0 for i in range(90)]
    assert marked["lookalike_keeper"].to_pylist()[:3] == [None, "d000", "d000"]


def test_arrow_fields_and_numbers() -> None:
    table = pa.table(
        {
            "id": pa.array([30, 10, 20], pa.uint32()),
            "text": ["same old text"] * 3,
            "score": pa.array([0.5, None, 2.5], pa.float64()),
            "day": pa.array([3, 2, 1], pa.date32()),
            "price": pa.array([Decimal("9.50"), Decimal("10.00"), None], pa.decimal128(21, 2)),
            "ns": [1_700_000_000_000_000_001, 1_700_000_000_000_000_100, 1_700_000_000_000_000_000],
        }
    )
    assert next(iter(lookalike.find(table, keep="field:price"))).keeper == 10
    assert next(iter(lookalike.find(table, keep="field:ns"))).keeper == 10
    assert groups(lookalike.find(table, keep="field:score")) == [(20, [10, 30])]
    assert next(iter(lookalike.find(table, keep="field:day"))).keeper == 30
    assert lookalike.find(table, id=False).groups["id"] == [0, 1, 2]


def test_unusable_arrow_tables_are_errors() -> None:
    with pytest.raises(DocumentError, match="row 1 has no text"):
        lookalike.find(pa.table({"text": ["a", None]}))
    with pytest.raises(DocumentError, match="row 90 has no text"):
        lookalike.find(pa.chunked_array([DOCS, ["a", None][1:]], type=pa.string()))
    with pytest.raises(DocumentError, match="row 0 has no id"):
        lookalike.find(pa.table({"id": pa.array([None, 1]), "text": ["a", "b"]}))
    with pytest.raises(DocumentTypeError, match="int64"):
        lookalike.find(pa.table({"text": [1, 2]}))
    with pytest.raises(DocumentTypeError, match="decode"):
        lookalike.find(pa.table({"text": [b"a"]}))
    with pytest.raises(DocumentTypeError, match="strings or integers"):
        lookalike.find(pa.table({"id": [1.5], "text": ["a"]}), id="id")
    with pytest.raises(DocumentError, match='the column "text" does not exist; there are body, id'):
        lookalike.find(pa.table({"body": ["a"], "id": ["b"]}))
    with pytest.raises(DocumentError, match='several columns have the name "text"'):
        lookalike.find(pa.table([["a"], ["b"]], names=["text", "text"]))
    broken = pa.StringArray.from_buffers(
        2, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")
    )
    with pytest.raises(DocumentError, match="UTF-8"):
        lookalike.find(broken)


def test_results_in_arrow() -> None:
    found = lookalike.find(DOCS, pairs=True)
    table = found.groups.to_pyarrow()
    assert table.schema.names == ["group", "id", "role", "keeper", "jaccard", "row", "keeper_row"]
    assert table["jaccard"].to_pylist() == found.groups["jaccard"]
    assert pa.table(found.pairs).num_rows == 90
    prepared = pa.table(lookalike.prepare(DOCS))
    assert prepared.schema.field("signature").type == pa.list_(
        pa.field("item", pa.uint32(), False), 128
    )
    assert prepared["band_keys"].to_pylist() == lookalike.prepare(DOCS)["band_keys"]


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"id": IDS, "text": DOCS})
    assert groups(lookalike.find(frame, keep="first")) == EXPECTED
    assert groups(lookalike.find(frame.lazy(), keep="first")) == EXPECTED
    kept = lookalike.dedup(frame, keep="first")
    assert isinstance(kept, pl.DataFrame) and kept["text"].to_list() == KEPT
    assert lookalike.dedup(frame["text"], keep="first").to_list() == KEPT
    marked = lookalike.dedup(frame, keep="first", annotate=True)
    assert marked["lookalike_keeper"].to_list()[:2] == [None, "d000"]
    assert lookalike.find(frame).groups.to_polars()["role"].to_list()[0] == "keeper"


@pytest.mark.parametrize("dtype", ["object", "str"])
def test_pandas(dtype: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": IDS, "text": pd.Series(DOCS, dtype=dtype), "n": range(90)})
    frame.index = range(100, 190)
    assert groups(lookalike.find(frame, keep="first")) == EXPECTED
    kept = lookalike.dedup(frame, keep="first")
    assert isinstance(kept, pd.DataFrame) and kept["text"].tolist() == KEPT
    assert kept.index.tolist() == list(range(100, 190, 3))
    assert lookalike.dedup(frame["text"], keep="first").tolist() == KEPT
    marked = lookalike.dedup(frame, keep="first", annotate=True)
    assert marked["lookalike_kept"].tolist() == [i % 3 == 0 for i in range(90)]
    assert next(iter(lookalike.find(frame, keep="field:n"))).keeper in set(IDS[2::3])
    back = lookalike.find(frame).groups.to_pandas()
    assert back["jaccard"].isna().sum() == 30
    frame.loc[105, "text"] = math.nan
    with pytest.raises(DocumentError, match="row 5"):
        lookalike.find(frame)
    assert lookalike.find(frame, skip_bad=True).counts["skipped"] == 1


def test_pandas_with_mixed_types() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(DocumentTypeError, match="row 1.*int"):
        lookalike.find(pd.DataFrame({"text": pd.Series(["a", 3], dtype=object)}))
    with pytest.raises(DocumentError, match="the column 'text' does not exist"):
        lookalike.find(pd.DataFrame({"body": ["a"]}))


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = pa.table({"id": IDS, "text": DOCS})
    relation = duckdb.sql("select * from rows order by id")
    assert groups(lookalike.find(relation, keep="first")) == EXPECTED
    kept = lookalike.dedup(duckdb.sql("select * from rows order by id"), keep="first")
    assert kept["text"].to_pylist() == KEPT
    found = lookalike.find(rows).groups.to_pyarrow()  # noqa: F841
    assert duckdb.sql("select count(*) from found").fetchall() == [(90,)]


def test_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"id": IDS, "text": DOCS})
    assert groups(lookalike.find(dataset, keep="first")) == EXPECTED
    kept = lookalike.dedup(dataset, keep="first")
    assert isinstance(kept, datasets.Dataset) and kept["text"][:] == KEPT
    backwards = dataset.select(range(89, -1, -1))
    assert lookalike.find(backwards).counts["duplicates"] == 60
    assert groups(lookalike.find(backwards, keep="last"))[0][0] in IDS[::3]
    assert groups(lookalike.find(dataset.to_iterable_dataset(), keep="first")) == EXPECTED
    with pytest.raises(DocumentTypeError, match="train"):
        lookalike.find(datasets.DatasetDict({"train": dataset}))
    marked = lookalike.dedup(dataset, keep="first", annotate=True)
    assert marked["lookalike_kept"][:3] == [True, False, False]


def test_dataset_annotations_keep_equal_types() -> None:
    datasets = pytest.importorskip("datasets")
    alone, alike = (datasets.Dataset.from_dict({"text": rows}) for rows in (DOCS[:3:3], DOCS[:3]))
    both = [lookalike.dedup(some, annotate=True) for some in (alone, alike)]
    assert both[0].features == both[1].features
    assert datasets.concatenate_datasets(both)["lookalike_group"][:] == [None, 1, 1, 1]


def test_frame_subclasses_are_accepted() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

    class Frame(pandas.DataFrame):  # type: ignore[misc, name-defined]
        @property
        def _constructor(self) -> type:
            return Frame

    class Polars(polars.DataFrame):  # type: ignore[misc, name-defined]
        pass

    frame = Frame({"text": DOCS, "shape": [object()] * 90}, index=range(100, 190))
    kept = lookalike.dedup(frame, keep="first")
    assert isinstance(kept, Frame) and list(kept.index) == list(range(100, 190, 3))
    mixed = Frame({"text": pandas.Series([*DOCS[:7], 3.5], dtype=object)})
    with pytest.raises(DocumentTypeError, match="row 7: .* got float"):
        lookalike.find(mixed)
    assert isinstance(lookalike.dedup(Polars({"text": DOCS}), keep="first"), polars.DataFrame)


def test_frames_without_arrow_are_errors() -> None:
    class Lazy:
        columns = ("id", "text")

        def __iter__(self) -> Any:
            return iter(self.columns)

    with pytest.raises(DocumentTypeError, match="Lazy, a frame without .* convert it first"):
        lookalike.find(Lazy())


def test_dict_times_sort_chronologically() -> None:
    def keeper(*values: Any) -> Any:
        rows = [{"text": DOCS[0], "v": value} for value in values]
        return lookalike.find(rows, keep="field:v").groups["keeper"][0]

    east = timezone(timedelta(hours=5))
    assert (
        keeper(datetime(2020, 1, 2, 3, tzinfo=east), datetime(2020, 1, 1, 23, tzinfo=timezone.utc))
        == 1
    )
    assert keeper(timedelta(days=1), timedelta(days=10), timedelta(hours=5)) == 1


def test_fields_missing_everywhere_are_errors() -> None:
    rows = [{"text": text, "views": 1} for text in DOCS[:3]]
    with pytest.raises(DocumentError, match="'vews' is missing in all 3 dicts.*text, views"):
        lookalike.find(rows, keep="field:vews")
    assert (
        lookalike.find([*rows, {"text": "a b c", "likes": 2}], keep="field:likes").counts["groups"]
        == 1
    )


def test_reference_errors_name_the_reference() -> None:
    for reference, text in [
        (["x y z", None], "reference, row 1 has no text"),
        (
            [("x", "x y z"), ("x", "q")],
            'reference, row 1: the id "x" is already used in reference, row 0',
        ),
    ]:
        with pytest.raises(DocumentError) as caught:
            lookalike.find([("a", "a b c")], reference=reference)
        assert text in str(caught.value) and caught.value.row == 1
    with pytest.raises(DocumentError, match="^row 1 has no text"):
        lookalike.find(["a b c", None], reference=["x y z"])


def test_messages_preserve_user_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bad, twice = Path("my --rows list.jsonl"), Path("twice.jsonl")
    bad.write_text("{bad\n")
    twice.write_text('{"id": "x --rows y", "text": "a"}\n' * 2)
    for path, name, option in [
        (bad, "my --rows list.jsonl:1: ", "list such records with skip_bad"),
        (twice, '"x --rows y" occurs', "names another field"),
    ]:
        with pytest.raises(DocumentError) as caught:
            lookalike.find_files(path)
        assert name in str(caught.value) and option in str(caught.value)
    with pytest.raises(FileError, match="no --rows here"):
        lookalike.find_files(Path("no --rows here"))


def test_missing_values_are_skipped_or_errors() -> None:
    pandas = pytest.importorskip("pandas")
    nan = float("nan")
    for rows in (
        ["a b c", nan],
        ["a b c", pandas.NA],
        ["a b c", pandas.NaT],
        [("x", "a b c"), ("y", nan)],
        [("x", "a b c"), (nan, "d e f")],
        [(1, "a b c"), (nan, "d e f")],
        [{"id": nan, "text": "d e f"}, {"id": "x", "text": "a b c"}],
        {"x": "a b c", "y": nan},
    ):
        assert lookalike.find(rows, skip_bad=True).counts["skipped"] == 1
        with pytest.raises(DocumentError, match="has no (text|id)"):
            lookalike.find(rows)


def test_columns_of_numpy_are_texts() -> None:
    numpy = pytest.importorskip("numpy")
    rows = numpy.array(
        [["a", FOX], ["b", f"{FOX}!"], ["c", "other words are here now"]], dtype=object
    )
    assert lookalike.find(rows[:, 1:], keep="first").groups["id"] == [0, 1]
    assert lookalike.find(rows, keep="first").groups["id"] == ["a", "b"]
    assert lookalike.find(rows, id=False, keep="first").groups["id"] == [0, 1]
    tokens = numpy.array([["one", "two"], ["One", "two"]])
    assert lookalike.find(tokens, tokens="given").counts["groups"] == 1


def test_arrays_come_back_as_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    for rows in (
        numpy.array([FOX, FOX]),
        numpy.array([[FOX], [FOX]]),
        numpy.array([["a", FOX], ["b", FOX]]),
    ):
        kept = lookalike.dedup(rows, keep="first")
        assert isinstance(kept, numpy.ndarray) and kept.tolist() == rows[:1].tolist()


@pytest.mark.parametrize("shape", [(), (2, 3), (2, 0), (2, 2, 2)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(DocumentTypeError, match="expected an array of texts"):
        lookalike.find(numpy.full(shape, FOX))


def test_numpy_rows_suggest_given_tokens() -> None:
    numpy = pytest.importorskip("numpy")
    rows = numpy.array([[FOX], [FOX]])
    for documents in (list(rows), iter(rows)):
        with pytest.raises(DocumentTypeError, match="use tokens='given' for lists of tokens"):
            lookalike.find(documents)


def test_columns_in_a_dict_are_refused() -> None:
    columns = {"id": ["a", "b"], "text": [FOX, FOX]}
    with pytest.raises(DocumentTypeError, match="pass a table of them"):
        lookalike.find(columns)


def _named_rows(texts: list[Any]) -> list[Any]:
    rows = [{"key": f"k{row}", "body": text} for row, text in enumerate(texts)]
    forms: list[Any] = [rows]
    for package, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "array")):
        module = pytest.importorskip(package)
        forms.append(
            module.Table.from_pylist(rows) if package == "pyarrow" else getattr(module, make)(rows)
        )
    return forms


def test_missing_texts_name_their_column() -> None:
    for form in _named_rows([FOX, None]):
        with pytest.raises(DocumentError, match='row 1 has no text in the column "body"'):
            lookalike.find(form, text="body", id="key")
        skipped = lookalike.find(form, text="body", id="key", skip_bad=True).skipped
        assert skipped["reason"] == ['the column "body" is null in this row']


def test_streamed_reasons_name_their_column() -> None:
    rows = ({"key": None, "body": FOX} for _ in range(2))
    skipped = lookalike.find(rows, text="body", id="key", skip_bad=True, memory="64MiB").skipped
    assert skipped["reason"] == ['the column "key" is null in this row'] * 2


def test_wrong_types_name_their_column() -> None:
    rows: list[Any] = [{"key": "a", "body": FOX}, {"key": "b", "body": 5}]
    with pytest.raises(
        DocumentTypeError, match='row 1: the text in the column "body" must be a str, got int'
    ):
        lookalike.find(rows, text="body")
    rows = [{"key": 1, "text": FOX}, {"key": "b", "text": FOX}]
    with pytest.raises(DocumentTypeError, match='row 1: the id in the column "key" is of type str'):
        lookalike.find(rows, id="key")


def test_lists_of_arrow_are_tokens() -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    lists = [["New  York", "is", "", "Big,"], None, ["new york", "is", "big,"]]
    types = [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_view(pa.string())]
    forms: list[Any] = [pa.table({"words": pa.array(lists, kind)}) for kind in types]
    forms.append(
        pandas.DataFrame({"words": pandas.Series(lists, dtype=pandas.ArrowDtype(types[0]))})
    )
    forms.append(
        polars.DataFrame({"words": lists}, schema={"words": polars.List(polars.Categorical)})
    )
    for form in forms:
        found = lookalike.find(form, text="words", keep="first", skip_bad=True)
        assert found.groups["id"] == [0, 2] and found.text(0) == "New\u241fYork is Big,"


def test_a_null_token_is_refused() -> None:
    with pytest.raises(
        DocumentError, match='row 1: column "text" cannot be read: its token 1 is null'
    ):
        lookalike.find(pa.table({"text": [["a"], ["b", None]]}))


def test_sets_of_tokens_are_refused() -> None:
    with pytest.raises(
        DocumentTypeError,
        match="row 1: the text must be a list of tokens like those before, got set",
    ):
        lookalike.find([["a"], {"b", "c"}], tokens="given")


def test_the_engine_reads_tokens() -> None:
    lists = [["one", "two", f"n{row}"] for row in range(1_000)]
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    for documents in (lists, pa.table({"text": lists})):
        calls = 0
        sys.setprofile(count)
        try:
            input_documents(documents, tokens="given")
        finally:
            sys.setprofile(None)
        # Fewer Python calls than lists show that the engine reads the tokens.
        assert calls < 500
