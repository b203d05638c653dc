//! Web pages.
//!
//! Tags and characters are told apart as the HTML standard wants it. Common ones are read by a
//! scanner, all else by the tokenizer html5gum, with the same result. There is no tree: a stack of
//! open elements says where links, regions and hidden parts end, so that time and memory are linear
//! in the page and nothing is recursive, whatever the page is.
//!
//! Text is what a reader sees of it without scripts being run: no `script`, `style`, `template`,
//! `select`, `svg`, `noscript` (browsers run scripts), no comments, nothing that is `hidden` or has
//! a style that hides it, unless that is all there is. The text for a picture (`alt`) is not seen
//! and does not count. Blocks begin a line, cells of tables are separated by tabs, white space is
//! made single blanks outside of `pre`.

mod about;
mod charset;
mod element;
mod hint;
mod main_text;
mod page;
mod scan;
mod tag;
mod text;
mod tokens;

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use crate::options::HtmlText;
use encoding_rs::Encoding;
use html5gum::{Readable as _, Reader};
use page::Page;
use text::Text;

/// Bytes between two looks at the clock.
const STEP: usize = 1 << 20;
/// Bytes that are searched for the next mark at once.
const WINDOW: usize = 64 << 10;

/// The text of a page that options want; its encoding may have been declared outside of it (by a
/// header).
pub(crate) fn text(
    bytes: &[u8],
    declared: Option<&'static Encoding>,
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
) -> Result<(), Failure> {
    text_as(job.options.html, bytes, declared, job, out, fields)
}

/// All text of a page that is no page of a site: a message, a chapter of a book.
#[cfg(any(feature = "mail", feature = "office"))]
pub(crate) fn all_text(
    bytes: &[u8],
    declared: Option<&'static Encoding>,
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
) -> Result<(), Failure> {
    text_as(HtmlText::All, bytes, declared, job, out, fields)
}

fn text_as(
    wanted: HtmlText,
    bytes: &[u8],
    declared: Option<&'static Encoding>,
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
) -> Result<(), Failure> {
    let source = charset::decode(bytes, declared).ok_or(Failure::Binary)?;
    job.in_time()?;
    let is_xml = source.trim_start_matches(['\u{feff}', ' ', '\n']).starts_with("<?xml");
    let mut page = Page::new(job, is_xml);
    scan::page(&mut Clocked::new(source.as_bytes(), job), &mut page)?;
    page.tell()?;
    page.about.tell(fields);
    let chosen = main_text::choose(&page.text, wanted == HtmlText::Main);
    collect(&page.text, chosen.as_deref(), out);
    Ok(())
}

/// Puts the chosen blocks together; without a choice all.
fn collect(text: &Text, chosen: Option<&[bool]>, out: &mut String) {
    // Valid, since the page was; lossy only so that nothing depends on it. The quick check first.
    let put = |out: &mut String, bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    };
    let Some(chosen) = chosen else { return put(out, &text.bytes) };
    let mut block = 0;
    while block < chosen.len() {
        let run = chosen[block..].iter().take_while(|chosen| **chosen).count();
        if run > 0 {
            let bytes = &text.bytes[text.blocks[block].start..text.end_of(block + run - 1)];
            put(out, if out.is_empty() { bytes.trim_ascii_start() } else { bytes });
        }
        block += run.max(1);
    }
}

/// The bytes of a page, given out while there is time.
struct Clocked<'a> {
    rest: &'a [u8],
    /// How long the rest may be before the next look at the clock.
    next: usize,
    job: &'a Job<'a>,
}

impl<'a> Clocked<'a> {
    fn new(bytes: &'a [u8], job: &'a Job<'a>) -> Self {
        Self { rest: bytes, next: bytes.len().saturating_sub(STEP), job }
    }

    #[expect(clippy::inline_always, reason = "called for every byte of a tag")]
    #[inline(always)]
    fn advance(&mut self, length: usize) -> Result<(), Failure> {
        self.rest = &self.rest[length..];
        if self.rest.len() < self.next {
            self.next = self.rest.len().saturating_sub(STEP);
            self.job.in_time()?;
        }
        Ok(())
    }
}

// For a reference, so that one goes on where another stopped.
impl Reader for &mut Clocked<'_> {
    type Error = Failure;

    #[expect(clippy::inline_always, reason = "called for every byte of a tag")]
    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Failure> {
        let Some(byte) = self.rest.first() else { return Ok(None) };
        self.advance(1)?;
        Ok(Some(*byte))
    }

    #[inline]
    fn try_read_string(&mut self, wanted: &[u8], exactly: bool) -> Result<bool, Failure> {
        let Some(next) = self.rest.get(..wanted.len()) else { return Ok(false) };
        if next != wanted && (exactly || !next.eq_ignore_ascii_case(wanted)) {
            return Ok(false);
        }
        self.advance(wanted.len())?;
        Ok(true)
    }

    #[expect(clippy::inline_always, reason = "the search is built for its marks when compiled")]
    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        marks: &[u8],
        room: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Failure> {
        let rest = self.rest;
        let window = &rest[..rest.len().min(WINDOW)];
        let length = match window.to_reader().read_until(marks, room) {
            Ok(Some(stretch)) => stretch.len(),
            Ok(None) => return Ok(None),
        };
        self.advance(length)?;
        Ok(Some(&rest[..length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Limits, Options};
    use std::time::Duration;

    #[test]
    fn the_clock_is_looked_at_every_mebibyte() {
        let limits = Limits { time: Duration::from_millis(1), ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        let job = Job::new(&options);
        std::thread::sleep(Duration::from_millis(2));
        let page = vec![b'a'; 3 * STEP];
        let mut bytes = &mut Clocked::new(&page, &job);
        let read = std::iter::repeat_with(|| bytes.read_byte()).take_while(Result::is_ok).count();
        assert_eq!(read, STEP);
        let mut bytes = &mut Clocked::new(&page, &job);
        let stretches = std::iter::repeat_with(|| bytes.read_until(b"<", &mut [0; 4]).is_ok());
        assert_eq!(stretches.take_while(|read| *read).count(), STEP / WINDOW);
    }

    #[test]
    fn reading_does_not_depend_on_the_window() {
        let options = Options::default();
        let job = Job::new(&options);
        let page = vec![b'a'; WINDOW + 1];
        let mut bytes = &mut Clocked::new(&page, &job);
        assert!(!bytes.try_read_string(b"AA", true).unwrap());
        assert!(bytes.try_read_string(b"AA", false).unwrap());
        let length = |stretch: Option<&[u8]>| stretch.map(<[u8]>::len);
        assert_eq!(length(bytes.read_until(b"<\r", &mut [0; 4]).unwrap()), Some(WINDOW - 1));
        assert_eq!(length(bytes.read_until(b"<\r", &mut [0; 4]).unwrap()), None);
        assert!(!bytes.try_read_string(b"a", true).unwrap());
        assert_eq!(bytes.read_byte().unwrap(), None);
    }
}
