"""A table that is given in place of a result."""

from __future__ import annotations

from lookalike.errors import OptionError


def refuse_with_table(**arguments: object) -> None:
    """Refuses arguments that say how a result becomes a table, since there is one.

    Raises:
        OptionError: One of them is given.
    """
    for name, value in arguments.items():
        if value is not None:
            raise OptionError(
                f"{name} belongs to a result, and a table is given; make the table with it"
            )
