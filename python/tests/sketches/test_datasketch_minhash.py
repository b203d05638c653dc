"""Compares MinHash and its hash values with datasketch."""

from __future__ import annotations

import copy
import gc
import hashlib
import itertools
import math
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

np = pytest.importorskip("numpy", reason="numpy is not installed")
original = pytest.importorskip("datasketch", reason="datasketch is not installed")

import lookalike.datasketch as ours  # noqa: E402
from lookalike import _engine  # noqa: E402

SCHEMES = ["affine32", "affine64", "legacy"]


def some_tokens(count: int, seed: int) -> list[bytes]:
    """Returns tokens whose lengths are near the lengths at which the padding of SHA-1 changes."""
    draw = random.Random(seed)
    lengths = [0, 1, 3, 8, 20, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 200]
    return [draw.randbytes(draw.choice(lengths)) for _ in range(count)]


def pair(tokens: list[bytes] | None = None, **arguments: Any) -> tuple[Any, Any]:
    sketches = original.MinHash(**arguments), ours.MinHash(**arguments)
    for m in sketches:
        m.update_batch(tokens or [])
    return sketches


def assert_equal(a: Any, b: Any) -> None:
    assert a.hashvalues.dtype == b.hashvalues.dtype
    np.testing.assert_array_equal(a.hashvalues, b.hashvalues)


@pytest.mark.parametrize("kernel", _engine.ds_kernels())
def test_kernels_hash_like_hashlib(kernel: str) -> None:
    # Tokens of every length, next to tokens of the same and of other lengths. The lists have many
    # lengths, because kernels hash several tokens at once.
    some = some_tokens(1001, 1)
    short = [some[at % 1001][: at % 33] + bytes(at % 3) for at in range(500)]
    each = [bytes(range(length)) for length in range(130) for _ in range(8)]
    for tokens in [
        some,
        short,
        each,
        each[:-1],
        *(each[at : at + 21] for at in range(0, 1000, 13)),
    ]:
        check_sha1(kernel, tokens)


def check_sha1(kernel: str, tokens: list[bytes]) -> None:
    expected = [int.from_bytes(hashlib.sha1(t).digest()[:8], "little") for t in tokens]
    assert _engine.ds_kernel_sha1(kernel, tokens) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("num_perm", [1, 15, 31, 32, 33, 128, 257])
def test_kernels_give_equal_values(scheme: str, num_perm: int) -> None:
    draw = random.Random(2)
    bits = 32 if scheme == "affine32" else 64
    hashes = [draw.getrandbits(bits) for _ in range(777)] + [0, 1, 2**bits - 1, 2**32 - 1]
    for some in (hashes, [h % 2**32 for h in hashes]):
        values = [
            _engine.ds_kernel_values(kernel, scheme, 7, num_perm, some)
            for kernel in _engine.ds_kernels()
        ]
        assert all(v == values[0] for v in values)
        m = original.MinHash(num_perm, seed=7, scheme=scheme, hashfunc=lambda h: h)
        m.update_batch(some)
        assert m.hashvalues.tolist() == values[0]


@pytest.mark.parametrize("kernel", _engine.ds_kernels())
def test_kernels_reduce_near_prime_multiples(kernel: str) -> None:
    prime, num_perm = 2**61 - 1, 17
    a, b = original.MinHash(num_perm, seed=7, scheme="legacy").permutations.tolist()
    odd = [k for k in range(num_perm) if a[k] % 2 == 1]
    assert odd
    for k, multiple, near in itertools.product(odd, range(9), range(-8, 9)):
        product = (multiple * prime + near) % 2**64
        hash_of_it = (product - b[k]) * pow(a[k], -1, 2**64) % 2**64
        for hashes in ([hash_of_it], [5] * 300 + [hash_of_it]):
            expected = [
                min((a[i] * h + b[i]) % 2**64 % prime % 2**32 for h in set(hashes))
                for i in range(num_perm)
            ]
            values = _engine.ds_kernel_values(kernel, "legacy", 7, num_perm, hashes)
            assert values == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("num_perm", [1, 16, 100, 128, 256, 1000])
@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_values_and_permutations(scheme: str, num_perm: int, seed: int) -> None:
    a, b = pair(some_tokens(300, seed), num_perm=num_perm, seed=seed, scheme=scheme)
    assert_equal(a, b)
    np.testing.assert_array_equal(a.permutations, b.permutations)
    assert a.permutations.dtype == b.permutations.dtype
    a.update(b"one more")
    b.update(b"one more")
    assert_equal(a, b)
    assert a.count() == b.count()
    assert len(a) == len(b) and a.num_perm == b.num_perm and a.seed == b.seed


def test_known_answers() -> None:
    """The values of datasketch 2.0.0 for the token `lookalike` and seed 1. They never change."""
    expected = {
        "affine32": [2671343059, 2596516909, 1332000359, 2220278849],
        "affine64": [
            8385295320447244437,
            10337260345254028900,
            6885109463179307536,
            2987791762511805997,
        ],
        "legacy": [4095116585, 3578562075, 2764681133, 4261264707],
    }
    for scheme, values in expected.items():
        m = ours.MinHash(num_perm=4, scheme=scheme)
        m.update(b"lookalike")
        assert m.hashvalues.tolist() == values


@pytest.mark.parametrize("scheme", SCHEMES)
def test_empty_clear_copy_digest(scheme: str) -> None:
    a, b = pair(scheme=scheme)
    assert_equal(a, b)
    assert b.is_empty() and a.count() == b.count()
    b.update_batch([])
    assert b.is_empty()
    b.update(b"x")
    c = b.copy()
    assert c == b and not b.is_empty()
    c.update(b"y")
    assert c != b
    kept = b.digest()
    b.clear()
    assert b.is_empty() and len(b) == 128
    assert (kept != b.hashvalues).any()
    assert copy.deepcopy(c) == c and copy.copy(c) == c


@pytest.mark.parametrize("scheme", SCHEMES)
def test_jaccard_merge_union(scheme: str) -> None:
    tokens = some_tokens(60, 3)
    (a1, b1), (a2, b2) = pair(tokens[:40], scheme=scheme), pair(tokens[20:], scheme=scheme)
    assert a1.jaccard(a2) == b1.jaccard(b2)
    # Each package accepts sketches of the other.
    assert b1.jaccard(a2) == a1.jaccard(a2) == a1.jaccard(b2)
    assert_equal(original.MinHash.union(a1, a2), ours.MinHash.union(b1, b2))
    a1.merge(a2)
    b1.merge(b2)
    assert_equal(a1, b1)
    b1.clear()
    b1.merge(a1)
    assert_equal(a1, b1)


def test_estimate_is_near_the_truth() -> None:
    """The mean estimate of 400 pairs with similarity 1/3 is within five standard errors."""
    estimates = []
    for i in range(400):
        one, two = ours.MinHash(seed=i), ours.MinHash(seed=i)
        one.update_batch([b"%d-%d" % (i, k) for k in range(200)])
        two.update_batch([b"%d-%d" % (i, k) for k in range(100, 300)])
        estimates.append(one.jaccard(two))
    standard_error = math.sqrt((1 / 3) * (2 / 3) / 128 / 400)
    assert abs(sum(estimates) / 400 - 1 / 3) < 5 * standard_error


def test_array_given_out_is_the_state() -> None:
    m = ours.MinHash(num_perm=8)
    before = m.hashvalues
    assert m.hashvalues is before
    m.update(b"x")
    assert (before == 2**32 - 1).all(), "an array given out does not change with the sketch"
    m.hashvalues[3] = 5
    assert m.digest()[3] == 5
    m.hashvalues = np.arange(8, dtype=np.int64)
    assert m.hashvalues.tolist() == list(range(8)) and m.hashvalues.dtype == np.uint32


@pytest.mark.parametrize("scheme", SCHEMES)
def test_own_hash_function(scheme: str) -> None:
    def own(token: bytes) -> int:
        return int.from_bytes(hashlib.md5(token).digest()[:4], "big")

    a, b = pair(some_tokens(50, 5), scheme=scheme, hashfunc=own)
    assert_equal(a, b)
    numbers: Any = [1, 2, 3]
    a, b = pair(numbers, scheme=scheme, hashfunc=lambda n: np.uint32(n))
    assert_equal(a, b)
    # The engine recognises these functions of both packages.
    for function in (original.sha1_hash32, ours.sha1_hash32):
        a, b = pair(some_tokens(50, 6), scheme=scheme, hashfunc=function)
        assert_equal(a, b)


def test_hash_functions() -> None:
    for token in some_tokens(100, 7):
        assert ours.sha1_hash32(token) == original.sha1_hash32(token)
        assert ours.sha1_hash64(token) == original.sha1_hash64(token)


def test_token_hash() -> None:
    """The loop of the engine and the function for Python return the same values."""
    tokens = some_tokens(100, 8)
    for scheme, function in (
        ("affine32", ours.token_hash32),
        ("affine64", ours.token_hash64),
        ("legacy", ours.token_hash32),
    ):
        a, b = pair(tokens, scheme=scheme, hashfunc=function)
        assert_equal(a, b)
        b.update(b"x")
        a.update(b"x")
        assert_equal(a, b)
    with pytest.raises(ValueError):
        pair(tokens, hashfunc=ours.token_hash64)
    with pytest.raises(TypeError):
        ours.token_hash64("text")


def test_tokens_with_buffers() -> None:
    tokens = np.arange(40).reshape(8, 5)
    for a, b in zip(original.MinHash.bulk(tokens), ours.MinHash.bulk(tokens), strict=True):
        assert_equal(a, b)
    one, two = ours.MinHash(), ours.MinHash()
    one.update_batch([b"abc"])
    two.update_batch(iter([bytearray(b"abc"), memoryview(b"abc")]))
    assert one == two


@pytest.mark.parametrize("scheme", SCHEMES)
def test_bulk_and_generator(scheme: str) -> None:
    sets = [some_tokens(n, n) for n in (0, 1, 2, 50, 700)]
    expected = original.MinHash.bulk(sets, num_perm=64, seed=3, scheme=scheme)
    for sketches in (
        ours.MinHash.bulk(sets, num_perm=64, seed=3, scheme=scheme),
        ours.MinHash.generator(iter(sets), num_perm=64, seed=3, scheme=scheme),
    ):
        for a, b in zip(expected, sketches, strict=True):
            assert_equal(a, b)
            assert type(b) is ours.MinHash
    matrix = np.array([m.hashvalues for m in expected])
    for threads in (1, 2, 7):
        values = ours.from_token_sets(sets, 64, seed=3, scheme=scheme, threads=threads)
        np.testing.assert_array_equal(values, matrix)
        assert values.dtype == matrix.dtype
    values = ours.from_token_sets([["é", b"x"]], 64, seed=3, scheme=scheme)
    m = original.MinHash(64, seed=3, scheme=scheme)
    m.update_batch(["é".encode(), b"x"])
    np.testing.assert_array_equal(values[0], m.hashvalues)
    assert ours.from_token_sets([], 64).shape == (0, 64)


def test_subclass_keeps_its_ways() -> None:
    class Counting(ours.MinHash):
        def update_batch(self, b: Any) -> None:
            tokens = list(b)
            super().update_batch(tokens)

        def copy(self) -> Any:
            copied = super().copy()
            copied.__class__ = Counting
            return copied

    m = Counting(num_perm=16)
    m.label = "mine"  # type: ignore[attr-defined]
    assert copy.deepcopy(m).label == "mine"
    assert all(type(one) is Counting for one in Counting.bulk([[b"a"]], num_perm=16))


@pytest.mark.parametrize("seed", [None, [1, 2, 3], np.array([1, 2]), np.array([5]), np.array(5)])
def test_numpy_only_seeds_match_datasketch(seed: Any) -> None:
    assert len(ours.MinHash(seed=seed)) == 128
    if seed is not None:
        a, b = pair([b"x"], seed=seed, scheme="affine64")
        assert_equal(a, b)
        a, b = pair([b"x"], seed=seed, scheme="legacy")
        assert_equal(a, b)


BAD_CONSTRUCTIONS: list[dict[str, Any]] = [
    {"num_perm": 0},
    {"num_perm": -1},
    {"num_perm": 2**32 + 1},
    {"seed": -1},
    {"seed": 2**32},
    {"scheme": "murmur"},
    {"hashfunc": 5},
    {"hashvalues": [1, 2]},
    {"permutations": ([1], [1])},
    {"hashvalues": [2**32], "scheme": "affine32"},
    {"hashvalues": [-1], "scheme": "affine32"},
    {"hashvalues": [-1], "scheme": "legacy"},
    {"hashvalues": np.array([-1]), "scheme": "affine32"},
    {"hashvalues": [1, 2], "scheme": "affine32", "permutations": ([1], [1])},
    {"num_perm": 1, "scheme": "affine32", "permutations": ([2], [1])},
    {"hashvalues": 5, "scheme": "affine32"},
]


@pytest.mark.parametrize("arguments", BAD_CONSTRUCTIONS, ids=repr)
def test_bad_constructions_fail_alike(arguments: dict[str, Any]) -> None:
    with pytest.raises(Exception) as expected:
        original.MinHash(**arguments)
    with pytest.raises(expected.type):
        ours.MinHash(**arguments)


BAD_TOKENS: list[Any] = [None, "text", 5, 5.0, [b"x"], float("nan"), {}]


@pytest.mark.parametrize("token", BAD_TOKENS, ids=repr)
def test_bad_tokens_fail_alike(token: Any) -> None:
    a, b = pair([b"before"])
    for call in ("update", "update_batch"):
        argument = token if call == "update" else [b"fine", token]
        with pytest.raises(Exception) as expected:
            getattr(a, call)(argument)
        with pytest.raises(expected.type, match="bytes"):
            getattr(b, call)(argument)
    assert_equal(a, b)
    with pytest.raises(TypeError):
        b.update_batch(None)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("hashed", [-1, 2**64, None, "x"])
def test_bad_hash_functions_fail_alike(scheme: str, hashed: Any) -> None:
    a, b = pair(scheme=scheme, hashfunc=lambda token: hashed)
    with pytest.raises(Exception) as expected:
        a.update_batch([b"x"])
    error_type = TypeError if hashed == "x" else expected.type
    with pytest.raises(error_type, match="hashfunc"):
        b.update_batch([b"x"])


def test_incompatible_minhashes_are_errors() -> None:
    m = ours.MinHash()
    for other in (
        ours.MinHash(seed=2),
        ours.MinHash(num_perm=64),
        ours.MinHash(scheme="legacy"),
    ):
        for call in (m.jaccard, m.merge, lambda o: ours.MinHash.union(m, o)):
            with pytest.raises(ValueError):
                call(other)
        assert m != other
    with pytest.raises(ValueError):
        ours.MinHash.union(m)
    assert m != 5 and m != ours.LeanMinHash(m)
    with pytest.raises(TypeError):
        hash(m)
    with pytest.raises(ValueError):
        ours.from_token_sets([], threads=0)
    with pytest.raises(RuntimeError):
        ours.MinHash(gpu_mode="always").update_batch([b"x"])
    with pytest.warns(DeprecationWarning):
        ours.MinHash(hashobj=hashlib.sha1)


def test_threads_share_a_sketch() -> None:
    m, expected = ours.MinHash(), ours.MinHash()
    parts = [[b"%d-%d" % (t, k) for k in range(2000)] for t in range(8)]
    threads = [threading.Thread(target=m.update_batch, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in parts:
        expected.update_batch(part)
    assert m == expected


UNORDERED: list[Any] = [{1, 2}, frozenset([1, 2]), {1: 2, 3: 4}, b"ab"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("given", UNORDERED, ids=repr)
def test_unordered_hash_values_are_errors(scheme: Any, given: Any) -> None:
    with pytest.raises(Exception) as expected:
        original.MinHash(hashvalues=given, scheme=scheme)
    with pytest.raises(expected.type):
        ours.MinHash(hashvalues=given, scheme=scheme)
    with pytest.raises(expected.type):
        ours.LeanMinHash(seed=1, hashvalues=given, scheme=scheme)
    m = ours.MinHash(2, scheme=scheme)
    with pytest.raises(expected.type):
        m.hashvalues = given
    assert m.is_empty()


def test_misshaped_hash_values_are_errors() -> None:
    m = ours.MinHash(8)
    for values in (np.arange(4), np.arange(9), [1]):
        with pytest.raises(ValueError, match="8"):
            m.hashvalues = values
    masked = np.ma.array(np.arange(8), mask=[0, 1, 0, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="mask"):
        m.hashvalues = masked
    assert m.is_empty()
    m.hashvalues = np.ma.array(np.arange(8))
    assert m.hashvalues.tolist() == list(range(8))


BROKEN: list[Any] = [memoryview(b"abcd")[::2], np.arange(8)[::2], np.arange(8).reshape(4, 2).T]


@pytest.mark.parametrize("token", BROKEN, ids=lambda token: type(token).__name__)
def test_buffers_with_gaps_are_refused(token: Any) -> None:
    with pytest.raises((ValueError, BufferError)) as expected:
        original.sha1_hash32(token)
    _a, b = pair()
    for call in (
        ours.sha1_hash32,
        ours.sha1_hash64,
        ours.token_hash32,
        b.update,
        lambda token: b.update_batch([b"x", token]),
    ):
        with pytest.raises(expected.type):
            call(token)
    assert b.is_empty()


def test_empty_batches_need_no_gpu() -> None:
    for package in (original, ours):
        (m,) = package.MinHash.bulk([[]], gpu_mode="always")
        assert m.is_empty()


@pytest.mark.parametrize("threads", [0, -1, 1025, 200_000, 10**30, None, 1.5])
def test_out_of_range_threads_are_errors(threads: Any) -> None:
    expected = ValueError if isinstance(threads, int) else TypeError
    with pytest.raises(expected, match="1024" if expected is ValueError else None):
        ours.from_token_sets([[b"a"]] * 2000, num_perm=4, threads=threads)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of threads are those of Linux")
def test_token_sets_tolerate_missing_threads() -> None:
    code = (
        "import resource, numpy\n"
        "from lookalike.datasketch import from_token_sets\n"
        "sets = [[b'%d' % i] for i in range(3000)]\n"
        "one = from_token_sets(sets, num_perm=4)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "many = from_token_sets(sets, num_perm=4, threads=1024)\n"
        "print((one == many).all())\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.stdout == "True\n", process.stderr


def test_long_tokens_are_hashed_in_parts() -> None:
    """Tokens that are hashed in parts have the same values."""
    draw = random.Random(3)
    large = [draw.randbytes(n) for n in (1 << 17, (1 << 17) + 1, 1 << 20, 5 << 20)]
    many = [b"%d" % n for n in range(20_000)]
    middle = [draw.randbytes(50_000) for _ in range(30)]
    for tokens in (large, many, middle, [b"a", *large, b"b", *middle, *many[:3000], *large]):
        expected = original.MinHash(16)
        expected.update_batch(tokens)
        for batch in (tokens, tuple(tokens), iter(tokens)):
            m = ours.MinHash(16)
            m.update_batch(batch)
            assert_equal(m, expected)
        (bulk,) = ours.MinHash.bulk([tokens], num_perm=16)
        assert_equal(bulk, expected)
        for threads in (1, 2):
            values = ours.from_token_sets([tokens, [b"x"], tokens], 16, threads=threads)
            np.testing.assert_array_equal(values[0], expected.hashvalues)
            np.testing.assert_array_equal(values[2], expected.hashvalues)
    for token in large:
        assert ours.sha1_hash64(token) == original.sha1_hash64(token)
    text = "é" * (1 << 18)
    (one,) = ours.from_token_sets([[text, "x"]], 16)
    (two,) = ours.from_token_sets([[text.encode(), b"x"]], 16)
    np.testing.assert_array_equal(one, two)


INTERRUPTED = """
import itertools, sys, threading, time
import lookalike.datasketch as d
sys.path.append(sys.argv[1])
import waiting
tokens = [b"%d" % i for i in range(500_000)]
begun = threading.Event()
def size(token):
    begun.set()
    return len(token)
def pairs():
    while True:
        begun.set()
        yield [b"a", b"b"]
m = d.MinHash(512)
before = time.process_time()
try:
    waiting.interrupt(begun)
    {}
except KeyboardInterrupt:
    print(time.process_time() - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal to a process there")
@pytest.mark.parametrize(
    "call",
    [
        "m.update_batch(tokens * 60)",
        "m.update_batch(tuple(tokens * 60))",
        "d.MinHash.bulk([tokens] * 200, num_perm=512)",
        "d.MinHash.bulk(pairs(), num_perm=512)",
        "d.from_token_sets([tokens] * 200, num_perm=512, threads=2)",
        "d.MinHash(512, hashfunc=size).update_batch(tokens * 200)",
        "d.MinHashLSH(0.5, num_perm=100_000)",
    ],
)
def test_ctrl_c_ends_it(call: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(call), str(Path(__file__).parents[1])],
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * PATIENCE,
    )
    assert process.stdout, process.stderr
    # CPU seconds, because wall seconds depend on the load of the machine.
    assert float(process.stdout) < 10.0


def test_hashing_lets_other_threads_run() -> None:
    """A pause may be long on a busy machine. If the lock is held, every pause is long."""
    tokens = [bytes(20_000_000)] * 20
    for _ in range(10):
        longest, took = longest_pause(lambda: ours.MinHash(16).update_batch(tokens))
        if longest < max(0.25, took / 2):
            return
    pytest.fail(f"another thread stood still for {longest} s of {took} s")


def longest_pause(work: Callable[[], object]) -> tuple[float, float]:
    """Returns the longest time for which another thread did not get the interpreter's lock, and the
    duration of the work."""
    longest, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal longest
        last = time.monotonic()
        while not done.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.monotonic()
    work()
    took = time.monotonic() - began
    done.set()
    thread.join()
    return longest, took


def test_freezing_keeps_the_sketch_small() -> None:
    _, m = pair([b"a"])
    lean = ours.LeanMinHash(m)
    ours.bBitMinHash(m, 2)
    ours.MinHash.union(m, m)
    assert not any(isinstance(referent, np.ndarray) for referent in gc.get_referents(m))
    assert lean.hashvalues.tolist() == m.hashvalues.tolist()
    assert any(isinstance(referent, np.ndarray) for referent in gc.get_referents(m))
    assert ours.LeanMinHash.union(m, m) == lean == lean.copy()
    with pytest.raises(AttributeError):
        _ = lean.copy().hashfunc


def test_hash_functions_may_use_their_sketch() -> None:
    """The hash function may change the sketch that calls it."""
    m: Any = None

    def own(token: int) -> int:
        if token == 1:
            m.update(2)
            m.clear()
            m.hashvalues = [7] * 4
            _ = m.hashvalues
        return token

    m = ours.MinHash(4, hashfunc=own)
    m.update(1)
    m.update_batch([1, 3])
    assert len(m) == 4


def test_minhash_constants_equal_datasketch() -> None:
    from datasketch import minhash as their_module

    from lookalike.datasketch import minhash as our_module

    for name in ("_mersenne_prime", "_max_hash", "_hash_range"):
        assert getattr(our_module, name) == getattr(their_module, name)
    with pytest.raises(AttributeError):
        _ = our_module.nothing  # type: ignore[attr-defined]
