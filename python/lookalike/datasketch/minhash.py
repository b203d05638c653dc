"""MinHash with the hash values of datasketch 2.0.0, or of earlier versions by a scheme."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterable
from operator import index
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, cast

from lookalike.datasketch import _native
from lookalike.datasketch.hashfunc import (
    sha1_hash32,
    sha1_hash64,
    token_hash32,
    token_hash64,
)
from lookalike.datasketch.pickles import reduced
from lookalike.errors import OptionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    HashValues: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]
    """Hash values: uint32 for the scheme ``"affine32"``, uint64 for others."""

__all__ = ["MinHash", "from_token_sets"]

Scheme = Literal["affine32", "affine64", "legacy"]
"""A family of permutations, and the width of its hash values."""
GpuMode = Literal["disable", "detect", "always"]
"""The use of a GPU in datasketch."""

_SCHEMES = ("affine32", "affine64", "legacy")
_SCHEME_CODES = {"affine32": 1, "affine64": 2}
_SCHEME_OF_CODE = {code: scheme for scheme, code in _SCHEME_CODES.items()}
_hash_range = 1 << 32
_MOST_THREADS = 1024

_KINDS = {sha1_hash32: 32, sha1_hash64: 64, token_hash32: 33, token_hash64: 65}


def _kind_of(hashfunc: Callable[[Any], int], scheme: str) -> int:
    """Returns the number of the engine's function that equals ``hashfunc``, or 0 if Python has to
    call ``hashfunc``.
    """
    kind = _kind_at_all(hashfunc)
    return 0 if kind >= 64 and scheme == "affine32" else kind


def _kind_at_all(hashfunc: Callable[[Any], int]) -> int:
    for known, kind in _KINDS.items():
        if hashfunc is known:
            return kind
    name = getattr(hashfunc, "__name__", None)
    if name in ("sha1_hash32", "sha1_hash64"):
        theirs = sys.modules.get("datasketch.hashfunc")
        if theirs is not None and hashfunc is getattr(theirs, name, None):
            return int(name[-2:])
    return 0


def _checked_scheme(scheme: object) -> Scheme:
    if scheme not in _SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(_SCHEMES)}, got {scheme!r}")
    return cast("Scheme", scheme)


# Returns the scheme that an index remembers after one more sketch.
_check_scheme_consistency = _native.check_scheme


def __getattr__(name: str) -> Any:
    # NumPy scalars, computed on demand to avoid importing NumPy for them.
    if name in ("_mersenne_prime", "_max_hash"):
        import numpy as np

        return np.uint64((1 << 61) - 1 if name == "_mersenne_prime" else _hash_range - 1)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _is_one_number(seed: object) -> bool:
    try:
        index(cast("SupportsIndex", seed))
    except TypeError:
        return False
    return True


def _drawn_by_numpy(seed: Any, num_perm: int, scheme: str) -> tuple[Any, Any]:
    """Draws permutations from a seed that only NumPy supports: None, or several numbers."""
    import numpy as np

    random = np.random.RandomState(seed)
    if scheme == "legacy":
        prime = (1 << 61) - 1
        pairs = [
            (random.randint(1, prime, dtype=np.uint64), random.randint(0, prime, dtype=np.uint64))
            for _ in range(num_perm)
        ]
        return [int(a) for a, _ in pairs], [int(b) for _, b in pairs]
    width, dtype = (32, np.uint32) if scheme == "affine32" else (64, np.uint64)
    half = random.randint(0, 1 << (width - 1), num_perm, dtype=dtype)
    return half * dtype(2) + dtype(1), random.randint(0, 1 << width, num_perm, dtype=dtype)


class MinHash(_native.MinHashState):
    """A sketch of a set, from which Jaccard similarity is estimated.

    Args:
        num_perm: The number of hash values, 1 to ``2**32``; ignored if ``hashvalues`` is passed.
        seed: The seed of the permutations, 0 to ``2**32 - 1``; None draws random ones.
        gpu_mode: ``"always"`` raises RuntimeError at an update, since nothing runs on a GPU here;
            other modes use the processor.
        hashfunc: A function from a token to an integer of 32 bits (64 bits for ``"affine64"``),
            SHA-1 by default. The functions of ``lookalike.datasketch.hashfunc`` run in the engine.
        hashobj: Ignored, with a DeprecationWarning.
        hashvalues: The hash values of another sketch, whose ``scheme`` must be passed.
        permutations: The permutations of another sketch: two sequences of ``num_perm`` integers.
        scheme: ``"affine32"`` (default), ``"affine64"``, or ``"legacy"`` for the values of
            datasketch before 2.0.0.

    Raises:
        ValueError: An argument is out of its range, or the numbers of hash values and permutations
            differ.

    Examples:
        >>> one, two = MinHash(), MinHash()
        >>> one.update_batch([b"a", b"b", b"c"])
        >>> two.update_batch([b"a", b"b", b"d"])
        >>> one.jaccard(two)
        0.5390625
    """

    _gpu_mode: GpuMode = "disable"
    # Pickles of datasketch have these attributes; here nothing runs on a GPU.
    _a_gpu: Any = None
    _b_gpu: Any = None

    def __init__(
        self,
        num_perm: int = 128,
        seed: Any = 1,
        gpu_mode: GpuMode = "disable",
        hashfunc: Callable[[Any], int] | None = None,
        hashobj: object | None = None,
        hashvalues: ArrayLike | None = None,
        permutations: Any | None = None,
        scheme: Scheme | None = None,
    ) -> None:
        if scheme is None:
            if hashvalues is not None or permutations is not None:
                raise ValueError(
                    "scheme must be specified explicitly when initializing from existing hash "
                    "values or permutations: pass the scheme of the MinHash they came from, or "
                    "scheme='legacy' for values created by datasketch before 2.0.0."
                )
            scheme = "affine32"
        else:
            scheme = _checked_scheme(scheme)
        if hashvalues is not None:
            num_perm = len(cast("list[int]", hashvalues))
        if num_perm < 1:
            raise ValueError(f"num_perm must be positive, got {num_perm}")
        if num_perm > _hash_range:
            raise ValueError(
                f"Cannot have more than {_hash_range} number of permutation functions, "
                f"got {num_perm}"
            )
        if hashfunc is None:
            hashfunc = sha1_hash64 if scheme == "affine64" else sha1_hash32
            kind = 64 if scheme == "affine64" else 32
        else:
            if not callable(hashfunc):
                raise ValueError(f"The hashfunc must be a callable, got {hashfunc!r}.")
            kind = _kind_of(hashfunc, scheme)
        if hashobj is not None:
            warnings.warn(
                "hashobj is deprecated, use hashfunc instead.", DeprecationWarning, stacklevel=2
            )
        if gpu_mode != "disable":
            self._gpu_mode = gpu_mode
        if permutations is None and not _is_one_number(seed):
            permutations = _drawn_by_numpy(seed, num_perm, scheme)
        self._set_up(scheme, seed, num_perm, hashfunc, kind, hashvalues, permutations)

    @property
    def num_perm(self) -> int:
        """The number of hash values."""
        return len(self)

    @property
    def hashfunc(self) -> Callable[[Any], int]:
        """The function from a token to a number."""
        function = self._hashfunc
        if function is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'hashfunc'")
        return function

    @hashfunc.setter
    def hashfunc(self, hashfunc: Callable[[Any], int]) -> None:
        self._set_hashfunc(hashfunc, _kind_of(hashfunc, self.scheme))

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds tokens to the set.

        Args:
            b: Tokens: bytes, or the type that ``hashfunc`` takes. If one is rejected, none is
                added.

        Raises:
            TypeError: A token is a ``str`` or has no buffer.
            ValueError: ``hashfunc`` returned a number that the scheme cannot hold.
            RuntimeError: ``gpu_mode`` is ``"always"``.

        Examples:
            >>> m = MinHash(num_perm=4)
            >>> m.update_batch([b"token1", b"token2"])
            >>> m.is_empty()
            False
        """
        if self._gpu_mode == "always":
            b = list(b)
            if not b:
                return
            raise RuntimeError(
                "GPU mode 'always' requested but CuPy/CUDA device is unavailable: "
                "use gpu_mode='disable'"
            )
        super().update_batch(b)

    def _comparable(self, other: MinHash, what: str) -> None:
        scheme = getattr(other, "scheme", None)
        if scheme != self.scheme:
            raise ValueError(
                f"Cannot {what} MinHash with different permutation schemes: "
                f"{self.scheme!r} and {scheme!r}"
            )
        if other.seed != self.seed:
            raise ValueError(
                f"Cannot {what} MinHash with different seeds: {self.seed} and {other.seed}"
            )
        if len(self) != len(other):
            raise ValueError(
                f"Cannot {what} MinHash with different numbers of permutation functions: "
                f"{len(self)} and {len(other)}"
            )

    def jaccard(self, other: MinHash) -> float:
        """Estimates the Jaccard similarity to the set of ``other``, 0.0 to 1.0.

        Raises:
            ValueError: Schemes, seeds or numbers of hash values differ.
        """
        self._comparable(other, "compute Jaccard given")
        return self._equal_values(_state(other)) / len(self)

    def merge(self, other: MinHash) -> None:
        """Adds all tokens of ``other``.

        Raises:
            ValueError: Schemes, seeds or numbers of hash values differ.
        """
        self._comparable(other, "merge")
        self._merge_values(_state(other))

    def copy(self) -> MinHash:
        """Returns an independent sketch of the same set."""
        copied = MinHash.__new__(MinHash)
        copied._set_like(self)
        if self._gpu_mode != "disable":
            copied._gpu_mode = self._gpu_mode
        return copied

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, MinHash)
            and self.scheme == other.scheme
            and bool(self.seed == other.seed)
            and len(self) == len(other)
            and self._equal_values(other) == len(self)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, protocol) or super().__reduce_ex__(protocol)

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """Returns a new sketch of the union of at least two sets.

        Raises:
            ValueError: Fewer than two sketches are passed, or their schemes, seeds or numbers of
                values differ.
        """
        _check_union(mhs)
        first = mhs[0]
        return cls(
            seed=first.seed,
            gpu_mode=first._gpu_mode,
            hashfunc=first.hashfunc,
            hashvalues=_least(mhs).digest(),
            permutations=first.permutations,
            scheme=first.scheme,
        )

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list[MinHash]:
        """Computes the sketches of many sets.

        Args:
            b: Sets, each an iterable of tokens.
            minhash_kwargs: The arguments of ``MinHash``.

        Examples:
            >>> [len(m) for m in MinHash.bulk([[b"a"], [b"b", b"c"]], num_perm=64)]
            [64, 64]
        """
        prototype = cls(**minhash_kwargs)
        inherited = cls.copy is MinHash.copy and cls.update_batch is MinHash.update_batch
        if inherited and prototype._gpu_mode == "disable":
            return cast("list[MinHash]", _native.bulk(MinHash, prototype, b, 1))
        return list(cls._each(prototype, b))

    @classmethod
    def generator(
        cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any
    ) -> Generator[MinHash, None, None]:
        """Like ``bulk``, but computes each sketch when it is requested."""
        yield from cls._each(cls(**minhash_kwargs), b)

    @staticmethod
    def _each(prototype: MinHash, b: Iterable[Iterable[Any]]) -> Generator[MinHash, None, None]:
        for tokens in b:
            copied = prototype.copy()
            copied.update_batch(tokens)
            yield copied

    def __getstate__(self) -> Any:
        state: dict[str, Any] = dict(self.__dict__)
        state.update(
            scheme=self.scheme,
            seed=self.seed,
            num_perm=self.num_perm,
            hashfunc=self.hashfunc,
            hashvalues=self.digest(),
            permutations=self.permutations,
            _gpu_mode=self._gpu_mode,
            _a_gpu=None,
            _b_gpu=None,
        )
        return state

    def __setstate__(self, state: Any) -> None:
        state = dict(state)
        hashfunc = state.pop("hashfunc")
        scheme = _checked_scheme(state.pop("scheme", "legacy"))
        hashvalues = state.pop("hashvalues")
        self._set_up(
            scheme,
            state.pop("seed"),
            len(hashvalues),
            hashfunc,
            _kind_of(hashfunc, scheme),
            hashvalues,
            state.pop("permutations"),
        )
        for name in ("num_perm", "_a_gpu", "_b_gpu"):
            state.pop(name, None)
        if state.get("_gpu_mode") == "disable":
            del state["_gpu_mode"]
        self.__dict__.update(state)


def _state(other: Any) -> _native.MinHashState:
    """The state of any sketch with hash values, including datasketch's own sketches."""
    if isinstance(other, _native.MinHashState):
        return other
    state = _native.MinHashState()
    state._set_up(other.scheme, other.seed, 0, None, 0, other.hashvalues, None)
    return state


def _check_union(mhs: tuple[MinHash, ...]) -> None:
    if len(mhs) < 2:
        raise ValueError(f"Cannot union less than 2 MinHash, got {len(mhs)}")
    first = mhs[0]
    for m in mhs:
        if (m.seed, len(m), m.scheme) != (first.seed, len(first), first.scheme):
            raise ValueError(
                "The unioning MinHash must have the same seed, number of permutation functions "
                f"and scheme: got {(first.seed, len(first), first.scheme)} and "
                f"{(m.seed, len(m), m.scheme)}"
            )


def _least(mhs: tuple[MinHash, ...]) -> _native.MinHashState:
    """The hash values of the union."""
    least = _native.MinHashState()
    least._set_like(_state(mhs[0]))
    least._freeze()
    for m in mhs[1:]:
        least._merge_values(_state(m))
    return least


def from_token_sets(
    sets: Iterable[Iterable[bytes | str]],
    num_perm: int = 128,
    seed: int = 1,
    scheme: Scheme = "affine32",
    hashfunc: Callable[[Any], int] | None = None,
    threads: int = 1,
) -> HashValues:
    """Computes the hash values of ``MinHash`` for many sets, without an object for each set.

    Args:
        sets: Sets, each an iterable of tokens: bytes, or ``str``, which represents its UTF-8.
        num_perm: Hash values of each set, at least 1.
        seed: The seed of the permutations, 0 to ``2**32 - 1``.
        scheme: As for ``MinHash``.
        hashfunc: As for ``MinHash``.
        threads: The number of threads, 1 to 1024. It does not change the values.

    Returns:
        An array of the shape (number of sets, ``num_perm``), uint32 for ``"affine32"``, else
        uint64. An empty set has the greatest value of the scheme everywhere.

    Raises:
        TypeError: A token is neither bytes nor ``str``.
        ValueError: An argument is out of its range.

    Examples:
        >>> values = from_token_sets([[b"a", b"b"], ["a", "b"]], num_perm=16)
        >>> values.shape, bool((values[0] == values[1]).all())
        ((2, 16), True)
    """
    threads = index(threads)
    if not 1 <= threads <= _MOST_THREADS:
        raise OptionError(
            f"threads must be a whole number from 1 to {_MOST_THREADS}, got {threads}"
        )
    prototype = MinHash(num_perm=num_perm, seed=seed, scheme=scheme, hashfunc=hashfunc)
    return cast("HashValues", _native.matrix(prototype, sets, threads))
