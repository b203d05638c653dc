"""Results in notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lookalike import _engine

# Characters of a page that a notebook keeps.
_MOST = 4_000_000
# The options that say what a word is.
_WORDS = ("shingle", "tokens", "case")


def frame_page(write_report: Callable[[str], None], title: str) -> str:
    """The page of a run in a frame of its own: styles and scripts of the page and of the notebook
    stay apart.

    Args:
        write_report: Writes the page to a path.
    """
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        write_report(path)
        with open(path, encoding="utf-8") as file:
            page = file.read()
    return _frame(page, title, "found.write_report(&quot;page.html&quot;) writes the page")


def frame_texts(
    names: Sequence[str],
    sentences: Sequence[str],
    texts: Sequence[str],
    options: Mapping[str, Any],
) -> str:
    """Two texts next to each other in a frame, with their differences marked as in the page of a
    run.
    """
    title = "Two texts"
    rule = {name: options[name] for name in _WORDS if options.get(name) is not None}
    page = _engine.comparison_page(title, names, sentences, texts, rule)
    return _frame(page, " ".join(sentences), "the texts are too long to be shown")


def _frame(page: str, title: str, instead: str) -> str:
    """A frame with a page, or what is said in place of one that is too large."""
    from html import escape

    if len(page) > _MOST:
        return f"<pre>{escape(title)}\n{instead}</pre>"
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" '
        'style="width:100%;height:640px;border:1px solid #8888" loading="lazy"></iframe>'
    )
