"""Calls of an open index from an event loop: what runs in which thread, and what a cancellation
does.

::

    the loop:  await ── submit ─────────────────────────── (cancelled: stop) ── wait ── result
    a worker:             call of the index ── progress, next document ──┴ ends

A cancelled call does not go on behind the caller: one that has not begun never does, and the await
ends when one that is under way has ended.
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

# Documents of an asynchronous iterable that are fetched at a time.
_ROWS = 256


class CallCancelled(Exception):
    """Ends a call from within; the caller sees ``asyncio.CancelledError``."""


class StopSignal:
    """Whether a call is to end."""

    def __init__(self) -> None:
        self._is_set = False
        self._lock = threading.Lock()
        self._pending: Future[Any] | None = None

    def stop(self) -> None:
        """Ends the call at its next ``check``, and what it waits for now."""
        with self._lock:
            self._is_set = True
            pending = self._pending
        if pending is not None:
            pending.cancel()

    def check(self) -> None:
        """Raises if the call was cancelled.

        Raises:
            CallCancelled: The call was cancelled.
        """
        if self._is_set:
            raise CallCancelled

    def checked(self, items: Iterator[_Result]) -> Iterator[_Result]:
        """The same items, before each of which the call may end."""
        for item in items:
            self.check()
            yield item

    def wait(self, pending: Future[_Result]) -> _Result:
        """The result of what the loop does for the call.

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
            # What was cancelled says so in its own way.
            self.check()
            raise
        finally:
            with self._lock:
                self._pending = None


class WorkerPool:
    """The threads of an index: several for calls that read, one for calls that write, so that what
    is written is written in the order of the calls.
    """

    def __init__(self, name: str, readers: int) -> None:
        self._readers = ThreadPoolExecutor(readers, f"lookalike-read-{name}")
        self._writer = ThreadPoolExecutor(1, f"lookalike-write-{name}")
        # Whether it takes no more calls.
        self.is_closed = False

    def submit(self, writes: bool, call: Callable[[], _Result]) -> Future[_Result]:
        """Puts a call into the queue."""
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
    """The result of a call in another thread.

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
            # Nobody else asks for it.
            ended.exception()
        raise


# The indexes that wait for what the current task makes.
_waiting: ContextVar[frozenset[int]] = ContextVar("lookalike_waiting", default=frozenset())


def refuse_within(index: object, name: str) -> None:
    """Refuses a change by what a change of the same index waits for.

    Raises:
        StoreError: It would wait for itself.
    """
    if id(index) in _waiting.get():
        raise StoreError(
            f"{name}: an asynchronous iterable whose documents are added changes or closes the "
            "same index, which would wait for itself; do so before or afterwards (queries are "
            "possible)"
        )


class LoopRows(Iterator[Any]):
    """The items of an asynchronous iterable, for a call in another thread.

    One task takes them out of the iterable, from the first to the last, when the call asks: some
    hundred at a time, and no more until they are used up.
    """

    def __init__(self, items: AsyncIterable[Any], stop: StopSignal, index: object) -> None:
        self._items = items
        self._loop = asyncio.get_running_loop()
        self._stop = stop
        self._index = index
        # What the call asked for, and waits for.
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
            # A generator that is left before its end ends now, and in this task.
            close = getattr(coming, "aclose", None)
            if close is not None:
                await close()

    async def close(self) -> None:
        """Ends the task, when the call has ended."""
        if self._task is None:
            return
        self._task.cancel()
        is_cancelled = await _settled(self._task)
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise error
        if is_cancelled:
            raise asyncio.CancelledError


# Items, whether they are the last ones, and what the iterable raised behind them.
_Items = tuple[list[Any], bool, BaseException | None]


def _answer(request: Future[_Items], items: _Items) -> None:
    """Answers a request that nobody has withdrawn."""
    if request.set_running_or_notify_cancel():
        request.set_result(items)


async def _settled(future: asyncio.Future[Any]) -> bool:
    """Waits until it is done, whatever happens; whether this task was cancelled meanwhile."""
    is_cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            is_cancelled = True
    return is_cancelled
