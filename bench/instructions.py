#!/usr/bin/env python3
"""Compares the instructions that two builds of lookalike execute. Callgrind counts them, so other
programs on the machine do not change the result.

    bench/instructions.py OLD NEW --corpus FILE.jsonl --pages FOLDER --mail FOLDER [--most 2]

OLD and NEW are clones or worktrees, each after `cargo build --release -p lookalike-cli` and
`cargo build --release -p lookalike-python`. Prints millions of instructions of `find`, `index
create` with the corpus, with web pages and with mail, a query with the first text, and
`update_batch` of `lookalike.datasketch`. Exits with 1 if one of them grows by more than `--most`
percent. The row `--version` shows the instructions that every command executes at its start. It
has no limit, because they increase with each new command and option. Valgrind shows programs a
processor with AVX2 and without AVX-512, so these are instructions of the AVX2 kernels.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UPDATE_BATCH = """
import sys
from lookalike.datasketch import MinHash
tokens = [b"token %d" % number for number in range(2000)]
for _ in range(int(sys.argv[1])):
    MinHash(num_perm=128).update_batch(tokens)
"""
ONE_THREAD = ["--threads", "1"]


def instructions(command, folder, **options):
    """Counts the instructions of a command and its threads, but not of its child processes."""
    counts = folder / "callgrind"
    valgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    command = [*valgrind, *map(str, command)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if run.returncode:
        sys.exit(f"{' '.join(command)}: exit status {run.returncode}: {run.stderr}")
    return int(re.search(r"^(?:summary|totals): (\d+)", counts.read_text(), re.MULTILINE)[1])


def of_update_batch(clone, folder):
    """Counts the instructions of 20 sketches, without the start of the interpreter."""
    package = folder / "python" / "lookalike"
    shutil.copytree(clone / "python" / "lookalike", package)
    shutil.copy(clone / "target/release/liblookalike_engine.so", package / "_engine.abi3.so")
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONHASHSEED": "0"}

    def rounds(number):
        command = [sys.executable, "-c", UPDATE_BATCH, str(number)]
        return instructions(command, folder, env=environment)

    return rounds(21) - rounds(1)


def measured(clone, options):
    """Yields the name of each measured command and its instructions."""
    program = clone / "target/release/lookalike"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open(options.corpus, encoding="utf-8") as lines:
            (folder / "text.txt").write_text(json.loads(next(lines))["text"], encoding="utf-8")
        out = ["--quiet", "--output", folder / "out.csv"]
        index = folder / "index"
        # Pages and mail are measured with `index create`. For small collections, `find` also
        # measures other settings, which takes longer than reading the files.
        create = ["index", "create", "--store", "sets", *ONE_THREAD]
        commands = {
            "--version": ["--version"],
            "find": ["find", options.corpus, *ONE_THREAD, *out],
            "index create": [*create, index, options.corpus],
            "query": ["query", index, folder / "text.txt"],
            "web pages": [*create, folder / "pages", options.pages],
            "mail": [*create, folder / "mail", options.mail],
        }
        for case, arguments in commands.items():
            yield case, instructions([program, *arguments], folder)
        yield "update_batch", of_update_batch(clone, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--mail", type=Path, required=True)
    parser.add_argument("--most", type=float, default=2, help="percent")
    options = parser.parse_args()
    more = []
    print("| millions of instructions | old | new | growth |\n| --- | ---: | ---: | ---: |")
    pairs = zip(measured(options.old, options), measured(options.new, options), strict=True)
    for (case, old), (_, new) in pairs:
        growth = 100 * (new / old - 1)
        print(f"| {case} | {old / 1e6:,.1f} | {new / 1e6:,.1f} | {growth:+.1f} % |", flush=True)
        if case != "--version" and growth > options.most:
            more.append(case)
    if more:
        sys.exit(f"more than {options.most:g} % above {options.old}: {', '.join(more)}")


if __name__ == "__main__":
    main()
