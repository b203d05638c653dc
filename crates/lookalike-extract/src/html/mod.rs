//! Web pages.
//!
//! Pages are tokenized as the HTML standard requires. A fast scanner reads common markup; the
//! tokenizer html5gum reads everything else and would read common markup with the same result. A
//! stack of open elements instead of a tree determines the ends of links, regions and hidden parts.
//! Time and memory are therefore linear in the page size, and nothing is recursive.
//!
//! The text of a page is the text that is visible without running scripts. It has no comments and
//! no `script`, `style`, `template`, `select`, `svg` or `noscript`. Elements that are `hidden` or
//! hidden by their style are excluded, unless the page has no other text. Alternative texts of
//! pictures (`alt`) are excluded. Blocks begin a line, table cells are separated by tabs, and white
//! space outside `pre` becomes single blanks.

mod charset;
mod element;
mod main_text;
mod metadata;
mod name_hints;
mod page_builder;
mod page_text;
mod scanner;
mod tag;
mod timed_reader;
mod tokenizer;

use crate::reading::{ExtractError, HtmlText, TextOutput};
#[cfg(any(feature = "mail", feature = "office"))]
use crate::reading::{Fields, LimitTracker};
use encoding_rs::Encoding;
use page_builder::PageBuilder;
use page_text::PageText;
use timed_reader::TimedReader;

/// Appends the text of a page as selected by the options; `declared` is the encoding from outside
/// the page, such as a header.
pub(crate) fn text(
    bytes: &[u8],
    declared: Option<&'static Encoding>,
    out: &mut TextOutput<'_>,
) -> Result<(), ExtractError> {
    text_as(out.tracker.options.html, bytes, declared, out)
}

/// Appends all text of HTML that is not a web page: a message, a chapter of a book.
#[cfg(any(feature = "mail", feature = "office"))]
pub(crate) fn all_text(
    bytes: &[u8],
    declared: Option<&'static Encoding>,
    tracker: &LimitTracker<'_>,
    text: &mut String,
) -> Result<(), ExtractError> {
    let fields = &mut Fields::default();
    text_as(HtmlText::All, bytes, declared, &mut TextOutput { tracker, text, fields })
}

fn text_as(
    wanted: HtmlText,
    bytes: &[u8],
    declared: Option<&'static Encoding>,
    out: &mut TextOutput<'_>,
) -> Result<(), ExtractError> {
    let tracker = out.tracker;
    let source = charset::decode(bytes, declared).ok_or(ExtractError::Binary)?;
    tracker.check_time()?;
    let is_xml = source.trim_start_matches(['\u{feff}', ' ', '\n']).starts_with("<?xml");
    let mut page = PageBuilder::new(tracker, is_xml);
    scanner::page(&mut TimedReader::new(source.as_bytes(), tracker), &mut page)?;
    page.charge()?;
    page.metadata.write_fields(out.fields);
    let chosen = main_text::choose(&page.text, wanted == HtmlText::Main);
    collect(&page.text, chosen.as_deref(), out.text);
    Ok(())
}

/// Appends the chosen blocks, or all blocks if `chosen` is `None`.
fn collect(text: &PageText, chosen: Option<&[bool]>, out: &mut String) {
    // The bytes are valid UTF-8, like the page. The lossy conversion only avoids a panic.
    let append = |out: &mut String, bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    };
    let Some(chosen) = chosen else { return append(out, &text.bytes) };
    let mut block = 0;
    while block < chosen.len() {
        let run = chosen[block..].iter().take_while(|chosen| **chosen).count();
        if run > 0 {
            let bytes = &text.bytes[text.blocks[block].start..text.end_of(block + run - 1)];
            append(out, if out.is_empty() { bytes.trim_ascii_start() } else { bytes });
        }
        block += run.max(1);
    }
}
