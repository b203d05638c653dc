"""Tasks that kill their executor, or give other rows each time. Executors import this module."""

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
    """A task that kills the executor it runs in before the first batch, unless a file says that it
    did before."""

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
    """A task whose temporary folder is on a full disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _executor(process: int) -> int:
    """The process of Java above a process of Python."""
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
    """Ids and texts as they are, until a file is there, which says what is done to the first row of
    each batch: it is left out, or its text is another one."""

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
    """Documents whose texts are drawn whenever they are read."""
    import pyarrow as pa

    for batch in batches:
        texts = [f"a b c d e f g h {os.urandom(1)[0] % 3}" for _ in range(batch.num_rows)]
        ids = [str(value) for value in batch.column("id").to_pylist()]
        yield pa.record_batch([pa.array(ids), pa.array(texts)], names=["id", "text"])


def changing_table(table: Any) -> Any:
    """The same of a table."""
    import pyarrow as pa

    return pa.Table.from_batches(list(changing_rows(table.to_batches())))


@dataclass(frozen=True)
class KillWorkerOnce:
    """A task that kills the process it runs in, unless a file says that it did before."""

    task: Any
    flag: str

    def __call__(self, table: Any) -> Any:
        try:
            Path(self.flag).touch(exist_ok=False)
        except FileExistsError:
            return self.task(table)
        os.kill(os.getpid(), signal.SIGKILL)
