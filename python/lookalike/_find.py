"""Groups of near-duplicates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

from lookalike import _engine
from lookalike._decisions import decisions_option
from lookalike._documents.drop_list import drop_option
from lookalike._documents.input_documents import InputDocuments
from lookalike._documents.inputs import input_documents, refuse_dates, refuse_unused, token_rule
from lookalike._index.index import Index
from lookalike._options import (
    OTHER_OPTIONS,
    CompareOptions,
    Options,
    Unpack,
    check_options,
    memory_options,
    with_columns,
)
from lookalike._progress import Progress, reporting
from lookalike._results.find_result import FindResult


def find(
    docs: Any,
    *,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    reference: Any = None,
    pairs: bool = False,
    estimates: bool = False,
    progress: bool | Progress | None = False,
    **options: Unpack[Options],
) -> FindResult:
    """Finds the near-duplicates among documents. Every pair that is reported was compared exactly.

    The interpreter is free meanwhile; documents in memory are not copied, but for a ``str`` that is
    not all ASCII, of which the interpreter keeps a copy in UTF-8 with it. Cost: one pass over the
    texts at some hundreds of MB per second and core, and about ``8 · bands + 130`` bytes of
    memory per document.

    Args:
        docs: A list of ``str``, ``(id, text)`` pairs, dicts or a dict of texts by id; a table of
            pyarrow, polars, pandas, DuckDB or Hugging Face datasets; anything with the Arrow
            PyCapsule interface; or a path, a pattern or a list of paths, read as ``lookalike find``
            does.
        threshold: Least exact similarity of two documents' shingles; above 0, at most 1.
        recall: Least predicted share of the pairs *at* the threshold that are found; above 0, below
            1. More similar ones are missed less often.
        text: The column of texts of a table or of dicts; ``"text"`` by default. Of several columns,
            such as ``["title", "body"]``, the texts are joined, each a paragraph.
        id: The column of ids (``str`` or ``int``, no two the same); ``"id"`` where there is one,
            else rows, from 0; ``False`` for rows in any case.
        reference: Documents that are always kept, of any of these kinds, or an ``Index``;
            those of ``docs`` that resemble one of them are its duplicates.
        pairs: Whether all verified pairs are listed, too.
        estimates: Whether the pairs have ``estimated_jaccard``, ``error`` and ``standard_error`` of
            their signatures; needs ``pairs=True``.
        progress: ``True`` for bars by tqdm, or a function of the stage (``str``), how much of it is
            done and of how much (``int``, or ``None`` where that is not known).
        options: Those of the command line, named with ``_`` for ``-``; ``OPTIONS`` lists them:
            ``shingle="words:5"``, ``measure="containment"``, ``exact=True``, ``keep="first"``,
            ``threads=4``, ``skip_bad=True``, … ``decisions`` are what people decided: the path of a
            file or of an index, an ``Index``, or a list of dicts
            (``docs/reference/decisions.md``).

    Raises:
        OptionError: An option cannot be what was given.
        DocumentError: A document cannot be used; ``row`` says which.
        FileError: A file cannot be read.
        KeyboardInterrupt: Ctrl-C, when the work has stopped; so a handler's own exception. Work
            that waits for a pipe is left behind after a second.

    Warns:
        RunawayWarning: Many documents look alike without being similar, which takes long.

    Examples:
        >>> import lookalike
        >>> found = lookalike.find(
        ...     ["the same old story again", "The same old story, again.", "news"]
        ... )
        >>> found.groups["id"], found.counts["duplicates"]
        ([1, 0], 1)
    """
    listed = {"pairs": pairs, "estimates": estimates}
    run = Run({"threshold": threshold, "recall": recall, **listed, **options}, text, id, reference)
    return run.result(run.take(docs), progress)


def with_decisions(options: dict[str, Any]) -> dict[str, Any]:
    """The options with decisions as the engine takes them."""
    if options.get("decisions") is None:
        return options
    return {**options, "decisions": decisions_option(options["decisions"])}


def _with_drop(options: dict[str, Any]) -> dict[str, Any]:
    if options.get("drop") is None:
        return options
    return {**options, "drop": drop_option(options["drop"])}


_DECIDING = ("keep", "path_field", "source_field")


class Run:
    """The work of a call whose arguments are valid."""

    def __init__(
        self,
        options: dict[str, Any],
        text: str | Sequence[str] | None,
        id_: str | Literal[False] | None,
        reference: Any = None,
        function: str = "find",
        accepted: Any = Options,
        others: Collection[str] = OTHER_OPTIONS,
    ) -> None:
        check_options(options, function, accepted, others)
        self.options = _with_drop(with_decisions(with_columns(options, text, id_)))
        self._text, self._id = text, id_
        # The columns that decide what is kept, in the order in which the engine asks for them.
        deciding: dict[str, Any] = {key: options[key] for key in _DECIDING if key in options}
        self._fields = _engine.fields(deciding)
        self._given = options
        if isinstance(reference, Index):
            # The engine opens it a second time, for reading.
            reference = reference.name
        self._beside = [] if reference is None else [self._take(reference)]
        self.reference = self._beside[0].engine if self._beside else None

    def take(self, docs: Any, back: bool = False, changed: bool = False) -> InputDocuments:
        """Documents, with which the options are complete.

        Args:
            back: Whether they are given back.
            changed: Whether with other texts, for which those of an iterable are kept in memory.
        """
        taken = self._take(docs, back, changed)
        refuse_unused(self._given, taken, *self._beside)
        refuse_dates(self._given.get("keep"), taken)
        self.options = token_rule(self.options, taken, *self._beside)
        return taken

    def _take(self, docs: Any, back: bool = False, changed: bool = False) -> InputDocuments:
        return input_documents(
            docs,
            text=self._text,
            id=self._id,
            tokens=self._given.get("tokens"),
            fields=self._fields,
            back=back,
            alone=False,
            memory=None if changed else memory_options(self._given),
        )

    def find(
        self, documents: InputDocuments, progress: bool | Progress | None, related: bool = False
    ) -> _engine.Findings:
        """Runs the engine."""
        with reporting(progress) as reporter:
            return _engine.find(documents.engine, self.reference, self.options, related, reporter)

    def result(self, documents: InputDocuments, progress: bool | Progress | None) -> FindResult:
        """What the engine finds."""
        findings = self.find(documents, progress)
        rows = None if isinstance(documents.engine, list) else len(documents.engine)
        comparing = CompareOptions.__optional_keys__
        options = {name: value for name, value in self.options.items() if name in comparing}
        return FindResult(findings, rows, options)
