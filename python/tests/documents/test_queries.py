"""Queries of polars and datasets of pyarrow: only the requested columns are computed, and the rows
may exceed the memory limit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError

pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset").dataset
polars = pytest.importorskip("polars")

ROWS = 2_600
TEXTS = texts(ROWS)
MEMORY = "200MiB"
TABLE = pa.table(
    {
        "id": [f"d{n}" for n in range(ROWS)],
        "text": TEXTS,
        "views": [n % 91 for n in range(ROWS)],
        "title": [None if n % 2 else "A title" for n in range(ROWS)],
    }
)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two files."""
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("parquet")
    pyarrow.parquet.write_table(TABLE.slice(0, 1_000), folder / "0.parquet")
    pyarrow.parquet.write_table(TABLE.slice(1_000), folder / "1.parquet")
    return folder


def queries(folder: Path) -> dict[str, Any]:
    """The rows of ``TABLE`` in every kind of query."""
    return {
        "files": dataset(folder),
        "table": dataset(TABLE),
        "batches": dataset(TABLE.to_batches(max_chunksize=700)),
        "scan": polars.scan_parquet(folder / "*.parquet"),
        "lazy": polars.DataFrame(TABLE).lazy(),
    }


KINDS = ["files", "table", "batches", "scan", "lazy"]


def same(found: lookalike.FindResult, other: lookalike.FindResult) -> None:
    assert found.counts == other.counts and found.counts["duplicates"] > 100
    for name in ("groups", "pairs", "skipped", "empty", "sources"):
        assert getattr(found, name).to_pydict() == getattr(other, name).to_pydict(), name


@pytest.mark.parametrize("memory", [None, MEMORY])
@pytest.mark.parametrize("kind", KINDS)
def test_query_results_equal_table_results(kind: str, memory: str | None, parquet: Path) -> None:
    columns: list[dict[str, Any]] = [
        {},
        {"id": False},
        {"text": ["title", "text"]},
        {"keep": ["field:views", "first"]},
    ]
    for options in columns:
        found = lookalike.find(queries(parquet)[kind], pairs=True, memory=memory, **options)
        same(found, lookalike.find(TABLE, pairs=True, **options))
    assert found.text("d7") == TEXTS[7]


@pytest.mark.parametrize("kind", KINDS)
def test_queries_are_references(kind: str, parquet: Path) -> None:
    for memory in (None, MEMORY):
        found = lookalike.find(TEXTS[:9], reference=queries(parquet)[kind], memory=memory)
        assert found.counts["reference"] == ROWS and found.counts["duplicates"] == 9


@pytest.mark.parametrize("kind", KINDS)
def test_other_functions_take_queries(kind: str, parquet: Path) -> None:
    query = queries(parquet)[kind]
    assert lookalike.prepare(query)["band_keys"] == lookalike.prepare(TABLE)["band_keys"]
    assert lookalike.tune(query).documents == ROWS
    for memory in (None, MEMORY):
        options: Any = {"min_words": 20, "memory": memory}
        of_query, of_table = (lookalike.passages(docs, **options) for docs in (query, TABLE))
        assert of_query.counts == of_table.counts and of_query.counts["passages"] > 100
        seen = lookalike.contamination(query, TEXTS[10:13], memory=memory)
        assert set(seen.matches["document"]) == {f"d{n}" for n in range(9, 15)}


@pytest.mark.parametrize("memory", [None, MEMORY])
@pytest.mark.parametrize("kind", KINDS)
def test_dedup_and_cut_return_tables(kind: str, memory: str | None, parquet: Path) -> None:
    query = queries(parquet)[kind]
    is_lazy = kind in ("scan", "lazy")
    for function, options in ((lookalike.dedup, {"keep": "first"}), (lookalike.cut, {})):
        call: Any = function
        kept = call(query, memory=memory, **options)
        expected = call(TABLE, **options)
        assert isinstance(kept, polars.DataFrame if is_lazy else pa.Table)
        table = kept.to_arrow() if is_lazy else kept
        assert table.to_pydict() == expected.to_pydict()
    marked: Any = lookalike.dedup(query, annotate=True, memory=memory)
    names = marked.columns if is_lazy else marked.column_names
    assert names[4] == "lookalike_kept" and len(marked) == ROWS


@pytest.mark.parametrize("memory", [None, MEMORY])
def test_queries_read_only_used_columns(memory: str | None, tmp_path: Path) -> None:
    """The file of the dataset lacks the unused columns. The query counts the rows of ``views`` that
    polars computes."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(TABLE.select(["id", "text"]), tmp_path / "0.parquet")
    schema = TABLE.schema.append(pa.field("absent", pa.list_(pa.int8())))
    narrow = dataset(tmp_path, schema=schema)
    lengths: list[int] = []

    def count(series: Any) -> Any:
        lengths.append(len(series))
        return series

    query = polars.DataFrame(TABLE).lazy()
    query = query.with_columns(views=polars.col("views").map_batches(count, polars.Int64))
    for docs in (narrow, query):
        assert lookalike.find(docs, memory=memory).counts["documents"] == ROWS
    assert lengths == []
    assert lookalike.find(query, keep="field:views", memory=memory).counts["documents"] == ROWS
    assert sum(lengths) == ROWS, "it was made once"


@pytest.mark.parametrize("memory", [None, MEMORY])
def test_query_errors_equal_table_errors(memory: str | None) -> None:
    def bad(name: str, value: Any, kind: Any = None) -> Any:
        values = TABLE[name].to_pylist()
        values[1_500] = value
        at = TABLE.column_names.index(name)
        return TABLE.set_column(at, name, pa.array(values, kind))

    tables = [
        (bad("text", None), {}),
        (bad("id", ""), {}),
        (bad("id", "d3"), {}),
        (bad("id", None), {}),
        (TABLE.rename_columns(["id", "body", "views", "title"]), {}),
        (TABLE, {"text": "nowhere"}),
        (TABLE, {"text": "views"}),
        (TABLE, {"keep": "field:nowhere"}),
    ]
    for table, named in tables:
        options: Any = named
        raised = []
        for docs in (table, dataset(table), polars.DataFrame(table).lazy()):
            more = {} if docs is table else {"memory": memory}
            with pytest.raises(DocumentError) as error:
                lookalike.find(docs, **options, **more)
            # The advice after the semicolon and the quotation marks may differ.
            message = str(error.value).partition(";")[0].replace('"', "'")
            raised.append((error.value.row, message))
        assert raised[0] == raised[1] == raised[2]


@pytest.mark.parametrize("memory", [None, MEMORY])
def test_queries_without_rows(memory: str | None) -> None:
    for docs in (dataset(TABLE.slice(0, 0)), polars.DataFrame(TABLE.slice(0, 0)).lazy()):
        assert lookalike.find(docs, memory=memory).counts["documents"] == 0
        assert len(lookalike.dedup(docs, memory=memory)) == 0
        with pytest.raises(DocumentError, match="the column 'nowhere' does not exist"):
            lookalike.find(docs, text="nowhere", memory=memory)


def test_query_failures_propagate() -> None:
    def fail(series: Any) -> Any:
        raise LookupError("the source is gone")

    query = polars.DataFrame(TABLE).lazy()
    query = query.with_columns(text=polars.col("text").map_batches(fail, polars.String))
    for memory in (None, MEMORY):
        with pytest.raises(Exception, match="the source is gone"):
            lookalike.find(query, memory=memory)


@pytest.mark.parametrize("kind", KINDS)
def test_queries_are_added_to_an_index(kind: str, parquet: Path, tmp_path: Path) -> None:
    with lookalike.Index.create(tmp_path / "index") as index:
        added = index.add(queries(parquet)[kind], metadata=["views"], text=["title", "text"])
        assert added.added == ROWS
        document = index.get("d8")
        assert document is not None and document.text == f"A title\n\n{TEXTS[8]}"
        assert document.metadata == {"views": 8}
        assert list(index.ids()) == TABLE["id"].to_pylist()
        assert index.update(queries(parquet)[kind]).updated == ROWS
        with pytest.raises(DocumentTypeError, match="no column 'nowhere', expected one"):
            index.add(queries(parquet)[kind], text="nowhere")
        with pytest.raises(DocumentTypeError, match="no column 'nowhere', expected one"):
            index.add(queries(parquet)[kind], metadata=["nowhere"])


MEASURED = """
import sys
import lookalike
import pyarrow, pyarrow.dataset
documents = pyarrow.dataset.dataset(sys.argv[2])
if sys.argv[1] == "index":
    with lookalike.Index.create(sys.argv[2] + "-index", store="sets") as index:
        count = index.add(documents, threads=1).added
else:
    limits = {"memory": "100MiB"} if sys.argv[1] == "limited" else {}
    count = lookalike.find(documents, threads=1, **limits).counts["documents"]
print(count, pyarrow.default_memory_pool().max_memory())
"""


def test_dataset_batches_are_released(tmp_path: Path) -> None:
    """Compares the most memory that pyarrow allocated with the size of all rows. Each measurement
    runs in its own process."""
    import pyarrow.parquet

    texts = [f"{n} {text} " * 5 for n, text in enumerate(TEXTS[:500])]
    size = 0
    # pyarrow keeps several neighbouring files in memory at once, so the test needs many files.
    for number in range(40):
        path = tmp_path / f"{number}.parquet"
        rows = pa.table({"id": [""] * 500, "text": texts})
        with pyarrow.parquet.ParquetWriter(path, rows.schema, compression="none") as file:
            for part in range(3):
                ids = pa.array([f"{number}-{part}-{row}" for row in range(500)])
                file.write_table(rows.set_column(0, "id", ids))
                size += rows.nbytes
    most = {}
    for use in ("limited", "unlimited", "index"):
        command = [sys.executable, "-c", MEASURED, use, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        documents, most[use] = map(int, done.stdout.split())
        assert documents == 60_000
    assert max(most["limited"], most["index"]) < size / 2 and most["unlimited"] > size, (most, size)


@pytest.mark.parametrize("kind", KINDS)
def test_bands_are_chosen_for_a_query(kind: str, parquet: Path) -> None:
    for memory in (None, MEMORY):
        found = lookalike.find(queries(parquet)[kind], bands="auto", memory=memory)
        assert found.parameters["bands_sample"] == 2_000
