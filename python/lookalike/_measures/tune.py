"""Chooses bands and rows for a threshold and a recall, and predicts their cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lookalike import _engine
from lookalike._documents.inputs import (
    input_documents,
    reading_options,
    token_rule,
)
from lookalike._documents.types import Documents
from lookalike._options import (
    TuneOptions,
    Unpack,
    check_options,
    invalid_option,
    number_option,
    whole_option,
    with_columns,
)
from lookalike._progress import Progress, reporting


@dataclass(frozen=True)
class TuneResult:
    """A choice of bands and rows, and its predictions."""

    threshold: float
    """The threshold of the choice."""
    recall: float
    """The requested recall."""
    num_hashes: int
    """The number of values of a signature."""
    bands: int
    """The number of bands of a signature."""
    rows: int
    """The number of rows of a band."""
    predicted_recall: float
    """The probability that a pair at the threshold becomes a candidate."""
    recall_caveat: str | None = field(repr=False)
    """A sentence that explains why the recall may be lower than predicted, with ``scheme="xor"``;
    otherwise ``None``.
    """
    documents: int
    """The number of documents for which the cost is predicted."""
    candidates: float
    """The expected number of candidate pairs among these documents."""
    microseconds_per_document: float
    """The predicted time per document on one core, in microseconds."""
    bandings: list[dict[str, Any]] = field(repr=False)
    """All choices of bands and rows for signatures of this length. Each is a dict of ``bands``,
    ``rows``, ``recall``, ``reaches``, ``steepest``, ``candidates`` and
    ``microseconds_per_document``.
    """
    sampled: int
    """The number of documents in the sample; 0 without documents."""
    shingles: list[dict[str, Any]] = field(repr=False)
    """The figures of each shingle rule for the sample. Each is a dict of ``shingle`` and its
    figures.
    """
    advice: str | None
    """The shingle rule that suits the sample; ``None`` if no two documents could be compared."""
    similarities: list[float] = field(repr=False)
    """The exact similarities of the pairs of the sample, ascending, without zeros."""
    pairs: int
    """The number of pairs of the sample that were compared."""
    folding: dict[str, Any] = field(repr=False)
    """The effect of ``normalize="fold"`` on the sample: the number of ``documents``, the number of
    ``changed`` documents, and ``scripts``, a dict of the number of changed documents by script. If
    any document changes, also ``pairs_as_is`` and ``pairs_folded``: the numbers of pairs that
    reach the threshold without and with folding.
    """

    def curve(self, similarities: Sequence[float]) -> list[float]:
        """Returns the probability that a pair becomes a candidate, for each of these similarities.

        The probability is ``1 − (1 − sʳ)ᵇ`` for the similarity s, b bands and r rows.

        Args:
            similarities: Numbers from 0 to 1.

        Raises:
            OptionError: A value is not a number from 0 to 1.

        Examples:
            >>> import lookalike
            >>> [round(p, 3) for p in lookalike.tune(threshold=0.8).curve([0.2, 0.5, 0.8])]
            [0.001, 0.282, 0.998]
        """
        try:
            points = list(similarities)
        except TypeError:
            raise invalid_option(
                "similarities", "a list of numbers from 0 to 1", similarities
            ) from None
        numbers = [number_option("similarities", point) for point in points]
        return _engine.curve(numbers, self.bands, self.rows)


def tune(
    docs: Documents | None = None,
    *,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    sample: int = 2_000,
    documents: int | None = None,
    shingles: Sequence[str] | None = (),
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    progress: bool | Progress | None = False,
    **options: Unpack[TuneOptions],
) -> TuneResult:
    """Chooses bands and rows for a threshold and a recall, and predicts their cost. Measures a
    sample of the documents, if there are any.

    Args:
        docs: Documents as for ``lookalike.find``. Without documents, the choice is the same as the
            choice of ``lookalike.find``, and the cost is predicted for newswire articles.
        threshold: As for ``lookalike.find``.
        recall: As for ``lookalike.find``.
        sample: The number of documents to draw, 1 or more. If the collection is smaller, all
            documents are drawn. Documents are drawn by their ids, which may repeat in this
            function.
        documents: The number of documents for which the cost is predicted. By default the number
            of ``docs``, or a million without ``docs``.
        shingles: Shingle rules to measure on the sample, such as ``["words:3", "chars:9"]``; by
            default ten common rules.
        text: As for ``lookalike.find``.
        id: As for ``lookalike.find``.
        progress: As for ``lookalike.find``.
        options: Options of ``lookalike.find`` about signatures, shingles and texts.

    Raises:
        OptionError: An option is unknown or has an invalid value.
        DocumentError: A document cannot be used.

    Examples:
        >>> import lookalike
        >>> t = lookalike.tune(threshold=0.8, recall=0.99)
        >>> t.num_hashes, t.bands, t.rows, round(t.predicted_recall, 3)
        (128, 21, 6, 0.998)
    """
    check_options(options, "tune", TuneOptions)
    arguments = with_columns({"threshold": threshold, "recall": recall, **options}, text, id)
    sample = whole_option("sample", sample, 1)
    count = None if documents is None else whole_option("documents", documents, 1)
    rules = _rules(shingles)
    engine = None
    if docs is not None:
        inputs = input_documents(docs, text=text, id=id, tokens=options.get("tokens"))
        engine = inputs.engine
        arguments = {**token_rule(arguments, inputs), **reading_options(inputs)}
    with reporting(progress) as reporter:
        return TuneResult(**_engine.tune(engine, arguments, sample, count, rules, reporter))


def _rules(shingles: object) -> list[str]:
    expected = 'a list of rules such as ["words:3", "chars:9"]'
    if shingles is None:
        return []
    if isinstance(shingles, (str, bytes)) or not isinstance(shingles, Iterable):
        raise invalid_option("shingles", expected, shingles)
    rules = list(shingles)
    for rule in rules:
        if not isinstance(rule, str) or not rule.isascii():
            raise invalid_option("shingles", expected, rule)
    return rules
