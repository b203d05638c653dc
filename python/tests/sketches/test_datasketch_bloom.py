"""Compares MinHashLSHBloom with datasketch, which uses the filters of pybloomfilter."""

from __future__ import annotations

import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
original = pytest.importorskip("datasketch", reason="datasketch is not installed")

import lookalike.datasketch as ours  # noqa: E402
from lookalike.datasketch.lsh_bloom import BloomFilter, BloomTable  # noqa: E402
from lookalike.errors import DamagedError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Creating LSHBloom index without save")


def pybloomfilter() -> Any:
    return pytest.importorskip("pybloomfilter", reason="pybloomfilter3 is not installed")


def sketches(package: Any, count: int, first: int = 0, **arguments: Any) -> list[Any]:
    """Returns sketches in families of four that share most of their elements."""
    draw = random.Random(first)
    sets = [
        [b"%d-%d" % (number // 4, k) for k in range(30)] + [b"%d" % draw.randrange(10**9)]
        for number in range(first, first + count)
    ]
    return list(package.MinHash.bulk(sets, **arguments))


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_folders_of_datasketch_are_read(tmp_path: Path, scheme: str) -> None:
    pybloomfilter()
    arguments = {"threshold": 0.6, "n": 100, "fp": 0.2, "save_dir": str(tmp_path / "bloom")}
    original_index = original.MinHashLSHBloom(**arguments)
    for m in sketches(original, 120, scheme=scheme):
        original_index.insert(m)
    original_index.sync()
    own_index = ours.MinHashLSHBloom(**arguments)
    assert (own_index.b, own_index.r, own_index.h) == (
        original_index.b,
        original_index.r,
        original_index.h,
    )
    # The filter exceeds its capacity and has a high error rate. Both packages must return the same
    # false positives.
    queries = zip(
        sketches(original, 2000, 60, scheme=scheme), sketches(ours, 2000, 60, scheme=scheme)
    )
    answers = [(original_index.query(a), own_index.query(b)) for a, b in queries]
    assert all(a == b for a, b in answers)
    assert 300 < sum(b for _, b in answers) < 1900


def test_datasketch_reads_folders(tmp_path: Path) -> None:
    pybloomfilter()
    arguments = {"threshold": 0.6, "n": 100, "fp": 0.2, "save_dir": str(tmp_path)}
    own_index = ours.MinHashLSHBloom(**arguments)
    for m in sketches(ours, 60):
        own_index.insert(m)
    own_index.sync()
    original_index = original.MinHashLSHBloom(**arguments)
    for m in sketches(original, 60, 60):
        original_index.insert(m)
    for a, b in zip(sketches(original, 1000), sketches(ours, 1000)):
        assert original_index.query(a) == own_index.query(b)
    filters = [index.hashtables[0].bloom_filter for index in (original_index, own_index)]
    for name in ("num_bits", "num_hashes", "capacity", "error_rate", "filename"):
        assert getattr(filters[0], name) == getattr(filters[1], name)
    assert filters[0].hash_seeds == filters[1].hash_seeds


@pytest.mark.parametrize("rate", [0.9, 0.5, 0.1, 1e-3, 1e-12, 1e-70])
@pytest.mark.parametrize("capacity", [1, 7, 1000])
def test_bloom_filters_match_pybloomfilter(capacity: int, rate: float) -> None:
    package = pybloomfilter()
    random.seed(capacity)
    original_index = package.BloomFilter(capacity, rate)
    random.seed(capacity)
    own_index = BloomFilter(capacity, rate)
    assert (own_index.num_bits, own_index.num_hashes) == (
        original_index.num_bits,
        original_index.num_hashes,
    )
    assert own_index.hash_seeds == original_index.hash_seeds
    draw = random.Random(1)
    for _ in range(capacity):
        # The Python hash of a number below this prime is the number itself.
        key = draw.randrange((1 << 61) - 1)
        assert own_index.add(key) == original_index.add(key) and key in own_index
    for key in [0, 1, (1 << 61) - 2, *(draw.randrange(1 << 60) for _ in range(2000))]:
        assert (key in own_index) == (key in original_index)


@pytest.mark.parametrize("num_perm", [16, 128])
def test_bloom_index_finds_inserted_sketches(num_perm: int) -> None:
    lsh = ours.MinHashLSHBloom(0.5, num_perm, n=200, fp=1e-6)
    exact = ours.MinHashLSH(0.5, num_perm)
    assert (lsh.b, lsh.r, lsh.hashranges) == (exact.b, exact.r, exact.hashranges)
    for key, m in enumerate(sketches(ours, 200, num_perm=num_perm)):
        lsh.insert(m)
        exact.insert(key, m)
    for m in sketches(ours, 400, 100, num_perm=num_perm):
        assert lsh.query(m) == bool(exact.query(m))


def test_bloom_accepts_weighted_and_datasketch_sketches() -> None:
    generator = ours.WeightedMinHashGenerator(5, 16)
    one = generator.minhash([1, 2, 3, 4, 5])
    lsh = ours.MinHashLSHBloom(num_perm=16, n=10, fp=0.01, params=(4, 4))
    lsh.insert(one)
    assert lsh.query(one) and not lsh.query(generator.minhash([9, 1, 7, 1, 2]))
    lsh = ours.MinHashLSHBloom(n=10, fp=0.01)
    a, b = sketches(original, 1)[0], sketches(ours, 1)[0]
    lsh.insert(a)
    assert lsh.query(a) and lsh.query(b)


def test_tables() -> None:
    table = BloomTable(10, 0.01, 3)
    assert not table.query([1, 2, 3])
    table.insert([1, 2, 3])
    # A band is hashed as the sum of its values, so their order does not matter.
    assert table.query(np.array([1, 2, 3], np.uint32)) and table.query([3, 2, 1])
    for call in (table.insert, table.query):
        with pytest.raises(RuntimeError, match="got 2"):
            call([1, 2])
    with pytest.warns(RuntimeWarning, match="in-memory"):
        table.sync()
    # Sums are modulo 2**64.
    table.insert(np.array([2**64 - 1, 7, 0], np.uint64))
    assert table.query([6, 0, 0])


@pytest.mark.parametrize("is_file", [False, True])
def test_pickles_both_ways(tmp_path: Path, is_file: bool) -> None:
    pybloomfilter()
    one, two = sketches(ours, 2, 3)
    arguments = {"n": 11, "fp": 0.1, "save_dir": str(tmp_path / "x") if is_file else None}
    own_index = ours.MinHashLSHBloom(**arguments)
    own_index.insert(one)
    arguments["save_dir"] = str(tmp_path / "y") if is_file else None
    original_index = original.MinHashLSHBloom(**arguments)
    original_index.insert(one)
    data = ours.dumps(own_index)
    assert b"lookalike" not in data
    queries = sketches(ours, 300)
    for read, like in (
        (pickle.loads(pickle.dumps(own_index)), own_index),
        (pickle.loads(data), own_index),
        (ours.loads(pickle.dumps(original_index)), original_index),
        (ours.loads(pickle.dumps(original_index, protocol=0)), original_index),
    ):
        assert [read.query(m) for m in queries] == [like.query(m) for m in queries]
        # The unpickled index is a copy in memory.
        read.insert(two)
        assert read.query(two) and not like.query(two)
        assert like is own_index or type(read) is ours.MinHashLSHBloom


def test_bloom_rejects_invalid_input(tmp_path: Path) -> None:
    good = {"n": 10, "fp": 0.01}
    for bad in (
        {"n": None},
        {"n": 0},
        {"fp": None},
        {"fp": 0.0},
        {"fp": 1.0},
        {"threshold": 1.1},
        {"num_perm": 1},
        {"weights": (0.1, 0.1)},
        {"params": (20, 20)},
        {"params": (1, 20)},
    ):
        with pytest.raises(ValueError):
            ours.MinHashLSHBloom(**{**good, **bad})
    with pytest.warns(RuntimeWarning, match="not be persisted"):
        lsh = ours.MinHashLSHBloom(**good)
    for call in (lsh.insert, lsh.query):
        with pytest.raises(ValueError, match="length 128, got 64"):
            call(ours.MinHash(64))
    lsh.insert(ours.MinHash(128))
    for call in (lsh.insert, lsh.query):
        with pytest.raises(ValueError, match="scheme"):
            call(ours.MinHash(128, scheme="legacy"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.MinHashLSHBloom(**good, save_dir=tmp_path)
    file = tmp_path / "band-0.bf"
    content = file.read_bytes()
    for broken in (
        b"",
        content[:100],
        content[:-1],
        b"X" + content[1:],
        content[:9] + bytes(8) + content[17:],
    ):
        file.write_bytes(broken)
        with pytest.raises(DamagedError, match=r"band-0\.bf: .* not a Bloom filter"):
            ours.MinHashLSHBloom(**good, save_dir=tmp_path)
        assert file.read_bytes() == broken
