"""If the system cannot start all threads, calls use fewer threads and the results are complete."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike
from lookalike.errors import OptionError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")

#: Limits the address space of a process. Each thread reserves 2 GiB for its stack, so the process
#: can start only a given number of threads.
LIMITED = """
import os, re, resource, sys
os.environ["RUST_MIN_STACK"] = str(2 << 30)
import lookalike
def limit(threads):
    status = open("/proc/self/status").read()
    now = int(re.search(r"VmSize:\\s+(\\d+)", status).group(1)) << 10
    most = now + (2 * threads + 1 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
call, started, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
docs = [(str(i), f"w{i} this is text number {i} and some more words") for i in range(9000)]
index = lookalike.Index.create(path + "/index")
if call == "files":
    # One thread that polls for Ctrl-C, in addition to the readers.
    limit(started + 1)
    print(index.add_files(path + "/docs.jsonl", threads=3).added)
elif call == "documents":
    limit(started)
    print(index.add(docs, threads=4).added)
else:
    index.add(docs)
    limit(started + 1)
    print(len(index.query_many([text for _, text in docs], threads=5)))
"""


def outcome(call: str, started: int, folder: Path) -> str:
    command = [sys.executable, "-c", LIMITED, call, str(started), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout or done.stderr


@pytest.mark.parametrize("started", [0, 1, 2])
def test_file_reading_tolerates_missing_threads(tmp_path: Path, started: int) -> None:
    """With few threads, the index gets all 20,000 records of a file in their order."""
    with (tmp_path / "docs.jsonl").open("w", encoding="utf-8") as file:
        for i in range(20_000):
            text = f"word{i} this is text number {i} and some more words " * 20
            file.write(json.dumps({"id": f"d{i}", "text": text}) + "\n")
    assert outcome("files", started, tmp_path) == "20000\n"
    with lookalike.Index.open(tmp_path / "index") as index:
        assert list(index.ids()) == [f"d{i}" for i in range(20_000)]


@pytest.mark.parametrize("started", [0, 1, 3])
def test_indexing_tolerates_missing_threads(tmp_path: Path, started: int) -> None:
    assert outcome("documents", started, tmp_path) == "9000\n"
    with lookalike.Index.open(tmp_path / "index") as index:
        assert list(index.ids()) == [str(i) for i in range(9000)]


@pytest.mark.parametrize("started", [0, 1, 3])
def test_query_many_tolerates_missing_threads(tmp_path: Path, started: int) -> None:
    assert outcome("query_many", started, tmp_path) == "9000\n"


def test_query_many_limits_thread_count(tmp_path: Path) -> None:
    with lookalike.Index.create(tmp_path / "index") as index:
        for threads in (1025, 10**6):
            with pytest.raises(OptionError, match=f"threads is {threads}, expected 1 to 1024"):
                index.query_many(iter(["a text"]), threads=threads)
        assert len(index.query_many(["a text"], threads=1024)) == 1
