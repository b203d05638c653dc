"""`bench/cluster_simulation.py`: sums by hand, and files that cannot be used."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cluster_simulation import Costs, CostsError, Machines, Projection, StageCost, chosen, main
else:
    # The folder stays out of the search path: its modules have names that others have, too.
    FILE = Path(__file__).parents[2] / "bench" / "cluster_simulation.py"
    SPEC = importlib.util.spec_from_file_location("cluster_simulation", FILE)
    cluster_simulation = importlib.util.module_from_spec(SPEC)
    sys.modules["cluster_simulation"] = cluster_simulation
    SPEC.loader.exec_module(cluster_simulation)
    from cluster_simulation import Costs, CostsError, Machines, Projection, StageCost, chosen, main


def costs(documents: int, bands: int, keys: float, decide: float, shuffled: float) -> dict[str, Any]:
    stages = [
        {"stage": "keys", "seconds": {"Python": keys / 2, "executors": keys / 2}, "shuffled": shuffled},
        {"stage": "decide", "seconds": {"Python": decide}, "shuffled": 3 * documents},
    ]
    return {"documents": documents, "bytes": 1000 * documents, "bands": bands, "rows": 6, "stages": stages}


#: Keys: 10 s, 2 s for each 100 documents at 20 bands, 3 s at 40. Decide: 1 s, 0.5 s for each 100.
SMALL = costs(100, 20, 12.0, 1.5, 100 * 340)
LARGE = costs(1000, 20, 30.0, 6.0, 1000 * 340)
BANDS = costs(1000, 40, 40.0, 6.0, 1000 * 660)


def read(given: dict[str, Any], folder: Path, name: str = "costs.json") -> Costs:
    (folder / name).write_text(json.dumps(given))
    return Costs.read(folder / name)


def projection(folder: Path) -> Projection:
    return Projection(*(read(given, folder) for given in (SMALL, LARGE, BANDS)))


def test_costs_are_those_of_the_lines(tmp_path: Path) -> None:
    keys, decide = projection(tmp_path).stages(10_000, 30)
    assert keys == StageCost("keys", pytest.approx(10 + 100 * 2.5), 1000 * 10_000, pytest.approx(10_000 * 500))
    assert decide == StageCost("decide", pytest.approx(1 + 100 * 0.5), 1000 * 10_000, pytest.approx(3 * 10_000))
    assert [stage.cpu_seconds for stage in projection(tmp_path).stages(1000, 20)] == pytest.approx([30, 6])


def test_a_stage_ends_with_what_takes_longest() -> None:
    machines = Machines(machines=10, cores=4, network=100.0, disk=50.0, price=0.9, straggler=1.5)
    assert machines.seconds(StageCost("cpu", 400.0, 0, 0)) == 15
    assert machines.seconds(StageCost("disk", 400.0, 10_000, 5_000)) == 40
    assert Machines(10, 4, 1.0, 50.0, 0.9, 1.5).seconds(StageCost("network", 0, 0, 5_000)) == 500
    assert machines.dollars(1800) == 4.5


def test_bands_are_those_of_the_plan() -> None:
    assert chosen(10**6) == (21, 6) and chosen(10**11) == (41, 10)


def test_the_table_and_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / name for name in ("small.json", "large.json", "bands.json")]
    for file, given in zip(files, (SMALL, LARGE, BANDS), strict=True):
        file.write_text(json.dumps(given))
    # By hand: keys 10 s and 2000 of 0.02 s, decide 1 s and 2000 of 0.005 s: 61 s; measured 50.
    other = tmp_path / "other.json"
    other.write_text(json.dumps(costs(2000, 20, 40.0, 10.0, 2000 * 340)))
    given = [*map(str, files), "--documents", "1e6", "2.5e9", "1e11", "--stages", "--check", str(other)]
    monkeypatch.setattr(sys, "argv", ["cluster_simulation.py", *given])
    main()
    printed = capsys.readouterr().out
    assert "Projected, not measured" in printed
    # 10 s + 10^6 documents at 21 bands (0.0205 s each) + 1 s + 0.005 s each = 25,511 s.
    assert "| 1e06 | 21 x 6 | 7.1 | 2 GB | 359 MB | 4.8 MB |" in printed
    assert "| – keys |" in printed and "projected 61.0, measured 50.0, +22.0%" in printed
    assert "| 2.5e09 |" in printed and "20% of the documents in components" in printed


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "expected what bench/spark.py --costs writes"),
        ("[1]", "expected what bench/spark.py --costs writes"),
        (json.dumps({**SMALL, "stages": {"keys": 1.0}}), "expected what bench/spark.py --costs writes"),
        (json.dumps({**SMALL, "stages": []}), "it has no stages"),
    ],
)
def test_damaged_files_are_one_error(given: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text(given)
    with pytest.raises(CostsError, match=problem):
        Costs.read(tmp_path / "costs.json")


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    small, large, bands = (read(given, tmp_path) for given in (SMALL, LARGE, BANDS))
    with pytest.raises(CostsError, match="SMALL and LARGE"):
        Projection(large, small, bands)
    slower = read(costs(100, 20, 90.0, 1.5, 100 * 340), tmp_path, "slower.json")
    with pytest.raises(CostsError, match="keys: LARGE takes less time than SMALL"):
        Projection(slower, large, bands).stages(10_000, 30)
    with pytest.raises(CostsError, match="BANDS"):
        Projection(small, large, small)
