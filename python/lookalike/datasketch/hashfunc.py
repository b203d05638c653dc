"""Hash functions for tokens."""

from __future__ import annotations

from typing import Any

from lookalike.datasketch import _native

__all__ = ["sha1_hash32", "sha1_hash64", "token_hash32", "token_hash64"]


def sha1_hash32(data: Any) -> int:
    """Returns the first four bytes of the SHA-1 of ``data``, read as a little-endian number.

    Args:
        data: Bytes, or an object with a buffer.

    Returns:
        A number from 0 to ``2**32 - 1``.

    Raises:
        TypeError: ``data`` is a ``str`` or has no buffer.

    Examples:
        >>> sha1_hash32(b"a")
        937752454
    """
    return _native.sha1_hash32(data)


def sha1_hash64(data: Any) -> int:
    """Returns the first eight bytes of the SHA-1 of ``data``, read as a little-endian number.

    Args:
        data: Bytes, or an object with a buffer.

    Returns:
        A number from 0 to ``2**64 - 1``.

    Raises:
        TypeError: ``data`` is a ``str`` or has no buffer.

    Examples:
        >>> sha1_hash64(b"a") % 2**32 == sha1_hash32(b"a")
        True
    """
    return _native.sha1_hash64(data)


def token_hash32(data: Any) -> int:
    """Returns the lower 32 bits of ``token_hash64``, with the same errors.

    Args:
        data: Bytes, or an object with a buffer.

    Returns:
        A number from 0 to ``2**32 - 1``.

    Examples:
        >>> token_hash32(b"a") == token_hash64(b"a") % 2**32
        True
    """
    return _native.token_hash(data) & 0xFFFFFFFF


def token_hash64(data: Any) -> int:
    """Returns the token hash, which ``docs/reference/signature.md`` defines. It is much faster
    than SHA-1, but datasketch does not have it.

    Args:
        data: Bytes, or an object with a buffer.

    Returns:
        A number from 0 to ``2**64 - 1``.

    Raises:
        TypeError: ``data`` is a ``str`` or has no buffer.

    Examples:
        >>> from lookalike.datasketch import MinHash
        >>> m = MinHash(hashfunc=token_hash32)
        >>> m.update(b"a")
    """
    return _native.token_hash(data)
