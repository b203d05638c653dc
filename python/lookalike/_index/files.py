"""Files and folders to add to an index."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from lookalike._documents.inputs import file_paths
from lookalike._index.results import AddResult, SkippedRecord
from lookalike._options import Reading, check_options
from lookalike.errors import OptionError


def files_of(documents: object) -> list[str] | None:
    """Paths, if the argument is one: a path, a pattern, or a list of ``pathlib.Path``."""
    if isinstance(documents, (str, os.PathLike)):
        return file_paths([documents])
    if isinstance(documents, (list, tuple)) and documents:
        if all(isinstance(path, os.PathLike) for path in documents):
            return file_paths(documents)
    return None


def fields_of(common: object, names: list[str]) -> list[str]:
    """Names of fields that become metadata; files allow nothing else."""
    if common is not None:
        raise OptionError(
            "metadata is a mapping, expected names of fields: documents of files have the metadata "
            "that their files give them"
        )
    return names


def check_reading(reading: Mapping[str, object]) -> None:
    """Refuses names other than options of reading files.

    Raises:
        OptionError: There is such a name.
    """
    for name in ("text", "id"):
        if name in reading:
            raise OptionError(
                f"there is no option {name!r}; {name}_field={reading[name]!r} names the column "
                "or member"
            )
    check_options(reading, "Index.add", Reading, ("id_field", "text_field"))


def refuse_reading(reading: Mapping[str, object]) -> None:
    """Refuses options of reading files for other inputs.

    Raises:
        OptionError: One is given, or there is none of that name.
    """
    check_reading(reading)
    for name, value in reading.items():
        # The default value is no error.
        if value not in (None, False):
            raise OptionError(
                f"{name} says how files are read, and the documents are in memory; leave it out, "
                "or name files"
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
