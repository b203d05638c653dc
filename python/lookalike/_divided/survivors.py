"""The decision about each row of an annotated frame, as expressions that every engine computes.

``docs/guides/dedup.md`` specifies the columns. A row has at most one row among the members of
groups.
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
"""Columns that annotated rows may get."""


def is_own_member(functions: Any) -> Any:
    """Whether a member of a group is a row of the frame. Keepers of the reference are not, even if
    a row has the same id.
    """
    return (functions.col("role") == functions.lit("duplicate")) | ~functions.col("reference")


def member_columns(functions: Any, measure: str, keeper: Any) -> dict[str, Any]:
    """The annotations of a numbered member of a group.

    Args:
        functions: ``lookalike._divided.row_operations.RowOperations.functions``.
        measure: ``jaccard`` or ``containment``.
        keeper: The id of the keeper, in the type of the input.
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
    """The annotations of all rows, also without a group. Every readable row without a group is
    kept.

    Args:
        is_readable: Whether ``skip_bad`` did not leave a row out.
    """
    kept = functions.coalesce(functions.col("lookalike_kept"), is_readable)
    size = functions.coalesce(functions.col("lookalike_group_size"), functions.lit(1))
    return {"lookalike_kept": kept, "lookalike_group_size": functions.when(kept, size)}
