"""`lookalike.spark.audit` on a cluster has the same figures as an audit on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spark_cluster
from divided_runs import frame
from soak import IS_SOAK, slow
from test_stages import corpus

from lookalike.errors import ChangedError, OptionError

if (reason := spark_cluster.missing()) is not None:
    pytest.skip(reason, allow_module_level=True)

#: Few bands, which miss a large share of the pairs.
LOSSY: dict[str, Any] = {"threshold": 0.5, "num_hashes": 12, "bands": 3, "rows": 4}


@pytest.mark.parametrize("pieces", [1, 5, 16] if IS_SOAK else [5])
@pytest.mark.parametrize("options", [{"pairs": True}, {}] if IS_SOAK else [{"pairs": True}])
def test_spark_audit_equals_one_machine(spark: Any, pieces: int, options: dict[str, Any]) -> None:
    import lookalike.spark

    rows = corpus(500)
    one = lookalike.find(rows, **LOSSY, **options)
    found = lookalike.spark.find(frame(spark, rows, pieces), partitions=pieces, **LOSSY, **options)
    for sample in (60, 5_000):
        alone = lookalike.audit(one, sample=sample, seed=3, confidence=0.9)
        audit = lookalike.spark.audit(found, sample=sample, seed=3, confidence=0.9)
        assert audit.details == alone.details and audit == alone
        assert alone.recall is not None and 0 < alone.recall < 1
    assert found.seconds["audit"] > 0
    found.release()


# Without soak tests, test_spark_core.py (on Sail) and test_audit_stages.py audit a reference.
@slow
def test_a_reference_is_audited(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    rows = corpus(300)
    # Reference documents may have the ids of input documents. Here, all of them do.
    documents, reference = (
        rows[:200],
        [{**row, "id": rows[number]["id"]} for number, row in enumerate(rows[200:])],
    )
    one = lookalike.find(documents, reference=reference, **LOSSY)
    found = lookalike.spark.find(
        frame(spark, documents),
        reference=frame(spark, reference),
        checkpoint=str(tmp_path / "run"),
        **LOSSY,
    )
    assert lookalike.spark.audit(found) == lookalike.audit(one)
    assert lookalike.spark.audit(found, sample=50) == lookalike.audit(one, sample=50)


@slow
@pytest.mark.parametrize("task", ["_DrawTask", "_SearchTask", "_MergeTask"])
def test_spark_audit_survives_killed_executors(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    from unstable_tasks import KillOnce

    import lookalike.spark
    import lookalike.spark._audit as module

    rows = corpus(200)
    found = lookalike.spark.find(frame(spark, rows), **LOSSY)
    original, flag = getattr(module, task), tmp_path / "killed"
    monkeypatch.setattr(module, task, lambda *arguments: KillOnce(original(*arguments), str(flag)))
    assert lookalike.spark.audit(found) == lookalike.audit(lookalike.find(rows, **LOSSY))
    assert flag.exists()


@slow
def test_inputs_without_an_audit_are_refused(spark: Any, tmp_path: Path) -> None:
    from unstable_tasks import ChangedBy

    import lookalike.spark

    flag = tmp_path / "flag"
    docs = (
        frame(spark, corpus(50))
        .coalesce(1)
        .mapInArrow(ChangedBy(str(flag)), "id string, text string")
    )
    found = lookalike.spark.find(docs, threshold=0.5)
    with pytest.raises(OptionError, match="sample"):
        lookalike.spark.audit(found, sample=0)
    with pytest.raises(OptionError, match="above 0 and below 1"):
        lookalike.spark.audit(found, confidence=1)
    flag.write_text("fewer")
    with pytest.raises(ChangedError, match="gave 49 documents, .* the run read 50"):
        lookalike.spark.audit(found)
    flag.write_text("text")
    with pytest.raises(ChangedError):
        lookalike.spark.audit(found, sample=1)
