"""Methods of tables and columns of other packages: what the functions of this package do, with the
table as their first argument.
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
"""Names of columns."""

_Docs = TypeVar("_Docs")
_Kept = TypeVar("_Kept")
_Column = TypeVar("_Column")

# The column of ids, or ``False`` for rows.
_Id = str | Literal[False] | None
# The column of texts, or several.
_Text = str | Sequence[str] | None


class _Columns(Generic[_Docs, _Column]):
    """How a column of results is made."""

    def __init__(self, docs: _Docs) -> None:
        self._docs: Any = docs

    def _column(self, values: Sequence[Any], name: str) -> _Column:
        """A column of the package with a value for each row: booleans where it is called
        ``KEPT``, else integers of 64 bits.
        """
        raise NotImplementedError


class FrameMethods(_Columns[_Docs, _Column], Generic[_Docs, _Kept, _Column]):
    """The methods of a table: ``text`` is the column of texts (``"text"`` by default), or several
    whose texts are joined, ``id`` that of ids, and all other arguments are those of the function of
    the same name.
    """

    def find(self, text: _Text = None, *, id: _Id = None, **options: Any) -> FindResult:
        """Groups of near-duplicates, as ``lookalike.find`` has them."""
        return find(self._docs, text=text, id=id, **options)

    def dedup(self, text: _Text = None, *, id: _Id = None, **options: Any) -> _Kept:
        """The rows without near-duplicates, as ``lookalike.dedup`` gives them back; with
        ``annotate=True`` all rows, and what was decided about each.
        """
        kept: _Kept = dedup(self._docs, text=text, id=id, **options)
        return kept

    def cut(self, text: str | None = None, *, id: _Id = None, **options: Any) -> _Kept:
        """The rows without repeated passages, as ``lookalike.cut`` returns them."""
        kept: _Kept = cut(self._docs, text=text, id=id, **options)
        return kept

    def is_kept(self, text: _Text = None, *, id: _Id = None, **options: Any) -> _Column:
        """Whether each row stays: a column of booleans with the name ``lookalike_kept``."""
        return self._column(find(self._docs, text=text, id=id, **options).is_kept, KEPT)

    def labels(self, text: _Text = None, *, id: _Id = None, **options: Any) -> _Column:
        """A number that the rows of a group share, the least row among them: a column of integers
        with the name ``lookalike_label``. With ``group="components"`` no two rows with different
        labels form a verified pair.
        """
        return self._column(find(self._docs, text=text, id=id, **options).labels, LABEL)

    def passages(self, text: _Text = None, *, id: _Id = None, **options: Any) -> PassagesResult:
        """What is repeated inside of the texts, as ``lookalike.passages`` finds it."""
        return passages(self._docs, text=text, id=id, **options)

    def contamination(
        self,
        against: Any,
        text: _Text = None,
        *,
        id: _Id = None,
        **options: Any,
    ) -> ContaminationResult:
        """Which items of a benchmark the rows contain, as ``lookalike.contamination`` finds
        them.
        """
        return contamination(self._docs, against, text=text, id=id, **options)

    def prepare(self, text: _Text = None, *, id: _Id = None, **options: Any) -> PrepareResult:
        """Signatures and bucket keys of the rows, as ``lookalike.prepare`` computes them."""
        return prepare(self._docs, text=text, id=id, **options)


class ColumnMethods(_Columns[_Docs, _Column], Generic[_Docs, _Column]):
    """The methods of a column of texts: all arguments are those of the function of the same
    name.
    """

    def find(self, **options: Any) -> FindResult:
        """Groups of near-duplicates, as ``lookalike.find`` has them."""
        return find(self._docs, **options)

    def dedup(self, **options: Any) -> _Docs:
        """The texts without near-duplicates, as ``lookalike.dedup`` gives them back."""
        kept: _Docs = dedup(self._docs, **options)
        return kept

    def cut(self, **options: Any) -> _Docs:
        """The texts without repeated passages, as ``lookalike.cut`` returns them."""
        kept: _Docs = cut(self._docs, **options)
        return kept

    def is_kept(self, **options: Any) -> _Column:
        """Whether each text stays: a column of booleans with the name ``lookalike_kept``."""
        return self._column(find(self._docs, **options).is_kept, KEPT)

    def labels(self, **options: Any) -> _Column:
        """A number that the texts of a group share, as ``FrameMethods.labels`` gives it."""
        return self._column(find(self._docs, **options).labels, LABEL)

    def passages(self, **options: Any) -> PassagesResult:
        """What is repeated inside of the texts, as ``lookalike.passages`` finds it."""
        return passages(self._docs, **options)

    def contamination(self, against: Any, **options: Any) -> ContaminationResult:
        """Which items of a benchmark the texts contain, as ``lookalike.contamination`` finds
        them.
        """
        return contamination(self._docs, against, **options)

    def prepare(self, **options: Any) -> PrepareResult:
        """Signatures and bucket keys of the texts, as ``lookalike.prepare`` computes them."""
        return prepare(self._docs, **options)
