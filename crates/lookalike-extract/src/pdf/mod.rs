//! PDF: pages in order, their text in the order of the file, a form feed between pages.
//!
//! ```text
//! bytes ─ lopdf: objects ─ pages ─ stream: inflated, limited ─ lexer: words ─ content: operators
//!                                                                               │ font, cmap
//!                                                            lines: words, lines ◄┘ names, widths
//! ```
//!
//! Damage is a failure, not less text: of two copies of a file, one cut off, the shorter text
//! would be taken for another document. A wrong table of places alone is repaired, as all readers
//! do.

mod accents;
mod cmap;
mod content;
mod font;
mod info;
mod lexer;
mod lines;
mod names;
mod stream;
mod widths;

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use content::{Page, Shared};
use font::get;
use lopdf::{Dictionary, Document, Error, LoadOptions, Object, ObjectId};
use std::collections::HashSet;

/// How deep pages may lie in the page tree.
const MAX_PAGE_DEPTH: usize = 64;
/// Bytes at the end of a file among which its end is marked.
const END_BYTES: usize = 2 << 10;

/// The text of a PDF, page after page.
pub(crate) fn text(
    bytes: &[u8],
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
) -> Result<(), Failure> {
    let document = load(bytes, job)?;
    info::fields(&document, fields);
    let pages = pages(&document, job)?;
    let mut shared = Shared::new(&document, job);
    for (index, &id) in pages.iter().enumerate() {
        job.in_time()?;
        if index > 0 {
            out.push('\u{c}');
        }
        page(&mut shared, id, out).map_err(|failure| match failure {
            Failure::Damaged { what } => {
                Failure::damaged(format!("page {} of {}: {what}", index + 1, pages.len()))
            }
            other => other,
        })?;
    }
    if out.chars().all(char::is_whitespace) {
        let pages =
            if pages.len() == 1 { "1 page".into() } else { format!("{} pages", pages.len()) };
        return Err(Failure::NoText { kind: format!("a PDF of {pages}") });
    }
    Ok(())
}

/// Reads all objects.
fn load(bytes: &[u8], job: &Job<'_>) -> Result<Document, Failure> {
    let left = usize::try_from(job.left()).unwrap_or(usize::MAX);
    let options = LoadOptions::with_max_decompressed_size(left);
    let document = match Document::load_mem_with_options(bytes, options) {
        Ok(document) => document,
        Err(Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. })) => {
            job.expand(left.saturating_add(1))?;
            return Err(Failure::damaged("a stream above all limits"));
        }
        Err(Error::Decryption(_) | Error::InvalidPassword) => return Err(Failure::Encrypted),
        Err(_) if !is_ended(bytes) => return Err(Failure::damaged("cut off: it has no end mark")),
        Err(error) => return Err(Failure::damaged(format!("no PDF that can be read: {error}"))),
    };
    if document.is_encrypted() {
        return Err(Failure::Encrypted);
    }
    if document.xref_recovery.is_some() && !is_ended(bytes) {
        return Err(Failure::damaged("cut off: it has no end mark"));
    }
    Ok(document)
}

/// Whether a file has `%%EOF` near its end.
fn is_ended(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(END_BYTES)..];
    memchr::memmem::find(tail, b"%%EOF").is_some()
}

/// All pages, each once.
fn pages(document: &Document, job: &Job<'_>) -> Result<Vec<ObjectId>, Failure> {
    let limit = job.options.limits.pages;
    let (mut pages, mut seen) = (Vec::new(), HashSet::new());
    for id in document.page_iter() {
        if !seen.insert(id) {
            continue;
        }
        if pages.len() >= limit as usize {
            return Err(Failure::Limit { what: "pages".to_owned(), limit: u64::from(limit) });
        }
        pages.push(id);
    }
    if pages.is_empty() {
        return Err(Failure::damaged("it has no pages"));
    }
    Ok(pages)
}

/// The text of one page.
fn page(shared: &mut Shared<'_>, id: ObjectId, out: &mut String) -> Result<(), Failure> {
    let (document, job) = (shared.document, shared.job);
    let missing = |_| Failure::damaged("it is missing");
    let page = document.get_dictionary(id).map_err(missing)?;
    let mut content = Vec::new();
    match get(document, page, b"Contents") {
        Some(Object::Array(parts)) => {
            for part in parts {
                let (_, part) = document.dereference(part).map_err(missing)?;
                append(part, &mut content, job)?;
            }
        }
        Some(part) => append(part, &mut content, job)?,
        None if page.has(b"Contents") => return Err(Failure::damaged("its content is missing")),
        None => {}
    }
    Page::new(shared, out).finish(&content, resources(document, page))
}

fn append(part: &Object, content: &mut Vec<u8>, job: &Job<'_>) -> Result<(), Failure> {
    if let Object::Stream(stream) = part {
        let part = stream::inflate(stream, job)?;
        if content.is_empty() {
            *content = part;
        } else {
            content.extend_from_slice(&part);
        }
        content.push(b'\n');
    }
    Ok(())
}

/// The fonts and drawings of a page: its own, or those of a node of the tree above it.
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
