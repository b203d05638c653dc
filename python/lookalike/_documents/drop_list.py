"""Converts the option ``drop``, which names the documents that a run leaves out."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from lookalike._options import invalid_option, path_option
from lookalike.errors import OptionError

_EXPECTED = (
    "the path of a list, or ids; for files also dicts such as {'id': 'd7', 'source': 'web.jsonl'}"
)


def drop_option(value: object) -> str | bytes | None:
    """Converts the option ``drop`` for the engine.

    Returns:
        The path of a list of documents (``str``), or the content of such a list as JSON lines
        (``bytes``). ``None`` without the option.

    Raises:
        OptionError: The value has another type, or an id or source is not valid.
    """
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        return path_option("drop", value)
    if (
        isinstance(value, Mapping)
        or not isinstance(value, Iterable)
        or isinstance(value, (bytes, bytearray))
    ):
        raise invalid_option("drop", _EXPECTED, value)
    return b"".join(_line(place, document) for place, document in enumerate(value))


def _line(place: int, document: object) -> bytes:
    id_, source = (
        (document.get("id"), document.get("source"))
        if isinstance(document, Mapping)
        else (document, None)
    )
    text = _id(id_)
    if text is None or not isinstance(source, (str, type(None))):
        raise invalid_option(
            f"drop[{place}]", "an id, or a dict with an id and perhaps a source", document
        )
    members: dict[str, Any] = {"id": text, "source": source}
    try:
        return json.dumps(members, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError as error:
        raise OptionError(f"drop[{place}]: {error}") from None


def _id(value: Any) -> str | None:
    """Returns the text of an id: a ``str`` or UUID as text, an integer (also NumPy's) in digits.
    Returns ``None`` for ``bool`` and other types.
    """
    if isinstance(value, (str, UUID)):
        return str(value)
    try:
        return None if isinstance(value, bool) else str(operator.index(value))
    except TypeError:
        return None
