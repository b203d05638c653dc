"""Classes for shingle rules, and for keep rules with an argument. Their objects are strings."""

from __future__ import annotations

from lookalike._options import invalid_option, whole_option


class _Rule(str):
    """A shingle rule, in the text form of the engine."""

    __slots__ = ()

    def __new__(cls, size: int) -> _Rule:
        number = whole_option("size", size, 1)
        if number > 256:
            raise invalid_option("size", "a whole number from 1 to 256", size)
        return str.__new__(cls, f"{cls.__name__.lower()}:{number}")

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rpartition(':')[2]})"


class Words(_Rule):
    """Shingles of ``size`` consecutive words, 1 to 256: ``Words(5) == "words:5"``."""

    __slots__ = ()


class Chars(_Rule):
    """Shingles of ``size`` consecutive characters, 1 to 256: ``Chars(9) == "chars:9"``."""

    __slots__ = ()


class Bytes(_Rule):
    """Shingles of ``size`` consecutive bytes of UTF-8, 1 to 256: ``Bytes(9) == "bytes:9"``."""

    __slots__ = ()


class Field(str):
    """The keep rule that prefers the document with the greatest value of a column.

    With ``least=True``, it prefers the least value: ``Field("date", least=True) ==
    "field:date:asc"``.
    """

    __slots__ = ()

    def __new__(cls, name: str, *, least: bool = False) -> Field:
        if not isinstance(name, str) or not name:
            raise invalid_option("name", "the name of a column (str)", name)
        return str.__new__(cls, f"field:{name}{':asc' if least else ''}")

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class PathPattern(str):
    """The keep rule that prefers documents whose whole path matches a pattern:
    ``PathPattern("*/final/*") == "path:*/final/*"``.

    ``*`` stands for any text without ``/``, and ``**`` for any number of folders.
    ``docs/reference/keep.md`` defines patterns.
    """

    __slots__ = ()

    def __new__(cls, pattern: str) -> PathPattern:
        if not isinstance(pattern, str) or not pattern:
            raise invalid_option("pattern", "a pattern (str)", pattern)
        return str.__new__(cls, f"path:{pattern}")

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)
