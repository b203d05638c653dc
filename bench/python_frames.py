#!/usr/bin/env python3
"""Measures the memory that `lookalike.find` needs in addition to a table in memory, next to the
memory of the program `lookalike find` for the same texts.

    python bench/python_frames.py                      # 100 MB of texts
    python bench/python_frames.py --megabytes 300 --binary target/release/lookalike

Each table is in a process of its own. The parent resets the peak of the process before `find`
runs. The figure is the new peak (`VmHWM` of `/proc/PID/status`) minus the memory before (`VmRSS`).
The figure of the program is its `ru_maxrss`, which includes its code. The program reads the texts
from a file. All runs use two threads. Needs Linux, pyarrow, pandas and polars. The module and the
program must be release builds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from python_stream import documents

KINDS = ("arrow", "arrow, many chunks", "polars", "pandas, str of arrow", "pandas, objects", "list")


def table(kind: str, path: str) -> Any:
    import pyarrow.parquet

    read = pyarrow.parquet.read_table(path)
    if kind == "arrow":
        return read.combine_chunks()
    if kind == "arrow, many chunks":
        return read
    if kind == "polars":
        import polars

        return polars.read_parquet(path)
    if kind == "list":
        return read["text"].to_pylist()
    import pandas

    frame = pandas.read_parquet(path)
    return frame.astype({"text": object}) if kind == "pandas, objects" else frame


def serve(kind: str, path: str) -> None:
    """Runs in the measured process. Loads a table, prints `ready`, waits for a line, and runs
    `find`."""
    import lookalike

    docs = table(kind, path)
    lookalike.find(["a b c"])
    print("ready", flush=True)
    sys.stdin.readline()
    found = lookalike.find(docs, threads=2)
    print(found.counts["duplicates"], flush=True)
    sys.stdin.readline()


def status(process: int, name: str) -> float:
    """Returns a value of the status of a process, in MiB."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(text.split(f"{name}:")[1].split()[0]) / 1024


def added(kind: str, path: str) -> tuple[float, float, str]:
    command = [sys.executable, __file__, "--serve", kind, path]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin and child.stdout and child.stdout.readline() == "ready\n"
        Path(f"/proc/{child.pid}/clear_refs").write_text("5", encoding="ascii")
        before = status(child.pid, "VmRSS")
        child.stdin.write("\n")
        child.stdin.flush()
        duplicates = child.stdout.readline().strip()
        peak = status(child.pid, "VmHWM")
    return before, peak - before, duplicates


def program(binary: str, path: str) -> float:
    """Measures the program. Starts it from a small process, because the peak of a child includes
    the size of its parent."""
    run = [sys.executable, __file__, "--program", binary, path]
    return float(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def run_program(binary: str, path: str) -> float:
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        child = subprocess.Popen([binary, "find", path, "--threads", "2", "-q", "-o", out.name])
        _, code, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(code)
        assert child.returncode == 0
    return usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--binary", default="target/release/lookalike")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--program", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.program:
        print(run_program(*given.program))
        return
    if given.serve:
        serve(*given.serve)
        return
    import pyarrow
    import pyarrow.parquet

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "texts.parquet")
        ids, texts = zip(*documents(given.megabytes), strict=True)
        whole = pyarrow.table({"id": ids, "text": texts})
        pyarrow.parquet.write_table(whole, path, row_group_size=4_000)
        lines = os.path.join(folder, "texts.jsonl")
        with open(lines, "w", encoding="utf-8") as file:
            file.writelines(
                json.dumps({"id": id, "text": text}) + "\n"
                for id, text in zip(ids, texts, strict=True)
            )
        del ids, texts, whole
        engine = program(given.binary, lines)
        print(f"| the program | | {engine:,.0f} | 1.00 | |")
        for kind in KINDS:
            before, more, duplicates = added(kind, path)
            print(
                f"| {kind} | {before:,.0f} | {more:,.0f} | {more / engine:.2f} | {duplicates} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
