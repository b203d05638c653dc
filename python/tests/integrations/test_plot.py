"""Pictures of results: what is drawn is what the results say, by both libraries."""

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
#: Groups of three with copies that are equal, and others.
FAMILIES = {f"{kind}-{n}": text for n, text in enumerate(texts(30)) for kind in ("ä", "語")}
SIMILAR = {f"{n}": " ".join(f"w{i}" for i in range(60 - n)) for n in range(8)}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Figures end with the test that made them."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def axes(function: str, *args: Any, **options: Any) -> Any:
    """What matplotlib draws, without a window."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("agg")
    drawn = getattr(lookalike.plot, function)(*args, backend="matplotlib", **options)
    # A picture is made of it without an error or a warning.
    drawn.figure.canvas.draw()
    return drawn


def chart(function: str, *args: Any, **options: Any) -> dict[str, Any]:
    """The specification of a chart, which altair has checked."""
    pytest.importorskip("altair", reason="altair is not installed")
    made = getattr(lookalike.plot, function)(*args, backend="altair", **options).to_dict()
    assert isinstance(made, dict) and json.dumps(made, allow_nan=False)
    return made


def values(specification: dict[str, Any]) -> list[dict[str, Any]]:
    """The data of a chart, or of a layer."""
    found: list[dict[str, Any]] = specification["data"]["values"]
    return found


def heights(ax: Any) -> list[list[float]]:
    """Of each set of bars, their lengths."""
    return [[bar.get_height() for bar in bars] for bars in ax.containers]


# Libraries.


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_neither_library_is_imported_for_results_and_tables() -> None:
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
    """Lets libraries be as if they were not installed."""
    for library in libraries:
        monkeypatch.setitem(sys.modules, library, None)
        monkeypatch.delitem(sys.modules, f"lookalike.plot._{library}", raising=False)


def test_a_library_that_is_missing_is_named_with_its_command(
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


def test_the_library_that_is_installed_draws(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """Steps are from ``first`` of ``steps`` on, and each similarity is in its own."""
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


def test_similarities_that_are_drawn() -> None:
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
        and drawn.get_title() == f"{table.total} verified pairs"
    )
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == [
        "threshold 0.7",
        "1 equal",
    ]
    bars, rule = chart("similarity_histogram", found)["layer"]
    assert [row["count"] for row in values(bars)] == [*table.counts, 1]
    assert [row["from"] for row in values(bars)] == list(table.edges)
    assert values(rule) == [{"threshold": 0.7}]


def test_similarities_of_a_sample_are_on_both_sides_of_the_threshold() -> None:
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


def test_what_rounds_to_one_is_below_it() -> None:
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


def test_the_curve_without_an_audit_says_nothing_measured() -> None:
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


def test_recall_is_drawn_where_it_was_measured() -> None:
    # Few bands miss pairs, so that recall is not 1 everywhere.
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
def test_an_audit_without_neighbours_measures_nothing(docs: list[str]) -> None:
    found = lookalike.find(docs)
    table = tables.s_curve(found, lookalike.audit(found))
    assert (table.measured, table.overall) == ((), None)
    assert not axes("s_curve", table).containers
    assert len(chart("s_curve", table)["layer"]) == 2


@pytest.mark.parametrize("options", [{"exact": True}, {"measure": "containment"}])
def test_runs_without_signatures_have_no_curve_below_the_threshold(options: dict[str, Any]) -> None:
    found = lookalike.find(SIMILAR, threshold=0.7, **options)
    audit = lookalike.audit(found)
    table = tables.s_curve(found, audit)
    assert (table.bands, table.rows_per_band, table.predicted_recall) == (None, None, 1.0)
    assert (table.similarities, table.probabilities) == ((0.7, 1.0), (1.0, 1.0))
    assert table.overall is not None and table.overall.recall == 1.0
    drawn = axes("s_curve", found, audit)
    assert drawn.get_title() == "every similar pair is compared" and len(drawn.containers) == 1
    assert chart("s_curve", found, audit)["title"][0] == "every similar pair is compared"


def test_an_audit_of_another_run_is_refused() -> None:
    found = lookalike.find(SIMILAR, threshold=0.7)
    with pytest.raises(OptionError, match="a run with threshold 0.7 and .*, got one with 0.8"):
        lookalike.plot.s_curve(found, lookalike.audit(lookalike.find(SIMILAR)))
    with pytest.raises(OptionError, match="audit: expected what lookalike.audit gave, got 0.9"):
        lookalike.plot.s_curve(found, 0.9)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="audit belongs to a result, and a table is given"):
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


def test_one_group() -> None:
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
    removed = Counter(doc["site"] for doc, stays in zip(SITES, found.is_kept) if not stays)
    there = Counter(doc["site"] for doc in SITES)
    table = tables.removal_by_source(found)
    assert {each.source: (each.total, each.removed) for each in table.sources} == {
        site: (there[site], removed[site]) for site in there
    }
    assert [each.removed for each in table.sources] == sorted(removed.values(), reverse=True) + [
        0
    ] * 2
    assert (table.left_out, table.by) == (0, "documents")
    drawn = axes("removal_by_source", found)
    gone, kept = drawn.containers
    assert [bar.get_width() for bar in gone] == [each.removed for each in table.sources]
    assert [(bar.get_x(), bar.get_width()) for bar in kept] == [
        (each.removed, each.kept) for each in table.sources
    ]
    labels = [label.get_text() for label in drawn.get_yticklabels()]
    assert (
        labels[:2] == ["новости", "$a$ and $b$"]
        and "\\u202egpj\\n" in labels
        and "x" * 47 + "…" in labels
    )
    made = chart("removal_by_source", found)
    assert [(row["source"], row["part"], row["count"]) for row in values(made)] == [
        (each.source, part, getattr(each, part))
        for each in table.sources
        for part in ("removed", "kept")
    ]
    expression = made["encoding"]["y"]["axis"]["labelExpr"]
    assert json.loads(expression.removesuffix("[datum.value]")) == labels


def test_removal_by_bytes_and_of_the_most() -> None:
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


def test_a_reference_has_a_bar_of_its_own() -> None:
    docs = [{"text": "one two three four five six", "site": "one"}]
    found = lookalike.find(docs, reference=docs, source_field="site")
    table = tables.removal_by_source(found)
    assert [(s.label, s.total, s.removed) for s in table.sources] == [
        ("one", 1, 1),
        ("one (reference)", 1, 0),
    ]
    assert len(axes("removal_by_source", found).containers[0]) == 2
    assert {row["place"] for row in values(chart("removal_by_source", found))} == {0, 1}


def test_removal_of_passages_and_on_a_cluster(tmp_path: Path) -> None:
    for name, end in (("a", "one"), ("b", "two")):
        line = {"id": name, "text": f"this is a passage of many words and this {end}"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    written = lookalike.cut_files(paths, output=tmp_path / "out", min_words=4)
    table = tables.removal_by_source(written, by="words")
    assert written.sources is not None
    assert [s.removed for s in table.sources] == sorted(written.sources["cut_words"], reverse=True)
    assert table.sources[0].removed == 9 and table.by == "words"
    with pytest.raises(OptionError, match="by: expected 'documents' or 'words', got 'bytes'"):
        tables.removal_by_source(written, by="bytes")
    found = lookalike.find_files(paths)
    on_cluster: Any = SimpleNamespace(sources=found.sources.to_pylist(), counts=found.counts)
    assert tables.removal_by_source(on_cluster) == tables.removal_by_source(found)
    with pytest.raises(
        OptionError, match="expected what lookalike.find or lookalike.cut_files returned"
    ):
        tables.removal_by_source(lookalike.dedup_files(paths, output=tmp_path / "whole"))


def test_sources_are_those_of_the_report(tmp_path: Path) -> None:
    found = lookalike.find(SITES, reference=SITES[:1], source_field="site")
    found.write_report(tmp_path / "r.json")
    reported = json.loads((tmp_path / "r.json").read_text())["sources"]
    assert [{"name": row.pop("source"), **row} for row in found.sources] == reported
    assert found.sources.column_types == ["string", "bool", "uint64", "uint64", "uint64", "uint64"]


# Thresholds.


def test_a_sweep_is_that_of_its_runs() -> None:
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


def test_recall_that_was_not_measured_is_not_drawn() -> None:
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


def test_what_cannot_be_swept_is_refused(tmp_path: Path) -> None:
    for thresholds, message in (
        ([0.0], "numbers above 0, at most 1, got 0.0"),
        ([0.5, 1.5], "numbers above 0, at most 1, got 1.5"),
        ([float("nan")], "numbers above 0, at most 1, got nan"),
        ([0.5, 0.5], "expected different ones, got 0.5 twice"),
        (["x"], "thresholds: expected a number, got 'x'"),
        ("0.5", "a list of numbers above 0, at most 1, got '0.5'"),
        ([], "expected one or more, got none"),
    ):
        with pytest.raises(OptionError, match=message):
            tables.threshold_sweep(SIMILAR, thresholds)  # type: ignore[arg-type]
    with pytest.raises(
        DocumentTypeError, match="docs: .* got generator, which can be read once; give a list"
    ):
        tables.threshold_sweep((text for text in SIMILAR.values()), [0.5])
    with pytest.raises(DocumentTypeError, match="reference: .* got list_iterator"):
        tables.threshold_sweep(SIMILAR, [0.5], reference=iter(["a"]))
    runs = [(lookalike.find(["a"] * n, threshold=t), None) for n, t in ((1, 0.5), (2, 0.6))]
    with pytest.raises(
        ChangedError, match="docs gave 1 documents, and 2 when they were read again"
    ):
        tables.ThresholdSweep.of_runs(runs)
    with pytest.raises(
        OptionError, match="sweep: expected what lookalike.plot.tables.threshold_sweep gave, got"
    ):
        lookalike.plot.threshold_sweep(SIMILAR)  # type: ignore[call-overload]


# All of them.


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
def test_tables_put_together_by_hand_are_drawn(threshold: float) -> None:
    """A table of ours may have the threshold 0, which no run has."""
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
    with pytest.raises(OptionError, match="bins belongs to a result, and a table is given"):
        lookalike.plot.similarity_histogram(histogram, bins=10)
    with pytest.raises(OptionError, match="most belongs to a result"):
        lookalike.plot.removal_by_source(tables.RemovalBySource("documents", (), 0), most=1)


@pytest.mark.parametrize(
    "function", ["similarity_histogram", "s_curve", "group_sizes", "removal_by_source"]
)
@pytest.mark.parametrize("result", [None, [], {"a": "b"}, 3])
def test_what_is_no_result_is_refused(function: str, result: Any) -> None:
    with pytest.raises(OptionError, match="result: expected what lookalike.find"):
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


def test_a_function_has_the_type_of_its_library(
    check_types: Callable[[Path], None], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("altair")
    (tmp_path / "uses.py").write_text(CODE)
    check_types(tmp_path / "uses.py")
