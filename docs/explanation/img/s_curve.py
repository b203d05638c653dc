#!/usr/bin/env python3
"""Draws s-curve.svg of docs/explanation/recall.md: the S-curve of a run, and its measured recall.

    python3 docs/explanation/img/s_curve.py

Needs the command `lookalike`. Python 3.10, standard library only. Equal bytes each time.
"""

import json
import random
import subprocess
import tempfile
from pathlib import Path

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 20, 60
STYLE = """
text{font:14px system-ui,sans-serif;fill:#1b1f24}
.back{fill:#fff}
.axis{stroke:#8c959f;fill:none}
.grid{stroke:#d8dee4;fill:none}
.curve{stroke:#0969da;stroke-width:2.5;fill:none}
.threshold{stroke:#57606a;stroke-dasharray:5 4;fill:none}
.point{fill:#bc4c00}
.interval{stroke:#bc4c00;stroke-width:2;fill:none}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}
.back{fill:#0d1117}
.grid{stroke:#30363d}
.curve{stroke:#4493f8}
.threshold{stroke:#9198a1}
.point{fill:#f0883e}
.interval{stroke:#f0883e}
}
"""


def write_collection(path: Path) -> None:
    """3,000 texts of 200 random words, each with a copy in which up to 90 words are replaced."""
    source = random.Random(1)
    words = [f"{a}{b}{n}" for a in "bcdfg" for b in "aeiou" for n in range(100)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(3_000):
            text = source.choices(words, k=200)
            replaced = source.randint(0, 90)
            copy = source.choices(words, k=replaced) + text[replaced:]
            for name, tokens in [(f"{number}", text), (f"{number}-copy", copy)]:
                file.write(json.dumps({"id": name, "text": " ".join(tokens)}) + "\n")


def x(similarity: float) -> float:
    return round(LEFT + similarity * (WIDTH - LEFT - RIGHT), 1)


def y(share: float) -> float:
    return round(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM), 1)


def drawing(report: dict) -> str:
    bands, rows = (report["parameters"][name] for name in ("bands", "rows"))
    threshold = report["parameters"]["threshold"]
    shapes = [f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>']
    for tenth in range(0, 11, 2):
        at = tenth / 10
        shapes += [
            f'<path class="grid" d="M{x(0)} {y(at)}H{x(1)}"/>',
            f'<text x="{LEFT - 8}" y="{y(at) + 5}" text-anchor="end">{at}</text>',
            f'<text x="{x(at)}" y="{HEIGHT - BOTTOM + 22}" text-anchor="middle">{at}</text>',
        ]
    shapes.append(f'<path class="axis" d="M{x(0)} {y(1)}V{y(0)}H{x(1)}"/>')
    shapes.append(f'<path class="threshold" d="M{x(threshold)} {y(0)}V{y(1)}"/>')
    found = [(i / 100, 1 - (1 - (i / 100) ** rows) ** bands) for i in range(101)]
    line = " ".join(f"{x(similarity)},{y(share)}" for similarity, share in found)
    shapes.append(f'<polyline class="curve" points="{line}"/>')
    for each in report["audit"]["ranges"]:
        if each["documents"]:
            at = x((each["from"] + each["to"]) / 2)
            low, high = y(each["interval"]["low"]), y(each["interval"]["high"])
            shapes += [
                f'<path class="interval" d="M{at} {low}V{high}M{at - 5} {low}h10M{at - 5} {high}h10"/>',
                f'<circle class="point" cx="{at}" cy="{y(each["recall"])}" r="4"/>',
            ]
    shapes += [
        f'<text x="{x(0.5)}" y="{HEIGHT - 12}" text-anchor="middle">Jaccard similarity</text>',
        f'<text x="{x(threshold) - 8}" y="{y(0.04)}" text-anchor="end">threshold {threshold}</text>',
        f'<text x="{x(0.03)}" y="{y(0.93)}">line: predicted</text>',
        f'<text x="{x(0.03)}" y="{y(0.85)}">points: measured</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        "<title>Share of pairs that are found, by similarity: predicted and measured</title>"
        f"<style>{STYLE}</style>" + "\n".join(shapes) + "</svg>\n"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus.jsonl")
        write_collection(corpus)
        command = ["lookalike", "find", str(corpus), "--threshold", "0.4"]
        # Too few bands for this threshold, so that many pairs are missed.
        command += ["--bands", "8", "--rows", "8"]
        command += ["--audit", "3000", "--pairs", f"{folder}/pairs.csv", "--json", "--quiet"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    audit = report["audit"]
    print(f"predicted at the threshold {audit['predicted_recall']:.4f}")
    print(f"measured {audit['recall']:.4f}, {audit['interval']}, {audit['documents']} documents")
    for each in audit["ranges"]:
        print(each["from"], each["to"], each["documents"], each["recall"], each["interval"])
    Path(__file__).with_name("s-curve.svg").write_text(drawing(report), encoding="utf-8")


if __name__ == "__main__":
    main()
