"""Audits in stages, without an engine, have the same figures as an audit on one machine."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from test_stages import corpus

import lookalike
from lookalike import _engine, audit_stages, stages
from lookalike._measures.audit import AuditResult
from lookalike.audit_stages import AuditSample
from lookalike.errors import ChangedError, DamagedError, LookalikeError, OptionError

pa = pytest.importorskip("pyarrow")

ALL = (1 << 64) - 1


def divided(
    documents: list[dict[str, Any]],
    reference: list[dict[str, Any]] | None,
    found: lookalike.FindResult,
    tasks: int,
    *,
    sample: int = 2_000,
    seed: int = 1,
    confidence: float = 0.95,
    **options: Any,
) -> AuditResult:
    """Runs the stages of an audit on shares of the documents, as an engine does."""
    plan = stages.plan(**options)
    sides = [(documents, False)] + ([(reference, True)] if reference is not None else [])
    docs = pa.Table.from_pylist(
        [{**row, "reference": flag} for side, flag in sides for row in side]
        if reference is not None
        else documents
    )
    shares = [
        docs.take(pa.array(range(task, docs.num_rows, tasks), pa.int64())).to_batches(40)
        for task in range(tasks)
    ]
    counts, attempt = found.counts, 0
    while True:
        limit = audit_stages.draw_limit(counts["documents"] - counts["empty"], sample, attempt)
        drawn = [
            row
            for share in shares
            for row in audit_stages.draw(plan, share, seed=seed, limit=limit)
        ]
        if limit == ALL or sum(batch.num_rows for batch in drawn) >= sample:
            break
        attempt += 1
    chosen = AuditSample(
        plan, pa.Table.from_batches(drawn), counts["documents"], sample, seed, confidence
    )
    chosen = pickle.loads(pickle.dumps(chosen))
    findings = [row for share in shares for row in audit_stages.search(chosen, share)]
    merged = [*audit_stages.merge(chosen, findings[:2]), *audit_stages.merge(chosen, findings[2:])]
    searched = chosen.searched()
    for batch in merged:
        searched.merge(batch["note"][0].as_py())
    assert searched.counts() == (counts["documents"], counts["documents"] - counts["empty"])
    ids = set(searched.ids())
    pairs = None
    if options.get("pairs"):
        all_pairs = zip(found.pairs["id_a"], found.pairs["id_b"], strict=True)
        pairs = [(a, b) for a, b in all_pairs if a in ids and b in ids]
    duplicates = [member.id for group in found for member in group.duplicates if member.id in ids]
    return AuditResult.of_json(searched.judge(duplicates, pairs))


#: Few bands, which miss a large share of the pairs.
LOSSY: dict[str, Any] = {"threshold": 0.5, "num_hashes": 12, "bands": 3, "rows": 4}


@pytest.mark.parametrize("tasks", [1, 2, 7])
@pytest.mark.parametrize("sample", [40, 5_000])
@pytest.mark.parametrize(
    "options", [LOSSY, {**LOSSY, "pairs": True}, {"threshold": 0.6, "case": "keep"}]
)
def test_divided_audit_equals_one_machine(tasks: int, sample: int, options: dict[str, Any]) -> None:
    rows = corpus(400)
    found = lookalike.find(rows, **options)
    for seed in (1, 9):
        one = lookalike.audit(found, sample=sample, seed=seed, confidence=0.9)
        parts = divided(
            rows, None, found, tasks, sample=sample, seed=seed, confidence=0.9, **options
        )
        assert parts.details == one.details
        if "bands" in options:
            assert one.recall is not None and 0 < one.recall < 1


def test_audit_ignores_pairs_within_reference() -> None:
    rows = corpus(300)
    # Reference documents may have the same ids as other documents.
    reference = [{**row, "id": rows[number]["id"]} for number, row in enumerate(rows[200:])]
    found = lookalike.find(rows[:200], reference=reference, **LOSSY)
    for sample in (60, 5_000):
        one = lookalike.audit(found, sample=sample)
        assert (
            divided(rows[:200], reference, found, 5, sample=sample, **LOSSY).details == one.details
        )
        assert one.sampled > 0


def test_audit_detects_changed_texts() -> None:
    rows = corpus(80)
    plan = stages.plan(threshold=0.5)

    def table(rows: list[dict[str, Any]]) -> Any:
        rows_table = pa.Table.from_pylist(rows)
        return rows_table.append_column("node", stages.nodes(plan, rows_table))

    connected = list(stages.connect(stages.keys(plan, table(rows).to_batches(), 3), 3))
    identities = [
        batch.filter(pa.compute.equal(batch["kind"], "identities")).select(["rows"])
        for batch in connected
    ]
    read = [next(audit_stages.read_texts([batch])).to_pylist()[0] for batch in identities]
    run = audit_stages.added((row["documents"], int(row["digest"])) for row in read)
    assert run[0] == 80
    drawn = pa.Table.from_batches(
        list(audit_stages.draw(plan, table(rows).to_batches(), seed=1, limit=ALL))
    )
    for changed, same in (
        (rows[::-1], True),
        ([*rows[:-1], {**rows[-1], "text": "other words"}], False),
        (rows[1:], False),
    ):
        searched = AuditSample(plan, drawn, 80, 2_000, 1, 0.95).searched()
        searched.search(*next(audit_stages._documents(plan, table(changed).to_batches())))
        assert (searched.texts() == run) is same
    with pytest.raises(DamagedError):
        next(audit_stages.read_texts([pa.record_batch([pa.array([b"lkb1"])], names=["rows"])]))


def test_draw_limits_slightly_exceed_sample() -> None:
    assert audit_stages.draw_limit(100, 2_000) == ALL
    assert audit_stages.draw_limit(0, 1) == ALL
    share = audit_stages.draw_limit(10**9, 2_000) / 2**64
    assert 2_000 < share * 10**9 < 2_400
    assert audit_stages.draw_limit(10**9, 2_000, 1) / 2**64 == pytest.approx(4 * share)
    with pytest.raises(OptionError, match="sample: expected 1 or more"):
        audit_stages.draw_limit(10, 0)


def test_audit_rejects_changed_or_damaged_rows() -> None:
    rows = corpus(60)
    table, plan = pa.Table.from_pylist(rows), stages.plan(threshold=0.5)
    drawn = pa.Table.from_batches(
        list(audit_stages.draw(plan, table.to_batches(), seed=1, limit=ALL))
    )
    sample = AuditSample(plan, drawn, 60, 2_000, 1, 0.95)
    searched = sample.searched()
    searched.merge(
        next(audit_stages.search(sample, table.slice(1).to_batches()))["note"][0].as_py()
    )
    with pytest.raises(ChangedError, match="60 documents, then 59"):
        searched.ids()
    with pytest.raises(LookalikeError, match="no document 4000 was drawn"):
        searched.merge(json.dumps({**json.loads(searched.found()), "met": [4000]}))
    with pytest.raises(LookalikeError, match="a task of the audit"):
        searched.merge("{}")
    cut = drawn.set_column(3, "shingles", pa.array([b"123"] * drawn.num_rows, pa.binary()))
    with pytest.raises(DamagedError, match="the rows of a sample"):
        AuditSample(plan, cut, 60, 2_000, 1, 0.95).searched()
    empty = drawn.set_column(3, "shingles", pa.array([b""] * drawn.num_rows, pa.binary()))
    with pytest.raises(LookalikeError, match="no ascending shingles"):
        AuditSample(plan, empty, 60, 2_000, 1, 0.95).searched()
    with pytest.raises(OptionError, match="above 0 and below 1"):
        AuditSample(plan, drawn, 60, 2_000, 1, 1.0).searched()
    assert _engine.SampleSearch
