"""The exceptions and warnings of this package. Every error of the package is a ``LookalikeError``.

    LookalikeError
    ├── OptionError       an option has an invalid value       (also a ValueError)
    ├── DocumentError     a document cannot be used            (also a ValueError)
    │   └── DocumentTypeError   a document has a wrong type    (also a TypeError)
    ├── FileError         a file cannot be read or written     (also an OSError)
    ├── ChangedError      documents changed during the work
    └── StoreError        an index cannot be used
        ├── MismatchError       an index has other settings    (also a ValueError)
        └── DamagedError        stored data of an index is damaged

A call issues a ``RunawayWarning`` if it takes unnecessarily long, and an ``IdWarning`` if it
cannot use the column ``id``. Both are subclasses of ``UserWarning``.
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
    """A document cannot be used. The message and the attribute ``row`` contain its row number."""

    row: int | None = None
    """The row number of the document, from 0; ``None`` if it is unknown."""


class DocumentTypeError(DocumentError, TypeError):
    """A document, an id or a column has a type that cannot be used, such as ``bytes``."""


class FileError(LookalikeError, OSError):
    """A file, or a record in a file, cannot be read or written. ``errno`` contains the error
    number of the system, if there is one.
    """


class ChangedError(LookalikeError):
    """Documents changed during a call, or since the run whose results the call uses."""


class StoreError(LookalikeError):
    """An index cannot be created, opened, read or changed."""


class MismatchError(StoreError, ValueError):
    """An index was created with other settings. The message contains both settings."""


class DamagedError(StoreError):
    """Stored data of an index is damaged."""


class IdWarning(UserWarning):
    """The column ``id`` has values that cannot be ids, such as floats, so the ids are row numbers.

    Name another column with ``id=``, or pass ``id=False`` to use row numbers without a warning.
    """


class RunawayWarning(UserWarning):
    """Most compared pairs are below the threshold, because many documents look alike without being
    similar.

    The result is correct, but the call takes long. ``lookalike.find``, ``lookalike.dedup`` and
    ``lookalike.Index.groups`` issue this warning at most once in a call, while they work. The
    message names options that save time. If a warning filter turns the warning into an error, the
    call stops.
    """
