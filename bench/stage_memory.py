"""Measures the memory of the tasks of a divided run that need most: a task that connects a part, a
task that decides about a component, and the last task that joins forests.

    python3 bench/stage_memory.py [--parts 32 64 128] [--mebibytes 64 128 256]
        [--documents 1e6 2e6 4e6]

The Python package and pyarrow must be installed. Each row is measured in a process of its own. The
table shows the peak, and its difference from the peak of a process with ten documents, in
relation to the size of the input. The tasks:

- `connect` gets rows of `--parts` MiB, with a bucket for each of 21 bands of each document. Every
  fifth document shares all its buckets with the previous one.
- `decide` gets a component of `--mebibytes` MiB: edits of a text of 2.3 kB, each in one word.
- `merge` gets a forest of `--documents` documents, in components of two.
"""

from __future__ import annotations

import argparse
import resource
import struct
import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa

from lookalike import stages

#: Number of words in a document, and number of documents in a batch.
WORDS, BATCH = 230, 10_000
#: Number of bands, and bytes of a document in a part: 16 for each band, and 24 for its identity.
BANDS, ROW_BYTES = 21, 21 * 16 + 24
#: No limit on a component or forest, so that the measurement shows all of its memory.
NO_LIMIT = 1 << 50


def text(number: int) -> str:
    """Returns a text in which one word depends on the number."""
    words = [f"word{at:05}" for at in range(WORDS)]
    words[number % WORDS] = f"edit{number}"
    return " ".join(words)


def component(documents: int) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a component in batches."""
    for start in range(0, documents, BATCH):
        numbers = range(start, min(documents, start + BATCH))
        same = pa.array([1] * len(numbers), pa.int64())
        yield pa.record_batch(
            {
                "id": [f"https://example.org/{number:08}" for number in numbers],
                "text": [text(number) for number in numbers],
                "node": pa.array(numbers, pa.int64()),
                "component": same,
                "check": pa.array([None] * len(numbers), pa.int64()),
            }
        )


def block(
    kind: str, memberships: list[int], edges: list[int], identities: list[int]
) -> pa.RecordBatch:
    """Returns a row with a block, whose format docs/reference/stages.md describes."""
    numbers = [*memberships, *edges, *identities]
    counts = struct.pack("<3I", len(memberships) // 2, len(edges) // 2, len(identities) // 3)
    rows = b"lkb1" + counts + struct.pack(f"<{len(numbers)}Q", *numbers)
    return pa.record_batch(
        {
            "kind": [kind],
            "part": pa.array([0], pa.int32()),
            "rows": pa.array([rows], pa.binary()),
            "note": pa.array([None], pa.string()),
        }
    )


def part(documents: int) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a part. Every fifth document has the buckets of the previous one."""
    for start in range(0, documents, BATCH):
        numbers = range(start, min(documents, start + BATCH))
        keys = [
            value
            for number in numbers
            for band in range(BANDS)
            for value in ((number - (number % 5 == 4)) * BANDS + band << 20, number << 20)
        ]
        yield block(
            "keys",
            keys,
            [],
            [value for number in numbers for value in (number << 20, number, 2_000)],
        )


def forest(documents: int) -> Iterator[pa.RecordBatch]:
    """Yields edges. Each connects two documents that have no other edge."""
    for start in range(0, documents // 2, BATCH):
        numbers = range(start, min(documents // 2, start + BATCH))
        yield block(
            "edges",
            [],
            [node for number in numbers for node in (number * 2 << 20, number * 2 + 1 << 20)],
            [],
        )


def run(task: str, documents: int) -> None:
    """Runs a task, and prints the peak of this process in bytes."""
    if task == "connect":
        rows = stages.connect(part(documents), 1)
    elif task == "decide":
        rows = stages.decide(stages.plan(threshold=0.8), component(documents), task_bytes=NO_LIMIT)
    else:
        rows = stages.merge(forest(documents), 1, task_bytes=NO_LIMIT)
    if sum(batch.num_rows for batch in rows) == 0:
        sys.exit(f"{task} gave no rows")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def peak(task: str, documents: int) -> int:
    """Runs a task in a new process, and returns the peak of the process in bytes."""
    command = [sys.executable, __file__, "--run", task, "--documents", str(documents)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", type=int, nargs="+", default=[32, 64, 128], metavar="MIB")
    parser.add_argument("--mebibytes", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--documents", type=float, nargs="+", default=[1e6, 2e6, 4e6])
    parser.add_argument("--run", choices=("connect", "decide", "merge"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        run(args.run, int(args.documents[0]))
        return
    print("| task | documents | peak MB | above the peak for ten documents |\n|---|---:|---:|---|")
    least = {task: peak(task, 10) for task in ("connect", "decide", "merge")}
    for mebibytes in args.parts:
        documents = (mebibytes << 20) // ROW_BYTES
        used = peak("connect", documents)
        times = (used - least["connect"]) / (mebibytes << 20)
        print(
            f"| `connect`, {mebibytes} MiB of rows | {documents:,} | {used / 1e6:.0f} | "
            f"{times:.1f} times the rows |"
        )
    for mebibytes in args.mebibytes:
        documents = (mebibytes << 20) // len(text(0))
        used = peak("decide", documents)
        times = (used - least["decide"]) / (mebibytes << 20)
        print(
            f"| `decide`, {mebibytes} MiB of text | {documents:,} | {used / 1e6:.0f} | "
            f"{times:.1f} times the texts |"
        )
    for documents in map(int, args.documents):
        used = peak("merge", documents)
        each = (used - least["merge"]) / documents
        print(
            f"| `merge` | {documents:,} | {used / 1e6:.0f} | {each:.0f} bytes for each document |"
        )


if __name__ == "__main__":
    main()
