"""Properties of results that are computed at their first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_Value = TypeVar("_Value")


def once(method: Callable[[_Result], _Value]) -> Callable[[_Result], _Value]:
    """Caches the value of a method without arguments, for use below ``@property``. It takes no
    lock, unlike ``functools.cached_property`` up to Python 3.11: if another thread holds that lock
    while this process forks, the child waits forever.
    """
    # The property hides the entry of the same name in `__dict__`.
    name = method.__name__

    @wraps(method)
    def kept(result: _Result) -> _Value:
        values: dict[str, Any] = result.__dict__
        if name not in values:
            values[name] = method(result)
        value: _Value = values[name]
        return value

    return kept
