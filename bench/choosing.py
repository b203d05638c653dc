#!/usr/bin/env python3
"""Computes the figures of docs/guides/choosing.md: how settings of `find` perform on known pairs.

    bench/choosing.py --program target/release/lookalike --data ../shared/data [SECTION]...

Most sections compare the pairs that `lookalike find --pairs` writes with a truth. The truth is
people's judgements (judged, plagiarism) or names of files (the same page in another release, the
same source file in another version). Jaccard pairs are found with `--exact`. The document sets
are not part of this repository. A section whose set is missing is skipped with a message. Needs
Python 3.10 and only the standard library.
"""

import argparse
import csv
import gzip
import itertools
import json
import os
import subprocess
import sys
import tarfile
import tempfile

SECTIONS = {}


def section(function):
    SECTIONS[function.__name__] = function
    return function


class Missing(Exception):
    """A document set does not exist."""


class Bench:
    def __init__(self, program, data, folder):
        self.program, self.data, self.folder = program, data, folder

    def path(self, *parts):
        path = os.path.join(self.data, *parts)
        if not os.path.exists(path):
            raise Missing(path)
        return path

    def pairs(self, source, least, options=(), measure="jaccard"):
        """Returns the similarities of pairs from `least` on. The key is the two ids, sorted."""
        out = os.path.join(self.folder, "pairs.csv")
        command = [self.program, "find", source, "--quiet", "--threshold", str(least)]
        command += ["--exact"] if measure == "jaccard" else ["--measure", measure]
        command += ["--pairs", out, "--output", os.path.join(self.folder, "groups.csv"), *options]
        subprocess.run(command, check=True)
        with open(out, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            return {tuple(sorted((r["id_a"], r["id_b"]))): float(r[measure]) for r in rows}


def documents(path):
    opened = (
        gzip.open(path, "rt", encoding="utf-8")
        if path.endswith(".gz")
        else open(path, encoding="utf-8")
    )
    with opened as file:
        return [json.loads(line) for line in file]


def table(title, *rows):
    print(f"\n{title}\n")
    head, *rest = rows
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rest:
        print("| " + " | ".join(map(str, row)) + " |")
    sys.stdout.flush()


def share(part, whole):
    return f"{100 * part / whole:.0f} % of {whole}" if whole else "-"


@section
def judged(bench):
    """How similar are texts that people call near-duplicates?"""
    source = bench.path("judged", "docs.jsonl.gz")
    with open(bench.path("judged", "judgements.csv"), encoding="utf-8") as file:
        truth = {
            tuple(sorted((r["id_a"], r["id_b"]))): int(r["label"]) for r in csv.DictReader(file)
        }
    steps = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    settings = [
        ("words:5", [], "jaccard"),
        ("words:3", ["--shingle", "words:3"], "jaccard"),
        ("bag", ["--shingle", "bag"], "jaccard"),
        ("words:5, containment", [], "containment"),
    ]
    rows = [["shingles", "below 0.3", *(f"{a} to {b}" for a, b in itertools.pairwise(steps))]]
    from_on = [["shingles", "from", "near-duplicates", "pairs"]]
    for name, options, measure in settings:
        found = bench.pairs(source, 0.3, options, measure)
        below = [label for pair, label in truth.items() if pair not in found]
        row = [name, share(sum(label >= 1 for label in below), len(below))]
        for low in steps[1:-1]:
            labels = [label for pair, label in truth.items() if found.get(pair, 0) >= low]
            from_on.append([name, low, sum(label >= 1 for label in labels), len(labels)])
        for low, high in itertools.pairwise(steps):
            labels = [
                label
                for pair, label in truth.items()
                if low <= found.get(pair, 0) < high or (high == 1.0 and found.get(pair, 0) == 1.0)
            ]
            row.append(share(sum(label >= 1 for label in labels), len(labels)))
        rows.append(row)
    table(f"Share of {len(truth)} pairs that people call near-duplicates, by similarity", *rows)
    table("Share at or above a similarity", *from_on)
    rows = [["pairs", "threshold", "are near-duplicates", "near-duplicates found"]]
    found = bench.pairs(source, 0.3)
    for kind, name in [
        ("core", "news stories"),
        ("web", "web pages"),
        ("terabyte", "pages of .gov sites"),
    ]:
        kept = {pair: label for pair, label in truth.items() if pair[0].startswith(kind + "/")}
        for threshold in [0.5, 0.6, 0.7, 0.8]:
            reached = [label for pair, label in kept.items() if found.get(pair, 0) >= threshold]
            right, all_of = (
                sum(label >= 1 for label in reached),
                sum(label >= 1 for label in kept.values()),
            )
            rows.append([name, threshold, share(right, len(reached)), share(right, all_of)])
    table("Share by kind of text, words:5", *rows)


@section
def plagiarism(bench):
    """Which settings find rewritten answers?"""
    source = bench.path("plagiarism", "docs.jsonl")
    with open(bench.path("plagiarism", "truth_human.csv"), encoding="utf-8") as file:
        truth = {tuple(sorted((r["id_a"], r["id_b"]))): r["category"] for r in csv.DictReader(file)}
    kinds = ["cut", "light", "heavy", "non"]
    counts = {kind: sum(category == kind for category in truth.values()) for kind in kinds}
    settings = [
        ([], "jaccard", [0.8, 0.5]),
        (["--shingle", "words:3"], "jaccard", [0.5, 0.3]),
        (["--shingle", "bag"], "jaccard", [0.5]),
        ([], "containment", [0.5, 0.3]),
        (["--shingle", "words:3"], "containment", [0.5, 0.3, 0.2]),
        (["--shingle", "words:2"], "containment", [0.5, 0.3, 0.2]),
        (["--shingle", "bag"], "containment", [0.6, 0.5]),
        (["--shingle", "bag", "--stop-words", "en"], "containment", [0.5, 0.4, 0.3]),
    ]
    # The truth pairs each answer with the source of its question. Ids of sources begin with
    # `orig`.
    without = {pair[0] for pair, category in truth.items() if category == "non"}
    head = ["between answers", "of these, one written without the source", "both"]
    rows = [["options of `find`", *(f"{kind} ({counts[kind]})" for kind in kinds), *head]]
    for options, measure, thresholds in settings:
        found = bench.pairs(source, min(thresholds), options, measure)
        for threshold in thresholds:
            reached = [truth.get(pair) for pair, value in found.items() if value >= threshold]
            name = [] if measure == "jaccard" else [f"--measure {measure}"]
            name += [" ".join(options)] if options else []
            answers = [
                pair
                for pair, value in found.items()
                if value >= threshold and not any(id.startswith("orig") for id in pair)
            ]
            alone = [sum(id in without for id in pair) for pair in answers]
            rows.append(
                [
                    f"`{' '.join([*name, f'--threshold {threshold}'])}`",
                    *(reached.count(kind) for kind in kinds),
                    len(answers),
                    sum(count > 0 for count in alone),
                    alone.count(2),
                ]
            )
    questions = len({pair[1] for pair in truth})
    table(
        f"{len(truth)} answers to {questions} questions: found together with their source, by "
        "how they were made; "
        "and pairs of answers",
        *rows,
    )


def by_name(bench, source, same, settings, thresholds, least):
    """Yields a row with recall and precision for each setting and threshold. `same` contains the
    true pairs."""
    for name, options in settings:
        found = bench.pairs(source, least, options)
        for threshold in thresholds:
            reached = [pair for pair, value in found.items() if value >= threshold]
            right = sum(pair in same for pair in reached)
            yield [name, threshold, share(right, len(same)), share(right, len(reached))]


def versions(ids, name):
    """Returns the pairs of ids with equal names, which are versions of one document."""
    groups = {}
    for id in ids:
        groups.setdefault(name(id), []).append(id)
    return {
        tuple(sorted(pair))
        for group in groups.values()
        for pair in itertools.combinations(group, 2)
    }


@section
def pages(bench):
    """Are the pages of a manual found in its other releases?"""
    archive = bench.path("html", "raw.tar.gz")
    with tarfile.open(archive) as tar:
        names = [
            member.name
            for member in tar
            if member.isfile() and member.name.startswith("python-library/")
        ]
    folder = os.path.join(bench.folder, "pages")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    ids = [name.removeprefix("python-library/") for name in names]
    same = versions(ids, lambda id: id.split("/", 1)[1])
    settings = [
        ("`--html main` (default)", []),
        ("`--html all`", ["--html", "all"]),
        ("`--shingle words:3`", ["--shingle", "words:3"]),
    ]
    rows = by_name(
        bench, os.path.join(folder, "python-library"), same, settings, [0.5, 0.6, 0.7, 0.8], 0.5
    )
    table(
        "Pages of a manual in three releases (html)",
        ["options", "threshold", "versions found", "of the found pairs, versions"],
        *rows,
    )


@section
def code(bench):
    """Are source files found in other versions of their package?"""
    kept = [
        document
        for document in documents(bench.path("code", "docs.jsonl.gz"))
        if document["id"].endswith((".py", ".rs", ".js")) and document["text"].strip()
    ]
    source = os.path.join(bench.folder, "code.jsonl")
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in kept)

    def package(id):
        return id.split("/", 2)[1].rsplit("-", 1)[0]

    same = versions(
        [document["id"] for document in kept], lambda id: (package(id), id.split("/", 2)[2])
    )
    settings = [
        [],
        ["--shingle", "words:3"],
        ["--shingle", "words:8"],
        ["--tokens", "whitespace", "--case", "keep"],
        ["--shingle", "chars:12"],
        ["--shingle", "bag"],
    ]
    head = [
        "options",
        "threshold",
        "versions found",
        "other pairs within a package",
        "pairs across packages",
    ]
    rows = [head]
    for options in settings:
        found = bench.pairs(source, 0.5, options)
        for threshold in [0.5, 0.7, 0.8]:
            reached = [pair for pair, value in found.items() if value >= threshold]
            right = sum(pair in same for pair in reached)
            across = sum(package(a) != package(b) for a, b in reached)
            name = f"`{' '.join(options)}`" if options else "defaults"
            rows.append(
                [name, threshold, share(right, len(same)), len(reached) - right - across, across]
            )
    table(f"Source files in three or four versions of a package (code, {len(kept)} files)", *rows)


@section
def scripts(bench):
    """Are revisions of a page found, by script?"""
    all_of = documents(bench.path("multilingual", "docs.jsonl.gz"))
    settings = [
        ("words:5 (default)", []),
        ("words:3", ["--shingle", "words:3"]),
        ("words:5, `--normalize segment:dictionary`", ["--normalize", "segment:dictionary"]),
        ("chars:5", ["--shingle", "chars:5"]),
        ("chars:9", ["--shingle", "chars:9"]),
    ]
    for lang, name in [
        ("ar", "Arabic"),
        ("th", "Thai"),
        ("ja", "Japanese"),
        ("zh_CN", "Chinese"),
        ("de", "German"),
    ]:
        # Revisions of pages, and pages of a manual in three releases.
        kept = [d for d in all_of if d["lang"] == lang and not d["id"].startswith("tldr/")]
        if not kept:
            continue
        source = os.path.join(bench.folder, "scripts.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(document) + "\n" for document in kept)

        def page(id):
            kind, rest = id.split("/", 1)
            return rest.split("@")[0] if kind == "react" else rest.rsplit("/", 1)[-1]

        same = versions([document["id"] for document in kept], page)
        rows = by_name(bench, source, same, settings, [0.5, 0.8], 0.5)
        table(
            f"Revisions and releases of pages in {name} (multilingual, {len(kept)} documents)",
            ["shingles", "threshold", "versions found", "of the found pairs, versions"],
            *rows,
        )


@section
def groups(bench):
    """How far from the kept document are the duplicates of each group rule?"""
    rows = [
        [
            "documents",
            "`--group`",
            "groups",
            "duplicates",
            "below 0.5 with the kept one",
            "least similar",
        ]
    ]
    for name in ["reuters", "code", "newsgroups"]:
        source = bench.path(name, "docs.jsonl.gz")
        for rule in ["stars", "components"]:
            out = os.path.join(bench.folder, "groups.jsonl")
            command = [bench.program, "find", source, "--quiet", "--exact", "--threshold", "0.5"]
            subprocess.run([*command, "--group", rule, "--output", out], check=True)
            found = documents(out)
            values = [duplicate["jaccard"] for group in found for duplicate in group["duplicates"]]
            below = sum(value < 0.5 for value in values)
            rows.append([name, f"`{rule}`", len(found), len(values), below, f"{min(values):.2f}"])
    table("Groups at threshold 0.5", *rows)


@section
def short(bench):
    """How similar is a text to itself with one word changed?"""
    shingles = ["words:5", "words:3", "words:2", "bag", "chars:5", "chars:9"]
    rows = [["words of the text", *shingles]]
    for count in [5, 10, 20, 40, 100, 300]:
        words = [f"{'aeiou'[i % 5]}{i:03d}" for i in range(count)]
        row = [count]
        source = os.path.join(bench.folder, "short.jsonl")
        changed = [*words[: count // 2], "other", *words[count // 2 + 1 :]]
        with open(source, "w", encoding="utf-8") as file:
            for id, text in [("a", words), ("b", changed)]:
                file.write(json.dumps({"id": id, "text": " ".join(text)}) + "\n")
        for shingle in shingles:
            found = bench.pairs(source, 0.01, ["--shingle", shingle])
            row.append(f"{found.get(('a', 'b'), 0):.2f}")
        rows.append(row)
    table("Jaccard similarity of a text and itself with one word in the middle changed", *rows)
    # A text of n words has n − 4 shingles, and five of them contain the changed word. Both texts
    # share n − 9 of n + 1 shingles.
    least = next(n for n in itertools.count(10) if (n - 9) / (n + 1) >= 0.8)
    print(f"\nThe fewest words of which one can change at 0.8, words:5: {least}")


@section
def mail(bench):
    """How many messages are duplicates with quoted text, and without it?"""
    archive = bench.path("mail", "raw.tar.gz")
    folder = os.path.join(bench.folder, "mail")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    rows = [["`--quotes`", "messages", "duplicates"]]
    for quotes in ["keep", "cut"]:
        command = [bench.program, "find", folder, "--quiet", "--json", "--quotes", quotes]
        counts = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)[
            "counts"
        ]
        rows.append([quotes, counts["documents"], counts["duplicates"]])
    table("Duplicates at the defaults", *rows)


@section
def advice(bench):
    """Measures the search for a better setting, which `find` skips for 1,001 documents."""
    stories = documents(bench.path("reuters", "docs.jsonl.gz"))
    rows = [["documents", "CPU seconds, the least of five runs", "a better setting was looked for"]]
    for count in [1000, 1001]:
        source = os.path.join(bench.folder, "stories.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(
                json.dumps({"id": str(n), "text": d["text"]}) + "\n"
                for n, d in enumerate(stories[:count])
            )
        seconds = []
        for _ in range(5):
            before = os.times()
            command = [bench.program, "find", source, "--quiet", "--threshold", "0.95"]
            subprocess.run(
                [*command, "--output", os.path.join(bench.folder, "groups.csv")], check=True
            )
            after = os.times()
            seconds.append(
                after.children_user
                + after.children_system
                - before.children_user
                - before.children_system
            )
        rows.append([count, f"{min(seconds):.2f}", "yes" if count <= 1000 else "no"])
    table("Time of find over news stories, few of which have a duplicate at 0.95", *rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.sections if name not in SECTIONS]:
        parser.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    for name in arguments.sections or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                SECTIONS[name](Bench(arguments.program, arguments.data, folder))
            except Missing as path:
                print(f"SKIPPED {name}: {path} is not there", file=sys.stderr)


if __name__ == "__main__":
    main()
