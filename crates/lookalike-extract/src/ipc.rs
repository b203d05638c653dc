//! The protocol between an extractor and its worker process. A message is its length, then
//! numbers (8 bytes, little-endian) and strings (length, then bytes).

use crate::error::ExtractError;
use crate::fields::Fields;
use crate::kind::FileKind;
use crate::options::{ExtractOptions, HtmlText, Limits};
use crate::sandbox::{Task, TaskOutcome};
use std::io::{self, Read, Write};
use std::time::Duration;

/// Kinds that can be sent, each encoded as its index.
const KINDS: [FileKind; 9] = [
    FileKind::Text,
    FileKind::Html,
    FileKind::Pdf,
    FileKind::Rtf,
    FileKind::Docx,
    FileKind::Pptx,
    FileKind::Xlsx,
    FileKind::Odf,
    FileKind::Epub,
];
/// Protocol version, the first number of a task.
const VERSION: u64 = 1;
/// Maximum bytes of a message in addition to the file or the text.
const OVERHEAD_BYTES: u64 = 64 << 20;

/// Sends a task without copying the bytes of the file.
pub(crate) fn send_task(task: &Task<'_>, to: &mut dyn Write) -> io::Result<()> {
    let kind = KINDS.iter().position(|kind| *kind == task.kind).unwrap_or(0);
    let ExtractOptions { html, quotes, signatures, attachments, limits, worker: _ } = &task.options;
    let flags = u64::from(*html == HtmlText::All)
        | u64::from(*quotes) << 1
        | u64::from(*signatures) << 2
        | u64::from(*attachments) << 3;
    let time = u64::try_from(limits.time.as_nanos()).unwrap_or(u64::MAX);
    let numbers = [
        VERSION,
        kind as u64,
        flags,
        limits.bytes,
        limits.expanded,
        limits.depth.into(),
        limits.members.into(),
        limits.pages.into(),
        time,
    ];
    let mut head = ((numbers.len() * 8 + task.bytes.len()) as u64).to_le_bytes().to_vec();
    head.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    to.write_all(&head)?;
    to.write_all(task.bytes)?;
    to.flush()
}

/// `None` for an invalid message.
pub(crate) fn decode_task(message: &[u8]) -> Option<Task<'_>> {
    let mut from = MessageReader(message);
    if from.number()? != VERSION {
        return None;
    }
    let kind = *KINDS.get(usize::try_from(from.number()?).ok()?)?;
    let flags = from.number()?;
    let flag = |bit: u64| flags >> bit & 1 == 1;
    let limits = Limits {
        bytes: from.number()?,
        expanded: from.number()?,
        depth: u32::try_from(from.number()?).ok()?,
        members: u32::try_from(from.number()?).ok()?,
        pages: u32::try_from(from.number()?).ok()?,
        time: Duration::from_nanos(from.number()?),
    };
    let options = ExtractOptions {
        html: if flag(0) { HtmlText::All } else { HtmlText::Main },
        quotes: flag(1),
        signatures: flag(2),
        attachments: flag(3),
        limits,
        worker: None,
    };
    Some(Task { kind, bytes: from.0, options })
}

/// The message of a task; `None` at the end of the input.
pub(crate) fn receive_task(from: &mut dyn Read) -> io::Result<Option<Vec<u8>>> {
    match receive(from, u64::MAX) {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// A message with a text of at most `max_text` bytes. Memory grows with the bytes received, not
/// with the declared length.
pub(crate) fn receive(from: &mut dyn Read, max_text: u64) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > max_text.saturating_add(OVERHEAD_BYTES) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = Vec::new();
    from.take(length).read_to_end(&mut message)?;
    if message.len() as u64 == length {
        Ok(message)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

pub(crate) fn send_outcome(decode_outcome: &TaskOutcome, to: &mut dyn Write) -> io::Result<()> {
    let mut message = Vec::new();
    put_number(&mut message, decode_outcome.expanded);
    put_failure(&mut message, decode_outcome.failure.as_ref());
    for name in Fields::NAMES {
        put_text(&mut message, decode_outcome.fields.get(name).unwrap_or_default());
    }
    let length = (message.len() + decode_outcome.text.len()) as u64;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&message)?;
    to.write_all(decode_outcome.text.as_bytes())?;
    to.flush()
}

/// `None` for an invalid message.
pub(crate) fn decode_outcome(message: &[u8]) -> Option<TaskOutcome> {
    let mut from = MessageReader(message);
    let expanded = from.number()?;
    let failure = from.failure()?;
    let mut fields = Fields::default();
    for name in Fields::NAMES {
        fields.set(name, from.text()?);
    }
    let text = std::str::from_utf8(from.0).ok()?.to_owned();
    Some(TaskOutcome { text, fields, expanded, failure })
}

fn put_number(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&number.to_le_bytes());
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    put_number(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// Code, text and number of a failure; code 0 represents success.
fn put_failure(to: &mut Vec<u8>, failure: Option<&ExtractError>) {
    let (code, text, number) = match failure {
        None => (0, "", 0),
        Some(ExtractError::Unsupported { kind }) => (1, kind.as_str(), 0),
        Some(ExtractError::Binary) => (2, "", 0),
        Some(ExtractError::Encrypted) => (3, "", 0),
        Some(ExtractError::NoText { kind }) => (4, kind.as_str(), 0),
        Some(ExtractError::Damaged { what }) => (5, what.as_str(), 0),
        Some(ExtractError::Limit { what, limit }) => (6, what.as_str(), *limit),
        Some(ExtractError::TooSlow { seconds }) => (7, "", *seconds),
        Some(ExtractError::Crashed { what }) => (8, what.as_str(), 0),
    };
    put_number(to, code);
    put_text(to, text);
    put_number(to, number);
}

/// The unread rest of a message.
struct MessageReader<'a>(&'a [u8]);

impl<'a> MessageReader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(head).ok()
    }

    /// `None` for an invalid message, `Some(None)` for success.
    #[expect(clippy::option_option, reason = "one of the message, the other of the task")]
    fn failure(&mut self) -> Option<Option<ExtractError>> {
        let (code, text, number) = (self.number()?, self.text()?.to_owned(), self.number()?);
        Some(Some(match code {
            0 => return Some(None),
            1 => ExtractError::Unsupported { kind: text },
            2 => ExtractError::Binary,
            3 => ExtractError::Encrypted,
            4 => ExtractError::NoText { kind: text },
            5 => ExtractError::Damaged { what: text },
            6 => ExtractError::Limit { what: text, limit: number },
            7 => ExtractError::TooSlow { seconds: number },
            8 => ExtractError::Crashed { what: text },
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures() -> Vec<ExtractError> {
        let text = || "something".to_owned();
        vec![
            ExtractError::Unsupported { kind: text() },
            ExtractError::Binary,
            ExtractError::Encrypted,
            ExtractError::NoText { kind: text() },
            ExtractError::Damaged { what: text() },
            ExtractError::Limit { what: text(), limit: 7 },
            ExtractError::TooSlow { seconds: 60 },
            ExtractError::Crashed { what: text() },
        ]
    }

    #[test]
    fn outcomes_round_trip() {
        for failure in failures().into_iter().map(Some).chain([None]) {
            let mut fields = Fields::default();
            fields.set("title", "Ü");
            let sent = TaskOutcome { text: "é\u{c}".to_owned(), fields, expanded: 9, failure };
            let mut bytes = Vec::new();
            send_outcome(&sent, &mut bytes).expect("memory");
            let message = receive(&mut bytes.as_slice(), 1 << 10).expect("a message");
            assert_eq!(decode_outcome(&message), Some(sent));
            for cut in 0..message.len() - 3 {
                assert!(decode_outcome(&message[..cut]).is_none(), "{cut}");
            }
        }
    }

    #[test]
    fn tasks_round_trip() {
        let mut options =
            ExtractOptions { html: HtmlText::All, quotes: true, ..ExtractOptions::default() };
        options.limits.pages = 3;
        let sent = Task { kind: FileKind::Docx, bytes: b"PK", options };
        let mut bytes = Vec::new();
        send_task(&sent, &mut bytes).expect("memory");
        let message = receive_task(&mut bytes.as_slice()).expect("a message").expect("a task");
        let got = decode_task(&message).expect("a task");
        assert_eq!((got.kind, got.bytes, got.options), (sent.kind, sent.bytes, sent.options));
        assert!(receive_task(&mut io::empty()).expect("the end").is_none());
        assert!(decode_task(&message[..8]).is_none());
    }

    #[test]
    fn message_length_is_limited() {
        let bytes = (OVERHEAD_BYTES + 11).to_le_bytes();
        let error = receive(&mut bytes.as_slice(), 10).expect_err("too long");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
