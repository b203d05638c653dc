"""The types of arguments that take documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from lookalike._documents.files import Files


class ArrowStream(Protocol):
    """A table or column with the Arrow PyCapsule interface: pyarrow, polars, pandas, DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """An array or record batch with the Arrow PyCapsule interface."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...


class Frame(Protocol):
    """A table with named columns, of pandas or polars."""

    @property
    def columns(self) -> Any: ...


class HuggingFaceDataset(Protocol):
    """A ``datasets.Dataset`` or ``datasets.IterableDataset``."""

    @property
    def column_names(self) -> Any: ...


class ArrowDataset(Protocol):
    """A ``pyarrow.dataset.Dataset``."""

    def scanner(self, *args: Any, **kwargs: Any) -> Any: ...


class LazyFrame(Protocol):
    """A ``polars.LazyFrame``."""

    def collect_schema(self) -> Any: ...


Documents: TypeAlias = (
    Iterable[str]
    | Iterable[Sequence[str]]
    | Iterable[tuple[Any, Any]]
    | Iterable[Mapping[str, Any]]
    | Mapping[Any, str]
    | Mapping[Any, Sequence[str]]
    | ArrowStream
    | ArrowArray
    | Frame
    | HuggingFaceDataset
    | ArrowDataset
    | LazyFrame
    | Files
)
"""Documents: texts, ``(id, text)`` pairs, dicts, a dict of texts by id, lists of tokens, a table,
or ``Files``. Type checkers also accept a single ``str``, which raises ``DocumentTypeError``.
"""

Given = TypeVar("Given")
Id = TypeVar("Id")
ReadAll = TypeVar("ReadAll", covariant=True)
FrameType = TypeVar("FrameType", bound=Frame)


class _LazyRows(Protocol[ReadAll]):
    def collect(self) -> ReadAll: ...


class _StreamedRows(Protocol[ReadAll]):
    def read_all(self) -> ReadAll: ...


Collected: TypeAlias = _LazyRows[ReadAll] | _StreamedRows[ReadAll]
"""A query of polars, or a reader of record batches of pyarrow, whose rows are read to a table."""
