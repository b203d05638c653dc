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

# The estimates up to which linear counting is better, from precision 4 on.
_thresholds = [10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 11500, 20000, 50000]


@lru_cache
def _means() -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Mean raw estimates of some cardinalities, and how much they are too high, from precision 4
    on. The appendix states the differences with 15 digits.
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
    # The table is read at the first use.
    if name in ("_raw_estimate", "_bias"):
        return _means()[name == "_bias"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
