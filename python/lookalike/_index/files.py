"""Files and folders to add to an index."""

from __future__ import annotations

import os
import warnings

from lookalike._documents.files import Files
from lookalike._documents.input_documents import description
from lookalike._documents.inputs import refuse_handle
from lookalike._index.results import AddResult, SkippedRecord
from lookalike.errors import DocumentTypeError


def refuse_files(docs: object) -> None:
    """Refuses paths and open files where documents are expected.

    Raises:
        DocumentTypeError: The argument is a path, a list of paths, ``Files`` or an open file.
    """
    expected = "docs: expected (id, text) pairs, dicts, a dict of texts by id or a table, got"
    refuse_handle(docs, expected)
    paths = docs if isinstance(docs, (list, tuple)) and docs else [docs]
    if isinstance(docs, (str, Files)) or all(isinstance(path, os.PathLike) for path in paths):
        raise DocumentTypeError(
            f"{expected} {description(docs)}; add_one adds one text, add_files(paths) adds files"
        )


def add_result(
    counts: tuple[int, int, int, int],
    missing: list[str],
    skipped: list[tuple[str, int | None, str | None, str]],
) -> AddResult:
    """The result for files; warns of names of metadata that no document has."""
    for name in missing:
        warnings.warn(
            f"metadata names {name!r}, which none of the documents of this call has", stacklevel=3
        )
    return AddResult(*counts, [SkippedRecord._make(one) for one in skipped])
