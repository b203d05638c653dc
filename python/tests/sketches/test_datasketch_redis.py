"""Compares indexes in Redis with datasketch, on a server that the tests start."""

from __future__ import annotations

import pickle
import shutil
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("numpy", reason="numpy is not installed")
redis = pytest.importorskip("redis", reason="redis is not installed")
original = pytest.importorskip("datasketch", reason="datasketch is not installed")

import lookalike.datasketch as ours  # noqa: E402
from lookalike.datasketch.storage import ordered_storage, unordered_storage  # noqa: E402


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    options = ["--port", str(number), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    server = subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        for line in server.stdout:
            if "eady to accept connections" in line:
                break
        else:
            pytest.fail("redis-server did not start")
        yield number
    finally:
        server.terminate()
        server.communicate()


@pytest.fixture
def config(port: int) -> dict[str, Any]:
    """Empties the database, and returns its configuration."""
    redis.Redis(port=port).flushall()
    return {"type": "redis", "basename": b"base", "redis": {"host": "127.0.0.1", "port": port}}


def content(config: dict[str, Any]) -> dict[bytes, Any]:
    """Returns the content of the database."""
    client = redis.Redis(**config["redis"])
    read = {b"hash": client.hgetall, b"set": client.smembers}
    return {
        name: read.get(client.type(name), lambda name: client.lrange(name, 0, -1))(name)
        for name in client.keys()  # noqa: SIM118
    }


def sketches(package: Any, count: int, first: int = 0, **arguments: Any) -> list[Any]:
    """Returns sketches in families of four that share most of their elements."""
    sets = [
        [b"%d-%d" % (number // 4, k) for k in range(30)] + [b"%d" % number]
        for number in range(first, first + count)
    ]
    return list(package.MinHash.bulk(sets, **arguments))


def sorted_keys(keys: Any) -> list[Any]:
    return sorted(keys, key=repr)


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_redis_index_is_shared_with_datasketch(config: dict[str, Any], scheme: str) -> None:
    sketches_by_package = {
        package: sketches(package, 40, scheme=scheme) for package in (original, ours)
    }
    keys = [("a", 1), 7, "text", b"bytes", None, *range(100, 135)]
    stored = []
    for package in (original, ours):
        redis.Redis(**config["redis"]).flushall()
        lsh = package.MinHashLSH(0.5, storage_config=config)
        for key, m in zip(keys, sketches_by_package[package]):
            lsh.insert(key, m)
        lsh.remove("text")
        lsh.remove(100)
        stored.append(content(config))
    assert stored[0] == stored[1] and len(stored[0]) > 100
    # The database now contains the index of our package. Both packages query it.
    a, b = (package.MinHashLSH(0.5, storage_config=config) for package in (original, ours))
    for one, two in zip(sketches(original, 60, scheme=scheme), sketches(ours, 60, scheme=scheme)):
        assert sorted_keys(a.query(one)) == sorted_keys(b.query(two))
        assert a._query_b(one, 3) == b._query_b(two, 3)
    assert a.get_counts() == b.get_counts()
    assert a.get_subset_counts(7, None) == b.get_subset_counts(7, None)
    assert sorted(a.keys) == sorted(b.keys) and len(a.keys) == len(b.keys) == 38
    assert ("text" in a, 7 in a, "text" in b, 7 in b) == (False, True, False, True)
    assert not a.is_empty() and not b.is_empty()
    for lsh, m in ((a, sketches_by_package[original]), (b, sketches_by_package[ours])):
        lsh.add_to_query_buffer(m[1])
        lsh.add_to_query_buffer(m[3])
    assert sorted_keys(a.collect_query_buffer()) == sorted_keys(b.collect_query_buffer())


def test_redis_supports_insert_and_remove(config: dict[str, Any]) -> None:
    one, two, three = sketches(ours, 3)
    lsh = ours.MinHashLSH(0.5, storage_config=config)
    assert lsh.prepickle and lsh.is_empty() and lsh.query(one) == []
    lsh.insert("one", one)
    with pytest.raises(ValueError, match="already exists: 'one'"):
        lsh.insert("one", two)
    lsh.insert("two", two)
    assert sorted(lsh.query(three)) == ["one", "two"]
    with pytest.raises(ValueError, match="does not exist: 'three'"):
        lsh.remove("three")
    lsh.remove("one")
    assert lsh.query(three) == ["two"] and list(lsh.keys) == [pickle.dumps("two")]
    lsh.remove("two")
    assert lsh.is_empty() and content(config) == {}
    with pytest.raises(ValueError, match="length"):
        lsh.insert("x", ours.MinHash(64))
    with pytest.raises(ValueError, match="scheme"):
        lsh.insert("x", ours.MinHash(scheme="legacy"))
    assert content(config) == {}
    # A key is inserted twice, and one removal removes both.
    lsh.insert("k", one)
    lsh.insert("k", two, check_duplication=False)
    assert lsh.query(one) == ["k"] and lsh.get_subset_counts("k")[0]
    lsh.remove("k")
    assert content(config) == {}
    with pytest.raises(ValueError, match="folder"):
        lsh.backup("x")
    assert lsh.check() == []
    lsh.repair()
    lsh.compact()
    lsh.close()


def test_bytes_as_keys(config: dict[str, Any]) -> None:
    (one,) = sketches(ours, 1)
    lsh = ours.MinHashLSH(0.5, storage_config=config, prepickle=False)
    for call in (lambda: lsh.insert("one", one), lambda: lsh.remove(1), lambda: "one" in lsh):
        with pytest.raises(TypeError, match="bytes"):
            call()
    lsh.insert(b"one", one)
    assert lsh.query(one) == [b"one"] == list(lsh.keys) and b"one" in lsh
    original_index = original.MinHashLSH(0.5, storage_config=config, prepickle=False)
    assert original_index.query(sketches(original, 1)[0]) == [b"one"]


@pytest.mark.parametrize("buffer_size", [0, 1, 60, 50000])
def test_sessions(config: dict[str, Any], buffer_size: int) -> None:
    minhashes = sketches(ours, 40)
    lsh = ours.MinHashLSH(0.5, storage_config=config)
    other = ours.MinHashLSH(0.5, storage_config=config)
    with lsh.insertion_session(buffer_size) as session:
        session.insert(0, minhashes[0])
        with pytest.raises(ValueError, match="already exists: 0"):
            session.insert(0, minhashes[0])
        # A query first writes the insertions that the session has buffered.
        assert lsh.query(minhashes[1]) == [0] == other.query(minhashes[1])
        for key, m in enumerate(minhashes[1:], 1):
            session.insert(key, m)
        if buffer_size > 2000:
            assert len(other.keys) == 1
    assert len(other.keys) == 40
    with lsh.deletion_session(buffer_size) as session:
        for key in range(36):
            session.remove(key)
        with pytest.raises(ValueError, match="does not exist"):
            session.remove(99)
    assert (
        sorted(other.query(minhashes[38])) == [36, 37, 38, 39] and other.query(minhashes[3]) == []
    )
    # No empty bucket remains.
    assert {count for counts in other.get_counts() for count in counts.values()} <= {1, 2, 3, 4}
    assert sum(map(sum, (counts.values() for counts in other.get_counts()))) == 4 * other.b
    with lsh.insertion_session() as session:
        session.insert("x", minhashes[0])
        lsh.remove("x")
    assert "x" not in other


def test_pickles_both_ways(config: dict[str, Any]) -> None:
    (a,), (b,) = sketches(original, 1), sketches(ours, 1)
    own_index = ours.MinHashLSH(0.5, storage_config=config)
    with own_index.insertion_session() as session:
        session.insert("b", b)
        # Pickling writes the buffered insertions.
        pickle.dumps(own_index)
        assert len(ours.MinHashLSH(0.5, storage_config=config).keys) == 1
    original_index = original.MinHashLSH(0.5, storage_config=config)
    original_index.insert("a", a)
    data = ours.dumps(own_index)
    assert b"lookalike" not in data
    for read, m in (
        (pickle.loads(pickle.dumps(own_index)), b),
        (ours.loads(pickle.dumps(original_index)), b),
        (pickle.loads(data), a),
    ):
        assert sorted(read.query(m)) == ["a", "b"] and read.prepickle
        with pytest.raises(ValueError, match="scheme"):
            read.query(type(m)(scheme="legacy"))
        read.insert("c", m)
        assert "c" in own_index and "c" in original_index
        read.remove("c")


def test_merging(config: dict[str, Any]) -> None:
    minhashes = sketches(ours, 8)
    lsh = ours.MinHashLSH(0.5, storage_config=config)
    lsh.insert("r", minhashes[0])
    memory = ours.MinHashLSH(0.5)
    memory.insert("m", minhashes[1])
    memory.insert("r2", minhashes[4])
    lsh.merge(memory, check_overlap=True)
    assert sorted(lsh.query(minhashes[0])) == ["m", "r"] and lsh.query(minhashes[4]) == ["r2"]
    memory.merge(lsh)
    # An index in memory without `prepickle` gets the pickled keys of Redis.
    assert len(memory.keys) == 5 and pickle.dumps("r") in memory
    with pytest.raises(ValueError, match="overlapping"):
        lsh.merge(ours.loads(ours.dumps(lsh)), check_overlap=True)
    other = ours.MinHashLSH(0.5, storage_config={**config, "basename": b"other"})
    other.merge(lsh)
    assert other.get_counts() == lsh.get_counts()
    with pytest.raises(ValueError, match="scheme"):
        legacy = ours.MinHashLSH(0.5)
        legacy.insert("l", ours.MinHash(scheme="legacy"))
        lsh.merge(legacy)


def test_ensembles(config: dict[str, Any]) -> None:
    sketches_by_package = {package: sketches(package, 20) for package in (original, ours)}
    found = []
    for package in (original, ours):
        redis.Redis(**config["redis"]).flushall()
        ensemble = package.MinHashLSHEnsemble(0.5, num_part=4, storage_config=config)
        ensemble.index((key, m, 31 + key) for key, m in enumerate(sketches_by_package[package]))
        found.append([sorted(ensemble.query(m, 31)) for m in sketches_by_package[package]])
        found.append(content(config))
    assert found[:2] == found[2:]
    assert not ensemble.is_empty() and 3 in ensemble
    ensemble = ours.MinHashLSHEnsemble(storage_config={**config, "basename": b"new"}, num_part=2)
    with pytest.raises(ValueError):
        ensemble.index([(1, sketches_by_package[ours][0], 3), (2, ours.MinHash(4), 4)])
    assert ensemble.is_empty()


def test_containers(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    stored = []
    monkeypatch.setenv("PORT_OF_REDIS", str(config["redis"]["port"]))
    port = {"env": "PORT_OF_REDIS", "default": "1"}
    named = {**config, "redis": {"host": {"env": "NO_SUCH", "default": "127.0.0.1"}, "port": port}}
    for package in (original, ours):
        redis.Redis(**config["redis"]).flushall()
        for name, make in (
            (b"l", package.storage.ordered_storage),
            (b"s", package.storage.unordered_storage),
        ):
            storage = make(named, name=name)
            storage.insert(b"a", b"1", b"2", b"2")
            storage.insert("b", b"3", buffer=True)
            assert len(storage) == 1 and storage.getmany(b"b") == [type(storage.get(b"b"))()]
            storage.empty_buffer()
            storage.insert(b"c", b"1")
            storage.remove(b"c")
            assert b"a" in storage and b"c" not in storage and sorted(storage) == [b"a", b"b"]
            stored.append((sorted(storage.redis_keys()), storage.itemcounts(), storage.status()))
            stored.append((storage[b"a"], storage.getmany(b"a", b"b"), storage.size()))
            storage.add_to_select_buffer([b"a"])
            assert storage.collect_select_buffer() == [storage[b"a"]]
            assert storage.collect_select_buffer() == []
            read = ours.loads(pickle.dumps(storage))
            assert read[b"b"] == storage[b"b"] and read.buffer_size == storage.buffer_size
        stored.append(content(config))
    assert stored[:5] == stored[5:]
    for storage in (
        ordered_storage(config, name=b"l"),
        unordered_storage(config, name=b"s"),
    ):
        storage.remove_val(b"b", b"3")
        assert b"b" not in storage and len(storage) == 1
        del storage[b"a"]
    assert content(config) == {}
    assert len(ordered_storage(config)._name) == 11  # type: ignore[attr-defined]


def test_redis_rejects_invalid_configuration(
    config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for bad, match in (
        ({"type": "redis"}, "needs 'redis'"),
        ({"type": "redis", "redis": 1}, "redis.Redis"),
        ({**config, "basename": "text"}, "basename must be bytes"),
        ({"type": "aioredis"}, "AsyncMinHashLSH"),
        ({"type": "nothing"}, "'redis'"),
        ({}, "dict"),
    ):
        for call in (ours.MinHashLSH, ours.MinHashLSHEnsemble):
            if bad:
                with pytest.raises(ValueError, match=match):
                    call(storage_config=bad)
        with pytest.raises(ValueError):
            ordered_storage(bad)
    with pytest.raises(redis.exceptions.ConnectionError):
        lsh = ours.MinHashLSH(storage_config={"type": "redis", "redis": {"port": 1}})
        lsh.insert("a", ours.MinHash())
    monkeypatch.setitem(__import__("sys").modules, "redis", None)
    with pytest.raises(ImportError, match="pip install redis"):
        ours.MinHashLSH(storage_config=config)


def test_borrowed_classes_take_these_sketches(port: int, config: dict[str, Any]) -> None:
    import asyncio

    async def ask() -> Any:
        base = {"type": "aioredis", "redis": config["redis"], "basename": b"async"}
        async with ours.AsyncMinHashLSH(storage_config=base, threshold=0.5) as lsh:
            one, two = sketches(ours, 2)
            await lsh.insert("one", one)
            return await lsh.query(two)

    assert asyncio.run(ask()) == ["one"]
