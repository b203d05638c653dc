"""Links of the site: the links that leave ``docs``, and the names in docstrings."""

from __future__ import annotations

import posixpath
import re
from typing import Any


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Turns links that leave ``docs`` into links to the repository if ``repo_url`` is set, otherwise
    into text.
    """
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def replace(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        if target.startswith("docs/"):
            return link[0]
        repository = config.repo_url
        return f"[{link[1]}]({repository}/blob/main/{target})" if repository else link[1]

    return re.sub(r"(?<!!)\[([^\]]+)\]\((\.\./[^)]+)\)", replace, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Links names and pages in docstrings. mkdocs-autorefs does not link unknown names."""
    if not page.file.src_uri.startswith("reference/api/"):
        return html
    html = re.sub(r"<code>docs/([\w/-]+)\.md</code>", r'<a href="../../\1.html">\g<0></a>', html)
    # Docstrings of `lookalike` itself, but not of its modules, leave out the module.
    is_top = re.search(r'id="lookalike\.[A-Z]', html)
    module = r"(?:lookalike\.)?" if is_top else r"lookalike\."
    linked = r'<autoref identifier="lookalike.\2" optional>\1</autoref>'
    return re.sub(rf"(?<!<b>)(<code>{module}([A-Za-z_][\w.]*)</code>)", linked, html)
