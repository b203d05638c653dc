"""The probability that a pair is found, by its similarity, and the measured recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lookalike import _engine
from lookalike._measures.audit import AuditResult
from lookalike._measures.tune import TuneResult
from lookalike._options import invalid_option
from lookalike._results.find_result import FindResult
from lookalike.errors import OptionError
from lookalike.plot._table_arguments import refuse_with_table

# The number of steps of the curve between the similarities 0 and 1.
_STEPS = 200


@dataclass(frozen=True)
class MeasuredRecall:
    """The recall that an audit measured for a range of similarities."""

    least: float
    """The least similarity of the range, included in the range."""
    most: float
    """The end of the range, not included in the range. Equal sets have their own range, with
    ``least`` and ``most`` 1.
    """
    documents: int
    """The number of documents of the sample that have a neighbour in this range."""
    found: int
    """The number of these documents whose drawn neighbour the run found."""
    recall: float
    """The measured recall, 0 to 1; see ``AuditResult.recall``."""
    interval: tuple[float, float]
    """An interval that contains the true recall with at least the confidence of the audit."""


@dataclass(frozen=True)
class SCurve:
    """The predicted recall by similarity, and the measured recall."""

    threshold: float
    """The least similarity of a duplicate, 0 to 1."""
    predicted_recall: float
    """The predicted recall of pairs whose similarity equals the threshold."""
    bands: int | None
    """The number of bands; ``None`` for a run without signatures, which compares every similar
    pair.
    """
    rows_per_band: int | None
    """The number of rows of a band; ``None`` without signatures."""
    similarities: tuple[float, ...]
    """The similarities of the points of the curve, ascending."""
    probabilities: tuple[float, ...]
    """The probability that a pair is compared, for each of these similarities. Without signatures,
    the curve has two points: the probability is 1 at the threshold and at similarity 1.
    """
    measured: tuple[MeasuredRecall, ...] = ()
    """The measured recall of each range of similarities in which documents of the sample have
    neighbours.
    """
    overall: MeasuredRecall | None = None
    """The measured recall over all ranges; ``None`` if the sample has no neighbours."""
    confidence: float | None = None
    """The confidence level of the intervals; ``None`` without an audit."""
    recall_caveat: str | None = None
    """The reason why recall may be lower than predicted; ``None`` if the prediction holds."""

    def rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each point of the curve, with ``similarity`` and ``probability``."""
        points = zip(self.similarities, self.probabilities, strict=True)
        return [
            {"similarity": similarity, "probability": probability}
            for similarity, probability in points
        ]

    def measured_rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each range with a measured recall. Its keys are ``from``, ``to``,
        ``middle``, ``documents``, ``found``, ``recall``, and the ends of the interval, ``low`` and
        ``high``.
        """
        return [
            {
                "from": measurement.least,
                "to": measurement.most,
                "middle": (measurement.least + measurement.most) / 2,
                "documents": measurement.documents,
                "found": measurement.found,
                "recall": measurement.recall,
                "low": measurement.interval[0],
                "high": measurement.interval[1],
            }
            for measurement in self.measured
        ]


def s_curve(result: FindResult | TuneResult | SCurve, audit: AuditResult | None = None) -> SCurve:
    """Computes the predicted recall of a run by similarity, and adds the measured recall.

    Args:
        result: A result of ``lookalike.find`` or ``lookalike.tune``, or an ``SCurve``, which is
            returned unchanged.
        audit: The result of ``lookalike.audit`` for this run. Without it, the table has no
            measured recall.

    Raises:
        OptionError: ``result`` or ``audit`` has another type, ``audit`` belongs to a run with
            another threshold or predicted recall, or ``audit`` is passed with an ``SCurve``.

    Examples:
        >>> import lookalike.plot
        >>> curve = lookalike.plot.tables.s_curve(lookalike.tune(threshold=0.8))
        >>> (
        ...     curve.bands,
        ...     curve.rows_per_band,
        ...     round(curve.predicted_recall, 3),
        ...     curve.measured,
        ... )
        (21, 6, 0.998, ())
        >>> curve.rows()[100]["similarity"], round(curve.rows()[100]["probability"], 3)
        (0.5, 0.282)
    """
    if isinstance(result, SCurve):
        refuse_with_table(audit=audit)
        return result
    if isinstance(result, TuneResult):
        run: Mapping[str, Any] = {
            "threshold": result.threshold,
            "predicted_recall": result.predicted_recall,
            "bands": result.bands,
            "rows": result.rows,
            "recall_caveat": result.recall_caveat,
        }
    elif isinstance(result, FindResult):
        run = result.parameters
    else:
        raise invalid_option("result", "a result of lookalike.find or lookalike.tune", result)
    # A run without signatures misses no pair.
    threshold, predicted = run["threshold"], run.get("predicted_recall", 1.0)
    bands, rows = run.get("bands"), run.get("rows")
    if bands is None or rows is None:
        similarities, probabilities = [threshold, 1.0], [1.0, 1.0]
    else:
        similarities = [step / _STEPS for step in range(_STEPS + 1)]
        probabilities = _engine.curve(similarities, bands, rows)
    points = (tuple(similarities), tuple(probabilities))
    curve = SCurve(
        threshold, predicted, bands, rows, *points, recall_caveat=run.get("recall_caveat")
    )
    return curve if audit is None else _with_audit(curve, audit)


def _with_audit(curve: SCurve, audit: AuditResult) -> SCurve:
    if not isinstance(audit, AuditResult):
        raise invalid_option("audit", "a result of lookalike.audit", audit)
    of_audit = (audit.details["threshold"], audit.predicted_recall)
    of_curve = (curve.threshold, curve.predicted_recall)
    # Reports round the predicted recall.
    if any(abs(a - b) > 1e-6 for a, b in zip(of_audit, of_curve, strict=True)):
        raise OptionError(
            f"audit: expected a run with threshold {of_curve[0]:g} and predicted recall "
            f"{of_curve[1]:.6f}, got one with {of_audit[0]:g} and {of_audit[1]:.6f}; audit this "
            "result"
        )
    measured = [_measured(range_) for range_ in audit.details["ranges"]]
    overall = _measured({**audit.details, "from": audit.details["threshold"], "to": 1.0})
    measurements = tuple(measurement for measurement in measured if measurement is not None)
    return replace(curve, measured=measurements, overall=overall, confidence=audit.confidence)


def _measured(figures: Mapping[str, Any]) -> MeasuredRecall | None:
    """Returns the measured recall of a range; ``None`` if no document of the sample has a
    neighbour in the range.
    """
    if figures["recall"] is None:
        return None
    interval = (figures["interval"]["low"], figures["interval"]["high"])
    counts = (figures["documents"], figures["found"])
    return MeasuredRecall(figures["from"], figures["to"], *counts, figures["recall"], interval)
