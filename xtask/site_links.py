"""Links of the site that leave ``docs``: to the repository if ``repo_url`` is set, else text only."""

from __future__ import annotations

import posixpath
import re
from typing import Any


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Called by MkDocs with the text of each page."""
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def replace(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        if target.startswith("docs/"):
            return link[0]
        repository = config.repo_url
        return f"[{link[1]}]({repository}/blob/main/{target})" if repository else link[1]

    return re.sub(r"(?<!!)\[([^\]]+)\]\((\.\./[^)]+)\)", replace, markdown)
