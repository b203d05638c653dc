"""The core of `lookalike.spark` with each kind of session: a local session, a Spark Connect server,
and Sail, which implements Spark Connect.

Each kind runs in a process of its own, because a process can use either Spark or Spark Connect.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import spark_cluster
from divided_runs import python_path
from soak import IS_SOAK, slow

CLASSIC = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
"""
CONNECT = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[2]).getOrCreate()
"""
# Tasks of Sail run in this process. With small batches, a task decides its rows in several calls.
SAIL = """
from lookalike import stages
stages.BATCH_BYTES = 5_000
from pysail.spark import SparkConnectServer
server = SparkConnectServer(ip="127.0.0.1", port=0)
server.start(background=True)
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
"""
CASES = f"""
spark.conf.set("spark.sql.shuffle.partitions", "3")
spark.conf.set("spark.sql.parquet.compression.codec", "{spark_cluster.PARQUET_CODEC}")
from spark_core_cases import run_all
run_all(spark, Path(sys.argv[1]))
print("all cases are equal", flush=True)
os._exit(0)
"""


def check(session: str, *arguments: str) -> None:
    """Runs the cases in a new process, on the session that the code `session` creates."""
    environment = os.environ | {
        "PYTHONPATH": python_path(),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    program = f"import os, sys\nfrom pathlib import Path\n{session}{CASES}"
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.endswith("all cases are equal\n")


def need_spark() -> None:
    if (reason := spark_cluster.missing()) is not None:
        pytest.skip(reason)


def test_a_session_of_this_process(tmp_path: Path) -> None:
    need_spark()
    if not IS_SOAK and spark_cluster.has_connect():
        pytest.skip(
            "LOOKALIKE_SOAK is not set; test_spark.py has the cases on a cluster of this PySpark"
        )
    check(CLASSIC, str(tmp_path))


@slow
def test_a_server_of_spark_connect(tmp_path: Path) -> None:
    need_spark()
    pytest.importorskip("grpc", reason="grpcio is not installed")
    if not spark_cluster.has_connect():
        pytest.skip("this PySpark has no server of Spark Connect")
    with spark_cluster.ConnectServer(tmp_path) as server:
        check(CONNECT, str(tmp_path), server.url)


def test_sail(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("pysail", reason="pysail is not installed")
    check(SAIL, str(tmp_path))
