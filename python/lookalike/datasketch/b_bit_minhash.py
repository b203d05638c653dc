"""Sketches with only the lowest bits of hash values (b-bit minwise hashing: Li and König 2010)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from lookalike.datasketch.minhash import (
    _SCHEME_CODES,
    _SCHEME_OF_CODE,
    _checked_scheme,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.datasketch.minhash import MinHash

__all__ = ["bBitMinHash"]


class bBitMinHash:
    """A sketch with only the lowest ``b`` bits of each hash value.

    Args:
        minhash: The sketch whose bits are copied.
        b: The number of bits of each hash value, 0 to 32.
        r: The share of all possible tokens that the set contains, at most 1.0. The default 0.0
            means a very small or unknown share.

    Attributes:
        hashvalues: The lowest bits of each hash value, an array of uint32.
        b: The number of bits of each hash value.
        r: The share of all possible tokens that the set contains.
        seed: The seed of the sketch.
        scheme: The scheme of the sketch.

    Raises:
        ValueError: ``b`` or ``r`` is out of its range.

    Examples:
        >>> from lookalike.datasketch import MinHash
        >>> m = MinHash()
        >>> m.update(b"a")
        >>> one = bBitMinHash(m, b=2)
        >>> one.jaccard(one), one.bytesize()
        (1.0, 54)
    """

    __slots__ = ("b", "hashvalues", "r", "scheme", "seed")

    _PARAMETERS = "<qBdi"

    def __init__(self, minhash: MinHash, b: int = 1, r: float = 0.0) -> None:
        import numpy as np

        b, r = int(b), float(r)
        if not 0 <= b <= 32:
            raise ValueError(f"b must be an integer in [0, 32], got {b}")
        if r > 1.0:
            raise ValueError(f"r must be a float in [0.0, 1.0], got {r}")
        mask = (1 << b) - 1
        # `digest` copies the values. Reading `hashvalues` would make the sketch keep an array.
        values = np.asarray(minhash.digest())
        self.hashvalues: NDArray[np.uint32] = np.bitwise_and(values, mask).astype(np.uint32)
        self.seed: int = minhash.seed
        self.scheme: str = _checked_scheme(minhash.scheme)
        self.b = b
        self.r = r

    def __eq__(self, other: object) -> bool:
        import numpy as np

        return (
            type(self) is type(other)
            and isinstance(other, bBitMinHash)
            and self.scheme == other.scheme
            and self.seed == other.seed
            and self.b == other.b
            and self.r == other.r
            and bool(np.array_equal(self.hashvalues, other.hashvalues))
        )

    __hash__ = None  # type: ignore[assignment]

    def jaccard(self, other: bBitMinHash) -> float:
        """Returns an estimate of the Jaccard similarity to the set of ``other``. The estimate may
        be negative.

        Raises:
            ValueError: The two sketches have different numbers of bits, schemes, seeds or numbers
                of hash values.
        """
        import numpy as np

        for attribute, own_value, other_value in (
            ("b values", self.b, other.b),
            ("permutation schemes", self.scheme, other.scheme),
            ("set of permutations", self.seed, other.seed),
            ("numbers of hash values", self.hashvalues.size, other.hashvalues.size),
        ):
            if own_value != other_value:
                raise ValueError(
                    f"Cannot compare two b-bit MinHashes with different {attribute}: "
                    f"{own_value} and {other_value}"
                )
        equal = int(np.count_nonzero(self.hashvalues == other.hashvalues))
        share = equal / self.hashvalues.size
        a1, a2 = self._calc_a(self.r, self.b), self._calc_a(other.r, other.b)
        c1, c2 = self._calc_c(a1, a2, self.r, other.r)
        return (share - c1) / (1 - c2)

    def bytesize(self) -> int:
        """Returns the size of the pickled state of the sketch in bytes."""
        return self._bytesize()[-1]

    def _params_fmt(self) -> str:
        return self._PARAMETERS + ("" if self.scheme == "legacy" else "B")

    def _bytesize(self) -> tuple[int, int, int, int]:
        """Returns the numbers of bits in a value, values in 8 bytes, blocks of 8 bytes, bytes."""
        # A value of 0 bits has a slot of 4 bits, as in datasketch.
        slot = 4 if self.b == 0 else 1 << (self.b - 1).bit_length()
        per_block = 64 // slot
        blocks = -(-self.hashvalues.size // per_block)
        return slot, per_block, blocks, struct.calcsize(f"{self._params_fmt()}{blocks}Q")

    def __getstate__(self) -> Any:
        import numpy as np

        slot, per_block, blocks, _total = self._bytesize()
        values = np.zeros(blocks * per_block, dtype=np.uint64)
        values[: self.hashvalues.size] = self.hashvalues
        shifts = np.arange(per_block - 1, -1, -1, dtype=np.uint64) * np.uint64(slot)
        packed = np.bitwise_or.reduce(values.reshape(blocks, per_block) << shifts, axis=1)
        size = self.hashvalues.size
        head: tuple[Any, ...] = (self.seed, self.b, self.r, size)
        if self.scheme != "legacy":
            head = (self.seed, self.b, self.r, -size, _SCHEME_CODES[self.scheme])
        return bytearray(struct.pack(f"{self._params_fmt()}{blocks}Q", *head, *packed.tolist()))

    def __setstate__(self, state: Any) -> None:
        import numpy as np

        buf = memoryview(state)
        self.seed, self.b, self.r, size = struct.unpack_from(self._PARAMETERS, buf, 0)
        offset = struct.calcsize(self._PARAMETERS)
        self.scheme = "legacy"
        if size < 0:
            (code,) = struct.unpack_from("<B", buf, offset)
            if code not in _SCHEME_OF_CODE:
                raise ValueError(
                    f"Unknown permutation scheme code: {code}; expected one of "
                    f"{sorted(_SCHEME_OF_CODE)}"
                )
            self.scheme = _SCHEME_OF_CODE[code]
            offset += 1
        self.hashvalues = np.zeros(abs(size), dtype=np.uint32)
        slot, per_block, blocks, _total = self._bytesize()
        packed = np.array(struct.unpack_from(f"<{blocks}Q", buf, offset), dtype=np.uint64)
        shifts = np.arange(per_block - 1, -1, -1, dtype=np.uint64) * np.uint64(slot)
        mask = np.uint64((1 << slot) - 1)
        values = (packed[:, None] >> shifts) & mask
        self.hashvalues = values.reshape(-1)[: abs(size)].astype(np.uint32)

    def _calc_a(self, r: float, b: int) -> float:
        if r == 0.0:
            return 1.0 / (1 << b)
        return float(r * (1 - r) ** (2**b - 1) / (1 - (1 - r) ** (2 * b)))

    def _calc_c(self, a1: float, a2: float, r1: float, r2: float) -> tuple[float, float]:
        if r1 == 0.0 and r2 == 0.0:
            return a1, a2
        div = 1 / (r1 + r2)
        return (a1 * r2 + a2 * r1) * div, (a1 * r1 + a2 * r2) * div
