"""Where an index keeps its keys: what ``lsh.keys`` and ``lsh.hashtables`` give, and a file.

:class:`DictListStorage` and :class:`DictSetStorage` are what pickled indexes hold, the same as in
those of datasketch.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections import defaultdict
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.errors import DamagedError, MismatchError, StoreError

if TYPE_CHECKING:
    from lookalike.datasketch import _native

__all__ = ["BucketView", "DictListStorage", "DictSetStorage", "File", "KeyView"]


class DictListStorage:
    """Lists by key, as pickled."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self._dict: defaultdict[Any, Any] = defaultdict(list)


class DictSetStorage:
    """Sets by key, as pickled."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self._dict: defaultdict[Any, Any] = defaultdict(set)


class KeyView:
    """The keys of an index, each with the bytes of its bands. What is read is always current.

    >>> from lookalike.datasketch import MinHash, MinHashLSH
    >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
    >>> lsh.insert("a", MinHash(num_perm=16))
    >>> list(lsh.keys), len(lsh.keys["a"])
    (['a'], 4)
    """

    buffer_size = 50000

    def __init__(self, tables: _native.Tables) -> None:
        self._tables = tables

    def keys(self) -> list[Any]:
        """All keys in the order of insertion."""
        return self._tables._keys()

    def get(self, key: Hashable) -> list[bytes]:
        """The bytes of the bands of ``key``; none if it is not there."""
        return self._tables._bands_of(key)

    def getmany(self, *keys: Hashable) -> list[list[bytes]]:
        """:meth:`get` of each."""
        return [self.get(key) for key in keys]

    def has_key(self, key: Hashable) -> bool:
        """Whether ``key`` is there."""
        return self._tables._has(key)

    def size(self) -> int:
        """How many keys there are."""
        return self._tables._size()

    def itemcounts(self) -> dict[Any, int]:
        """How many bands each key has."""
        return {key: len(self.get(key)) for key in self.keys()}

    def status(self) -> dict[str, int]:
        """``{"keyspace_size": …}``."""
        return {"keyspace_size": self.size()}

    def empty_buffer(self) -> None:
        """Does nothing: nothing waits in memory."""

    def __getitem__(self, key: Hashable) -> list[bytes]:
        return self.get(key)

    def __contains__(self, key: Hashable) -> bool:
        return self.has_key(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return self.size()


class BucketView:
    """The buckets of one band: sets of keys by the bytes of the band.

    >>> from lookalike.datasketch import MinHash, MinHashLSH
    >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
    >>> lsh.insert("a", MinHash(num_perm=16))
    >>> lsh.hashtables[0].get(b"\\xff" * 16)
    {'a'}
    """

    buffer_size = 50000

    def __init__(self, tables: _native.Tables, band: int) -> None:
        self._tables = tables
        self._band = band

    def keys(self) -> list[bytes]:
        """The bytes of all buckets."""
        return list(self.itemcounts())

    def get(self, key: bytes) -> set[Any]:
        """The keys in a bucket; none if it is not there."""
        return set(self._tables._bucket(self._band, key))

    def getmany(self, *keys: bytes) -> list[set[Any]]:
        """:meth:`get` of each."""
        return [self.get(key) for key in keys]

    def has_key(self, key: bytes) -> bool:
        """Whether there is such a bucket."""
        return bool(self._tables._bucket(self._band, key))

    def size(self) -> int:
        """How many buckets there are."""
        return len(self.itemcounts())

    def itemcounts(self) -> dict[bytes, int]:
        """How many keys each bucket has."""
        return self._tables._counts()[self._band]

    def status(self) -> dict[str, int]:
        """``{"keyspace_size": …}``."""
        return {"keyspace_size": self.size()}

    def empty_buffer(self) -> None:
        """Does nothing: nothing waits in memory."""

    def __getitem__(self, key: bytes) -> set[Any]:
        return self.get(key)

    def __contains__(self, key: bytes) -> bool:
        return self.has_key(key)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.keys())

    def __len__(self) -> int:
        return self.size()


_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (
    number INTEGER PRIMARY KEY, key BLOB NOT NULL, lengths BLOB NOT NULL, bands BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS keys_by_key ON keys (key);
"""


class File:
    """An SQLite file that every change of an index is written to, and that it is read from.

    The tables themselves are in memory. The file has a row for each insertion: the key, pickled,
    and its bands. A change is on the disk when the method that made it returns, or, in a session,
    when that is closed.

    Args:
        path: The file; made if it is not there.
        settings: What the index was made with, which must be what the file was made with.

    Raises:
        StoreError: The file cannot be opened.
        MismatchError: It was made with other settings.
        DamagedError: It is no such file.
    """

    def __init__(self, path: str | Path, settings: dict[str, str]) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise StoreError(
                f"{self.path} is a folder: an index of documents, perhaps; expected a file of "
                "sketches, or no file yet"
            )
        try:
            self._file = sqlite3.connect(self.path, check_same_thread=False)
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {self.path}: {error}") from error
        try:
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = FULL")
            self._file.executescript(_SCHEMA)
            self._compare({"format": f"lookalike.datasketch {_VERSION}", **settings})
        except sqlite3.DatabaseError as error:
            self._file.close()
            raise DamagedError(
                f"{self.path} is no file of sketches, or is used by another process: {error}"
            ) from error
        except BaseException:
            self._file.close()
            raise

    def _compare(self, settings: dict[str, str]) -> None:
        known = dict(self._file.execute("SELECT name, value FROM settings"))
        for name, value in settings.items():
            if known.get(name, value) != value:
                raise MismatchError(
                    f"{self.path} was made with {name} {known[name]}, got {value}: open it with "
                    f"{name} {known[name]}, or use another file"
                )
        with self._file:
            self._file.executemany("INSERT OR IGNORE INTO settings VALUES (?, ?)", settings.items())

    def scheme(self) -> str | None:
        """The scheme of the sketches in it, if there are any."""
        row = self._file.execute("SELECT value FROM settings WHERE name = 'scheme'").fetchone()
        return None if row is None else str(row[0])

    def rows(self) -> Iterator[tuple[Any, list[bytes]]]:
        """Every insertion, in order: the key and its bands."""
        for key, lengths, bands in self._file.execute(
            "SELECT key, lengths, bands FROM keys ORDER BY number"
        ):
            pieces, start = [], 0
            for at in range(0, len(lengths), 4):
                length = int.from_bytes(lengths[at : at + 4], "little")
                pieces.append(bands[start : start + length])
                start += length
            if start != len(bands):
                raise DamagedError(f"{self.path}: a row is not as long as its bands")
            yield pickle.loads(key), pieces

    def add(self, key: Hashable, bands: list[bytes], scheme: str | None) -> None:
        """Writes an insertion, which :meth:`commit` makes last."""
        lengths = b"".join(len(band).to_bytes(4, "little") for band in bands)
        if scheme is not None:
            self._file.execute("INSERT OR IGNORE INTO settings VALUES ('scheme', ?)", (scheme,))
        self._file.execute(
            "INSERT INTO keys (key, lengths, bands) VALUES (?, ?, ?)",
            (pickle.dumps(key, protocol=4), lengths, b"".join(bands)),
        )

    def remove(self, key: Hashable) -> None:
        """Writes a removal, which :meth:`commit` makes last."""
        self._file.execute("DELETE FROM keys WHERE key = ?", (pickle.dumps(key, protocol=4),))

    def commit(self) -> None:
        """Makes what was written last."""
        self._file.commit()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
