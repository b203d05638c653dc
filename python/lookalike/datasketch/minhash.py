"""MinHash with the hash values of datasketch 2.0.0. The scheme ``"legacy"`` has the hash values of
earlier versions.
"""

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
"""The name of a family of permutations, which determines the width of the hash values."""
GpuMode = Literal["disable", "detect", "always"]
"""The values of ``gpu_mode`` in datasketch."""

_SCHEMES = ("affine32", "affine64", "legacy")
_SCHEME_CODES = {"affine32": 1, "affine64": 2}
_SCHEME_OF_CODE = {code: scheme for scheme, code in _SCHEME_CODES.items()}
_hash_range = 1 << 32
_MOST_THREADS = 1024

_KINDS = {sha1_hash32: 32, sha1_hash64: 64, token_hash32: 33, token_hash64: 65}


def _kind_of(hashfunc: Callable[[Any], int], scheme: str) -> int:
    """Returns the number of the engine's function that computes the same hashes as ``hashfunc``.
    Returns 0 if there is none, or if its hashes are too long for the scheme. The engine then calls
    ``hashfunc``.
    """
    kind = _kind_at_all(hashfunc)
    return 0 if kind >= 64 and scheme == "affine32" else kind


def _kind_at_all(hashfunc: Callable[[Any], int]) -> int:
    for known_function, kind in _KINDS.items():
        if hashfunc is known_function:
            return kind
    name = getattr(hashfunc, "__name__", None)
    if name in ("sha1_hash32", "sha1_hash64"):
        module = sys.modules.get("datasketch.hashfunc")
        if module is not None and hashfunc is getattr(module, name, None):
            return int(name[-2:])
    return 0


def _checked_scheme(scheme: object) -> Scheme:
    if scheme not in _SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(_SCHEMES)}, got {scheme!r}")
    return cast("Scheme", scheme)


# Checks the scheme of a sketch, and returns the scheme that an index stores from then on.
_check_scheme_consistency = _native.check_scheme


def __getattr__(name: str) -> Any:
    # Create these NumPy scalars on demand, because importing NumPy takes time.
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
    """Draws permutations with NumPy, from a seed that the engine does not support: None, or
    several numbers.
    """
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
    """A sketch of a set that estimates its Jaccard similarity to other sets.

    Args:
        num_perm: The number of hash values, 1 to ``2**32``; ignored if ``hashvalues`` is passed.
        seed: The seed of the permutations: a number from 0 to ``2**32 - 1``, or several, as for
            NumPy's ``RandomState``. None draws random permutations.
        gpu_mode: Nothing runs on a GPU in this package. With ``"always"``, ``update_batch`` raises
            RuntimeError. The other modes behave alike.
        hashfunc: A function from a token to an integer of 32 bits (64 bits for ``"affine64"``);
            SHA-1 by default. The engine runs the functions of ``lookalike.datasketch.hashfunc``
            without calling Python.
        hashobj: Ignored, with a DeprecationWarning.
        hashvalues: The hash values of another sketch. Also pass its ``seed`` and ``scheme``.
        permutations: The permutations of another sketch: two sequences of ``num_perm`` integers.
            Also pass its ``scheme``.
        scheme: ``"affine32"`` (default), ``"affine64"``, or ``"legacy"`` for the values of
            datasketch before 2.0.0.

    Raises:
        ValueError: An argument is out of its range, the numbers of hash values and permutations
            differ, or ``scheme`` is missing.

    Examples:
        >>> one, two = MinHash(), MinHash()
        >>> one.update_batch([b"a", b"b", b"c"])
        >>> two.update_batch([b"a", b"b", b"d"])
        >>> one.jaccard(two)
        0.5390625
    """

    _gpu_mode: GpuMode = "disable"
    # Pickles of datasketch contain these attributes. This package does not use a GPU.
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
        """The function from a token to an integer. A frozen sketch raises AttributeError."""
        function = self._hashfunc
        if function is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'hashfunc'")
        return function

    @hashfunc.setter
    def hashfunc(self, hashfunc: Callable[[Any], int]) -> None:
        self._set_hashfunc(hashfunc, _kind_of(hashfunc, self.scheme))

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds tokens to the set. If a token is rejected, adds none of them.

        Args:
            b: The tokens: bytes, or objects of the type that ``hashfunc`` takes.

        Raises:
            TypeError: A token is a ``str`` or has no buffer, or ``hashfunc`` returned a value that
                is not an integer.
            ValueError: ``hashfunc`` returned an integer that is out of range for the scheme
                ``"affine32"`` or ``"affine64"``.
            OverflowError: ``hashfunc`` returned an integer that is out of range for the scheme
                ``"legacy"``.
            RuntimeError: ``gpu_mode`` is ``"always"``, and ``b`` is not empty.

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

    def _comparable(self, other: MinHash, action: str) -> None:
        scheme = getattr(other, "scheme", None)
        if scheme != self.scheme:
            raise ValueError(
                f"Cannot {action} MinHash with different permutation schemes: "
                f"{self.scheme!r} and {scheme!r}"
            )
        if other.seed != self.seed:
            raise ValueError(
                f"Cannot {action} MinHash with different seeds: {self.seed} and {other.seed}"
            )
        if len(self) != len(other):
            raise ValueError(
                f"Cannot {action} MinHash with different numbers of permutation functions: "
                f"{len(self)} and {len(other)}"
            )

    def jaccard(self, other: MinHash) -> float:
        """Returns an estimate of the Jaccard similarity to the set of ``other``, 0.0 to 1.0.

        Raises:
            ValueError: The two sketches have different schemes, seeds or numbers of hash values.
        """
        self._comparable(other, "compute Jaccard given")
        return self._equal_values(_state(other)) / len(self)

    def merge(self, other: MinHash) -> None:
        """Adds all tokens of the set of ``other``.

        Raises:
            ValueError: The two sketches have different schemes, seeds or numbers of hash values.
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
            b: The sets, each an iterable of tokens as for ``update_batch``.
            minhash_kwargs: Arguments of ``MinHash``, which apply to all sketches.

        Returns:
            The sketches in the order of the sets.

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
        """Yields the sketches that ``bulk`` returns. Computes each sketch when it is requested."""
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
    """Returns the state of a sketch in the engine's form. Also takes sketches of datasketch
    itself.
    """
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
    """Returns a frozen state with the hash values of the union."""
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
    """Computes the hash values of ``MinHash`` for many sets, without creating an object for each
    set.

    Args:
        sets: The sets, each an iterable of tokens. A token is bytes, or a ``str``, which is hashed
            as its UTF-8.
        num_perm: The number of hash values of each set, at least 1.
        seed: The seed of the permutations, 0 to ``2**32 - 1``.
        scheme: As for ``MinHash``.
        hashfunc: As for ``MinHash``. A function of your own receives the tokens unchanged.
        threads: The number of threads, 1 to 1024. It does not change the values.

    Returns:
        An array with a row of ``num_perm`` values for each set: uint32 for ``"affine32"``, else
        uint64. All values of an empty set are the greatest value of the scheme.

    Raises:
        TypeError: A token is neither a ``str`` nor bytes or another object with a buffer.
        OptionError: ``threads`` is out of its range.
        ValueError: Another argument is out of its range.

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
