"""Checks `bench/cluster_simulation.py` against sums by hand, and with unusable files."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

ROOT = Path(__file__).resolve().parents[3]

if TYPE_CHECKING:
    from cluster_simulation import (
        Components,
        Costs,
        CostsError,
        Machines,
        Projection,
        StageCost,
        chosen,
        main,
    )
else:
    # The folder is not added to the search path, because other modules have the same names.
    FILE = ROOT / "bench" / "cluster_simulation.py"
    SPEC = importlib.util.spec_from_file_location("cluster_simulation", FILE)
    cluster_simulation = importlib.util.module_from_spec(SPEC)
    sys.modules["cluster_simulation"] = cluster_simulation
    SPEC.loader.exec_module(cluster_simulation)
    from cluster_simulation import (
        Components,
        Costs,
        CostsError,
        Machines,
        Projection,
        StageCost,
        chosen,
        main,
    )


def costs(
    documents: int, bands: int, keys: float, decide: float, shuffled: float
) -> dict[str, Any]:
    stages = [
        {
            "stage": "keys",
            "seconds": {"Python": keys / 2, "executors": keys / 2},
            "shuffled": shuffled,
        },
        {"stage": "components", "seconds": {"Python": documents / 100}, "shuffled": 5 * documents},
        {"stage": "decide", "seconds": {"Python": decide}, "shuffled": 3 * documents},
    ]
    return {
        "documents": documents,
        "bytes": 1000 * documents,
        "bands": bands,
        "rows": 6,
        "stages": stages,
    }


#: The stage keys takes 10 s and, for each 100 documents, 2 s with 20 bands or 3 s with 40 bands.
#: The stage components takes 1 s for each 100 documents. The stage decide takes 1 s and 0.5 s for
#: each 100 documents.
SMALL = costs(100, 20, 12.0, 1.5, 100 * 340)
LARGE = costs(1000, 20, 30.0, 6.0, 1000 * 340)
BANDS = costs(1000, 40, 40.0, 6.0, 1000 * 660)


def read(costs: dict[str, Any], folder: Path, name: str = "costs.json") -> Costs:
    (folder / name).write_text(json.dumps(costs))
    return Costs.read(folder / name)


def projection(folder: Path, components: Components = Components()) -> Projection:
    return Projection(*(read(costs, folder) for costs in (SMALL, LARGE, BANDS)), components)


def test_stage_costs_follow_fitted_lines(tmp_path: Path) -> None:
    keys, components, decide = projection(tmp_path).stages(10_000, 30)
    assert keys == StageCost(
        "keys", pytest.approx(10 + 100 * 2.5), 1000 * 10_000, pytest.approx(10_000 * 500)
    )
    assert components == StageCost("components", pytest.approx(100), 0, pytest.approx(5 * 10_000))
    assert decide == StageCost(
        "decide", pytest.approx(1 + 100 * 0.5), 1000 * 10_000, pytest.approx(3 * 10_000)
    )
    assert [stage.cpu_seconds for stage in projection(tmp_path).stages(1000, 20)] == pytest.approx(
        [30, 10, 6]
    )


def test_oversized_components_add_rounds(tmp_path: Path) -> None:
    # Half of the documents are in components, and each takes 24 bytes.
    small = Components(share=0.5, chain=1000, task_memory=120 << 20)
    assert (small.rounds(10 << 20), small.rounds((10 << 20) + 1)) == (0, 10)
    assert [Components(0.5, chain, 1).rounds(10 << 20) for chain in (1, 2, 3, 1024, 1025)] == [
        1,
        1,
        2,
        10,
        11,
    ]
    # A task can hold at least 64 MiB, even if task_memory is less.
    assert Components(1.0, 1000, 1).rounds((64 << 20) // 24) == 0
    documents = 20 << 20
    _, components, _ = projection(tmp_path, small).stages(documents, 20)
    # The stage shuffles 5 bytes for each document. Each of ten rounds has three shuffles of 16
    # bytes for half of the documents.
    assert components.shuffled == pytest.approx((5 + 10 * 3 * 16 / 2) * documents)
    assert components.cpu_seconds == pytest.approx(documents / 100 * (1 + 240 / 5))


def test_many_labels_shuffle_texts(tmp_path: Path) -> None:
    shuffled = [
        projection(tmp_path).stages(documents, 20)[2].shuffled
        for documents in (50_000_000, 50_000_005)
    ]
    # A fifth of the documents is 10 million. A document has 1000 bytes.
    assert shuffled == pytest.approx([3 * 50_000_000, 1003 * 50_000_005])


def test_slowest_resource_decides_stage_time() -> None:
    machines = Machines(machines=10, cores=4, network=100.0, disk=50.0, price=0.9, straggler=1.5)
    assert machines.seconds(StageCost("cpu", 400.0, 0, 0)) == 15
    assert machines.seconds(StageCost("disk", 400.0, 10_000, 5_000)) == 40
    assert Machines(10, 4, 1.0, 50.0, 0.9, 1.5).seconds(StageCost("network", 0, 0, 5_000)) == 500
    assert machines.dollars(1800) == 4.5


def test_projected_bands_match_plan() -> None:
    assert chosen(10**6) == (21, 6) and chosen(10**11) == (41, 10)


def test_the_table_and_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("small.json", "large.json", "bands.json")]
    for file, given in zip(files, (SMALL, LARGE, BANDS), strict=True):
        file.write_text(json.dumps(given))
    # By hand: keys 10 s + 2000 * 0.02 s, components 20 s, decide 1 s + 2000 * 0.005 s. The sum is
    # 81 s. The measurement has 70 s.
    other = tmp_path / "other.json"
    other.write_text(json.dumps(costs(2000, 20, 40.0, 10.0, 2000 * 340)))
    given = [
        *map(str, files),
        "--documents",
        "1e6",
        "2.5e9",
        "1e11",
        "--stages",
        "--check",
        str(other),
    ]
    monkeypatch.setattr(sys, "argv", ["cluster_simulation.py", *given])
    main()
    printed = capsys.readouterr().out
    assert "Projected, not measured" in printed
    # 11 s + 10^6 documents * (0.0205 s for keys with 21 bands + 0.01 s + 0.005 s) = 35,511 s.
    assert "| 1e06 | 21 x 6 | 9.9 | 2 GB | 364 MB | 4.8 MB | none |" in printed
    assert "| – keys |" in printed and "projected 81.0, measured 70.0, +15.7%" in printed
    assert (
        "| 2.5e09 |" in printed
        and "| 12 GB | 10 |" in printed
        and "20% of the documents in components" in printed
    )


def test_the_guide_has_the_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (ROOT / "docs" / "reference" / "cluster.md").read_text(encoding="utf-8")
    files = [
        ROOT / "bench" / "cluster_costs" / f"{name}.json" for name in ("small", "large", "bands")
    ]
    monkeypatch.setattr(sys, "argv", ["cluster_simulation.py", *map(str, files)])
    main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    for row in rows:
        assert f"\n{row}\n" in guide
    measured = [json.loads(file.read_text()) for file in files]
    for stages in zip(*(run["stages"] for run in measured), strict=True):
        cells = [
            f"{sum(stage['seconds'].values()):.1f} ({stage['seconds']['Python']}), {stage['shuffled'] / run['documents']:.0f} B"
            for stage, run in zip(stages, measured, strict=True)
        ]
        assert f"| `{stages[0]['stage']}` | {' | '.join(cells)} |" in guide


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "expected what bench/spark.py --costs writes"),
        ("[1]", "expected what bench/spark.py --costs writes"),
        (
            json.dumps({**SMALL, "stages": {"keys": 1.0}}),
            "expected what bench/spark.py --costs writes",
        ),
        (json.dumps({**SMALL, "stages": []}), "it has no stages"),
    ],
)
def test_damaged_cost_files_are_errors(given: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text(given)
    with pytest.raises(CostsError, match=problem):
        Costs.read(tmp_path / "costs.json")


def test_inconsistent_cost_files_are_errors(tmp_path: Path) -> None:
    small, large, bands = (read(given, tmp_path) for given in (SMALL, LARGE, BANDS))
    with pytest.raises(CostsError, match="SMALL and LARGE"):
        Projection(large, small, bands)
    slower = read(costs(100, 20, 90.0, 1.5, 100 * 340), tmp_path, "slower.json")
    with pytest.raises(CostsError, match="keys: LARGE takes less time than SMALL"):
        Projection(slower, large, bands).stages(10_000, 30)
    with pytest.raises(CostsError, match="BANDS"):
        Projection(small, large, small)
