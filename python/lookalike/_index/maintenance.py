"""Properties and maintenance of an open index."""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import TYPE_CHECKING

from lookalike._engine import StoredIndex
from lookalike._index.arguments import folder_path
from lookalike._index.results import Json, OriginalStats, Problem, IndexStats

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["IndexMaintenance"]


class IndexMaintenance:
    """The part of :class:`lookalike.Index` that is about the index as a whole."""

    __slots__ = ("_stored",)
    _stored: StoredIndex

    @property
    def name(self) -> str:
        """Its path or address."""
        return self._stored.name

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading only."""
        return self._stored.read_only

    @property
    def closed(self) -> bool:
        """Whether it is closed, or was opened by the parent of this forked process."""
        return self._stored.closed

    @property
    def settings(self) -> dict[str, Json]:
        """The settings it was created with, by the names of :meth:`create`, and the ``predicted_recall``
        at the threshold, with ``recall_caveat`` where a query may find less. ``wording`` is what ``normalize``, ``language`` and ``segment`` came to;
        of stop words there is the language."""
        text, recall, caveat = self._stored.settings()
        settings: dict[str, Json] = json.loads(text)
        if settings["stop_words"] is not None:
            settings["stop_words"] = settings["stop_words"]["name"]
        settings["predicted_recall"] = recall
        if caveat is not None:
            settings["recall_caveat"] = caveat
        return settings

    def stats(self) -> IndexStats:
        """Counts and sizes.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add({"a": "one text", "b": "..."})
        ...     index.stats().documents, index.stats().without_shingles
        (2, 1)
        """
        counts, originals = self._stored.stats()
        return IndexStats._make([*counts, None if originals is None else OriginalStats._make(originals)])

    def check(self) -> list[Problem]:
        """Checks all stored data without changing it; returns the problems.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.check()
        []
        """
        return [Problem._make(row) for row in self._stored.check()]

    def repair(self) -> list[Problem]:
        """Rebuilds everything that can be derived from documents and signatures; returns the remaining
        problems, which need a backup.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.repair()
        []
        """
        self._stored.repair()
        return self.check()

    def compact(self) -> None:
        """Frees the disk space of removed and expired documents, and makes queries as fast as possible.
        After Ctrl-C it continues in the background until it is done or the process ends; nothing is
        lost.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.compact()
        """
        self._stored.compact()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies a snapshot of the index to a new folder, while it is in use.

        :param path: A folder that is not there yet.
        :raises StoreError: There is something at the path, or it cannot be written.

        >>> import lookalike, tempfile, os
        >>> folder = tempfile.mkdtemp()
        >>> with lookalike.Index.create(os.path.join(folder, "news")) as index:
        ...     index.backup(os.path.join(folder, "copy"))
        >>> lookalike.Index.open(os.path.join(folder, "copy"), read_only=True).close()
        """
        self._stored.backup(folder_path(path))

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes the documents as JSON lines: id, bytes, metadata, times, and the text where it is
        kept. The file appears when it is complete.

        :param path: ``FILE.jsonl``, also ``.gz`` or ``.zst``.
        :returns: How many documents were written.
        :raises FileError: The file cannot be written.

        >>> import lookalike, tempfile, os
        >>> folder = tempfile.mkdtemp()
        >>> with lookalike.Index.create(os.path.join(folder, "news")) as index:
        ...     _ = index.add({"a": "one text", "b": "another"})
        ...     index.export(os.path.join(folder, "news.jsonl"))
        2
        """
        return self._stored.export(folder_path(path))

    def close(self) -> None:
        """Closes it: new calls fail, and running ones of other threads are waited for, also by another
        ``close``. Otherwise does nothing if it is closed. After additions, segments are merged first,
        which takes longer the more was added.

        Called from within a call of the index (by an iterable that it adds, or by ``progress``) it
        does not wait; the index is closed when the last call ends, as it is for work that continues
        after Ctrl-C.

        :raises KeyboardInterrupt: Ctrl-C, while it waits for other calls, which continue.
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
