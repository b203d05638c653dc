//! Streams of records in encodings other than UTF-8.
//!
//! `encoding_rs` contains the decoders. `encoding_rs_io` is not used, because it has neither UTF-32
//! nor UTF-16 without a mark. Its speed was not compared (November 2026).

use crate::bytes::decompress::ByteStream;
use encoding_rs::{Decoder, Encoding, UTF_8};
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use lookalike_extract::encoding::{Mark, mark, unmarked_utf_16, utf32};
use std::io::{self, Read};

/// Number of bytes decoded at a time by [`transcode`].
const STEP_BYTES: usize = 64 << 10;

/// The encoding with a label.
pub(crate) fn by_label(label: &str) -> Result<&'static Encoding, ParamsError> {
    let unknown = || ParamsError::Parse {
        parameter: Parameter::Encoding,
        got: label.to_owned(),
        expected: "a label of the WHATWG Encoding Standard such as utf-8, windows-1252, utf-16le, \
                   shift_jis or gb18030",
    };
    Encoding::for_label(label.as_bytes()).ok_or_else(unknown)
}

/// The bytes after a UTF-8 byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Converts a stream of records to UTF-8 if an encoding is given, or if the stream begins with a
/// mark of UTF-16 or UTF-32 or looks like UTF-16 without a mark. `head` contains the first bytes of
/// `stream`, at least four if it has that many. A stream that needs no decoding is returned
/// unchanged as the error.
pub(crate) fn transcode(
    head: &[u8],
    forced: Option<&'static Encoding>,
    stream: ByteStream,
) -> Result<ByteStream, ByteStream> {
    let unit = match (forced, mark(head)) {
        (Some(encoding), _) if encoding == UTF_8 => return Err(stream),
        (Some(encoding), _) => Units::Other(encoding.new_decoder_with_bom_removal()),
        (None, Some(Mark::Other(encoding))) if encoding != UTF_8 => {
            Units::Other(encoding.new_decoder_with_bom_removal())
        }
        (None, Some(Mark::Utf32 { big_endian })) => Units::Utf32 { big_endian },
        (None, None) => match unmarked_utf_16(head) {
            Some(encoding) => Units::Other(encoding.new_decoder_without_bom_handling()),
            None => return Err(stream),
        },
        (None, _) => return Err(stream),
    };
    Ok(Box::new(Transcoder {
        stream,
        unit,
        input: Vec::new(),
        text: String::new(),
        returned: 0,
        ended: false,
    }))
}

enum Units {
    Utf32 { big_endian: bool },
    Other(Decoder),
}

struct Transcoder {
    stream: ByteStream,
    unit: Units,
    /// Bytes that were read, but not decoded. Between two steps, less than one character.
    input: Vec<u8>,
    text: String,
    /// Number of bytes of `text` that were returned.
    returned: usize,
    ended: bool,
}

impl Transcoder {
    /// Decodes the next bytes into `text`, which is empty only at the end of the stream.
    fn step(&mut self) -> io::Result<()> {
        self.text.clear();
        self.returned = 0;
        while self.text.is_empty() && !self.ended {
            let kept = self.input.len();
            self.input.resize(kept + STEP_BYTES, 0);
            let got = self.stream.read(&mut self.input[kept..])?;
            self.input.truncate(kept + got);
            let last = got == 0;
            self.ended = last;
            match &mut self.unit {
                Units::Utf32 { big_endian } => {
                    let complete = if last { self.input.len() } else { self.input.len() / 4 * 4 };
                    let chars = self.input[..complete].chunks(4).map(|u| utf32(u, *big_endian));
                    // The mark itself is not part of the text.
                    self.text.extend(chars.filter(|&c| c != '\u{FEFF}'));
                    self.input.drain(..complete);
                }
                Units::Other(decoder) => {
                    let room = decoder.max_utf8_buffer_length(self.input.len());
                    self.text.reserve(room.unwrap_or(STEP_BYTES * 3));
                    // The text has room for the whole input.
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
        if self.returned == self.text.len() {
            self.step()?;
        }
        let rest = &self.text.as_bytes()[self.returned..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.returned += count;
        Ok(count)
    }
}
