"""Rows of an iterable in a temporary file, and a sequence that reads the kept rows from it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import IO, Any, overload

from lookalike._results.table import Table
from lookalike.errors import DocumentTypeError, FileError


class RowFile:
    """A temporary file of pickled rows, in parts. The file exists as long as this object.

    Args:
        memory: The options of the call, of which ``temp_dir`` names the folder of the file.

    Raises:
        FileError: The file cannot be created.
    """

    def __init__(self, memory: Mapping[str, Any]) -> None:
        import tempfile

        try:
            # On Unix the file has no name: no other process can open it, and the system removes it
            # after a crash.
            self._file: IO[bytes] = tempfile.TemporaryFile(
                dir=memory.get("temp_dir"), prefix="lookalike-"
            )
        except OSError as error:
            raise FileError(
                f"cannot create a temporary file: {error}; use temp_dir to name another folder"
            ) from error
        # For each part, its offset in the file and the number of its first row.
        self._starts: list[tuple[int, int]] = []
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, rows: list[Any]) -> None:
        """Writes rows to the end of the file as a new part.

        Raises:
            DocumentTypeError: A row cannot be pickled.
            FileError: The file cannot be written.
        """
        import pickle

        try:
            self._starts.append((self._file.tell(), self._rows))
            pickle.dump(rows, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise FileError(
                f"cannot write a temporary file: {error}; use temp_dir to name another folder"
            ) from error
        except Exception as error:  # objects raise any exception when they are pickled
            raise DocumentTypeError(
                f"a row from {self._rows} on cannot be pickled to the temporary file: {error}; "
                "leave out memory, so that rows are not pickled, or use rows of str and numbers"
            ) from error
        self._rows += len(rows)

    def parts(self) -> int:
        """Returns the number of parts."""
        return len(self._starts)

    def between(self, number: int) -> tuple[int, int]:
        """Returns the number of the first row of a part, and the number after its last row."""
        end = self._starts[number + 1][1] if number + 1 < len(self._starts) else self._rows
        return self._starts[number][1], end

    def part(self, number: int) -> tuple[int, list[Any]]:
        """Reads a part. Returns the number of its first row, and its rows.

        Raises:
            FileError: The file cannot be read.
        """
        import pickle

        start, first = self._starts[number]
        try:
            self._file.seek(start)
            return first, pickle.load(self._file)
        except OSError as error:
            raise FileError(f"cannot read a temporary file: {error}") from error


class KeptRows(Sequence[Any]):
    """A sequence of the kept rows of a file. Each access reads the rows again, one part at a time.

    Args:
        rows: The file of all rows.
        kept: A flag for each row, true for kept rows.
        decisions: Columns with a value for each kept row. With them, each item of the sequence is
            a pair of a kept row and a dict of these values.
    """

    def __init__(
        self,
        rows: RowFile,
        kept: Sequence[bool],
        decisions: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        self._rows = rows
        self._decisions = decisions
        self._kept = bytes(kept)
        # The number of the first kept row of each part.
        self._firsts: list[int] = []
        count = 0
        for part in range(rows.parts()):
            self._firsts.append(count)
            count += self._kept.count(1, *rows.between(part))
        self._count = count

    def with_decisions(self, decisions: Table) -> KeptRows:
        """Returns a sequence of the same rows, each in a pair with the dict of its decisions."""
        columns = {name: decisions[name] for name in decisions.column_names}
        return KeptRows(self._rows, [flag == 1 for flag in self._kept], columns)

    def _part(self, part: int) -> list[Any]:
        first, rows = self._rows.part(part)
        kept = list(compress(rows, self._kept[first : first + len(rows)]))
        if self._decisions is None:
            return kept
        columns = self._decisions.items()
        return [
            (row, {name: of[at] for name, of in columns})
            for at, row in enumerate(kept, self._firsts[part])
        ]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        for part in range(self._rows.parts()):
            yield from self._part(part)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        at = index + self._count if index < 0 else index
        if not 0 <= at < self._count:
            raise IndexError(
                f"expected a row from {-self._count} to {self._count - 1}, got {index}"
            )
        part = bisect_right(self._firsts, at) - 1
        return self._part(part)[at - self._firsts[part]]

    def __repr__(self) -> str:
        return f"<{self._count} documents in a temporary file>"
