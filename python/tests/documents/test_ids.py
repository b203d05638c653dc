"""Ids of documents in memory: valid types, and the ids in results."""

from __future__ import annotations

import datetime
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError, IdWarning, OptionError

A = "one two three four five six"
B = "seven eight nine ten eleven twelve"


def test_id_false_uses_row_numbers() -> None:
    inputs: list[Any] = [
        [("a", A), ("a", A)],
        {"a": A, "b": A},
        [{"id": "a", "text": A}, {"id": "a", "text": A}],
        [A, A],
    ]
    for docs in inputs:
        assert lookalike.find(docs, id=False, keep="first").groups["id"] == [0, 1]
    assert lookalike.dedup({"a": A, "b": A}, id=False, keep="first") == {"a": A}


def test_column_options_require_named_columns(tmp_path: Path) -> None:
    inputs: list[Any] = [[A, A], [("a", A)], {"a": A}]
    for docs in inputs:
        for columns in ({"text": "body"}, {"id": "key"}):
            with pytest.raises(OptionError, match="names a column"):
                lookalike.find(docs, **columns)
    path = tmp_path / "n.jsonl"
    path.write_text(f'{{"key": "k", "body": "{A}"}}\n', encoding="utf-8")
    with pytest.raises(OptionError, match="id=False is for documents in memory"):
        lookalike.find_files(path, id=False)
    assert lookalike.find_files(path, text="body", id="key").counts["documents"] == 1
    # Only one side has these columns.
    records = [{"key": "x", "body": A}]
    assert len(lookalike.find(records, text="body", id="key", reference={"y": A})) == 1
    assert len(lookalike.find({"y": A}, text="body", id="key", reference=records)) == 1
    files = lookalike.Files(path)
    assert len(lookalike.find([A], text="body", id="key", reference=files)) == 1


@pytest.mark.parametrize(
    "columns",
    [{"id": True}, {"id": 5}, {"id": b"k"}, {"text": 5}, {"text": b"t"}, {"text": "\ud800"}],
)
def test_names_of_columns_are_texts(columns: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="expected the name of a column"):
        lookalike.find([{"id": "a", "text": A}], **columns)


def test_records_need_consistent_ids() -> None:
    with pytest.raises(DocumentError, match="'id', but earlier rows have none") as raised:
        lookalike.find([{"text": A}, {"text": B}, {"text": A, "id": "c"}])
    assert raised.value.row == 2
    assert lookalike.find([{"text": A}, {"text": A, "id": "c"}], id=False).groups["id"] == [0, 1]


@pytest.mark.parametrize(
    ("ids", "kind", "row"),
    [
        ([True, False], "bool", 0),
        ([5, True], "bool", 1),
        ([1.0, 2.0], "float", 0),
        ([1, 2.5], "float", 1),
        ([b"a"], "bytes", 0),
    ],
)
def test_ids_are_texts_or_whole_numbers(ids: list[Any], kind: str, row: int) -> None:
    with pytest.raises(
        DocumentTypeError, match=f"row {row}: the id is of type {kind}, ids are all str or all int"
    ) as raised:
        lookalike.find([(id_, A) for id_ in ids])
    assert raised.value.row == row


def test_numbers_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    assert lookalike.find([(np.int64(7), A), (np.uint8(8), A)], keep="first").groups["id"] == [7, 8]
    with pytest.raises(DocumentTypeError, match="float64, ids are all str or all int"):
        lookalike.find([(np.float64(7), A)])
    with pytest.raises(DocumentError, match="does not fit in 64 bits"):
        lookalike.find([(2**63, A)])


def test_missing_ids() -> None:
    docs = [(None, B), (1, A), (None, B), (2, A)]
    with pytest.raises(DocumentError, match="row 0 has no id"):
        lookalike.find(docs)
    found = lookalike.find(docs, skip_bad=True, keep="first")
    assert (found.counts["skipped"], found.groups["id"], found.groups["row"]) == (2, [1, 2], [1, 3])
    assert lookalike.dedup(docs, skip_bad=True, keep="first") == [(1, A)]
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": pd.array([1, None], dtype="Int64"), "text": [A, A]})
    assert lookalike.find(frame, skip_bad=True).counts["skipped"] == 1


def test_mixed_row_ids_are_unpadded_text() -> None:
    docs = [A] + [f"{i} and nothing else of that kind" for i in range(11)]
    found = lookalike.find(docs, reference={"0": A}, pairs=True)
    assert found.groups["id"] == ["0", "0"] and found.groups["row"] == [None, 0]
    assert lookalike.find({"x": A}, reference=docs).groups["keeper"] == ["0", "0"]
    assert lookalike.find([A] * 11, keep="first").groups["id"] == list(range(11))


def test_large_integer_ids_keep_their_type() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"id": pa.array([2**63 + 1, 5, 7], pa.uint64()), "text": [A, A, B]})
    found = lookalike.find(table, keep="first", pairs=True)
    assert found.groups["id"] == [2**63 + 1, 5] and found.groups["keeper"] == [2**63 + 1] * 2
    assert found.groups.column_types[1] == found.groups.column_types[3] == "uint64"
    assert set(found.pairs["id_a"] + found.pairs["id_b"]) == {5, 2**63 + 1}
    marked = lookalike.dedup(table, keep="first", annotate=True)
    assert marked["lookalike_keeper"].to_pylist() == [None, 2**63 + 1, None]
    rows = lookalike.find([A], reference=table)
    assert rows.groups["id"] == [5, 0] or rows.groups["id"] == [2**63 + 1, 0]
    mixed = lookalike.find([(-1, A)], reference=table)
    assert all(isinstance(id_, str) for id_ in mixed.groups["id"])


def test_file_named_documents_reports_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("documents").write_text(
        '{"id":"a","text":"x y"}\n{"id":"a","text":"z w"}\n', encoding="utf-8"
    )
    with pytest.raises(DocumentError, match="documents:1 and again at documents:2") as raised:
        lookalike.find_files("documents", format="jsonl")
    assert raised.value.row is None
    Path("documents").write_text('{"id":"a","text":"x y"}\n{"id":"b"}\n', encoding="utf-8")
    with pytest.raises(DocumentError, match="documents:2") as raised:
        lookalike.find_files("documents", format="jsonl")
    assert raised.value.row is None
    with pytest.raises(
        DocumentError, match="row 1: the id 'a'|row 1: the id \"a\" is already used in row 0"
    ) as raised:
        lookalike.find([("a", A), ("a", B)])
    assert raised.value.row == 1


def test_messages_leave_names_of_files_alone(tmp_path: Path) -> None:
    for name in ("my --no-such-file.jsonl", "--keep.jsonl", "--memory"):
        with pytest.raises(lookalike.errors.FileError) as raised:
            lookalike.find_files(tmp_path / name)
        assert str(tmp_path / name) in str(raised.value)


# A column `id` with values that cannot be ids

#: Values of a column `id` that no option names.
NO_IDS: dict[str, list[Any]] = {
    "float": [1.5, 1.5],
    "null, then float": [None, 1.5],
    "bool": [True, False],
    "bytes": [b"a", b"a"],
    "list": [["a"], ["a"]],
    "date": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)],
    "UUID": [uuid.UUID(int=1), uuid.UUID(int=1)],
}


def records(ids: list[Any]) -> list[dict[str, Any]]:
    return [{"id": id_, "text": A} for id_ in ids]


def tables(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the same rows as dicts, as an iterator, and as tables of several packages."""
    forms: dict[str, Any] = {"dicts": rows, "iterator": iter(rows)}
    pandas = pytest.importorskip("pandas")
    forms["pandas"] = pandas.DataFrame(rows)
    pa = pytest.importorskip("pyarrow")
    try:
        forms["pyarrow"] = pa.Table.from_pylist(rows)
    except pa.ArrowInvalid:
        return forms
    forms["dataset"] = pytest.importorskip("pyarrow.dataset").dataset(forms["pyarrow"])
    forms["polars"] = pytest.importorskip("polars").DataFrame(forms["pyarrow"])
    return forms


@pytest.mark.parametrize("values", NO_IDS)
def test_unusable_ids_warn_and_use_rows(values: str) -> None:
    for kind, docs in tables(records(NO_IDS[values])).items():
        with pytest.warns(IdWarning) as caught:
            found = lookalike.find(docs, keep="first")
        assert found.groups["id"] == [0, 1], kind
        (warning,) = caught
        text = str(warning.message)
        assert "; name another column by id=, or " in text and " id=False" in text
        assert "\n" not in text and issubclass(IdWarning, UserWarning)


def test_id_warning_names_calling_line() -> None:
    pandas = pytest.importorskip("pandas")
    rows = records([1.5, 2.5])
    calls: list[Callable[[], Any]] = [
        lambda: lookalike.find(rows),
        lambda: lookalike.find(iter(rows), memory="100MiB"),
        lambda: lookalike.dedup(pandas.DataFrame(rows).astype({"id": object})),
        lambda: lookalike.prepare(rows),
        lambda: lookalike.find([A], reference=rows),
    ]
    for call in calls:
        with pytest.warns(IdWarning, match="the column 'id' has float 1.5") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_explicit_id_choice_never_warns() -> None:
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = [{"id": 1.5, "key": n, "text": A} for n in (7, 8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for docs in (rows, pandas.DataFrame(rows), pa.Table.from_pylist(rows)):
            assert lookalike.find(docs, id=False, keep="first").groups["id"] == [0, 1]
            assert lookalike.find(docs, id="key", keep="first").groups["id"] == [7, 8]
            with pytest.raises(DocumentTypeError, match="id"):
                lookalike.find(docs, id="id")


def test_missing_and_repeated_ids_stay_errors() -> None:
    for kind, docs in tables(records(["a", None])).items():
        with pytest.raises(DocumentError, match="row 1 has no id"):
            lookalike.find(docs)
        assert kind
    for docs in tables(records(["a", "a"])).values():
        with pytest.raises(DocumentError, match='row 1: the id "a" is already used in row 0'):
            lookalike.find(docs)
    for docs in tables(records([5, 5])).values():
        with pytest.raises(DocumentError, match='row 1: the id "?5"? is already used in row 0'):
            lookalike.find(docs)


def test_all_functions_warn_about_ids() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = records([1.5, 2.5])
    for docs in (rows, pa.Table.from_pylist(rows)):
        for call in (
            lambda docs: len(lookalike.dedup(docs)) == 1,
            lambda docs: len(lookalike.cut(docs, min_words=3)) == 1,
            lambda docs: lookalike.passages(docs, min_words=3).places["id"] == [0, 1],
            lambda docs: lookalike.prepare(docs)["id"] == [0, 1],
            lambda docs: lookalike.tune(docs).documents == 2,
        ):
            with pytest.warns(IdWarning):
                assert call(docs)
