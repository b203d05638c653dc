"""Sketches that estimate the number of distinct tokens: HyperLogLog (Flajolet, Fusy, Gandouet and
Meunier 2007) and HyperLogLog++ (Heule, Nunkesser and Hall 2013).
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lookalike.datasketch.hashfunc import sha1_hash32, sha1_hash64
from lookalike.datasketch.hyperloglog_const import _means, _thresholds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["HyperLogLog", "HyperLogLogPlusPlus"]


def _bit_length(bits: int) -> int:
    """Returns the position of the highest set bit, from the right, from 1; 0 without one."""
    return int(bits).bit_length()


class HyperLogLog:
    """A sketch of a set that estimates the number of its distinct tokens.

    Args:
        p: The precision, 4 to 16. The sketch has ``2**p`` registers. Ignored if ``reg`` is passed.
        reg: The registers of another sketch, an array of int8. The new sketch uses and changes
            this array, without a copy.
        hashfunc: A function from a token to an integer of 32 bits; SHA-1 by default.
        hashobj: Ignored, with a DeprecationWarning.

    Raises:
        ValueError: An argument is out of its range.

    Examples:
        >>> h = HyperLogLog()
        >>> for token in (b"a", b"b", b"a"):
        ...     h.update(token)
        >>> round(h.count(), 2)
        2.01
    """

    __slots__ = ("alpha", "hashfunc", "m", "max_rank", "p", "reg")

    # The number of bits and of bytes of a hash.
    _hash_range_bit = 32
    _hash_range_byte = 4

    def __init__(
        self,
        p: int = 8,
        reg: NDArray[np.int8] | None = None,
        hashfunc: Callable[[Any], int] = sha1_hash32,
        hashobj: object | None = None,
    ) -> None:
        import numpy as np

        if reg is not None:
            if not isinstance(reg, np.ndarray):
                raise ValueError(f"reg must be a numpy.ndarray, got {type(reg).__name__}")
            p = _bit_length(reg.size) - 1
            if reg.size != 1 << max(p, 0):
                raise ValueError(f"reg must have a power of 2 of registers, got {reg.size}")
        if not 4 <= p <= 16:
            raise ValueError(f"p must be in the range [4, 16], got {p}")
        if not callable(hashfunc):
            raise ValueError(f"The hashfunc must be a callable, got {hashfunc!r}.")
        if hashobj is not None:
            warnings.warn(
                "hashobj is deprecated, use hashfunc instead.", DeprecationWarning, stacklevel=2
            )
        self.p = p
        self.m = 1 << p
        self.reg: NDArray[np.int8] = np.zeros(self.m, np.int8) if reg is None else reg
        self.hashfunc = hashfunc
        self.alpha: float = {4: 0.673, 5: 0.697, 6: 0.709}.get(p, 0.7213 / (1 + 1.079 / self.m))
        self.max_rank = self._hash_range_bit - p

    def update(self, b: Any) -> None:
        """Adds a token to the set.

        Args:
            b: The token: bytes, or the type that ``hashfunc`` takes.

        Raises:
            ValueError: The hash has more than 32 bits (64 bits for ``HyperLogLogPlusPlus``).
        """
        value = self.hashfunc(b)
        rank = self._get_rank(value >> self.p)
        at = value & (self.m - 1)
        if rank > self.reg[at]:
            self.reg[at] = rank

    def _get_rank(self, bits: int) -> int:
        """Returns the position of the highest set bit, counted from the left, from 1."""
        rank = self.max_rank - _bit_length(bits) + 1
        if rank <= 0:
            raise ValueError(
                f"Hash value overflow: hashfunc must return at most {self._hash_range_bit} bits"
            )
        return rank

    def _raw_count(self) -> float:
        """Returns the estimate without corrections."""
        import numpy as np

        return float(self.alpha * float(self.m**2) / np.sum(2.0 ** (-self.reg)))

    def _zeros(self) -> int:
        import numpy as np

        return self.m - int(np.count_nonzero(self.reg))

    def _linearcounting(self, num_zero: int) -> float:
        """Returns the estimate from the number of registers that are 0 (Whang et al. 1990). If no
        register is 0, this method does not apply, and the estimate without corrections is
        returned.
        """
        import numpy as np

        if num_zero == 0:
            return self._raw_count()
        return float(self.m * np.log(self.m / float(num_zero)))

    def _largerange_correction(self, e: float) -> float:
        """Returns the estimate ``e``, corrected for tokens with equal hashes."""
        import numpy as np

        return float(-(1 << 32) * np.log(1.0 - e / (1 << 32)))

    def count(self) -> float:
        """Returns an estimate of the number of distinct tokens. Its relative standard error is
        1.04 / √m for m registers.
        """
        e = self._raw_count()
        small = 2.5 * self.m
        if abs(e - small) / small < 0.15:
            warnings.warn(
                f"the estimate {e:.0f} is near {small:.0f}, the limit between two methods, so that "
                "its error may be larger than usual; use HyperLogLogPlusPlus to avoid this",
                stacklevel=2,
            )
        if e <= small:
            return self._linearcounting(self._zeros())
        return e if e <= (1 << 32) / 30.0 else self._largerange_correction(e)

    def merge(self, other: HyperLogLog) -> None:
        """Adds all tokens of the set of ``other``.

        Raises:
            ValueError: The precisions differ.
        """
        import numpy as np

        if (self.m, self.p) != (other.m, other.p):
            raise ValueError(
                f"Cannot merge HyperLogLog with different precisions: {self.p} and {other.p}"
            )
        self.reg = np.maximum(self.reg, other.reg)

    def digest(self) -> NDArray[np.int8]:
        """Returns a copy of the array of registers."""
        registers: NDArray[np.int8] = self.reg.copy()
        return registers

    def copy(self) -> HyperLogLog:
        """Returns an independent sketch of the same set."""
        return self.__class__(reg=self.digest(), hashfunc=self.hashfunc)

    def is_empty(self) -> bool:
        """Tells whether the set is empty."""
        return not self.reg.any()

    def clear(self) -> None:
        """Removes all tokens."""
        import numpy as np

        self.reg = np.zeros(self.m, np.int8)

    def __len__(self) -> int:
        """Returns the number of registers."""
        return len(self.reg)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, HyperLogLog)
            and type(self) is type(other)
            and (self.p, self.m) == (other.p, other.m)
            and self.reg.shape == other.reg.shape
            and bool((self.reg == other.reg).all())
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def union(cls, *hyperloglogs: HyperLogLog) -> HyperLogLog:
        """Returns a new sketch of the union of at least two sets.

        Raises:
            ValueError: Fewer than two sketches are passed, or their precisions differ.
        """
        import numpy as np

        if len(hyperloglogs) < 2:
            raise ValueError(f"Cannot union less than 2 HyperLogLog, got {len(hyperloglogs)}")
        precisions = sorted({h.p for h in hyperloglogs})
        if len(precisions) > 1:
            raise ValueError(f"Cannot union HyperLogLog with different precisions: {precisions}")
        registers = np.maximum.reduce([h.reg for h in hyperloglogs])
        return cls(reg=registers, hashfunc=hyperloglogs[0].hashfunc)

    def bytesize(self) -> int:
        """Returns the number of bytes that ``serialize`` writes: one for the precision, and one for
        each register.
        """
        return 1 + self.m

    def serialize(self, buf: Any) -> None:
        """Writes the sketch, without its ``hashfunc``, to the beginning of a buffer.

        Args:
            buf: A writable buffer of at least ``bytesize`` bytes.

        Raises:
            ValueError: ``buf`` is too short.
        """
        if len(buf) < self.bytesize():
            raise ValueError(f"buf must have at least {self.bytesize()} bytes, got {len(buf)}")
        struct.pack_into(f"{1 + self.m}B", buf, 0, self.p, *self.reg.tolist())

    @classmethod
    def deserialize(cls, buf: Any) -> HyperLogLog:
        """Reads a sketch that ``serialize`` wrote. The sketch has the default ``hashfunc``.

        Args:
            buf: A buffer that begins with the sketch.

        Raises:
            struct.error: ``buf`` is too short.
            ValueError: The precision is out of its range.
        """
        sketch = cls.__new__(cls)
        sketch.__setstate__(buf)
        return sketch

    def __getstate__(self) -> Any:
        state = bytearray(self.bytesize())
        self.serialize(state)
        return state

    def __setstate__(self, state: Any) -> None:
        import numpy as np

        (p,) = struct.unpack_from("B", state)
        self.__init__(p=p)  # type: ignore[misc]
        self.reg = np.array(struct.unpack_from(f"{self.m}B", state, 1), dtype=np.int8)


class HyperLogLogPlusPlus(HyperLogLog):
    """HyperLogLog with hashes of 64 bits and a more accurate estimate for small sets.

    Args:
        p: The precision, 4 to 16. The sketch has ``2**p`` registers. Ignored if ``reg`` is passed.
        reg: The registers of another sketch, an array of int8. The new sketch uses and changes
            this array, without a copy.
        hashfunc: A function from a token to an integer of 64 bits; SHA-1 by default.
        hashobj: Ignored, with a DeprecationWarning.

    Raises:
        ValueError: An argument is out of its range.

    Examples:
        >>> h = HyperLogLogPlusPlus(p=10)
        >>> for number in range(5000):
        ...     h.update(b"%d" % number)
        >>> 4800 < h.count() < 5200
        True
    """

    _hash_range_bit = 64
    _hash_range_byte = 8

    def __init__(
        self,
        p: int = 8,
        reg: NDArray[np.int8] | None = None,
        hashfunc: Callable[[Any], int] = sha1_hash64,
        hashobj: object | None = None,
    ) -> None:
        super().__init__(p=p, reg=reg, hashfunc=hashfunc, hashobj=hashobj)

    def _get_threshold(self, p: int) -> int:
        return _thresholds[p - 4]

    def _estimate_bias(self, e: float, p: int) -> float:
        """Returns how much the estimate ``e`` is too high on average: the mean bias of the six
        nearest measured estimates.
        """
        import numpy as np

        raw, bias = (table[p - 4] for table in _means())
        nearest = np.argsort((e - raw) ** 2)[:6]
        return float(np.mean(bias[nearest]))

    def count(self) -> float:
        """Returns an estimate of the number of distinct tokens."""
        zeros = self._zeros()
        if zeros > 0:
            linear = self._linearcounting(zeros)
            if linear <= self._get_threshold(self.p):
                return linear
        e = self._raw_count()
        return e - self._estimate_bias(e, self.p) if e <= 5 * self.m else e
