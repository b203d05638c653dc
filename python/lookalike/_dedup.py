"""Removes near-duplicates from documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from lookalike import _engine
from lookalike._decisions import DecisionCounts, decision_counts
from lookalike._documents.files import Files, Paths, split_options
from lookalike._documents.input_documents import InputDocuments
from lookalike._documents.row_file import KeptRows
from lookalike._documents.types import Collected as _Collected
from lookalike._documents.types import Documents, FrameType, ReadAll
from lookalike._documents.types import Given as _Given
from lookalike._documents.types import Id as _Id
from lookalike._find import Run
from lookalike._index.index import Index
from lookalike._options import (
    DedupFilesOptions,
    DedupOptions,
    Unpack,
    check_options,
    flag_option,
    path_option,
)
from lookalike._progress import Progress, reporting
from lookalike._results.find_result import advice, better_setting_of
from lookalike._results.table import Table
from lookalike.errors import OptionError


@dataclass(frozen=True, repr=False)
class DedupResult:
    """The result of ``dedup_files``."""

    kept: int
    """The number of kept documents."""
    removed: int
    """The number of removed documents; with ``annotate``, of documents marked as removed."""
    files: int
    """The number of written files."""
    parameters: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The chosen parameters (bands, rows, …), as in ``FindResult.parameters``."""
    better_setting: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """A setting that finds clearly more duplicates, as in ``FindResult.better_setting``."""
    decisions: DecisionCounts | None = field(default=None, repr=False, compare=False)
    """The effect of the user decisions, as in ``FindResult.decisions``."""
    dropped: int = 0
    """The number of documents that ``drop`` removed."""
    added: int = 0
    """The number of documents that were added to the index, with ``add``."""

    def __repr__(self) -> str:
        counts = f"kept={self.kept}, removed={self.removed}, files={self.files}"
        if self.added:
            counts += f", added={self.added}"
        return f"DedupResult({counts}{advice(self.better_setting)})"


class _Arguments(DedupOptions, total=False):
    """Arguments of ``dedup`` besides ``docs`` and ``annotate``."""

    threshold: float | None
    recall: float | None
    text: str | Sequence[str] | None
    id: str | Literal[False] | None
    reference: Documents | Index | None
    add: bool
    progress: bool | Progress | None


@overload
def dedup(
    docs: _Collected[ReadAll], *, annotate: bool = False, **arguments: Unpack[_Arguments]
) -> ReadAll: ...
@overload
def dedup(
    docs: dict[_Id, str], *, annotate: Literal[True], **arguments: Unpack[_Arguments]
) -> list[tuple[tuple[_Id, str], dict[str, Any]]]: ...
@overload
def dedup(
    docs: list[_Given] | tuple[_Given, ...],
    *,
    annotate: Literal[True],
    **arguments: Unpack[_Arguments],
) -> list[tuple[_Given, dict[str, Any]]]: ...
@overload
def dedup(
    docs: Iterator[_Given], *, annotate: Literal[True], **arguments: Unpack[_Arguments]
) -> Sequence[tuple[_Given, dict[str, Any]]]: ...
@overload
def dedup(
    docs: tuple[_Given, ...], *, annotate: Literal[False] = False, **arguments: Unpack[_Arguments]
) -> list[_Given]: ...
@overload
def dedup(
    docs: Iterator[_Given], *, annotate: Literal[False] = False, **arguments: Unpack[_Arguments]
) -> Sequence[_Given]: ...
@overload
def dedup(
    docs: FrameType, *, annotate: bool = False, **arguments: Unpack[_Arguments]
) -> FrameType: ...
@overload
def dedup(
    docs: _Given, *, annotate: Literal[False] = False, **arguments: Unpack[_Arguments]
) -> _Given: ...
def dedup(
    docs: Any,
    *,
    annotate: bool = False,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    reference: Documents | Index | None = None,
    add: bool = False,
    progress: bool | Progress | None = False,
    **options: Unpack[DedupOptions],
) -> Any:
    """Returns documents without their near-duplicates.

    The result has the type of the input, such as a list, a ``pandas.DataFrame`` or a
    ``datasets.Dataset``. Streams (a ``RecordBatchReader``, a DuckDB relation) become a
    ``pyarrow.Table``, a ``polars.LazyFrame`` becomes a ``DataFrame``, and other iterables become a
    list. With ``memory``, the rows of an iterable without a length are pickled to a temporary file,
    and the result is a sequence that reads them from this file at each access. Changes to the
    documents during the call have no effect. Streams and queries are read once.

    Args:
        docs: As for ``find``, except ``Files``: ``dedup_files`` writes files.
        annotate: Keeps all documents and adds the result for each document
            (``docs/guides/dedup.md``). Lists become lists of pairs (document, dict of the result);
            the keys are the following names without ``lookalike_``. Tables get the columns:

            - ``lookalike_kept``: whether the document is kept
            - ``lookalike_group``: the number of its group, from 1
            - ``lookalike_keeper``: the id of the document that is kept instead of it
            - ``lookalike_jaccard``: its similarity to the keeper; ``lookalike_containment`` if
              that is the measure
            - ``lookalike_reason``: why the document is kept or removed
            - ``lookalike_neighbour``: for a kept document that resembles only duplicates of other
              documents, the id of the most similar duplicate
            - ``lookalike_neighbour_jaccard`` (or ``lookalike_neighbour_containment``): its
              similarity to the neighbour
            - ``lookalike_group_size``: for a kept document, the number of documents in its group,
              including itself; 1 without a group
        threshold: As for ``find``.
        recall: As for ``find``.
        text: As for ``find``.
        id: As for ``find``.
        reference: As for ``find``.
        add: Whether to add the kept documents to the ``reference``, which must be an ``Index``
            open for writing. Also records the removed documents there, for ``Index.group_sizes``.
            Documents need ids. Documents without a token are not added.
        progress: As for ``find``.
        options: Options of ``find``, with these additions:

            - ``drop``: documents to remove before the other documents are compared. The value is
              the path of a list that ``ContaminationResult.write_documents`` wrote, ids (or rows),
              or dicts of ``id`` and ``source``, such as ``ContaminationResult.documents``. With
              ``annotate`` their reason is ``dropped``.
            - ``unit``: removes duplicate parts of texts from their documents
              (``docs/guides/units.md``). A document without remaining parts is removed.

    Raises:
        OptionError: An option is unknown or has an invalid value, a column of ``annotate`` already
            exists, or ``add`` is true and ``reference`` is not an index.
        StoreError: The index for ``add`` is closed, or cannot be written.
        DocumentError: The index for ``add`` contains an id of ``docs`` with another text. The
            documents before this one are added.

    See ``find`` for other errors, warnings and cost.

    Examples:
        >>> import lookalike
        >>> lookalike.dedup(["b a n a n a s", "B A N A N A S !", "apples"])
        ['B A N A N A S !', 'apples']
    """
    annotate = flag_option("annotate", annotate)
    index = _index_to_add_to(reference, options) if flag_option("add", add) else None
    arguments: dict[str, Any] = {"threshold": threshold, "recall": recall, **options}
    run = Run(arguments, text, id, reference, "dedup", DedupOptions, ("threshold", "recall"))
    is_by_unit = options.get("unit") not in (None, "document")
    documents = run.take(docs, back=True, changed=is_by_unit)
    if isinstance(documents.engine, list):
        raise OptionError("dedup returns documents in memory; use dedup_files for files")
    rows = len(documents.engine)
    if index is not None:
        _refuse_unnamed(documents)
    if is_by_unit:
        if annotate:
            raise OptionError(
                "annotate describes whole documents, but unit removes parts of them; leave one out"
            )
        rewrite = rewriter(documents)
        return rewrite(Table(run.find(documents, progress).texts_left(rows)))
    if annotate:
        documents.refuse_added()
    findings = run.find(documents, progress, annotate)
    if index is not None:
        index.add_survivors_of(findings)
    decisions = findings.decisions(rows)
    table = Table(decisions)
    if not annotate:
        return documents.select(table["kept"])
    if documents.annotate is not None:
        return documents.annotate(
            decisions, {name: f"lookalike_{name}" for name in table.column_names}
        )
    all_rows = documents.select([True] * rows)
    if isinstance(all_rows, KeptRows):
        return all_rows.with_decisions(table)
    pairs = all_rows.items() if isinstance(all_rows, dict) else all_rows
    return list(zip(pairs, table, strict=True))


def dedup_files(
    paths: Paths,
    *,
    output: str | os.PathLike[str] | None = None,
    annotate: bool = False,
    removed: str | os.PathLike[str] | None = None,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | None = None,
    id: str | None = None,
    reference: Documents | Index | None = None,
    add: bool = False,
    progress: bool | Progress | None = False,
    **options: Unpack[DedupFilesOptions],
) -> DedupResult:
    r"""Reads the documents of files and writes them without their near-duplicates, as ``lookalike
    dedup`` does. Never overwrites an input.

    Args:
        paths: A file, a folder, or a pattern such as ``news/*.jsonl``; or several of these.
        output: The file or folder to write, in the format of the input. A folder that does not
            exist must be a ``str`` that ends in ``/`` (a ``Path`` cannot). Optional with ``add``.
        annotate: Whether to write all documents, each with the values of ``dedup``'s ``annotate``
            (``docs/guides/dedup.md``).
        removed: A file ``.csv`` or ``.jsonl`` for a list of the removed documents, each with its
            keeper and the reason.
        threshold: As for ``find``.
        recall: As for ``find``.
        text: The field or column of texts; ``"text"`` by default.
        id: The field or column of ids; ``"id"`` by default. ``":line"`` makes the ids FILE:LINE.
        reference: As for ``find``. Files are read with the same options as ``paths``.
        add: As for ``dedup``.
        progress: As for ``find``.
        options: Options of ``dedup`` and of ``Files``.

    Raises:
        OptionError: An output is an input, or is missing.
        FileError: A file does not exist, or cannot be read or written.

    See ``dedup`` for other errors, warnings and cost.

    Examples:
        >>> import lookalike, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "all.txt").write_text("b a n a n a s\nB A N A N A S !\napples\n")
        >>> lookalike.dedup_files(
        ...     folder / "all.txt", output=folder / "kept.txt", format="lines"
        ... )
        DedupResult(kept=2, removed=1, files=1)
    """
    check_options(options, "dedup_files", DedupFilesOptions, ())
    annotate = flag_option("annotate", annotate)
    reading, others = split_options(options)
    index = _index_to_add_to(reference, others) if flag_option("add", add) else None
    arguments: dict[str, Any] = {"threshold": threshold, "recall": recall, **others}
    run = Run(arguments, text, id, reference, "dedup_files", DedupOptions, ("threshold", "recall"))
    files = Files(paths, **reading)
    run.take(files)
    adds_alone = index is not None and not annotate and output is None and removed is None
    target = None if adds_alone else output_option(output)
    with reporting(progress) as reporter:
        kept, removed_count, dropped, written, added, parameters, better, decided = _engine.dedup(
            files.find(),
            run.reference,
            run.options,
            target,
            annotate,
            None if removed is None else path_option("removed", removed),
            index,
            reporter,
        )
    return DedupResult(
        kept,
        removed_count,
        written,
        dropped=dropped,
        added=added,
        parameters=parameters,
        better_setting=better_setting_of(better),
        decisions=decision_counts(decided),
    )


def _index_to_add_to(reference: object, options: Mapping[str, Any]) -> _engine.StoredIndex:
    """Returns the index that receives the kept documents.

    Raises:
        OptionError: The reference is not an index, or the options compare parts of texts
            (``unit``) or changed texts (``normalize``).
        StoreError: The index is closed, or open for reading only.
    """
    if not isinstance(reference, Index):
        kind = "none" if reference is None else f"of type {type(reference).__name__}"
        raise OptionError(
            "add=True adds the kept documents to the reference, which must be an index and is "
            f"{kind}; use reference=lookalike.Index.open(path)"
        )
    if options.get("unit") not in (None, "document"):
        raise OptionError(
            "unit compares parts of documents, but add=True adds whole documents; leave one out"
        )
    if options.get("normalize") is not None:
        # The engine would compare other texts than it adds.
        raise OptionError(
            "add=True stores unchanged texts, which the index normalizes by its own settings; "
            "leave out add or normalize"
        )
    reference.engine.expect_writable()
    return reference.engine


def _refuse_unnamed(documents: InputDocuments) -> None:
    """Rejects documents without ids or texts, because an index cannot store them.

    Raises:
        OptionError: The ids are row numbers, or the documents are lists of tokens.
    """
    if isinstance(documents.engine, list):
        return
    if documents.tokens:
        raise OptionError(
            "add=True adds texts, but these documents are lists of tokens; leave out add, or pass "
            "texts"
        )
    if documents.engine.named_by_row:
        raise OptionError(
            "add=True adds documents by their ids, but these have none; pass a dict of texts by "
            "id, (id, text) pairs, or id='column'"
        )


def rewriter(documents: InputDocuments) -> Any:
    """Returns the function that rebuilds documents of the input type from a table of the remaining
    texts.

    Raises:
        OptionError: The documents are lists of tokens, or have a type that cannot be rebuilt.
    """
    if documents.tokens:
        raise OptionError(
            "parts are removed from texts, but these documents are lists of tokens; pass texts"
        )
    if documents.rewrite is None:
        raise OptionError(
            "cannot remove parts from documents of this type; pass a list, a dict or a table"
        )
    return documents.rewrite


def output_option(output: str | os.PathLike[str] | None) -> str:
    """Checks the path of the file or folder to write.

    Raises:
        OptionError: ``output`` is missing, or is not a path.
    """
    if output is None:
        raise OptionError(
            "output is missing; name a file in the format of the input, or a folder for several"
        )
    return path_option("output", output)
