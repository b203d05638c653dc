"""The recall of a run, measured on a sample."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lookalike import _engine
from lookalike._documents.inputs import (
    input_documents,
    reading_options,
    refuse_unused,
)
from lookalike._find import with_decisions
from lookalike._options import (
    AuditOptions,
    Unpack,
    check_options,
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
