"""A persistent index of documents, with similarity search."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from numbers import Integral
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias
from uuid import UUID

from lookalike._decisions import decisions_option
from lookalike._documents.files import Files, Paths, split_options
from lookalike._documents.types import Documents
from lookalike._engine import StoredIndex
from lookalike._index.arguments import (
    IndexSettings,
    NewIndexSettings,
    When,
    Where,
    common_and_names,
    conditions,
    count_option,
    expiry,
    folder_path,
    id_option,
    iterator_of,
    limit_option,
    nanoseconds,
    nearest_option,
    number_option,
    rows_of,
    text_columns,
    text_option,
    threshold_option,
)
from lookalike._index.files import add_result, refuse_files
from lookalike._index.results import (
    AddResult,
    Category,
    Document,
    DocumentVersion,
    IndexStats,
    Json,
    Matches,
    OriginalStats,
    Problem,
    RemoveResult,
)
from lookalike._index.tables import as_records, tables_of
from lookalike._options import Reading, Unpack, check_options, with_columns
from lookalike._progress import Progress, reporting
from lookalike._results.find_result import FindResult
from lookalike.errors import OptionError

if TYPE_CHECKING:
    from typing_extensions import Self

Id: TypeAlias = str | int | UUID
"""The id of a document. The index stores it as text, and returns a ``str``."""
OnExisting = Literal["error", "update", "keep"]
"""The action if an added document has the id of an existing document."""

# The maximum number of documents whose ids one call of the engine reads.
_PAGE = 4096


class Index:
    """A persistent index of documents in a folder, with similarity search.

    ``create`` and ``open`` return an index. Use it in a ``with`` statement, or call ``close``.
    Threads may share an index: calls run in parallel without the interpreter's lock. When a call
    returns, its changes are on the disk. One process at a time may open the index for writing, and
    any number of processes for reading. An open index cannot be pickled, so a forked or spawned
    process must open it again.

    Examples:
        >>> import lookalike, tempfile, os
        >>> folder = os.path.join(tempfile.mkdtemp(), "news")
        >>> with lookalike.Index.create(folder, threshold=0.5) as index:
        ...     added = index.add(
        ...         [
        ...             (
        ...                 "a",
        ...                 "the quick brown fox jumps over the lazy dog in the green park today",
        ...             ),
        ...             (
        ...                 "b",
        ...                 "a different text about the weather in the north",
        ...             ),
        ...         ]
        ...     )
        ...     text = "the quick brown fox jumps over the lazy dog in the green park now"
        ...     [(match.id, round(match.similarity, 3)) for match in index.query(text)]
        [('a', 0.818)]
    """

    __slots__ = ("__weakref__", "_stored")
    _stored: StoredIndex

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError(
            "cannot make an Index by calling the class: use lookalike.Index.create(path, …) for a "
            "new index or lookalike.Index.open(path) for an existing one"
        )

    @classmethod
    def _of(cls, stored: StoredIndex) -> Index:
        index = object.__new__(cls)
        index._stored = stored
        return index

    @classmethod
    def create(cls, path: str | os.PathLike[str], **settings: Unpack[NewIndexSettings]) -> Index:
        """Creates an empty index and opens it for writing. Its settings cannot be changed later.

        Args:
            path: The folder to create. It must not exist.
            settings: The settings, each a keyword argument:

                - ``threshold``: the least similarity of matches, unless a query sets another
                  threshold; above 0, at most 1. 0.8 by default.
                - ``recall``: the least predicted share of the documents *at* the threshold that a
                  query finds; above 0, below 1. 0.99 by default.
                - ``measure``: ``jaccard`` (the default) divides the number of shared shingles by
                  the number of distinct shingles of both documents. ``containment`` divides it by
                  the number of shingles of the shorter document, and so finds excerpts of longer
                  texts. It is not available with ``store="signatures"``.
                - ``shingle``: ``words:N`` (``words:5`` by default), ``chars:N`` or ``bytes:N`` with
                  N from 1 to 256, or ``bag``; ``Words(5)`` is ``"words:5"``.
                - ``tokens``: ``words`` (the default), ``word-runs`` (the default with
                  ``segment:dictionary``) or ``whitespace``.
                - ``case``: ``fold`` (the default) ignores case, ``keep`` distinguishes it.
                - ``frequencies``: whether repeats of a shingle count as different shingles.
                - ``stop_words``: the language whose stop words are left out, such as ``en``.
                - ``normalize``: changes to texts (``docs/reference/normalize.md``), one or a list
                  of them. A normal form such as ``fold``; ``language:auto`` leaves out the stop
                  words of each document's language; ``segment:dictionary`` finds the words of
                  scripts without spaces.
                - ``num_hashes``: the number of values in a signature, 1 to 8192; by default chosen
                  for ``threshold`` and ``recall``.
                - ``bands``: the number of bands of a signature, with the same default.
                - ``rows``: the number of rows of a band, with the same default.
                - ``scheme``: ``fss`` (the default), ``multiply-shift``, ``mod-prime``, ``xor`` or
                  ``xor-multiply``.
                - ``seed``: the seed of the hash functions, 0 to ``2**64 - 1``.
                - ``store``: the stored parts of each document besides its signature:
                    - ``signatures``: nothing else. Similarities are estimates, and ``groups`` is
                      not available.
                    - ``sets``: the sets of shingles. Similarities are exact.
                    - ``texts`` (the default): sets and texts.
                    - ``originals``: sets, texts, and the original bytes of each version
                      (``original``, ``versions``).
                - ``max_original``: with ``store="originals"``, the maximum size of an original: a
                  number of bytes or a text such as ``"64MiB"``, up to 512 MiB; 256 MiB by default.
                  The addition of a larger document fails.

        Raises:
            StoreError: The path exists, or the folder cannot be written.
            OptionError: An option has an invalid value.

        Examples:
            >>> import lookalike, tempfile, os
            >>> folder = os.path.join(tempfile.mkdtemp(), "notes")
            >>> with lookalike.Index.create(folder, shingle="chars:7") as index:
            ...     len(index)
            0
        """
        check_options(settings, "Index.create", NewIndexSettings, ())
        return cls._of(
            StoredIndex.create(folder_path(path), {"threshold": 0.8, "recall": 0.99, **settings})
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        wait: float = 5.0,
        **settings: Unpack[IndexSettings],
    ) -> Index:
        """Opens an existing index.

        Args:
            path: The folder of the index.
            read_only: Whether to open the index for reading only. Another process may write
                meanwhile, and each call sees the changes so far.
            wait: The maximum time in seconds to wait until another writer closes the index.
            settings: Expected settings, as for ``create`` but without ``threshold``, ``recall``,
                ``measure`` and ``max_original``. Settings that you leave out are not checked.

        Raises:
            StoreError: The index does not exist, its format has another version, or another writer,
                in this process or another, still has it open after ``wait`` seconds.
            MismatchError: A setting of the index differs from the expected one.

        Examples:
            >>> import lookalike, tempfile, os
            >>> folder = os.path.join(tempfile.mkdtemp(), "news")
            >>> lookalike.Index.create(folder).close()
            >>> with lookalike.Index.open(folder, read_only=True, shingle="words:5") as index:
            ...     index.settings["shingle"]
            'words:5'
        """
        check_options(settings, "Index.open", IndexSettings, ())
        seconds = number_option("wait", wait)
        return cls._of(StoredIndex.open(folder_path(path), bool(read_only), seconds, {**settings}))

    @property
    def engine(self) -> StoredIndex:
        """The object of the engine, for use within the package."""
        return self._stored

    @property
    def name(self) -> str:
        """The path or address of the index."""
        return self._stored.name

    @property
    def read_only(self) -> bool:
        """Whether the index was opened for reading only."""
        return self._stored.read_only

    @property
    def closed(self) -> bool:
        """Whether the index is closed, or was opened by the parent of this forked process."""
        return self._stored.closed

    @property
    def settings(self) -> dict[str, Json]:
        """The settings of the index, by name. The setting ``normalize`` has the name ``wording``.
        ``stop_words`` is the name of the language.

        Also contains ``predicted_recall``, the predicted recall of a query at the threshold. If
        the recall may be lower, ``recall_caveat`` contains the reason.
        """
        text, recall, caveat = self._stored.settings()
        settings: dict[str, Json] = json.loads(text)
        if settings["stop_words"] is not None:
            settings["stop_words"] = settings["stop_words"]["name"]
        settings["predicted_recall"] = recall
        if caveat is not None:
            settings["recall_caveat"] = caveat
        return settings

    def add(
        self,
        docs: Documents,
        *,
        text: str | Sequence[str] | None = None,
        id: str | None = None,
        metadata: Mapping[str, Json] | Sequence[str] | None = None,
        expires: When | None = None,
        on_existing: OnExisting = "error",
        threads: int | None = None,
        progress: bool | Progress | None = False,
    ) -> AddResult:
        """Adds documents in batches of some thousand. If a document cannot be stored, the
        documents before it remain in the index.

        Args:
            docs: Documents with ids, in one of these forms. Iterables and readers of record
                batches may be larger than memory. Use ``add_files`` for files.

                - a dict of texts by id
                - an iterable of ``(id, text)``, ``(id, text, metadata)`` or dicts, such as a
                  streamed Hugging Face dataset
                - a table of pyarrow, pandas, polars, DuckDB or Hugging Face, or any other object
                  with the Arrow PyCapsule interface
            text: The column or member of texts; ``"text"`` by default. If you name several, their
                texts are joined to one text of several paragraphs.
            id: The column or member of ids; ``"id"`` by default. An id is a ``str``, an ``int`` or
                a ``uuid.UUID``; the index stores and returns it as text.
            metadata: A mapping, which becomes the metadata of every document; or a list of members
                or columns whose values become metadata. Values that are None or null are left out.
                A record may lack a member; a member that no record has causes a warning.
            expires: The time at which the documents expire: a ``datetime`` with a zone, or a
                ``timedelta`` from now. None for never.
            on_existing: The action if a document with the same id exists: ``error``, ``update``
                (replaces the existing document), or ``keep`` (keeps the existing document).
            threads: The number of threads, 1 to 1024; None for one per processor.
            progress: ``True`` for bars by tqdm, or a function that takes the stage, the amount done
                and the total, which is None if it is unknown.

        Returns:
            The numbers of added, updated, kept and empty documents.

        Raises:
            DocumentError: A document cannot be stored, or its id exists and ``on_existing`` is
                ``"error"``. ``DocumentError.row`` is its row, from 0.
            StoreError: The index cannot be written, or is closed.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     index.add({"a": "one text", "b": "another"}, metadata={"language": "en"})
            ...     index.add([{"id": 3, "text": "a third", "year": 2024}], metadata=["year"])
            AddResult(added=2, updated=0, kept=0, without_shingles=0, skipped=[])
            AddResult(added=1, updated=0, kept=0, without_shingles=0, skipped=[])
        """
        common, names = common_and_names(metadata)
        fields = (id_option(id), text_columns(text))
        at = expiry(expires)
        threads = count_option("threads", threads, "a whole number from 1")
        existing = text_option("on_existing", on_existing)
        refuse_files(docs)
        columns = [fields[0], *fields[1], *names]
        with reporting(progress) as reporter:
            tables = tables_of(docs, columns)
            if tables is not None:
                counts = self._stored.add_tables(
                    tables, common, names, *fields, at, existing, threads, reporter
                )
                return AddResult(*counts, [])
            rows = rows_of(as_records(docs, columns))
            # The length of another type may be expensive to compute.
            total = len(docs) if isinstance(docs, (list, tuple, dict)) else None
            counts = self._stored.add(
                rows, common, names, *fields, at, existing, threads, reporter, total
            )
            return AddResult(*counts, [])

    def update(
        self,
        docs: Documents,
        *,
        text: str | Sequence[str] | None = None,
        id: str | None = None,
        metadata: Mapping[str, Json] | Sequence[str] | None = None,
        expires: When | None = None,
        threads: int | None = None,
        progress: bool | Progress | None = False,
    ) -> AddResult:
        """Like ``add``, but replaces documents whose ids exist.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     index.update({"a": "one text"})
            ...     index.update({"a": "another text"})
            AddResult(added=1, updated=0, kept=0, without_shingles=0, skipped=[])
            AddResult(added=0, updated=1, kept=0, without_shingles=0, skipped=[])
        """
        return self.add(
            docs,
            text=text,
            id=id,
            metadata=metadata,
            expires=expires,
            on_existing="update",
            threads=threads,
            progress=progress,
        )

    def add_files(
        self,
        paths: Paths,
        *,
        text: str | None = None,
        id: str | None = None,
        metadata: Sequence[str] | None = None,
        expires: When | None = None,
        on_existing: OnExisting = "error",
        threads: int | None = None,
        progress: bool | Progress | None = False,
        **reading: Unpack[Reading],
    ) -> AddResult:
        """Adds the documents of files, as ``lookalike index add`` does. The metadata of a document
        also contains the name of its file, and the metadata of mail, web pages and office files.

        Args:
            paths: A file, a folder, or a pattern such as ``news/*.jsonl``; or several of these.
            text: The field or column of texts; ``"text"`` by default.
            id: The field or column of ids; ``"id"`` by default. With ``":line"``, the id of a
                record is FILE:LINE.
            metadata: Names of fields whose values become metadata.
            expires: As for ``add``.
            on_existing: As for ``add``.
            threads: As for ``add``.
            progress: As for ``add``.
            reading: Options of ``Files``, and the options ``skip_bad`` and ``unit``.
                ``lookalike.OPTIONS`` describes them.

        Returns:
            The numbers of added, updated, kept and empty documents, and the skipped records.

        Raises:
            FileError: A file does not exist or cannot be read.
            DocumentError: A document cannot be stored. The documents before it remain in the
                index.
            StoreError: The index cannot be written, or is closed.

        Examples:
            >>> import lookalike, pathlib, tempfile
            >>> folder = pathlib.Path(tempfile.mkdtemp())
            >>> _ = (folder / "a.txt").write_text("one text")
            >>> with lookalike.Index.create(folder / "index") as index:
            ...     index.add_files(folder, include="*.txt").added, list(index.ids())
            (1, ['a.txt'])
        """
        check_options(reading, "Index.add_files", Reading, ())
        options, others = split_options(reading)
        common, names = common_and_names(metadata)
        if common is not None:
            raise OptionError(
                "metadata is a mapping, expected names of fields: documents of files have the "
                "metadata of their files"
            )
        files = Files(paths, **options)
        at = expiry(expires)
        threads = count_option("threads", threads, "a whole number from 1")
        existing = text_option("on_existing", on_existing)
        text = None if text is None else text_option("text", text)
        id = None if id is None else text_option("id", id)
        columns = with_columns({**options, **others}, text, id)
        with reporting(progress) as reporter:
            return add_result(
                *self._stored.add_files(
                    files.find(), names, at, existing, threads, columns, reporter
                )
            )

    def add_one(
        self,
        id: Id,
        text: str,
        metadata: Mapping[str, Json] | None = None,
        *,
        modified: datetime | None = None,
        expires: When | None = None,
        on_existing: OnExisting = "error",
    ) -> AddResult:
        """Adds one document. For several documents, ``add`` is faster, because each call waits for
        the disk.

        Args:
            id: The id of the document, 1 to 16,384 bytes without NUL. An ``int`` or a
                ``uuid.UUID`` is stored as text.
            text: The text of the document, at most 1 GiB in UTF-8.
            metadata: The metadata of the document: a mapping from names to any values of JSON, at
                most 1 MiB as JSON.
            modified: The time of the last change of the document's file, a ``datetime`` with a
                zone.
            expires: As for ``add``.
            on_existing: As for ``add``.

        Returns:
            The numbers of added, updated, kept and empty documents.

        Raises:
            DocumentError: The document cannot be stored, or its id exists and ``on_existing`` is
                ``"error"``.
            StoreError: The index cannot be written, or is closed.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     _ = index.add_one("a", "one text", {"tags": ["short", "new"]})
            ...     index.get("a").metadata
            {'tags': ['short', 'new']}
        """
        changed = None if modified is None else nanoseconds("modified", modified)
        at = expiry(expires)
        existing = text_option("on_existing", on_existing)
        return AddResult(*self._stored.add_one(id, text, metadata, changed, at, existing), [])

    def remove(self, ids: Id | Iterable[Id]) -> RemoveResult:
        """Removes documents by their ids. Ignores unknown ids.

        Args:
            ids: One id, or an iterable of ids.

        Returns:
            The number of removed documents, and the unknown ids.

        Raises:
            StoreError: The index cannot be written, or is closed.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     _ = index.add({"a": "one text", "b": "another"})
            ...     index.remove(["a", "c"])
            RemoveResult(removed=1, absent=['c'])
        """
        is_single = isinstance(ids, (str, Integral)) or type(ids).__name__ == "UUID"
        removed = iter((ids,)) if is_single else iterator_of("ids", ids, "str or int")
        return RemoveResult._make(self._stored.remove(removed))

    def query(
        self,
        text: str | None = None,
        *,
        id: Id | None = None,
        limit: int | None = 10,
        threshold: float | None = None,
        nearest: int | None = None,
        where: Where | None = None,
        with_texts: bool = False,
    ) -> Matches:
        """Finds documents similar to a text or to a document of the index.

        Args:
            text: The text of the query.
            id: Instead of a text, the id of a document of the index. The document itself is not
                among the matches.
            limit: The maximum number of matches to return; None for all.
            threshold: The least similarity of a match; above 0, at most 1. None for the threshold
                of the index. A query with a lower threshold misses more documents;
                ``Matches.predicted_recall`` estimates the found share.
            nearest: Instead of ``limit`` and ``threshold``, the number of most similar documents
                to return, with any similarity above 0. Compares the signatures of all documents,
                and keeps one byte in memory for each of their values. Not available in an index
                with ``measure="containment"``.
            where: Conditions on metadata that all matches meet. A mapping from members to values
                requires equal values. Instead of a value, it may contain a pair of an operator
                (``= != < <= > >= ~``) and a value. A text is a condition of the command line, such
                as ``"year>=2020"``, ``"title~budget"`` or ``"author.name"`` (the member exists).
            with_texts: Whether matches contain their texts; needs an index with ``store="texts"``
                or ``"originals"``.

        Returns:
            The matches by descending similarity, then by id.

        Raises:
            OptionError: An option has an invalid value, or not exactly one of ``text`` and ``id``
                is passed.
            DocumentError: ``text`` is not a ``str`` of valid Unicode, or no document has this id.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     _ = index.add(
            ...         [
            ...             ("a", "a text of some words", {"year": 2019}),
            ...             ("b", "a text of some words", {"year": 2024}),
            ...         ]
            ...     )
            ...     [match.id for match in index.query("A text of some words.")]
            ...     late = {"year": (">", 2020)}
            ...     [match.id for match in index.query("A text of some words.", where=late)]
            ...     [match.id for match in index.query(id="b")]
            ...     [
            ...         match.id
            ...         for match in index.query("a text of some words and more", nearest=1)
            ...     ]
            ['a', 'b']
            ['b']
            ['a']
            ['a']
        """
        if text is not None and id is not None:
            raise OptionError("cannot query with both a text and an id: leave one of them out")
        return Matches.of_rows(
            *self._stored.query(
                text,
                id,
                limit_option(limit),
                threshold_option(threshold),
                nearest_option(nearest, limit, threshold),
                conditions(where),
                bool(with_texts),
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
        """Finds documents similar to each of several texts, on several threads.

        See ``query`` for the other parameters and the errors.

        Args:
            texts: The texts of the queries.
            with_texts: Whether matches contain their texts.
            threads: The number of threads, 1 to 1024; None for one per processor.

        Returns:
            The matches of each text, in the order of the texts.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     _ = index.add({"a": "a text of some words", "b": "another one"})
            ...     answers = index.query_many(["another one", "neither of them"], threads=2)
            ...     [[match.id for match in matches] for matches in answers]
            [['b'], []]
        """
        threads = count_option("threads", threads, "a whole number from 1")
        if isinstance(texts, str):
            raise OptionError(
                "texts is one str, expected several in a list: use query for a single text"
            )
        answers = self._stored.query_many(
            iterator_of("texts", texts, "str"),
            limit_option(limit),
            threshold_option(threshold),
            nearest_option(nearest, limit, threshold),
            conditions(where),
            bool(with_texts),
            threads,
        )
        return [Matches.of_rows(*answer) for answer in answers]

    def get(self, id: Id) -> Document | None:
        """Returns the document with this id, or None if it does not exist or has expired.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     _ = index.add_one("a", "one text", {"language": "en"})
            ...     index.get("a").metadata, index.get("b")
            ({'language': 'en'}, None)
        """
        row = self._stored.get(id)
        return None if row is None else Document._make(row)

    def group_sizes(self, ids: Iterable[Id]) -> list[int]:
        """Returns the number of documents that each document represents: itself and its duplicates
        that ``dedup(…, add=True)`` removed (``docs/guides/dedup.md``). You can use these numbers as
        weights of a corpus.

        Args:
            ids: The ids of documents.

        Returns:
            The numbers in the order of the ids, all at the same moment; 0 for an unknown id.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     docs = {
            ...         "a": "the same old story again today",
            ...         "b": "The same old story, again today!",
            ...         "c": "some news",
            ...     }
            ...     kept = lookalike.dedup(docs, reference=index, add=True)
            ...     list(kept), index.group_sizes(kept)
            (['b', 'c'], [2, 1])
        """
        return self._stored.group_sizes(iterator_of("ids", ids, "str or int"))

    def ids(self, category: str | None = None) -> Iterator[str]:
        """Yields the ids of all documents that have not expired, in the order of insertion. If a
        document was replaced, its last insertion counts. Includes documents that are added during
        the iteration.

        Args:
            category: The path of a category: yields only documents of this category and of the
                categories below it. ``"none"`` yields documents without a category.

        Raises:
            OptionError: The category does not exist.

        Examples:
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
        """Finds near-duplicates among the documents of the index. Returns the same result as
        ``lookalike.find`` on these documents.

        See ``lookalike.find`` for the other parameters.

        Args:
            threshold: The least exact similarity of a reported pair; None for the threshold of the
                index.
            recall: The minimum predicted share of the pairs at the threshold that the run finds.
            measure: ``jaccard`` or ``containment``; None for the measure of the index.
            keep: The rule that selects the kept document of a group: ``longest``, ``shortest``,
                ``first``, ``last`` (inserted), ``newest``, ``oldest``, ``field:NAME`` of metadata,
                ``path:GLOB`` of ids. In a list, later rules decide ties.
            pairs: Whether to list all verified pairs.
            estimates: Whether each pair also has the similarity that its signatures estimate, in
                ``estimated_jaccard``, ``error`` and ``standard_error``; needs ``pairs=True``.
            source_field: A member of metadata. The result counts documents by its value.
            decisions: User decisions, as for ``lookalike.find``. None uses the decisions that the
                index stores, False uses none.

        Raises:
            StoreError: The index stores only signatures.
            KeyboardInterrupt: You pressed Ctrl-C. The work has stopped.

        Warns:
            RunawayWarning: Many documents share bucket keys without being similar, so that the run
                takes long.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     _ = index.add(
            ...         {"a": "some few words", "b": "Some few words!", "c": "another text"}
            ...     )
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
        with reporting(progress) as reporter:
            return FindResult(self._stored.groups(options, reporter))

    def categorise(
        self,
        *,
        topics: int | None = None,
        threads: int | None = None,
        progress: bool | Progress | None = False,
    ) -> list[Category]:
        """Divides the documents into a tree of categories by vocabulary and similarity
        (``docs/reference/categories.md``). Replaces the earlier tree. Documents added later
        receive a category at once. No document changes its category until the next call.

        Args:
            topics: The maximum number of topics, 1 to 1000. By default an eighth of the square
                root of the number of documents, at least 2 and at most 17.
            threads: The number of threads; None for one per processor.
            progress: As for ``add``.

        Returns:
            The result of ``categories``.

        Raises:
            StoreError: The index stores no texts (``store="texts"`` or ``"originals"``), or was
                opened for reading only.
            KeyboardInterrupt: You pressed Ctrl-C. The earlier categories remain.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(
            ...     os.path.join(tempfile.mkdtemp(), "news"), store="texts"
            ... ) as index:
            ...     _ = index.add(
            ...         {
            ...             f"s{i}": f"ship harbour sails anchor captain voyage {i}"
            ...             for i in range(5)
            ...         }
            ...     )
            ...     _ = index.add(
            ...         {f"c{i}": f"cat kitten purrs whiskers mouse paw {i}" for i in range(5)}
            ...     )
            ...     topics = [one for one in index.categorise(topics=2) if one.parent is None]
            ...     _ = index.add({"new": "a captain on a voyage"})
            ...     (
            ...         [one.documents for one in topics],
            ...         index.category("new") == index.category("s1").split(".")[0],
            ...     )
            ([5, 5], True)
        """
        with reporting(progress) as reporter:
            self._stored.categorise({"topics": topics, "threads": threads}, reporter)
        return self.categories()

    def categories(self) -> list[Category]:
        """Returns the categories from the top of the tree to the bottom; an empty list before the
        first ``categorise``. Reads the texts of documents that were added after ``categorise``.
        """
        rows = self._stored.categories()
        return [
            Category(path, parent, level, tuple(label), count)
            for path, parent, level, label, count in rows
        ]

    def category(self, id: Id) -> str | None:
        """Returns the path of a document's category, or None if the document has no category.

        Raises:
            DocumentError: No document has this id.
        """
        return self._stored.category(id)

    def versions(self, id: Id) -> list[DocumentVersion]:
        """Returns the versions of a document by time. The last version is the current one. An
        update with the same original adds no version.

        Raises:
            DocumentError: No document has this id.
            StoreError: The index stores no originals (``store="originals"``).

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(
            ...     os.path.join(tempfile.mkdtemp(), "notes"), store="originals"
            ... ) as index:
            ...     _ = index.add({"a": "the first text"})
            ...     _ = index.update({"a": "another text"})
            ...     [(one.version, one.bytes, one.ended is None) for one in index.versions("a")]
            ...     index.original("a", version=1), index.version_text("a", 1)
            [(1, 14, False), (2, 12, True)]
            (b'the first text', 'the first text')
        """
        return [DocumentVersion._make(row) for row in self._stored.versions(id)]

    def original(self, id: Id, version: int | None = None) -> bytes:
        """Returns the original of a document, and verifies its SHA-256. The original is a file
        without its compression, a record in the bytes of its input, or an added text in UTF-8.

        Args:
            version: The number of a version, from 1; None for the current one.

        Raises:
            DocumentError: No document has this id.
            OptionError: The document has no such version.
            StoreError: The index stores no originals (``store="originals"``).
            DamagedError: The stored bytes are damaged.
        """
        return self._stored.original(id, _version_option(version))

    def version_text(self, id: Id, version: int | None = None) -> str | None:
        """Returns the text of a version, which ``lookalike.compare`` takes; None if the version
        was stored without a text. Has the parameters and errors of ``original``.
        """
        return self._stored.version_text(id, _version_option(version))

    def stats(self) -> IndexStats:
        """Returns counts and sizes of the index.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     _ = index.add({"a": "one text", "b": "..."})
            ...     index.stats().documents, index.stats().without_shingles
            (2, 1)
        """
        counts, originals = self._stored.stats()
        return IndexStats._make(
            [*counts, None if originals is None else OriginalStats._make(originals)]
        )

    def check(self) -> list[Problem]:
        """Checks all stored data without changing it. Returns the problems; none if the index is
        intact.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     index.check()
            []
        """
        return [Problem._make(row) for row in self._stored.check()]

    def repair(self) -> list[Problem]:
        """Rebuilds all data that can be derived from the stored documents and signatures. Returns
        the remaining problems, for which you need a backup.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     index.repair()
            []
        """
        self._stored.repair()
        return self.check()

    def compact(self) -> None:
        """Removes expired documents, frees the disk space of removed documents, and merges all
        segments into one, which makes queries fastest. After Ctrl-C, the work continues in the
        background until it is done or the process ends. No document is lost.

        Examples:
            >>> import lookalike, tempfile, os
            >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
            ...     index.compact()
        """
        self._stored.compact()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies a snapshot of the index to a new folder. The index may be in use meanwhile.

        Args:
            path: The folder to create. It must not exist.

        Raises:
            StoreError: The path exists, or the folder cannot be written.

        Examples:
            >>> import lookalike, tempfile, os
            >>> folder = tempfile.mkdtemp()
            >>> with lookalike.Index.create(os.path.join(folder, "news")) as index:
            ...     index.backup(os.path.join(folder, "copy"))
            >>> lookalike.Index.open(os.path.join(folder, "copy"), read_only=True).close()
        """
        self._stored.backup(folder_path(path))

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes a JSON line for each document: id, bytes, metadata, times, and the text if it is
        stored. The file appears only when it is complete.

        Args:
            path: The file: ``FILE.jsonl``, or compressed ``FILE.jsonl.gz`` or ``FILE.jsonl.zst``.

        Returns:
            The number of written documents.

        Raises:
            FileError: The file cannot be written.

        Examples:
            >>> import lookalike, tempfile, os
            >>> folder = tempfile.mkdtemp()
            >>> with lookalike.Index.create(os.path.join(folder, "news")) as index:
            ...     _ = index.add({"a": "one text", "b": "another"})
            ...     index.export(os.path.join(folder, "news.jsonl"))
            2
        """
        return self._stored.export(folder_path(path))

    def close(self) -> None:
        """Closes the index. New calls fail at once, and ``close`` waits for running calls of other
        threads and for running merges of segments. These take longer after larger additions.
        Closing a closed index does nothing.

        If your code calls ``close`` within a call of the index (in an iterable that is added, or
        in ``progress``), ``close`` does not wait. The index then closes when the last call has
        ended, even if that call continues after Ctrl-C.

        Raises:
            KeyboardInterrupt: You pressed Ctrl-C while ``close`` waited. The other calls continue.
        """
        self._stored.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __contains__(self, id: object) -> bool:
        """Tells whether a document with this id exists and has not expired."""
        return self._stored.contains(id)

    def __len__(self) -> int:
        """Returns the number of documents. Expired documents count until ``compact``."""
        return self._stored.len()

    def __bool__(self) -> bool:
        """Returns true, even for an index without documents."""
        return True

    def __repr__(self) -> str:
        if self.closed:
            return f"<lookalike.Index {self.name!r}, closed>"
        return f"<lookalike.Index {self.name!r}, {'reading' if self.read_only else 'writing'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self.name}: an open index cannot be pickled or copied: pass its path to the other "
            "process and open it there with lookalike.Index.open(path, read_only=True)"
        )


def _version_option(version: object) -> int | None:
    return count_option("version", version, "a whole number from 1")
