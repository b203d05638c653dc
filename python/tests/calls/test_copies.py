"""Results can be pickled and copied, or raise an error of one line."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike

DOCS = ["one two three four five six", "One two three four five six!", "other words are here now"]


def found() -> lookalike.FindResult:
    return lookalike.find(DOCS, pairs=True, decisions=[{"decision": "keep", "documents": ["2"]}])


def jsonl(folder: Path) -> Path:
    path = folder / "docs.jsonl"
    path.write_text("".join(f'{{"id": "d{n}", "text": "{text}"}}\n' for n, text in enumerate(DOCS)))
    return path


def of_index(folder: Path, read: Callable[[lookalike.Index], Any]) -> Any:
    with lookalike.Index.create(folder / "index", threshold=0.5, store="originals") as index:
        index.add({f"d{n}": text for n, text in enumerate(DOCS)})
        index.update({"d2": "another text of a few words", "dots": "..."})
        index.categorise()
        return read(index)


#: The public classes of results and of their parts, each with a function that creates an object.
MADE: dict[str, Callable[[Path], Any]] = {
    "AddResult": lambda folder: of_index(
        folder, lambda index: index.add_files(jsonl(folder), on_existing="keep")
    ),
    "AuditResult": lambda _: lookalike.audit(found()),
    "Category": lambda folder: of_index(folder, lambda index: index.categories()[0]),
    "CompareResult": lambda _: lookalike.compare(*DOCS[:2], differences=True),
    "CutResult": lambda folder: lookalike.cut_files(
        jsonl(folder), output=folder / "cut.jsonl", min_words=3
    ),
    "DecisionCounts": lambda _: found().decisions,
    "DedupResult": lambda folder: lookalike.dedup_files(
        jsonl(folder), output=folder / "kept.jsonl"
    ),
    "Difference": lambda _: lookalike.compare(*DOCS[:2], differences=True).differences[0],
    "DifferenceCounts": lambda _: lookalike.compare(*DOCS[:2], differences=True).difference_counts,
    "Document": lambda folder: of_index(folder, lambda index: index.get("d0")),
    "DocumentVersion": lambda folder: of_index(folder, lambda index: index.versions("d2")[0]),
    "EvaluateResult": lambda _: lookalike.evaluate(found(), [(0, 1)]),
    "Explanation": lambda _: found().explain(0, 1),
    "Group": lambda _: found()[0],
    "IndexStats": lambda folder: of_index(folder, lambda index: index.stats()),
    "Match": lambda folder: of_index(folder, lambda index: index.query(DOCS[0])[0]),
    "Matches": lambda folder: of_index(folder, lambda index: index.query(DOCS[0])),
    "Member": lambda _: found()[0].duplicates[0],
    "OriginalStats": lambda folder: of_index(folder, lambda index: index.stats().originals),
    "Passage": lambda _: next(iter(lookalike.passages(DOCS, min_words=3))),
    "PrepareResult": lambda _: lookalike.prepare(DOCS),
    "Problem": lambda _: lookalike.Problem(*range(len(lookalike.Problem._fields))),
    "RemoveResult": lambda folder: of_index(folder, lambda index: index.remove(["d0", "x"])),
    "SkippedRecord": lambda _: lookalike.SkippedRecord("a.jsonl", 3, "x", "the text is missing"),
    "Table": lambda _: found().groups,
    "TuneResult": lambda _: lookalike.tune(DOCS),
    "Files": lambda _: lookalike.Files(["a", Path("b")], include="*.txt", max={"pages": 3}),
}
#: Results that refer to documents or to an open index, with words of the error message.
REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "FindResult": (lambda _: found(), "found.groups, found.pairs, found.skipped"),
    "PassagesResult": (
        lambda _: lookalike.passages(DOCS, min_words=3),
        "found.passages, found.places",
    ),
    "ContaminationResult": (
        lambda _: lookalike.contamination(DOCS, DOCS[:1]),
        "found.items, found.matches, found.benchmarks",
    ),
    "Index": (
        lambda folder: lookalike.Index.create(folder / "open"),
        "lookalike.Index.open(path, read_only=True)",
    ),
}
#: Public classes that describe options.
OTHERS = {
    "Bytes",
    "Chars",
    "CutOptions",
    "DedupOptions",
    "Field",
    "FileOptions",
    "Limits",
    "Options",
    "PathPattern",
    "Words",
}


def values(result: Any) -> Any:
    """Returns the values of a result in a form that can be compared."""
    if isinstance(result, lookalike.Table):
        skipped = getattr(result, "skipped", None)
        return (
            result.to_pydict(),
            result.column_types,
            getattr(result, "parameters", None),
            None if skipped is None else skipped.to_pydict(),
        )
    if isinstance(result, lookalike.Matches):
        return list(result), {name: getattr(result, name) for name in type(result).__slots__}
    if isinstance(result, lookalike.Files):
        return result.paths, result.options
    if dataclasses.is_dataclass(result):
        return {
            field.name: values(getattr(result, field.name)) for field in dataclasses.fields(result)
        }
    return result


def test_every_public_class_is_here() -> None:
    public = {
        name
        for name in lookalike.__all__
        if isinstance(getattr(lookalike, name), type) and name != "Documents"
    }
    assert public == {*MADE, *REFUSED, *OTHERS}


@pytest.mark.parametrize("name", MADE)
def test_results_are_pickled_and_copied(name: str, tmp_path: Path) -> None:
    result = MADE[name](tmp_path)
    assert type(result) is getattr(lookalike, name)
    copies = [pickle.loads(pickle.dumps(result, protocol)) for protocol in range(2, 6)]
    for copied in (*copies, copy.copy(result), copy.deepcopy(result)):
        assert type(copied) is type(result) and values(copied) == values(result)
        assert repr(copied) == repr(result)


@pytest.mark.parametrize("name", REFUSED)
def test_other_results_refuse_to_be_copied(name: str, tmp_path: Path) -> None:
    make, words = REFUSED[name]
    result = make(tmp_path)
    assert type(result) is getattr(lookalike, name)
    for refused in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError) as raised:
            refused(result)
        text = str(raised.value)
        assert (
            words in text
            and re.search("(pickle|pickled) or (deep-)?(copy|copied)", text)
            and "\n" not in text
        )
    if name == "FindResult":
        assert copy.copy(result) is result
    else:
        with pytest.raises(TypeError, match="cop(y|ied)"):
            copy.copy(result)


def test_result_parts_can_be_pickled() -> None:
    result = found()
    parts: list[Any] = [result.groups, result.pairs, result.skipped, result.counts, list(result)]
    for part in parts:
        assert values(pickle.loads(pickle.dumps(part))) == values(part)


def test_copied_results_still_work() -> None:
    table = copy.deepcopy(found().groups)
    assert table["id"] == found().groups["id"] and table.to_pylist()
    compared = pickle.loads(pickle.dumps(lookalike.compare(*DOCS[:2], differences=True)))
    assert "<" in compared._repr_html_()
    tuned = copy.copy(lookalike.tune(DOCS))
    assert tuned.curve([0.8]) == lookalike.tune(DOCS).curve([0.8])
    files = pickle.loads(pickle.dumps(lookalike.Files(__file__, format="text")))
    assert lookalike.find(files).counts["documents"] == 1
