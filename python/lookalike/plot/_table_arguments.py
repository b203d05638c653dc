"""Checks arguments that are only valid with a result, not with a table."""

from __future__ import annotations

from lookalike.errors import OptionError


def refuse_with_table(**arguments: object) -> None:
    """Rejects arguments that apply only to a result, because the caller passed a table.

    Raises:
        OptionError: One of the arguments is not ``None``.
    """
    for name, value in arguments.items():
        if value is not None:
            raise OptionError(
                f"{name} belongs to a result, and this is a table; make the table with it"
            )
