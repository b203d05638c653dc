#!/usr/bin/env python3
"""Measures other MinHash libraries next to `lookalike find`, on one file, in one run.

    bench/peers.py --corpus FILE.jsonl --truth FILE.csv [--clusters FILE.csv]
                   [--binary target/release/lookalike] [--peers rensa,gaoya] [--limit-docs N]

Creates a virtual environment in bench/.venv and installs the requested peers. A peer that cannot be
installed is reported and skipped. Needs Python 3.9 or newer on Linux or macOS.

TASK      Find all near-duplicate pairs of the file (JSONL, `id` and `text`) at Jaccard 0.8 of word
          5-grams, with words by str.split(). The whole process is measured, from its start to the
          written pairs: imports, reading, tokenising, signatures, the index, queries.
COUNTED   CPU seconds (user and system, all threads) and peak memory of one process, as the system
          reports them for that process alone (wait4). The peak is at least about 18 MB, the size of
          this script, which starts the process. The result is the median of --runs, ordered by CPU
          seconds.
QUALITY   Recall and precision of the reported pairs, against the pairs of the truth at or above the
          threshold. Both sets are restricted to the documents of the file. A truth may contain only
          some of the pairs of clusters with more than --truth-cap documents. In this case, name the
          file of clusters with --clusters. Pairs within such clusters are then ignored. The truth
          of `lookalike-bench generate` is complete.

PEERS     Each library is used as in its documentation and benchmarks for this task, with num_perm
          128. A text of fewer than five words is one shingle. Empty texts are skipped.
  datasketch        MinHash.bulk, MinHashLSH(threshold=0.8, num_perm=128) with the bands that its
                    optimiser chooses (9 x 13), insertion_session, query. Candidates are reported
                    without a check.
  datasketch-21x6   datasketch with the bands of lookalike, which find 0.998 of the pairs at 0.8.
                    Candidates are kept if MinHash.jaccard reaches the threshold.
  rensa             RMinHash.from_token_sets, RMinHashLSH with 16 bands, insert_many, query_all.
                    Candidates are kept if RMinHash.jaccard reaches the threshold. (The rho pipeline
                    samples tokens and returns flags, not pairs.) The number of bands must divide
                    128: 16 x 8 find 0.95 of the pairs at 0.8, 8 x 16 find 0.20.
  rensa-8bands      rensa with 8 bands, as in its own benchmarks.
  gaoya             MinHashStringIndex with its own analyzer (words, ngram_range (5, 5), in Rust,
                    threads), the bands that it chooses for 128 hashes (21 x 6),
                    par_bulk_insert_docs, and par_bulk_query, which keeps candidates whose estimate
                    reaches the threshold. Its words also end at ASCII punctuation, so its shingles
                    differ slightly from the shingles of the truth. It considers all texts of fewer
                    than five words equal, so this script groups them by their words instead.
  gaoya-split       gaoya with str.split() and 5-grams made in Python, as in the truth.
"""

import argparse
import csv
import importlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ["datasketch", "datasketch-21x6", "rensa", "rensa-8bands", "gaoya", "gaoya-split"]
SIZE = 5
NUM_PERM = 128
PART = 10000  # documents in one call of a bulk function


# ---------------------------------------------------------------- one peer, in its own process
def read(path):
    """Yields the id and text of each line."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield row["id"], row["text"]


def shingles(text):
    """Returns the word 5-grams of a text. A shorter text is one shingle; an empty text has none."""
    words = text.split()
    if len(words) < SIZE:
        return [" ".join(words)] if words else []
    return [" ".join(words[i : i + SIZE]) for i in range(len(words) - SIZE + 1)]


def shingle_lists(path, ids):
    """Yields the shingles of each document that is not empty, and appends its id to `ids`."""
    for key, text in read(path):
        found = shingles(text)
        if found:
            ids.append(key)
            yield found


def run_datasketch(path, threshold, params, check):
    from datasketch import MinHash, MinHashLSH

    ids = []
    encoded = ([s.encode() for s in found] for found in shingle_lists(path, ids))
    signatures = MinHash.bulk(encoded, num_perm=NUM_PERM)
    lsh = MinHashLSH(threshold=threshold, num_perm=NUM_PERM, params=params)
    with lsh.insertion_session() as session:
        for number, signature in enumerate(signatures):
            session.insert(number, signature)
    for number, signature in enumerate(signatures):
        for other in lsh.query(signature):
            if other < number:
                if not check or signature.jaccard(signatures[other]) >= threshold:
                    yield ids[other], ids[number]


def run_rensa(path, threshold, bands):
    from rensa import RMinHash, RMinHashLSH

    ids = []
    signatures = RMinHash.from_token_sets(shingle_lists(path, ids), NUM_PERM, 42)
    lsh = RMinHashLSH(threshold, NUM_PERM, bands)
    lsh.insert_many(signatures)
    for number, others in enumerate(lsh.query_all(signatures)):
        signature = signatures[number]
        for other in others:
            if other < number and signature.jaccard(signatures[other]) >= threshold:
                yield ids[other], ids[number]


def run_gaoya(path, threshold, own_analyzer):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=threshold,
        num_bands=None,
        band_size=None,
        num_hashes=NUM_PERM,
        analyzer="word" if own_analyzer else shingles,
        ngram_range=(SIZE, SIZE) if own_analyzer else None,
        id_container="smallvec",
    )
    ids, texts, short = [], [], defaultdict(list)
    for key, text in read(path):
        few = text.split(None, SIZE)
        if own_analyzer and len(few) < SIZE:
            same = short[tuple(few)]
            if few:
                for other in same:
                    yield other, key
                same.append(key)
        elif few:
            ids.append(key)
            texts.append(text)
    # Insert in parts, because gaoya keeps the shingles of a whole call in memory if Python makes
    # them.
    parts = [range(i, min(i + PART, len(ids))) for i in range(0, len(ids), PART)]
    for part in parts:
        index.par_bulk_insert_docs(list(part), texts[part.start : part.stop])
    for part in parts:
        for number, others in zip(part, index.par_bulk_query(texts[part.start : part.stop])):
            for other in others:
                if other < number:
                    yield ids[other], ids[number]


RUN = {
    "datasketch": lambda path, t: run_datasketch(path, t, None, False),
    "datasketch-21x6": lambda path, t: run_datasketch(path, t, (21, 6), True),
    "rensa": lambda path, t: run_rensa(path, t, 16),
    "rensa-8bands": lambda path, t: run_rensa(path, t, 8),
    "gaoya": lambda path, t: run_gaoya(path, t, True),
    "gaoya-split": lambda path, t: run_gaoya(path, t, False),
}


def child(peer, path, threshold, out):
    """Runs in the measured process. Prints the CPU seconds of the imports and the version of the
    package, as JSON."""
    package = peer.split("-")[0]
    before = time.process_time()
    importlib.import_module("gaoya.minhash" if package == "gaoya" else package)
    imports = time.process_time() - before
    with open(out, "w", encoding="utf-8") as file:
        file.write("id_a,id_b\n")
        file.writelines(
            "%s,%s\n" % ((a, b) if a < b else (b, a)) for a, b in RUN[peer](path, threshold)
        )
    print(json.dumps({"imports": imports, "version": importlib.metadata.version(package)}))


# ---------------------------------------------------------------- measuring
def measured(command):
    """Runs a command. Returns (its standard output, CPU seconds, wall seconds, peak bytes)."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        raise RuntimeError("%s ended with code %d" % (command[0], process.returncode))
    unit = 1 if sys.platform == "darwin" else 1024
    return (
        output,
        usage.ru_utime + usage.ru_stime,
        time.monotonic() - began,
        usage.ru_maxrss * unit,
    )


def median_run(command, runs):
    all_runs = sorted((measured(command) for _ in range(runs)), key=lambda run: run[1])
    return all_runs[(len(all_runs) - 1) // 2]


def loud(text):
    print("\n" + "!" * 78 + "\n!! " + text + "\n" + "!" * 78, file=sys.stderr, flush=True)


def environment(folder, packages):
    """Creates the virtual environment if needed, and installs the packages. Returns its Python and
    the installed packages."""
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    there = []
    for package in packages:
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        )
        if done.returncode == 0:
            there.append(package)
        else:
            loud(f"{package} CANNOT BE INSTALLED and is not measured")
    return python, there


def first_lines(path, limit, folder):
    """Copies the first `limit` lines of a file, and returns the path of the copy. A limit of 0
    returns `path` itself."""
    if not limit:
        return path
    out = os.path.join(folder, "corpus.jsonl")
    with open(path, "rb") as source, open(out, "wb") as target:
        target.writelines(line for _, line in zip(range(limit), source))
    return out


# ---------------------------------------------------------------- quality
class Truth:
    """The true pairs at or above the threshold, among the documents of the file."""

    def __init__(self, path, corpus, threshold, clusters, cap):
        documents = {key for key, _ in read(corpus)}
        self.capped = {}
        if clusters:
            members = defaultdict(list)
            with open(clusters, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    members[row["cluster"]].append(row["id"])
            self.capped = {
                key: cluster for cluster, keys in members.items() if len(keys) > cap for key in keys
            }
        self.pairs = set()
        least = round(threshold * 1000000)
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                a, b = sorted((row["id_a"], row["id_b"]))
                millionths = int(row["jaccard"].replace(".", ""))
                if (
                    millionths >= least
                    and a in documents
                    and b in documents
                    and not self.left_out(a, b)
                ):
                    self.pairs.add((a, b))

    def left_out(self, a, b):
        return a in self.capped and self.capped[a] == self.capped.get(b)

    def score(self, path):
        """Returns (reported pairs, recall, precision). A share of no pairs is nan."""
        reported = set()
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                a, b = sorted((row["id_a"], row["id_b"]))
                if not self.left_out(a, b):
                    reported.add((a, b))
        found = len(reported & self.pairs)
        nan = float("nan")
        return (
            len(reported),
            found / len(self.pairs) if self.pairs else nan,
            found / len(reported) if reported else nan,
        )


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows = [rows[0], ["-" * (w - (i > 0)) + ":" * (i > 0) for i, w in enumerate(widths)], *rows[1:]]
    for row in rows:
        cells = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        print("| " + " | ".join(cells) + " |")


def lookalike(binary, corpus, threshold, pairs):
    return [
        binary,
        "find",
        corpus,
        "--format",
        "jsonl",
        "--tokens",
        "whitespace",
        "--case",
        "keep",
        "--threshold",
        str(threshold),
        "--pairs",
        pairs,
    ]


def measure_all(a, folder, corpus):
    """Measures lookalike, then each installed peer.

    Returns [(name, version, CPU s of imports, CPU s, wall s, peak bytes, file of pairs)].
    """
    peers = [p for p in a.peers.split(",") if p]
    python, there = environment(a.venv, sorted({p.split("-")[0] for p in peers}))
    jobs = []
    if os.path.exists(a.binary):
        pairs = os.path.join(folder, "lookalike.csv")
        jobs.append(("lookalike find", lookalike(a.binary, corpus, a.threshold, pairs), pairs))
    else:
        loud(
            f"{a.binary} IS NOT THERE: build it (cargo build --release -p lookalike-cli) or name it with "
            "--binary; ratios need it"
        )
    for peer in peers:
        if peer.split("-")[0] in there:
            pairs = os.path.join(folder, peer + ".csv")
            jobs.append(
                (
                    peer,
                    [
                        python,
                        os.path.abspath(__file__),
                        "--child",
                        peer,
                        "--corpus",
                        corpus,
                        "--threshold",
                        str(a.threshold),
                        "--pairs",
                        pairs,
                    ],
                    pairs,
                )
            )
    rows = []
    for name, command, pairs in jobs:
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            output, cpu, wall, peak = median_run(command, a.runs)
        except RuntimeError as error:
            loud(f"{name} FAILED: {error}")
            continue
        said = json.loads(output) if name in RUN else {}
        rows.append(
            (name, said.get("version", ""), said.get("imports", 0.0), cpu, wall, peak, pairs)
        )
    return rows


def report(a, corpus, rows):
    size = os.path.getsize(corpus)
    truth = Truth(a.truth, corpus, a.threshold, a.clusters, a.truth_cap)
    with open(corpus, "rb") as file:
        documents = sum(1 for _ in file)
    print(
        "%d documents, %.1f MB, threshold %g, %d true pairs; Python %s, %d CPUs; median of %d\n"
        % (
            documents,
            size / 1e6,
            a.threshold,
            len(truth.pairs),
            sys.version.split()[0],
            os.cpu_count(),
            a.runs,
        )
    )
    own = rows[0] if rows and rows[0][0] not in RUN else None
    out = [
        [
            "program",
            "version",
            "CPU s",
            "of it imports",
            "wall s",
            "MB per CPU s",
            "peak MB",
            "pairs",
            "recall",
            "precision",
            "CPU x",
            "memory x",
        ]
    ]
    for name, version, imports, cpu, wall, peak, pairs in rows:
        count, recall, precision = truth.score(pairs)
        out.append(
            [
                name,
                version,
                f"{cpu:.2f}",
                f"{imports:.2f}",
                f"{wall:.2f}",
                "%.1f" % (size / 1e6 / cpu),
                "%.0f" % (peak / 1e6),
                str(count),
                f"{recall:.4f}",
                f"{precision:.4f}",
                "%.1f" % (cpu / own[3]) if own else "",
                "%.1f" % (peak / own[5]) if own else "",
            ]
        )
    table(out)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--corpus", required=True, help="JSONL with id and text")
    p.add_argument("--truth", help="CSV with id_a, id_b, jaccard of word 5-grams by str.split()")
    p.add_argument("--clusters", help="CSV with id, cluster, for a capped truth")
    p.add_argument("--truth-cap", type=int, default=200)
    p.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "lookalike"))
    p.add_argument("--peers", default=",".join(PEERS), help="of: " + " ".join(PEERS))
    p.add_argument("--limit-docs", type=int, default=0, help="take the first N documents only")
    p.add_argument("--threshold", type=float, default=0.8)
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--venv", default=os.path.join(HERE, ".venv"))
    p.add_argument("--child", help=argparse.SUPPRESS)
    p.add_argument("--pairs", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.child:
        return child(a.child, a.corpus, a.threshold, a.pairs)
    if not a.truth:
        p.error("--truth is needed")
    unknown = [peer for peer in a.peers.split(",") if peer and peer not in RUN]
    if unknown or a.runs < 1:
        p.error(
            "unknown peers {}; there are {}; --runs is at least 1".format(unknown, " ".join(PEERS))
        )
    folder = tempfile.mkdtemp(prefix="lookalike-peers-")
    try:
        corpus = first_lines(a.corpus, a.limit_docs, folder)
        # The truth is read after the last measurement, because the peak of a process begins with
        # the size of its parent.
        report(a, corpus, measure_all(a, folder, corpus))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
