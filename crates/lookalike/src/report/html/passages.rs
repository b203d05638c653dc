//! The page of a search for passages: sources, passages, and the documents that have most of them
//! with these marked.

use super::escape::{EscapedLines, EscapedText};
use super::number::{Count, Share};
use super::{STYLE, VERSION};
use crate::error::Error;
use crate::passages::{PassageFindings, PassageOptions, PassagePlace};
use crate::report::Output;
use std::cmp::Reverse;
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
const NAMED: usize = 20;

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
    write!(
        out,
        "</main>\n<footer><p>Made by lookalike {VERSION}. This page is complete in itself and \
         loads nothing.</p></footer>\n</body>\n</html>\n"
    )
}

fn head(
    out: &mut dyn Write,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> io::Result<()> {
    let counts = &findings.counts;
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Repeated passages</title>\n<style>{STYLE}\
         .passage{{white-space:pre-wrap;overflow-wrap:anywhere}}</style>\n</head>\n<body>\n\
         <header><p class=\"brand\">lookalike {VERSION}</p>\n<h1>Repeated passages</h1></header>\n\
         <main id=\"main\">\n<section><h2>Summary</h2>\n<p>{} documents have {} words. {} passages \
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
    let total = findings.passages.len();
    if total > LISTED {
        let (listed, total) = (Count(LISTED as u64), Count(total as u64));
        writeln!(out, "<p>The {listed} most repeated of {total}.</p>")?;
    }
    for (number, passage) in (1u64..).zip(findings.passages.iter().take(LISTED)) {
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
        let places = &findings.places[passage.rows.clone()];
        for place in places.iter().take(NAMED) {
            let id = findings.id(place.document).map_err(Error::into_io)?;
            let Range { start, end } = place.span.chars;
            let first = if place.is_first { " (first)" } else { "" };
            writeln!(out, "<li>{}, characters {start}–{end}{first}</li>", EscapedText(&id))?;
        }
        if places.len() > NAMED {
            writeln!(out, "<li>and {} more</li>", Count((places.len() - NAMED) as u64))?;
        }
        out.write_all(b"</ul></details>\n")?;
    }
    out.write_all(b"</section>\n")
}

/// The documents with most repeated text, most first.
fn documents(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    let mut of_document: BTreeMap<u32, Vec<&PassagePlace>> = BTreeMap::new();
    for place in &findings.places {
        of_document.entry(place.document).or_default().push(place);
    }
    let mut ranked = Vec::with_capacity(of_document.len());
    for (document, places) in of_document {
        let repeated: u64 = places.iter().map(|p| p.span.bytes.end - p.span.bytes.start).sum();
        ranked.push((Reverse(repeated), document, places));
    }
    ranked.sort_by_key(|(repeated, document, _)| (*repeated, *document));
    let most = ranked.get(4 * SHOWN).map(|(repeated, ..)| *repeated);
    // Ids decide among equal ones, so that the order of the inputs does not.
    ranked.retain(|(repeated, ..)| most.is_none_or(|most| *repeated <= most));
    let mut named = Vec::with_capacity(ranked.len());
    for (repeated, document, places) in ranked {
        let id = findings.id(document).map_err(Error::into_io)?;
        named.push((repeated, id, document, places));
    }
    named.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    out.write_all(b"<section><h2>Documents, most repeated first</h2>\n")?;
    for (_, id, document, places) in named.into_iter().take(SHOWN) {
        write!(out, "<details><summary>{}</summary>\n<div class=\"passage\">", EscapedText(&id))?;
        let text = findings.written_text(document).map_err(Error::into_io)?;
        marked(out, &text, &places)?;
        out.write_all(b"</div></details>\n")?;
    }
    out.write_all(b"</section>\n")
}

/// A text with its passages marked, each up to where the next one begins.
fn marked(out: &mut dyn Write, text: &str, places: &[&PassagePlace]) -> io::Result<()> {
    let mut places: Vec<&PassagePlace> = places.to_vec();
    places.sort_by_key(|place| (place.span.bytes.start, Reverse(place.span.bytes.end)));
    let most = (0..=text.len().min(SHOWN_BYTES)).rev();
    let most = most.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let mut at = 0;
    for place in places {
        let start = (place.span.bytes.start as usize).clamp(at, most);
        let end = (place.span.bytes.end as usize).clamp(start, most);
        let (Some(before), Some(inside)) = (text.get(at..start), text.get(start..end)) else {
            continue;
        };
        write!(out, "{}", EscapedLines(before))?;
        if !inside.is_empty() {
            let passage = place.passage + 1;
            write!(out, "<mark title=\"passage {passage}\">{}</mark>", EscapedLines(inside))?;
        }
        at = end;
    }
    write!(out, "{}", EscapedLines(text.get(at..most).unwrap_or_default()))?;
    if most < text.len() { out.write_all("…".as_bytes()) } else { Ok(()) }
}
