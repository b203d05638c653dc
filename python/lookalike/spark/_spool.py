"""Writes the files in the rows of a task to a temporary folder, and reads documents from there."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike import _engine
from lookalike.errors import DocumentError, FileError, LookalikeError, OptionError

# After this many bytes or files, the written files must be read.
_BYTES = 64 << 20
_FILES = 4096
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//[^/]*)?(/.*|$)")


@dataclass(frozen=True)
class FolderName:
    """The address of a folder: ``place`` is the scheme with the authority, or empty."""

    place: str
    path: str

    @classmethod
    def of(cls, folder: str) -> FolderName:
        """Parses an address, such as ``s3://bucket/mail``, or an absolute path.

        Raises:
            OptionError: The text is neither of them.
        """
        place, path = _split(folder)
        if not path.startswith("/") and not (place and not path):
            raise OptionError(
                f"folder: expected a path from the root or an address, got {folder!r}; the paths "
                "of files begin with it"
            )
        return cls(place, path.rstrip("/"))

    def name_of(self, path: str) -> str:
        """Returns the path of a file relative to the folder.

        Raises:
            DocumentError: The file is not in the folder.
        """
        place, full_path = _split(path)
        if not place and not full_path.startswith("/"):
            # Sail, an engine for Spark Connect, omits the leading slash of local paths.
            full_path = f"/{full_path}"
        name = full_path.removeprefix(f"{self.path}/")
        if (self.place and place != self.place) or name == full_path:
            raise DocumentError(
                f"the file {path!r} is not below {self.place}{self.path}/; name the folder of "
                "all files"
            )
        if any(part in ("", ".", "..") for part in name.split("/")):
            raise DocumentError(
                f"the path {path!r} has empty parts or '..'; expected a path of Spark"
            )
        return name


def _split(address: str) -> tuple[str, str]:
    """Divides an address into the scheme with the authority, and the path. Drops an empty
    authority.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        return "", address
    authority = match[2] if match[2] not in (None, "//") else ""
    return f"{match[1]}:{authority}", match[3]


class FileSpool:
    """Writes files with their names to a temporary folder, and reads them in batches."""

    def __init__(
        self, options: Mapping[str, Any], fields: tuple[str, ...], ids_by_file: bool
    ) -> None:
        # Reads hidden files as well, because Spark has already selected the files.
        self._options = {**options, "all_files": True}
        self._fields, self._ids_by_file = list(fields), ids_by_file
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._bytes = self._files = 0
        self._refused: list[dict[str, str]] = []

    def __enter__(self) -> FileSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def add(self, name: str, content: Any, modified: int | None) -> bool:
        """Writes a file to the temporary folder. Returns ``False`` if the written files must be
        read first; the file is then not written.

        Args:
            name: The path of the file in the folder.
            content: The bytes of the file.
            modified: The time of the file, in ns since 1970, or ``None``.

        Raises:
            FileError: The file cannot be written, for example on a full disk.
        """
        if self._bytes >= _BYTES or self._files >= _FILES:
            return False
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="lookalike-files-")
        place = Path(self._folder.name, *name.split("/"))
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(content)
            if modified is not None:
                os.utime(place, ns=(modified, modified))
        except (FileExistsError, NotADirectoryError):
            # In object stores, a file and a folder can have the same name. On disk they cannot.
            return False
        except (OSError, ValueError) as error:
            self._refuse(name, error)
            return True
        self._bytes += len(content)
        self._files += 1
        return True

    def _refuse(self, name: str, error: Exception) -> None:
        """Records a file as skipped if its name is impossible on this machine.

        Raises:
            FileError: The error has another cause, such as a full disk.
        """
        if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
            folder = self._folder.name if self._folder is not None else tempfile.gettempdir()
            raise FileError(
                f"cannot write files to {folder} of a worker: {error.strerror or error}; make room "
                "there, or name another folder by TMPDIR"
            ) from error
        self._refused.append({"source": name, "reason": f"no file can have the name: {error}"})

    def read(self) -> Iterator[tuple[Any, Any]]:
        """Yields blocks of documents, each with the files that were skipped meanwhile. Removes the
        files from the temporary folder at the end.
        """
        import pyarrow as pa

        try:
            if self._files and self._folder is not None:
                yield from self._documents(self._folder.name)
            if self._refused:
                empty_columns: dict[str, list[str]] = {"id": [], "text": []}
                documents = pa.table(
                    {
                        **empty_columns,
                        "modified": pa.array([], pa.int64()),
                        **{name: [] for name in self._fields},
                    }
                )
                yield documents, pa.Table.from_pylist(self._refused)
        finally:
            self._clear()

    def _documents(self, folder: str) -> Iterator[tuple[Any, Any]]:
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            reader = _engine.FolderReader(folder, self._options, self._fields, self._ids_by_file)
            while (part := reader.next()) is not None:
                documents, skipped = (pa.table(side) for side in part)
                for number, column in enumerate(skipped.column_names):
                    if column in ("source", "reason"):
                        named = pc.replace_substring(skipped[column], f"{folder}/", "")
                        skipped = skipped.set_column(number, column, named)
                yield documents, skipped
        except LookalikeError as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from None

    def _clear(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self._bytes = self._files = 0
        self._refused = []
