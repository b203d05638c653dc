"""Items of a benchmark in a corpus."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike import Files
from lookalike.errors import DocumentError, FileError, OptionError

QUIZ = [
    {
        "id": "q1",
        "question": "Which of the two trains arrives first, if both leave at noon and one is late?",
        "answer": "A",
    },
    {
        "id": "q2",
        "question": "How many words of this long question have to be found before it counts?",
        "answer": "Thirteen",
    },
]
CORPUS = {
    "page": "Exercise 7:\nWHICH of the two trains arrives\nfirst — if both leave at noon, and one is late?",
    "half": "How many words of this long question have to be — this goes on in another way",
    "other": "Thirteen pages of something else.",
}


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_items_and_matches() -> None:
    found = lookalike.contamination(CORPUS, QUIZ, against_field="question", ngram=8)
    assert found.items["id"] == ["q1", "q2"] and found.items["contaminated"] == [True, False]
    assert found.items["share"][0] == 1.0 and found.items["covered"] == [16, 10]
    assert found.benchmarks.to_pylist() == [
        {
            "benchmark": "against",
            "field": "question",
            "items": 2,
            "empty": 0,
            "contaminated": 1,
            "words": 30,
            "covered": 26,
        }
    ]
    assert (
        found.counts == {"documents": 3, "items": 2, "contaminated": 1, "skipped": 0}
        and len(found) == 2
    )
    assert repr(found) == "ContaminationResult(documents=3, items=2, contaminated=1)"
    for row in found.matches:
        text = CORPUS[row["document"]][row["char_start"] : row["char_end"]]
        question = next(item["question"] for item in QUIZ if item["id"] == row["id"])
        item = question[row["item_char_start"] : row["item_char_end"]]
        words = [lookalike.compare(text, item, shingle="bag").jaccard]
        assert words == [1.0]


def test_each_field_counts_by_itself() -> None:
    found = lookalike.contamination(CORPUS, QUIZ, against_field=["question", "answer"])
    assert found.items["field"] == ["question", "question", "answer", "answer"]
    assert found.items["contaminated"] == [True, False, False, True]
    assert found.benchmarks["contaminated"] == [1, 1]


def test_ids_keep_their_types() -> None:
    pa = pytest.importorskip("pyarrow")
    corpus = pa.table({"id": [7, 9], "text": [CORPUS["page"], CORPUS["other"]]})
    items = [item["question"] for item in QUIZ]
    found = lookalike.contamination(corpus, items)
    assert found.matches["document"] == [7] and found.matches["id"] == [0]
    assert pa.table(found.items).schema.field("id").type == pa.int64()
    found = lookalike.contamination(list(CORPUS.values()), {"x": items[0]})
    assert found.matches["document"] == [0] and found.matches["id"] == ["x"]


def test_contamination_files_match_command_line(tmp_path: Path, program: str) -> None:
    corpus = write(
        tmp_path / "web.jsonl", [{"id": id_, "text": text} for id_, text in CORPUS.items()]
    )
    quiz = write(tmp_path / "quiz.jsonl", QUIZ)
    found = lookalike.contamination(
        Files(corpus),
        Files(quiz),
        against_field=["question", "answer"],
        ngram=8,
        threshold=0.5,
    )
    assert found.items["contaminated"] == [True, True, False, True]
    assert found.items["benchmark"][0] == str(quiz)
    command = [
        program,
        "contamination",
        corpus,
        "--against",
        quiz,
        "--ngram",
        "8",
        "--threshold",
        "0.5",
        "--quiet",
    ]
    command += ["--against-field", "question", "--against-field", "answer"]
    other, own_file, zipped = (
        tmp_path / name for name in ("cli.jsonl", "items.jsonl", "items.jsonl.gz")
    )
    summary = subprocess.run(
        [*command, "-o", other, "--json"], check=True, capture_output=True
    ).stdout
    found.write(own_file)
    found.write(zipped)
    found.write_report(tmp_path / "report.json")
    assert own_file.read_bytes() == other.read_bytes() == gzip.decompress(zipped.read_bytes())
    assert (tmp_path / "report.json").read_bytes() == summary
    for path in (corpus, quiz):
        with pytest.raises(FileError, match="is an input"):
            found.write(path)
    with pytest.raises(FileError, match="items.csv"):
        found.write(tmp_path / "items.csv")
    in_memory = lookalike.contamination(CORPUS, Files(quiz), against_field="question", ngram=8)
    assert in_memory.items["covered"] == [16, 10]


def test_contaminated_frame_rows_can_be_dropped() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": list(CORPUS.values())})
    found = lookalike.contamination(frame, QUIZ, against_field="question")
    assert list(frame.drop(index=found.matches["document"]).index) == [1, 2]


def test_invalid_arguments_are_refused(tmp_path: Path) -> None:
    corpus = write(tmp_path / "web.jsonl", [{"id": "a", "text": "x y"}])
    items = write(tmp_path / "items.jsonl", [{"id": "a", "question": "x y"}])
    table = tmp_path / "table.csv"
    table.write_text("id,question\n1,What?\n")
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (CORPUS, QUIZ, {}, "'text' is missing"),
        (CORPUS, QUIZ, {"against_field": "qestion"}, "'qestion' is missing"),
        (CORPUS, QUIZ, {"against_field": []}, "against_field: expected"),
        (CORPUS, QUIZ, {"against_field": ["question", "question"]}, "against_field: expected"),
        (CORPUS, ["x"], {"against_field": "question"}, "^against_field='question' names a column"),
        (
            CORPUS,
            QUIZ,
            {"against_field": "question", "text": "body"},
            "^text='body' names a column",
        ),
        (CORPUS, ["a b"], {"ngram": 1}, "ngram: expected 2 words or more, got 1"),
        (CORPUS, ["a b"], {"threshold": 0}, "the threshold is 0"),
        (CORPUS, ["a b"], {"unit": "line"}, "contamination has no option 'unit'"),
        (CORPUS, ["a b"], {"keep": "first"}, "contamination has no option 'keep'"),
        (CORPUS, ["a b"], {"exact": True}, "contamination has no option 'exact'"),
        (CORPUS, [], {}, "the benchmark has no items"),
        (CORPUS, ["?!", ""], {}, "none of the 2 items"),
        (CORPUS, ["a", None], {}, "against, row 1 has no text"),
        (["a", None], ["a"], {}, "^row 1 has no text"),
        (Files(corpus), Files(corpus), {}, "belongs to both the corpus and against"),
        (
            Files(corpus),
            Files(items),
            {},
            'items.jsonl:1: no field "text".*name the field with against_field,',
        ),
        (
            Files(corpus),
            Files(items),
            {"against_field": ["question", "no"]},
            "name the field with against_field,",
        ),
        (Files(corpus), Files(table), {"against_field": "no"}, "table.csv.*against_field"),
        (
            Files(items),
            Files(corpus),
            {},
            'items.jsonl:1: no field "text".*name the field with text',
        ),
    ]
    for docs, against, options, words in cases:
        with pytest.raises((OptionError, DocumentError, FileError), match=words) as raised:
            lookalike.contamination(docs, against, **options)
        assert "--" not in str(raised.value), raised.value
    found = lookalike.contamination(["a", None], ["a", None], skip_bad=True)
    assert found.counts["skipped"] == 2 and sorted(found.skipped["source"]) == [
        "against",
        "documents",
    ]
    assert found.skipped["row"] == [1, 1] and found.skipped["line"] == [2, 2]


def test_contamination_reports_stoppable_progress() -> None:
    stages: list[str] = []
    found = lookalike.contamination(
        CORPUS,
        QUIZ,
        against_field="question",
        progress=lambda stage, done, total: stages.append(stage),
    )
    assert found.counts["contaminated"] == 1 and len(set(stages)) == 2

    class Enough(Exception):
        pass

    def stop(stage: str, done: int, total: int | None) -> None:
        raise Enough

    with pytest.raises(Enough):
        lookalike.contamination(CORPUS, QUIZ, against_field="question", progress=stop)
