"""Documents in pandas frames, series and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike import _engine
from lookalike._documents.input_documents import (
    ID,
    Columns,
    InputDocuments,
    RowValues,
    is_of,
    stretches,
)
from lookalike._results.table import Table
from lookalike.errors import DocumentTypeError


def of_pandas(docs: Any, columns: Columns) -> InputDocuments | None:
    """Reads a frame, a series or an array of pandas. Returns ``None`` for other types.

    Raises:
        DocumentTypeError: The object is from pandas, but of another type.
    """
    if not is_of("pandas", docs):
        return None
    import pandas

    if isinstance(docs, pandas.DataFrame):
        frame = docs.copy(deep=False)
        documents = _pandas_frame(frame, columns)

        def annotate(table: _engine.Table, names: dict[str, str]) -> Any:
            more = Table(table).to_pandas()
            more.index = frame.index
            return frame.assign(**{new: more[old] for old, new in names.items()})

        def rewrite(remaining: Table) -> Any:
            name = columns.only_text
            return _pandas_kept(
                frame.assign(**{name: _replaced(frame[name], remaining["text"])}), remaining["kept"]
            )

        def select(kept: Sequence[bool]) -> Any:
            return _pandas_kept(frame, kept)

        return InputDocuments(documents, select, annotate, rewrite, list(frame.columns))
    if not (hasattr(docs, "isna") and hasattr(docs, "tolist")):
        raise DocumentTypeError(
            f"expected a DataFrame or a Series of pandas, got {type(docs).__name__}"
        )
    columns.refuse_fields("a column of texts")
    series = docs.copy(deep=False) if isinstance(docs, pandas.Series) else docs.copy()
    unused = columns.without_meaning("a column of texts")
    documents = _pandas_series(series, columns)

    def shortened(remaining: Table) -> Any:
        return _pandas_kept(_replaced(series, remaining["text"]), remaining["kept"])

    return InputDocuments(
        documents, lambda kept: _pandas_kept(series, kept), rewrite=shortened, unused=unused
    )


def _pandas_kept(docs: Any, kept: Sequence[bool]) -> Any:
    """Selects rows of a frame or a series. If pyarrow cannot filter the type of a column,
    concatenates the runs of kept rows.
    """
    import numpy
    import pandas

    try:
        return docs[numpy.asarray(kept, dtype=bool)]
    except NotImplementedError:
        rows = docs.iloc if hasattr(docs, "iloc") else docs
        pieces = [rows[start : start + count] for start, count in stretches(kept)]
    return pandas.concat(pieces) if pieces else rows[:0]


def _replaced(series: Any, texts: Sequence[str | None]) -> Any:
    """Returns a column in which the texts that are not ``None`` replace the old ones."""
    changed = [row for row, text in enumerate(texts) if text is not None]
    values = [texts[row] for row in changed]
    try:
        replaced = series.copy()
        replaced.iloc[changed] = values
    except (NotImplementedError, TypeError, ValueError):
        # The type of the column, such as a category, does not allow these texts.
        replaced = series.astype(object)
        replaced.iloc[changed] = values
    return replaced


def _pandas_frame(frame: Any, columns: Columns) -> _engine.Documents:
    used = columns.used(list(frame.columns))
    id_name = columns.id_name
    if columns.id is None and ID in used:
        id_name = ID
    if all(_is_arrow(frame[name]) for name in used):
        exact = Columns(tuple(columns.texts), columns.id, columns.fields, False)
        return exact.engine(frame[used])
    fields = [frame[name].tolist() for name in columns.fields]
    ids = None if id_name is None else columns.usable_ids(present(frame[id_name]))
    texts = [present(frame[name]) for name in columns.texts]
    return columns.of_rows(RowValues(texts, ids, fields, columns.texts, id_name))


def _pandas_series(series: Any, columns: Columns) -> _engine.Documents:
    if hasattr(series, "__arrow_c_stream__") and _is_arrow(series):
        return _engine.Documents.of_arrow(series, None, None, False, [], True)
    return columns.of_rows(RowValues([present(series)]))


def present(series: Any) -> list[Any]:
    """Returns the values of a column. Missing values, such as NaN, become ``None``."""
    missing = series.isna().tolist()
    values: list[Any] = series.tolist()
    if True not in missing:
        return values
    return [
        None if is_missing else value for value, is_missing in zip(values, missing, strict=True)
    ]


def _is_arrow(series: Any) -> bool:
    """Tells whether pandas stores the values in Arrow's format, so that the engine can read them
    without a conversion.
    """
    kind = type(series.dtype).__name__
    is_text = kind == "StringDtype" and getattr(series.dtype, "storage", "") == "pyarrow"
    return is_text or kind == "ArrowDtype"
