"""Bands and rows for a threshold and a recall, and their cost."""

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
    """A sentence why recall may be lower; ``None`` if the prediction holds."""
    documents: int
    """The number of documents for which the cost is predicted."""
    candidates: float
    """The expected number of candidate pairs among these documents."""
    microseconds_per_document: float
    """The expected time for each of these documents on one core."""
    bandings: list[dict[str, Any]] = field(repr=False)
    """All bandings of signatures of this length, each a dict."""
    sampled: int
    """The number of documents of the sample."""
    shingles: list[dict[str, Any]] = field(repr=False)
    """Figures of each shingle rule for the sample, each a dict."""
    advice: str | None
    """The shingle rule that suits the sample; ``None`` without a sample."""
    similarities: list[float] = field(repr=False)
    """Exact similarities above 0 of the pairs of the sample, ascending."""
    pairs: int
    """The number of compared pairs of the sample."""
    folding: dict[str, Any] = field(repr=False)
    """The effect of ``normalize="fold"`` on the sample: the number of ``documents``, how many
    ``changed``, and how many by ``scripts``. If any changed, also the pairs at the threshold:
    ``pairs_as_is`` and ``pairs_folded``.
    """

    def curve(self, similarities: Sequence[float]) -> list[float]:
        """Returns the probability that a pair becomes a candidate, ``1 − (1 − sʳ)ᵇ``, at each of
        these similarities, 0 to 1.

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
    """Chooses bands and rows for a threshold and a recall, with a sample of the documents.

    Args:
        docs: Documents as for ``lookalike.find``. Without documents, bands and rows
            are chosen as by ``lookalike.find``, and the cost is predicted for newswire articles.
        threshold: As for ``lookalike.find``.
        recall: As for ``lookalike.find``.
        sample: The number of documents to draw, from 1. A smaller collection is drawn as a whole.
            Documents are drawn by their ids, which may repeat here.
        documents: The number of documents of the planned collection. By default the number of
            ``docs``, or a million without documents.
        shingles: Shingle rules to try, such as ``["words:3", "chars:9"]``; ten common rules by
            default.
        text: As for ``lookalike.find``.
        id: As for ``lookalike.find``.
        progress: As for ``lookalike.find``.
        options: Options of ``lookalike.find``.

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
        taken = input_documents(docs, text=text, id=id, tokens=options.get("tokens"))
        engine = taken.engine
        arguments = {**token_rule(arguments, taken), **reading_options(taken)}
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
