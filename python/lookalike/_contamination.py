"""Finds the items of a benchmark that a corpus contains."""

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
        """A row for each item, in the order of the benchmark. The items of the first field come
        first, then the items of the second field.

        The columns are:

        - ``benchmark``: the file of the item; ``against`` for items in memory
        - ``field``: the field of the item; null without ``against_field``
        - ``id``: the id of the item
        - ``words``: the number of words of the item
        - ``covered``: the number of its words in runs that a document contains
        - ``share``: ``covered`` divided by ``words``; 0 without words
        - ``contaminated``: whether the share reaches the threshold
        - ``documents``: the number of documents that contain such a run
        """
        return Table(self._findings.items())

    @property
    @once
    def matches(self) -> Table:
        """A row for each run of words of an item that a document contains.

        The columns are:

        - ``benchmark``, ``field`` and ``id`` of the item
        - ``source`` and ``document``: the source and the id of the document
        - ``words``: the number of words of the run
        - the range of the run in the item: ``item_byte_start``, ``item_byte_end``,
          ``item_char_start``, ``item_char_end``
        - the first range of the run in the document: ``byte_start``, ``byte_end``, ``char_start``,
          ``char_end``
        """
        return Table(self._findings.matches())

    @property
    @once
    def documents(self) -> Table:
        """A row for each document that contains a run of a contaminated item: ``id`` and
        ``source``. The option ``drop`` of ``lookalike.dedup`` takes this table.
        """
        return Table(self._findings.documents())

    @property
    @once
    def benchmarks(self) -> Table:
        """A row for each benchmark and field: ``benchmark``, ``field``, and the numbers of
        ``items``, ``empty`` items, ``contaminated`` items, ``words`` and ``covered`` words.
        """
        return Table(self._findings.benchmarks())

    @property
    @once
    def skipped(self) -> Table:
        """The skipped records of the corpus and the benchmark, with the columns of
        ``FindResult.skipped``.
        """
        return Table(self._findings.skipped())

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of documents of the corpus, items, contaminated items and skipped records."""
        documents, skipped = self._findings.counts()
        items, contaminated = (sum(self.benchmarks[name]) for name in ("items", "contaminated"))
        return {
            "documents": documents,
            "items": items,
            "contaminated": contaminated,
            "skipped": skipped,
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields the rows of ``items``."""
        return iter(self.items)

    def __len__(self) -> int:
        """Returns the number of items."""
        return len(self.items)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes every item with its matches to a file ``.jsonl``, ``.jsonl.gz`` or
        ``.jsonl.zst``. The bytes are the same as with ``lookalike contamination -o``.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("items", path_option("path", path))

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Writes a report to a file ``.html`` or ``.json``. The HTML page shows the matching runs
        of items and documents side by side. The JSON file contains the counts of each benchmark
        and the skipped records, like ``lookalike contamination --json``.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("report", path_option("path", path))

    def write_documents(self, path: str | os.PathLike[str]) -> None:
        """Writes the ids of the documents that contain a run of a contaminated item to a file
        ``.jsonl``. ``lookalike dedup --drop`` and the option ``drop`` of ``lookalike.dedup`` read
        this file.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("documents", path_option("path", path))

    def _repr_html_(self) -> str:
        """Returns the page of ``write_report`` in a frame, for notebooks."""
        return frame_page(self.write_report, repr(self))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "cannot pickle or copy a ContaminationResult, which refers to the documents; pickle "
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
    """Finds the items of a benchmark that a corpus contains, and the share of the words of each
    item. Ignores line breaks, punctuation and case.

    See ``lookalike.find`` for other errors, and ``docs/guides/contamination.md`` for definitions.

    Args:
        docs: The corpus, as for ``lookalike.find``.
        against: The items of the benchmark, in any type of ``docs``.
        against_field: The column or field of the benchmark with the texts of the items; by default
            the column ``text``. If you name several columns, each counts as a separate benchmark.
        ngram: The least number of words of a run, 2 or more; 13 by default. An item of fewer words
            is compared as a whole.
        threshold: An item is contaminated if at least this share of its words is covered by runs;
            above 0, at most 1.
        text: The column of texts of the corpus; ``"text"`` by default.
        id: The column of ids of the corpus and the benchmark, as for ``lookalike.find``.
        progress: As for ``lookalike.find``.
        options: Options of ``lookalike contamination``, with ``_`` for ``-``: ``tokens``, ``case``,
            ``normalize``, ``memory``, ``temp_dir``, ``threads``, ``skip_bad``.

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
    # Without `against_field`, `text` may name a column that only the benchmark has.
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
