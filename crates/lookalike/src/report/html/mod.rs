//! Writes findings as one self-contained HTML page: no network access, no accompanying folder.
//!
//! ```text
//! Page (figures) ────────┐
//! Streams (groups, …) ───┴─ write ─► summary, groups, samples, sources, figures, skipped,
//!                                    recall and parameters (folded)
//! ```
//!
//! Figures, charts and the largest groups are HTML and SVG, and do not need scripts. All groups are
//! data in the page. The page's script lists, searches and sorts them. Equal pages and streams
//! produce equal bytes. The user's texts are always shown as text.
//!
//! `page.css`, `page.js` and the templates are in the folder of this file and compiled into the
//! program.

/// Writes a template of the folder `templates`, with a value for each placeholder. The compiler
/// checks the placeholders.
macro_rules! template {
    ($out:expr, $name:literal $(, $placeholder:ident = $value:expr)* $(,)?) => {
        ::std::write!(
            $out,
            ::std::include_str!(::std::concat!("templates/", $name))
            $(, $placeholder = $value)*
        )
    };
}

mod chart;
mod choice;
mod comparison;
mod contamination;
mod differences;
mod escape;
mod frame;
mod groups;
mod number;
mod page;
mod passages;
mod policy;
mod section;
mod skipped;

pub(super) use choice::{ChosenPair, SampleChoice};
pub use comparison::{ComparisonPage, comparison};
pub use contamination::contamination;
pub use page::{
    About, Page, PageDuplicate, PageGroup, PageParameter, PageSample, PageSkipped, Streams,
    millionths,
};
pub use passages::passages;

use chart::Hundredths;
use frame::STYLE;
use groups::GroupTotals;
use lookalike_core::params::Measure;
use number::{Count, Plural, Share};
use std::io::{self, Write};

const SCRIPT: &str = include_str!("page.js");

/// Writes the page. Reads each stream once. Memory: some dozen kilobytes of the groups, the largest
/// group, and the first thousand skipped items. Compares up to 16,000 bytes of each text of a
/// sample.
///
/// ```
/// use lookalike::core::params::{Params, ParamsBuilder};
/// use lookalike::find::{GroupConcentration, RunCounts};
/// use lookalike::report::html::{self, Page, PageDuplicate, PageGroup, Streams};
///
/// let duplicate = PageDuplicate { id: "b".into(), similarity: 912_345, ..Default::default() };
/// let duplicates = vec![duplicate];
/// let group = PageGroup { keeper: "a".into(), bytes: 75, duplicates, ..Default::default() };
/// let page = Page {
///     title: "Near-duplicates in letters/",
///     parameters: &[],
///     counts: RunCounts { documents: 3, groups: 1, duplicates: 1, ..Default::default() },
///     params: &Params::new(&ParamsBuilder::default())?,
///     concentration: GroupConcentration::default(),
///     notes: &[],
///     audit: None,
///     sources: &[],
///     reasons: &["it is the longer text".to_owned()],
///     chains: false,
///     samples: &[],
///     times: &[],
/// };
/// let mut out = Vec::new();
/// let (mut groups, mut skipped) = ([Ok(group)].into_iter(), std::iter::empty());
/// html::write(&mut out, &page, Streams { groups: &mut groups, skipped: &mut skipped })?;
/// assert!(out.starts_with(b"<!DOCTYPE html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of `out` and of the streams.
pub fn write(out: &mut dyn Write, page: &Page<'_>, streams: Streams<'_>) -> io::Result<()> {
    let Streams { groups, skipped } = streams;
    head(out, page)?;
    section::summary(out, page)?;
    section::open(out, "groups", "Groups")?;
    controls(out, page)?;
    let passed =
        groups::stream(out, groups, page.reasons, page.params.shingle(), groups::MOST_BYTES)?;
    unlisted(out, &passed)?;
    out.write_all(b"</section>\n")?;
    samples(out, page)?;
    section::sources(out, page)?;
    figures(out, page, &passed)?;
    skipped::write(out, skipped, "--skipped FILE.csv")?;
    section::recall(out, page)?;
    section::parameters(out, page)?;
    frame::end_with(out, &format!("<script>{SCRIPT}</script>\n"))
}

fn head(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let policy = policy::content_security_policy(SCRIPT, STYLE);
    let skip = "<a class=\"skip\" href=\"#main\">Skip to the findings</a>\n";
    frame::head(out, page.title, &policy, "", skip)?;
    out.write_all(b"<nav aria-label=\"Sections\"><ul>\n")?;
    let link = |(name, text): (&str, &str)| format!("<li><a href=\"#{name}\">{text}</a></li>\n");
    let sources = (!page.sources.is_empty()).then_some(("sources", "Sources"));
    let samples = (!page.samples.is_empty()).then_some(("samples", "Side by side"));
    let links = [
        Some(("summary", "Summary")),
        Some(("groups", "Groups")),
        samples,
        sources,
        Some(("figures", "Figures")),
        Some(("skipped", "Not read")),
        Some(("recall", "Recall")),
        Some(("parameters", "Parameters")),
    ];
    for text in links.into_iter().flatten().map(link) {
        out.write_all(text.as_bytes())?;
    }
    out.write_all(b"</ul></nav>\n<main id=\"main\" tabindex=\"-1\">\n")
}

/// Writes the form and the data of the script. The form is hidden until the script shows it.
fn controls(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    if page.counts.groups == 0 {
        return out.write_all(b"<p>There are none.</p>\n");
    }
    let mut reasons = String::from("[");
    for reason in page.reasons {
        if reasons.len() > 1 {
            reasons.push(',');
        }
        escape::json(&mut reasons, reason);
    }
    template!(
        out,
        "group_controls.html",
        shown = if page.counts.groups > groups::SHOWN {
            format!(
                " The {} largest groups show title or first words, source and date; further \
                 groups show ids.",
                groups::SHOWN
            )
        } else {
            String::new()
        },
        reasons = reasons
    )
}

impl Page<'_> {
    /// Describes what `count` duplicates of the highest similarity have in common with their
    /// keepers.
    fn equal(&self, count: u64) -> &'static str {
        match (self.params.measure() == Measure::Containment, count == 1) {
            (true, true) => "contains or is contained in the kept document: containment 1",
            (true, false) => "contain or are contained in the kept document: containment 1",
            (false, true) => "has the same shingles as the kept document: similarity 1",
            (false, false) => "have the same shingles as the kept document: similarity 1",
        }
    }

    /// Explains the number of documents with repeated shingles, if it differs from `count`.
    fn copies_elsewhere(&self, count: u64) -> String {
        let copies = self.counts.copies;
        if copies == count {
            return String::new();
        }
        format!(
            " {} {} the shingles of an earlier document, which is not always the kept one.",
            Plural(copies, "document"),
            if copies == 1 { "repeats" } else { "repeat" }
        )
    }
}

/// Writes the number of groups that the page does not list, and the buttons below the list.
fn unlisted(out: &mut dyn Write, passed: &GroupTotals) -> io::Result<()> {
    out.write_all(b"<div class=\"pages\" id=\"pages\" hidden></div>\n")?;
    let more = passed.groups - passed.listed;
    if more > 0 {
        writeln!(
            out,
            "<p class=\"warning\">This page lists the {} largest groups. {} more are counted in \
             all figures, but not listed here; the file of <code>--output</code> has them.</p>",
            Count(passed.listed),
            Count(more)
        )?;
    }
    Ok(())
}

/// Writes counts, and the distributions of similarities and sizes as pictures and as tables.
fn figures(out: &mut dyn Write, page: &Page, passed: &GroupTotals) -> io::Result<()> {
    section::open(out, "figures", "Figures")?;
    section::tiles(out, page)?;
    if passed.groups == 0 {
        return out.write_all(b"</section>\n");
    }
    let found = &passed.similarities;
    let all = found.equal + found.unequal();
    out.write_all(b"<div class=\"beside\">\n<div><h3>Similarity with the kept document</h3>\n")?;
    writeln!(
        out,
        "<p>{} of {} ({}) {}.{}{}</p>",
        Count(found.equal),
        Plural(all, "duplicate"),
        Share(found.equal, all),
        page.equal(found.equal),
        page.copies_elsewhere(found.equal),
        if found.unequal() > 0 { " The others by similarity:" } else { "" }
    )?;
    if found.unequal() > 0 {
        template!(out, "similarity_table.html", found = found)?;
        for (from, to, count) in found.steps() {
            let from = Hundredths(from);
            let to = Hundredths(to);
            let count = Count(count);
            writeln!(out, "<tr><td>{from} to {to}</td><td class=\"num\">{count}</td></tr>")?;
        }
        out.write_all(b"</tbody></table></details>\n")?;
    }
    template!(out, "sizes_table.html")?;
    let steps = passed.sizes.steps();
    let most = steps.iter().map(|step| step.2).max().unwrap_or(0).max(1);
    for (from, to, count) in steps {
        let bar = chart::ShareBar(count as f64 / most as f64);
        let to = if to > from { format!(" to {}", Count(to)) } else { String::new() };
        let from = Count(from);
        let count = Count(count);
        writeln!(
            out,
            "<tr><th scope=\"row\">{from}{to}</th><td class=\"num\">{count}</td><td \
             class=\"wide-bar\">{bar}</td></tr>"
        )?;
    }
    out.write_all(b"</tbody></table></div>\n</div>\n</section>\n")
}

fn samples(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    if page.samples.is_empty() {
        return Ok(());
    }
    section::open(out, "samples", "Side by side")?;
    template!(out, "samples.html", pairs = Plural(page.samples.len() as u64, "pair"))?;
    for (at, sample) in page.samples.iter().enumerate() {
        differences::pair(out, sample, page.params.shingle(), at == 0)?;
    }
    out.write_all(b"</section>\n")
}

#[cfg(test)]
mod tests;
