"""Names the files of rows as the command line does, for keep rules about paths."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lookalike.errors import FileError
from lookalike.spark._worker import map_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PATH = "__lookalike_path"
"""The column of paths that the program adds."""
# The scheme and the authority of an address.
_SCHEME = re.compile(r"^[A-Za-z][\w+.-]*:(//[^/]*)?")
_PATTERN = re.compile(r"[*?\[{]")


def with_files(rows: DataFrame) -> DataFrame:
    """Adds ``PATH`` to rows of files: the engine's address of the file of each row."""
    from pyspark.sql import functions

    return rows.withColumn(PATH, functions.input_file_name())


def named_files(rows: DataFrame, columns: list[str], names: FileNames) -> DataFrame:
    """Some columns of rows of files, and ``PATH``.

    Args:
        columns: The columns to read; absent columns are omitted.
    """
    from pyspark.sql.types import StringType, StructType

    some = rows.select(*(name for name in rows.columns if name in columns))
    schema = StructType(list(some.schema.fields)).add(PATH, StringType())
    return map_rows(with_files(some), PathTask(names), schema)


@dataclass(frozen=True)
class FileNames:
    """Names of files: the name of an input, followed by the path below it."""

    roots: tuple[tuple[str, str], ...]
    """Paths of inputs without schemes, and their names; longer paths first."""

    @classmethod
    def below(cls, inputs: list[str]) -> FileNames:
        """The names of files below inputs, or of inputs that are files."""
        roots = []
        for entry in inputs:
            pattern = _PATTERN.search(entry)
            # A shell replaces a pattern by paths that begin with its folder.
            name = entry if pattern is None else entry[: entry.rfind("/", 0, pattern.start()) + 1]
            path = _SCHEME.sub("", name)
            if path == name:
                path = os.path.abspath(path or ".")
            roots.append((posixpath.normpath(path), name))
        return cls(tuple(sorted(roots, key=lambda root: -len(root[0]))))

    def name(self, address: str) -> str:
        """The name of a file.

        Args:
            address: The engine's address of the file.

        Raises:
            FileError: The file is not below an input.
        """
        path = posixpath.normpath(unquote(_SCHEME.sub("", address)))
        for root, name in self.roots:
            if path == root:
                return name
            if path.startswith(root.rstrip("/") + "/"):
                below = path[len(root.rstrip("/")) + 1 :]
                return f"{name.rstrip('/')}/{below}" if name else below
        raise FileError(
            f"cannot compare the path of a row: its file {address!r} is not below an input; name a "
            "column of paths by path_field, or name inputs by whole addresses"
        )

    def named(self, addresses: Any) -> Any:
        """A column of names, from an Arrow array of addresses."""
        import pyarrow as pa

        values = addresses.dictionary_encode()
        names = pa.array(
            [self.name(value or "") for value in values.dictionary.to_pylist()], pa.string()
        )
        return names.take(values.indices)


@dataclass(frozen=True)
class PathTask:
    """Replaces addresses of files by their names."""

    names: FileNames

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            at = batch.schema.get_field_index(PATH)
            yield batch.set_column(at, PATH, self.names.named(batch.column(at)))
