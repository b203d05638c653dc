"""MinHash of weight vectors (consistent weighted sampling: Ioffe 2010)."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any

from lookalike.datasketch import _native

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["WeightedMinHash", "WeightedMinHashGenerator"]


class WeightedMinHash:
    """A sketch of a weight vector. ``WeightedMinHashGenerator`` computes such sketches.

    Args:
        seed: The seed of the generator.
        hashvalues: The samples, an array of int64 with two columns and a row for each sample.
    """

    def __init__(self, seed: int, hashvalues: NDArray[np.int64]) -> None:
        self.seed = seed
        self.hashvalues = hashvalues

    def jaccard(self, other: WeightedMinHash) -> float:
        """Returns an estimate of the weighted Jaccard similarity to the vector of ``other``, 0.0
        to 1.0.

        Raises:
            ValueError: The two sketches have different seeds or numbers of samples.
        """
        import numpy as np

        if other.seed != self.seed:
            raise ValueError(
                "Cannot compute Jaccard given WeightedMinHash objects with different seeds: "
                f"{self.seed} and {other.seed}"
            )
        if len(self) != len(other):
            raise ValueError(
                "Cannot compute Jaccard given WeightedMinHash objects with different numbers of "
                f"hash values: {len(self)} and {len(other)}"
            )
        own_values, other_values = np.asarray(self.hashvalues), np.asarray(other.hashvalues)
        count = 0
        if own_values.shape == other_values.shape and own_values.size:
            equal = (own_values == other_values).reshape(len(self), -1)
            count = int(np.count_nonzero(equal.all(axis=1)))
        return float(count) / float(len(self))

    def digest(self) -> NDArray[np.int64]:
        """Returns a copy of the samples."""
        values: NDArray[np.int64] = self.hashvalues.copy()
        return values

    def copy(self) -> WeightedMinHash:
        """Returns an independent sketch of the same vector."""
        return WeightedMinHash(self.seed, self.digest())

    def __len__(self) -> int:
        """Returns the number of samples."""
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        import numpy as np

        return (
            type(self) is type(other)
            and isinstance(other, WeightedMinHash)
            and self.seed == other.seed
            and bool(np.array_equal(self.hashvalues, other.hashvalues))
        )

    __hash__ = None  # type: ignore[assignment]


class WeightedMinHashGenerator:
    """Computes sketches of weight vectors.

    Args:
        dim: The number of dimensions of the vectors.
        sample_size: The number of samples of each sketch.
        seed: The seed from which NumPy draws the random parameters. Compare only sketches of
            generators with the same ``dim``, ``sample_size`` and ``seed``.

    Examples:
        >>> generator = WeightedMinHashGenerator(3, sample_size=128)
        >>> one, two = generator.minhash([1, 2, 3]), generator.minhash([1, 2, 4])
        >>> 0.5 < one.jaccard(two) <= 1.0
        True
    """

    _known: tuple[tuple[Any, ...], _native.Weights] | None = None

    def __init__(self, dim: int, sample_size: int = 128, seed: int = 1) -> None:
        import numpy as np

        self.dim = dim
        self.sample_size = sample_size
        self.seed = seed
        generator = np.random.RandomState(seed=seed)
        shape = (sample_size, dim)
        self.rs = generator.gamma(2, 1, shape).astype(np.float32)
        self.ln_cs = np.log(generator.gamma(2, 1, shape)).astype(np.float32)
        self.betas = generator.uniform(0, 1, shape).astype(np.float32)

    def _weights(self) -> _native.Weights:
        """Returns the parameters in the engine's form. Converts them again only if the attributes
        have changed.
        """
        import numpy as np

        parameters = [
            np.ascontiguousarray(rows[: self.sample_size], dtype="<f4").tobytes()
            for rows in (self.rs, self.ln_cs, self.betas)
        ]
        state = (self.dim, self.sample_size, *parameters)
        if self._known is None or self._known[0] != state:
            self._known = state, _native.Weights(self.dim, self.sample_size, *parameters)
        return self._known[1]

    def minhash(self, v: Any) -> WeightedMinHash:
        """Computes the sketch of one vector.

        Args:
            v: The ``dim`` weights. Weights that are zero, negative or NaN are ignored.

        Raises:
            TypeError: The vector has no length, or more than one dimension.
            ValueError: The vector has another length, a masked weight, or no positive weight.
            OverflowError: A weight is infinite.
        """
        import numpy as np

        if not isinstance(v, Sized):
            raise TypeError(f"Input vector must be sized, got {type(v).__name__}")
        if len(v) != self.dim:
            raise ValueError(f"Input dimension mismatch, expecting {self.dim}, got {len(v)}")
        if np.ma.is_masked(v):
            raise ValueError("Input vector must have all weights, got masked ones: fill them")
        weights = np.array(v, dtype=np.float32)
        if weights.ndim != 1:
            raise TypeError(
                f"Input vector must have one dimension, got an array of shape {weights.shape}"
            )
        is_zero = weights == 0
        if is_zero.all():
            raise ValueError("Input is all zeros")
        weights[is_zero] = np.nan
        samples = self._weights().minhash(np.log(weights).astype("<f4").tobytes())
        return WeightedMinHash(self.seed, samples)

    def minhash_many(self, X: Any) -> list[WeightedMinHash | None]:
        """Computes the sketches of the rows of a matrix. Do not compare them with sketches that
        ``minhash`` computed, which differ.

        Args:
            X: A NumPy matrix, or a sparse matrix or array of SciPy, with ``dim`` columns.

        Returns:
            A sketch for each row; None for a row of zeros.

        Raises:
            TypeError: ``X`` has another type.
            ValueError: The matrix has another number of columns, or a weight is negative or NaN.
            OverflowError: A weight is infinite.
        """
        import numpy as np

        if not isinstance(X, np.ndarray) and not _is_sparse(X):
            raise TypeError(
                f"Input X must be a sparse matrix or numpy matrix, got {type(X).__name__}"
            )
        if X.ndim != 2:
            raise ValueError(f"Input must have two dimensions, got {X.ndim}")
        if X.shape[1] != self.dim:
            raise ValueError(f"Input dimension mismatch, expecting {self.dim}, got {X.shape[1]}")
        if isinstance(X, np.ndarray):
            matrix = np.asarray(X, dtype=np.float32)
            rows, columns = np.nonzero(matrix)
            weights = np.asarray(matrix[rows, columns]).reshape(-1)
            ends = np.cumsum(np.bincount(rows, minlength=matrix.shape[0]))
        else:
            from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

            sorted_rows = sparse.csr_matrix(X, dtype=np.float32, copy=True)
            sorted_rows.eliminate_zeros()
            sorted_rows.sort_indices()
            columns, weights = sorted_rows.indices, sorted_rows.data
            ends = sorted_rows.indptr[1:]
        if np.isnan(weights).any() or (weights < 0).any():
            raise ValueError("weights must not be negative or NaN")
        signatures = self._weights().minhash_many(
            ends.tolist(), columns.tolist(), np.log(weights).astype("<f4").tobytes()
        )
        return [
            None if values is None else WeightedMinHash(self.seed, values) for values in signatures
        ]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_known", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _is_sparse(matrix: Any) -> bool:
    try:
        from scipy import sparse
    except ImportError:
        return False
    return bool(sparse.issparse(matrix))
