"""What an open index says of itself, and what looks after it."""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import TYPE_CHECKING

from lookalike._engine import StoredIndex
from lookalike._index_arguments import folder_path
from lookalike._index_types import Json, Problem, Stats

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Upkeep"]


class Upkeep:
    """The part of :class:`lookalike.Index` that is about the index as a whole."""

    __slots__ = ("_stored",)
    _stored: StoredIndex

    @property
    def name(self) -> str:
        """Where it is."""
        return self._stored.name

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading only."""
        return self._stored.read_only

    @property
    def closed(self) -> bool:
        """Whether it is closed, or was opened by the process that this one was forked from."""
        return self._stored.closed

    @property
    def settings(self) -> dict[str, Json]:
        """What it was created with, by the names of :meth:`create`, and the ``predicted_recall``
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

    def stats(self) -> Stats:
        """Counts and sizes.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     _ = index.add({"a": "one text", "b": "..."})
        ...     index.stats().documents, index.stats().without_shingles
        (2, 1)
        """
        return Stats._make(self._stored.stats())

    def check(self) -> list[Problem]:
        """Looks through everything that is stored, without changing anything; gives what is not as
        it should be.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.check()
        []
        """
        return [Problem._make(row) for row in self._stored.check()]

    def repair(self) -> list[Problem]:
        """Makes again what can be made of documents and signatures; gives what is still wrong, for
        which there is a backup or nothing.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.repair()
        []
        """
        self._stored.repair()
        return self.check()

    def compact(self) -> None:
        """Takes what is removed or expired off the disk, and makes queries as quick as can be.
        Interrupted with Ctrl-C it ends behind the scenes, or with the process; nothing is lost.

        >>> import lookalike, tempfile, os
        >>> with lookalike.Index.create(os.path.join(tempfile.mkdtemp(), "news")) as index:
        ...     index.compact()
        """
        self._stored.compact()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies the index as it is now into a new folder, while it is in use.

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
        kept. The file is there when it is complete.

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
        """Closes it: no call can begin, and those of other threads that are under way are waited
        for, also by another ``close``. Does nothing else where it is closed already. An index that
        was added to has segments merged first, which takes longer the more was added.

        Called from within a call of the index (by an iterable that it adds, or by ``progress``) it
        waits for none; the index is closed when the last call ends. So it is where work that
        Ctrl-C broke off goes on.

        :raises KeyboardInterrupt: Ctrl-C, while others are waited for; they go on.
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
