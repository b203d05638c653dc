"""Results of stages, so that no stage runs twice: in the memory of the cluster, or in a folder from
which the same call resumes.
"""

from __future__ import annotations

import inspect
import json
import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lookalike.errors import DamagedError, OptionError
from lookalike.spark._columns import literal_row
from lookalike.stages import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# Columns of the manifest of a stage: its name, plan and division as JSON, and columns and number of
# its rows.
_MANIFEST = "stage string, plan string, schema string, rows long"


def kept(frame: DataFrame) -> DataFrame:
    """A frame whose rows the cluster keeps.

    Spark treats frames with equal plans as equal. It would return the rows of an earlier call on
    the same folder, even if the folder has new files. The unique condition makes the plans differ;
    the optimizer drops it.
    """
    token = uuid.uuid4().hex
    return frame.where(f"'{token}' = '{token}'").persist()


class Checkpoint:
    """The results of the stages of a run.

    A written stage ends with a manifest. A stage without a manifest is written again. A manifest of
    another plan or division is rejected: rows of two divisions cannot be combined.
    """

    def __init__(
        self, spark: SparkSession, folder: str | None, plan: Plan, division: dict[str, Any]
    ) -> None:
        self._spark, self._folder = spark, folder.rstrip("/") if folder is not None else None
        self._plan = json.dumps({**_described(plan), **division}, sort_keys=True)
        self._kept: list[DataFrame] = []
        self._stored: list[DataFrame] = []

    @property
    def folder(self) -> str | None:
        """The folder of the results that are written."""
        return self._folder

    def begin(self) -> None:
        """Writes a first file, so that the call fails before its first stage if the folder cannot
        be written.
        """
        if self._folder is not None:
            row = literal_row(self._spark, plan=self._plan)
            # A resumed run does not change the files of the run before.
            row.write.mode("ignore").json(f"{self._folder}/begin")

    def result(
        self,
        stage: str,
        make: Callable[[], DataFrame],
        check: Callable[[DataFrame], None] = lambda _: None,
    ) -> DataFrame:
        """Returns the stored result of a stage, or computes it with ``make``.

        Args:
            check: Rejects a new result before the stage is complete.
        """
        if self._folder is None:
            frame = kept(make())
            self._kept.append(frame)
            check(frame)
            return frame
        path = f"{self._folder}/{stage}"
        manifest = self._manifest_of(stage)
        if manifest is not None:
            rows = self._read(path, manifest["schema"])
            self._check_whole(stage, rows, manifest["rows"])
            return rows
        frame = make()
        schema = frame.schema.json()
        frame.write.mode("overwrite").parquet(path)
        rows = self._read(path, schema)
        check(rows)
        row = literal_row(
            self._spark, stage=stage, plan=self._plan, schema=schema, rows=rows.count()
        )
        row.write.mode("overwrite").json(f"{path}.manifest")
        return rows

    def _check_whole(self, stage: str, rows: DataFrame, expected: int) -> None:
        """Rejects a result with missing files, or with files of another run."""
        count = rows.count()
        if count != expected:
            raise DamagedError(
                f"the checkpoint {self._folder} has {count} rows of the stage {stage}, expected "
                f"{expected}: files of it are missing, or are of another run; remove "
                f"{self._folder}/{stage}.manifest, and the stage runs again"
            )

    def _read(self, path: str, schema: str) -> DataFrame:
        """Reads written rows. The schema is necessary: Sail writes no file for a frame without
        rows.
        """
        from pyspark.sql.types import StructType

        rows: DataFrame = self._spark.read.schema(StructType.fromJson(json.loads(schema))).parquet(
            path
        )
        return rows

    def stored(self, stage: str, make: Callable[[], DataFrame]) -> DataFrame:
        """Returns the result of a round without its plan. Otherwise the plan of each round would
        contain the plans of all rounds before it.

        Without a folder the executors hold two copies. The run fails if both copies are lost.
        """
        if self._folder is not None:
            return self.result(stage, make)
        stored: DataFrame = _local_checkpoint(make())
        self._stored.append(stored)
        return stored

    def last(self, frame: DataFrame) -> DataFrame:
        """Keeps the rows of the last stage in the cluster, and releases the results of earlier
        stages. Rows between rounds stay, since they cannot be computed again.
        """
        if self._folder is not None:
            return frame
        frame = kept(frame)
        frame.count()
        self._unpersist()
        self._kept.append(frame)
        return frame

    def _manifest_of(self, stage: str) -> Row | None:
        """The manifest of a stage; ``None`` if its result is incomplete."""
        try:
            # Spark logs a trace of Java for one absent path, and no trace for two.
            manifest = f"{self._folder}/{stage}.manifest"
            rows = self._spark.read.schema(_MANIFEST).json([manifest, manifest]).collect()
        except Exception as error:
            if is_absent(error):
                return None
            raise
        if not rows or rows[0]["plan"] is None:
            return None
        if rows[0]["plan"] != self._plan:
            there, here = json.loads(rows[0]["plan"]), json.loads(self._plan)
            names = sorted(name for name in {*there, *here} if there.get(name) != here.get(name))
            differences = "; ".join(
                f"{name} was {there.get(name)!r} and is {here.get(name)!r}" for name in names
            )
            raise OptionError(
                f"the checkpoint {self._folder} is of another run: {differences}; name another "
                "folder, or remove this one"
            )
        return rows[0]

    def release(self) -> None:
        """Releases the results that the cluster keeps."""
        self._unpersist()
        for frame in self._stored:
            _unpersist_stored(frame)
        self._stored.clear()

    def _unpersist(self) -> None:
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()


# The messages of Sail 0.7 for checkpoints without a folder. PySpark 3.5 has no method for them over
# Spark Connect.
_NO_CHECKPOINTS = ("checkpoint.path", "checkpoint StorageLevel")


def _local_checkpoint(frame: Any) -> Any:
    """Stores rows in the executors, and drops their plan.

    Raises:
        OptionError: The engine cannot store rows.
    """
    from pyspark import StorageLevel

    try:
        if "storageLevel" in inspect.signature(frame.localCheckpoint).parameters:
            return frame.localCheckpoint(storageLevel=StorageLevel.MEMORY_AND_DISK_2)
        return frame.localCheckpoint()
    except Exception as error:
        if not isinstance(error, AttributeError) and not any(
            sign in str(error) for sign in _NO_CHECKPOINTS
        ):
            raise
    raise OptionError(
        "documents of components take more than task_memory, and this engine keeps no rows between "
        "rounds; name a folder by checkpoint, or increase task_memory"
    )


def _unpersist_stored(frame: Any) -> None:
    """Releases the rows of a local checkpoint. With Spark Connect the server does it when the frame
    is no longer used.

    A data frame has no operation for it. This is the only function of the package that uses the
    objects of the JVM below a data frame; it does nothing if there are none.
    """
    if not hasattr(frame, "_jdf"):
        return
    plan = frame._jdf.queryExecution().logical()
    if hasattr(plan, "rdd"):
        plan.rdd().unpersist(False)


def _described(plan: Plan) -> dict[str, Any]:
    options = {name: value for name, value in plan.options.items() if name not in plan.parameters}
    return {
        **json.loads(json.dumps(options, default=str)),
        **{name: value for name, value in plan.parameters.items() if name != "predicted_recall"},
        "version": plan.version,
        "columns": plan.columns,
    }


# The messages of file systems for an absent path; other errors also contain such words.
_ABSENT = re.compile(
    r"path does not exist|no such file or directory|filenotfoundexception", re.IGNORECASE
)


def is_absent(error: Exception) -> bool:
    """Whether an engine says that there is nothing under a path."""
    # PySpark 4 warns of the name that 3.5 has.
    name = "getCondition" if hasattr(error, "getCondition") else "getErrorClass"
    condition = getattr(error, name, lambda: None)()
    if condition:
        return "PATH_NOT_FOUND" in condition
    text = str(error)
    return "PATH_NOT_FOUND" in text or _ABSENT.search(text) is not None
