//! The standard streams. Everything that the command prints passes through a [`TerminalStream`].
//!
//! On a terminal, control characters and bidirectional controls of names and texts are shown as
//! escapes (`\u{1b}`, or `\u001b` in JSON), and only a [`Style`] takes effect. Anywhere else, names
//! and texts are written unchanged.

use anstream::AutoStream;
use anstream::stream::{AsLockedWrite, RawStream};
use clap::ValueEnum;
use lookalike::report::phrases::{is_hidden, one_line};
use std::fmt;
use std::hash::BuildHasher;
use std::io::{self, StderrLock, StdoutLock, Write};
use std::sync::LazyLock;

const ESC: u8 = 0x1b;

/// The prefix of a [`Style`]'s control sequences: ESC and a number that is random in each process,
/// so that no name and no text can contain it.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let random = std::hash::RandomState::new().hash_one(0);
    format!("\u{1b}{random:016x}")
});

/// The option `--color`.
#[derive(Debug, clap::Args)]
pub(crate) struct ColorArgs {
    /// When to print colours; `auto`: on terminals, unless `NO_COLOR` is set
    #[arg(id = "color", long, global = true, value_enum, value_name = "WHEN")]
    #[arg(default_value = "auto", help_heading = "Output on terminals")]
    pub(crate) when: ColorWhen,
}

/// When colours are printed. The variants have no documentation of their own: with it, every
/// `--help` would take the long form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    /// Applies to every stream that is opened afterwards.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::AlwaysAnsi,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// A colour or an effect. `{style}` begins it, `{style:#}` ends it.
///
/// On a terminal, a style takes effect. Control sequences in names and texts do not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Style(anstyle::Style);

impl Style {
    pub(crate) const PLAIN: Self = Self(anstyle::Style::new());
    pub(crate) const BOLD: Self = Self(anstyle::Style::new().bold());
    pub(crate) const DIMMED: Self = Self(anstyle::Style::new().dimmed());

    pub(crate) const fn new(style: anstyle::Style) -> Self {
        Self(style)
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sequences =
            if f.alternate() { format!("{:#}", self.0) } else { self.0.render().to_string() };
        f.write_str(&trusted(&sequences))
    }
}

/// Marks the control sequences of a text as part of a [`Style`]. The text must not contain input.
pub(crate) fn trusted(text: &str) -> String {
    text.replace('\u{1b}', &MARK)
}

/// Standard output; locked.
pub(crate) type Stdout = TerminalStream<AutoStream<StdoutLock<'static>>>;

/// Opens standard output.
pub(crate) fn stdout() -> Stdout {
    TerminalStream::open(io::stdout().lock())
}

/// Opens standard error.
pub(crate) fn stderr() -> TerminalStream<AutoStream<StderrLock<'static>>> {
    TerminalStream::open(io::stderr().lock())
}

/// Opens standard error without locking it between writes.
#[cfg(feature = "serve")]
pub(crate) fn shared_stderr() -> TerminalStream<AutoStream<io::Stderr>> {
    TerminalStream::open(io::stderr())
}

/// Writes what the process has buffered for standard output.
pub(crate) fn flush() {
    // Output that cannot be written was reported where it was printed.
    let _ = io::stdout().flush();
}

/// Columns of a terminal that does not report them.
const DEFAULT_COLUMNS: usize = 80;

/// Columns of the terminal at standard output: the number that the terminal reports, else `COLUMNS`
/// in the environment, else 80.
#[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
pub(crate) fn columns() -> usize {
    let reported = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    let set = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    reported.or_else(set).filter(|columns| *columns > 0).unwrap_or(DEFAULT_COLUMNS)
}

/// A standard stream.
#[derive(Debug)]
pub(crate) struct TerminalStream<W: Write> {
    out: W,
    is_terminal: bool,
    has_colors: bool,
    is_json: bool,
    /// The beginning of a character or of a control sequence.
    pending: Vec<u8>,
}

impl<S: RawStream + AsLockedWrite> TerminalStream<AutoStream<S>> {
    fn open(raw: S) -> Self {
        let is_terminal = raw.is_terminal();
        let has_colors = AutoStream::choice(&raw) != anstream::ColorChoice::Never;
        // Consoles of Windows may need translation. Nothing else is changed by `AutoStream`.
        let translate = is_terminal && has_colors;
        let out = if translate { AutoStream::always(raw) } else { AutoStream::always_ansi(raw) };
        Self::new(out, is_terminal, has_colors)
    }
}

impl<W: Write> TerminalStream<W> {
    fn new(out: W, is_terminal: bool, has_colors: bool) -> Self {
        Self { out, is_terminal, has_colors, is_json: false, pending: Vec::new() }
    }

    /// A stream of JSON, which uses the escapes of JSON on a terminal.
    pub(crate) fn json(self) -> Self {
        self.json_if(true)
    }

    /// A stream of JSON or of plain text.
    pub(crate) fn json_if(mut self, is_json: bool) -> Self {
        self.is_json = is_json;
        self
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    pub(crate) fn has_colors(&self) -> bool {
        self.has_colors
    }

    /// Prints a message that contains names. On a terminal it takes one line, so that a line break
    /// in a name cannot imitate another message.
    pub(crate) fn message(&mut self, message: &str) -> io::Result<()> {
        if self.is_terminal {
            writeln!(self, "{}", one_line(message))
        } else {
            writeln!(self, "{message}")
        }
    }

    /// Writes the pending bytes. Holds back an incomplete end, unless no more bytes follow
    /// (`last`).
    fn drain(&mut self, last: bool) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let mut escaped = Vec::with_capacity(pending.len());
        let mut rest = pending.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == ESC).unwrap_or(rest.len());
            if end > 0 {
                let is_last = last || end < rest.len();
                let used = self.show(&rest[..end], is_last, &mut escaped);
                rest = &rest[used..];
                if used < end {
                    break;
                }
                continue;
            }
            match styled(rest) {
                EscapeSequence::Sequence(sequence, length) => {
                    if self.has_colors {
                        escaped.push(ESC);
                        escaped.extend_from_slice(sequence);
                    }
                    rest = &rest[length..];
                }
                EscapeSequence::Incomplete if !last => break,
                EscapeSequence::Incomplete | EscapeSequence::Other => {
                    self.show(&rest[..1], true, &mut escaped);
                    rest = &rest[1..];
                }
            }
        }
        self.pending = rest.to_vec();
        self.out.write_all(&escaped)
    }

    /// Appends text as the stream shows it, and returns the number of used bytes. Does not use an
    /// incomplete character at the end, unless no more bytes follow (`last`).
    fn show(&self, text: &[u8], last: bool, escaped: &mut Vec<u8>) -> usize {
        if !self.is_terminal {
            escaped.extend_from_slice(text);
            return text.len();
        }
        let mut used = 0;
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c == '\n' || !is_hidden(c) {
                    escaped.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                } else if self.is_json {
                    escaped.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
                } else {
                    escaped.extend(c.escape_default().map(|c| c as u8));
                }
            }
            used += chunk.valid().len();
            let is_end = used + chunk.invalid().len() == text.len();
            if is_end && !last && is_beginning(chunk.invalid()) {
                return used;
            }
            used += chunk.invalid().len();
            for byte in chunk.invalid() {
                escaped.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
            }
        }
        used
    }
}

/// Whether bytes are the beginning of a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Bytes that begin with ESC.
enum EscapeSequence<'a> {
    /// The sequence of a [`Style`] without ESC, and the bytes that it takes with the mark.
    Sequence(&'a [u8], usize),
    /// The beginning of such a sequence.
    Incomplete,
    /// Anything else.
    Other,
}

fn styled(bytes: &[u8]) -> EscapeSequence<'_> {
    let mark = MARK.as_bytes();
    if bytes.len() < mark.len() {
        return if mark.starts_with(bytes) {
            EscapeSequence::Incomplete
        } else {
            EscapeSequence::Other
        };
    }
    let Some(sequence) = bytes.strip_prefix(mark) else { return EscapeSequence::Other };
    match sequence.iter().position(|byte| *byte == b'm') {
        Some(end) => EscapeSequence::Sequence(&sequence[..=end], mark.len() + end + 1),
        None => EscapeSequence::Incomplete,
    }
}

impl<W: Write> Write for TerminalStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal && self.pending.is_empty() && !bytes.contains(&ESC) {
            self.out.write_all(bytes)?;
        } else {
            self.pending.extend_from_slice(bytes);
            self.drain(false)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain(true)?;
        self.out.flush()
    }
}

impl<W: Write> Drop for TerminalStream<W> {
    fn drop(&mut self) {
        // A destructor cannot report a failure.
        let _ = self.drain(true);
    }
}

/// Returns the text that a pipe receives when `write` prints.
#[cfg(test)]
pub(crate) fn piped(write: impl FnOnce(&mut TerminalStream<&mut Vec<u8>>)) -> String {
    let mut bytes = Vec::new();
    write(&mut TerminalStream::new(&mut bytes, false, false));
    String::from_utf8(bytes).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[31mb\u{1b}]0;t\u{7}\u{9b}2J\r\t\u{7f}\u{202e}\u{2066}é\u{0}";

    fn printed(is_terminal: bool, has_colors: bool, is_json: bool, pieces: &[&[u8]]) -> String {
        let mut bytes = Vec::new();
        let mut stream = TerminalStream::new(&mut bytes, is_terminal, has_colors).json_if(is_json);
        for piece in pieces {
            assert_eq!(stream.write(piece).unwrap(), piece.len());
        }
        drop(stream);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn terminal_output_escapes_foreign_sequences() {
        let text = format!("{0}{HOSTILE}{0:#}\n", Style::BOLD);
        let escaped =
            "a\\u{1b}[31mb\\u{1b}]0;t\\u{7}\\u{9b}2J\\r\\t\\u{7f}\\u{202e}\\u{2066}é\\u{0}";
        let expected = format!("\u{1b}[1m{escaped}\u{1b}[0m\n");
        assert_eq!(printed(true, true, false, &[text.as_bytes()]), expected);
        let plain = format!("{escaped}\n");
        assert_eq!(printed(true, false, false, &[text.as_bytes()]), plain);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(printed(true, true, false, &bytes), expected, "byte by byte");
        for size in 2..20 {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(printed(true, true, false, &pieces), expected, "{size} bytes at a time");
        }
    }

    #[test]
    fn piped_output_keeps_names_unchanged() {
        let text = format!("{0}{HOSTILE}{0:#}\n", Style::BOLD);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        for pieces in [&[text.as_bytes()][..], &bytes] {
            assert_eq!(printed(false, false, false, pieces), format!("{HOSTILE}\n"));
            let styled = format!("\u{1b}[1m{HOSTILE}\u{1b}[0m\n");
            assert_eq!(printed(false, true, false, pieces), styled);
        }
        assert_eq!(printed(false, false, false, &[b"a", b"\x1b"]), "a\u{1b}");
    }

    #[test]
    fn escaped_json_keeps_its_value() {
        let value = serde_json::json!({ "id": "a\u{9b}\u{202e}\u{7f}\u{1b}\n", "n": [1, "é"] });
        let text = format!("{value:#}\n");
        let escaped = printed(true, true, true, &[text.as_bytes()]);
        assert!(!escaped.contains(['\u{9b}', '\u{202e}', '\u{7f}', '\u{1b}']), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn invalid_utf8_bytes_are_escaped() {
        assert_eq!(printed(true, true, false, &[b"a\x9b2J\xc3"]), "a\\x9b2J\\xc3");
        assert_eq!(printed(true, true, false, &["é".as_bytes().split_at(1).0, b"\xa9"]), "é");
    }

    #[test]
    fn terminal_messages_take_one_line() {
        let message = |is_terminal| {
            let mut bytes = Vec::new();
            TerminalStream::new(&mut bytes, is_terminal, false)
                .message("error: a\nerror: b")
                .unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(message(true), "error: a\\nerror: b\n");
        assert_eq!(message(false), "error: a\nerror: b\n");
    }
}
