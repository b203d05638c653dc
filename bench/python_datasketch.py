"""lookalike.datasketch beside datasketch and rensa: time of the processor, as Markdown tables.

    python bench/python_datasketch.py [--rounds 5]

Both libraries take turns in one process; each figure is the least of the rounds. Of bulk calls
with one thread, `user` time of the process is measured.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Callable
from typing import Any

import datasketch as theirs

import lookalike.datasketch as ours


def least(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Seconds of the processor that each call takes, the least of all rounds."""
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
    # A call takes some milliseconds, so that many rounds are few seconds.
    for name, seconds in zip(calls, least(list(calls.values()), 10 * rounds), strict=True):
        print(f"| {name} | {seconds * 1e9 / 100_000:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
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
