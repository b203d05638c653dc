"""What a search for near-duplicates found."""

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
    """Its id, of the type that was given; its row where none was given."""
    similarity: float
    """Exact similarity to the keeper, 0 to 1, with six decimals; 1 for the keeper itself."""


@dataclass(frozen=True)
class Group:
    """Documents of which one is kept."""

    keeper: Any
    """The document that is kept."""
    duplicates: tuple[Member, ...]
    """Its duplicates, by descending similarity."""

    def __len__(self) -> int:
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
        # How many documents in memory there are.
        self._rows = rows
        # What is similar, as ``lookalike.compare`` takes it.
        self._options = options

    @property
    def engine(self) -> _engine.Findings:
        """The object of the engine; private to the package."""
        return self._findings

    def __iter__(self) -> Iterator[Group]:
        """The groups, largest first."""
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
        """A group, or several, by their places in the order of ``__iter__``, from 0."""
        return self._groups[group]

    @property
    @once
    def _groups(self) -> list[Group]:
        return list(self)

    def __len__(self) -> int:
        """How many groups there are."""
        return int(self.counts["groups"])

    @property
    @once
    def is_kept(self) -> list[bool]:
        """Of each document in memory, by its row, whether it stays: ``frame[found.is_kept]``.

        Raises:
            OptionError: The documents are in files, or parts of them were compared.
        """
        return Table(self._findings.decisions(self._row_count("is_kept")))["kept"]

    @property
    @once
    def kept_rows(self) -> list[int]:
        """The rows of the documents in memory that stay, from 0, ascending:
        ``dataset.select(found.kept_rows)``.

        Raises:
            OptionError: As ``is_kept``.
        """
        return [row for row, stays in enumerate(self.is_kept) if stays]

    @property
    @once
    def labels(self) -> list[int]:
        """A number for each document in memory, by its row: documents of a group have the least row
        of theirs, all others their own.

        Raises:
            OptionError: As ``is_kept``.
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
                f"{name} is for documents in memory by their rows; groups lists documents of "
                "files by their ids"
            )
        if "parent" in self.groups.column_names:
            raise OptionError(
                f"{name} is for whole documents; groups has their parts, by row and range"
            )
        return self._rows

    @property
    @once
    def groups(self) -> Table:
        """A row for each document of a group: ``group`` (from 1), ``id``, ``role`` (``keeper`` or
        ``duplicate``), ``keeper`` (an id), ``jaccard`` (float64, null for keepers; ``containment``
        behind it where that is the measure), and for documents in memory ``row`` and ``keeper_row``
        (from 0; null for a reference). With ``unit`` also ``parent``, the id of the document, and
        where the unit is in its text: ``start`` and ``end`` in bytes, ``start_char`` and
        ``end_char`` in characters.
        """
        return Table(self._findings.groups())

    @property
    @once
    def pairs(self) -> Table:
        """A row for each verified pair: ``id_a``, ``id_b``, ``jaccard`` (and ``containment``); with
        ``unit`` the columns of ``groups`` about units, with ``_a`` and ``_b``.

        Raises:
            OptionError: Pairs were not requested by ``find(…, pairs=True)``.
        """
        return Table(self._findings.pairs())

    @property
    def has_pairs(self) -> bool:
        """Whether all verified pairs are listed."""
        return self._findings.has_pairs()

    @property
    @once
    def skipped(self) -> Table:
        """Skipped records: ``source``, ``line`` (from 1), ``id``, ``reason``, and for documents in
        memory ``row`` (from 0).
        """
        return Table(self._findings.skipped())

    @property
    @once
    def empty(self) -> Table:
        """Documents without a token, which are similar to no document: ``id``, ``same_text_as``
        (the id of the first one that has the same text; null without one).
        """
        return Table(self._findings.empty())

    @property
    @once
    def counts(self) -> dict[str, int]:
        """Numbers of documents, references, empty and skipped ones, copies (equal shingles),
        candidates, compared pairs (``verified``), groups and duplicates.
        """
        return self._findings.counts()

    @property
    @once
    def sources(self) -> Table:
        """A row for each source, in reading order: ``source`` (a file, a folder directly below a
        folder of texts, or the value of ``source_field``; documents in memory without one are
        ``documents`` and ``reference``), ``reference`` (whether its documents always stay),
        ``documents`` (empty ones included), ``bytes`` of their texts, ``duplicates`` and
        ``duplicate_bytes``.

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
        """What became of the decisions that were given: how many were applied, which had no effect,
        which contradict each other, which are asked again; ``None`` without decisions.

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
        """Text that was cut from messages: ``quoting_messages``, ``signed_messages``,
        ``signature_words``, ``signature_bytes``.
        """
        return self._findings.cut_from_mail()

    @property
    @once
    def folding(self) -> dict[str, Any]:
        """How many documents of a sample ``normalize="fold"`` changes: ``documents`` (0 where texts
        are folded already), ``changed``, and ``scripts``, a dict of counts.
        """
        return self._findings.folding()

    @property
    @once
    def parameters(self) -> dict[str, Any]:
        """The chosen parameters (bands, rows, …) and their predicted recall; with ``bands="auto"``
        also ``bands_sample``, for how many documents they were chosen.
        """
        return self._findings.parameters()

    @property
    @once
    def better_setting(self) -> dict[str, Any] | None:
        """Where few documents are in groups, the setting of ``docs/choosing.md`` that finds clearly
        more, as reports have it: ``in_use`` and ``better``, each a dict of ``job``, ``measure``,
        ``shingle``, ``threshold``, ``documents``, ``with_neighbour``, ``with_passage``, ``pairs``
        and ``background``; and ``options``, those that ``find`` takes for it. ``None`` where
        there is no such setting, and where the collection is not small.
        """
        return better_setting_of(self._findings.better_setting())

    @property
    @once
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of each stage."""
        return dict(self._findings.times())

    def text(self, row: int | str | None = None, *, id: Any = None) -> str:
        """The text of a document, by its number in reading order, which for documents in memory
        is its row; or by its id, in one pass over the ids.

        Args:
            row: The number; a ``str`` is an id.
            id: The id, also one that is a number.

        Raises:
            DocumentError: There is no such document, or it was skipped.
            FileError: It is in a file that cannot be read any more, or was named by a path that
                leads elsewhere from the working directory of this call.
            OptionError: The documents are in an index, which gives their texts; or units were
                compared, which are named by their ids.
        """
        return self._findings.text(*row_or_id(row, id))

    def explain(self, a: Any, b: Any) -> Explanation:
        """Why two documents are, or are not, in one group: their similarity and differences, what
        became of both, and a sentence.

        Args:
            a, b: Their ids.

        Raises:
            DocumentError: There is no such document.
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
        """Writes the groups to a file ``.jsonl``, ``.csv`` (also ``.gz``, ``.zst``) or
        ``.parquet``: the bytes that ``lookalike find -o`` writes.

        Raises:
            FileError: It cannot be written, or the name does not say what to write.
        """
        self._findings.write("groups", path_option("path", path))

    def write_pairs(self, path: str | os.PathLike[str]) -> None:
        """Writes the verified pairs to a file ``.csv`` or ``.parquet``."""
        self._findings.write("pairs", path_option("path", path))

    def write_skipped(self, path: str | os.PathLike[str]) -> None:
        """Writes what was not read, and the empty documents, to a file ``.csv``."""
        self._findings.write("skipped", path_option("path", path))

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole run to a file: ``.json``, which ``lookalike.audit`` reads, or
        ``.html``, a page for people. Documents that the page shows are read again.
        """
        self._findings.write("report", path_option("path", path))

    def _repr_html_(self) -> str:
        """The page of ``write_report`` in a frame, for notebooks."""
        return frame_page(self.write_report, repr(self))

    def __copy__(self) -> FindResult:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a FindResult cannot be pickled or deep-copied: it refers to documents in memory, or "
            "to files that may change; pickle its tables (found.groups, found.pairs, "
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
