"""Groups of near-duplicates, and collections without them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeVar

from lookalike import _engine
from lookalike._inputs import Given, given, refuse_unused
from lookalike._options import (
    Options,
    Unpack,
    check_options,
    flag_option,
    named,
    path_option,
    whole_option,
)
from lookalike._progress import Progress, shown
from lookalike._results import Table
from lookalike.errors import OptionError

__all__ = ["Found", "Group", "Member", "Written", "dedup", "find"]


_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Member:
    """A document of a group."""

    #: Its id, of the type that was given; its row where none was given.
    id: Any
    #: Exact similarity to the keeper, 0 to 1, with six decimals; 1 for the keeper itself.
    similarity: float


@dataclass(frozen=True)
class Group:
    """Documents of which one is kept."""

    #: The document that is kept.
    keeper: Any
    #: Its duplicates, by descending similarity.
    duplicates: tuple[Member, ...]

    def __len__(self) -> int:
        return 1 + len(self.duplicates)


class Found:
    """The result of :func:`find`.

    >>> import lookalike
    >>> found = lookalike.find({"a": "one two three four five six", "b": "One, two, three; four five six!", "c": "x"})
    >>> found
    Found(documents=3, groups=1, duplicates=1)
    >>> [(group.keeper, [d.id for d in group.duplicates]) for group in found]
    [('b', ['a'])]
    """

    def __init__(self, findings: _engine.Findings) -> None:
        self._findings = findings
        self._made: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """A value that is computed at its first use. There is no lock, such as
        ``functools.cached_property`` has up to Python 3.11: if another thread holds it while
        this process forks, the child waits forever."""
        if name not in self._made:
            self._made[name] = make()
        made: _Made = self._made[name]
        return made

    @property
    def engine(self) -> _engine.Findings:
        """The object of the engine; private to the package."""
        return self._findings

    def __iter__(self) -> Iterator[Group]:
        """The groups, largest first."""
        table = self.groups
        measure = table.column_names[-3] if "row" in table.column_names else table.column_names[-1]
        columns = (table["group"], table["id"], table["keeper"], table[measure])
        number, keeper, duplicates = None, None, list[Member]()
        for group, id_, kept, similarity in zip(*columns, strict=True):
            if group != number:
                if number is not None:
                    yield Group(keeper, tuple(duplicates))
                number, keeper, duplicates = group, kept, []
            if similarity is not None:
                duplicates.append(Member(id_, similarity))
        if number is not None:
            yield Group(keeper, tuple(duplicates))

    def __len__(self) -> int:
        """How many groups there are."""
        return int(self.counts["groups"])

    @property
    def groups(self) -> Table:
        """A row for each document of a group: ``group`` (from 1), ``id``, ``role`` (``keeper`` or
        ``duplicate``), ``keeper`` (an id), ``jaccard`` (float64, null for keepers; ``containment``
        behind it where that is the measure), and for documents in memory ``row`` and
        ``keeper_row`` (from 0; null for a reference)."""
        return self._once("groups", lambda: Table(self._findings.groups()))

    @property
    def pairs(self) -> Table:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard`` (and ``containment``).

        :raises OptionError: pairs were not asked for by ``find(…, pairs=True)``.
        """
        return self._once("pairs", lambda: Table(self._findings.pairs()))

    @property
    def skipped(self) -> Table:
        """Skipped records: ``source``, ``line`` (from 1; for documents in memory the row, from
        0), ``id``, ``reason``."""
        return self._once("skipped", lambda: Table(self._findings.skipped()))

    @property
    def empty(self) -> Table:
        """Documents without a token, which are similar to no document: ``id``, ``same_text_as`` (the id of
        the first one that has the same text; null without one)."""
        return self._once("empty", lambda: Table(self._findings.empty()))

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of documents, references, empty and skipped ones, copies (equal shingles),
        candidates, verified pairs, groups and duplicates."""
        return self._once("counts", lambda: self._findings.counts())

    @property
    def cut_from_mail(self) -> dict[str, int]:
        """Text that was cut from messages: ``quoting_messages``, ``signed_messages``,
        ``signature_words``, ``signature_bytes``."""
        return self._once("cut_from_mail", lambda: self._findings.cut_from_mail())

    @property
    def folding(self) -> dict[str, Any]:
        """How many documents of a sample ``normalize="fold"`` changes: ``documents`` (0 where texts
        are folded already), ``changed``, and ``scripts``, a dict of counts."""
        return self._once("folding", lambda: self._findings.folding())

    @property
    def parameters(self) -> dict[str, Any]:
        """The chosen parameters (bands, rows, …) and their predicted recall; with ``bands="auto"``
        also ``bands_sample``, for how many documents they were chosen."""
        return self._once("parameters", lambda: self._findings.parameters())

    @property
    def better_setting(self) -> dict[str, Any] | None:
        """Where few documents are in groups, the setting of ``docs/choosing.md`` that finds clearly
        more, as reports have it: ``in_use`` and ``better``, each a dict of ``job``, ``measure``,
        ``shingle``, ``threshold``, ``documents``, ``with_neighbour``, ``with_passage``, ``pairs``
        and ``background``; and ``options``, those that :func:`find` takes for it. ``None`` where
        there is no such setting, and where the collection is not small."""
        return self._once("better_setting", lambda: _better_setting(self._findings.better_setting()))

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage."""
        return self._once("seconds", lambda: dict(self._findings.times()))

    def text(self, row: int) -> str:
        """The text of a document, by its number in reading order, which for documents in memory
        is its row.

        :raises DocumentError: there is no such document, or it was skipped.
        :raises FileError: it is in a file that cannot be read any more, or was named by a path that
            leads elsewhere from the working directory of this call.
        :raises OptionError: the documents are in an index, which gives their texts.
        """
        number = whole_option("row", row, 0)
        return self._findings.text(number)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the groups to a file ``.jsonl``, ``.csv`` (also ``.gz``, ``.zst``) or
        ``.parquet``: the bytes that ``lookalike find -o`` writes.

        :raises FileError: it cannot be written, or the name does not say what to write.
        """
        self._findings.write("groups", path_option("path", path))

    def write_pairs(self, path: str | os.PathLike[str]) -> None:
        """Writes the verified pairs to a file ``.csv`` or ``.parquet``."""
        self._findings.write("pairs", path_option("path", path))

    def write_skipped(self, path: str | os.PathLike[str]) -> None:
        """Writes what was not read, and the empty documents, to a file ``.csv``."""
        self._findings.write("skipped", path_option("path", path))

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole run to a file: ``.json``, which :func:`lookalike.audit` reads, or
        ``.html``, a page for people. Documents that the page shows are read again.
        """
        self._findings.write("report", path_option("path", path))

    def __copy__(self) -> Found:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Found cannot be pickled: it has the documents in memory, or what is left of their "
            "files; pickle its tables (found.groups, found.pairs, found.skipped), found.counts, or "
            "list(found)"
        )

    def __repr__(self) -> str:
        c = self.counts
        counts = f"documents={c['documents']}, groups={c['groups']}, duplicates={c['duplicates']}"
        return f"Found({counts}{_advice(self.better_setting)})"


def _better_setting(engine: tuple[str, dict[str, Any]] | None) -> dict[str, Any] | None:
    if engine is None:
        return None
    text, options = engine
    return {**json.loads(text), "options": options}


def _advice(better: dict[str, Any] | None) -> str:
    """The sentence of the command line's summary about a setting that finds more."""
    if better is None:
        return ""
    used, other = better["in_use"], better["better"]
    options = ", ".join(f"{name}={value!r}" for name, value in better["options"].items())
    return (
        f"; {used['with_neighbour']} of {used['documents']} documents have a neighbour by these "
        f"settings; {other['with_neighbour']} have one by {options}, and {other['with_passage']} "
        f"of them share a passage with it; that setting is for {other['job']}"
    )


def find(
    docs: Any,
    *,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | None = None,
    id: str | Literal[False] | None = None,  # noqa: A002 - the name of the column
    reference: Any = None,
    pairs: bool = False,
    estimates: bool = False,
    progress: bool | Progress | None = False,
    **options: Unpack[Options],
) -> Found:
    """Finds the near-duplicates among documents. Every pair that is reported was compared exactly.

    :param docs: a list of ``str``, ``(id, text)`` pairs, dicts or a dict of texts by id; a table of
        pyarrow, polars, pandas, DuckDB or Hugging Face datasets; anything with the Arrow PyCapsule
        interface; or a path, a pattern or a list of paths, read as ``lookalike find`` does.
    :param threshold: least exact similarity of two documents' shingles; above 0, at most 1.
    :param recall: least predicted share of the pairs *at* the threshold that are found; above 0,
        below 1. More similar ones are missed less often.
    :param text: the column of texts of a table or of dicts; ``"text"`` by default.
    :param id: the column of ids (``str`` or ``int``, no two the same); ``"id"`` where there is
        one, else rows, from 0; ``False`` for rows in any case.
    :param reference: documents that are always kept, of any of these kinds; those of ``docs`` that
        resemble one of them are its duplicates.
    :param pairs: whether all verified pairs are listed, too.
    :param estimates: whether the pairs have ``estimated_jaccard``, ``error`` and
        ``standard_error`` of their signatures; needs ``pairs=True``.
    :param progress: ``True`` for bars by tqdm, or a function of the stage (``str``), how much of it
        is done and of how much (``int``, or ``None`` where that is not known).
    :param options: those of the command line, named with ``_`` for ``-``; :data:`OPTIONS` lists
        them: ``shingle="words:5"``, ``measure="containment"``, ``exact=True``, ``keep="first"``,
        ``threads=4``, ``skip_bad=True``, …

    :raises OptionError: an option cannot be what was given.
    :raises DocumentError: a document cannot be used; ``row`` says which.
    :raises FileError: a file cannot be read.
    :raises KeyboardInterrupt: Ctrl-C, when the work has stopped; so a handler's own exception. Work
        that waits for a pipe is left behind after a second.
    :warns RunawayWarning: many documents look alike without being similar, which takes long.

    The interpreter is free meanwhile; documents in memory are not copied, but for a ``str`` that is
    not all ASCII, of which the interpreter keeps a copy in UTF-8 with it. Cost: one pass over the
    texts at some hundreds of MB per second and core, and about ``8 · bands + 130`` bytes of
    memory per document.

    >>> import lookalike
    >>> found = lookalike.find(["the same old story again", "The same old story, again.", "news"])
    >>> found.groups["id"], found.counts["duplicates"]
    ([1, 0], 1)
    """
    listed = {"pairs": pairs, "estimates": estimates}
    run = _Run({"threshold": threshold, "recall": recall, **listed, **options}, text, id, reference)
    return Found(run.find(run.take(docs).engine, progress))


_DECIDING = ("keep", "source_field")


class _Run:
    """The work of a call whose arguments are valid."""

    def __init__(
        self,
        options: dict[str, Any],
        text: str | None,
        id_: str | Literal[False] | None,
        reference: Any,
    ) -> None:
        check_options(options, "find")
        self.options = named(options, text, id_)
        self._text, self._id = text, id_
        # The columns that decide what is kept, in the order in which the engine asks for them.
        deciding: dict[str, Any] = {key: options[key] for key in _DECIDING if key in options}
        self._fields = _engine.fields(deciding)
        self._given = options
        self._beside = [] if reference is None else [self._take(reference)]
        self.reference = self._beside[0].engine if self._beside else None

    def take(self, docs: Any, back: bool = False) -> Given:
        taken = self._take(docs, back)
        refuse_unused(self._given, taken, *self._beside)
        return taken

    def _take(self, docs: Any, back: bool = False) -> Given:
        return given(
            docs, text=self._text, id=self._id, fields=self._fields, back=back, alone=False
        )

    def find(
        self,
        documents: _engine.Documents | list[str],
        progress: bool | Progress | None,
        related: bool = False,
    ) -> _engine.Findings:
        with shown(progress) as reporter:
            return _engine.find(documents, self.reference, self.options, related, reporter)


@dataclass(frozen=True, repr=False)
class Written:
    """The result of :func:`dedup` for files."""

    #: Documents that are kept.
    kept: int
    #: Documents that were removed, or marked.
    removed: int
    #: Files written.
    files: int
    #: The chosen parameters (bands, rows, …), as :attr:`Found.parameters` has it.
    parameters: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    #: A setting that finds clearly more, as :attr:`Found.better_setting` has it.
    better_setting: dict[str, Any] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        counts = f"kept={self.kept}, removed={self.removed}, files={self.files}"
        return f"Written({counts}{_advice(self.better_setting)})"


def dedup(
    docs: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    annotate: bool = False,
    removed: str | os.PathLike[str] | None = None,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | None = None,
    id: str | Literal[False] | None = None,  # noqa: A002 - the name of the column
    reference: Any = None,
    progress: bool | Progress | None = False,
    **options: Unpack[Options],
) -> Any:
    """Documents without their near-duplicates.

    Documents in memory come back in the type that they were given in: a list as a list, a
    ``pandas.DataFrame`` as one, a ``datasets.Dataset`` as one. Streams (a ``RecordBatchReader``, a
    DuckDB relation) come back as a ``pyarrow.Table``, iterables as a list. Rows are those at the
    beginning of the call; streams and queries are read once.

    :param docs: as for :func:`find`.
    :param output: for paths, the file or folder to write, in the format of the input, as
        ``lookalike dedup -o`` does; the result is a :class:`Written`. A folder is one that is there,
        or a ``str`` with ``/`` at its end, which a ``Path`` has not.
    :param annotate: keeps all documents and says of each what was decided; for paths as
        ``docs/dedup.md`` says, with ``related`` and a neighbour among it. Tables get the columns
        ``lookalike_kept``, ``lookalike_group``, ``lookalike_keeper``, ``lookalike_jaccard`` (and
        ``lookalike_containment`` where that is the measure), ``lookalike_reason``,
        ``lookalike_neighbour`` and ``lookalike_neighbour_jaccard`` (and
        ``lookalike_neighbour_containment``); lists become lists of pairs (document, dict of these).
    :param removed: for paths, a file ``.csv`` or ``.jsonl`` for the documents that go, with what
        stays for them and why. Inputs are never written over.
    :raises OptionError: an output is an input, or a column of an annotation is there already.

    Other parameters, errors and cost are those of :func:`find`.

    >>> import lookalike
    >>> lookalike.dedup(["b a n a n a s", "B A N A N A S !", "apples"])
    ['B A N A N A S !', 'apples']
    """
    annotate = flag_option("annotate", annotate)
    run = _Run({"threshold": threshold, "recall": recall, **options}, text, id, reference)
    documents = run.take(docs, back=True)
    if isinstance(documents.engine, list):
        return _dedup_files(run, documents.engine, output, annotate, removed, progress)
    if output is not None or removed is not None:
        raise OptionError(
            "output and removed are for files; documents in memory are given back, write them "
            "with what they are from"
        )
    if annotate:
        documents.refuse_added()
    rows = len(documents.engine)
    decisions = run.find(documents.engine, progress, annotate).decisions(rows)
    table = Table(decisions)
    if not annotate:
        return documents.select(table["kept"])
    if documents.annotate is not None:
        return documents.annotate(decisions, {name: f"lookalike_{name}" for name in table.column_names})
    everything = documents.select([True] * rows)
    pairs = everything.items() if isinstance(everything, dict) else everything
    return list(zip(pairs, table, strict=True))


def _dedup_files(
    run: _Run,
    paths: list[str],
    output: str | os.PathLike[str] | None,
    annotate: bool,
    removed: str | os.PathLike[str] | None,
    progress: bool | Progress | None,
) -> Written:
    if output is None:
        raise OptionError(
            "documents of files are written to files: output names one, in the format of the "
            "input, or a folder for several"
        )
    with shown(progress) as reporter:
        kept, gone, files, parameters, better = _engine.dedup(
            paths,
            run.reference,
            run.options,
            path_option("output", output),
            annotate,
            None if removed is None else path_option("removed", removed),
            reporter,
        )
    return Written(kept, gone, files, parameters, _better_setting(better))
