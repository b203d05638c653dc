"""An asynchronous index for ``asyncio``. You await every method that reads or writes; none of them
blocks the event loop.

Examples:
    >>> import asyncio, tempfile, os
    >>> from lookalike.aio import AsyncIndex
    >>> async def main() -> list[str]:
    ...     async with AsyncIndex.create(
    ...         os.path.join(tempfile.mkdtemp(), "news")
    ...     ) as index:
    ...         await index.add({"a": "a text of some words", "b": "another one"})
    ...         return [
    ...             match.id for match in await index.query("A text of some words.")
    ...         ]
    >>> asyncio.run(main())
    ['a']

The engine runs in worker threads, without the interpreter's lock. Calls that read run in parallel,
one for each worker. Calls that write run one at a time, in the order of the calls. Calls for which
no worker is free wait in a queue.

If you cancel a task that awaits a call, the task ends after the call has ended. No work continues
in the background, and the index contains the results of all finished steps. A cancelled call ends:

- in the queue: at once, without starting
- ``add``, ``update``: before the next document of an iterator, otherwise before the next batch of
  some thousand documents; the documents before it remain, as with Ctrl-C
- ``add_files``: at its next report of progress; the documents before it remain
- ``groups``: at its next report of progress, without a result
- ``categorise``: at its next report of progress; the earlier categories remain
- ``query_stream``, ``ids``: after the current batch
- other calls: when they are done, with all changes written
"""

from __future__ import annotations

import os
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
)
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from inspect import getdoc, signature
from itertools import islice
from types import TracebackType
from typing import Any, Concatenate, Literal, NoReturn, ParamSpec, TypeVar

from lookalike._index.arguments import Where, iterator_of
from lookalike._index.async_calls import LoopRows, StopSignal, WorkerPool, refuse_within, run
from lookalike._index.index import Id, Index
from lookalike._index.results import Json, Matches
from lookalike._options import whole_option
from lookalike._progress import reporting
from lookalike.errors import DocumentTypeError, StoreError

__all__ = ["AsyncIndex", "OpeningIndex"]

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

# The maximum number of ids that one call reads.
_PAGE = 4096


def _awaited(
    method: Callable[Concatenate[Index, _Parameters], _Result], *, writes: bool = False
) -> Callable[Concatenate[AsyncIndex, _Parameters], Coroutine[Any, Any, _Result]]:
    """Makes a method of ``AsyncIndex`` that calls a method of ``lookalike.Index`` in a worker.

    Args:
        method: The method of ``lookalike.Index``.
        writes: Whether the method changes the index.
    """

    async def awaited(
        self: AsyncIndex, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _Result:
        return await self._run(writes, partial(method, self._index, *args, **kwargs), StopSignal())

    return _described(method, awaited)


def _awaited_addition(
    method: Callable[Concatenate[Index, Any, _Parameters], _Result],
) -> Callable[Concatenate[AsyncIndex, Any, _Parameters], Coroutine[Any, Any, _Result]]:
    """Like ``_awaited``, for a method that adds documents and reports progress. A cancelled call
    ends before its next document or at its next report.
    """

    async def awaited(self: AsyncIndex, /, *args: Any, **kwargs: Any) -> _Result:
        stop = StopSignal()
        bound = signature(method).bind(self._index, *args, **kwargs)
        documents = bound.arguments["docs"]
        from_loop = (
            LoopRows(documents, stop, self._index) if isinstance(documents, AsyncIterable) else None
        )
        if from_loop is not None:
            documents = from_loop
        elif isinstance(documents, Iterator) and not hasattr(documents, "__arrow_c_stream__"):
            documents = stop.checked(documents)
        bound.arguments["docs"] = documents
        call = _stoppable(partial(method, *bound.args, **bound.kwargs), stop)
        try:
            return await self._run(True, call, stop)
        finally:
            if from_loop is not None:
                await from_loop.close()

    return _described(method, awaited)


def _awaited_search(
    method: Callable[Concatenate[Index, _Parameters], _Result], *, writes: bool = False
) -> Callable[Concatenate[AsyncIndex, _Parameters], Coroutine[Any, Any, _Result]]:
    """Like ``_awaited``, for a method that reports progress. A cancelled call ends at its next
    report.
    """

    async def awaited(
        self: AsyncIndex, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _Result:
        stop = StopSignal()
        call = _stoppable(partial(method, self._index, *args, **kwargs), stop)
        return await self._run(writes, call, stop)

    return _described(method, awaited)


def _stoppable(method: partial[_Result], stop: StopSignal) -> Callable[[], _Result]:
    """Returns a function that calls the method. The call ends at its first report of progress
    after ``stop.stop()``.
    """

    def call() -> _Result:
        with reporting(method.keywords.get("progress")) as reporter:

            def report(stage: str, done: int, total: int | None) -> None:
                stop.check()
                if reporter is not None:
                    reporter(stage, done, total)

            return method(progress=report)

    return call


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _described(method: Callable[..., Any], awaited: _Method) -> _Method:
    """Copies the name, the signature and the first paragraph of the docstring of ``method`` to
    ``awaited``.
    """
    module = awaited.__module__
    described: Any = wraps(method)(awaited)
    described.__module__ = module
    described.__qualname__ = f"AsyncIndex.{method.__name__}"
    about = (getdoc(method) or "").partition("\n\n")[0]
    described.__doc__ = f"{about}\n\nAwaitable; see ``lookalike.Index.{method.__name__}``."
    result: _Method = described
    return result


class OpeningIndex:
    """An index that is not open yet. ``await`` opens it and returns the ``AsyncIndex``.
    ``async with`` opens it, and closes it at the end of the block.
    """

    def __init__(self, open_: Callable[[], Index]) -> None:
        self._open = open_
        self._opened: AsyncIndex | None = None

    def __await__(self) -> Generator[Any, None, AsyncIndex]:
        return self._open_index().__await__()

    async def _open_index(self) -> AsyncIndex:
        opened: list[Index] = []
        with ThreadPoolExecutor(1, "lookalike-open") as pool:
            try:
                await run(pool.submit, lambda: opened.append(self._open()), StopSignal())
                return AsyncIndex(opened[0])
            except BaseException:
                # Close an index that was opened although the caller was cancelled.
                for index in opened:
                    index.close()
                raise

    async def __aenter__(self) -> AsyncIndex:
        self._opened = await self._open_index()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            await self._opened.close()


def _opening(method: Callable[_Parameters, Index]) -> Callable[_Parameters, OpeningIndex]:
    def opening(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> OpeningIndex:
        return OpeningIndex(partial(method, *args, **kwargs))

    return _described(method, opening)


class AsyncIndex:
    """A ``lookalike.Index`` for coroutines.

    You await its methods. They have the parameters, results and errors of the methods of
    ``lookalike.Index``. ``create`` and ``open`` return an ``OpeningIndex``. Use ``await
    index.count()`` instead of ``len(index)``, and ``await index.contains(id)`` instead of ``id in
    index``. A function that you pass as ``progress`` is called in a worker thread; in it, use
    ``loop.call_soon_threadsafe`` to reach the loop.

    Args:
        index: An open index. Closing the ``AsyncIndex`` closes it.
        workers: The maximum number of calls that read at the same time, 1 or more. The argument
            ``threads`` of a call sets its number of threads, independently of ``workers``.

    Raises:
        DocumentTypeError: ``index`` is not a ``lookalike.Index``.
        OptionError: ``workers`` is not a whole number from 1.

    Examples:
        >>> import asyncio, tempfile, os, lookalike
        >>> from lookalike.aio import AsyncIndex
        >>> async def articles():
        ...     yield "a", "one text of the day"
        ...     yield "b", "another text of the day"
        >>> async def main():
        ...     async with AsyncIndex.create(
        ...         os.path.join(tempfile.mkdtemp(), "news")
        ...     ) as index:
        ...         added = await index.add(articles())
        ...         async for matches in index.query_stream(
        ...             ["One text of the day!", "Another text of the day."]
        ...         ):
        ...             print([match.id for match in matches])
        ...         return added.added, [id async for id in index.ids()]
        >>> asyncio.run(main())
        ['a']
        ['b']
        (2, ['a', 'b'])
    """

    __slots__ = ("_index", "_pool")

    def __init__(self, index: Index, *, workers: int = 4) -> None:
        if not isinstance(index, Index):
            raise DocumentTypeError(
                f"expected an open lookalike.Index, got {type(index).__name__}; "
                "use AsyncIndex.open(path) to open one"
            )
        self._index = index
        self._pool = WorkerPool(
            os.path.basename(index.name) or "index", whole_option("workers", workers, 1)
        )

    create = staticmethod(_opening(Index.create))
    open = staticmethod(_opening(Index.open))

    add = _awaited_addition(Index.add)
    update = _awaited_addition(Index.update)
    add_files = _awaited_search(Index.add_files, writes=True)
    add_one = _awaited(Index.add_one, writes=True)
    remove = _awaited(Index.remove, writes=True)
    compact = _awaited(Index.compact, writes=True)
    repair = _awaited(Index.repair, writes=True)
    categorise = _awaited_search(Index.categorise, writes=True)
    categories = _awaited(Index.categories)
    category = _awaited(Index.category)
    original = _awaited(Index.original)
    versions = _awaited(Index.versions)
    version_text = _awaited(Index.version_text)
    query = _awaited(Index.query)
    query_many = _awaited(Index.query_many)
    get = _awaited(Index.get)
    group_sizes = _awaited(Index.group_sizes)
    groups = _awaited_search(Index.groups)
    stats = _awaited(Index.stats)
    check = _awaited(Index.check)
    backup = _awaited(Index.backup)
    export = _awaited(Index.export)

    @property
    def index(self) -> Index:
        """The underlying index, whose methods block."""
        return self._index

    @property
    def name(self) -> str:
        """The path or address of the index."""
        return self._index.name

    @property
    def read_only(self) -> bool:
        """Whether the index was opened for reading only."""
        return self._index.read_only

    @property
    def closed(self) -> bool:
        """Whether the index is closed, or was opened by the parent of this forked process."""
        return self._index.closed

    @property
    def settings(self) -> dict[str, Json]:
        """The settings of the index; see ``lookalike.Index.settings``."""
        return self._index.settings

    async def count(self) -> int:
        """Returns the number of documents. Expired documents count until ``compact``."""
        return await self._run(False, self._index.__len__, StopSignal())

    async def contains(self, id: Id) -> bool:
        """Tells whether a document with this id exists and has not expired."""
        return await self._run(False, partial(self._index.__contains__, id), StopSignal())

    async def ids(self, category: str | None = None) -> AsyncIterator[str]:
        """Yields the ids of documents, as ``lookalike.Index.ids`` does. Reads some thousand ids at
        a time.

        Args:
            category: The path of a category: yields only documents of this category and of the
                categories below it. ``"none"`` yields documents without a category.

        Raises:
            OptionError: The category does not exist.
        """
        ids = self._index.ids(category)
        while page := await self._run(False, lambda: list(islice(ids, _PAGE)), StopSignal()):
            for id in page:
                yield id

    async def query_stream(
        self,
        texts: Iterable[str] | AsyncIterable[str],
        *,
        limit: int | None = 10,
        threshold: float | None = None,
        nearest: int | None = None,
        where: Where | None = None,
        with_texts: bool = False,
        threads: int | None = None,
        batch: int = 256,
    ) -> AsyncIterator[Matches]:
        """Yields the matches of each text, in the order of the texts. The texts may be an endless
        stream.

        See ``lookalike.Index.query_many`` for the other parameters and the errors.

        Args:
            texts: The texts: an asynchronous iterable, or an iterable, over which a worker
                iterates.
            batch: The number of texts that are queried together, 1 or more. Matches are yielded
                when a batch is full, and at the end of the texts.
        """
        options: dict[str, Any] = {
            "limit": limit,
            "threshold": threshold,
            "nearest": nearest,
            "where": where,
            "with_texts": with_texts,
            "threads": threads,
        }
        size = whole_option("batch", batch, 1)
        async for block in self._batches(texts, size):
            for matches in await self._run(
                False, partial(self._index.query_many, block, **options), StopSignal()
            ):
                yield matches

    async def _batches(
        self, texts: Iterable[str] | AsyncIterable[str], size: int
    ) -> AsyncIterator[list[str]]:
        if not isinstance(texts, AsyncIterable):
            rows: Iterator[str] = iterator_of("texts", texts, "str")
            while block := await self._run(False, lambda: list(islice(rows, size)), StopSignal()):
                yield block
            return
        block = []
        async for text in texts:
            block.append(text)
            if len(block) == size:
                yield block
                block = []
        if block:
            yield block

    async def close(self) -> None:
        """Closes the index after all earlier calls have ended. Later calls raise ``StoreError``.
        You may call ``close`` again. A cancelled ``close`` also closes the index before it ends.

        Raises:
            StoreError: An asynchronous iterable calls ``close`` while its documents are added to
                this index.
        """

        def close() -> None:
            self._pool.close()
            self._index.close()

        refuse_within(self._index, self.name)
        self._pool.is_closed = True
        with ThreadPoolExecutor(1, "lookalike-close") as pool:
            await run(pool.submit, close, StopSignal())

    async def __aenter__(self) -> AsyncIndex:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _run(self, writes: bool, call: Callable[[], _Result], stop: StopSignal) -> _Result:
        if writes:
            refuse_within(self._index, self.name)
        if self._pool.is_closed:
            raise StoreError(f"cannot use the index {self.name}, which is closed: open it again")
        return await run(partial(self._pool.submit, writes), call, stop)

    def __len__(self) -> NoReturn:
        raise TypeError(
            "an AsyncIndex has no len(), which would block the loop; use await index.count()"
        )

    def __bool__(self) -> Literal[True]:
        """Returns true, even for an index without documents."""
        return True

    def __repr__(self) -> str:
        if self.closed:
            return f"<lookalike.aio.AsyncIndex {self.name!r}, closed>"
        mode = "reading" if self.read_only else "writing"
        return f"<lookalike.aio.AsyncIndex {self.name!r}, {mode}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self.name}: an open index cannot be pickled or copied: pass its path to the other "
            "process and open it there with lookalike.aio.AsyncIndex.open(path, read_only=True)"
        )
