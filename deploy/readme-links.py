"""Replaces links to other folders of the repository by addresses, for copies of a README elsewhere.

readme-links.py ADDRESS FILE…

ADDRESS is the address of the root of the repository, at one commit.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((\.\./[^)#\s]*)")


def main() -> None:
    """Rewrite the files."""
    address, *names = sys.argv[1:]
    for name in names:
        file = Path(name).resolve()

        def absolute(link: re.Match[str], folder: Path = file.parent) -> str:
            target = Path(os.path.normpath(folder / link[1]))
            if not target.exists():
                sys.exit(f"{link[1]} does not exist in {folder}")
            return f"]({address}/{target.relative_to(ROOT).as_posix()}"

        file.write_bytes(LINK.sub(absolute, file.read_text("utf-8")).encode())


main()
