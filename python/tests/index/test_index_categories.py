"""Categories of the documents of an index."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import lookalike
from lookalike import Category, Index
from lookalike.aio import AsyncIndex
from lookalike.errors import DocumentError, OptionError, StoreError

SHIPS = "ship harbour sails anchor captain voyage mast storm island rope"
CATS = "cat kitten purrs whiskers mouse paw fur sleeps sofa milk"


def docs() -> dict[str, str]:
    ships = {f"ship-{n}": f"{SHIPS} and the long way home {n}" for n in range(6)}
    return {
        **ships,
        **{f"cat-{n}": f"{' '.join(CATS.split()[n % 3 :])} a{n} b{n}" for n in range(6)},
    }


def test_categories_are_made_listed_and_chosen(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", store="texts") as index:
        index.add(docs())
        assert index.categories() == [] and index.category("cat-1") is None
        with pytest.raises(OptionError, match="index.categorise"):
            list(index.ids("1"))
        seen: list[str] = []
        categories = index.categorise(
            topics=2, threads=1, progress=lambda stage, done, total: seen.append(stage)
        )
        assert categories == index.categories() and seen
        topics = [category for category in categories if category.parent is None]
        assert [(category.path, category.level, category.documents) for category in topics] == [
            ("1", 0.2, 6),
            ("2", 0.2, 6),
        ]
        assert all(
            isinstance(category, Category) and isinstance(category.label, tuple)
            for category in categories
        )
        assert {category.parent for category in categories if category.parent} <= {
            category.path for category in categories
        }
        # A new document has a category immediately.
        index.add({"new": "a captain in a harbour", "numbers": "17 18 19"})
        ships = str(index.category("ship-1")).split(".")[0]
        assert index.category("new") == ships and index.category("numbers") is None
        assert list(index.ids(ships)) == [*(f"ship-{n}" for n in range(6)), "new"]
        assert list(index.ids("none")) == ["numbers"]
        assert len(list(index.ids())) == 14
        label = next(category.label for category in topics if category.path == ships)
        assert set(label) & set(SHIPS.split())
        with pytest.raises(OptionError, match="'?none'?|categories"):
            list(index.ids("9"))
        with pytest.raises(DocumentError, match="nobody"):
            index.category("nobody")
        for topic in (0, 1001, "x", True):
            with pytest.raises(OptionError, match="topics"):
                index.categorise(topics=topic)  # type: ignore[arg-type]
    with Index.open(tmp_path / "index", read_only=True) as index:
        assert index.category("new") == ships
        with pytest.raises(StoreError, match="read_only"):
            index.categorise()


def test_categories_require_stored_texts(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", store="sets") as index:
        index.add({"a": "one text"})
        with pytest.raises(StoreError, match='store="texts"'):
            index.categorise()
        assert index.categories() == []


def test_async_categories_equal_index_categories(tmp_path: Path) -> None:
    async def work() -> tuple[list[Category], str | None, list[str]]:
        async with AsyncIndex.create(tmp_path / "async", store="texts") as index:
            await index.add(docs())
            categories = await index.categorise(topics=2)
            path = await index.category("ship-1")
            return categories, path, [id_ async for id_ in index.ids(str(path).split(".")[0])]

    categories, path, ids = asyncio.run(work())
    with lookalike.Index.create(tmp_path / "index", store="texts") as index:
        index.add(docs())
        assert index.categorise(topics=2) == categories and index.category("ship-1") == path
    assert ids == [f"ship-{n}" for n in range(6)]
