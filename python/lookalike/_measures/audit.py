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
    """The measured recall of a run. ``docs/explanation/audit.md`` explains the estimate and its
    interval.
    """

    recall: float | None
    """The share of true neighbours that the run found. One neighbour is drawn for each document
    that has any. ``None`` if no document of the sample has a neighbour.
    """
    interval: tuple[float, float]
    """An interval that contains the true recall with a probability of at least ``confidence``
    (Clopper–Pearson). If all documents were drawn, the recall is exact, and both ends equal it.
    """
    confidence: float
    """Confidence level of the intervals."""
    predicted_recall: float
    """The predicted recall of a pair at the threshold."""
    recall_caveat: str | None = field(repr=False)
    """A sentence why recall may be lower; ``None`` if the prediction holds."""
    sampled: int
    """The number of drawn documents."""
    population: int
    """The number of documents that could be drawn."""
    documents: int
    """The number of documents of the sample that have a neighbour."""
    found: int
    """The number of drawn neighbours, one for each of these documents, that the run found."""
    details: dict[str, Any] = field(repr=False)
    """All figures of the report, including those by range of similarity."""

    @classmethod
    def of_json(cls, text: str) -> AuditResult:
        """Reads the JSON of the engine, for use within the package."""
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
    """Measures the recall of a run: compares randomly drawn documents exactly with all others.

    Cost: two passes over the documents.

    Args:
        found: The result of ``lookalike.find``, or a report (``.json``) of a run.
        docs: The documents of the run, for a report.
        sample: The number of documents to draw, from 1. A smaller collection is drawn as a whole.
        confidence: The confidence level of the intervals, above 0, below 1.
        text: As in the run, for a report.
        id: As in the run, for a report.
        reference: As in the run, for a report.
        progress: As for ``lookalike.find``.
        options: ``seed``, the random seed of the sample, 1 by default, and ``threads``. For a
            report also the options of the run for reading files, changing texts, and ``decisions``.

    Raises:
        LookalikeError: The documents differ from the documents of the report.

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
                        f"{name} belongs to a report; leave it out, since a FindResult has its own"
                    )
            return AuditResult.of_json(
                found.engine.audit({**options}, sample, confidence, reporter)
            )
        if docs is None:
            raise OptionError("a report does not contain its documents: pass them as docs")
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
