"""An index that finds the sketches most similar to a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from math import ceil
from typing import TYPE_CHECKING, Any, cast

from lookalike.datasketch import _native
from lookalike.datasketch.minhash import MinHash as MinHash
from lookalike.datasketch.minhash import _check_scheme_consistency

if TYPE_CHECKING:
    from lookalike.datasketch.lsh import Sketch
    from lookalike.datasketch.minhash import HashValues

__all__ = ["MinHashLSHForest"]


class MinHashLSHForest:
    """An index that finds the keys whose hash values share the longest prefixes with a query.

    Args:
        num_perm: The number of hash values of each sketch, at least 1.
        l: The number of prefix trees, 1 to ``num_perm``. Each tree uses ``num_perm // l`` values.

    Raises:
        ValueError: An argument is out of its range.

    Examples:
        >>> from lookalike.datasketch import MinHash
        >>> one, two = MinHash.bulk([[b"a", b"b", b"c"], [b"a", b"b", b"c", b"d"]])
        >>> forest = MinHashLSHForest()
        >>> forest.add("one", one)
        >>> forest.index()
        >>> forest.query(two, 1)
        ['one']
    """

    def __init__(self, num_perm: int = 128, l: int = 8) -> None:  # noqa: E741
        if l <= 0 or num_perm <= 0:
            raise ValueError(f"num_perm and l must be positive, got {num_perm} and {l}")
        if l > num_perm:
            raise ValueError(f"l cannot be greater than num_perm: {l} and {num_perm}")
        self.l = l
        self.k = num_perm // l
        self._forest = _native.Forest(self.l, self.k)
        self.hashranges = [(i * self.k, (i + 1) * self.k) for i in range(l)]
        self._minhash_scheme: str | None = None

    def _length_ok(self, minhash: Sketch) -> None:
        if len(minhash) < self.k * self.l:
            raise ValueError(
                f"The num_perm of MinHash out of range: expected at least {self.k * self.l}, "
                f"got {len(minhash)}"
            )

    def add(self, key: Hashable, minhash: Sketch) -> None:
        """Adds a key with the sketch of its set. Queries find the key after a call of ``index``.

        Raises:
            ValueError: The index contains the key, or the sketch has too few values or another
                scheme than the earlier sketches.
        """
        self._length_ok(minhash)
        scheme = _check_scheme_consistency(self._minhash_scheme, minhash)
        if key in self:
            raise ValueError(f"The given key has already been added: {key!r}")
        self._forest.add(key, _native.band_keys(minhash, self.k * self.l))
        self._minhash_scheme = scheme

    def index(self) -> None:
        """Makes all added keys searchable."""
        self._forest.index()

    def query(self, minhash: Sketch, k: int) -> list[Any]:
        """Returns at most ``k`` keys. Keys with longer common prefixes come first.

        Args:
            minhash: The sketch of the query.
            k: The maximum number of keys, above 0.

        Raises:
            ValueError: ``k`` is not positive, or the sketch has too few values or another scheme.
        """
        if k <= 0:
            raise ValueError(f"k must be positive, got {k}")
        self._length_ok(minhash)
        _check_scheme_consistency(self._minhash_scheme, minhash)
        most = self._forest.size()
        count = ceil(k) if k < most else most
        return self._forest.query(_native.band_keys(minhash, self.k * self.l), count)

    def _pieces(self, key: Hashable) -> list[bytes] | None:
        """Returns the bytes of a key in each tree; None if the index does not contain the key."""
        all_bytes = self._forest.bytes_of(key)
        if all_bytes is None:
            return None
        width = len(all_bytes) // self.l
        return [all_bytes[i * width : (i + 1) * width] for i in range(self.l)]

    def get_minhash_hashvalues(self, key: Hashable) -> HashValues:
        """Returns the hash values that were added with ``key``, as an array of uint32 or uint64.
        Values that no tree uses are missing.

        Raises:
            KeyError: The index does not contain the key.
            ValueError: The sketch is a ``WeightedMinHash``, whose values are pairs.
        """
        import numpy as np

        all_bytes = self._forest.bytes_of(key)
        if all_bytes is None:
            raise KeyError(f"The provided key does not exist in the LSHForest: {key}")
        width = len(all_bytes) // (self.k * self.l)
        if width not in (4, 8):
            raise ValueError(
                f"Stored hash segment of {width * self.k} bytes is not {self.k} values of a "
                "supported width (4 or 8 bytes)"
            )
        dtype = np.uint32 if width == 4 else np.uint64
        return cast("HashValues", np.frombuffer(all_bytes, dtype=dtype).byteswap())

    def is_empty(self) -> bool:
        """Tells whether no key is searchable. Keys become searchable with ``index``."""
        return self._forest.is_empty()

    def __contains__(self, key: Hashable) -> bool:
        """Tells whether a key was added, even if it is not searchable yet."""
        return self._forest.bytes_of(key) is not None

    @property
    def keys(self) -> dict[Any, list[bytes]]:
        """A copy of the keys, each with the list of its bytes in each tree."""
        return {key: self._pieces(key) or [] for key in self._forest.keys()}  # noqa: SIM118

    @property
    def hashtables(self) -> list[defaultdict[bytes, list[Any]]]:
        """A copy of the trees: for each tree, the lists of keys by their bytes."""
        tables: list[defaultdict[bytes, list[Any]]] = [defaultdict(list) for _ in range(self.l)]
        for key, pieces in self.keys.items():
            for table, piece in zip(tables, pieces):
                table[piece].append(key)
        return tables

    @property
    def sorted_hashtables(self) -> list[list[bytes]]:
        """A copy of the searchable bytes of each tree, in ascending order."""
        return self._forest.sorted()

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_forest"]
        state.update(
            keys=self.keys, hashtables=self.hashtables, sorted_hashtables=self.sorted_hashtables
        )
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        keys, sorted_tables = state.pop("keys"), state.pop("sorted_hashtables")
        state.pop("hashtables", None)
        state.setdefault("_minhash_scheme", None)
        self.__dict__.update(state)
        self._forest = _native.Forest(self.l, self.k)
        for key, pieces in keys.items():
            self._forest.add(key, b"".join(pieces))
        self._forest.index(sorted_tables)
