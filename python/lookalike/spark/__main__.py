"""The program that ``spark-submit lookalike-spark.py`` and ``python -m lookalike.spark`` run."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lookalike import _engine
from lookalike._divided.survivors import ANNOTATIONS
from lookalike._divided.task_errors import cause_of, task_errors
from lookalike.errors import LookalikeError, OptionError
from lookalike.spark import _tables
from lookalike.spark._arguments import options_of, parse_arguments, spell_options
from lookalike.spark._columns import refuse_annotations
from lookalike.spark._find import FindResult, find
from lookalike.spark._json_lines import LineFields
from lookalike.spark._paths import PATH
from lookalike.spark._run import REMEDY, survivors
from lookalike.stages import keep_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["main"]

# The program prints these counts even if they are 0.
_ALWAYS = ("documents", "groups", "duplicates")
# Modules whose exceptions are errors of the engine or of the connection to it.
_ENGINE_MODULES = ("pyspark.", "py4j.", "grpc.")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command that the arguments name.

    Args:
        arguments: The arguments; by default the arguments of the process.

    Returns:
        The exit code: 0 for success, 1 for an error, 2 for invalid arguments.
    """
    args = parse_arguments(arguments)
    try:
        with task_errors(REMEDY), _warnings():
            _run(args)
    except OptionError as error:
        return _failed(error, 2)
    except LookalikeError as error:
        return _failed(error, 1)
    except Exception as error:
        # Print errors of the engine in one line. Other errors are bugs, and keep their traceback.
        if not type(error).__module__.startswith(_ENGINE_MODULES):
            raise
        return _failed(error, 1)
    return 0


@contextmanager
def _warnings() -> Iterator[None]:
    """Prints warnings of the package in a ``with`` block as the command line does: in one line,
    without their place in the code.
    """

    def print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"warning: {spell_options(str(message))}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning, module="lookalike")
        previous, warnings.showwarning = warnings.showwarning, print_warning
        try:
            yield
        finally:
            warnings.showwarning = previous


def _failed(error: Exception, code: int) -> int:
    text = (
        spell_options(" ".join(str(error).splitlines()))
        if isinstance(error, LookalikeError)
        else cause_of(error)
    )
    print(f"error: {text}", file=sys.stderr, flush=True)
    return code


def _run(args: argparse.Namespace) -> None:
    kind = _tables.format_of([*args.inputs, *(args.reference or [])], args.format)
    options = options_of(args)
    rules = keep_rules(options)
    # The rule `name` is about the names of files, which do not rank records, so it needs a column.
    has_paths = (
        "path_field" not in options
        and "name" not in rules
        and any(rule.startswith("path:") for rule in rules)
    )
    with _session() as spark:
        for path, how in _outputs(args, kind):
            _tables.refuse_existing(spark, path, how)
            if how != "table":
                _tables.check_writable(spark, path, f"cannot write {path}")
        fields = _fields(args, options)
        how_read = {"is_typed": False, "has_paths": has_paths}
        written = None if args.command == "find" else args.output_format or kind
        is_typed = written not in (None, "json", "jsonl")
        inputs = _tables.read(
            spark, args.inputs, kind, fields, args.schema, **(how_read | {"is_typed": is_typed})
        )
        if fields.refused:
            refuse_annotations(inputs.rows)
        reference = None
        if args.reference:
            reference_fields = replace(fields, refused=())
            reference = _tables.read(
                spark, args.reference, kind, reference_fields, args.schema, **how_read
            ).documents
        if has_paths:
            options["path_field"] = PATH
        with _tables.header_errors():
            found = find(
                inputs.documents,
                reference=reference,
                pairs=getattr(args, "pairs", None) is not None,
                **options,
            )
        if written is None:
            _write_found(args, found)
        else:
            inputs.write(
                survivors(inputs.rows, found.run, annotate=args.annotate), args.output, written
            )
        found.release()
        print(_described(found, as_json=args.json), flush=True)


def _fields(args: argparse.Namespace, options: dict[str, Any]) -> LineFields:
    """Returns the fields of JSON lines that the command reads."""
    others = _engine.fields(
        {name: options[name] for name in ("keep", "path_field", "source_field") if name in options}
    )
    refused = ANNOTATIONS if getattr(args, "annotate", False) else ()
    return LineFields(args.text, args.id, tuple(others), bool(options.get("skip_bad")), refused)


@contextmanager
def _session() -> Iterator[SparkSession]:
    """Provides the Spark session of this process. Stops a session that it created, because
    otherwise a driver on Kubernetes does not end.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise OptionError(
            "lookalike.spark needs PySpark 3.5 or later: pip install pyspark"
        ) from None
    is_active = SparkSession.getActiveSession() is not None
    spark = SparkSession.builder.appName("lookalike").getOrCreate()
    _hide_traces(spark)
    try:
        yield spark
    finally:
        if not is_active:
            spark.stop()


# Classes of Spark that log the traces of errors. The program prints these errors in one line.
_TRACED = (
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.execution.datasources.FileFormatWriter",
    "org.apache.spark.sql.execution.datasources.v2",
    "org.apache.spark.sql.execution.streaming",
    "org.apache.spark.util.Utils",
    "org.apache.spark.internal.io",
)


def _hide_traces(spark: SparkSession) -> None:
    """Hides the traces of failures in the log of this process. Has no effect on the log of a Spark
    Connect server.
    """
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:
        return
    log4j = jvm.org.apache.logging.log4j
    for name in _TRACED:
        log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _outputs(args: argparse.Namespace, kind: str) -> list[tuple[str | None, str]]:
    if args.command == "find":
        return [(args.output, "files"), (args.pairs, "files")]
    return [(args.output, args.output_format or kind)]


def _write_found(args: argparse.Namespace, found: FindResult) -> None:
    if args.output is not None:
        found.write(args.output, format=args.output_format)
    if args.pairs is not None:
        found.write_pairs(args.pairs)


def _described(found: FindResult, *, as_json: bool) -> str:
    """Returns the text that the program prints about a run: counts and seconds."""
    if as_json:
        sources = found.run.sums.sources
        figures = {"counts": found.counts, "sources": sources, "parameters": found.parameters}
        return json.dumps({**figures, "seconds": found.seconds}, ensure_ascii=False)
    rows = [
        (name, f"{count:,}") for name, count in found.counts.items() if count or name in _ALWAYS
    ]
    rows += [(f"seconds of {stage}", f"{seconds:.1f}") for stage, seconds in found.seconds.items()]
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"{name:<{names}}  {value:>{values}}" for name, value in rows)


if __name__ == "__main__":
    sys.exit(main())
