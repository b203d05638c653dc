"""Measures lookalike.datasketch next to datasketch and rensa. Prints Markdown tables.

    python bench/python_datasketch.py [--rounds 5]
    python bench/python_datasketch.py --kept 300000

The libraries take turns in one process. Each figure is the least CPU time (user and system) of the
rounds. `--kept` measures indexes with this number of keys instead, one in memory and one in a
folder. Each index has a process of its own. The table shows times and the growth of memory.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasketch as theirs
import numpy as np

import lookalike.datasketch as ours


def least(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Returns the least CPU seconds of each call in all rounds."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for at, call in enumerate(calls):
            gc.collect()
            start = time.process_time()
            call()
            best[at] = min(best[at], time.process_time() - start)
    return best


def row(name: str, calls: list[Callable[[], Any]], rounds: int, units: int, unit: str) -> None:
    their, mine = least(calls, rounds)
    scale = 1e9 / units
    print(f"| {name} | {their * scale:,.0f} | {mine * scale:,.0f} | {unit} | {their / mine:.1f} |")


def sketching(scheme: Any, num_perm: int, rounds: int) -> None:
    draw = random.Random(1)
    tokens = [b"token %d" % draw.randrange(10**6) for _ in range(10_000)]
    sets = [tokens[i : i + 100] for i in range(0, 10_000, 100)]
    a = theirs.MinHash(num_perm, scheme=scheme)
    b = ours.MinHash(num_perm, scheme=scheme)
    title = f"{scheme}, {num_perm}"

    def one_by_one(m: Any) -> Callable[[], None]:
        def call() -> None:
            for token in tokens[:2000]:
                m.update(token)

        return call

    row(
        f"update_batch ({title})",
        [lambda: a.update_batch(tokens), lambda: b.update_batch(tokens)],
        rounds,
        len(tokens),
        "ns a token",
    )
    row(f"update ({title})", [one_by_one(a), one_by_one(b)], rounds, 2000, "ns a token")
    row(
        f"bulk, 100 tokens each ({title})",
        [
            lambda: theirs.MinHash.bulk(sets, num_perm=num_perm, scheme=scheme),
            lambda: ours.MinHash.bulk(sets, num_perm=num_perm, scheme=scheme),
        ],
        rounds,
        len(tokens),
        "ns a token",
    )
    assert (a.hashvalues == b.hashvalues).all()


def indexing(scheme: Any, num_perm: int, threshold: float, rounds: int) -> None:
    draw = random.Random(2)
    sets = [
        [b"%d-%d" % (i // 4, k) for k in range(40)] + [b"%d" % draw.randrange(10**9)]
        for i in range(4000)
    ]
    made = [
        package.MinHash.bulk(sets, num_perm=num_perm, scheme=scheme) for package in (theirs, ours)
    ]
    indexes: list[Any] = [None, None]

    def insert(at: int) -> None:
        package: Any = (theirs, ours)[at]
        first = theirs.MinHashLSH(threshold, num_perm) if chosen[0] is None else None
        if first is not None:
            chosen[0] = (first.b, first.r)
        lsh = package.MinHashLSH(threshold, num_perm, params=chosen[0])
        for key, m in enumerate(made[at]):
            lsh.insert(key, m)
        indexes[at] = lsh

    def query(at: int) -> None:
        lsh = indexes[at]
        for m in made[at]:
            lsh.query(m)

    chosen: list[Any] = [None]
    insert(0)
    title = f"{scheme}, {num_perm}, threshold {threshold}, {chosen[0][0]} × {chosen[0][1]}"
    inserts: list[Callable[[], Any]] = [lambda: insert(0), lambda: insert(1)]
    queries: list[Callable[[], Any]] = [lambda: query(0), lambda: query(1)]
    row(f"insert ({title})", inserts, rounds, 4000, "ns a key")
    row(f"query ({title})", queries, rounds, 4000, "ns a key")


def optimising(rounds: int) -> None:
    calls: list[Callable[[], Any]] = [lambda: theirs.MinHashLSH(0.8), lambda: ours.MinHashLSH(0.8)]
    row("MinHashLSH(0.8)", calls, min(rounds, 2), 1, "ns")


def beside_rensa(rounds: int) -> None:
    try:
        import rensa
    except ImportError:
        print("rensa is not installed")
        return
    draw = random.Random(3)
    words = [f"word{draw.randrange(50_000)}" for _ in range(100_000)]
    text = [words[i : i + 200] for i in range(0, 100_000, 200)]
    data = [[w.encode() for w in words] for words in text]
    calls: dict[str, Callable[[], Any]] = {
        "lookalike from_token_sets, bytes": lambda: ours.from_token_sets(data),
        "lookalike from_token_sets, str": lambda: ours.from_token_sets(text),
        "lookalike from_token_sets, bytes, token_hash32": (
            lambda: ours.from_token_sets(data, hashfunc=ours.token_hash32)
        ),
        "lookalike from_token_sets, str, token_hash32": (
            lambda: ours.from_token_sets(text, hashfunc=ours.token_hash32)
        ),
        "lookalike MinHash.bulk, bytes": lambda: ours.MinHash.bulk(data),
        "rensa RMinHash.digest_matrix_from_token_byte_sets": (
            lambda: rensa.RMinHash.digest_matrix_from_token_byte_sets(data, 128, 1)
        ),
        "rensa RMinHash.digest_matrix_from_token_sets, str": (
            lambda: rensa.RMinHash.digest_matrix_from_token_sets(text, 128, 1)
        ),
        "rensa RMinHash.from_token_sets, str": (
            lambda: rensa.RMinHash.from_token_sets(text, 128, 1)
        ),
        "rensa RMinHash.digests_from_token_sets, str": (
            lambda: rensa.RMinHash.digests_from_token_sets(text, 128, 1)
        ),
        "rensa CMinHash.from_token_sets, str": (
            lambda: rensa.CMinHash.from_token_sets(text, 128, 1)
        ),
    }
    print("\n| 500 sets of 200 words, 128 values | CPU ns a token |\n|---|---|")
    # A call takes a few milliseconds, so many rounds take only seconds.
    for name, seconds in zip(calls, least(list(calls.values()), 10 * rounds), strict=True):
        print(f"| {name} | {seconds * 1e9 / 100_000:.1f} |")


def resident() -> float:
    """Returns the resident memory of the process without mapped files, in MiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def sketch(number: int, like: Any) -> Any:
    """Returns a sketch. Sketches with the same `number // 4` share most of their values."""
    values = np.random.default_rng(number // 4).integers(0, 1 << 32, 128, dtype=np.uint32)
    others = number % 4 * 8
    draw = np.random.default_rng(1 << 40 | number)
    values[:others] = draw.integers(0, 1 << 32, others, dtype=np.uint32)
    return ours.MinHash(128, hashvalues=values, permutations=like.permutations, scheme="affine32")


def keep(name: str, keys: int) -> None:
    """Measures an index in memory or in a folder, and prints a row of the table."""
    like = ours.MinHash(128)
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above) / "index"
        kept = {"type": "lookalike", "path": str(folder)} if name == "folder" else None
        lsh = ours.MinHashLSH(params=(25, 5), storage_config=kept)
        before, inserting = resident(), [0.0, 0.0]
        with lsh.insertion_session() as session:
            for start in range(0, keys, 5000):
                some = [sketch(at, like) for at in range(start, min(keys, start + 5000))]
                begun = time.perf_counter(), time.process_time()
                for at, m in enumerate(some, start):
                    session.insert(f"key {at}", m)
                inserting[0] += time.perf_counter() - begun[0]
                inserting[1] += time.process_time() - begun[1]
            begun = time.perf_counter(), time.process_time()
        inserting[0] += time.perf_counter() - begun[0]
        inserting[1] += time.process_time() - begun[1]
        del some
        gc.collect()
        full = resident() - before
        if kept is not None:
            lsh.close()
            lsh = ours.MinHashLSH(params=(25, 5), storage_config=kept)
        asked = [sketch(at, like) for at in range(0, keys, max(keys // 5000, 1))]
        begun = time.perf_counter(), time.process_time()
        for m in asked:
            assert len(lsh.query(m)) >= 1
        took = time.perf_counter() - begun[0], time.process_time() - begun[1]
        size = sum(path.stat().st_size for path in folder.glob("*")) / 2**20
        each, each_asked = 1e6 / keys, 1e6 / len(asked)
        print(
            f"| {name} | {inserting[0] * each:.1f} ({inserting[1] * each:.1f}) | "
            f"{took[0] * each_asked:.1f} ({took[1] * each_asked:.1f}) | {full:,.0f} | "
            f"{resident() - before:,.0f} | {size:,.0f} |"
        )
        lsh.close()


def keeping(keys: int) -> None:
    print(
        f"| {keys:,} keys, affine32, 128, 25 × 5 | insert in a session, µs (CPU) | query, µs "
        "(CPU) "
        "| MiB of memory after inserting | after asking | MiB on the disk |"
    )
    print("|---|---|---|---|---|---|", flush=True)
    for name in ("memory", "folder"):
        process = multiprocessing.get_context("spawn").Process(target=keep, args=(name, keys))
        process.start()
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kept", type=int, metavar="KEYS")
    options = parser.parse_args()
    rounds = options.rounds
    if options.kept:
        keeping(options.kept)
        return
    print("| what | datasketch | lookalike | unit | ratio |\n|---|---|---|---|---|")
    for scheme in ("affine32", "affine64", "legacy"):
        for num_perm in (128, 256):
            sketching(scheme, num_perm, rounds)
    for num_perm in (128, 256):
        for threshold in (0.5, 0.8):
            indexing("affine32", num_perm, threshold, rounds)
    indexing("affine64", 128, 0.8, rounds)
    indexing("legacy", 128, 0.8, rounds)
    optimising(rounds)
    beside_rensa(rounds)


if __name__ == "__main__":
    main()
