//! The page of a search for passages: sources, passages, and the documents that have most of them
//! with these marked.

use super::escape::{EscapedLines, EscapedText};
use super::frame;
use super::number::{Count, Share};
use crate::error::Error;
use crate::passages::{PassageFindings, PassageOptions, PassagePlace, PassageRow};
use crate::report::Output;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

/// Passages that are listed.
const LISTED: usize = 1000;
/// Documents that are shown with their passages marked.
const SHOWN: usize = 30;
/// Bytes of a document that are shown.
const SHOWN_BYTES: usize = 40_000;
/// Places of a passage that are named.
const NAMED: u32 = 20;

/// Writes the page. The documents that it shows are read again.
///
/// # Errors
/// The output cannot be written, a temporary file cannot be read, or an input cannot be read again.
pub fn passages(
    output: Output,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> Result<(), Error> {
    output.finish(|out| write(out, findings, options))
}

fn write(
    out: &mut dyn Write,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> io::Result<()> {
    head(out, findings, options)?;
    sources(out, findings)?;
    list(out, findings)?;
    documents(out, findings)?;
    frame::end(out)
}

fn head(
    out: &mut dyn Write,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> io::Result<()> {
    let counts = &findings.counts;
    frame::begin(out, "Repeated passages")?;
    write!(
        out,
        "<section><h2>Summary</h2>\n<p>{} documents have {} words. {} passages \
         of at least {} words occur more than once, at {} maximal runs in {} documents; {} of the \
         words are in one of them, {} in a copy of an earlier place. Words are cut by the rule \
         {}, case: {}. Every passage was compared word by word.</p></section>\n",
        Count(counts.documents),
        Count(counts.words),
        Count(counts.passages),
        Count(findings.min_words as u64),
        Count(counts.runs),
        Count(counts.documents_with_repeats),
        Share(counts.repeated_words, counts.words),
        Share(counts.copied_words, counts.words),
        options.rule().tokens(),
        options.rule().case(),
    )
}

fn sources(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    out.write_all(
        b"<section><h2>Sources</h2>\n<table>\n<thead><tr><th>Source</th><th>Documents</th>\
          <th>with repeats</th><th>Words</th><th>repeated</th><th>in copies</th></tr></thead>\n\
          <tbody>\n",
    )?;
    for source in &findings.sources {
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            EscapedText(&source.name),
            Count(source.documents),
            Count(source.documents_with_repeats),
            Count(source.words),
            Share(source.repeated_words, source.words),
            Share(source.copied_words, source.words)
        )?;
    }
    out.write_all(b"</tbody>\n</table></section>\n")
}

fn list(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    out.write_all(b"<section><h2>Passages</h2>\n")?;
    let total = findings.rows.passages();
    if total > LISTED {
        let (listed, total) = (Count(LISTED as u64), Count(total as u64));
        writeln!(out, "<p>The {listed} most repeated of {total}.</p>")?;
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
            write!(
                out,
                "<details id=\"p{number}\"><summary>{}: {} words at {} places in {} documents: {}\
                 </summary>\n<ul>\n",
                Count(number),
                Count(passage.words.into()),
                Count(passage.places.into()),
                Count(passage.documents.into()),
                EscapedText(&passage.excerpt)
            )?;
        }
        named += 1;
        if named <= NAMED {
            let id = findings.id(place.document).map_err(Error::into_io)?;
            let Range { start, end } = place.span.chars;
            let first = if place.is_first { " (first)" } else { "" };
            writeln!(out, "<li>{}, characters {start}–{end}{first}</li>", EscapedText(&id))?;
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

/// The documents with most repeated text, most first.
fn documents(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    let shown = findings.most_repeated(SHOWN).map_err(Error::into_io)?;
    let mut places: BTreeMap<u32, Vec<PassagePlace>> =
        shown.iter().map(|(document, _)| (*document, Vec::new())).collect();
    for row in findings.rows.iter() {
        let place = row?.place;
        if let Some(places) = places.get_mut(&place.document) {
            places.push(place);
        }
    }
    out.write_all(b"<section><h2>Documents, most repeated first</h2>\n")?;
    let total = findings.rows.documents();
    if total > SHOWN {
        let (shown, total) = (Count(SHOWN as u64), Count(total as u64));
        writeln!(out, "<p>The {shown} with most repeated text of {total}.</p>")?;
    }
    for (document, id) in shown {
        write!(out, "<details><summary>{}</summary>\n<div class=\"passage\">", EscapedText(&id))?;
        let text = findings.written_text(document).map_err(Error::into_io)?;
        marked(out, &text, places.get(&document).map_or(&[], Vec::as_slice))?;
        out.write_all(b"</div></details>\n")?;
    }
    out.write_all(b"</section>\n")
}

/// A text with its passages marked: each part with the numbers of those that it is in.
fn marked(out: &mut dyn Write, text: &str, places: &[PassagePlace]) -> io::Result<()> {
    let most = (0..=text.len().min(SHOWN_BYTES)).rev();
    let most = most.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    // Where a passage begins, and where it ends.
    let mut limits = Vec::with_capacity(2 * places.len() + 1);
    for PassagePlace { passage, span, .. } in places {
        let end = most.min(span.bytes.end as usize);
        let start = end.min(span.bytes.start as usize);
        limits.extend([(start, true, passage + 1), (end, false, passage + 1)]);
    }
    limits.sort_unstable();
    limits.push((most, false, 0));
    // The passages of the part before the limit, each with the number of its places.
    let (mut at, mut inside) = (0, BTreeMap::<u32, usize>::new());
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

/// A part of a text that is in some passages, or in none.
fn mark(out: &mut dyn Write, part: &str, passages: &BTreeMap<u32, usize>) -> io::Result<()> {
    let Some((first, _)) = passages.first_key_value() else {
        return write!(out, "{}", EscapedLines(part));
    };
    let word = if passages.len() == 1 { "passage" } else { "passages" };
    write!(out, "<mark title=\"{word} {first}")?;
    passages.keys().skip(1).try_for_each(|passage| write!(out, ", {passage}"))?;
    write!(out, "\">{}</mark>", EscapedLines(part))
}
