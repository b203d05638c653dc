"""Measures CPU seconds and memory of this process and its descendants."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Processes:
    """CPU seconds of this process and its descendants, by kind of process."""

    #: The kind of each process, and its CPU seconds when it was last seen.
    seen: dict[int, tuple[str, float]] = field(default_factory=dict)
    #: The peak memory of the largest Python process of the engine, in MB.
    python_peak: float = 0.0

    def look(self) -> None:
        """Reads the CPU seconds and the memory of all processes."""
        parents: dict[int, int] = {}
        processes: dict[int, tuple[str, float]] = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError, IndexError, ValueError):
                after = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                parents[int(entry.name)] = int(after[1])
                processes[int(entry.name)] = (command, (int(after[11]) + int(after[12])) / TICKS)
        for process, (command, seconds) in processes.items():
            if self._is_ours(process, parents):
                # A process that has ended, but whose parent has not waited for it, has no command.
                is_ended = not command and process in self.seen
                kind = self.seen[process][0] if is_ended else _kind(process, command)
                self.seen[process] = (kind, seconds)
                if kind == "Python":
                    self.python_peak = max(self.python_peak, _peak(process))

    def _is_ours(self, process: int, parents: dict[int, int]) -> bool:
        """Returns true for this process and its descendants. A process that was seen before still
        counts after its parent has ended."""
        if process in self.seen:
            return True
        while process not in (0, 1):
            if process == os.getpid():
                return True
            process = parents.get(process, 0)
        return False

    def seconds(self) -> dict[str, float]:
        """Returns the CPU seconds by kind of process."""
        sums: dict[str, float] = {}
        for kind, seconds in self.seen.values():
            sums[kind] = sums.get(kind, 0.0) + seconds
        return sums


def _kind(process: int, command: str) -> str:
    if process == os.getpid():
        return "driver"
    for sign, kind in (
        ("CoarseGrainedExecutorBackend", "executors"),
        ("SparkSubmit", "driver"),
        ("deploy.", "master and workers"),
        ("pyspark", "Python"),
        ("ray::", "Python"),
        ("java", "other JVM"),
        ("ray", "Ray itself"),
    ):
        if sign in command:
            return kind
    return "other"


def _peak(process: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0.0


@dataclass
class Cost:
    """The cost of a piece of work."""

    seconds: dict[str, float]
    wall: float
    python_peak: float

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def by_kind(self) -> str:
        """Formats the CPU seconds of each kind of process. Omits kinds below 0.05 s."""
        return ", ".join(
            f"{kind} {seconds:.1f}"
            for kind, seconds in sorted(self.seconds.items())
            if seconds >= 0.05
        )


@contextlib.contextmanager
def measured(cost: list[Cost]) -> Iterator[None]:
    """Adds the cost of the `with` block to the list."""
    processes, ended = Processes(), threading.Event()
    processes.look()
    before, start, own = processes.seconds(), time.monotonic(), list[float]()

    def watch() -> None:
        while not ended.wait(0.1):
            processes.look()
        own.append(time.thread_time())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        processes.look()
        after = processes.seconds()
        spent = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
        # The time of the watcher is not a cost of the work.
        spent["driver"] = max(spent.get("driver", 0.0) - sum(own), 0.0)
        cost.append(Cost(spent, time.monotonic() - start, processes.python_peak))


def report(name: str, cost: Cost, stages: dict[str, float]) -> None:
    print(
        f"{name}: {cost.total:.1f} CPU s ({cost.by_kind()}), {cost.wall:.1f} s of wall; peak of "
        f"a Python process {cost.python_peak:.0f} MB"
    )
    if stages:
        print(
            "Wall seconds by stage: "
            + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in stages.items())
        )
