//! The page of a search for passages: sources, passages, and the documents with the most repeated
//! text, with passages marked.

use super::escape::{EscapedLines, EscapedText};
use super::number::{ByteSize, Count, Plural, Share};
use super::page::PageSkipped;
use super::{frame, section, skipped};
use crate::engine::{DocumentNumber, FindError};
use crate::passages::{
    PassageFindings, PassageOptions, PassagePlace, PassageRow, SourceRepeats, repeated_bytes,
};
use crate::report::Output;
use crate::report::error::OutputError;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;

/// The most passages to list.
const LISTED: usize = 1000;
/// The most documents to show with marked passages.
const SHOWN: usize = 30;
/// The most bytes of a document to show.
const SHOWN_BYTES: usize = 40_000;
/// The most places of a passage to name.
const NAMED: u32 = 20;

/// Writes the page. The documents that it shows are read again.
///
/// # Errors
/// The output cannot be written, a temporary file cannot be read, or an input cannot be read again.
pub fn passages(
    output: Output,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> Result<(), OutputError> {
    output.finish(|out| write(out, findings, options))
}

fn write(
    out: &mut dyn Write,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> io::Result<()> {
    frame::begin(out, "Repeated passages")?;
    summary(out, findings, options)?;
    sources(out, findings)?;
    list(out, findings)?;
    documents(out, findings)?;
    let mut skipped = findings.run.skipped.iter().map(|item| item.map(PageSkipped::from));
    skipped::write(out, &mut skipped, "--json")?;
    frame::end(out)
}

fn summary(
    out: &mut dyn Write,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> io::Result<()> {
    let counts = &findings.counts;
    section::open(out, "summary", "Summary")?;
    let runs = Plural(counts.runs, "maximal run");
    let with = Plural(counts.documents_with_repeats, "document");
    template!(
        out,
        "passages_summary.html",
        words = Plural(counts.words, "word"),
        documents = Plural(counts.documents, "document"),
        repeated = Share(counts.repeated_words, counts.words),
        min_words = Plural(findings.min_words as u64, "word"),
        copied = Share(counts.copied_words, counts.words),
        passages = Plural(counts.passages, "passage"),
        runs = runs,
        with = with,
        tokens = options.rule().tokens(),
        case = options.rule().case()
    )
}

/// Writes the shares of repeated words of each source. Sources with the most repeated words come
/// first.
fn sources(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    section::open(out, "sources", "Sources")?;
    template!(out, "passage_sources_head.html")?;
    let mut sources: Vec<&SourceRepeats> = findings.sources.iter().collect();
    sources
        .sort_by(|a, b| b.repeated_words.cmp(&a.repeated_words).then_with(|| a.name.cmp(&b.name)));
    for source in sources {
        let number = |text: String| format!("<td class=\"num\">{text}</td>");
        let count = |value| number(Count(value).to_string());
        let share = |words| number(Share(words, source.words).to_string());
        writeln!(
            out,
            "<tr><th scope=\"row\"><bdi>{}</bdi></th>{}{}{}{}{}</tr>",
            EscapedText(&source.name),
            count(source.documents),
            count(source.documents_with_repeats),
            count(source.words),
            share(source.repeated_words),
            share(source.copied_words)
        )?;
    }
    out.write_all(b"</tbody></table></div>\n</section>\n")
}

fn list(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    section::open(out, "passages", "Passages")?;
    match findings.rows.passages() {
        0 => out.write_all(b"<p>No words are repeated.</p>\n")?,
        total if total > LISTED => {
            let listed = Count(LISTED as u64);
            let total = Count(total as u64);
            let all = "the file of <code>--output</code> has all";
            writeln!(out, "<p>The {listed} most repeated of {total}; {all}.</p>")?;
        }
        _ => {}
    }
    let mut named = 0;
    for row in findings.rows.iter() {
        let PassageRow { passage, place } = row?;
        if passage.number as usize == LISTED {
            break;
        }
        if place.is_first {
            named = 0;
            let number = u64::from(passage.number) + 1;
            template!(
                out,
                "passage.html",
                number = number,
                words = Plural(passage.words.into(), "word"),
                places = Plural(passage.places.into(), "place"),
                shown_number = Count(number),
                excerpt = EscapedText(&passage.excerpt),
                documents = Plural(passage.documents.into(), "document")
            )?;
        }
        named += 1;
        if named <= NAMED {
            let id = findings.id(place.document).map_err(FindError::into_io)?;
            let Range { start, end } = place.span.chars;
            let first = if place.is_first { " (first)" } else { "" };
            let id = EscapedText(&id);
            writeln!(out, "<li><bdi>{id}</bdi>, characters {start}–{end}{first}</li>")?;
        }
        if named == passage.rows {
            if named > NAMED {
                writeln!(out, "<li>and {} more</li>", Count((named - NAMED).into()))?;
            }
            out.write_all(b"</ul></details>\n")?;
        }
    }
    out.write_all(b"</section>\n")
}

/// Writes the documents with the most repeated text, in descending order.
fn documents(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    let listed = findings.most_repeated(SHOWN).map_err(FindError::into_io)?;
    let mut places: BTreeMap<DocumentNumber, Vec<PassagePlace>> =
        listed.iter().map(|(document, _)| (*document, Vec::new())).collect();
    for row in findings.rows.iter() {
        let place = row?.place;
        if let Some(places) = places.get_mut(&place.document) {
            places.push(place);
        }
    }
    section::open(out, "documents", "Documents, most repeated first")?;
    match findings.rows.documents() {
        0 => out.write_all(b"<p>No document has a repeated passage.</p>\n")?,
        total if total > SHOWN => {
            let count = Count(SHOWN as u64);
            let total = Count(total as u64);
            writeln!(out, "<p>The {count} with most repeated text of {total}.</p>")?;
        }
        _ => {}
    }
    for (at, (document, id)) in listed.iter().enumerate() {
        let text = findings.written_text(*document).map_err(FindError::into_io)?;
        let places = places.get(document).map_or(&[][..], Vec::as_slice);
        marked_document(out, id, &text, places, at == 0)?;
    }
    out.write_all(b"</section>\n")
}

/// Writes a list of the passages in a document, and its text with these passages marked.
fn marked_document(
    out: &mut dyn Write,
    id: &str,
    text: &str,
    places: &[PassagePlace],
    is_open: bool,
) -> io::Result<()> {
    let repeated = repeated_bytes(places.iter().map(|place| &place.span));
    write!(
        out,
        "<details class=\"pair\"{}><summary><span class=\"figure\">{} of {}</span><span \
         class=\"ids\"><bdi>{}</bdi></span></summary>\n<p class=\"note\">Marked here: ",
        if is_open { " open" } else { "" },
        Share(repeated, text.len() as u64),
        ByteSize(text.len() as u64),
        EscapedText(id),
    )?;
    let passages: BTreeSet<u32> = places.iter().map(|place| place.passage).collect();
    for (at, passage) in passages.iter().take(NAMED as usize).enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let number = u64::from(*passage) + 1;
        let label = Count(number);
        if (*passage as usize) < LISTED {
            write!(out, "{comma}<a href=\"#p{number}\">passage {label}</a>")?;
        } else {
            write!(out, "{comma}passage {label}")?;
        }
    }
    if let Some(more) = passages.len().checked_sub(NAMED as usize).filter(|more| *more > 0) {
        write!(out, " and {} more", Count(more as u64))?;
    }
    out.write_all(b"</p>\n<div class=\"passage\" dir=\"auto\">")?;
    marked(out, text, places)?;
    out.write_all(b"</div></details>\n")
}

/// Writes a text with its passages marked. Each part has the numbers of its passages.
fn marked(out: &mut dyn Write, text: &str, places: &[PassagePlace]) -> io::Result<()> {
    let most = text.floor_char_boundary(SHOWN_BYTES);
    // The positions at which passages begin and end.
    let mut limits = Vec::with_capacity(2 * places.len() + 1);
    for PassagePlace { passage, span, .. } in places {
        let end = most.min(span.bytes.end as usize);
        let start = end.min(span.bytes.start as usize);
        limits.extend([(start, true, passage + 1), (end, false, passage + 1)]);
    }
    limits.sort_unstable();
    limits.push((most, false, 0));
    // The passages that contain the part before the limit, each with the number of its places.
    let mut at = 0;
    let mut inside = BTreeMap::<u32, usize>::new();
    for (limit, begins, passage) in limits {
        if let Some(part) = text.get(at..limit).filter(|part| !part.is_empty()) {
            mark(out, part, &inside)?;
            at = limit;
        }
        let places = inside.entry(passage).or_default();
        *places = if begins { *places + 1 } else { places.saturating_sub(1) };
        if *places == 0 {
            inside.remove(&passage);
        }
    }
    if most < text.len() { out.write_all("…".as_bytes()) } else { Ok(()) }
}

/// Writes a part of a text that is in some passages, or in none.
fn mark(out: &mut dyn Write, part: &str, passages: &BTreeMap<u32, usize>) -> io::Result<()> {
    let Some((first, _)) = passages.first_key_value() else {
        return write!(out, "{}", EscapedLines(part));
    };
    let word = if passages.len() == 1 { "passage" } else { "passages" };
    write!(out, "<mark title=\"{word} {first}")?;
    passages.keys().skip(1).try_for_each(|passage| write!(out, ", {passage}"))?;
    write!(out, "\">{}</mark>", EscapedLines(part))
}
