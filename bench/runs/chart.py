#!/usr/bin/env python3
"""Draws the chart of the README, for light and dark pages.

    bench/runs/chart.py

Reads `peers-generated.csv` next to this file. Writes `peers-light.svg` and `peers-dark.svg`.
"""

import csv
import pathlib

HERE = pathlib.Path(__file__).parent
WIDTH = 720
BAR = 22
ROW = 44
LEFT = 140
LONGEST = 380  # pixels of the longest bar
THEMES = {
    "light": {"text": "#1f2328", "muted": "#59636e", "ours": "#0969da", "other": "#9aa4ae"},
    "dark": {"text": "#f0f6fc", "muted": "#9198a1", "ours": "#4493f8", "other": "#656c76"},
}
TITLE = "100,000 documents, from the file to the pairs at Jaccard 0.8: CPU seconds and recall"


def text(x, y, content, color, more=""):
    return f'<text x="{x}" y="{y}" fill="{color}"{more}>{content}</text>'


def drawn(programs, theme):
    most = max(float(program["cpu_seconds"]) for program in programs)
    height = 56 + ROW * len(programs)
    names = ", ".join(
        f"{program['program']} {program['cpu_seconds']} s, recall {program['recall']}"
        for program in programs
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" role="img" aria-labelledby="title desc"'
        ' font-family="system-ui, sans-serif" font-size="15">',
        f'<title id="title">{TITLE}</title>',
        f'<desc id="desc">{names}</desc>',
        text(0, 18, TITLE, theme["muted"], ' font-size="14"'),
    ]
    for row, program in enumerate(programs):
        is_ours = program["program"].startswith("lookalike")
        top = 44 + ROW * row
        length = max(2, round(LONGEST * float(program["cpu_seconds"]) / most))
        weight = ' font-weight="600"' if is_ours else ""
        style = f' text-anchor="end"{weight}'
        label = f"{program['cpu_seconds']} s, recall {program['recall']}"
        lines += [
            text(LEFT - 12, top + 16, program["program"], theme["text"], style),
            f'<rect x="{LEFT}" y="{top}" width="{length}" height="{BAR}" rx="2"'
            f' fill="{theme["ours" if is_ours else "other"]}"/>',
            text(LEFT + length + 10, top + 16, label, theme["text"], weight),
        ]
    return "\n".join([*lines, "</svg>", ""])


def main():
    with open(HERE / "peers-generated.csv", encoding="utf-8", newline="") as file:
        programs = sorted(csv.DictReader(file), key=lambda program: float(program["cpu_seconds"]))
    for name, theme in THEMES.items():
        (HERE / f"peers-{name}.svg").write_text(drawn(programs, theme), encoding="utf-8")


if __name__ == "__main__":
    main()
