//! The text of a plain text part.

use super::charset;
use super::parts::MailPart;
use super::transfer::TransferEncoding;
use crate::reading::{ExtractError, LimitTracker};
use memchr::memchr;
use std::borrow::Cow;

/// The text of a part with `\n` as line ends, and with flowed paragraphs joined (RFC 3676).
pub(super) fn text<'a>(
    part: &MailPart<'a>,
    tracker: &LimitTracker<'_>,
) -> Result<Cow<'a, str>, ExtractError> {
    let text = match TransferEncoding::of(part.header.transfer).decode(part.body, tracker)? {
        Cow::Borrowed(bytes) => charset::decoded(bytes, part.parameter("charset")),
        Cow::Owned(bytes) => {
            Cow::Owned(charset::decoded(&bytes, part.parameter("charset")).into_owned())
        }
    };
    tracker.check_time()?;
    let text = line_feeds(text);
    let has = |name, value: &str| {
        part.parameter(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
    };
    Ok(match &*part.media {
        "text/plain" if has("format", "flowed") => Cow::Owned(flowed(&text, has("delsp", "yes"))),
        "text/enriched" | "text/richtext" => Cow::Owned(unmarked(&text)),
        _ => text,
    })
}

/// Converts `\r\n` and `\r` to `\n`.
fn line_feeds(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some(mut found) = memchr(b'\r', text.as_bytes()) else { return text };
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    loop {
        out.push_str(&rest[..found]);
        out.push('\n');
        rest = &rest[found + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
        match memchr(b'\r', rest.as_bytes()) {
            Some(next) => found = next,
            None => break,
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Joins a line that ends with a blank to the next line if both have the same quote depth.
fn flowed(text: &str, delete_space: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // Quote depth of the unfinished paragraph.
    let mut open_depth: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let depth = line.bytes().take_while(|byte| *byte == b'>').count();
        let content = &line[depth..];
        let content = content.strip_prefix(' ').unwrap_or(content);
        let signature = content == "-- ";
        if open_depth.is_some() && (open_depth != Some(depth) || signature) {
            out.push('\n');
            open_depth = None;
        }
        if open_depth.is_none() && depth > 0 {
            out.extend(std::iter::repeat_n('>', depth));
            out.push(' ');
        }
        let flows = content.ends_with(' ') && !signature;
        if flows {
            open_depth = Some(depth);
            out.push_str(if delete_space { &content[..content.len() - 1] } else { content });
        } else {
            open_depth = None;
            out.push_str(content);
            out.push_str(end);
        }
    }
    out
}

/// Enriched text without its commands; `<<` represents `<`.
fn unmarked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('<') {
            out.push('<');
            rest = after;
            continue;
        }
        rest = after;
        if let Some(end) = after.as_bytes().iter().take(64).position(|byte| *byte == b'>') {
            rest = &after[end + 1..];
        } else {
            out.push('<');
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined() {
        let cases = [
            ("a \nb\nc", false, "a b\nc"),
            ("a \nb", true, "ab"),
            ("> a \n> b\n>> c \nd", false, "> a b\n>> c \nd"),
            (" > no quote\n From", false, "> no quote\nFrom"),
            ("text \n-- \nme", false, "text \n-- \nme"),
            ("a \n\nb", false, "a \nb"),
            ("", false, ""),
            ("a \n", false, "a "),
        ];
        for (text, delete, expected) in cases {
            assert_eq!(flowed(text, delete), expected, "{text:?}");
        }
    }

    #[test]
    fn line_ends_are_line_feeds() {
        for (text, expected) in [("a\r\nb\rc\nd", "a\nb\nc\nd"), ("\r\r\n", "\n\n"), ("a\r", "a\n")]
        {
            assert_eq!(line_feeds(Cow::Borrowed(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn commands_of_enriched_text_go() {
        assert_eq!(unmarked("<bold>a</bold> << b < c"), "a < b < c");
    }
}
