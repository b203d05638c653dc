"""The arguments of the program. They are the options of ``lookalike find`` that apply to the rows
of a cluster.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from lookalike import _engine
from lookalike._options import OPTIONS

# Options of ``lookalike.spark.find`` whose value is a text.
_TEXTS = (
    "measure",
    "shingle",
    "tokens",
    "case",
    "scheme",
    "stop_words",
    "group",
    "source_field",
    "path_field",
)
_WHOLES = ("num_hashes", "bands", "rows", "seed")
_FLAGS = ("frequencies", "exact", "skip_bad")
# Options that users may repeat.
_LISTS = ("keep", "normalize")
# Descriptions of options that accept other values than on one machine.
_MEANINGS = {
    "bands": "bands of a signature; chosen for threshold and recall, or for --documents",
    "keep": "'longest', 'shortest', 'name', 'field:NAME[:asc]' or 'path:GLOB'; may be repeated",
    "path_field": "the column that the patterns of --keep path:GLOB are compared with (default: "
    "the names of the files)",
    "skip_bad": "leave out rows without a text or an id and count them; repeated ids stay an error",
    "tokens": "'words', 'word-runs' or 'whitespace'",
    "stop_words": "leave out the stop words of a language: 'en', 'de', 'zh', …",
}
# Options that are named arguments of ``lookalike.spark.find``.
_NAMED = ("text", "id", "documents", "checkpoint", "task_memory", "partitions")


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the arguments. Ends the process with exit code 2 if they are invalid.

    Args:
        arguments: The arguments; by default the arguments of the process.
    """
    parser = _CommandParser(
        prog="lookalike-spark.py",
        description="Near-duplicates of documents that a cluster has: the groups of `lookalike "
        "find`, byte for byte.",
    )
    parser.add_argument("--version", action="version", version=f"lookalike {_engine.VERSION}")
    parser.add_argument(
        "--script", action=_PrintScript, help="print the path of the file that spark-submit takes"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="find|dedup")
    find = commands.add_parser("find", help="write the groups of near-duplicates")
    find.add_argument(
        "--output",
        "-o",
        metavar="FOLDER",
        help="write the groups; the joined files equal the file of `lookalike find -o`",
    )
    find.add_argument(
        "--output-format",
        choices=("csv", "jsonl"),
        help="default: jsonl if the name of the output ends with .jsonl, else csv",
    )
    find.add_argument("--pairs", metavar="FOLDER", help="write all verified pairs as CSV")
    dedup = commands.add_parser("dedup", help="write the rows that are not duplicates")
    dedup.add_argument(
        "--output",
        "-o",
        metavar="PATH",
        required=True,
        help="write the rows: a folder, or a table with --output-format table",
    )
    dedup.add_argument(
        "--output-format", choices=_FORMATS, help="default: the format of the inputs"
    )
    dedup.add_argument(
        "--annotate",
        action="store_true",
        help="write all rows, with columns or fields "
        "lookalike_kept, lookalike_group, lookalike_keeper, lookalike_jaccard and "
        "lookalike_group_size",
    )
    for command in (find, dedup):
        _add_inputs(command)
        _add_options(command)
    return parser.parse_args(arguments)


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the arguments for ``lookalike.spark.find`` that the user set."""
    names = ("threshold", "recall", *_NAMED, *_TEXTS, *_WHOLES, *_FLAGS, *_LISTS)
    values = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in values.items() if value is not None} | dict(
        arguments.option or []
    )


# Options whose names contain ``_``. Such a name is not a word of an English sentence.
_UNDERSCORED = [name for name in (*_NAMED, *_TEXTS, *_WHOLES, *_FLAGS, *_LISTS) if "_" in name]
_OPTION = "|".join(
    ("threshold", "recall", "annotate", "reference", *_NAMED, *_TEXTS, *_WHOLES, *_FLAGS, *_LISTS)
)
# Patterns of the options in messages of the package: with a value, at the beginning of a message,
# after certain words, or with ``_`` in the name.
_VALUED = re.compile(rf"\b({_OPTION})=('[^']*'|[\w.-]+)")
_REFUSED = re.compile(rf"^({_OPTION})(?=: )")
_NAMED_BY = re.compile(
    rf"(?<=\bby )({_OPTION})\b|(?<=\bwith )(checkpoint)\b|(?<=\bleave out )({_OPTION})\b"
)
_BARE = re.compile(rf"(?<![\w'\"-])({'|'.join(_UNDERSCORED)})(?![\w'\"=])")


def spell_options(message: str) -> str:
    """Replaces Python options in a message of the package by the options of this program."""

    def option(name: str) -> str:
        return f"--{name.replace('_', '-')}"

    def valued(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("'")
        return option(name) if value == "True" else f"{option(name)} {value}"

    message = _VALUED.sub(valued, message)
    for pattern in (_REFUSED, _NAMED_BY, _BARE):
        message = pattern.sub(lambda match: option(match[match.lastindex or 1]), message)
    return message


_FORMATS = ("parquet", "jsonl", "json", "csv", "orc", "table")


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    if name in ("df", "pairs", "reference"):
        raise argparse.ArgumentTypeError(
            f"{name} does not take a value here; use INPUT, --pairs or --reference"
        )
    if name in ("id", "text"):
        raise argparse.ArgumentTypeError(f"{name} names a column; use --{name}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


class _CommandParser(argparse.ArgumentParser):
    """Reports invalid arguments in one line, as the command ``lookalike`` does."""

    def __init__(self, **how: Any) -> None:
        super().__init__(allow_abbrev=False, **how)

    def error(self, message: str) -> Any:
        self.exit(2, f"error: {message}; --help lists the arguments\n")


class _PrintScript(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(Path(__file__).with_name("lookalike-spark.py"))
        parser.exit()


def _add_inputs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="files or folders that Spark reads, or tables"
    )
    command.add_argument(
        "--format",
        choices=_FORMATS,
        help="format of all inputs (default: by the ends of their "
        "names, .jsonl, .ndjson, .json, .csv, also .gz; else parquet)",
    )
    command.add_argument(
        "--schema",
        metavar="DDL",
        help="columns of JSON lines that dedup writes in another "
        "format, such as 'id string, text string'; without it Spark reads the lines once more to "
        "find out",
    )
    command.add_argument(
        "--reference",
        action="append",
        metavar="INPUT",
        help="documents that are always kept, of the same format; may be repeated",
    )
    command.add_argument(
        "--text",
        "--text-field",
        default="text",
        metavar="COLUMN",
        help="default: text; of JSON lines meta.text is a field inside a field",
    )
    command.add_argument("--id", "--id-field", default="id", metavar="COLUMN", help="default: id")
    command.add_argument(
        "--json", action="store_true", help="print counts, parameters and times as JSON"
    )


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--threshold", "-t", type=float, default=0.8, help=f"{OPTIONS['threshold']} (default: 0.8)"
    )
    command.add_argument(
        "--recall",
        type=float,
        default=0.99,
        help=f"{OPTIONS['recall']} (default: 0.99)".replace("%", "%%"),
    )
    for name in _TEXTS:
        _add(command, name, metavar="VALUE")
    for name in _WHOLES:
        _add(command, name, type=int, metavar="N")
    for name in _LISTS:
        _add(command, name, action="append", metavar="RULE")
    for name in _FLAGS:
        _add(command, name, action="store_const", const=True)
    command.add_argument(
        "--option",
        action="append",
        type=_option,
        metavar="NAME=VALUE",
        help="an option of "
        "lookalike.spark.find that has no argument here; its value as JSON, or a text",
    )
    command.add_argument(
        "--documents", type=int, metavar="N", help="documents to expect: bands are chosen for them"
    )
    command.add_argument(
        "--checkpoint", metavar="FOLDER", help="results of stages, from which the same call resumes"
    )
    command.add_argument(
        "--task-memory",
        metavar="SIZE",
        help="the most that documents of a component may take in a task (default: 2GiB)",
    )
    command.add_argument(
        "--partitions",
        type=int,
        metavar="N",
        help="parts that buckets and documents are divided into "
        "(default: spark.sql.shuffle.partitions)",
    )


def _add(command: argparse.ArgumentParser, name: str, **how: Any) -> None:
    meaning = _MEANINGS.get(name, OPTIONS[name])
    command.add_argument(f"--{name.replace('_', '-')}", help=meaning.replace("%", "%%"), **how)
