"""Long calls release the interpreter's lock, end on Ctrl-C, and report progress."""

from __future__ import annotations

import functools
import itertools
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

import lookalike
from lookalike import stages

#: Calls that take minutes or never end. Each runs in a folder of its own. ``base`` has 50 long
#: texts.
ENDLESS = {
    "find": "lookalike.find(base * 60_000, threads=1)",
    "passages": "lookalike.passages(base * 60_000, threads=1)",
    "passages cut out": "lookalike.cut(base * 60_000, threads=1)",
    "contamination": "lookalike.contamination(base * 60_000, base, threads=1)",
    "prepare": "lookalike.prepare(base * 60_000, threads=1)",
    "tune draws": "lookalike.tune(base * 60_000)",
    "tune measures": "lookalike.tune(many, sample=20_000)",
    "audit": "lookalike.audit(missed, sample=30_000, threads=1)",
    "compare": "lookalike.compare(long, long[::-1], differences=True)",
    "dedup": "lookalike.dedup_files('docs.jsonl', output='out.jsonl', exact=True, threads=1)",
    "Index.add": "index.add((f'd{i}', base[i % 50]) for i in counted())",
    "Index.add of batches": "index.add(batches(counted()))",
    "Index.add of a stream": "index.add(Stream(batches(counted())))",
    "find in a stream": "lookalike.find(relation)",
    "find in a pipe": "lookalike.find_files('pipe.jsonl')",
    "dedup of a pipe": "lookalike.dedup_files('pipe.jsonl', output='out.jsonl')",
    "compare pipes": "lookalike.compare(pathlib.Path('pipe.jsonl'), pathlib.Path('pipe.jsonl'))",
}
PREPARE = """
import itertools, json, os, pathlib, sys, threading, time
import lookalike
call = sys.argv[1]
sys.path.append(sys.argv[3])
import waiting
base = [" ".join(f"w{i}_{j}" for j in range(2000)) for i in range(50)]
if call == "audit":
    # Half alike; bands of 64 rows find none of them.
    common = " ".join(f"c{j}" for j in range(60))
    near = [f"{common} " + " ".join(f"w{i}_{j}" for j in range(25)) for i in range(30_000)]
    missed = lookalike.find(near, shingle="bag", threshold=0.5, bands=1, rows=64, num_hashes=64)
if call == "tune measures":
    many = [f"{text} x{i}" for text in base for i in range(400)]
if call == "compare":
    long = " ".join(f"a{j}" for j in range(2_000_000))
if call == "dedup":
    text = " ".join(f"w{i}" for i in range(400))
    with open("docs.jsonl", "w") as file:
        for i in range(30_000):
            file.write(json.dumps({"id": str(i), "text": f"{text} x{i} y{i % 977} z{i % 13}"}) + "\\n")
if call.startswith("Index.add"):
    index = lookalike.Index.create("index")
if call.startswith("Index.add of"):
    import pyarrow
    class Stream:
        def __init__(self, reader):
            self.__arrow_c_stream__ = reader.__arrow_c_stream__
    def batches(numbers):
        batches = (pyarrow.record_batch({"id": [f"d{i}"], "text": [base[i % 50]]}) for i in numbers)
        return pyarrow.RecordBatchReader.from_batches(pyarrow.record_batch({"id": ["x"], "text": ["x"]}).schema, batches)
if call == "find in a stream":
    import duckdb
    rows = "select 'some text ' || range::varchar as text from range(300000000)"
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    relation = connection.sql(rows)
if "pipe" in call:
    os.mkfifo("pipe.jsonl")
begun = threading.Event()
def counted():
    for number in itertools.count():
        if number == 100:
            begun.set()
        yield number
before = time.process_time()
try:
    waiting.interrupt(begun)
    eval(sys.argv[2])
except KeyboardInterrupt:
    print("stopped", time.process_time() - before, flush=True)
    os._exit(7)
print("finished", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("call", ENDLESS)
def test_ctrl_c_ends_it(call: str, tmp_path: Path) -> None:
    if call.startswith("Index.add of"):
        pytest.importorskip("pyarrow")
    if call == "find in a stream":
        pytest.importorskip("duckdb")
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", PREPARE, call, ENDLESS[call], tests],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=10 * PATIENCE,
    )
    message, seconds = done.stdout.split()
    assert (message, done.returncode) == ("stopped", 7), done
    # CPU seconds, because wall seconds depend on the load of the machine.
    assert float(seconds) < 5


TEXTS = [" ".join(f"w{i // 3 * 7919 % 5000 + j}" for j in range(150 + i % 3)) for i in range(6000)]


@functools.cache
def staged() -> Any:
    """Returns the texts as a table for the stages of a divided run, in one component."""
    pa = pytest.importorskip("pyarrow")
    texts = TEXTS * 3
    table = pa.table(
        {"id": [str(i) for i in range(len(texts))], "text": texts, "component": [1] * len(texts)}
    )
    table = table.append_column("node", stages.nodes(stages.plan(), table))
    return table.append_column("check", pa.nulls(len(texts), pa.int64()))


CALLS: dict[str, Callable[[Path], object]] = {
    "prepare": lambda _: lookalike.prepare(TEXTS, threads=1),
    "tune": lambda _: lookalike.tune(TEXTS, sample=500),
    "audit": lambda _: lookalike.audit(lookalike.find(TEXTS, threads=1), sample=200, threads=1),
    "compare": lambda _: lookalike.compare(" ".join(TEXTS), " ".join(TEXTS[::-1])),
    "dedup": lambda folder: lookalike.dedup_files(
        folder / "docs.txt", format="lines", id=":line", output=folder / "out.txt", threads=1
    ),
    "Index.add": lambda folder: lookalike.Index.create(folder / "index").add(
        {str(i): text for i, text in enumerate(TEXTS)}, threads=1
    ),
    "stages.keys": lambda _: list(stages.keys(stages.plan(), staged().to_batches(), 4)),
    "stages.decide": lambda _: list(stages.decide(stages.plan(), staged().to_batches())),
    "Index.add of a table": lambda folder: lookalike.Index.create(folder / "index").add(
        pytest.importorskip("pyarrow").table(
            {"id": [str(i) for i in range(len(TEXTS))], "text": TEXTS}
        ),
        threads=1,
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_interpreter_is_free_meanwhile(call: str, tmp_path: Path) -> None:
    # A busy machine only makes pauses longer, so one short pause is enough.
    for attempt in range(10):
        if call.startswith("stages."):
            staged()
        folder = tmp_path / str(attempt)
        folder.mkdir()
        (folder / "docs.txt").write_text("\n".join(TEXTS) + "\n")
        longest, total = longest_pause(lambda: CALLS[call](folder))
        if longest < max(0.6 * total, 0.1):
            return
    pytest.fail(f"another thread stood still for {longest} s of {total} s")


def longest_pause(work: Callable[[], object]) -> tuple[float, float]:
    """Returns the longest time for which another thread did not get the interpreter's lock, and the
    duration of the work."""
    ticks, stop = [time.monotonic()], threading.Event()

    def count() -> None:
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    work()
    ended = time.monotonic()
    stop.set()
    thread.join()
    meanwhile = [begun, *(tick for tick in ticks if begun < tick < ended), ended]
    if len(meanwhile) <= 5:
        return math.inf, ended - begun
    return max(after - before for before, after in itertools.pairwise(meanwhile)), ended - begun


def test_a_sample_is_reported_of() -> None:
    reported: list[tuple[str, int, int | None]] = []
    lookalike.tune(TEXTS, sample=300, progress=lambda *what: reported.append(what))
    # The sample is measured with the usual rules and one for related documents. The last call
    # reports the end.
    assert reported[-1] == ("measure the sample", 300 * 11, 300 * 11)
    with pytest.raises(ZeroDivisionError):
        lookalike.tune(TEXTS, sample=2000, progress=lambda *_: 1 // 0)


def test_audit_progress_completes_near_end() -> None:
    found = lookalike.find(TEXTS, threads=1)
    total = sum(len(text) for text in TEXTS)
    reported: list[tuple[tuple[str, int, int | None], float]] = []
    before = time.process_time()
    lookalike.audit(
        found,
        sample=6000,
        threads=2,
        progress=lambda *what: reported.append((what, time.process_time())),
    )
    assert reported[-1][0] == ("judge the sample", 0, None)
    # After the stage has reached its total, it takes only a small part of its CPU time.
    complete = [at for what, at in reported if what == ("find neighbours", total, total)]
    assert complete[-1] - complete[0] < max(0.2 * (complete[-1] - before), 0.1)
