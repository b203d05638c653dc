"""Methods that extend tables and columns of other packages. They call the functions of this
package with the table or column as first argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, TypeVar

from lookalike._contamination import ContaminationResult, contamination
from lookalike._cut import cut
from lookalike._dedup import dedup
from lookalike._find import find
from lookalike._passages import PassagesResult, passages
from lookalike._prepare import PrepareResult, prepare
from lookalike._results.find_result import FindResult

KEPT, LABEL = "lookalike_kept", "lookalike_label"
"""The names of the columns that ``is_kept`` and ``labels`` return."""

_Docs = TypeVar("_Docs")
_Kept = TypeVar("_Kept")
_Column = TypeVar("_Column")

# The column of ids, or `False` for row numbers.
_Id = str | Literal[False] | None
# The column of texts, or several.
_Text = str | Sequence[str] | None


class _Columns(Generic[_Docs, _Column]):
    """The base class, which makes columns of results."""

    def __init__(self, docs: _Docs) -> None:
        self._docs: Any = docs

    def _column(self, values: Sequence[Any], name: str) -> _Column:
        """Makes a column of the other package, with a value for each row. The type is boolean for
        the name ``KEPT``, and a 64-bit integer for other names.
        """
        raise NotImplementedError


class FrameMethods(_Columns[_Docs, _Column], Generic[_Docs, _Kept, _Column]):
    """The methods of a table.

    ``text`` is the column of texts (``"text"`` by default), or several columns whose texts are
    joined. ``id`` is the column of ids. Other arguments are passed to the function of the same
    name; ``is_kept`` and ``labels`` pass them to ``lookalike.find``.
    """

    def find(self, text: _Text = None, *, id: _Id = None, **options: Any) -> FindResult:
        """Returns the groups of near-duplicates, as ``lookalike.find`` does."""
        return find(self._docs, text=text, id=id, **options)

    def dedup(self, text: _Text = None, *, id: _Id = None, **options: Any) -> _Kept:
        """Returns the rows without near-duplicates, as ``lookalike.dedup`` does. With
        ``annotate=True`` it returns all rows with the decision about each.
        """
        kept: _Kept = dedup(self._docs, text=text, id=id, **options)
        return kept

    def cut(self, text: str | None = None, *, id: _Id = None, **options: Any) -> _Kept:
        """Returns the rows without repeated passages, as ``lookalike.cut`` does."""
        kept: _Kept = cut(self._docs, text=text, id=id, **options)
        return kept

    def is_kept(self, text: _Text = None, *, id: _Id = None, **options: Any) -> _Column:
        """Returns the column ``lookalike_kept``, which is true for each row that is kept."""
        return self._column(find(self._docs, text=text, id=id, **options).is_kept, KEPT)

    def labels(self, text: _Text = None, *, id: _Id = None, **options: Any) -> _Column:
        """Returns the column ``lookalike_label``: for each row, the least row number of its group,
        or its own row number without a group. With ``group="components"``, two rows of a verified
        pair have the same label.
        """
        return self._column(find(self._docs, text=text, id=id, **options).labels, LABEL)

    def passages(self, text: _Text = None, *, id: _Id = None, **options: Any) -> PassagesResult:
        """Finds repeated passages in the texts, as ``lookalike.passages`` does."""
        return passages(self._docs, text=text, id=id, **options)

    def contamination(
        self,
        against: Any,
        text: _Text = None,
        *,
        id: _Id = None,
        **options: Any,
    ) -> ContaminationResult:
        """Finds the items of a benchmark that the rows contain, as ``lookalike.contamination``
        does.
        """
        return contamination(self._docs, against, text=text, id=id, **options)

    def prepare(self, text: _Text = None, *, id: _Id = None, **options: Any) -> PrepareResult:
        """Computes signatures and bucket keys of the rows, as ``lookalike.prepare`` does."""
        return prepare(self._docs, text=text, id=id, **options)


class ColumnMethods(_Columns[_Docs, _Column], Generic[_Docs, _Column]):
    """The methods of a column of texts.

    Arguments are passed to the function of the same name; ``is_kept`` and ``labels`` pass them to
    ``lookalike.find``.
    """

    def find(self, **options: Any) -> FindResult:
        """Returns the groups of near-duplicates, as ``lookalike.find`` does."""
        return find(self._docs, **options)

    def dedup(self, **options: Any) -> _Docs:
        """Returns the texts without near-duplicates, as ``lookalike.dedup`` does."""
        kept: _Docs = dedup(self._docs, **options)
        return kept

    def cut(self, **options: Any) -> _Docs:
        """Returns the texts without repeated passages, as ``lookalike.cut`` does."""
        kept: _Docs = cut(self._docs, **options)
        return kept

    def is_kept(self, **options: Any) -> _Column:
        """Returns the column ``lookalike_kept``, which is true for each text that is kept."""
        return self._column(find(self._docs, **options).is_kept, KEPT)

    def labels(self, **options: Any) -> _Column:
        """Returns the column ``lookalike_label``: for each text, the least row number of its
        group, or its own row number without a group.
        """
        return self._column(find(self._docs, **options).labels, LABEL)

    def passages(self, **options: Any) -> PassagesResult:
        """Finds repeated passages in the texts, as ``lookalike.passages`` does."""
        return passages(self._docs, **options)

    def contamination(self, against: Any, **options: Any) -> ContaminationResult:
        """Finds the items of a benchmark that the texts contain, as ``lookalike.contamination``
        does.
        """
        return contamination(self._docs, against, **options)

    def prepare(self, **options: Any) -> PrepareResult:
        """Computes signatures and bucket keys of the texts, as ``lookalike.prepare`` does."""
        return prepare(self._docs, **options)
