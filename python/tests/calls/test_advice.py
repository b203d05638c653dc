"""Advice of a run: bands chosen for the documents, a warning about too many candidates, a setting
that finds more, and a caveat if the predicted recall does not hold."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import lookalike
from lookalike.errors import OptionError, RunawayWarning

CAVEAT = "does not hold for the scheme xor"


def words(seed: int, count: int, vocabulary: int = 50_000) -> list[str]:
    draw = random.Random(seed)
    return [f"w{draw.randrange(vocabulary)}" for _ in range(count)]


def forms(count: int) -> list[str]:
    """Texts of 60 words from a vocabulary of 40. Most pairs share words but are below the
    threshold."""
    return [" ".join(words(number, 60, 40)) for number in range(count)]


def revised(copies: int, others: int) -> list[str]:
    """Texts with copies in which every eighth word is changed, and texts without a copy."""
    texts = []
    for number in range(copies):
        text = words(number, 160)
        copy = [f"x{number}-{i}" if i % 8 == 7 else word for i, word in enumerate(text)]
        texts += [" ".join(copy), " ".join(text)]
    return texts + [" ".join(words(1_000 + number, 160)) for number in range(others)]


def jsonl(path: Path, texts: list[str]) -> Path:
    lines = (json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts))
    path.write_text("".join(lines))
    return path


def test_bands_are_chosen_for_the_documents(tmp_path: Path) -> None:
    texts = forms(400)
    path = jsonl(tmp_path / "in.jsonl", texts)
    # The ids are those of the file, because the sample of documents depends on them.
    documents = {f"d{n}": text for n, text in enumerate(texts)}
    found = lookalike.find(documents, shingle="bag", bands="auto")
    names = ["num_hashes", "bands", "rows", "bands_sample"]
    chosen = [found.parameters[name] for name in names]
    assert chosen[:3] != [128, 21, 6] and chosen[3] == 400
    report = tmp_path / "report.json"
    command = ["find", str(path), "--shingle", "bag", "--bands", "auto", "--report", str(report)]
    subprocess.run(
        [sys.executable, "-m", "lookalike", *command, "-q"], check=True, capture_output=True
    )
    assert [json.loads(report.read_text())["parameters"][name] for name in names] == chosen
    found.write_report(tmp_path / "ours.json")
    reported = json.loads((tmp_path / "ours.json").read_text())["parameters"]
    assert [reported[name] for name in names] == chosen
    read = lookalike.find_files(path, shingle="bag", bands="auto", num_hashes=256)
    assert read.parameters["num_hashes"] == 256 and read.parameters["bands_sample"] == 400
    written = lookalike.dedup_files(
        path, output=tmp_path / "out.jsonl", shingle="bag", bands="auto"
    )
    assert [written.parameters[name] for name in names] == chosen
    # An audit takes the chosen bands from the result or the report.
    assert lookalike.audit(found, sample=20).population == 400
    assert lookalike.audit(report, lookalike.Files(path), sample=20).population == 400
    assert "bands_sample" not in lookalike.find(documents).parameters
    tuned = lookalike.tune(documents, shingle="bag", bands="auto")
    assert [tuned.num_hashes, tuned.bands, tuned.rows] == chosen[:3]
    kept = lookalike.dedup(texts, shingle="bag", bands="auto")
    assert len(kept) == 400 - found.counts["duplicates"]


def test_inapplicable_auto_bands_are_errors() -> None:
    docs: Any = ["one text", "another text"]
    for options, reason in [
        ({"rows": 5}, "leave out rows"),
        ({"exact": True}, "nothing to choose"),
        ({"measure": "containment"}, "nothing to choose"),
    ]:
        for function in (lookalike.find, lookalike.dedup):
            with pytest.raises(OptionError, match=reason):
                function(docs, bands="auto", **options)
    with pytest.raises(OptionError, match="can be read only once, and bands='auto' reads"):
        lookalike.find_files(Path("/dev/null"), bands="auto", format="lines")
    with pytest.raises(
        OptionError, match="expected a whole number, or 'auto' for find, dedup and tune"
    ):
        lookalike.prepare(docs, bands="auto")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="got 'many'"):
        lookalike.find(docs, bands="many")  # type: ignore[arg-type]


def test_runaway_candidates_warn_once(tmp_path: Path) -> None:
    docs: Any = forms(2_500)
    options: Any = {"shingle": "bag", "threshold": 0.85}
    for call in (lookalike.find, lookalike.dedup):
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always")
            call(docs, **options)
        assert [(warning.category, warning.filename) for warning in reported] == [
            (RunawayWarning, __file__)
        ]
        text = str(reported[0].message)
        assert text.startswith("2,500 documents look alike without being similar"), text
        assert "bands='auto'" in text and "num_hashes=" in text, text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RunawayWarning):
            lookalike.find(docs, **options)
        lookalike.find(docs, **options, bands="auto")
    with lookalike.Index.create(tmp_path / "index", **options) as index:
        index.add((str(number), text) for number, text in enumerate(docs))
        with pytest.warns(RunawayWarning) as caught:
            index.groups()
        assert [warning.filename for warning in caught] == [__file__]


def test_few_results_suggest_a_better_setting(tmp_path: Path) -> None:
    docs = revised(20, 40)
    found = lookalike.find(docs)
    better = found.better_setting
    assert better is not None
    options = {"measure": "containment", "shingle": "words:2", "threshold": 0.3}
    assert better.pop("options") == options
    found.write_report(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["better_setting"] == better
    assert repr(lookalike.find(docs)) == (
        "FindResult(documents=80, groups=0, duplicates=0; 0 of 80 documents have a neighbour by "
        "these "
        "settings; 40 have one by measure='containment', shingle='words:2', threshold=0.3, and 40 "
        "of them share a passage with it; that setting is for copies with some words changed)"
    )
    named: Any = options
    more = lookalike.find(docs, **named)
    assert more.counts["duplicates"] == 20 and more.better_setting is None
    assert repr(more) == "FindResult(documents=80, groups=20, duplicates=20)"
    path = jsonl(tmp_path / "in.jsonl", docs)
    written = lookalike.dedup_files(path, output=tmp_path / "out.jsonl")
    assert written.better_setting is not None and written.better_setting["options"] == options
    assert repr(written).startswith(
        "DedupResult(kept=80, removed=0, files=1; 0 of 80 documents have"
    )


def versions(number: int) -> list[str]:
    """Two texts of 156 shingles each, of which they share 116."""
    text = words(number, 160)
    return [" ".join(text), " ".join(text[:120] + words(500 + number, 40))]


def parts(number: int) -> list[str]:
    text = words(number, 300)
    return [" ".join(text), " ".join(text[100:160])]


def records(number: int) -> list[str]:
    """Two texts of ten words that differ in one word."""
    text = words(number, 10)
    return [" ".join(text), " ".join([*text[:5], f"x{number}", *text[6:]])]


@pytest.mark.parametrize(
    ("pair", "length", "options"),
    [
        (versions, 160, {"threshold": 0.5}),
        (parts, 160, {"measure": "containment", "threshold": 0.5}),
        (records, 10, {"shingle": "bag"}),
    ],
)
def test_each_job_has_its_setting(pair: Any, length: int, options: dict[str, Any]) -> None:
    """Jobs and settings of ``docs/guides/choosing.md``, without default values."""
    docs = [text for number in range(20) for text in pair(number)]
    docs += [" ".join(words(1_000 + number, length)) for number in range(40)]
    better = lookalike.find(docs).better_setting
    assert better is not None and better["options"] == options, better
    assert lookalike.find(docs, **options).counts["duplicates"] == 20


def test_xor_predictions_carry_recall_caveat(tmp_path: Path) -> None:
    docs = ["one two three four five six seven", "One two three four five six seven!", "x"]
    for scheme in ("xor", "fss"):
        has_caveat = scheme == "xor"
        options: Any = {"scheme": scheme}
        found = lookalike.find(docs, **options)
        with lookalike.Index.create(tmp_path / scheme, **options) as index:
            index.add([("a", docs[0])])
            predictions = [
                found.parameters.get("recall_caveat"),
                lookalike.prepare(docs, **options).parameters.get("recall_caveat"),
                lookalike.tune(**options).recall_caveat,
                lookalike.audit(found).recall_caveat,
                index.settings.get("recall_caveat"),
                index.query(docs[1]).recall_caveat,
                index.query(docs[1], nearest=1).recall_caveat,
                index.query_many(docs)[0].recall_caveat,
                index.groups().parameters.get("recall_caveat"),
            ]
        for caveat in predictions:
            assert (CAVEAT in str(caveat)) == has_caveat, predictions
            assert has_caveat or caveat is None, predictions
