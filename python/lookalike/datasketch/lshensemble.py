"""An index of sketches that finds the sets which contain a large share of a query set."""

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

    Raises:
        ValueError: The size is not positive or not finite.
    """
    size = size.item() if hasattr(size, "item") else size
    if not size > 0 or not isfinite(size):
        raise ValueError(f"Set size must be positive, got {size}")
    return size


def _basename(base: bytes, part: int, rows: int) -> bytes:
    """Returns the prefix of the keys in Redis for one partition and one number of rows."""
    return b"-".join([base, part.to_bytes(2, "big"), rows.to_bytes(2, "big")])


class MinHashLSHEnsemble:
    """An index that finds sets whose containment is probably above a threshold. The containment is
    the share of the query set that the found set contains.

    Args:
        threshold: The threshold, 0.0 to 1.0.
        num_perm: The number of hash values of each sketch, at least 2.
        num_part: The number of partitions by set size, at least 1.
        m: The maximum number of rows of a band, 2 to ``num_perm``. With a greater ``m``, the index
            needs more memory and returns fewer false positives.
        weights: The weights of false positives and of false negatives in the choice of bands and
            rows. Each is from 0.0 to 1.0, and their sum is 1.0.
        storage_config: The storage of the index. ``{"type": "dict"}`` (default) is in memory.
            Redis and Cassandra have the options of ``MinHashLSH``.
        prepickle: Whether the index stores pickled keys. By default, only an index in Redis does.

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
        """Adds all sets to the empty index. You cannot add other sets later.

        Args:
            entries: The key, the sketch and the size of each set. The size may be an estimate,
                such as the result of ``MinHash.count``.

        Raises:
            ValueError: The index is not empty, ``entries`` is empty, a size is not positive and
                finite, or a sketch or a key cannot be inserted. An empty index then remains empty.
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
        """Inserts entries, which are in ascending order of size, into their partitions."""
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
        """Yields the keys of the sets whose containment is probably above the threshold.

        Args:
            minhash: The sketch of the query set.
            size: The size of the query set.

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
        """Tells whether the index contains no keys."""
        return all(lsh.is_empty() for index in self.indexes for lsh in index.values())
