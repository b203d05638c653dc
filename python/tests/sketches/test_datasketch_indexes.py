"""Compares MinHashLSH, MinHashLSHForest and MinHashLSHEnsemble with datasketch."""

from __future__ import annotations

import copy
import gc
import hashlib
import math
import pickle
import random
import subprocess
import sys
import threading
import weakref
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
original = pytest.importorskip("datasketch", reason="datasketch is not installed")

import datasketch.lsh as their_lsh  # noqa: E402
from datasketch.lsh import _optimal_param as their_bands  # noqa: E402
from datasketch.lshensemble import (  # noqa: E402
    _optimal_param as their_containment_bands,
)
from datasketch.lshensemble_partition import (  # noqa: E402
    optimal_partitions as their_partitions,
)

import lookalike.datasketch as ours  # noqa: E402
from lookalike.datasketch import _native  # noqa: E402
from lookalike.datasketch import lsh as our_lsh  # noqa: E402
from lookalike.datasketch.lsh import _optimal_param as our_bands  # noqa: E402
from lookalike.datasketch.lshensemble_partition import optimal_partitions  # noqa: E402

SCHEMES = ["affine32", "affine64", "legacy"]


def some_sets(count: int, seed: int) -> list[list[bytes]]:
    """Returns sets in families of five that share most of their elements."""
    draw = random.Random(seed)
    return [
        [b"%d-%d" % (i // 5, k) for k in range(draw.randrange(10, 40))]
        + [b"%d" % draw.randrange(10**9) for _ in range(draw.randrange(1, 8))]
        for i in range(count)
    ]


def sketches(sets: list[list[bytes]], **arguments: Any) -> tuple[list[Any], list[Any]]:
    return original.MinHash.bulk(sets, **arguments), ours.MinHash.bulk(sets, **arguments)


def filled(lsh: Any, minhashes: list[Any]) -> Any:
    for key, minhash in enumerate(minhashes):
        lsh.insert(key, minhash)
    return lsh


def found(lsh: Any, minhashes: list[Any]) -> list[set[Any]]:
    results = [lsh.query(m) for m in minhashes]
    assert all(len(r) == len(set(r)) for r in results)
    return [set(r) for r in results]


@pytest.mark.parametrize("num_perm", [2, 10, 48])
@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.1, 0.9), (1.0, 0.0)])
def test_bands_for_a_threshold(num_perm: int, weights: tuple[float, float]) -> None:
    for threshold in [0.0, 0.013, 0.2, 0.37, 0.5, 0.62, 0.8, 0.9, 0.95, 0.999, 1.0]:
        expected = their_bands(threshold, num_perm, *weights)
        assert our_bands(threshold, num_perm, *weights) == expected


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
def test_bands_of_128(threshold: float) -> None:
    a, b = original.MinHashLSH(threshold), ours.MinHashLSH(threshold)
    assert (a.b, a.r, a.h, a.hashranges) == (b.b, b.r, b.h, b.hashranges)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("prepickle", [None, True])
@pytest.mark.parametrize("hashed", [False, True])
def test_index(scheme: str, prepickle: bool | None, hashed: bool) -> None:
    ta, tb = sketches(some_sets(200, 1), num_perm=64, scheme=scheme)
    hashfunc = (lambda band: hashlib.md5(band).digest()[:2]) if hashed else None
    arguments: dict[str, Any] = {
        "num_perm": 64, "params": (16, 4), "prepickle": prepickle, "hashfunc": hashfunc,
    }  # fmt: skip
    a = filled(original.MinHashLSH(**arguments), ta)
    b = filled(ours.MinHashLSH(**arguments), tb)
    assert found(a, ta) == found(b, tb) == found(b, ta)
    assert max(len(s) for s in found(b, tb)) > 1
    assert a.get_counts() == b.get_counts()
    assert a.get_subset_counts(1, 5, 7, 999) == b.get_subset_counts(1, 5, 7, 999)
    for index in (a, b):
        with index.deletion_session() as session:
            for key in range(0, 200, 3):
                session.remove(key)
    assert found(a, ta) == found(b, tb)
    assert a.get_counts() == b.get_counts()
    assert list(a.keys) == list(b.keys) and len(b.keys) == len(a.keys)
    assert [a.keys.get(k) for k in a.keys] == [b.keys.get(k) for k in b.keys]
    for own_table, original_table in zip(b.hashtables, a.hashtables, strict=True):
        assert set(own_table) == set(original_table)
        assert all(own_table[h] == original_table[h] for h in original_table)
        assert (
            own_table.size() == original_table.size()
            and own_table.itemcounts() == original_table.itemcounts()
        )
    assert 3 not in b and 4 in b and not b.is_empty()
    for index in (a, b):
        for m in (ta if index is a else tb)[5:7]:
            index.add_to_query_buffer(m)
    assert set(a.collect_query_buffer()) == set(b.collect_query_buffer())
    assert b.collect_query_buffer() == []
    filled_again = ours.MinHashLSH(**arguments)
    filled_again.merge(b)
    assert filled_again.get_counts() == b.get_counts()


def test_random_changes() -> None:
    """Makes a thousand random insertions and removals. Several keys have the same sketch."""
    draw = random.Random(4)
    ta, tb = sketches(some_sets(60, 2), num_perm=16)
    a = original.MinHashLSH(num_perm=16, params=(8, 2))
    b = ours.MinHashLSH(num_perm=16, params=(8, 2))
    stored: list[int] = []
    for step in range(1000):
        if stored and draw.random() < 0.45:
            key = stored.pop(draw.randrange(len(stored)))
            a.remove(key)
            b.remove(key)
        else:
            at = draw.randrange(60)
            a.insert(step, ta[at])
            b.insert(step, tb[at])
            stored.append(step)
        if step % 50 == 0:
            assert found(a, ta) == found(b, tb)
    assert a.get_counts() == b.get_counts()
    for key in stored:
        b.remove(key)
    assert b.is_empty() and b.get_counts() == [{}] * 8 and found(b, tb) == [set()] * 60


def test_ensembles_choose_alike_in_near_ties() -> None:
    """Thresholds with few digits cause many near ties, which rounding decides."""
    sharp = [(0.91, 16, 8), (0.92, 16, 8), (0.92, 64, 8), (0.91, 128, 8)]
    draw = random.Random(6)
    some = [
        (round(draw.random(), 2), draw.choice([8, 16, 20, 31]), draw.choice([2, 4, 8]))
        for _ in range(30)
    ]
    for threshold, num_perm, m in sharp + some:
        for xq in np.exp(np.linspace(-5, 5, 10)):
            for weight in (0.5, draw.choice([0.0, 0.1, 0.8, 1.0])):
                weights = (weight, 1 - weight)
                with np.errstate(all="ignore"):
                    expected = their_containment_bands(threshold, num_perm, m, xq, *weights)
                arguments = (threshold, num_perm, m, float(xq), *weights)
                assert _native.optimal_containment_bands(*arguments) == expected, arguments


def test_repeated_keys_match_datasketch() -> None:
    ta, tb = sketches(some_sets(30, 3), num_perm=16)
    a = original.MinHashLSH(num_perm=16, params=(8, 2))
    b = ours.MinHashLSH(num_perm=16, params=(8, 2))
    for index, minhashes in ((a, ta), (b, tb)):
        for at, m in enumerate(minhashes):
            index.insert(at % 7, m, check_duplication=False)
    assert found(a, ta) == found(b, tb)
    assert a.get_counts() == b.get_counts()
    assert [a.keys[key] for key in range(7)] == [b.keys[key] for key in range(7)]
    read = ours.loads(pickle.dumps(a))
    assert [read.keys[key] for key in range(7)] == [a.keys[key] for key in range(7)]
    b.remove(3)
    assert 3 not in b and all(3 not in s for s in found(b, tb))


def test_keys_of_any_kind() -> None:
    m = ours.MinHash.bulk([[b"a"]])[0]
    lsh = ours.MinHashLSH(0.8)
    keys = ["a", 1, (1, "b"), None, b"c", frozenset([1])]
    for key in keys:
        lsh.insert(key, m)
    assert set(lsh.query(m)) == set(keys)
    with pytest.raises(TypeError):
        lsh.insert([], m)
    with pytest.raises(ValueError):
        lsh.insert("a", m)
    with pytest.raises(ValueError):
        lsh.remove("z")
    assert len(lsh.keys) == 6

    class Loud:
        def __hash__(self) -> int:
            return 987654321

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no")

    lsh.insert(Loud(), m)
    with pytest.raises(RuntimeError):
        lsh.insert(Loud(), m)
    assert len(lsh.query(m)) == 7


BAD_INDEXES: list[dict[str, Any]] = [
    {"threshold": 1.1},
    {"threshold": -0.1},
    {"num_perm": 1},
    {"weights": (0.5, 0.6)},
    {"weights": (-0.5, 1.5)},
    {"params": (64, 64)},
    {"params": (1, 4)},
    {"storage_config": {"type": "nothing"}},
]


@pytest.mark.parametrize("arguments", BAD_INDEXES, ids=repr)
def test_bad_indexes_fail_alike(arguments: dict[str, Any]) -> None:
    with pytest.raises(Exception) as expected:
        original.MinHashLSH(**arguments)
    with pytest.raises(expected.type):
        ours.MinHashLSH(**arguments)


def test_bad_sketches_are_refused() -> None:
    lsh = ours.MinHashLSH(0.8)
    lsh.insert("a", ours.MinHash())
    for bad in (ours.MinHash(64), ours.MinHash(scheme="legacy")):
        for call in (lambda m: lsh.insert("b", m), lsh.query, lsh.add_to_query_buffer):
            with pytest.raises(ValueError):
                call(bad)
    for argument in (None, 5, "text"):
        with pytest.raises((TypeError, AttributeError)):
            lsh.query(argument)
    with pytest.raises(ValueError, match="'lookalike'"):
        ours.MinHashLSH(storage_config={"type": "nothing"})
    with pytest.raises(TypeError, match="bytes"):
        lsh = ours.MinHashLSH(0.8, hashfunc=lambda band: 5)  # type: ignore[arg-type,return-value]
        lsh.insert("a", ours.MinHash())
    with pytest.raises(ValueError):
        ours.MinHashLSH(0.5).merge(ours.MinHashLSH(0.8))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_forest(scheme: str) -> None:
    ta, tb = sketches(some_sets(150, 6), num_perm=64, scheme=scheme)
    a, b = original.MinHashLSHForest(64, 8), ours.MinHashLSHForest(64, 8)
    for forest, minhashes in ((a, ta), (b, tb)):
        for key, minhash in enumerate(minhashes[:100]):
            forest.add(key, minhash)
        assert forest.is_empty()
        forest.index()
        for key, minhash in enumerate(minhashes[100:], 100):
            forest.add(key, minhash)
    for _ in range(2):
        for k in (1, 3, 10, 200):
            assert [set(a.query(m, k)) for m in ta] == [set(b.query(m, k)) for m in tb]
        assert a.sorted_hashtables == b.sorted_hashtables
        a.index()
        b.index()
    assert a.keys == b.keys and a.hashtables == b.hashtables
    for key in (0, 99, 149):
        own_values, original_values = b.get_minhash_hashvalues(key), a.get_minhash_hashvalues(key)
        np.testing.assert_array_equal(own_values, original_values)
        assert own_values.dtype == original_values.dtype
    assert 5 in b and 500 not in b
    with pytest.raises(KeyError):
        b.get_minhash_hashvalues(500)
    for call in (
        lambda: b.add(5, tb[5]),
        lambda: b.query(tb[0], 0),
        lambda: b.query(ours.MinHash(8, scheme=scheme), 1),
        lambda: b.query(ours.MinHash(64, scheme=SCHEMES[SCHEMES.index(scheme) - 1]), 1),
        lambda: ours.MinHashLSHForest(0),
        lambda: ours.MinHashLSHForest(4, 8),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("num_part", [1, 2, 3, 7, 40])
def test_partitions(num_part: int) -> None:
    draw = random.Random(num_part)
    for distinct in (1, 2, 5, 30, 300):
        sizes = np.array(sorted(draw.sample(range(1, 5000), distinct)))
        counts = np.array([draw.randrange(1, 50) for _ in sizes])
        expected = their_partitions(sizes, counts, num_part)
        assert optimal_partitions(sizes, counts, num_part) == [tuple(p) for p in expected]
    with pytest.raises(ValueError):
        optimal_partitions([], [], num_part)


@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_ensemble(threshold: float) -> None:
    sets = some_sets(150, 7)
    ta, tb = sketches(sets, num_perm=32)
    arguments: dict[str, Any] = {
        "threshold": threshold, "num_perm": 32, "num_part": 4, "m": 4,
    }  # fmt: skip
    a, b = original.MinHashLSHEnsemble(**arguments), ours.MinHashLSHEnsemble(**arguments)
    np.testing.assert_array_equal(a.params, b.params)
    np.testing.assert_array_equal(a.xqs, b.xqs)
    for ensemble, minhashes in ((a, ta), (b, tb)):
        assert ensemble.is_empty()
        ensemble.index((k, m, len(s)) for k, (m, s) in enumerate(zip(minhashes, sets)))
    assert a.lowers == b.lowers and a.uppers == b.uppers
    for m, n, s in zip(ta, tb, sets):
        for size in (1, len(s), 500):
            assert sorted(a.query(m, size)) == sorted(b.query(n, size))
    assert 5 in b and 500 not in b
    with pytest.raises(ValueError):
        b.index([(1, tb[0], 3)])
    for entries in ([], [(1, tb[0], 0)]):
        with pytest.raises(ValueError):
            ours.MinHashLSHEnsemble(**arguments).index(entries)
    with pytest.raises(ValueError):
        ours.MinHashLSHEnsemble(num_part=0)


def test_ensemble_takes_estimates_of_sizes() -> None:
    sets = some_sets(60, 8)
    outcomes = []
    for package, minhashes in zip((original, ours), sketches(sets, num_perm=32), strict=True):
        ensemble = package.MinHashLSHEnsemble(0.8, 32, num_part=5, m=4)
        ensemble.index([(k, m, m.count()) for k, m in enumerate(minhashes)])
        answers = [sorted(ensemble.query(m, m.count())) for m in minhashes]
        outcomes.append((answers, ensemble.lowers, ensemble.uppers))
    assert outcomes[0] == outcomes[1]
    sizes, counts = np.array([1.5, 2.5, 3.5, 9.25]), np.array([3, 1, 1, 5])
    for num_part in (1, 2, 3, 9):
        expected = [tuple(pair) for pair in their_partitions(sizes, counts, num_part)]
        assert optimal_partitions(sizes, counts, num_part) == expected


def test_failed_ensemble_index_changes_nothing() -> None:
    _, (m, n, *_) = sketches(some_sets(5, 9), num_perm=16)
    ensemble = ours.MinHashLSHEnsemble(num_perm=16, num_part=2, m=4)
    entries: list[Any]
    for entries in (
        [("a", m, 3), ("b", n, 0)],
        [("a", m, 3), ("b", n, float("nan"))],
        [("a", m, 3), ("b", n, float("inf"))],
        [("a", m, 3), ("a", n, 3)],
        [("a", m, 3), ("b", ours.MinHash(8), 5)],
        [("a", m, 3), ([], n, 5)],
        [("a", m, 3), ("b", n)],
    ):
        with pytest.raises((ValueError, TypeError)):
            ensemble.index(entries)
        assert ensemble.is_empty() and ensemble.uppers == [None, None]
    ensemble.index([("a", m, 3), ("b", n, 5)])
    assert "a" in ensemble and "b" in ensemble


def test_wrong_arguments_fail_alike() -> None:
    _, (m, *_) = sketches(some_sets(2, 9), num_perm=16)
    lsh = ours.MinHashLSH(num_perm=16, params=(4, 4))
    lsh.insert("a", m)
    for argument in (None, 5):
        for call in (lsh.query, lambda one: lsh.insert("b", one), lsh.add_to_query_buffer):
            with pytest.raises(TypeError):
                call(argument)
    with pytest.raises(TypeError):
        ours.MinHashLSH(num_perm=16, params=(2, 2.5))  # type: ignore[arg-type]
    for index_class in (ours.MinHashLSH, ours.MinHashLSHEnsemble):
        with pytest.raises(ValueError):
            index_class(weights=(0.2, 0.3, 0.5))  # type: ignore[arg-type]
    original_index = original.MinHashLSH(num_perm=16, params=(4, 4))
    original_index.insert("a", m)
    assert [lsh._query_b(m, b) for b in (-4, -1, 0, 2)] == [
        original_index._query_b(m, b) for b in (-4, -1, 0, 2)
    ]
    prepickled = ours.MinHashLSH(num_perm=16, params=(4, 4), prepickle=True)
    prepickled.insert("there", m)
    with pytest.raises(ValueError, match="'gone'"):
        prepickled.remove("gone")
    with pytest.raises(ValueError, match="'there'"):
        prepickled.insert("there", m)


def test_forest_queries_accept_any_k() -> None:
    ta, tb = sketches(some_sets(20, 10), num_perm=16)
    forests = original.MinHashLSHForest(16, 4), ours.MinHashLSHForest(16, 4)
    for forest, minhashes in zip(forests, (ta, tb), strict=True):
        for key, minhash in enumerate(minhashes):
            forest.add(key, minhash)
        forest.index()
    for k in (1.5, 2.0, math.inf, 2**70):
        assert len(forests[0].query(ta[0], k)) == len(forests[1].query(tb[0], k))


def test_inconsistent_sketches_are_errors() -> None:
    class Odd:
        hashvalues = np.arange(16, dtype=np.uint32)

        def __init__(self, length: int) -> None:
            self.length = length

        def __len__(self) -> int:
            return self.length

    lsh = ours.MinHashLSH(num_perm=8, params=(2, 4))
    forest = ours.MinHashLSHForest(8, 2)
    for length in (8, 15, 17):
        odd: Any = Odd(length)
        for call in (
            lsh.query,
            lambda m: lsh.insert("a", m),
            lsh.add_to_query_buffer,
            lambda m: forest.add("a", m),
        ):
            with pytest.raises(ValueError):
                call(odd)
    assert lsh.is_empty() and "a" not in forest
    bare: Any = ours.MinHashLSH.__new__(ours.MinHashLSH)
    with pytest.raises(ValueError, match="set up"):
        bare.query(ours.MinHash(4))
    with pytest.raises(ValueError):
        bare._add_bands("a", [])


def test_attributes_and_waiting_queries_are_copied() -> None:
    class Named(ours.MinHashLSH):
        pass

    _, (m, _n, *_) = sketches(some_sets(2, 11), num_perm=16)
    lsh = Named(num_perm=16, params=(4, 4))
    lsh.titles = {"a": "A"}  # type: ignore[attr-defined]
    lsh.insert("a", m)
    lsh.add_to_query_buffer(m)
    globals()["Named"], Named.__qualname__ = Named, "Named"
    copies = [copy.copy(lsh), copy.deepcopy(lsh)]
    copies += [pickle.loads(pickle.dumps(lsh, protocol)) for protocol in range(6)]
    for copied in copies:
        assert type(copied) is Named and copied.titles == {"a": "A"}
        assert copied.collect_query_buffer() == ["a"] == copied.query(m)
    lsh.insert("b", m)
    assert set(lsh.collect_query_buffer()) == {"a", "b"}, "asked when the answers are collected"
    lsh.buffer_size = 7
    assert lsh.keys.buffer_size == 7 == lsh.hashtables[0].buffer_size
    lsh.keys.buffer_size = 8
    assert lsh.buffer_size == 8


def test_cycles_are_collected() -> None:
    class Holder:
        held: Any

        def hash(self, token: bytes) -> int:
            return len(token)

        def short(self, band: bytes) -> bytes:
            return band[:2]

    def minhash(holder: Holder) -> None:
        holder.held = ours.MinHash(4, hashfunc=holder.hash)

    def seed(holder: Holder) -> None:
        holder.held = ours.MinHash(4, seed=[1, 2])
        holder.held.seed = (holder,)
        _ = holder.held.hashvalues

    def index(holder: Holder) -> None:
        holder.held = ours.MinHashLSH(num_perm=4, params=(2, 2), hashfunc=holder.short)

    def keys(holder: Holder) -> None:
        holder.held = ours.MinHashLSH(num_perm=4, params=(2, 2))
        holder.held.insert(holder, ours.MinHash(4))

    def forest(holder: Holder) -> None:
        holder.held = ours.MinHashLSHForest(4, 2)
        holder.held.add(holder, ours.MinHash(4))

    for fill in (minhash, seed, index, keys, forest):
        holder = Holder()
        fill(holder)
        reference = weakref.ref(holder)
        del holder
        gc.collect()
        assert reference() is None, fill.__name__


def test_index_works_during_garbage_collection() -> None:
    _, minhashes = sketches([[b"%d" % (i % 7)] for i in range(200)], num_perm=16)
    lsh = filled(ours.MinHashLSH(num_perm=16, params=(4, 4)), minhashes)
    forest = ours.MinHashLSHForest(16, 4)
    for key, minhash in enumerate(minhashes):
        forest.add(key, minhash)
    forest.index()
    raised: set[str] = set()
    used = 0

    class Late:
        def __init__(self) -> None:
            self.myself = self

        def __del__(self) -> None:
            nonlocal used
            try:
                lsh.query(minhashes[0])
                lsh.insert(object(), minhashes[1])
                forest.query(minhashes[0], 3)
                used += 1
            except BaseException as error:
                raised.add(repr(error))

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            Late()
            lsh.query(minhashes[1])
            lsh.get_counts()
            lsh._query_b(minhashes[2], 2)
            lsh.hashtables[0].get(lsh.keys[0][0])
            forest.query(minhashes[3], 50)
    finally:
        gc.set_threshold(*before)
    assert used > 0 and not raised


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from lookalike.datasketch import *
from lookalike.datasketch.lshensemble_partition import optimal_partitions
class Long:
    def __len__(self): return 2**31
    def __iter__(self): return iter([1])
try:
    {}
except MemoryError as error:
    print("memory", len(str(error)) > 20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
@pytest.mark.parametrize(
    "call",
    [
        "MinHash(num_perm=2**31)",
        "MinHash(num_perm=2**29).hashvalues",
        "MinHash(hashvalues=Long(), scheme='affine32')",
        "MinHashLSHForest(num_perm=2**31, l=2**31)",
        "optimal_partitions(list(range(1, 60001)), [1] * 60000, 16)",
        "from_token_sets([[b'a']] * 200, num_perm=2**23)",
    ],
)
def test_exhausted_memory_raises_memory_error(call: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", LIMITED.format(call)], capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stdout) == (0, "memory True\n"), process.stderr


def test_sketches_without_bytes_are_refused() -> None:
    class Values:
        def __len__(self) -> int:
            return 4

        def byteswap(self) -> Values:
            return self

        def tobytes(self) -> bytes:
            return b""

    class Sketch:
        hashvalues = Values()

        def __len__(self) -> int:
            return 4

    lsh, good = ours.MinHashLSH(num_perm=4, params=(2, 2)), ours.MinHash(4)
    good.update(b"a")
    sketch: Any = Sketch()
    for call in (
        lambda: lsh.insert("bad", sketch),
        lambda: lsh.query(sketch),
        lambda: ours.MinHashLSHForest(4, 2).add("bad", sketch),
    ):
        with pytest.raises(ValueError, match="of 0 bytes"):
            call()
    assert "bad" not in lsh
    lsh.insert("bad", good)
    assert lsh.query(good) == ["bad"]


def test_partitions_without_a_cost() -> None:
    for sizes, least in (([0, 0, 0], "0"), ([-2, -1, 0, 5], "-2")):
        with pytest.raises(ValueError, match=f"sizes must be above 0, got {least}"):
            optimal_partitions(sizes, [1] * len(sizes), 2)
    with pytest.raises(ValueError, match="sums of the counts are too great"):
        optimal_partitions(range(1, 41), [1.7e308] * 40, 2)


def test_forest_resorts_after_new_keys() -> None:
    _, minhashes = sketches(some_sets(60, 11), num_perm=16)
    forest, at_once = ours.MinHashLSHForest(16, 4), ours.MinHashLSHForest(16, 4)
    for key, minhash in enumerate(minhashes):
        forest.add(key, minhash)
        at_once.add(key, minhash)
        if key % 7 == 0:
            forest.index()
            sorted_again = forest.sorted_hashtables
            forest.index()
            assert forest.sorted_hashtables == sorted_again
    for sorted_forest in (forest, at_once):
        sorted_forest.index()
    expected = [sorted(table) for table in at_once.hashtables]
    assert forest.sorted_hashtables == at_once.sorted_hashtables == expected
    copied = pickle.loads(pickle.dumps(forest))
    copied.add("new", minhashes[0])
    copied.index()
    assert set(copied.query(minhashes[0], 2)) == {0, "new"}


def test_forest_works_during_concurrent_sorting() -> None:
    _, minhashes = sketches(some_sets(400, 12), num_perm=32)
    forest = ours.MinHashLSHForest(32, 8)
    failed: list[BaseException] = []

    def sort() -> None:
        try:
            for _ in range(40):
                forest.index()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=sort) for _ in range(3)]
    for thread in threads:
        thread.start()
    for key, minhash in enumerate(minhashes):
        forest.add(key, minhash)
        forest.query(minhash, 3)
    for thread in threads:
        thread.join()
    forest.index()
    assert not failed
    assert all(key in forest.query(minhash, 400) for key, minhash in enumerate(minhashes))


def changed(lsh: Any, minhash: Any) -> Any:
    """Returns an index in which other keys have replaced removed keys."""
    for key in ("e", "b", "d", "a"):
        lsh.insert(key, minhash)
    for key in ("b", "e"):
        lsh.remove(key)
    for key in ("z", "b", "c"):
        lsh.insert(key, minhash)
    return lsh


@pytest.mark.parametrize("prepickle", [False, True])
def test_query_keeps_insertion_order(prepickle: bool) -> None:
    minhash = ours.MinHash(16)
    lsh = changed(ours.MinHashLSH(num_perm=16, params=(4, 4), prepickle=prepickle), minhash)
    assert lsh.query(minhash) == ["d", "a", "z", "b", "c"]


def test_buffered_queries_keep_insertion_order() -> None:
    minhash = ours.MinHash(16)
    lsh = changed(ours.MinHashLSH(num_perm=16, params=(4, 4)), minhash)
    lsh.add_to_query_buffer(minhash)
    lsh.add_to_query_buffer(minhash)
    assert lsh.collect_query_buffer() == ["d", "a", "z", "b", "c"]


def test_ensembles_keep_insertion_order() -> None:
    keys = [f"key {number * 7 % 40}" for number in range(40)]
    (minhash,) = ours.MinHash.bulk([[b"a", b"b"]], num_perm=32)
    ensemble = ours.MinHashLSHEnsemble(threshold=0.9, num_perm=32, num_part=1)
    ensemble.index([(key, minhash, 2) for key in keys])
    assert list(ensemble.query(minhash, 2)) == keys


def clusters(sets: list[list[bytes]], query: Any, insert: Any) -> list[list[int]]:
    """Clusters near-duplicates like scripts for corpora of code. A document joins the cluster of
    the first similar document that has begun one. Otherwise its first similar document begins
    one."""
    begun: dict[int, list[int]] = {}
    for key in range(len(sets)):
        similar = query(key)
        insert(key)
        if similar:
            first = next((other for other in similar if other in begun), similar[0])
            begun.setdefault(first, []).append(key)
    return [[first, *others] for first, others in begun.items()]


def test_greedy_clusters_follow_insertion_order() -> None:
    draw = random.Random(48)
    sets = [
        [b"%d" % (family + draw.randrange(60)) for _ in range(80)]
        for family in [0, 30, 0, 30, 60] * 60
    ]
    a, b = sketches(sets, num_perm=64)
    theirs_index, ours_index = (
        package.MinHashLSH(threshold=0.5, num_perm=64) for package in (original, ours)
    )
    expected = clusters(
        sets,
        lambda key: sorted(theirs_index.query(a[key])),
        lambda key: theirs_index.insert(key, a[key]),
    )
    assert len(expected) > 1
    assert (
        clusters(
            sets, lambda key: ours_index.query(b[key]), lambda key: ours_index.insert(key, b[key])
        )
        == expected
    )


def test_error_probabilities_equal_datasketch() -> None:
    for name in ("_false_positive_probability", "_false_negative_probability"):
        ours_of, theirs_of = getattr(our_lsh, name), getattr(their_lsh, name)
        for threshold in (0.0, 0.2, 0.5, 0.9, 1.0):
            for b, r in ((1, 1), (25, 5), (9, 14), (128, 1)):
                assert ours_of(threshold, b, r) == pytest.approx(
                    theirs_of(threshold, b, r), abs=1e-12
                )


def test_private_datasketch_names_exist() -> None:
    from lookalike.datasketch.hyperloglog import _bit_length
    from lookalike.datasketch.storage import (
        RedisBuffer,
        RedisListStorage,
        RedisSetStorage,
        RedisStorage,
    )

    assert [_bit_length(bits) for bits in (0, 1, 8)] == [0, 1, 4]
    assert issubclass(RedisListStorage, RedisStorage) and issubclass(RedisSetStorage, RedisStorage)
    assert callable(RedisBuffer)
    assert (
        ours.MinHash(4)._a_gpu is None
        and pickle.loads(pickle.dumps(ours.MinHash(4)))._a_gpu is None
    )
