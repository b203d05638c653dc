"""An index of sketches that finds those above a threshold of similarity."""

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

__all__ = ["MinHashLSH", "MinHashLSHDeletionSession", "MinHashLSHInsertionSession"]

_BUFFER_SIZE = 50000
# What a pickle has that is made again, or that is nothing here.
_NOT_ATTRIBUTES = frozenset(
    {"_H", "_minhash_scheme", "_require_bytes_keys", "hashtables", "keys", "prepickle", "hashfunc"}
)


# Indexes in folders, for the end of the interpreter.
_open: weakref.WeakSet[_native.Kept] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """What sessions of indexes that nobody closed have collected is written."""
    with ExitStack() as all_of_them:
        for kept in list(_open):
            all_of_them.callback(kept.close)


class MinHashLSH(_native.Tables):
    """Finds sketches whose Jaccard similarity to another is probably above a threshold.

    Args:
        threshold: 0.0 to 1.0. Bands and rows are chosen for it.
        num_perm: Hash values of each sketch, at least 2.
        weights: How much false positives and false negatives count in that choice; they add up
            to 1.0.
        params: Bands and rows, if they are not to be chosen.
        storage_config: ``{"type": "dict"}`` (default) is in memory;
            ``{"type": "lookalike", "path": FOLDER}`` is in a folder, and hardly any of it in
            memory. With ``"readonly": True`` another may write meanwhile. With ``"allow_pickle":
            True`` keys that another process pickled are loaded, which can run any code.
            ``{"type": "redis", "redis": {…}}`` is in Redis, with the arguments of
            ``redis.Redis``; indexes with one ``"basename"`` are one index. ``{"type":
            "cassandra", …}`` needs an installed datasketch.
        prepickle: Whether keys are kept pickled; if None, in Redis only.
        hashfunc: From the bytes of a band to the bytes that are compared.

    Raises:
        ValueError: An argument is out of its range.
        StoreError: The folder cannot be opened, is none of these, or another index has it (of
            which ``MismatchError``: it was made with other settings, ``DamagedError``: what is in
            it is not what was written). So do all methods, when it cannot be read or written.

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
        # An attribute of its own is found faster than that of the class.
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
        # The bands of the sketches that are asked for together.
        self._buffered: list[list[bytes]] = []

    def _clear(self) -> None:
        """Is as empty as it was made."""
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
        """The scheme of the sketches so far. Only the folder knows what of a session is undone."""
        if self._kept is not None:
            self._minhash_scheme = self._kept.scheme
        return self._minhash_scheme

    def _bands_asked(self, minhash: Sketch) -> list[bytes]:
        """The bands of a sketch that is asked for."""
        self._known_scheme()
        return self._bands_for(minhash)

    def _tables(self) -> _native.Tables | _native.Kept | StoredTables:
        """What keeps keys and bands."""
        return self if self._kept is None else self._kept

    def _as_kept(self, key: Hashable) -> Any:
        """A key as tables have it."""
        kept = self._kept
        if self.prepickle:
            return pickled(key) if isinstance(kept, _native.Kept) else pickle.dumps(key)
        if isinstance(kept, StoredTables) and not isinstance(key, bytes):
            raise TypeError(
                f"a {kept.path} keeps keys that are bytes, got {type(key).__name__}: pass bytes, "
                "or prepickle=True"
            )
        return key

    def _each_key(self) -> Iterator[Any]:
        """The keys one by one; of a folder not all at a time."""
        kept = self._kept
        return _pages(kept) if isinstance(kept, _native.Kept) else iter(self._tables()._keys())

    @property
    def keys(self) -> Any:
        """The keys, as they are kept: pickled if ``prepickle`` says so. A ``KeyView``, or
        the container of the storage.
        """
        return self._kept.keys if isinstance(self._kept, StoredTables) else KeyView(self)

    @property
    def hashtables(self) -> list[Any]:
        """The buckets of each band: ``BucketView``, or the containers of the storage."""
        if isinstance(self._kept, StoredTables):
            return self._kept.hashtables
        return [BucketView(self, band) for band in range(self.b)]

    @property
    def buffer_size(self) -> int:
        """How many changes a session of an index in a folder collects, how many commands one in
        Redis; others collect none.
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

        Raises:
            ValueError: The key is there already (if ``check_duplication``), or the sketch has
                another number of values or another scheme than those before.
            TypeError: The key is not hashable, or it is no sketch.
            DocumentError: There is a folder, and the key is too long for it (of which
                ``DocumentTypeError``: it cannot be pickled).
            StoreError: The folder cannot be written; the key is not there.
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
        """Adds a key as it is kept, with the bytes of its bands."""
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
        known, bands = self._known_scheme(), self._bands_for(minhash)
        scheme = _check_scheme_consistency(known, minhash)
        most = index(self._buffer_size) if buffer else 0
        is_new = kept.insert(
            self._as_kept(key), bands, scheme, bool(check_duplication), max(most, 0)
        )
        if not is_new:
            raise ValueError(f"The given key already exists: {key!r}")
        self._minhash_scheme = scheme

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Adds all keys of an index with the same numbers of values, bands and rows.

        Raises:
            ValueError: These numbers or the schemes differ, or keys are in both and
                ``check_overlap`` is true.
            DocumentError: There is a folder, and a key is too long for it, or cannot be pickled.
                No key is added.
            StoreError: The folder cannot be written. No key is added.
        """
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError(
                "Cannot merge MinHashLSH with different initialization parameters: "
                f"num_perm, b, r are {(self.h, self.b, self.r)} and {(other.h, other.b, other.r)}"
            )
        known, theirs = self._known_scheme(), other._known_scheme()
        if known is not None and theirs is not None and known != theirs:
            raise ValueError(
                f"Cannot merge MinHashLSH indexed with MinHash scheme {theirs!r} into one indexed "
                f"with scheme {known!r}"
            )
        theirs_here: Iterable[Any] = other.keys
        if self.prepickle and not other.prepickle:
            theirs_here = (self._merged(key, other) for key in other.keys)
        if check_overlap and any(map(self._tables()._has, theirs_here)):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        if self._kept is not None:
            self._merge_kept(self._kept, other, known or theirs)
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
        if known is None:
            self._minhash_scheme = theirs

    def _merged(self, key: Any, other: MinHashLSH) -> Any:
        """A key of another index as tables of this one have it."""
        if not self.prepickle:
            return key
        # A key that the other index has as it is may be anything, also bytes from elsewhere that
        # look like a pickle. The usual protocol is not that of folders in every version of Python.
        return self._as_kept(pickle.loads(key) if other.prepickle else key)

    def _merge_kept(
        self, kept: _native.Kept | StoredTables, other: MinHashLSH, scheme: str | None
    ) -> None:
        """Merges into the storage: into a folder all keys or none."""
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
        """A context in which many keys are inserted; a folder is written to when ``buffer_size``
        changes were made, when it is left, and before it is asked.
        """
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = _BUFFER_SIZE) -> MinHashLSHDeletionSession:
        """The same for many removals."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def query(self, minhash: Sketch) -> list[Any]:
        """The keys whose sketches share a band with ``minhash``, each once, in the order of
        insertion. Redis and Cassandra keep no order.

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
        """Queries later: ``collect_query_buffer`` gives the keys that all queries find."""
        self._buffered.append(self._bands_asked(minhash))

    def collect_query_buffer(self) -> list[Any]:
        """The keys that every query since the last call finds now, in the order of ``query``."""
        buffered, self._buffered = self._buffered, []
        if not buffered:
            return []
        find = self._tables()._find_bands
        first, *others = (find(bands) for bands in buffered)
        in_all = set(first).intersection(*others)
        found = [key for key in first if key in in_all]
        return [pickle.loads(key) for key in found] if self.prepickle else found

    def __contains__(self, key: Hashable) -> bool:
        return self._tables()._has(self._as_kept(key))

    def remove(self, key: Hashable) -> None:
        """Takes a key out.

        Raises:
            ValueError: It is not there.
            StoreError: The folder cannot be written; the key is still there.
        """
        self._remove(key)

    def _remove(self, key: Hashable, buffer: bool = False) -> None:
        if not self._remove_kept(self._as_kept(key), buffer):
            raise ValueError(f"The given key does not exist: {key!r}")

    def _remove_kept(self, key: Any, buffer: bool) -> bool:
        """Takes a key out that is as it is kept; false if it is not there."""
        if self._kept is not None:
            return self._kept.remove(key, max(index(self._buffer_size), 0) if buffer else 0)
        is_there = self._has(key)
        if is_there:
            self._discard(key)
        return is_there

    def is_empty(self) -> bool:
        """Whether there is no key."""
        return self._tables()._size() == 0

    def _query_b(self, minhash: Sketch, b: int) -> set[Any]:
        """The keys that share one of the first ``b`` bands; without the last ``-b`` if negative."""
        return set(self._list_b(minhash, b))

    def _list_b(self, minhash: Sketch, b: int) -> list[Any]:
        """``_query_b`` in the order of insertion."""
        count = index(b) if b >= 0 else len(self.hashranges[:b])
        kept = self._kept
        if kept is None:
            found = self._find_in(minhash, count)
        else:
            found = kept._find_in(self._bands_asked(minhash), count)
        return [pickle.loads(key) for key in found] if self.prepickle else found

    def get_counts(self) -> list[dict[bytes, int]]:
        """For each band, how many keys each of its buckets has."""
        return self._tables()._counts()

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """The same, of these keys only."""
        return self._tables()._counts_of([self._as_kept(key) for key in set(keys)])

    def close(self) -> None:
        """Closes the folder of the index, if it has one; what sessions have collected is written
        before, also to Redis. Nothing more can be asked of the folder, then.
        """
        if self._kept is not None:
            self._kept.close()

    def check(self) -> list[tuple[str, str, bool]]:
        """Looks through the folder of the index, if it has one: of each problem the place, what is
        wrong, and whether ``repair`` makes it right.
        """
        return [] if self._kept is None else self._kept.check()

    def repair(self) -> None:
        """Makes everything in the folder again that can be made of what else is there."""
        if self._kept is not None:
            self._kept.repair()

    def compact(self) -> None:
        """Gives back the space in the folder that removed keys had."""
        if self._kept is not None:
            self._kept.compact()

    def backup(self, path: str | PathLike[str]) -> None:
        """Copies the folder of the index, while it is in use, to ``path``, where nothing may be.

        Raises:
            ValueError: The index is in memory.
            StoreError: It cannot be copied, or has no sketch so far.
        """
        if not isinstance(self._kept, _native.Kept):
            raise ValueError("an index in memory or in Redis has no folder to copy: pickle it")
        if not self._kept.backup(path):
            raise StoreError(f"{self._kept.path} has no sketch so far, so there is nothing to copy")

    def _commit(self) -> None:
        """Writes what a session has collected."""
        if self._kept is not None:
            self._kept.commit()

    @property
    def _H(self) -> Callable[[Any], bytes]:
        """The bytes of the hash values of a band."""
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
                f"an index that is kept in {self._kept.path} cannot be pickled: open that folder "
                "where it is needed, or merge() it into one in memory"
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
        """Keys and hash tables as datasketch has them."""
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
    # At most as many as there are now: what is inserted meanwhile comes behind them.
    left, page = kept._size(), kept._page(0)
    while page is not None and left > 0:
        keys, start = page
        yield from keys[:left]
        left -= len(keys)
        page = kept._page(start)


class _Session:
    """Changes of an index that are written to its folder together."""

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
        """Writes what was changed."""
        self.lsh._commit()


class MinHashLSHInsertionSession(_Session):
    """Many insertions; see ``MinHashLSH.insertion_session``.

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
        """See ``MinHashLSH.insert``."""
        self.lsh._insert(key, minhash, check_duplication=check_duplication, buffer=True)


class MinHashLSHDeletionSession(_Session):
    """Many removals; see ``MinHashLSH.deletion_session``."""

    def __enter__(self) -> MinHashLSHDeletionSession:
        return self

    def remove(self, key: Hashable) -> None:
        """See ``MinHashLSH.remove``."""
        self.lsh._remove(key, buffer=True)
