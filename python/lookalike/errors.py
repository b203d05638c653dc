"""Errors. Every error of this package is a ``LookalikeError``.

::

    LookalikeError
    ├── OptionError       an option has an invalid value       (also a ValueError)
    ├── DocumentError     a document cannot be used            (also a ValueError)
    │   └── DocumentTypeError   it is of a wrong type          (also a TypeError)
    ├── FileError         a file cannot be read or written     (also an OSError)
    ├── ChangedError      documents changed while they were worked on
    └── StoreError        an index cannot be used
        ├── MismatchError       it was made with other settings
        └── DamagedError        it was changed by something else

A call that is slower than it need be warns with ``RunawayWarning``. A call that cannot use the
column ``id`` warns with ``IdWarning``. Both are a ``UserWarning``.
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
    """Base class of all errors; the message has the reason and the remedy."""


class OptionError(LookalikeError, ValueError):
    """An option has an invalid value."""


class DocumentError(LookalikeError, ValueError):
    """A document cannot be used; the text names its row, from 0, and so does ``row``."""

    row: int | None = None


class DocumentTypeError(DocumentError, TypeError):
    """A document, an id or a column is of a type that cannot be used."""


class FileError(LookalikeError, OSError):
    """A file cannot be read or written, or a record in it."""


class ChangedError(LookalikeError):
    """Documents changed during the work."""


class StoreError(LookalikeError):
    """An index cannot be created, opened, read or changed."""


class MismatchError(StoreError, ValueError):
    """An index was made with other settings; the text names both."""


class DamagedError(StoreError):
    """Stored data of an index is damaged."""


class IdWarning(UserWarning):
    """The column ``id`` has values that cannot be ids, such as floats, so rows are the ids. Name
    another column by ``id=``, or choose rows by ``id=False``, which does not warn.
    """


class RunawayWarning(UserWarning):
    """Many documents look alike without being similar, so that most comparisons end below the
    threshold: the result is right, and takes long. ``lookalike.find``, ``lookalike.dedup``
    and ``lookalike.Index.groups`` warn once a call, while they work, and name options that take
    less time. Where warnings are errors, the call stops.
    """
