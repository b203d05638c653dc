"""Look-ups in an open index: similar documents, groups, documents by their ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from lookalike._decisions import decisions_option
from lookalike._results.find_result import FindResult
from lookalike._index.arguments import (
    Where,
    conditions,
    count_option,
    folder_path,
    iterator_of,
    limit_option,
    nearest_option,
    text_option,
    threshold_option,
)
from lookalike._index.originals import IndexOriginals
from lookalike._index.results import Document, Matches, matches
from lookalike._progress import Progress, shown
from lookalike.errors import OptionError

if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["IndexQueries"]

_PAGE = 4096


class IndexQueries(IndexOriginals):
    """The part of :class:`lookalike.Index` that answers what is in it, and what is similar."""

    __slots__ = ()

    def query(
        self,
        text: str | None = None,
        *,
        id: str | UUID | None = None,
        limit: int | None = 10,
        threshold: float | None = None,
        nearest: int | None = None,
        where: Where | None = None,
        texts: bool = False,
    ) -> Matches:
        """Finds documents similar to a text, or to a document of the index; by descending similarity, then by id.

        :param text: The text, prepared as those of the index were.
        :param id: Instead of a text, the id of a document of the index; it does not find itself.
        :param limit: How many matches are given at most; None for all.
        :param threshold: The least similarity; above 0, at most 1. None for that of the index; a
            lower one may be asked for, and misses more (``predicted_recall`` says how much).
        :param nearest: Instead of ``limit`` and ``threshold``: the number of most similar documents
            that are wanted, whatever their similarity, as long as it is above 0. The signatures of
            all documents are compared, which takes a byte of memory for each of their values.
        :param where: Conditions on metadata that all matches meet: a mapping of members to values
            (equal), or to pairs of an operator (``= != < <= > >= ~``) and a value; or texts as the
            command line takes them, such as ``"year>=2020"``, ``"title~budget"``, ``"author.name"``
            (is there).
        :param texts: Whether matches have their texts, which takes an index with
            ``store="texts"`` or ``"originals"``.
        :raises OptionError: An option cannot be what was given.
        :raises DocumentError: The text cannot be used, or there is no document with this id.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add([("a", "a text of some words", {"year": 2019}),
        ...                    ("b", "a text of some words", {"year": 2024})])
        ...     [match.id for match in index.query("A text of some words.")]
        ...     late = {"year": (">", 2020)}
        ...     [match.id for match in index.query("A text of some words.", where=late)]
        ...     [match.id for match in index.query(id="b")]
        ...     [match.id for match in index.query("a text of some words and more", nearest=1)]
        ['a', 'b']
        ['b']
        ['a']
        ['a']
        """
        if text is not None and id is not None:
            raise OptionError("a text and an id were both given, expected one of them")
        return matches(
            self._stored.query(
                text,
                id,
                limit_option(limit),
                threshold_option(threshold),
                nearest_option(nearest, limit, threshold),
                conditions(where),
                bool(texts),
            )
        )

    def query_many(
        self,
        texts: Iterable[str],
        *,
        limit: int | None = 10,
        threshold: float | None = None,
        nearest: int | None = None,
        where: Where | None = None,
        with_texts: bool = False,
        threads: int | None = None,
    ) -> list[Matches]:
        """Finds documents similar to each of several texts: :meth:`query` for each, on several threads.

        :param texts: The texts.
        :param with_texts: Whether matches have their texts.
        :param threads: Threads to use, 1024 at most; None for one per processor.
        :returns: Matches of each text, in the order of the texts.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add({"a": "a text of some words", "b": "another one"})
        ...     found = index.query_many(["another one", "neither of them"], threads=2)
        ...     [[match.id for match in matches] for matches in found]
        [['b'], []]
        """
        threads = count_option("threads", threads, "a whole number from 1")
        if isinstance(texts, str):
            raise OptionError(
                "texts is one str, expected several in a list: query asks for a single one"
            )
        found = self._stored.query_many(
            iterator_of("texts", texts, "str"),
            limit_option(limit),
            threshold_option(threshold),
            nearest_option(nearest, limit, threshold),
            conditions(where),
            bool(with_texts),
            threads,
        )
        return [matches(one) for one in found]

    def get(self, id: str | UUID) -> Document | None:
        """The document with this id; None where there is none, or it has expired.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add_one("a", "one text", {"language": "en"})
        ...     index.get("a").metadata, index.get("b")
        ({'language': 'en'}, None)
        """
        row = self._stored.get(id)
        return None if row is None else Document._make(row)

    def group_sizes(self, ids: Iterable[str | UUID]) -> list[int]:
        """How many documents each of these represents: itself, and those that ``dedup(…, add=True)`` recorded as its
        duplicates (``docs/dedup.md``), so that a corpus can be weighted by it.

        :param ids: Ids of documents.
        :returns: The sizes in the order of the ids, all of one moment; 0 for an id of no document.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     docs = {"a": "the same old story again today", "b": "The same old story, again today!", "c": "some news"}
        ...     kept = lookalike.dedup(docs, reference=index, add=True)
        ...     list(kept), index.group_sizes(kept)
        (['b', 'c'], [2, 1])
        """
        return self._stored.group_sizes(iterator_of("ids", ids, "str"))

    def ids(self, category: str | None = None) -> Iterator[str]:
        """Ids of all documents that have not expired, in the order in which they were put (one
        that was replaced counts again). Documents that are added meanwhile are among them.

        :param category: Only those of the category with this path and below it; ``"none"`` for those in none.
        :raises OptionError: There is no such category.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add({"b": "one text", "a": "another"})
        ...     list(index.ids())
        ['b', 'a']
        """
        after = 0
        while (page := self._page(category, after)) is not None:
            ids, after = page
            yield from ids

    def _page(self, category: str | None, after: int) -> tuple[list[str], int] | None:
        if category is None:
            return self._stored.ids(after, _PAGE)
        return self._stored.category_ids(text_option("category", category), after, _PAGE)

    def groups(
        self,
        *,
        threshold: float | None = None,
        recall: float | None = None,
        measure: Literal["jaccard", "containment"] | None = None,
        exact: bool = False,
        keep: str | Sequence[str] = "longest",
        group: Literal["stars", "components"] = "stars",
        pairs: bool = False,
        estimates: bool = False,
        source_field: str | None = None,
        decisions: Any = None,
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: bool | Progress | None = False,
    ) -> FindResult:
        """Near-duplicates among the documents of the index: what :func:`lookalike.find` finds in
        the same documents, after any history of changes.

        :param threshold: The least exact similarity of a reported pair; None for the index's.
        :param recall: The least predicted share of the pairs at the threshold that are found.
        :param measure: ``jaccard`` or ``containment``; None for the index's.
        :param keep: Which document of a group stays: ``longest``, ``shortest``, ``first``,
            ``last`` (put), ``newest``, ``oldest``, ``field:NAME`` of metadata, ``path:GLOB`` of
            ids; several decide in turn.
        :param pairs: Whether all verified pairs are listed, too.
        :param estimates: Whether the pairs have ``estimated_jaccard``, ``error`` and
            ``standard_error`` of their signatures; needs ``pairs=True``.
        :param source_field: The member of metadata whose value documents are counted under.
        :param decisions: What people decided, as :func:`lookalike.find` takes it; None for the decisions that the
            index keeps, False for none.
        :raises StoreError: The index keeps signatures only.
        :raises KeyboardInterrupt: Ctrl-C, when the work has stopped.
        :warns RunawayWarning: Many documents look alike without being similar, which takes long.

        Other parameters are those of :func:`lookalike.find`.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add({"a": "some few words", "b": "Some few words!", "c": "another text"})
        ...     [(group.keeper, group.duplicates) for group in index.groups()]
        [('b', (Member(id='a', similarity=1.0),))]
        """
        options = {
            "threshold": threshold,
            "recall": recall,
            "measure": measure,
            "exact": exact,
            "keep": keep,
            "group": group,
            "pairs": pairs,
            "estimates": estimates,
            "source_field": source_field,
            "decisions": None if decisions is False else decisions_option(decisions),
            "own_decisions": decisions is None,
            "memory": memory,
            "temp_dir": None if temp_dir is None else folder_path(temp_dir),
            "threads": threads,
        }
        with shown(progress) as reporter:
            return FindResult(self._stored.groups(options, reporter))

    def __contains__(self, id: object) -> bool:
        """Whether there is a document with this id that has not expired."""
        return self._stored.contains(id)

    def __len__(self) -> int:
        """How many documents there are; expired ones count until :meth:`compact`."""
        return self._stored.len()
