"""The examples of the cluster guide run on a cluster, and write the same results as one machine.
Folders of this machine replace the folders of an object store."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spark_cluster
from divided_runs import compare, joined
from soak import slow
from test_stages import corpus

import lookalike

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "cluster.md"
GUIDE = PAGE.read_text(encoding="utf-8")
#: Rows with the columns of the guide.
ROWS = [{"url": row["id"], "id": row["id"], "text": row["text"]} for row in corpus(60)]
MAIL = "Subject: {subject}\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\n\r\n{body}\r\n"


def blocks(language: str, place: Path) -> list[str]:
    """Returns the code blocks of a language. Folders below `place` replace the object store."""
    found = re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    return [re.sub(r"\bs3a?://b/", f"{place}/", block) for block in found]


def block(place: Path, language: str, part: str) -> str:
    """Returns the only code block that contains `part`."""
    [found] = [block for block in blocks(language, place) if part in block]
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the inputs of the examples."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "pages").mkdir()
    pq.write_table(
        pa.Table.from_pylist(ROWS),
        tmp_path / "pages" / "part.parquet",
        compression=spark_cluster.PARQUET_CODEC,
    )
    (tmp_path / "mail").mkdir()
    for number, row in enumerate(ROWS):
        (tmp_path / "mail" / f"{number}.eml").write_text(
            MAIL.format(subject=f"subject {number}", body=row["text"])
        )
    return tmp_path


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Any:
    """A session of the cluster that all tests share."""
    if (reason := spark_cluster.missing()) is not None:
        pytest.skip(reason)
    return request.getfixturevalue("spark")


@pytest.fixture
def ray_node() -> Iterator[None]:
    """A node of Ray with two processors."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    pytest.importorskip("ray.data", reason="Ray Data is not installed")
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def groups_of_one_machine(place: Path) -> bytes:
    found = lookalike.find(ROWS, text="text", id="url", threshold=0.8)
    assert found.counts["groups"] > 3
    found.write(place / "one.csv")
    return (place / "one.csv").read_bytes()


def kept_ids() -> set[str]:
    return {row["id"] for row in lookalike.dedup(ROWS, id="url")}


def test_the_examples_of_spark(session: Any, place: Path) -> None:
    defined: dict[str, Any] = {"spark": session}
    exec(block(place, "python", "import lookalike.spark"), defined)
    assert joined(place / "groups.csv") == groups_of_one_machine(place)
    assert {row["id"] for row in defined["survivors"].collect()} == kept_ids()


@slow
def test_the_examples_of_files(session: Any, place: Path) -> None:
    import lookalike.spark

    defined: dict[str, Any] = {"spark": session, "lookalike": lookalike}
    exec(block(place, "python", 'format("binaryFile")'), defined)
    assert (
        defined["found"].counts["documents"]
        == len(ROWS)
        == defined["extracted"].counts["documents"]
    )
    assert {"id", "text", "modified", "subject", "date"} == set(
        defined["extracted"].documents.columns
    )


def test_the_commands_of_spark(
    session: Any, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from lookalike.spark.__main__ import main

    commands = [line for line in block(place, "console", "spark-submit").splitlines() if line]
    program = "$ spark-submit $(python -m lookalike.spark --script) "
    for command in commands:
        assert command.startswith(program), command
        # test_spark_submit.py tests spark-submit itself, and --script.
        assert main(shlex.split(command.removeprefix(program))) == 0, capsys.readouterr().err
    assert joined(place / "groups.csv") == groups_of_one_machine(place)
    assert {
        row["id"] for row in session.read.parquet(str(place / "survivors")).collect()
    } == kept_ids()


@slow
def test_the_examples_of_ray(ray_node: None, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import lookalike.ray

    monkeypatch.chdir(place)
    # The default of 16 partitions starts too many tasks for so few documents.
    for name in ("find", "dedup"):
        monkeypatch.setattr(
            lookalike.ray, name, functools.partial(getattr(lookalike.ray, name), partitions=2)
        )
    defined: dict[str, Any] = {}
    exec(block(place, "python", "import lookalike.ray"), defined)
    assert joined(place / "groups") == groups_of_one_machine(place)
    assert {row["id"] for row in defined["survivors"].take_all()} == kept_ids()


@slow
def test_runs_without_broadcast_equal_one_machine(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulates more than 10 million documents in components, whose labels are not sent to all
    executors."""
    monkeypatch.setattr("lookalike.spark._run._BROADCAST", 1)
    rows = corpus(200)
    compare(
        session, tmp_path / "files", rows[:150], reference=rows[150:], partitions=5, threshold=0.5
    )


def test_every_block_is_run() -> None:
    """Fails if the guide has a new example, which needs a test."""
    languages = re.findall(r"^```(\w+)\n", GUIDE, re.MULTILINE)
    assert sorted(languages) == ["console", "python", "python", "python"]
