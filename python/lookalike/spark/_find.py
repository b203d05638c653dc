"""``find`` and ``dedup`` of a Spark DataFrame."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lookalike import stages
from lookalike._divided.find_result import DividedFindResult
from lookalike._options import refuse_add
from lookalike._progress import Progress, reporting
from lookalike.errors import DocumentTypeError
from lookalike.spark._columns import refuse_annotations
from lookalike.spark._run import SparkRun, survivors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FindResult(DividedFindResult["DataFrame", SparkRun]):
    """The result of ``find``. Its tables are frames, which are computed when they are used.

    ``lookalike.FindResult`` also has ``better_setting``, ``cut_from_mail``, ``decisions``,
    ``explain``, ``folding``, ``is_kept``, ``kept_rows``, ``labels``, ``text``, ``write_report`` and
    ``write_skipped``, which exist on one machine only.
    """

    _why_not_pickled = (
        "its frames belong to this session of Spark; write the groups by found.write, and pickle "
        "found.counts"
    )

    def release(self) -> None:
        """Releases the results of the stages that the cluster keeps. Do not use the frames
        afterwards. A ``with`` block calls it at its end.
        """
        self.run.checkpoint.release()

    def __enter__(self) -> FindResult:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def find(
    df: DataFrame,
    *,
    text: str = "text",
    id: str = "id",
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    reference: DataFrame | None = None,
    pairs: bool = False,
    documents: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    task_memory: int | str = "2GiB",
    partitions: int | None = None,
    progress: bool | Progress | None = False,
    **options: Any,
) -> FindResult:
    """Finds the near-duplicates among the rows of a DataFrame; groups, pairs and counts are those
    of ``lookalike.find`` on the same documents with the same parameters.

    The frame is read at least twice, so it must give the same rows each time: one with ``rand()``
    or ``limit`` is written to a table first. Ids are compared as texts.

    Args:
        df: Documents: the columns ``text`` and ``id``, and those that ``keep`` and ``source_field``
            name.
        reference: Documents that are always kept, with the same columns.
        pairs: Whether all verified pairs are listed, too.
        documents: How many documents are expected; bands and rows are chosen for that many.
        checkpoint: A folder for the results of stages, from which the same call goes on; without
            one the cluster keeps them as long as the session. An address such as ``s3a://b/run7``
            is a text.
        task_memory: The most that the documents of a task may take; larger components are divided,
            and decided in rounds.
        partitions: Into how many parts buckets and documents are divided;
            ``spark.sql.shuffle.partitions`` by default.
        progress: As in ``lookalike.find``; of each stage it is said that 0 of 1 is done when it
            begins, and 1 of 1 when it has ended.
        options: Options of ``lookalike.find``, but for those that are about files and about one
            machine.

    Raises:
        OptionError: An option cannot be what was given.
        DocumentError: A document cannot be used, or two have one id.
        ChangedError: The frame gave other rows when it was read again.
    """
    plan = stages.plan(
        text=text,
        id=id,
        threshold=threshold,
        recall=recall,
        pairs=pairs,
        documents=documents,
        **options,
    )
    run = SparkRun(df, reference, plan, checkpoint, task_memory, partitions)
    try:
        with reporting(progress) as run.progress:
            run.run()
        run.progress = None
    except BaseException:
        run.checkpoint.release()
        raise
    return FindResult(run)


def dedup(
    df: DataFrame,
    *,
    annotate: bool = False,
    **options: Any,
) -> DataFrame:
    """Returns the rows of a DataFrame that are not duplicates. The columns do not change.

    Rows that ``skip_bad`` leaves out are returned only with ``annotate``. Without ``checkpoint``,
    the cluster keeps the ids of the members of groups until ``release`` or the end of the
    session.

    Args:
        annotate: Keeps all rows and adds columns with the result: ``lookalike_kept``,
            ``lookalike_group``, ``lookalike_keeper``, ``lookalike_jaccard`` (or
            ``lookalike_containment``, by the measure) and ``lookalike_group_size``. Their values
            are the same as in ``lookalike.dedup``. Rows that ``skip_bad`` leaves out have the
            value false in ``lookalike_kept``, and no keeper.
        options: Those of ``find``.
    """
    refuse_add(options)
    if annotate:
        refuse_annotations(df)
    result = find(df, **options)
    try:
        rows = survivors(df, result.run, annotate=annotate)
    except BaseException:
        result.release()
        raise
    _UNRELEASED[rows] = result
    return rows


# Results in the cluster of each frame that ``dedup`` returned.
_UNRELEASED: WeakKeyDictionary[DataFrame, FindResult] = WeakKeyDictionary()


def release(rows: DataFrame) -> None:
    """Releases the results that the cluster keeps for a frame that ``dedup`` returned. Do not
    use the frame afterwards.

    Raises:
        DocumentTypeError: ``dedup`` did not return the frame, for example because it is derived
            from such a frame; or the frame was released before.
    """
    result = _UNRELEASED.pop(rows, None) if hasattr(rows, "sparkSession") else None
    if result is None:
        raise DocumentTypeError(
            "rows: expected the frame that lookalike.spark.dedup gave, which was not released "
            "before"
        )
    result.release()
