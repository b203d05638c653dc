"""Measured constants of HyperLogLog++ (Heule, Nunkesser and Hall 2013, and its appendix).

These constants and ``hyperloglog_bias.csv`` are taken from datasketch 2.0.0, Copyright (c) 2015
ekzhu, under the MIT licence. Its text is in ``LICENSE-datasketch`` among the licence files of the
package.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__: list[str] = []

# For each precision from 4 on, the estimate up to which linear counting is more accurate.
_thresholds = [10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 11500, 20000, 50000]


@lru_cache
def _means() -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Returns, for each precision from 4 on, the mean uncorrected estimates of some cardinalities,
    and their biases. A bias is the estimate minus the cardinality, with 15 digits as in the
    appendix of the paper.
    """
    import numpy as np

    raw: list[list[float]] = [[] for _ in _thresholds]
    bias: list[list[float]] = [[] for _ in _thresholds]
    rows = Path(__file__).with_name("hyperloglog_bias.csv").read_text(encoding="ascii")
    for row in rows.splitlines()[1:]:
        precision, cardinality, mean = row.split(",")
        raw[int(precision) - 4].append(float(mean))
        bias[int(precision) - 4].append(float(f"{float(mean) - int(cardinality):.15g}"))
    return [np.array(of) for of in raw], [np.array(of) for of in bias]


def __getattr__(name: str) -> Any:
    # Read the table at its first use.
    if name in ("_raw_estimate", "_bias"):
        return _means()[name == "_bias"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
