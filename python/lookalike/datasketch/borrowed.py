"""Provides modules and classes of an installed datasketch under the names of this package.

For each such name, this package has a stub module. The stub of a module calls ``replace_stub``,
and the stub of a class calls ``refuse_class_stub``.
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

BORROWED_NAMES = {
    "AsyncMinHashLSH": _KEPT,
    "HNSW": _GRAPH,
    "aio": _KEPT,
    "experimental": _KEPT,
    "hnsw": _GRAPH,
}
"""For each borrowed name, the alternative to suggest if datasketch is not installed."""


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
    """Replaces a stub in ``sys.modules`` by the module of datasketch. Does the same for the names
    of the submodules, so that both names of a module refer to the same object.

    Args:
        stub: The ``__name__`` of the stub.
        submodules: Names of submodules, relative to the stub.

    Raises:
        ImportError: datasketch is not installed.
    """
    _datasketch(stub.rpartition(".")[2])
    for name in (stub, *(f"{stub}.{submodule}" for submodule in submodules)):
        sys.modules[name] = importlib.import_module(_ORIGINAL + name.removeprefix(_PACKAGE))


def refuse_class_stub(stub: str) -> None:
    """Raises an error that explains why a class cannot be imported as a module.

    Python imports the stub if a program imports ``lookalike.datasketch.NAME`` as a module, or if it
    imports the class and datasketch is not installed.

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
            f"`pip install datasketch`, or {BORROWED_NAMES[name]}",
            name=f"{_PACKAGE}.{name}",
        ) from error
