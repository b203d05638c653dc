"""`lookalike.spark.extract` on a cluster returns the same documents as a run on one machine, and
skips the same files for the same reasons."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spark_cluster
from divided_runs import joined

from lookalike.errors import DocumentError, DocumentTypeError, FileError, OptionError
from lookalike.spark._spool import FileSpool, FolderName

if (reason := spark_cluster.missing()) is not None:
    pytest.skip(reason, allow_module_level=True)

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Creates a folder with files of all kinds, and two archives with copies of some of them."""
    made = tmp_path_factory.mktemp("files") / "a folder: ä"
    made.mkdir()
    shutil.copytree(FIXTURES / "extract", made / "extract")
    shutil.copytree(FIXTURES / "sample", made / "sample")
    files = sorted(path for path in (made / "extract").rglob("*") if path.is_file())
    with zipfile.ZipFile(made / "some.zip", "w") as archive:
        for path in files[::3]:
            archive.write(path, path.relative_to(made))
    with tarfile.open(made / "others.tar.gz", "w:gz") as archive:
        for path in files[1::3]:
            archive.add(path, path.relative_to(made))
    (made / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (made / "cut.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<<")
    (made / "empty.txt").write_bytes(b"")
    (made / "back\\slash.txt").write_text("a text of some words in a file with an odd name")
    lines = [
        {"id": f"r{number}", "text": "one two three four five six seven eight"}
        for number in range(3)
    ]
    (made / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return made


def files_of(spark: Any, folder: Path) -> Any:
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    return reader.load(str(folder)).repartition(5)


def test_extracted_groups_match_command_line(
    spark: Any, folder: Path, tmp_path: Path, program: str
) -> None:
    import lookalike.spark

    extracted = lookalike.spark.extract(
        files_of(spark, folder), folder=str(folder), fields=["title", "date"]
    )
    groups = tmp_path / "one.csv"
    # By default, the command compares file names first. Rows of a cluster have no file names, so
    # both runs keep the longest text.
    options = ["--threshold", "0.5", "--shingle", "words:3", "--keep", "longest", "-q"]
    subprocess.run([program, "find", folder, *options, "-o", groups], check=True)
    found = lookalike.spark.find(extracted.documents, threshold=0.5, shingle="words:3")
    found.write(str(tmp_path / "groups"))
    assert joined(tmp_path / "groups") == groups.read_bytes() and found.counts["groups"] > 10
    one = lookalike.find_files([folder], threshold=0.5, shingle="words:3")
    columns = ("source", "line", "id", "reason")
    local_skipped = zip(*(one.skipped[column] for column in columns), strict=True)
    skipped = [tuple(row[column] for column in columns) for row in extracted.skipped.collect()]
    assert set(skipped) == {
        (source.removeprefix(f"{folder}/"), *more) for source, *more in local_skipped
    }
    assert {source for source, *_ in skipped} >= {"picture.png", "cut.pdf"}
    # Spark does not list empty files.
    absent = sum(path.is_file() and path.stat().st_size == 0 for path in folder.rglob("*"))
    documents, empty = one.counts["documents"] - absent, one.counts["empty"] - absent
    assert absent and found.counts == {
        **one.counts,
        "documents": documents,
        "empty": empty,
        "skipped": 0,
    }
    assert extracted.counts == {"documents": documents, "skipped": one.counts["skipped"]}
    fields = {
        row["id"]: (row["title"], row["date"], row["modified"])
        for row in extracted.documents.collect()
    }
    assert any(title for title, _, _ in fields.values()) and any(
        date for _, date, _ in fields.values()
    )
    stamp = (folder / "back\\slash.txt").stat().st_mtime_ns // 1_000_000
    assert fields["back\\x5Cslash.txt"][2].endswith(f".{stamp % 1000:03}000Z")
    assert {"r0", "back\\x5Cslash.txt"} <= set(fields)
    extracted.release()


def test_options_reach_the_readers(spark: Any, folder: Path) -> None:
    import lookalike.spark

    files = files_of(spark, folder / "extract" / "mail")
    ids = {
        row["id"]
        for row in lookalike.spark.extract(
            files, folder=f"file://{folder}/extract"
        ).documents.collect()
    }
    # The id of a page in a web archive (WARC) is the id of its record, not a path.
    assert "mail/flowed.eml" in ids and all(
        id_.startswith(("mail/", "urn:", "<urn:")) for id_ in ids
    ), ids
    more = lookalike.spark.extract(files, folder=f"file:{folder}/extract/mail", attachments=True)
    assert more.documents.count() > len(ids)
    small = lookalike.spark.extract(
        files_of(spark, folder / "extract" / "pdf"), folder=str(folder), max={"file_size": 10}
    )
    reasons = [row["reason"] for row in small.skipped.collect()]
    assert reasons and all("10" in reason for reason in reasons), reasons


def test_extract_reads_chosen_columns(spark: Any, tmp_path: Path) -> None:
    import lookalike.spark

    (tmp_path / "a.jsonl").write_text('{"url": "u1", "body": "one two"}\n')
    files = files_of(spark, tmp_path)
    extracted = lookalike.spark.extract(files, folder=str(tmp_path), text="body", id="url")
    assert [(row["id"], row["text"]) for row in extracted.documents.collect()] == [
        ("u1", "one two")
    ]


def test_extract_rejects_invalid_arguments(spark: Any, folder: Path) -> None:
    import lookalike.spark

    files = files_of(spark, folder / "sample")
    with pytest.raises(DocumentError, match=r"is not below .*elsewhere/; name the folder"):
        lookalike.spark.extract(files, folder="/elsewhere")
    with pytest.raises(OptionError, match="expected a path from the root or an address"):
        lookalike.spark.extract(files, folder="elsewhere")
    with pytest.raises(OptionError, match="the column 'text' already exists"):
        lookalike.spark.extract(files, folder=str(folder), fields=["text"])
    with pytest.raises(OptionError, match="all_files selects files of a folder"):
        lookalike.spark.extract(files, folder=str(folder), all_files=True)
    with pytest.raises(
        DocumentTypeError, match="files: expected a DataFrame of Spark, got builtins.list"
    ):
        lookalike.spark.extract([], folder=str(folder))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="id: expected the name of a column"):
        lookalike.spark.extract(files, folder=str(folder), id=["a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an ExtractResult cannot be pickled: its frames belong"):
        pickle.dumps(lookalike.spark.extract(files, folder=str(folder)))
    with pytest.raises(DocumentTypeError, match="'content' is absent, expected binary"):
        lookalike.spark.extract(files.drop("content"), folder=str(folder))


@pytest.mark.parametrize(
    ("folder", "path", "name"),
    [
        ("/data/mail", "file:/data/mail/a/b.eml", "a/b.eml"),
        ("/data/mail/", "hdfs://host:8020/data/mail/b.eml", "b.eml"),
        ("file:///data", "file:/data/x y.txt", "x y.txt"),
        ("s3a://bucket", "s3a://bucket/k/b.pdf", "k/b.pdf"),
        ("s3a://bucket/k/", "s3a://bucket/k/b: c.pdf", "b: c.pdf"),
        ("dbfs:/mnt", "dbfs:/mnt/b.pdf", "b.pdf"),
    ],
)
def test_names_are_relative_to_the_folder(folder: str, path: str, name: str) -> None:
    assert FolderName.of(folder).name_of(path) == name


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("/data/mail", "file:/data/mailbox/b.eml"),
        ("s3a://bucket/k", "s3a://other/k/b.pdf"),
        ("s3a://bucket/k", "s3a://bucket/k"),
        ("/data", "/data/../etc/passwd"),
        ("/data", "/data//b.txt"),
    ],
)
def test_paths_outside_folder_are_errors(folder: str, path: str) -> None:
    with pytest.raises(DocumentError):
        FolderName.of(folder).name_of(path)


@pytest.fixture
def spool() -> Iterator[FileSpool]:
    with FileSpool({}, (), False) as file_spool:
        yield file_spool


def read(spool: FileSpool) -> tuple[list[str], list[tuple[str, str]]]:
    ids, skipped = [], []
    for documents, left_out in spool.read():
        ids += documents["id"].to_pylist()
        skipped += [(row["source"], row["reason"]) for row in left_out.to_pylist()]
    return ids, skipped


def test_conflicting_names_wait_for_next_batch(spool: FileSpool) -> None:
    """A file whose name conflicts with a written one waits for the next batch. A file whose name is
    impossible is skipped.
    """
    assert spool.add("a", b"one text", None) and spool.add("b/c", b"another", None)
    for name in ("a", "a/b", "b", "a/b/c"):
        assert not spool.add(name, b"x", None)
    assert sorted(read(spool)[0]) == ["a", "b/c"]
    assert spool.add("a/b", b"x", 0) and not spool.add("a", b"x", None)
    assert spool.add("b" * 300, b"x", None) and spool.add("a/\0", b"x", None)
    ids, skipped = read(spool)
    assert ids == ["a/b"] and {name for name, _ in skipped} == {"b" * 300, "a/\0"}
    assert all(reason.startswith("no file can have the name") for _, reason in skipped)
    assert read(spool) == ([], [])


def test_a_full_spool_is_read_first(spool: FileSpool) -> None:
    assert spool.add("a", bytes(64 << 20), None) and not spool.add("b", b"x", None)
    assert read(spool) == ([], [("a", "binary: it holds a NUL byte")])
    assert spool.add("b", b"x", None)


def test_bad_records_name_relative_paths(spool: FileSpool) -> None:
    """The source of a bad record is the path of its file relative to the folder."""
    spool.add("x/r.jsonl", b'{"id": "a", "text": "t"}\n{"id": "b"\n', None)
    ids, skipped = read(spool)
    assert ids == ["a"] and [(source, reason[:8]) for source, reason in skipped] == [
        ("x/r.jsonl", "not JSON")
    ]


def test_record_ids_include_file_names() -> None:
    with FileSpool({"id_field": "n"}, ("who",), True) as spool:
        for name in ("a.jsonl", "c/b.jsonl"):
            spool.add(name, b'{"n": 1, "text": "t", "who": "me"}\n', None)
        (documents, skipped), *more = spool.read()
        rows = [row for part, _ in [(documents, skipped), *more] for row in part.to_pylist()]
    assert sorted((row["id"], row["who"]) for row in rows) == [
        ("a.jsonl/1", "me"),
        ("c/b.jsonl/1", "me"),
    ]


def test_full_spool_disk_is_reported(spool: FileSpool, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "utime", full)
    with pytest.raises(FileError, match="cannot write files to .* No space left.* TMPDIR"):
        spool.add("a", b"x", 1)
