"""Arguments that a table does not take."""

from __future__ import annotations

from lookalike.errors import OptionError


def refuse_with_table(**arguments: object) -> None:
    """Rejects arguments that convert a result to a table.

    Raises:
        OptionError: One of them has a value.
    """
    for name, value in arguments.items():
        if value is not None:
            raise OptionError(
                f"{name} belongs to a result, and this is a table; make the table with it"
            )
