"""The exceptions and warnings. Every error of this package is a ``LookalikeError``.

    LookalikeError
    ├── OptionError       an option has an invalid value       (also a ValueError)
    ├── DocumentError     a document cannot be used            (also a ValueError)
    │   └── DocumentTypeError   a document has a wrong type    (also a TypeError)
    ├── FileError         a file cannot be read or written     (also an OSError)
    ├── ChangedError      documents changed during the work
    └── StoreError        an index cannot be used
        ├── MismatchError       an index has other settings    (also a ValueError)
        └── DamagedError        stored data of an index is damaged

A call that is unnecessarily slow warns with ``RunawayWarning``. A call that cannot use the column
``id`` warns with ``IdWarning``. Both are a ``UserWarning``.
"""

from __future__ import annotations

__all__ = [
    "ChangedError",
    "DamagedError",
    "DocumentError",
    "DocumentTypeError",
    "FileError",
    "IdWarning",
    "LookalikeError",
    "MismatchError",
    "OptionError",
    "RunawayWarning",
    "StoreError",
]


class LookalikeError(Exception):
    """The base class of all errors. Messages state the reason and the remedy."""


class OptionError(LookalikeError, ValueError):
    """An option has an invalid value."""


class DocumentError(LookalikeError, ValueError):
    """A document cannot be used. The message and ``row`` contain its row number, from 0."""

    row: int | None = None
    """The row of the document, from 0; ``None`` if it is unknown."""


class DocumentTypeError(DocumentError, TypeError):
    """A document, an id or a column has a type that cannot be used, such as ``bytes``."""


class FileError(LookalikeError, OSError):
    """A file, or a record in a file, cannot be read or written. ``errno`` is set if the system
    reported a number.
    """


class ChangedError(LookalikeError):
    """Documents changed during the work, or since the report of a run."""


class StoreError(LookalikeError):
    """An index cannot be created, opened, read or changed."""


class MismatchError(StoreError, ValueError):
    """An index was created with other settings. The message contains both settings."""


class DamagedError(StoreError):
    """Stored data of an index is damaged."""


class IdWarning(UserWarning):
    """The column ``id`` has values that cannot be ids, such as floats, so that row numbers are the
    ids. Name another column by ``id=``, or use ``id=False`` for row numbers without a warning.
    """


class RunawayWarning(UserWarning):
    """Many documents look alike without being similar, so that most comparisons end below the
    threshold. The result is correct, but takes long. ``lookalike.find``, ``lookalike.dedup`` and
    ``lookalike.Index.groups`` warn once in a call, while they work, and name options that save
    time. If warnings are errors, the call stops.
    """
