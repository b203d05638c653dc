"""Measures CPU seconds and memory of `lookalike shard` next to `lookalike find` on the same files.

    python3 bench/shard.py FOLDER [--program target/release/lookalike] [--tasks 8]

FOLDER has files of records with the fields `id` and `text`. Each task is a process with one thread.
The tasks run one after the other, as in a shell loop. The outputs of both commands are compared
byte for byte.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def cost(arguments: list[str]) -> tuple[float, float]:
    """Runs a command. Returns its CPU seconds and peak memory in MiB."""
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--program", default="target/release/lookalike")
    parser.add_argument("--tasks", type=int, default=8)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        measure(args.program, args.folder, args.tasks, Path(temporary))


def measure(program: str, inputs: str, tasks: int, place: Path) -> None:
    job, one, divided = str(place / "job"), place / "one.csv", place / "divided.csv"
    find = [program, "find", inputs, "--threads", "1", "-q", "-o", str(one)]
    cost(find)  # Brings the files into the page cache.
    before = cost(find)
    all_tasks = [str(task) for task in range(tasks)]
    stages: dict[str, list[list[str]]] = {
        "plan": [[inputs, "--tasks", str(tasks)]],
        "keys": [[task, "--threads", "1", "-q"] for task in all_tasks],
        "connect": [[task, "-q"] for task in all_tasks],
        "merge": [[task, "-q"] for task in all_tasks[: math.isqrt(tasks)]],
        "label": [["-q"]],
        "components": [[task, "-q"] for task in all_tasks],
        "decide": [[task, "--threads", "1", "-q"] for task in all_tasks],
        "finish": [["-q", "-o", str(divided)]],
    }
    print("| stage | processes | CPU s | peak MB of a process |\n|---|---|---|---|")
    total = 0.0
    for stage, processes in stages.items():
        costs = [cost([program, "shard", stage, job, *rest]) for rest in processes]
        seconds = sum(each[0] for each in costs)
        total += seconds
        print(f"| {stage} | {len(costs)} | {seconds:.2f} | {max(each[1] for each in costs):.0f} |")
    after = cost(find)
    single = (before[0] + after[0]) / 2
    print(f"| all of `shard` | | {total:.2f} | |")
    print(f"| `find --threads 1` | 1 | {single:.2f} | {max(before[1], after[1]):.0f} |")
    same = one.read_bytes() == divided.read_bytes()
    print(
        f"\nRatio {total / single:.2f}; the groups are {'the same bytes' if same else 'DIFFERENT'}."
    )
    sys.exit(not same)


if __name__ == "__main__":
    main()
