"""The program: ``spark-submit lookalike-spark.py``, and ``python -m lookalike.spark``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lookalike._task_errors import task_errors
from lookalike.errors import LookalikeError, OptionError
from lookalike.spark import _tables
from lookalike.spark._arguments import options_of, parsed
from lookalike.spark._columns import refuse_annotations
from lookalike.spark._find import REMEDY, Found, find, survivors

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
    given = parsed(arguments)
    try:
        with task_errors(REMEDY):
            _run(given)
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
    lines = str(error).strip().splitlines() or [type(error).__name__]
    print(f"error: {' '.join(lines) if isinstance(error, LookalikeError) else lines[0]}", file=sys.stderr, flush=True)
    return code


def _run(given: argparse.Namespace) -> None:
    kind = _tables.format_of([*given.inputs, *(given.reference or [])], given.format)
    with _session() as spark:
        for path, how in _outputs(given, kind):
            _tables.refuse_existing(spark, path, how)
        documents = _tables.read(spark, given.inputs, kind, given.text, given.schema)
        if given.command == "dedup" and given.annotate:
            refuse_annotations(documents)
        reference = None
        if given.reference:
            reference = _tables.read(spark, given.reference, kind, given.text, given.schema)
        found = find(
            documents, reference=reference, pairs=getattr(given, "pairs", None) is not None, **options_of(given)
        )
        if given.command == "find":
            _write_found(given, found)
        else:
            kept = survivors(documents, found, annotate=given.annotate)
            _tables.write(kept, given.output, given.output_format or kind)
        found.release()
        print(_described(found, as_json=given.json), flush=True)


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


def _outputs(given: argparse.Namespace, kind: str) -> list[tuple[str | None, str]]:
    if given.command == "find":
        return [(given.output, "files"), (given.pairs, "files")]
    return [(given.output, given.output_format or kind)]


def _write_found(given: argparse.Namespace, found: Found) -> None:
    if given.output is not None:
        is_lines = given.output.rstrip("/").lower().endswith(".jsonl")
        found.write(given.output, format=given.output_format or ("jsonl" if is_lines else "csv"))
    if given.pairs is not None:
        found.write_pairs(given.pairs)


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
