"""Keys of an index in a folder as text, and back.

Equal keys of plain types have equal texts: strings, bytes, numbers, None, tuples and frozensets of
such, and objects that are equal to one of these, such as an ``IntEnum`` or a scalar of NumPy.
"""

from __future__ import annotations

import ast
import base64
import pickle
from collections.abc import Hashable
from numbers import Number
from typing import Any

from lookalike.errors import DamagedError, DocumentTypeError, StoreError

__all__ = ["decoded", "encoded", "pickled", "shown"]

# Python's parser reads tuples in each other up to 200.
_MOST_DEPTH = 50
# Larger ones are written in hexadecimal, which has no limit of digits.
_LARGE = 1 << 63


class _NotPlain(Exception):
    """There is no literal that is equal to a key."""


def encoded(key: Hashable) -> tuple[str, str | None]:
    """The text of a key; and its pickle, if the text gives another key that is equal.

    Raises:
        TypeError: It is not hashable.
        DocumentTypeError: It cannot be pickled, and must be.
    """
    hash(key)
    try:
        plain, is_same = _plain(key)
        text = _tagged(plain)
    except _NotPlain:
        return f"p:{_base64(pickled(key))}", None
    return text, None if is_same else _base64(pickled(key))


def decoded(name: str, row: int, text: str, original: str | None, allow_pickle: bool) -> Any:
    """The key of a row of the index ``name``.

    Raises:
        DamagedError: It is not what was written.
        StoreError: Its class cannot be loaded, or it is a pickle, without ``allow_pickle``.
    """
    if not allow_pickle and (original is not None or text.startswith("p:")):
        raise StoreError(
            f"{name}, row {row}: its key is a pickle that another process wrote, and loading a "
            "pickle can run any code: if you trust the folder, open it with storage_config="
            f'{{"type": "lookalike", "path": {name!r}, "allow_pickle": True}}'
        )
    try:
        key = _untagged(text) if original is None else pickle.loads(base64.b64decode(original))
        hash(key)
    except (ImportError, AttributeError) as error:
        raise StoreError(
            f"{name}, row {row}: its key cannot be loaded: {error}; make its class known before "
            "the index is asked"
        ) from error
    except Exception as error:
        raise DamagedError(
            f"{name}, row {row}: its key is not what was written: {error}; restore the folder from "
            "a copy, or delete it and insert the sketches again"
        ) from error
    return key


def pickled(key: Hashable) -> bytes:
    """What a folder keeps of a key with ``prepickle``, or of one that is no plain type.

    Raises:
        DocumentTypeError: It cannot be pickled.
    """
    try:
        return pickle.dumps(key, protocol=4)
    except Exception as error:
        raise DocumentTypeError(
            f"the key {shown(key)} cannot be pickled, so no folder keeps it: {error}; use a key "
            "such as a str or an int"
        ) from error


def shown(key: object) -> str:
    """A key as messages show it."""
    try:
        text = repr(key)
    except Exception:
        text = f"of the class {type(key).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}…"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _tagged(plain: Any) -> str:
    if isinstance(plain, bytes):
        return f"b:{_base64(plain)}"
    if isinstance(plain, str) and "\0" not in plain:
        try:
            plain.encode()
            return f"s:{plain}"
        except UnicodeEncodeError:
            # Of half a pair, which no UTF-8 has.
            pass
    return f"l:{_literal(plain)}"


def _untagged(text: str) -> Any:
    tag, rest = text[:2], text[2:]
    if tag == "s:":
        return rest
    if tag == "l:":
        return _value(ast.parse(rest, mode="eval").body)
    if tag == "b:":
        return base64.b64decode(rest, validate=True)
    if tag == "p:":
        return pickle.loads(base64.b64decode(rest, validate=True))
    raise ValueError(f"it begins with {tag!r}, expected s:, l:, b: or p:")


def _plain(key: Any, depth: int = 0) -> tuple[Any, bool]:
    """An equal key of a plain type, and whether it is the same in every respect."""
    if key is None or type(key) in (str, bytes, int):
        return key, True
    plain: Any
    is_same = False
    if isinstance(key, Number):
        plain = _number(key)
        is_same = type(plain) is type(key)
    elif isinstance(key, str):
        plain = str.__str__(key)
    elif isinstance(key, bytes):
        plain = bytes(memoryview(key))
    elif isinstance(key, (tuple, frozenset)) and depth < _MOST_DEPTH:
        parts = [_plain(part, depth + 1) for part in key]
        kind = tuple if isinstance(key, tuple) else frozenset
        plain = kind(part for part, _ in parts)
        is_same = type(key) is kind and all(same for _, same in parts)
    elif hasattr(key, "dtype"):
        # The truths of NumPy are no numbers to Python, and equal to some.
        plain = _number(key)
    else:
        raise _NotPlain
    if not is_same and not _are_one_key(plain, key):
        raise _NotPlain
    return plain, is_same


def _number(key: Any) -> int | float:
    for kind in (int, float):
        try:
            plain = kind(key)
        except Exception:
            continue
        if _are_one_key(plain, key):
            return plain
    raise _NotPlain


def _are_one_key(plain: Any, key: Any) -> bool:
    """Whether a dict holds both for the same key."""
    try:
        return hash(plain) == hash(key) and bool(plain == key)
    except Exception:
        return False


def _literal(plain: Any) -> str:
    """Python's text of a plain key, equal for equal ones."""
    if isinstance(plain, int):
        return str(plain) if -_LARGE <= plain < _LARGE else hex(plain)
    if isinstance(plain, float):
        # What is beyond all floats is read as infinite.
        return repr(plain).replace("inf", "1e999")
    if isinstance(plain, tuple):
        return f"({''.join(f'{_literal(part)},' for part in plain)})"
    if isinstance(plain, frozenset):
        return f"{{{','.join(sorted(map(_literal, plain)))}}}" if plain else "set()"
    return ascii(plain)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.Set):
        return frozenset(map(_value, node.elts))
    if isinstance(node, ast.Call) and not node.args:
        return frozenset()
    raise ValueError(f"expected a literal, got {ast.unparse(node)}")
