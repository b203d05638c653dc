"""An index of sketches that finds the sets which contain most of a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Hashable, Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any

from lookalike.datasketch import _native
from lookalike.datasketch.lsh import MinHashLSH
from lookalike.datasketch.lsh_parameters import check_weights
from lookalike.datasketch.lshensemble_partition import optimal_partitions
from lookalike.datasketch.minhash import MinHash as MinHash
from lookalike.datasketch.storage import _random_name, check_storage

if TYPE_CHECKING:
    from lookalike.datasketch.lsh import Sketch

__all__ = ["MinHashLSHEnsemble"]


def _checked_size(size: Any) -> Any:
    """Converts a size to a Python number, so that equal sizes of NumPy and Python are counted
    together.
    """
    size = size.item() if hasattr(size, "item") else size
    if not size > 0 or not isfinite(size):
        raise ValueError(f"Set size must be positive, got {size}")
    return size


def _basename(base: bytes, part: int, rows: int) -> bytes:
    """The prefix of the keys of an index in Redis."""
    return b"-".join([base, part.to_bytes(2, "big"), rows.to_bytes(2, "big")])


class MinHashLSHEnsemble:
    """Finds sets whose containment, the share of the query that is in them, is above a threshold.

    Args:
        threshold: The threshold, 0.0 to 1.0.
        num_perm: Hash values of each sketch, at least 2.
        num_part: Partitions by set size, at least 1.
        m: The most rows of a band, 2 to ``num_perm``. A greater ``m`` needs more memory and finds
            sets more precisely.
        weights: The weights of false positives and false negatives; they add up to 1.0.
        storage_config: ``{"type": "dict"}`` (default) keeps the index in memory. Redis and
            Cassandra are configured as for ``MinHashLSH``.
        prepickle: Whether the index keeps pickled keys. None pickles them in Redis only.

    Raises:
        ValueError: An argument is out of its range.

    Examples:
        >>> from lookalike.datasketch import MinHash
        >>> one, two = MinHash.bulk([[b"a", b"b", b"c"], [b"a", b"b"]])
        >>> ensemble = MinHashLSHEnsemble(threshold=0.8, num_part=2)
        >>> ensemble.index([("one", one, 3), ("two", two, 2)])
        >>> "one" in list(ensemble.query(two, 2))
        True
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        num_part: int = 16,
        m: int = 8,
        weights: tuple[float, float] = (0.5, 0.5),
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
    ) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must be in [0.0, 1.0], got {threshold}")
        if num_perm < 2:
            raise ValueError(f"Too few permutation functions: expected at least 2, got {num_perm}")
        if num_part < 1:
            raise ValueError(f"num_part must be at least 1, got {num_part}")
        if m < 2 or m > num_perm:
            raise ValueError(f"m must be in the range of [2, num_perm], got {m}")
        check_weights(weights)
        config: dict[str, Any] = storage_config or {"type": "dict"}
        check_storage(config, ("dict", "redis", "cassandra"))
        base = config.get("basename") or _random_name(11)
        self.threshold = threshold
        self.h = num_perm
        self.m = m
        rows = self._init_optimal_params(weights)
        self.indexes = [
            {
                r: MinHashLSH(
                    num_perm=num_perm,
                    params=(num_perm // r, r),
                    storage_config={**config, "basename": _basename(base, part, r)},
                    prepickle=prepickle,
                )
                for r in rows
            }
            for part in range(num_part)
        ]
        self.lowers: list[float | None] = [None for _ in self.indexes]
        self.uppers: list[float | None] = [None for _ in self.indexes]

    def _init_optimal_params(self, weights: tuple[float, float]) -> set[int]:
        import numpy as np

        self.xqs = np.exp(np.linspace(-5, 5, 10))
        params = [
            _native.optimal_containment_bands(self.threshold, self.h, self.m, float(xq), *weights)
            for xq in self.xqs
        ]
        self.params = np.array(params, dtype=int)
        return {r for _, r in params}

    def _get_optimal_param(self, x: float, q: float) -> tuple[int, int]:
        import numpy as np

        i = min(int(np.searchsorted(self.xqs, float(x) / float(q))), len(self.params) - 1)
        b, r = self.params[i]
        return int(b), int(r)

    def index(self, entries: Iterable[tuple[Hashable, Sketch, float]]) -> None:
        """Indexes all sets. It can be called once.

        Args:
            entries: Key, sketch and size of each set. The size may be an estimate, such as the
                result of ``count``.

        Raises:
            ValueError: The index is not empty, ``entries`` is empty, a size is not positive, or a
                sketch or a key cannot be inserted. The ensemble then remains empty.
        """
        if not self.is_empty():
            raise ValueError("Cannot call index again on a non-empty index")
        sized = [(key, minhash, _checked_size(size)) for key, minhash, size in entries]
        if not sized:
            raise ValueError("entries is empty")
        sized.sort(key=lambda entry: entry[2])
        counts = sorted(Counter(size for _, _, size in sized).items())
        partitions = optimal_partitions(
            [size for size, _ in counts], [count for _, count in counts], len(self.indexes)
        )
        try:
            self._insert(sized, partitions)
        except BaseException:
            self._clear()
            raise

    def _insert(self, entries: list[tuple[Any, Any, Any]], partitions: list[Any]) -> None:
        """Inserts entries in ascending order of size."""
        for i, (lower, upper) in enumerate(partitions):
            self.lowers[i], self.uppers[i] = lower, upper
        part = 0
        for key, minhash, size in entries:
            if size > partitions[part][1]:
                part += 1
            for lsh in self.indexes[part].values():
                lsh.insert(key, minhash)

    def _clear(self) -> None:
        """Removes all keys."""
        self.lowers = [None for _ in self.indexes]
        self.uppers = [None for _ in self.indexes]
        for index in self.indexes:
            for lsh in index.values():
                lsh._clear()

    def query(self, minhash: Sketch, size: float) -> Generator[Any, None, None]:
        """Yields the keys of sets that probably contain enough of the set of ``minhash``.

        Args:
            minhash: The sketch of the set.
            size: The size of the set.

        Raises:
            ValueError: The sketch has another number of values or another scheme.
            ZeroDivisionError: The size is 0.
        """
        for index, upper in zip(self.indexes, self.uppers):
            if upper is not None:
                b, r = self._get_optimal_param(upper, size)
                yield from index[r]._list_b(minhash, b)

    def __contains__(self, key: Hashable) -> bool:
        """Tells whether the index contains a key."""
        return any(key in lsh for index in self.indexes for lsh in index.values())

    def is_empty(self) -> bool:
        """Tells whether the index has no keys."""
        return all(lsh.is_empty() for index in self.indexes for lsh in index.values())
