"""The file of a MinHashLSH: it has what memory has, and belongs to one index at a time."""

from __future__ import annotations

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
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
theirs = pytest.importorskip("datasketch", reason="datasketch is not installed")

import lookalike.datasketch as ours  # noqa: E402
from lookalike.errors import (  # noqa: E402
    DamagedError,
    DocumentTypeError,
    MismatchError,
    StoreError,
)


def some_sketches(package: Any, count: int, **arguments: Any) -> list[Any]:
    """Of sets in families of five that share most of their elements."""
    draw = random.Random(5)
    sets = [
        [b"%d-%d" % (i // 5, k) for k in range(draw.randrange(10, 40))]
        + [b"%d" % draw.randrange(10**9) for _ in range(draw.randrange(1, 8))]
        for i in range(count)
    ]
    made: list[Any] = package.MinHash.bulk(sets, **arguments)
    return made


def opened(path: Path, **arguments: Any) -> Any:
    config = {"type": "lookalike", "path": str(path)}
    return ours.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config, **arguments)


def content(lsh: Any) -> Any:
    return [(key, lsh.keys[key]) for key in lsh.keys], lsh.get_counts()


def assert_kept(lsh: Any, path: Path) -> None:
    """What is in memory is in the file, too."""
    expected = content(lsh)
    lsh.close()
    again = opened(path)
    assert content(again) == expected
    again.close()


SKETCHES = some_sketches(ours, 30, num_perm=16)


def filled(lsh: Any, minhashes: list[Any]) -> Any:
    for key, minhash in enumerate(minhashes):
        lsh.insert(key, minhash)
    return lsh


def found(lsh: Any, minhashes: list[Any]) -> list[set[Any]]:
    return [set(lsh.query(m)) for m in minhashes]


def test_kept_in_a_file(tmp_path: Path) -> None:
    ta, tb = some_sketches(theirs, 100), some_sketches(ours, 100)
    config = {"type": "lookalike", "path": str(tmp_path / "sketches.lookalike")}
    a = filled(theirs.MinHashLSH(0.5), ta)
    b = ours.MinHashLSH(0.5, storage_config=config)
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
        again = ours.MinHashLSH(0.5, storage_config=config)
        assert found(again, tb) == found(a, ta)
        assert again.get_counts() == a.get_counts()
        with pytest.raises(ValueError):
            again.insert("x", ours.MinHash(scheme="legacy"))
        again.close()
    with pytest.raises(MismatchError, match="params"):
        ours.MinHashLSH(0.8, storage_config=config)
    with pytest.raises(StoreError):
        ours.MinHashLSH(0.5, storage_config={"type": "lookalike", "path": str(tmp_path)})
    (tmp_path / "other").write_bytes(b"not a database" * 100)
    with pytest.raises(DamagedError):
        ours.MinHashLSH(0.5, storage_config={**config, "path": str(tmp_path / "other")})


@pytest.mark.parametrize("end", ["close", "collect", "exit"])
def test_an_open_session_is_kept(tmp_path: Path, end: str) -> None:
    path = tmp_path / "file"
    if end == "exit":
        code = (
            "import lookalike.datasketch as d\n"
            f"config = {{'type': 'lookalike', 'path': {str(path)!r}}}\n"
            "lsh = d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)\n"
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
def test_what_was_not_closed_is_not_half_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
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
    with pytest.raises(StoreError, match="open already"):
        opened(path)
    lsh.insert("after", SKETCHES[0])
    assert_kept(lsh, path)


SAME_KEYS: list[tuple[Any, Any]] = [
    (1, True),
    (True, 1.0),
    (1.0, 1),
    (np.int64(5), 5),
    (("ab", "ab"), ("ab", "".join(["a", "b"]))),
    (frozenset(["x", "y", "zz", "b"]), frozenset(["b", "zz", "y", "x"])),
]


@pytest.mark.parametrize(("key", "same"), SAME_KEYS, ids=repr)
def test_equal_keys_are_one_key(tmp_path: Path, key: Any, same: Any) -> None:
    path = tmp_path / "file"
    for _ in range(2):
        lsh = opened(path)
        for m in SKETCHES[:3]:
            lsh.insert(key, m, check_duplication=False)
        lsh.close()
        lsh = opened(path)
        lsh.remove(same)
        lsh.insert("other", SKETCHES[4], check_duplication=False)
        assert_kept(lsh, path)
        lsh = opened(path)
        assert list(lsh.keys) == ["other"]
        lsh.close()


@pytest.mark.parametrize("prepickle", [False, True])
def test_a_key_without_a_pickle_changes_nothing(tmp_path: Path, prepickle: bool) -> None:
    path = tmp_path / "file"
    lsh = opened(path, prepickle=prepickle)
    with lsh.insertion_session() as session:
        session.insert("a", SKETCHES[0])
        with pytest.raises(DocumentTypeError, match="lambda"):
            session.insert(lambda: 1, SKETCHES[1])
        session.insert("b", SKETCHES[2])
    assert len(lsh.keys) == 2 and not any(callable(key) for key in lsh.query(SKETCHES[1]))
    lsh.close()
    again = opened(path, prepickle=prepickle)
    assert "a" in again and "b" in again and len(again.keys) == 2


def test_a_merge_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lsh = opened(path)
    lsh.insert("before", SKETCHES[0])
    other = ours.MinHashLSH(num_perm=16, params=(4, 4))
    other.insert("x", SKETCHES[1])
    other.insert(test_a_merge_is_whole_or_not_at_all.__code__, SKETCHES[2])
    other.insert("y", SKETCHES[3])
    with pytest.raises(DocumentTypeError, match="code"):
        lsh.merge(other)
    assert list(lsh.keys) == ["before"]
    full = filled(ours.MinHashLSH(num_perm=16, params=(4, 4)), SKETCHES)
    lsh._file._connection.execute("PRAGMA max_page_count = 5")
    for large in range(100):
        full.insert("x" * 1000 + str(large), SKETCHES[0])
    with pytest.raises(StoreError, match="full"):
        lsh.merge(full)
    assert list(lsh.keys) == ["before"]
    assert_kept(lsh, path)


def test_a_full_disk_leaves_memory_as_the_file_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lsh = opened(path)
    lsh.insert("before", SKETCHES[0])
    lsh._file._connection.execute("PRAGMA max_page_count = 6")
    session = lsh.insertion_session()
    with pytest.raises(StoreError, match=str(path)):
        for at in range(1000):
            session.insert("x" * 1000 + str(at), SKETCHES[at % 30])
    assert "before" in lsh and lsh._minhash_scheme == "affine32"
    lsh._file._connection.execute("PRAGMA max_page_count = 1000000")
    lsh.insert("after", SKETCHES[1])
    lsh.remove("before")
    assert_kept(lsh, path)


def test_threads_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lsh = opened(path)
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for at in range(30):
                lsh.insert((number, at), SKETCHES[at])
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


def test_a_file_is_of_one_index(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lsh = opened(path)
    lsh.insert("a", SKETCHES[0])
    with pytest.raises(StoreError, match="open already"):
        opened(path)
    code = (
        "import lookalike.datasketch as d\n"
        f"config = {{'type': 'lookalike', 'path': {str(path)!r}}}\n"
        "try: d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "StoreError"
    lsh.insert("b", SKETCHES[1])
    assert_kept(lsh, path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    code = (
        "import lookalike.datasketch as d, os, sys\n"
        f"config = {{'type': 'lookalike', 'path': {str(path)!r}}}\n"
        "lsh = d.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)\n"
        "lsh.insert('a', d.MinHash(16))\n"
        "session = lsh.insertion_session()\n"
        "session.insert('b', d.MinHash(16))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    assert set(lsh.query(d.MinHash(16))) == {'a', 'b'}\n"
        "    try: lsh.insert('c', d.MinHash(16))\n"
        "    except Exception as error: print(type(error).__name__, 'c' in lsh, flush=True)\n"
        "    if len(sys.argv) > 1: lsh.close()\n"
        "    sys.exit()\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "lsh.insert('d', d.MinHash(16))\n"
        "lsh.close()\n"
    )
    for more in ([], ["close"]):
        made = subprocess.run(
            [sys.executable, "-c", code, *more], capture_output=True, text=True, check=True
        )
        assert made.stdout == "StoreError False\n"
        lsh = opened(path)
        assert list(lsh.keys) == ["a", "b", "d"]
        for key in ("a", "b", "d"):
            lsh.remove(key)
        lsh.close()


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('mine')"],
        ["CREATE TABLE keys (name)", "INSERT INTO keys VALUES ('mine')"],
        ["CREATE TABLE settings (name, value)", "CREATE TABLE keys (number, key)"],
        ["PRAGMA user_version = 3"],
        ["PRAGMA application_id = 77"],
        ["PRAGMA journal_mode = WAL", "CREATE TABLE notes (text)"],
    ],
)
def test_databases_of_others_stay_as_they_are(tmp_path: Path, statements: list[str]) -> None:
    path = tmp_path / "application.db"
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    before = path.read_bytes()
    with pytest.raises(DamagedError, match="database"):
        opened(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["application.db"]


def test_files_without_a_mark_are_read(tmp_path: Path) -> None:
    """Those of the first form, which was not marked, and had one more index."""
    path = tmp_path / "file"
    lsh = filled(opened(path), SKETCHES)
    expected = content(lsh)
    lsh.close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA application_id = 0")
    database.execute("CREATE INDEX keys_by_key ON keys (key)")
    database.commit()
    database.close()
    again = opened(path)
    assert content(again) == expected


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE keys SET bands = x'00' WHERE number = 2",
        "UPDATE keys SET lengths = x'0000' WHERE number = 2",
        "UPDATE keys SET lengths = 'text' WHERE number = 2",
        "UPDATE keys SET bands = x'', lengths = x'' WHERE number = 2",
        "UPDATE keys SET key = x'00' WHERE number = 2",
        "UPDATE keys SET key = x'' WHERE number = 2",
        "UPDATE keys SET key = 'text' WHERE number = 2",
        # A list, which is no key.
        "UPDATE keys SET key = x'5d2e' WHERE number = 2",
    ],
)
def test_damaged_rows_are_told(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "file"
    filled(opened(path), SKETCHES[:3]).close()
    database = sqlite3.connect(path)
    database.execute(damage)
    database.commit()
    database.close()
    for _ in range(2):
        with pytest.raises(DamagedError, match=str(path)):
            opened(path)


def test_a_class_that_is_gone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lsh = opened(path)
    lsh.insert("a", SKETCHES[0])
    lsh.close()
    database = sqlite3.connect(path)
    database.execute("UPDATE keys SET key = ?", (b"cno_such_module\nThing\n.",))
    database.commit()
    database.close()
    with pytest.raises(StoreError, match="no_such_module"):
        opened(path)


def test_a_copy_of_the_file_is_an_index(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lsh = filled(opened(path), SKETCHES)
    expected = content(lsh)
    lsh.close()
    assert os.listdir(tmp_path) == ["file"]
    shutil.copy(path, tmp_path / "copy")
    assert content(opened(tmp_path / "copy")) == expected
    with pytest.raises(TypeError, match="file"):
        pickle.dumps(opened(path))
