"""Results in a notebook: the HTML page of a run, and two texts with their differences marked."""

from __future__ import annotations

import copy
import html
import pickle
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import lookalike

A, B = "The price is 5 euros for all of them", "the price is 7 euros for all of them, today"


def page(markup: str | None) -> str:
    """Returns the page in the frame."""
    assert markup is not None
    frame = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" title="[^"<]*" style="[^"]*" loading="lazy"></iframe>', markup
    )
    assert frame is not None
    return html.unescape(frame[1])


def sides(markup: str | None) -> list[str]:
    """Returns both texts with their markup."""
    return re.findall(r'<p class="side" dir="auto">(.*?)</p>', page(markup), re.DOTALL)


def test_notebook_differences_match_report_page(tmp_path: Path) -> None:
    found = lookalike.find({"a": A, "b": B}, threshold=0.1, shingle="bag", keep="first")
    found.write_report(tmp_path / "page.html")
    in_page = re.findall(
        r'<p class="side" dir="auto">(.*?)</p>', (tmp_path / "page.html").read_text(), re.DOTALL
    )
    # The page shows the pair twice: in its group and among the samples.
    of_run = in_page[:2]
    assert in_page == of_run * 2
    explained = found.explain("a", "b")
    assert sides(explained._repr_html_()) == of_run
    assert (
        '<del class="same-words">The</del> price is <del class="changed">5</del> euros' in of_run[0]
    )
    assert (
        '<ins class="same-words">the</ins> price is <ins class="changed">7</ins> euros' in of_run[1]
    )
    markup = page(explained._repr_html_())
    assert html.escape(explained.reason) in markup or explained.reason in html.unescape(markup)
    assert "<bdi>a</bdi>" in markup and "<bdi>b</bdi>" in markup
    style = re.search(r"<style>(.*?)</style>", (tmp_path / "page.html").read_text(), re.DOTALL)
    assert style is not None and style[1] in markup


def test_comparison_marks_follow_case_option() -> None:
    for case, marked in (
        ("fold", '<del class="same-words">The</del>'),
        ("keep", '<del class="changed">The</del>'),
    ):
        compared = lookalike.compare(A, B, differences=True, case=case)  # type: ignore[arg-type]
        left, right = sides(compared._repr_html_())
        assert marked in left and "First text" in page(compared._repr_html_())
        for side, text in ((left, A), (right, B)):
            assert html.unescape(re.sub(r"<[^>]+>", "", side)) == text
    assert f"Jaccard similarity {compared.jaccard:.6f}" in page(compared._repr_html_())


def test_texts_are_shown_as_text() -> None:
    compared = lookalike.compare(
        "<script>alert(1)</script> one", "\u202e<b>two\x1b one", differences=True
    )
    markup = page(compared._repr_html_())
    assert "<script" not in markup and "&lt;script&gt;" in markup
    assert "\\u{202e}" in markup and "\\u{1b}" in markup and "\u202e" not in markup
    ids = lookalike.find(
        {"<i>&": "one two three four five", "語": "one two three four six"}
    ).explain("<i>&", "語")
    assert "<bdi>&lt;i&gt;&amp;</bdi>" in page(ids._repr_html_()) and "<bdi>語</bdi>" in page(
        ids._repr_html_()
    )


def test_comparison_without_differences_has_no_page() -> None:
    assert lookalike.compare(A, B)._repr_html_() is None
    explained = lookalike.find(["", ""]).explain(0, 1)
    assert sides(explained._repr_html_()) == []


def test_comparisons_survive_pickling_and_copying() -> None:
    compared = lookalike.compare(A, B, differences=True)
    assert "_options" not in repr(compared)
    assert compared == lookalike.compare(A, B, differences=True, case="fold")
    assert pickle.loads(pickle.dumps(compared)) == copy.deepcopy(compared) == compared
    assert hash(compared) == hash(copy.copy(compared))


def test_large_texts_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike._results.notebook._MOST", 1_000)
    markup = lookalike.compare(A, B, differences=True)._repr_html_()
    assert markup is not None and markup.startswith("<pre>Not similar: ") and "too long" in markup


def test_contamination_is_shown_as_its_page(tmp_path: Path) -> None:
    found = lookalike.contamination([f"he wrote {A}"], [A], ngram=5)
    found.write_report(tmp_path / "page.html")
    assert page(found._repr_html_()) == (tmp_path / "page.html").read_text()


def test_notebook_pairs_show_side_by_side() -> None:
    markup = page(lookalike.find([A, A.upper(), f"{A}!", B], threshold=0.9)._repr_html_())
    assert markup.count('<details class="group">') == 1 and '<details class="pair"' in markup
    assert "<del" in markup and "<ins" in markup


class Cells(HTMLParser):
    """Reads the rows of a table, and the texts outside of its cells."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.others: list[str] = []
        self.is_cell = False
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.is_cell = tag in ("td", "th")
        if tag == "tr":
            self.rows.append([])
        elif self.is_cell:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.is_cell:
            self.rows[-1][-1] += data
        else:
            self.others.append(data)


def test_tables_are_shown_as_tables() -> None:
    groups = lookalike.find({"<i>a&b</i>": A, "x": A, "y": A.upper()}, keep="first").groups
    cells = Cells(groups._repr_html_())
    assert cells.rows[0] == groups.column_names
    assert [row[1] for row in cells.rows[1:]] == groups["id"] and cells.others == []
    assert cells.rows[1][groups.column_names.index("jaccard")] == "-"
    many = lookalike.find([A] * 25, keep="first").groups
    cells = Cells(many._repr_html_())
    assert (
        len(cells.rows) == 11
        and cells.others == ["… 15 more rows"]
        and repr(many).endswith("… 15 more rows")
    )
    empty = lookalike.find(["one", "two"]).groups
    assert Cells(empty._repr_html_()).rows == [empty.column_names]
