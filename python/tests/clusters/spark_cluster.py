"""Spark for tests: a standalone cluster, a Spark Connect server and local sessions.

The cluster listens on the loopback interface. It has a master and two workers with one core each,
whose executors are separate processes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from divided_runs import python_path

#: Seconds to wait for a cluster or server to start.
PATIENCE = 120


def missing() -> str | None:
    """Returns the reason why no cluster can be started; ``None`` if one can."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed"
    if shutil.which("java") is None:
        return "there is no Java"
    return None


def has_connect() -> bool:
    """Returns true if PySpark contains the Spark Connect server, which PySpark 3.5 lacks."""
    import pyspark

    return any((Path(pyspark.__file__).parent / "jars").glob("spark-connect_*.jar"))


class ConnectServer:
    """A Spark Connect server with two cores, which runs during a ``with`` block."""

    def __init__(self, folder: Path) -> None:
        self._log, self._port = folder / "connect.log", _free_port()
        self.url = f"sc://127.0.0.1:{self._port}"

    def __enter__(self) -> ConnectServer:
        settings = _settings() | {"spark.connect.grpc.binding.port": str(self._port)}
        named = [
            "--class",
            "org.apache.spark.sql.connect.service.SparkConnectServer",
            "spark-internal",
        ]
        with self._log.open("wb") as log:
            command = [*_submit_command(settings), *named]
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=os.environ | _ENVIRONMENT,
                start_new_session=True,
            )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if time.monotonic() > end or self._process.poll() is not None:
                self.__exit__()
                raise RuntimeError(f"the server did not come up:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.2)
        return self

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=5).close()
        except OSError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        _kill(self._process)


class SparkCluster:
    """The processes of a cluster. :meth:`stop` ends them."""

    def __init__(
        self, folder: Path, worker_memory: str = "1g", *, has_shuffle_service: bool = False
    ) -> None:
        """
        :param has_shuffle_service: whether a separate process serves the shuffle files, so that
            they remain available after the executor that wrote them has ended.
        """
        import pyspark

        self._service = {
            "spark.shuffle.service.enabled": "true",
            "spark.shuffle.service.port": str(_free_port()),
        }
        if not has_shuffle_service:
            self._service = {}
        self.folder, self._worker_memory = folder, worker_memory
        self.processes: list[subprocess.Popen[bytes]] = []
        self._program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self._port, self._web = _free_port(), _free_port()
        self.url = f"spark://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Starts master and workers, and waits until the workers are registered."""
        self.folder.mkdir(exist_ok=True)
        web = ["--webui-port", str(self._web)]
        self._run("master", "master.Master", ["--port", str(self._port), *web])
        for number in (1, 2):
            resources = ["--cores", "1", "--memory", self._worker_memory, "--webui-port", "0"]
            place = ["--work-dir", str(self.folder / f"work{number}")]
            self._run(f"worker{number}", "worker.Worker", [*resources, *place, self.url])
        if self._service:
            self._run(_SERVICE, "ExternalShuffleService", [])
        end = time.monotonic() + PATIENCE
        while self._workers() < 2:
            if time.monotonic() > end or any(
                process.poll() is not None for process in self.processes
            ):
                logs = "\n".join(log.read_text()[-2000:] for log in self.folder.glob("*.log"))
                self.stop()
                raise RuntimeError(f"the cluster did not come up:\n{logs}")
            time.sleep(0.2)

    def _run(self, name: str, kind: str, arguments: list[str]) -> None:
        # Workers do not receive these settings: each would start a service on the same port.
        service = self._service if name == _SERVICE else {}
        # The service reads the shuffle files in the folders of both workers.
        places = ("worker1", "worker2") if name == _SERVICE else (name,)
        environment = os.environ | {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": " ".join(
                [_SHORT_LIVED, *(f"-D{key}={value}" for key, value in service.items())]
            ),
            "SPARK_LOCAL_DIRS": ",".join(str(self.folder / f"local-{place}") for place in places),
        }
        command = [
            *_UNTIL_WE_END,
            str(self._program),
            f"org.apache.spark.deploy.{kind}",
            "--host",
            "127.0.0.1",
            *arguments,
        ]
        with (self.folder / f"{name}.log").open("wb") as log:
            # Use a new process group, so that `_kill` also ends the executors of a worker.
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, start_new_session=True
            )
        self.processes.append(process)

    def _workers(self) -> int:
        import json

        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._web}/json/", timeout=5) as answer:
                return int(json.load(answer)["aliveworkers"])
        except OSError:
            return 0

    def __enter__(self) -> SparkCluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends all processes."""
        for process in self.processes:
            _kill(process)
        self.processes.clear()

    def session(self, **settings: Any) -> Any:
        """Returns the Spark session of this process. Its executors can import the test modules."""
        from pyspark.sql import SparkSession

        os.environ.update(_ENVIRONMENT)
        builder = SparkSession.builder.master(self.url)
        for name, value in {**_settings(), **self._service, **settings}.items():
            builder = builder.config(name, str(value))
        return builder.getOrCreate()


#: A command prefix on Linux. It ends the started process if this process ends, even by SIGKILL.
_UNTIL_WE_END = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
#: Avoids Snappy, whose Java library fails on machines with the loaders of both musl and glibc.
PARQUET_CODEC = "zstd"
#: The name of the process of the shuffle service.
_SERVICE = "shuffle"
_ENVIRONMENT = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def local_session() -> Any:
    """Returns a builder for a session without a cluster: one local JVM with two cores."""
    from pyspark.sql import SparkSession

    os.environ.update(_ENVIRONMENT)
    builder = SparkSession.builder.master("local[2]")
    for name, value in _settings().items():
        builder = builder.config(name, value)
    return builder


def submit(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script with ``spark-submit`` on two local cores. The session of the tests occupies the
    cores of the cluster."""
    command = [*_submit_command(_settings()), script, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | _ENVIRONMENT, timeout=300
    )


def _submit_command(settings: dict[str, str]) -> list[str]:
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    named = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    return [str(program), "--master", "local[2]", *named]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the process group of a process."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


#: JVM options for short runs: only the fast compiler, and no verification of PySpark's classes.
_SHORT_LIVED = " ".join(
    [
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",
    ]
)


def _settings() -> dict[str, str]:
    """Returns the settings of every application. Executors can import the test modules."""
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.executor.memory": "640m",
        "spark.executorEnv.PYTHONPATH": python_path(),
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.parquet.compression.codec": PARQUET_CODEC,
        "spark.driver.extraJavaOptions": _SHORT_LIVED,
        "spark.executor.extraJavaOptions": _SHORT_LIVED,
        "spark.network.timeout": "600s",
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
