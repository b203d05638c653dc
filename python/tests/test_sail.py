"""`lookalike.spark` on Sail, which speaks Spark Connect: counts and survivors are those of one machine;
what needs an order is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pysail", reason="pysail is not installed")

#: A process of its own: a process has either Spark or Spark Connect.
SCRIPT = textwrap.dedent("""
    import os, sys
    from pathlib import Path
    from pysail.spark import SparkConnectServer
    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    _, port = server.listening_address
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    from sail_cases import run_all
    run_all(spark, Path(sys.argv[1]))
    print("all cases are equal", flush=True)
    os._exit(0)
""")


def test_counts_and_survivors_are_those_of_one_machine(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.endswith("all cases are equal\n")
