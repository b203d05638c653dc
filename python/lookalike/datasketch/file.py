"""The file of an index: what it is made of, who may open it, and what goes wrong with it."""

from __future__ import annotations

import os
import pickle
import sqlite3
import threading
import weakref
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from lookalike.datasketch import _native
from lookalike.errors import DamagedError, DocumentTypeError, MismatchError, StoreError

__all__ = ["File", "pickled"]

_VERSION = 1
# "LKDS" in the head of the file.
_APPLICATION = 0x4C4B4453
_TABLES = frozenset({"settings", "keys"})
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS keys (number INTEGER PRIMARY KEY, key BLOB NOT NULL, "
    "lengths BLOB NOT NULL, bands BLOB NOT NULL)",
)
# Seconds that another one which is just closing may take.
_PATIENCE = 1.0

_open_files: weakref.WeakSet[File] = weakref.WeakSet()


class File:
    """An SQLite file that every change of an index is written to, and that it is read from.

    The tables themselves are in memory. The file has a row for each insertion: the key, pickled,
    and its bands. It belongs to one index of one process until it is closed. Whoever writes holds
    :attr:`lock`, and calls :meth:`commit`, or :meth:`roll_back` and reads everything again.

    Args:
        path: The file; made if it is not there.
        settings: What the index was made with, which must be what the file was made with.

    Raises:
        StoreError: The file cannot be opened, or is open already.
        MismatchError: It was made with other settings.
        DamagedError: It is no such file; it is left as it is.
    """

    def __init__(self, path: str | Path, settings: dict[str, str]) -> None:
        self.path = Path(path)
        self.lock = threading.RLock()
        # Of each key: its rows. Keys may be equal and have other pickles, rows are what they are.
        self._rows: dict[Any, tuple[int, ...]] = {}
        if self.path.is_dir():
            raise StoreError(
                f"{self.path} is a folder: an index of documents, perhaps; expected a file of "
                "sketches, or no file yet"
            )
        self._owner: int | None = os.getpid()
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {self.path}: {error}") from error
        try:
            self._begin({"format": f"lookalike.datasketch {_VERSION}", **settings})
        except sqlite3.Error as error:
            self._connection.close()
            raise self._refusal(error) from error
        except BaseException:
            self._connection.close()
            raise
        self._finish = weakref.finalize(self, _finish, self._connection, os.getpid())
        _open_files.add(self)

    def _refusal(self, error: sqlite3.Error) -> StoreError:
        text = str(error)
        if "locked" in text or "busy" in text:
            return StoreError(
                f"{self.path} is open already, in this process or in another: close() that index "
                f"first, or use another file ({text})"
            )
        if isinstance(error, sqlite3.OperationalError):
            return StoreError(f"cannot open {self.path}: {text}")
        return DamagedError(f"{self.path} is no file of sketches: {text}; use another file")

    def _begin(self, settings: dict[str, str]) -> None:
        """Looks whether the file is one of these, and takes it; it is changed only then."""
        self._look()
        run = self._connection.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("BEGIN EXCLUSIVE")
        self._look()
        has_settings = run("SELECT 1 FROM sqlite_master WHERE name = 'settings'").fetchone()
        known = dict(run("SELECT name, value FROM settings")) if has_settings else {}
        for name, value in settings.items():
            if known.get(name, value) != value:
                raise MismatchError(
                    f"{self.path} was made with {name} {known[name]}, got {value}: open it with "
                    f"{name} {known[name]}, or use another file"
                )
        for statement in _SCHEMA:
            run(statement)
        insert = "INSERT OR IGNORE INTO settings VALUES (?, ?)"
        self._connection.executemany(insert, settings.items())
        run(f"PRAGMA application_id = {_APPLICATION}")
        run("COMMIT")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")

    def _look(self) -> None:
        """Refuses databases of others."""
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        tables = {
            name
            for (name,) in self._connection.execute("SELECT name FROM sqlite_master")
            if not name.startswith("sqlite_")
        }
        # Indexes of tables, among them that of older files, belong to these.
        tables -= {"keys_by_key"} if tables >= _TABLES else set()
        is_ours = application in (0, _APPLICATION) and version == 0 and tables <= _TABLES
        if is_ours and tables:
            is_ours = self._connection.execute(
                "SELECT count(*) FROM pragma_table_info('keys') "
                "WHERE name IN ('number', 'key', 'lengths', 'bands')"
            ).fetchone() == (4,)
        if not is_ours:
            raise DamagedError(
                f"{self.path} is a database, but not one of sketches: it has the tables "
                f"{', '.join(sorted(tables)) or '(none)'}; use another file"
            )

    def scheme(self) -> str | None:
        """The scheme of the sketches in it, if there are any."""
        row = self._run("SELECT value FROM settings WHERE name = 'scheme'").fetchone()
        return None if row is None else str(row[0])

    def read(self) -> Iterator[tuple[Any, list[bytes]]]:
        """Every insertion, in order: the key and its bands.

        Raises:
            DamagedError: A row is not what was written.
            StoreError: A key is of a class that cannot be loaded.
        """
        known: dict[Any, tuple[int, ...]] = {}
        rows = self._run("SELECT number, key, lengths, bands FROM keys ORDER BY number")
        while (row := self._next(rows)) is not None:
            number, key_bytes, lengths, bands = row
            try:
                key = pickle.loads(key_bytes)
                known[key] = (*known.get(key, ()), number)
                pieces = _pieces(lengths, bands)
            except (ImportError, AttributeError) as error:
                raise StoreError(
                    f"{self.path}, row {number}: its key cannot be loaded: {error}; make its class "
                    "known before the index is opened"
                ) from error
            except Exception as error:
                raise self.damaged(number, error) from error
            yield key, pieces
        self._rows = known

    def _next(self, rows: sqlite3.Cursor) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = rows.fetchone()
        except sqlite3.Error as error:
            raise DamagedError(f"{self.path} cannot be read: {error}") from error
        return row

    def damaged(self, number: int | None, error: object) -> DamagedError:
        """What is raised for a row that is not what was written."""
        row = "a row" if number is None else f"row {number}"
        return DamagedError(
            f"{self.path}: {row} is not what was written: {error}; restore the file from a copy, "
            "or delete it and insert the sketches again"
        )

    def add(self, key: Hashable, pickle_of_key: bytes, bands: list[bytes]) -> None:
        """Writes an insertion, which :meth:`commit` makes last."""
        lengths = b"".join(len(band).to_bytes(4, "little") for band in bands)
        row = self._write(
            "INSERT INTO keys (key, lengths, bands) VALUES (?, ?, ?)",
            (pickle_of_key, lengths, b"".join(bands)),
        )
        self._rows[key] = (*self._rows.get(key, ()), row.lastrowid or 0)

    def set_scheme(self, scheme: str | None) -> None:
        """Writes which scheme the sketches have, which :meth:`commit` makes last."""
        if scheme is not None:
            self._write("INSERT OR IGNORE INTO settings VALUES ('scheme', ?)", (scheme,))

    def remove(self, key: Hashable) -> None:
        """Writes a removal, which :meth:`commit` makes last."""
        numbers = self._rows.pop(key, ())
        gone = 0
        for number in numbers:
            gone += self._write("DELETE FROM keys WHERE number = ?", (number,)).rowcount
        if gone != len(numbers) or not numbers:
            raise DamagedError(
                f"{self.path} has {gone} rows of the key {_shown(key)}, expected {len(numbers)}: "
                "it was changed by something else"
            )

    def check_open(self) -> None:
        """Raises StoreError where nothing can be written: it is closed, or of another process."""
        self._connection_here()

    def is_here(self) -> bool:
        """Whether it is open, and of this process."""
        return self._owner == os.getpid()

    def commit(self) -> None:
        """Makes what was written last."""
        if self._connection_here().in_transaction:
            self._run("COMMIT")

    def roll_back(self) -> None:
        """Undoes what was written since the last :meth:`commit`."""
        if self._owner == os.getpid() and self._connection.in_transaction:
            self._connection.rollback()

    def close(self) -> None:
        """Makes what was written last, and closes the file."""
        with self.lock:
            if self._owner != os.getpid():
                return
            try:
                self.commit()
            finally:
                self._owner = None
                self._finish.detach()
                _open_files.discard(self)
                self._connection.close()

    def _write(self, statement: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        if not self._connection_here().in_transaction:
            self._run("BEGIN")
        return self._run(statement, values)

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._connection_here().execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot use {self.path}: {error}; what was not on the disk yet is undone, in "
                "memory as well"
            ) from error

    def _connection_here(self) -> sqlite3.Connection:
        if self._owner != os.getpid():
            raise StoreError(
                f"{self.path} was opened by another process, which this one was forked from, or "
                "is closed: open an index with it in the process that changes it"
            )
        return self._connection

    def _leave(self) -> None:
        """In a process that was forked: leaves the file to the one that it was forked from."""
        self._finish.detach()
        _native.leave(self._connection)
        self._owner = None
        self.lock = threading.RLock()


def _finish(connection: sqlite3.Connection, owner: int) -> None:
    """What is done for an index that nobody closed."""
    if owner == os.getpid():
        try:
            connection.commit()
        finally:
            connection.close()


def _leave_all() -> None:
    for file in list(_open_files):
        file._leave()
    _open_files.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)


def _pieces(lengths: bytes, bands: bytes) -> list[bytes]:
    if not isinstance(lengths, bytes) or not isinstance(bands, bytes) or len(lengths) % 4:
        raise ValueError("expected bytes, and four for each length")
    pieces, start = [], 0
    for at in range(0, len(lengths), 4):
        length = int.from_bytes(lengths[at : at + 4], "little")
        pieces.append(bands[start : start + length])
        start += length
    if start != len(bands):
        raise ValueError(f"expected {start} bytes of bands, got {len(bands)}")
    return pieces


def pickled(key: Hashable) -> bytes:
    """What a file keeps of a key.

    Raises:
        DocumentTypeError: It cannot be pickled.
    """
    try:
        return pickle.dumps(key, protocol=4)
    except Exception as error:
        raise DocumentTypeError(
            f"the key {_shown(key)} cannot be pickled, so no file keeps it: {error}; use a key "
            "such as a str or an int"
        ) from error


def _shown(key: object) -> str:
    try:
        text = repr(key)
    except Exception:
        text = f"of the class {type(key).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}…"
