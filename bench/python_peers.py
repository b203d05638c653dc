#!/usr/bin/env python3
"""Measures `lookalike.find` on an Arrow table next to the program and other MinHash libraries.

    bench/python_peers.py --corpus FILE.jsonl [--truth FILE.csv --clusters FILE.csv]
                          [--binary target/release/lookalike] [--peers rensa,gaoya-split]

Measures the libraries that are installed in the interpreter that runs this script: lookalike (a
release build, with pyarrow), rensa, gaoya and datasketch. Other libraries are reported and skipped.
Needs Linux or macOS.

TASK      Find all near-duplicate pairs at Jaccard 0.8 of word 5-grams, with words by str.split() in
          lower case. lookalike uses tokens="whitespace". The rows "default words" use the default
          words of `find`. They have groups but no pairs, and therefore no recall.
COUNTED   For Python, the time from a pyarrow.Table in memory (id, text) to the pairs in memory.
          Each library runs in its own process. The time includes tokenising, signatures, the
          index, queries, and verification if the library verifies pairs. It excludes reading the
          table and the imports. For the program, the whole process is measured, from JSONL in the
          page cache to the written file. CPU seconds are user and system of all threads and of
          child processes. The result is the median of --runs, ordered by CPU seconds. "tokens
          given" is the cost of the library for existing tokens. It excludes the words and shingles
          that this script creates in Python.
QUALITY   Recall and precision of the reported pairs, against the truth. Without --truth, the truth
          is `find --exact`. Groups of more than --truth-cap documents are ignored, because every
          library finds them and they have most pairs. Do not use a --truth of words in their
          original case, because it contains other pairs.
PEERS     The libraries of peers.py, whose --help describes the use of each, with 128 permutations.
          Their texts are in lower case.
"""

import argparse
import csv
import importlib
import importlib.metadata
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import peers

FIND = "lookalike.find"
PROGRAM = "lookalike find"
PLAIN = ", default words"
OWN = [FIND, PROGRAM, FIND + PLAIN, PROGRAM + PLAIN]


def options(name, threshold):
    """Returns the parameters of `lookalike.find`."""
    if name.endswith(PLAIN):
        return {"threshold": threshold}
    return {"threshold": threshold, "tokens": "whitespace", "pairs": True}


# ---------------------------------------------------------------- one library, in its own process
def spent():
    """Returns the CPU seconds of this process and of its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Timed:
    """Sums the CPU seconds that iterables take to create their elements."""

    seconds = 0.0

    @classmethod
    def each(cls, items):
        items = iter(items)
        while True:
            start = time.process_time()
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                cls.seconds += time.process_time() - start
            yield item


def child(name, corpus, threshold, out):
    """Runs in the measured process. Prints the measurements as JSON."""
    import pyarrow

    package = FIND.split(".")[0] if name.startswith(FIND) else name.split("-")[0]
    module = importlib.import_module("gaoya.minhash" if package == "gaoya" else package)
    with pyarrow.OSFile(corpus) as file, pyarrow.ipc.open_file(file) as reader:
        table = reader.read_all()
    cpu, wall = spent(), time.monotonic()
    if package == "lookalike":
        found = module.find(table, **options(name, threshold))
        found.groups if name.endswith(PLAIN) else found.pairs  # the first access builds the table
    else:
        # The adapters call `read` with a path. Here it returns the rows of the table instead.
        peers.read = lambda _: zip(
            table["id"].to_pylist(), (text.lower() for text in table["text"].to_pylist())
        )
        made = peers.shingle_lists
        peers.shingle_lists = lambda path, ids: Timed.each(made(path, ids))
        pairs = list(peers.RUN[name](corpus, threshold))
    cpu, wall = spent() - cpu, time.monotonic() - wall
    if package == "lookalike" and not name.endswith(PLAIN):
        found.write_pairs(out)
    elif package != "lookalike":
        with open(out, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("id_a", "id_b"), *pairs])
    version = getattr(module, "__version__", None) or importlib.metadata.version(package)
    given = cpu - Timed.seconds if Timed.seconds else None
    print(json.dumps({"cpu": cpu, "wall": wall, "version": version, "given": given}))


# ---------------------------------------------------------------- measuring
def table_of(corpus, folder):
    """Writes the corpus as an Arrow file, and returns its path. Reading is fast, because the file
    has the layout of the table in memory."""
    import pyarrow

    ids, texts = zip(*peers.read(corpus))
    table = pyarrow.table({"id": pyarrow.array(ids), "text": pyarrow.array(texts)})
    path = os.path.join(folder, "corpus.arrow")
    with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


def program(binary, corpus, threshold, pairs, groups, *more):
    command = [
        binary,
        "find",
        corpus,
        "--format",
        "jsonl",
        "--threshold",
        str(threshold),
        "-q",
        *more,
    ]
    if pairs:
        command += ["--tokens", "whitespace", "--pairs", pairs]
    return [*command, "--output", groups]


def run(name, a, corpus, table, folder):
    """Returns (CPU s, wall s, version, file of pairs or None, CPU s with tokens given or None)."""
    pairs = os.path.join(folder, name.replace(" ", "_") + ".csv")
    if name.startswith(PROGRAM):
        pairs = None if name.endswith(PLAIN) else pairs
        groups = os.path.join(folder, "groups.csv")
        _, cpu, wall, _ = peers.measured(program(a.binary, corpus, a.threshold, pairs, groups))
        return cpu, wall, "", pairs, None
    command = [
        sys.executable,
        os.path.abspath(__file__),
        "--child",
        name,
        "--corpus",
        table,
        "--threshold",
        str(a.threshold),
        "--pairs",
        pairs,
    ]
    said = json.loads(peers.measured(command)[0])
    return (
        said["cpu"],
        said["wall"],
        said["version"],
        None if name.endswith(PLAIN) else pairs,
        said["given"],
    )


def measure_all(a, corpus, table, folder):
    """Measures each available program and library. Reports and skips those that fail.

    Returns [(name, CPU s, wall s, version, file of pairs, CPU s with tokens given)].
    """
    rows = []
    for name in OWN + [peer for peer in a.peers.split(",") if peer]:
        package = "lookalike" if name in OWN else name.split("-")[0]
        if name.startswith(PROGRAM):
            if not os.path.exists(a.binary):
                peers.loud(
                    f"{a.binary} IS NOT THERE: build it (cargo build --release -p lookalike-cli) "
                    "or name it with --binary"
                )
                continue
        elif importlib.util.find_spec(package) is None:
            peers.loud(f"{package} IS NOT INSTALLED and is not measured")
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            runs = sorted(
                (run(name, a, corpus, table, folder) for _ in range(a.runs)), key=lambda one: one[0]
            )
        except RuntimeError as error:
            peers.loud(f"{name} FAILED: {error}")
            continue
        rows.append((name, *runs[(len(runs) - 1) // 2]))
    return rows


def truth_of(a, corpus, folder):
    """Reads the truth from the given file or from an exact run. Ignores pairs within large
    groups."""
    if a.truth:
        return peers.Truth(a.truth, corpus, a.threshold, a.clusters, a.truth_cap)
    if not os.path.exists(a.binary):
        return None
    pairs, groups, clusters = (
        os.path.join(folder, name) for name in ("truth.csv", "exact.csv", "clusters.csv")
    )
    subprocess.run(
        program(a.binary, corpus, a.threshold, pairs, groups, "--exact", "--group", "components"),
        check=True,
    )
    with (
        open(groups, encoding="utf-8", newline="") as source,
        open(clusters, "w", encoding="utf-8", newline="") as target,
    ):
        rows = ((row["id"], row["group"]) for row in csv.DictReader(source))
        csv.writer(target).writerows([("id", "cluster"), *rows])
    return peers.Truth(pairs, corpus, a.threshold, clusters, a.truth_cap)


def report(a, corpus, rows, truth):
    with open(corpus, "rb") as file:
        documents = sum(1 for _ in file)
    print(
        "%d documents, %.1f MB of JSONL, threshold %g, %s true pairs; Python %s, %d CPUs; "
        "median of %d\n"
        % (
            documents,
            os.path.getsize(corpus) / 1e6,
            a.threshold,
            len(truth.pairs) if truth else "unknown",
            sys.version.split()[0],
            os.cpu_count(),
            a.runs,
        )
    )
    own = {name: cpu for name, cpu, *_ in rows}
    out = [
        ["", "version", "CPU s", "tokens given", "wall s", "pairs", "recall", "precision", "CPU ×"]
    ]
    for name, cpu, wall, version, pairs, given in rows:
        quality = ["", "", ""]
        if pairs and truth:
            count, recall, precision = truth.score(pairs)
            quality = [str(count), f"{recall:.4f}", f"{precision:.4f}"]
        base = own.get(FIND + PLAIN if name.endswith(PLAIN) else FIND)
        out.append(
            [
                name,
                version,
                f"{cpu:.2f}",
                "" if given is None else f"{given:.2f}",
                f"{wall:.2f}",
                *quality,
                "%.2f" % (cpu / base) if base else "",
            ]
        )
    peers.table(out)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--corpus", required=True, help="JSONL with id and text")
    p.add_argument("--truth", help="CSV with id_a, id_b, jaccard; by default an exact run")
    p.add_argument("--clusters", help="CSV with id, cluster, for a capped truth")
    p.add_argument("--truth-cap", type=int, default=200)
    p.add_argument(
        "--binary", default=os.path.join(peers.HERE, "..", "target", "release", "lookalike")
    )
    p.add_argument("--peers", default=",".join(peers.PEERS), help="of: " + " ".join(peers.PEERS))
    p.add_argument("--limit-docs", type=int, default=0, help="take the first N documents only")
    p.add_argument("--threshold", type=float, default=0.8)
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--child", help=argparse.SUPPRESS)
    p.add_argument("--pairs", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.child:
        return child(a.child, a.corpus, a.threshold, a.pairs)
    unknown = [peer for peer in a.peers.split(",") if peer and peer not in peers.RUN]
    if unknown or a.runs < 1:
        p.error(
            "unknown peers {}; there are {}; --runs is at least 1".format(
                unknown, " ".join(peers.PEERS)
            )
        )
    folder = tempfile.mkdtemp(prefix="lookalike-python-peers-")
    try:
        corpus = peers.first_lines(a.corpus, a.limit_docs, folder)
        rows = measure_all(a, corpus, table_of(corpus, folder), folder)
        report(a, corpus, rows, truth_of(a, corpus, folder))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
