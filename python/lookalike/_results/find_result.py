"""The result of a search for near-duplicates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, SupportsIndex, overload

from lookalike import _engine
from lookalike._decisions import DecisionCounts, decision_counts
from lookalike._options import path_option, row_or_id
from lookalike._results.explanation import Explanation, explain_pair
from lookalike._results.notebook import frame_page
from lookalike._results.once import once
from lookalike._results.table import Table
from lookalike.errors import OptionError


@dataclass(frozen=True)
class Member:
    """A document of a group."""

    id: Any
    """The id of the document, in the type of the input; its row number if it has no id."""
    similarity: float
    """The exact similarity to the keeper, 0 to 1, with six decimals."""


@dataclass(frozen=True)
class Group:
    """A kept document and its duplicates."""

    keeper: Any
    """The id of the kept document."""
    duplicates: tuple[Member, ...]
    """The duplicates, sorted by descending similarity."""

    def __len__(self) -> int:
        """Returns the number of documents, the keeper included."""
        return 1 + len(self.duplicates)


class FindResult:
    """The result of ``find``.

    Examples:
        >>> import lookalike
        >>> found = lookalike.find(
        ...     {
        ...         "a": "one two three four five six",
        ...         "b": "One, two, three; four five six!",
        ...         "c": "x",
        ...     }
        ... )
        >>> found
        FindResult(documents=3, groups=1, duplicates=1)
        >>> [(group.keeper, [d.id for d in group.duplicates]) for group in found]
        [('b', ['a'])]
    """

    def __init__(
        self,
        findings: _engine.Findings,
        rows: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._findings = findings
        # The number of rows of documents in memory; `None` for files and indexes.
        self._rows = rows
        # The options about similarity, which `explain` passes to `lookalike.compare`.
        self._options = options

    @property
    def engine(self) -> _engine.Findings:
        """The engine's object, for use within the package."""
        return self._findings

    def __iter__(self) -> Iterator[Group]:
        """Yields the groups, largest first."""
        table = self.groups
        measure = "containment" if "containment" in table.column_names else "jaccard"
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

    @overload
    def __getitem__(self, group: SupportsIndex) -> Group: ...
    @overload
    def __getitem__(self, group: slice) -> list[Group]: ...
    def __getitem__(self, group: SupportsIndex | slice) -> Group | list[Group]:
        """Returns one or several groups by their places, from 0, largest group first."""
        return self._groups[group]

    @property
    @once
    def _groups(self) -> list[Group]:
        return list(self)

    def __len__(self) -> int:
        """Returns the number of groups."""
        return int(self.counts["groups"])

    @property
    @once
    def is_kept(self) -> list[bool]:
        """For each row of the documents in memory, whether the document is kept. Use it as a mask:
        ``frame[found.is_kept]``.

        Raises:
            OptionError: The documents are in files or an index, or the run compared parts of them
                (``unit``).
        """
        return Table(self._findings.decisions(self._row_count("is_kept")))["kept"]

    @property
    @once
    def kept_rows(self) -> list[int]:
        """The row numbers of the kept documents in memory, from 0, ascending. Use them to select:
        ``dataset.select(found.kept_rows)``.

        Raises:
            OptionError: As for ``is_kept``.
        """
        return [row for row, kept in enumerate(self.is_kept) if kept]

    @property
    @once
    def labels(self) -> list[int]:
        """For each row of the documents in memory, the least row number of its group, or its own
        row number without a group.

        Raises:
            OptionError: As for ``is_kept``.
        """
        labels = list(range(self._row_count("labels")))
        members = (self.groups["group"], self.groups["row"])
        least: dict[int, int] = {}
        for group, row in zip(*members, strict=True):
            if row is not None:
                least[group] = min(row, least.get(group, row))
        for group, row in zip(*members, strict=True):
            if row is not None:
                labels[row] = least[group]
        return labels

    def _row_count(self, name: str) -> int:
        if self._rows is None:
            raise OptionError(
                f"{name} is for documents in memory, by row; use groups, which lists documents of "
                "files by id"
            )
        if "parent" in self.groups.column_names:
            raise OptionError(
                f"{name} is for whole documents; use groups, which lists parts by row and range"
            )
        return self._rows

    @property
    @once
    def groups(self) -> Table:
        """A row for each document of a group.

        The columns are:

        - ``group`` (from 1), ``id``, ``role`` (``keeper`` or ``duplicate``), ``keeper`` (an id)
        - ``jaccard`` (float64, null for keepers), followed by ``containment`` if that is the
          measure
        - for documents in memory: ``row`` and ``keeper_row`` (from 0; null for a reference)
        - with ``unit``: ``parent`` (the id of the document) and the range of the unit in its text,
          ``start`` and ``end`` in bytes, ``start_char`` and ``end_char`` in characters
        """
        return Table(self._findings.groups())

    @property
    @once
    def pairs(self) -> Table:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard``, and ``containment`` if
        that is the measure. With ``unit`` also the columns of ``groups`` about units, with the
        suffixes ``_a`` and ``_b``. With ``estimates=True`` also ``estimated_jaccard``, ``error``
        and ``standard_error``.

        Raises:
            OptionError: Pairs were not requested by ``find(…, pairs=True)``.
        """
        return Table(self._findings.pairs())

    @property
    def has_pairs(self) -> bool:
        """Whether the run lists verified pairs."""
        return self._findings.has_pairs()

    @property
    @once
    def skipped(self) -> Table:
        """A row for each skipped record: ``source``, ``line`` (from 1), ``id``, ``reason``, and
        for documents in memory ``row`` (from 0).
        """
        return Table(self._findings.skipped())

    @property
    @once
    def empty(self) -> Table:
        """A row for each document without a token: ``id`` and ``same_text_as``. These documents
        are similar to no document. ``same_text_as`` is the id of the first document with the same
        text, or null if there is none before.
        """
        return Table(self._findings.empty())

    @property
    @once
    def counts(self) -> dict[str, int]:
        """The numbers of ``documents``, ``reference`` documents, ``empty`` documents, ``skipped``
        records, ``copies`` (documents with the same shingles as an earlier one), ``candidates``,
        compared pairs (``verified``), ``groups`` and ``duplicates``.
        """
        return self._findings.counts()

    @property
    @once
    def sources(self) -> Table:
        """A row for each source, in reading order.

        The columns are:

        - ``source``: an input file of records, a direct subfolder of an input folder of text
          files, or a value of ``source_field``. Documents in memory without ``source_field`` have
          the sources ``documents`` and ``reference``.
        - ``reference``: whether the documents of the source are always kept
        - ``documents``: the number of documents, including empty documents
        - ``bytes``: the bytes of their texts in UTF-8
        - ``duplicates`` and ``duplicate_bytes``: the same numbers for the duplicates

        Examples:
            >>> import lookalike
            >>> docs = [
            ...     {"text": "a b c d e f", "site": "x"},
            ...     {"text": "A B C D E F!", "site": "y"},
            ... ]
            >>> sources = lookalike.find(docs, source_field="site").sources
            >>> sources["source"], sources["documents"], sources["duplicates"]
            (['x', 'y'], [1, 1], [1, 0])
        """
        return Table(self._findings.sources())

    @property
    @once
    def decisions(self) -> DecisionCounts | None:
        """The effect of the user decisions on the run; ``None`` without decisions.
        ``DecisionCounts`` describes the numbers and lists.

        Examples:
            >>> import lookalike
            >>> docs = {
            ...     "a": "one two three four five six",
            ...     "b": "One, two, three; four five six!",
            ... }
            >>> found = lookalike.find(
            ...     docs, decisions=[{"decision": "not_duplicate", "documents": ["a", "b"]}]
            ... )
            >>> len(found), found.decisions.applied, found.decisions.asked_again
            (0, 1, [])
        """
        return decision_counts(self._findings.decision_counts())

    @property
    @once
    def cut_from_mail(self) -> dict[str, int]:
        """The amounts of text that were cut from mail messages: ``quoting_messages``,
        ``signed_messages``, ``signature_words`` and ``signature_bytes``.
        """
        return self._findings.cut_from_mail()

    @property
    @once
    def folding(self) -> dict[str, Any]:
        """The effect that ``normalize="fold"`` would have on a sample: the number of ``documents``
        (0 if the run folds texts), the number of ``changed`` documents, and ``scripts``, a dict of
        the number of changed documents by script.
        """
        return self._findings.folding()

    @property
    @once
    def parameters(self) -> dict[str, Any]:
        """The parameters of the run, such as bands and rows, and their predicted recall. With
        ``bands="auto"`` also ``bands_sample``, the number of sampled documents.
        """
        return self._findings.parameters()

    @property
    @once
    def better_setting(self) -> dict[str, Any] | None:
        """A setting that finds clearly more duplicates, if the run found few
        (``docs/guides/choosing.md``). ``None`` if there is no such setting, or if the run did not
        measure other settings, for example because the collection is large.

        The dict contains:

        - ``in_use`` and ``better``: the two settings, as in reports. Each is a dict of ``job``,
          ``measure``, ``shingle``, ``threshold``, ``documents``, ``with_neighbour``,
          ``with_passage``, ``pairs`` and ``background``.
        - ``options``: the options of ``find`` for the better setting
        """
        return better_setting_of(self._findings.better_setting())

    @property
    @once
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage."""
        return dict(self._findings.times())

    def text(self, row: int | str | None = None, *, id: Any = None) -> str:
        """Returns the text of a document. Pass either its row or its id. An id takes one pass over
        all ids.

        Args:
            row: The number of the document in reading order, from 0. For documents in memory, this
                is its row. A ``str`` is an id.
            id: The id, which may be an ``int``.

        Raises:
            DocumentError: The document does not exist, or was skipped.
            FileError: The file of the document cannot be read any more, or its relative path has
                another meaning in the current working directory.
            OptionError: The documents are in an index; read the text from the index. Or the call
                passed the row of documents in memory that were compared by units, or an id of
                another type than the ids of the run.
        """
        return self._findings.text(*row_or_id(row, id))

    def explain(self, a: Any, b: Any) -> Explanation:
        """Explains why two documents are, or are not, in the same group. Returns their similarity,
        their differences, their keepers, and the reason in a sentence.

        Args:
            a: The id of the first document.
            b: The id of the second document.

        Raises:
            DocumentError: A document does not exist.
            OptionError: The documents are in an index.

        Examples:
            >>> import lookalike
            >>> found = lookalike.find(
            ...     {
            ...         "a": "one two three four five six",
            ...         "b": "One, two, three; four five six!",
            ...         "c": "x",
            ...     }
            ... )
            >>> print(found.explain("a", "b").reason)
            'a' is a duplicate of 'b', which is kept.
        """
        return explain_pair(self._findings, self.groups, self.decisions, a, b, self._options)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the groups to a file ``.jsonl`` or ``.csv``, which may be compressed (``.gz``,
        ``.zst``), or to a file ``.parquet``. The bytes are the same as with ``lookalike find -o``.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("groups", path_option("path", path))

    def write_pairs(self, path: str | os.PathLike[str]) -> None:
        """Writes the verified pairs to a file ``.csv`` or ``.parquet``.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
            OptionError: Pairs were not requested by ``find(…, pairs=True)``.
        """
        self._findings.write("pairs", path_option("path", path))

    def write_skipped(self, path: str | os.PathLike[str]) -> None:
        """Writes the skipped records and the documents without a token to a file ``.csv``.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("skipped", path_option("path", path))

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole run to a file ``.json``, which ``lookalike.audit`` reads, or to a page
        ``.html`` for people. For the page, reads the displayed documents again.

        Raises:
            FileError: The file cannot be written, or its name has no known ending.
        """
        self._findings.write("report", path_option("path", path))

    def _repr_html_(self) -> str:
        """Returns the page of ``write_report`` in a frame, for notebooks."""
        return frame_page(self.write_report, repr(self))

    def __copy__(self) -> FindResult:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "cannot pickle or deep-copy a FindResult, which refers to documents in memory or to "
            "files that may change; pickle its tables (found.groups, found.pairs, "
            "found.skipped), found.counts, or list(found)"
        )

    def __repr__(self) -> str:
        c = self.counts
        counts = f"documents={c['documents']}, groups={c['groups']}, duplicates={c['duplicates']}"
        return f"FindResult({counts}{advice(self.better_setting)})"


def better_setting_of(engine: tuple[str, dict[str, Any]] | None) -> dict[str, Any] | None:
    if engine is None:
        return None
    text, options = engine
    return {**json.loads(text), "options": options}


def advice(better: dict[str, Any] | None) -> str:
    """Returns a text that recommends a better setting, as in the command line's summary; empty
    without one.
    """
    if better is None:
        return ""
    used, other = better["in_use"], better["better"]
    options = ", ".join(f"{name}={value!r}" for name, value in better["options"].items())
    return (
        f"; {used['with_neighbour']} of {used['documents']} documents have a neighbour by these "
        f"settings; {other['with_neighbour']} have one by {options}, and {other['with_passage']} "
        f"of them share a passage with it; that setting is for {other['job']}"
    )
