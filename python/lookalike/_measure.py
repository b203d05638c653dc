"""Audits, and the choice of bands and rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lookalike import _engine
from lookalike._documents.inputs import (
    input_documents,
    reading_options,
    refuse_unused,
    token_rule,
)
from lookalike._documents.types import Documents
from lookalike._find import with_decisions
from lookalike._options import (
    AuditOptions,
    TuneOptions,
    Unpack,
    check_options,
    invalid_option,
    number_option,
    path_option,
    whole_option,
    with_columns,
)
from lookalike._progress import Progress, reporting
from lookalike._results.find_result import FindResult
from lookalike.errors import OptionError


@dataclass(frozen=True)
class AuditResult:
    """Measured recall; ``docs/audit.md`` says what is estimated and why the interval is right."""

    recall: float | None
    """The share of true neighbours that the run found, one drawn for each document that has some;
    ``None`` where no document of the sample has one.
    """
    interval: tuple[float, float]
    """Holds the true recall with at least ``confidence`` (Clopper–Pearson); both ends are the
    recall where it is known, since all documents were drawn.
    """
    confidence: float
    """Confidence level of the intervals."""
    predicted_recall: float
    """The predicted recall of a pair at the threshold."""
    recall_caveat: str | None = field(repr=False)
    """A sentence why recall may be lower; ``None`` if the prediction holds."""
    sampled: int
    """Documents drawn."""
    population: int
    """Documents that could be drawn."""
    documents: int
    """Documents of the sample that have a neighbour."""
    found: int
    """Of one neighbour drawn for each of these, how many the run found."""
    details: dict[str, Any] = field(repr=False)
    """The figures by range of similarity, and everything else, as the report has them."""

    @classmethod
    def of_json(cls, text: str) -> AuditResult:
        """From the JSON of the engine."""
        all_ = json.loads(text)
        return cls(
            recall=all_["recall"],
            interval=(all_["interval"]["low"], all_["interval"]["high"]),
            confidence=all_["confidence"],
            predicted_recall=all_["predicted_recall"],
            recall_caveat=all_.get("recall_caveat"),
            sampled=all_["sampled"],
            population=all_["population"],
            documents=all_["documents"],
            found=all_["found"],
            details=all_,
        )


def audit(
    found: FindResult | str | os.PathLike[str],
    docs: Any = None,
    *,
    sample: int = 2_000,
    confidence: float = 0.95,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    reference: Any = None,
    progress: bool | Progress | None = False,
    **options: Unpack[AuditOptions],
) -> AuditResult:
    """Measures how much of what is there a run found: documents drawn at random are compared
    exactly with all others.

    Cost: two passes over the documents.

    Args:
        found: What ``lookalike.find`` gave, or a report (``.json``) that a run wrote.
        docs: For a report, the documents of that run.
        sample: Documents to draw, from 1; all where there are fewer.
        confidence: Confidence level of the intervals, above 0, below 1.
        text, id, reference: For a report, as in that run.
        options: ``seed``, the random seed of the sample, 1 by default; ``threads``; for a report,
            how paths are read, what is done to texts, and ``decisions``, as in that run.

    Raises:
        LookalikeError: The documents are not those of the report.

    Examples:
        >>> import lookalike
        >>> found = lookalike.find(
        ...     [f"{i // 2} one two three four five six seven" for i in range(8)]
        ... )
        >>> lookalike.audit(found).recall
        1.0
    """
    sample = whole_option("sample", sample, 1)
    confidence = number_option("confidence", confidence)
    check_options(options, "audit", AuditOptions)
    with reporting(progress) as reporter:
        if isinstance(found, FindResult):
            others = {"docs": docs, "text": text, "id": id, "reference": reference, **options}
            for name, value in others.items():
                if value is not None and name not in ("seed", "threads"):
                    raise OptionError(
                        f"{name} belongs to a report; what was found knows its own, leave it out"
                    )
            return AuditResult.of_json(
                found.engine.audit({**options}, sample, confidence, reporter)
            )
        if docs is None:
            raise OptionError("a report does not hold its documents: give them as docs")
        arguments = with_decisions(with_columns(options, text, id))
        report = path_option("found", found)
        sides = [
            input_documents(side, text=text, id=id, alone=False)
            for side in (docs, reference)
            if side is not None
        ]
        refuse_unused(*sides)
        arguments |= reading_options(*sides)
        documents = sides[0].engine
        references = sides[1].engine if reference is not None else None
        return AuditResult.of_json(
            _engine.audit(report, documents, references, arguments, sample, confidence, reporter)
        )


@dataclass(frozen=True)
class TuneResult:
    """A choice of bands and rows, and its predictions."""

    threshold: float
    recall: float
    num_hashes: int
    """Values of a signature, its bands, and the rows of each."""
    bands: int
    rows: int
    predicted_recall: float
    """The probability that a pair at the threshold becomes a candidate."""
    recall_caveat: str | None = field(repr=False)
    """A sentence why recall may be lower; ``None`` if the prediction holds."""
    documents: int
    """Documents that the cost is for."""
    candidates: float
    """Candidate pairs to expect among them."""
    microseconds_per_document: float
    """Time to expect for each of them on one core."""
    bandings: list[dict[str, Any]] = field(repr=False)
    """All bandings of signatures of this length, each a dict."""
    sampled: int
    """Documents of the sample."""
    shingles: list[dict[str, Any]] = field(repr=False)
    """Figures of each shingle rule for the sample, each a dict."""
    advice: str | None
    """The rule that suits the sample; ``None`` without one."""
    similarities: list[float] = field(repr=False)
    """Exact similarities above 0 of the pairs of the sample, ascending."""
    pairs: int
    """How many pairs of the sample were compared."""
    folding: dict[str, Any] = field(repr=False)
    """How many ``documents`` of the sample ``normalize="fold"`` ``changed``, by ``scripts``; and
    the pairs at the threshold, ``pairs_as_is`` and ``pairs_folded``, where some did.
    """

    def curve(self, similarities: Sequence[float]) -> list[float]:
        """The probability that a pair becomes a candidate, ``1 − (1 − sʳ)ᵇ``, at each of these
        similarities, 0 to 1.

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
    """Chooses bands and rows for a threshold and a recall, for a sample of the documents.

    Args:
        docs: Documents as for ``lookalike.find``; without any, the choice is that of
            ``lookalike.find``, and the cost that of newswire articles.
        sample: Documents to draw, from 1; all where there are fewer. They are drawn by their ids,
            which may repeat here.
        documents: How many the collection has that is planned for; those of ``docs`` by default, a
            million without any.
        shingles: Rules to try, such as ``["words:3", "chars:9"]``; ten usual ones by default.

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
