"""Checks the arguments of the methods of an index, and converts them for the engine.

The functions raise ``OptionError`` or ``DocumentTypeError``. The message names the argument, the
given value and the expected values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from operator import index
from typing import Any, Literal, TypedDict

from lookalike._index.results import Json
from lookalike._options import Form, Measure, Scheme
from lookalike.errors import DocumentTypeError, OptionError


class IndexSettings(TypedDict, total=False):
    """Settings of an index, which cannot change after its creation. ``Index.create`` describes
    them.
    """

    shingle: str | None
    tokens: Literal["words", "word-runs", "whitespace"] | None
    case: Literal["fold", "keep"] | None
    frequencies: bool | None
    stop_words: str | None
    normalize: Form | Sequence[Form] | None
    num_hashes: int | None
    bands: int | None
    rows: int | None
    scheme: Scheme | None
    seed: int | None
    store: Literal["signatures", "sets", "texts", "originals"] | None


class NewIndexSettings(IndexSettings, total=False):
    """Settings for the creation of an index. ``Index.create`` describes them."""

    threshold: float
    recall: float
    measure: Measure
    max_original: int | str | None


When = datetime | timedelta
"""A point in time with a zone, or a span from now."""
Where = str | Sequence[str] | Mapping[str, Any]
"""Conditions on metadata, all of which a document must meet. Either conditions of the command
line, such as ``"year>=2020"``, or a mapping from members of metadata to values. A value is a
``str``, ``int``, ``float``, ``bool`` or ``datetime``, or a pair of an operator and such a value.
The type of the values is ``Any``, because type checkers infer no narrower type for a dict of
values and pairs.
"""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "~")


def folder_path(path: str | os.PathLike[str]) -> str:
    try:
        name = os.fspath(path)
    except TypeError:
        name = None
    if not isinstance(name, str):
        raise OptionError(f"path is {_described(path)}, expected a str or a pathlib.Path")
    if not name or "\0" in name:
        raise OptionError(f"path is {name!r}, expected the name of a folder or file")
    return name


def _described(value: object) -> str:
    return f"{repr(value)[:100]} of type {type(value).__name__}"


def text_option(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise OptionError(f"{name} is {_described(value)}, expected str")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise OptionError(f"{name} is {value!r} with a lone surrogate, expected Unicode text")
    return value


def _is_flag(value: Any) -> bool:
    """Returns true for a bool of Python or NumPy, which Python would convert to a number."""
    return isinstance(value, bool) or _kind(value) == "b"


def _kind(value: Any) -> str:
    """Returns the kind character of a NumPy type, such as ``"b"``; empty for other types."""
    return str(getattr(getattr(value, "dtype", None), "kind", ""))


def number_option(name: str, value: Any) -> float:
    if hasattr(value, "__float__") and not _is_flag(value):
        with suppress(OverflowError, TypeError, ValueError):
            return float(value)
    raise OptionError(f"{name} is {_described(value)}, expected a number")


def count_option(name: str, value: Any, expected: str) -> int | None:
    if value is None:
        return None
    if not _is_flag(value):
        with suppress(TypeError):
            count = index(value)
            if 0 < count < 2**63:
                return count
    raise OptionError(f"{name} is {_described(value)}, expected {expected}, or None")


def limit_option(limit: object) -> int | None:
    return count_option("limit", limit, "a whole number from 1")


def nearest_option(nearest: object, limit: object, threshold: object) -> int | None:
    count = count_option("nearest", nearest, "a whole number from 1")
    if count is not None and (threshold is not None or limit not in (10, None)):
        raise OptionError(
            "cannot combine nearest with limit or threshold: leave them out, since nearest finds "
            "documents of any similarity"
        )
    return count


def threshold_option(threshold: object) -> float | None:
    return None if threshold is None else number_option("threshold", threshold)


def nanoseconds(name: str, at: object) -> int:
    if not isinstance(at, datetime) or at.tzinfo is None or at.utcoffset() is None:
        raise OptionError(
            f"{name} is {_described(at)}, expected a datetime with a zone, such as "
            "datetime.now(timezone.utc)"
        )
    ns = (at - _EPOCH) // timedelta(microseconds=1) * 1000
    if not -(2**63) <= ns < 2**63:
        raise OptionError(f"{name} is {at.isoformat()}, expected a time from 1678 to 2261")
    return ns


def id_option(id_: object) -> str:
    """Returns the name of the column of ids, by default ``"id"``."""
    return "id" if id_ is None else text_option("id", id_)


def text_columns(text: str | Sequence[str] | None) -> list[str]:
    """Returns the names of the text columns, by default only ``"text"``."""
    if text is None:
        return ["text"]
    if not isinstance(text, (list, tuple)):
        return [text_option("text", text)]
    names = [text_option("a name in text", name) for name in text]
    if not names or len(set(names)) < len(names):
        raise OptionError(f"text is {_described(text)}, expected a name, or different names")
    return names


def expiry(expires: object) -> int | None:
    if expires is None:
        return None
    now = datetime.now(timezone.utc)
    at = expires
    if isinstance(expires, timedelta):
        try:
            at = now + expires
        except OverflowError:
            raise OptionError(f"expires is {expires!r}, expected a time up to 2261") from None
    ns = nanoseconds("expires", at)
    if ns <= nanoseconds("now", now):
        raise OptionError(f"expires is {_described(expires)}, expected a time in the future")
    return ns


def common_and_names(
    metadata: Mapping[str, Json] | Sequence[str] | None,
) -> tuple[Mapping[str, Json] | None, list[str]]:
    if metadata is None or isinstance(metadata, Mapping):
        return metadata, []
    if isinstance(metadata, Sequence) and not isinstance(metadata, (str, bytes)):
        return None, [text_option("a name in metadata", name) for name in metadata]
    raise OptionError(
        f"metadata is {_described(metadata)}, expected a mapping for all documents, or a list of "
        "names"
    )


def iterator_of(name: str, values: object, of: str) -> Iterator[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise DocumentTypeError(f"{name} is {_described(values)}, expected an iterable of {of}")
    return iter(values)


def rows_of(documents: object) -> Iterator[Any]:
    """Returns an iterator over the items of a mapping, or over the rows of another iterable."""
    if isinstance(documents, Mapping):
        return iter(documents.items())
    if isinstance(documents, bytes):
        raise DocumentTypeError(
            f"docs is {_described(documents)}, expected (id, text) pairs, a mapping or a table; "
            "use add_one for one document"
        )
    return iterator_of("docs", documents, "(id, text)")


def conditions(where: object) -> list[str]:
    if where is None:
        return []
    if isinstance(where, str):
        return [text_option("where", where)]
    if isinstance(where, Mapping):
        return [_condition(member, value) for member, value in where.items()]
    if isinstance(where, Sequence) and not isinstance(where, (bytes, bytearray)):
        return [text_option("a condition in where", condition) for condition in where]
    raise OptionError(
        f'where is {_described(where)}, expected a mapping such as {{"language": "en"}}, a '
        "condition "
        'such as "year>=2020", or a list of them'
    )


def _condition(member: object, value: object) -> str:
    name = text_option("a member in where", member)
    if not name or any(sign in name for sign in "=!<>~"):
        raise OptionError(
            f"where has the member {name!r}, expected a name without any of = ! < > ~"
        )
    operator = "="
    if isinstance(value, tuple):
        if len(value) != 2 or value[0] not in _OPERATORS:
            raise OptionError(
                f"where[{name!r}] is {_described(value)}, expected a pair of one of "
                f"{' '.join(_OPERATORS)} and a value"
            )
        operator, value = value
    return f"{name}{operator}{_plain(name, value)}"


def _plain(name: str, value: Any) -> str:
    if _kind(value) and _kind(value) not in "mM" and getattr(value, "ndim", None) == 0:
        # Most NumPy scalars are not instances of the types below, so convert them. Do not convert
        # times (kinds m and M), which may become integers: they are rejected below.
        value = value.item()
    if isinstance(value, str):
        return text_option(f"where[{name!r}]", str.__str__(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    # Members of enumerations override `repr`, so call the method of the base class.
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float) and abs(value) < float("inf"):
        return float.__repr__(value)
    if isinstance(value, datetime):
        nanoseconds(f"where[{name!r}]", value)
        at = value.astimezone(timezone.utc)
        return at.replace(tzinfo=None).isoformat() + "Z"
    raise OptionError(
        f"where[{name!r}] is {_described(value)}, expected a str, a number, a bool or a datetime "
        "with a zone"
    )
