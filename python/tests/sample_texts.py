"""Sample texts, some of which resemble each other."""

from __future__ import annotations

import random


def texts(count: int, seed: int = 7) -> list[str]:
    """Returns texts in groups of three: a new text, and two copies with an added word."""
    words = random.Random(seed)
    generated: list[str] = []
    text = ""
    for i in range(count):
        if i % 3 == 0:
            text = " ".join(f"w{words.randrange(5000)}" for _ in range(60))
            generated.append(text)
        else:
            generated.append(f"{text} and{i}")
    return generated
