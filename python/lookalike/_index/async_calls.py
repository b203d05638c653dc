"""Calls of an open index from an event loop, their threads and their cancellation.

::

    the loop:  await ── submit ─────────────────────────── (cancelled: stop) ── wait ── result
    a worker:             call of the index ── progress, next document ──┴ ends

A cancelled call does not continue in the background. A call that waits in the queue never starts,
and a running call ends before its await does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

from lookalike.errors import StoreError

_Result = TypeVar("_Result")

# The number of documents of an asynchronous iterable that are fetched at a time.
_ROWS = 256


class CallCancelled(Exception):
    """Unwinds a cancelled call in its worker. The caller receives ``asyncio.CancelledError``."""


class StopSignal:
    """A request that a call ends, set by the loop and checked by the worker."""

    def __init__(self) -> None:
        self._is_set = False
        self._lock = threading.Lock()
        self._pending: Future[Any] | None = None

    def stop(self) -> None:
        """Ends the call at its next ``check``, and cancels the future that it waits for."""
        with self._lock:
            self._is_set = True
            pending = self._pending
        if pending is not None:
            pending.cancel()

    def check(self) -> None:
        """Ends the call if it was cancelled.

        Raises:
            CallCancelled: The call was cancelled.
        """
        if self._is_set:
            raise CallCancelled

    def checked(self, items: Iterator[_Result]) -> Iterator[_Result]:
        """Yields the items, with a ``check`` before each of them."""
        for item in items:
            self.check()
            yield item

    def wait(self, pending: Future[_Result]) -> _Result:
        """Waits for a result that the loop produces for the call.

        Raises:
            CallCancelled: The call was cancelled.
        """
        with self._lock:
            self._pending = pending
            stopped = self._is_set
        if stopped:
            pending.cancel()
        try:
            return pending.result()
        except BaseException:
            # Turn the error of the cancelled future into `CallCancelled`.
            self.check()
            raise
        finally:
            with self._lock:
                self._pending = None


class WorkerPool:
    """The threads of an index: several for calls that read, and one for calls that write, so that
    changes are written in the order of the calls.
    """

    def __init__(self, name: str, readers: int) -> None:
        self._readers = ThreadPoolExecutor(readers, f"lookalike-read-{name}")
        self._writer = ThreadPoolExecutor(1, f"lookalike-write-{name}")
        # Set when the pool rejects new calls.
        self.is_closed = False

    def submit(self, writes: bool, call: Callable[[], _Result]) -> Future[_Result]:
        """Adds a call to the queue."""
        return (self._writer if writes else self._readers).submit(call)

    def close(self) -> None:
        """Waits for all calls."""
        self._writer.shutdown()
        self._readers.shutdown()


async def run(
    submit: Callable[[Callable[[], _Result]], Future[_Result]],
    call: Callable[[], _Result],
    stop: StopSignal,
) -> _Result:
    """Runs a call in another thread and returns its result.

    Raises:
        asyncio.CancelledError: The task was cancelled, and the call has ended.
    """
    future = submit(call)
    ended = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        stop.stop()
        future.cancel()
        await _settled(ended)
        if not ended.cancelled():
            # Retrieve the exception, else asyncio logs that it was never retrieved.
            ended.exception()
        raise


# The indexes whose calls wait for documents of the current task.
_waiting: ContextVar[frozenset[int]] = ContextVar("lookalike_waiting", default=frozenset())


def refuse_within(index: object, name: str) -> None:
    """Rejects a change by a task that produces documents for another change of the same index.

    Raises:
        StoreError: The change would wait for itself.
    """
    if id(index) in _waiting.get():
        raise StoreError(
            f"cannot change or close the index {name} in an asynchronous iterable whose documents "
            "are added to it, since the call would wait for itself: do so before or afterwards "
            "(queries are possible)"
        )


class LoopRows(Iterator[Any]):
    """The items of an asynchronous iterable, for a call in another thread.

    A single task runs the iterable. It fetches some hundred items when the call requests them, and
    waits until these are consumed.
    """

    def __init__(self, items: AsyncIterable[Any], stop: StopSignal, index: object) -> None:
        self._items = items
        self._loop = asyncio.get_running_loop()
        self._stop = stop
        self._index = index
        # The requests of the call, which waits for the results.
        self._requests: asyncio.Queue[Future[_Items]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._ready: Iterator[Any] = iter(())
        self._is_over = False
        self._raised: BaseException | None = None

    def __next__(self) -> Any:
        for item in self._ready:
            return item
        if self._raised is not None:
            raise self._raised
        if self._is_over:
            raise StopIteration
        self._stop.check()
        request: Future[_Items] = Future()
        self._loop.call_soon_threadsafe(self._ask, request)
        items, self._is_over, self._raised = self._stop.wait(request)
        self._ready = iter(items)
        return next(self)

    def _ask(self, request: Future[_Items]) -> None:
        if self._task is None:
            self._task = self._loop.create_task(self._take())
        self._requests.put_nowait(request)

    async def _take(self) -> None:
        _waiting.set(_waiting.get() | {id(self._index)})
        request = await self._requests.get()
        items: list[Any] = []
        coming = aiter(self._items)
        try:
            async for item in coming:
                items.append(item)
                if len(items) == _ROWS:
                    _answer(request, (items, False, None))
                    items = []
                    request = await self._requests.get()
            _answer(request, (items, True, None))
        except Exception as error:
            _answer(request, (items, False, error))
        finally:
            # Close an unfinished generator now and in this task.
            close = getattr(coming, "aclose", None)
            if close is not None:
                await close()

    async def close(self) -> None:
        """Ends the task after the call has ended."""
        if self._task is None:
            return
        self._task.cancel()
        is_cancelled = await _settled(self._task)
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise error
        if is_cancelled:
            raise asyncio.CancelledError


# Items, whether they are the last ones, and the exception that the iterable raised after them.
_Items = tuple[list[Any], bool, BaseException | None]


def _answer(request: Future[_Items], items: _Items) -> None:
    """Answers a request unless it was cancelled."""
    if request.set_running_or_notify_cancel():
        request.set_result(items)


async def _settled(future: asyncio.Future[Any]) -> bool:
    """Waits until ``future`` is done, also if this task is cancelled. Returns whether it was."""
    is_cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            is_cancelled = True
    return is_cancelled
