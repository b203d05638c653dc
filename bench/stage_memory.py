"""The memory of the tasks of a divided run that hold most: one that connects a part, one that
decides about a component, and the last one that joins forests.

    python3 bench/stage_memory.py [--parts 32 64 128] [--mebibytes 64 128 256] [--documents 1e6 2e6
    4e6]

The package for Python must be installed, and pyarrow. Each row is a process of its own. Its
peak is printed next to the peak of a process with ten documents:

- `connect`: rows of that size, a bucket for each of 21 bands of each document; two documents share
  a fifth of the buckets
- `decide`: a component of that size, a document of 2.1 KB and edits of one word of it
- `merge`: a forest of that number of documents in components of two
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

#: Words of a document, and of the batches that tasks are given.
WORDS, BATCH = 230, 10_000
#: Bands, and bytes of a document in the rows of a part: a bucket for each band, and its identity.
BANDS, ROW_BYTES = 21, 21 * 16 + 24
#: No limit on a component or forest, so that the measurement shows all of its memory.
NO_LIMIT = 1 << 50


def text(number: int) -> str:
    """A text with one word that depends on the number."""
    words = [f"word{at:05}" for at in range(WORDS)]
    words[number % WORDS] = f"edit{number}"
    return " ".join(words)


def component(documents: int) -> Iterator[pa.RecordBatch]:
    """The rows of a component."""
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
    """A row with a block (docs/reference/stages.md)."""
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
    """The rows of a part; every fifth document has the buckets of the one before it."""
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
    """Edges between two documents each."""
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
    """The peak of a process that runs a task."""
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
