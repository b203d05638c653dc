"""Keeps the results of stages, so that no stage runs twice. They are in the cluster, or in a
folder from which the same call resumes.
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

# The columns of the manifest of a stage: its name, its plan and division as JSON, and the schema
# and number of its rows.
_MANIFEST = "stage string, plan string, schema string, rows long"


def kept(frame: DataFrame) -> DataFrame:
    """Returns a frame with the same rows, which the cluster keeps once they are computed.

    Spark treats frames with equal plans as the same frame. It would return the kept rows of an
    earlier call on the same folder, even if the folder has new files. A unique condition makes the
    plans differ, and the optimizer removes it.
    """
    token = uuid.uuid4().hex
    return frame.where(f"'{token}' = '{token}'").persist()


class Checkpoint:
    """The results of the stages of a run.

    With a folder, the manifest of a stage is written after its rows. A stage without a manifest
    runs again. A manifest with another plan or division is rejected, because rows of different
    divisions cannot be combined.
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
        """The folder of the checkpoint; ``None`` if the cluster keeps the results."""
        return self._folder

    def begin(self) -> None:
        """Writes a first file. If the folder cannot be written, the call fails here, before its
        first stage.
        """
        if self._folder is not None:
            row = literal_row(self._spark, plan=self._plan)
            # A resumed run does not change the files of the earlier run.
            row.write.mode("ignore").json(f"{self._folder}/begin")

    def result(
        self,
        stage: str,
        make: Callable[[], DataFrame],
        check: Callable[[DataFrame], None] = lambda _: None,
    ) -> DataFrame:
        """Returns the stored result of a stage. If there is none, computes it with ``make`` and
        stores it.

        Args:
            stage: The name of the stage.
            make: Makes the frame of the result.
            check: Raises an error if a new result is invalid. The stage is then not complete.
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
        """Rejects a stored result with another number of rows than its manifest states."""
        count = rows.count()
        if count != expected:
            raise DamagedError(
                f"the checkpoint {self._folder} has {count} rows of the stage {stage}, expected "
                f"{expected}: files of it are missing, or are of another run; remove "
                f"{self._folder}/{stage}.manifest, and the stage runs again"
            )

    def _read(self, path: str, schema: str) -> DataFrame:
        """Reads stored rows. The schema must be known, because Sail writes no file for a frame
        without rows.
        """
        from pyspark.sql.types import StructType

        rows: DataFrame = self._spark.read.schema(StructType.fromJson(json.loads(schema))).parquet(
            path
        )
        return rows

    def stored(self, stage: str, make: Callable[[], DataFrame]) -> DataFrame:
        """Computes and stores the result of a round, or returns the stored result. The returned
        frame does not contain the plan of the round. Otherwise the plan of each round would
        contain the plans of all earlier rounds.

        Without a folder, the executors store the rows, in two copies if the engine supports it.
        The run fails if all copies are lost.
        """
        if self._folder is not None:
            return self.result(stage, make)
        stored: DataFrame = _local_checkpoint(make())
        self._stored.append(stored)
        return stored

    def last(self, frame: DataFrame) -> DataFrame:
        """Keeps the rows of the last stage in the cluster, and releases the results of earlier
        stages. Does not release the results of rounds, because they cannot be computed again. With
        a folder, returns the frame unchanged.
        """
        if self._folder is not None:
            return frame
        frame = kept(frame)
        frame.count()
        self._unpersist()
        self._kept.append(frame)
        return frame

    def _manifest_of(self, stage: str) -> Row | None:
        """Returns the manifest of a stage, or ``None`` if its result is missing or incomplete.

        Raises:
            OptionError: The checkpoint is of a run with another plan or division.
        """
        try:
            # If the only path is absent, Spark logs a Java trace. It logs none for two paths.
            manifest = f"{self._folder}/{stage}.manifest"
            rows = self._spark.read.schema(_MANIFEST).json([manifest, manifest]).collect()
        except Exception as error:
            if is_absent(error):
                return None
            raise
        if not rows or rows[0]["plan"] is None:
            return None
        if rows[0]["plan"] != self._plan:
            stored, current = json.loads(rows[0]["plan"]), json.loads(self._plan)
            names = sorted(
                name for name in {*stored, *current} if stored.get(name) != current.get(name)
            )
            differences = "; ".join(
                f"{name} was {stored.get(name)!r} and is {current.get(name)!r}" for name in names
            )
            raise OptionError(
                f"the checkpoint {self._folder} is of another run: {differences}; name another "
                "folder, or remove this one"
            )
        return rows[0]

    def release(self) -> None:
        """Releases all results that the cluster keeps, including the results of rounds."""
        self._unpersist()
        for frame in self._stored:
            _unpersist_stored(frame)
        self._stored.clear()

    def _unpersist(self) -> None:
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()


# The messages of Sail 0.7 for checkpoints without a folder. With Spark Connect, frames of PySpark
# 3.5 have no method for such checkpoints.
_NO_CHECKPOINTS = ("checkpoint.path", "checkpoint StorageLevel")


def _local_checkpoint(frame: Any) -> Any:
    """Stores the rows of a frame in the executors, and returns them as a frame without their plan.

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
    """Releases the rows of a local checkpoint. With Spark Connect, the server releases them when
    no frame uses them any more.

    Data frames have no method for this. The function therefore uses the JVM object of the frame,
    as no other function of the package does. Without a JVM object it does nothing.
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


# The messages of file systems for an absent path. Other errors contain such words too, so only
# errors without an error class are searched for them.
_ABSENT = re.compile(
    r"path does not exist|no such file or directory|filenotfoundexception", re.IGNORECASE
)


def is_absent(error: Exception) -> bool:
    """Returns true if an error of the engine states that a path does not exist."""
    # PySpark 3.5 has only `getErrorClass`, which is deprecated in PySpark 4.
    name = "getCondition" if hasattr(error, "getCondition") else "getErrorClass"
    condition = getattr(error, name, lambda: None)()
    if condition:
        return "PATH_NOT_FOUND" in condition
    text = str(error)
    return "PATH_NOT_FOUND" in text or _ABSENT.search(text) is not None
