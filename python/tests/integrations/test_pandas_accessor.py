"""``df.lookalike`` and ``series.lookalike`` of pandas."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike.errors import DocumentError, OptionError

pandas = pytest.importorskip("pandas")
import lookalike.pandas  # noqa: E402 - only where pandas is

DOCS = texts(60)
INDEX = [f"row{n}" for n in range(60)]


@pytest.fixture
def frame() -> Any:
    return pandas.DataFrame(
        {"key": range(100, 160), "title": ["A title"] * 60, "body": DOCS, "n": range(60)},
        index=INDEX,
    )


def test_methods_are_the_functions(frame: Any) -> None:
    plain = lookalike.find(frame, text="body", id="key", pairs=True)
    found = frame.lookalike.find("body", id="key", pairs=True)
    assert found.groups.to_pylist() == plain.groups.to_pylist()
    assert found.pairs.to_pylist() == plain.pairs.to_pylist()
    both = ["title", "body"]
    assert (
        frame.lookalike.find(both).groups.to_pylist()
        == lookalike.find(frame, text=both).groups.to_pylist()
    )
    kept = frame.lookalike.dedup("body", keep="first")
    pandas.testing.assert_frame_equal(kept, lookalike.dedup(frame, text="body", keep="first"))
    assert list(kept.index) == INDEX[::3]
    marked = frame.lookalike.dedup("body", annotate=True)
    assert list(marked["lookalike_kept"]) == plain.is_kept
    assert frame.lookalike.prepare("body")["fingerprint"] == lookalike.prepare(DOCS)["fingerprint"]
    repeated = frame.lookalike.passages("body", min_words=12)
    assert repeated.places.to_pylist() == lookalike.passages(DOCS, min_words=12).places.to_pylist()
    seen = frame.lookalike.contamination([DOCS[0]], "body")
    assert seen.matches.to_pylist() == lookalike.contamination(DOCS, [DOCS[0]]).matches.to_pylist()


@pytest.mark.parametrize("rows", [60, 1, 0])
def test_pandas_columns_keep_index_and_type(frame: Any, rows: int) -> None:
    some = frame[:rows]
    found = lookalike.find(some, text="body")
    mask, labels = some.lookalike.is_kept("body"), some.lookalike.labels("body")
    pandas.testing.assert_series_equal(
        mask, pandas.Series(found.is_kept, index=some.index, name="lookalike_kept", dtype="bool")
    )
    pandas.testing.assert_series_equal(
        labels, pandas.Series(found.labels, index=some.index, name="lookalike_label", dtype="int64")
    )
    pandas.testing.assert_frame_equal(some[mask], some.lookalike.dedup("body"))


def test_the_usual_names_are_the_default(frame: Any) -> None:
    named = frame.rename(columns={"body": "text", "key": "id"})
    assert next(iter(named.lookalike.find())).keeper >= 100
    assert next(iter(named.lookalike.find(id=False))).keeper < 60
    with pytest.raises(DocumentError, match="'text'"):
        frame.lookalike.find()


def test_a_series(frame: Any) -> None:
    series = frame["body"]
    found = lookalike.find(DOCS)
    assert series.lookalike.find().groups.to_pylist() == found.groups.to_pylist()
    pandas.testing.assert_series_equal(series.lookalike.dedup(), lookalike.dedup(series))
    assert list(series.lookalike.is_kept()) == found.is_kept
    assert list(series.lookalike.labels().index) == INDEX
    assert (
        list(series.lookalike.labels(group="components"))
        == lookalike.find(DOCS, group="components").labels
    )
    assert series.lookalike.prepare()["shingles"] == lookalike.prepare(DOCS)["shingles"]
    assert len(series.lookalike.passages(min_words=12)) == len(
        lookalike.passages(DOCS, min_words=12)
    )
    assert series.lookalike.contamination([DOCS[0]]).counts["contaminated"] == 1


def test_pandas_accessor_rejects_invalid_arguments(frame: Any) -> None:
    with pytest.raises(OptionError, match="threshhold"):
        frame.lookalike.find("body", threshhold=0.5)
    with pytest.raises(DocumentError, match="'absent'"):
        frame.lookalike.is_kept("absent")
    with pytest.raises(OptionError):
        frame.lookalike.labels("body", unit="line")


def test_other_columns_and_the_frame_stay(frame: Any) -> None:
    before = frame.copy(deep=True)
    frame.lookalike.dedup("body")
    frame.lookalike.labels("body")
    pandas.testing.assert_frame_equal(frame, before)


def test_the_package_does_without() -> None:
    code = (
        "import sys, lookalike; print('pandas' in sys.modules); import pandas; "
        "print(hasattr(pandas.DataFrame, 'lookalike')); import lookalike.pandas; "
        "print(hasattr(pandas.DataFrame, 'lookalike'), hasattr(pandas.Series, 'lookalike'), "
        "'polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True", "True", "False"]
