#!/usr/bin/env python3
"""Measures additions and queries of an index from Python, next to the command line.

    bench/python_index.py --program target/release/lookalike documents.jsonl [--queries 5000]

Each line of `documents.jsonl` has an `id` and a `text`. `lookalike` must be importable. All files
are written to a temporary folder in the current folder, so that the caller chooses the disk.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time

import lookalike


def cpu(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Timed:
    """Measures the wall and CPU seconds of a `with` block, for this process or its children."""

    def __init__(self, who=resource.RUSAGE_SELF):
        self.who = who

    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), cpu(self.who)
        return self

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self.wall
        self.cpu = cpu(self.who) - self.cpu


def row(what, timed, count):
    print(
        f"| {what} | {timed.wall:.2f} | {timed.cpu:.2f} | {count / timed.wall:,.0f} "
        f"| {count / timed.cpu:,.0f} |",
        flush=True,
    )


def held(documents):
    """Yields the documents as a list and, if pyarrow is installed, as an Arrow table."""
    yield "a list", documents
    try:
        import pyarrow
    except ImportError:
        return
    ids, texts = zip(*documents)
    yield "an Arrow table", pyarrow.table({"id": ids, "text": texts})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("documents")
    parser.add_argument("--program", required=True)
    parser.add_argument("--queries", type=int, default=5000)
    arguments = parser.parse_args()

    with open(arguments.documents) as lines:
        documents = [(line["id"], line["text"]) for line in map(json.loads, lines)]
    asked = [text for _, text in documents[:: max(1, len(documents) // arguments.queries)]]
    print(f"{len(documents):,} documents, {len(asked):,} queries\n")
    print("| | s | CPU s | a second | a CPU second |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(dir=".") as folder:
        theirs, ours = os.path.join(folder, "theirs"), os.path.join(folder, "ours")
        command = [arguments.program, "index", "create", theirs, arguments.documents, "--quiet"]
        with Timed(resource.RUSAGE_CHILDREN) as timed:
            subprocess.run(command, check=True)
        row("`lookalike index create`, from the file", timed, len(documents))
        for what, given in held(documents):
            shutil.rmtree(ours, ignore_errors=True)
            with Timed() as timed:
                index = lookalike.Index.create(ours)
                index.add(given)
                index.close()
            row(f"`Index.add` of {what}, with closing", timed, len(documents))

        questions = os.path.join(folder, "asked.jsonl")
        with open(questions, "w") as out:
            out.writelines(
                json.dumps({"id": str(number), "text": text}) + "\n"
                for number, text in enumerate(asked)
            )
        command = [arguments.program, "query", theirs, questions, "--json"]
        with Timed(resource.RUSAGE_CHILDREN) as timed:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        row("`lookalike query --json` of a file", timed, len(asked))
        with lookalike.Index.open(ours, read_only=True) as index:
            index.query_many(asked)
            spans = []
            with Timed() as timed:
                for text in asked:
                    begun = time.perf_counter()
                    index.query(text)
                    spans.append(time.perf_counter() - begun)
            row("`Index.query`, one after the other", timed, len(asked))
            for threads in (1, 2):
                with Timed() as timed:
                    index.query_many(asked, threads=threads)
                row(f"`Index.query_many(threads={threads})`", timed, len(asked))
            p50, p99 = (percentile(spans, share) * 1e6 for share in (0.5, 0.99))
            print(
                f"\nOne query: p50 {p50:.0f} µs, p99 {p99:.0f} µs, most {max(spans) * 1e6:.0f} µs"
            )


if __name__ == "__main__":
    main()
