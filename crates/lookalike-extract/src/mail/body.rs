//! Sorts the parts of a message into its text and its attachments.

use super::attachment::AttachmentNames;
use super::parts::{MailPart, PartRole};
use super::signature::MailSignatures;
use super::transfer::TransferEncoding;
use super::{html, plain, quotes};
use crate::reading::{CutText, ExtractError, LimitTracker};
use std::borrow::Cow;

/// Maximum encoded bytes of a plain text that only refers to the HTML.
const STUB_BYTES: usize = 4 << 10;
/// Maximum characters of such a text.
const STUB_CHARS: usize = 400;

/// How a part is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartDisposition {
    /// Text belongs to the body, anything else is attached.
    Shown,
    /// An alternative form of a shown part: only files in it are attached.
    Hidden,
    /// Attached, regardless of its type.
    Attached,
}

/// Reads the parts of one message.
pub(super) struct BodyReader<'r, 'a> {
    tracker: &'r LimitTracker<'r>,
    parts: &'r [MailPart<'a>],
    dispositions: Vec<PartDisposition>,
    /// Number and text of an HTML part that has already been read.
    ready: Option<(usize, String)>,
    /// Whether quoted text was removed.
    cut_quotes: bool,
    /// Whether all parts so far are blank.
    blank: bool,
    signatures: MailSignatures,
}

impl<'r, 'a> BodyReader<'r, 'a> {
    pub(super) fn new(tracker: &'r LimitTracker<'r>, parts: &'r [MailPart<'a>]) -> Self {
        Self {
            tracker,
            parts,
            dispositions: vec![PartDisposition::Shown; parts.len()],
            ready: None,
            cut_quotes: false,
            blank: true,
            signatures: MailSignatures::default(),
        }
    }

    /// Writes the text, and the attachments if requested. Returns the amount removed as signatures,
    /// and whether quoted text was removed. If a part of the body is unreadable, the whole message
    /// fails, because the rest would look complete.
    pub(super) fn read(
        mut self,
        out: &mut String,
        attachments: &mut Vec<(String, Cow<'a, [u8]>)>,
    ) -> Result<(CutText, bool), ExtractError> {
        let mut names = AttachmentNames::default();
        let mut sealed = None;
        let mut number = 0;
        while let Some(part) = self.parts.get(number) {
            self.tracker.check_time()?;
            let disposition = self.dispositions[number];
            let file = match part.role {
                PartRole::Encrypted if disposition == PartDisposition::Shown => {
                    return Err(ExtractError::Encrypted);
                }
                PartRole::Alternative if disposition == PartDisposition::Shown => {
                    self.choose(number)?;
                    false
                }
                PartRole::Related | PartRole::Report if disposition == PartDisposition::Shown => {
                    self.keep_first(number);
                    false
                }
                // An attached message is one file.
                PartRole::Mixed if disposition == PartDisposition::Attached && is_message(part) => {
                    true
                }
                PartRole::Leaf => match (disposition, is_text(part, number)) {
                    (PartDisposition::Shown, true) => {
                        self.text(number, out)?;
                        false
                    }
                    (PartDisposition::Shown, false) => {
                        sealed = sealed.or(sealing(part));
                        true
                    }
                    (PartDisposition::Hidden, text) => !text,
                    (PartDisposition::Attached, _) => true,
                },
                _ => false,
            };
            if file && self.tracker.options.attachments && !is_signature(part) {
                let content =
                    TransferEncoding::of(part.header.transfer).decode(part.body, self.tracker)?;
                attachments.push((names.name(part), content));
            }
            number = if file { part.end } else { number + 1 };
        }
        match sealed {
            Some(failure) if out.trim().is_empty() => Err(failure),
            _ => Ok((self.signatures.cut(out), self.cut_quotes)),
        }
    }

    /// Numbers of the direct children of a part.
    fn children(&self, parent: usize) -> impl Iterator<Item = usize> + use<'r, 'a> {
        let parts = self.parts;
        let end = parts[parent].end;
        let checked = move |child: usize| (child < end).then_some(child);
        std::iter::successors(checked(parent + 1), move |child| checked(parts[*child].end))
    }

    /// The first text of a wanted media type in a part.
    fn leaf(&self, parent: usize, is_wanted: fn(&str) -> bool) -> Option<usize> {
        (parent..self.parts[parent].end).find(|number| {
            let part = &self.parts[*number];
            part.role == PartRole::Leaf && is_wanted(&part.media) && is_text(part, *number)
        })
    }

    /// Hides all alternatives except one.
    fn choose(&mut self, parent: usize) -> Result<(), ExtractError> {
        let find = |is_wanted: fn(&str) -> bool| {
            self.children(parent).find_map(|child| Some((child, self.leaf(child, is_wanted)?)))
        };
        let page = find(is_page);
        let chosen = match (find(|media| media == "text/plain"), page) {
            (Some((plain, leaf)), Some((page, page_leaf))) if plain != page => {
                if self.is_stub(leaf)? && self.is_page_with_text(page_leaf)? { page } else { plain }
            }
            (Some((child, _)), _) | (None, Some((child, _))) => child,
            (None, None) => match find(|_| true) {
                Some((child, _)) => child,
                None => return Ok(()),
            },
        };
        for child in self.children(parent).filter(|child| *child != chosen) {
            self.dispositions[child..self.parts[child].end].fill(PartDisposition::Hidden);
        }
        Ok(())
    }

    /// Shows the first part that has a text and attaches the others.
    fn keep_first(&mut self, parent: usize) {
        let first = self.children(parent).find(|child| self.leaf(*child, |_| true).is_some());
        for child in self.children(parent).filter(|child| Some(*child) != first) {
            self.dispositions[child..self.parts[child].end].fill(PartDisposition::Attached);
        }
    }

    /// Whether a plain text is empty, or only refers to the HTML.
    fn is_stub(&self, number: usize) -> Result<bool, ExtractError> {
        let part = &self.parts[number];
        if part.body.len() > STUB_BYTES {
            return Ok(false);
        }
        let text = plain::text(part, self.tracker)?;
        let text = text.trim();
        let names_html = || text.to_ascii_lowercase().contains("html");
        Ok(text.is_empty() || text.chars().count() <= STUB_CHARS && names_html())
    }

    /// Whether an HTML part has a text, which is stored in `ready`.
    fn is_page_with_text(&mut self, number: usize) -> Result<bool, ExtractError> {
        let mut text = String::new();
        match html::text(&self.parts[number], self.tracker, &mut text) {
            Ok(cut_quotes) if !text.trim().is_empty() => {
                self.ready = Some((number, text));
                self.cut_quotes |= cut_quotes;
                Ok(true)
            }
            Err(failure) if failure.is_limit() => Err(failure),
            _ => Ok(false),
        }
    }

    /// Appends the text of a part.
    fn text(&mut self, number: usize, out: &mut String) -> Result<(), ExtractError> {
        let part = &self.parts[number];
        let text = if is_page(&part.media) {
            let ready = self.ready.take_if(|(ready, _)| *ready == number);
            let mut text = ready.map(|(_, text)| text).unwrap_or_default();
            if text.is_empty() {
                self.cut_quotes |= html::text(part, self.tracker, &mut text)?;
            }
            Cow::Owned(text)
        } else {
            plain::text(part, self.tracker)?
        };
        let trimmed = text.trim_start();
        if self.blank && trimmed.starts_with("-----BEGIN PGP MESSAGE-----") {
            return Err(ExtractError::Encrypted);
        }
        self.blank &= trimmed.is_empty();
        self.tracker.charge_bytes(text.len())?;
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        let options = self.tracker.options;
        if options.quotes && options.signatures {
            out.push_str(&text);
            return Ok(());
        }
        let check = &mut || self.tracker.check_time();
        self.cut_quotes |= quotes::cut(&text, options, out, &mut self.signatures, check)?;
        Ok(())
    }
}

fn is_page(media: &str) -> bool {
    matches!(media, "text/html" | "application/xhtml+xml")
}

fn is_message(part: &MailPart<'_>) -> bool {
    part.media.starts_with("message/")
}

/// Whether a part is text for people. The message itself may be text even if it declares itself
/// attached.
fn is_text(part: &MailPart<'_>, number: usize) -> bool {
    if part.is_attached() && number != 0 {
        return false;
    }
    match part.media.strip_prefix("text/") {
        Some("plain" | "html" | "enriched" | "richtext") => true,
        Some(
            "calendar" | "vcard" | "x-vcard" | "directory" | "css" | "csv" | "javascript" | "xml"
            | "rfc822-headers" | "rtf",
        ) => false,
        Some(_) => super::attachment::declared(part).is_none(),
        None => is_page(&part.media),
    }
}

/// Whether a part is a cryptographic signature.
fn is_signature(part: &MailPart<'_>) -> bool {
    matches!(
        &*part.media,
        "application/pgp-signature"
            | "application/pkcs7-signature"
            | "application/x-pkcs7-signature"
    )
}

/// The error for a message that has no text besides this part.
fn sealing(part: &MailPart<'_>) -> Option<ExtractError> {
    if !matches!(&*part.media, "application/pkcs7-mime" | "application/x-pkcs7-mime") {
        return None;
    }
    match part.parameter("smime-type").map(str::to_ascii_lowercase).as_deref() {
        Some("signed-data") => {
            Some(ExtractError::Unsupported { kind: "a message inside of its signature".to_owned() })
        }
        Some("certs-only") => None,
        _ => Some(ExtractError::Encrypted),
    }
}
