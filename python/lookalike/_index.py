"""A persistent index of documents, with similarity search."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from lookalike._engine import StoredIndex
from lookalike._decisions import decisions_option
from lookalike._found import Found
from lookalike._index_arguments import (
    When,
    Where,
    common_and_names,
    conditions,
    count_option,
    expiry,
    folder_path,
    iterator_of,
    limit_option,
    nanoseconds,
    number_option,
    rows_of,
    text_option,
    nearest_option,
    threshold_option,
)
from lookalike._index_files import added, fields_of, files_of, refuse_reading
from lookalike._index_originals import IndexOriginals
from lookalike._index_tables import as_records, tables_of
from lookalike._index_types import (
    Added,
    Document,
    Json,
    Matches,
    Removed,
    matches,
)
from lookalike._options import Reading, Unpack, check_options
from lookalike._progress import Progress, shown
from lookalike.errors import OptionError

if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["Index"]

#: The action for a document whose id exists.
OnExisting = Literal["error", "update", "keep"]

_PAGE = 4096


class Index(IndexOriginals):
    """A persistent index of documents in a folder, with similarity search.

    Made by :meth:`create` and :meth:`open`. Use it in a ``with`` statement, or :meth:`close` it.
    Any thread may call it; calls run in parallel without the interpreter's lock, and what is
    written is on the disk when a call returns. One process at a time may have it open for writing,
    any number for reading. A process forked from this one has to open it again; so has one that is
    spawned, since an open index cannot be pickled.

    >>> import lookalike, tempfile, os
    >>> folder = os.path.join(tempfile.mkdtemp(), "news")
    >>> with lookalike.Index.create(folder, threshold=0.5) as index:
    ...     added = index.add([
    ...         ("a", "the quick brown fox jumps over the lazy dog in the green park today"),
    ...         ("b", "an entirely different text about the weather in the north of the country"),
    ...     ])
    ...     text = "the quick brown fox jumps over the lazy dog in the green park now"
    ...     [(match.id, round(match.similarity, 3)) for match in index.query(text)]
    [('a', 0.818)]
    """

    __slots__ = ("__weakref__",)

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError(
            "an Index is not made by calling the class, expected lookalike.Index.create(path, …) "
            "for a new one or lookalike.Index.open(path) for one that is there"
        )

    @classmethod
    def _of(cls, stored: StoredIndex) -> Index:
        index = object.__new__(cls)
        index._stored = stored
        return index

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        threshold: float = 0.8,
        recall: float = 0.99,
        measure: Literal["jaccard", "containment"] = "jaccard",
        shingle: str = "words:5",
        tokens: str | None = None,
        case: str = "fold",
        frequencies: bool = False,
        stop_words: str | None = None,
        normalize: Literal["nfc", "nfkc", "fold", "unaccent"] | None = None,
        language: Literal["auto"] | None = None,
        segment: Literal["dictionary"] | None = None,
        num_hashes: int | None = None,
        bands: int | None = None,
        rows: int | None = None,
        scheme: str = "fss",
        seed: int | None = None,
        store: Literal["signatures", "sets", "texts", "originals"] = "sets",
        max_original: int | str | None = None,
    ) -> Index:
        """Creates an empty index and opens it for writing. Its settings cannot be changed later.

        :param path: A folder that is not there yet.
        :param threshold: The least similarity that queries ask for unless they name another;
            above 0, at most 1.
        :param recall: The least predicted share of the documents *at* the threshold that are
            found; above 0, below 1.
        :param measure: What the threshold is a threshold of: ``jaccard``, shared shingles among all
            of both; ``containment``, among those of the shorter one, which finds what is copied
            from longer texts, and needs another ``store`` than ``signatures``.
        :param shingle: ``words:N``, ``chars:N`` or ``bytes:N`` with N from 1 to 256, or ``bag``.
        :param tokens: ``words`` (the default), ``word-runs`` (the default with ``segment``) or
            ``whitespace``.
        :param case: ``fold`` reads upper case as lower case, ``keep`` distinguishes them.
        :param frequencies: Whether repeats of a shingle count.
        :param stop_words: The language whose stop words are left out, such as ``en``.
        :param normalize: The normal form that texts are brought to (``docs/reference/normalize.md``); None for
            none.
        :param language: ``auto`` leaves out the stop words of each document's own language.
        :param segment: ``dictionary`` finds the words of scripts written without spaces.
        :param num_hashes: Values in a signature, 1 to 8192; chosen for threshold and recall.
        :param bands: Bands of a signature; chosen.
        :param rows: Rows of a band; chosen.
        :param scheme: ``fss``, ``multiply-shift``, ``mod-prime``, ``xor`` or ``xor-multiply``.
        :param seed: Draws the hash functions; 0 to 2**64 - 1.
        :param store: What is stored of each document in addition to its signature: ``signatures`` (nothing:
            similarities are estimates, there are no groups), ``sets`` of shingles (similarities
            are exact), sets and ``texts``, or these and the ``originals`` that they were read from, of
            each version (:meth:`original`, :meth:`versions`).
        :param max_original: With ``store="originals"``: the most bytes of an original, a number or a text such as
            ``"64MiB"``, up to 512 MiB; None for 256 MiB. A document with more is an error.
        :raises StoreError: There is something at the path, or it cannot be written.
        :raises OptionError: An option cannot be what was given.

        >>> import lookalike, tempfile, os
        >>> folder = os.path.join(tempfile.mkdtemp(), "notes")
        >>> with lookalike.Index.create(folder, shingle="chars:7", store="texts") as index:
        ...     len(index)
        0
        """
        options = {
            "threshold": threshold,
            "recall": recall,
            "measure": measure,
            "shingle": shingle,
            "tokens": tokens,
            "case": case,
            "frequencies": frequencies,
            "stop_words": stop_words,
            "normalize": normalize,
            "language": language,
            "segment": segment,
            "num_hashes": num_hashes,
            "bands": bands,
            "rows": rows,
            "scheme": scheme,
            "seed": seed,
            "store": store,
            "max_original": max_original,
        }
        return cls._of(StoredIndex.create(folder_path(path), options))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        wait: float = 5.0,
        shingle: str | None = None,
        tokens: str | None = None,
        case: str | None = None,
        frequencies: bool | None = None,
        stop_words: str | None = None,
        normalize: Literal["nfc", "nfkc", "fold", "unaccent"] | None = None,
        language: Literal["auto"] | None = None,
        segment: Literal["dictionary"] | None = None,
        num_hashes: int | None = None,
        bands: int | None = None,
        rows: int | None = None,
        scheme: str | None = None,
        seed: int | None = None,
        store: Literal["signatures", "sets", "texts", "originals"] | None = None,
    ) -> Index:
        """Opens an existing index.

        It has the settings it was made with (:attr:`settings`); those named here are compared
        with them, the others are not.

        :param path: Its folder.
        :param read_only: Whether nothing is written; others may write meanwhile, and each call
            sees what is there then.
        :param wait: Seconds that another writer is waited for.
        :raises StoreError: There is no index, it is of another version, or it is open for writing
            already, in this process or another.
        :raises MismatchError: It was made with other settings than those named.

        >>> import lookalike, tempfile, os
        >>> folder = os.path.join(tempfile.mkdtemp(), "news")
        >>> lookalike.Index.create(folder).close()
        >>> with lookalike.Index.open(folder, read_only=True, shingle="words:5") as index:
        ...     index.settings["shingle"]
        'words:5'
        """
        options = {
            "shingle": shingle,
            "tokens": tokens,
            "case": case,
            "frequencies": frequencies,
            "stop_words": stop_words,
            "normalize": normalize,
            "language": language,
            "segment": segment,
            "num_hashes": num_hashes,
            "bands": bands,
            "rows": rows,
            "scheme": scheme,
            "seed": seed,
            "store": store,
        }
        seconds = number_option("wait", wait)
        return cls._of(StoredIndex.open(folder_path(path), bool(read_only), seconds, options))

    def add(
        self,
        documents: Any,
        *,
        metadata: Mapping[str, Json] | Sequence[str] | None = None,
        expires: When | None = None,
        on_existing: OnExisting = "error",
        id_field: str = "id",
        text_field: str = "text",
        threads: int | None = None,
        progress: bool | Progress | None = False,
        **reading: Unpack[Reading],
    ) -> Added:
        """Adds documents, some thousand at a time; what was written stays, whatever comes later.

        :param documents: A mapping of ids to texts; an iterable of ``(id, text)``,
            ``(id, text, metadata)`` or of records with named members (a streamed Hugging Face
            dataset is one); a table: of pyarrow, pandas, polars, DuckDB, a Hugging Face
            ``Dataset``, whatever has the Arrow PyCapsule interface; or files and folders: a ``str``
            or path, a pattern, a list of ``pathlib.Path``. Ids and texts are ``str``. Iterables
            and batches of tables are taken bit by bit, so they may be larger than memory.
        :param metadata: A mapping that every document gets, or names of members, columns or fields
            of records that become its metadata. What is None or null is left out; a record may
            lack one; of a name that no record has there is a warning. Of files, the file and what
            mail, pages and office files say about themselves are kept anyway.
        :param expires: When the documents count as removed: a ``datetime`` with a zone, or a
            ``timedelta`` from now; None for never.
        :param on_existing: What becomes of a document whose id is there, or came before: ``error``,
            ``update`` (it is replaced), or ``keep`` (the new one is left out).
        :param id_field: The member or column with the id, of records and tables.
        :param text_field: That with the text.
        :param threads: Threads to use; None for one per processor.
        :param progress: ``True`` for bars by tqdm, or a function of the stage, how much of it is
            done and of how much, where that is known.
        :param reading: How files are read, :class:`Reading`: ``format``, ``skip_bad``, ``unit``, …
            Refused for documents that are no files.
        :returns: Counts of documents, and what was left out of files.
        :raises DocumentError: A document cannot be stored; its :attr:`~DocumentError.row` is that
            in ``documents``, from 0. Those before it are stored.
        :raises FileError: A file cannot be read.
        :raises StoreError: The index cannot be written, or is closed.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.add({"a": "one text", "b": "another"}, metadata={"language": "en"})
        ...     index.add([{"id": "c", "text": "a third", "year": 2024}], metadata=["year"])
        Added(added=2, updated=0, kept=0, without_shingles=0, skipped=[])
        Added(added=1, updated=0, kept=0, without_shingles=0, skipped=[])
        """
        common, names = common_and_names(metadata)
        fields = (text_option("id_field", id_field), text_option("text_field", text_field))
        at = expiry(expires)
        threads = count_option("threads", threads, "a whole number from 1")
        existing = text_option("on_existing", on_existing)
        files = files_of(documents)
        with shown(progress) as reporter:
            if files is not None:
                chosen = fields_of(common, names)
                options = {"id_field": fields[0], "text_field": fields[1], **reading}
                check_options(options)
                return added(
                    self._stored.add_files(files, chosen, at, existing, threads, options, reporter)
                )
            refuse_reading(reading)
            columns = [*fields, *names]
            tables = tables_of(documents, columns)
            if tables is not None:
                done = self._stored.add_tables(
                    tables, common, names, fields, at, existing, threads, reporter
                )
                return Added(*done, [])
            rows = rows_of(as_records(documents, columns))
            # Counting other iterables can be expensive.
            of = len(documents) if isinstance(documents, (list, tuple, dict)) else None
            done = self._stored.add(rows, common, names, fields, at, existing, threads, reporter, of)
            return Added(*done, [])

    def update(
        self,
        documents: Any,
        *,
        metadata: Mapping[str, Json] | Sequence[str] | None = None,
        expires: When | None = None,
        id_field: str = "id",
        text_field: str = "text",
        threads: int | None = None,
        progress: bool | Progress | None = False,
        **reading: Unpack[Reading],
    ) -> Added:
        """Adds documents; those whose ids are there are replaced. As :meth:`add` in all else.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.update({"a": "one text"})
        ...     index.update({"a": "another text"})
        Added(added=1, updated=0, kept=0, without_shingles=0, skipped=[])
        Added(added=0, updated=1, kept=0, without_shingles=0, skipped=[])
        """
        return self.add(
            documents,
            metadata=metadata,
            expires=expires,
            on_existing="update",
            id_field=id_field,
            text_field=text_field,
            threads=threads,
            progress=progress,
            **reading,
        )

    def add_one(
        self,
        id: str | UUID,
        text: str,
        metadata: Mapping[str, Json] | None = None,
        *,
        modified: datetime | None = None,
        expires: When | None = None,
        on_existing: OnExisting = "error",
    ) -> Added:
        """Adds one document. Many are added much faster together, by :meth:`add`: each call waits
        for the disk.

        :param id: Its id: not empty, at most 16,384 bytes, no NUL; a ``uuid.UUID`` is its text.
        :param text: Its text, at most 1 GiB.
        :param metadata: Its metadata: any value of JSON, at most 1 MiB.
        :param modified: When its file was last changed, with a zone.
        :param expires: As in :meth:`add`.
        :param on_existing: As in :meth:`add`.
        :raises DocumentError: It cannot be stored, or its id is there.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add_one("a", "one text", {"tags": ["short", "new"]})
        ...     index.get("a").metadata
        {'tags': ['short', 'new']}
        """
        changed = None if modified is None else nanoseconds("modified", modified)
        at = expiry(expires)
        existing = text_option("on_existing", on_existing)
        return Added(*self._stored.add_one(id, text, metadata, changed, at, existing), [])

    def remove(self, ids: str | UUID | Iterable[str | UUID]) -> Removed:
        """Removes documents by their ids. One that is not there is no error.

        :param ids: One id, or any number of them.
        :returns: The number of removed documents, and unknown ids.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add({"a": "one text", "b": "another"})
        ...     index.remove(["a", "c"])
        Removed(removed=1, absent=['c'])
        """
        alone = isinstance(ids, str) or type(ids).__name__ == "UUID"
        given = iter((ids,)) if alone else iterator_of("ids", ids, "str")
        return Removed._make(self._stored.remove(given))

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
    ) -> Found:
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
            return Found(self._stored.groups(options, reporter))

    def __contains__(self, id: object) -> bool:
        """Whether there is a document with this id that has not expired."""
        return self._stored.contains(id)

    def __len__(self) -> int:
        """How many documents there are; expired ones count until :meth:`compact`."""
        return self._stored.len()

    def __bool__(self) -> bool:
        """True, also for an index without documents."""
        return True

    def __repr__(self) -> str:
        if self.closed:
            return f"<lookalike.Index {self.name!r}, closed>"
        return f"<lookalike.Index {self.name!r}, {'reading' if self.read_only else 'writing'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self.name}: an open index cannot be pickled or copied: hand its path to the other "
            "process and open it there, with lookalike.Index.open(path, read_only=True)"
        )
