"""Finds groups of near-duplicates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Literal

from lookalike import _engine
from lookalike._decisions import decisions_option
from lookalike._documents.drop_list import drop_option
from lookalike._documents.files import Files, Paths, split_options
from lookalike._documents.input_documents import InputDocuments
from lookalike._documents.inputs import (
    input_documents,
    reading_options,
    refuse_file_rules,
    refuse_unused,
    token_rule,
)
from lookalike._documents.types import Documents
from lookalike._index.index import Index
from lookalike._options import (
    FILE_OPTIONS,
    OTHER_OPTIONS,
    CompareOptions,
    FindFilesOptions,
    Options,
    Unpack,
    check_options,
    flag_option,
    memory_options,
    with_columns,
)
from lookalike._progress import Progress, reporting
from lookalike._results.find_result import FindResult
from lookalike.errors import OptionError


def find(
    docs: Documents,
    *,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    reference: Documents | Index | None = None,
    pairs: bool = False,
    reference_pairs: bool = False,
    estimates: bool = False,
    progress: bool | Progress | None = False,
    **options: Unpack[Options],
) -> FindResult:
    """Finds the near-duplicates among documents. Every reported pair was compared exactly.

    Other threads of the interpreter can run during the call. Documents in memory are not copied,
    but the interpreter keeps a copy in UTF-8 of each ``str`` with characters beyond ASCII. The
    call makes one pass over the texts, at some hundreds of MB per second and core. It takes about
    ``8 · bands + 130`` bytes of memory per document.

    Args:
        docs: A list of ``str``, ``(id, text)`` pairs or dicts; a dict of texts by id; a table of
            pyarrow, polars, pandas, DuckDB or Hugging Face datasets; any object with the Arrow
            PyCapsule interface; or ``Files``. Its type is ``Documents``.
        threshold: The least exact similarity of two documents' shingles; above 0, at most 1.
        recall: The least predicted share of the pairs *at* the threshold that the run finds; above
            0, below 1. The run finds a greater share of more similar pairs.
        text: The column of texts of tables, dicts and files; ``"text"`` by default. The texts of
            several columns, such as ``["title", "body"]``, are joined as paragraphs.
        id: The column of ids (``str`` or ``int``, all different). By default the ids are the
            column ``"id"`` if it exists, otherwise row numbers from 0. ``False`` always uses row
            numbers. For files, ``":line"`` makes the ids FILE:LINE.
        reference: Documents that are always kept, of any type of ``docs``, or an ``Index``. A
            document of ``docs`` that resembles a reference document is its duplicate.
        pairs: Whether to list all verified pairs.
        reference_pairs: Whether to list only pairs with a document of ``reference``; needs
            ``pairs=True``.
        estimates: Whether pairs have the columns ``estimated_jaccard``, ``error`` and
            ``standard_error`` of their signatures; needs ``pairs=True``.
        progress: ``True`` for progress bars by tqdm, or a function that receives the name of the
            stage (``str``), the amount done (``int``) and the total (``int``, or ``None`` if it is
            unknown).
        options: Options of the command line, with ``_`` instead of ``-``. ``lookalike.OPTIONS``
            describes each of them.

            - similarity: ``measure``, ``exact``, ``shingle`` (such as ``Words(5)``), ``tokens``,
              ``case``, ``normalize``, ``stop_words``, ``frequencies``
            - groups: ``keep``, ``group``, ``path_field``, ``source_field``, ``decisions``
            - parts of documents: ``unit``
            - bad documents: ``skip_bad``
            - resources: ``threads``, ``memory``, ``temp_dir``
            - signatures: ``num_hashes``, ``bands``, ``rows``, ``scheme``, ``seed``

    Raises:
        OptionError: An option is unknown, or has an invalid value.
        DocumentError: A document cannot be used. The attribute ``row`` is its row number.
        FileError: A file cannot be read.
        KeyboardInterrupt: The user pressed Ctrl-C. The call raises it when the work has stopped,
            or after a second if the work waits for a pipe. It raises the exceptions of other
            signal handlers in the same way.

    Warns:
        RunawayWarning: The run takes long, because many documents are compared that are not
            similar.
        IdWarning: The column ``id`` has values that cannot be ids, so the ids are row numbers.

    Examples:
        >>> import lookalike
        >>> found = lookalike.find(
        ...     ["the same old story again", "The same old story, again.", "news"]
        ... )
        >>> found.groups["id"], found.counts["duplicates"]
        ([1, 0], 1)
    """
    listed = _listed(pairs, reference_pairs, estimates, reference is not None)
    run = Run({"threshold": threshold, "recall": recall, **listed, **options}, text, id, reference)
    return run.result(run.take(docs), progress)


def find_files(
    paths: Paths,
    *,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | None = None,
    id: str | None = None,
    reference: Documents | Index | None = None,
    pairs: bool = False,
    reference_pairs: bool = False,
    estimates: bool = False,
    progress: bool | Progress | None = False,
    **options: Unpack[FindFilesOptions],
) -> FindResult:
    """Finds the near-duplicates among the documents of files, as ``lookalike find`` does.

    Args:
        paths: A file, a folder, or a pattern such as ``news/*.jsonl``; or several of these.
        threshold: As for ``find``.
        recall: As for ``find``.
        text: The field or column of texts; ``"text"`` by default.
        id: The field or column of ids; ``"id"`` by default. ``":line"`` makes the ids FILE:LINE.
        reference: As for ``find``. Files are read with the same options as ``paths``.
        pairs: As for ``find``.
        reference_pairs: As for ``find``.
        estimates: As for ``find``.
        progress: As for ``find``.
        options: Options of ``find``, and of ``Files``: ``format``, ``include``, ``exclude``,
            ``all_files``, ``follow``, ``delimiter``, ``encoding``, ``html``, ``quotes``,
            ``mail_signatures``, ``attachments``, ``max``.

    Raises:
        FileError: A file does not exist or cannot be read.

    See ``find`` for other errors, warnings and cost.

    Examples:
        >>> import lookalike, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "draft.txt").write_text("we meet on monday at ten in the hall")
        >>> _ = (folder / "final.txt").write_text("We meet on Monday at ten in the hall!")
        >>> lookalike.find_files(folder)
        FindResult(documents=2, groups=1, duplicates=1)
    """
    check_options(options, "find_files", FindFilesOptions, ())
    reading, others = split_options(options)
    listed = _listed(pairs, reference_pairs, estimates, reference is not None)
    run = Run({"threshold": threshold, "recall": recall, **listed, **others}, text, id, reference)
    return run.result(run.take(Files(paths, **reading)), progress)


def _listed(
    pairs: bool, reference_pairs: bool, estimates: bool, has_reference: bool
) -> dict[str, Any]:
    """Returns the options about the list of pairs.

    Raises:
        OptionError: ``reference_pairs`` is true without ``pairs=True`` or without a reference.
    """
    if flag_option("reference_pairs", reference_pairs) and not (pairs and has_reference):
        missing = "a reference" if pairs else "pairs=True"
        raise OptionError(f"reference_pairs lists pairs with a reference, and needs {missing}")
    return {"pairs": pairs, "reference_pairs": reference_pairs, "estimates": estimates}


def with_decisions(options: dict[str, Any]) -> dict[str, Any]:
    """Converts the option ``decisions`` for the engine."""
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
        reference: Documents | Index | None = None,
        function: str = "find",
        accepted: Any = Options,
        others: Collection[str] = OTHER_OPTIONS,
    ) -> None:
        check_options(options, function, accepted, others)
        self.options = _with_drop(with_decisions(with_columns(options, text, id_)))
        self._text, self._id = text, id_
        # The columns that `keep`, `path_field` and `source_field` name, in the order that the
        # engine expects.
        deciding: dict[str, Any] = {key: options[key] for key in _DECIDING if key in options}
        self._fields = _engine.fields(deciding)
        self._call_options = options
        self._references: list[InputDocuments] = []
        if isinstance(reference, Index):
            # The engine opens the index a second time, for reading.
            opened = self._take(Files(reference.name))
            self._references = [replace(opened, reading=None)]
        elif reference is not None:
            self._references = [self._take(reference)]
        self.reference = self._references[0].engine if self._references else None

    def take(self, docs: Documents, back: bool = False, changed: bool = False) -> InputDocuments:
        """Converts documents for the engine, and adds the options that follow from their type.

        Args:
            docs: The documents.
            back: Whether the function returns some of the documents to its caller.
            changed: Whether the function returns changed texts. The texts then stay in memory,
                also with ``memory``.
        """
        documents = self._take(docs, back, changed)
        refuse_unused(documents, *self._references)
        refuse_file_rules(self._call_options, documents)
        reading = reading_options(documents, *self._references)
        self.options = {**token_rule(self.options, documents, *self._references), **reading}
        return documents

    def _take(self, docs: Documents, back: bool = False, changed: bool = False) -> InputDocuments:
        return input_documents(
            docs,
            text=self._text,
            id=self._id,
            tokens=self._call_options.get("tokens"),
            fields=self._fields,
            back=back,
            alone=False,
            memory=None if changed else memory_options(self._call_options),
        )

    def find(
        self, documents: InputDocuments, progress: bool | Progress | None, related: bool = False
    ) -> _engine.Findings:
        """Runs the engine. ``related`` also collects the neighbours for annotations."""
        with reporting(progress) as reporter:
            return _engine.find(documents.engine, self.reference, self.options, related, reporter)

    def result(self, documents: InputDocuments, progress: bool | Progress | None) -> FindResult:
        """Runs the engine and wraps its findings."""
        findings = self.find(documents, progress)
        rows = None if isinstance(documents.engine, list) else len(documents.engine)
        # `explain` compares texts that were already read, so options of files do not apply.
        comparing = CompareOptions.__optional_keys__.difference(FILE_OPTIONS)
        options = {name: value for name, value in self.options.items() if name in comparing}
        return FindResult(findings, rows, options)
