"""A MinHashLSH in a folder returns the same answers as one in memory. Only one index at a time can
use the folder."""

from __future__ import annotations

import contextlib
import enum
import gc
import os
import pickle
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
original = pytest.importorskip("datasketch", reason="datasketch is not installed")

import lookalike  # noqa: E402
import lookalike.datasketch as ours  # noqa: E402
from lookalike.errors import (  # noqa: E402
    DamagedError,
    DocumentError,
    DocumentTypeError,
    MismatchError,
    StoreError,
)


def some_sketches(package: Any, count: int, **arguments: Any) -> list[Any]:
    """Returns sketches of sets in families of five that share most of their elements."""
    draw = random.Random(5)
    sets = [
        [b"%d-%d" % (i // 5, k) for k in range(draw.randrange(10, 40))]
        + [b"%d" % draw.randrange(10**9) for _ in range(draw.randrange(1, 8))]
        for i in range(count)
    ]
    sketches: list[Any] = package.MinHash.bulk(sets, **arguments)
    return sketches


def config(path: Path, **more: Any) -> dict[str, Any]:
    return {"type": "lookalike", "path": str(path), **more}


def opened(path: Path, readonly: bool = False, **arguments: Any) -> Any:
    at = config(path, readonly=True) if readonly else config(path)
    return ours.MinHashLSH(num_perm=16, params=(4, 4), storage_config=at, **arguments)


def in_memory(**arguments: Any) -> Any:
    return ours.MinHashLSH(num_perm=16, params=(4, 4), **arguments)


def content(lsh: Any) -> Any:
    return [(key, lsh.keys[key]) for key in lsh.keys], lsh.get_counts()


def assert_kept(lsh: Any, path: Path) -> None:
    """Asserts that an index has the same content after it is opened again, and that the folder has
    no problems."""
    expected = content(lsh)
    lsh.close()
    reopened = opened(path)
    assert content(reopened) == expected
    assert reopened.check() == []
    reopened.close()


SKETCHES = some_sketches(ours, 30, num_perm=16)


def filled(lsh: Any, minhashes: list[Any]) -> Any:
    for key, minhash in enumerate(minhashes):
        lsh.insert(key, minhash)
    return lsh


def found(lsh: Any, minhashes: list[Any]) -> list[set[Any]]:
    return [set(lsh.query(m)) for m in minhashes]


def files(folder: Path) -> dict[str, bytes]:
    """Returns the files of a folder, without those that readers share with a writer."""
    shared = ("-wal", "-shm")
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith(shared)}


@contextlib.contextmanager
def full_disk(folder: Path, room: int) -> Iterator[None]:
    """Limits files to the size of the largest file in ``folder`` plus ``room`` bytes."""
    resource = pytest.importorskip("resource", reason="the system has no limits")
    sizes = [path.stat().st_size for path in folder.rglob("*")]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes, default=0) + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_kept_in_a_folder(tmp_path: Path, scheme: Any) -> None:
    ta = some_sketches(original, 100, scheme=scheme)
    tb = some_sketches(ours, 100, scheme=scheme)
    path = tmp_path / "sketches.lookalike"
    a = filled(original.MinHashLSH(0.5), ta)
    b = ours.MinHashLSH(0.5, storage_config=config(path))
    with b.insertion_session() as session:
        for key, minhash in enumerate(tb):
            session.insert(key, minhash)
    for key in range(0, 100, 4):
        a.remove(key)
        b.remove(key)
    b.insert("late", tb[0])
    a.insert("late", ta[0])
    b.close()
    for _ in range(2):
        reopened = ours.MinHashLSH(0.5, storage_config=config(path))
        assert found(reopened, tb) == found(a, ta)
        assert reopened.get_counts() == a.get_counts()
        assert [dict(table) for table in reopened.hashtables] == [
            {key: table.get(key) for key in table} for table in a.hashtables
        ]
        assert reopened._minhash_scheme == scheme
        other = "affine64" if scheme == "legacy" else "legacy"
        with pytest.raises(ValueError, match="scheme"):
            reopened.insert("x", ours.MinHash(scheme=other))  # type: ignore[arg-type]
        reopened.close()
    with pytest.raises(MismatchError, match="params"):
        ours.MinHashLSH(0.8, storage_config=config(path))


def in_a_folder(key: Any) -> Any:
    """Converts a pickled key of an index in memory to the form of a folder. Keys in memory have the
    default protocol (5 from Python 3.14 on). Keys of a folder always have protocol 4."""
    return pickle.dumps(pickle.loads(key), protocol=4) if isinstance(key, bytes) else key


def same_answers(kept: Any, model: Any) -> None:
    assert list(kept.keys) == [in_a_folder(key) for key in model.keys] == kept.keys.keys()
    assert len(kept.keys) == len(model.keys) and kept.is_empty() == model.is_empty()
    assert kept.get_counts() == model.get_counts()
    assert kept.keys.itemcounts() == {
        in_a_folder(key): count for key, count in model.keys.itemcounts().items()
    }
    assert kept.keys.status() == model.keys.status()
    for key in model.keys:
        assert in_a_folder(key) in kept.keys and kept.keys[in_a_folder(key)] == model.keys[key]
    keys = [0, 3, 99, 7, 11]
    assert [key in kept for key in keys] == [key in model for key in keys]
    assert kept.get_subset_counts(*keys) == model.get_subset_counts(*keys)
    for m in SKETCHES:
        assert sorted(map(repr, kept.query(m))) == sorted(map(repr, model.query(m)))
        assert [kept._query_b(m, b) for b in (-3, -1, 0, 1, 4)] == [
            model._query_b(m, b) for b in (-3, -1, 0, 1, 4)
        ]
    for m in SKETCHES[:2]:
        kept.add_to_query_buffer(m)
        model.add_to_query_buffer(m)
    assert set(kept.collect_query_buffer()) == set(model.collect_query_buffer())
    for own_table, model_table in zip(kept.hashtables, model.hashtables, strict=True):
        assert set(own_table) == set(model_table) and len(own_table) == len(model_table)
        assert all(
            own_table[bucket] == set(map(in_a_folder, model_table[bucket])) and bucket in own_table
            for bucket in model_table
        )
        assert own_table[b"other"] == set() and b"other" not in own_table


@pytest.mark.parametrize("prepickle", [False, True])
@pytest.mark.parametrize("hashfunc", [None, lambda band: bytes([sum(band) % 5, 7, 9])])
def test_stored_histories_equal_memory(
    tmp_path: Path, prepickle: bool, hashfunc: Callable[[bytes], bytes] | None
) -> None:
    draw = random.Random(9)
    path, model = tmp_path / "index", in_memory(prepickle=prepickle, hashfunc=hashfunc)
    kept = opened(path, prepickle=prepickle, hashfunc=hashfunc)
    for _ in range(6):
        session = kept.insertion_session(buffer_size=draw.randrange(1, 9))
        for _ in range(20):
            key, m = draw.randrange(12), draw.choice(SKETCHES)
            inserts = session.insert if draw.random() < 0.5 else kept.insert
            is_repeated = draw.random() < 0.4
            if draw.random() < 0.3:
                for lsh in (kept, model):
                    with contextlib.suppress(ValueError):
                        lsh.remove(key)
            elif is_repeated or key not in model:
                inserts(key, m, check_duplication=not is_repeated)
                model.insert(key, m, check_duplication=not is_repeated)
            else:
                with pytest.raises(ValueError, match="already exists"):
                    inserts(key, m)
        same_answers(kept, model)
        kept.close()
        kept = opened(path, prepickle=prepickle, hashfunc=hashfunc)
        same_answers(kept, model)
    assert kept.check() == []


def test_queries_flush_collected_insertions(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = opened(path)
    session = lsh.insertion_session(buffer_size=10)
    session.insert("a", SKETCHES[0])
    assert lsh.buffer_size == 10 and not path.exists()
    assert lsh.query(SKETCHES[0]) == ["a"] and path.exists()
    session.insert("b", SKETCHES[0])
    with pytest.raises(ValueError, match="already exists"):
        session.insert("b", SKETCHES[1])
    reader = opened(path, readonly=True)
    assert "b" not in reader
    lsh.keys.empty_buffer()
    assert "b" in reader
    for at in range(9):
        session.insert(at, SKETCHES[0])
    assert 8 not in reader
    session.insert(9, SKETCHES[0])
    assert 8 in reader and 9 in reader
    deletion = lsh.deletion_session()
    deletion.remove(8)
    with pytest.raises(ValueError, match="not exist"):
        deletion.remove(8)
    assert 8 in reader
    deletion.close()
    assert 8 not in reader


@pytest.mark.parametrize("end", ["close", "collect", "exit"])
def test_an_open_session_is_kept(tmp_path: Path, end: str) -> None:
    path = tmp_path / "index"
    if end == "exit":
        code = (
            "import lookalike.datasketch as d\n"
            f"config = {{'type': 'lookalike', 'path': {str(path)!r}}}\n"
            "lsh = d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)\n"
            "lsh.round = lsh\n"
            "lsh.insertion_session().insert('kept', d.MinHash(16))\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
    else:
        lsh = opened(path)
        session = lsh.insertion_session()
        session.insert("kept", SKETCHES[0])
        if end == "close":
            lsh.close()
        del lsh, session
        gc.collect()
    assert list(opened(path).keys) == ["kept"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are not killed here")
def test_killed_sessions_lose_unflushed_keys(tmp_path: Path) -> None:
    path = tmp_path / "index"
    code = (
        "import lookalike.datasketch as d, os, signal\n"
        f"config = {{'type': 'lookalike', 'path': {str(path)!r}}}\n"
        "lsh = d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)\n"
        "lsh.insert('kept', d.MinHash(16))\n"
        "lsh.insertion_session().insert('lost', d.MinHash(16))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode != 0
    lsh = opened(path)
    assert list(lsh.keys) == ["kept"]
    with pytest.raises(StoreError, match="is already open"):
        opened(path)
    lsh.insert("after", SKETCHES[0])
    assert_kept(lsh, path)


class Number(enum.IntEnum):
    """Members that equal integers."""

    FIVE = 5


class Pair(NamedTuple):
    """A tuple subclass, which equals a tuple."""

    a: int
    b: str


SAME_KEYS: list[tuple[Any, Any]] = [
    (1, True),
    (True, 1.0),
    (1.0, 1),
    (0.0, -0.0),
    (np.int64(5), 5),
    (np.True_, 1),
    (-(2**63), np.int64(-(2**63))),
    (np.int64(-(2**63)), -(2.0**63)),
    (2.0**63, 2**63),
    (5, Number.FIVE),
    (np.float32(0.5), 0.5),
    (Decimal("0.5"), 0.5),
    (np.str_("a"), "a"),
    (np.bytes_(b"a"), b"a"),
    (Pair(1, "x"), (1, "x")),
    ((1, (True, "x")), (1.0, (1, "x"))),
    (("ab", "ab"), ("ab", "".join(["a", "b"]))),
    (frozenset(["x", "y", "zz", "b"]), frozenset(["b", "zz", "y", "x"])),
    (frozenset([frozenset(), (1, 2)]), frozenset([(1, 2), frozenset()])),
]


class Heavy(str):
    """A text with a large attribute."""

    def __init__(self, text: str) -> None:
        self.weight = b"x" * (1 << 20)


def test_oversized_keys_affect_no_others(tmp_path: Path) -> None:
    lsh = opened(tmp_path / "index")
    with lsh.insertion_session() as session:
        session.insert("a", SKETCHES[0])
        with pytest.raises(DocumentError, match="takes .* bytes, expected at most"):
            session.insert(Heavy("b"), SKETCHES[1])
    assert list(lsh.keys) == ["a"]
    lsh.close()


def test_reinserted_keys_iterate_once(tmp_path: Path) -> None:
    lsh = opened(tmp_path / "index")
    with lsh.insertion_session() as session:
        for number in range(1_500):
            session.insert(number, SKETCHES[number % 4])
    met = []
    with lsh.deletion_session(), lsh.insertion_session():
        for key in lsh.keys:
            met.append(key)
            lsh._remove(key, buffer=True)
            lsh._insert(key, SKETCHES[5], buffer=True)
    assert met == list(range(1_500)) == list(lsh.keys)
    lsh.close()


# Cases are numbered, because the texts of sets differ between the processes that run the tests.
@pytest.mark.parametrize(("key", "same"), SAME_KEYS, ids=range(len(SAME_KEYS)))
def test_equal_keys_are_one_key(tmp_path: Path, key: Any, same: Any) -> None:
    path = tmp_path / "index"
    for _ in range(2):
        lsh = opened(path)
        for m in SKETCHES[:3]:
            lsh.insert(key, m, check_duplication=False)
        assert same in lsh and type(lsh.keys.keys()[-1]) is type(key)
        with pytest.raises(ValueError, match="already exists"):
            lsh.insert(same, SKETCHES[5])
        lsh.close()
        lsh = opened(path)
        assert lsh.query(SKETCHES[1]).count(key) == 1
        lsh.remove(same)
        lsh.insert("other", SKETCHES[4], check_duplication=False)
        assert_kept(lsh, path)
        lsh = opened(path)
        assert list(lsh.keys) == ["other"]
        lsh.close()


OTHER_KEYS: list[Any] = [
    "",
    "a",
    "a b",
    "1 s:a",
    "repeated",
    "nul\0",
    "\ud800",
    "\U0001f600\n",
    b"",
    b"a",
    b"\0\xff",
    0,
    -1,
    (1 << 63) - 1,
    1 << 63,
    -(1 << 63),
    10**5000,
    0.1,
    -1e308,
    float("inf"),
    float("-inf"),
    3 + 4j,
    None,
    ...,
    (),
    ("a",),
    (("a",),),
    ((), ("a", b"a", None)),
    frozenset(),
    frozenset([1, "1", b"1", ()]),
    range(3),
    Path("a"),
    Decimal("0.1"),
    int,
]


def test_keys_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "index"
    deep: Any = ()
    for _ in range(90):
        deep = (deep,)
    keys = [*OTHER_KEYS, deep]
    lsh, model = opened(path), in_memory()
    for at, key in enumerate(keys):
        lsh.insert(key, SKETCHES[at % 30])
        model.insert(key, SKETCHES[at % 30])
    for _ in range(2):
        assert list(lsh.keys) == keys
        assert [*map(type, lsh.keys)] == [*map(type, keys)]
        assert lsh.get_counts() == model.get_counts()
        assert all(key in lsh for key in keys) and "b" not in lsh and 1 not in lsh
        lsh.close()
        lsh = opened(path)
    nan = float("nan")
    lsh.insert(nan, SKETCHES[0])
    assert nan in lsh and lsh.keys.keys()[-1] != lsh.keys.keys()[-1]
    for key in [*keys, nan]:
        lsh.remove(key)
    assert lsh.is_empty()


def test_unstorable_keys_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = opened(path)
    lsh.insert("a", SKETCHES[0])
    for call in (
        lambda: lsh.insert([], SKETCHES[0]),
        lambda: [] in lsh,
        lambda: lsh.remove([]),
        lambda: lsh.insert(([],), SKETCHES[0]),
    ):
        with pytest.raises(TypeError, match="unhashable"):
            call()
    for key in ("x" * 17_000, "\0" * 5_000, b"x" * 13_000, tuple(range(9_000))):
        with pytest.raises(DocumentError, match=r"takes \d+ bytes, expected at most 16368"):
            lsh.insert(key, SKETCHES[0])
    lsh.insert("x" * 16_000, SKETCHES[0])
    lsh.insert("x" * 16_000, SKETCHES[1], check_duplication=False)
    assert len(lsh.keys) == 2
    assert_kept(lsh, path)


@pytest.mark.parametrize("prepickle", [False, True])
def test_unpicklable_keys_change_nothing(tmp_path: Path, prepickle: bool) -> None:
    path = tmp_path / "index"
    lsh = opened(path, prepickle=prepickle)
    with lsh.insertion_session() as session:
        session.insert("a", SKETCHES[0])
        with pytest.raises(DocumentTypeError, match="lambda"):
            session.insert(lambda: 1, SKETCHES[1])
        session.insert("b", SKETCHES[2])
    assert len(lsh.keys) == 2 and not any(callable(key) for key in lsh.query(SKETCHES[1]))
    lsh.close()
    reopened = opened(path, prepickle=prepickle)
    assert "a" in reopened and "b" in reopened and len(reopened.keys) == 2
    reopened.close()
    with pytest.raises(MismatchError, match="prepickle"):
        opened(path, prepickle=not prepickle)


def test_bands_of_a_hashfunc(tmp_path: Path) -> None:
    def hashed(band: bytes) -> bytes:
        return band[:length]

    for length in (0, 1, 4, 7):
        path, model = tmp_path / str(length), in_memory(hashfunc=hashed)
        lsh = filled(opened(path, hashfunc=hashed), SKETCHES)
        filled(model, SKETCHES)
        assert content(lsh) == content(model)
        assert found(lsh, SKETCHES) == found(model, SKETCHES)
        before = length
        length += 1
        with pytest.raises(
            ValueError, match=f"has {length} bytes, but every band in .* has {before}"
        ):
            lsh.insert("other", SKETCHES[0])
        assert lsh.query(SKETCHES[0]) == []
        length = before
        assert lsh.query(SKETCHES[0]) != []
        lsh.close()
        with pytest.raises(MismatchError, match="hashfunc"):
            opened(path)
    with pytest.raises(ValueError, match="bytes, but every band in"):
        opened(tmp_path / "x", hashfunc=lambda band: band[: band[0] % 3]).insert("a", SKETCHES[0])
    assert not (tmp_path / "x").exists()


def test_sketches_without_a_scheme(tmp_path: Path) -> None:
    vectors = np.random.default_rng(1).random((6, 4))
    generator = ours.WeightedMinHashGenerator(4, sample_size=16)
    sketches = [generator.minhash(vector) for vector in vectors]
    path, model = tmp_path / "index", filled(in_memory(), sketches)
    lsh = filled(opened(path), sketches)
    assert content(lsh) == content(model) and found(lsh, sketches) == found(model, sketches)
    with pytest.raises(ValueError, match="scheme"):
        lsh.insert("x", SKETCHES[0])
    assert lsh.query(SKETCHES[0]) == []
    assert_kept(lsh, path)


def test_oversized_hash_values_are_errors(tmp_path: Path) -> None:
    class Wide:
        scheme = "legacy"
        hashvalues = np.full(16, 1 << 32, dtype=np.uint64)

        def __len__(self) -> int:
            return 16

    lsh = opened(tmp_path / "index")
    with pytest.raises(ValueError, match=r"4294967296, expected less than 2\*\*32"):
        lsh.insert("a", Wide())
    lsh.insert("a", ours.MinHash(16, scheme="legacy"))
    assert lsh.query(Wide()) == []


def test_merges_in_every_direction(tmp_path: Path) -> None:
    expected = in_memory()
    sides = [filled(in_memory(), SKETCHES[:20]), in_memory()]
    for at in range(10):
        sides[1].insert(at * 3, SKETCHES[at + 15])
    for side in sides:
        expected.merge(side)
    kept = [opened(tmp_path / str(number)) for number in range(2)]
    for mine, its in zip(kept, sides, strict=True):
        mine.merge(its)
        assert content(mine) == content(its)
    for target in (opened(tmp_path / "into"), in_memory()):
        for source in (kept[0], sides[1]):
            target.merge(source)
        assert content(target) == content(expected)
    with pytest.raises(ValueError, match="overlapping"):
        kept[0].merge(kept[1], check_overlap=True)
    kept[0].merge(kept[1])
    assert content(kept[0]) == content(expected)
    empty = opened(tmp_path / "empty")
    empty.merge(opened(tmp_path / "as empty"))
    assert not (tmp_path / "empty").exists()
    with pytest.raises(ValueError, match="scheme"):
        legacy = in_memory()
        legacy.insert("a", ours.MinHash(16, scheme="legacy"))
        kept[0].merge(legacy)


def test_failed_merges_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = opened(path)
    lsh.insert("before", SKETCHES[0])
    session = lsh.insertion_session()
    session.insert("collected", SKETCHES[0])
    other = in_memory()
    other.insert("x", SKETCHES[1])
    other.insert(test_failed_merges_change_nothing.__code__, SKETCHES[2])
    other.insert("y", SKETCHES[3])
    with pytest.raises(DocumentTypeError, match="code"):
        lsh.merge(other)
    large = filled(in_memory(), SKETCHES)
    for at in range(300):
        large.insert("x" * 10_000 + str(at), SKETCHES[0])
    with full_disk(path, 200_000), pytest.raises(StoreError, match="330 changes .* are undone"):
        lsh.merge(large)
    assert list(lsh.keys) == ["before", "collected"]
    lsh.merge(large)
    assert len(lsh.keys) == 332
    assert_kept(lsh, path)


def test_full_disks_preserve_stored_keys(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = opened(path)
    with full_disk(tmp_path, 10_000), pytest.raises(StoreError, match=str(path)):
        lsh.insert("a", ours.MinHash(16, scheme="legacy"))
    assert os.listdir(tmp_path) == [] and lsh.is_empty()
    session = lsh.insertion_session()
    session.insert("a", ours.MinHash(16, scheme="legacy"))
    with full_disk(tmp_path, 10_000), pytest.raises(StoreError, match=str(path)):
        session.close()
    assert os.listdir(tmp_path) == [] and lsh.query(SKETCHES[0]) == []
    lsh.insert("before", SKETCHES[0])
    session = lsh.insertion_session(buffer_size=100)
    with full_disk(path, 200_000), pytest.raises(StoreError, match=str(path)):
        for at in range(1000):
            session.insert("x" * 10_000 + str(at), SKETCHES[at % 30])
    assert len(lsh.keys) % 100 == 1 and lsh._minhash_scheme == "affine32"
    lsh.insert("after", SKETCHES[1])
    lsh.remove("before")
    assert "after" in lsh and "before" not in lsh
    assert_kept(lsh, path)


def test_concurrent_threads_lose_no_keys(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = opened(path)
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            inserts = lsh.insert if number % 2 else lsh.insertion_session(buffer_size=5).insert
            for at in range(30):
                inserts((number, at), SKETCHES[at])
                assert (number, at) in lsh and (number, at) in lsh.query(SKETCHES[at])
                if at % 3 == 0:
                    lsh.remove((number, at))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(lsh.keys) == 80
    assert_kept(lsh, path)


def test_folder_allows_one_writing_index(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = opened(path)
    late = opened(path)
    lsh.insert("a", SKETCHES[0])
    with pytest.raises(StoreError, match="is already open"):
        opened(path)
    with pytest.raises(StoreError, match="another program created"):
        late.insert("b", SKETCHES[0])
    code = (
        "import lookalike.datasketch as d\n"
        f"config = {{'type': 'lookalike', 'path': {str(path)!r}}}\n"
        "try: d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)\n"
        "except Exception as error: print(type(error).__name__)\n"
        "config['readonly'] = True\n"
        "print(len(d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config).keys))\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == ["StoreError", "1"]
    lsh.insert("b", SKETCHES[1])
    assert_kept(lsh, path)


def test_readonly_indexes_reject_changes(tmp_path: Path) -> None:
    path = tmp_path / "index"
    with pytest.raises(StoreError, match="index .* does not exist"):
        opened(path, readonly=True)
    lsh = opened(path)
    lsh.insert("a", SKETCHES[0])
    reader = opened(path, readonly=True)
    lsh.insert("a", SKETCHES[1], check_duplication=False)
    assert content(reader) == content(lsh) and len(reader.keys) == 1
    for call in (
        lambda: reader.insert("b", SKETCHES[1]),
        lambda: reader.remove("a"),
        lambda: reader.merge(in_memory()),
        lambda: reader.repair(),
        lambda: reader.insertion_session().insert("b", SKETCHES[1]),
    ):
        with pytest.raises(StoreError, match="readonly"):
            call()
    assert reader.check() == []
    reader.close()
    assert_kept(lsh, path)


def test_closed_indexes_reject_calls(tmp_path: Path) -> None:
    lsh = filled(opened(tmp_path / "index"), SKETCHES)
    keys, tables = lsh.keys, lsh.hashtables
    lsh.close()
    lsh.close()
    for call in (
        lambda: lsh.query(SKETCHES[0]),
        lambda: lsh.insert("a", SKETCHES[0]),
        lambda: lsh.remove(0),
        lambda: 0 in lsh,
        lambda: lsh.is_empty(),
        lambda: lsh.get_counts(),
        lambda: list(keys),
        lambda: tables[0].keys(),
        lambda: lsh.merge(in_memory()),
        lambda: in_memory().merge(lsh),
        lambda: lsh.check(),
        lambda: lsh.insertion_session().close(),
    ):
        with pytest.raises(StoreError, match="is closed"):
            call()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_processes_leave_folder_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "index"
    code = (
        "import lookalike.datasketch as d, os, sys\n"
        f"config = {{'type': 'lookalike', 'path': {str(path)!r}}}\n"
        "lsh = d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)\n"
        "lsh.insert('a', d.MinHash(16))\n"
        "session = lsh.insertion_session()\n"
        "session.insert('b', d.MinHash(16))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    for call in (lambda: lsh.insert('c', d.MinHash(16)), lambda: 'c' in lsh,\n"
        "                 lambda: lsh.query(d.MinHash(16)), lambda: session.close()):\n"
        "        try: call()\n"
        "        except Exception as error: print(type(error).__name__, 'fork' in str(error))\n"
        "    read = d.MinHashLSH(num_perm=16, params=(4, 4),\n"
        "                        storage_config={**config, 'readonly': True})\n"
        "    print(list(read.keys), flush=True)\n"
        "    read.close()\n"
        "    if len(sys.argv) > 1: lsh.close()\n"
        "    sys.exit()\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "lsh.insert('d', d.MinHash(16))\n"
        "lsh.close()\n"
    )
    for more in ([], ["close"]):
        process = subprocess.run(
            [sys.executable, "-c", code, *more], capture_output=True, text=True, check=True
        )
        assert process.stdout == "StoreError True\n" * 4 + "['a']\n"
        lsh = opened(path)
        assert list(lsh.keys) == ["a", "b", "d"]
        for key in ("a", "b", "d"):
            lsh.remove(key)
        lsh.close()


def other_things(folder: Path) -> list[Path]:
    """Creates files and folders that are not indexes of sketches, and returns their paths."""
    (folder / "text").write_bytes(b"not a database" * 100)
    database = sqlite3.connect(folder / "file of sketches")
    database.execute("CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT)")
    database.execute("CREATE TABLE keys (number INTEGER PRIMARY KEY, key, lengths, bands)")
    database.commit()
    database.close()
    (folder / "empty").mkdir()
    (folder / "pictures").mkdir()
    (folder / "pictures" / "catalog.sqlite").write_bytes(b"not a database" * 100)
    (folder / "application").mkdir()
    shutil.copy(folder / "file of sketches", folder / "application" / "catalog.sqlite")
    with lookalike.Index.create(folder / "documents") as index:
        index.add({"a": "the quick brown fox jumps over the lazy dog"})
    return sorted(folder.iterdir())


def test_foreign_paths_are_rejected_unchanged(tmp_path: Path) -> None:
    paths = other_things(tmp_path)
    assert len(paths) == 6
    for path in paths:
        before = files(path) if path.is_dir() else path.read_bytes()
        for readonly in (False, True):
            with pytest.raises(StoreError, match=str(path)) as raised:
                opened(path, readonly=readonly)
            if path.name == "documents":
                assert "lookalike.Index.open" in str(raised.value)
        assert (files(path) if path.is_dir() else path.read_bytes()) == before
    assert sorted(tmp_path.iterdir()) == paths


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "none" / "index", tmp_path / "..", Path("/"), tmp_path / "a\0b"):
        with pytest.raises((StoreError, ValueError)):
            opened(path)
    with pytest.raises(StoreError):
        ours.MinHashLSH(storage_config={"type": "lookalike", "path": ""})
    with pytest.raises(ValueError, match="path"):
        ours.MinHashLSH(storage_config={"type": "lookalike"})
    with pytest.raises(ValueError, match="no 'read_only'; expected"):
        ours.MinHashLSH(storage_config={"type": "lookalike", "path": "a", "read_only": True})
    with pytest.raises(TypeError):
        ours.MinHashLSH(storage_config={"type": "lookalike", "path": 5})
    opened(tmp_path / "unused").close()
    assert os.listdir(tmp_path) == []
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    lsh = ours.MinHashLSH(storage_config={"type": "lookalike", "path": Path("index")})
    monkeypatch.chdir(tmp_path / "elsewhere")
    lsh.insert("a", ours.MinHash())
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "index"]


def test_document_commands_reject_sketch_folders(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = filled(opened(path), SKETCHES)
    for _ in range(2):
        for read_only in (False, True):
            with pytest.raises(StoreError, match=r"keeps sketches .*\.MinHashLSH"):
                lookalike.Index.open(path, read_only=read_only)
        program = [sys.executable, "-m", "lookalike"]
        for arguments in (
            ["query", path, "--id", "a"],
            ["index", "stats", path],
            ["index", "check", path],
            ["index", "add", path, __file__],
            ["serve", path, "--listen", "127.0.0.1:0"],
        ):
            done = subprocess.run([*program, *arguments], capture_output=True, text=True)  # type: ignore[list-item]
            assert done.returncode not in (0, None), done
            assert "keeps sketches" in done.stderr and "MinHashLSH" in done.stderr, done
        lsh.close()


DAMAGES = [
    "UPDATE docs SET signature = x'00000000' WHERE doc = 2",
    "UPDATE docs SET signature = x'00' WHERE doc = 2",
    "UPDATE docs SET id = 'x:a' WHERE doc = 2",
    "UPDATE docs SET id = 'l:[]' WHERE doc = 2",
    "UPDATE docs SET id = 'l:(' WHERE doc = 2",
    "UPDATE docs SET id = 'p:AAAA' WHERE doc = 2",
    "UPDATE docs SET id = 'b:-' WHERE doc = 2",
    # A list, which cannot be a key.
    "UPDATE docs SET id = 'p:XS4=' WHERE doc = 2",
    "UPDATE docs SET metadata = '{\"key\":5}' WHERE doc = 2",
    'UPDATE docs SET metadata = \'{"key":"AAAA"}\' WHERE doc = 2',
    "UPDATE docs SET metadata = '5' WHERE doc = 2",
]


def damaged(path: Path, statement: str) -> None:
    database = sqlite3.connect(path / "catalog.sqlite")
    assert database.execute(statement).rowcount == 1
    database.commit()
    database.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_rows_are_reported(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "index"
    filled(opened(path), SKETCHES[:3]).close()
    damaged(path, damage)
    for _ in range(2):
        lsh = opened(path)
        with pytest.raises(DamagedError, match=str(path)) as raised:
            lsh._kept._rows()
        assert "row 2" in str(raised.value) or "number 2" in str(raised.value)
        lsh.close()


def test_a_missing_class_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index"
    module = types.ModuleType("no_such_module")
    exec("class Thing: pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "no_such_module", module)
    lsh = opened(path)
    lsh.insert(module.Thing, SKETCHES[0])
    lsh.close()
    monkeypatch.delitem(sys.modules, "no_such_module")
    with pytest.raises(StoreError, match="no_such_module"):
        opened(path).keys.keys()


# A program that creates an index with a key whose pickle creates a file.
FOREIGN = """
import pathlib, sys
import lookalike.datasketch as ours

class Harmful:
    def __reduce__(self):
        return (open, (sys.argv[2], "w"))

prepickle = sys.argv[3] == "prepickle"
lsh = ours.MinHashLSH(num_perm=16, params=(4, 4), prepickle=prepickle,
                      storage_config={"type": "lookalike", "path": sys.argv[1]})
key = __import__("pickle").dumps(Harmful()) if sys.argv[3] == "bytes" else Harmful()
for each in ("plain", key):
    lsh.insert(each, ours.MinHash(num_perm=16))
lsh.close()
"""


def foreign(path: Path, marker: Path, kind: str) -> None:
    subprocess.run([sys.executable, "-c", FOREIGN, str(path), str(marker), kind], check=True)
    assert not marker.exists()


def test_foreign_pickles_are_not_loaded(tmp_path: Path) -> None:
    path, marker = tmp_path / "index", tmp_path / "marker"
    foreign(path, marker, "plain")
    lsh, probe = opened(path), ours.MinHash(num_perm=16)
    assert "plain" in lsh and len(lsh.keys) == 2
    for ask in (
        lambda: lsh.query(probe),
        lambda: list(lsh.keys),
        lambda: lsh._query_b(probe, 2),
        lambda: in_memory().merge(lsh),
        lambda: lsh.hashtables[0].get(next(iter(lsh.get_counts()[0]))),
    ):
        with pytest.raises(StoreError, match='"allow_pickle": True') as raised:
            ask()
        assert str(path) in str(raised.value)
    lsh.close()
    assert not marker.exists()
    at = config(path, allow_pickle=True)
    lsh = ours.MinHashLSH(num_perm=16, params=(4, 4), storage_config=at)
    assert len(lsh.query(probe)) == 2 and marker.exists()
    lsh.close()
    with pytest.raises(ValueError, match="expected True or False, got 'no'"):
        ours.MinHashLSH(storage_config=config(path, allow_pickle="no"))


def test_foreign_prepickled_keys_require_permission(tmp_path: Path) -> None:
    path, marker = tmp_path / "index", tmp_path / "marker"
    foreign(path, marker, "prepickle")
    for readonly in (False, True):
        with pytest.raises(StoreError, match='"allow_pickle": True'):
            opened(path, readonly=readonly, prepickle=True)
    assert not marker.exists()
    at = config(path, allow_pickle=True)
    lsh = ours.MinHashLSH(num_perm=16, params=(4, 4), prepickle=True, storage_config=at)
    assert len(lsh.query(ours.MinHash(num_perm=16))) == 2 and marker.exists()
    lsh.close()


def test_foreign_bytes_are_never_unpickled(tmp_path: Path) -> None:
    path, marker = tmp_path / "index", tmp_path / "marker"
    foreign(path, marker, "bytes")
    other, probe = opened(path), ours.MinHash(num_perm=16)
    for lsh in (in_memory(prepickle=True), opened(tmp_path / "own", prepickle=True)):
        lsh.merge(other)
        assert {type(key) for key in lsh.query(probe)} == {str, bytes}
        lsh.close()
    assert not marker.exists()


def test_a_damaged_segment_is_repaired(tmp_path: Path) -> None:
    path = tmp_path / "index"
    sketches = some_sketches(ours, 17_000, num_perm=16)
    lsh = opened(path)
    with lsh.insertion_session() as session:
        for key, m in enumerate(sketches):
            session.insert(key, m)
    queries = sketches[::500]
    expected = found(lsh, queries)
    lsh.close()
    (segment,) = path.glob("*.seg")
    data = bytearray(segment.read_bytes())
    # Eight bytes for each block follow the blocks. Damage there would be repaired at opening, so
    # the test damages the blocks.
    for block in range((len(data) - 4096) // 4104):
        data[4096 + block * 4096] ^= 1
    segment.write_bytes(data)
    lsh = opened(path)
    with pytest.raises(DamagedError, match=r"repair\(\)"):
        found(lsh, queries)
    problems = lsh.check()
    assert problems and all(can_be_repaired for _, _, can_be_repaired in problems)
    lsh.repair()
    assert lsh.check() == [] and found(lsh, queries) == expected
    with lsh.deletion_session() as deletion:
        for key in range(0, 17_000, 2):
            deletion.remove(key)
    lsh.compact()
    assert lsh.check() == [] and len(lsh.keys) == 8_500
    assert found(lsh, queries) == [{key for key in keys if key % 2} for keys in expected]


def test_copied_and_backup_folders_open(tmp_path: Path) -> None:
    path = tmp_path / "index"
    lsh = opened(path)
    with pytest.raises(StoreError, match="no sketch"):
        lsh.backup(tmp_path / "copy")
    filled(lsh, SKETCHES)
    expected = content(lsh)
    lsh.backup(tmp_path / "backup")
    with pytest.raises(StoreError, match="already exists"):
        lsh.backup(tmp_path / "backup")
    with pytest.raises(TypeError, match="folder"):
        pickle.dumps(lsh)
    lsh.close()
    assert os.listdir(tmp_path) != [] and not list(tmp_path.glob("*unfinished*"))
    shutil.copytree(path, tmp_path / "copy")
    for copy in ("copy", "backup"):
        assert content(opened(tmp_path / copy)) == expected
    with pytest.raises(ValueError, match="in memory"):
        in_memory().backup(tmp_path / "x")
    assert in_memory().check() == []


def test_folders_keep_insertion_order(tmp_path: Path) -> None:
    (minhash,) = some_sketches(ours, 1, num_perm=16)
    (other,) = ours.MinHash.bulk([[b"another"]], num_perm=16)
    with contextlib.closing(opened(tmp_path / "index")) as lsh:
        # "e" is inserted twice. Its first sketch has other bands.
        lsh.insert("e", other)
        for key in ("b", "d", "a"):
            lsh.insert(key, minhash)
        lsh.insert("e", minhash, check_duplication=False)
        lsh.remove("b")
        lsh.insert("b", minhash)
        assert lsh.query(minhash) == list(lsh.keys) == ["e", "d", "a", "b"]
