//! The page of a comparison of a benchmark with a corpus. It lists the benchmarks, and the items
//! with the greatest shares of words in the corpus. Each item shows its runs next to the same runs
//! in documents.

use super::escape::{EscapedLines, EscapedText};
use super::number::{Count, Plural, Share};
use super::page::PageSkipped;
use super::{frame, section, skipped};
use crate::contamination::{
    Contamination, ContaminationOptions, ItemMatches, ItemVerdict, RunMatch, TextExcerpt,
};
use crate::engine::FindError;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::slice;

/// The most items to show with their texts.
const SHOWN: usize = 300;
/// The most runs of an item to show.
const RUNS: usize = 20;
/// The most bytes of an item to show.
const ITEM_BYTES: usize = 40_000;

/// Writes the page. It contains texts of documents if the runs were listed with
/// [excerpts](crate::contamination::MatchList::WithExcerpts).
///
/// # Errors
/// Errors of `out`, and of temporary files that hold matches.
pub fn contamination(
    out: &mut dyn Write,
    found: &Contamination,
    options: &ContaminationOptions,
) -> io::Result<()> {
    frame::begin(out, "Contamination")?;
    summary(out, found, options)?;
    benchmarks(out, found)?;
    items(out, found)?;
    let mut skipped = found.skipped.iter().map(|item| Ok(PageSkipped::from(item.clone())));
    skipped::write(out, &mut skipped, "--json")?;
    frame::end(out)
}

fn summary(
    out: &mut dyn Write,
    found: &Contamination,
    options: &ContaminationOptions,
) -> io::Result<()> {
    let contaminated = found.items.iter().filter(|item| item.contaminated).count() as u64;
    section::open(out, "summary", "Summary")?;
    template!(
        out,
        "contamination_summary.html",
        items = Plural(found.items.len() as u64, "item"),
        contaminated = Count(contaminated),
        share = Share(contaminated, found.items.len() as u64),
        threshold = options.threshold,
        words = Count(options.ngram as u64),
        documents = Plural(found.documents, "document"),
        contaminated_documents = Count(found.contaminated_documents),
        tokens = options.rule.tokens(),
        case = options.rule.case()
    )
}

fn benchmarks(out: &mut dyn Write, found: &Contamination) -> io::Result<()> {
    section::open(out, "benchmarks", "Benchmarks")?;
    template!(out, "benchmarks_head.html")?;
    for row in &found.benchmarks {
        let number = |text: String| format!("<td class=\"num\">{text}</td>");
        let count = |value| number(Count(value).to_string());
        writeln!(
            out,
            "<tr><th scope=\"row\"><bdi>{}</bdi></th><td><bdi>{}</bdi></td>{}{}{}{}{}</tr>",
            EscapedText(&row.benchmark),
            EscapedText(row.field.as_deref().unwrap_or_default()),
            count(row.items),
            count(row.empty),
            count(row.contaminated),
            number(Share(row.contaminated, row.items).to_string()),
            number(Share(row.covered, row.words).to_string()),
        )?;
    }
    out.write_all(b"</tbody></table></div>\n</section>\n")
}

/// Writes the items with runs in the corpus: contaminated ones first, then by share and length.
fn items(out: &mut dyn Write, found: &Contamination) -> io::Result<()> {
    section::open(out, "items", "Items in the corpus")?;
    let has_run = |number: &usize| found.items[*number].covered > 0;
    let mut ranked: Vec<usize> = (0..found.items.len()).filter(has_run).collect();
    ranked.sort_by(|a, b| {
        let order = a.cmp(b);
        let [a, b] = [*a, *b].map(|number| &found.items[number]);
        let rank = b.contaminated.cmp(&a.contaminated);
        let rank = rank.then(b.share().total_cmp(&a.share()));
        rank.then(b.item.words.cmp(&a.item.words)).then(order)
    });
    match ranked.len() {
        0 => out.write_all(b"<p>No item has a run in the corpus.</p>\n")?,
        total if total > SHOWN => writeln!(
            out,
            "<p>The {} of which most is in the corpus, of {}; the file of <code>--output</code> \
             has all.</p>",
            Count(SHOWN as u64),
            Count(total as u64)
        )?,
        _ => {}
    }
    ranked.truncate(SHOWN);
    let places: BTreeMap<usize, usize> =
        ranked.iter().enumerate().map(|(place, number)| (*number, place)).collect();
    let mut ranked_items: Vec<Option<ShownItem<'_>>> = ranked.iter().map(|_| None).collect();
    for (number, item) in found.with_matches().enumerate() {
        let item = item.map_err(FindError::into_io)?;
        if let Some(place) = places.get(&number) {
            ranked_items[*place] = Some(ShownItem::of(item));
        }
    }
    for (place, item) in ranked_items.iter().flatten().enumerate() {
        item.write(out, place == 0)?;
    }
    out.write_all(b"</section>\n")
}

/// An item with its first runs.
struct ShownItem<'a> {
    item: ItemMatches<'a>,
    /// The ranges of bytes of all its runs.
    covered: Vec<Range<u64>>,
}

impl<'a> ShownItem<'a> {
    fn of(mut item: ItemMatches<'a>) -> Self {
        let covered = item.matches.iter().map(|found| found.in_item.bytes.clone()).collect();
        item.matches.truncate(RUNS);
        Self { item, covered }
    }

    fn write(&self, out: &mut dyn Write, is_open: bool) -> io::Result<()> {
        let ItemMatches { verdict, matches } = &self.item;
        let ItemVerdict { item, covered, documents, contaminated } = verdict;
        let field = item.field.as_ref().map(|field| format!(" ({field})")).unwrap_or_default();
        template!(
            out,
            "contaminated_item.html",
            open = if is_open { " open" } else { "" },
            share = Share(u64::from(*covered), u64::from(item.words)),
            words = Plural(u64::from(item.words), "word"),
            id = EscapedText(&item.id),
            benchmark = EscapedText(&item.benchmark),
            field = EscapedText(&field),
            tag = if *contaminated { " <span class=\"tag\">contaminated</span>" } else { "" },
            covered = Plural(u64::from(*covered), "word"),
            documents = Plural(*documents, "document")
        )?;
        let end = item.text.floor_char_boundary(ITEM_BYTES);
        let text = item.text.get(..end).unwrap_or_default();
        let excerpt =
            TextExcerpt { text: text.to_owned(), start: 0, is_cut: end < item.text.len() };
        marked(out, &excerpt, &self.covered)?;
        template!(out, "runs_head.html")?;
        for found in matches {
            side_by_side(out, &item.text, found)?;
        }
        if self.covered.len() > matches.len() {
            let more = Plural((self.covered.len() - matches.len()) as u64, "run");
            writeln!(out, "<p class=\"note\">and {more} more</p>")?;
        }
        out.write_all(b"</div></details>\n")
    }
}

/// Writes a run in both texts, with its positions.
fn side_by_side(out: &mut dyn Write, item: &str, found: &RunMatch) -> io::Result<()> {
    let RunMatch { source, document, in_item, in_document, excerpt } = found;
    let chars = |range: &Range<u64>| format!("characters {}–{}", range.start, range.end);
    write!(
        out,
        "<div class=\"row\"><div><p class=\"note\">{}, {}</p>",
        Plural(in_item.words.len() as u64, "word"),
        chars(&in_item.chars)
    )?;
    marked(out, &TextExcerpt::around(item, &in_item.bytes), slice::from_ref(&in_item.bytes))?;
    write!(
        out,
        "</div>\n<div><p class=\"note\"><bdi>{}</bdi> in <bdi>{}</bdi>, {}</p>",
        EscapedText(document),
        EscapedText(source),
        chars(&in_document.chars)
    )?;
    if let Some(excerpt) = excerpt {
        marked(out, excerpt, slice::from_ref(&in_document.bytes))?;
    }
    out.write_all(b"</div></div>\n")
}

/// Writes a part of a text with marked ranges. The ranges are positions in the whole text.
fn marked(out: &mut dyn Write, excerpt: &TextExcerpt, ranges: &[Range<u64>]) -> io::Result<()> {
    let TextExcerpt { text, start, is_cut } = excerpt;
    let inside = |byte: u64| (byte.saturating_sub(*start) as usize).min(text.len());
    let mut ranges: Vec<Range<usize>> =
        ranges.iter().map(|range| inside(range.start)..inside(range.end)).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let dots = |is_omitted: bool| if is_omitted { "…" } else { "" };
    write!(out, "<p class=\"side\" dir=\"auto\">{}", dots(*start > 0))?;
    let part = |range: Range<usize>| EscapedLines(text.get(range).unwrap_or_default());
    let mut at = 0;
    for range in ranges {
        let begin = range.start.max(at);
        if begin < range.end {
            write!(out, "{}<mark>{}</mark>", part(at..begin), part(begin..range.end))?;
            at = range.end;
        }
    }
    write!(out, "{}{}</p>", part(at..text.len()), dots(*is_cut))
}
