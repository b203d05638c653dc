"""``df.lookalike`` of a frame, a query and a series of polars, and ``pl.col(…).lookalike``."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike.errors import OptionError

polars = pytest.importorskip("polars")
import lookalike.polars  # noqa: E402 - only where polars is

DOCS = texts(60)


@pytest.fixture
def frame() -> Any:
    return polars.DataFrame(
        {"key": range(100, 160), "title": ["A title"] * 60, "body": DOCS, "n": range(60)}
    )


@pytest.mark.parametrize("is_lazy", [False, True], ids=["frame", "query"])
def test_methods_are_the_functions(frame: Any, is_lazy: bool) -> None:
    input_frame = frame.lazy() if is_lazy else frame
    plain = lookalike.find(frame, text="body", id="key", pairs=True)
    found = input_frame.lookalike.find("body", id="key", pairs=True)
    assert found.groups.to_pylist() == plain.groups.to_pylist()
    assert found.pairs.to_pylist() == plain.pairs.to_pylist()
    both = ["title", "body"]
    assert (
        input_frame.lookalike.find(both).groups.to_pylist()
        == lookalike.find(frame, text=both).groups.to_pylist()
    )
    kept = input_frame.lookalike.dedup("body", keep="first")
    assert kept.equals(lookalike.dedup(frame, text="body", keep="first"))
    assert kept["n"].to_list() == list(range(0, 60, 3))
    assert (
        input_frame.lookalike.dedup("body", annotate=True)["lookalike_kept"].to_list()
        == plain.is_kept
    )
    assert (
        input_frame.lookalike.prepare("body")["fingerprint"]
        == lookalike.prepare(DOCS)["fingerprint"]
    )
    repeated = input_frame.lookalike.passages("body", min_words=12)
    assert repeated.places.to_pylist() == lookalike.passages(DOCS, min_words=12).places.to_pylist()
    seen = input_frame.lookalike.contamination([DOCS[0]], "body")
    assert seen.matches.to_pylist() == lookalike.contamination(DOCS, [DOCS[0]]).matches.to_pylist()


@pytest.mark.parametrize("rows", [60, 1, 0])
@pytest.mark.parametrize("is_lazy", [False, True], ids=["frame", "query"])
def test_columns_have_their_type(frame: Any, is_lazy: bool, rows: int) -> None:
    part = frame[:rows]
    input_frame = part.lazy() if is_lazy else part
    found = lookalike.find(part, text="body")
    mask, labels = input_frame.lookalike.is_kept("body"), input_frame.lookalike.labels("body")
    assert (mask.name, mask.dtype, mask.to_list()) == (
        "lookalike_kept",
        polars.Boolean,
        found.is_kept,
    )
    assert (labels.name, labels.dtype, labels.to_list()) == (
        "lookalike_label",
        polars.Int64,
        found.labels,
    )
    assert part.filter(mask).equals(part.lookalike.dedup("body"))
    assert part.with_columns(labels).columns == [*part.columns, "lookalike_label"]


@pytest.mark.parametrize("rows", [60, 1, 0])
@pytest.mark.parametrize("is_lazy", [False, True], ids=["frame", "query"])
def test_expressions(frame: Any, is_lazy: bool, rows: int) -> None:
    part = frame[:rows]
    input_frame = part.lazy() if is_lazy else part
    found = lookalike.find(part, text="body", keep="first")
    body = polars.col("body").lookalike
    kept = input_frame.filter(body.is_kept(keep="first")).lazy().collect()
    assert kept.equals(part.filter(found.is_kept))
    chosen = (
        input_frame.select(body.labels(keep="first"), kept=body.is_kept(keep="first"))
        .lazy()
        .collect()
    )
    assert chosen.schema == {"body": polars.Int64, "kept": polars.Boolean}
    assert (chosen["body"].to_list(), chosen["kept"].to_list()) == (found.labels, found.is_kept)


def test_expressions_of_groups(frame: Any) -> None:
    """Within a group of polars, only its own rows are compared."""
    twice = polars.concat(
        [frame.with_columns(part=polars.lit("a")), frame.with_columns(part=polars.lit("b"))]
    )
    kept = twice.filter(polars.col("body").lookalike.is_kept(keep="first").over("part"))
    assert kept["n"].to_list() == [*range(0, 60, 3)] * 2


def test_a_series(frame: Any) -> None:
    series = frame["body"]
    found = lookalike.find(DOCS)
    assert series.lookalike.find().groups.to_pylist() == found.groups.to_pylist()
    assert series.lookalike.dedup().equals(lookalike.dedup(series))
    assert series.lookalike.is_kept().to_list() == found.is_kept
    assert series.lookalike.labels().to_list() == found.labels
    assert series.lookalike.prepare()["shingles"] == lookalike.prepare(DOCS)["shingles"]
    assert len(series.lookalike.passages(min_words=12)) == len(
        lookalike.passages(DOCS, min_words=12)
    )
    assert series.lookalike.contamination([DOCS[0]]).counts["contaminated"] == 1


def test_a_query_is_executed_once(frame: Any) -> None:
    executed = 0

    def count(some: Any) -> Any:
        nonlocal executed
        executed += 1
        return some

    query = frame.lazy().map_batches(count)
    query.lookalike.dedup("body")
    assert executed == 1
    query.lookalike.is_kept("body")
    assert executed == 2


def test_polars_namespace_rejects_invalid_arguments(frame: Any) -> None:
    with pytest.raises(OptionError, match="threshhold"):
        frame.lookalike.find("body", threshhold=0.5)
    with pytest.raises((OptionError, polars.exceptions.PolarsError), match="threshold"):
        frame.select(polars.col("body").lookalike.is_kept(threshold=2.0))


def test_the_package_does_without() -> None:
    code = (
        "import sys, lookalike; print('polars' in sys.modules); import polars; "
        "print(hasattr(polars.DataFrame, 'lookalike')); import lookalike.polars; "
        "print(all(hasattr(kind, 'lookalike') for kind in "
        "(polars.DataFrame, polars.LazyFrame, polars.Series, polars.Expr)), 'pandas' in "
        "sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True", "False"]
