"""Chooses the library that draws a table."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any, Literal

from lookalike._options import invalid_option
from lookalike.errors import OptionError

Backend = Literal["matplotlib", "altair"]
"""The name of a library that draws."""

# The libraries in order of preference, each with the module that uses it.
_MODULES = {"matplotlib": "lookalike.plot._matplotlib", "altair": "lookalike.plot._altair"}


def draw(name: str, table: Any, backend: Backend | None, ax: Any) -> Any:
    """Draws a table.

    Args:
        name: The name of the function that draws the table, in the module of the library.
        table: The table.
        backend: The library. ``None`` for matplotlib if ``ax`` is passed, else for the first
            installed one.
        ax: The Axes of matplotlib to draw on; ``None`` for new Axes.

    Raises:
        ImportError: The library is not installed. Without ``backend``: no library is installed.
        OptionError: The library is unknown, or ``ax`` is passed with ``backend="altair"``.
    """
    chosen = _chosen(backend, ax)
    try:
        module = importlib.import_module(_MODULES[chosen])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != chosen:
            raise
        raise ImportError(
            f"backend={chosen!r} needs {chosen}, which is not installed: pip install {chosen}"
        ) from error
    function = getattr(module, name)
    return function(table, ax) if chosen == "matplotlib" else function(table)


def _chosen(backend: str | None, ax: Any) -> str:
    if backend is not None and (not isinstance(backend, str) or backend not in _MODULES):
        raise invalid_option("backend", "'matplotlib' or 'altair'", backend)
    if ax is not None:
        if backend == "altair":
            raise OptionError(
                "ax is for matplotlib; combine charts of altair with altair's | and &"
            )
        return "matplotlib"
    if backend is not None:
        return backend
    for library in _MODULES:
        if find_spec(library) is not None:
            return library
    raise ImportError(
        "lookalike.plot needs matplotlib or altair, and neither is installed: pip install "
        "matplotlib, or pip install altair; lookalike.plot.tables has the figures without either"
    )
