#!/usr/bin/env python3
"""Writes the collection of docs/tutorials/corpus.md: `corpus.jsonl` and `quiz.jsonl`.

5,000 made-up pages of three sites with known defects: copies, edited copies, a notice at the end of
every page of one site, and questions of the quiz inside pages. The seed is fixed, so the files are
the same everywhere. Python 3.10, standard library only.
"""

import json
import random


def split(words: str) -> list[str]:
    """The words of a list."""
    return words.split()


NOUNS = split(
    "archive baker bridge canal carpenter chapel choir clock concert council courtyard crane "
    "dairy doctor engineer farmer ferry fountain garden gate glacier granary harbour hospital inn "
    "island kitchen ladder lantern library lighthouse mansion map market meadow mill miller mine "
    "museum orchard painter painting pharmacy pier potter prison quarry railway ranger river "
    "school station surgeon tailor teacher theatre tower tram tunnel valley village vineyard "
    "violin weaver windmill workshop"
)
ADJECTIVES = split(
    "ancient broad busy calm careful clever cold crooked curious dark distant dry early eastern "
    "empty faded famous flooded foreign frozen gentle golden green grey heavy hidden honest "
    "hollow late lively lonely modest muddy narrow northern noisy old patient painted quiet "
    "rebuilt remote rough round rusty shallow silver slow small southern steep stone sunny "
    "tired upper western wide wooden young"
)
VERBS = split(
    "admired bought borrowed built cleaned closed counted described drew explored feared "
    "followed found guarded inspected inherited left measured moved named opened owned painted "
    "photographed praised quoted reached remembered repaired sketched sold studied surrounded "
    "visited watched"
)
PLACES = split("above below beneath beside beyond inside near opposite past towards")
NOTICE = (
    "This page is part of the river almanac, a free collection of notes about towns and people "
    "along the water. Readers may copy and change every text, provided that they name the almanac "
    "and keep this notice. Corrections are welcome at any time and are published on the first "
    "Monday of the month."
)

source = random.Random(1)


def noun_phrase() -> str:
    """Such as `the old bridge`."""
    return f"the {source.choice(ADJECTIVES)} {source.choice(NOUNS)}"


def sentence() -> str:
    """A sentence of eleven or thirteen words."""
    words = f"{noun_phrase()} {source.choice(VERBS)} {noun_phrase()}"
    words += f" {source.choice(PLACES)} {noun_phrase()}"
    if source.random() < 0.5:
        words += f" in {source.randint(1600, 2020)}"
    return f"{words[0].upper()}{words[1:]}."


def edited(sentences: list[str], share: float) -> list[str]:
    """The sentences with about this share of them replaced."""
    return [sentence() if source.random() < share else each for each in sentences]


def question() -> str:
    """The first half of a question of the quiz."""
    return f"Who {source.choice(VERBS)} {noun_phrase()} {source.choice(PLACES)} {noun_phrase()}"


quiz = []
for number in range(200):
    text = f"{question()} before {noun_phrase()} {source.choice(VERBS)} {noun_phrase()}?"
    quiz.append({"id": f"q{number:03}", "question": text, "answer": noun_phrase()})

pages: list[tuple[str, list[str]]] = []
for _ in range(4_000):
    site = source.choice(["almanac", "gazette", "notes"])
    pages.append((site, [sentence() for _ in range(source.randint(8, 30))]))
for _ in range(1_000):
    sentences = source.choice(pages[:4_000])[1]
    share = source.choice([0, 0, 0.02, 0.05, 0.1, 0.3])
    pages.append((source.choice(["gazette", "notes"]), edited(sentences, share)))
for item in source.sample(quiz, 12):
    sentences = source.choice(pages)[1]
    sentences.insert(source.randint(0, len(sentences)), item["question"])
source.shuffle(pages)

with open("corpus.jsonl", "w", encoding="utf-8") as file:
    for number, (site, sentences) in enumerate(pages):
        text = " ".join(sentences)
        if site == "almanac":
            text = f"{text}\n\n{NOTICE}"
        file.write(json.dumps({"id": f"p{number:04}", "site": site, "text": text}) + "\n")

with open("quiz.jsonl", "w", encoding="utf-8") as file:
    for item in quiz:
        file.write(json.dumps(item) + "\n")
