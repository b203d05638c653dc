"""The program: ``spark-submit lookalike-spark.py``, and ``python -m lookalike.spark``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from lookalike import _engine
from lookalike._task_errors import cause_of, task_errors
from lookalike.errors import LookalikeError, OptionError
from lookalike.spark import _tables
from lookalike.spark._arguments import options_of, parsed
from lookalike.spark._columns import ANNOTATIONS, refuse_annotations
from lookalike.spark._find import REMEDY, Found, find, survivors
from lookalike.spark._json_lines import LineFields

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["main"]

#: Counts that are printed though they are 0.
_ALWAYS = ("documents", "groups", "duplicates")
#: Where the errors of an engine are defined, and of the channels to it.
_ENGINE_MODULES = ("pyspark.", "py4j.", "grpc.")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command that the arguments are.

    :param arguments: those of the process by default.
    :return: the exit code: 0 success, 1 error, 2 wrong use.
    """
    args = parsed(arguments)
    try:
        with task_errors(REMEDY):
            _run(args)
    except OptionError as error:
        return _failed(error, 2)
    except LookalikeError as error:
        return _failed(error, 1)
    except Exception as error:
        # What Spark refuses is for the user as well; anything else is a fault, with its traceback.
        if not type(error).__module__.startswith(_ENGINE_MODULES):
            raise
        return _failed(error, 1)
    return 0


def _failed(error: Exception, code: int) -> int:
    text = " ".join(str(error).splitlines()) if isinstance(error, LookalikeError) else cause_of(error)
    print(f"error: {text}", file=sys.stderr, flush=True)
    return code


def _run(args: argparse.Namespace) -> None:
    kind = _tables.format_of([*args.inputs, *(args.reference or [])], args.format)
    with _session() as spark:
        for path, how in _outputs(args, kind):
            _tables.refuse_existing(spark, path, how)
        fields = _fields(args)
        written = None if args.command == "find" else args.output_format or kind
        is_typed = written not in (None, "json", "jsonl")
        given = _tables.read(spark, args.inputs, kind, fields, args.schema, is_typed=is_typed)
        if fields.refused:
            refuse_annotations(given.documents)
        reference = None
        if args.reference:
            reference = _tables.read(spark, args.reference, kind, replace(fields, refused=()), args.schema).documents
        with _tables.header_errors():
            found = find(
                given.documents, reference=reference, pairs=getattr(args, "pairs", None) is not None, **options_of(args)
            )
        if written is None:
            _write_found(args, found)
        else:
            given.write(survivors(given.rows, found, annotate=args.annotate), args.output, written)
        found.release()
        print(_described(found, as_json=args.json), flush=True)


def _fields(args: argparse.Namespace) -> LineFields:
    """What is read of JSON lines."""
    options = options_of(args)
    others = _engine.fields({name: options[name] for name in ("keep", "source_field") if name in options})
    refused = ANNOTATIONS if getattr(args, "annotate", False) else ()
    return LineFields(args.text, args.id, tuple(others), bool(options.get("skip_bad")), refused)


@contextmanager
def _session() -> Iterator[SparkSession]:
    """The session of this process; one that was not there before ends with the command, without which a
    driver on Kubernetes does not end."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise OptionError("lookalike.spark needs PySpark 3.5 or later: pip install pyspark") from None
    is_there = SparkSession.getActiveSession() is not None
    spark = SparkSession.builder.appName("lookalike").getOrCreate()
    try:
        yield spark
    finally:
        if not is_there:
            spark.stop()


def _outputs(args: argparse.Namespace, kind: str) -> list[tuple[str | None, str]]:
    if args.command == "find":
        return [(args.output, "files"), (args.pairs, "files")]
    return [(args.output, args.output_format or kind)]


def _write_found(args: argparse.Namespace, found: Found) -> None:
    if args.output is not None:
        is_lines = args.output.rstrip("/").lower().endswith(".jsonl")
        found.write(args.output, format=args.output_format or ("jsonl" if is_lines else "csv"))
    if args.pairs is not None:
        found.write_pairs(args.pairs)


def _described(found: Found, *, as_json: bool) -> str:
    """What is printed: the counts."""
    if as_json:
        figures = {"counts": found.counts, "sources": found.sources, "parameters": found.parameters}
        return json.dumps({**figures, "seconds": found.seconds}, ensure_ascii=False)
    rows = [(name, f"{count:,}") for name, count in found.counts.items() if count or name in _ALWAYS]
    rows += [(f"seconds of {stage}", f"{seconds:.1f}") for stage, seconds in found.seconds.items()]
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"{name:<{names}}  {value:>{values}}" for name, value in rows)


if __name__ == "__main__":
    sys.exit(main())
