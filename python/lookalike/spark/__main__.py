"""The script for ``spark-submit``: ``find`` and ``dedup`` of tables and files.

``python -m lookalike.spark --script`` prints where it is; ``python -m lookalike.spark find …`` runs it
on the Spark of this machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.errors import LookalikeError, OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["main"]

_FORMATS = ("parquet", "json", "csv", "orc", "table")
_FORMAT_OPTIONS = {"csv": {"header": "true", "multiLine": "true", "escape": '"'}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    :param arguments: those of the command line by default.
    :returns: the exit code: 0 success, 1 an error, 2 wrong use.
    """
    args = _parser().parse_args(arguments)
    if args.script:
        print(Path(__file__).resolve())
        return 0
    if args.command is None:
        _parser().print_usage(sys.stderr)
        return 2
    try:
        options = _options(args)
        _run(args, options)
    except OptionError as error:
        return _failed(error, 2)
    except LookalikeError as error:
        return _failed(error, 1)
    return 0


def _failed(error: Exception, code: int) -> int:
    print(f"lookalike: {error}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lookalike.spark", description="Near-duplicates of Spark tables and files.", allow_abbrev=False
    )
    parser.add_argument("--script", action="store_true", help="print the path of the script for spark-submit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    find = commands.add_parser("find", help="write groups of near-duplicates", allow_abbrev=False)
    dedup = commands.add_parser("dedup", help="write the documents without their duplicates", allow_abbrev=False)
    for command in (find, dedup):
        _add_common(command)
    find.add_argument("--output", metavar="PATH", help="a folder for the groups, as of lookalike find -o")
    find.add_argument("--output-format", choices=("csv", "jsonl"), default="csv", help="the format of the groups (default csv)")
    find.add_argument("--pairs", metavar="PATH", help="a folder for all verified pairs")
    dedup.add_argument("--output", metavar="PATH", required=True, help="a folder for the documents that stay, or a table")
    dedup.add_argument("--output-format", choices=_FORMATS, help="the format of the output (default that of the input)")
    dedup.add_argument("--annotate", action="store_true", help="keep all documents, with columns role, keeper, jaccard")
    return parser


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("inputs", nargs="+", metavar="INPUT", help="files, folders, or tables with --format table")
    command.add_argument("--format", choices=_FORMATS, default="parquet", help="what the inputs are (default parquet)")
    command.add_argument("--text", default="text", metavar="COLUMN", help="the column of texts (default text)")
    command.add_argument("--id", default="id", metavar="COLUMN", help="the column of ids (default id)")
    command.add_argument("--reference", action="append", metavar="INPUT", help="documents that are always kept")
    command.add_argument("--threshold", type=float, default=0.8, metavar="T", help="similarity (default 0.8)")
    command.add_argument("--recall", type=float, default=0.99, metavar="R", help="of pairs at the threshold (default 0.99)")
    command.add_argument("--keep", action="append", metavar="RULE", help="longest, shortest, field:COLUMN, …; in order")
    command.add_argument("--exact", action="store_true", help="all pairs, without signatures")
    command.add_argument("--measure", choices=("jaccard", "containment"), help="what similarity is (default jaccard)")
    command.add_argument("--shingle", metavar="KIND", help="words:5, chars:9, … (default words:5)")
    command.add_argument("--skip-bad", action="store_true", help="leave rows without a text out, and count them")
    command.add_argument("--documents", type=int, metavar="N", help="how many are expected: chooses bands and rows")
    command.add_argument("--checkpoint", metavar="PATH", help="a folder for finished stages; the same call goes on")
    command.add_argument("--task-memory", metavar="SIZE", default="2GiB", help="the most of a task's documents (default 2GiB)")
    command.add_argument("--partitions", type=int, metavar="N", help="parts of buckets and documents")
    command.add_argument(
        "--option", action="append", metavar="NAME=VALUE", default=[],
        help="another option of lookalike.find, its value as JSON or a text: --option bands=20",
    )
    command.add_argument("--json", action="store_true", help="print counts and parameters as JSON")


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`lookalike.spark.find`, without frames."""
    options: dict[str, Any] = {
        "text": args.text, "id": args.id, "threshold": args.threshold, "recall": args.recall, "keep": args.keep,
        "exact": args.exact or None, "measure": args.measure, "shingle": args.shingle, "skip_bad": args.skip_bad or None,
        "documents": args.documents, "checkpoint": args.checkpoint, "task_memory": args.task_memory,
        "partitions": args.partitions,
    }
    for given in args.option:
        name, equals, value = given.partition("=")
        if not equals or not name:
            raise OptionError(f"--option: expected NAME=VALUE, got {given!r}")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return {name: value for name, value in options.items() if value is not None}


def _run(args: argparse.Namespace, options: dict[str, Any]) -> None:
    from pyspark.sql import SparkSession

    import lookalike.spark

    spark = SparkSession.builder.appName("lookalike").getOrCreate()
    df = _read(spark, args.format, args.inputs)
    if args.reference:
        options["reference"] = _read(spark, args.format, args.reference)
    if args.command == "dedup":
        kept = lookalike.spark.dedup(df, annotate=args.annotate, **options)
        _write(kept, args.output_format or args.format, args.output)
        return
    found = lookalike.spark.find(df, pairs=args.pairs is not None, **options)
    if args.output is not None:
        found.write(args.output, format=args.output_format)
    if args.pairs is not None:
        found.write_pairs(args.pairs)
    _print(found, as_json=args.json)


def _read(spark: SparkSession, form: str, inputs: Sequence[str]) -> DataFrame:
    """The rows of files, folders or tables, by the names of their columns."""
    if form == "table":
        frames = [spark.table(name) for name in inputs]
        df = frames[0]
        for frame in frames[1:]:
            df = df.unionByName(frame)
        return df
    reader = spark.read.options(**_FORMAT_OPTIONS.get(form, {}))
    return reader.format(form).load(list(inputs))


def _write(df: DataFrame, form: str, output: str) -> None:
    if form == "table":
        df.write.saveAsTable(output)
    else:
        df.write.options(**_FORMAT_OPTIONS.get(form, {})).format(form).save(output)


def _print(found: Any, *, as_json: bool) -> None:
    if as_json:
        figures = {"counts": found.counts, "sources": found.sources, "parameters": found.parameters, "seconds": found.seconds}
        print(json.dumps(figures))
        return
    for name, count in found.counts.items():
        print(f"{name:<12}{count:>16,}")


if __name__ == "__main__":
    sys.exit(main())
