"""Measures the recall of a run on a sample of its documents."""

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
    """The measured recall: the share of drawn neighbours that the run found. The audit draws one
    neighbour for each document of the sample that has neighbours. If all documents are in the
    sample, the recall is the mean, over the documents with neighbours, of the share of their
    neighbours that the run found. ``None`` if no document of the sample has a neighbour.
    """
    interval: tuple[float, float]
    """The interval that contains the true recall with a probability of at least ``confidence``
    (Clopper and Pearson 1934). If the sample contains all documents and all their neighbours were
    judged, the recall is exact, and both ends are equal to it.
    """
    confidence: float
    """The confidence level of the intervals."""
    predicted_recall: float
    """The predicted probability that the run finds a pair at the threshold."""
    recall_caveat: str | None = field(repr=False)
    """A sentence that explains why the recall may be lower than predicted, with ``scheme="xor"``;
    otherwise ``None``.
    """
    sampled: int
    """The number of documents in the sample."""
    population: int
    """The number of documents from which the sample was drawn: all documents with a token."""
    documents: int
    """The number of documents of the sample that have a neighbour."""
    found: int
    """The number of these documents whose drawn neighbour the run found."""
    details: dict[str, Any] = field(repr=False)
    """All figures of ``lookalike audit --json``, including figures by range of similarity."""

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
    """Measures the recall of a run. Draws a random sample of documents and compares it exactly
    with all documents. Reads the documents twice.

    Args:
        found: The result of ``lookalike.find``, or the path of a report (``.json``) of a run.
        docs: The documents of the run, if ``found`` is a report. If it is a result, leave out
            ``docs``, ``text``, ``id``, ``reference``, and all options except ``seed`` and
            ``threads``.
        sample: The number of documents to draw, 1 or more. If the collection is smaller, all
            documents are drawn.
        confidence: The confidence level of the intervals; above 0, below 1.
        text: The column of texts, as in the run.
        id: The column of ids, as in the run.
        reference: The reference documents of the run.
        progress: As for ``lookalike.find``.
        options: ``seed``, the random seed of the sample, 1 by default, and ``threads``. If
            ``found`` is a report, pass also ``normalize``, ``unit``, ``skip_bad`` and
            ``decisions`` as in the run. Pass options for reading files to ``lookalike.Files``.

    Raises:
        ChangedError: The documents differ from the documents of the run.
        OptionError: An option is unknown, has an invalid value, or is not allowed with a result;
            or ``docs`` is missing for a report.

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
