"""What is taken from an installed datasketch; without one, asking for it says what does it
instead."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["BORROWED", "borrow", "install"]

_PACKAGE = "lookalike.datasketch"
_THEIRS = "datasketch"
_KEPT = "MinHashLSH with storage_config={'type': 'lookalike', 'path': FOLDER} or in Redis is kept"
_GRAPH = "hnswlib and usearch have it"

BORROWED = {
    "AsyncMinHashLSH": _KEPT,
    "HNSW": _GRAPH,
    "aio": _KEPT,
    "experimental": _KEPT,
    "hnsw": _GRAPH,
}
_MODULES = ("aio", "experimental", "hnsw")


def _explain(name: str) -> str:
    """Why there is no ``name``."""
    return (
        f"{_PACKAGE} has no {name} of its own, and takes that of an installed datasketch, which "
        f"is absent: `pip install datasketch`; or {BORROWED[name]}"
    )


def borrow(name: str) -> Any:
    """The class or module ``name`` of datasketch.

    Raises:
        AttributeError: It is not installed.
    """
    try:
        if name in _MODULES:
            return importlib.import_module(f"{_THEIRS}.{name}")
        return getattr(importlib.import_module(_THEIRS), name)
    except ImportError as error:
        raise AttributeError(_explain(name)) from error


class _Loader:
    """Has a module of datasketch imported under a name of this package, as the same module."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType | None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(_THEIRS + name[len(_PACKAGE) :])


class _Finder:
    """Finds one of these where Python looks for it as a module, as it does for whatever is
    imported from a package that has no attribute of that name."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        if not name.startswith(f"{_PACKAGE}."):
            return None
        first = name[len(_PACKAGE) + 1 :].partition(".")[0]
        if first not in BORROWED:
            return None
        try:
            importlib.import_module(_THEIRS)
        except ImportError as error:
            raise ImportError(_explain(first), name=name) from error
        return ModuleSpec(name, _Loader()) if first in _MODULES else None  # type: ignore[arg-type]


def install() -> None:
    """Has Python ask for these names here, behind all other places."""
    if not any(finder is _Finder for finder in sys.meta_path):
        sys.meta_path.append(_Finder)
