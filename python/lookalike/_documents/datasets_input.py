"""Documents of Hugging Face datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from lookalike import _engine
from lookalike._documents.arrow_input import with_texts
from lookalike._documents.input_documents import Columns, InputDocuments, is_of
from lookalike._results.table import Table
from lookalike.errors import DocumentTypeError


def of_datasets(docs: Any, columns: Columns) -> InputDocuments | None:
    """Reads the needed columns of a dataset. Returns ``None`` for other types."""
    if not is_of("datasets", docs):
        return None
    if hasattr(docs, "with_format") and hasattr(docs, "select"):
        used = docs.select_columns(columns.used(docs.column_names))
        rows = _few_chunks(used.with_format("arrow")[:])
        documents = columns.engine(rows)

        def annotate(more: _engine.Table, names: dict[str, str]) -> Any:
            import pyarrow

            added = pyarrow.table(more).select(list(names)).rename_columns(list(names.values()))
            return _widened(docs, added)

        def select(kept: Sequence[bool]) -> Any:
            return docs.select([i for i, keep in enumerate(kept) if keep])

        def rewrite(remaining: Table) -> Any:
            name = columns.only_text
            texts = with_texts(rows.select([name]), remaining, columns)
            rewritten = _widened(docs.remove_columns(name), texts).select_columns(docs.column_names)
            return rewritten.select([i for i, keep in enumerate(remaining["kept"]) if keep])

        return InputDocuments(documents, select, annotate, rewrite, docs.column_names)
    if isinstance(docs, Mapping):
        splits = ", ".join(map(str, docs))
        raise DocumentTypeError(
            f"expected a dataset, got a dict of splits; pass one of them: {splits}"
        )
    return None


def _widened(docs: Any, added: Any) -> Any:
    """Adds columns to a dataset without writing a file. The methods of ``datasets`` would write a
    file if rows were selected or shuffled.

    Copies the existing columns to memory only if a row was selected twice.
    """
    datasets, tables = import_module("datasets"), import_module("datasets.table")
    chosen = docs._indices
    if chosen is not None:
        places = _places(chosen.column(0).to_pylist(), docs.data.num_rows)
        if places is None:
            # A row that was selected twice may need two values in an added column.
            docs, chosen = docs.flatten_indices(keep_in_memory=True), None
        else:
            added = added.take(places)
    table = tables.concat_tables([docs.data, tables.InMemoryTable(added)], axis=1)
    info = docs.info.copy()
    more = datasets.Features.from_arrow_schema(added.schema)
    info.features = datasets.Features({**docs.features, **more})
    widened = datasets.Dataset(table, info=info, split=docs.split, indices_table=chosen)
    form = docs.format
    if form["type"] is None and form["columns"] == docs.column_names:
        return widened
    columns = [*form["columns"], *added.column_names]
    return widened.with_format(
        form["type"],
        columns=columns,
        output_all_columns=form["output_all_columns"],
        **form["format_kwargs"],
    )


def _places(chosen: Sequence[int], rows: int) -> Any:
    """Returns the position of each row among the selected rows, or null for a row that is not
    selected. Returns ``None`` if a row was selected twice.
    """
    import pyarrow

    places: list[int | None] = [None] * rows
    for place, row in enumerate(chosen):
        if places[row] is not None:
            return None
        places[row] = place
    return pyarrow.array(places, pyarrow.int64())


def _few_chunks(table: Any) -> Any:
    """Combines the chunks of a table if they have fewer than 64 rows on average. After a
    selection, each row is a chunk. Passing a chunk to the engine takes longer than copying many
    texts.
    """
    chunks = max((column.num_chunks for column in table.columns), default=0)
    return table.combine_chunks() if chunks > len(table) // 64 else table
