"""Categories of the documents of an open index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike._index.maintenance import IndexMaintenance
from lookalike._index.results import Category
from lookalike._progress import Progress, shown

if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["IndexCategories"]


class IndexCategories(IndexMaintenance):
    """The part of :class:`lookalike.Index` that divides its documents into categories."""

    __slots__ = ()

    def categorise(
        self, *, topics: int | None = None, threads: int | None = None, progress: bool | Progress | None = False
    ) -> list[Category]:
        """Makes a tree of categories of the documents, by vocabulary and similarity, in place of the one that there is
        (``docs/reference/categories.md``). A document that is added later has its category at once, and none changes
        its own, until categories are made again.

        :param topics: The most topics, 1 to 1000; an eighth of the square root of the documents by default, 2 to 17.
        :param threads: How many work at a time; one per processor.
        :returns: The categories, as :meth:`categories` gives them.
        :raises StoreError: The index keeps no texts (``store="texts"``), or was opened for reading.
        :raises KeyboardInterrupt: Ctrl-C; the categories are then those of before.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news"), store="texts") as index:
        ...     _ = index.add({f"s{i}": f"ship harbour sails anchor captain voyage {i}" for i in range(5)})
        ...     _ = index.add({f"c{i}": f"cat kitten purrs whiskers mouse paw {i}" for i in range(5)})
        ...     topics = [one for one in index.categorise(topics=2) if one.parent is None]
        ...     _ = index.add({"new": "a captain on a voyage"})
        ...     [one.documents for one in topics], index.category("new") == index.category("s1").split(".")[0]
        ([5, 5], True)
        """
        with shown(progress) as reporter:
            self._stored.categorise({"topics": topics, "threads": threads}, reporter)
        return self.categories()

    def categories(self) -> list[Category]:
        """The categories of the documents, from top to bottom; empty before :meth:`categorise`. Reads the texts of
        documents that were added since."""
        rows = self._stored.categories()
        return [Category(path, parent, level, tuple(label), count) for path, parent, level, label, count in rows]

    def category(self, id: str | UUID) -> str | None:
        """The path of the category of a document; None where it is in none, or there are none.

        :raises DocumentError: There is no such document.
        """
        return self._stored.category(id)
