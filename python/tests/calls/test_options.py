"""Options: hints for unknown names, and rules that constructors make."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike import Bytes, Chars, Field, PathPattern, Words
from lookalike._options import (
    _FOREIGN,
    FILE_OPTIONS,
    OPTIONS,
    CompareOptions,
    ContaminationOptions,
    CutFilesOptions,
    CutOptions,
    DedupFilesOptions,
    DedupOptions,
    FileOptions,
    FindFilesOptions,
    Options,
    PassageOptions,
    PrepareOptions,
    Reading,
    TuneOptions,
)
from lookalike.errors import OptionError

DOCS = texts(12)

#: Each function with its options.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "find": (lambda **o: lookalike.find(DOCS, **o), Options),
    "find_files": (lambda **o: lookalike.find_files(__file__, **o), FindFilesOptions),
    "dedup": (lambda **o: lookalike.dedup(DOCS, **o), DedupOptions),
    "dedup_files": (lambda **o: lookalike.dedup_files(__file__, **o), DedupFilesOptions),
    "cut": (lambda **o: lookalike.cut(DOCS, **o), CutOptions),
    "cut_files": (lambda **o: lookalike.cut_files(__file__, output="x", **o), CutFilesOptions),
    "Files": (lambda **o: lookalike.Files(__file__, **o), FileOptions),
    "passages": (lambda **o: lookalike.passages(DOCS, **o), PassageOptions),
    "contamination": (lambda **o: lookalike.contamination(DOCS, DOCS, **o), ContaminationOptions),
    "prepare": (lambda **o: lookalike.prepare(DOCS, **o), PrepareOptions),
    "tune": (lambda **o: lookalike.tune(DOCS, **o), TuneOptions),
    "compare": (lambda **o: lookalike.compare("a", "b", **o), CompareOptions),
}
#: Arguments with the same name as a keyword of another library, by function.
NAMED = {
    "compare": {"b"},
    "contamination": {"ngram"},
    "cut": {"min_words", "min_left"},
    "cut_files": {"min_words", "min_left", "output"},
    "dedup_files": {"output", "removed"},
    "passages": {"min_words"},
}


@pytest.mark.parametrize("name", sorted(_FOREIGN))
def test_keywords_of_other_libraries_name_ours(name: str) -> None:
    for function, (call, accepted) in FUNCTIONS.items():
        if name in NAMED.get(function, ()):
            continue
        assert name not in accepted.__optional_keys__
        with pytest.raises(OptionError) as raised:
            call(**{name: 1})
        text = str(raised.value)
        assert text == f"{function} has no option {name!r}; use {_FOREIGN[name]}"
        assert len(text) < 100 and "\n" not in text


def test_foreign_option_hints_name_existing_targets() -> None:
    """A hint names an option, ``id``, ``text``, or a function or attribute of the package."""
    named = {*OPTIONS, "id", "text", "progress"}
    for hint in _FOREIGN.values():
        for part in hint.split(" or "):
            option = part.partition("=")[0]
            if "=" in part:
                assert option.split()[-1] in named, hint
        for word in hint.replace(",", "").split():
            if word.startswith("lookalike."):
                assert hasattr(lookalike, word.removeprefix("lookalike.")), hint
    assert hasattr(lookalike.FindResult, "is_kept")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_misspelled_options_name_the_nearest(function: str) -> None:
    call, accepted = FUNCTIONS[function]
    for option in sorted(accepted.__optional_keys__):
        if len(option) < 5:
            continue
        misspelled = option[:-2] + option[-1] + option[-2]
        if misspelled == option:
            continue
        with pytest.raises(OptionError, match=f"^{function} has no option '{misspelled}'; did you"):
            call(**{misspelled: 1})


@pytest.mark.parametrize("option", sorted(FILE_OPTIONS))
def test_file_option_errors_suggest_files(option: str) -> None:
    for function in ("find", "dedup", "cut", "passages", "contamination", "prepare", "tune"):
        with pytest.raises(
            OptionError,
            match=rf"^{function} has no option '{option}'; pass it to lookalike\.Files\(paths, {option}=…\)",
        ):
            FUNCTIONS[function][0](**{option: None})


def test_misplaced_option_errors_suggest_help() -> None:
    for function, option in (("cut", "threshold"), ("passages", "threshold"), ("find", "drop")):
        with pytest.raises(
            OptionError,
            match=rf"^{function} has no option '{option}'; see help\(lookalike.{function}\) for options",
        ):
            FUNCTIONS[function][0](**{option: 0.5})


def test_every_option_has_a_meaning() -> None:
    for accepted in (*(options for _, options in FUNCTIONS.values()), Reading):
        assert accepted.__optional_keys__ <= {*OPTIONS}


# Rules that constructors make


RULES: list[tuple[Any, str, str]] = [
    (Words(5), "words:5", "Words(5)"),
    (Chars(9), "chars:9", "Chars(9)"),
    (Bytes(256), "bytes:256", "Bytes(256)"),
    (Field("date"), "field:date", "'field:date'"),
    (Field("date", least=True), "field:date:asc", "'field:date:asc'"),
    (PathPattern("*/final/*"), "path:*/final/*", "'path:*/final/*'"),
]


@pytest.mark.parametrize(("rule", "text", "shown"), RULES, ids=[text for _, text, _ in RULES])
def test_rules_are_their_texts(rule: Any, text: str, shown: str) -> None:
    assert rule == text and text == rule and hash(rule) == hash(text)
    assert isinstance(rule, str) and str(rule) == text and f"{rule}" == text
    assert repr(rule) == shown and {text: 1}[rule] == 1
    for copied in (pickle.loads(pickle.dumps(rule)), copy.copy(rule), copy.deepcopy(rule)):
        assert copied == text


@pytest.mark.parametrize("rule", [Words, Chars, Bytes])
@pytest.mark.parametrize("size", [0, -1, 257, 2**70, 1.5, "5", None, True])
def test_invalid_shingle_sizes_are_errors(rule: Any, size: Any) -> None:
    with pytest.raises(OptionError, match="^size: expected a whole number from 1"):
        rule(size)


@pytest.mark.parametrize("rule", [Field, PathPattern])
@pytest.mark.parametrize("name", ["", None, 5, b"a", ["a"]])
def test_invalid_rule_names_are_errors(rule: Any, name: Any) -> None:
    with pytest.raises(OptionError, match="^(name|pattern): expected"):
        rule(name)


def test_sizes_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    assert Words(numpy.int32(5)) == "words:5"


def test_rules_are_options() -> None:
    assert lookalike.find(DOCS, shingle=Words(3)).parameters["shingle"] == "words:3"
    for rule, text in ((Words(2), "words:2"), (Chars(4), "chars:4"), (Bytes(7), "bytes:7")):
        by_rule, by_text = (lookalike.prepare(DOCS, shingle=shingle) for shingle in (rule, text))
        assert by_rule["signature"] == by_text["signature"]
    rows = [{"text": DOCS[0], "rank": rank, "path": f"{rank}/a"} for rank in (2, 3, 1)]
    for keep, row in (
        (Field("rank"), 1),
        (Field("rank", least=True), 2),
        ([Field("rank", least=True), "first"], 2),
    ):
        assert lookalike.find(rows, keep=keep).groups["keeper"] == [row] * 3
    by_path = lookalike.find(rows, keep=PathPattern("3/*"), path_field="path")
    assert by_path.groups["keeper"] == [1] * 3
    assert lookalike.compare("a b c", "a b d", shingle=Words(2)).jaccard == pytest.approx(1 / 3)


def test_rules_are_settings_of_an_index(tmp_path: Path) -> None:
    with lookalike.Index.create(tmp_path / "index", shingle=Chars(7)) as index:
        assert index.settings["shingle"] == "chars:7"
    lookalike.Index.open(tmp_path / "index", shingle=Chars(7)).close()


@pytest.mark.parametrize("name", ["pairs", "estimates", "reference_pairs"])
def test_dedup_rejects_pair_list_options(name: str, tmp_path: Path) -> None:
    wrong: dict[str, Any] = {name: True}
    with pytest.raises(OptionError, match=f"^dedup has no option '{name}'"):
        lookalike.dedup(["one", "two"], **wrong)
    with pytest.raises(OptionError, match=f"^dedup_files has no option '{name}'"):
        lookalike.dedup_files(__file__, output=tmp_path / "kept", **wrong)
