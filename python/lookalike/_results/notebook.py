"""Displays results in notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lookalike import _engine

# The most characters of a page that a notebook shows.
_MOST = 4_000_000
# The options that define words.
_WORDS = ("shingle", "tokens", "case")


def frame_page(write_report: Callable[[str], None], title: str) -> str:
    """Returns the page of a run in a frame. The frame keeps the styles and scripts of the page
    apart from the notebook.

    Args:
        write_report: The function that writes the page to a path.
        title: The title of the frame.
    """
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        write_report(path)
        with open(path, encoding="utf-8") as file:
            page = file.read()
    return _frame(page, title, "write the page with found.write_report(&quot;page.html&quot;)")


def frame_texts(
    names: Sequence[str],
    sentences: Sequence[str],
    texts: Sequence[str],
    options: Mapping[str, Any],
) -> str:
    """Returns two texts side by side in a frame, with marked differences as on the page of a run.

    Args:
        names: The names of the two texts.
        sentences: The sentences above the texts.
        texts: The two texts.
        options: The options of the comparison.
    """
    title = "Two texts"
    rule = {name: options[name] for name in _WORDS if options.get(name) is not None}
    page = _engine.comparison_page(title, names, sentences, texts, rule)
    return _frame(page, " ".join(sentences), "the texts are too long for a notebook")


def _frame(page: str, title: str, fallback: str) -> str:
    """Returns a frame with a page. If the page is too large, returns the title and the text
    ``fallback``.
    """
    from html import escape

    if len(page) > _MOST:
        return f"<pre>{escape(title)}\n{fallback}</pre>"
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" '
        'style="width:100%;height:640px;border:1px solid #8888" loading="lazy"></iframe>'
    )
