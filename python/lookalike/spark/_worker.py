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
    """Runs a task over each partition of a frame.

    Args:
        task: A function from Arrow batches to Arrow batches, which pickles.
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
    """The names of the columns, if the engine has other names."""

    @property
    def __name__(self) -> str:
        """The name of the task in Spark."""
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
    """Removes importers of the archives of Spark from the cache of importers.

    PySpark invalidates this cache before each task. Up to Python 3.11 each importer then reads the
    directory of its archive again: 5,000 names of ``pyspark.zip`` and the jar of Spark for every
    imported package, which takes most of the time of a small task. Python makes a removed importer
    again with the known directory.
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
    """Exempts the objects of modules from garbage collection in workers of PySpark.

    A worker collects garbage after each task and visits the 45,000 objects of the modules each
    time, which took a seventh of the CPU seconds of Python for a million documents. The objects
    before the first task live as long as the process. Other processes, such as Sail, do not change.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if main is not None and main.name in _WORKERS:
        gc.collect()
        gc.freeze()


def _is_of_spark(archive: str) -> bool:
    """Whether an archive belongs to Spark, so that it does not change while the process runs."""
    return archive.endswith(".jar") or archive.startswith(("pyspark", "py4j"))
