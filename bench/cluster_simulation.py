"""Projects the time of a run of `lookalike.spark` on many machines from measured stages.

    python3 bench/cluster_simulation.py SMALL.json LARGE.json BANDS.json [--documents N ...]
        [--stages] [--check OTHER.json] [--machines 100] [--cores 16] [--network 1e9] [--disk 1e9]
        [--price 0.8] [--task-memory BYTES] [--share 0.2] [--chain 1000]

The Python package must be installed. `bench/spark.py --costs` writes the three files. SMALL and
LARGE differ in the number of documents, LARGE and BANDS in the number of bands.
`bench/cluster_costs/` has an example of each. Assumptions:

- The CPU seconds of a stage are a fixed part and a part for each document (SMALL, LARGE). For
  the stage `keys`, the CPU seconds and shuffled bytes of a document grow with the bands (LARGE,
  BANDS). The fixed part is measured for one application on two executors, and counts once.
- `lookalike.stages.plan(documents=N)` chooses bands and rows.
- All other shuffled bytes of a document are the same as in LARGE. `--share` is the share of
  documents in components. The number of rounds depends on it.
- Up to 10 million documents in components, all executors get the labels, and texts stay where
  they are read. Above, the second reading shuffles labels and all texts: as many bytes as the
  file has. The table omits the CPU time of this shuffle.
- Each task joins 16 forests. The last task gets 24 bytes for each document in a component. The
  table omits its time on one core. If these bytes exceed `--task-memory` (at least 64 MiB),
  rounds find the components. The number of rounds is log2 of `--chain`, the longest chain of
  documents, rounded up. A round shuffles 16 bytes for each document in a component three times.
  A shuffled byte takes as much CPU time as in the stage `components`.
- A stage ends when the cores have spent its CPU seconds, the disks have read and written its
  bytes, and the network has moved its bytes. The slowest task makes the CPU seconds take
  `--straggler` times as long.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

#: Stages that read the documents.
READING = ("keys", "decide")
#: Bytes of a document in the last task that joins forests, and of its edge in a shuffle.
NODE_BYTES, EDGE_BYTES = 24, 16
#: Number of shuffles in a round.
ROUND_STEPS = 3
#: Maximum number of documents in components for which all executors get the labels, and the
#: lower limit of `task_memory`, in bytes. Both values are the same as in `lookalike.spark`.
BROADCAST, LEAST_TASK_BYTES = 10_000_000, 64 << 20


class CostsError(Exception):
    """A file of costs cannot be used."""


@dataclass(frozen=True)
class Costs:
    """The measurements of `bench/spark.py --costs`."""

    documents: int
    bytes: int
    bands: int
    rows: int
    #: CPU seconds, and shuffled bytes, by stage.
    seconds: dict[str, float]
    shuffled: dict[str, float]

    @classmethod
    def read(cls, file: Path) -> Costs:
        """Reads a file.

        :raises CostsError: the file does not contain the costs of stages on Spark.
        """
        try:
            content: dict[str, Any] = json.loads(file.read_text())
            stages = content["stages"]
            seconds = {stage["stage"]: float(sum(stage["seconds"].values())) for stage in stages}
            shuffled = {stage["stage"]: float(stage["shuffled"]) for stage in stages}
            costs = cls(
                *(int(content[name]) for name in ("documents", "bytes", "bands", "rows")),
                seconds,
                shuffled,
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CostsError(
                f"{file}: expected what bench/spark.py --costs writes ({error!r}); measure it again"
            ) from error
        if not stages or costs.documents < 1:
            raise CostsError(
                f"{file}: it has no stages or no documents; measure it again with --engine spark"
            )
        return costs


@dataclass(frozen=True)
class StageCost:
    """The cost of a stage for a number of documents."""

    name: str
    cpu_seconds: float
    read: float
    shuffled: float


@dataclass(frozen=True)
class Components:
    """Assumptions about the components of a collection."""

    #: The share of documents that are in components.
    share: float = 0.2
    #: The number of documents in the longest chain of a component.
    chain: int = 1000
    #: Maximum memory of a task, in bytes.
    task_memory: float = 2 << 30

    def rounds(self, documents: int) -> int:
        """Returns the number of rounds that find components; 0 if one task can find them."""
        fits = NODE_BYTES * self.share * documents <= max(self.task_memory, LEAST_TASK_BYTES)
        return 0 if fits else math.ceil(math.log2(max(self.chain, 2)))

    def are_sent(self, documents: int) -> bool:
        """Returns true if all executors get the labels of documents."""
        return self.share * documents <= BROADCAST


class Projection:
    """Costs of stages as functions of the number of documents and bands."""

    def __init__(
        self, small: Costs, large: Costs, bands: Costs, components: Components = Components()
    ) -> None:
        if small.documents >= large.documents or (small.bands, small.rows) != (
            large.bands,
            large.rows,
        ):
            raise CostsError(
                "SMALL and LARGE: expected fewer and more documents with the same bands and rows"
            )
        if bands.documents != large.documents or bands.bands <= large.bands:
            raise CostsError("BANDS: expected as many documents as LARGE, and more bands")
        if not set(small.seconds) == set(large.seconds) == set(bands.seconds):
            raise CostsError(
                "the files have other stages than each other; measure them with one version"
            )
        self._large, self._small, self._bands, self.components = large, small, bands, components

    def stages(self, documents: int, bands: int) -> list[StageCost]:
        """Returns the costs of all stages."""
        return [self._stage(name, documents, bands) for name in self._large.seconds]

    def _stage(self, name: str, documents: int, bands: int) -> StageCost:
        small, large, more = self._small, self._large, self._bands
        each = (large.seconds[name] - small.seconds[name]) / (large.documents - small.documents)
        if each < 0:
            raise CostsError(
                f"{name}: LARGE takes less time than SMALL; measure both again, on a machine "
                "with nothing else to do"
            )
        fixed = max(small.seconds[name] - each * small.documents, 0.0)
        shuffled = large.shuffled[name] / large.documents
        if name == "keys":
            added = (bands - large.bands) / (more.bands - large.bands) / large.documents
            each += max(more.seconds[name] - large.seconds[name], 0.0) * added
            shuffled += (more.shuffled[name] - large.shuffled[name]) * added
        read = large.bytes / large.documents * documents if name in READING else 0.0
        cost = StageCost(name, fixed + each * documents, read, shuffled * documents)
        if name == "components":
            return self._with_rounds(cost, documents)
        if name == "decide" and not self.components.are_sent(documents):
            return replace(cost, shuffled=cost.shuffled + read)
        return cost

    def _with_rounds(self, cost: StageCost, documents: int) -> StageCost:
        """Adds the cost of the rounds to the cost of joining forests."""
        added = (
            self.components.rounds(documents)
            * ROUND_STEPS
            * EDGE_BYTES
            * self.components.share
            * documents
        )
        seconds = added * cost.cpu_seconds / cost.shuffled if added else 0.0
        return replace(cost, cpu_seconds=cost.cpu_seconds + seconds, shuffled=cost.shuffled + added)


@dataclass(frozen=True)
class Machines:
    """A cluster."""

    machines: int
    cores: int
    #: Bytes per second of the network and of the disks of one machine.
    network: float
    disk: float
    #: Dollars per hour of one machine.
    price: float
    #: The duration of the slowest task, as a multiple of the mean.
    straggler: float

    def seconds(self, stage: StageCost) -> float:
        """Returns the wall-clock seconds of a stage."""
        # Shuffled bytes are written to disks and read again.
        disk = (stage.read + 2 * stage.shuffled) / (self.machines * self.disk)
        network = stage.shuffled / (self.machines * self.network)
        return max(self.straggler * stage.cpu_seconds / (self.machines * self.cores), disk, network)

    def dollars(self, seconds: float) -> float:
        """Returns the price of all machines for a number of seconds."""
        return self.machines * self.price * seconds / 3600


def chosen(documents: int) -> tuple[int, int]:
    """Returns the bands and rows that `lookalike` chooses for a number of documents."""
    from lookalike import stages

    parameters = stages.plan(threshold=0.8, recall=0.99, documents=documents).parameters
    return parameters["bands"], parameters["rows"]


def size(bytes_: float) -> str:
    """Formats a number of bytes with a decimal unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if bytes_ < 1000:
            return f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:,.3g} TB" if bytes_ < 1000 else f"{bytes_:,.0f} TB"


def duration(seconds: float) -> str:
    """Formats a duration in minutes or hours."""
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def print_table(
    projection: Projection, machines: Machines, all_documents: list[int], *, by_stage: bool
) -> None:
    """Prints a row for each number of documents, and for each stage if requested."""
    components = projection.components
    print(
        f"Projected, not measured: {machines.machines} machines of {machines.cores} cores, "
        f"{size(machines.network)}/s of network"
    )
    print(
        f"and {size(machines.disk)}/s of disk each, ${machines.price} an hour, stragglers "
        f"{machines.straggler} times,"
    )
    print(
        f"{components.share:.0%} of the documents in components, chains of at most "
        f"{components.chain}, a task of {size(components.task_memory)}.\n"
    )
    head = (
        "documents",
        "bands x rows",
        "CPU hours",
        "read",
        "shuffled",
        "last task of the tree",
        "rounds",
        "time",
        "price",
    )
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for documents in all_documents:
        bands, rows = chosen(documents)
        stages = projection.stages(documents, bands)
        wall = sum(machines.seconds(stage) for stage in stages)
        cells = (
            f"{documents:g}".replace("e+", "e"),
            f"{bands} x {rows}",
            f"{sum(stage.cpu_seconds for stage in stages) / 3600:,.1f}",
            size(sum(stage.read for stage in stages)),
            size(sum(stage.shuffled for stage in stages)),
            size(NODE_BYTES * components.share * documents),
            str(components.rounds(documents) or "none"),
            duration(wall),
            f"${machines.dollars(wall):,.0f}",
        )
        print("| " + " | ".join(cells) + " |")
        if by_stage:
            for stage in stages:
                name, hours = f"– {stage.name}", f"{stage.cpu_seconds / 3600:,.1f}"
                print(
                    f"| {name} | | {hours} | {size(stage.read)} | {size(stage.shuffled)} | | | "
                    f"{duration(machines.seconds(stage))} | |"
                )


def check(projection: Projection, measured: Costs) -> None:
    """Compares the projection with another measurement, and prints the deviation."""
    stages = projection.stages(measured.documents, measured.bands)
    for name, got, expected in (
        ("CPU seconds", sum(stage.cpu_seconds for stage in stages), sum(measured.seconds.values())),
        (
            "shuffled bytes",
            sum(stage.shuffled for stage in stages),
            sum(measured.shuffled.values()),
        ),
    ):
        off = f"{got / expected - 1:+.1%}" if expected else "nothing to compare with"
        print(
            f"{measured.documents} documents, {measured.bands} bands: {name} projected "
            f"{got:,.1f}, measured {expected:,.1f}, {off}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("small", "large", "bands"):
        parser.add_argument(name, type=Path, metavar=f"{name.upper()}.json")
    parser.add_argument("--documents", type=float, nargs="+", default=[1e9, 1e11])
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--network", type=float, default=1e9, help="bytes a second of a machine")
    parser.add_argument("--disk", type=float, default=1e9, help="bytes a second of a machine")
    parser.add_argument("--price", type=float, default=0.8, help="dollars an hour of a machine")
    parser.add_argument("--straggler", type=float, default=1.2)
    parser.add_argument(
        "--share", type=float, default=0.2, help="of the documents, those in components"
    )
    parser.add_argument("--chain", type=int, default=1000, help="documents of the longest chain")
    parser.add_argument(
        "--task-memory",
        type=float,
        default=2 << 30,
        help="bytes, as the argument of lookalike.spark.find",
    )
    parser.add_argument("--stages", action="store_true", help="also write a row for each stage")
    parser.add_argument(
        "--check", type=Path, metavar="OTHER.json", help="compare with another measurement"
    )
    args = parser.parse_args()
    try:
        components = Components(args.share, args.chain, args.task_memory)
        projection = Projection(
            *(Costs.read(file) for file in (args.small, args.large, args.bands)), components
        )
        machines = Machines(
            args.machines, args.cores, args.network, args.disk, args.price, args.straggler
        )
        print_table(
            projection, machines, [int(each) for each in args.documents], by_stage=args.stages
        )
        if args.check:
            check(projection, Costs.read(args.check))
    except CostsError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
