"""Repeated passages are found and cut out of documents of every kind, as on the command line."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import ChangedError, DocumentError, DocumentTypeError, FileError, OptionError

NOTICE = "This message is confidential; if it is not for you, please delete it."
DOCS = {
    "a": f"Dear Ada, the train is late. {NOTICE}",
    "b": f"Dear Ben — the hall is closed!\r\n\r\n{NOTICE.upper()}",
    "c": "Nothing here is said by anybody else, at no place.",
}
TEXTS = list(DOCS.values())


def jsonl(path: Path, docs: dict[str, str] = DOCS) -> Path:
    lines = (
        json.dumps({"id": id_, "text": text, "n": 1}, ensure_ascii=False)
        for id_, text in docs.items()
    )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_passage_tables_locate_passages() -> None:
    found = lookalike.passages(DOCS, min_words=8)
    assert [(p.words, p.places, p.documents, p.id) for p in found] == [(13, 2, 2, "b")]
    assert found.passages.column_names == [
        "passage",
        "words",
        "places",
        "documents",
        "id",
        "row",
        "text",
    ]
    assert found.passages["text"] == [NOTICE.upper().rstrip(".")] and len(found) == 1
    places = found.places
    assert (
        places["id"] == ["b", "a"] and places["row"] == [1, 0] and places["first"] == [True, False]
    )
    for row, start, end in zip(places["row"], places["char_start"], places["char_end"]):
        assert TEXTS[row][start:end].lower() == NOTICE.rstrip(".").lower()
    for row, start, end in zip(places["row"], places["byte_start"], places["byte_end"]):
        assert TEXTS[row].encode()[start:end].decode().lower() == NOTICE.rstrip(".").lower()
    assert found.counts["copied_words"] == 13 and found.sources["copied_words"] == [13]
    assert found.text("a") == found.text(0) == found.text(id="a") == DOCS["a"]
    assert set(found.seconds) == {"read and sign", "find repeated passages", "compare words"}
    assert "confidential" in found._repr_html_()
    with pytest.raises(TypeError, match="cannot pickle or copy .*found.passages, found.places"):
        __import__("pickle").dumps(found)


def test_keep_order_selects_first_place() -> None:
    assert lookalike.passages(DOCS, min_words=8, keep="shortest").passages["id"] == ["a"]
    rows = [{"text": text, "rank": rank} for rank, text in enumerate(TEXTS)]
    assert lookalike.passages(rows, min_words=8, keep="field:rank:asc").passages["id"] == [0]
    assert len(lookalike.passages(DOCS, min_words=8, case="keep")) == 0


def test_passages_of_files_equal_memory(tmp_path: Path) -> None:
    of_files = lookalike.passages(lookalike.Files(jsonl(tmp_path / "in.jsonl")), min_words=8)
    held = lookalike.passages(DOCS, min_words=8)
    for name in of_files.places.column_names:
        assert of_files.places[name] == held.places[name], name
    assert "row" not in of_files.places.column_names
    assert of_files.sources["source"] == [str(tmp_path / "in.jsonl")]
    assert of_files.text("c") == DOCS["c"]


@pytest.mark.parametrize("option", [(), ("--keep", "first"), ("--case", "keep")])
def test_passage_files_match_command_line(
    tmp_path: Path, program: str, option: tuple[str, ...]
) -> None:
    path = jsonl(tmp_path / "in.jsonl")
    named: Any = {name.removeprefix("--"): value for name, value in zip(option[::2], option[1::2])}
    found = lookalike.passages(lookalike.Files(path), min_words=4, **named)
    for mine, write, how in [
        ("p.jsonl", found.write, "--output"),
        ("p.csv", found.write, "--output"),
        ("p.html", found.write_report, "--report"),
        ("p.json", found.write_report, "--report"),
    ]:
        other = tmp_path / f"cli-{mine}"
        subprocess.run(
            [program, "passages", path, "--min-words", "4", "--quiet", how, other, *option],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        write(tmp_path / mine)
        assert (tmp_path / mine).read_bytes() == other.read_bytes()
    with pytest.raises(FileError, match="p.txt"):
        found.write(tmp_path / "p.txt")
    with pytest.raises(FileError, match="is an input"):
        found.write(path)


def test_frames_get_other_texts() -> None:
    cut = [DOCS["a"].removesuffix(NOTICE) + ".", DOCS["b"], DOCS["c"]]
    options: Any = {"min_words": 8}
    assert lookalike.cut(TEXTS, **options) == cut
    assert lookalike.cut(tuple(TEXTS), **options) == cut
    assert lookalike.cut(iter(TEXTS), **options) == cut
    assert lookalike.cut(DOCS, **options) == dict(zip(DOCS, cut))
    pairs = list(DOCS.items())
    assert lookalike.cut(pairs, **options) == list(zip(DOCS, cut))
    assert lookalike.cut([list(pair) for pair in pairs], **options) == [
        list(pair) for pair in zip(DOCS, cut)
    ]
    rows = [{"body": text, "n": n} for n, text in enumerate(TEXTS)]
    kept = lookalike.cut(rows, text="body", **options)
    assert kept == [{"body": text, "n": n} for n, text in enumerate(cut)]
    assert kept[1] is rows[1] and rows[0]["body"] == DOCS["a"], (
        "what stays is not copied, what was given not changed"
    )


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_arrow_gets_other_texts(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    type_ = pa.dictionary(pa.int32(), pa.string()) if kind == "dictionary" else getattr(pa, kind)()
    column = pa.array(TEXTS, type_) if kind != "dictionary" else pa.array(TEXTS).dictionary_encode()
    table = pa.table({"n": [1, 2, 3], "text": column}, metadata={"of": "test"})
    cut = lookalike.cut(TEXTS, min_words=8)
    for form in (
        table,
        table.to_batches()[0],
        pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    ):
        kept = lookalike.cut(form, min_words=8)
        assert type(kept) is type(form) and kept["text"].to_pylist() == cut
        assert kept["n"].to_pylist() == [1, 2, 3] and kept.schema.metadata == {b"of": b"test"}
        assert kind == "dictionary" or kept.schema.field("text").type == type_
    for array in (column, pa.chunked_array([column])):
        kept = lookalike.cut(array, min_words=8)
        assert type(kept) is type(array) or kind == "dictionary"
        assert kept.to_pylist() == cut


def test_other_frames_get_other_texts() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    datasets = pytest.importorskip("datasets")
    cut = lookalike.cut(TEXTS, min_words=8)
    options: Any = {"min_words": 8}
    for dtype in (object, "string", "category", "string[pyarrow]"):
        frame = pandas.DataFrame(
            {"text": pandas.Series(TEXTS, dtype=dtype), "n": [1, 2, 3]}
        ).set_axis([7, 8, 9])
        kept = lookalike.cut(frame, **options)
        assert kept["text"].tolist() == cut and list(kept.index) == [7, 8, 9], dtype
        assert frame["text"].tolist() == TEXTS
        assert lookalike.cut(frame["text"], **options).tolist() == cut
    for of in (polars.String, polars.Categorical, polars.Enum(TEXTS)):
        table = polars.DataFrame({"text": polars.Series(TEXTS, dtype=of), "n": [1, 2, 3]})
        assert lookalike.cut(table, **options)["text"].to_list() == cut
        assert lookalike.cut(table.lazy(), **options).columns == ["text", "n"]
        assert lookalike.cut(table["text"], **options).to_list() == cut
    dataset = datasets.Dataset.from_dict({"n": [1, 2, 3], "text": TEXTS})
    kept = lookalike.cut(dataset, **options)
    assert (
        isinstance(kept, datasets.Dataset)
        and kept["text"][:] == cut
        and kept.column_names == ["n", "text"]
    )
    backwards = lookalike.cut(dataset.select([2, 1, 0]), **options)
    assert backwards["text"][:] == cut[::-1] and backwards["n"][:] == [3, 2, 1]


def test_min_left_removes_short_remainders() -> None:
    docs = [f"Short. {NOTICE}", f"A somewhat longer letter that comes first. {NOTICE}", "", "?!"]
    assert lookalike.cut(docs, min_words=8) == ["Short. .", docs[1], "", "?!"]
    assert lookalike.cut(docs, min_words=8, min_left=2) == [docs[1], "", "?!"]
    by_sentence = lookalike.cut(docs, min_words=8, at="sentence")
    assert by_sentence == ["Short. ", docs[1], "", "?!"]


def test_boilerplate_is_cut_everywhere() -> None:
    pages = [{"text": f"Page {n} says this and that. {NOTICE}", "site": "x"} for n in range(4)]
    pages += [{"text": f"Only one of its site. {NOTICE}", "site": "y"}]
    options: Any = {"min_words": 8}
    for more in ({"min_documents": 3}, {"min_share": 0.5}):
        kept = lookalike.cut(pages, **options, **more)
        assert [NOTICE[:20] in page["text"] for page in kept] == [False] * 5
    kept = lookalike.cut(pages, **options, min_documents=3, per_source=True, source_field="site")
    assert [NOTICE[:20] in page["text"] for page in kept] == [False] * 4 + [True]


def test_cut_removes_reference_passages() -> None:
    kept = lookalike.cut([f"New: {NOTICE}", "other"], reference=[NOTICE], min_words=8)
    assert kept == ["New: .", "other"]


def test_bad_rows_are_left_out() -> None:
    docs = [None, *TEXTS]
    with pytest.raises(DocumentError, match="row 0 has no text"):
        lookalike.passages(docs)
    found = lookalike.passages(docs, min_words=8, skip_bad=True)
    assert found.places["row"] == [2, 1] and found.skipped["row"] == [0]
    assert found.text(2) == DOCS["b"]
    cut = lookalike.cut(docs, min_words=8, skip_bad=True)
    assert cut == lookalike.cut(TEXTS, min_words=8)


def test_files_are_cut(tmp_path: Path, program: str) -> None:
    path, out, other = jsonl(tmp_path / "in.jsonl"), tmp_path / "out.jsonl", tmp_path / "cli.jsonl"
    for more in ({}, {"at": "sentence"}, {"min_left": 7}, {"keep": "shortest"}):
        options: Any = more
        written = lookalike.cut_files(path, output=out, min_words=8, **options)
        typed = [f"--{name.replace('_', '-')}={value}" for name, value in more.items()]
        command = [program, "cut", path, "-o", other, "--min-words", "8", "--quiet", *typed]
        subprocess.run(command, check=True)
        assert out.read_bytes() == other.read_bytes()
        left_out = int("min_left" in more)
        assert (written.kept, written.removed, written.changed) == (
            3 - left_out,
            left_out,
            1 - left_out,
        )
        assert written.sources is not None and written.sources["removed"] == [left_out]
        assert written.sources["cut_words"][0] >= 13
    assert repr(written) == "CutResult(kept=3, removed=0, files=1, changed=1, dropped=0)"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"threshold": 0.5}, "cut has no option 'threshold'; see help.lookalike.cut. for options"),
    ({"shingle": "words:3"}, "cut has no option 'shingle'"),
    ({"bands": 3}, "cut has no option 'bands'"),
    ({"annotate": True}, "cut has no option 'annotate'"),
    ({"removed": "x.csv"}, "cut has no option 'removed'; use lookalike.dedup_files"),
    ({"output": "x.jsonl"}, "cut has no option 'output'; use .* lookalike.cut_files"),
    ({"unit": "line"}, "cut has no option 'unit'"),
    ({"normalize": "language:auto"}, "leave language:auto and segment:dictionary out"),
    ({"min_words": 1}, "min_words cannot be .*expected a number of words from 2"),
    ({"min_words": "8"}, "min_words: expected a whole number"),
    ({"at": "page"}, "at: expected 'word' or 'line'"),
    ({"min_documents": 1}, "min_documents: expected 2 or more, got 1"),
    ({"min_share": 2}, "min_share: expected a number above 0"),
    ({"per_source": True}, "add min_documents or min_share"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_cut_rejects_invalid_options(number: int) -> None:
    options, words = REFUSED[number]
    with pytest.raises(OptionError, match=words) as raised:
        lookalike.cut(TEXTS, **options)
    assert "--" not in str(raised.value)


def test_dedup_errors_suggest_other_functions() -> None:
    for options, words in [
        ({"passages": True}, "dedup has no option 'passages'; use lookalike.cut$"),
        ({"min_words": 8}, "dedup has no option 'min_words'; use lookalike.cut$"),
        ({"removed": "x.csv"}, "dedup has no option 'removed'; use lookalike.dedup_files$"),
    ]:
        with pytest.raises(OptionError, match=words):
            lookalike.dedup(TEXTS, **options)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="unit removes parts of them; leave one out"):
        lookalike.dedup(TEXTS, unit="paragraph", annotate=True)


def test_passage_search_rejects_invalid_options() -> None:
    for options, words in [
        ({"threshold": 0.5}, "passages has no option 'threshold'"),
        ({"shingle": "bag"}, "passages has no option 'shingle'"),
        ({"language": "auto"}, "passages has no option 'language'; use normalize='language:auto'"),
        ({"normalize": "language:auto"}, "leave language:auto and segment:dictionary out"),
        ({"min_words": 0}, "min_words cannot be .0.; expected a number of words from 2"),
        ({"keep": "newest"}, "documents in memory have none"),
        ({"minwords": 3}, "did you mean 'min_words'"),
    ]:
        with pytest.raises(OptionError, match=words):
            lookalike.passages(TEXTS, **options)  # type: ignore[arg-type]
    with pytest.raises(DocumentTypeError, match="a set, which has no order"):
        lookalike.passages(set(TEXTS))


def test_passages_of_units() -> None:
    docs = ["One two three. One two three. Other.", "x"]
    found = lookalike.passages(docs, min_words=3, unit="sentence")
    assert found.places["id"] == ["0#1", "0#2"] and found.places["row"] == [0, 0]
    assert found.text("0#2") == "One two three."


def test_progress_ends_the_work() -> None:
    class Enough(Exception):
        pass

    stages: list[str] = []

    def tell(stage: str, done: int, total: int | None) -> None:
        stages.append(stage)
        if stage == "find repeated passages":
            raise Enough

    docs = [f"{i} {NOTICE * 3} {i}" for i in range(2000)]
    with pytest.raises(Enough):
        lookalike.passages(docs, min_words=8, progress=tell)
    assert stages[0] == "read and sign"
    with pytest.raises(Enough):
        lookalike.cut(docs, min_words=8, progress=tell)


def test_changed_passage_files_are_errors(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "in.jsonl")
    found = lookalike.passages(lookalike.Files(path), min_words=8)
    jsonl(path, {"a": "something else"})
    with pytest.raises(ChangedError):
        found.text("b")


def test_two_searches_at_once() -> None:
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(len(lookalike.passages(DOCS, min_words=8))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 4
