"""Runs calls of an open index in worker threads for an event loop, and cancels them.

::

    the loop:  await ── submit ─────────────────────────── (cancelled: stop) ── wait ── result
    a worker:             call of the index ── progress, next document ──┴ ends

A cancelled call does not continue in the background. If it is still in the queue, it never starts.
If it is running, ``await`` raises ``CancelledError`` only after the call has ended.
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

# The maximum number of items of an asynchronous iterable that are fetched at a time.
_ROWS = 256


class CallCancelled(Exception):
    """Ends a cancelled call in its worker thread. The caller gets ``asyncio.CancelledError``."""


class StopSignal:
    """A request to end a call. The event loop makes it, and the worker thread checks for it."""

    def __init__(self) -> None:
        self._is_set = False
        self._lock = threading.Lock()
        self._pending: Future[Any] | None = None

    def stop(self) -> None:
        """Requests that the call ends at its next ``check``. Cancels the future for which the call
        is waiting.
        """
        with self._lock:
            self._is_set = True
            pending = self._pending
        if pending is not None:
            pending.cancel()

    def check(self) -> None:
        """Raises ``CallCancelled`` if ``stop`` was called."""
        if self._is_set:
            raise CallCancelled

    def checked(self, items: Iterator[_Result]) -> Iterator[_Result]:
        """Yields the items, with a ``check`` before each of them."""
        for item in items:
            self.check()
            yield item

    def wait(self, pending: Future[_Result]) -> _Result:
        """Waits in the worker thread for a result that the event loop computes.

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
            # If `stop` cancelled the future, raise `CallCancelled` instead of the future's error.
            self.check()
            raise
        finally:
            with self._lock:
                self._pending = None


class WorkerPool:
    """The worker threads of an index: several for calls that read, and one for calls that write.
    The single writer makes changes in the order of the calls.

    Args:
        name: The name of the index, for the names of the threads.
        readers: The number of threads for calls that read.
    """

    def __init__(self, name: str, readers: int) -> None:
        self._readers = ThreadPoolExecutor(readers, f"lookalike-read-{name}")
        self._writer = ThreadPoolExecutor(1, f"lookalike-write-{name}")
        # Set by the owner of the pool, which then rejects new calls.
        self.is_closed = False

    def submit(self, writes: bool, call: Callable[[], _Result]) -> Future[_Result]:
        """Adds a call to the queue of the writer or of the readers. Returns its future result."""
        return (self._writer if writes else self._readers).submit(call)

    def close(self) -> None:
        """Waits until all submitted calls have ended, and ends the threads."""
        self._writer.shutdown()
        self._readers.shutdown()


async def run(
    submit: Callable[[Callable[[], _Result]], Future[_Result]],
    call: Callable[[], _Result],
    stop: StopSignal,
) -> _Result:
    """Runs a call in another thread and returns its result.

    Args:
        submit: A function that passes the call to a thread.
        call: The call.
        stop: The request to end the call, made if the task is cancelled.

    Raises:
        asyncio.CancelledError: The task was cancelled. The call has ended, or it never started.
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
            # Retrieve the exception. Otherwise asyncio logs it as never retrieved.
            ended.exception()
        raise


# The ids of the index objects to which the current task supplies documents.
_waiting: ContextVar[frozenset[int]] = ContextVar("lookalike_waiting", default=frozenset())


def refuse_within(index: object, name: str) -> None:
    """Rejects a change of an index by a task that supplies documents for a running change of the
    same index. The change would wait for the running one, which waits for the task.

    Args:
        index: The index.
        name: The name of the index, for the message.

    Raises:
        StoreError: The task supplies documents for a running change.
    """
    if id(index) in _waiting.get():
        raise StoreError(
            f"cannot change or close the index {name} in an asynchronous iterable whose documents "
            "are added to it, since the call would wait for itself: do so before or afterwards "
            "(queries are possible)"
        )


class LoopRows(Iterator[Any]):
    """Iterates over an asynchronous iterable from a worker thread.

    A single task of the event loop runs the iterable. At each request of the worker thread, the
    task fetches up to 256 items. Then it waits for the next request.

    Args:
        items: The asynchronous iterable.
        stop: The request to end the call.
        index: The index to which the call adds the items; see ``refuse_within``.
    """

    def __init__(self, items: AsyncIterable[Any], stop: StopSignal, index: object) -> None:
        self._items = items
        self._loop = asyncio.get_running_loop()
        self._stop = stop
        self._index = index
        # Requests of the worker thread for the next items.
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
        iterator = aiter(self._items)
        try:
            async for item in iterator:
                items.append(item)
                if len(items) == _ROWS:
                    _answer(request, (items, False, None))
                    items = []
                    request = await self._requests.get()
            _answer(request, (items, True, None))
        except Exception as error:
            _answer(request, (items, False, error))
        finally:
            # Close an unfinished generator at once, in the task that ran it.
            close = getattr(iterator, "aclose", None)
            if close is not None:
                await close()

    async def close(self) -> None:
        """Cancels the task that runs the iterable, and waits for its end. Use it after the call
        has ended. Raises the exception that the iterable raises while it is closed.
        """
        if self._task is None:
            return
        self._task.cancel()
        is_cancelled = await _settled(self._task)
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise error
        if is_cancelled:
            raise asyncio.CancelledError


# Some items, whether the iterable ended after them, and the exception that it raised after them.
_Items = tuple[list[Any], bool, BaseException | None]


def _answer(request: Future[_Items], items: _Items) -> None:
    """Sets the result of a request, unless the request was cancelled."""
    if request.set_running_or_notify_cancel():
        request.set_result(items)


async def _settled(future: asyncio.Future[Any]) -> bool:
    """Waits until ``future`` is done, even if this task is cancelled. Returns true if the task was
    cancelled meanwhile.
    """
    is_cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            is_cancelled = True
    return is_cancelled
