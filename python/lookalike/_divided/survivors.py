"""The columns that annotations add to a frame, as expressions that every engine can compute.

``docs/guides/dedup.md`` specifies the columns. Each row of the frame is at most one member of a
group.
"""

from __future__ import annotations

from typing import Any, Final

ANNOTATIONS: Final = (
    "lookalike_kept",
    "lookalike_group",
    "lookalike_keeper",
    "lookalike_jaccard",
    "lookalike_containment",
    "lookalike_group_size",
)
"""All columns that annotations can add."""


def is_own_member(functions: Any) -> Any:
    """Returns the condition that a member of a group is a row of the frame. A keeper from the
    reference is not, even if a row has the same id.
    """
    return (functions.col("role") == functions.lit("duplicate")) | ~functions.col("reference")


def member_columns(functions: Any, measure: str, keeper: Any) -> dict[str, Any]:
    """Returns the annotations of a member of a numbered group, by name.

    Args:
        functions: ``lookalike._divided.row_operations.RowOperations.functions``.
        measure: The measure of the run, ``jaccard`` or ``containment``.
        keeper: The expression of the keeper's id, in the type of the input.
    """
    is_kept = functions.col("role") == functions.lit("keeper")
    return {
        "lookalike_kept": is_kept,
        "lookalike_group": functions.col("group"),
        "lookalike_keeper": functions.when(~is_kept, keeper),
        f"lookalike_{measure}": functions.col(measure),
        "lookalike_group_size": functions.when(is_kept, functions.col("size")),
    }


def row_columns(functions: Any, is_readable: Any) -> dict[str, Any]:
    """Returns the annotations whose value is not null for rows without a group. Such a row is kept
    unless ``skip_bad`` left it out, and has the group size 1 if it is kept.

    Args:
        functions: As in ``member_columns``.
        is_readable: The condition that ``skip_bad`` did not leave the row out.
    """
    kept = functions.coalesce(functions.col("lookalike_kept"), is_readable)
    size = functions.coalesce(functions.col("lookalike_group_size"), functions.lit(1))
    return {"lookalike_kept": kept, "lookalike_group_size": functions.when(kept, size)}
