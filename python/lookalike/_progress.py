"""Reports the progress of long calls to a function of the caller, or shows it with tqdm."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from lookalike.errors import OptionError, RunawayWarning

Progress = Callable[[str, int, "int | None"], None]
"""A function that receives the name of the stage, the amount done, and the total or ``None``."""


@contextmanager
def reporting(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """Provides the function to which the engine reports progress during a ``with`` block. Closes
    the progress bar at the end.

    Raises:
        ImportError: ``progress`` is ``True`` and tqdm is not installed.
        OptionError: ``progress`` has another type.
    """
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _Bar()
        try:
            yield bar.report
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise OptionError(
            "progress: expected True (for bars by tqdm), False, or a function that takes the "
            f"stage, the amount done and the total, got {type(progress).__name__}"
        )


def warn(text: str, category: type[Warning] = RunawayWarning) -> None:
    """Issues a warning whose location is the line that called this package. The engine also calls
    this function.
    """
    level = 1
    caller: FrameType | None = sys._getframe()
    while caller is not None and caller.f_globals.get("__name__", "").startswith("lookalike."):
        level, caller = level + 1, caller.f_back
    warnings.warn(text, category, stacklevel=level)


class _Bar:
    """The progress bar of the current stage."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError(
                "cannot show progress bars: tqdm is not installed; pip install tqdm, or pass a "
                "function that takes the stage, the amount done and the total"
            ) from error
        self._make: Any = tqdm
        self._bar: Any = None
        self._stage = ""

    def report(self, stage: str, done: int, total: int | None) -> None:
        if stage != self._stage:
            self.close()
            self._stage, self._bar = stage, self._make(desc=stage, total=total, unit_scale=True)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
