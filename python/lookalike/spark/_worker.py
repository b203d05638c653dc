"""How tasks run in the Python processes of executors."""

from __future__ import annotations

import functools
import gc
import os
import sys
import zipimport
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike._divided.task_errors import stated_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# The modules that the processes of workers are started with, by fork or one by one.
_WORKERS = ("pyspark.daemon", "pyspark.worker")

_Task = Callable[[Iterable[Any]], Iterator[Any]]


def map_rows(rows: DataFrame, task: _Task, schema: str | StructType) -> DataFrame:
    """What a task gives for each partition of a frame.

    Args:
        task: From Arrow batches to Arrow batches; it pickles.
        schema: Columns of what it gives.
    """
    names = tuple(rows.columns)
    if all(name.isidentifier() for name in names):
        return rows.mapInArrow(_WorkerTask(task), schema)
    # PySpark takes a name with a dot for a field of a struct.
    numbered = rows.toDF(*(f"column_{number}" for number in range(len(names))))
    return numbered.mapInArrow(_WorkerTask(task, names), schema)


@dataclass(frozen=True)
class _WorkerTask:
    task: _Task
    names: tuple[str, ...] | None = None
    """What the columns are called, where that is not what the engine calls them."""

    @property
    def __name__(self) -> str:
        """What Spark shows of the task."""
        return getattr(self.task, "__name__", type(self.task).__name__)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        _forget_archives()
        _exempt_modules()
        with stated_errors():
            yield from self.task(batches if self.names is None else self._named(batches))

    def _named(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_arrays(batch.columns, names=list(self.names or ()))


def _forget_archives() -> None:
    """PySpark invalidates the caches of importers before each task. Up to Python 3.11 this reads
    the directories of ``pyspark.zip`` and of the jar of Spark (5,000 names) again, once for every
    package in them that was imported, which takes most of the time that Python has for a small
    task. The importers are a cache; those that are needed are made again, with the directories that
    were read.
    """
    if sys.version_info >= (3, 12):
        return
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter) and _is_of_spark(
            os.path.basename(finder.archive)
        ):
            # Tasks of other threads do the same.
            sys.path_importer_cache.pop(path, None)


@functools.cache
def _exempt_modules() -> None:
    """A worker of PySpark collects garbage after each task, and looks at the 45,000 objects of the
    modules each time, which took a seventh of the CPU seconds of Python for a million documents.
    What a worker has before its first task stays as long as the process: it is exempt.

    A process that does other things, as the one of Sail, is left as it is.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if main is not None and main.name in _WORKERS:
        gc.collect()
        gc.freeze()


def _is_of_spark(archive: str) -> bool:
    """Whether an archive is one that stays the same as long as the process runs."""
    return archive.endswith(".jar") or archive.startswith(("pyspark", "py4j"))
