"""The tables of an index whose keys and buckets are in containers of a storage such as Redis."""

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
    """Tables of an index in containers of a storage. The class has the methods of
    ``lookalike.datasketch._native.Kept``, which are the tables in a folder.

    Args:
        keys: A container from each key to the list of the bytes of its bands.
        hashtables: A container for each band, from the bytes of a band to a set of keys.
    """

    def __init__(self, keys: Any, hashtables: list[Any]) -> None:
        self.keys = keys
        self.hashtables = hashtables
        self.scheme: str | None = None
        # Keys whose insertion is pending, and buckets that pending removals may leave empty.
        self._waiting: set[Any] = set()
        self._touched: set[tuple[int, bytes]] = set()

    @classmethod
    def of_config(cls, config: dict[str, Any], bands: int) -> StoredTables:
        """Opens the tables of a ``storage_config``. Uses the same names as datasketch.

        Args:
            config: The configuration.
            bands: The number of bands.
        """
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
        """Adds a key with its bands.

        Args:
            key: The key.
            bands: The bytes of each band.
            scheme: The scheme of the sketch.
            is_new: Whether to add nothing if the key exists.
            most: The maximum number of collected changes in a session; 0 writes at once.

        Returns:
            False if ``is_new`` is true and the key exists, else true.
        """
        if is_new and (key in self._waiting or self.keys.has_key(key)):
            return False
        self.keys.insert(key, *bands, buffer=True)
        # If a key was inserted more than once, its list has the bands of all insertions.
        for at, band in enumerate(bands):
            self.hashtables[at % len(self.hashtables)].insert(band, key, buffer=True)
        self._waiting.add(key)
        self.scheme = scheme
        self._commit_if(most)
        return True

    def insert_all(self, rows: Iterable[tuple[Any, list[bytes]]], scheme: str | None) -> None:
        """Adds many keys, each with the bytes of its bands, and writes all of them."""
        for key, bands in rows:
            self.insert(key, bands, scheme, False, 1)
        self.commit()

    def remove(self, key: Any, most: int) -> bool:
        """Removes a key. Returns false if the key does not exist. ``most`` is as for ``insert``."""
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
        # In a session (`most` is above 0), the containers send commands when their buffer is full.
        if most == 0:
            self.commit()

    def commit(self) -> None:
        """Writes the collected changes, and removes buckets that became empty."""
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
        """Returns no problems, because these storages cannot be checked."""
        return []

    def repair(self) -> None:
        """Does nothing."""

    def compact(self) -> None:
        """Does nothing."""

    def _settled(self) -> None:
        """Writes the collected changes before a query, so that the query finds them."""
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
        keys, band_count = self._keys(), len(self.hashtables)
        return [
            (key, bands[start : start + band_count])
            for key, bands in zip(keys, self.keys.getmany(*keys))
            for start in range(0, len(bands), band_count)
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
        return [dict(table) for table in counts]
