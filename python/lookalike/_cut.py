"""Removes repeated passages from documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from lookalike import _engine
from lookalike._dedup import output_option, rewriter
from lookalike._documents.files import Files, Paths, split_options
from lookalike._documents.types import Collected, Documents, Given, ReadAll
from lookalike._find import Run
from lookalike._index.index import Index
from lookalike._options import CutFilesOptions, CutOptions, Unpack, check_options
from lookalike._progress import Progress, reporting
from lookalike._results.table import Table
from lookalike.errors import OptionError


@dataclass(frozen=True)
class CutResult:
    """The result of ``cut_files``."""

    kept: int
    """The number of kept documents."""
    removed: int
    """The number of removed documents: they lost words, and fewer than ``min_left`` were left."""
    files: int
    """The number of written files."""
    changed: int
    """The number of kept documents that lost words."""
    dropped: int
    """The number of documents that ``drop`` removed."""
    sources: Table = field(repr=False, compare=False)
    """A row for each source: ``source``, ``documents``, ``changed``, ``removed``, ``words`` and
    ``cut_words``. All columns except ``source`` are numbers.
    """


class _Arguments(CutOptions, total=False):
    """Arguments of ``cut`` besides ``docs``."""

    min_words: int | None
    text: str | Sequence[str] | None
    id: str | Literal[False] | None
    reference: Documents | Index | None
    progress: bool | Progress | None


@overload
def cut(docs: Collected[ReadAll], **arguments: Unpack[_Arguments]) -> ReadAll: ...
@overload
def cut(docs: tuple[Given, ...], **arguments: Unpack[_Arguments]) -> list[Given]: ...
@overload
def cut(docs: Iterator[Given], **arguments: Unpack[_Arguments]) -> Sequence[Given]: ...
@overload
def cut(docs: Given, **arguments: Unpack[_Arguments]) -> Given: ...
def cut(
    docs: Any,
    *,
    min_words: int | None = 50,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    reference: Documents | Index | None = None,
    progress: bool | Progress | None = False,
    **options: Unpack[CutOptions],
) -> Any:
    """Returns documents without their repeated passages. Keeps the first place of each passage:
    the place in the document that is first in the order of ``keep``. The result has the type of
    the input, as for ``dedup``.

    Args:
        docs: As for ``dedup``.
        min_words: The number of words of the shortest passage, 2 or more.
        text: The column of texts, as for ``find``, but not several columns.
        id: As for ``find``.
        reference: Documents that are never changed, of the types that ``find`` takes. Their
            passages are cut from ``docs``.
        progress: As for ``find``.
        options: Options of ``passages`` except ``unit``, ``drop`` of ``dedup``, and:

            - ``at``: ``"word"`` (the default) cuts words; ``"line"``, ``"paragraph"`` and
              ``"sentence"`` cut whole units if all their words are repeated.
            - ``min_left``: removes documents that lose words and keep fewer words than this
              number; 1 by default.
            - ``min_documents``, ``min_share``: cut only passages that are in at least this number
              or share of the documents. These passages are cut from all documents, also at the
              first place.
            - ``per_source``: counts the documents of each source separately for ``min_documents``
              and ``min_share``.

    Raises:
        OptionError: An option is unknown or has an invalid value, or ``docs`` are files.

    See ``passages`` for other errors and cost, and ``docs/guides/passages.md`` for definitions.

    Examples:
        >>> import lookalike
        >>> lookalike.cut(
        ...     ["One. All rights are reserved.", "All rights are reserved. Two."],
        ...     min_words=4,
        ... )
        ['One. All rights are reserved.', 'Two.']
    """
    run = _run({"min_words": min_words, **options}, text, id, reference, "cut")
    documents = run.take(docs, back=True, changed=True)
    if isinstance(documents.engine, list):
        raise OptionError("cut returns documents in memory; use cut_files for files")
    rewrite = rewriter(documents)
    rows = len(documents.engine)
    with reporting(progress) as reporter:
        remaining = _engine.cut_passages(
            documents.engine, run.reference, run.options, rows, reporter
        )
    return rewrite(Table(remaining))


def cut_files(
    paths: Paths,
    *,
    output: str | os.PathLike[str],
    min_words: int | None = 50,
    text: str | None = None,
    id: str | None = None,
    reference: Documents | Index | None = None,
    progress: bool | Progress | None = False,
    **options: Unpack[CutFilesOptions],
) -> CutResult:
    """Reads the documents of files and writes them without their repeated passages, as ``lookalike
    cut`` does.

    Args:
        paths: A file, a folder, or a pattern such as ``news/*.jsonl``; or several of these.
        output: The file or folder to write, as for ``dedup_files``.
        min_words: The number of words of the shortest passage, 2 or more.
        text: The field or column of texts; ``"text"`` by default.
        id: The field or column of ids; ``"id"`` by default. ``":line"`` makes the ids FILE:LINE.
        reference: As for ``cut``. Files are read with the same options as ``paths``.
        progress: As for ``find``.
        options: Options of ``cut`` and of ``Files``.

    Raises:
        OptionError: The output is an input.
        FileError: A file does not exist, or cannot be read or written.

    See ``passages`` for other errors and cost.
    """
    check_options(options, "cut_files", CutFilesOptions, ())
    reading, others = split_options(options)
    run = _run({"min_words": min_words, **others}, text, id, reference, "cut_files")
    files = Files(paths, **reading)
    run.take(files)
    with reporting(progress) as reporter:
        kept, removed, dropped, changed, written, sources = _engine.dedup_passages(
            files.find(), run.reference, run.options, output_option(output), reporter
        )
    return CutResult(kept, removed, written, changed, dropped, Table(sources))


def _run(
    options: dict[str, Any],
    text: str | Sequence[str] | None,
    id_: str | Literal[False] | None,
    reference: Documents | Index | None,
    function: str,
) -> Run:
    return Run(options, text, id_, reference, function, CutOptions, ("min_words",))
