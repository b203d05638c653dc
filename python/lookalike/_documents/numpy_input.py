"""Documents in NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike._documents.input_documents import Columns, InputDocuments, RowValues, is_of
from lookalike._results.table import Table
from lookalike.errors import DocumentTypeError


def of_numpy(docs: Any, columns: Columns) -> InputDocuments | None:
    """Reads a NumPy array: texts in one dimension, a column of texts, or two columns of ids and
    texts. Returns ``None`` for other types, and for arrays of other rows, such as lists of tokens.

    Raises:
        DocumentTypeError: The array has another shape, or a column of lists.
    """
    if not (is_of("numpy", docs) and hasattr(docs, "ndim")) or (docs.ndim == 2 and columns.tokens):
        return None
    if docs.ndim != 1 and (docs.ndim != 2 or docs.shape[1] not in (1, 2)):
        raise DocumentTypeError(
            "expected an array of texts, of one column of texts, or of two columns (id, text), "
            f"got the shape {docs.shape}; name the column of a pandas.DataFrame by text='column', "
            "or set tokens='given' for rows of tokens"
        )
    # Copy the array, since the caller may change it meanwhile.
    rows = docs.copy()
    values = _texts(rows).tolist()
    if docs.ndim == 1 and not isinstance(
        next((value for value in values if value is not None), ""), str
    ):
        return None
    columns.refuse_fields("an array")
    ids = (
        rows[:, 0].tolist()
        if docs.ndim == 2 and docs.shape[1] == 2 and columns.id is not False
        else None
    )
    documents = columns.of_rows(RowValues([values], ids))
    if documents.are_tokens:
        raise DocumentTypeError(
            "expected an array of texts, got one of lists; use tokens='given' for lists of tokens"
        )

    def survivors(kept: Sequence[bool]) -> Any:
        import numpy

        return rows[numpy.asarray(kept, dtype=bool)]

    def rewrite(remaining: Table) -> Any:
        import numpy

        # An array of texts would cut new texts to the length of its longest text.
        changed = rows.astype(object)
        for row, text in enumerate(remaining["text"]):
            if text is not None:
                _texts(changed)[row] = text
        return changed[numpy.asarray(remaining["kept"], dtype=bool)]

    return InputDocuments(
        documents, survivors, rewrite=rewrite, unused=columns.without_meaning("an array")
    )


def _texts(rows: Any) -> Any:
    """Returns a view of the column of texts."""
    return rows if rows.ndim == 1 else rows[:, -1]
