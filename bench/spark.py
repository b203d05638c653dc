"""Measures CPU seconds, memory and shuffled bytes of `lookalike.spark` (on Spark or on Sail) and
`lookalike.ray`, next to `lookalike find` on the same documents.

    python3 bench/spark.py FILE.parquet [--engine spark|sail|ray]
        [--program target/release/lookalike] [--partitions 8] [--kill TASK ...]
        [--mllib DOCUMENTS] [--bigcode SCRIPT] [--costs FILE.json] [--documents N]

FILE.parquet has the columns `id` and `text`. Spark is a standalone cluster of a master and two
workers of one core each, on the loopback interface. It uses Spark's external shuffle service. Ray
is a node of two cores. Sail is one process. Each engine runs twice, and the second run is measured.
The groups are compared byte for byte with the output of the program. CPU seconds include all
processes of the run, which are sampled ten times a second.

`--kill KeyTask ConnectTask MergeTask LabelTask DecideTask LineTask` runs once for each of these
tasks, and kills an executor while it runs such a task. Prints the stage of the kill, and compares
the cost with the mean of the runs before and after. `--mllib N` measures MinHashLSH of MLlib (3
tables) on the first N documents, on the same cluster. `--bigcode SCRIPT` measures BigCode's script
(`near_deduplication/minhash_deduplication_spark.py` of bigcode-project/bigcode-dataset; it needs
NumPy and SciPy) on the same documents, or on all documents without `--mllib`. The results of both
are compared with the verified pairs of the program. `--costs` writes the measurements as JSON, with
the costs of each stage for `cluster_simulation.py`. `--documents N` uses the bands and rows for a
collection of N documents.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python" / "tests" / "clusters"))
sys.path.insert(0, str(HERE))

from divided_runs import joined  # noqa: E402 - of the tests
from process_costs import Cost, measured, report  # noqa: E402
from spark_peers import compare_peers  # noqa: E402


def run_once(spark: Any, args: argparse.Namespace, folder: Path) -> Any:
    """Finds the groups of the file on Spark and writes them to a folder."""
    found = find_in(spark, args)
    found.write(str(folder))
    return found


@contextlib.contextmanager
def spark_session(place: Path) -> Iterator[Any]:
    """Starts a cluster of two workers, and yields a session that writes its event log to
    `events`."""
    import spark_cluster

    (place / "events").mkdir()
    with spark_cluster.SparkCluster(place, worker_memory="3g", has_shuffle_service=True) as cluster:
        spark = cluster.session(
            **{
                "spark.executor.memory": "2g",
                "spark.driver.memory": "2g",
                "spark.sql.shuffle.partitions": "8",
                "spark.eventLog.enabled": "true",
                "spark.eventLog.dir": f"file://{place / 'events'}",
                "spark.eventLog.compress": "false",
                "spark.eventLog.rolling.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
            }
        )
        spark.sparkContext.setLogLevel("OFF")
        try:
            yield spark
        finally:
            spark.stop()


def shuffled(events: Path, after: float, before: float) -> list[tuple[int, int]]:
    """Returns the bytes that each stage of Spark wrote for a shuffle, in the order of the stages.
    Only tasks that started between `after` and `before` count."""
    sums: dict[int, int] = {}
    for file in events.iterdir():
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event.get("Event") == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                if after <= event["Task Info"]["Launch Time"] / 1000 <= before:
                    written = event["Task Metrics"]["Shuffle Write Metrics"][
                        "Shuffle Bytes Written"
                    ]
                    sums[event["Stage ID"]] = sums.get(event["Stage ID"], 0) + written
    return [(stage, sums[stage]) for stage in sorted(sums) if sums[stage]]


def on_spark(
    args: argparse.Namespace, place: Path, expected: bytes, documents: int
) -> dict[str, Any]:
    import lookalike.spark

    with spark_session(place) as spark:
        run_once(spark, args, place / "warm").release()
        costs: list[Cost] = []
        after = time.time()
        with measured(costs):
            found = run_once(spark, args, place / "groups")
        before = time.time()
        compare("Spark", joined(place / "groups"), expected)
        report("Spark", costs[0], found.seconds)
        found.release()
        usual = costs[0]
        for task in args.kill or ():
            usual = killed(spark, args, place, expected, usual, task)
        stages = stage_costs(spark, args, place) if args.costs else []
        if args.mllib or args.bigcode:
            compare_peers(
                spark,
                args,
                place,
                lambda frame: lookalike.spark.find(frame, partitions=args.partitions),
            )
    per_document = [bytes_ / documents for _, bytes_ in shuffled(place / "events", after, before)]
    print(
        "Shuffled bytes for each document, by stage: "
        + ", ".join(f"{each:.1f}" for each in per_document if each >= 0.1)
    )
    parameters = {name: found.parameters[name] for name in ("bands", "rows")}
    return {
        "seconds": costs[0].seconds,
        "wall": costs[0].wall,
        "shuffled": per_document,
        **parameters,
        "stages": stages,
    }


class StageCosts(logging.Handler):
    """Measures each stage, from the log record of its beginning to the log record of its end."""

    def __init__(self) -> None:
        super().__init__()
        self.stages: list[dict[str, Any]] = []
        self._open: contextlib.ExitStack | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._open is None:
            self._open = contextlib.ExitStack()
            self._open.enter_context(self.stage(record.stage))
        else:
            self._open.close()
            self._open = None

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measures the `with` block as a stage."""
        costs: list[Cost] = []
        after = time.time()
        with measured(costs):
            yield
        self.stages.append(
            {
                "stage": name,
                "seconds": costs[0].seconds,
                "wall": costs[0].wall,
                "from": after,
                "to": time.time(),
            }
        )


def stage_costs(spark: Any, args: argparse.Namespace, place: Path) -> list[dict[str, Any]]:
    """Returns the CPU seconds and the shuffled bytes of each stage. The run writes the result of
    each stage to a folder. Without the folder, the stages of Spark would not end with the stages of
    the run."""
    costs, log = StageCosts(), logging.getLogger("lookalike.spark")
    log.setLevel(logging.INFO)
    log.addHandler(costs)
    try:
        found = find_in(spark, args, checkpoint=f"file://{place / 'stages'}")
    finally:
        log.removeHandler(costs)
    with costs.stage("write"):
        found.write(str(place / "groups-of-stages"))
    # Spark writes its events with a delay.
    time.sleep(2)
    for each in costs.stages:
        each["shuffled"] = sum(
            bytes_ for _, bytes_ in shuffled(place / "events", each.pop("from"), each.pop("to"))
        )
    return costs.stages


def find_in(spark: Any, args: argparse.Namespace, **options: Any) -> Any:
    """Finds the groups of the file on Spark or Sail."""
    import lookalike.spark

    return lookalike.spark.find(
        spark.read.parquet(args.file),
        partitions=args.partitions,
        documents=args.documents,
        **options,
    )


class KillStage(logging.Handler):
    """Finds the stage in which a file appears."""

    def __init__(self, flag: Path) -> None:
        super().__init__()
        self.stage = "write"
        self._flag = flag

    def emit(self, record: logging.LogRecord) -> None:
        # Only the record of the end of a stage has `seconds`. Later records belong to other stages.
        if hasattr(record, "seconds") and self._flag.exists():
            self.stage = record.stage
            logging.getLogger("lookalike.spark").removeHandler(self)


def killed(
    spark: Any, args: argparse.Namespace, place: Path, expected: bytes, before: Cost, task: str
) -> Cost:
    """Runs once and kills an executor in a task. Then runs again without a kill, so that the new
    executor is warm. The speed of a shared machine changes within minutes. The cost of the run with
    the kill is therefore compared with the mean of the runs before and after it.

    :param before: the cost of the run before the kill.
    :returns: the cost of the run after the kill.
    """
    import pytest
    from divided_runs import kill_once

    costs: list[Cost] = []
    flag = place / f"killed-in-{task}"
    stage, log = KillStage(flag), logging.getLogger("lookalike.spark")
    log.setLevel(logging.INFO)
    log.addHandler(stage)
    with pytest.MonkeyPatch.context() as patch:
        kill_once(patch, task, flag)
        with measured(costs):
            run_once(spark, args, place / f"after-{task}").release()
    log.removeHandler(stage)
    if not flag.exists():
        sys.exit(f"no executor was killed in {task}")
    compare(
        f"Spark, an executor killed in {task} (stage {stage.stage})",
        joined(place / f"after-{task}"),
        expected,
    )
    with measured(costs):
        run_once(spark, args, place / f"warm-after-{task}").release()
    killed_run, after = costs
    mean = (before.total + after.total) / 2
    print(
        f"{killed_run.total:.1f} CPU s ({killed_run.by_kind()}), {killed_run.total / mean:.2f} "
        "times the mean of the runs before "
        f"and after it, {before.total:.1f} and {after.total:.1f}.",
        flush=True,
    )
    return after


def on_sail(
    args: argparse.Namespace, place: Path, expected: bytes, _documents: int
) -> dict[str, Any]:
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(
        f"sc://127.0.0.1:{server.listening_address[1]}"
    ).getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", str(args.partitions))
    costs: list[Cost] = []
    for number in range(2):
        # Sail does not keep the results of stages. Without a checkpoint, each stage runs all
        # earlier stages again.
        checkpoint = f"file://{place}/run{number}"
        with measured(costs):
            found = find_in(spark, args, checkpoint=checkpoint)
    found.write(str(place / "groups-of-sail"))
    compare("Sail", joined(place / "groups-of-sail"), expected)
    report("Sail", costs[1], found.seconds)
    # Stop the server here. If it still runs when the process ends, it waits minutes for its tasks.
    spark.stop()
    server.stop()
    return {"seconds": costs[1].seconds, "wall": costs[1].wall, "stages": found.seconds}


def on_ray(args: argparse.Namespace, place: Path, expected: bytes, _: int) -> dict[str, Any]:
    import ray

    import lookalike.ray

    ray.init(
        "local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    costs: list[Cost] = []
    for name in ("warm", "groups"):
        with measured(costs):
            found = lookalike.ray.find(
                ray.data.read_parquet(args.file),
                partitions=args.partitions,
                documents=args.documents,
            )
            found.write(str(place / name))
    compare("Ray", joined(place / "groups"), expected)
    report("Ray", costs[1], found.seconds)
    ray.shutdown()
    return {"seconds": costs[1].seconds, "wall": costs[1].wall, "stages": found.seconds}


def bands_of(documents: int) -> list[str]:
    """Returns the options `--bands` and `--rows` of the program for a number of documents."""
    from lookalike import stages

    parameters = stages.plan(threshold=0.8, recall=0.99, documents=documents).parameters
    return ["--bands", str(parameters["bands"]), "--rows", str(parameters["rows"])]


def compare(name: str, got: bytes, expected: bytes) -> None:
    if got != expected:
        sys.exit(f"{name}: the groups differ from the groups of the program")
    print(f"{name}: the groups are the same bytes.")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("--engine", choices=("spark", "sail", "ray"), default="spark")
    parser.add_argument("--program", default="target/release/lookalike")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--kill", nargs="+", metavar="TASK")
    parser.add_argument("--mllib", type=int, metavar="DOCUMENTS")
    parser.add_argument("--bigcode", metavar="SCRIPT")
    parser.add_argument("--costs", metavar="FILE")
    parser.add_argument("--documents", type=int, metavar="N")
    args = parser.parse_args()
    args.file = str(Path(args.file).resolve())
    import pyarrow.parquet
    from shard import cost

    documents = pyarrow.parquet.read_metadata(args.file).num_rows
    place = Path(tempfile.mkdtemp())
    try:
        find = [
            args.program,
            "find",
            args.file,
            "--threads",
            "1",
            "-q",
            "-o",
            str(place / "one.csv"),
        ]
        if args.documents:
            find += bands_of(args.documents)
        cost(find)  # Brings the file into the page cache.
        seconds, memory = cost(find)
        print(f"{documents} documents; `find --threads 1`: {seconds:.1f} CPU s, {memory:.0f} MB")
        engines = {"spark": on_spark, "sail": on_sail, "ray": on_ray}
        figures = engines[args.engine](args, place, (place / "one.csv").read_bytes(), documents)
        if args.costs:
            size = Path(args.file).stat().st_size
            kept = {
                "engine": args.engine,
                "documents": documents,
                "bytes": size,
                "find": seconds,
                **figures,
            }
            Path(args.costs).write_text(json.dumps(kept, indent=1) + "\n")
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
