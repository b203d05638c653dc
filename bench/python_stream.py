#!/usr/bin/env python3
"""Measures peak memory and time of `lookalike.find` over a generator, with and without `memory=`.

    python bench/python_stream.py                      # 300 MB of texts
    python bench/python_stream.py --megabytes 1000 --memory 200MiB

Each run is a process of its own. The peak is `ru_maxrss` of `wait4`. The module must be a release
build.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator


def documents(megabytes: int) -> Iterator[tuple[str, str]]:
    """Yields texts of about 8,000 bytes, made of random blocks. Every fourth text is the previous
    one with an additional word."""
    draw = random.Random(1)
    words = [f"w{number}" for number in range(50_000)]
    blocks = [" ".join(draw.choices(words, k=130)) for _ in range(5_000)]
    made, number, text = 0, 0, ""
    while made < megabytes * 1_000_000:
        text = f"{text} more" if number % 4 == 3 else " ".join(draw.choices(blocks, k=9))
        yield f"d{number:07}", text
        made += len(text)
        number += 1


def run(megabytes: int, memory: str | None) -> None:
    import lookalike

    limit = {} if memory is None else {"memory": memory}
    counts = lookalike.find(documents(megabytes), threads=2, **limit).counts
    print(f"{counts['documents']} documents, {counts['duplicates']} duplicates", flush=True)


def measured(megabytes: int, memory: str | None) -> None:
    command = [sys.executable, __file__, "--run", "--megabytes", str(megabytes)]
    command += [] if memory is None else ["--memory", memory]
    start = time.monotonic()
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    limit = "no limit" if memory is None else f"memory={memory!r}"
    print(f"{limit}: {usage.ru_maxrss / 1024:.0f} MiB, {time.monotonic() - start:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--memory")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.megabytes, given.memory)
        return
    measured(given.megabytes, None)
    measured(given.megabytes, given.memory or "100MiB")


if __name__ == "__main__":
    main()
