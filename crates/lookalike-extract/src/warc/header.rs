//! Header fields of WARC records and of HTTP responses.

use memchr::memchr;

/// The lines above the first blank line, and the start of the body.
pub(super) fn header_and_body(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let mut at = 0;
    loop {
        let next = at + memchr(b'\n', &bytes[at..])? + 1;
        if bytes[at..next].trim_ascii().is_empty() {
            return Some((&bytes[..at], next));
        }
        at = next;
    }
}

/// The value of the first field `name`.
pub(super) fn field<'a>(header: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut rest = header;
    while !rest.is_empty() {
        let (line, after) = rest.split_at(memchr(b'\n', rest).map_or(rest.len(), |end| end + 1));
        rest = after;
        if let Some(colon) = memchr(b':', line)
            && line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes())
        {
            return Some(line[colon + 1..].trim_ascii());
        }
    }
    None
}
