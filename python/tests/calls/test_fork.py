"""Calls in processes that are forked or spawned by a process that has used the engine's threads."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

import lookalike

METHODS = multiprocessing.get_all_start_methods()
#: Seconds after which a process counts as hanging, and the test fails.
PATIENCE = 120.0
WORKERS = 2


def documents(seed: int) -> list[str]:
    """Returns 60 texts and 2 more for each seed. Every second text is the previous one with an
    added word."""
    return [
        " ".join(f"w{seed * 101 + (n // 2) * 37 + i * i}" for i in range(50 + n % 2))
        for n in range(60 + 2 * seed)
    ]


def found(seed: int) -> str:
    return repr(lookalike.find(documents(seed), threads=2).groups.to_pylist())


@pytest.fixture(scope="module")
def expected() -> list[str]:
    """Results of this process, which uses its threads before any other process starts."""
    results = [found(seed) for seed in range(6)]
    assert len(set(results)) == 6
    assert all(len(result) > 100 for result in results)
    return results


@pytest.fixture(autouse=True)
def fork_is_meant() -> Iterator[None]:
    """Ignores the warning of newer versions of Python about forking a process with threads."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
        yield


@pytest.mark.parametrize("method", METHODS)
def test_a_pool(method: str, expected: list[str]) -> None:
    with multiprocessing.get_context(method).Pool(WORKERS) as pool:
        assert pool.map_async(found, range(6), chunksize=1).get(PATIENCE) == expected


@pytest.mark.parametrize("method", METHODS)
def test_loaders_of_data(method: str, expected: list[str]) -> None:
    """Workers stay alive for several epochs and each compute a part, as in data loaders."""
    context = multiprocessing.get_context(method)
    workers = []
    for number in range(WORKERS):
        receiver, sender = context.Pipe()
        worker = context.Process(target=load, args=(sender, number), daemon=True)
        worker.start()
        sender.close()
        workers.append((worker, receiver))
    for _epoch in range(3):
        for _, receiver in workers:
            receiver.send("epoch")
        # The parent computes at the same time.
        assert found(0) == expected[0]
        loaded: dict[int, str] = {}
        for _, receiver in workers:
            assert receiver.poll(PATIENCE), "a worker hangs"
            loaded |= receiver.recv()
        assert [loaded[seed] for seed in range(6)] == expected
    for worker, receiver in workers:
        receiver.send(None)
        worker.join(PATIENCE)
        assert worker.exitcode == 0


def load(pipe: Connection[Any, Any], number: int) -> None:
    while pipe.recv() is not None:
        pipe.send({seed: found(seed) for seed in range(6) if seed % WORKERS == number})


@pytest.mark.skipif("fork" not in METHODS, reason="this system cannot fork")
def test_fork_with_busy_threads_works(expected: list[str]) -> None:
    """The child lacks the threads that were running, and their locks remain locked."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            found(1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        context = multiprocessing.get_context("fork")
        for round in range(12):
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=answer, args=(sender, round % 6), daemon=True)
            child.start()
            sender.close()
            assert receiver.poll(PATIENCE), f"the child of round {round} hangs"
            assert receiver.recv() == expected[round % 6]
            child.join(PATIENCE)
            assert child.exitcode == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)


def answer(pipe: Connection[Any, Any], seed: int) -> None:
    pipe.send(found(seed))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("ending", ["os._exit(0)", "sys.exit(0)", "pass"])
def test_ends_of_a_child(ending: str, expected: list[str]) -> None:
    """A child ends without an error, and the parent can continue."""
    import subprocess

    code = (
        "import lookalike, os, sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        f"texts = {documents(0)!r}\n"
        "first = repr(lookalike.find(texts, threads=2).groups.to_pylist())\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    assert repr(lookalike.find(texts, threads=2).groups.to_pylist()) == first\n"
        f"    {ending}\n"
        "else:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    assert repr(lookalike.find(texts, threads=2).groups.to_pylist()) == first\n"
        "    print(first)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected[0]
