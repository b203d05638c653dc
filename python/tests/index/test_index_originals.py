"""The originals of documents in an index, and their versions."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import subprocess
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import lookalike
from lookalike import DocumentVersion, Index, OriginalStats
from lookalike.aio import AsyncIndex
from lookalike.errors import (
    DamagedError,
    DocumentError,
    DocumentTypeError,
    MismatchError,
    OptionError,
    StoreError,
)

PAGE = b"<!doctype html><title>Opening</title>\r\n<p>The library is open on Sunday, gr\xc3\xbc\xc3\x9fe.</p>"
LINE = b'{"id": "a-1",   "text": "A letter about something else.", "n": 1}'


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An index with a page and with a record from a compressed file."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "page.html").write_bytes(PAGE)
    (tmp_path / "lines.jsonl.gz").write_bytes(gzip.compress(LINE + b"\n"))
    with Index.create(tmp_path / "archive", store="originals") as index:
        index.add_files(tmp_path / "in")
        index.add_files(tmp_path / "lines.jsonl.gz")
    return tmp_path / "archive"


def test_originals_are_returned_byte_for_byte(archive: Path) -> None:
    with Index.open(archive, read_only=True) as index:
        assert index.original("page.html") == PAGE
        assert index.original("a-1") == LINE
        (page,) = index.versions("page.html")
        assert isinstance(page, DocumentVersion)
        assert (page.version, page.ended, page.name, page.bytes) == (
            1,
            None,
            "page.html",
            len(PAGE),
        )
        assert page.type.startswith("text/html") and page.sha256 == hashlib.sha256(PAGE).hexdigest()
        assert page.added.tzinfo == timezone.utc and page.modified is not None
        assert "The library is open" in str(index.version_text("page.html"))
        stored = index.get("page.html")
        assert stored is not None and stored.text == index.version_text("page.html", 1)


def test_replaced_documents_remain_as_versions(tmp_path: Path) -> None:
    texts = [
        "The first text of a note.",
        "The second text of a note, ä.",
        "The third text of a note.",
    ]
    with Index.create(tmp_path / "notes", store="originals") as index:
        for text in [*texts, texts[-1]]:
            index.update({"note": text})
        versions = index.versions("note")
        assert [version.version for version in versions] == [1, 2, 3]
        assert [version.ended for version in versions[:2]] == [
            version.added for version in versions[1:]
        ]
        assert versions[2].ended is None
        assert [index.version_text("note", n) for n in (1, 2, 3)] == texts
        assert [index.original("note", n) for n in (1, 2, 3)] == [text.encode() for text in texts]
        assert index.original("note") == texts[2].encode()
        assert index.remove("note") == (1, [])
        with pytest.raises(DocumentError, match="note"):
            index.versions("note")


def test_originals_match_command_line(archive: Path, program: str) -> None:
    def run(*arguments: str) -> bytes:
        return subprocess.run(
            [program, "index", *arguments], check=True, capture_output=True
        ).stdout

    printed = json.loads(run("versions", str(archive), "page.html", "--json"))
    with Index.open(archive, read_only=True) as index:
        assert run("original", str(archive), "page.html") == index.original("page.html")
        (version,) = index.versions("page.html")
    listed = printed["versions"][0]
    assert sorted(listed) == sorted(DocumentVersion._fields)
    same = ("version", "ended", "type", "name", "bytes", "sha256")
    assert {name: listed[name] for name in same} == {name: getattr(version, name) for name in same}
    added = datetime.fromisoformat(listed["added"][:26].rstrip("Z") + "+00:00")
    assert abs(added - version.added) < timedelta(seconds=1)
    saved = archive.parent / "made"
    run(
        "create",
        str(saved),
        str(archive.parent / "in"),
        "--store",
        "originals",
        "--max-original",
        "1KiB",
    )
    with Index.open(saved, read_only=True, store="originals") as index:
        assert index.original("page.html") == PAGE
        assert index.settings["originals"] == {"max_bytes": 1024}


def test_ids_may_be_uuids(tmp_path: Path) -> None:
    id = UUID(int=7)
    with Index.create(tmp_path / "notes", store="originals") as index:
        index.add_one(id, "one text")
        assert index.original(id) == b"one text" and index.versions(id)[0].bytes == 8


@pytest.mark.parametrize(
    "ask",
    [
        lambda index, id: index.versions(id),
        lambda index, id: index.original(id),
        lambda index, id: index.version_text(id),
    ],
)
def test_original_lookups_reject_missing_documents(
    tmp_path: Path, ask: Callable[[Index, Any], Any]
) -> None:
    with Index.create(tmp_path / "notes", store="originals") as index:
        index.add_one("brief", "one text", expires=timedelta(milliseconds=1))
        while "brief" in index:
            pass
        for id in ("nobody", 7, "brief", "\0", "x" * 20_000):
            with pytest.raises(DocumentError, match="does not exist in"):
                ask(index, id)
        for id_ in (None, 7.0, b"brief"):
            with pytest.raises(DocumentTypeError, match="expected str"):
                ask(index, id_)
    with pytest.raises(StoreError, match="closed"):
        ask(index, "a")


@pytest.mark.parametrize("store", ["signatures", "sets", "texts"])
def test_original_errors_suggest_store_option(tmp_path: Path, store: Any) -> None:
    with Index.create(tmp_path / "notes", store=store) as index:
        index.add({"a": "one text"})
        for ask in (index.versions, index.original, index.version_text):
            with pytest.raises(StoreError, match="store.*originals"):
                ask("a")
        assert index.stats().originals is None
    with pytest.raises(MismatchError, match="originals"):
        Index.open(tmp_path / "notes", store="originals")
    with pytest.raises(OptionError, match="originals"):
        Index.create(tmp_path / "other", store=store, max_original=10)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("version", [0, -1, 4, True, "1", 1.0, 2**70])
def test_original_lookups_reject_missing_versions(tmp_path: Path, version: Any) -> None:
    with Index.create(tmp_path / "notes", store="originals") as index:
        index.add({"a": "one text"})
        for ask in (index.original, index.version_text):
            with pytest.raises(OptionError, match="version is .*expected"):
                ask("a", version)


@pytest.mark.parametrize("most", [0, -1, 2**29 + 1, "513MiB", "much", 1.5, True])
def test_invalid_original_limits_are_errors(tmp_path: Path, most: Any) -> None:
    with pytest.raises(OptionError, match="original"):
        Index.create(tmp_path / "notes", store="originals", max_original=most)
    assert not (tmp_path / "notes").exists()


def test_documents_above_max_original_are_errors(tmp_path: Path) -> None:
    with Index.create(tmp_path / "notes", store="originals", max_original="1KiB") as index:
        assert index.settings["store"] == "originals" and index.settings["originals"] == {
            "max_bytes": 1024
        }
        with pytest.raises(DocumentError, match="1,?024"):
            index.add_one("long", "word " * 300)
        index.add_one("short", "word " * 200)
        assert list(index.ids()) == ["short"]


def test_sizes_are_counted(tmp_path: Path) -> None:
    page = "\n".join(f"line {n} of a page that changes a little" for n in range(400))
    with Index.create(tmp_path / "notes", store="originals") as index:
        assert index.stats().originals == OriginalStats(0, 0, 0, 0, 0)
        index.add({"a": page, "b": "another"})
        index.update({"a": page + "\nits end"})
        originals = index.stats().originals
        assert originals is not None
        assert (originals.versions, originals.originals, originals.differences) == (3, 3, 1)
        assert originals.bytes == 2 * len(page) + len("\nits end") + len("another")
        assert 0 < originals.stored_bytes < originals.bytes // 2


def test_damage_is_an_error(tmp_path: Path) -> None:
    sqlite3 = pytest.importorskip("sqlite3")
    with Index.create(tmp_path / "notes", store="originals") as index:
        index.add({"a": "a text that is kept " * 20})
    (catalogue,) = (
        path for path in (tmp_path / "notes").iterdir() if path.read_bytes()[:6] == b"SQLite"
    )
    with sqlite3.connect(catalogue) as database:
        database.execute("UPDATE originals SET zstd = zeroblob(length(zstd))")
    database.close()
    with Index.open(tmp_path / "notes", read_only=True) as index:
        with pytest.raises(DamagedError, match="original"):
            index.original("a")
        assert index.check()


def test_async_originals_equal_index_originals(archive: Path) -> None:
    async def work() -> tuple[Any, ...]:
        async with AsyncIndex.open(archive, read_only=True) as index:
            text = await index.version_text("page.html", 1)
            return await index.versions("page.html"), await index.original("page.html"), text

    awaited = asyncio.run(work())
    with Index.open(archive, read_only=True) as index:
        assert awaited == (index.versions("page.html"), PAGE, index.version_text("page.html"))


def test_versions_are_compared(tmp_path: Path) -> None:
    with Index.create(tmp_path / "notes", store="originals") as index:
        index.update({"a": "one two three four"})
        index.update({"a": "one two four"})
        both = [str(index.version_text("a", n)) for n in (1, 2)]
    found = lookalike.compare(*both, shingle="bag", differences=True)
    assert [difference.a for difference in found.differences if difference.kind == "delete"] == [
        "three "
    ]
