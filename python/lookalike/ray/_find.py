"""``find`` and ``dedup`` for a Ray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike import stages
from lookalike._divided.find_result import DividedFindResult
from lookalike._divided.run_sums import bytes_of
from lookalike._divided.survivors import ANNOTATIONS, is_own_member, member_columns
from lookalike._divided.task_errors import task_errors
from lookalike._options import refuse_add, whole_option
from lookalike._progress import Progress, reporting
from lookalike.errors import OptionError
from lookalike.ray._run import RayRun, check_dataset, ray_module
from lookalike.ray._tasks import SurvivorTask, map_dataset

if TYPE_CHECKING:
    import pyarrow  # noqa: F401 - within a quoted annotation

_REMEDY = "install the version of the driver on all nodes, or in the runtime_env of ray.init"


class FindResult(DividedFindResult["pyarrow.Table", RayRun]):
    """The result of ``find``. Its tables are of type ``pyarrow.Table``, in the process of the
    caller.

    ``lookalike.FindResult`` also has ``better_setting``, ``cut_from_mail``, ``decisions``,
    ``explain``, ``folding``, ``is_kept``, ``kept_rows``, ``labels``, ``text``, ``write_report`` and
    ``write_skipped``, which exist on one machine only.
    """

    _why_not_pickled = (
        "it refers to objects of this cluster of Ray; pickle found.groups, found.pairs, "
        "found.counts, or list(found)"
    )


def find(
    ds: Any,
    *,
    text: str = "text",
    id: str = "id",
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    reference: Any = None,
    pairs: bool = False,
    documents: int | None = None,
    task_memory: int | str = "2GiB",
    partitions: int = 16,
    progress: bool | Progress | None = False,
    **options: Any,
) -> FindResult:
    """Finds the near-duplicates among the rows of a Ray Dataset. Groups, pairs and counts are the
    same as from ``lookalike.find`` for the same documents and parameters.

    The run reads the dataset at least twice, so the dataset must return the same rows each time.
    Each node holds the labels of all documents in components (24 bytes each). The process of the
    caller holds the members of groups, and the pairs.

    Args:
        ds: The documents, one per row. The dataset has the columns ``text`` and ``id``, and the
            columns that ``keep``, ``path_field`` and ``source_field`` name.
        text: The column of texts.
        id: The column of ids: texts or integers, all different.
        threshold: As for ``lookalike.find``.
        recall: As for ``lookalike.find``.
        reference: A dataset of documents that are always kept, with the same columns.
        pairs: Whether to list all verified pairs.
        documents: The expected number of documents, for which the signatures, bands and rows are
            chosen. By default the choice depends on ``threshold`` and ``recall`` only.
        task_memory: The most memory for the documents of one component in a task: bytes, or a text
            such as ``"2GiB"``. Larger components are divided. Parts that are still larger are
            decided in rounds, or rejected with ``group="components"``.
        partitions: The number of parts into which buckets and documents are divided.
        progress: As for ``lookalike.spark.find``.
        options: Options of ``lookalike.find``, except options of one machine: ``decisions``,
            ``estimates``, ``reference_pairs``, ``unit``, ``bands="auto"``, ``memory``,
            ``temp_dir`` and ``threads``.

    Raises:
        OptionError: An option is unknown or has an invalid value, or a component is too large.
        DocumentError: A document cannot be used, or two documents have the same id.
        ChangedError: A later reading of the dataset returned other documents. The run checks only
            documents that share a key with others.
        FileError: A worker has no space left.
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
    parts = whole_option("partitions", partitions, 1, 31)
    run = RayRun(plan, ds, reference, parts, bytes_of("task_memory", task_memory))
    with task_errors(_REMEDY), reporting(progress) as run.progress:
        run.run()
    return FindResult(run)


def dedup(ds: Any, *, annotate: bool = False, **options: Any) -> Any:
    """Returns the rows of a Ray Dataset that are not duplicates, with all their columns.

    Args:
        ds: As for ``find``.
        annotate: Whether to keep all rows, and add the columns that ``lookalike.spark.dedup``
            adds.
        options: Arguments and options of ``find``.

    Raises:
        OptionError: A column that ``annotate`` adds already exists, or an option is invalid.

    See ``find`` for other errors.
    """
    refuse_add(options)
    check_dataset(ds, "ds")
    existing = [name for name in ANNOTATIONS if annotate and name in (ds.columns() or [])]
    if existing:
        raise OptionError(
            f"annotate=True adds the column {existing[0]!r}, which already exists; rename it first"
        )
    run = find(ds, **options).run
    rows = run.row_operations()
    f = rows.functions
    if annotate:
        columns = member_columns(f, run.plan.parameters["measure"], run.id_column("keeper"))
        members = rows.select(
            rows.where(run.numbered(), is_own_member(f)), {"id": f.col("id"), **columns}
        )
    else:
        members = rows.where(run.members, f.col("role") == f.lit("duplicate"))
    task = SurvivorTask(run.plan, ray_module().put(members.combine_chunks()), annotate)
    return map_dataset(ds, task)
