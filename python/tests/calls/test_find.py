"""Groups of near-duplicates: results, their tables, and errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from sample_texts import texts
from waiting import PATIENCE, NativeCode, wait_until

import lookalike
from lookalike.errors import (
    ChangedError,
    DocumentError,
    DocumentTypeError,
    FileError,
    LookalikeError,
    OptionError,
)


def jaccard(a: str, b: str) -> float:
    """Computes the similarity of five-word shingles from its definition."""

    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.lower().split()
        return {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))}

    left, right = shingles(a), shingles(b)
    return len(left & right) / len(left | right)


def test_groups_are_stars_of_verified_pairs() -> None:
    docs = texts(300)
    found = lookalike.find(docs, pairs=True)
    assert found.counts["documents"] == 300
    assert found.counts["groups"] == 100 == len(found)
    assert found.counts["duplicates"] == 200
    for group in found:
        for duplicate in group.duplicates:
            exact = jaccard(docs[group.keeper], docs[duplicate.id])
            assert duplicate.similarity == pytest.approx(exact, abs=5e-7)
            assert exact >= 0.8
    for pair in found.pairs:
        exact = jaccard(docs[pair["id_a"]], docs[pair["id_b"]])
        assert pair["jaccard"] == pytest.approx(exact, abs=5e-7)
    assert len(found.pairs) == 300


def test_document_containers_give_equal_groups() -> None:
    docs = texts(90)
    ids = [f"d{i:03}" for i in range(90)]
    by_row = lookalike.find(docs, keep="first")
    named = [
        lookalike.find(list(zip(ids, docs)), keep="first"),
        lookalike.find(dict(zip(ids, docs)), keep="first"),
        lookalike.find([{"id": i, "text": t} for i, t in zip(ids, docs)], keep="first"),
        lookalike.find(((i, t) for i, t in zip(ids, docs)), keep="first"),
        lookalike.find(
            [{"n": i, "body": t} for i, t in zip(ids, docs)], id="n", text="body", keep="first"
        ),
    ]
    rows = [(g.keeper, [(d.id, d.similarity) for d in g.duplicates]) for g in by_row]
    for found in named:
        groups = [(g.keeper, [(d.id, d.similarity) for d in g.duplicates]) for g in found]
        assert groups == [(ids[k], [(ids[i], s) for i, s in d]) for k, d in rows]
    numbered = lookalike.find([(1000 + i, t) for i, t in enumerate(docs)], keep="first")
    assert numbered.groups["id"] == [1000 + i for i in by_row.groups["id"]]
    assert lookalike.find(tuple(docs), keep="first").groups["id"] == by_row.groups["id"]


def test_equal_documents_keep_first_row() -> None:
    # As texts, "10" sorts before "2".
    found = lookalike.find(["same text here, the same"] * 12)
    assert found.groups["id"] == list(range(12))
    assert found.groups["keeper"] == [0] * 12


def test_keep_and_fields() -> None:
    docs = [
        {"text": "the same old story", "date": "2026-01-01", "n": 3},
        {"text": "The same old story.", "date": "2026-03-01", "n": 2},
        {"text": "the same, old story", "date": "2026-02-01", "n": None},
    ]
    keeper = lambda keep: next(iter(lookalike.find(docs, keep=keep))).keeper  # noqa: E731
    assert keeper("first") == 0
    assert keeper("last") == 2
    assert keeper("field:date") == 1
    assert keeper("field:date:asc") == 0
    assert keeper(["field:n:asc"]) == 1


def test_reference_documents_are_always_kept() -> None:
    docs = texts(30)
    found = lookalike.find(docs[:3], reference=[docs[0], "something else"])
    assert found.counts["reference"] == 2
    assert found.groups["role"] == ["keeper"] + ["duplicate"] * 3
    assert found.groups["row"][0] is None and sorted(found.groups["row"][1:]) == [0, 1, 2]
    assert found.groups["keeper_row"] == [None] * 4


def test_normalize_folds_spelling_variants() -> None:
    docs = ["ذَهَبَ الطُّلَّابُ إِلَى الْمَدْرَسَةِ فِي الصَّبَاحِ", "ذهب الطلاب الى المدرسة في الصباح"]
    found = lookalike.find(docs)
    assert found.counts["groups"] == 0
    assert found.folding == {"documents": 2, "changed": 2, "scripts": {"Arabic": 2}}
    folded = lookalike.find(docs, normalize="fold")
    assert folded.counts["groups"] == 1 and folded.folding["documents"] == 0
    names = ["Ha Noi la thu do cua nuoc Viet Nam", "Hà Nội là thủ đô của nước Việt Nam"]
    assert lookalike.find(names, normalize="unaccent").counts["groups"] == 1
    assert lookalike.tune(docs).folding["changed"] == 2


def test_cut_mail_parts_are_counted(tmp_path: Path) -> None:
    body = "a reply\n> quoted text\nand more\n-- \nAnn\n"
    (tmp_path / "a.eml").write_text(f"From: a@b.example\nSubject: x\n\n{body}")
    cut = lookalike.find_files(tmp_path, mail_signatures="keep").cut_from_mail
    assert cut["quoting_messages"] == 1 and cut["signed_messages"] == 0
    cut = lookalike.find_files(tmp_path, quotes="keep").cut_from_mail
    assert cut == {
        "quoting_messages": 0,
        "signed_messages": 1,
        "signature_words": 2,
        "signature_bytes": 8,
    }


def test_empty_documents_match_nothing() -> None:
    found = lookalike.find(["", "  ", "...", "a b"])
    assert found.counts["groups"] == 0
    assert found.empty["id"] == [0, 1, 2]
    assert lookalike.find(["!!", "?", "!!", ""]).empty["same_text_as"] == [None, None, 0, None]
    assert lookalike.find([]).counts["documents"] == 0


def test_find_files_matches_command_line(tmp_path: Path) -> None:
    docs = texts(60)
    path = tmp_path / "docs.jsonl"
    lines = (json.dumps({"id": f"d{i:03}", "text": t}) for i, t in enumerate(docs))
    path.write_text("\n".join(lines) + "\n")
    of_path = lookalike.find_files(path)
    assert "row" not in of_path.groups.column_names
    in_memory = lookalike.find({f"d{i:03}": t for i, t in enumerate(docs)})
    assert in_memory.groups["id"] == of_path.groups["id"]
    for name in ("a.csv", "a.jsonl", "a.parquet", "a.csv.gz"):
        of_path.write(tmp_path / f"p-{name}")
        in_memory.write(tmp_path / f"h-{name}")
        assert (tmp_path / f"p-{name}").read_bytes() == (tmp_path / f"h-{name}").read_bytes()
    command = [
        sys.executable,
        "-m",
        "lookalike",
        "find",
        str(path),
        "-q",
        "-o",
        str(tmp_path / "c.csv"),
    ]
    subprocess.run(command, check=True)
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "p-a.csv").read_bytes()
    pattern = lookalike.find_files(str(tmp_path / "doc*.jsonl"))
    assert pattern.groups["id"] == of_path.groups["id"]
    with pytest.raises(FileError, match="is an input"):
        of_path.write(path.with_suffix(".jsonl"))
    with pytest.raises(FileError, match="must end in"):
        of_path.write(tmp_path / "groups.txt")
    with pytest.raises(OptionError, match="pairs=True"):
        of_path.pairs
    assert of_path.text(0) == docs[0] == in_memory.text(0)


@pytest.mark.parametrize(
    ("docs", "error", "words"),
    [
        (None, DocumentTypeError, "NoneType"),
        (7, DocumentTypeError, "int"),
        (b"bytes", DocumentTypeError, "bytes"),
        (["a", b"b"], DocumentTypeError, "row 1.*bytes.*decode"),
        (["a", 3], DocumentTypeError, "row 1.*int"),
        (["a", None], DocumentError, "row 1 has no text"),
        (["a", float("nan")], DocumentError, "row 1 has no text.*NaN"),
        (["a", "\ud800"], DocumentError, "row 1.*surrogate"),
        ([("a", "x"), ("b",)], DocumentTypeError, "row 1.*pair"),
        (
            [("a", "x"), ("b", "z"), ("a", "y")],
            DocumentError,
            'row 2: the id "a" is already used in row 0',
        ),
        ([(1, "x"), ("b", "y")], DocumentTypeError, "row 1.*str.*int"),
        ([("a", "x"), (2, "y")], DocumentTypeError, "row 1.*int"),
        ([("a", "x"), ("", "x")], DocumentError, "row 1 has an empty id; .*skip_bad=True"),
        ([(2**70, "x")], DocumentError, "row 0.*64 bits"),
        ([{"text": "x"}, {"body": "y"}], DocumentTypeError, "row 1.*'text'"),
        ([{"text": "x"}, "y"], DocumentTypeError, "row 1.*dict"),
        ({"a": None}, DocumentError, "row 0 has no text"),
    ],
)
def test_find_rejects_unusable_documents(docs: object, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        lookalike.find(docs)


def test_an_error_knows_its_row() -> None:
    with pytest.raises(DocumentError) as raised:
        lookalike.find(["a", "b", None])
    assert raised.value.row == 2
    assert isinstance(raised.value, (ValueError, LookalikeError))


def test_skip_bad_skips_unusable_rows() -> None:
    rows = [("a", "x y z"), ("b", None), ("a", "other"), ("c", "x y z")]
    found = lookalike.find(rows, skip_bad=True)
    assert sorted((s["line"], s["row"], s["id"]) for s in found.skipped) == [
        (2, 1, "b"),
        (3, 2, "a"),
    ]
    assert found.counts["documents"] == 2
    assert found.groups["row"] == [0, 3]
    assert lookalike.dedup(rows, skip_bad=True) == [("a", "x y z")]
    assert lookalike.dedup([("a", "x y z"), ("b", None), ("c", "x y z")], skip_bad=True) == [
        ("a", "x y z")
    ]


def test_rows_with_empty_ids_are_skipped(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "x y z"}, {"id": "", "text": "x y z"}, {"id": "b", "text": "x y z"}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    of_file = lookalike.find_files(path, skip_bad=True)
    for documents in (rows, iter(rows)):
        found = lookalike.find(documents, skip_bad=True)
        assert found.counts == of_file.counts and found.groups["id"] == of_file.groups["id"] == [
            "a",
            "b",
        ]
        assert [(s["row"], s["id"], s["reason"]) for s in found.skipped] == [
            (1, None, "the id is empty")
        ]
    assert lookalike.dedup(rows, skip_bad=True) == rows[:1]
    annotated = lookalike.dedup(rows, skip_bad=True, annotate=True)
    assert [decision["reason"] for _, decision in annotated] == ["keeper", "skipped", "id"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": 0}, "threshold"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": "much"}, "threshold.*number.*'much'"),
        ({"threshold": float("nan")}, "threshold"),
        ({"threshold": True}, "threshold"),
        ({"recall": 1}, "recall"),
        ({"treshold": 0.5}, "did you mean 'threshold'"),
        ({"shingle": "words"}, "words:N"),
        ({"shingle": 5}, "shingle.*str"),
        ({"keep": "best"}, "keep|longest"),
        ({"keep": 3}, "keep"),
        ({"group": "cliques"}, "'stars' or 'components'"),
        ({"threads": 0}, "threads.*1 or more"),
        ({"threads": -1}, "threads"),
        ({"threads": 10**6}, "threads.*1 to 1024"),
        ({"memory": "much"}, "memory"),
        ({"memory": "1MiB"}, "^memory 1MiB is too small"),
        ({"keep": "field:date"}, "'date'.*dicts or a table"),
        ({"bands": 3, "rows": 100_000}, "bands|rows"),
        ({"stop_words": "xx"}, "xx"),
        ({"stop_words": "en", "normalize": "language:auto"}, "stop_words.*language"),
        ({"progress": 3}, "progress"),
        ({"seed": -1}, "seed"),
    ],
)
def test_find_rejects_invalid_options(options: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        lookalike.find(["a b c", "d e f"], **options)


def test_messages_name_arguments_not_flags() -> None:
    with pytest.raises(OptionError) as raised:
        lookalike.find(["a"], num_hashes=9000)
    assert "--" not in str(raised.value)


def test_find_files_rejects_unreadable_paths(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere"):
        lookalike.find_files(tmp_path / "nowhere.jsonl")
    with pytest.raises(FileError, match="nothing matches"):
        lookalike.find_files(str(tmp_path / "*.jsonl"))
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "a", "text": "x"}\n{"id": \n')
    with pytest.raises(DocumentError, match="line 2|:2"):
        lookalike.find_files(broken)


def test_the_interpreter_is_free_meanwhile() -> None:
    """Another thread observes that this thread is in the engine without the lock. Then the progress
    callback ends the call."""
    docs = texts(1000) * 3000
    free = NativeCode(threading.get_ident())
    looked = threading.Event()

    def look() -> None:
        wait_until(free, "a call without the interpreter's lock")
        looked.set()

    class Enough(Exception):
        pass

    def stop(*_: object) -> None:
        if looked.is_set():
            raise Enough

    threading.Thread(target=look, daemon=True).start()
    with pytest.raises(Enough):
        lookalike.find(docs, threads=1, progress=stop)


def test_progress_callbacks_can_stop_find() -> None:
    reported: list[tuple[str, int, int | None]] = []
    lookalike.find(texts(3000), progress=lambda *what: reported.append(what))
    assert reported and reported[-1][0] == "verify and group"

    class Enough(Exception):
        pass

    def stop(*_: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        lookalike.find(texts(3000), progress=stop)


def test_progress_completes_each_reached_stage(tmp_path: Path) -> None:
    reported: list[tuple[str, int, int]] = []
    rows = "".join(
        json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts(3000))
    )
    (tmp_path / "good.jsonl").write_text(rows)
    (tmp_path / "bad.jsonl").write_text(rows + "{bad\n")
    lookalike.find_files(tmp_path / "good.jsonl", progress=lambda *what: reported.append(what))
    last = {stage: (done, total) for stage, done, total in reported}
    assert len(last) >= 3 and all(done == total for done, total in last.values())
    first = reported[0][0]
    reported.clear()
    with pytest.raises(DocumentError):
        lookalike.find_files(tmp_path / "bad.jsonl", progress=lambda *what: reported.append(what))
    # The reader may reach the end of the file before the last line is parsed. No later stage
    # begins.
    assert {stage for stage, _, _ in reported} <= {first}


def test_progress_bars(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    lookalike.find(texts(300), progress=True)
    assert "verify and group: 100%" in capsys.readouterr().err
    lookalike.find(texts(300))
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_stops_a_long_call() -> None:
    program = """
import sys
import lookalike
sys.path.append(sys.argv[1])
import waiting
text = " ".join(f"w{i}" for i in range(400))
docs = [f"{text} x{i} y{i % 977} z{i % 13}" for i in range(60_000)]
try:
    waiting.interrupt()
    lookalike.find(docs, pairs=True, threads=1, threshold=0.99, recall=0.999, exact=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
    sys.exit(7)
print("finished", flush=True)
"""
    command = [sys.executable, "-c", program, str(Path(__file__).parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * PATIENCE)
    assert (done.stdout, done.returncode) == ("stopped\n", 7), done.stderr


def test_dedup_returns_original_documents(tmp_path: Path) -> None:
    docs = texts(30)
    kept = lookalike.dedup(docs, keep="first")
    assert kept == docs[::3]
    assert lookalike.dedup(dict(enumerate(docs)), keep="first") == dict(list(enumerate(docs))[::3])
    assert lookalike.dedup((d for d in docs), keep="first") == kept
    annotated = lookalike.dedup(docs[:3], keep="first", annotate=True)
    assert [decision["kept"] for _, decision in annotated] == [True, False, False]
    assert [decision["keeper"] for _, decision in annotated] == [None, 0, 0]
    path, out = tmp_path / "a.jsonl", tmp_path / "out.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(docs))
    )
    written = lookalike.dedup_files(path, output=out, removed=tmp_path / "gone.csv", keep="first")
    assert (written.kept, written.removed, written.files) == (10, 20, 1)
    assert out.read_text().splitlines() == path.read_text().splitlines()[::3]
    assert len((tmp_path / "gone.csv").read_text().splitlines()) == 21
    with pytest.raises(OptionError, match="output"):
        lookalike.dedup_files(path)
    with pytest.raises(OptionError, match="output"):
        lookalike.dedup(docs, output=out)
    with pytest.raises(OptionError, match="input"):
        lookalike.dedup_files(path, output=path)


def test_compare() -> None:
    a, b = "one two three four five six seven", "One two three four five six eight"
    c = lookalike.compare(a, b)
    assert c.jaccard == pytest.approx(jaccard(a, b))
    assert (c.shared, c.shingles_a, c.shingles_b) == (2, 3, 3)
    assert c.containment_a == c.containment_b == pytest.approx(2 / 3)
    assert not c.similar
    assert lookalike.compare("", "a").estimate is None
    assert lookalike.compare(a, b).estimate is not None
    assert lookalike.compare(a, b, exact=True).estimate is None
    assert lookalike.compare(a, b, measure="containment").estimate is None
    reported = lookalike.compare(a, b, differences=True).differences
    assert "".join(d.a for d in reported) == a
    assert "".join(d.b for d in reported) == b
    assert all((d.kind == "equal") == (d.a == d.b) for d in reported)
    assert [(d.a, d.b, d.same_words) for d in reported if d.kind != "equal"] == [
        ("one", "One", True),
        ("seven", "eight", False),
    ]
    assert c.difference_counts is None
    counts = lookalike.compare(a, b, differences=True).difference_counts
    assert counts == lookalike.DifferenceCounts(1, 1, 1, 0, 0)
    with pytest.raises(DocumentError, match="row 1"):
        lookalike.compare("a", None)
    with pytest.raises(DocumentTypeError, match="two texts or two paths"):
        lookalike.compare("a", Path("b"))


def test_similar_documents_share_prepared_keys() -> None:
    docs = texts(300)
    rows = lookalike.prepare(docs)
    assert rows["id"] == list(range(300))
    bands, length = rows.parameters["bands"], rows.parameters["num_hashes"]
    keys, signatures = rows["band_keys"], rows["signature"]
    assert {len(k) for k in keys} == {bands} and {len(s) for s in signatures} == {length}
    candidates = {
        (i, j)
        for i in range(300)
        for j in range(i + 1, 300)
        if any(a == b for a, b in zip(keys[i], keys[j]))
    }
    pairs = lookalike.find(docs, pairs=True).pairs
    assert {tuple(sorted((p["id_a"], p["id_b"]))) for p in pairs} <= candidates
    # The share of equal values estimates the similarity, with a standard error below 0.045 for 128
    # values.
    errors = []
    for i in range(0, 300, 3):
        equal = sum(a == b for a, b in zip(signatures[i], signatures[i + 1])) / length
        errors.append(equal - jaccard(docs[i], docs[i + 1]))
    assert abs(sum(errors) / len(errors)) < 0.015
    empty = lookalike.prepare(["", "a"])
    assert empty["shingles"] == [0, 1]
    assert set(empty["signature"][0]) == {0}
    assert len(lookalike.prepare([])) == 0
    with pytest.raises(OptionError, match="exact"):
        lookalike.prepare(docs, exact=True)


def test_audit_measures_missed_pairs(tmp_path: Path) -> None:
    docs = texts(600)
    found = lookalike.find(docs)
    audit = lookalike.audit(found, sample=200)
    assert audit.recall == 1.0 and audit.interval[0] > 0.97
    assert audit.population == 600 and audit.sampled == 200
    poor = lookalike.find(docs, bands=1, rows=40, num_hashes=64)
    measured = lookalike.audit(poor, sample=600)
    assert measured.recall is not None and measured.recall < 0.99
    report = tmp_path / "r.json"
    found.write_report(report)
    repeated = lookalike.audit(report, docs, sample=200)
    assert repeated.recall == audit.recall
    with pytest.raises(ChangedError, match="documents"):
        lookalike.audit(report, docs[1:], sample=10)
    with pytest.raises(OptionError, match="confidence"):
        lookalike.audit(found, confidence=2.0)
    for sample in (0, -1, 1.5, None):
        with pytest.raises(OptionError, match="sample"):
            lookalike.audit(found, sample=sample)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="seed"):
        lookalike.audit(found, seed=-1)


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    program = """
import lookalike
found = lookalike.find_files("-")
print(found.counts["duplicates"])
try:
    lookalike.audit(found)
except lookalike.errors.OptionError as error:
    print(error)
"""
    lines = "".join(json.dumps({"id": str(i), "text": "a b c"}) + "\n" for i in range(2))
    done = subprocess.run(
        [sys.executable, "-c", program], input=lines, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("1\n- can be read only once")


TUNED = ["one two three four five six seven eight nine ten eleven twelve"] * 60


def test_tune_follows_the_formula() -> None:
    tuned = lookalike.tune(threshold=0.7, recall=0.95)
    predicted = 1 - (1 - 0.7**tuned.rows) ** tuned.bands
    assert tuned.predicted_recall == pytest.approx(predicted) and predicted >= 0.95
    assert tuned.curve([0.0, 1.0]) == [0.0, 1.0]
    with pytest.raises(OptionError, match="0 to 1"):
        tuned.curve([1.5])
    measured = lookalike.tune(texts(300), shingles=["words:3", "chars:9"])
    assert measured.sampled == 300 and measured.documents == 300
    assert {row["shingle"] for row in measured.shingles} == {"words:3", "words:5", "chars:9"}
    assert measured.pairs == 300 * 299 // 2
    with pytest.raises(OptionError, match="nothing to tune"):
        lookalike.tune(exact=True)
    with pytest.raises(OptionError):
        lookalike.tune(threshold=0.01, recall=0.999999, num_hashes=4)


@pytest.mark.parametrize("documents", [None, 2, 100, 10**9, 10**12])
@pytest.mark.parametrize("given", ["", "one", "alike", "unlike"])
def test_tune_matches_command_line(
    program: str, tmp_path: Path, given: str, documents: int | None
) -> None:
    samples = {"one": TUNED[:1], "alike": TUNED, "unlike": texts(300)}
    path = tmp_path / "docs.jsonl"
    for threshold in (0.5, 0.8):
        command = [program, "tune", "--json", "--threshold", str(threshold)]
        if documents is not None:
            command += ["--documents", str(documents)]
        if given:
            lines = [
                json.dumps({"id": str(i), "text": text}) for i, text in enumerate(samples[given])
            ]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            command.append(str(path))
        reported = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        tuned = lookalike.tune(
            lookalike.Files(path) if given else None, threshold=threshold, documents=documents
        )
        choice, measured = reported["choice"], reported["measured"] or {}
        for name in ("num_hashes", "bands", "rows"):
            assert getattr(tuned, name) == choice[name]
        assert tuned.documents == reported["documents"]
        assert tuned.predicted_recall == choice["recall_at_threshold"]
        assert tuned.sampled == measured.get("drawn", 0)
        shingles = [profile["shingle"] for profile in measured.get("shingles", [])]
        assert [profile["shingle"] for profile in tuned.shingles] == shingles
        assert tuned.advice == (measured.get("advice") or {}).get("shingle")
        if not given:
            found = lookalike.find(["a b c"], threshold=threshold).parameters
            assert [found[name] for name in ("num_hashes", "bands", "rows")] == [
                tuned.num_hashes,
                tuned.bands,
                tuned.rows,
            ]


def test_tune_uses_given_document_count() -> None:
    assert lookalike.tune(TUNED[:1]).documents == 1
    assert lookalike.tune().documents == 1_000_000
    assert lookalike.tune(texts(60)).documents == 60
    assert lookalike.tune(texts(60), documents=7).documents == 7


def test_results_without_any_package() -> None:
    found = lookalike.find(["a b c", "a b c"])
    table = found.groups
    assert table.to_pydict()["role"] == ["keeper", "duplicate"]
    assert table.to_pylist()[1]["jaccard"] == 1.0
    assert "duplicate" in repr(table)
    with pytest.raises(KeyError, match="group, id"):
        table["nothing"]
    assert repr(found) == "FindResult(documents=2, groups=1, duplicates=1)"


def test_errors_are_a_tree() -> None:
    assert issubclass(OptionError, (LookalikeError,)) and issubclass(OptionError, ValueError)
    assert issubclass(DocumentTypeError, DocumentError) and issubclass(DocumentTypeError, TypeError)
    assert issubclass(FileError, OSError) and issubclass(ChangedError, LookalikeError)


def test_pairs_include_signature_estimates() -> None:
    docs = ["one two three four five six seven", "One two three four five six seven!"]
    pairs = lookalike.find(docs, pairs=True, estimates=True).pairs
    assert pairs.to_pylist() == [
        {
            "id_a": 0,
            "id_b": 1,
            "jaccard": 1.0,
            "estimated_jaccard": 1.0,
            "error": 0.0,
            "standard_error": 0.0,
        }
    ]
    with pytest.raises(OptionError, match="add pairs"):
        lookalike.find(docs, estimates=True)


@pytest.mark.parametrize(
    ("a", "b", "options", "shared", "all_of_both"),
    [
        ("one two three four five six seven", "one two three four five six eight", {}, 2, 4),
        ("one two three four", "one two three five", {"shingle": "words:2"}, 2, 4),
        ("one two three four", "one two three five", {"shingle": "bag"}, 3, 5),
        ("abcd", "abce", {"shingle": "chars:3"}, 1, 3),
        ("abé", "abê", {"shingle": "bytes:3"}, 1, 3),
        ("One two", "one two", {"shingle": "bag"}, 2, 2),
        ("One two", "one two", {"shingle": "bag", "case": "keep"}, 1, 3),
        ("one,two three", "one two three", {"shingle": "bag"}, 3, 3),
        ("one,two three", "one two three", {"shingle": "bag", "tokens": "whitespace"}, 1, 4),
        ("日本 one", "本日 one", {"shingle": "bag"}, 3, 3),
        ("日本 one", "本日 one", {"shingle": "bag", "tokens": "word-runs"}, 1, 3),
        ("one one two", "one two", {"shingle": "bag"}, 2, 2),
        ("one one two", "one two", {"shingle": "bag", "frequencies": True}, 2, 3),
        ("the cat", "a cat", {"shingle": "bag"}, 1, 3),
        ("the cat", "a cat", {"shingle": "bag", "stop_words": "en"}, 1, 1),
        ("café one", "cafe one", {"shingle": "bag"}, 1, 3),
        ("café one", "cafe one", {"shingle": "bag", "normalize": "unaccent"}, 2, 2),
    ],
)
def test_options_select_compared_shingles(
    a: str, b: str, options: dict[str, Any], shared: int, all_of_both: int
) -> None:
    """``shared`` and ``all_of_both`` are the sizes of the intersection and the union of the
    shingles, counted by hand."""
    compared = lookalike.compare(a, b, **options)
    union = compared.shingles_a + compared.shingles_b - compared.shared
    assert (compared.shared, union) == (shared, all_of_both)
    found = lookalike.find([a, b], exact=True, threshold=0.01, pairs=True, **options)
    assert [pair["jaccard"] for pair in found.pairs] == [round(shared / all_of_both, 6)]
