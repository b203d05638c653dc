//! The protocol between an extractor and its worker process. A message consists of its length (8
//! bytes, little-endian), the length of its header, the header in JSON, and the bytes of the file
//! or of the text. The sender does not copy these bytes.

use crate::reading::{ExtractError, ExtractOptions, Fields};
use crate::worker::sandbox::{PdfTask, TaskOutcome};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Maximum bytes of a message in addition to the file or the text.
const OVERHEAD_BYTES: u64 = 64 << 20;

/// The header of an outcome: expanded bytes, and the values of [`Fields::NAMES`] of a text.
#[derive(Serialize, Deserialize)]
struct OutcomeHeader {
    expanded: u64,
    read: Result<Vec<String>, ExtractError>,
}

pub(crate) fn send_task(task: &PdfTask<'_>, to: &mut dyn Write) -> io::Result<()> {
    send(&task.options, task.bytes, to)
}

/// `None` for an invalid message.
pub(crate) fn decode_task(message: &[u8]) -> Option<PdfTask<'_>> {
    let (options, bytes): (ExtractOptions, _) = decode(message)?;
    Some(PdfTask { bytes, options })
}

pub(crate) fn send_outcome(outcome: &TaskOutcome, to: &mut dyn Write) -> io::Result<()> {
    let value = |fields: &Fields, name| fields.get(name).unwrap_or_default().to_owned();
    let (text, read) = match &outcome.read {
        Ok((text, fields)) => {
            (text.as_str(), Ok(Fields::NAMES.map(|name| value(fields, name)).to_vec()))
        }
        Err(failure) => ("", Err(failure.clone())),
    };
    send(&OutcomeHeader { expanded: outcome.expanded, read }, text.as_bytes(), to)
}

/// `None` for an invalid message.
pub(crate) fn decode_outcome(message: &[u8]) -> Option<TaskOutcome> {
    let (OutcomeHeader { expanded, read }, text) = decode(message)?;
    let text = std::str::from_utf8(text).ok()?;
    let read = read.map(|values| {
        let mut fields = Fields::default();
        for (name, value) in Fields::NAMES.into_iter().zip(&values) {
            fields.set(name, value);
        }
        (text.to_owned(), fields)
    });
    Some(TaskOutcome { expanded, read })
}

fn send(header: &impl Serialize, body: &[u8], to: &mut dyn Write) -> io::Result<()> {
    let header = serde_json::to_vec(header)?;
    let length = (8 + header.len() + body.len()) as u64;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(&header)?;
    to.write_all(body)?;
    to.flush()
}

fn decode<T: DeserializeOwned>(message: &[u8]) -> Option<(T, &[u8])> {
    let (length, rest) = message.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (header, body) = rest.split_at_checked(length)?;
    Some((serde_json::from_slice(header).ok()?, body))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{HtmlText, LimitKind};

    fn failures() -> Vec<ExtractError> {
        let text = || "something".to_owned();
        vec![
            ExtractError::Unsupported { kind: text() },
            ExtractError::Binary,
            ExtractError::Encrypted,
            ExtractError::NoText { kind: text() },
            ExtractError::Damaged { what: text() },
            ExtractError::Limit { kind: LimitKind::Pages, limit: 7 },
            ExtractError::TooSlow { seconds: 60 },
            ExtractError::Crashed { what: text() },
        ]
    }

    #[test]
    fn outcomes_round_trip() {
        let mut fields = Fields::default();
        fields.set("title", "Ü");
        let texts = ["é\u{c}", ""].map(|text| Ok((text.to_owned(), fields.clone())));
        for read in failures().into_iter().map(Err).chain(texts) {
            let sent = TaskOutcome { expanded: 9, read };
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
        let sent = PdfTask { bytes: b"PK", options };
        let mut bytes = Vec::new();
        send_task(&sent, &mut bytes).expect("memory");
        let message = receive_task(&mut bytes.as_slice()).expect("a message").expect("a task");
        let got = decode_task(&message).expect("a task");
        assert_eq!((got.bytes, got.options), (sent.bytes, sent.options));
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
