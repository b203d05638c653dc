"""User decisions about documents, and their effect on a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from lookalike._engine import StoredIndex
from lookalike._options import invalid_option, path_option
from lookalike.errors import OptionError

_EXPECTED = (
    "the path of a file or an index, an Index, or a list of dicts such as {'decision': 'keep', "
    "'documents': ['a']}"
)


@dataclass(frozen=True)
class DecisionCounts:
    """The effect of the decisions on a run. ``docs/reference/decisions.md`` defines the rules."""

    read: int
    """The number of decisions that were read."""
    in_force: int
    """The number of decisions in force. The last decision about a pair or document replaces the
    earlier decisions about it. A ``keep_all`` counts as one decision.
    """
    applied: int
    """The number of decisions in force that had an effect on the run."""
    unapplied: list[dict[str, Any]]
    """The decisions in force that had no effect. Each is a dict of ``line`` (from 1),
    ``documents`` (ids) and ``reason``: ``unknown``, ``changed`` or ``empty``. A ``keep_all`` that
    had an effect on some of its documents counts as applied, and is listed here with its other
    documents.
    """
    contradictions: list[dict[str, Any]]
    """The decisions that contradict each other. Each is a dict of ``lines``, ``documents`` and
    ``kind``: ``two_people``, ``connected`` or ``both_kept``.
    """

    @property
    def asked_again(self) -> list[dict[str, Any]]:
        """The decisions of ``unapplied`` that users should make again, because a text has changed
        since the decision.
        """
        return [decision for decision in self.unapplied if decision["reason"] == "changed"]


def decision_counts(engine: str | None) -> DecisionCounts | None:
    """Reads the counts from the JSON of the engine; ``None`` for a run without decisions."""
    return None if engine is None else DecisionCounts(**json.loads(engine))


def decisions_option(value: object) -> str | bytes | None:
    """Converts the option ``decisions`` for the engine: to a path, or to the lines of a file.

    Raises:
        OptionError: The value has another type, or cannot be written as JSON.
    """
    if value is None:
        return None
    stored = getattr(value, "engine", None)
    if isinstance(stored, StoredIndex):
        # The engine opens the index a second time, for reading.
        return stored.name
    if isinstance(value, (str, os.PathLike)):
        return path_option("decisions", value)
    if (
        isinstance(value, Mapping)
        or not isinstance(value, Iterable)
        or isinstance(value, (bytes, bytearray))
    ):
        raise invalid_option("decisions", _EXPECTED, value)
    return b"".join(_line(place, decision) for place, decision in enumerate(value, 1))


def _line(place: int, decision: object) -> bytes:
    if not isinstance(decision, Mapping):
        raise invalid_option(f"decisions, line {place}", "a dict", decision)
    members = dict(decision)
    documents = members.get("documents")
    if isinstance(documents, (list, tuple)):
        members["documents"] = [_id(document) for document in documents]
    when = members.get("when")
    if isinstance(when, datetime):
        members["when"] = when.isoformat()
    try:
        return json.dumps(members, ensure_ascii=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        # A lone surrogate also raises a ValueError.
        raise OptionError(f"decisions, line {place}: {error}") from None


def _id(document: object) -> object:
    """Converts an id for the engine: an integer (such as a row) or a UUID becomes a text."""
    is_number = isinstance(document, int) and not isinstance(document, bool)
    return str(document) if is_number or isinstance(document, UUID) else document
