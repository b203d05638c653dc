"""Chooses the colours of a matplotlib picture from the active style."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
from matplotlib.colors import to_rgb, to_rgba

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Colour = tuple[float, float, float]

# The least contrast to the background by WCAG 2.1, of marks (1.4.11) and of text (1.4.3).
_MARK: Final = 3.0
_TEXT: Final = 4.5
# The greatest contrast of grid lines to the background, so that they are weaker than marks.
_GRID: Final = 1.6
# The least difference of two mark colours, in at least one of red, green and blue.
_DISTINCT: Final = 0.15
_STEPS: Final = 64


@dataclass(frozen=True)
class Palette:
    """The colours of one picture."""

    background: Colour
    """The background of the Axes."""
    ink: Colour
    """The colour of text and of measured recall."""
    grid: Colour
    main: Colour
    """The colour of pairs, groups, kept documents and the predicted recall."""
    removed: Colour
    """The colour of removed documents, duplicates and the threshold."""
    equal: Colour
    """The colour of pairs with similarity 1."""


def palette(ax: Axes) -> Palette:
    """Returns the colours of the active style. Shifts a colour that is not legible on the
    background towards black or white.

    The marks have the first three distinct colours of ``axes.prop_cycle``, and the ink is
    ``text.color``.
    """
    wanted_ink = to_rgb(mpl.rcParams["text.color"])
    background = _background(ax, wanted_ink)
    ink = _legible(wanted_ink, background, _TEXT)
    marks: list[Colour] = []
    # A style may have fewer than three colours, or colours that differ little.
    for candidate in _candidates(ink):
        mark = _legible(candidate, background, _MARK)
        if all(_difference(mark, other) >= _DISTINCT for other in marks):
            marks.append(mark)
        if len(marks) == 3:
            break
    main, removed, equal = marks
    grid = _until(
        to_rgb(mpl.rcParams["grid.color"]),
        background,
        lambda colour: contrast(colour, background) <= _GRID,
    )
    return Palette(background, ink, grid, main, removed, equal)


def _candidates(ink: Colour) -> Iterator[Colour]:
    """Yields the colours of the style, then the ink and four colours of matplotlib."""
    yield from map(to_rgb, mpl.rcParams["axes.prop_cycle"].by_key().get("color", ()))
    yield ink
    yield from map(to_rgb, ("tab:blue", "tab:orange", "tab:green", "tab:purple"))


def _background(ax: Axes, ink: Colour) -> Colour:
    """Returns the colour below the marks. Mixes the colours of the figure and the Axes, which may
    be transparent, with black or white paper.
    """
    paper = _farthest(ink)
    for ground in (ax.figure.figure.get_facecolor(), ax.get_facecolor()):
        *colour, alpha = to_rgba(ground)
        paper = _mixed(paper, (colour[0], colour[1], colour[2]), alpha)
    return paper


def contrast(colour: Colour, other: Colour) -> float:
    """Returns the contrast of two colours by WCAG 2.1, from 1 to 21."""
    light, dark = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Colour) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _legible(colour: Colour, background: Colour, least: float) -> Colour:
    """Returns the colour, shifted towards black or white until it has the contrast ``least`` to
    the background.
    """
    goal = _farthest(background)
    return _until(colour, goal, lambda mixed: contrast(mixed, background) >= least)


def _farthest(colour: Colour) -> Colour:
    """Returns black or white, whichever has the greater contrast to the colour."""
    black, white = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    return max(black, white, key=lambda end: contrast(end, colour))


def _until(colour: Colour, goal: Colour, is_met: Callable[[Colour], bool]) -> Colour:
    """Mixes a colour with an increasing share of ``goal`` until the condition is met."""
    mixes = (_mixed(colour, goal, step / _STEPS) for step in range(_STEPS + 1))
    return next((mixed for mixed in mixes if is_met(mixed)), goal)


def _mixed(colour: Colour, other: Colour, share: float) -> Colour:
    """Returns the mix of two colours with this share of ``other``."""
    red, green, blue = (a + (b - a) * share for a, b in zip(colour, other, strict=True))
    return red, green, blue


def _difference(colour: Colour, other: Colour) -> float:
    return max(abs(a - b) for a, b in zip(colour, other, strict=True))
