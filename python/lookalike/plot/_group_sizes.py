"""The number of groups by their number of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lookalike._options import invalid_option
from lookalike._results.find_result import FindResult


@dataclass(frozen=True)
class SizeStep:
    """The groups whose numbers of documents are within a range."""

    least: int
    """The least number of documents of a group in this step."""
    most: int
    """The greatest number of documents of a group in this step."""
    groups: int
    """The number of groups."""
    documents: int
    """The number of documents in these groups, including the kept documents."""

    @property
    def label(self) -> str:
        """The range of sizes in words, such as ``"5 to 8"``."""
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


@dataclass(frozen=True)
class GroupSizes:
    """The number of groups by their number of documents."""

    steps: tuple[SizeStep, ...]
    """The sizes 2, 3 and 4, then steps of doubling width: 5 to 8, 9 to 16, …. The last step
    contains the size of the largest group.
    """

    @property
    def groups(self) -> int:
        """The number of groups."""
        return sum(step.groups for step in self.steps)

    def rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each step with the keys ``sizes`` (in words), ``from``, ``to``,
        ``groups`` and ``documents``.
        """
        return [
            {
                "sizes": step.label,
                "from": step.least,
                "to": step.most,
                "groups": step.groups,
                "documents": step.documents,
            }
            for step in self.steps
        ]


def group_sizes(result: FindResult | GroupSizes) -> GroupSizes:
    """Counts the groups of a result by size, in the steps of the HTML report.

    Args:
        result: A result of ``lookalike.find``, or a ``GroupSizes``, which is returned unchanged.

    Raises:
        OptionError: ``result`` has another type.

    Examples:
        >>> import lookalike.plot
        >>> found = lookalike.find(["a b c d e f"] * 3 + ["u v w x y z"] * 2)
        >>> [
        ...     (step.label, step.groups, step.documents)
        ...     for step in lookalike.plot.tables.group_sizes(found).steps
        ... ]
        [('2', 1, 2), ('3', 1, 3)]
    """
    if isinstance(result, GroupSizes):
        return result
    if not isinstance(result, FindResult):
        raise invalid_option("result", "a result of lookalike.find", result)
    sizes = Counter(Counter(result.groups["group"]).values())
    return GroupSizes(tuple(_steps(sizes)))


def _steps(sizes: Counter[int]) -> Iterator[SizeStep]:
    least, most, largest = 2, 2, max(sizes, default=0)
    while least <= largest:
        in_range = [size for size in sizes if least <= size <= most]
        groups, documents = (
            sum(sizes[size] for size in in_range),
            sum(size * sizes[size] for size in in_range),
        )
        yield SizeStep(least, most, groups, documents)
        least, most = most + 1, most + 1 if most < 4 else 2 * most
