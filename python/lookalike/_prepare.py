"""Computes signatures and bucket keys, for systems that group documents by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from lookalike import _engine
from lookalike._documents.input_documents import InputDocuments
from lookalike._documents.inputs import input_documents, reading_options, token_rule
from lookalike._documents.types import Documents
from lookalike._options import PrepareOptions, Unpack, check_options, with_columns
from lookalike._progress import Progress, reporting
from lookalike._results.table import Table


class PrepareResult(Table):
    """A table of signatures and bucket keys, with a row for each document.

    The columns are:

    - ``id``
    - ``shingles`` (uint64): the number of different shingles
    - ``fingerprint`` (16 bytes): equal for equal sets of shingles
    - ``signature`` (``num_hashes`` values of uint32)
    - ``band_keys`` (``bands`` keys of uint64)

    A document without a token is similar to no document. All values of its signature and all its
    band keys are 0.

    Attributes:
        parameters: The parameters of the signatures. Only rows with the same parameters are
            comparable.
        skipped: A table of the skipped records: ``source``, ``line`` (from 1; for documents in
            memory the row, from 0), ``id``, ``reason``.
    """

    __slots__ = ("parameters", "skipped")

    def __init__(
        self, table: _engine.Table, parameters: dict[str, Any], skipped: _engine.Table
    ) -> None:
        super().__init__(table)
        self.parameters = parameters
        self.skipped = Table(skipped)

    def __reduce__(self) -> tuple[Callable[..., PrepareResult], tuple[Any, ...]]:
        states = (self._table.state(), self.skipped.engine.state())
        return _unpickled, (states[0], self.parameters, states[1])


def _unpickled(rows: Any, parameters: dict[str, Any], skipped: Any) -> PrepareResult:
    """Restores a result from a pickle."""
    of_state = _engine.Table.of_state
    return PrepareResult(of_state(rows), parameters, of_state(skipped))


def prepare(
    docs: Documents,
    *,
    threshold: float | None = 0.8,
    recall: float | None = 0.99,
    text: str | Sequence[str] | None = None,
    id: str | Literal[False] | None = None,
    progress: bool | Progress | None = False,
    **options: Unpack[PrepareOptions],
) -> PrepareResult:
    """Computes signatures and bucket keys of documents.

    Two documents are candidates if they have the same key at the same place of ``band_keys``.
    ``lookalike.tune`` predicts the probability of this for similar documents. Rows have the order
    of the documents. ``skip_bad`` leaves out documents that cannot be used, and documents with the
    id of an earlier document. See ``lookalike.find`` for parameters, errors and cost.

    Examples:
        >>> import lookalike
        >>> rows = lookalike.prepare(
        ...     ["one two three four five six", "One two three four five six!"]
        ... )
        >>> rows.parameters["num_hashes"], rows.parameters["bands"], rows["shingles"]
        (128, 21, [2, 2])
        >>> rows["band_keys"][0] == rows["band_keys"][1]
        True
    """
    check_options(options, "prepare", PrepareOptions)
    arguments = with_columns({"threshold": threshold, "recall": recall, **options}, text, id)
    return prepare_documents(
        input_documents(docs, text=text, id=id, tokens=options.get("tokens")), arguments, progress
    )


def prepare_documents(
    documents: InputDocuments, arguments: dict[str, Any], progress: bool | Progress | None = False
) -> PrepareResult:
    """Like ``prepare``, for documents that ``input_documents`` has converted."""
    arguments = {**token_rule(arguments, documents), **reading_options(documents)}
    with reporting(progress) as reporter:
        return PrepareResult(*_engine.prepare(documents.engine, arguments, reporter))
