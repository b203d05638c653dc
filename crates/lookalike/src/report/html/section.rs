//! The sections of the page that do not depend on scripts.

use super::chart::{RecallCurve, ShareBar};
use super::escape::EscapedText;
use super::number::{ByteSize, Count, Plural, Probability, Seconds, Share};
use super::page::Page;
use crate::audit::{Audit, JudgedBy, SimilarityRange};
use crate::engine::SourceCounts;
use lookalike_core::params::Measure;
use std::io::{self, Write};

/// Mark a source that would lose more than this share.
const MUCH: f64 = 0.5;
/// Sources with fewer documents are not marked, since a share says little.
const LEAST_DOCUMENTS: u64 = 20;
/// The most sources to list: those with the most duplicates.
const MOST_SOURCES: usize = 500;

/// Writes the result in a sentence and a bar, with warnings that link to their sections.
pub(super) fn summary(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let counts = &page.counts;
    let stay = counts.documents.saturating_sub(counts.duplicates);
    let share = Share(counts.duplicates, counts.documents);
    open(out, "summary", "What was found")?;
    if counts.duplicates == 0 {
        writeln!(
            out,
            "<p class=\"lead\">{} read, and <strong>no near-duplicates</strong> found.</p>",
            CountedDocuments(counts.documents)
        )?;
    } else {
        writeln!(
            out,
            "<p class=\"lead\"><strong>{}</strong> of {} ({share}) {} near-duplicate{} of another \
             document and could be removed; <strong>{}</strong> would be kept.</p>",
            Count(counts.duplicates),
            Plural(counts.documents, "document"),
            if counts.duplicates == 1 { "is a" } else { "are" },
            if counts.duplicates == 1 { "" } else { "s" },
            Count(stay)
        )?;
        writeln!(
            out,
            "<div class=\"parts\">{}<p><span class=\"key goes\"></span>Would be removed: {} <span \
             class=\"key stays\"></span>Would be kept: {}</p></div>",
            ShareBar(share.of_one()),
            Count(counts.duplicates),
            Count(stay)
        )?;
    }
    if counts.skipped > 0 {
        writeln!(
            out,
            "<p><a href=\"#skipped\">{} not read</a>; this page lists the reasons.</p>",
            CountedInputs(counts.skipped)
        )?;
    }
    source_warning(out, page)?;
    out.write_all(b"</section>\n")
}

/// Writes the counts of a run, each with a note.
pub(super) fn tiles(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let counts = &page.counts;
    let stay = counts.documents.saturating_sub(counts.duplicates);
    write!(out, "<p>{}</p>\n<dl class=\"tiles\">\n", EscapedText(&verified(page)))?;
    let sum = |bytes: fn(&SourceCounts) -> u64| page.sources.iter().map(bytes).sum();
    let read = match (sum(|source| source.bytes), counts.empty) {
        (0, 0) => String::new(),
        (0, empty) => format!("{} without a word", Count(empty)),
        (bytes, 0) => ByteSize(bytes).to_string(),
        (bytes, empty) => format!("{}; {} without a word", ByteSize(bytes), Count(empty)),
    };
    tile(out, "Documents read", counts.documents, &read)?;
    let copies = match counts.copies {
        0 => String::new(),
        1 => "1 repeats the shingles of an earlier document".to_owned(),
        copies => format!("{} repeat the shingles of an earlier document", Count(copies)),
    };
    tile(out, "Near-duplicates", counts.duplicates, &copies)?;
    let room = match sum(|source| source.duplicate_bytes) {
        0 => String::new(),
        bytes => format!("{} less to keep", ByteSize(bytes)),
    };
    tile(out, "Would be kept", stay, &room)?;
    tile(out, "Groups", counts.groups, "each a kept document and its duplicates")?;
    let unread = if counts.skipped == 0 { "everything was read" } else { "with reasons below" };
    tile(out, "Not read", counts.skipped, unread)?;
    tile(out, "Pairs compared exactly", counts.verified, "of all candidates")?;
    out.write_all(b"</dl>\n")
}

/// `1 file or record was`, `2 files or records were`.
struct CountedInputs(u64);

impl std::fmt::Display for CountedInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            1 => f.write_str("1 file or record was"),
            count => write!(f, "{} files or records were", Count(count)),
        }
    }
}

/// `1 document was`, `2 documents were`.
struct CountedDocuments(u64);

impl std::fmt::Display for CountedDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let were = if self.0 == 1 { "was" } else { "were" };
        write!(f, "{} {were}", Plural(self.0, "document"))
    }
}

fn verified(page: &Page) -> String {
    let measure = match page.params.measure() {
        Measure::Jaccard => "Jaccard similarity",
        Measure::Containment => "containment",
    };
    let mut text = format!(
        "Every similarity is exact: each pair was compared in full. Two documents are \
         near-duplicates from a {measure} of {} on, where 1 means the same shingles ({}) and 0 \
         nothing in common.",
        page.params.threshold(),
        page.params.shingle()
    );
    if page.chains {
        text.push_str(
            " Chains were followed, so a duplicate may be less similar than that to the kept \
             document.",
        );
    }
    text
}

fn tile(out: &mut dyn Write, name: &str, count: u64, note: &str) -> io::Result<()> {
    figure(out, name, &Count(count).to_string(), note)
}

fn figure(out: &mut dyn Write, name: &str, value: &str, note: &str) -> io::Result<()> {
    let value = EscapedText(value);
    let note = EscapedText(note);
    writeln!(out, "<div><dt>{name}</dt><dd>{value} <span class=\"note\">{note}</span></dd></div>")
}

/// Begins a section that is folded under its heading and a sentence. [`FOLDED_END`] ends it.
fn open_folded(out: &mut dyn Write, name: &str, heading: &str, sentence: &str) -> io::Result<()> {
    write!(
        out,
        "<section id=\"{name}\" aria-labelledby=\"{name}-heading\">\n<details class=\"folded\">\
         <summary><h2 id=\"{name}-heading\">{heading}</h2> <span class=\"note\">{}</span>\
         </summary>\n",
        EscapedText(sentence)
    )
}

/// Ends a folded section.
const FOLDED_END: &[u8] = b"</details>\n</section>\n";

/// Begins a section with its heading.
pub(super) fn open(out: &mut dyn Write, name: &str, heading: &str) -> io::Result<()> {
    write!(
        out,
        "<section id=\"{name}\" aria-labelledby=\"{name}-heading\">\n\
         <h2 id=\"{name}-heading\">{heading}</h2>\n"
    )
}

/// Writes the requested, predicted and measured share of similar pairs that a run finds.
pub(super) fn recall(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    open_folded(out, "recall", "Recall", &recall_sentence(page))?;
    if page.params.exact() {
        out.write_all(
            b"<p>Yes. This run was exact: it misses no pair at or above the threshold, by the way \
              it works, not by chance.</p>\n",
        )?;
    } else {
        banding(out, page)?;
    }
    if page.concentration.is_concentrated() && !page.params.exact() {
        template!(
            out,
            "concentration.html",
            documents = Count(page.concentration.largest),
            share = Probability(page.concentration.largest_share())
        )?;
    }
    if let Some(audit) = page.audit {
        measurements(out, audit)?;
    }
    out.write_all(FOLDED_END)
}

/// Returns one sentence about the measured recall, or else about the predicted recall.
fn recall_sentence(page: &Page) -> String {
    let params = page.params;
    if params.exact() {
        return "The run was exact: it misses no pair.".to_owned();
    }
    let measured = page.audit.and_then(|audit| audit.overall.recall);
    if let Some(recall) = measured {
        return format!("An audit measured {}.", Probability(recall));
    }
    if params.recall_caveat().is_some() {
        return "The recall of these settings cannot be predicted.".to_owned();
    }
    let threshold = params.threshold();
    let predicted = Probability(RecallCurve { params, audit: None }.at(threshold));
    format!("{predicted} of the pairs at similarity {threshold} are found (predicted).")
}

/// Writes the recall of a run with bands and rows: figures, curve and table.
fn banding(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let Page { params, audit, .. } = *page;
    let threshold = params.threshold();
    let requested = params.recall();
    let caveat = params.recall_caveat();
    let bands = params.bands();
    let rows = params.rows();
    let curve = RecallCurve { params, audit };
    let predicted = curve.at(threshold);
    out.write_all(b"<dl class=\"tiles three\">\n")?;
    figure(
        out,
        "Asked for",
        &Probability(requested).to_string(),
        &format!("at least, of the pairs at the threshold of {threshold}"),
    )?;
    let verdict = if predicted >= requested { "more than asked" } else { "LESS than asked" };
    let verdict = if predicted.to_bits() == requested.to_bits() { "as asked" } else { verdict };
    match caveat {
        Some(caveat) => figure(out, "Predicted", "no prediction", &caveat.to_string())?,
        None => figure(
            out,
            "Predicted",
            &Probability(predicted).to_string(),
            &format!("of the pairs exactly at the threshold; {verdict}"),
        )?,
    }
    match audit {
        Some(audit) => measured(out, audit, requested)?,
        None => figure(
            out,
            "Measured",
            "not measured",
            "an audit (find --audit 2000) checks a sample against all documents",
        )?,
    }
    out.write_all(b"</dl>\n")?;
    if caveat.is_some() {
        // The curve and its table are predictions, so they are left out.
        return writeln!(out, "<p class=\"note\">{bands} bands of {rows} rows.</p>");
    }
    out.write_all(b"<div class=\"beside\">\n<figure>")?;
    template!(
        out,
        "recall_curve.html",
        curve = curve,
        points =
            if audit.is_some() { " Points with bars: the measurements of the audit." } else { "" }
    )?;
    template!(out, "recall_table.html", threshold = threshold, predicted = Probability(predicted))?;
    for twentieth in 6..=20u32 {
        let similarity = f64::from(twentieth) / 20.0;
        let tenth = twentieth.is_multiple_of(2);
        if tenth || similarity >= threshold - 0.05 {
            let mark = if similarity >= threshold { "" } else { " class=\"below\"" };
            let found = Probability(curve.at(similarity));
            writeln!(out, "<tr{mark}><td>{similarity:.2}</td><td class=\"num\">{found}</td></tr>")?;
        }
    }
    write!(
        out,
        "</tbody></table>\n<p class=\"note\">{bands} bands of {rows} rows; pale lines are below \
         the threshold.</p></div>\n</div>\n"
    )
}

/// Describes the documents for which an audit searched, in the plural.
fn looked_for(audit: &Audit) -> &'static str {
    match audit.judged_by {
        JudgedBy::Pairs => {
            "similar documents looked for, one for each drawn (found: the run has the pair)"
        }
        JudgedBy::Groups => {
            "similar documents looked for, one for each drawn (found: not both are kept)"
        }
    }
}

fn measured(out: &mut dyn Write, audit: &Audit, requested: f64) -> io::Result<()> {
    let figures = &audit.overall;
    let interval = audit.overall.interval;
    if figures.documents == 0 {
        return figure(out, "Measured", "nothing", "no document drawn had a similar one");
    }
    let verdict = if interval.high < requested {
        "which is below the requested recall"
    } else if interval.low >= requested {
        "which reaches the requested recall"
    } else {
        "which agrees with the requested recall"
    };
    let recall = Probability(figures.recall.unwrap_or_default()).to_string();
    if audit.is_known(figures) {
        let caption = format!("of the similar documents of all documents, all compared; {verdict}");
        return figure(out, "Measured", &recall, &caption);
    }
    let caption = format!(
        "of the {}; between {} and {} with a confidence of {}, {verdict}",
        looked_for(audit),
        Probability(interval.low),
        Probability(interval.high),
        Probability(audit.confidence)
    );
    figure(out, "Measured", &recall, &caption)
}

/// Writes the measurements of an audit, in sentences and by similarity.
fn measurements(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    let figures = &audit.overall;
    write!(
        out,
        "<h3>What the audit measured</h3>\n<p>{} drawn at random and compared with all others; {} \
         of them had at least one similar document.",
        CountedDocuments(audit.sampled),
        Count(figures.documents)
    )?;
    let recall = Probability(figures.recall.unwrap_or_default());
    if figures.documents == 0 {
        let message: &[u8] = if audit.is_complete() {
            b" So there is nothing to find.</p>\n"
        } else {
            b" So nothing could be measured.</p>\n"
        };
        return out.write_all(message);
    }
    if audit.is_known(figures) {
        writeln!(
            out,
            " All documents were drawn, so that the share is known: {recall} of a document's \
             similar documents were found in the mean.</p>"
        )?;
    } else {
        writeln!(
            out,
            " Of the {}, {recall} were found: with a confidence of {} the true share lies between \
             {} and {}.</p>",
            looked_for(audit),
            Probability(audit.confidence),
            Probability(figures.interval.low),
            Probability(figures.interval.high)
        )?;
    }
    audit_table(out, audit)
}

/// Writes the measurements of an audit by similarity.
fn audit_table(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    if audit.ranges.is_empty() {
        return Ok(());
    }
    template!(out, "audit_table.html")?;
    for SimilarityRange { from, to, figures } in &audit.ranges {
        write!(
            out,
            "<tr><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td>",
            if *from < 1.0 { format!("{from} to {to}") } else { "equal".into() },
            Count(figures.documents),
            Count(figures.found)
        )?;
        match figures.recall {
            Some(recall) => writeln!(
                out,
                "<td class=\"num\">{}</td><td class=\"num\">{} and {}</td></tr>",
                Probability(recall),
                Probability(figures.interval.low),
                Probability(figures.interval.high)
            )?,
            None => {
                out.write_all(b"<td class=\"num\">none</td><td class=\"num\">none</td></tr>\n")?;
            }
        }
    }
    out.write_all(b"</tbody></table></div>\n")
}

/// Writes the share of each source that deduplication would remove.
pub(super) fn sources(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    if page.sources.is_empty() {
        return Ok(());
    }
    open(out, "sources", "Sources")?;
    let mut rows: Vec<&SourceCounts> = page.sources.iter().collect();
    rows.sort_by_key(|source| std::cmp::Reverse(source.duplicates));
    template!(out, "sources_head.html")?;
    for source in rows.iter().take(MOST_SOURCES) {
        source_row(out, source)?;
    }
    out.write_all(b"</tbody></table></div>\n")?;
    let more = rows.len().saturating_sub(MOST_SOURCES) as u64;
    if more > 0 {
        writeln!(
            out,
            "<p class=\"note\">and {} with fewer duplicates</p>",
            Plural(more, "further source")
        )?;
    }
    out.write_all(b"</section>\n")
}

/// Writes a warning if sources would lose most of their documents.
fn source_warning(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let much = page.sources.iter().filter(|source| loses_much(source)).count() as u64;
    if much == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "<p class=\"warning\"><strong>Check this first:</strong> <a href=\"#sources\">{} of \
         {}</a> would lose more than half of {} documents.</p>",
        Count(much),
        Plural(page.sources.len() as u64, "source"),
        if much == 1 { "its" } else { "their" }
    )
}

/// The share of a source's documents that would be removed.
fn lost_share(source: &SourceCounts) -> Share {
    Share(source.duplicates, source.documents)
}

/// Whether a source would lose enough of its documents to be marked.
fn loses_much(source: &SourceCounts) -> bool {
    source.documents >= LEAST_DOCUMENTS && lost_share(source).of_one() > MUCH
}

fn source_row(out: &mut dyn Write, source: &SourceCounts) -> io::Result<()> {
    let share = lost_share(source);
    let much = loses_much(source);
    writeln!(
        out,
        "<tr{}><th scope=\"row\"><bdi>{}</bdi>{}</th><td class=\"similarity\">{} {share}{}\
         </td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>",
        if much { " class=\"much\"" } else { "" },
        EscapedText(&source.name),
        if source.reference { " <span class=\"tag\">Reference, kept</span>" } else { "" },
        ShareBar(share.of_one()),
        if much { " <span class=\"warn\">⚠ more than half</span>" } else { "" },
        Count(source.duplicates),
        Count(source.documents),
        Count(source.duplicate_bytes)
    )
}

/// Writes the parameters of the run, and its duration.
pub(super) fn parameters(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let threshold = page.params.threshold();
    let sentence = format!("Threshold {threshold}, shingles {}.", page.params.shingle());
    open_folded(out, "parameters", "Parameters", &sentence)?;
    template!(out, "parameters_head.html")?;
    for each in page.parameters {
        writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td><bdi>{}</bdi></td><td>{}</td></tr>",
            EscapedText(each.name),
            EscapedText(&each.value),
            EscapedText(&each.meaning)
        )?;
    }
    out.write_all(b"</tbody></table></div>\n")?;
    for note in page.notes {
        writeln!(out, "<p class=\"note\">{}.</p>", EscapedText(note))?;
    }
    if !page.times.is_empty() {
        out.write_all(
            b"<h3>Time</h3>\n<table><thead><tr><th scope=\"col\">Stage</th><th scope=\"col\" \
              class=\"num\">Time</th></tr></thead><tbody>\n",
        )?;
        let times =
            || page.times.iter().map(|(stage, time)| (stage.to_string(), time.as_secs_f64()));
        let sum = times().map(|(_, seconds)| seconds).sum();
        for (stage, seconds) in times().chain([("all together".to_owned(), sum)]) {
            let seconds = Seconds(seconds);
            writeln!(
                out,
                "<tr><th scope=\"row\">{stage}</th><td class=\"num\">{seconds}</td></tr>"
            )?;
        }
        out.write_all(b"</tbody></table>\n")?;
    }
    out.write_all(FOLDED_END)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Figures, Interval};

    #[test]
    fn audit_without_neighbours_has_no_recall() {
        let mut audit = Audit {
            judged_by: JudgedBy::Pairs,
            confidence: 0.95,
            seed: 1,
            population: 9,
            sampled: 1,
            overall: Figures {
                documents: 0,
                found: 0,
                recall: None,
                interval: Interval { low: 0.0, high: 1.0 },
                pairs: 0,
                pair_recall: None,
                pair_interval: None,
            },
            ranges: Vec::new(),
        };
        let render = |audit: &Audit| {
            let mut out = Vec::new();
            measured(&mut out, audit, 0.99).unwrap();
            measurements(&mut out, audit).unwrap();
            String::from_utf8(out).unwrap()
        };
        let html = render(&audit);
        assert!(html.contains("1 document was drawn") && html.contains("nothing could be"));
        assert!(!html.contains("Of the similar"), "{html}");
        (audit.overall.documents, audit.overall.recall) = (1, Some(0.9));
        for (high, verdict) in [(0.98, "below the requested recall"), (1.0, "agrees with")] {
            audit.overall.interval.high = high;
            assert!(render(&audit).contains(verdict));
        }
        audit.overall.interval.low = 0.99;
        assert!(render(&audit).contains("reaches the requested recall"));
    }
}
