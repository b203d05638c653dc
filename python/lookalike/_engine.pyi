from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, final

VERSION: str

_Progress = Callable[[str, int, int | None], None]

def cli(arguments: list[str]) -> int: ...
def extract_worker() -> None: ...
def stream_columns(stream: object) -> list[str] | None: ...
def producer_failed(text: str) -> NoReturn: ...
def check_columns(there: Sequence[str], wanted: Sequence[str]) -> None: ...
@final
class Documents:
    @staticmethod
    def of_arrow(
        object: object,
        text: str | None,
        id: str | None,
        find_id: bool,
        fields: Sequence[str],
    ) -> Documents: ...
    @staticmethod
    def of_texts(
        texts: Sequence[object],
        ids: Sequence[object] | None,
        fields: Sequence[tuple[str, Sequence[str | None]]],
    ) -> Documents: ...
    def __len__(self) -> int: ...
    def first_missing(self) -> tuple[int, str] | None: ...
    @property
    def total_bytes(self) -> int: ...

@final
class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def column_types(self) -> list[str]: ...
    @property
    def column_nullable(self) -> list[bool]: ...
    def values(self, column: int, start: int, count: int) -> list[Any]: ...
    def state(self) -> list[tuple[str, str, bool, Any]]: ...
    @staticmethod
    def of_state(state: list[tuple[str, str, bool, Any]]) -> Table: ...

@final
class Findings:
    def groups(self) -> Table: ...
    def pairs(self) -> Table: ...
    def skipped(self) -> Table: ...
    def empty(self) -> Table: ...
    def decisions(self, rows: int) -> Table: ...
    def counts(self) -> dict[str, int]: ...
    def parameters(self) -> dict[str, Any]: ...
    def times(self) -> list[tuple[str, float]]: ...
    def text(self, row: int) -> str: ...
    def write(self, what: str, path: str) -> None: ...
    def audit(
        self,
        options: dict[str, Any],
        sample: int,
        confidence: float,
        progress: _Progress | None = None,
    ) -> str: ...

def fields(options: dict[str, Any]) -> list[str]: ...
def find(
    documents: Documents | list[str],
    reference: Documents | list[str] | None,
    options: dict[str, Any],
    progress: _Progress | None = None,
) -> Findings: ...
def dedup(
    paths: list[str],
    reference: Documents | list[str] | None,
    options: dict[str, Any],
    output: str,
    annotate: bool,
    removed: str | None,
    progress: _Progress | None = None,
) -> tuple[int, int, int]: ...
def prepare(
    documents: Documents | list[str],
    options: dict[str, Any],
    progress: _Progress | None = None,
) -> tuple[Table, dict[str, Any], Table]: ...
def compare(
    documents: Documents | list[str], options: dict[str, Any], differences: bool
) -> tuple[dict[str, Any], list[tuple[str, str, str, bool]], list[int] | None]: ...
def audit(
    report: str,
    documents: Documents | list[str],
    reference: Documents | list[str] | None,
    options: dict[str, Any],
    sample: int,
    confidence: float,
    progress: _Progress | None = None,
) -> str: ...
def tune(
    documents: Documents | list[str] | None,
    options: dict[str, Any],
    sample: int,
    count: int | None,
    tried: list[str],
    progress: _Progress | None = None,
) -> dict[str, Any]: ...
def curve(similarities: list[float], bands: int, rows: int) -> list[float]: ...
@final
class StoredIndex:
    closed: bool
    name: str
    read_only: bool
    process: int
    @staticmethod
    def create(path: str, options: dict[str, Any]) -> StoredIndex: ...
    @staticmethod
    def open(path: str, read_only: bool, wait: float, options: dict[str, Any]) -> StoredIndex: ...
    def close(self) -> None: ...
    def settings(self) -> tuple[str, float]: ...
    def add(
        self,
        documents: Iterator[Any],
        common: Mapping[str, Any] | None,
        names: list[str],
        fields: tuple[str, str],
        expires: int | None,
        on_existing: str,
        threads: int | None,
        progress: _Progress | None = None,
        total: int | None = None,
    ) -> tuple[int, int, int, int]: ...
    def add_tables(
        self,
        tables: Iterator[Any],
        common: Mapping[str, Any] | None,
        names: list[str],
        fields: tuple[str, str],
        expires: int | None,
        on_existing: str,
        threads: int | None,
        progress: _Progress | None = None,
    ) -> tuple[int, int, int, int]: ...
    def add_files(
        self,
        paths: list[str],
        names: list[str],
        expires: int | None,
        on_existing: str,
        threads: int | None,
        options: dict[str, Any],
        progress: _Progress | None = None,
    ) -> tuple[
        tuple[int, int, int, int], list[str], list[tuple[str, int | None, str | None, str]]
    ]: ...
    def add_one(
        self,
        id: object,
        given: object,
        described: Mapping[str, Any] | None,
        modified: int | None,
        expires: int | None,
        on_existing: str,
    ) -> tuple[int, int, int, int]: ...
    def remove(self, ids: Iterator[Any]) -> tuple[int, list[str]]: ...
    def query(
        self,
        given: object,
        id: object,
        limit: int | None,
        threshold: float | None,
        nearest: int | None,
        filters: list[str],
        texts: bool,
    ) -> tuple[list[tuple[Any, ...]], int, int, float, float, int | None]: ...
    def query_many(
        self,
        given: Iterator[Any],
        limit: int | None,
        threshold: float | None,
        nearest: int | None,
        filters: list[str],
        texts: bool,
        threads: int | None,
    ) -> list[tuple[list[tuple[Any, ...]], int, int, float, float, int | None]]: ...
    def get(self, id: object) -> tuple[Any, ...] | None: ...
    def contains(self, id: object) -> bool: ...
    def len(self) -> int: ...
    def ids(self, after: int, most: int) -> tuple[list[str], int] | None: ...
    def groups(
        self, arguments: dict[str, Any], progress: _Progress | None = None
    ) -> Findings: ...
    def stats(self) -> list[int]: ...
    def check(self) -> list[tuple[str, str, bool]]: ...
    def repair(self) -> None: ...
    def compact(self) -> None: ...
    def backup(self, to: str) -> None: ...
    def export(self, to: str) -> int: ...
