"""Documents without their near-duplicates, or without what is repeated in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, overload

from lookalike import _engine
from lookalike._decisions import DecisionCounts, decision_counts
from lookalike._documents.input_documents import InputDocuments
from lookalike._documents.row_file import KeptRows
from lookalike._find import Run
from lookalike._index.index import Index
from lookalike._options import CUT_OPTIONS, DedupOptions, Unpack, flag_option, path_option
from lookalike._progress import Progress, reporting
from lookalike._results.find_result import advice, better_setting_of
from lookalike._results.table import Table
from lookalike.errors import OptionError


@dataclass(frozen=True, repr=False)
class DedupResult:
    """The result of ``dedup`` for files."""

    kept: int
    """Documents that are kept."""
    removed: int
    """Documents that were removed, or marked."""
    files: int
    """Files written."""
    parameters: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The chosen parameters (bands, rows, …), as ``FindResult.parameters`` has it."""
    better_setting: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """A setting that finds clearly more, as ``FindResult.better_setting`` has it."""
    decisions: DecisionCounts | None = field(default=None, repr=False, compare=False)
    """What became of decisions of people, as ``FindResult.decisions`` has it."""
    dropped: int = 0
    """Documents that ``drop`` left out."""
    changed: int = 0
    """Documents that stay without some of their words, with ``passages``."""
    sources: Table | None = field(default=None, repr=False, compare=False)
    """With ``passages``, what goes of each source: ``source``, ``documents``, ``changed``,
    ``removed``, ``words`` and ``cut_words``.
    """
    added: int = 0
    """Documents that ``add`` added to the index."""

    def __repr__(self) -> str:
        counts = f"kept={self.kept}, removed={self.removed}, files={self.files}"
        if self.added:
            counts += f", added={self.added}"
        if self.sources is not None:
            return f"DedupResult({counts}, changed={self.changed})"
        return f"DedupResult({counts}{advice(self.better_setting)})"


class _Arguments(DedupOptions, total=False):
    """Arguments of ``dedup`` for documents of any kind."""

    passages: bool
    threshold: float | None
    recall: float | None
    text: str | Sequence[str] | None
    id: str | Literal[False] | None
    reference: Any
    add: bool
    progress: bool | Progress | None


class _FileArguments(_Arguments, total=False):
    """The same for files."""

    output: str | os.PathLike[str] | None
    annotate: bool
    removed: str | os.PathLike[str] | None


_Docs = TypeVar("_Docs")
_Id = TypeVar("_Id")
_Read = TypeVar("_Read", covariant=True)


class _Frame(Protocol):
    """A table of pandas, polars or pyarrow."""

    @property
    def columns(self) -> Any: ...


class _Lazy(Protocol[_Read]):
    """A query of polars."""

    def collect(self) -> _Read: ...


class _Stream(Protocol[_Read]):
    """A reader of record batches of pyarrow."""

    def read_all(self) -> _Read: ...


_FrameType = TypeVar("_FrameType", bound=_Frame)


@overload
def dedup(  # type: ignore[overload-overlap]  # paths are no documents in memory
    docs: str | os.PathLike[str] | list[Path], **arguments: Unpack[_FileArguments]
) -> DedupResult: ...
@overload
def dedup(
    docs: _Lazy[_Read] | _Stream[_Read], *, annotate: bool = False, **arguments: Unpack[_Arguments]
) -> _Read: ...
@overload
def dedup(
    docs: dict[_Id, str], *, annotate: Literal[True], **arguments: Unpack[_Arguments]
) -> list[tuple[tuple[_Id, str], dict[str, Any]]]: ...
@overload
def dedup(
    docs: list[_Docs] | tuple[_Docs, ...],
    *,
    annotate: Literal[True],
    **arguments: Unpack[_Arguments],
) -> list[tuple[_Docs, dict[str, Any]]]: ...
@overload
def dedup(
    docs: Iterator[_Docs], *, annotate: Literal[True], **arguments: Unpack[_Arguments]
) -> Sequence[tuple[_Docs, dict[str, Any]]]: ...
@overload
def dedup(
    docs: tuple[_Docs, ...], *, annotate: Literal[False] = False, **arguments: Unpack[_Arguments]
) -> list[_Docs]: ...
@overload
def dedup(
    docs: Iterator[_Docs], *, annotate: Literal[False] = False, **arguments: Unpack[_Arguments]
) -> Sequence[_Docs]: ...
@overload
def dedup(
    docs: _FrameType, *, annotate: bool = False, **arguments: Unpack[_Arguments]
) -> _FrameType: ...
@overload
def dedup(
    docs: _Docs, *, annotate: Literal[False] = False, **arguments: Unpack[_Arguments]
) -> _Docs: ...
@overload
def dedup(docs: Any, **arguments: Unpack[_FileArguments]) -> Any: ...
def dedup(
    docs: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    annotate: bool = False,
    removed: str | os.PathLike[str] | None = None,
    passages: bool = False,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    reference: Any = None,
    add: bool = False,
    progress: bool | Progress | None = False,
    **options: Unpack[DedupOptions],
) -> Any:
    """Documents without their near-duplicates.

    Documents in memory come back in the type that they were given in: a list as a list, a
    ``pandas.DataFrame`` as one, a ``datasets.Dataset`` as one. Streams (a ``RecordBatchReader``, a
    DuckDB relation) come back as a ``pyarrow.Table``, iterables as a list; with ``memory``, the
    rows of an iterable without a length go to a temporary file as they come, pickled, and what
    stays is a sequence that reads them from there each time. Rows are those at the beginning of the
    call; streams and queries are read once.

    Other parameters, errors and cost are those of ``find``.

    Args:
        docs: As for ``find``.
        output: For paths, the file or folder to write, in the format of the input, as ``lookalike
            dedup -o`` does; the result is a ``DedupResult``. A folder exists already, or is a
            ``str`` that ends in ``/`` (a ``Path`` cannot). Optional with ``add``.
        annotate: Keeps all documents and says of each what was decided; for paths as
            ``docs/dedup.md`` says, with ``related`` and a neighbour among it. Tables get the
            columns ``lookalike_kept``, ``lookalike_group``, ``lookalike_keeper``,
            ``lookalike_jaccard`` (``lookalike_containment`` where that is the measure),
            ``lookalike_reason``, ``lookalike_neighbour``, ``lookalike_neighbour_jaccard`` (or
            ``lookalike_neighbour_containment``) and ``lookalike_group_size`` (of a kept document:
            the number of documents in its group, including itself, or 1 without a group). Lists
            become lists of pairs (document, dict of these).
        removed: For paths, a file ``.csv`` or ``.jsonl`` for the documents that go, with what stays
            for them and why. Inputs are never written over.
        passages: Cuts repeated passages out of the texts in place of whole near-duplicates: of each
            the first place stays, by ``keep``. ``min_words``, ``at``, ``min_left``,
            ``min_documents``, ``min_share`` and ``per_source`` say how (``docs/passages.md``);
            options about near-duplicates are refused.
        add: Adds the documents that stay to the ``Index`` that is the ``reference``, open for
            writing, and records what went for ``Index.group_sizes``, as ``lookalike dedup
            --add`` does. Documents need ids; those without a token are not added.
        drop: Documents to remove before the others are compared: the path of a list as ``lookalike
            contamination --drop`` and ``ContaminationResult.write_documents`` write it, ids (of
            documents in memory also rows), or dicts of ``id`` and ``source``, such as
            ``ContaminationResult.documents``. In tables of ``annotate`` their reason is
            ``dropped``.
        unit: Parts of texts that are duplicates are taken out of their documents
            (``docs/units.md``); a document of which nothing is left goes.

    Raises:
        OptionError: An output is an input, a column of an annotation is there already, or ``add``
            has no index.
        StoreError: The index for ``add`` is closed, or cannot be written.
        DocumentError: The index for ``add`` has an id with another text; the documents before it
            are added.

    Examples:
        >>> import lookalike
        >>> lookalike.dedup(["b a n a n a s", "B A N A N A S !", "apples"])
        ['B A N A N A S !', 'apples']
    """
    annotate, passages = flag_option("annotate", annotate), flag_option("passages", passages)
    index = _index_to_add_to(reference, passages, options) if flag_option("add", add) else None
    arguments: dict[str, Any] = {"threshold": threshold, "recall": recall, **options}
    if passages:
        arguments = _of_passages(arguments)
    else:
        _refuse_cuts(options)
    run = Run(arguments, text, id, reference, "dedup", DedupOptions)
    by_parts = passages or options.get("unit") not in (None, "document")
    documents = run.take(docs, back=True, changed=by_parts)
    if index is not None:
        _refuse_unnamed(documents)
    if passages and (annotate or removed is not None):
        name = "annotate" if annotate else "removed"
        raise OptionError(
            f"{name} says what becomes of whole documents, passages cuts words out of them; "
            "leave one out"
        )
    if isinstance(documents.engine, list):
        if passages:
            return _cut_files(run, documents.engine, output, progress)
        return _dedup_files(run, documents.engine, output, annotate, removed, index, progress)
    if output is not None or removed is not None:
        raise OptionError(
            "output and removed are for files; documents in memory are given back, write them "
            "with what they are from"
        )
    rows = len(documents.engine)
    if by_parts:
        if annotate:
            raise OptionError(
                "annotate says what becomes of whole documents, unit takes parts out of them; "
                "leave one out"
            )
        return _without_parts(run, documents, rows, passages, progress)
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
    everything = documents.select([True] * rows)
    if isinstance(everything, KeptRows):
        return everything.with_decisions(table)
    pairs = everything.items() if isinstance(everything, dict) else everything
    return list(zip(pairs, table, strict=True))


# Options by which the engine compares other texts than those that are added.
_CHANGING = ("normalize", "language", "segment")


def _index_to_add_to(
    reference: Any, passages: bool, options: Mapping[str, Any]
) -> _engine.StoredIndex:
    """The index that what stays is added to.

    Raises:
        OptionError: The reference is none, or parts or other forms of the texts are compared.
        StoreError: It is closed, or open for reading only.
    """
    if not isinstance(reference, Index):
        kind = "none" if reference is None else f"of type {type(reference).__name__}"
        raise OptionError(
            "add=True adds what stays to the index that it is compared with, and the reference is "
            f"{kind}; give reference=lookalike.Index.open(path)"
        )
    if passages or options.get("unit") not in (None, "document"):
        name = "passages" if passages else "unit"
        raise OptionError(
            f"{name} is about parts of documents, add=True adds whole ones; leave one out"
        )
    for name in _CHANGING:
        if options.get(name) is not None:
            raise OptionError(
                "add=True stores unchanged texts, and the index brings them to its own normal "
                f"form; leave out add or {name}"
            )
    reference.engine.expect_writable()
    return reference.engine


def _refuse_unnamed(documents: InputDocuments) -> None:
    """Refuses documents that an index cannot name, or has no text of.

    Raises:
        OptionError: Rows are their ids, or they are lists of tokens.
    """
    if isinstance(documents.engine, list):
        return
    if documents.tokens:
        raise OptionError(
            "add=True adds texts, and these documents are lists of tokens; leave out add, or "
            "give texts"
        )
    if documents.engine.named_by_row:
        raise OptionError(
            "add=True adds documents by their ids, and these have none; give a dict of texts by "
            "id, (id, text) pairs, or id='column'"
        )


_DEFAULTS = {"threshold": 0.8, "recall": 0.99}
# Options that say how near-duplicates are found, which are not looked for where passages are.
_IDLE = (
    "threshold",
    "recall",
    "measure",
    "exact",
    "num_hashes",
    "bands",
    "rows",
    "scheme",
    "seed",
    "shingle",
    "frequencies",
    "stop_words",
    "group",
    "decisions",
)


def _of_passages(arguments: dict[str, Any]) -> dict[str, Any]:
    """The options without those that would change nothing.

    Raises:
        OptionError: One of these was given.
    """
    for name in _IDLE:
        if arguments.get(name) not in (None, False, _DEFAULTS.get(name)):
            raise OptionError(
                f"{name} is about near-duplicates, passages cuts equal words whatever the "
                "documents have in common; leave out one of both (min_words says how long "
                "passages are)"
            )
    return {name: value for name, value in arguments.items() if name not in _IDLE}


def _refuse_cuts(options: Mapping[str, Any]) -> None:
    for name in CUT_OPTIONS:
        if options.get(name) not in (None, False):
            raise OptionError(
                f"{name} says how passages are cut, and needs passages=True; leave it out, or "
                "add that"
            )


def _without_parts(
    run: Run, documents: InputDocuments, rows: int, passages: bool, progress: bool | Progress | None
) -> Any:
    """Documents in memory without passages, or without units that are duplicates."""
    if documents.tokens:
        raise OptionError(
            "parts are taken out of texts, and these documents are lists of tokens; leave out "
            "passages and unit"
        )
    if documents.rewrite is None:
        raise OptionError(
            "parts cannot be taken out of these documents; give a list, a dict or a table"
        )
    if passages:
        with reporting(progress) as reporter:
            left = _engine.cut_passages(
                documents.engine, run.reference, run.options, rows, reporter
            )
    else:
        left = run.find(documents, progress).texts_left(rows)
    return documents.rewrite(Table(left))


def _cut_files(
    run: Run,
    paths: list[str],
    output: str | os.PathLike[str] | None,
    progress: bool | Progress | None,
) -> DedupResult:
    target = _output(output)
    with reporting(progress) as reporter:
        kept, gone, dropped, changed, files, sources = _engine.dedup_passages(
            paths, run.reference, run.options, target, reporter
        )
    return DedupResult(kept, gone, files, dropped=dropped, changed=changed, sources=Table(sources))


def _output(output: str | os.PathLike[str] | None) -> str:
    if output is None:
        raise OptionError(
            "documents of files are written to files: output names one, in the format of the "
            "input, or a folder for several"
        )
    return path_option("output", output)


def _dedup_files(
    run: Run,
    paths: list[str],
    output: str | os.PathLike[str] | None,
    annotate: bool,
    removed: str | os.PathLike[str] | None,
    index: _engine.StoredIndex | None,
    progress: bool | Progress | None,
) -> DedupResult:
    adds_alone = index is not None and not annotate and output is None and removed is None
    target = None if adds_alone else _output(output)
    with reporting(progress) as reporter:
        kept, gone, dropped, files, added, parameters, better, decided = _engine.dedup(
            paths,
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
        gone,
        files,
        dropped=dropped,
        added=added,
        parameters=parameters,
        better_setting=better_setting_of(better),
        decisions=decision_counts(decided),
    )
