"""An index that finds the sketches whose similarity to a query is probably above a threshold."""

from __future__ import annotations

import atexit
import pickle
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import ExitStack
from operator import index
from os import PathLike
from types import TracebackType
from typing import Any, TypeAlias

from lookalike.datasketch import _native
from lookalike.datasketch.keys import pickled
from lookalike.datasketch.lsh_parameters import (
    _false_negative_probability as _false_negative_probability,
)
from lookalike.datasketch.lsh_parameters import (
    _false_positive_probability as _false_positive_probability,
)
from lookalike.datasketch.lsh_parameters import _optimal_param as _optimal_param
from lookalike.datasketch.lsh_parameters import checked_bands, checked_storage
from lookalike.datasketch.minhash import MinHash, _check_scheme_consistency
from lookalike.datasketch.pickles import reduced
from lookalike.datasketch.storage import BucketView, DictListStorage, DictSetStorage, KeyView
from lookalike.datasketch.storage import _random_name as _random_name
from lookalike.datasketch.storage import ordered_storage as ordered_storage
from lookalike.datasketch.storage import unordered_storage as unordered_storage
from lookalike.datasketch.stored_tables import StoredTables
from lookalike.datasketch.weighted_minhash import WeightedMinHash
from lookalike.errors import StoreError

Sketch: TypeAlias = MinHash | WeightedMinHash
"""A sketch that an index takes."""

__all__ = ["MinHashLSH", "MinHashLSHDeletionSession", "MinHashLSHInsertionSession"]

_BUFFER_SIZE = 50000
# Entries of a pickled state that are not copied to attributes: `__setstate__` computes them again,
# or this class does not have them.
_NOT_ATTRIBUTES = frozenset(
    {"_H", "_minhash_scheme", "_require_bytes_keys", "hashtables", "keys", "prepickle", "hashfunc"}
)


# All open indexes in folders. They are closed when the interpreter exits.
_open: weakref.WeakSet[_native.Kept] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Closes all open indexes in folders, which writes the changes that sessions have collected."""
    with ExitStack() as all_of_them:
        for kept in list(_open):
            all_of_them.callback(kept.close)


class MinHashLSH(_native.Tables):
    """An index that finds sketches whose Jaccard similarity to a query is probably above a
    threshold.

    Args:
        threshold: The threshold, 0.0 to 1.0, for which the index chooses bands and rows.
        num_perm: The number of hash values of each sketch, at least 2.
        weights: The weights of false positives and of false negatives in the choice of bands and
            rows. Each is from 0.0 to 1.0, and their sum is 1.0.
        params: The numbers of bands and rows, if the index should not choose them. At least 2
            bands; the product is at most ``num_perm``.
        storage_config: The storage of the index:

            - ``{"type": "dict"}`` (default): in memory.
            - ``{"type": "lookalike", "path": FOLDER}``: in a folder, which needs little memory.
              With ``"readonly": True``, the index is opened for reading only, and another process
              may write meanwhile. ``"allow_pickle": True`` allows the index to load keys that
              another process pickled, which can run any code.
            - ``{"type": "redis", "redis": {…}}``: in Redis, with the arguments of
              ``redis.Redis``. Indexes with the same ``"basename"`` (bytes) share their content.
            - ``{"type": "cassandra", …}``: in Cassandra; needs an installed datasketch.
        prepickle: Whether the index stores pickled keys. By default, only an index in Redis does.
        hashfunc: A function from the bytes of a band to the bytes that are compared instead of
            them. By default, the bytes of the band are compared.

    Raises:
        ValueError: An argument is out of its range.
        StoreError: The folder cannot be opened, does not contain such an index, or is open for
            writing elsewhere. If the index is in a folder, every method raises this error when the
            folder cannot be read or written.
        MismatchError: The index in the folder was created with other settings.
        DamagedError: The content of the folder is damaged.

    Examples:
        >>> from lookalike.datasketch import MinHash
        >>> one, two = MinHash.bulk([[b"a", b"b", b"c"], [b"a", b"b", b"c", b"d"]])
        >>> lsh = MinHashLSH(threshold=0.5)
        >>> lsh.b, lsh.r
        (25, 5)
        >>> lsh.insert("one", one)
        >>> lsh.query(two)
        ['one']
    """

    _kept: _native.Kept | StoredTables | None = None

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        # Set the attribute on the instance too, because Python finds it there faster than on the
        # class.
        self._kept = None
        b, r = checked_bands(threshold, num_perm, weights, params)
        config: dict[str, Any] = storage_config or {"type": "dict"}
        kind = checked_storage(config)
        self._begin(num_perm, b, r, kind == "redis" if prepickle is None else prepickle, hashfunc)
        if kind == "lookalike":
            self._open(
                config["path"], bool(config.get("readonly")), config.get("allow_pickle", False)
            )
        elif kind != "dict":
            self._kept = StoredTables.of_config(config, b)

    def _begin(
        self,
        num_perm: int,
        b: int,
        r: int,
        prepickle: bool | None,
        hashfunc: Callable[[bytes], bytes] | None,
    ) -> None:
        self._set_up(num_perm, b, r, hashfunc)
        self.h, self.b, self.r = num_perm, b, r
        self.prepickle = bool(prepickle)
        self.hashfunc = hashfunc
        self.hashranges = [(i * r, (i + 1) * r) for i in range(b)]
        self._buffer_size = _BUFFER_SIZE
        # The bands of the sketches in the query buffer.
        self._buffered: list[list[bytes]] = []

    def _clear(self) -> None:
        """Removes all keys."""
        if isinstance(self._kept, StoredTables):
            self._kept.clear()
        else:
            self._begin(self.h, self.b, self.r, self.prepickle, self.hashfunc)

    def _open(self, path: str | PathLike[str], read_only: bool, allow_pickle: bool) -> None:
        name, function = None, self.hashfunc
        if function is not None:
            name = getattr(function, "__qualname__", type(function).__qualname__)
        kept = _native.Kept(
            path, self.h, self.b, self.r, self.prepickle, name, read_only, allow_pickle
        )
        _open.add(kept)
        self._kept = kept
        self._known_scheme()

    def _known_scheme(self) -> str | None:
        """Returns the scheme of the sketches so far. Reads it from the storage, because a failed
        write can undo the changes of a session.
        """
        if self._kept is not None:
            self._minhash_scheme = self._kept.scheme
        return self._minhash_scheme

    def _bands_asked(self, minhash: Sketch) -> list[bytes]:
        """Returns the bands of a query's sketch, and checks that the sketch fits the index."""
        self._known_scheme()
        return self._bands_for(minhash)

    def _tables(self) -> _native.Tables | _native.Kept | StoredTables:
        """Returns the object that stores the keys and their bands."""
        return self if self._kept is None else self._kept

    def _as_kept(self, key: Hashable) -> Any:
        """Returns the form of a key in the tables: with ``prepickle``, its pickle."""
        kept = self._kept
        if self.prepickle:
            return pickled(key) if isinstance(kept, _native.Kept) else pickle.dumps(key)
        if isinstance(kept, StoredTables) and not isinstance(key, bytes):
            raise TypeError(
                f"cannot use a key of type {type(key).__name__}: {kept.path} keeps bytes only; "
                "pass bytes, or prepickle=True"
            )
        return key

    def _each_key(self) -> Iterator[Any]:
        """Yields the keys in their form in the tables. Reads the keys of a folder in pages."""
        kept = self._kept
        return _pages(kept) if isinstance(kept, _native.Kept) else iter(self._tables()._keys())

    @property
    def keys(self) -> Any:
        """The keys, each with the bytes of its bands: a ``KeyView``, or the container of a storage
        such as Redis. With ``prepickle``, the keys are pickles.
        """
        return self._kept.keys if isinstance(self._kept, StoredTables) else KeyView(self)

    @property
    def hashtables(self) -> list[Any]:
        """The buckets of each band: a list of ``BucketView``, or of the containers of a storage
        such as Redis.
        """
        if isinstance(self._kept, StoredTables):
            return self._kept.hashtables
        return [BucketView(self, band) for band in range(self.b)]

    @property
    def buffer_size(self) -> int:
        """The maximum number of changes that a session collects for an index in a folder, or of
        commands for an index in Redis. An index in memory collects no changes.
        """
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value
        if isinstance(self._kept, StoredTables):
            for storage in (self._kept.keys, *self._kept.hashtables):
                storage.buffer_size = value

    def insert(self, key: Hashable, minhash: Sketch, check_duplication: bool = True) -> None:
        """Adds a key with the sketch of its set.

        Args:
            key: The key, which queries return.
            minhash: The sketch.
            check_duplication: Whether a key that the index contains is an error. Otherwise, the
                sketch is added to the existing sketches of the key.

        Raises:
            ValueError: The index contains the key, and ``check_duplication`` is true. Or the
                sketch has another number of values or another scheme than the earlier sketches.
            TypeError: The key is not hashable, or ``minhash`` is not a sketch.
            DocumentError: The key is too long for the folder.
            DocumentTypeError: The key cannot be pickled for the folder.
            StoreError: The folder cannot be written. The key is not inserted.
        """
        if self._kept is None and not self.prepickle:
            self._add(key, minhash, check_duplication)
        else:
            self._insert(key, minhash, check_duplication=check_duplication)

    def _insert(
        self, key: Hashable, minhash: Sketch, check_duplication: bool = True, buffer: bool = False
    ) -> None:
        if self._kept is not None:
            self._insert_kept(self._kept, key, minhash, check_duplication, buffer)
            return
        if self.prepickle:
            kept = pickle.dumps(key)
            if check_duplication and self._has(kept):
                raise ValueError(f"The given key already exists: {key!r}")
            key = kept
        self._add(key, minhash, check_duplication)

    def _insert_bands(self, key: Any, bands: list[bytes], buffer: bool) -> None:
        """Adds a key, in its form in the tables, with the bytes of its bands."""
        if self._kept is None:
            self._add_bands(key, bands)
        else:
            most = max(index(self._buffer_size), 0) if buffer else 0
            self._kept.insert(key, bands, self._known_scheme(), False, most)

    def _insert_kept(
        self,
        kept: _native.Kept | StoredTables,
        key: Hashable,
        minhash: Sketch,
        check_duplication: bool,
        buffer: bool,
    ) -> None:
        known_scheme, bands = self._known_scheme(), self._bands_for(minhash)
        scheme = _check_scheme_consistency(known_scheme, minhash)
        most = index(self._buffer_size) if buffer else 0
        is_new = kept.insert(
            self._as_kept(key), bands, scheme, bool(check_duplication), max(most, 0)
        )
        if not is_new:
            raise ValueError(f"The given key already exists: {key!r}")
        self._minhash_scheme = scheme

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Adds all keys of another index with the same numbers of values, bands and rows.

        Args:
            other: The other index, which does not change.
            check_overlap: Whether a key that both indexes contain is an error.

        Raises:
            ValueError: The numbers of values, bands or rows differ, or the schemes differ. Or both
                indexes contain the same key, and ``check_overlap`` is true.
            DocumentError: A key is too long for the folder, or cannot be pickled. No key is added.
            StoreError: The folder cannot be written. No key is added.
        """
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError(
                "Cannot merge MinHashLSH with different initialization parameters: "
                f"num_perm, b, r are {(self.h, self.b, self.r)} and {(other.h, other.b, other.r)}"
            )
        own_scheme, other_scheme = self._known_scheme(), other._known_scheme()
        if own_scheme is not None and other_scheme is not None and own_scheme != other_scheme:
            raise ValueError(
                f"Cannot merge MinHashLSH indexed with MinHash scheme {other_scheme!r} into one "
                f"indexed with scheme {own_scheme!r}"
            )
        other_keys: Iterable[Any] = other.keys
        if self.prepickle and not other.prepickle:
            other_keys = (self._merged(key, other) for key in other.keys)
        if check_overlap and any(map(self._tables()._has, other_keys)):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        if self._kept is not None:
            self._merge_kept(self._kept, other, own_scheme or other_scheme)
            return
        if other._kept is not None:
            for key, bands in other._kept._rows():
                self._add_bands(self._merged(key, other), bands)
        elif self.prepickle and not other.prepickle:
            for key in other._keys():
                bands = other._bands_of(key)
                for start in range(0, len(bands), self.b):
                    self._add_bands(self._merged(key, other), bands[start : start + self.b])
        else:
            self._add_all(other)
        if own_scheme is None:
            self._minhash_scheme = other_scheme

    def _merged(self, key: Any, other: MinHashLSH) -> Any:
        """Converts a key from its form in the tables of ``other`` to its form in the tables of
        this index.
        """
        if not self.prepickle:
            return key
        # Unpickle keys only if `other` pickles its keys: other keys may be bytes that look like a
        # pickle. Pickle them again, because folders use a fixed protocol.
        return self._as_kept(pickle.loads(key) if other.prepickle else key)

    def _merge_kept(
        self, kept: _native.Kept | StoredTables, other: MinHashLSH, scheme: str | None
    ) -> None:
        """Merges another index into the storage of this index. A folder receives all keys or no
        key.
        """
        if other._kept is not None:
            rows = other._kept._rows()
            if self.prepickle and not other.prepickle:
                rows = [(self._merged(key, other), bands) for key, bands in rows]
        else:
            rows = [
                (self._merged(key, other), bands[start : start + self.b])
                for key in other._keys()
                for bands in [other._bands_of(key)]
                for start in range(0, len(bands), self.b)
            ]
        kept.insert_all(rows, scheme)
        self._minhash_scheme = scheme

    def insertion_session(self, buffer_size: int = _BUFFER_SIZE) -> MinHashLSHInsertionSession:
        """Returns a context manager for many insertions, which collects changes and writes them
        together. It writes them after ``buffer_size`` changes, before each query, and at its end.

        Args:
            buffer_size: The maximum number of collected changes; for an index in Redis, of
                commands.
        """
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = _BUFFER_SIZE) -> MinHashLSHDeletionSession:
        """Like ``insertion_session``, for many removals."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def query(self, minhash: Sketch) -> list[Any]:
        """Returns the keys whose sketches share a band with ``minhash``, each key once. The keys
        are in the order of insertion, except for an index in Redis or Cassandra.

        Raises:
            ValueError: The sketch has another number of values or another scheme.
        """
        kept = self._kept
        if kept is None:
            found = self._find(minhash)
        else:
            found = kept._find_bands(self._bands_asked(minhash))
        return [pickle.loads(key) for key in found] if self.prepickle else found

    def add_to_query_buffer(self, minhash: Sketch) -> None:
        """Adds a query to the buffer. ``collect_query_buffer`` runs all queries of the buffer.

        Raises:
            ValueError: The sketch has another number of values or another scheme.
        """
        self._buffered.append(self._bands_asked(minhash))

    def collect_query_buffer(self) -> list[Any]:
        """Runs the queries that were added to the buffer since the last call. Returns the keys
        that every one of them finds, in the order of ``query``.
        """
        buffered, self._buffered = self._buffered, []
        if not buffered:
            return []
        find = self._tables()._find_bands
        first, *others = (find(bands) for bands in buffered)
        common = set(first).intersection(*others)
        found = [key for key in first if key in common]
        return [pickle.loads(key) for key in found] if self.prepickle else found

    def __contains__(self, key: Hashable) -> bool:
        """Tells whether the index contains a key."""
        return self._tables()._has(self._as_kept(key))

    def remove(self, key: Hashable) -> None:
        """Removes a key.

        Raises:
            ValueError: The index does not contain the key.
            StoreError: The folder cannot be written. The key is not removed.
        """
        self._remove(key)

    def _remove(self, key: Hashable, buffer: bool = False) -> None:
        if not self._remove_kept(self._as_kept(key), buffer):
            raise ValueError(f"The given key does not exist: {key!r}")

    def _remove_kept(self, key: Any, buffer: bool) -> bool:
        """Removes a key, in its form in the tables. Returns false if the key does not exist."""
        if self._kept is not None:
            return self._kept.remove(key, max(index(self._buffer_size), 0) if buffer else 0)
        is_present = self._has(key)
        if is_present:
            self._discard(key)
        return is_present

    def is_empty(self) -> bool:
        """Tells whether the index contains no keys."""
        return self._tables()._size() == 0

    def _query_b(self, minhash: Sketch, b: int) -> set[Any]:
        """Returns the keys that share one of the first ``b`` bands with the sketch. With a
        negative ``b``, the last ``-b`` bands are left out.
        """
        return set(self._list_b(minhash, b))

    def _list_b(self, minhash: Sketch, b: int) -> list[Any]:
        """Like ``_query_b``, but returns a list in the order of insertion."""
        count = index(b) if b >= 0 else len(self.hashranges[:b])
        kept = self._kept
        if kept is None:
            found = self._find_in(minhash, count)
        else:
            found = kept._find_in(self._bands_asked(minhash), count)
        return [pickle.loads(key) for key in found] if self.prepickle else found

    def get_counts(self) -> list[dict[bytes, int]]:
        """Returns a dict for each band: the number of keys in each bucket, by the bytes of the
        bucket.
        """
        return self._tables()._counts()

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """Like ``get_counts``, but counts only the given keys."""
        return self._tables()._counts_of([self._as_kept(key) for key in set(keys)])

    def close(self) -> None:
        """Writes the changes that sessions have collected, also to Redis. Closes the folder of the
        index, if it has a folder. Later calls that need the folder raise StoreError.
        """
        if self._kept is not None:
            self._kept.close()

    def check(self) -> list[tuple[str, str, bool]]:
        """Checks the folder of the index, and returns its problems. Returns no problems for an
        index without a folder.

        Returns:
            For each problem, its place, its description, and whether ``repair`` fixes it.
        """
        return [] if self._kept is None else self._kept.check()

    def repair(self) -> None:
        """Rebuilds the parts of the folder that can be computed from other parts. Does nothing for
        an index without a folder.
        """
        if self._kept is not None:
            self._kept.repair()

    def compact(self) -> None:
        """Frees the disk space of removed keys in the folder. Does nothing for an index without a
        folder.
        """
        if self._kept is not None:
            self._kept.compact()

    def backup(self, path: str | PathLike[str]) -> None:
        """Copies the folder of the index. The index may be in use meanwhile.

        Args:
            path: The new folder, which must not exist.

        Raises:
            ValueError: The index has no folder: it is in memory, in Redis or in Cassandra.
            StoreError: The folder cannot be copied, or no sketch was inserted yet.
        """
        if not isinstance(self._kept, _native.Kept):
            raise ValueError(
                "cannot copy an index in memory or in Redis, which has no folder: pickle it"
            )
        if not self._kept.backup(path):
            raise StoreError(
                f"cannot copy {self._kept.path}, which has no sketch so far: insert one first"
            )

    def _commit(self) -> None:
        """Writes the changes that a session has collected, if there are any."""
        if self._kept is not None:
            self._kept.commit()

    @property
    def _H(self) -> Callable[[Any], bytes]:
        """The function from the hash values of a band to the bytes that are compared."""
        return self._hashed_byteswap if self.hashfunc else self._byteswap

    def _byteswap(self, hs: Any) -> bytes:
        return bytes(hs.byteswap().data)

    def _hashed_byteswap(self, hs: Any) -> bytes:
        if self.hashfunc is None:
            raise RuntimeError("Hash function not configured.")
        return self.hashfunc(bytes(hs.byteswap().data))

    def __getstate__(self) -> Any:
        if isinstance(self._kept, _native.Kept):
            raise TypeError(
                f"cannot pickle the index in the folder {self._kept.path}: open the folder where "
                "you need the index, or merge() it into an index in memory"
            )
        if self._kept is not None:
            self._kept.commit()
        keys, hashtables = self._containers()
        state = dict(self.__dict__)
        state.pop("_kept", None)
        if not self._buffered:
            del state["_buffered"]
        state.update(
            _require_bytes_keys=self._kept is not None and not self.prepickle,
            _H=self._H,
            hashtables=hashtables,
            keys=keys,
            _minhash_scheme=self._minhash_scheme,
        )
        return state

    def _containers(self) -> tuple[Any, list[Any]]:
        """Returns the keys and the hash tables in the containers that datasketch pickles."""
        if self._kept is not None:
            return self.keys, self.hashtables
        keys, hashtables = DictListStorage(), [DictSetStorage() for _ in range(self.b)]
        for key in self._keys():
            bands = self._bands_of(key)
            keys._dict[key] = bands
            for at, band in enumerate(bands):
                hashtables[at % self.b]._dict[band].add(key)
        return keys, hashtables

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._kept = None
        b, r = state["b"], state["r"]
        self._begin(state["h"], b, r, state.get("prepickle"), state.get("hashfunc"))
        self.__dict__.update({k: v for k, v in state.items() if k not in _NOT_ATTRIBUTES})
        keys = state["keys"]
        if isinstance(keys, DictListStorage):
            for key, bands in keys._dict.items():
                for start in range(0, len(bands), b):
                    self._add_bands(key, bands[start : start + b])
        else:
            self._kept = StoredTables(keys, state["hashtables"])
            self._kept.scheme = state.get("_minhash_scheme")
        self._minhash_scheme = state.get("_minhash_scheme")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, protocol) or super().__reduce_ex__(protocol)


def _pages(kept: _native.Kept) -> Iterator[Any]:
    # Stop at the current number of keys. Keys that are inserted meanwhile have later rows.
    remaining, page = kept._size(), kept._page(0)
    while page is not None and remaining > 0:
        keys, start = page
        yield from keys[:remaining]
        remaining -= len(keys)
        page = kept._page(start)


class _Session:
    """A context manager that collects changes of an index and writes them together."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Writes the collected changes. The index remains open."""
        self.lsh._commit()


class MinHashLSHInsertionSession(_Session):
    """A context manager for many insertions; see ``MinHashLSH.insertion_session``.

    Examples:
        >>> from lookalike.datasketch import MinHash
        >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
        >>> with lsh.insertion_session() as session:
        ...     session.insert("a", MinHash(num_perm=16))
        >>> "a" in lsh
        True
    """

    def __enter__(self) -> MinHashLSHInsertionSession:
        return self

    def insert(self, key: Hashable, minhash: Sketch, check_duplication: bool = True) -> None:
        """Adds a key, like ``MinHashLSH.insert``."""
        self.lsh._insert(key, minhash, check_duplication=check_duplication, buffer=True)


class MinHashLSHDeletionSession(_Session):
    """A context manager for many removals; see ``MinHashLSH.deletion_session``."""

    def __enter__(self) -> MinHashLSHDeletionSession:
        return self

    def remove(self, key: Hashable) -> None:
        """Removes a key, like ``MinHashLSH.remove``."""
        self.lsh._remove(key, buffer=True)
