"""``find`` and ``dedup`` for a Spark DataFrame."""

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
    """The result of ``find``. Its tables are data frames, which Spark computes when they are used.

    ``lookalike.FindResult`` also has ``better_setting``, ``cut_from_mail``, ``decisions``,
    ``explain``, ``folding``, ``is_kept``, ``kept_rows``, ``labels``, ``text``, ``write_report`` and
    ``write_skipped``, which exist on one machine only.
    """

    _why_not_pickled = (
        "its frames belong to this session of Spark; write the groups by found.write, and pickle "
        "found.counts"
    )

    def release(self) -> None:
        """Releases the results of stages that the cluster keeps. Do not use the frames afterwards.
        If the result is used in a ``with`` statement, the end of the block calls this method.
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
    """Finds the near-duplicates among the rows of a DataFrame. Groups, pairs and counts are the
    same as from ``lookalike.find`` for the same documents and parameters.

    The run reads the frame at least twice, so the frame must return the same rows each time. If it
    uses ``rand()`` or ``limit``, write it to a table first. Ids are compared as texts.

    Args:
        df: The documents, one per row. The frame has the columns ``text`` and ``id``, and the
            columns that ``keep``, ``path_field`` and ``source_field`` name.
        text: The column of texts.
        id: The column of ids: strings or integers, all different.
        threshold: As for ``lookalike.find``.
        recall: As for ``lookalike.find``.
        reference: A frame of documents that are always kept, with the same columns.
        pairs: Whether to list all verified pairs.
        documents: The expected number of documents, for which the signatures, bands and rows are
            chosen. By default the choice depends on ``threshold`` and ``recall`` only.
        checkpoint: A folder for the results of stages, from which the same call resumes. Without
            it, the cluster keeps the results until ``release``. Pass an address such as
            ``s3a://b/run7`` as a ``str``, not as a ``Path``.
        task_memory: The most memory for the documents of one component in a task: bytes, or a text
            such as ``"2GiB"``. Larger components are divided. Parts that are still larger are
            decided in rounds, or rejected with ``group="components"``.
        partitions: The number of parts into which buckets and documents are divided;
            ``spark.sql.shuffle.partitions`` by default.
        progress: As for ``lookalike.find``. Each stage reports 0 of 1 at its beginning and 1 of 1
            at its end.
        options: Options of ``lookalike.find``, except options of one machine: ``decisions``,
            ``estimates``, ``reference_pairs``, ``unit``, ``bands="auto"``, ``memory``,
            ``temp_dir`` and ``threads``.

    Raises:
        OptionError: An option is unknown or has an invalid value, a component is too large, or
            the checkpoint is of another run.
        DocumentError: A document cannot be used, or two documents have the same id.
        ChangedError: A later reading of the frame returned other documents, or the checkpoint is
            of a frame with other ids. The run checks the texts only of documents that share a key
            with others.
        FileError: The checkpoint cannot be read or written, or a worker has no space left.
        DamagedError: Files of the checkpoint are missing, or are of another run.
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
    """Returns the rows of a DataFrame that are not duplicates, with all their columns.

    Rows that ``skip_bad`` leaves out are returned only with ``annotate``. Without ``checkpoint``,
    the cluster keeps the ids of duplicates (with ``annotate``, of all members of groups) until
    ``release`` or the end of the session.

    Args:
        df: As for ``find``.
        annotate: Whether to keep all rows and add columns with the result: ``lookalike_kept``,
            ``lookalike_group``, ``lookalike_keeper``, ``lookalike_jaccard`` (or
            ``lookalike_containment`` if that is the measure) and ``lookalike_group_size``. Their
            values are the same as in ``lookalike.dedup``. Rows that ``skip_bad`` leaves out have
            the value false in ``lookalike_kept``, and no keeper.
        options: Arguments and options of ``find``.

    Raises:
        OptionError: A column that ``annotate`` adds already exists, or an option is invalid.

    See ``find`` for other errors.
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


# For each frame that ``dedup`` returned, the result whose rows the cluster keeps.
_UNRELEASED: WeakKeyDictionary[DataFrame, FindResult] = WeakKeyDictionary()


def release(rows: DataFrame) -> None:
    """Releases the results that the cluster keeps for a frame from ``dedup``. Do not use the frame
    afterwards.

    Args:
        rows: The frame that ``dedup`` returned.

    Raises:
        DocumentTypeError: ``dedup`` did not return this frame (it may be derived from one that it
            returned), or the frame was already released.
    """
    result = _UNRELEASED.pop(rows, None) if hasattr(rows, "sparkSession") else None
    if result is None:
        raise DocumentTypeError(
            "rows: expected a frame that lookalike.spark.dedup returned and that was not released "
            "before"
        )
    result.release()
