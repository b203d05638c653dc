"""Long calls: the interpreter's lock is free meanwhile, Ctrl-C ends them, progress is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import lookalike

#: Each takes far longer than anybody waits, in a folder of its own. ``base`` are 50 long texts.
ENDLESS = {
    "find": "lookalike.find(base * 6000, threads=1)",
    "prepare": "lookalike.prepare(base * 6000, threads=1)",
    "tune draws": "lookalike.tune(base * 6000)",
    "tune measures": "lookalike.tune([f'{t} x{i}' for t in base for i in range(80)], sample=4000)",
    "audit": "lookalike.audit(missed, sample=30_000, threads=1)",
    "compare": "lookalike.compare(long, long[::-1], differences=True)",
    "dedup": "lookalike.dedup('docs.jsonl', output='out.jsonl', exact=True, threads=1)",
    "Index.add": "index.add((f'd{i}', base[i % 50]) for i in itertools.count())",
    "Index.add of batches": "index.add(batches(itertools.count()))",
    "Index.add of a stream": "index.add(Stream(batches(itertools.count())))",
    "find in a stream": "lookalike.find(relation)",
    "find in a pipe": "lookalike.find(pathlib.Path('pipe.jsonl'))",
    "dedup of a pipe": "lookalike.dedup(pathlib.Path('pipe.jsonl'), output='out.jsonl')",
    "compare pipes": "lookalike.compare(pathlib.Path('pipe.jsonl'), pathlib.Path('pipe.jsonl'))",
}
PREPARE = """
import itertools, json, os, pathlib, sys, time
import lookalike
call = sys.argv[1]
base = [" ".join(f"w{i}_{j}" for j in range(2000)) for i in range(50)]
if call == "audit":
    # Half alike; bands of 64 rows find none of them.
    common = " ".join(f"c{j}" for j in range(60))
    near = [f"{common} " + " ".join(f"w{i}_{j}" for j in range(25)) for i in range(30_000)]
    missed = lookalike.find(near, shingle="bag", threshold=0.5, bands=1, rows=64, num_hashes=64)
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
print("ready", flush=True)
try:
    eval(sys.argv[2])
except KeyboardInterrupt:
    print("stopped", flush=True)
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
    child = subprocess.Popen(
        [sys.executable, "-c", PREPARE, call, ENDLESS[call]],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.4)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert (out, child.returncode) == ("stopped\n", 7)
    # A second where it is left behind; machines that test are busy.
    assert time.monotonic() - begun < 5


TEXTS = [" ".join(f"w{i // 3 * 7919 % 5000 + j}" for j in range(150 + i % 3)) for i in range(6000)]
CALLS: dict[str, Callable[[Path], object]] = {
    "prepare": lambda _: lookalike.prepare(TEXTS, threads=1),
    "tune": lambda _: lookalike.tune(TEXTS, sample=500),
    "audit": lambda _: lookalike.audit(lookalike.find(TEXTS, threads=1), sample=200, threads=1),
    "compare": lambda _: lookalike.compare(" ".join(TEXTS), " ".join(TEXTS[::-1])),
    "dedup": lambda folder: lookalike.dedup(
        folder / "docs.txt", format="lines", line_ids=True, output=folder / "out.txt", threads=1
    ),
    "Index.add": lambda folder: lookalike.Index.create(folder / "index").add(
        {str(i): text for i, text in enumerate(TEXTS)}, threads=1
    ),
    "Index.add of a table": lambda folder: lookalike.Index.create(folder / "index").add(
        pytest.importorskip("pyarrow").table({"id": [str(i) for i in range(len(TEXTS))], "text": TEXTS}), threads=1
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_interpreter_is_free_meanwhile(call: str, tmp_path: Path) -> None:
    (tmp_path / "docs.txt").write_text("\n".join(TEXTS) + "\n")
    ticks, stop = [time.monotonic()], threading.Event()

    def count() -> None:
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    CALLS[call](tmp_path)
    ended = time.monotonic()
    stop.set()
    thread.join()
    meanwhile = [begun, *(tick for tick in ticks if begun < tick < ended), ended]
    assert len(meanwhile) > 5
    longest = max(after - before for before, after in zip(meanwhile, meanwhile[1:]))
    assert longest < max(0.6 * (ended - begun), 0.1)


def test_a_sample_is_told_of() -> None:
    told: list[tuple[str, int, int | None]] = []
    lookalike.tune(TEXTS, sample=300, progress=lambda *what: told.append(what))
    # The usual rules and one for what is related; the last call is when all is done.
    assert told[-1] == ("measure the sample", 300 * 11, 300 * 11)
    with pytest.raises(ZeroDivisionError):
        lookalike.tune(TEXTS, sample=2000, progress=lambda *_: 1 // 0)


def test_an_audit_is_not_done_before_its_end() -> None:
    found = lookalike.find(TEXTS, threads=1)
    total = sum(len(text) for text in TEXTS)
    told: list[tuple[str, int, int | None]] = []
    lookalike.audit(found, sample=6000, threads=2, progress=lambda *what: told.append(what))
    assert told[-1] == ("judge the sample", 0, None)
    # What is done is said at most while the next stage begins.
    assert told.count(("find neighbours", total, total)) <= max(2, len(told) // 5)
