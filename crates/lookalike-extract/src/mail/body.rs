//! Which parts of a message are its text, and which are attachments.

use super::attachment::Names;
use super::parts::{Part, Role};
use super::signature::Signatures;
use super::transfer::Transfer;
use super::{html, plain, quotes};
use crate::failure::Failure;
use crate::fields::CutText;
use crate::job::Job;
use std::borrow::Cow;

/// The longest plain text, as it stands in the message, that may only say that there is a page.
const STUB_BYTES: usize = 4 << 10;
/// The longest such text in characters.
const STUB_CHARS: usize = 400;

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Belongs to the body if it is a text, is attached if not.
    Shown,
    /// Is another form of what is shown. Only files in it are attached.
    Hidden,
    /// Is attached whatever it is.
    Attached,
}

/// Goes through the parts of one message.
pub(super) struct Reader<'r, 'a> {
    job: &'r Job<'r>,
    parts: &'r [Part<'a>],
    fates: Vec<Fate>,
    /// The number and the text of a page that was read already, to see whether it has one.
    ready: Option<(usize, String)>,
    /// Whether quoted text was cut.
    cut_quotes: bool,
    /// Whether no part so far had a text.
    blank: bool,
    signatures: Signatures,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(super) fn new(job: &'r Job<'r>, parts: &'r [Part<'a>]) -> Self {
        let (fates, signatures) = (vec![Fate::Shown; parts.len()], Signatures::default());
        Self { job, parts, fates, ready: None, cut_quotes: false, blank: true, signatures }
    }

    /// Writes the text, and the attachments if they are wanted, and says how much was cut as
    /// signatures, and whether quoted text was. A part of the body that cannot be read is a failure
    /// of the message: the rest would pass for all of it.
    pub(super) fn read(
        mut self,
        out: &mut String,
        attachments: &mut Vec<(String, Cow<'a, [u8]>)>,
    ) -> Result<(CutText, bool), Failure> {
        let mut names = Names::default();
        let mut sealed = None;
        let mut number = 0;
        while let Some(part) = self.parts.get(number) {
            self.job.in_time()?;
            let fate = self.fates[number];
            let file = match part.role {
                Role::Encrypted if fate == Fate::Shown => return Err(Failure::Encrypted),
                Role::Alternative if fate == Fate::Shown => self.choose(number)?,
                Role::Related | Role::Report if fate == Fate::Shown => self.keep_first(number),
                // A message that is not shown is a file as a whole.
                Role::Mixed if fate == Fate::Attached && is_message(part) => true,
                Role::Leaf => match (fate, is_text(part, number)) {
                    (Fate::Shown, true) => {
                        self.text(number, out)?;
                        false
                    }
                    (Fate::Shown, false) => {
                        sealed = sealed.or(sealing(part));
                        true
                    }
                    (Fate::Hidden, text) => !text,
                    (Fate::Attached, _) => true,
                },
                _ => false,
            };
            if file && self.job.options.attachments && !is_signature(part) {
                let content = Transfer::of(part.header.transfer).decode(part.body, self.job)?;
                attachments.push((names.name(part), content));
            }
            number = if file { part.end } else { number + 1 };
        }
        match sealed {
            Some(failure) if out.trim().is_empty() => Err(failure),
            _ => Ok((self.signatures.cut(out), self.cut_quotes)),
        }
    }

    /// The numbers of the parts that are directly in a part.
    fn children(&self, parent: usize) -> impl Iterator<Item = usize> + use<'r, 'a> {
        let parts = self.parts;
        let end = parts[parent].end;
        let within = move |child: usize| (child < end).then_some(child);
        std::iter::successors(within(parent + 1), move |child| within(parts[*child].end))
    }

    /// The first text of one kind in a part.
    fn leaf(&self, within: usize, wanted: fn(&str) -> bool) -> Option<usize> {
        (within..self.parts[within].end).find(|number| {
            let part = &self.parts[*number];
            part.role == Role::Leaf && wanted(&part.media) && is_text(part, *number)
        })
    }

    /// Hides all alternatives but one.
    fn choose(&mut self, parent: usize) -> Result<bool, Failure> {
        let find = |wanted: fn(&str) -> bool| {
            self.children(parent).find_map(|child| Some((child, self.leaf(child, wanted)?)))
        };
        let page = find(is_page);
        let chosen = match (find(|media| media == "text/plain"), page) {
            (Some((plain, leaf)), Some((page, page_leaf))) if plain != page => {
                if self.is_stub(leaf)? && self.is_page_with_text(page_leaf)? { page } else { plain }
            }
            (Some((child, _)), _) | (None, Some((child, _))) => child,
            (None, None) => match find(|_| true) {
                Some((child, _)) => child,
                None => return Ok(false),
            },
        };
        for child in self.children(parent).filter(|child| *child != chosen) {
            self.fates[child..self.parts[child].end].fill(Fate::Hidden);
        }
        Ok(false)
    }

    /// Shows the first part that has a text; the others are attached.
    fn keep_first(&mut self, parent: usize) -> bool {
        let first = self.children(parent).find(|child| self.leaf(*child, |_| true).is_some());
        for child in self.children(parent).filter(|child| Some(*child) != first) {
            self.fates[child..self.parts[child].end].fill(Fate::Attached);
        }
        false
    }

    /// Whether a plain text is empty, or only says that there is a page.
    fn is_stub(&self, number: usize) -> Result<bool, Failure> {
        let part = &self.parts[number];
        if part.body.len() > STUB_BYTES {
            return Ok(false);
        }
        let text = plain::text(part, self.job)?;
        let text = text.trim();
        let names_html = || text.to_ascii_lowercase().contains("html");
        Ok(text.is_empty() || text.chars().count() <= STUB_CHARS && names_html())
    }

    /// Whether a page can be read and has a text, which is kept.
    fn is_page_with_text(&mut self, number: usize) -> Result<bool, Failure> {
        let mut text = String::new();
        match html::text(&self.parts[number], self.job, &mut text) {
            Ok(cut_quotes) if !text.trim().is_empty() => {
                self.ready = Some((number, text));
                self.cut_quotes |= cut_quotes;
                Ok(true)
            }
            Err(failure @ (Failure::Limit { .. } | Failure::TooSlow { .. })) => Err(failure),
            _ => Ok(false),
        }
    }

    /// Appends the text of a part.
    fn text(&mut self, number: usize, out: &mut String) -> Result<(), Failure> {
        let part = &self.parts[number];
        let text = if is_page(&part.media) {
            let ready = self.ready.take_if(|(ready, _)| *ready == number);
            let mut text = ready.map(|(_, text)| text).unwrap_or_default();
            if text.is_empty() {
                self.cut_quotes |= html::text(part, self.job, &mut text)?;
            }
            Cow::Owned(text)
        } else {
            plain::text(part, self.job)?
        };
        let shown = text.trim_start();
        if self.blank && shown.starts_with("-----BEGIN PGP MESSAGE-----") {
            return Err(Failure::Encrypted);
        }
        self.blank &= shown.is_empty();
        self.job.expand(text.len())?;
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        let options = self.job.options;
        if options.quotes && options.signatures {
            out.push_str(&text);
            return Ok(());
        }
        let check = &mut || self.job.in_time();
        self.cut_quotes |= quotes::cut(&text, options, out, &mut self.signatures, check)?;
        Ok(())
    }
}

fn is_page(media: &str) -> bool {
    matches!(media, "text/html" | "application/xhtml+xml")
}

fn is_message(part: &Part<'_>) -> bool {
    part.media.starts_with("message/")
}

/// Whether a part is text for people. The message itself is, even if it says that it is attached.
fn is_text(part: &Part<'_>, number: usize) -> bool {
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

/// Whether a part vouches for others and has no content of its own.
fn is_signature(part: &Part<'_>) -> bool {
    matches!(
        &*part.media,
        "application/pgp-signature"
            | "application/pkcs7-signature"
            | "application/x-pkcs7-signature"
    )
}

/// Why a message has no text if it has nothing but this part.
fn sealing(part: &Part<'_>) -> Option<Failure> {
    if !matches!(&*part.media, "application/pkcs7-mime" | "application/x-pkcs7-mime") {
        return None;
    }
    match part.parameter("smime-type").map(str::to_ascii_lowercase).as_deref() {
        Some("signed-data") => {
            Some(Failure::Unsupported { kind: "a message inside of its signature".to_owned() })
        }
        Some("certs-only") => None,
        _ => Some(Failure::Encrypted),
    }
}
