"""Pictures of results show the values of the results, with both libraries."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sample_texts import texts

import lookalike
import lookalike.plot
from lookalike.errors import ChangedError, DocumentTypeError, OptionError
from lookalike.plot import tables

BACKENDS = ("matplotlib", "altair")
#: Groups of similar texts. Each text occurs twice.
FAMILIES = {f"{kind}-{n}": text for n, text in enumerate(texts(30)) for kind in ("ä", "語")}
SIMILAR = {f"{n}": " ".join(f"w{i}" for i in range(60 - n)) for n in range(8)}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Closes all figures after each test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def axes(function: str, *args: Any, **options: Any) -> Any:
    """Draws with matplotlib, without a window, and returns the axes."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("agg")
    drawn = getattr(lookalike.plot, function)(*args, backend="matplotlib", **options)
    # Drawing raises no error or warning.
    drawn.figure.canvas.draw()
    return drawn


def chart(function: str, *args: Any, **options: Any) -> dict[str, Any]:
    """Returns the specification of a chart, which altair has validated."""
    pytest.importorskip("altair", reason="altair is not installed")
    description = getattr(lookalike.plot, function)(*args, backend="altair", **options).to_dict()
    assert isinstance(description, dict) and json.dumps(description, allow_nan=False)
    return description


def values(specification: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the data of a chart or layer."""
    found: list[dict[str, Any]] = specification["data"]["values"]
    return found


def heights(ax: Any) -> list[list[float]]:
    """Returns the heights of each set of bars."""
    return [[bar.get_height() for bar in bars] for bars in ax.containers]


# Libraries.


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_plot_tables_import_no_plotting_library() -> None:
    code = (
        "import sys, lookalike; print('lookalike.plot' in sys.modules); import lookalike.plot; "
        "found = lookalike.find(['a b c d e f'] * 3); t = lookalike.plot.tables; "
        "t.similarity_histogram(found), t.s_curve(found, lookalike.audit(found)), "
        "t.group_sizes(found); "
        "t.removal_by_source(found), t.threshold_sweep(['a b c d e f'] * 3, [0.5]); "
        "print({'matplotlib', 'altair', 'numpy', 'pandas'} & {name.partition('.')[0] for name in "
        "sys.modules})"
    )
    assert run(code).splitlines() == ["False", "set()"]


def forget(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    """Makes imports of libraries fail, as if they were not installed."""
    for library in libraries:
        monkeypatch.setitem(sys.modules, library, None)
        monkeypatch.delitem(sys.modules, f"lookalike.plot._{library}", raising=False)


def test_missing_plot_libraries_suggest_installation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = lookalike.find(FAMILIES)
    for library in BACKENDS:
        with monkeypatch.context() as patch:
            forget(patch, library)
            with pytest.raises(
                ImportError, match=f"needs {library}, which is not installed: pip install {library}"
            ):
                lookalike.plot.group_sizes(found, backend=library)  # type: ignore[call-overload]
    with monkeypatch.context() as patch:
        forget(patch, *BACKENDS)
        with pytest.raises(ImportError, match="pip install matplotlib, or pip install altair"):
            lookalike.plot.group_sizes(found)


def test_installed_plot_library_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib").use("agg")
    altair = pytest.importorskip("altair")
    found = lookalike.find(FAMILIES)
    assert type(lookalike.plot.group_sizes(found)).__name__ == "Axes"
    with monkeypatch.context() as patch:
        forget(patch, "matplotlib")
        assert isinstance(lookalike.plot.group_sizes(found), altair.Chart)


def test_axes_are_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    found = lookalike.find(FAMILIES)
    sweep = tables.threshold_sweep(FAMILIES, [0.5, 1.0], sample=20)
    figure, places = plt.subplots(1, 5)
    for ax, (function, result) in zip(
        places,
        [
            ("similarity_histogram", found),
            ("s_curve", found),
            ("group_sizes", found),
            ("removal_by_source", found),
            ("threshold_sweep", sweep),
        ],
    ):
        assert getattr(lookalike.plot, function)(result, ax=ax) is ax and ax.has_data()
    assert plt.get_fignums() == [figure.number]
    with pytest.raises(OptionError, match="ax is for matplotlib"):
        lookalike.plot.group_sizes(found, backend="altair", ax=places[0])  # type: ignore[call-overload]


@pytest.mark.parametrize("backend", ["plotly", 1, ""])
def test_other_libraries_are_refused(backend: Any) -> None:
    with pytest.raises(OptionError, match="backend: expected 'matplotlib' or 'altair', got"):
        lookalike.plot.group_sizes(lookalike.find([]), backend=backend)


# Similarities.


def check_histogram(
    table: tables.SimilarityHistogram, similarities: list[float], first: int, steps: int
) -> None:
    """Asserts that the bins start at ``first / steps``, have a width of ``1 / steps``, and count
    each similarity once."""
    assert table.edges == tuple(n / steps for n in range(first, steps + 1))
    inside = Counter(math.floor(round(s * 1_000_000) * steps / 1_000_000) for s in similarities)
    assert table.equal == inside[steps] == similarities.count(1.0)
    assert list(table.counts) == [inside[n] for n in range(first, steps)]
    assert table.total == len(similarities)


def test_similarities_of_pairs_and_of_duplicates() -> None:
    for pairs in (False, True):
        found = lookalike.find(SIMILAR, threshold=0.7, pairs=pairs)
        source = found.pairs if pairs else found.groups
        similarities = [value for value in source["jaccard"] if value is not None]
        assert len(set(similarities)) > 3 and 1.0 not in similarities
        table = tables.similarity_histogram(found)
        assert (table.measure, table.threshold) == ("jaccard", 0.7)
        assert table.counted == ("verified pairs" if pairs else "duplicates")
        check_histogram(table, similarities, 70, 100)
        check_histogram(tables.similarity_histogram(found, bins=7), similarities, 4, 7)


def test_histogram_draws_pair_similarities() -> None:
    docs = {**SIMILAR, "same": SIMILAR["3"].upper()}
    found = lookalike.find(docs, threshold=0.7, pairs=True)
    table = tables.similarity_histogram(found)
    assert table.equal == 1
    drawn = axes("similarity_histogram", found)
    assert heights(drawn) == [list(table.counts), [1]]
    assert [bar.get_x() for bar in drawn.containers[0]] == pytest.approx(table.edges[:-1])
    assert drawn.containers[1][0].get_x() == 1.0
    assert [list(line.get_xdata()) for line in drawn.get_lines()] == [[0.7, 0.7]]
    assert (
        drawn.get_xlabel() == "jaccard similarity"
        and drawn.get_title() == f"{table.total} verified pairs; threshold 0.7"
    )
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == [
        "threshold 0.7",
        "1 equal",
    ]
    bars, rule = chart("similarity_histogram", found)["layer"]
    assert [row["count"] for row in values(bars)] == [*table.counts, 1]
    assert [row["from"] for row in values(bars)] == list(table.edges)
    assert values(rule) == [{"threshold": 0.7}]


def test_sample_histogram_spans_the_threshold() -> None:
    tuned = lookalike.tune(SIMILAR, threshold=0.9)
    table = tables.similarity_histogram(tuned)
    assert (
        min(tuned.similarities) < 0.9
        and table.counted == "pairs of the sample"
        and table.threshold == 0.9
    )
    check_histogram(table, tuned.similarities, round(min(tuned.similarities) * 100 - 0.5), 100)
    assert heights(axes("similarity_histogram", tuned)) == [list(table.counts), [table.equal]]


def test_containment_is_named() -> None:
    found = lookalike.find(SIMILAR, measure="containment")
    table = tables.similarity_histogram(found)
    assert table.measure == "containment" and table.equal == len(
        [v for v in found.groups["containment"] if v == 1]
    )
    assert axes("similarity_histogram", found).get_xlabel() == "containment similarity"


def test_histogram_separates_almost_equal_pairs() -> None:
    tuned = lookalike.tune(threshold=0.8)
    table = tables.similarity_histogram(SimpleTuned(tuned, [0.9999999, 1.0, 0.29, 0.8]))
    assert table.equal == 1 and table.counts[-1] == 1
    assert table.edges[0] == 0.25 and table.counts[0] == 1
    fine = tables.similarity_histogram(SimpleTuned(tuned, [0.29, 0.57, 0.58]), bins=100)
    assert [low for low, count in zip(fine.edges, fine.counts) if count] == [0.29, 0.57, 0.58]


def SimpleTuned(tuned: lookalike.TuneResult, similarities: list[float]) -> lookalike.TuneResult:
    import dataclasses

    return dataclasses.replace(tuned, similarities=similarities)


# The curve.


def test_unaudited_curve_shows_no_measurements() -> None:
    found = lookalike.find(SIMILAR, threshold=0.7)
    tuned = lookalike.tune(threshold=0.7)
    for result in (found, tuned):
        table = tables.s_curve(result)
        assert (
            list(table.probabilities) == tuned.curve(table.similarities)
            and len(table.similarities) == 201
        )
        assert (table.measured, table.overall, table.confidence) == ((), None, None)
        drawn = axes("s_curve", result)
        line, threshold = drawn.get_lines()
        assert list(line.get_xdata()) == list(table.similarities) and list(
            line.get_ydata()
        ) == list(table.probabilities)
        assert list(threshold.get_xdata()) == [0.7, 0.7] and not drawn.containers
        assert (
            drawn.get_title()
            == f"{table.bands} bands of {table.rows_per_band} rows: {table.predicted_recall:.4f} "
            "at 0.7"
        )
        layers = chart("s_curve", result)["layer"]
        assert [(row["similarity"], row["probability"]) for row in values(layers[0])] == list(
            zip(table.similarities, table.probabilities)
        )
        assert len(layers) == 2 and values(layers[1]) == [{"threshold": 0.7}]


def test_a_prediction_has_its_caveat() -> None:
    for result in (lookalike.find(SIMILAR, scheme="xor"), lookalike.tune(scheme="xor")):
        caveat = tables.s_curve(result).recall_caveat
        assert (
            caveat is not None
            and caveat == lookalike.find([], scheme="xor").parameters["recall_caveat"]
        )
        assert caveat in axes("s_curve", result).get_title().replace("\n", " ")
        assert caveat in " ".join(chart("s_curve", result)["title"])


def test_audited_curve_draws_measured_recall() -> None:
    # Few bands miss pairs, so the measured recall is below 1 in some ranges.
    docs = {
        f"{n}-{k}": " ".join(f"w{n}x{i}" for i in range(40 + 4 * k))
        for n in range(60)
        for k in range(3)
    }
    found = lookalike.find(docs, threshold=0.5, bands=2, rows=5, keep="first")
    audit = lookalike.audit(found, sample=100)
    ranges = [r for r in audit.details["ranges"] if r["recall"] is not None]
    assert 0 < len(ranges) < len(audit.details["ranges"]) and any(r["recall"] < 1 for r in ranges)
    table = tables.s_curve(found, audit)
    assert [
        (m.least, m.most, m.documents, m.found, m.recall, *m.interval) for m in table.measured
    ] == [
        (
            r["from"],
            r["to"],
            r["documents"],
            r["found"],
            r["recall"],
            r["interval"]["low"],
            r["interval"]["high"],
        )
        for r in ranges
    ]
    assert table.overall is not None and table.confidence == audit.confidence
    assert (table.overall.recall, table.overall.interval) == (audit.recall, audit.interval)
    drawn = axes("s_curve", found, audit)
    (points,) = drawn.containers
    line, _, (across, up) = points
    assert list(line.get_ydata()) == [r["recall"] for r in ranges]
    assert list(line.get_xdata()) == pytest.approx([(r["from"] + r["to"]) / 2 for r in ranges])
    for segment, r in zip(across.get_segments(), ranges):
        assert [x for x, _ in segment] == pytest.approx([r["from"], r["to"]])
    for segment, r in zip(up.get_segments(), ranges):
        assert [y for _, y in segment] == pytest.approx(
            [r["interval"]["low"], r["interval"]["high"]]
        )
    assert f"measured: {audit.recall:.4f} of all" in points.get_label()
    layers = chart("s_curve", found, audit)["layer"]
    assert len(layers) == 5
    for layer in layers[2:]:
        assert [(row["recall"], row["low"], row["high"]) for row in values(layer)] == [
            (r["recall"], r["interval"]["low"], r["interval"]["high"]) for r in ranges
        ]


@pytest.mark.parametrize(
    "docs", [["one two three four five six", "other words that are in no text"], []]
)
def test_audit_without_neighbours_measures_nothing(docs: list[str]) -> None:
    found = lookalike.find(docs)
    table = tables.s_curve(found, lookalike.audit(found))
    assert (table.measured, table.overall) == ((), None)
    assert not axes("s_curve", table).containers
    assert len(chart("s_curve", table)["layer"]) == 2


@pytest.mark.parametrize("options", [{"exact": True}, {"measure": "containment"}])
def test_unsigned_runs_have_flat_curves(options: dict[str, Any]) -> None:
    found = lookalike.find(SIMILAR, threshold=0.7, **options)
    audit = lookalike.audit(found)
    table = tables.s_curve(found, audit)
    assert (table.bands, table.rows_per_band, table.predicted_recall) == (None, None, 1.0)
    assert (table.similarities, table.probabilities) == ((0.7, 1.0), (1.0, 1.0))
    assert table.overall is not None and table.overall.recall == 1.0
    drawn = axes("s_curve", found, audit)
    assert drawn.get_title() == "every similar pair is compared" and len(drawn.containers) == 1
    assert chart("s_curve", found, audit)["title"][0] == "every similar pair is compared"


def test_curves_reject_foreign_audits() -> None:
    found = lookalike.find(SIMILAR, threshold=0.7)
    with pytest.raises(OptionError, match="a run with threshold 0.7 and .*, got one with 0.8"):
        lookalike.plot.s_curve(found, lookalike.audit(lookalike.find(SIMILAR)))
    with pytest.raises(OptionError, match="audit: expected a result of lookalike.audit, got 0.9"):
        lookalike.plot.s_curve(found, 0.9)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="audit belongs to a result, and this is a table"):
        lookalike.plot.s_curve(tables.s_curve(found), lookalike.audit(found))


# Groups.


def check_sizes(found: lookalike.FindResult) -> tables.GroupSizes:
    table = tables.group_sizes(found)
    sizes = [len(group) for group in found]
    for step in table.steps:
        inside = [size for size in sizes if step.least <= size <= step.most]
        assert (step.groups, step.documents) == (len(inside), sum(inside))
    assert table.groups == len(sizes) == len(found)
    return table


def test_groups_by_size() -> None:
    docs = [
        f"{n} one two three four five six"
        for n, size in enumerate([2, 2, 3, 5, 8, 9, 40])
        for _ in range(size)
    ]
    found = lookalike.find(docs)
    table = check_sizes(found)
    assert [(step.label, step.groups) for step in table.steps] == [
        ("2", 2), ("3", 1), ("4", 0), ("5 to 8", 2), ("9 to 16", 1), ("17 to 32", 0), ("33 to 64", 1)
    ]  # fmt: skip
    drawn = axes("group_sizes", found)
    assert heights(drawn) == [[2, 1, 0, 2, 1, 0, 1]] and drawn.get_title() == "7 groups"
    assert [label.get_text() for label in drawn.get_xticklabels()] == [
        step.label for step in table.steps
    ]
    assert values(chart("group_sizes", found)) == table.rows()


def test_group_sizes_draw_one_group() -> None:
    found = lookalike.find(
        {"ключ": "one two three four five six", "鍵": "One two three four five six"}
    )
    assert [(step.label, step.groups) for step in check_sizes(found).steps] == [("2", 1)]
    assert heights(axes("group_sizes", found)) == [[1]]


# Sources.

SITES = [
    {"text": f"{n // 2} one two three four five six", "site": site}
    for n, site in enumerate(
        ["$a$ and $b$", "новости", "\u202egpj\n", "новости", "x" * 90, "$a$ and $b$"]
    )
]


def test_removal_by_source() -> None:
    found = lookalike.find(SITES, source_field="site", keep="first")
    removed = Counter(doc["site"] for doc, is_kept in zip(SITES, found.is_kept) if not is_kept)
    totals = Counter(doc["site"] for doc in SITES)
    table = tables.removal_by_source(found)
    assert {each.source: (each.total, each.removed) for each in table.sources} == {
        site: (totals[site], removed[site]) for site in totals
    }
    assert [each.removed for each in table.sources] == sorted(removed.values(), reverse=True) + [
        0
    ] * 2
    assert (table.left_out, table.by) == (0, "documents")
    drawn = axes("removal_by_source", found)
    removed_bars, kept = drawn.containers
    assert [bar.get_width() for bar in removed_bars] == [each.removed for each in table.sources]
    assert [(bar.get_x(), bar.get_width()) for bar in kept] == [
        (each.removed, each.kept) for each in table.sources
    ]
    labels = [label.get_text() for label in drawn.get_yticklabels()]
    assert (
        labels[:2] == ["новости", "$a$ and $b$"]
        and "\\u202egpj\\n" in labels
        and "x" * 47 + "…" in labels
    )
    description = chart("removal_by_source", found)
    assert [(row["source"], row["of"], row["count"]) for row in values(description)] == [
        (each.source, part, getattr(each, part))
        for each in table.sources
        for part in ("removed", "kept")
    ]
    expression = description["encoding"]["y"]["axis"]["labelExpr"]
    assert json.loads(expression.removesuffix("[datum.value]")) == [
        f"{label}  {each.share:.1%}" for label, each in zip(labels, table.sources)
    ]


def test_removal_chart_limits_shown_sources() -> None:
    found = lookalike.find(SITES, source_field="site", keep="first")
    table = tables.removal_by_source(found, by="bytes", most=1)
    size = len(SITES[1]["text"])
    assert [(s.source, s.total, s.removed, s.share) for s in table.sources] == [
        ("новости", 2 * size, 2 * size, 1.0)
    ]
    assert table.left_out == 3
    assert (
        axes("removal_by_source", table).get_xlabel()
        == "bytes; 3 further sources with less removed are not shown"
    )


def test_reference_sources_have_separate_bars() -> None:
    docs = [{"text": "one two three four five six", "site": "one"}]
    found = lookalike.find(docs, reference=docs, source_field="site")
    table = tables.removal_by_source(found)
    assert [(s.label, s.total, s.removed) for s in table.sources] == [
        ("one", 1, 1),
        ("one (reference)", 1, 0),
    ]
    assert len(axes("removal_by_source", found).containers[0]) == 2
    assert {row["place"] for row in values(chart("removal_by_source", found))} == {0, 1}


def test_removal_of_passages(tmp_path: Path) -> None:
    for name, end in (("a", "one"), ("b", "two")):
        line = {"id": name, "text": f"this is a passage of many words and this {end}"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    written = lookalike.cut_files(paths, output=tmp_path / "out", min_words=4)
    table = tables.removal_by_source(written, by="words")
    assert [s.removed for s in table.sources] == sorted(written.sources["cut_words"], reverse=True)
    assert table.sources[0].removed == 9 and table.by == "words"
    with pytest.raises(OptionError, match="by: expected 'documents' or 'words', got 'bytes'"):
        tables.removal_by_source(written, by="bytes")


def test_removal_on_a_cluster() -> None:
    from lookalike._divided.find_result import DividedFindResult

    found = lookalike.find(SITES, source_field="site")
    run: Any = SimpleNamespace(sums=SimpleNamespace(sources=found.sources.to_pylist()))
    on_cluster = DividedFindResult[Any, Any](run)
    assert tables.removal_by_source(on_cluster) == tables.removal_by_source(found)


def test_removal_needs_sources(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("one text", encoding="utf-8")
    with pytest.raises(OptionError, match="expected a result of lookalike.find"):
        tables.removal_by_source(lookalike.dedup_files(path, output=tmp_path / "whole.txt"))


def test_sources_equal_report_sources(tmp_path: Path) -> None:
    found = lookalike.find(SITES, reference=SITES[:1], source_field="site")
    found.write_report(tmp_path / "r.json")
    reported = json.loads((tmp_path / "r.json").read_text())["sources"]
    assert [{"name": row.pop("source"), **row} for row in found.sources] == reported
    assert found.sources.column_types == ["string", "bool", "uint64", "uint64", "uint64", "uint64"]


# Thresholds.


def test_threshold_sweep_equals_separate_runs() -> None:
    thresholds = [0.9, 0.5, 1.0]
    sweep = tables.threshold_sweep(SIMILAR, thresholds, sample=5, shingle="words:3", audit_seed=7)
    for step, threshold in zip(sweep.steps, sorted(thresholds), strict=True):
        found = lookalike.find(SIMILAR, threshold=threshold, shingle="words:3")
        audit = lookalike.audit(found, sample=5, seed=7)
        assert (step.threshold, step.groups, step.duplicates) == (
            threshold,
            len(found),
            found.counts["duplicates"],
        )
        assert (step.recall, step.interval) == (
            audit.recall,
            audit.interval if audit.recall is not None else None,
        )
    assert [step.recall is None for step in sweep.steps] == [False, False, True]
    drawn = axes("threshold_sweep", sweep)
    duplicates, groups = drawn.get_lines()
    for line, name in ((duplicates, "duplicates"), (groups, "groups")):
        assert list(line.get_xdata()) == [0.5, 0.9, 1.0] and line.get_label() == name
        assert list(line.get_ydata()) == [getattr(step, name) for step in sweep.steps]
    measured = sweep.measured()
    assert [row["threshold"] for row in measured] == [0.5, 0.9]
    left, right = drawn.figure.axes
    assert left is drawn
    (bars,) = right.containers
    line, _, (ends,) = bars
    assert list(line.get_xdata()) == [0.5, 0.9] and list(line.get_ydata()) == [
        row["recall"] for row in measured
    ]
    assert [[y for _, y in segment] for segment in ends.get_segments()] == [
        pytest.approx([row["low"], row["high"]]) for row in measured
    ]
    lines, recall = chart("threshold_sweep", sweep)["layer"]
    assert [(row["threshold"], row["of"], row["count"]) for row in values(lines)] == [
        (step.threshold, of, getattr(step, of))
        for step in sweep.steps
        for of in ("duplicates", "groups")
    ]
    assert values(recall) == measured
    fields = [layer["encoding"]["y"]["field"] for layer in recall["layer"]]
    assert fields == ["recall", "low"] and recall["layer"][1]["encoding"]["y2"]["field"] == "high"


def test_unmeasured_recall_is_not_drawn() -> None:
    for sweep in (
        tables.threshold_sweep(SIMILAR, [0.5]),
        tables.threshold_sweep(["a", "b"], [0.5], sample=2),
    ):
        assert sweep.measured() == []
        assert len(axes("threshold_sweep", sweep).figure.axes) == 1
        assert len(chart("threshold_sweep", sweep)["layer"]) == 1


@pytest.mark.parametrize(
    "options", [{"exact": True}, {"measure": "containment"}, {"bands": "auto"}]
)
def test_other_runs_are_swept(options: dict[str, Any]) -> None:
    sweep = (
        tables.threshold_sweep(SIMILAR, [1e-6, 1.0], sample=8, **options)
        if "bands" not in options
        else (tables.threshold_sweep(SIMILAR, [0.3, 1.0], sample=8, **options))
    )
    assert sweep.steps[0].recall == 1.0 and sweep.documents == 8
    axes("threshold_sweep", sweep)


def test_invalid_sweeps_are_errors(tmp_path: Path) -> None:
    for thresholds, message in (
        ([0.0], "numbers above 0, at most 1, got 0.0"),
        ([0.5, 1.5], "numbers above 0, at most 1, got 1.5"),
        ([float("nan")], "numbers above 0, at most 1, got nan"),
        ([0.5, 0.5], "expected different numbers, got 0.5 twice"),
        (["x"], "thresholds: expected a number, got 'x'"),
        ("0.5", "a list of numbers above 0, at most 1, got '0.5'"),
        ([], "expected one or more, got none"),
    ):
        with pytest.raises(OptionError, match=message):
            tables.threshold_sweep(SIMILAR, thresholds)  # type: ignore[arg-type]
    with pytest.raises(
        DocumentTypeError, match="docs: .* got generator, which can be read once; use a list"
    ):
        tables.threshold_sweep((text for text in SIMILAR.values()), [0.5])
    with pytest.raises(DocumentTypeError, match="reference: .* got list_iterator"):
        tables.threshold_sweep(SIMILAR, [0.5], reference=iter(["a"]))
    runs = [(lookalike.find(["a"] * n, threshold=t), None) for n, t in ((1, 0.5), (2, 0.6))]
    with pytest.raises(
        ChangedError, match="docs had 1 documents in the first run and 2 in a later one"
    ):
        tables.ThresholdSweep.of_runs(runs)
    with pytest.raises(
        OptionError, match="sweep: expected a result of lookalike.plot.tables.threshold_sweep, got"
    ):
        lookalike.plot.threshold_sweep(SIMILAR)  # type: ignore[call-overload]


# Styles.


def luminance(colour: Any) -> float:
    """Returns the relative luminance by WCAG 2.1 of any colour that matplotlib accepts."""
    from matplotlib.colors import to_rgb

    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts))


def contrast(colour: Any, other: Any) -> float:
    light, dark = sorted((luminance(colour), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture(scope="module")
def pictures() -> list[tuple[Any, ...]]:
    """All functions, with arguments for which they draw all their marks."""
    docs = [{"id": id_, "text": text, "site": id_[-1]} for id_, text in SIMILAR.items()]
    docs.append({"id": "same", "text": SIMILAR["3"].upper(), "site": "copies"})
    found = lookalike.find(docs, threshold=0.7, pairs=True, source_field="site")
    sweep = tables.threshold_sweep(docs, [0.5, 0.9], sample=8)
    return [
        ("similarity_histogram", found),
        ("s_curve", found, lookalike.audit(found)),
        ("group_sizes", found),
        ("removal_by_source", found),
        ("threshold_sweep", sweep),
    ]


DARK_AXES = {
    "figure.facecolor": "#202124",
    "axes.facecolor": "none",
    "text.color": "#e8eaed",
    "axes.labelcolor": "#e8eaed",
    "xtick.color": "#e8eaed",
    "ytick.color": "#e8eaed",
}
ONE_COLOUR = {"axes.prop_cycle": "cycler(color=['#303030'])", "axes.facecolor": "#262626"}


@pytest.mark.parametrize(
    "style",
    [
        "default",
        "dark_background",
        "seaborn-v0_8-dark",
        "ggplot",
        "grayscale",
        DARK_AXES,
        [DARK_AXES, ONE_COLOUR],
    ],
    ids=str,
)
def test_matplotlib_styles_preserve_contrast(style: Any, pictures: list[tuple[Any, ...]]) -> None:
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import to_hex

    with plt.style.context(style):
        for function, *args in pictures:
            drawn = axes(function, *args)
            fill = drawn.get_facecolor()
            ground = fill if fill[3] else drawn.figure.get_facecolor()
            marks = {
                to_hex(bar.get_facecolor()) for bars in drawn.containers for bar in bars_of(bars)
            }
            for each in drawn.figure.axes:
                marks |= {to_hex(line.get_color()) for line in each.get_lines()}
                marks |= {to_hex(ends) for lines in each.collections for ends in lines.get_colors()}
            assert marks and all(contrast(mark, ground) >= 3 for mark in marks), (function, marks)
            for text in drawn.texts:
                assert contrast(text.get_color(), ground) >= 4.5, text
            grid = [*drawn.get_xgridlines(), *drawn.get_ygridlines()]
            grid_colours = [line.get_color() for line in grid if line.get_visible()]
            assert grid_colours and all(contrast(line, ground) < 2 for line in grid_colours)
        # Removed and kept documents differ in every style.
        removed, kept = (bars[0].get_facecolor() for bars in axes(*pictures[3]).containers)
        assert max(abs(a - b) for a, b in zip(removed, kept)) > 0.1


def bars_of(container: Any) -> list[Any]:
    """Returns the bars of a container, without its intervals."""
    return [each for each in container if hasattr(each, "get_facecolor")]


def test_marks_use_style_colours(pictures: list[tuple[Any, ...]]) -> None:
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import to_hex

    cycle = ["#005500", "#770000", "#000077"]
    with plt.style.context({"axes.prop_cycle": f"cycler(color={cycle})", "text.color": "#333300"}):
        histogram = axes(*pictures[0])
        colours = [to_hex(bars[0].get_facecolor()) for bars in histogram.containers]
        (threshold,) = histogram.get_lines()
        assert [colours[0], to_hex(threshold.get_color()), colours[1]] == cycle
        shares = axes(*pictures[3])
        assert {to_hex(text.get_color()) for text in shares.texts} == {"#333300"}


def test_legend_entries_have_labels(pictures: list[tuple[Any, ...]]) -> None:
    expected = {
        "similarity_histogram": ["threshold 0.7", "1 equal"],
        "s_curve": ["predicted", "threshold 0.7", "measured"],
        "removal_by_source": ["removed", "kept"],
        "threshold_sweep": ["duplicates", "groups", "measured recall"],
    }
    labels_by_function = {}
    for function, *args in pictures:
        if legend := axes(function, *args).get_legend():
            labels = [text.get_text().partition(":")[0] for text in legend.get_texts()]
            assert len(labels) == len(legend.legend_handles)
            labels_by_function[function] = labels
    assert labels_by_function == expected


def test_single_entries_omit_the_legend() -> None:
    # The first result has no equal pair, and the second has no removed document.
    for function, docs in (("similarity_histogram", SIMILAR), ("removal_by_source", ["a", "b"])):
        found = lookalike.find(docs, threshold=0.7)
        assert axes(function, found).get_legend() is None
    histogram = axes("similarity_histogram", lookalike.find(SIMILAR, threshold=0.7))
    assert histogram.get_title().endswith("; threshold 0.7")
    specification = chart("removal_by_source", lookalike.find(["a", "b"]))
    assert specification["encoding"]["color"]["legend"] is None


def colour_channels(specification: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the colour channel of each layer."""
    layers = specification.get("layer")
    if layers is None:
        yield specification["encoding"]["color"]
    for layer in layers or []:
        yield from colour_channels(layer)


def test_charts_have_legends_of_their_marks(pictures: list[tuple[Any, ...]]) -> None:
    expected = {
        "similarity_histogram": ["below 1", "equal", "threshold"],
        "s_curve": ["predicted", "threshold", "measured"],
        "removal_by_source": ["removed", "kept"],
        "threshold_sweep": ["duplicates", "groups", "measured"],
    }
    scales = []
    for function, *args in pictures:
        if function not in expected:
            continue
        for colour in colour_channels(chart(function, *args)):
            assert colour["legend"]["values"] == expected[function]
            scales.append(colour["scale"])
    # Combined charts share a colour scale, so each chart must have the same scale.
    assert all(scale == scales[0] for scale in scales)
    assert {name for names in expected.values() for name in names} == set(scales[0]["domain"])
    unlike = tables.similarity_histogram(lookalike.find(SIMILAR, threshold=0.7))
    (colour, _) = colour_channels(chart("similarity_histogram", unlike))
    assert colour["legend"]["values"] == ["below 1", "threshold"]


@pytest.mark.parametrize("background", ["white", "#e5e5e5", "#333333", "#161616", "black"])
def test_altair_themes_preserve_contrast(background: str, pictures: list[tuple[Any, ...]]) -> None:
    pytest.importorskip("matplotlib")
    for function, *args in pictures:
        specification = chart(function, *args)
        # No mark has the default black of Vega, which is invisible on a dark theme.
        colours = (
            {specification["mark"]["color"]}
            if function == "group_sizes"
            else {c for each in colour_channels(specification) for c in each["scale"]["range"]}
        )
        assert all(contrast(colour, background) >= 3 for colour in colours)


def test_charts_show_the_shares(pictures: list[tuple[Any, ...]]) -> None:
    (_, found) = pictures[3]
    table = tables.removal_by_source(found)
    specification = chart("removal_by_source", found)
    labels = specification["encoding"]["y"]["axis"]["labelExpr"]
    shares = [f"{each.label}  {each.share:.1%}" for each in table.sources]
    assert labels == f"{json.dumps(shares)}[datum.value]" and "100.0%" in labels
    drawn = [text.get_text() for text in axes("removal_by_source", found).texts]
    assert drawn == [f"{each.share:.1%}" for each in table.sources]


# All functions.


@pytest.mark.parametrize(
    "options", [{}, {"exact": True}, {"threshold": 1.0}, {"threshold": 1e-9, "exact": True}]
)
@pytest.mark.parametrize(
    "docs", [[], ["alone"], ["", ""], FAMILIES], ids=["none", "one", "empty", "many"]
)
def test_every_result_is_drawn(docs: Any, options: dict[str, Any]) -> None:
    found = lookalike.find(docs, pairs=True, **options)
    audit = lookalike.audit(found)
    for function, *args in (
        ("similarity_histogram", found),
        ("s_curve", found, audit),
        ("group_sizes", found),
        ("removal_by_source", found),
        ("threshold_sweep", tables.threshold_sweep(docs, [1.0], sample=10)),
    ):
        axes(function, *args)
        chart(function, *args)


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_handmade_tables_can_be_drawn(threshold: float) -> None:
    """A table that a caller creates may have the threshold 0, which no run has."""
    histogram = tables.SimilarityHistogram(
        "jaccard", threshold, "duplicates", (0.0, 0.5, 1.0), (0, 0), 0
    )
    curve = tables.SCurve(threshold, 1.0, 1, 1, (0.0, 1.0), (0.0, 1.0))
    step = tables.SweepStep(threshold, 0, 0, 0.0, (0.0, 1.0))
    for function, table in (
        ("similarity_histogram", histogram),
        ("s_curve", curve),
        ("group_sizes", tables.GroupSizes(())),
        (
            "removal_by_source",
            tables.RemovalBySource("documents", (tables.SourceRemoval("", False, 0, 0),), 0),
        ),
        ("threshold_sweep", tables.ThresholdSweep(0, (step,))),
    ):
        axes(function, table)
        chart(function, table)
    assert tables.similarity_histogram(histogram) is histogram
    with pytest.raises(OptionError, match="bins belongs to a result, and this is a table"):
        lookalike.plot.similarity_histogram(histogram, bins=10)
    with pytest.raises(OptionError, match="most belongs to a result"):
        lookalike.plot.removal_by_source(tables.RemovalBySource("documents", (), 0), most=1)


@pytest.mark.parametrize(
    "function", ["similarity_histogram", "s_curve", "group_sizes", "removal_by_source"]
)
@pytest.mark.parametrize("result", [None, [], {"a": "b"}, 3])
def test_plots_reject_other_objects(function: str, result: Any) -> None:
    with pytest.raises(OptionError, match="result: expected a result of lookalike.find"):
        getattr(lookalike.plot, function)(result)


@pytest.mark.parametrize("bins", [0, 1_001, 2.5, True, "10"])
def test_bins_are_whole_numbers(bins: Any) -> None:
    with pytest.raises(OptionError, match="bins: expected a whole number from 1 to"):
        lookalike.plot.similarity_histogram(lookalike.find([]), bins=bins)


CODE = """
from typing import Any

from altair import Chart, LayerChart
from matplotlib.axes import Axes
from typing_extensions import assert_type

import lookalike
import lookalike.plot


def of(found: lookalike.FindResult, ax: Axes) -> None:
    assert_type(lookalike.plot.group_sizes(found, backend="matplotlib"), Axes)
    assert_type(lookalike.plot.s_curve(found, backend="matplotlib", ax=ax), Axes)
    assert_type(lookalike.plot.removal_by_source(found, by="bytes", backend="altair"), Chart)
    assert_type(lookalike.plot.similarity_histogram(found, backend="altair"), LayerChart)
    assert_type(lookalike.plot.s_curve(found), Any)
    assert_type(lookalike.plot.tables.group_sizes(found).rows(), list[dict[str, Any]])
"""


def test_plot_functions_return_typed_objects(
    check_types: Callable[[Path], None], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("altair")
    (tmp_path / "uses.py").write_text(CODE)
    check_types(tmp_path / "uses.py")
