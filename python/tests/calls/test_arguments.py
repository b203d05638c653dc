"""Invalid arguments raise an error of the package that names the argument."""

from __future__ import annotations

import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike
import lookalike.ray
import lookalike.spark
from lookalike.errors import DocumentError, DocumentTypeError, FileError, OptionError

DOCS = ["one two three four five six", "One two three four five six!", "other words are here now"]
FOUND = lookalike.find(DOCS)
TUNED = lookalike.tune()


def call(function: Callable[..., Any], *args: Any, **named: Any) -> Callable[[], Any]:
    return lambda: function(*args, **named)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    *((call(lookalike.tune, DOCS, documents=d), "documents: expected") for d in (-1, "x", 0, True)),
    *((call(lookalike.tune, DOCS, sample=s), "sample: expected") for s in (-1, "x", 0, True, None)),
    *((call(lookalike.tune, DOCS, shingles=s), "shingles: expected") for s in ([1], 5, "words:3")),
    *((call(TUNED.curve, c), "similarities: expected") for c in (None, 0.5, ["x"], [None])),
    (call(lookalike.audit, FOUND, sample=True), "sample: expected"),
    (call(lookalike.audit, FOUND, seed=True), "seed: expected"),
    (call(lookalike.audit, FOUND, confidence="x"), "confidence: expected"),
    (call(lookalike.audit, FOUND, confidence=2), "^confidence 2 "),
    (call(lookalike.audit, FOUND, text="body"), "text belongs to a report"),
    (call(lookalike.audit, FOUND, reference=DOCS), "reference belongs to a report"),
    (call(lookalike.audit, FOUND, id=False), "id belongs to a report"),
    (call(lookalike.audit, FOUND, skip_bad=True), "skip_bad belongs to a report"),
    (call(lookalike.audit, FOUND, keep="first"), "audit has no option 'keep'"),
    (call(lookalike.audit, 5, DOCS), "found: expected"),
    (call(lookalike.compare, "a", "b", differences=1), "differences: expected"),
    (call(lookalike.compare, "a", "b", threads=2), "compare has no option 'threads'"),
    (call(lookalike.compare, "a", "b", skip_bad=True), "skip_bad: expected none"),
    (call(lookalike.tune, DOCS, threads=2), "tune has no option 'threads'"),
    (call(lookalike.prepare, DOCS, keep="first"), "prepare has no option 'keep'"),
    (call(lookalike.prepare, DOCS, memory="1GiB"), "prepare has no option 'memory'"),
    (call(FOUND.text, -1), "row: expected"),
    (call(FOUND.text, "0"), "row: expected"),
    (call(FOUND.write, 5), "path: expected"),
    (call(FOUND.write, "a\0b.csv"), "path: expected"),
    (call(lookalike.dedup_files, __file__, output=5), "output: expected"),
    (call(lookalike.find, DOCS, text=5), "text: expected"),
    (call(lookalike.find, DOCS, text="\ud800"), "text: expected"),
    (call(lookalike.find, DOCS, id=True), "id: expected"),
    (call(lookalike.find, DOCS, memory="much"), "^memory: expected an amount"),
    (call(lookalike.find_files, __file__, max={"file_size": "much"}), "^file_size: expected"),
    (call(lookalike.spark.dedup, None, add=True), "add works with lookalike.dedup.*leave it out"),
    (call(lookalike.ray.dedup, None, add=True), "add works with lookalike.dedup.*leave it out"),
    (
        call(lookalike.ray.find, None, partitions=2**31),
        r"^partitions: expected a whole number from 1 to 2\*\*31 - 1, got",
    ),
    (
        call(lookalike.spark.audit, DOCS),
        "^found: expected a result of lookalike.spark.find, got builtins.list; audit",
    ),
    (
        call(lookalike.find, DOCS, add=True),
        "find has no option 'add'; see help.lookalike.find. for options",
    ),
    (call(lookalike.find_files, __file__, format="xml"), "text, lines, .*file, mbox, warc or tar"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_option_errors_contain_no_flags(number: int) -> None:
    refused, words = REFUSED[number]
    with pytest.raises(OptionError, match=words) as raised:
        refused()
    assert "--" not in str(raised.value)


def test_memory_functions_reject_file_options(tmp_path: Path) -> None:
    functions: list[Callable[..., Any]] = [
        lookalike.find,
        lookalike.dedup,
        lookalike.cut,
        lookalike.passages,
        lookalike.prepare,
        lookalike.tune,
        call_contamination,
    ]
    options: dict[str, Any]
    for options in ({"format": "jsonl"}, {"html": "main"}, {"max": {"pages": 3}}):
        name = next(iter(options))
        for function in functions:
            with pytest.raises(
                OptionError,
                match=f"has no option '{name}'; pass it to lookalike.Files.paths, {name}=…",
            ):
                function(DOCS, **options)
    (tmp_path / ".a.txt").write_text(DOCS[0])
    reference = lookalike.Files(tmp_path, all_files=True)
    assert lookalike.find(DOCS, reference=reference).counts["reference"] == 1


def call_contamination(docs: list[str], **options: Any) -> lookalike.ContaminationResult:
    return lookalike.contamination(docs, docs, **options)


def test_dedup_looks_at_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(OptionError, match="annotate: expected True or False"):
        lookalike.dedup(DOCS, annotate=1)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="annotate: expected True or False"):
        lookalike.dedup_files(tmp_path / "a.jsonl", annotate=1)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="output: expected a name without lone surrogates"):
        lookalike.dedup_files(tmp_path / "a.jsonl", output="\ud800.jsonl")


def test_text_rejects_unknown_rows() -> None:
    for row in (3, 2**40):
        with pytest.raises(
            DocumentError, match=f"document {row} does not exist; the run read 3 documents"
        ):
            FOUND.text(row)


def test_compare_rejects_missing_texts() -> None:
    with pytest.raises(DocumentTypeError, match="row 1: the second text") as raised:
        lookalike.compare("a", None)  # type: ignore[arg-type]
    assert raised.value.row == 1 and "skip_bad" not in str(raised.value)


def test_paths_may_be_bytes(tmp_path: Path) -> None:
    for name, write in (("groups.csv", FOUND.write), ("report.json", FOUND.write_report)):
        write(str(tmp_path / name).encode())  # type: ignore[arg-type]
        assert (tmp_path / name).stat().st_size > 0
    report = str(tmp_path / "report.json").encode()
    assert lookalike.audit(report, DOCS).recall == 1.0  # type: ignore[arg-type]


def test_none_selects_default_options() -> None:
    with_none = lookalike.find(DOCS, threshold=None, recall=None, progress=None, keep=None)
    assert with_none.parameters == FOUND.parameters
    assert lookalike.tune(threshold=None, shingles=None, progress=None).bands == TUNED.bands


def test_numbers_of_other_packages() -> None:
    numpy = pytest.importorskip("numpy")
    assert lookalike.audit(FOUND, sample=numpy.int64(2), confidence=numpy.float32(0.5)).sampled == 2
    assert FOUND.text(numpy.int32(0)) == DOCS[0]


def test_audit_validates_its_threads() -> None:
    assert lookalike.audit(FOUND, threads=1, seed=3).recall == 1.0
    with pytest.raises(OptionError, match="threads"):
        lookalike.audit(FOUND, threads=5000)


@pytest.mark.parametrize(
    "function",
    [
        lookalike.find,
        lookalike.find_files,
        lookalike.dedup,
        lookalike.dedup_files,
        lookalike.cut,
        lookalike.cut_files,
        lookalike.Files.__init__,
        lookalike.passages,
        lookalike.contamination,
        lookalike.prepare,
        lookalike.compare,
        lookalike.audit,
        lookalike.tune,
    ],
)
def test_option_hints_resolve_at_runtime(function: Callable[..., Any]) -> None:
    assert "options" in typing.get_type_hints(function)


def test_missing_file_errors_have_errno(tmp_path: Path) -> None:
    with pytest.raises(FileError) as raised:
        lookalike.find_files(tmp_path / "nowhere.jsonl")
    assert raised.value.errno == 2 and "nowhere.jsonl' does not exist; check the path" in str(
        raised.value
    )
    (tmp_path / "r.json").write_text("{}\n")
    with pytest.raises(lookalike.errors.LookalikeError) as other:
        lookalike.audit(tmp_path / "r.json", DOCS)
    assert "> report" not in str(other.value)
