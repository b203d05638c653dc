#!/usr/bin/env python3
"""Computes the figures of docs/reference/keep.md: which keep rules keep a file's final version.

    bench/file_names.py --program target/release/lookalike CLONE...

Each CLONE is a clone of a Git repository. The program exports its documents, each with the time of
the commit that changed it last. Two kinds of groups have a known final version: revisions of a
paper (`p0847r6.html`, `p0847r7.html`) in one folder, and `README.md` with other READMEs in its
folder, because GitHub displays `README.md`. Needs Python 3.10 and only the standard library.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

POLICIES = [
    ["longest"],
    ["newest"],
    ["newest", "longest"],
    ["name"],
    ["name", "newest"],
    ["name", "longest"],
]
TYPES = (".md", ".txt", ".rst", ".html", ".docx", ".odt", ".tex")


def git(clone, *arguments):
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout


def export(clone, folder, types):
    """Writes the documents of the newest commit to a folder, with the times of their last
    changes."""
    changed = {}
    time = 0
    for line in (
        git(clone, "log", "--format=@%ct", "--name-only", "HEAD")
        .decode("utf-8", "replace")
        .splitlines()
    ):
        if line.startswith("@"):
            time = int(line[1:])
        elif line:
            changed.setdefault(line, time)
    for name in (
        git(clone, "ls-tree", "-r", "--name-only", "-z", "HEAD")
        .decode("utf-8", "replace")
        .split("\0")
    ):
        if not name.lower().endswith(types):
            continue
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(git(clone, "show", f"HEAD:{name}"))
        os.utime(path, (changed.get(name, 0),) * 2)


def final_version(members):
    """Returns the kind of a group and its final version; ``None`` if they are unknown."""
    if len({os.path.dirname(member) for member in members}) == 1:
        revisions = {member: re.search(r"[rR](\d+)\.\w+$", member) for member in members}
        if all(revisions.values()):
            return "revisions of a paper", max(
                members, key=lambda member: int(revisions[member][1])
            )
    readmes = [
        m
        for m in members
        if re.fullmatch(r"readme\.(md|rst|txt)", os.path.basename(m), re.IGNORECASE)
    ]
    for readme in readmes:
        beside = [
            m for m in members if m != readme and os.path.dirname(m) == os.path.dirname(readme)
        ]
        if any(os.path.basename(m).lower().startswith("readme") for m in beside):
            return "READMEs of a folder", readme
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", required=True)
    parser.add_argument(
        "--types", default=",".join(TYPES), help="endings of documents (default: %(default)s)"
    )
    parser.add_argument("clones", nargs="+")
    arguments = parser.parse_args()
    counts = {}
    with tempfile.TemporaryDirectory() as temporary:
        for number, clone in enumerate(arguments.clones):
            folder = os.path.join(temporary, str(number))
            os.makedirs(folder)
            try:
                export(clone, folder, tuple(arguments.types.split(",")))
            except subprocess.CalledProcessError:
                print(f"skipped {clone}: its history is incomplete", file=sys.stderr)
                continue
            if not os.listdir(folder):
                continue
            for policy in POLICIES:
                groups = os.path.join(temporary, "groups.jsonl")
                keep = [f"--keep={rule}" for rule in policy]
                command = [
                    arguments.program,
                    "find",
                    folder,
                    "-t",
                    "0.5",
                    "-q",
                    "-o",
                    groups,
                    *keep,
                ]
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
                with open(groups, encoding="utf-8") as lines:
                    for group in map(json.loads, lines):
                        members = [
                            group["keeper"],
                            *(duplicate["id"] for duplicate in group["duplicates"]),
                        ]
                        known = final_version(members)
                        if known is None:
                            continue
                        count = counts.setdefault((known[0], ", ".join(policy)), [0, 0])
                        count[0] += group["keeper"] == known[1]
                        count[1] += 1
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind}:")
        for policy in map(", ".join, POLICIES):
            kept, groups = counts.get((kind, policy), (0, 0))
            print(f"  {policy:<16} {kept} of {groups}")


if __name__ == "__main__":
    main()
