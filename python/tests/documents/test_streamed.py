"""Iterables with `memory=`: their texts are written to a temporary file, and the result is the same
as for a list."""

from __future__ import annotations

import subprocess
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError, FileError, IdWarning, OptionError

#: More rows than the reader requests at a time.
ROWS = 2_600
TEXTS = texts(ROWS)
MEMORY = "200MiB"


class Once:
    """Yields its rows one by one. It has no length, and can be iterated any number of times."""

    def __init__(self, rows: Iterable[Any]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)


def records() -> list[dict[str, Any]]:
    return [
        {"key": -n, "title": f"Number {n % 7}", "body": text, "views": n % 91}
        for n, text in enumerate(TEXTS)
    ]


KINDS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "texts": (TEXTS, {}),
    "pairs with str": ([(f"d{n}", text) for n, text in enumerate(TEXTS)], {}),
    "pairs with int": ([(7 * n - 99, text) for n, text in enumerate(TEXTS)], {}),
    "pairs without ids": ([(n, text) for n, text in enumerate(TEXTS)], {"id": False}),
    "records": (
        records(),
        {"id": "key", "text": ["title", "body"], "keep": "field:views", "source_field": "title"},
    ),
    "tokens": ([text.split() for text in TEXTS], {"tokens": "given"}),
}


def same(found: lookalike.FindResult, expected: lookalike.FindResult) -> None:
    assert found.groups.to_pylist() == expected.groups.to_pylist()
    assert found.groups.column_types == expected.groups.column_types
    assert found.pairs.to_pylist() == expected.pairs.to_pylist()
    assert found.skipped.to_pylist() == expected.skipped.to_pylist()
    assert (found.is_kept, found.labels, found.counts) == (
        expected.is_kept,
        expected.labels,
        expected.counts,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stream", [iter, Once], ids=["iterator", "iterable"])
def test_streamed_results_equal_list_results(kind: str, stream: Callable[[list[Any]], Any]) -> None:
    rows, options = KINDS[kind]
    expected = lookalike.find(rows, pairs=True, **options)
    assert len(expected) > 100
    found = lookalike.find(stream(rows), pairs=True, memory=MEMORY, **options)
    same(found, expected)
    # The result can read its texts again.
    last = ROWS - 1
    assert found.text(last) == expected.text(last)
    group = expected[0]
    a, b = group.keeper, group.duplicates[0].id
    if "tokens" not in options:
        assert found.explain(a, b).reason == expected.explain(a, b).reason


def test_texts_are_not_kept() -> None:
    class Text(str):
        pass

    alive: weakref.WeakSet[Text] = weakref.WeakSet()
    most = 0

    def made() -> Iterator[tuple[int, Text]]:
        nonlocal most
        for number, text in enumerate(TEXTS):
            made = Text(text)
            alive.add(made)
            most = max(most, len(alive))
            yield number, made

    kept = lookalike.find(made())
    assert len(alive) == ROWS
    del kept
    most = 0
    found = lookalike.find(made(), memory=MEMORY)
    assert most <= 1024 + 2, "some rows are in memory at a time"
    assert len(alive) == 0
    assert found.counts["documents"] == ROWS


def test_both_sides_may_be_streams() -> None:
    half = ROWS // 2
    expected = lookalike.find(TEXTS[half:], reference=TEXTS[:half], pairs=True)
    same(
        lookalike.find(iter(TEXTS[half:]), reference=iter(TEXTS[:half]), pairs=True, memory=MEMORY),
        expected,
    )


def test_streams_support_rereading_functions() -> None:
    found = lookalike.find(iter(TEXTS), memory=MEMORY, bands="auto")
    expected = lookalike.find(TEXTS, bands="auto")
    assert found.parameters == expected.parameters
    assert found.groups.to_pylist() == expected.groups.to_pylist()
    assert lookalike.audit(found, sample=50).recall == lookalike.audit(expected, sample=50).recall
    lines = [f"{text}\nthe same last line of each" for text in TEXTS[:50]]
    assert lookalike.find(iter(lines), memory=MEMORY, unit="line").groups.to_pylist() == (
        lookalike.find(lines, unit="line").groups.to_pylist()
    )


def test_passages_and_contamination() -> None:
    repeated = lookalike.passages(iter(TEXTS), min_words=12, memory=MEMORY)
    assert repeated.places.to_pylist() == lookalike.passages(TEXTS, min_words=12).places.to_pylist()
    assert len(repeated)
    quiz = TEXTS[10:13]
    seen = lookalike.contamination(iter(TEXTS), quiz, memory=MEMORY)
    assert seen.matches.to_pylist() == lookalike.contamination(TEXTS, quiz).matches.to_pylist()
    assert seen.counts["contaminated"] == 3


@pytest.mark.parametrize("kind", KINDS)
def test_dedup_gives_the_rows_back(kind: str) -> None:
    rows, options = KINDS[kind]
    expected = lookalike.dedup(rows, **options)
    assert 100 < len(expected) < ROWS
    remaining = lookalike.dedup(iter(rows), memory=MEMORY, **options)
    assert list(remaining) == expected
    assert list(remaining) == expected, "read again"
    assert len(remaining) == len(expected)
    places = [0, 1, len(expected) // 2, len(expected) - 1, -1, -len(expected)]
    assert [remaining[at] for at in places] == [expected[at] for at in places]
    assert remaining[3:1_500:7] == expected[3:1_500:7]
    for at in (len(expected), -len(expected) - 1):
        with pytest.raises(IndexError):
            remaining[at]
    with_decisions = lookalike.dedup(iter(rows), memory=MEMORY, annotate=True, **options)
    assert list(with_decisions) == lookalike.dedup(rows, annotate=True, **options)


def test_streamed_dedup_keeps_no_rows() -> None:
    alive: weakref.WeakSet[Record] = weakref.WeakSet()
    most = 0

    def records() -> Iterator[Record]:
        nonlocal most
        for number, text in enumerate(TEXTS):
            row = Record(id=number, text=text)
            alive.add(row)
            most = max(most, len(alive))
            yield row

    remaining = lookalike.dedup(records(), memory=MEMORY)
    assert most <= 1024 + 2, "some rows are in memory at a time"
    assert len(alive) == 0
    assert [row["id"] for row in remaining] == [
        row["id"] for row in lookalike.dedup(records_of(TEXTS))
    ]


class Record(dict[str, Any]):
    """A dict that supports weak references."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def records_of(texts: list[str]) -> list[dict[str, Any]]:
    return [{"id": number, "text": text} for number, text in enumerate(texts)]


def test_streamed_rows_must_be_picklable() -> None:
    rows = [{"id": number, "text": text, "open": lambda: None} for number, text in enumerate(TEXTS)]
    with pytest.raises(
        DocumentTypeError, match="row from 0 on cannot be pickled.*leave out memory"
    ):
        lookalike.dedup(iter(rows), memory=MEMORY)
    assert len(lookalike.dedup(iter(rows))) < ROWS


def test_streamed_dedup_equals_list_dedup() -> None:
    assert list(lookalike.dedup(iter(["a b c", "A B C"]), memory=MEMORY)) == ["a b c"]
    assert list(lookalike.dedup(iter([]), memory=MEMORY)) == []
    lines = [f"{text}\nthe same last line of each" for text in TEXTS[:50]]
    expected = lookalike.dedup(lines, unit="line")
    assert lookalike.dedup(iter(lines), unit="line", memory=MEMORY) == expected


def test_streamed_dedup_needs_temp_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="temp_dir"):
        lookalike.dedup(iter(TEXTS), memory=MEMORY, temp_dir=tmp_path / "absent")


@pytest.mark.parametrize(
    "rows", [[], ["one text"], [None, "a b c d e", None, "A B C D E"]], ids=["none", "one", "gaps"]
)
def test_few_rows(rows: list[Any]) -> None:
    same(
        lookalike.find(iter(rows), memory=MEMORY, pairs=True, skip_bad=True),
        lookalike.find(rows, pairs=True, skip_bad=True),
    )


def test_late_stream_ids_equal_list_ids() -> None:
    pairs: list[tuple[Any, str]] = [
        (None if n < 1_100 else n, text) for n, text in enumerate(TEXTS)
    ]
    same(
        lookalike.find(iter(pairs), memory=MEMORY, pairs=True, skip_bad=True),
        lookalike.find(pairs, pairs=True, skip_bad=True),
    )
    named = [(None if n is None else f"d{n}", text) for n, text in pairs]
    same(
        lookalike.find(iter(named), memory=MEMORY, pairs=True, skip_bad=True),
        lookalike.find(named, pairs=True, skip_bad=True),
    )


def test_unusable_ids_stay_unusable() -> None:
    rows = [{"id": n + 0.5, "text": text} for n, text in enumerate(TEXTS)]
    with pytest.warns(IdWarning):
        streamed = lookalike.find(iter(rows), memory=MEMORY, pairs=True)
    with pytest.warns(IdWarning):
        same(streamed, lookalike.find(rows, pairs=True))


def replaced(rows: list[Any], row: int, value: Any) -> list[Any]:
    return [*rows[:row], value, *rows[row + 1 :]]


NUMBERED = [(n, text) for n, text in enumerate(TEXTS)]
BAD: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "no text": (replaced(TEXTS, 1_500, None), {}),
    "bytes": (replaced(TEXTS, 1_500, b"bytes"), {}),
    "surrogate": (replaced(TEXTS, 1_500, "\ud800"), {}),
    "a list among texts": (replaced(TEXTS, 1_500, ["a", "b"]), {}),
    "another kind of id": (replaced(NUMBERED, 1_500, ("1500", "a text")), {}),
    "no pair": (replaced(NUMBERED, 1_500, "a text"), {}),
    "an id twice": (replaced(NUMBERED, 1_500, (3, "a text")), {}),
    "an empty id": ([(f"d{n}" if n != 1_500 else "", text) for n, text in NUMBERED], {}),
    "no such member": (replaced(records(), 1_500, {"key": 3}), {"id": "key", "text": "body"}),
    "no such field": (records(), {"id": "key", "text": "body", "keep": "field:absent"}),
    "a value that is none": (
        replaced(records(), 1_500, {"key": 3, "body": "a", "views": [1]}),
        {"id": "key", "text": "body", "keep": "field:views"},
    ),
    "a token": (replaced([text.split() for text in TEXTS], 1_500, ["a", 5]), {"tokens": "given"}),
    "names of columns": (TEXTS, {"text": "body"}),
    "an option for files": (TEXTS, {"format": "jsonl"}),
}


@pytest.mark.parametrize("kind", BAD)
def test_stream_errors_equal_list_errors(kind: str) -> None:
    rows, options = BAD[kind]
    raised = []
    for documents, more in ((rows, {}), (iter(rows), {"memory": MEMORY})):
        with pytest.raises((DocumentError, OptionError)) as error:
            lookalike.find(documents, **options, **more)
        raised.append((error.type, str(error.value), getattr(error.value, "row", None)))
    assert raised[0] == raised[1]
    if kind not in ("names of columns", "an option for files", "no such field"):
        assert raised[0][2] == 1_500


def test_iterable_errors_propagate() -> None:
    def failing() -> Iterator[str]:
        yield from TEXTS
        raise LookupError("the source is gone")

    with pytest.raises(LookupError, match="the source is gone"):
        lookalike.find(failing(), memory=MEMORY)


def test_invalid_memory_fails_before_reading() -> None:
    rows = iter(TEXTS[:3])
    with pytest.raises(OptionError, match="memory"):
        lookalike.find(rows, memory="much")
    assert len(list(rows)) == 2, "one row says what they are"


def test_too_small_memory_is_an_error() -> None:
    with pytest.raises(OptionError, match="too small"):
        lookalike.find(iter(TEXTS), memory="1MiB")


def test_temp_dir_is_reported_and_emptied(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="absent"):
        lookalike.find(iter(TEXTS), memory=MEMORY, temp_dir=tmp_path / "absent")
    lookalike.find(iter(TEXTS), memory=MEMORY, temp_dir=tmp_path)
    assert not list(tmp_path.iterdir()), "the file is gone, and had no name"


def test_find_files_accepts_path_iterators(tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS[:9]):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    paths = sorted(tmp_path.iterdir())
    expected = lookalike.find_files(paths).groups.to_pylist()
    assert lookalike.find_files(iter(paths), memory=MEMORY).groups.to_pylist() == expected
    with pytest.raises(DocumentTypeError, match="pass them as lookalike.Files.paths"):
        lookalike.find(iter(paths), memory=MEMORY)


def test_a_streamed_dataset() -> None:
    datasets = pytest.importorskip("datasets")
    rows = [{"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)]
    streamed = datasets.Dataset.from_list(rows).to_iterable_dataset()
    same(lookalike.find(streamed, memory=MEMORY, pairs=True), lookalike.find(rows, pairs=True))


MEASURED = """
import random, sys
import lookalike

def documents():
    draw = random.Random(1)
    words = [f"w{number}" for number in range(50_000)]
    blocks = [" ".join(draw.choices(words, k=130)) for _ in range(5_000)]
    text = ""
    for number in range(20_000):
        if number % 4 != 3:
            text = " ".join(draw.choices(blocks, k=10))
        else:
            text += " more"
        yield number, text

limits = {"memory": "100MiB"} if sys.argv[1] == "limited" else {}
found = lookalike.find(documents(), threads=1, **limits)
print(found.counts["duplicates"])
"""


def peak(kind: str) -> tuple[int, int]:
    """Returns the number of duplicates, and the peak memory of the process in bytes.

    Reads the peak from `/proc`. The resource usage of a process would include the memory that its
    parent used before the start.
    """
    measured = "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    command = [sys.executable, "-c", MEASURED + measured, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    duplicates, kibibytes = map(int, done.stdout.split())
    return duplicates, kibibytes << 10


@pytest.mark.skipif(
    sys.platform != "linux", reason="the system does not tell the peak of a process"
)
def test_the_limit_holds() -> None:
    limited, unlimited = peak("limited"), peak("unlimited")
    assert limited[0] == unlimited[0] == 5_000
    assert unlimited[1] > 170_000_000, "the texts alone are 176 MB"
    assert limited[1] <= 100 << 20


def readers(table: Any) -> dict[str, Callable[[], Any]]:
    duckdb = pytest.importorskip("duckdb")
    return {
        "batches": lambda: table.to_reader(max_chunksize=700),
        "one batch": lambda: table.to_reader(),
        "relation": lambda: duckdb.connect().from_arrow(table),
    }


def arrow_ids(pa: Any, kind: str) -> Any:
    numbers = range(ROWS)
    return {
        "str": lambda: pa.array([f"d{n}" for n in numbers]),
        "dictionary": lambda: pa.array([f"d{n}" for n in numbers]).dictionary_encode(),
        "int16": lambda: pa.array([n - 99 for n in numbers], pa.int16()),
        "uint64": lambda: pa.array([2**63 + n for n in numbers], pa.uint64()),
    }[kind]()


@pytest.mark.parametrize("ids", ["str", "dictionary", "int16", "uint64"])
@pytest.mark.parametrize("reader", ["batches", "one batch", "relation"])
def test_batch_readers_equal_tables(reader: str, ids: str) -> None:
    pa = pytest.importorskip("pyarrow")
    dates = pa.array([n % 91 for n in range(ROWS)], pa.int32()).cast(pa.date32())
    table = pa.table(
        {"id": arrow_ids(pa, ids), "body": TEXTS, "day": dates, "title": ["A title"] * ROWS}
    )
    for options in (
        {"text": "body"},
        {"text": ["title", "body"], "id": False},
        {"text": "body", "keep": "field:day"},
    ):
        expected = lookalike.find(table, pairs=True, **options)
        same(
            lookalike.find(readers(table)[reader](), pairs=True, memory=MEMORY, **options), expected
        )


def test_token_and_empty_batches_are_read() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": [text.split() for text in TEXTS]})
    same(
        lookalike.find(table.to_reader(700), pairs=True, memory=MEMORY),
        lookalike.find(table, pairs=True),
    )
    empty = pa.table({"text": pa.array([], pa.string())})
    assert lookalike.find(empty.to_reader(), memory=MEMORY).counts["documents"] == 0


def test_batch_errors_equal_table_errors() -> None:
    pa = pytest.importorskip("pyarrow")
    tables = [
        pa.table({"text": pa.array(replaced(TEXTS, 1_500, None))}),
        pa.table(
            {"text": TEXTS, "id": pa.array([f"d{n}" if n != 1_500 else "" for n in range(ROWS)])}
        ),
        pa.table({"text": TEXTS, "id": pa.array([n if n != 1_500 else 3 for n in range(ROWS)])}),
        pa.table({"body": TEXTS}),
        pa.table({"text": pa.array(range(ROWS))}),
    ]
    for table in tables:
        raised = []
        for documents, more in ((table, {}), (table.to_reader(700), {"memory": MEMORY})):
            with pytest.raises(DocumentError) as error:
                lookalike.find(documents, **more)
            raised.append((error.type, str(error.value), error.value.row))
        assert raised[0] == raised[1]

    def failing() -> Iterator[Any]:
        yield from table.to_batches(700)
        raise LookupError("the source is gone")

    table = pa.table({"text": TEXTS})
    with pytest.raises(LookupError, match="the source is gone"):
        lookalike.find(pa.RecordBatchReader.from_batches(table.schema, failing()), memory=MEMORY)


def test_non_utf8_batch_texts_are_skipped() -> None:
    pa = pytest.importorskip("pyarrow")
    texts = pa.array(
        [b"\xff" if n == 1_500 else text.encode() for n, text in enumerate(TEXTS)]
    ).view(pa.string())
    table = pa.table({"text": texts})
    expected = lookalike.find(table, pairs=True, skip_bad=True)
    assert len(expected.skipped) == 1
    same(lookalike.find(table.to_reader(700), pairs=True, skip_bad=True, memory=MEMORY), expected)


def test_batches_are_not_kept() -> None:
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([("text", pa.string()), ("id", pa.int64())])
    before, most, size = pa.total_allocated_bytes(), 0, 0

    def batches() -> Iterator[Any]:
        nonlocal most, size
        for first in range(0, ROWS, 100):
            rows = range(first, min(first + 100, ROWS))
            batch = pa.record_batch([[TEXTS[row] for row in rows], list(rows)], schema)
            size = max(size, batch.nbytes)
            most = max(most, pa.total_allocated_bytes() - before)
            yield batch

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    assert lookalike.find(reader, memory=MEMORY).counts["documents"] == ROWS
    assert most < 6 * size, (
        "the batch before it, and buffers of pyarrow that are larger than their content"
    )
