"""The similarity of two texts, and their differences."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lookalike import _engine
from lookalike._documents.files import Files
from lookalike._documents.inputs import input_documents
from lookalike._options import CompareOptions, Unpack, check_options, flag_option
from lookalike._results.notebook import frame_texts
from lookalike.errors import DocumentTypeError


@dataclass(frozen=True)
class Difference:
    """A part of the first text, and the corresponding part of the second.

    The parts ``a`` of all differences, joined in order, are the first text. The parts ``b`` are
    the second text.
    """

    kind: str
    """``equal`` (byte for byte), ``replace``, ``delete`` (only in the first text) or ``insert``
    (only in the second).
    """
    a: str
    """The part of the first text; empty for an insertion."""
    b: str
    """The part of the second text; empty for a deletion."""
    same_words: bool = False
    """Whether both parts have the same words, by the options ``tokens`` and ``case``. If so,
    and if the parts are not equal, they differ only in case, punctuation or white space.
    """


@dataclass(frozen=True)
class DifferenceCounts:
    """Numbers of places where two texts differ."""

    words: int
    """The number of places with different words."""
    same_words: int
    """The number of places that have the same words in both texts, but differ otherwise."""
    case: int
    """The number of places of ``same_words`` that differ in case. One place can count in ``case``,
    ``punctuation`` and ``white_space``.
    """
    punctuation: int
    """The number of places of ``same_words`` that differ in punctuation or symbols."""
    white_space: int
    """The number of places of ``same_words`` that differ in white space."""


@dataclass(frozen=True)
class CompareResult:
    """The similarity of two texts, and their differences."""

    jaccard: float
    """The exact Jaccard similarity, 0 to 1: the number of shared shingles, divided by the number
    of different shingles in the two texts together.
    """
    containment_a: float
    """The share of the first text's shingles that the second text contains, 0 to 1."""
    containment_b: float
    """The share of the second text's shingles that the first text contains, 0 to 1."""
    estimate: float | None
    """The Jaccard similarity, estimated from signatures. ``None`` if a text has no token. Also
    ``None`` with ``exact=True`` or ``measure="containment"``, which use no signatures.
    """
    shared: int
    """The number of shingles that both texts contain."""
    shingles_a: int
    """The number of different shingles of the first text."""
    shingles_b: int
    """The number of different shingles of the second text."""
    similar: bool
    """Whether the similarity of the texts reaches the threshold."""
    differences: tuple[Difference, ...] = ()
    """The equal and different parts of the texts; empty unless ``differences=True``."""
    difference_counts: DifferenceCounts | None = None
    """The numbers of places that differ, by kind; ``None`` unless ``differences=True``."""
    # The options of the comparison.
    _options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _repr_html_(self) -> str | None:
        """Returns the page for notebooks: both texts side by side with marked differences. Returns
        ``None`` without ``differences``.
        """
        if not self.differences:
            return None
        return frame_texts(
            ("First text", "Second text"), [self._sentence()], self._texts(), self._options
        )

    def _sentence(self) -> str:
        verdict = "Similar" if self.similar else "Not similar"
        return (
            f"{verdict}: Jaccard similarity {self.jaccard:.6f}, containment "
            f"{self.containment_a:.6f} of the first and {self.containment_b:.6f} of the second; "
            f"{self.shared} shared shingles."
        )

    def _texts(self) -> tuple[str, str]:
        return "".join(part.a for part in self.differences), "".join(
            part.b for part in self.differences
        )


def compare(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    differences: bool = False,
    **options: Unpack[CompareOptions],
) -> CompareResult:
    """Compares two texts exactly.

    Args:
        a: A text, or the ``pathlib.Path`` of a file that ``find`` can read.
        b: The other text or file.
        differences: Whether to compute the differences word by word. The search for the shortest
            list of differences ends after two seconds. For long texts that share little, the list
            is then longer than necessary.
        options: ``threshold`` and ``recall``, the options of ``lookalike.find`` for similarity and
            signatures, and the options of ``Files``.

    Raises:
        DocumentError: A text cannot be used, or a file contains several documents.

    Examples:
        >>> import lookalike
        >>> c = lookalike.compare(
        ...     "one two three four", "one two four", shingle="bag", differences=True
        ... )
        >>> c.jaccard, c.containment_b, c.similar
        (0.75, 1.0, False)
        >>> [(d.kind, d.a) for d in c.differences]
        [('equal', 'one two '), ('delete', 'three '), ('equal', 'four')]
        >>> c = lookalike.compare("paid -5.20", "paid 5,20", differences=True)
        >>> [(d.a, d.b) for d in c.differences if d.kind != "equal" and d.same_words]
        [('-', ''), ('.', ',')]
        >>> c.difference_counts
        DifferenceCounts(words=0, same_words=2, case=0, punctuation=2, white_space=0)
    """
    check_options(options, "compare", CompareOptions)
    flag_option("differences", differences)
    engine: Any
    if isinstance(a, os.PathLike) != isinstance(b, os.PathLike):
        kinds = f"{type(a).__name__} and {type(b).__name__}"
        raise DocumentTypeError(f"expected two texts or two paths, got {kinds}")
    if isinstance(a, os.PathLike):
        engine = input_documents(Files([a, b])).engine
    else:
        for row, value in enumerate((a, b)):
            if not isinstance(value, str):
                raise _no_text(row, value)
        engine = _engine.Documents.of_texts([[a, b]], None, [])
    figures, parts, counts = _engine.compare(engine, {**options}, differences)
    return CompareResult(
        **figures,
        differences=tuple(Difference(*part) for part in parts),
        difference_counts=None if counts is None else DifferenceCounts(*counts),
        _options={**options},
    )


def _no_text(row: int, value: object) -> DocumentTypeError:
    place = ("first", "second")[row]
    error = DocumentTypeError(
        f"row {row}: the {place} text is of type {type(value).__name__}, expected two str or two "
        "paths"
    )
    error.row = row
    return error
