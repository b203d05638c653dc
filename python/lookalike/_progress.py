"""Progress of long calls: none, a function of the caller, or tqdm."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from lookalike.errors import OptionError, RunawayWarning

Progress = Callable[[str, int, "int | None"], None]
"""Called with the name of the stage, the work done, and the total if it is known."""


@contextmanager
def reporting(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """The function that the engine reports progress to.

    Raises:
        ImportError: Bars are asked for and tqdm is not installed.
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
            "progress: expected True (for bars by tqdm), False, or a function of the stage, "
            f"what is done and the total, got {type(progress).__name__}"
        )


def warn(text: str, category: type[Warning] = RunawayWarning) -> None:
    """Warns at the line that called this package. The engine calls it."""
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
                "progress=True shows bars by tqdm, which is not installed: pip install tqdm, or "
                "give a function of the stage, what is done and the total"
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
