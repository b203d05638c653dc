"""What datasketch has and this package has not: asking for it names the replacement."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["ABSENT", "explain", "install"]

_PACKAGE = "lookalike.datasketch"
_KEPT = "MinHashLSH with storage_config={'type': 'lookalike', 'path': FOLDER} is kept"
_GRAPH = "hnswlib and usearch have it"
_COUNTS = "datasketches has it"
_FILTER = "MinHashLSH has no false negatives of a filter"

ABSENT = {
    "AsyncMinHashLSH": _KEPT,
    "HNSW": _GRAPH,
    "HyperLogLog": _COUNTS,
    "HyperLogLogPlusPlus": _COUNTS,
    "MinHashLSHBloom": _FILTER,
    "aio": _KEPT,
    "experimental": _KEPT,
    "hnsw": _GRAPH,
    "hyperloglog": _COUNTS,
    "hyperloglog_const": _COUNTS,
    "lsh_bloom": _FILTER,
}


def explain(name: str) -> str:
    """Why there is no ``name``."""
    return (
        f"{_PACKAGE} has no {name}: {ABSENT[name]}; datasketch's own still works next to it: "
        f"`from datasketch import {name}`"
    )


class _Finder:
    """Explains where Python looks for one of these as a module, as it does for whatever is
    imported from a package that has no attribute of that name."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: Any = None) -> None:
        package, _, last = name.rpartition(".")
        if package == _PACKAGE and last in ABSENT:
            raise ImportError(explain(last), name=name)


def install() -> None:
    """Has Python ask for these names here, behind all other places."""
    if not any(finder is _Finder for finder in sys.meta_path):
        sys.meta_path.append(_Finder)
