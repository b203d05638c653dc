"""Tests `spark-submit lookalike-spark.py` on a cluster of a master and two workers, and its
errors."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spark_cluster
from divided_runs import joined
from soak import slow
from test_stages import corpus

import lookalike
from lookalike.spark import _tables
from lookalike.spark.__main__ import main

if (reason := spark_cluster.missing()) is not None:
    pytest.skip(reason, allow_module_level=True)


def submit(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the program with spark-submit, as a user does. ``--script`` prints its path."""
    script = _python("--script").stdout.strip()
    return spark_cluster.submit(script, *map(str, arguments))


class Program:
    """Runs the program in this process. It uses the existing session, because a new session takes
    half a minute to start."""

    def __init__(self, printed: pytest.CaptureFixture[str]) -> None:
        self._printed = printed

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Runs a command."""
        words = [str(argument) for argument in arguments]
        self._printed.readouterr()
        code = main(words)
        return subprocess.CompletedProcess(words, code, *self._printed.readouterr())


@pytest.fixture
def here(spark: Any, capsys: pytest.CaptureFixture[str]) -> Program:
    return Program(capsys)


def _python(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookalike.spark", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def printed_by(done: subprocess.CompletedProcess[str]) -> Any:
    """Returns the JSON that the program printed. spark-submit prints warnings on the same
    stream."""
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def error_of(done: subprocess.CompletedProcess[str]) -> str:
    """Returns the only error line of the program. spark-submit writes both streams of a Python
    program to standard output, and its own log to standard error."""
    lines = [
        line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")
    ]
    assert len(lines) == 1 and "Traceback" not in done.stdout, done.stderr[-3000:] + done.stdout
    return lines[0]


def find_alone(program: str, *arguments: object) -> None:
    """Runs `lookalike find` on one machine."""
    command = [program, "find", "--quiet", *map(str, arguments)]
    subprocess.run(command, check=True)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def test_submitted_find_matches_command_line(here: Program, program: str, tmp_path: Path) -> None:
    rows = corpus(250)
    parts = [
        write_lines(tmp_path / "a.jsonl", rows[:90]),
        write_lines(tmp_path / "b.ndjson", rows[90:200]),
    ]
    reference = write_lines(tmp_path / "reference.jsonl", rows[200:])
    options = [
        "--threshold",
        0.5,
        "--keep",
        "field:date",
        "--keep",
        "shortest",
        "--source-field",
        "site",
        "--shingle",
        "words:3",
        "--frequencies",
        "--reference",
        reference,
    ]
    only_here = [
        "--option",
        "case=keep",
        "--option",
        "seed=5",
        "--output-format",
        "csv",
        "--format",
        "json",
    ]
    folder, one = tmp_path / "groups.csv", tmp_path / "one.csv"
    pairs, checkpoint = tmp_path / "pairs", tmp_path / "checkpoint"
    done = submit(
        "find",
        *parts,
        *options,
        *only_here,
        "--output",
        folder,
        "--pairs",
        pairs,
        "--checkpoint",
        checkpoint,
        "--partitions",
        5,
        "--task-memory",
        "64MiB",
        "--json",
    )
    printed = printed_by(done)
    # Outputs that do not exist yet cause no stack trace of Java.
    assert not any(
        f"File {path} does not exist" in done.stdout + done.stderr for path in (folder, pairs)
    )
    find_alone(
        program,
        *parts,
        *options,
        "--case",
        "keep",
        "--seed",
        5,
        "-o",
        one,
        "--pairs",
        tmp_path / "one-pairs.csv",
    )
    assert joined(folder) == one.read_bytes() and len(one.read_bytes().splitlines()) > 10
    assert joined(pairs) == (tmp_path / "one-pairs.csv").read_bytes()
    alone = lookalike.find_files(
        parts,
        threshold=0.5,
        keep=["field:date", "shortest"],
        source_field="site",
        shingle="words:3",
        frequencies=True,
        reference=lookalike.Files(reference),
        pairs=True,
        case="keep",
        seed=5,
    )
    assert printed["counts"] == alone.counts and printed["parameters"] == alone.parameters
    assert sum(source["documents"] for source in printed["sources"]) == 250
    assert (checkpoint / "decided").is_dir()
    repeated = here.run("find", *parts, *options, "--output", folder)
    assert repeated.returncode == 1 and "already exists; name another output" in error_of(repeated)


@slow
def test_parquet_and_lines_of_json(here: Program, program: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    rows = corpus(150)
    lines = write_lines(
        tmp_path / "docs.jsonl", [{"url": row["id"], "body": row["text"]} for row in rows]
    )
    (tmp_path / "docs").mkdir()
    table = pa.table({"url": [row["id"] for row in rows], "body": [row["text"] for row in rows]})
    for number in range(3):
        pa.parquet.write_table(
            table.slice(50 * number, 50),
            tmp_path / "docs" / f"{number}.parquet",
            compression=spark_cluster.PARQUET_CODEC,
        )
    options = ["--threshold", 0.5, "--id-field", "url", "--text-field", "body"]
    find_alone(program, lines, *options, "-o", tmp_path / "one.jsonl")
    done = here.run("find", tmp_path / "docs", *options, "-o", tmp_path / "groups.jsonl")
    assert done.returncode == 0, done.stderr[-3000:]
    assert joined(tmp_path / "groups.jsonl") == (tmp_path / "one.jsonl").read_bytes()
    printed = dict(
        line.split(maxsplit=1)
        for line in done.stdout.splitlines()
        if not line.startswith("seconds")
    )
    counts = lookalike.find(rows, threshold=0.5).counts
    assert printed["documents"] == "150" and int(printed["duplicates"]) == counts["duplicates"] > 0
    name = f"parquet.`{tmp_path / 'docs'}`"
    there = printed_by(
        here.run(
            "dedup",
            name,
            "--format",
            "table",
            *options,
            "--annotate",
            "--output-format",
            "jsonl",
            "-o",
            tmp_path / "kept",
            "--json",
        )
    )
    assert there["counts"] == counts
    kept = [json.loads(line) for line in joined(tmp_path / "kept").splitlines()]
    assert len(kept) == 150
    assert sum(not row["lookalike_kept"] for row in kept) == counts["duplicates"]


@slow
def test_tables_are_read_and_written(here: Program, spark: Any) -> None:
    rows = corpus(150)
    docs = spark.createDataFrame(
        [(row["id"], row["text"]) for row in rows], "id string, text string"
    )
    tables = {
        "lookalike_docs": docs.where("id < 'd00050'"),
        "lookalike_more": docs.where("id >= 'd00050'").select("text", "id"),
    }
    spark.sql("create schema if not exists lookalike_kept")
    try:
        for name, frame in tables.items():
            frame.write.saveAsTable(name)
        command = [
            "dedup",
            *tables,
            "--format",
            "table",
            "--threshold",
            0.5,
            "-o",
            "lookalike_kept.docs",
        ]
        counts = printed_by(here.run(*command, "--json"))["counts"]
        assert counts == lookalike.find(rows, threshold=0.5).counts
        assert spark.table("lookalike_kept.docs").count() == 150 - counts["duplicates"] < 150
        assert "lookalike_kept.docs already exists" in error_of(here.run(*command))
    finally:
        for name in tables:
            spark.sql(f"drop table if exists {name}")
        spark.sql("drop schema lookalike_kept cascade")


@slow
def test_submitted_tables_match_command_line(here: Program, program: str, tmp_path: Path) -> None:
    words = 'one two three, four "five" six\nseven eight nine ten'
    rows = [["1", words], ["2", words], ["3", ""], ["4", "  "], ["05", words + " eleven"]]
    docs = tmp_path / "docs.csv"
    with docs.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "text"], *rows])
    find_alone(program, docs, "--threshold", 0.6, "-o", tmp_path / "one.csv")
    folder = tmp_path / "groups"
    printed = printed_by(here.run("find", docs, "--threshold", 0.6, "-o", folder, "--json"))
    assert joined(folder) == (tmp_path / "one.csv").read_bytes() and b"05" in joined(folder)
    assert printed["counts"] == lookalike.find_files([docs], threshold=0.6).counts
    assert printed["counts"]["empty"] == 2
    with docs.open("a", encoding="utf-8") as file:
        file.write("6\n")
    broken = here.run("dedup", docs, "-o", tmp_path / "kept")
    assert broken.returncode == 1 and 'the document "6" cannot be used' in error_of(broken)
    kept = printed_by(
        here.run("dedup", docs, "--threshold", 0.6, "--skip-bad", "-o", tmp_path / "kept", "--json")
    )
    assert kept["counts"]["skipped"] == 1
    files = [path.read_text(encoding="utf-8") for path in (tmp_path / "kept").glob("part-*")]
    ids = sorted(
        row[0] for text in files for row in list(csv.reader(text.splitlines(keepends=True)))[1:]
    )
    assert ids == ["05", "3", "4"]


def rows_of_csv(folder: Path) -> list[list[str]]:
    """Returns the rows of all files of a folder, sorted and without headers."""
    rows = []
    for path in folder.glob("part-*"):
        with path.open(newline="", encoding="utf-8") as file:
            rows += list(csv.reader(file))[1:]
    return sorted(rows)


@slow
@pytest.mark.parametrize(
    ("end", "quoting"),
    [
        ("\n", csv.QUOTE_NONNUMERIC),
        ("\r\n", csv.QUOTE_MINIMAL),
        ("\r\n", csv.QUOTE_NONNUMERIC),
        ("\r", csv.QUOTE_NONNUMERIC),
    ],
)
def test_submitted_csv_preserves_values(
    here: Program, program: str, tmp_path: Path, end: str, quoting: Any
) -> None:
    words = " ".join(f"w{number}" for number in range(20))
    # The text with more characters has CRLF line ends, the other text has LF.
    rows: list[list[Any]] = [
        ["a", words + "\r\n" * 9 + words, 1],
        ["b", words + "\n" * 12 + words, 2],
        [" i ", "  leading and\rtrailing  ", 3],
        ["c", " ", 4],
        ["d", "", 5],
        ["e", "x\r", 6],
    ]
    docs = tmp_path / "docs.csv"
    with docs.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator=end, quoting=quoting).writerows(
            [["id", "text", "n"], *rows]
        )
    options = ["--threshold", 0.6, "--keep", "longest"]
    find_alone(program, docs, *options, "-o", tmp_path / "one.csv")
    assert here.run("find", docs, *options, "-o", tmp_path / "groups").returncode == 0
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    assert here.run("dedup", docs, *options, "-o", tmp_path / "kept").returncode == 0
    kept = sorted([row[0], row[1], str(row[2])] for row in rows if row[0] != "b")
    assert rows_of_csv(tmp_path / "kept") == kept
    assert not any(b'""' in path.read_bytes() for path in (tmp_path / "kept").glob("part-*"))


@slow
def test_submitted_json_preserves_lines(here: Program, program: str, tmp_path: Path) -> None:
    text = "one two three four five six seven"
    lines = [
        '{"text": "'
        + text
        + '", "id": "a", "n": 1, "z": 100000000000000000000, "o": {"k": null}, "e": 1.50 }',
        ' {"id":"b","text":"' + text + '","lang":null}\r',
        '{"id":"c","n":2.5,"text":"\\u00e9 \\/ é","a":[ ]}  ',
    ]
    docs, more = tmp_path / "docs.jsonl", tmp_path / "more.jsonl.gz"
    docs.write_bytes("\n".join([lines[0], "", *lines[1:]]).encode())
    with gzip.open(more, "wb") as file:
        file.write(b'{"id":"d","text":""}\n')
    command = [program, "dedup", "--quiet", str(docs), str(more), "-o", str(tmp_path / "one.jsonl")]
    subprocess.run(command, check=True)
    for number, schema in enumerate([[], ["--schema", "id string, text string"]]):
        folder = tmp_path / f"kept{number}"
        assert here.run("dedup", docs, more, *schema, "-o", folder).returncode == 0
        kept = [path.read_bytes() for path in folder.glob("part-*")]
        assert sorted(b"".join(kept).splitlines(True)) == sorted(
            (tmp_path / "one.jsonl").read_bytes().splitlines(True)
        )
    other = here.run("dedup", docs, *schema, "--output-format", "csv", "-o", tmp_path / "other")
    assert other.returncode == 0 and all(len(row) == 2 for row in rows_of_csv(tmp_path / "other"))
    case = write_lines(tmp_path / "case.jsonl", [{"id": "1", "text": "", "e": 1, "E": 2}])
    assert here.run("dedup", case, "-o", tmp_path / "case").returncode == 0
    columns = here.run("dedup", case, "-o", tmp_path / "columns", "--output-format", "csv")
    assert "or name the columns of JSON lines by --schema" in error_of(columns)


@slow
def test_annotations_are_fields_of_the_lines(here: Program, tmp_path: Path) -> None:
    bad = [
        '{"id": "3", "text": "x"}\r{"id": "4", "text": "y"}',
        '{"id": "3"}, {"id": "4"}',
        '[{"id": "x", "text": "y"}]',
        '{"id": "5"',
        '{"id": "x", "text": "y"} z',
        '{"id": "x", "text": "\udcff"}',
    ]
    docs = tmp_path / "docs.jsonl"
    docs.write_text(
        "\n".join(['{"text": "x y", "id": 1.0 , "l": null} ', '{"id":2,"text":null}', "{ }", *bad]),
        encoding="utf-8",
        errors="surrogateescape",
    )
    done = printed_by(
        here.run(
            "dedup",
            docs,
            "--annotate",
            "--skip-bad",
            "--json",
            "-o",
            tmp_path / "kept",
            "--schema",
            "id string, text string",
        )
    )
    assert done["counts"]["skipped"] == 8
    kept = b"".join(path.read_bytes() for path in (tmp_path / "kept").glob("part-*")).split(b"\n")[
        :-1
    ]
    names = b',"lookalike_kept":%s,"lookalike_group":null,"lookalike_keeper":null,"lookalike_jaccard":null,"lookalike_group_size":%s}'
    skipped = names % (b"false", b"null")
    assert b'{"text": "x y", "id": 1.0 , "l": null' + names % (b"true", b"1") in kept
    assert b'{"id":2,"text":null' + skipped in kept
    assert b'{"_corrupt_record":"{\\"id\\": \\"5\\""' + skipped in kept
    assert len(kept) == 9 and sum(not json.loads(line)["lookalike_kept"] for line in kept) == 8
    command = ["dedup", docs, "--annotate", "--skip-bad", "--output-format", "csv", "-o"]
    assert here.run(*command, tmp_path / "columns").returncode == 0
    rows = rows_of_csv(tmp_path / "columns")
    assert (
        sum('{"id": "5"' in row for row in rows) == 1 and sum("false" in row for row in rows) == 8
    )
    typed = here.run(*command, tmp_path / "numbers", "--schema", "id int, text int")
    assert typed.returncode == 1 and error_of(typed)


@slow
def test_submitted_odd_lines_match_command_line(
    here: Program, program: str, tmp_path: Path
) -> None:
    text = "one two three four five six seven"
    good = [
        '{"id": 1.50, "text": "' + text + '", "d": 10}',
        '{"id": 2, "text": "' + text + '", "d": "9"}',
        '{"id": "x", "id": "y", "text": "' + text + '", "d": "\\ud83d"}',
        '{"id": "z", "text": "\\ud83d\\ude00", "d": null}',
        "",
        '\ufeff{"id": "b", "text": "' + text + ' eight", "d": {"e": 1}}',
        " \t\r",
    ]
    bad = {
        '{"id": 3, "text": 5}': 'the field "text" must be a string, got a number',
        '{"id": true, "text": "x"}': 'the field "id" must be a string or a number, got true or false',
        '{"id": "\\ude00", "text": "x"}': 'the field "id" holds half a surrogate pair',
        '{"id": "4", "text": "half \\ud83d pair"}': 'the field "text" holds half a surrogate pair',
        '{"id": "5", "text": "x", "n": NaN}': "not JSON: expected a value",
        "{'id': '6', 'text': 'x'}": "expected a key in double quotes",
        '{"id": "7", "text": "x\ty"}': "expected control characters in strings as escapes",
        '{"id": "", "text": "x"}': "the id is empty",
        '{"id": "8", "TEXT": "x"}': 'no field "text"; the record has id, TEXT',
    }
    docs, one = tmp_path / "docs.jsonl", tmp_path / "one.csv"
    options = ["--threshold", 0.5, "--keep", "field:d"]
    docs.write_text("\n".join([good[-2], *good[:-2], *bad, good[-1]]), encoding="utf-8")
    find_alone(program, docs, *options, "--skip-bad", "-o", one)
    printed = printed_by(
        here.run("find", docs, *options, "--skip-bad", "-o", tmp_path / "groups", "--json")
    )
    assert (
        printed["counts"]
        == lookalike.find_files([docs], threshold=0.5, keep="field:d", skip_bad=True).counts
    )
    assert joined(tmp_path / "groups") == one.read_bytes() and printed["counts"]["skipped"] == len(
        bad
    )
    for number, (line, problem) in enumerate(bad.items()):
        alone = tmp_path / f"bad{number}.jsonl"
        alone.write_text(f"{good[0]}\n{line}\n", encoding="utf-8")
        done = here.run("find", alone)
        assert (
            done.returncode == 1
            and "a line cannot be used: " in error_of(done)
            and problem in error_of(done)
        )


@slow
def test_submit_reads_nested_fields_and_blanks(here: Program, program: str, tmp_path: Path) -> None:
    text = "one two three four five six seven"
    lines = [{"meta": {"id": name, "text": text}} for name in "ab"]
    docs, empty = write_lines(tmp_path / "docs.jsonl", lines), tmp_path / "empty.jsonl"
    empty.write_text("\n")
    names = ["--id-field", "meta.id", "--text-field", "meta.text"]
    find_alone(program, docs, *names, "-o", tmp_path / "one.csv")
    for inputs, expected in (
        ([docs, empty], (2, 1)),
        ([docs, "--reference", empty], (2, 1)),
        ([empty], (0, 0)),
    ):
        folder = tmp_path / f"groups{len(list(tmp_path.iterdir()))}"
        counts = printed_by(here.run("find", *inputs, *names, "-o", folder, "--json"))["counts"]
        assert (counts["documents"], counts["duplicates"]) == expected
        groups = (tmp_path / "one.csv").read_bytes()
        assert joined(folder) == (groups if expected[0] else groups.splitlines(True)[0])
    for form in ("jsonl", "parquet"):
        assert (
            here.run("dedup", empty, "-o", tmp_path / form, "--output-format", form).returncode == 0
        )
    role = write_lines(
        tmp_path / "role.jsonl", [{"id": "a", "text": text, "lookalike_keeper": "x"}]
    )
    done = here.run("dedup", role, "--annotate", "-o", tmp_path / "kept")
    assert (
        done.returncode == 2
        and 'a line has the field "lookalike_keeper", which --annotate adds' in error_of(done)
    )


@slow
@pytest.mark.parametrize(
    "other", ["text,id\nx y z,2\n", "id,text\r\n2,x y z\r\n", "id,text\r2,x y z\r"]
)
def test_tables_with_other_headers_are_refused(here: Program, tmp_path: Path, other: str) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,text\n1,x y z\n")
    (tmp_path / "b.csv").write_bytes(other.encode())
    done = here.run("find", tmp_path / "a.csv", tmp_path / "b.csv", "--json")
    assert done.returncode == 1 and "b.csv has another header than the first file" in error_of(done)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["find"], "the following arguments are required: INPUT"),
        (["find", "x", "--threshold", "much"], "invalid float value: 'much'"),
        (["find", "x", "--option", "bands"], "expected NAME=VALUE, got 'bands'"),
        (["find", "x", "--option", "pairs=true"], "pairs does not take a value here"),
        (
            ["dedup", "x", "--output", "y", "--option", "id=url"],
            "id names a column; use --id",
        ),
        (["find", "x", "--option", "text=body"], "text names a column; use --text"),
        (["look", "x"], "invalid choice: 'look'"),
        (["dedup", "x"], "required: --output"),
        (["find", "x", "--thresh", "0.5"], "unrecognized arguments: --thresh"),
        (["find", "a.jsonl", "b.csv"], "inputs of several formats: csv and jsonl"),
    ],
)
def test_submit_usage_errors_are_one_line(arguments: list[str], problem: str) -> None:
    done = _python(*arguments)
    assert done.returncode == 2 and problem in error_of(done), done.stderr


def test_submitted_input_errors_are_one_line(here: Program, tmp_path: Path) -> None:
    missing = here.run("find", tmp_path / "absent.jsonl")
    assert missing.returncode == 1 and "absent.jsonl" in error_of(missing)
    docs = write_lines(tmp_path / "docs.jsonl", corpus(5))
    first = here.run("find", docs, "--keep", "first")
    assert first.returncode == 2 and "the rows of a data frame have no order" in error_of(first)
    field = here.run("find", docs, "--id", "url", "--skip-bad")
    assert (
        field.returncode == 1
        and 'the first line cannot be used: no field "url"; the record has id,' in error_of(field)
    )
    table = tmp_path / "docs.csv"
    table.write_text("id,text\n1,x\n")
    column = here.run("find", table, "--id", "url")
    assert column.returncode == 1 and "no column 'url'" in error_of(column)


def test_submitted_path_rules_match_command_line(
    here: Program, program: str, tmp_path: Path
) -> None:
    pages = tmp_path / "pages"
    for number, folder in enumerate(["a b", "new", "x"]):
        (pages / folder).mkdir(parents=True)
        write_lines(pages / folder / "docs.jsonl", corpus(60)[number::3])
    options = [
        "--threshold",
        "0.5",
        "--keep",
        f"path:{pages}/new/*",
        "--keep",
        "path:**/a b/*",
        "--keep",
        "shortest",
    ]
    find_alone(program, pages, *options, "-o", tmp_path / "one.csv")
    printed_by(
        here.run(
            "find",
            pages / "*",
            "--format",
            "jsonl",
            *options,
            "--partitions",
            3,
            "--json",
            "-o",
            tmp_path / "groups",
        )
    )
    assert joined(tmp_path / "groups") == (tmp_path / "one.csv").read_bytes()
    find_alone(
        program, pages, "--threshold", "0.5", "--keep", "shortest", "-o", tmp_path / "usual.csv"
    )
    assert (tmp_path / "usual.csv").read_bytes() != (tmp_path / "one.csv").read_bytes()
    idle = here.run("find", pages / "*", "--format", "jsonl", "--keep", "path:absent/**")
    warning = "warning: --keep path:absent/** decides nothing: no document matches the pattern 'absent/**'"
    assert warning in idle.stderr.splitlines()


def test_submit_help_omits_refused_values() -> None:
    text = " ".join(_python("find", "--help").stdout.split())
    for refused in (
        "'auto': values",
        "'newest'",
        "'oldest'",
        "'first'",
        "'last'",
        "leave out bad documents and repeated ids",
        "'given'",
    ):
        assert refused not in text, refused


def test_errors_have_the_names_of_options(here: Program, tmp_path: Path) -> None:
    docs = write_lines(tmp_path / "docs.jsonl", corpus(5))
    cases: list[tuple[list[str], str]] = [
        (["--keep", "newest"], "--keep newest: it compares the dates of files"),
        (
            ["--bands", "20", "--documents", "100"],
            "--documents 100 chooses --num-hashes, bands and rows; leave out --documents or bands",
        ),
        (["--task-memory", "much"], "--task-memory: expected bytes"),
        (["--option", "unit=line"], "unit='line' compares parts of texts"),
    ]
    for arguments, problem in cases:
        assert problem in error_of(here.run("find", docs, *arguments))
    write_lines(docs, [{"id": "a", "text": "x"}, {"id": "b", "text": None}])
    assert "or let --skip-bad leave out" in error_of(here.run("find", docs))


def test_outputs_are_checked_before_stages(
    here: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lookalike.spark.__main__ as module

    docs = write_lines(tmp_path / "docs.jsonl", corpus(5))
    monkeypatch.setattr(module, "find", lambda *_, **__: pytest.fail("the run has begun"))
    for arguments in (
        ["find", docs, "--output"],
        ["find", docs, "--pairs"],
        ["dedup", docs, "--output"],
    ):
        done = here.run(*arguments, docs / "out")
        assert (
            error_of(done)
            == f"error: cannot write {docs}/out: {docs} is not a directory; name another path, "
            "or let Spark write this one"
        )


def test_errors_contain_no_java_traces(tmp_path: Path) -> None:
    docs = write_lines(
        tmp_path / "docs.jsonl", [{"id": "a", "text": "x"}, {"id": "b", "text": None}]
    )
    done = _python("find", docs)
    assert done.returncode == 1 and "cannot be used" in error_of(done)
    assert "\tat " not in done.stderr and "Traceback" not in done.stderr, done.stderr[-3000:]


def test_hidden_spark_inputs_are_errors(here: Program, tmp_path: Path) -> None:
    docs = write_lines(tmp_path / "docs.jsonl", corpus(5))
    for name in ("_docs.jsonl", ".docs.jsonl"):
        hidden = write_lines(tmp_path / name, corpus(5))
        for arguments in ([docs, hidden], [docs, "--reference", hidden]):
            done = here.run("find", *arguments)
            assert done.returncode == 1 and f"such as {hidden}; rename it" in error_of(done)


def test_submitted_path_errors_are_one_line(here: Program, tmp_path: Path) -> None:
    docs = write_lines(tmp_path / "docs.jsonl", corpus(5))
    (tmp_path / "no.parquet").write_text("no such thing")
    scheme = 'No FileSystem for scheme "s3"; name a scheme whose file system Spark has'
    cases: list[tuple[tuple[object, ...], str]] = [
        (("find", "s3://b/pages"), f"cannot read s3://b/pages as parquet: {scheme}"),
        (
            ("find", docs, "--output", "s3://b/groups.csv"),
            f"cannot check whether s3://b/groups.csv exists: {scheme}",
        ),
        (("find", tmp_path / "no.parquet"), "no.parquet is not a Parquet file"),
        (("find", docs, "--checkpoint", docs), f"cannot use the checkpoint {docs}"),
        (("dedup", docs, "--output", docs / "kept"), f"cannot write {docs}/kept: "),
        (
            ("dedup", docs, "--output-format", "table", "--output", "no.kept"),
            "cannot write the table no.kept: the schema no does not exist",
        ),
        (
            ("dedup", docs, "--output-format", "table", "--output", "a b"),
            "cannot check whether the table a b exists",
        ),
    ]
    for arguments, problem in cases:
        done = here.run(*arguments)
        assert (
            done.returncode == 1
            and problem in error_of(done)
            and "An error occurred" not in error_of(done)
        )


def test_file_suffixes_select_table_formats() -> None:
    formats = {
        "a.jsonl": "jsonl",
        "s3://b/a.json.gz": "jsonl",
        "x/a.CSV": "csv",
        "s3://b/pages": "parquet",
        "pages.d/": "parquet",
        "a.parquet/": "parquet",
    }
    assert {name: _tables.format_of([name], None) for name in formats} == formats
    assert _tables.format_of(["a.csv", "b.jsonl"], "table") == "table"
    assert _tables.format_of(["a.csv"], "json") == "jsonl"
