"""Results of stages, so that none runs twice: kept by the cluster, or written to a folder from which
the same call goes on."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lookalike.errors import OptionError
from lookalike.stages import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Checkpoint", "is_absent"]


class Checkpoint:
    """Where the results of stages are.

    A stage that is written ends with a manifest; without one it is written again. A manifest of
    another plan is refused, and one of another division: rows of two divisions do not fit together.
    """

    def __init__(
        self, spark: SparkSession, folder: str | None, plan: Plan, division: dict[str, Any]
    ) -> None:
        self._spark, self._folder = spark, folder.rstrip("/") if folder is not None else None
        self._plan = json.dumps({**_described(plan), **division}, sort_keys=True)
        self._kept: list[DataFrame] = []

    def result(self, stage: str, make: Callable[[], DataFrame]) -> DataFrame:
        """The result of a stage: what is there, or what ``make`` gives."""
        if self._folder is None:
            frame = make().persist()
            self._kept.append(frame)
            return frame
        path = f"{self._folder}/{stage}"
        if not self._is_done(stage):
            make().write.mode("overwrite").parquet(path)
            manifest = self._spark.createDataFrame([(stage, self._plan)], "stage string, plan string")
            manifest.write.mode("overwrite").json(f"{path}.manifest")
        return self._spark.read.parquet(path)

    def stored(self, stage: str, make: Callable[[], DataFrame]) -> DataFrame:
        """The result of a stage that later rounds of the same stage begin with: rows that know nothing
        of how they were made, or the plan of each round would hold those of all before it.

        Without a folder the executors hold two copies; where both are lost, so is the run.
        """
        if self._folder is not None:
            return self.result(stage, make)
        frame = make()
        if not hasattr(frame, "localCheckpoint"):
            raise OptionError(
                "a component is larger than task_memory, and this engine keeps no rows between rounds; name a folder "
                "by checkpoint, or give task_memory more"
            )
        from pyspark import StorageLevel

        if "storageLevel" in inspect.signature(frame.localCheckpoint).parameters:
            return frame.localCheckpoint(storageLevel=StorageLevel.MEMORY_AND_DISK_2)
        return frame.localCheckpoint()

    def _is_done(self, stage: str) -> bool:
        try:
            rows = self._spark.read.schema("stage string, plan string").json(f"{self._folder}/{stage}.manifest").collect()
        except Exception as error:  # noqa: BLE001 - which class it is depends on the engine
            if is_absent(error):
                return False
            raise
        if not rows:
            return False
        if rows[0]["plan"] != self._plan:
            there, here = json.loads(rows[0]["plan"]), json.loads(self._plan)
            names = sorted(name for name in {*there, *here} if there.get(name) != here.get(name))
            differences = "; ".join(f"{name} was {there.get(name)!r} and is {here.get(name)!r}" for name in names)
            raise OptionError(
                f"the checkpoint {self._folder} is of another run: {differences}; name another folder, or "
                "remove this one"
            )
        return True

    def release(self) -> None:
        """Lets go of what the cluster keeps."""
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()


def _described(plan: Plan) -> dict[str, Any]:
    options = json.dumps(dict(plan.options), sort_keys=True, default=str)
    return {
        **{name: value for name, value in plan.parameters.items() if name != "predicted_recall"},
        "version": plan.version,
        "options": hashlib.blake2b(options.encode(), digest_size=8).hexdigest(),
        "columns": plan.columns,
    }


def is_absent(error: Exception) -> bool:
    """Whether an engine says that there is nothing under a path."""
    text = str(error).lower()
    return any(sign in text for sign in ("path_not_found", "does not exist", "not found", "no such file"))
