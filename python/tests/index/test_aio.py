"""An index in an event loop: results, calls that do not block the loop, and cancellation."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from test_index import FOX, FOX_NOW, WEATHER, texts
from waiting import PATIENCE

from lookalike import Index
from lookalike.aio import AsyncIndex
from lookalike.errors import DocumentError, DocumentTypeError, OptionError, StoreError

_Result = TypeVar("_Result")
DOCS = texts(400)


def within(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Runs a coroutine in a new event loop. Fails if it exceeds :data:`PATIENCE` seconds."""

    async def bounded() -> _Result:
        return await asyncio.wait_for(work, PATIENCE)

    return asyncio.run(bounded())


async def until(has_happened: Callable[[], bool]) -> None:
    """Waits for a state without blocking the loop."""
    while not has_happened():
        await asyncio.sleep(0)


class Gate:
    """Yields documents one by one. Stops before a given document until the gate is opened."""

    def __init__(self, documents: list[tuple[str, str]], before: int) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self._documents, self._before = documents, before

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for number, document in enumerate(self._documents):
            if number == self._before:
                self.reached.set()
                assert self.opened.wait(PATIENCE)
            yield document


def test_async_results_equal_index_results(tmp_path: Path) -> None:
    async def work() -> list[Any]:
        async with AsyncIndex.create(tmp_path / "async", threshold=0.5, store="texts") as index:
            results: list[Any] = [
                await index.add(DOCS, metadata={"language": "en"}),
                await index.update(docs=[("fox", FOX)]),
                await index.add_one("weather", WEATHER, {"year": 2024}),
                await index.remove(["weather", "absent"]),
                [(m.id, m.similarity) for m in await index.query(FOX_NOW)],
                [
                    [m.id for m in one]
                    for one in await index.query_many([text for _, text in DOCS[:9]], limit=3)
                ],
                await index.contains("fox"),
                await index.contains("weather"),
                await index.count(),
                [id async for id in index.ids()],
                [(g.keeper, g.duplicates) for g in await index.groups(keep="first")],
                (await index.stats()).documents,
                await index.check(),
                await index.repair(),
                await index.compact(),
                await index.backup(tmp_path / "async copy"),
                await index.export(tmp_path / "async.jsonl"),
                index.settings,
                index.read_only,
            ]
            document = await index.get("fox")
            assert document is not None
            results.append(document.text)
        assert index.closed
        return results

    with Index.create(tmp_path / "sync", threshold=0.5, store="texts") as index:
        expected: list[Any] = [
            index.add(DOCS, metadata={"language": "en"}),
            index.update([("fox", FOX)]),
            index.add_one("weather", WEATHER, {"year": 2024}),
            index.remove(["weather", "absent"]),
            [(m.id, m.similarity) for m in index.query(FOX_NOW)],
            [
                [m.id for m in one]
                for one in index.query_many([text for _, text in DOCS[:9]], limit=3)
            ],
            "fox" in index,
            "weather" in index,
            len(index),
            list(index.ids()),
            [(g.keeper, g.duplicates) for g in index.groups(keep="first")],
            index.stats().documents,
            index.check(),
            index.repair(),
            index.compact(),
            index.backup(tmp_path / "sync copy"),
            index.export(tmp_path / "sync.jsonl"),
            index.settings,
            index.read_only,
            FOX,
        ]
    assert within(work()) == expected


def test_async_index_mirrors_all_methods() -> None:
    # `engine` is the object of the engine, which is private to the package.
    methods = {name for name in dir(Index) if not name.startswith("_")} - {"engine"}
    assert methods <= {name for name in dir(AsyncIndex) if not name.startswith("_")}
    for name in sorted(methods - {"ids", "close"}):
        of_index, awaited = getattr(Index, name), getattr(AsyncIndex, name)
        if callable(of_index):
            assert inspect.signature(awaited) == inspect.signature(of_index), name
            assert f"see ``lookalike.Index.{name}``" in (awaited.__doc__ or "")


def test_event_loop_runs_during_calls(tmp_path: Path) -> None:
    """The call can end only after the loop has run another task 100 times. It would never end if it
    blocked the loop."""
    gate = Gate(DOCS, before=7)

    async def work() -> tuple[int, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            await until(gate.reached.is_set)
            for _ in range(100):
                ticks += 1
                await asyncio.sleep(0)
            gate.opened.set()

        async with AsyncIndex.create(tmp_path / "news") as index:
            added, _ = await asyncio.gather(index.add(iter(gate)), tick())
            return added.added, ticks

    assert within(work()) == (len(DOCS), 100)


def test_queries_run_during_additions(tmp_path: Path) -> None:
    gate = Gate(DOCS, before=7)

    async def work() -> list[str]:
        async with AsyncIndex.create(tmp_path / "news", threshold=0.5) as index:
            await index.add_one("fox", FOX)
            adding = asyncio.create_task(index.add(iter(gate)))
            await until(gate.reached.is_set)
            found = [match.id for match in await index.query(FOX_NOW)]
            assert not adding.done()
            gate.opened.set()
            assert (await adding).added == len(DOCS)
            return found

    assert within(work()) == ["fox"]


def test_changes_follow_call_order(tmp_path: Path) -> None:
    async def work() -> list[str]:
        async with AsyncIndex.create(tmp_path / "news") as index:
            await asyncio.gather(*(index.add_one(f"d{number}", FOX) for number in range(20)))
            return [id async for id in index.ids()]

    assert within(work()) == [f"d{number}" for number in range(20)]


def test_cancelled_additions_keep_written_documents(tmp_path: Path) -> None:
    """The task is cancelled while the engine waits for a document. The addition has ended when the
    task ends."""
    documents = [(f"d{number:05}", text) for number, (_, text) in enumerate(DOCS * 30)]
    gate = Gate(documents, before=9_000)
    taken_count = 0

    def counted() -> Iterator[tuple[str, str]]:
        nonlocal taken_count
        for document in gate:
            taken_count += 1
            yield document

    async def work() -> tuple[int, int]:
        async with AsyncIndex.create(tmp_path / "news") as index:
            adding = asyncio.create_task(index.add(counted()))
            await until(gate.reached.is_set)
            adding.cancel()
            await asyncio.sleep(0)
            assert not adding.done(), "its call is under way"
            gate.opened.set()
            with pytest.raises(asyncio.CancelledError):
                await adding
            count, after = await index.count(), taken_count
            assert await index.check() == []
            # No addition continues after the task, and the index accepts the other documents.
            repeated = await index.update(documents)
            assert (repeated.added, repeated.updated) == (len(documents) - count, count)
            return count, after

    count, after = within(work())
    assert (count, after) == (9_000, 9_001), "the document that it waited for is not added"


def test_cancelled_list_additions_keep_a_prefix(tmp_path: Path) -> None:
    documents = [(f"d{number:05}", text) for number, (_, text) in enumerate(DOCS * 60)]
    reported, may_continue = threading.Event(), threading.Event()

    def progress(stage: str, done: int, total: int | None) -> None:
        if done:
            reported.set()
            assert may_continue.wait(PATIENCE)

    async def work() -> tuple[int, list[str]]:
        async with AsyncIndex.create(tmp_path / "news") as index:
            adding = asyncio.create_task(index.add(documents, progress=progress))
            await until(reported.is_set)
            adding.cancel()
            await asyncio.sleep(0)
            may_continue.set()
            with pytest.raises(asyncio.CancelledError):
                await adding
            assert await index.check() == []
            return await index.count(), [id async for id in index.ids()]

    count, ids = within(work())
    assert 0 < count < len(documents)
    assert ids == [id for id, _ in documents[:count]], "those that came first"


def test_cancelled_queued_calls_never_start(tmp_path: Path) -> None:
    gate = Gate(DOCS, before=7)

    async def work() -> bool:
        async with AsyncIndex.create(tmp_path / "news") as index:
            adding = asyncio.create_task(index.add(iter(gate)))
            await until(gate.reached.is_set)
            waiting = asyncio.create_task(index.add_one("fox", FOX))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert not adding.done()
            gate.opened.set()
            await adding
            return await index.contains("fox")

    assert within(work()) is False


def test_started_changes_complete_despite_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_continue = threading.Event(), threading.Event()
    add_one = Index.add_one

    def slow(index: Index, *args: Any, **kwargs: Any) -> Any:
        begun.set()
        assert may_continue.wait(PATIENCE)
        return add_one(index, *args, **kwargs)

    async def work() -> bool:
        async with AsyncIndex.create(tmp_path / "news") as index:
            writing = asyncio.create_task(
                index._run(True, lambda: slow(index.index, "fox", FOX), stop_signal())
            )
            await until(begun.is_set)
            for _ in range(3):
                # Further cancellations do not end the task before the write.
                writing.cancel()
                await asyncio.sleep(0)
                assert not writing.done()
            may_continue.set()
            with pytest.raises(asyncio.CancelledError):
                await writing
            return await index.contains("fox")

    assert within(work()) is True


def stop_signal() -> Any:
    from lookalike._index.async_calls import StopSignal

    return StopSignal()


def test_cancelled_groups_stop_at_progress(tmp_path: Path) -> None:
    reported, may_continue = threading.Event(), threading.Event()

    def progress(stage: str, done: int, total: int | None) -> None:
        reported.set()
        assert may_continue.wait(PATIENCE)

    async def work() -> int:
        async with AsyncIndex.create(tmp_path / "news", threshold=0.5) as index:
            await index.add(DOCS)
            grouping = asyncio.create_task(index.groups(progress=progress))
            await until(reported.is_set)
            grouping.cancel()
            await asyncio.sleep(0)
            may_continue.set()
            with pytest.raises(asyncio.CancelledError):
                await grouping
            return len(await index.groups())

    assert within(work()) > 10


def test_progress_is_reported(tmp_path: Path) -> None:
    stages: list[str] = []

    async def work() -> None:
        async with AsyncIndex.create(tmp_path / "news") as index:
            await index.add(DOCS, progress=lambda stage, done, total: stages.append(stage))

    within(work())
    assert set(stages) == {"read and add"}


async def articles(documents: list[tuple[str, str]]) -> AsyncIterator[tuple[str, str]]:
    for document in documents:
        await asyncio.sleep(0)
        yield document


def test_documents_come_from_the_loop(tmp_path: Path) -> None:
    async def work() -> tuple[int, list[str]]:
        async with AsyncIndex.create(tmp_path / "news", threshold=0.5) as index:
            added = await index.add(articles(DOCS))
            repeated = await index.update(articles(DOCS[:5]))
            assert (repeated.added, repeated.updated) == (0, 5)
            return added.added, [id async for id in index.ids()]

    added, ids = within(work())
    assert added == len(DOCS)
    assert sorted(ids) == sorted(id for id, _ in DOCS)


def test_the_source_waits_for_the_index(tmp_path: Path) -> None:
    """The source is at most a few hundred documents ahead of the engine."""
    produced = 0

    async def counted() -> AsyncIterator[tuple[str, str]]:
        nonlocal produced
        for number in range(100_000):
            produced += 1
            yield f"d{number}", "" if number != 300 else 5  # type: ignore[misc]  # which ends the call

    async def work() -> None:
        async with AsyncIndex.create(tmp_path / "news") as index:
            with pytest.raises(DocumentError) as error:
                await index.add(counted())
            assert error.value.row == 300

    within(work())
    assert produced <= 512


def test_async_sources_run_in_one_task(tmp_path: Path) -> None:
    async def work() -> None:
        tasks: list[object] = []

        async def source(bad: int) -> AsyncIterator[tuple[str, Any]]:
            try:
                for number in range(1_000):
                    tasks.append(asyncio.current_task())
                    yield f"d{number}", FOX if number != bad else None
            finally:
                await asyncio.sleep(0)
                tasks.append(asyncio.current_task())
                tasks.append("closed")

        async with AsyncIndex.create(tmp_path / "news") as index:
            await index.add(source(-1))
            assert tasks[-1] == "closed" and len(tasks) == 1_002 and len(set(tasks[:-1])) == 1
            tasks.clear()
            with pytest.raises(DocumentError):
                await index.update(source(700))
            assert tasks[-1] == "closed" and len(set(tasks[:-1])) == 1

    within(work())


def test_source_close_errors_propagate(tmp_path: Path) -> None:
    async def source() -> AsyncIterator[tuple[str, Any]]:
        try:
            for number in range(1_000):
                yield f"d{number}", FOX if number != 3 else None
        finally:
            raise LookupError("the source does not close")

    async def work() -> None:
        async with AsyncIndex.create(tmp_path / "news") as index:
            with pytest.raises(LookupError) as error:
                await index.add(source())
            assert isinstance(error.value.__context__, DocumentError)

    within(work())


def test_failing_sources_store_earlier_documents(tmp_path: Path) -> None:
    async def failing() -> AsyncIterator[tuple[str, str]]:
        for document in DOCS[:300]:
            yield document
        raise LookupError("the source is gone")

    async def work() -> int:
        async with AsyncIndex.create(tmp_path / "news") as index:
            with pytest.raises(LookupError, match="the source is gone"):
                await index.add(failing())
            return await index.count()

    assert within(work()) == 300


def test_waiting_sources_are_cancelled(tmp_path: Path) -> None:
    async def work() -> tuple[bool, int]:
        waiting, was_cancelled = asyncio.Event(), False

        async def endless() -> AsyncIterator[tuple[str, str]]:
            nonlocal was_cancelled
            yield "fox", FOX
            waiting.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                was_cancelled = True
                raise
            yield "weather", WEATHER

        async with AsyncIndex.create(tmp_path / "news") as index:
            adding = asyncio.create_task(index.add(endless()))
            await waiting.wait()
            adding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await adding
            assert await index.check() == []
            return was_cancelled, await index.count()

    was_cancelled, count = within(work())
    assert was_cancelled
    assert count <= 1


def test_sources_may_query_but_not_change(tmp_path: Path) -> None:
    async def work() -> list[str]:
        refused: list[str] = []
        async with AsyncIndex.create(tmp_path / "news", threshold=0.5) as index:
            await index.add_one("fox", FOX)

            async def asking() -> AsyncIterator[tuple[str, str]]:
                found = await index.query(FOX_NOW)
                yield f"like {found[0].id}", FOX_NOW
                change: Callable[[], Awaitable[Any]]
                for change in (
                    lambda: index.add_one("b", WEATHER),
                    lambda: index.remove("fox"),
                    index.close,
                ):
                    with pytest.raises(StoreError, match="wait for itself") as error:
                        await change()
                    refused.append(str(error.value))

            await index.add(asking())
            assert len(refused) == 3
            await index.add_one("b", WEATHER)
            return [id async for id in index.ids()]

    assert within(work()) == ["fox", "like fox", "b"]


@pytest.mark.parametrize("batch", [1, 4, 256])
@pytest.mark.parametrize("is_async", [False, True], ids=["iterable", "asynchronous"])
def test_queries_are_streamed(tmp_path: Path, batch: int, is_async: bool) -> None:
    queries = [text for _, text in DOCS[:30]]

    async def work() -> None:
        async with AsyncIndex.create(tmp_path / "news", threshold=0.5) as index:
            await index.add(DOCS)
            expected = await index.query_many(queries, limit=3)

            async def from_loop() -> AsyncIterator[str]:
                for text in queries:
                    yield text

            source: Any = from_loop() if is_async else iter(queries)
            found = [matches async for matches in index.query_stream(source, limit=3, batch=batch)]
            assert found == expected
            async for matches in index.query_stream(queries, nearest=1):
                assert len(matches) == 1
                break

    within(work())


def test_query_stream_yields_early_matches(tmp_path: Path) -> None:
    async def work() -> list[int]:
        numbers: list[int] = []

        async def from_loop() -> AsyncIterator[str]:
            for number in range(6):
                numbers.append(number)
                yield FOX

        async with AsyncIndex.create(tmp_path / "news") as index:
            async for _ in index.query_stream(from_loop(), batch=2):
                return numbers
        raise AssertionError

    assert within(work()) == [0, 1]


def test_parallel_reads_are_limited_by_workers(tmp_path: Path) -> None:
    async def work() -> tuple[int, int]:
        running, most = 0, 0
        lock, all_in = threading.Lock(), threading.Barrier(3)

        def call() -> None:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            all_in.wait(PATIENCE)
            with lock:
                running -= 1

        index = AsyncIndex(Index.create(tmp_path / "news"), workers=3)
        async with index:
            await asyncio.gather(*(index._run(False, call, stop_signal()) for _ in range(12)))
        return most, running

    assert within(work()) == (3, 0)


def test_close_waits_and_refuses_later_calls(tmp_path: Path) -> None:
    gate = Gate(DOCS, before=7)

    async def work() -> None:
        index = await AsyncIndex.create(tmp_path / "news")
        adding = asyncio.create_task(index.add(iter(gate)))
        await until(gate.reached.is_set)
        closing = asyncio.create_task(index.close())
        await asyncio.sleep(0)
        with pytest.raises(StoreError, match="is closed"):
            await index.count()
        assert not closing.done()
        gate.opened.set()
        await closing
        assert (await adding).added == len(DOCS)
        assert index.closed and "closed" in repr(index)
        await index.close()
        async with AsyncIndex.open(tmp_path / "news", read_only=True) as reopened:
            assert await reopened.count() == len(DOCS)
            assert reopened.read_only and repr(reopened).endswith("reading>")

    within(work())


def test_block_errors_close_the_index(tmp_path: Path) -> None:
    async def work() -> None:
        with pytest.raises(LookupError):
            async with AsyncIndex.create(tmp_path / "news"):
                raise LookupError
        with Index.open(tmp_path / "news"):
            """It is not open for writing any more."""

    within(work())


def test_async_index_rejects_invalid_use(tmp_path: Path) -> None:
    async def work() -> None:
        with pytest.raises(StoreError):
            await AsyncIndex.open(tmp_path / "absent")
        with pytest.raises(StoreError):
            async with AsyncIndex.open(tmp_path / "absent"):
                """Not reached."""
        async with AsyncIndex.create(tmp_path / "news") as index:
            with pytest.raises(OptionError):
                await index.query(FOX, limit=0)
            with pytest.raises(DocumentTypeError):
                await index.add(5)
            with pytest.raises(OptionError):
                await index.add(DOCS, progress="yes")  # type: ignore[arg-type]
            with pytest.raises(OptionError):
                await index.query_stream([FOX], batch=0).__anext__()
            with pytest.raises(TypeError, match="count"):
                len(index)
            with pytest.raises(TypeError, match="pickled"):
                pickle.dumps(index)
            assert index
            assert await index.count() == 0
        with Index.open(tmp_path / "news") as blocking:
            for workers in (0, -1, 1.5, True):
                with pytest.raises(OptionError, match="workers"):
                    AsyncIndex(blocking, workers=workers)  # type: ignore[arg-type]
        with pytest.raises(DocumentTypeError, match="AsyncIndex.open"):
            AsyncIndex(str(tmp_path))  # type: ignore[arg-type]

    within(work())


def test_cancelled_opening_closes_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lookalike.aio import OpeningIndex

    begun, may_continue = threading.Event(), threading.Event()

    def slow() -> Index:
        begun.set()
        assert may_continue.wait(PATIENCE)
        return Index.create(tmp_path / "news")

    async def work() -> None:
        async def use() -> None:
            async with OpeningIndex(slow):
                raise AssertionError

        opening = asyncio.create_task(use())
        await until(begun.is_set)
        opening.cancel()
        await asyncio.sleep(0)
        may_continue.set()
        with pytest.raises(asyncio.CancelledError):
            await opening
        with Index.open(tmp_path / "news", wait=0.0):
            """It is not open for writing any more."""

    within(work())


def test_the_package_does_without() -> None:
    code = "import sys, lookalike; print('asyncio' in sys.modules, 'lookalike.aio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
