"""Tasks that kill their executor, fail, or return other rows each time. Executors import this
module."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class KillOnce:
    """A task that kills its executor before the first batch. The file `flag` records this, so later
    runs complete."""

    task: Any
    flag: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        try:
            Path(self.flag).touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(_executor(os.getpid()), signal.SIGKILL)
        return iter(self.task(batches))


def no_space(_: Any) -> Any:
    """Fails like a task whose temporary folder is on a full disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _executor(process: int) -> int:
    """Returns the id of the Java process that is an ancestor of a Python process."""
    while True:
        stat = Path(f"/proc/{process}/stat").read_text()
        name, fields = (
            stat[stat.index("(") + 1 : stat.rindex(")")],
            stat[stat.rindex(")") + 2 :].split(),
        )
        if name == "java":
            return process
        process = int(fields[1])


@dataclass(frozen=True)
class ChangedBy:
    """Returns ids and texts unchanged until the file `flag` exists and is not empty. Then the first
    row of each batch gets another text if the file contains ``text``, and is omitted otherwise."""

    flag: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        change = Path(self.flag).read_text() if Path(self.flag).exists() else ""
        for batch in batches:
            rows = batch.select(["id", "text"])
            first = [[rows["id"][0].as_py()], ["other words than before"]]
            if change == "text":
                yield pa.record_batch([pa.array(column) for column in first], names=["id", "text"])
            yield rows.slice(1 if change else 0)


def changing_rows(batches: Iterable[Any]) -> Iterator[Any]:
    """Yields documents with new random texts on each read."""
    import pyarrow as pa

    for batch in batches:
        texts = [f"a b c d e f g h {os.urandom(1)[0] % 3}" for _ in range(batch.num_rows)]
        ids = [str(value) for value in batch.column("id").to_pylist()]
        yield pa.record_batch([pa.array(ids), pa.array(texts)], names=["id", "text"])


def changing_table(table: Any) -> Any:
    """Like :func:`changing_rows`, for a table."""
    import pyarrow as pa

    return pa.Table.from_batches(list(changing_rows(table.to_batches())))


@dataclass(frozen=True)
class KillWorkerOnce:
    """A task that kills its process. The file `flag` records this, so later runs complete."""

    task: Any
    flag: str

    def __call__(self, table: Any) -> Any:
        try:
            Path(self.flag).touch(exist_ok=False)
        except FileExistsError:
            return self.task(table)
        os.kill(os.getpid(), signal.SIGKILL)
