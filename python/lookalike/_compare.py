"""How alike two texts are, and where they differ."""

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
    """A part of both texts. All ``a`` in order are the first text, all ``b`` the second."""

    kind: str
    """``equal`` byte for byte, ``replace``, ``delete`` (only in the first text) or ``insert`` (only
    in the second).
    """
    a: str
    """The first text here; empty for an insertion."""
    b: str
    """The second text here; empty for a deletion."""
    same_words: bool = False
    """Whether both have the same words here, by the shingle rule's case and tokens. Where they are
    not equal nevertheless, case, punctuation or white space differs.
    """


@dataclass(frozen=True)
class DifferenceCounts:
    """Numbers of places where two texts differ."""

    words: int
    """Places whose words differ."""
    same_words: int
    """Places with the same words that differ otherwise."""
    case: int
    """Of ``same_words``, those that differ in case. One place may count here and below."""
    punctuation: int
    """Of ``same_words``, those that differ in punctuation or symbols."""
    white_space: int
    """Of ``same_words``, those that differ in white space."""


@dataclass(frozen=True)
class CompareResult:
    """The similarity of two texts, and where they differ."""

    jaccard: float
    """Shared shingles among all of both, exactly: 0 to 1."""
    containment_a: float
    """The part of the first text's shingles that the second has: 0 to 1."""
    containment_b: float
    """The part of the second text's shingles that the first has: 0 to 1."""
    estimate: float | None
    """The Jaccard similarity as signatures estimate it; ``None`` where a text has no token, and for
    ``exact`` and containment, which use none.
    """
    shared: int
    """Shingles that both have."""
    shingles_a: int
    """Different shingles of the first text."""
    shingles_b: int
    """Different shingles of the second text."""
    similar: bool
    """Whether they reach the threshold."""
    differences: tuple[Difference, ...] = ()
    """The parts in which they agree and differ, if these were asked for."""
    difference_counts: DifferenceCounts | None = None
    """How many of these differ, by kind, if these were asked for."""
    # The options that it was made with.
    _options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _repr_html_(self) -> str | None:
        """Both texts next to each other with their differences marked, for notebooks; ``None``
        where these were not asked for.
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
        a: A text; a ``pathlib.Path`` is read as a file, of any kind that ``find`` reads.
        b: The other text or file.
        differences: Whether to say where they differ, word by word. Texts that share little are
            compared for two seconds at most, then more words than needed are among them.
        options: Options of ``lookalike.find`` for similarity and signatures, and of ``Files``.

    Raises:
        DocumentError: A text cannot be used, or a file holds several.

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
        f"row {row}: the {place} text is of type {type(got).__name__}, expected a str, or of both "
        "a path"
    )
    error.row = row
    return error
