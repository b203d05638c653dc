//! Tasks and what became of them as bytes: a length, then numbers (8 bytes, little-endian) and
//! strings (their length, then their bytes).

use crate::failure::Failure;
use crate::fields::Fields;
use crate::guard::{Done, Task};
use crate::kind::Kind;
use crate::options::{HtmlText, Limits, Options};
use std::io::{self, Read, Write};
use std::time::Duration;

/// Kinds that can be sent; its place here is the number of a kind.
const KINDS: [Kind; 9] = [
    Kind::Text,
    Kind::Html,
    Kind::Pdf,
    Kind::Rtf,
    Kind::Docx,
    Kind::Pptx,
    Kind::Xlsx,
    Kind::Odf,
    Kind::Epub,
];
/// The first number of a task; another version has another one.
const VERSION: u64 = 1;
/// Bytes of a message beside the file or the text.
const MORE_BYTES: u64 = 64 << 20;

/// Sends a task. Its bytes are not copied.
pub(crate) fn send_task(task: &Task<'_>, to: &mut dyn Write) -> io::Result<()> {
    let kind = KINDS.iter().position(|kind| *kind == task.kind).unwrap_or(0);
    let Options { html, quotes, signatures, attachments, limits, worker: _ } = &task.options;
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

/// The task in a message.
pub(crate) fn task(message: &[u8]) -> Option<Task<'_>> {
    let mut from = Reader(message);
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
    let options = Options {
        html: if flag(0) { HtmlText::All } else { HtmlText::Main },
        quotes: flag(1),
        signatures: flag(2),
        attachments: flag(3),
        limits,
        worker: None,
    };
    Some(Task { kind, bytes: from.0, options })
}

/// The message of a task; `None` where the input ends.
pub(crate) fn receive_task(from: &mut dyn Read) -> io::Result<Option<Vec<u8>>> {
    match receive(from, u64::MAX) {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// A message, whose text is at most `most` bytes long. Memory grows with what really comes.
pub(crate) fn receive(from: &mut dyn Read, most: u64) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > most.saturating_add(MORE_BYTES) {
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

/// Sends what became of a task.
pub(crate) fn send_done(done: &Done, to: &mut dyn Write) -> io::Result<()> {
    let mut message = Vec::new();
    put_number(&mut message, done.expanded);
    put_failure(&mut message, done.failure.as_ref());
    for name in Fields::NAMES {
        put_text(&mut message, done.fields.get(name).unwrap_or_default());
    }
    let length = (message.len() + done.text.len()) as u64;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&message)?;
    to.write_all(done.text.as_bytes())?;
    to.flush()
}

/// What became of a task, from its message.
pub(crate) fn done(message: &[u8]) -> Option<Done> {
    let mut from = Reader(message);
    let expanded = from.number()?;
    let failure = from.failure()?;
    let mut fields = Fields::default();
    for name in Fields::NAMES {
        fields.set(name, from.text()?);
    }
    let text = std::str::from_utf8(from.0).ok()?.to_owned();
    Some(Done { text, fields, expanded, failure })
}

fn put_number(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&number.to_le_bytes());
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    put_number(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// Its number, what it says and the number in it.
fn put_failure(to: &mut Vec<u8>, failure: Option<&Failure>) {
    let (code, text, number) = match failure {
        None => (0, "", 0),
        Some(Failure::Unsupported { kind }) => (1, kind.as_str(), 0),
        Some(Failure::Binary) => (2, "", 0),
        Some(Failure::Encrypted) => (3, "", 0),
        Some(Failure::NoText { kind }) => (4, kind.as_str(), 0),
        Some(Failure::Damaged { what }) => (5, what.as_str(), 0),
        Some(Failure::Limit { what, limit }) => (6, what.as_str(), *limit),
        Some(Failure::TooSlow { seconds }) => (7, "", *seconds),
        Some(Failure::Crashed { what }) => (8, what.as_str(), 0),
    };
    put_number(to, code);
    put_text(to, text);
    put_number(to, number);
}

/// The rest of a message.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
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

    /// `None` where it makes no sense, `Some(None)` where there is no failure.
    #[expect(clippy::option_option, reason = "one is of the message, the other of the task")]
    fn failure(&mut self) -> Option<Option<Failure>> {
        let (code, text, number) = (self.number()?, self.text()?.to_owned(), self.number()?);
        Some(Some(match code {
            0 => return Some(None),
            1 => Failure::Unsupported { kind: text },
            2 => Failure::Binary,
            3 => Failure::Encrypted,
            4 => Failure::NoText { kind: text },
            5 => Failure::Damaged { what: text },
            6 => Failure::Limit { what: text, limit: number },
            7 => Failure::TooSlow { seconds: number },
            8 => Failure::Crashed { what: text },
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures() -> Vec<Failure> {
        let text = || "something".to_owned();
        vec![
            Failure::Unsupported { kind: text() },
            Failure::Binary,
            Failure::Encrypted,
            Failure::NoText { kind: text() },
            Failure::Damaged { what: text() },
            Failure::Limit { what: text(), limit: 7 },
            Failure::TooSlow { seconds: 60 },
            Failure::Crashed { what: text() },
        ]
    }

    #[test]
    fn what_became_of_a_task_arrives() {
        for failure in failures().into_iter().map(Some).chain([None]) {
            let mut fields = Fields::default();
            fields.set("title", "Ü");
            let sent = Done { text: "é\u{c}".to_owned(), fields, expanded: 9, failure };
            let mut bytes = Vec::new();
            send_done(&sent, &mut bytes).expect("memory");
            let message = receive(&mut bytes.as_slice(), 1 << 10).expect("a message");
            assert_eq!(done(&message), Some(sent));
            for cut in 0..message.len() - 3 {
                assert!(done(&message[..cut]).is_none(), "{cut}");
            }
        }
    }

    #[test]
    fn tasks_arrive() {
        let mut options = Options { html: HtmlText::All, quotes: true, ..Options::default() };
        options.limits.pages = 3;
        let sent = Task { kind: Kind::Docx, bytes: b"PK", options };
        let mut bytes = Vec::new();
        send_task(&sent, &mut bytes).expect("memory");
        let message = receive_task(&mut bytes.as_slice()).expect("a message").expect("a task");
        let got = task(&message).expect("a task");
        assert_eq!((got.kind, got.bytes, got.options), (sent.kind, sent.bytes, sent.options));
        assert!(receive_task(&mut io::empty()).expect("the end").is_none());
        assert!(task(&message[..8]).is_none());
    }

    #[test]
    fn no_message_is_longer_than_it_may_be() {
        let bytes = (MORE_BYTES + 11).to_le_bytes();
        let error = receive(&mut bytes.as_slice(), 10).expect_err("too long");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
