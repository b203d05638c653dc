//! The parts of a message, in document order.

use super::header::MailHeader;
use super::transfer::TransferEncoding;
use super::words;
use crate::reading::{ExtractError, LimitKind, LimitTracker};
use mailparse::{ParsedContentDisposition, ParsedContentType};
use memchr::{memchr, memmem};

/// Maximum bytes read of a field with parameters.
const VALUE_BYTES: usize = 4 << 10;
/// Maximum bytes of a boundary; the standard allows 70, some senders use more.
const BOUNDARY_BYTES: usize = 256;

/// How a part relates to its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartRole {
    /// No children.
    Leaf,
    /// One content in several forms.
    Alternative,
    /// A text and the files that it refers to.
    Related,
    /// A text for people, and the same content for programs.
    Report,
    /// A sequence of parts. Also an inline message, whose content is its only child.
    Mixed,
    /// Requires a key.
    Encrypted,
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct MailPart<'a> {
    pub(super) role: PartRole,
    /// Lower case, such as `text/plain`.
    pub(super) media: String,
    pub(super) header: MailHeader<'a>,
    /// Encoded body.
    pub(super) body: &'a [u8],
    pub(super) parameters: ParsedContentType,
    pub(super) disposition: ParsedContentDisposition,
    /// The number after the last descendant.
    pub(super) end: usize,
    /// The number of the parent. The message itself is its own parent.
    pub(super) parent: usize,
}

impl MailPart<'_> {
    /// Whether the sender declares it an attachment.
    pub(super) fn is_attached(&self) -> bool {
        self.disposition.disposition == mailparse::DispositionType::Attachment
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.params.get(name).map(String::as_str)
    }
}

/// A part not yet parsed.
struct PendingPart<'a> {
    bytes: &'a [u8],
    depth: u32,
    parent: usize,
    /// The default media type.
    media: &'static str,
}

/// Lists all parts, each before its children; the first is the message. Every level costs one pass
/// over its bytes, and the number of levels is limited.
pub(super) fn list<'a>(
    header: MailHeader<'a>,
    body: &'a [u8],
    tracker: &LimitTracker<'_>,
) -> Result<Vec<MailPart<'a>>, ExtractError> {
    let mut parts: Vec<MailPart<'a>> = Vec::new();
    let mut pending = Vec::new();
    let mut next = Some((header, body, 0, 0, "text/plain"));
    while let Some((header, body, depth, parent, media)) = next {
        tracker.check_time()?;
        let number = parts.len();
        parts.push(part(header, body, parent, media));
        open(&mut parts[number], number, depth, &mut pending, tracker)?;
        next = match pending.pop() {
            Some(PendingPart { bytes, depth, parent, media }) => {
                let (header, body) = MailHeader::split(bytes, tracker)?;
                Some((header, body, depth, parent, media))
            }
            None => None,
        };
    }
    // In reverse, so that children precede their parents.
    for number in (0..parts.len()).rev() {
        let end = parts[number].end.max(number + 1);
        let parent = parts[number].parent;
        parts[number].end = end;
        parts[parent].end = parts[parent].end.max(end);
    }
    Ok(parts)
}

fn part<'a>(header: MailHeader<'a>, body: &'a [u8], parent: usize, media: &str) -> MailPart<'a> {
    let value = |raw: Option<&[u8]>| {
        let raw = raw.unwrap_or_default();
        let text = super::charset::decoded(&raw[..raw.len().min(VALUE_BYTES)], None);
        text.replace(['\r', '\n'], "")
    };
    let mut parameters = mailparse::parse_content_type(&value(header.content_type));
    let disposition = match header.disposition {
        Some(raw) => mailparse::parse_content_disposition(&value(Some(raw))),
        None => ParsedContentDisposition::default(),
    };
    let mut name = std::mem::take(&mut parameters.mimetype);
    if !name.split_once('/').is_some_and(|(kind, sub)| !kind.is_empty() && !sub.is_empty()) {
        media.clone_into(&mut name);
    }
    MailPart {
        role: PartRole::Leaf,
        media: name,
        header,
        body,
        parameters,
        disposition,
        end: 0,
        parent,
    }
}

/// Determines the role of a part, and pushes its children in reverse order.
fn open<'a>(
    part: &mut MailPart<'a>,
    number: usize,
    depth: u32,
    pending: &mut Vec<PendingPart<'a>>,
    tracker: &LimitTracker<'_>,
) -> Result<(), ExtractError> {
    let limits = tracker.options.limits;
    let first = pending.len();
    let mut media = "text/plain";
    if let Some(kind) = part.media.strip_prefix("multipart/") {
        part.role = match kind {
            "alternative" => PartRole::Alternative,
            "related" => PartRole::Related,
            "report" => PartRole::Report,
            "encrypted" => PartRole::Encrypted,
            _ => PartRole::Mixed,
        };
        if kind == "digest" {
            media = "message/rfc822";
        }
        let most = (limits.members as usize).saturating_sub(number + pending.len());
        for bytes in cut(part.body, part.parameter("boundary"), most, tracker)? {
            pending.push(PendingPart { bytes, depth: depth + 1, parent: number, media });
        }
    } else if is_message(part) {
        part.role = PartRole::Mixed;
        pending.push(PendingPart { bytes: part.body, depth: depth + 1, parent: number, media });
    }
    if pending.len() == first {
        // Without a boundary, the body is a text.
        if matches!(
            part.role,
            PartRole::Alternative | PartRole::Related | PartRole::Report | PartRole::Mixed
        ) {
            part.role = PartRole::Leaf;
            "text/plain".clone_into(&mut part.media);
        }
    } else if depth >= limits.depth {
        return Err(ExtractError::limited(LimitKind::PartDepth, limits.depth));
    }
    pending[first..].reverse();
    Ok(())
}

/// Whether a part is an inline message. A message that is attached, or encoded (which the standard
/// forbids), is a file.
fn is_message(part: &MailPart<'_>) -> bool {
    let known = matches!(&*part.media, "message/rfc822" | "message/global" | "message/news");
    let plain = TransferEncoding::of(part.header.transfer) == TransferEncoding::Identity;
    known && plain && !part.is_attached()
}

/// Splits the body of a multipart at its boundaries into at most `most` parts. Lines before the
/// first boundary are ignored; the last boundary is optional.
fn cut<'a>(
    body: &'a [u8],
    boundary: Option<&str>,
    most: usize,
    tracker: &LimitTracker<'_>,
) -> Result<Vec<&'a [u8]>, ExtractError> {
    let declared = boundary.map(|boundary| words::text(boundary.as_bytes()).trim_end().to_owned());
    let declared = declared.filter(|boundary| (1..=BOUNDARY_BYTES).contains(&boundary.len()));
    if let Some(boundary) = declared {
        let parts = cut_at(body, boundary.as_bytes(), most, tracker)?;
        if !parts.is_empty() {
            return Ok(parts);
        }
    }
    match guess(body) {
        Some(boundary) => cut_at(body, boundary, most, tracker),
        None => Ok(Vec::new()),
    }
}

fn cut_at<'a>(
    body: &'a [u8],
    boundary: &[u8],
    most: usize,
    tracker: &LimitTracker<'_>,
) -> Result<Vec<&'a [u8]>, ExtractError> {
    let mark = [b"--", boundary].concat();
    let finder = memmem::Finder::new(&mark);
    let mut parts = Vec::new();
    let mut at = 0;
    let mut start = None;
    while let Some(found) = finder.find(&body[at..]) {
        let found = at + found;
        at = found + mark.len();
        if found > 0 && body[found - 1] != b'\n' {
            continue;
        }
        let Some((last, next)) = line_rest(body, at) else { continue };
        if let Some(start) = start {
            if parts.len() >= most {
                let limit = tracker.options.limits.members;
                return Err(ExtractError::limited(LimitKind::Parts, limit));
            }
            parts.push(content(body, start, found));
        }
        start = Some(next);
        at = next;
        if last {
            start = None;
            break;
        }
    }
    if let Some(start) = start.filter(|start| *start < body.len()) {
        parts.push(&body[start..]);
    }
    Ok(parts)
}

/// Whether a boundary is the last one, and the start of the next line. `None` if the line continues
/// and is therefore not a boundary.
fn line_rest(body: &[u8], at: usize) -> Option<(bool, usize)> {
    let last = body[at..].starts_with(b"--");
    let at = at + if last { 2 } else { 0 };
    let rest = &body[at..];
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    match rest.get(blanks) {
        None => Some((last, body.len())),
        Some(b'\n') => Some((last, at + blanks + 1)),
        Some(_) => None,
    }
}

/// A part's bytes: the line end before a boundary belongs to the boundary.
fn content(body: &[u8], start: usize, end: usize) -> &[u8] {
    let part = body.get(start..end).unwrap_or_default();
    let part = part.strip_suffix(b"\n").unwrap_or(part);
    part.strip_suffix(b"\r").unwrap_or(part)
}

/// Guesses the boundary of a multipart: the first line that begins with two dashes and precedes a
/// header field of a part.
fn guess(body: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    while at < body.len() {
        let next = memchr(b'\n', &body[at..]).map_or(body.len(), |found| at + found + 1);
        let after = &body[next..];
        let boundary = body[at..next].trim_ascii_end().strip_prefix(b"--");
        let field = after.get(..8).is_some_and(|b| b.eq_ignore_ascii_case(b"content-"));
        if let Some(boundary) = boundary
            && field
            && (1..=BOUNDARY_BYTES).contains(&boundary.len())
        {
            return Some(boundary);
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::ExtractOptions;

    fn cut_text(body: &str, boundary: Option<&str>) -> Vec<String> {
        let options = ExtractOptions::default();
        let parts = cut(body.as_bytes(), boundary, 100, &LimitTracker::new(&options)).unwrap();
        parts.iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect()
    }

    #[test]
    fn boundaries_are_found() {
        let cases: [(&str, Option<&str>, &[&str]); 13] = [
            ("pre\n--x\na\n--x\nb\n--x--\nafter", Some("x"), &["a", "b"]),
            ("--x\r\na\r\n--x--\r\n", Some("x"), &["a"]),
            ("--x\na\n", Some("x"), &["a\n"]),
            ("--x\na\n--x", Some("x"), &["a"]),
            ("--x\n--x--", Some("x"), &[""]),
            ("--x  \na\n--x--\t\n", Some("x"), &["a"]),
            // A boundary that is a prefix of another boundary.
            ("--xy\na\n--x\nb\n--xy--", Some("xy"), &["a\n--x\nb"]),
            ("--x\na\n--xy\nb\n--x--", Some("x"), &["a\n--xy\nb"]),
            ("--x\na --x\n--x--", Some("x"), &["a --x"]),
            ("--x\nContent-Type: a\n\nb\n--x--", Some(""), &["Content-Type: a\n\nb"]),
            ("--x\nContent-Type: a\n\nb\n--x--", Some("z"), &["Content-Type: a\n\nb"]),
            ("--\na\n--\n", None, &[]),
            ("", Some("x"), &[]),
        ];
        for (body, boundary, expected) in cases {
            assert_eq!(cut_text(body, boundary), expected, "{body:?} {boundary:?}");
        }
    }
}
