//! Bytes of unknown encoding → text.

use super::compress::Stream;
use super::error::{ReadError, SkipReason};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;
use std::io::{self, Read};

/// Bytes that the detector of encodings looks at.
const EVIDENCE_BYTES: usize = 1 << 20;
/// Bytes decoded at a time by [`transcode`].
const STEP_BYTES: usize = 64 << 10;

/// The encoding a label names.
pub(super) fn by_label(label: &str) -> Result<&'static Encoding, ReadError> {
    Encoding::for_label(label.as_bytes())
        .ok_or_else(|| ReadError::UnknownEncoding { got: label.to_owned() })
}

/// What a byte order mark says.
#[derive(Clone, Copy)]
enum Mark {
    Utf32 { big_endian: bool },
    Other(&'static Encoding),
}

fn mark(bytes: &[u8]) -> Option<Mark> {
    // UTF-32LE first: its mark begins with that of UTF-16LE.
    if bytes.starts_with(&[0xFF, 0xFE, 0, 0]) {
        Some(Mark::Utf32 { big_endian: false })
    } else if bytes.starts_with(&[0, 0, 0xFE, 0xFF]) {
        Some(Mark::Utf32 { big_endian: true })
    } else {
        Encoding::for_bom(bytes).map(|(encoding, _)| Mark::Other(encoding))
    }
}

/// Whether the first bytes of a file promise that it is binary: a NUL where no byte order mark
/// and no forced UTF-16 explains it.
pub(super) fn is_binary(bytes: &[u8], forced: Option<&'static Encoding>) -> bool {
    let wide = match mark(bytes) {
        Some(Mark::Utf32 { .. }) => true,
        Some(Mark::Other(encoding)) => encoding != UTF_8,
        None => forced.is_some_and(|e| e == UTF_16LE || e == UTF_16BE),
    };
    !wide && memchr::memchr(0, bytes).is_some()
}

/// The text of a whole file. The encoding is, in this order: the forced one; that of the byte
/// order mark; UTF-8 if the bytes are valid (a character cut at the very end is forgiven); what
/// the detector makes of up to 1 MiB. What has no meaning in it becomes U+FFFD.
///
/// # Errors
/// [`SkipReason::Binary`] for a NUL byte outside of UTF-16 and UTF-32.
pub(super) fn decode<'a>(
    bytes: &'a [u8],
    forced: Option<&'static Encoding>,
) -> Result<Cow<'a, str>, SkipReason> {
    if is_binary(bytes, forced) {
        return Err(SkipReason::Binary);
    }
    if let Some(encoding) = forced {
        return Ok(encoding.decode_with_bom_removal(bytes).0);
    }
    match mark(bytes) {
        Some(Mark::Utf32 { big_endian }) => {
            let mut text = String::with_capacity(bytes.len() / 4);
            let chars = bytes.get(4..).unwrap_or_default().chunks(4);
            text.extend(chars.map(|unit| utf32(unit, big_endian)));
            return Ok(Cow::Owned(text));
        }
        Some(Mark::Other(encoding)) => return Ok(encoding.decode_with_bom_removal(bytes).0),
        None => {}
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error) if error.error_len().is_none() => Ok(String::from_utf8_lossy(bytes)),
        Err(_) => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
            let evidence = &bytes[..bytes.len().min(EVIDENCE_BYTES)];
            detector.feed(evidence, evidence.len() == bytes.len());
            let encoding = detector.guess(None, Utf8Detection::Deny);
            Ok(encoding.decode_without_bom_handling(bytes).0)
        }
    }
}

fn utf32(unit: &[u8], big_endian: bool) -> char {
    let code = <[u8; 4]>::try_from(unit)
        .map(|unit| if big_endian { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) });
    code.ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A stream of records as UTF-8: decoded when an encoding is forced or `head`, the stream's first
/// bytes (at least four where it has them), is a mark of UTF-16 or UTF-32; `None` when the stream
/// can be read as it is. `stream` begins with `head`.
pub(super) fn transcode(
    head: &[u8],
    forced: Option<&'static Encoding>,
    stream: Stream,
) -> Result<Stream, Stream> {
    let unit = match (forced, mark(head)) {
        (Some(encoding), _) if encoding == UTF_8 => return Err(stream),
        (Some(encoding), _) => Units::Other(encoding.new_decoder_with_bom_removal()),
        (None, Some(Mark::Other(encoding))) if encoding != UTF_8 => {
            Units::Other(encoding.new_decoder_with_bom_removal())
        }
        (None, Some(Mark::Utf32 { big_endian })) => Units::Utf32 { big_endian },
        (None, _) => return Err(stream),
    };
    Ok(Box::new(Transcoder {
        stream,
        unit,
        input: Vec::new(),
        text: String::new(),
        given: 0,
        ended: false,
    }))
}

enum Units {
    Utf32 { big_endian: bool },
    Other(Decoder),
}

struct Transcoder {
    stream: Stream,
    unit: Units,
    /// Bytes read and not decoded yet: less than one character between two steps.
    input: Vec<u8>,
    text: String,
    /// Bytes of `text` given out.
    given: usize,
    ended: bool,
}

impl Transcoder {
    /// Decodes the next bytes into `text`, which stays empty at the end of the stream only.
    fn step(&mut self) -> io::Result<()> {
        self.text.clear();
        self.given = 0;
        while self.text.is_empty() && !self.ended {
            let kept = self.input.len();
            self.input.resize(kept + STEP_BYTES, 0);
            let got = self.stream.read(&mut self.input[kept..])?;
            self.input.truncate(kept + got);
            let last = got == 0;
            self.ended = last;
            match &mut self.unit {
                Units::Utf32 { big_endian } => {
                    let whole = if last { self.input.len() } else { self.input.len() / 4 * 4 };
                    let chars = self.input[..whole].chunks(4).map(|u| utf32(u, *big_endian));
                    // The mark itself is no text.
                    self.text.extend(chars.filter(|&c| c != '\u{FEFF}'));
                    self.input.drain(..whole);
                }
                Units::Other(decoder) => {
                    let room = decoder.max_utf8_buffer_length(self.input.len());
                    self.text.reserve(room.unwrap_or(STEP_BYTES * 3));
                    // There is room for all of it.
                    let _ = decoder.decode_to_string(&self.input, &mut self.text, last);
                    self.input.clear();
                }
            }
        }
        Ok(())
    }
}

impl Read for Transcoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() {
            self.step()?;
        }
        let rest = &self.text.as_bytes()[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}
