//! Splits mailboxes into messages.
//!
//! No library is used, because the reader splits a prefix of a mailbox. No library has been
//! compared (November 2026). For the speed, see the messages that begin with `From ` in
//! `bench/matrix.md`.

use super::header;
use crate::kind::is_separator;
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Splits off the first message of a mailbox, or of a prefix of one. Returns the number of bytes
/// consumed, and the message without its separator line and the blank line at its end. `None` if
/// the message is incomplete (`at_end` is false) or missing.
///
/// After `None`, the caller retries with at least twice as many bytes, so that the total time is
/// linear. The messages do not depend on how the bytes are divided.
///
/// A message begins at a line with `From `, an address and a date. This line is the first, or
/// follows a blank line. The next line is a header field or begins with `>From `. `Content-Length`
/// is unreliable and ignored. Lines that begin with one or more `>` and then `From ` lose one `>`
/// (the variant mboxrd).
pub fn next_message(bytes: &[u8], at_end: bool) -> Option<(usize, Cow<'_, [u8]>)> {
    if bytes.is_empty() {
        return None;
    }
    let first = match memchr(b'\n', bytes) {
        Some(end) if is_separator(&bytes[..end]) => end + 1,
        None if !at_end => return None,
        None if is_separator(bytes) => bytes.len(),
        _ => 0,
    };
    let mut at = first.saturating_sub(1);
    for found in memmem::find_iter(&bytes[at..], b"\nFrom ") {
        at = first.saturating_sub(1) + found + 1;
        if !is_blank_before(bytes, first, at) {
            continue;
        }
        match message_start(&bytes[at..], at_end) {
            MessageStart::Yes => return Some((at, content(&bytes[first..at]))),
            MessageStart::No => {}
            MessageStart::Unknown => return None,
        }
    }
    at_end.then(|| (bytes.len(), content(&bytes[first..])))
}

/// Whether the line that ends before `at` is blank, or is the separator line of the message.
fn is_blank_before(bytes: &[u8], first: usize, at: usize) -> bool {
    let before = &bytes[first..at];
    let Some(line) = before.strip_suffix(b"\n") else { return at == first && first > 0 };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.is_empty() || line.ends_with(b"\n")
}

enum MessageStart {
    Yes,
    No,
    /// Depends on lines not yet read.
    Unknown,
}

/// Whether a message begins at `bytes`.
fn message_start(bytes: &[u8], at_end: bool) -> MessageStart {
    let unknown = if at_end { MessageStart::No } else { MessageStart::Unknown };
    let Some(end) = memchr(b'\n', bytes) else { return unknown };
    if !is_separator(&bytes[..end]) {
        return MessageStart::No;
    }
    let next = &bytes[end + 1..];
    let next = match memchr(b'\n', next) {
        Some(end) => &next[..end],
        None if at_end => next,
        None => return MessageStart::Unknown,
    };
    let is_start = header::colon(next).is_some() || next.starts_with(b">From ");
    if is_start { MessageStart::Yes } else { MessageStart::No }
}

/// A message without the blank line at its end, and with its `From ` lines unescaped.
fn content(bytes: &[u8]) -> Cow<'_, [u8]> {
    let blank = if bytes.ends_with(b"\n\r\n") { 2 } else { usize::from(bytes.ends_with(b"\n\n")) };
    let bytes = &bytes[..bytes.len() - blank];
    let mut out = Vec::new();
    let mut kept = 0;
    for at in memmem::find_iter(bytes, b">From ") {
        let marks = bytes[kept..at].iter().rev().take_while(|byte| **byte == b'>').count();
        if at > marks && bytes[at - marks - 1] == b'\n' {
            out.extend_from_slice(&bytes[kept..at]);
            kept = at + 1;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(bytes);
    }
    out.extend_from_slice(&bytes[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FROM: &str = "From a@b Thu Jan  1 00:00:00 1970\n";

    fn messages(text: &[u8]) -> Vec<Vec<u8>> {
        let (mut rest, mut all) = (text, Vec::new());
        while let Some((length, message)) = next_message(rest, true) {
            assert!(length > 0);
            all.push(message.into_owned());
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
        all
    }

    /// The messages of a reader that reads `step` bytes at a time.
    fn streamed(text: &[u8], step: usize) -> Vec<Vec<u8>> {
        let (mut buffer, mut all, mut read) = (Vec::new(), Vec::new(), 0);
        loop {
            while let Some((length, message)) = next_message(&buffer, read == text.len()) {
                all.push(message.into_owned());
                buffer.drain(..length);
            }
            if read == text.len() {
                return all;
            }
            let end = text.len().min(read + step);
            buffer.extend_from_slice(&text[read..end]);
            read = end;
        }
    }

    #[test]
    fn messages_are_cut() {
        let cases: [(String, &[&str]); 9] = [
            (format!("{FROM}To: a\n\nb\n\n{FROM}To: c\n\nd\n"), &["To: a\n\nb\n", "To: c\n\nd\n"]),
            (format!("{FROM}To: a\n\nb\n{FROM}To: c\n"), &[&*format!("To: a\n\nb\n{FROM}To: c\n")]),
            (format!("To: a\n\nb\n\n{FROM}To: c"), &["To: a\n\nb\n", "To: c"]),
            (
                format!("{FROM}To: a\n\n>From x\n>>From y\n> From z\na >From\n"),
                &["To: a\n\nFrom x\n>From y\n> From z\na >From\n"],
            ),
            (
                format!("{FROM}To: a\n\nb\n\nFrom me to you\n\nc"),
                &["To: a\n\nb\n\nFrom me to you\n\nc"],
            ),
            (
                format!("{FROM}To: a\n\nb\n\n{FROM}no header\n"),
                &[&*format!("To: a\n\nb\n\n{FROM}no header\n")],
            ),
            (format!("{FROM}To: a\n\n{FROM}To: b\n"), &["To: a\n", "To: b\n"]),
            (
                FROM.replace('\n', "\r\n") + "To: a\r\n\r\nb\r\n\r\n" + FROM + "To: c\n",
                &["To: a\r\n\r\nb\r\n", "To: c\n"],
            ),
            (FROM.to_owned(), &[""]),
        ];
        for (text, expected) in cases {
            let got = messages(text.as_bytes());
            let got: Vec<_> = got.iter().map(|m| str::from_utf8(m).unwrap()).collect();
            assert_eq!(got, expected, "{text:?}");
        }
        assert!(messages(b"").is_empty());
    }

    proptest! {
        #[test]
        fn streamed_pieces_give_equal_messages(
            lines in proptest::collection::vec(0_usize..8, 0..40),
            step in 1_usize..90,
        ) {
            let known = [FROM, "\n", "To: a\n", ">From x\n", "From \n", "text\n", "\r\n", "From a"];
            let text: String = lines.iter().map(|line| known[*line]).collect();
            prop_assert_eq!(streamed(text.as_bytes(), step), messages(text.as_bytes()));
        }

        #[test]
        fn any_bytes_are_all_done(bytes: Vec<u8>) {
            messages(&bytes);
        }
    }
}
