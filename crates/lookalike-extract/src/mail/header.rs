//! The header of a message or of a part, parsed in one pass.

use crate::reading::{CHECK_INTERVAL_BYTES, ExtractError, LimitTracker};
use memchr::memchr;

/// The raw value of the first occurrence of each field that this crate uses. Other fields are
/// skipped, so that memory does not depend on the number of fields.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct MailHeader<'a> {
    pub(super) subject: Option<&'a [u8]>,
    pub(super) from: Option<&'a [u8]>,
    pub(super) to: Option<&'a [u8]>,
    pub(super) message_id: Option<&'a [u8]>,
    pub(super) date: Option<&'a [u8]>,
    pub(super) content_type: Option<&'a [u8]>,
    pub(super) transfer: Option<&'a [u8]>,
    pub(super) disposition: Option<&'a [u8]>,
}

impl<'a> MailHeader<'a> {
    /// Splits a message or a part into header and body. The header ends at a blank line, or before
    /// the first line that is not part of a header.
    pub(super) fn split(
        bytes: &'a [u8],
        tracker: &LimitTracker<'_>,
    ) -> Result<(Self, &'a [u8]), ExtractError> {
        let mut header = Self::default();
        let mut field: Option<(usize, usize)> = None;
        let mut at = 0;
        let mut checked = 0;
        loop {
            if at - checked >= CHECK_INTERVAL_BYTES {
                checked = at;
                tracker.check_time()?;
            }
            let next = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found + 1);
            let line = &bytes[at..next];
            let blank = line.iter().all(u8::is_ascii_whitespace);
            if line.is_empty() || blank && (!is_fold(line) || !continues(&bytes[next..])) {
                header.keep(bytes, field, at);
                return Ok((header, &bytes[next..]));
            }
            if is_fold(line) && field.is_some() {
                at = next;
                continue;
            }
            header.keep(bytes, field, at);
            if let Some(colon) = colon(line) {
                field = Some((at, at + colon));
            } else if at == 0 && (line.starts_with(b"From ") || line.starts_with(b">From ")) {
                field = None;
            } else {
                return Ok((header, &bytes[at..]));
            }
            at = next;
        }
    }

    /// Stores the value of a field, from its colon to `end`.
    fn keep(&mut self, bytes: &'a [u8], field: Option<(usize, usize)>, end: usize) {
        let Some((start, colon)) = field else { return };
        let name = bytes[start..colon].trim_ascii_end();
        if !(2..=25).contains(&name.len()) {
            return;
        }
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        let slot = match name[0].to_ascii_lowercase() {
            b's' if is("subject") => &mut self.subject,
            b'f' if is("from") => &mut self.from,
            b't' if is("to") => &mut self.to,
            b'm' if is("message-id") => &mut self.message_id,
            b'd' if is("date") => &mut self.date,
            b'c' if is("content-type") => &mut self.content_type,
            b'c' if is("content-transfer-encoding") => &mut self.transfer,
            b'c' if is("content-disposition") => &mut self.disposition,
            _ => return,
        };
        slot.get_or_insert(bytes[colon + 1..end].trim_ascii());
    }
}

fn is_fold(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

/// Whether a header continues after a line of blanks.
fn continues(rest: &[u8]) -> bool {
    let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
    colon(line).is_some() || is_fold(line) && !line.trim_ascii().is_empty()
}

/// The position of the colon, if the line begins with a field name.
pub(super) fn colon(line: &[u8]) -> Option<usize> {
    let end = line.iter().position(|byte| *byte == b':' || !byte.is_ascii_graphic())?;
    let blanks = line[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (end > 0 && line.get(end + blanks) == Some(&b':')).then_some(end + blanks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::ExtractOptions;

    fn cut(text: &str) -> (Option<String>, Option<String>, String) {
        let options = ExtractOptions::default();
        let (header, body) =
            MailHeader::split(text.as_bytes(), &LimitTracker::new(&options)).unwrap();
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
        (header.subject.map(text), header.to.map(text), text(body))
    }

    #[test]
    fn headers_end_before_the_body() {
        let cases = [
            ("Subject: a\nTo: b\n\nbody", (Some("a"), Some("b"), "body")),
            ("subject : a\r\n b\r\nTO:b\r\n\r\nbody", (Some("a\r\n b"), Some("b"), "body")),
            ("Subject: a\nno field\nmore", (Some("a"), None, "no field\nmore")),
            ("no header", (None, None, "no header")),
            ("\nTo: x", (None, None, "To: x")),
            ("", (None, None, "")),
            ("From x\nTo: a", (None, Some("a"), "")),
            ("Subject: a\nSubject: b\n\n", (Some("a"), None, "")),
            ("Subject: a\n \t\nTo: b\n\nbody", (Some("a"), Some("b"), "body")),
            ("Subject: a\n \nbody", (Some("a"), None, "body")),
            (" folded\nTo: b\n\n", (None, None, " folded\nTo: b\n\n")),
            (": x\n", (None, None, ": x\n")),
        ];
        for (text, (subject, to, body)) in cases {
            let expected = (subject.map(str::to_owned), to.map(str::to_owned), body.to_owned());
            assert_eq!(cut(text), expected, "{text:?}");
        }
    }
}
