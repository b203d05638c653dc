"""Methods and attributes of a result of find, other than its tables."""

from __future__ import annotations

import html
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError, OptionError

DOCS = texts(30)
FOUND = lookalike.find(DOCS, keep="first")
A, B = "one two three four five six seven", "One two three four, five six seven!"


def test_groups_by_their_places() -> None:
    groups = list(FOUND)
    assert (
        FOUND[0] == groups[0]
        and FOUND[-1] == groups[-1]
        and FOUND[1:3] == groups[1:3]
        and FOUND[::-2] == groups[::-2]
    )
    with pytest.raises(IndexError):
        FOUND[len(FOUND)]
    with pytest.raises(TypeError):
        FOUND["a"]  # type: ignore[call-overload]
    assert lookalike.find([])[:] == []


def test_masks_and_labels() -> None:
    kept = lookalike.dedup(DOCS, keep="first")
    assert [doc for doc, is_kept in zip(DOCS, FOUND.is_kept) if is_kept] == kept
    labels = FOUND.labels
    assert labels == [row - row % 3 for row in range(30)]
    assert {labels[row] for row in (3, 4, 5)} == {3}
    found = lookalike.find([None, A, B, "alone"], skip_bad=True)
    assert found.labels == [0, 1, 1, 3] and found.is_kept.count(True) == 2 and not found.is_kept[0]
    of_reference = lookalike.find([A, B, "alone"], reference=[A])
    assert of_reference.labels == [0, 0, 2] and of_reference.is_kept == [False, False, True]
    frame = pytest.importorskip("pandas").DataFrame({"text": DOCS})
    assert list(frame[lookalike.find(frame, keep="first").is_kept].index) == list(range(0, 30, 3))
    polars = pytest.importorskip("polars")
    assert polars.DataFrame({"text": DOCS}).filter(FOUND.is_kept).height == 10


def test_masks_are_for_documents_in_memory(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(A)
    found = lookalike.find_files(tmp_path)
    for name in ("is_kept", "labels"):
        with pytest.raises(OptionError, match=f"{name} is for documents in memory"):
            getattr(found, name)


def test_texts_by_id(tmp_path: Path) -> None:
    for docs in ({"x": A, "y": B}, [("x", A), ("y", B)]):
        found = lookalike.find(docs)
        assert found.text("y") == found.text(id="y") == found.text(1) == B
        with pytest.raises(DocumentError, match='no document has the id "z"'):
            found.text("z")
        with pytest.raises(DocumentError, match='no document has the id "5"'):
            found.text(id=5)
    numbers = lookalike.find([(100, A), (1, B)])
    assert (
        numbers.text(id=1) == B
        and numbers.text(1) == B
        and numbers.text(id=100) == numbers.text(0) == A
    )
    with pytest.raises(OptionError, match="row: expected a whole number"):
        numbers.text("1")
    rows = lookalike.find(DOCS)
    assert [rows.text(id=row) for row in (0, 7, 29)] == [DOCS[row] for row in (0, 7, 29)]
    for arguments in ({}, {"row": 1, "id": 2}):
        with pytest.raises(OptionError, match="the row of a document or its id"):
            rows.text(**arguments)
    with pytest.raises(OptionError, match="id: expected"):
        rows.text(id=1.5)
    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "b.txt").write_text(B)
    files = lookalike.find_files(tmp_path)
    assert files.text("b.txt") == B
    twice = lookalike.find(
        [("x", A), ("x", "later"), ("y", B)], reference=[("x", "other")], skip_bad=True
    )
    assert twice.text("x") == A


def test_two_documents_are_explained() -> None:
    found = lookalike.find(
        {"a": A, "b": B, "c": f"{A} eight nine ten", "d": "something else"}, keep="first"
    )
    same = found.explain("a", "b")
    assert str(same) == same.reason == "'b' is a duplicate of 'a', which is kept."
    assert (same.keeper_a, same.keeper_b, same.comparison.jaccard, same.probability) == (
        "a",
        "a",
        1.0,
        1.0,
    )
    assert "".join(d.a for d in same.comparison.differences) == A
    assert "".join(d.b for d in same.comparison.differences) == B
    other = found.explain("a", "d")
    assert (
        other.reason == "They are not similar: their jaccard is 0.000000, the threshold 0.8."
        and other.keeper_b is None
    )
    longer = found.explain("a", "c")
    assert (
        not longer.comparison.similar and longer.probability is not None and longer.probability < 1
    )
    contained = lookalike.find({"a": A, "c": f"{A} eight nine ten"}, measure="containment")
    assert (
        contained.explain("a", "c").comparison.similar
        and contained.explain("a", "c").probability is None
    )
    both = lookalike.find({"a": A, "b": B, "c": B.upper()}, keep="first").explain("b", "c")
    assert both.reason.startswith("Both are duplicates of 'a'; their jaccard is 1.000000")
    with pytest.raises(DocumentError, match="no document has the id"):
        found.explain("a", "nowhere")
    tokens = lookalike.find([["x y", "z"], ["x y", "Z"]], tokens="given")
    assert tokens.explain(0, 1).comparison.jaccard == 1.0
    chosen = lookalike.find(
        DOCS, bands="auto", text=None, keep="first", normalize="nfkc", stop_words=["the"]
    )
    assert "duplicate" in chosen.explain(0, 1).reason


def test_explain_handles_documents_without_shingles() -> None:
    found = lookalike.find({"a": A, "b": B, "dots": "...", "marks": "!!!"})
    assert found.explain("a", "a").reason == "Both ids refer to the same document, 'a'."
    assert found.explain("dots", "dots").reason == "Both ids refer to the same document, 'dots'."
    assert (
        found.explain("a", "dots").reason
        == "No shingles, and so not similar to any document: 'dots'."
    )
    assert (
        found.explain("dots", "marks").reason
        == "No shingles, and so not similar to any document: 'dots' and 'marks'."
    )


def test_decisions_of_people_are_explained() -> None:
    def reason(documents: dict[Any, str], *decisions: tuple[str, list[Any]]) -> str:
        records = [{"decision": decision, "documents": ids} for decision, ids in decisions]
        a, b = list(documents)[:2]
        return lookalike.find(documents, decisions=records).explain(a, b).reason

    alike, different = (
        {"a": A, "b": B},
        {"a": A, "b": "other words than those of the text that is there"},
    )
    apart = (
        "They are similar (their jaccard is 1.000000, the threshold 0.8), but people decided that"
    )
    assert reason(alike, ("not_duplicate", ["b", "a"])) == f"{apart} they are not duplicates."
    assert reason(alike, ("keep", ["a"]), ("keep", ["b"])) == f"{apart} both are kept."
    assert reason({1: A, 2: B}, ("not_duplicate", [2, 1])) == f"{apart} they are not duplicates."
    # A later decision about the same pair replaces the earlier one.
    assert "is a duplicate of" in reason(
        alike, ("not_duplicate", ["a", "b"]), ("duplicate", ["a", "b"])
    )
    assert reason(alike, ("keep", ["a"])) == "'b' is a duplicate of 'a', which is kept."
    assert reason(different, ("not_duplicate", ["a", "b"])).startswith("They are not similar")
    linked = reason(different, ("duplicate", ["a", "b"]))
    assert (
        "which is kept: people decided that they are duplicates; their jaccard is 0.000000"
        in linked
    )


def test_explain_reports_missed_pairs() -> None:
    # Signatures with one band of many rows miss nearly all pairs of texts that are not equal.
    docs = [f"{' '.join(f'w{i}' for i in range(60))} {end}" for end in ("x", "y")]
    found = lookalike.find(docs, threshold=0.5, bands=1, rows=60)
    assert len(found) == 0
    assert "were not compared: signatures make 0." in found.explain(0, 1).reason


def test_a_notebook_shows_the_page(tmp_path: Path) -> None:
    found = lookalike.find({"<b>": A, "y": B})
    markup = found._repr_html_()
    found.write_report(tmp_path / "page.html")
    page = re.search(r'srcdoc="([^"]*)"', markup)
    assert page is not None
    timeless = [
        re.sub(r"[\d.]+ m?s\b", "", text)
        for text in (html.unescape(page[1]), (tmp_path / "page.html").read_text())
    ]
    assert timeless[0] == timeless[1] and "<b>" not in markup


def test_large_pages_fall_back_to_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike._results.notebook._MOST", 1000)
    assert FOUND._repr_html_().startswith("<pre>FindResult(documents=30, groups=10, duplicates=20)")


def test_sets_are_refused() -> None:
    for docs in ({A, B}, frozenset({A, B})):
        for function in (lookalike.find, lookalike.dedup, lookalike.prepare, lookalike.tune):
            with pytest.raises(DocumentTypeError, match="no order.*pass a list, such as sorted"):
                function(docs)  # type: ignore[operator]
    with pytest.raises(DocumentTypeError, match="no order"):
        lookalike.find([A], reference={A})
    assert lookalike.find({"a": A, "b": B}.values()).counts["documents"] == 2


def test_rules_of_dates_need_dates(tmp_path: Path) -> None:
    for keep in ("newest", "oldest", ["longest", "newest"]):
        with pytest.raises(
            OptionError, match="compares the dates of files, and documents in memory have none"
        ):
            lookalike.find([A, B], keep=keep)
        with pytest.raises(OptionError, match="keep='field:COLUMN"):
            lookalike.dedup({"a": A}, keep=keep)
    (tmp_path / "a.txt").write_text(A)
    assert lookalike.find_files(tmp_path, keep="newest").counts["documents"] == 1


TITLED = [
    {"title": "Greetings", "body": "one two three four five six", "n": 1},
    {"title": "Greetings", "body": "one two three four five six", "n": 2},
    {"title": None, "body": "one two three four five six", "n": 3},
]


def test_texts_of_several_columns() -> None:
    pa = pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    datasets = pytest.importorskip("datasets")
    forms: list[Any] = [
        TITLED,
        pa.Table.from_pylist(TITLED),
        pandas.DataFrame(TITLED),
        polars.DataFrame(TITLED),
    ]
    forms += [
        pa.Table.from_pylist(TITLED).to_batches()[0],
        datasets.Dataset.from_list(TITLED),
        iter(TITLED),
    ]
    forms.append(pandas.DataFrame(TITLED).convert_dtypes(dtype_backend="pyarrow"))
    for form in forms:
        found = lookalike.find(form, text=["title", "body"], keep="first")
        assert [(g.keeper, [d.id for d in g.duplicates]) for g in found] == [(0, [1])], type(form)
        assert (
            found.text(0) == "Greetings\n\none two three four five six"
            and found.text(2) == TITLED[2]["body"]
        )
    empty_rows = [{"title": None, "body": None}, {"title": "", "body": ""}]
    assert lookalike.find(empty_rows, text=["title", "body"], skip_bad=True).counts["skipped"] == 1
    assert len(lookalike.dedup(TITLED, text=("title", "body"))) == 2
    assert lookalike.prepare(TITLED, text=["title", "body"])["shingles"] == [3, 3, 2]
    assert len(lookalike.find(TITLED, text=["body"])) == 1


def test_find_rejects_invalid_text_columns(tmp_path: Path) -> None:
    wrong: Any
    for wrong in ([], ["title", 5], ["title", "title"], [""] * 2, 5):
        with pytest.raises(OptionError, match="text: expected"):
            lookalike.find(TITLED, text=wrong)
    with pytest.raises(DocumentError, match="'nowhere' is missing"):
        lookalike.find(TITLED, text=["title", "nowhere"])
    with pytest.raises(
        DocumentTypeError, match="row 0: the text in the column .n. must be a str, got int"
    ):
        lookalike.find(TITLED, text=["n", "title"])
    with pytest.raises(OptionError, match="names a column"):
        lookalike.find([A], text=["title", "body"])
    (tmp_path / "a.jsonl").write_text('{"id": "a", "title": "x", "body": "y"}\n')
    with pytest.raises(OptionError, match="several columns, which is for documents in memory"):
        lookalike.find_files(tmp_path / "a.jsonl", text=["title", "body"])
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(DocumentError, match="nowhere"):
        lookalike.find(pa.Table.from_pylist(TITLED), text=["title", "nowhere"])


def test_stop_words_of_a_list() -> None:
    docs = ["The cat and the dog are at Home", "cat dog are at home"]
    assert len(lookalike.find(docs, stop_words=["The", "and"])) == 1
    assert len(lookalike.find(docs, stop_words=("the",))) == 0
    assert len(lookalike.find(docs, stop_words=["The", "the", "and"], case="keep")) == 0
    assert lookalike.compare(*docs, stop_words=["the", "and"]).jaccard == 1.0
    assert (
        lookalike.find(docs, stop_words="en").counts == lookalike.find(docs, stop_words="en").counts
    )
    assert lookalike.audit(lookalike.find(docs, stop_words=["the", "and"])).recall == 1.0
    wrong: Any
    for wrong in (5, [5], {"the": 1}, b"the"):
        with pytest.raises(
            OptionError, match="stop_words: expected the code of a language such as 'en', or a list"
        ):
            lookalike.find(docs, stop_words=wrong)


def test_lists_of_tokens() -> None:
    pa = pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    lists = [
        ["New York", "is", "Big,"],
        ["new york", "is", "big,"],
        ["new", "york", "is", "big,"],
        [],
    ]
    rows = [{"id": f"d{n}", "words": tokens} for n, tokens in enumerate(lists)]
    expected = [("d0", ["d1"])]
    forms: list[Any] = [
        rows,
        pa.Table.from_pylist(rows),
        polars.DataFrame(rows),
        pandas.DataFrame(rows),
    ]
    forms.append(pa.Table.from_pylist(rows).to_batches()[0])
    for form in forms:
        found = lookalike.find(form, text="words", keep="first")
        assert [(g.keeper, [d.id for d in g.duplicates]) for g in found] == expected, type(form)
    assert [
        group.keeper
        for group in lookalike.find(
            {f"d{n}": tokens for n, tokens in enumerate(lists)}, keep="first"
        )
    ] == ["d0"]
    assert [group.keeper for group in lookalike.find(lists, tokens="given", keep="first")] == [0]
    assert lookalike.find(lists, tokens="given", case="keep").counts["groups"] == 0
    assert lookalike.dedup(lists, tokens="given", keep="first") == [lists[0], lists[2], lists[3]]
    assert lookalike.find(pa.array(lists), keep="first").counts["groups"] == 1
    pairs = [("x", ["a", "b", "c"]), ("y", ["a", "b", "c"])]
    assert lookalike.find(pairs).counts["groups"] == 1
    assert lookalike.prepare(lists, tokens="given")["shingles"] == [1, 1, 1, 0]
    with pytest.raises(DocumentTypeError, match="use tokens='given' for lists of tokens"):
        lookalike.find(lists)
    with pytest.raises(
        DocumentTypeError, match="row 1: a token of the text must be a str, got int"
    ):
        lookalike.find([["a"], [5]], tokens="given")
    with pytest.raises(
        DocumentTypeError,
        match="row 1: the text must be a list of tokens like those before, got str",
    ):
        lookalike.find([["a"], "b c"], tokens="given")
    with pytest.raises(OptionError, match="tokens='given' is for lists of tokens"):
        lookalike.find([A, B], tokens="given")
    with pytest.raises(OptionError, match="tokens='words' cuts texts"):
        lookalike.find(rows, text="words", tokens="words")
    with pytest.raises(OptionError, match="parts are removed from texts"):
        lookalike.dedup(rows, text="words", unit="line")
    with pytest.raises(DocumentError, match="row 1 has no text"):
        lookalike.find([["a"], None], tokens="given")


def test_index_ids_can_be_uuids(tmp_path: Path) -> None:
    first, second = uuid.uuid4(), uuid.UUID(int=5)
    with lookalike.Index.create(tmp_path / "ix") as index:
        assert index.add([(first, A), (second, "other words are here")]).added == 2
        index.add_one(uuid.UUID(int=7), "one more text of six words")
        assert first in index and str(first) in index and uuid.UUID(int=7) in index
        document = index.get(second)
        assert document is not None and document.id == str(second)
        assert [match.id for match in index.query(B)] == [str(first)]
        index.add_one(uuid.UUID(int=9), B)
        assert [match.id for match in index.query(id=first)] == [str(uuid.UUID(int=9))]
        assert index.remove(first).removed == 1 and first not in index
        assert index.remove([second, uuid.UUID(int=7)]).removed == 2
        frame = pytest.importorskip("pandas").DataFrame(
            {"id": [first, second], "text": [A, "other words"]}
        )
        assert index.add(frame).added == 2 and second in index
        with pytest.raises(DocumentTypeError, match="the id is"):
            index.add([(5.5, A)])


def test_evaluate_accepts_every_truth_form(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    docs = {"a": A, "b": B, "c": "other words are here now", "d": f"{A} and so on"}
    found = lookalike.find(docs)
    truth: list[Any] = [
        [("a", "b"), ("c", "d")],
        [["a", "b"], {"c", "d"}],
        {"a": 1, "b": 1, "c": 2, "d": 2},
        pandas.DataFrame({"id_a": ["a", "c"], "id_b": ["b", "d"]}),
        pandas.DataFrame({"id": list("abcd"), "cluster": [1, 1, 2, 2]}),
    ]
    (tmp_path / "truth.csv").write_text("id,cluster\na,1\nb,1\nc,2\nd,2\n")
    found.write(tmp_path / "groups.csv")
    truth += [tmp_path / "truth.csv", str(tmp_path / "truth.csv")]
    for known in truth:
        for side in (found, found.groups, tmp_path / "groups.csv"):
            e = lookalike.evaluate(side, known)
            assert (e.precision, e.recall, e.reported, e.truth, e.missed) == (
                1.0,
                0.5,
                1,
                2,
                [("c", "d")],
            )
    assert lookalike.evaluate(found, truth[1]).adjusted_rand_index is not None
    assert lookalike.evaluate(found, truth[0]).adjusted_rand_index is None
    pairs = lookalike.find(docs, pairs=True, threshold=0.5)
    assert lookalike.evaluate(pairs, [("a", "b")]).false_positives != []
    assert lookalike.evaluate(pairs, pairs, threshold=0.9).precision == 1.0
    assert lookalike.evaluate(pairs, pairs.pairs).details["different"]["count"] == 0
    rows = lookalike.find(texts(12))
    assert (
        lookalike.evaluate(
            rows, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], all_members=True
        ).f1
        == 1.0
    )
    for known, words in [
        (5, "truth: expected"),
        ([("a",), "b"], "truth: expected"),
        (pandas.DataFrame({"x": [1]}), "columns"),
    ]:
        with pytest.raises(OptionError, match=words):
            lookalike.evaluate(found, known)
    with pytest.raises(OptionError, match="the threshold is 2"):
        lookalike.evaluate(found, truth[0], threshold=2)
    (tmp_path / "bad.csv").write_text("id_a,id_b\nx\n")
    with pytest.raises(DocumentError, match=r"bad.csv"):
        lookalike.evaluate(found, tmp_path / "bad.csv")
    with pytest.raises(lookalike.errors.FileError):
        lookalike.evaluate(found, tmp_path / "nowhere.csv")


def test_pairs_of_a_reference() -> None:
    docs = {"a": "one two three four five six", "b": "One two three four five six!"}
    reference = {"k": "one, two, three, four, five, six"}
    found = lookalike.find(docs, reference=reference, pairs=True, reference_pairs=True)
    assert sorted(zip(found.pairs["id_a"], found.pairs["id_b"])) == [("a", "k"), ("b", "k")]
    assert len(lookalike.find(docs, reference=reference, pairs=True).pairs) == 3
    for arguments, missing in (
        ({"pairs": True}, "a reference"),
        ({"reference": reference}, "pairs=True"),
    ):
        with pytest.raises(OptionError, match=f"needs {missing}"):
            lookalike.find(docs, reference_pairs=True, **arguments)


def test_names_need_paths() -> None:
    docs = [
        {"text": "one two three four five six", "file": "minutes draft.txt"},
        {"text": "One two three four five six!", "file": "minutes.txt"},
    ]
    with pytest.raises(OptionError, match="keep='name' compares the names of files.*path_field"):
        lookalike.find(docs, keep="name")
    assert lookalike.find(docs, keep="name", path_field="file").is_kept == [False, True]
    docs[0]["file"] = "minutes final.txt"
    assert lookalike.find(docs, keep="name", path_field="file").is_kept == [True, False]
