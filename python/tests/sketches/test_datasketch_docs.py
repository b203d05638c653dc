"""Checks the tables of docs/guides/datasketch.md and docs/reference/datasketch.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="numpy is not installed")

DOCS = Path(__file__).resolve().parents[3] / "docs"
TEXT = "".join(
    (DOCS / part / "datasketch.md").read_text(encoding="utf-8") for part in ("guides", "reference")
)


def test_values_of_the_schemes() -> None:
    """Checks the table with the values of one token."""
    from lookalike.datasketch import MinHash

    rows = re.findall(r"^\| `(affine32|affine64|legacy)` \| ([\d, ]+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 3
    for scheme, values in rows:
        m = MinHash(4, scheme=scheme)
        m.update(b"lookalike")
        assert m.digest().tolist() == [int(value) for value in values.split(", ")]


def test_documented_datasketch_names_exist() -> None:
    import importlib

    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \| (`.*) \|$", TEXT, re.MULTILINE)
    assert len(rows) >= 8
    for modules, names in rows:
        if "affine" in modules or "legacy" in modules:
            continue
        loaded = [
            importlib.import_module(f"lookalike.datasketch.{module}")
            for module in re.findall(r"`(\w+)`", modules)
        ]
        named = re.findall(r"`(\w+)`", names)
        classes = [name for name in named if name[0].isupper() or name.startswith("b")]
        for name in named:
            owners = [*loaded, *(getattr(m, c) for m in loaded for c in classes if hasattr(m, c))]
            found = any(hasattr(owner, name) for owner in owners)
            assert found or name in ("b", "r", "h", "hashranges"), name
