"""The tables of an index whose keys and buckets are in separate storages, such as in Redis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lookalike.datasketch.storage import (
    RedisListStorage,
    RedisSetStorage,
    _random_name,
    get_each,
    ordered_storage,
    unordered_storage,
)

__all__ = ["StoredTables"]


class StoredTables:
    """Implements the methods of ``lookalike.datasketch._native.Kept`` with storages.

    Args:
        keys: A storage from keys to the bytes of their bands.
        hashtables: A storage for each band, from its bytes to keys.
    """

    def __init__(self, keys: Any, hashtables: list[Any]) -> None:
        self.keys = keys
        self.hashtables = hashtables
        self.scheme: str | None = None
        # Keys that wait to be inserted, and buckets that may become empty by pending removals.
        self._waiting: set[Any] = set()
        self._touched: set[tuple[int, bytes]] = set()

    @classmethod
    def of_config(cls, config: dict[str, Any], bands: int) -> StoredTables:
        """Opens the tables of a ``storage_config``, under the names that datasketch uses."""
        base = config.get("basename") or _random_name(11)
        names = [base + b"_bucket_" + band.to_bytes(2, "big") for band in range(bands)]
        if config["type"] != "redis":
            tables = [unordered_storage(config, name=name) for name in names]
            return cls(ordered_storage(config, name=base + b"_keys"), tables)
        keys = RedisListStorage(config, name=base + b"_keys")
        return cls(keys, [RedisSetStorage(config, name=name, like=keys) for name in names])

    @property
    def path(self) -> str:
        """The name of the storage in messages."""
        return f"storage of type {self.keys.config['type']!r}"

    def insert(
        self, key: Any, bands: list[bytes], scheme: str | None, is_new: bool, most: int
    ) -> bool:
        """Adds a key. Returns False if ``is_new`` is set and the key exists."""
        if is_new and (key in self._waiting or self.keys.has_key(key)):
            return False
        self.keys.insert(key, *bands, buffer=True)
        # The bands of a key that was inserted more than once follow each other.
        for at, band in enumerate(bands):
            self.hashtables[at % len(self.hashtables)].insert(band, key, buffer=True)
        self._waiting.add(key)
        self.scheme = scheme
        self._commit_if(most)
        return True

    def insert_all(self, rows: Iterable[tuple[Any, list[bytes]]], scheme: str | None) -> None:
        """Adds many keys."""
        for key, bands in rows:
            self.insert(key, bands, scheme, False, 1)
        self.commit()

    def remove(self, key: Any, most: int) -> bool:
        """Removes a key. Returns False if it does not exist."""
        if key in self._waiting:
            self.commit()
        if not self.keys.has_key(key):
            return False
        for at, band in enumerate(self.keys.get(key)):
            at %= len(self.hashtables)
            self.hashtables[at].remove_val(band, key, buffer=True)
            self._touched.add((at, band))
        self.keys.remove(key, buffer=True)
        self._commit_if(most)
        return True

    def clear(self) -> None:
        """Removes all keys."""
        for key in self._keys():
            self.remove(key, 1)
        self.commit()

    def _commit_if(self, most: int) -> None:
        # In a session, the storages themselves write when their buffers are full.
        if most == 0:
            self.commit()

    def commit(self) -> None:
        """Writes the collected changes."""
        touched, self._touched = sorted(self._touched), set()
        self._waiting.clear()
        self._empty_buffers()
        found = get_each((self.hashtables[at], band) for at, band in touched)
        empty = [place for place, keys in zip(touched, found) if not keys]
        for at, band in empty:
            self.hashtables[at].remove(band, buffer=True)
        if empty:
            self._empty_buffers()

    def _empty_buffers(self) -> None:
        for storage in (self.keys, *self.hashtables):
            storage.empty_buffer()

    def close(self) -> None:
        """Writes the collected changes."""
        self.commit()

    def check(self) -> list[tuple[str, str, bool]]:
        """Returns no problems, since nothing is checked."""
        return []

    def repair(self) -> None:
        """Does nothing."""

    def compact(self) -> None:
        """Does nothing."""

    def _settled(self) -> None:
        """Writes the collected changes before a query, so that it sees them."""
        if self._waiting or self._touched:
            self.commit()

    def _find_in(self, bands: list[bytes], count: int) -> list[Any]:
        self._settled()
        return list(set().union(*get_each(zip(self.hashtables[:count], bands))))

    def _find_bands(self, bands: list[bytes]) -> list[Any]:
        return self._find_in(bands, len(bands))

    def _has(self, key: Any) -> bool:
        self._settled()
        return bool(self.keys.has_key(key))

    def _keys(self) -> list[Any]:
        self._settled()
        return list(self.keys.keys())

    def _size(self) -> int:
        self._settled()
        return int(self.keys.size())

    def _bands_of(self, key: Any) -> list[bytes]:
        self._settled()
        return list(self.keys.get(key))

    def _rows(self) -> list[tuple[Any, list[bytes]]]:
        keys, each = self._keys(), len(self.hashtables)
        return [
            (key, bands[start : start + each])
            for key, bands in zip(keys, self.keys.getmany(*keys))
            for start in range(0, len(bands), each)
        ]

    def _counts(self) -> list[dict[bytes, int]]:
        self._settled()
        return [table.itemcounts() for table in self.hashtables]

    def _counts_of(self, keys: list[Any]) -> list[dict[bytes, int]]:
        self._settled()
        counts: list[Counter[bytes]] = [Counter() for _ in self.hashtables]
        for bands in self.keys.getmany(*keys):
            # A bucket contains a key once, however often the key was inserted.
            for at, band in {(at % len(counts), band) for at, band in enumerate(bands)}:
                counts[at][band] += 1
        return [dict(of) for of in counts]
