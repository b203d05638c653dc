"""Modules and classes of an installed datasketch, under the names of this package.

A module of the same name is a stub that calls ``replace_stub``.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

_PACKAGE = "lookalike.datasketch"
_ORIGINAL = "datasketch"
_KEPT = (
    "use MinHashLSH with storage_config={'type': 'lookalike', 'path': FOLDER} or {'type': 'redis', "
    "…}, which also keep an index"
)
_GRAPH = "use hnswlib or usearch, which also have HNSW"

ALTERNATIVES = {
    "AsyncMinHashLSH": _KEPT,
    "HNSW": _GRAPH,
    "aio": _KEPT,
    "experimental": _KEPT,
    "hnsw": _GRAPH,
}
"""Alternatives if datasketch is not installed, by name."""


def borrowed(name: str) -> Any:
    """Returns the class or module ``name`` of datasketch.

    Raises:
        AttributeError: datasketch is not installed.
    """
    try:
        if name.islower():
            return importlib.import_module(f"{_PACKAGE}.{name}")
        return getattr(_datasketch(name), name)
    except ImportError as error:
        raise AttributeError(str(error)) from error


def replace_stub(stub: str, *submodules: str) -> None:
    """Replaces a stub by the module of datasketch, and registers its submodules below the name of
    the stub, so that both names refer to the same module.

    Args:
        stub: The ``__name__`` of the stub.
        submodules: Names of submodules.

    Raises:
        ImportError: datasketch is not installed.
    """
    _datasketch(stub.rpartition(".")[2])
    for name in (stub, *(f"{stub}.{submodule}" for submodule in submodules)):
        sys.modules[name] = importlib.import_module(_ORIGINAL + name.removeprefix(_PACKAGE))


def refuse_class_stub(stub: str) -> None:
    """Explains why a class cannot be imported as a module. Python imports the stub only if the
    package has no such class.

    Args:
        stub: The ``__name__`` of the stub.

    Raises:
        ImportError: Always.
    """
    name = stub.rpartition(".")[2]
    _datasketch(name)
    raise ImportError(f"{stub} is a class; use `from {_PACKAGE} import {name}`", name=stub)


def _datasketch(name: str) -> Any:
    try:
        return importlib.import_module(_ORIGINAL)
    except ImportError as error:
        raise ImportError(
            f"cannot import {name}: {_PACKAGE} takes it from datasketch, which is not installed; "
            f"`pip install datasketch`, or {ALTERNATIVES[name]}",
            name=f"{_PACKAGE}.{name}",
        ) from error
