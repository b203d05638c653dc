"""Functions for the addition of documents and files to an index."""

from __future__ import annotations

import os
import warnings

from lookalike._documents.files import Files
from lookalike._documents.input_documents import description
from lookalike._documents.inputs import refuse_handle
from lookalike._index.results import AddResult, SkippedRecord
from lookalike.errors import DocumentTypeError


def refuse_files(docs: object) -> None:
    """Rejects paths, ``Files`` and open files where a method expects documents.

    Raises:
        DocumentTypeError: The argument is a ``str``, a path, a list of paths, ``Files`` or an open
            file.
    """
    expected = "docs: expected (id, text) pairs, dicts, a dict of texts by id or a table, got"
    refuse_handle(docs, expected)
    paths = docs if isinstance(docs, (list, tuple)) and docs else [docs]
    if isinstance(docs, (str, Files)) or all(isinstance(path, os.PathLike) for path in paths):
        raise DocumentTypeError(
            f"{expected} {description(docs)}; use add_one for one text, add_files(paths) for files"
        )


def add_result(
    counts: tuple[int, int, int, int],
    missing: list[str],
    skipped: list[tuple[str, int | None, str | None, str]],
) -> AddResult:
    """Returns the result of an addition of files. Issues a warning for each missing name.

    Args:
        counts: The numbers of added, updated, kept and empty documents.
        missing: Names in ``metadata`` that no document has.
        skipped: Source, line, id and reason of each skipped record.
    """
    for name in missing:
        warnings.warn(
            f"metadata names {name!r}, which no document of this call has: check the name",
            stacklevel=3,
        )
    return AddResult(*counts, [SkippedRecord._make(record) for record in skipped])
