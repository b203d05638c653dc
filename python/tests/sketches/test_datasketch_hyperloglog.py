"""Compares HyperLogLog and HyperLogLogPlusPlus with datasketch."""

from __future__ import annotations

import pickle
import struct
import warnings
from collections.abc import Callable
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
original = pytest.importorskip("datasketch", reason="datasketch is not installed")

import lookalike.datasketch as ours  # noqa: E402

NAMES = ["HyperLogLog", "HyperLogLogPlusPlus"]


def pair(name: str, count: int, p: int = 8, **arguments: Any) -> tuple[Any, Any]:
    sketches = tuple(getattr(package, name)(p=p, **arguments) for package in (original, ours))
    for h in sketches:
        for number in range(count):
            h.update(b"%d" % number)
    return sketches


def counted(call: Callable[[], float]) -> tuple[float, int]:
    """Returns the result of a call and the number of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return call(), len(caught)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [4, 5, 6, 7, 8, 12, 16])
def test_counts_are_equal(name: str, p: int) -> None:
    a, b = pair(name, 0, p)
    assert (a.alpha, a.m, a.max_rank) == (b.alpha, b.m, b.max_rank)
    for number in range(3 << min(p, 10)):
        token = b"%d" % number
        a.update(token)
        b.update(token)
        if number % 97 == 0 or number < 70:
            assert counted(a.count) == counted(b.count), number
    assert (a.reg == b.reg).all() and a.reg.dtype == b.reg.dtype and len(a) == len(b)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", range(4, 17))
def test_counts_of_any_registers_are_equal(name: str, p: int) -> None:
    draw = np.random.default_rng(p)
    for scale in np.linspace(0.2, 18, 60):
        registers = draw.geometric(0.5, 1 << p) + draw.integers(0, 1 + int(scale), 1 << p)
        registers = np.where(draw.random(1 << p) < scale / 4, registers, 0).astype(np.int8)
        a, b = (getattr(package, name)(reg=registers.copy()) for package in (original, ours))
        # If all registers are small and none is 0, datasketch divides by zero.
        if registers.all() and name == "HyperLogLog" and b._raw_count() <= 2.5 * b.m:
            continue
        assert counted(a.count) == counted(b.count)


def test_nonzero_registers_use_raw_estimate() -> None:
    ones = np.ones(256, np.int8)
    with pytest.raises(ZeroDivisionError):
        original.HyperLogLog(reg=ones).count()
    assert ours.HyperLogLog(reg=ones).count() == pytest.approx(1.44 * 256, rel=0.01)


def test_hyperloglog_constants_equal_datasketch() -> None:
    from datasketch import hyperloglog_const as their

    from lookalike.datasketch import hyperloglog_const as mine

    assert mine._thresholds == their._thresholds[: len(mine._thresholds)]
    for name in ("_raw_estimate", "_bias"):
        tables = getattr(mine, name)
        assert len(tables) == 13
        for a, b in zip(getattr(their, name), tables):
            assert a.tolist() == b.tolist()
    with pytest.raises(AttributeError):
        _ = mine.nothing


@pytest.mark.parametrize("name", NAMES)
def test_large_hashes(name: str) -> None:
    """Estimates are equal even for counts at which hashes often collide."""
    bits = 32 if name == "HyperLogLog" else 64
    draw = np.random.default_rng(1)
    a, b = (getattr(package, name)(4, hashfunc=int) for package in (original, ours))
    for shift in range(bits - 3):
        value = int(draw.integers(0, 1 << 62)) * 4 % (1 << bits) >> shift
        for h in (a, b):
            h.update(value)
        assert counted(a.count) == counted(b.count)
    for h in (a, b):
        with pytest.raises(ValueError):
            h.update(1 << bits)
        h.update(np.uint64(3))
    assert a.digest().tolist() == b.digest().tolist()


@pytest.mark.parametrize("name", NAMES)
def test_sets_of_sketches(name: str) -> None:
    (a, b), (c, d) = pair(name, 300), pair(name, 500)
    union = getattr(ours, name).union(b, d)
    assert union == d and type(union) is type(b) and union.count() == c.count()
    e = b.copy()
    assert e == b and e is not b and not b.is_empty()
    e.merge(d)
    a.merge(c)
    assert e == d and e != b and a.reg.tolist() == e.reg.tolist()
    e.merge(c)
    e.clear()
    assert e.is_empty() and e.count() == 0.0 and e.digest() is not e.reg
    with pytest.raises(ValueError, match="8 and 9"):
        b.merge(getattr(ours, name)(9))
    with pytest.raises(ValueError, match="precisions"):
        getattr(ours, name).union(b, getattr(ours, name)(9))
    with pytest.raises(ValueError, match="less than 2"):
        getattr(ours, name).union(b)
    with pytest.raises(TypeError):
        hash(b)
    assert b != 1


@pytest.mark.parametrize("name", NAMES)
def test_bytes_and_pickles_both_ways(name: str) -> None:
    a, b = pair(name, 1000, 7)
    assert a.bytesize() == b.bytesize() == 129
    one, two = bytearray(130), bytearray(130)
    a.serialize(one)
    b.serialize(two)
    assert one == two and getattr(ours, name).deserialize(one) == b
    assert getattr(ours, name).deserialize(memoryview(bytes(one))) == b
    assert getattr(original, name).deserialize(two) == a
    with pytest.raises(ValueError, match="129"):
        b.serialize(bytearray(128))
    with pytest.raises(struct.error):
        getattr(ours, name).deserialize(one[:128])
    with pytest.raises(ValueError, match="p must be"):
        getattr(ours, name).deserialize(b"\x03" + bytes(8))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        read = ours.loads(pickle.dumps(a, protocol=protocol))
        assert type(read) is type(b) and read == b and read.count() == a.count()
        assert pickle.loads(pickle.dumps(b, protocol=protocol)) == b
    data = ours.dumps([b])
    assert b"lookalike" not in data and pickle.loads(data) == [a]


@pytest.mark.parametrize("name", NAMES)
def test_hyperloglog_rejects_invalid_arguments(name: str) -> None:
    cls = getattr(ours, name)
    for arguments in (
        {"p": 3},
        {"p": 17},
        {"reg": [0] * 16},
        {"reg": np.zeros(17, np.int8)},
        {"reg": np.zeros(0, np.int8)},
        {"reg": np.zeros(8, np.int8)},
        {"hashfunc": 1},
    ):
        with pytest.raises(ValueError):
            cls(**arguments)
        with pytest.raises(ValueError):
            getattr(original, name)(**arguments)
    with pytest.warns(DeprecationWarning):
        cls(hashobj=1)
    with pytest.raises(TypeError):
        cls().update("a")
