"""A persistent index of documents, with similarity search."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from lookalike._engine import StoredIndex
from lookalike._index.arguments import (
    When,
    common_and_names,
    count_option,
    expiry,
    folder_path,
    iterator_of,
    nanoseconds,
    number_option,
    rows_of,
    text_option,
)
from lookalike._index.files import added, check_reading, fields_of, files_of, refuse_reading
from lookalike._index.queries import IndexQueries
from lookalike._index.tables import as_records, tables_of
from lookalike._index.results import AddResult, Json, RemoveResult
from lookalike._options import Reading, Unpack
from lookalike._progress import Progress, shown

if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["Index"]

#: The action for a document whose id exists.
OnExisting = Literal["error", "update", "keep"]


class Index(IndexQueries):
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
    ) -> AddResult:
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
        AddResult(added=2, updated=0, kept=0, without_shingles=0, skipped=[])
        AddResult(added=1, updated=0, kept=0, without_shingles=0, skipped=[])
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
                check_reading(reading)
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
                return AddResult(*done, [])
            rows = rows_of(as_records(documents, columns))
            # Counting other iterables can be expensive.
            of = len(documents) if isinstance(documents, (list, tuple, dict)) else None
            done = self._stored.add(rows, common, names, fields, at, existing, threads, reporter, of)
            return AddResult(*done, [])

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
    ) -> AddResult:
        """Adds documents; those whose ids are there are replaced. As :meth:`add` in all else.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.update({"a": "one text"})
        ...     index.update({"a": "another text"})
        AddResult(added=1, updated=0, kept=0, without_shingles=0, skipped=[])
        AddResult(added=0, updated=1, kept=0, without_shingles=0, skipped=[])
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
    ) -> AddResult:
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
        return AddResult(*self._stored.add_one(id, text, metadata, changed, at, existing), [])

    def remove(self, ids: str | UUID | Iterable[str | UUID]) -> RemoveResult:
        """Removes documents by their ids. One that is not there is no error.

        :param ids: One id, or any number of them.
        :returns: The number of removed documents, and unknown ids.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add({"a": "one text", "b": "another"})
        ...     index.remove(["a", "c"])
        RemoveResult(removed=1, absent=['c'])
        """
        alone = isinstance(ids, str) or type(ids).__name__ == "UUID"
        given = iter((ids,)) if alone else iterator_of("ids", ids, "str")
        return RemoveResult._make(self._stored.remove(given))

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
