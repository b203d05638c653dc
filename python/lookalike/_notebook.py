"""Results in notebooks."""

from __future__ import annotations

import html
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lookalike._found import Found
    from lookalike._passages import Passages

__all__ = ["framed"]

#: Characters of a page that a notebook keeps.
_MOST = 4_000_000


def framed(found: Found | Passages) -> str:
    """The page of a run in a frame of its own, whose styles and scripts do not meet those of the notebook."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        found.write_report(path)
        with open(path, encoding="utf-8") as file:
            page = file.read()
    if len(page) > _MOST:
        return f"<pre>{html.escape(repr(found))}\nfound.write_report(&quot;page.html&quot;) writes the page</pre>"
    return (
        f'<iframe srcdoc="{html.escape(page)}" title="{html.escape(repr(found))}" '
        'style="width:100%;height:640px;border:1px solid #8888" loading="lazy"></iframe>'
    )
