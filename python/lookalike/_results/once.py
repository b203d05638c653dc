"""Caches properties of results, which are computed when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_Value = TypeVar("_Value")


def once(method: Callable[[_Result], _Value]) -> Callable[[_Result], _Value]:
    """Decorates a method without arguments, below ``@property``, so that its value is computed
    once.

    The cache takes no lock. ``functools.cached_property`` takes one up to Python 3.11: if another
    thread holds this lock while the process forks, the child waits forever.
    """
    # The cache is the entry of the same name in `__dict__`, which the property hides.
    name = method.__name__

    @wraps(method)
    def kept(result: _Result) -> _Value:
        values: dict[str, Any] = result.__dict__
        if name not in values:
            values[name] = method(result)
        value: _Value = values[name]
        return value

    return kept
