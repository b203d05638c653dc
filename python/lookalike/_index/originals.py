"""What the documents of an open index were read from, and their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike._index.arguments import count_option
from lookalike._index.categories import IndexCategories
from lookalike._index.results import DocumentVersion

if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["IndexOriginals"]


class IndexOriginals(IndexCategories):
    """The part of :class:`lookalike.Index` that gives back what documents were read from."""

    __slots__ = ()

    def versions(self, id: str | UUID) -> list[DocumentVersion]:
        """The versions of a document, by time; the last one is the current one. A document that is replaced by one
        with the same original goes on as the same version.

        :raises DocumentError: There is no such document.
        :raises StoreError: The index keeps no originals (``store="originals"``).

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "notes"), store="originals") as index:
        ...     _ = index.add({"a": "the first text"})
        ...     _ = index.update({"a": "another text"})
        ...     [(one.version, one.bytes, one.ended is None) for one in index.versions("a")]
        ...     index.original("a", version=1), index.version_text("a", 1)
        [(1, 14, False), (2, 12, True)]
        (b'the first text', 'the first text')
        """
        return [DocumentVersion._make(row) for row in self._stored.versions(id)]

    def original(self, id: str | UUID, version: int | None = None) -> bytes:
        """What a document was read from, byte for byte: a file without its compression, a record as it is in its
        input; of a document that was added as a text, the text in UTF-8. Its SHA-256 is verified.

        :param version: Which of its versions, from 1; None for the current one.
        :raises DocumentError: There is no such document.
        :raises OptionError: There is no such version.
        :raises StoreError: The index keeps no originals (``store="originals"``).
        :raises DamagedError: The original is not what was stored.
        """
        return self._stored.original(id, _number(version))

    def version_text(self, id: str | UUID, version: int | None = None) -> str | None:
        """The text of a version of a document, for :func:`lookalike.compare`; None if it was stored without one.

        :param version: Which of its versions, from 1; None for the current one.
        :raises DocumentError: There is no such document.
        :raises OptionError: There is no such version.
        :raises StoreError: The index keeps no originals (``store="originals"``).
        """
        return self._stored.version_text(id, _number(version))


def _number(version: object) -> int | None:
    return count_option("version", version, "a whole number from 1")
