"""The script for `spark-submit`, run by the real one, and on a cluster of a master and two workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spark_cluster
from divided_runs import joined
from test_stages import corpus

import lookalike
from lookalike.spark import __main__ as script

if (reason := spark_cluster.missing()) is not None:
    pytest.skip(reason, allow_module_level=True)


def submit(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the script as a user does: its path is what it prints. Not on the cluster of the other tests,
    all cores of which their session holds.
    """
    import pyspark

    path = subprocess.run([sys.executable, "-m", "lookalike.spark", "--script"], capture_output=True, text=True, check=True)
    program = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "3"}
    command = [program, "--master", "local[2]", "--driver-memory", "768m"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command += [path.stdout.strip(), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def test_groups_and_pairs_are_those_of_the_program(tmp_path: Path) -> None:
    rows = corpus(120)
    for name, some in (("docs", rows[:100]), ("reference", rows[100:])):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in some))
    docs, reference = str(tmp_path / "docs"), str(tmp_path / "reference")
    options = ["--format", "json", "--threshold", "0.5", "--keep", "field:date", "--keep", "shortest"]
    output = ["--output", str(tmp_path / "groups"), "--pairs", str(tmp_path / "pairs"), "--json"]
    done = submit("find", docs, "--reference", reference, *options, "--option", "case=keep", *output)
    assert done.returncode == 0, done.stderr[-4000:]
    one = lookalike.find(
        rows[:100], reference=rows[100:], threshold=0.5, keep=["field:date", "shortest"], case="keep", pairs=True
    )
    one.write(tmp_path / "one.csv")
    one.write_pairs(tmp_path / "one-pairs.csv")
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    assert joined(tmp_path / "pairs") == (tmp_path / "one-pairs.csv").read_bytes()
    assert json.loads(done.stdout.splitlines()[-1])["counts"] == one.counts


def test_survivors_are_those_of_the_program(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In this process, whose session the script takes: another one takes half a minute to begin."""
    rows, docs = corpus(100), str(tmp_path / "docs")
    Path(docs).write_text("".join(json.dumps(row) + "\n" for row in rows))
    kept = str(tmp_path / "kept")
    assert script.main(["dedup", docs, "--format", "json", "--threshold", "0.5", "--output", kept]) == 0
    found = lookalike.find(rows, threshold=0.5)
    gone = {member.id for group in found for member in group.duplicates}
    there = {json.loads(line)["id"] for line in joined(tmp_path / "kept").decode().splitlines()}
    assert there == {row["id"] for row in rows} - gone and gone

    assert script.main(["find", docs, "--format", "json", "--id", "url"]) == 1
    assert "lookalike: df has no column 'url'" in capsys.readouterr().err
    assert script.main(["find", docs, "--format", "json", "--option", "colour=red"]) == 2
    assert "lookalike: there is no option 'colour'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["find", "x", "--option", "bands"], "--option: expected NAME=VALUE, got 'bands'"),
        (["find"], "the following arguments are required: INPUT"),
        (["dedup", "x"], "the following arguments are required: --output"),
        ([], "usage"),
    ],
)
def test_wrong_use_is_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = script.main(arguments)
    except SystemExit as error:
        code = error.code
    assert code == 2 and message in capsys.readouterr().err
