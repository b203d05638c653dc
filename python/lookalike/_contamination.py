"""Items of a benchmark that a corpus contains."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NoReturn

from lookalike import _engine
from lookalike._documents.inputs import (
    input_documents,
    reading_options,
    refuse_unused,
    token_rule,
)
from lookalike._documents.types import Documents
from lookalike._options import (
    ContaminationOptions,
    Unpack,
    check_options,
    memory_options,
    path_option,
    with_columns,
)
from lookalike._progress import Progress, reporting
from lookalike._results.notebook import frame_page
from lookalike._results.once import once
from lookalike._results.table import Table
from lookalike.errors import OptionError


class ContaminationResult:
    """The result of ``contamination``.

    Examples:
        >>> import lookalike
        >>> found = lookalike.contamination(
        ...     ["He asked: who wrote the book, and when?"],
        ...     ["Who wrote the book?"],
        ...     ngram=4,
        ... )
        >>> found
        ContaminationResult(documents=1, items=1, contaminated=1)
        >>> found.items["share"]
        [1.0]
    """

    def __init__(self, findings: _engine.ContaminationFindings) -> None:
        self._findings = findings

    @property
    @once
    def items(self) -> Table:
        """A row for each item, in the order of the benchmark, field after field: ``benchmark`` (the
        file; ``against`` for items in memory), ``field`` (null without ``against_field``), ``id``,
        ``words``, ``covered`` (words in runs that a document has), ``share``, ``contaminated`` and
        ``documents`` (with such a run).
        """
        return Table(self._findings.items())

    @property
    @once
    def matches(self) -> Table:
        """A row for each run of words of an item that a document has: ``benchmark``, ``field`` and
        ``id`` of the item; ``source`` and ``document``; ``words``; where it is in the item,
        ``item_byte_start``, ``item_byte_end``, ``item_char_start``, ``item_char_end``, and where it
        is first in the document, ``byte_start``, ``byte_end``, ``char_start``, ``char_end``.
        """
        return Table(self._findings.matches())

    @property
    @once
    def documents(self) -> Table:
        """A row for each document with a run of a contaminated item: ``id`` and ``source``, as
        ``drop`` of ``lookalike.dedup`` takes them.
        """
        return Table(self._findings.documents())

    @property
    @once
    def benchmarks(self) -> Table:
        """A row for each benchmark and field: ``benchmark``, ``field``, and numbers of ``items``,
        ``empty`` and ``contaminated`` ones, their ``words`` and those that are ``covered``.
        """
        return Table(self._findings.benchmarks())

    @property
    @once
    def skipped(self) -> Table:
        """Skipped records of both sides, with the columns of ``FindResult.skipped``."""
        return Table(self._findings.skipped())

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of documents of the corpus, of items, contaminated ones, and of what was
        skipped.
        """
        documents, skipped = self._findings.counts()
        items, contaminated = (sum(self.benchmarks[name]) for name in ("items", "contaminated"))
        return {
            "documents": documents,
            "items": items,
            "contaminated": contaminated,
            "skipped": skipped,
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows of ``items``."""
        return iter(self.items)

    def __len__(self) -> int:
        """The number of items."""
        return len(self.items)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes every item with its matches to a file ``.jsonl`` (also ``.gz``, ``.zst``): the
        bytes that ``lookalike contamination -o`` writes.

        Raises:
            FileError: It cannot be written, or the name does not say what to write.
        """
        self._findings.write("items", path_option("path", path))

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page for people, with the runs of items and documents side by side, to a file
        ``.html``; or the counts of each benchmark, and what was skipped, to a file ``.json``, as
        ``lookalike contamination --json`` prints them.
        """
        self._findings.write("report", path_option("path", path))

    def write_documents(self, path: str | os.PathLike[str]) -> None:
        """Writes the ids of the documents with a run of a contaminated item to a file ``.jsonl``,
        for ``lookalike dedup --drop`` and ``drop`` of ``lookalike.dedup``.
        """
        self._findings.write("documents", path_option("path", path))

    def _repr_html_(self) -> str:
        """The page of ``write_report`` in a frame, for notebooks."""
        return frame_page(self.write_report, repr(self))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a ContaminationResult cannot be pickled or copied: it refers to the documents; pickle "
            "its tables (found.items, found.matches, found.benchmarks)"
        )

    def __repr__(self) -> str:
        names = ("documents", "items", "contaminated")
        return f"ContaminationResult({', '.join(f'{name}={self.counts[name]}' for name in names)})"


def contamination(
    docs: Documents,
    against: Documents,
    *,
    against_field: str | Sequence[str] | None = None,
    ngram: int | None = 13,
    threshold: float | None = 0.8,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    progress: bool | Progress | None = False,
    **options: Unpack[ContaminationOptions],
) -> ContaminationResult:
    """Finds the items of a benchmark that a corpus contains, and how much of each. Line breaks,
    punctuation and case do not matter.

    Other errors are those of ``lookalike.find``. ``docs/contamination.md`` says what counts.

    Args:
        docs: The corpus, as for ``lookalike.find``.
        against: The items of the benchmark, of any of these kinds.
        against_field: The column or field of the items that is looked for; of several, each counts
            by itself. By default that of ``text``.
        ngram: Words of a run, 2 or more; an item of fewer words is compared whole.
        threshold: The share of an item's words from which it is contaminated; above 0, at most 1.
        text: The column of texts of the corpus.
        id: The column of ids, of both sides.
        progress: As for ``lookalike.find``.
        options: Those of ``lookalike contamination``, named with ``_`` for ``-``: ``tokens``,
            ``case``, ``normalize``, ``memory``, ``temp_dir``, ``threads``, ``skip_bad``.

    Raises:
        DocumentError: A document or an item cannot be used, or no item has a word.

    Examples:
        >>> import lookalike
        >>> quiz = [
        ...     {
        ...         "id": "q1",
        ...         "question": "Who wrote the book about the whale?",
        ...         "answer": "Melville",
        ...     }
        ... ]
        >>> found = lookalike.contamination(
        ...     ["who wrote the book about the whale"],
        ...     quiz,
        ...     against_field="question",
        ...     ngram=5,
        ... )
        >>> found.items["contaminated"], found.matches["document"]
        ([True], [0])
    """
    check_options(options, "contamination", ContaminationOptions, ())
    arguments = with_columns({"ngram": ngram, "threshold": threshold, **options}, text, id)
    fields = _fields(against_field)
    tokens = options.get("tokens")
    corpus = input_documents(
        docs, text=text, id=id, tokens=tokens, alone=False, memory=memory_options(options)
    )
    sides = [
        input_documents(against, text=field or text, id=id, tokens=tokens, alone=False)
        for field in fields
    ]
    for field, side in zip(fields, sides, strict=True):
        if field is not None and "text" in side.unused:
            raise OptionError(side.unused["text"].replace("text=", "against_field=", 1))
    # Columns that are named for the benchmark say nothing of the corpus.
    refuse_unused(corpus, *(sides if fields == [None] else ()))
    reading = reading_options(corpus, *sides)
    arguments = {**token_rule(arguments, corpus, *sides), **reading}
    benchmark = [(field, side.engine) for field, side in zip(fields, sides, strict=True)]
    with reporting(progress) as reporter:
        return ContaminationResult(
            _engine.contamination(corpus.engine, benchmark, arguments, reporter)
        )


def _fields(against_field: Any) -> Sequence[str | None]:
    if against_field is None:
        return [None]
    fields = [against_field] if isinstance(against_field, str) else list(against_field)
    if (
        not fields
        or not all(isinstance(field, str) for field in fields)
        or len(set(fields)) < len(fields)
    ):
        raise OptionError(
            f"against_field: expected a name, or a list of different names, got {against_field!r}"
        )
    return fields
