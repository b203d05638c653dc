"""``python -m lookalike`` and the script ``lookalike`` behave like the program ``lookalike``."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from urllib.request import urlopen

import pytest
from waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"
MODULE = [sys.executable, "-m", "lookalike"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


@pytest.fixture(name="program", scope="module")
def program_as_command(program: str) -> list[str]:
    return [program]


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with the same files, for commands that write."""
    places = tmp_path / "binary", tmp_path / "module"
    for place in places:
        shutil.copytree(FIXTURES / "sample", place / "sample")
        shutil.copytree(FIXTURES / "extract" / "pdf", place / "pdf")
        (place / "records.jsonl").write_text(
            "".join(f'{{"id": "r{n}", "text": "{text(n // 2)} {n}"}}\n' for n in range(40))
        )
        (place / "bad.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": 7}\n')
    return places


def text(n: int) -> str:
    return " ".join(f"w{n * 31 + i * (n + 7)}" for i in range(40))


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LOOKALIKE_")}
    kept.pop("COLUMNS", None)
    return kept


def run(
    command: Sequence[str | bytes], folder: Path, stdin: bytes = b"", **added: str
) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        command, cwd=folder, input=stdin, capture_output=True, env=environment() | added
    )
    return done.returncode, untimed(done.stdout), untimed(done.stderr)


def untimed(printed: bytes) -> bytes:
    """Replaces times, durations and rates, which differ from run to run."""
    printed = re.sub(rb"\d{4}-\d\d-\d\dT[0-9:.]+Z", b"TIME", printed)
    printed = re.sub(rb'"seconds":[0-9.e-]+', b'"seconds":N', printed)
    return re.sub(rb"[0-9.,]+ (s\b|ms\b|documents a second)", rb"N \1", printed)


SAME = [
    [],
    ["--help"],
    ["-h"],
    ["--version"],
    ["help", "find"],
    *([name, "--help"] for name in ["find", "dedup", "compare", "tune", "evaluate", "audit"]),
    *([name, "--help"] for name in ["index", "query", "serve"]),
    ["nonsense"],
    ["find"],
    ["find", "--treshold", "0.8"],
    ["find", "nowhere"],
    ["find", "sample", "--threshold", "1.5"],
    ["find", "bad.jsonl"],
    ["find", "bad.jsonl", "--skip-bad"],
    ["find", "sample"],
    ["find", "sample", "--exit-code", "--quiet"],
    ["find", "pdf", "records.jsonl", "--threshold", "0.5"],
    ["find", "records.jsonl", "--output", "g.jsonl", "--pairs", "p.csv", "--report", "r.json"],
    ["find", "records.jsonl", "--json", "--threads", "1"],
    ["dedup", "records.jsonl", "-o", "unique.jsonl"],
    ["compare", "sample/recipe-lentil-soup-copy.txt", "sample/lost-cat.txt"],
    ["compare", "pdf/simple.pdf", "pdf/forms.pdf", "--json"],
    ["tune", "--threshold", "0.7"],
    ["tune", "records.jsonl", "--json"],
    ["query", "nowhere", "sample/lost-cat.txt"],
    ["serve", "nowhere", "--print-config"],
]


@pytest.mark.parametrize("arguments", SAME, ids=" ".join)
def test_module_output_matches_binary_output(
    arguments: list[str], program: list[str], twins: tuple[Path, Path]
) -> None:
    binary, module = (
        run(command + arguments, place) for command, place in zip((program, MODULE), twins)
    )
    assert module == binary
    assert files(twins[1]) == files(twins[0])


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): untimed(path.read_bytes()) for path in found}


def test_module_index_commands_match_binary(program: list[str], twins: tuple[Path, Path]) -> None:
    for arguments in (
        ["index", "create", "news", "records.jsonl"],
        ["query", "news", "records.jsonl", "--top", "3"],
        ["query", "news", "-", "--json"],
        ["index", "groups", "news"],
        ["index", "remove", "news", "r1"],
        ["index", "check", "news"],
        ["index", "export", "news"],
    ):
        stdin = text(3).encode()
        binary, module = (
            run(command + arguments, place, stdin)
            for command, place in zip((program, MODULE), twins)
        )
        assert module == binary
        assert module[0] == 0, module


def test_module_follows_terminal_variables(program: list[str], tmp_path: Path) -> None:
    for added in ({"COLUMNS": "40"}, {"CLICOLOR_FORCE": "1"}, {"NO_COLOR": "1"}):
        for arguments in (["find", "--help"], ["find", "nowhere"]):
            module = run(MODULE + arguments, tmp_path, **added)
            assert module == run(program + arguments, tmp_path, **added)


def test_the_script_of_the_wheel(program: list[str]) -> None:
    script = Path(sysconfig.get_path("scripts")) / "lookalike"
    if not script.exists():
        pytest.skip("the wheel is not installed here, so there is no script")
    for arguments in (["find", "sample"], ["find"], ["--version"]):
        assert run([str(script), *arguments], FIXTURES) == run(program + arguments, FIXTURES)


def test_source_field_counts_documents(tmp_path: Path) -> None:
    """Three equal texts have two senders. Each sender has one of the two removed texts."""
    documents = [("a", "x", text(1)), ("b", "x", text(1)), ("c", "y", text(1)), ("d", "y", text(2))]
    lines = [json.dumps({"id": id, "from": sender, "text": text}) for id, sender, text in documents]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))

    def sources(*options: str) -> list[tuple[str, int, int]]:
        code, _, _ = run([*MODULE, "find", "in.jsonl", "--report", "r.json", *options], tmp_path)
        assert code == 0
        found = json.loads((tmp_path / "r.json").read_text())["sources"]
        return [(source["name"], source["documents"], source["duplicates"]) for source in found]

    assert sources() == [("in.jsonl", 4, 2)]
    assert sources("--source-field", "from") == [("x", 2, 1), ("y", 2, 1)]


@POSIX
def test_undecodable_names_match_binary_output(
    program: list[str], twins: tuple[Path, Path]
) -> None:
    name = b"caf\xe9.txt"
    for place in twins:
        (place / os.fsdecode(name)).write_text(text(1))
    arguments = ["find", os.fsdecode(name), "sample/nowhere\udcff"]
    binary, module = (
        run(command + arguments, place) for command, place in zip((program, MODULE), twins)
    )
    assert module == binary
    assert binary[0] == 1


@POSIX
@pytest.mark.parametrize("redirected", ["> /dev/full", ">&-", "<&-", "2>&-", ">&- 2>&-"])
def test_unwritable_outputs_match_binary_behaviour(
    redirected: str, program: list[str], twins: tuple[Path, Path]
) -> None:
    if redirected == "> /dev/full" and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    results = []
    for command, place in zip((program, MODULE), twins):
        words = [*command, "find", "sample", "records.jsonl", "--pairs", "p.csv", "--json"]
        shell = ["sh", "-c", f'"$@" {redirected}; echo "code $?"', "sh", *words]
        results.append((run(shell, place), (place / "p.csv").read_bytes()))
    assert results[1] == results[0]


@POSIX
def test_broken_pipes_match_binary_behaviour(program: list[str], twins: tuple[Path, Path]) -> None:
    results = []
    for command, place in zip((program, MODULE), twins):
        reading, writing = os.pipe()
        # Closed before the command starts, so that every write fails.
        os.close(reading)
        words = [*command, "find", "sample", "records.jsonl", "--pairs", "p.csv", "--json"]
        with open(writing, "wb") as output:
            done = subprocess.run(
                words, cwd=place, env=environment(), stdout=output, stderr=subprocess.PIPE
            )
        results.append((done.returncode, untimed(done.stderr), (place / "p.csv").read_bytes()))
    assert results[1] == results[0]


@POSIX
def test_control_c_ends_it(program: list[str], tmp_path: Path) -> None:
    for command in (program, MODULE):
        with subprocess.Popen(
            [*command, "find", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment(),
        ) as process:
            assert process.stdin is not None
            # The input exceeds the buffer of a pipe. When it is written, the command is running.
            process.stdin.write(b'{"id": "a", "text": "some words"}\n' * 20_000)
            process.stdin.flush()
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == -signal.SIGINT
            assert process.stderr is not None
            assert process.stderr.read() == b""


@POSIX
def test_a_server_is_stopped_in_order(program: list[str], twins: tuple[Path, Path]) -> None:
    printed = []
    for command, place in zip((program, MODULE), twins):
        assert run([*command, "index", "create", "news", "records.jsonl"], place)[0] == 0
        with subprocess.Popen(
            [*command, "serve", "news", "--listen", "127.0.0.1:0", "--log", "off"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=place,
            env=environment(),
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            # A server that answers also handles signals.
            with urlopen(line.split()[-1].decode(), timeout=PATIENCE) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGINT)
            code = process.wait(PATIENCE)
            printed.append((code, re.sub(rb":\d+", b":PORT", line), untimed(process.stderr.read())))
    assert printed[1] == printed[0]
    assert printed[0][0] == 0


def test_python_output_is_flushed_first() -> None:
    code = (
        "import sys; from lookalike.__main__ import main; "
        "print('first'); sys.argv = ['x', '--version']; sys.exit(main())"
    )
    done, out, _ = run([sys.executable, "-c", code], ROOT)
    assert done == 0
    assert re.fullmatch(rb"first\s+lookalike \S+\s+indexes: .+\s+", out)
