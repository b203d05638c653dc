"""Finds passages that are repeated in documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from lookalike import _engine
from lookalike._documents.types import Documents
from lookalike._find import Run
from lookalike._options import PassageOptions, Unpack, path_option, row_or_id
from lookalike._progress import Progress, reporting
from lookalike._results.notebook import frame_page
from lookalike._results.once import once
from lookalike._results.table import Table


@dataclass(frozen=True)
class Passage:
    """A run of words that is repeated."""

    words: int
    """The number of words."""
    places: int
    """The number of places where these words occur, also within longer repeated runs."""
    documents: int
    """The number of documents that contain these places."""
    id: Any
    """The id of the document with the first place, in the keep order."""
    text: str
    """The beginning of the text of the first place."""


class PassagesResult:
    """The result of ``passages``.

    Examples:
        >>> import lookalike
        >>> found = lookalike.passages(
        ...     {
        ...         "a": "All rights are reserved. One.",
        ...         "b": "Two. All rights are reserved!",
        ...     },
        ...     min_words=4,
        ... )
        >>> found
        PassagesResult(documents=2, passages=1, copied_words=4)
        >>> [(passage.words, passage.text) for passage in found]
        [(4, 'All rights are reserved')]
    """

    def __init__(self, findings: _engine.PassageFindings) -> None:
        self._findings = findings

    def __iter__(self) -> Iterator[Passage]:
        """Yields the passages, sorted by the numbers of documents, then of places, then of words,
        all descending.
        """
        table = self.passages
        names = ("words", "places", "documents", "id", "text")
        for row in zip(*(table[name] for name in names), strict=True):
            yield Passage(*row)

    def __len__(self) -> int:
        """Returns the number of passages."""
        return len(self.passages)

    @property
    @once
    def passages(self) -> Table:
        """A row for each passage.

        The columns are:

        - ``passage``: its number, from 1
        - ``words``, ``places`` and ``documents``, as in ``Passage``
        - ``id``, and for documents in memory ``row``: the document with the first place
        - ``text``: the beginning of the text of the first place
        """
        return Table(self._findings.passages())

    @property
    @once
    def places(self) -> Table:
        """A row for each maximal run, and for the first place of each passage.

        The columns are ``passage``, ``words``, ``places``, ``documents``, ``id``, ``byte_start``,
        ``byte_end``, ``char_start``, ``char_end`` (in the unchanged text), ``first`` and
        ``maximal``, and for documents in memory ``row``. ``docs/reference/passages.md`` defines
        them.
        """
        return Table(self._findings.places())

    @property
    @once
    def sources(self) -> Table:
        """A row for each source, with the numbers of its documents and words: ``source``,
        ``documents``, ``documents_with_repeats``, ``words``, ``repeated_words`` and
        ``copied_words``.
        """
        return Table(self._findings.sources())

    @property
    @once
    def skipped(self) -> Table:
        """The skipped records, with the columns of ``FindResult.skipped``."""
        return Table(self._findings.skipped())

    @property
    @once
    def counts(self) -> dict[str, int]:
        """The numbers of ``documents``, ``empty`` documents, ``skipped`` documents, ``words``,
        ``passages``, maximal ``runs``, ``documents_with_repeats``, ``repeated_words`` and
        ``copied_words``.
        """
        return self._findings.counts()

    @property
    @once
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage."""
        return dict(self._findings.times())

    def text(self, row: int | str | None = None, *, id: Any = None) -> str:
        """Returns the unchanged text of a document.

        Takes the arguments, and raises the errors, of ``FindResult.text``.
        """
        return self._findings.text(*row_or_id(row, id))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the rows of ``places`` to a file ``.jsonl`` or ``.csv``, which may be compressed
        (``.gz``, ``.zst``), or to a file ``.parquet``. The bytes are the same as with ``lookalike
        passages -o``.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("places", path_option("path", path))

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole run to a file ``.json``, or to a page ``.html`` with marked passages.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("report", path_option("path", path))

    def _repr_html_(self) -> str:
        """Returns the page of ``write_report`` in a frame, for notebooks."""
        return frame_page(self.write_report, repr(self))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "cannot pickle or copy a PassagesResult, which refers to the documents; pickle its "
            "tables (found.passages, found.places)"
        )

    def __repr__(self) -> str:
        names = ("documents", "passages", "copied_words")
        return f"PassagesResult({', '.join(f'{name}={self.counts[name]}' for name in names)})"


def passages(
    docs: Documents,
    *,
    min_words: int | None = 50,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    progress: bool | Progress | None = False,
    **options: Unpack[PassageOptions],
) -> PassagesResult:
    """Finds passages that are repeated within one document or in several documents. The documents
    need not be near-duplicates. Hashes select candidates, and the words of the candidates are then
    compared.

    Raises the errors of ``lookalike.find``. ``docs/guides/passages.md`` defines passages and
    places. ``lookalike.cut`` removes repeated passages.

    Args:
        docs: As for ``lookalike.find``.
        min_words: The number of words of the shortest passage, 2 or more; 50 by default.
        text: As for ``lookalike.find``.
        id: As for ``lookalike.find``.
        progress: As for ``lookalike.find``.
        options: Options of ``lookalike passages``, with ``_`` instead of ``-``: ``tokens``,
            ``case``, ``normalize``, ``keep`` (the order of documents, which decides the first
            place), ``source_field``, ``memory``, ``temp_dir``, ``threads``, ``skip_bad`` and
            ``unit``.

    Examples:
        >>> import lookalike
        >>> docs = ["Dear all, see below. Yours, A.", "Dear all, see below. Regards, B."]
        >>> places = lookalike.passages(docs, min_words=3).places
        >>> [
        ...     docs[row][start:end]
        ...     for row, start, end in zip(
        ...         places["row"], places["char_start"], places["char_end"]
        ...     )
        ... ]
        ['Dear all, see below', 'Dear all, see below']
    """
    run = Run(
        {"min_words": min_words, **options},
        text,
        id,
        None,
        "passages",
        PassageOptions,
        ("min_words",),
    )
    documents = run.take(docs)
    with reporting(progress) as reporter:
        return PassagesResult(_engine.passages(documents.engine, run.options, reporter))
