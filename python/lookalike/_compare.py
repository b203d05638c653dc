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
    """A part of both texts. The ``a`` of all parts in order make up the first text, the ``b`` of
    all parts the second.
    """

    kind: str
    """``equal`` byte for byte, ``replace``, ``delete`` (only in the first text) or ``insert`` (only
    in the second).
    """
    a: str
    """The part of the first text; empty for an insertion."""
    b: str
    """The part of the second text; empty for a deletion."""
    same_words: bool = False
    """Whether both parts have the same words, by the shingle rule's case and tokens. If they are
    not equal, they differ in case, punctuation or white space.
    """


@dataclass(frozen=True)
class DifferenceCounts:
    """Numbers of places where two texts differ."""

    words: int
    """Places with different words."""
    same_words: int
    """Places with the same words and other differences."""
    case: int
    """Places of ``same_words`` that differ in case. A place may count here and in the next two."""
    punctuation: int
    """Places of ``same_words`` that differ in punctuation or symbols."""
    white_space: int
    """Places of ``same_words`` that differ in white space."""


@dataclass(frozen=True)
class CompareResult:
    """The similarity of two texts, and their differences."""

    jaccard: float
    """The exact share of the shingles of both texts that they have in common, 0 to 1."""
    containment_a: float
    """The share of the first text's shingles that the second text contains, 0 to 1."""
    containment_b: float
    """The share of the second text's shingles that the first text contains, 0 to 1."""
    estimate: float | None
    """The Jaccard similarity, estimated from signatures. ``None`` if a text has no token, and for
    ``exact`` and containment, which use no signatures.
    """
    shared: int
    """Shingles in common."""
    shingles_a: int
    """Different shingles of the first text."""
    shingles_b: int
    """Different shingles of the second text."""
    similar: bool
    """Whether the texts reach the threshold."""
    differences: tuple[Difference, ...] = ()
    """The equal and different parts of the texts; empty unless ``differences=True``."""
    difference_counts: DifferenceCounts | None = None
    """The numbers of different parts by kind; ``None`` unless ``differences=True``."""
    # The options of the comparison.
    _options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _repr_html_(self) -> str | None:
        """The page for notebooks: both texts side by side with their differences marked. ``None``
        without ``differences``.
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
        differences: Whether to compute the differences, word by word. This takes at most two
            seconds for texts that share little. Then the differences contain more words than
            necessary.
        options: Options of ``lookalike.find`` for similarity and signatures, and of ``Files``.

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
        for row, one in enumerate((a, b)):
            if not isinstance(one, str):
                raise _no_text(row, one)
        engine = _engine.Documents.of_texts([[a, b]], None, [])
    figures, parts, counts = _engine.compare(engine, {**options}, differences)
    return CompareResult(
        **figures,
        differences=tuple(Difference(*part) for part in parts),
        difference_counts=None if counts is None else DifferenceCounts(*counts),
        _options={**options},
    )


def _no_text(row: int, got: object) -> DocumentTypeError:
    place = ("first", "second")[row]
    error = DocumentTypeError(
        f"row {row}: the {place} text is of type {type(got).__name__}, expected two str or two "
        "paths"
    )
    error.row = row
    return error
