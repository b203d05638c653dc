"""Functions that check or choose the bands, rows and storage of an index."""

from __future__ import annotations

from operator import index
from typing import Any

from lookalike.datasketch import _native
from lookalike.datasketch.storage import check_storage

__all__ = ["check_weights", "checked_bands", "checked_storage"]


def _false_positive_probability(threshold: float, b: float, r: float) -> float:
    """Returns the integral, from similarity 0 to the threshold, of the probability that ``b``
    bands of ``r`` rows find a pair.
    """
    return _native.error_areas(threshold, b, r)[0]


def _false_negative_probability(threshold: float, b: float, r: float) -> float:
    """Returns the integral, from the threshold to similarity 1, of the probability that ``b``
    bands of ``r`` rows miss a pair.
    """
    return _native.error_areas(threshold, b, r)[1]


def _optimal_param(
    threshold: float, num_perm: int, false_positive_weight: float, false_negative_weight: float
) -> tuple[int, int]:
    """Returns the numbers of bands and rows with the least weighted sum of false positives and
    false negatives.
    """
    return _native.optimal_bands(threshold, num_perm, false_positive_weight, false_negative_weight)


def check_weights(weights: tuple[float, float]) -> None:
    """Checks the weights of false positives and false negatives.

    Raises:
        ValueError: There are not two weights from 0 to 1 whose sum is 1.
    """
    if len(weights) != 2:
        raise ValueError(f"expected two weights, got {len(weights)}: {weights}")
    if any(w < 0.0 or w > 1.0 for w in weights):
        raise ValueError(f"Weight must be in [0.0, 1.0], got {weights}")
    if sum(weights) != 1.0:
        raise ValueError(f"Weights must sum to 1.0, got {weights}")


def checked_bands(
    threshold: float,
    num_perm: int,
    weights: tuple[float, float],
    params: tuple[int, int] | None,
) -> tuple[int, int]:
    """Returns the numbers of bands and rows: ``params``, or a choice for the threshold.

    Raises:
        ValueError: An argument is out of its range.
    """
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold must be in [0.0, 1.0], got {threshold}")
    if num_perm < 2:
        raise ValueError(f"Too few permutation functions: expected at least 2, got {num_perm}")
    check_weights(weights)
    if params is not None:
        b, r = (index(number) for number in params)
        if b * r > num_perm:
            raise ValueError(
                f"The product of b and r in params is {b} * {r} = {b * r} -- it must be less "
                f"than num_perm {num_perm}. Did you forget to specify num_perm?"
            )
    else:
        b, r = _optimal_param(threshold, num_perm, *weights)
    if b < 2:
        raise ValueError(f"The number of bands are too small (b < 2): {b}")
    if r < 1:
        raise ValueError(f"A band must have at least one value, got {r}")
    return b, r


def checked_storage(config: dict[str, Any]) -> str:
    """Checks the options of a storage and returns its type.

    Raises:
        ValueError: The type is unknown, or an option is missing, unknown or invalid.
    """
    kind = check_storage(config, ("dict", "lookalike", "redis", "cassandra"))
    if kind != "lookalike":
        return kind
    if "path" not in config:
        raise ValueError("storage type 'lookalike' needs a folder; add 'path': FOLDER")
    unknown = sorted(map(repr, config.keys() - {"type", "path", "readonly", "allow_pickle"}))
    if unknown:
        raise ValueError(
            f"storage type 'lookalike' has no {', '.join(unknown)}; expected 'path', 'readonly' "
            "and 'allow_pickle'"
        )
    allow_pickle = config.get("allow_pickle", False)
    if not isinstance(allow_pickle, bool):
        raise ValueError(f"'allow_pickle': expected True or False, got {allow_pickle!r}")
    return kind
