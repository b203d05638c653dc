"""Runs tasks in the Python processes of executors."""

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

# The main modules of PySpark's worker processes: forked from a daemon, or started one by one.
_WORKERS = ("pyspark.daemon", "pyspark.worker")

_Task = Callable[[Iterable[Any]], Iterator[Any]]


def map_rows(rows: DataFrame, task: _Task, schema: str | StructType) -> DataFrame:
    """Runs a task over each partition of a frame.

    Args:
        rows: The frame.
        task: A function from Arrow batches to Arrow batches that can be pickled.
        schema: The columns of the result.
    """
    names = tuple(rows.columns)
    if all(name.isidentifier() for name in names):
        return rows.mapInArrow(_WorkerTask(task), schema)
    # PySpark treats a name with a dot as a field of a struct.
    numbered = rows.toDF(*(f"column_{number}" for number in range(len(names))))
    return numbered.mapInArrow(_WorkerTask(task, names), schema)


@dataclass(frozen=True)
class _WorkerTask:
    task: _Task
    names: tuple[str, ...] | None = None
    """The names that the task expects, if the columns were renamed for the engine."""

    @property
    def __name__(self) -> str:
        """The name that Spark displays for the task."""
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
    """Removes the importers of Spark's archives from Python's cache of importers.

    PySpark invalidates this cache before each task. Up to Python 3.11, each importer then reads
    the directory of its archive again, for every imported package. The directories of
    ``pyspark.zip`` and the Spark jar have 5,000 names, so this takes most of the time of a small
    task. Python creates a removed importer again with the known directory.
    """
    if sys.version_info >= (3, 12):
        return
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter) and _is_of_spark(
            os.path.basename(finder.archive)
        ):
            # A task in another thread may remove the same entry.
            sys.path_importer_cache.pop(path, None)


@functools.cache
def _exempt_modules() -> None:
    """Exempts the objects of modules from garbage collection in worker processes of PySpark.

    A worker collects garbage after each task and visits the 45,000 objects of the modules each
    time. This took a seventh of the CPU seconds of Python for a million documents. Objects that
    exist before the first task live as long as the process. In other processes, such as Sail, this
    function does nothing.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if main is not None and main.name in _WORKERS:
        gc.collect()
        gc.freeze()


def _is_of_spark(archive: str) -> bool:
    """Returns true for the archives of Spark, which do not change while the process runs."""
    return archive.endswith(".jar") or archive.startswith(("pyspark", "py4j"))
