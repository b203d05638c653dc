"""Files and folders as documents."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from lookalike._options import FILE_OPTIONS, FileOptions, Unpack, check_options, invalid_option
from lookalike.errors import FileError

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a folder, or a pattern such as ``news/*.jsonl``; or an iterable of several of these."""


class Files:
    """Files and folders whose documents the engine reads. Pass a ``Files`` object to any argument
    that takes documents.

    ``lookalike.find_files``, ``lookalike.dedup_files`` and ``lookalike.cut_files`` take plain
    paths.

    Args:
        paths: A file, a folder, or a pattern such as ``news/*.jsonl``; or an iterable of several
            of these. Patterns must be ``str``.
        options: Options for reading the files: ``format``, ``include``, ``exclude``,
            ``all_files``, ``follow``, ``delimiter``, ``encoding``, ``html``, ``quotes``,
            ``mail_signatures``, ``attachments`` and ``max``. ``OPTIONS`` describes each of them.

    Attributes:
        paths: The paths and patterns, a tuple.
        options: The options for reading the files, a dict.

    Raises:
        OptionError: An option is unknown, ``paths`` is empty, or a path has another type.

    Examples:
        >>> import lookalike, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("All rights are reserved. One.")
        >>> _ = (folder / "b.txt").write_text("Two. All rights are reserved!")
        >>> lookalike.passages(lookalike.Files(folder, include="*.txt"), min_words=4)
        PassagesResult(documents=2, passages=1, copied_words=4)
    """

    __slots__ = ("options", "paths")

    def __init__(self, paths: Paths, **options: Unpack[FileOptions]) -> None:
        check_options(options, "Files", FileOptions, ())
        several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        is_iterable = isinstance(several, Iterable) and not isinstance(several, (bytes, bytearray))
        self.paths: tuple[str | os.PathLike[str], ...] = tuple(several) if is_iterable else ()
        self.options: FileOptions = options
        if not self.paths or not all(isinstance(path, (str, os.PathLike)) for path in self.paths):
            raise invalid_option("paths", "a file, a folder, a pattern, or several of them", paths)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"Files({[os.fspath(path) for path in self.paths]!r}{options})"

    def find(self) -> list[str]:
        """Returns the paths as ``str``. Replaces each pattern by its sorted matches.

        Raises:
            FileError: A file or folder does not exist, or a pattern has no match.
        """
        import glob

        found: list[str] = []
        for path in self.paths:
            name = os.fsdecode(path)
            is_pattern = isinstance(path, str) and glob.has_magic(name) and not os.path.exists(name)
            if name != "-" and not is_pattern and not os.path.exists(name):
                # Shorten the message if the caller passed a long text instead of a path.
                text = name if len(name) <= 400 else name[:399] + "…"
                error = FileError(f"the file or folder {text!r} does not exist; check the path")
                error.errno = errno.ENOENT
                raise error
            matches = sorted(glob.glob(name, recursive=True)) if is_pattern else [name]
            if not matches:
                raise FileError(f"nothing matches the pattern {name!r}; check the path")
            found += matches
        return found


def split_options(options: Mapping[str, Any]) -> tuple[FileOptions, dict[str, Any]]:
    """Returns the options of ``Files``, and the other options."""
    files: Any = {name: value for name, value in options.items() if name in FILE_OPTIONS}
    others = {name: value for name, value in options.items() if name not in FILE_OPTIONS}
    return files, others
