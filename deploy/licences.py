"""Writes the licence texts of all crates that a package of this workspace links.

licences.py FILE PACKAGE [FEATURE…]
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGETS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
NAMES = re.compile(r"(licen[sc]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def cargo(*arguments: str) -> str:
    """Run cargo and return its output."""
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def linked(package: str, features: list[str]) -> list[str]:
    """Return the linked crates of all platforms, each as `name version`."""
    found = set()
    tree = ["tree", "--package", package, "--features", ",".join(features), "--format", "{p}"]
    for target in TARGETS:
        lines = cargo(*tree, "--edges", "normal", "--prefix", "none", "--target", target)
        for line in lines.splitlines():
            name, version = line.split(" ")[:2]
            found.add(f"{name} {version.removeprefix('v')}")
    return sorted(found)


def files(crate: dict) -> list[Path]:
    """Return the files with licences in the folder of a crate."""
    folder = Path(crate["manifest_path"]).parent
    return sorted(file for file in folder.iterdir() if file.is_file() and NAMES.match(file.name))


def texts(crate: dict, crates: dict[str, dict]) -> list[str]:
    """Return the texts of a crate, of another one of its repository, or of its licence."""
    repository = crate["repository"]
    same = [other for other in crates.values() if repository and other["repository"] == repository]
    for other in [crate, *same]:
        if other["license"] == crate["license"] and files(other):
            return [file.read_text(errors="replace").strip() for file in files(other)]
    if "Apache-2.0" in crate["license"]:
        return [(ROOT / "LICENSE-APACHE").read_text().strip()]
    if "MIT" in crate["license"]:
        _, conditions = (ROOT / "LICENSE-MIT").read_text().split("\n\nPermission", 1)
        authors = ", ".join(crate["authors"])
        return [f"MIT License\n\nCopyright (c) {authors}\n\nPermission{conditions}".strip()]
    sys.exit(f"{crate['name']} has no text of its licence {crate['license']}")


def main() -> None:
    """Write the file."""
    output, package, *features = sys.argv[1:]
    packages = json.loads(cargo("metadata", "--format-version", "1", "--all-features"))["packages"]
    crates = {f"{crate['name']} {crate['version']}": crate for crate in packages}
    users: dict[str, list[str]] = {}
    for name in linked(package, features):
        if crates[name]["source"] is not None:
            for text in texts(crates[name], crates):
                users.setdefault(text, []).append(f"{name} ({crates[name]['license']})")
    rule = "\n\n" + "-" * 80 + "\n"
    parts = ["lookalike links the crates below and SQLite, which is in the public domain."]
    parts += ["\n".join(names) + "\n\n" + text for text, names in users.items()]
    Path(output).write_text(rule.join(parts) + "\n")


main()
