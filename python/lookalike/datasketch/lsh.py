"""An index of sketches that finds those above a threshold of similarity."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from operator import index
from types import TracebackType
from typing import Any, TypeAlias

from lookalike.datasketch import _native
from lookalike.datasketch.file import File, pickled
from lookalike.datasketch.minhash import MinHash, _check_scheme_consistency
from lookalike.datasketch.pickles import reduced
from lookalike.datasketch.storage import (
    BucketView,
    DictListStorage,
    DictSetStorage,
    KeyView,
)
from lookalike.datasketch.weighted_minhash import WeightedMinHash

Sketch: TypeAlias = MinHash | WeightedMinHash

__all__ = ["MinHashLSH", "MinHashLSHDeletionSession", "MinHashLSHInsertionSession"]

_BUFFER_SIZE = 50000
# What a pickle has that is made anew, or that is nothing here.
_NOT_ATTRIBUTES = frozenset(
    {"_H", "_minhash_scheme", "_require_bytes_keys", "hashtables", "keys", "prepickle", "hashfunc"}
)


def _optimal_param(
    threshold: float, num_perm: int, false_positive_weight: float, false_negative_weight: float
) -> tuple[int, int]:
    """Bands and rows with the least weighted sum of both kinds of errors."""
    return _native.optimal_bands(
        threshold, num_perm, false_positive_weight, false_negative_weight
    )


def _check_weights(weights: tuple[float, float]) -> None:
    if len(weights) != 2:
        raise ValueError(f"expected two weights, got {len(weights)}: {weights}")
    if any(w < 0.0 or w > 1.0 for w in weights):
        raise ValueError(f"Weight must be in [0.0, 1.0], got {weights}")
    if sum(weights) != 1.0:
        raise ValueError(f"Weights must sum to 1.0, got {weights}")


def _check_storage(config: dict[str, Any]) -> None:
    kind = config["type"]
    if kind in ("redis", "cassandra", "aioredis", "aiomongo"):
        raise ValueError(
            f"storage type {kind!r} is not there: {{'type': 'dict'}} keeps the index in memory, "
            "{'type': 'lookalike', 'path': FILE} keeps it in a file as well"
        )
    if kind not in ("dict", "lookalike"):
        raise ValueError(f"Unknown storage type: {kind}; expected 'dict' or 'lookalike'")
    if kind == "lookalike" and "path" not in config:
        raise ValueError("storage type 'lookalike' needs the 'path' of its file")


class MinHashLSH(_native.Tables):
    """Finds sketches whose Jaccard similarity to another is probably above a threshold.

    Args:
        threshold: 0.0 to 1.0. Bands and rows are chosen for it.
        num_perm: Hash values of each sketch, at least 2.
        weights: How much false positives and false negatives count in that choice; they add up
            to 1.0.
        params: Bands and rows, if they are not to be chosen.
        storage_config: ``{"type": "dict"}`` (default) is in memory;
            ``{"type": "lookalike", "path": FILE}`` also writes every change to a file, from which
            it is read when it is opened again.
        prepickle: Whether keys are kept pickled.
        hashfunc: From the bytes of a band to the bytes that are compared.

    Raises:
        ValueError: An argument is out of its range.
        StoreError: The file cannot be opened, or another index has it (of which
            ``MismatchError``: it was made with other settings, ``DamagedError``: it is no such
            file, or a row of it is not what was written).

    >>> from lookalike.datasketch import MinHash
    >>> one, two = MinHash.bulk([[b"a", b"b", b"c"], [b"a", b"b", b"c", b"d"]])
    >>> lsh = MinHashLSH(threshold=0.5)
    >>> lsh.b, lsh.r
    (25, 5)
    >>> lsh.insert("one", one)
    >>> lsh.query(two)
    ['one']
    """

    _file: File | None = None

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
        storage_config = storage_config if storage_config else {"type": "dict"}
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must be in [0.0, 1.0], got {threshold}")
        if num_perm < 2:
            raise ValueError(f"Too few permutation functions: expected at least 2, got {num_perm}")
        _check_weights(weights)
        if params is not None:
            b, r = (index(number) for number in params)
            if b * r > num_perm:
                raise ValueError(
                    f"The product of b and r in params is {b} * {r} = {b * r} -- it must be less "
                    f"than num_perm {num_perm}. Did you forget to specify num_perm?"
                )
        else:
            b, r = _optimal_param(threshold, num_perm, *weights)
        if b < 2:
            raise ValueError(f"The number of bands are too small (b < 2): {b}")
        if r < 1:
            raise ValueError(f"A band must have at least one value, got {r}")
        _check_storage(storage_config)
        self._begin(num_perm, b, r, bool(prepickle), hashfunc)
        if storage_config["type"] == "lookalike":
            self._open(storage_config["path"])

    def _begin(
        self,
        num_perm: int,
        b: int,
        r: int,
        prepickle: bool,
        hashfunc: Callable[[bytes], bytes] | None,
    ) -> None:
        self._set_up(num_perm, b, r, hashfunc)
        self.h, self.b, self.r = num_perm, b, r
        self.prepickle = prepickle
        self.hashfunc = hashfunc
        self.hashranges = [(i * r, (i + 1) * r) for i in range(b)]
        self._buffer_size = _BUFFER_SIZE
        # The bands of the sketches that are asked for together.
        self._buffered: list[list[bytes]] = []

    def _open(self, path: str) -> None:
        hashfunc = self.hashfunc
        name = getattr(hashfunc, "__qualname__", repr(hashfunc)) if hashfunc else "none"
        settings = {
            "num_perm": str(self.h),
            "params": f"{self.b}, {self.r}",
            "prepickle": str(self.prepickle),
            "hashfunc": name,
        }
        file = File(path, settings)
        try:
            self._read(file)
        except BaseException:
            file.close()
            raise
        self._file = file

    def _read(self, file: File) -> None:
        """Has what the file has, and nothing else."""
        rows, scheme = list(file.read()), file.scheme()
        self._set_up(self.h, self.b, self.r, self.hashfunc)
        for key, bands in rows:
            try:
                self._add_bands(key, bands)
            except ValueError as error:
                raise file.damaged(None, error) from error
        self._minhash_scheme = scheme

    @contextmanager
    def _together(self, file: File, last: bool) -> Iterator[None]:
        """What is done inside is done in memory and in the file, or in neither."""
        try:
            yield
            if last:
                file.commit()
        except BaseException:
            file.roll_back()
            self._read(file)
            raise

    @property
    def keys(self) -> KeyView:
        """The keys, as they are kept: pickled if ``prepickle`` says so."""
        return KeyView(self)

    @property
    def hashtables(self) -> list[BucketView]:
        """The buckets of each band."""
        return [BucketView(self, band) for band in range(self.b)]

    @property
    def buffer_size(self) -> int:
        """Kept for what was written for it; nothing waits in memory."""
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value

    def insert(self, key: Hashable, minhash: Sketch, check_duplication: bool = True) -> None:
        """Adds a key with the sketch of its set.

        Raises:
            ValueError: The key is there already (if ``check_duplication``), or the sketch has
                another number of values or another scheme than those before.
            TypeError: The key is not hashable, or it is no sketch.
            DocumentTypeError: The key cannot be pickled, and there is a file.
            StoreError: The file cannot be written; the key is not in memory, either.
        """
        if self._file is None and not self.prepickle:
            self._add(key, minhash, check_duplication)
        else:
            self._insert(key, minhash, check_duplication=check_duplication)

    def _insert(
        self, key: Hashable, minhash: Sketch, check_duplication: bool = True, buffer: bool = False
    ) -> None:
        if self._file is not None:
            with self._file.lock:
                self._insert_both(self._file, key, minhash, check_duplication, not buffer)
            return
        if self.prepickle:
            kept = pickle.dumps(key)
            if check_duplication and self._has(kept):
                raise ValueError(f"The given key already exists: {key!r}")
            key = kept
        self._add(key, minhash, check_duplication)

    def _insert_both(
        self, file: File, key: Hashable, minhash: Sketch, check_duplication: bool, last: bool
    ) -> None:
        """Inserts into memory and the file. What can fail of itself comes before both."""
        file.check_open()
        bands = self._bands_for(minhash)
        scheme = _check_scheme_consistency(self._minhash_scheme, minhash)
        kept = pickled(key) if self.prepickle else key
        if check_duplication and self._has(kept):
            raise ValueError(f"The given key already exists: {key!r}")
        pickle_of_key = pickled(kept)
        with self._together(file, last):
            file.add(kept, pickle_of_key, bands)
            file.set_scheme(scheme)
            self._add_bands(kept, bands)
            self._minhash_scheme = scheme

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Adds all keys of an index with the same numbers of values, bands and rows.

        Raises:
            ValueError: These numbers or the schemes differ, or keys are in both and
                ``check_overlap`` is true.
            DocumentTypeError: A key cannot be pickled, and there is a file. No key is added.
            StoreError: The file cannot be written. No key is added.
        """
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError(
                "Cannot merge MinHashLSH with different initialization parameters: "
                f"num_perm, b, r are {(self.h, self.b, self.r)} and {(other.h, other.b, other.r)}"
            )
        known, theirs = self._minhash_scheme, other._minhash_scheme
        if known is not None and theirs is not None and known != theirs:
            raise ValueError(
                f"Cannot merge MinHashLSH indexed with MinHash scheme {theirs!r} into one indexed "
                f"with scheme {known!r}"
            )
        if check_overlap and not set(self.keys).isdisjoint(other.keys):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        if self._file is not None:
            with self._file.lock:
                self._merge_both(self._file, other, known or theirs)
            return
        self._add_all(other)
        if known is None:
            self._minhash_scheme = theirs

    def _merge_both(self, file: File, other: MinHashLSH, scheme: str | None) -> None:
        """Merges in memory and in the file: all keys or none."""
        file.check_open()
        rows = []
        for key in other._keys():
            bands = other._bands_of(key)
            pickle_of_key = pickled(key)
            for start in range(0, len(bands), self.b):
                rows.append((key, pickle_of_key, bands[start : start + self.b]))
        with self._together(file, last=True):
            for key, pickle_of_key, bands in rows:
                file.add(key, pickle_of_key, bands)
                self._add_bands(key, bands)
            file.set_scheme(scheme)
            self._minhash_scheme = scheme

    def insertion_session(self, buffer_size: int = _BUFFER_SIZE) -> MinHashLSHInsertionSession:
        """A context in which many keys are inserted; a file is written when it is left."""
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = _BUFFER_SIZE) -> MinHashLSHDeletionSession:
        """A context in which many keys are removed; a file is written when it is left."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def query(self, minhash: Sketch) -> list[Any]:
        """The keys whose sketches share a band with ``minhash``, each once, in no special order.

        Raises:
            ValueError: The sketch has another number of values or another scheme.
        """
        found = self._find(minhash)
        return [pickle.loads(key) for key in found] if self.prepickle else found

    def add_to_query_buffer(self, minhash: Sketch) -> None:
        """Queries later: :meth:`collect_query_buffer` gives the keys that all queries find."""
        self._buffered.append(self._bands_for(minhash))

    def collect_query_buffer(self) -> list[Any]:
        """The keys that every query since the last call finds now."""
        buffered, self._buffered = self._buffered, []
        if not buffered:
            return []
        found = set.intersection(*(set(self._find_bands(bands)) for bands in buffered))
        return [pickle.loads(key) for key in found] if self.prepickle else list(found)

    def __contains__(self, key: Hashable) -> bool:
        return self._has(pickle.dumps(key) if self.prepickle else key)

    def remove(self, key: Hashable) -> None:
        """Takes a key out.

        Raises:
            ValueError: It is not there.
            StoreError: The file cannot be written; the key is still in memory, too.
        """
        self._remove(key)

    def _remove(self, key: Hashable, buffer: bool = False) -> None:
        if self._file is not None:
            with self._file.lock:
                self._remove_both(self._file, key, not buffer)
        else:
            self._discard(self._held(key))

    def _remove_both(self, file: File, key: Hashable, last: bool) -> None:
        file.check_open()
        held = self._held(key)
        with self._together(file, last):
            file.remove(held)
            self._discard(held)

    def _held(self, key: Hashable) -> Any:
        """The key as it is kept."""
        held = pickle.dumps(key) if self.prepickle else key
        if not self._has(held):
            raise ValueError(f"The given key does not exist: {key!r}")
        return held

    def is_empty(self) -> bool:
        """Whether there is no key."""
        return self._size() == 0

    def _query_b(self, minhash: Sketch, b: int) -> set[Any]:
        """The keys that share one of the first ``b`` bands; without the last ``-b`` if negative."""
        count = index(b) if b >= 0 else len(self.hashranges[:b])
        found = self._find_in(minhash, count)
        return {pickle.loads(key) for key in found} if self.prepickle else found

    def get_counts(self) -> list[dict[bytes, int]]:
        """For each band, how many keys each of its buckets has."""
        return self._counts()

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """The same, of these keys only."""
        return self._counts_of([pickle.dumps(k) if self.prepickle else k for k in set(keys)])

    def close(self) -> None:
        """Closes the file of the index, if it has one; in memory it stays.

        What open sessions have changed is written before.
        """
        file = self._file
        if file is not None:
            with file.lock:
                self._commit()
                self._file = None
                file.close()

    def _commit(self) -> None:
        """Makes last what a session has changed."""
        file = self._file
        if file is not None and file.is_here():
            with file.lock, self._together(file, last=True):
                pass

    def _byteswap(self, hs: Any) -> bytes:
        return bytes(hs.byteswap().data)

    def _hashed_byteswap(self, hs: Any) -> bytes:
        if self.hashfunc is None:
            raise RuntimeError("Hash function not configured.")
        return self.hashfunc(bytes(hs.byteswap().data))

    def __getstate__(self) -> Any:
        if self._file is not None:
            raise TypeError(
                f"an index that is kept in {self._file.path} cannot be pickled: open that file "
                "where it is needed, or close() the index first"
            )
        keys, hashtables = DictListStorage(), [DictSetStorage() for _ in range(self.b)]
        for key in self._keys():
            bands = self._bands_of(key)
            keys._dict[key] = bands
            for at, band in enumerate(bands):
                hashtables[at % self.b]._dict[band].add(key)
        state = dict(self.__dict__)
        if not self._buffered:
            del state["_buffered"]
        state.update(
            _require_bytes_keys=False,
            _H=self._hashed_byteswap if self.hashfunc else self._byteswap,
            hashtables=hashtables,
            keys=keys,
            _minhash_scheme=self._minhash_scheme,
        )
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        keys: defaultdict[Any, list[bytes]] = state["keys"]._dict
        b, r = state["b"], state["r"]
        prepickle, hashfunc = bool(state.get("prepickle")), state.get("hashfunc")
        self._begin(state["h"], b, r, prepickle, hashfunc)
        self.__dict__.update({k: v for k, v in state.items() if k not in _NOT_ATTRIBUTES})
        for key, bands in keys.items():
            for start in range(0, len(bands), b):
                self._add_bands(key, bands[start : start + b])
        self._minhash_scheme = state.get("_minhash_scheme")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, protocol) or super().__reduce_ex__(protocol)


class _Session:
    """Changes of an index that are written to its file together."""

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
    """Many insertions; see :meth:`MinHashLSH.insertion_session`.

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
        """See :meth:`MinHashLSH.insert`."""
        self.lsh._insert(key, minhash, check_duplication=check_duplication, buffer=True)


class MinHashLSHDeletionSession(_Session):
    """Many removals; see :meth:`MinHashLSH.deletion_session`."""

    def __enter__(self) -> MinHashLSHDeletionSession:
        return self

    def remove(self, key: Hashable) -> None:
        """See :meth:`MinHashLSH.remove`."""
        self.lsh._remove(key, buffer=True)
