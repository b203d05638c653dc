"""Names the files of rows as the command line names them, for keep rules about paths."""

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
"""The column of paths of files, which the program adds."""
# The scheme and the authority at the beginning of an address.
_SCHEME = re.compile(r"^[A-Za-z][\w+.-]*:(//[^/]*)?")
_PATTERN = re.compile(r"[*?\[{]")


def with_files(rows: DataFrame) -> DataFrame:
    """Adds the column ``PATH`` with the engine's address of the file of each row."""
    from pyspark.sql import functions

    return rows.withColumn(PATH, functions.input_file_name())


def named_files(rows: DataFrame, columns: list[str], names: FileNames) -> DataFrame:
    """Selects columns of rows that were read from files, and adds ``PATH`` with the names of the
    files.

    Args:
        rows: The rows.
        columns: The columns to select. Columns that the rows lack are omitted.
        names: The names of the files.
    """
    from pyspark.sql.types import StringType, StructType

    selected = rows.select(*(name for name in rows.columns if name in columns))
    schema = StructType(list(selected.schema.fields)).add(PATH, StringType())
    return map_rows(with_files(selected), PathTask(names), schema)


@dataclass(frozen=True)
class FileNames:
    """Names files below inputs. A name is the input as written, followed by the path below it."""

    roots: tuple[tuple[str, str], ...]
    """Pairs of the path of an input, without scheme, and its name. Longer paths come first."""

    @classmethod
    def of_inputs(cls, inputs: list[str]) -> FileNames:
        """Makes the names for files below these inputs, and for inputs that are files."""
        roots = []
        for entry in inputs:
            pattern = _PATTERN.search(entry)
            # As in a shell, the names of matching files begin with the folder of the pattern.
            name = entry if pattern is None else entry[: entry.rfind("/", 0, pattern.start()) + 1]
            path = _SCHEME.sub("", name)
            if path == name:
                path = os.path.abspath(path or ".")
            roots.append((posixpath.normpath(path), name))
        return cls(tuple(sorted(roots, key=lambda root: -len(root[0]))))

    def name(self, address: str) -> str:
        """Returns the name of a file.

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
                relative = path[len(root.rstrip("/")) + 1 :]
                return f"{name.rstrip('/')}/{relative}" if name else relative
        raise FileError(
            f"cannot compare the path of a row: its file {address!r} is not below an input; name a "
            "column of paths by path_field, or name inputs by whole addresses"
        )

    def named(self, addresses: Any) -> Any:
        """Converts an Arrow array of addresses to an array of names."""
        import pyarrow as pa

        values = addresses.dictionary_encode()
        names = pa.array(
            [self.name(value or "") for value in values.dictionary.to_pylist()], pa.string()
        )
        return names.take(values.indices)


@dataclass(frozen=True)
class PathTask:
    """Replaces the addresses in the column ``PATH`` by the names of the files."""

    names: FileNames

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            at = batch.schema.get_field_index(PATH)
            yield batch.set_column(at, PATH, self.names.named(batch.column(at)))
