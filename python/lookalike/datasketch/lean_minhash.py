"""A MinHash that cannot be updated, takes less memory, and has a fixed binary format."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lookalike.datasketch.minhash import (
    _SCHEME_CODES,
    _SCHEME_OF_CODE,
    MinHash,
    Scheme,
    _check_union,
    _checked_scheme,
    _least,
    _state,
)

if TYPE_CHECKING:
    from lookalike.datasketch._native import MinHashState

__all__ = ["LeanMinHash"]

_VALUE_FORMATS = {"legacy": "I", "affine32": "I", "affine64": "Q"}


class LeanMinHash(MinHash):
    """A frozen ``MinHash``, which can be compared, merged and stored, but not updated.

    Args:
        minhash: The sketch to freeze. Without it, pass the other three arguments.
        seed: The seed of the sketch from which ``hashvalues`` were taken.
        hashvalues: The hash values, a sequence or array of integers.
        scheme: The scheme of the sketch from which ``hashvalues`` were taken.

    Raises:
        ValueError: Neither ``minhash`` nor all three other arguments are passed. Or ``scheme`` is
            unknown, or differs from the scheme of ``minhash``. Or a hash value is out of range. Or
            ``hashvalues`` is empty, and ``scheme`` is not ``"legacy"``.
        TypeError: A hash value is not an integer.
        OverflowError: A hash value in a list or tuple is out of range for ``"legacy"``.

    Examples:
        >>> m = MinHash(num_perm=4)
        >>> m.update(b"a")
        >>> lean = LeanMinHash(m)
        >>> buffer = bytearray(lean.bytesize("<"))
        >>> lean.serialize(buffer, "<")
        >>> len(buffer), LeanMinHash.deserialize(buffer, "<") == lean
        (29, True)
    """

    def __init__(
        self,
        minhash: MinHash | None = None,
        seed: int | None = None,
        hashvalues: Iterable[int] | None = None,
        scheme: Scheme | None = None,
    ) -> None:
        if minhash is not None:
            if scheme is not None and scheme != minhash.scheme:
                raise ValueError(
                    f"scheme {scheme!r} conflicts with the scheme {minhash.scheme!r} of the given "
                    "MinHash"
                )
            self._take(_state(minhash))
        elif hashvalues is not None and seed is not None:
            if scheme is None:
                raise ValueError(
                    "scheme must be specified explicitly when initializing from existing hash "
                    "values: pass the scheme of the MinHash they came from, or scheme='legacy' "
                    "for hash values created by datasketch before 2.0.0."
                )
            self._initialize_slots(seed, hashvalues, scheme)
        else:
            raise ValueError(
                "Init parameters cannot be None: make sure to set either minhash or both of hash "
                "values and seed"
            )

    def _initialize_slots(self, seed: Any, hashvalues: Any, scheme: str = "legacy") -> None:
        scheme = _checked_scheme(scheme)
        if scheme != "legacy" and len(hashvalues) == 0:
            raise ValueError("hashvalues must not be empty")
        self._set_up(scheme, seed, 0, None, 0, hashvalues, None)

    def _take(self, state: MinHashState) -> None:
        """Copies the values of another sketch. Does not read its attribute ``hashvalues``, because
        the other sketch would then keep an array.
        """
        self._set_like(state)
        self._freeze()

    def update(self, b: Any) -> None:
        """Raises TypeError, because the sketch is frozen."""
        raise TypeError(
            "Cannot update a LeanMinHash: make a MinHash of its seed, hashvalues and scheme"
        )

    def update_batch(self, b: Iterable[Any]) -> None:
        """Raises TypeError, because the sketch is frozen."""
        self.update(b)

    def copy(self) -> LeanMinHash:
        """Returns an independent sketch of the same set."""
        copied = LeanMinHash.__new__(LeanMinHash)
        copied._take(self)
        return copied

    def _format(self, byteorder: str) -> str:
        value = _VALUE_FORMATS[self.scheme]
        code = "" if self.scheme == "legacy" else "B"
        return f"{byteorder}qi{code}{len(self)}{value}"

    def _ints(self) -> tuple[int, ...]:
        value = "I" if self.scheme == "affine32" else "Q"
        return struct.unpack(f"<{len(self)}{value}", self._value_bytes())

    def bytesize(self, byteorder: str = "@") -> int:
        """Returns the number of bytes that ``serialize`` writes.

        Args:
            byteorder: One of the characters of ``struct``: ``@ = < > !``.
        """
        return struct.calcsize(self._format(byteorder))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Writes the sketch to the beginning of a buffer.

        The sketch consists of these parts. With ``@``, padding may precede the values.

        - the seed (8 bytes)
        - the number of values (4 bytes), negative except for ``"legacy"``
        - the code of the scheme (1 byte): 1 for ``"affine32"``, 2 for ``"affine64"``, absent for
          ``"legacy"``
        - the values (8 bytes each for ``"affine64"``, else 4 bytes each)

        Args:
            buf: A writable buffer of at least ``bytesize`` bytes.
            byteorder: One of the characters of ``struct``: ``@ = < > !``.

        Raises:
            ValueError: The buffer is too short.
        """
        required = self.bytesize(byteorder)
        if len(buf) < required:
            raise ValueError(
                "The buffer does not have enough space for holding this MinHash: "
                f"expected {required} bytes, got {len(buf)}"
            )
        self._pack_into(buf, byteorder)

    def _pack_into(self, buf: Any, byteorder: str) -> None:
        format = self._format(byteorder)
        if self.scheme == "legacy":
            struct.pack_into(format, buf, 0, self.seed, len(self), *self._ints())
        else:
            code = _SCHEME_CODES[self.scheme]
            struct.pack_into(format, buf, 0, self.seed, -len(self), code, *self._ints())

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """Reads the sketch at the beginning of a buffer. Also reads sketches that datasketch
        before 2.0.0 wrote.

        Args:
            buf: The buffer.
            byteorder: The ``byteorder`` of ``serialize``.

        Raises:
            ValueError: The code of the scheme is unknown.
            struct.error: The buffer is too short.
        """
        lean = LeanMinHash.__new__(LeanMinHash)
        lean._unpack_from(buf, byteorder)
        return lean

    def _unpack_from(self, buf: Any, byteorder: str) -> None:
        buf = memoryview(buf)
        head = f"{byteorder}qi"
        seed, num_perm = struct.unpack_from(head, buf, 0)
        if num_perm >= 0:
            scheme = "legacy"
            offset = struct.calcsize(head)
        else:
            num_perm = -num_perm
            (code,) = struct.unpack_from(f"{byteorder}B", buf, struct.calcsize(head))
            if code not in _SCHEME_OF_CODE:
                raise ValueError(
                    f"Unknown permutation scheme code: {code}; expected one of "
                    f"{sorted(_SCHEME_OF_CODE)}"
                )
            scheme = _SCHEME_OF_CODE[code]
            # `0I` and `0Q` add no value, but the padding before the first value if the byte order
            # is `@`.
            offset = struct.calcsize(f"{head}B0{_VALUE_FORMATS[scheme]}")
        values = struct.unpack_from(f"{byteorder}{num_perm}{_VALUE_FORMATS[scheme]}", buf, offset)
        self._initialize_slots(seed, values, scheme)

    def __getstate__(self) -> Any:
        buf = bytearray(self.bytesize())
        self._pack_into(buf, "@")
        return buf

    def __setstate__(self, state: Any) -> None:
        self._unpack_from(state, "@")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.scheme, self.seed, self._ints()))

    @classmethod
    def union(cls, *mhs: MinHash) -> LeanMinHash:
        """Returns a new sketch of the union of at least two sets.

        Raises:
            ValueError: Fewer than two sketches are passed, or their schemes, seeds or numbers of
                values differ.
        """
        _check_union(mhs)
        lean = LeanMinHash.__new__(LeanMinHash)
        lean._take(_least(mhs))
        return lean
