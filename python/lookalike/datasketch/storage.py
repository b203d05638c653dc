"""What ``lsh.keys`` and ``lsh.hashtables`` give, of an index in memory or in a folder.

:class:`DictListStorage` and :class:`DictSetStorage` are what pickled indexes hold, the same as in
those of datasketch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from lookalike.datasketch.lsh import MinHashLSH

__all__ = ["BucketView", "DictListStorage", "DictSetStorage", "KeyView"]

_NOT_THERE = (
    "OrderedStorage",
    "Storage",
    "UnorderedStorage",
    "ordered_storage",
    "unordered_storage",
)


def __getattr__(name: str) -> NoReturn:
    if name in _NOT_THERE:
        raise AttributeError(
            f"lookalike.datasketch has no {name}: an index keeps its keys itself, in memory or "
            "with storage_config={'type': 'lookalike', 'path': FOLDER}"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _View:
    """What all views of an index have."""

    def __init__(self, lsh: MinHashLSH) -> None:
        self._lsh = lsh
        self._tables = lsh._tables()

    @property
    def buffer_size(self) -> int:
        """That of the index."""
        return self._lsh.buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._lsh.buffer_size = value

    def empty_buffer(self) -> None:
        """Writes what a session of an index in a folder has collected; in memory nothing waits."""
        self._lsh._commit()


class DictListStorage:
    """Lists by key, as pickled."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self._dict: defaultdict[Any, Any] = defaultdict(list)


class DictSetStorage:
    """Sets by key, as pickled."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self._dict: defaultdict[Any, Any] = defaultdict(set)


class KeyView(_View):
    """The keys of an index, each with the bytes of its bands. What is read is always current.

    >>> from lookalike.datasketch import MinHash, MinHashLSH
    >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
    >>> lsh.insert("a", MinHash(num_perm=16))
    >>> list(lsh.keys), len(lsh.keys["a"])
    (['a'], 4)
    """

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
        return {key: len(self.get(key)) for key in self}

    def status(self) -> dict[str, int]:
        """``{"keyspace_size": …}``."""
        return {"keyspace_size": self.size()}

    def __getitem__(self, key: Hashable) -> list[bytes]:
        return self.get(key)

    def __contains__(self, key: Hashable) -> bool:
        return self.has_key(key)

    def __iter__(self) -> Iterator[Any]:
        return self._lsh._each_key()

    def __len__(self) -> int:
        return self.size()


class BucketView(_View):
    """The buckets of one band: sets of keys by the bytes of the band.

    >>> from lookalike.datasketch import MinHash, MinHashLSH
    >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
    >>> lsh.insert("a", MinHash(num_perm=16))
    >>> lsh.hashtables[0].get(b"\\xff" * 16)
    {'a'}
    """

    def __init__(self, lsh: MinHashLSH, band: int) -> None:
        super().__init__(lsh)
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
        return self._tables._counts_in(self._band)

    def status(self) -> dict[str, int]:
        """``{"keyspace_size": …}``."""
        return {"keyspace_size": self.size()}

    def __getitem__(self, key: bytes) -> set[Any]:
        return self.get(key)

    def __contains__(self, key: bytes) -> bool:
        return self.has_key(key)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.keys())

    def __len__(self) -> int:
        return self.size()
