"""The program and the module return the same bytes for the same documents, as documented."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lookalike

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "fixtures" / "sample"


def sample() -> dict[str, str]:
    """Returns the texts of the sample by their names, in reading order."""
    paths = sorted(SAMPLE.rglob("*.txt"), key=lambda path: path.relative_to(SAMPLE).as_posix())
    return {path.relative_to(SAMPLE).as_posix(): path.read_text("utf-8") for path in paths}


def records(texts: dict[str, str], path: Path) -> str:
    lines = [json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()]
    path.write_text("".join(lines))
    return str(path)


CHOICES: list[dict[str, Any]] = [
    {},
    {"threshold": 0.5, "recall": 0.9999},
    {"threshold": 0.5, "exact": True, "keep": "shortest"},
    {"threshold": 0.6, "measure": "containment"},
    {"threshold": 0.5, "shingle": "chars:5", "group": "components"},
    {"threshold": 0.7, "seed": 7, "num_hashes": 256, "threads": 1},
]


def arguments(options: dict[str, Any]) -> list[str]:
    flags = [(f"--{name.replace('_', '-')}", value) for name, value in options.items()]
    return [
        word for flag, value in flags for word in ([flag] if value is True else [flag, str(value)])
    ]


OUTPUTS = [
    ("g.jsonl", "--output", "write"),
    ("g.csv", "--output", "write"),
    ("g.parquet", "--output", "write"),
    ("p.csv", "--pairs", "write_pairs"),
    ("p.parquet", "--pairs", "write_pairs"),
    ("s.csv", "--skipped", "write_skipped"),
]


def run(program: str, words: list[str], folder: Path) -> None:
    subprocess.run([program, "find", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_golden_outputs_match_command_line(
    options: dict[str, Any], program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both read the same folder. Then the module gets the texts in memory, and the program gets a
    file of records."""
    monkeypatch.chdir(ROOT)
    texts = sample()
    inputs = {
        "fixtures/sample": lookalike.find_files("fixtures/sample", pairs=True, **options),
        records(texts, tmp_path / "sample.jsonl"): lookalike.find(texts, pairs=True, **options),
    }
    for number, (path, found) in enumerate(inputs.items()):
        for name, option, write in OUTPUTS:
            binary, module = (
                tmp_path / f"binary-{number}-{name}",
                tmp_path / f"module-{number}-{name}",
            )
            run(program, [path, *arguments(options), option, str(binary)], ROOT)
            getattr(found, write)(module)
            assert module.read_bytes() == binary.read_bytes(), (path, name)
        assert found.counts["groups"] > 2


def test_pairs_equal_independent_truth(tmp_path: Path) -> None:
    """An independent program has written ``fixtures/sample.truth.csv``."""
    found = lookalike.find(sample(), threshold=0.5, exact=True, pairs=True)
    table = found.pairs
    rows = zip(table["id_a"], table["id_b"], table["jaccard"])
    pairs = {(*sorted((a, b)), f"{jaccard:.6f}") for a, b, jaccard in rows}
    with (ROOT / "fixtures" / "sample.truth.csv").open(encoding="utf-8", newline="") as file:
        _, *truth = csv.reader(file)
    assert pairs == {(*sorted(row[:2]), row[2]) for row in truth}


def known_answers() -> dict[str, dict[tuple[str, ...], list[int]]]:
    """Reads ``fixtures/signature_v1.txt``. Returns the numbers by the kind and the words of each
    line."""
    answers: dict[str, dict[tuple[str, ...], list[int]]] = {"set": {}, "signature": {}, "keys": {}}
    for line in (ROOT / "fixtures" / "signature_v1.txt").read_text("utf-8").splitlines():
        question, _, answer = line.partition("\t")
        kind, _, words = question.partition(" ")
        if kind in answers:
            numbers = [int(number, 16) for number in answer.split()]
            answers[kind][tuple(words.split(" "))] = numbers
    return answers


ANSWERS = known_answers()


def prepared(words: tuple[str, ...], **options: Any) -> dict[str, Any]:
    unit, size, tokens, case, frequencies, text, *_ = words
    (row,) = lookalike.prepare(
        [bytes.fromhex(text).decode()],
        shingle=f"{unit}:{size}",
        tokens=tokens,
        case=case,
        frequencies=frequencies == "yes",
        **options,
    )
    return row


def test_signatures_and_keys_match_specification() -> None:
    """The known answers follow docs/reference/signature.md."""
    assert len(ANSWERS["keys"]) > 20
    for words, keys in ANSWERS["keys"].items():
        scheme, num_hashes, seed, bands, rows = words[6:]
        row = prepared(
            words,
            scheme=scheme,
            num_hashes=int(num_hashes),
            seed=int(seed),
            bands=int(bands),
            rows=int(rows),
        )
        assert row["signature"] == ANSWERS["signature"][words[:9]], words
        assert row["band_keys"] == keys, words


def test_shingle_counts_match_specification() -> None:
    assert len(ANSWERS["set"]) > 10
    for words, shingles in ANSWERS["set"].items():
        assert prepared(words)["shingles"] == len(shingles), words
