"""An index that tells whether a similar set was inserted before, and needs little memory
(LSHBloom: Khan et al. 2024).

Each band has a Bloom filter instead of a table. In a folder, each filter is a file in the format
of pybloomfilter, which datasketch uses. Both packages can therefore open each other's files.
"""

from __future__ import annotations

import logging
import math
import mmap
import os
import random
import struct
import warnings
from array import array
from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, Any

from lookalike.datasketch.lsh_parameters import checked_bands
from lookalike.datasketch.minhash import _check_scheme_consistency
from lookalike.errors import DamagedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.datasketch.lsh import Sketch

__all__ = ["BloomTable", "MinHashLSHBloom"]

logger = logging.getLogger(__name__)

_MERSENNE_PRIME = (1 << 61) - 1
# Constants of MurmurHash3.
_FACTORS = (0x87C37B91114253D5, 0x4CF5AD432745937F, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
# The header of a file, in the order of its fields:
# - a mark, the number of bits, and the length of the rest of the header
# - the capacity, the error rate, the number of hashes, and the seeds of 256 hashes
# - a pointer of the process that wrote the file, the version, and whether the count is right
# - the count, and reserved bytes
_HEADER = struct.Struct("<9sQi Qd I256I4x 8xBB6x Q128x")
_MARK = b"MBITARRAY"
_LENGTH = _HEADER.size - 21
# The offset of the bits, a multiple of 256.
_BITS_AT = -(-_HEADER.size // 256) * 256
_MOST_HASHES = 256


def _hashed(keys: NDArray[np.uint64], seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hashes the eight bytes of each key, lowest byte first, with the x64 variant of MurmurHash3
    (128 bits). Returns the exclusive or of the two halves of each hash. Broadcasts keys and seeds.
    """
    import numpy as np

    one, two, three, four = (np.uint64(factor) for factor in _FACTORS)
    eight, shift = np.uint64(8), np.uint64(33)

    def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        values = (values ^ (values >> shift)) * three
        values = (values ^ (values >> shift)) * four
        mixed: NDArray[np.uint64] = values ^ (values >> shift)
        return mixed

    with np.errstate(over="ignore"):
        keys = keys * one
        keys = ((keys << np.uint64(31)) | (keys >> shift)) * two
        second = seeds ^ eight
        first = (keys ^ second) + second
        second = mix(first + second)
        first = mix(first) + second
        hashes: NDArray[np.uint64] = first ^ (first + second)
    return hashes


class BloomFilter:
    """A Bloom filter of numbers, in memory or in a file.

    Args:
        capacity: The number of distinct numbers for which the filter is designed.
        error_rate: The probability that a full filter finds a number that was not added, above 0
            and below 1.
        filename: The file of the filter. If the file exists, it is opened, and its header replaces
            the other arguments. None creates a filter in memory.
        perm: Ignored.
        hash_seeds: A number of 32 bits for each hash. None draws random numbers.
        data_array: The bits of another filter, for a filter in memory.

    Raises:
        DamagedError: The file is not a Bloom filter, or is truncated.
    """

    def __init__(
        self,
        capacity: int,
        error_rate: float,
        filename: str | None = None,
        perm: int | None = None,
        hash_seeds: Iterable[int] | None = None,
        data_array: bytes | None = None,
    ) -> None:
        import numpy as np

        self.filename = filename
        if filename is not None and os.path.exists(filename):
            self._data: bytearray | mmap.mmap = _opened(filename)
        else:
            header, size = _beginning(capacity, error_rate, hash_seeds)
            if filename is None:
                self._data = bytearray(header.ljust(_BITS_AT, b"\0"))
                self._data += bytes(size - _BITS_AT) if data_array is None else data_array
            else:
                with open(filename, "xb") as file:
                    file.write(header)
                    file.truncate(size)
                self._data = _opened(filename)
        fields = _HEADER.unpack_from(self._data)
        self.num_bits: int = fields[1]
        self.capacity: int = fields[3]
        self.error_rate: float = fields[4]
        self.num_hashes: int = fields[5]
        self.hash_seeds = array("I", fields[6 : 6 + self.num_hashes])
        self._seeds = np.array(self.hash_seeds, np.uint64)

    def places(self, key: int) -> list[int]:
        """Returns the positions of the bits of a number."""
        import numpy as np

        hashes: NDArray[np.uint64] = _hashed(np.array([key], np.uint64), self._seeds)
        return (hashes % np.uint64(self.num_bits)).tolist()  # type: ignore[no-any-return]

    def set_bits(self, places: list[int]) -> None:
        """Sets the bits at these positions."""
        data = self._data
        for place in places:
            data[_BITS_AT + (place >> 3)] |= 1 << (place & 7)

    def has_bits(self, places: list[int]) -> bool:
        """Tells whether the bits at all these positions are set."""
        data = self._data
        return all(data[_BITS_AT + (place >> 3)] >> (place & 7) & 1 for place in places)

    def add(self, key: int) -> bool:
        """Adds a number from 0 to 2**64 - 1. Returns whether the filter already found it, perhaps
        as a false positive.
        """
        places = self.places(key)
        was_present = self.has_bits(places)
        self.set_bits(places)
        return was_present

    def __contains__(self, key: int) -> bool:
        return self.has_bits(self.places(key))

    def sync(self) -> None:
        """Writes the changes to the file. Does nothing for a filter in memory."""
        if isinstance(self._data, mmap.mmap):
            self._data.flush()

    def __reduce__(self) -> Any:
        # Pickle the bits. A filter of a file becomes a filter in memory, as with pybloomfilter.
        data = bytes(self._data[_BITS_AT:])
        arguments = self.capacity, self.error_rate, None, None, self.hash_seeds, data
        return BloomFilter, arguments


def _beginning(
    capacity: int, error_rate: float, hash_seeds: Iterable[int] | None
) -> tuple[bytes, int]:
    """Returns the header of an empty filter, and the size in bytes of header and bits together."""
    if hash_seeds is None:
        hashes = min(max(math.floor(math.log2(1 / error_rate)), 1), _MOST_HASHES)
        seeds = [random.getrandbits(32) for _ in range(hashes)]
    else:
        seeds = list(hash_seeds)
        hashes = len(seeds)
    # The least number of bits for this error rate and number of hashes, rounded like
    # pybloomfilter.
    slice_bits = math.ceil(capacity * abs(math.log(error_rate)) / (hashes * math.log(2) ** 2))
    bits = max(hashes * slice_bits, 128)
    seeds += [0] * (_MOST_HASHES - hashes)
    header = _HEADER.pack(_MARK, bits, _LENGTH, capacity, error_rate, hashes, *seeds, 1, 1, 0)
    return header, _BITS_AT + (bits + 7) // 8


def _opened(filename: str) -> mmap.mmap:
    with open(filename, "r+b") as file:
        start = file.read(_HEADER.size)
        size = file.seek(0, os.SEEK_END)
        if len(start) == _HEADER.size:
            mark, bits, length, _, _, hashes, *_ = _HEADER.unpack(start)
            is_whole = size >= _BITS_AT + (bits + 7) // 8
            is_known = mark == _MARK and length == _LENGTH
            if is_known and is_whole and bits > 0 and 1 <= hashes <= _MOST_HASHES:
                return mmap.mmap(file.fileno(), 0)
    raise DamagedError(
        f"cannot open {filename}: its {size} bytes are not a Bloom filter, or are truncated; "
        "restore it from a copy, or delete it and insert the sketches again"
    )


class BloomTable:
    """The Bloom filter of one band.

    Args:
        item_count: The number of sketches for which the filter is designed.
        fp: The rate of false positives of the filter, above 0.0 and below 1.0.
        band_size: The number of values of the band.
        fname: The file of the filter, which is opened if it exists. None creates a filter in
            memory.

    Raises:
        DamagedError: The file is not a Bloom filter, or is truncated.
    """

    def __init__(
        self, item_count: int, fp: float, band_size: int, fname: str | None = None
    ) -> None:
        self.r = band_size
        self.fname = fname
        self.bloom_filter = BloomFilter(item_count, fp, fname)

    def sync(self) -> None:
        """Writes the changes to the file. Issues a RuntimeWarning if the filter is in memory."""
        if self.fname is None:
            warnings.warn(
                "Attempting to save an in-memory Bloom filter, which does nothing: pass a folder "
                "(save_dir)",
                RuntimeWarning,
                stacklevel=2,
            )
        self.bloom_filter.sync()

    def assert_size(self, hashvalues: Any) -> None:
        """Checks that a band has the right number of values.

        Raises:
            RuntimeError: The band has another number of values.
        """
        if len(hashvalues) != self.r:
            raise RuntimeError(f"expected {self.r} hash values of a band, got {len(hashvalues)}")

    def _band_hash(self, hashvalues: Any) -> int:
        return _sums(hashvalues, 1, len(hashvalues))[0]

    def insert(self, hashvalues: Any) -> None:
        """Adds the hash values of a band.

        Raises:
            RuntimeError: The band has another number of values.
        """
        self.assert_size(hashvalues)
        self.bloom_filter.add(self._band_hash(hashvalues))

    def query(self, hashvalues: Any) -> bool:
        """Tells whether the hash values of a band were added, perhaps as a false positive.

        Raises:
            RuntimeError: The band has another number of values.
        """
        self.assert_size(hashvalues)
        return self._band_hash(hashvalues) in self.bloom_filter


def _sums(hashvalues: Any, bands: int, rows: int) -> list[int]:
    """Returns a number for each band: the sum of its values modulo 2**64, then modulo 2**61 - 1."""
    import numpy as np

    values = np.asarray(hashvalues)[: bands * rows].astype(np.uint64)
    sums = values.reshape(bands, -1).sum(axis=1, dtype=np.uint64)
    return (sums % np.uint64(_MERSENNE_PRIME)).tolist()  # type: ignore[no-any-return]


class MinHashLSHBloom:
    """An index that tells whether a similar sketch was inserted before. It stores no keys.

    Args:
        threshold: The threshold, 0.0 to 1.0, for which the index chooses bands and rows.
        num_perm: The number of hash values of each sketch, at least 2.
        n: The approximate number of sketches that will be inserted, at least 1; required.
        fp: The rate of false positives of each filter, above 0.0 and below 1.0; required.
        save_dir: The folder for the filters, which is created if it does not exist. Filters in the
            folder are opened. By default, the index is in memory, and a RuntimeWarning is issued.
        weights: The weights of false positives and of false negatives in the choice of bands and
            rows. Each is from 0.0 to 1.0, and their sum is 1.0.
        params: The numbers of bands and rows, if the index should not choose them. At least 2
            bands; the product is at most ``num_perm``.

    Raises:
        ValueError: An argument is out of its range.
        DamagedError: A file of the folder is not a Bloom filter, or is truncated.

    Examples:
        >>> import warnings
        >>> from lookalike.datasketch import MinHash
        >>> one, two = MinHash.bulk([[b"a", b"b", b"c"], [b"d", b"e", b"f"]])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     lsh = MinHashLSHBloom(threshold=0.5, n=100, fp=0.001)
        >>> lsh.insert(one)
        >>> lsh.query(one), lsh.query(two)
        (True, False)
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        n: int | None = None,
        fp: float | None = None,
        save_dir: str | os.PathLike[str] | None = None,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
    ) -> None:
        if n is None or n <= 0:
            raise ValueError(f"n, the number of sketches to expect, must be at least 1, got {n}")
        if fp is None or not 0.0 < fp < 1.0:
            raise ValueError(f"fp must be in (0.0, 1.0), got {fp}")
        n = index(n)
        self.h = num_perm
        self.b, self.r = checked_bands(threshold, num_perm, weights, params)
        if save_dir is None:
            warnings.warn(
                "Creating LSHBloom index without save directory, this index will not be persisted.",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            os.makedirs(save_dir, exist_ok=True)
        self.hashtables = [
            BloomTable(
                item_count=n,
                fp=fp,
                band_size=self.r,
                fname=None if save_dir is None else os.path.join(save_dir, f"band-{band}.bf"),
            )
            for band in range(self.b)
        ]
        self.hashranges = [(i * self.r, (i + 1) * self.r) for i in range(self.b)]
        self._minhash_scheme: str | None = None

    def _bits(self, minhash: Sketch) -> list[list[int]]:
        """Returns the positions of the bits of each band. If all filters have the same numbers of
        hashes and bits, as in a new index, computes the positions of all bands together.
        """
        import numpy as np

        sums = np.array(_sums(minhash.hashvalues, self.b, self.r), np.uint64)
        filters = [table.bloom_filter for table in self.hashtables]
        if len({(bloom.num_hashes, bloom.num_bits) for bloom in filters}) > 1:
            return [bloom.places(key) for bloom, key in zip(filters, sums.tolist())]
        hashes = _hashed(sums[:, None], np.stack([bloom._seeds for bloom in filters]))
        return (hashes % np.uint64(filters[0].num_bits)).tolist()  # type: ignore[no-any-return]

    def _check(self, minhash: Sketch) -> str | None:
        if len(minhash) != self.h:
            raise ValueError(f"Expecting minhash with length {self.h}, got {len(minhash)}")
        return _check_scheme_consistency(self._minhash_scheme, minhash)

    def insert(self, minhash: Sketch) -> None:
        """Adds a sketch.

        Raises:
            ValueError: The sketch has another number of values or another scheme than the earlier
                sketches.
        """
        self._minhash_scheme = self._check(minhash)
        for table, places in zip(self.hashtables, self._bits(minhash)):
            table.bloom_filter.set_bits(places)

    def query(self, minhash: Sketch) -> bool:
        """Tells whether a sketch that shares a band with ``minhash`` was inserted, perhaps as a
        false positive.

        Raises:
            ValueError: The sketch has another number of values or another scheme than the inserted
                sketches.
        """
        self._check(minhash)
        filters = (table.bloom_filter for table in self.hashtables)
        return any(bloom.has_bits(places) for bloom, places in zip(filters, self._bits(minhash)))

    def sync(self) -> None:
        """Writes the changes to the folder at once. Without this call, the operating system writes
        them later. Issues a RuntimeWarning for each filter of an index in memory.
        """
        logger.info("Saving Bloom Index...")
        for table in self.hashtables:
            table.sync()
