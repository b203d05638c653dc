//! PDF: pages in order, their text in file order, a form feed between pages.
//!
//! ```text
//! bytes ─ lopdf: objects ─ pages ─ stream: inflated ─ lexer: tokens ─ content: operators
//!                                                                       │ font, cmap,
//!                                                 lines: words, lines ◄─┘ glyph_names, widths
//! ```
//!
//! The crate lopdf parses objects. Own code extracts the text, instead of lopdf, pdf-extract or
//! `pdf_oxide`, because extraction needs limits in every loop and a stack that does not grow with
//! the file. `bench/matrix.md` compares the speed and the text with `pdftotext` of poppler
//! (November 2026): the texts of a manual and a specification have a Jaccard similarity of 0.88 and
//! 0.94 with default shingles.
//!
//! Damage is an error, not a shorter text: a truncated copy would be taken for another document.
//! Only a wrong cross-reference table is repaired, as in all readers.

mod accents;
mod cmap;
mod content;
mod font;
mod glyph_names;
mod info;
mod lexer;
mod lines;
mod objects;
mod stream;
mod widths;

use crate::reading::{ExtractError, LimitKind, LimitTracker, TextOutput};
use content::{ContentInterpreter, PdfResources};
use lopdf::{Dictionary, Document, Error, LoadOptions, Object, ObjectId};
use objects::get;
use std::collections::HashSet;

/// Maximum depth of the page tree.
const MAX_PAGE_DEPTH: usize = 64;
/// Bytes at the end of a file that contain its end mark.
const END_BYTES: usize = 2 << 10;

/// Appends the text of a PDF, and sets its fields.
pub(crate) fn text(bytes: &[u8], output: &mut TextOutput<'_>) -> Result<(), ExtractError> {
    let TextOutput { tracker, text: out, fields } = output;
    let document = load(bytes, tracker)?;
    info::fields(&document, fields);
    let pages = pages(&document, tracker)?;
    let mut shared = PdfResources::new(&document, tracker);
    for (index, &id) in pages.iter().enumerate() {
        tracker.check_time()?;
        if index > 0 {
            out.push('\u{c}');
        }
        page(&mut shared, id, out).map_err(|failure| match failure {
            ExtractError::Damaged { what } => {
                ExtractError::damaged(format!("page {} of {}: {what}", index + 1, pages.len()))
            }
            other => other,
        })?;
    }
    if out.chars().all(char::is_whitespace) {
        let pages =
            if pages.len() == 1 { "1 page".into() } else { format!("{} pages", pages.len()) };
        return Err(ExtractError::NoText { kind: format!("a PDF of {pages}") });
    }
    Ok(())
}

/// Parses all objects.
fn load(bytes: &[u8], tracker: &LimitTracker<'_>) -> Result<Document, ExtractError> {
    let bytes_left = usize::try_from(tracker.bytes_left()).unwrap_or(usize::MAX);
    let options = LoadOptions::with_max_decompressed_size(bytes_left);
    let document = match Document::load_mem_with_options(bytes, options) {
        Ok(document) => document,
        Err(Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. })) => {
            tracker.charge_bytes(bytes_left.saturating_add(1))?;
            return Err(ExtractError::damaged("a stream exceeds the limit of decompressed bytes"));
        }
        Err(Error::Decryption(_) | Error::InvalidPassword) => return Err(ExtractError::Encrypted),
        Err(_) if !is_ended(bytes) => {
            return Err(ExtractError::damaged("cut off: it has no end mark"));
        }
        Err(error) => {
            return Err(ExtractError::damaged(format!("no PDF that can be read: {error}")));
        }
    };
    if document.is_encrypted() {
        return Err(ExtractError::Encrypted);
    }
    if document.xref_recovery.is_some() && !is_ended(bytes) {
        let message =
            "cut off: its table of objects is missing or misplaced, and it has no end mark";
        return Err(ExtractError::damaged(message));
    }
    Ok(document)
}

/// Whether a file has `%%EOF` near its end.
fn is_ended(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(END_BYTES)..];
    memchr::memmem::find(tail, b"%%EOF").is_some()
}

/// All pages without repetitions.
fn pages(document: &Document, tracker: &LimitTracker<'_>) -> Result<Vec<ObjectId>, ExtractError> {
    let limit = tracker.options.limits.pages;
    let mut pages = Vec::new();
    let mut seen = HashSet::new();
    for id in document.page_iter() {
        if !seen.insert(id) {
            continue;
        }
        if pages.len() >= limit as usize {
            return Err(ExtractError::limited(LimitKind::Pages, limit));
        }
        pages.push(id);
    }
    if pages.is_empty() {
        return Err(ExtractError::damaged("it has no pages"));
    }
    Ok(pages)
}

/// Appends the text of one page.
fn page(shared: &mut PdfResources<'_>, id: ObjectId, out: &mut String) -> Result<(), ExtractError> {
    let document = shared.document;
    let tracker = shared.tracker;
    let missing = |_| ExtractError::damaged("a part of its content is missing");
    let page = document.get_dictionary(id).map_err(missing)?;
    let mut content = Vec::new();
    match get(document, page, b"Contents") {
        Some(Object::Array(parts)) => {
            for part in parts {
                let (_, part) = document.dereference(part).map_err(missing)?;
                append(part, &mut content, tracker)?;
            }
        }
        Some(part) => append(part, &mut content, tracker)?,
        None if page.has(b"Contents") => {
            return Err(ExtractError::damaged("its content is missing"));
        }
        None => {}
    }
    ContentInterpreter::new(shared, out).finish(&content, resources(document, page))
}

fn append(
    part: &Object,
    content: &mut Vec<u8>,
    tracker: &LimitTracker<'_>,
) -> Result<(), ExtractError> {
    if let Object::Stream(stream) = part {
        let part = stream::inflate(stream, tracker)?;
        if content.is_empty() {
            *content = part;
        } else {
            content.extend_from_slice(&part);
        }
        content.push(b'\n');
    }
    Ok(())
}

/// The resources of a page: its own, or those inherited in the page tree.
fn resources<'a>(document: &'a Document, page: &'a Dictionary) -> Option<&'a Dictionary> {
    let mut node = page;
    for _ in 0..MAX_PAGE_DEPTH {
        if let Some(Object::Dictionary(resources)) = get(document, node, b"Resources") {
            return Some(resources);
        }
        node = get(document, node, b"Parent")?.as_dict().ok()?;
    }
    None
}
