"""Converts the keys of an index in a folder to texts, and texts back to keys.

Plain types are ``str``, bytes, numbers, None, and tuples and frozensets of these. Equal keys of
plain types have equal texts. An object of another type that equals a plain key, such as an
``IntEnum`` or a NumPy scalar, has the text of this key.
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

# Python's parser reads at most 200 nested tuples.
_MOST_DEPTH = 50
# Integers from this size on are written in hexadecimal, because Python limits the number of
# decimal digits that it converts.
_LARGE = 1 << 63


class _NotPlain(Exception):
    """Raised for a key that equals no key of a plain type."""


def encoded(key: Hashable) -> tuple[str, str | None]:
    """Returns the text of a key, and the pickle of the key or ``None``.

    A key that equals a plain key has the text of the plain key. Its pickle is returned if its type
    differs. The text of any other key contains its pickle.

    Raises:
        TypeError: The key is not hashable.
        DocumentTypeError: The key has to be pickled and cannot be pickled.
    """
    hash(key)
    try:
        plain, is_same = _plain(key)
        text = _tagged(plain)
    except _NotPlain:
        return f"p:{_base64(pickled(key))}", None
    return text, None if is_same else _base64(pickled(key))


def decoded(name: str, row: int, text: str, original: str | None, allow_pickle: bool) -> Any:
    """Returns the key of a row of an index.

    Args:
        name: The name of the index, for messages.
        row: The number of the row, for messages.
        text: The text of the key.
        original: The pickle of the key in base64; ``None`` if the text determines the key.
        allow_pickle: Whether pickles may be loaded, which can run any code.

    Raises:
        DamagedError: The text or the pickle is damaged.
        StoreError: The class of the key cannot be loaded, or the key is a pickle and
            ``allow_pickle`` is false.
    """
    if not allow_pickle and (original is not None or text.startswith("p:")):
        raise StoreError(
            f"cannot load the key of row {row} of {name}: it is a pickle that another process "
            "wrote, and loading a pickle can run any code; if you trust the folder, open it with "
            f'storage_config={{"type": "lookalike", "path": {name!r}, "allow_pickle": True}}'
        )
    try:
        key = _untagged(text) if original is None else pickle.loads(base64.b64decode(original))
        hash(key)
    except (ImportError, AttributeError) as error:
        raise StoreError(
            f"cannot load the key of row {row} of {name}: {error}; import the module that defines "
            "its class before you query the index"
        ) from error
    except Exception as error:
        raise DamagedError(
            f"cannot read the key of row {row} of {name}, which is damaged: {error}; restore the "
            "folder from a copy, or delete it and insert the sketches again"
        ) from error
    return key


def pickled(key: Hashable) -> bytes:
    """Pickles a key for a folder. With ``prepickle``, the index pickles all keys; otherwise it
    pickles only keys that are not of a plain type.

    Raises:
        DocumentTypeError: The key cannot be pickled.
    """
    try:
        return pickle.dumps(key, protocol=4)
    except Exception as error:
        raise DocumentTypeError(
            f"cannot store the key {shown(key)} in a folder, since it cannot be pickled: {error}; "
            "use a key such as a str or an int"
        ) from error


def shown(key: object) -> str:
    """Returns the text of a key for messages. Cuts it after 200 characters."""
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
            # The key has a lone surrogate, which UTF-8 cannot encode. Use a literal below.
            pass
    return f"l:{_literal(plain)}"


def _untagged(text: str) -> Any:
    tag, payload = text[:2], text[2:]
    if tag == "s:":
        return payload
    if tag == "l:":
        return _value(ast.parse(payload, mode="eval").body)
    if tag == "b:":
        return base64.b64decode(payload, validate=True)
    if tag == "p:":
        return pickle.loads(base64.b64decode(payload, validate=True))
    raise ValueError(f"it begins with {tag!r}, expected s:, l:, b: or p:")


def _plain(key: Any, depth: int = 0) -> tuple[Any, bool]:
    """Returns the plain key that equals ``key``, and whether both have the same type.

    Raises:
        _NotPlain: No plain key equals ``key``.
    """
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
        is_same = type(key) is kind and all(is_same_part for _, is_same_part in parts)
    elif hasattr(key, "dtype"):
        # NumPy booleans equal numbers, but are not instances of `Number`.
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
    """Tells whether a dict treats both values as the same key."""
    try:
        return hash(plain) == hash(key) and bool(plain == key)
    except Exception:
        return False


def _literal(plain: Any) -> str:
    """Returns the Python literal of a plain key. Equal keys have equal literals."""
    if isinstance(plain, int):
        return str(plain) if -_LARGE <= plain < _LARGE else hex(plain)
    if isinstance(plain, float):
        # Infinity has no literal, but Python reads a number beyond the range of floats as
        # infinity.
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
