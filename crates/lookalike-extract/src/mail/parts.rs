//! The parts of a message, as a list in the order of the text.

use super::header::Header;
use super::words;
use crate::failure::Failure;
use crate::job::Job;
use mailparse::{ParsedContentDisposition, ParsedContentType};
use memchr::{memchr, memmem};

/// The longest value of a field with parameters that is read.
const VALUE_BYTES: usize = 4 << 10;
/// The longest boundary; the standard has 70, senders have more.
const BOUNDARY_BYTES: usize = 256;

/// What a part is to those in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Has no parts.
    Leaf,
    /// The same content in several forms.
    Alternative,
    /// A text and what it refers to.
    Related,
    /// A text for people, and the same for programs.
    Report,
    /// One after the other. Also a message in the message: it has one part.
    Mixed,
    /// Needs a key.
    Encrypted,
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) role: Role,
    /// Lower case, such as `text/plain`.
    pub(super) media: String,
    pub(super) header: Header<'a>,
    /// As it stands in the message.
    pub(super) body: &'a [u8],
    pub(super) parameters: ParsedContentType,
    pub(super) disposition: ParsedContentDisposition,
    /// The number behind the last part that is in this one.
    pub(super) end: usize,
    /// The number of the part that this is in; of the message itself, its own.
    pub(super) parent: usize,
}

impl Part<'_> {
    /// Whether the sender says that it is a file of its own.
    pub(super) fn is_attached(&self) -> bool {
        self.disposition.disposition == mailparse::DispositionType::Attachment
    }

    pub(super) fn charset(&self) -> Option<&str> {
        self.parameters.params.get("charset").map(String::as_str)
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.params.get(name).map(String::as_str)
    }
}

/// Bytes that are a part or will be cut into several.
struct Pending<'a> {
    bytes: &'a [u8],
    depth: u32,
    parent: usize,
    /// What it is if it does not say so.
    media: &'static str,
}

/// Lists all parts, each before those in it. The first is the message. Every level of parts in
/// parts costs one pass over its bytes, and there are no more levels than the limit.
pub(super) fn list<'a>(
    header: Header<'a>,
    body: &'a [u8],
    job: &Job<'_>,
) -> Result<Vec<Part<'a>>, Failure> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    let mut pending = Vec::new();
    let mut next = Some((header, body, 0, 0, "text/plain"));
    while let Some((header, body, depth, parent, media)) = next {
        job.in_time()?;
        let number = parts.len();
        parts.push(part(header, body, parent, media));
        open(&mut parts[number], number, depth, &mut pending, job)?;
        next = match pending.pop() {
            Some(Pending { bytes, depth, parent, media }) => {
                let (header, body) = Header::cut(bytes, job)?;
                Some((header, body, depth, parent, media))
            }
            None => None,
        };
    }
    // From the last, so that what is in a part is known before it.
    for number in (0..parts.len()).rev() {
        let (end, parent) = (parts[number].end.max(number + 1), parts[number].parent);
        parts[number].end = end;
        parts[parent].end = parts[parent].end.max(end);
    }
    Ok(parts)
}

fn part<'a>(header: Header<'a>, body: &'a [u8], parent: usize, media: &str) -> Part<'a> {
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
    Part { role: Role::Leaf, media: name, header, body, parameters, disposition, end: 0, parent }
}

/// Finds what role a part has, and cuts it into those in it, the last on top.
fn open<'a>(
    part: &mut Part<'a>,
    number: usize,
    depth: u32,
    pending: &mut Vec<Pending<'a>>,
    job: &Job<'_>,
) -> Result<(), Failure> {
    let limits = job.options.limits;
    let first = pending.len();
    let mut media = "text/plain";
    if let Some(kind) = part.media.strip_prefix("multipart/") {
        part.role = match kind {
            "alternative" => Role::Alternative,
            "related" => Role::Related,
            "report" => Role::Report,
            "encrypted" => Role::Encrypted,
            _ => Role::Mixed,
        };
        if kind == "digest" {
            media = "message/rfc822";
        }
        let most = (limits.members as usize).saturating_sub(number + pending.len());
        for bytes in cut(part.body, part.parameter("boundary"), most, job)? {
            pending.push(Pending { bytes, depth: depth + 1, parent: number, media });
        }
    } else if is_message(part) {
        part.role = Role::Mixed;
        pending.push(Pending { bytes: part.body, depth: depth + 1, parent: number, media });
    }
    if pending.len() == first {
        // No boundary was found: what there is, is a text.
        if matches!(part.role, Role::Alternative | Role::Related | Role::Report | Role::Mixed) {
            part.role = Role::Leaf;
            "text/plain".clone_into(&mut part.media);
        }
    } else if depth >= limits.depth {
        let what = "levels of parts in a message".to_owned();
        return Err(Failure::Limit { what, limit: limits.depth.into() });
    }
    pending[first..].reverse();
    Ok(())
}

/// Whether a part is a message that is shown within its own. One that is attached, or encoded
/// (which the standard forbids), is a file.
fn is_message(part: &Part<'_>) -> bool {
    let known = matches!(&*part.media, "message/rfc822" | "message/global" | "message/news");
    let plain =
        super::transfer::Transfer::of(part.header.transfer) == super::transfer::Transfer::Identity;
    known && plain && !part.is_attached()
}

/// Cuts the body of a multipart at its boundaries, `most` times at most. Lines before the first
/// belong to nothing; a last one that is missing is forgiven.
fn cut<'a>(
    body: &'a [u8],
    boundary: Option<&str>,
    most: usize,
    job: &Job<'_>,
) -> Result<Vec<&'a [u8]>, Failure> {
    let declared = boundary.map(|boundary| words::text(boundary.as_bytes()).trim_end().to_owned());
    let declared = declared.filter(|boundary| (1..=BOUNDARY_BYTES).contains(&boundary.len()));
    if let Some(boundary) = declared {
        let parts = cut_at(body, boundary.as_bytes(), most, job)?;
        if !parts.is_empty() {
            return Ok(parts);
        }
    }
    match guess(body) {
        Some(boundary) => cut_at(body, boundary, most, job),
        None => Ok(Vec::new()),
    }
}

fn cut_at<'a>(
    body: &'a [u8],
    boundary: &[u8],
    most: usize,
    job: &Job<'_>,
) -> Result<Vec<&'a [u8]>, Failure> {
    let mark = [b"--", boundary].concat();
    let finder = memmem::Finder::new(&mark);
    let mut parts = Vec::new();
    let (mut at, mut start) = (0, None);
    while let Some(found) = finder.find(&body[at..]) {
        let found = at + found;
        at = found + mark.len();
        if found > 0 && body[found - 1] != b'\n' {
            continue;
        }
        let Some((last, next)) = line_rest(body, at) else { continue };
        if let Some(start) = start {
            if parts.len() >= most {
                let limit = job.options.limits.members.into();
                return Err(Failure::Limit { what: "parts of a message".to_owned(), limit });
            }
            parts.push(content(body, start, found));
        }
        (start, at) = (Some(next), next);
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

/// What stands behind a boundary: whether it is the last one, and where the next line begins.
/// `None` where the line goes on, so that it is none.
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

/// The boundary that a multipart seems to have: the first line that begins with two dashes and is
/// followed by a field of a part's header.
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
    use crate::options::Options;

    fn cut_text(body: &str, boundary: Option<&str>) -> Vec<String> {
        let options = Options::default();
        let parts = cut(body.as_bytes(), boundary, 100, &Job::new(&options)).unwrap();
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
            // A boundary that another one begins with.
            ("--xy\na\n--x\nb\n--xy--", Some("xy"), &["a\n--x\nb"]),
            ("--x\na\n--xy\nb\n--x--", Some("x"), &["a\n--xy\nb"]),
            ("--x\na --x\n--x--", Some("x"), &["a --x"]),
            ("--x\nContent-Type: a\n\nb\n--x--", Some(""), &["Content-Type: a\n\nb"]),
            ("--x\nContent-Type: a\n\nb\n--x--", Some("z"), &["Content-Type: a\n\nb"]),
            ("--\na\n--\n", None, &[]),
            ("", Some("x"), &[]),
        ];
        for (body, boundary, wanted) in cases {
            assert_eq!(cut_text(body, boundary), wanted, "{body:?} {boundary:?}");
        }
    }
}
