#!/usr/bin/env python3
"""Draws the pictures of docs/explanation/recall.md: the S-curve with the recall of an audit.

    python3 docs/explanation/img/s_curve.py

Writes s-curve-light.svg and s-curve-dark.svg next to this file. Needs `lookalike` and matplotlib.
"""

import random
from pathlib import Path

import lookalike
import lookalike.plot
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
source = random.Random(1)
words = [f"{a}{b}{n}" for a in "bcdfg" for b in "aeiou" for n in range(100)]

docs = {}
for number in range(3_000):
    text = source.choices(words, k=200)
    docs[f"{number}"] = " ".join(text)
    changed = source.randint(0, 50)
    docs[f"{number}-copy"] = " ".join(source.choices(words, k=changed) + text[changed:])

# Fewer bands than the default, so that some pairs are missed.
found = lookalike.find(docs, threshold=0.6, recall=0.7, pairs=True)
audit = lookalike.audit(found, sample=len(docs) // 2)
print(found.parameters["bands"], found.parameters["rows"], audit.predicted_recall)
print(audit.recall, audit.interval, audit.documents)

plt.rcParams["svg.hashsalt"] = "lookalike"
plt.rcParams["svg.fonttype"] = "none"
for name, style in [("light", "default"), ("dark", "dark_background")]:
    with plt.style.context(style):
        ax = lookalike.plot.s_curve(found, audit)
        ax.figure.set_size_inches(6.4, 3.6)
        ax.figure.savefig(
            FOLDER / f"s-curve-{name}.svg",
            transparent=True,
            metadata={"Date": None},
            bbox_inches="tight",
        )
        plt.close(ax.figure)
