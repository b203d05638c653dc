//! Encoding of texts: a Zstandard frame for each text, with its length.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::entry::EntryText;
use crate::entry::MAX_TEXT_BYTES;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::error::IndexError;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use zstd::bulk::{Compressor, Decompressor};

/// The compression level of texts. The default, 3, takes 1.35 times as long and saves 1 % of the
/// bytes of short texts (newsgroup posts in blocks of 2 and 8 KiB).
const LEVEL: i32 = 1;

thread_local! {
    // Contexts are kept, because creating one takes as long as coding a text of a few kilobytes.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Appends the frame of a text.
///
/// # Errors
/// Errors of zstd, such as a lack of memory. Then `out` is unchanged.
pub fn encode(text: &str, out: &mut Vec<u8>) -> io::Result<()> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            empty => empty.insert(Compressor::new(LEVEL)?),
        };
        let start = out.len();
        out.resize(start + zstd::zstd_safe::compress_bound(text.len()), 0);
        let written = compressor.compress_to_buffer(text.as_bytes(), &mut out[start..]);
        out.truncate(start + *written.as_ref().unwrap_or(&0));
        written.map(drop)
    })
}

/// Returns the frame of the text of the document `id`.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn frame_of<'a>(text: EntryText<'a>, id: &str) -> Result<Cow<'a, [u8]>, IndexError> {
    if let Some(code) = text.code {
        return Ok(code.into());
    }
    let mut code = Vec::new();
    encode(text.text, &mut code).map_err(|error| {
        IndexError::document(id, format!("its text cannot be compressed: {error}"))
    })?;
    Ok(code.into())
}

/// Decodes the text of a frame. `None` for an invalid frame, or a text of more than
/// [`MAX_TEXT_BYTES`].
pub fn decode(code: &[u8]) -> Option<String> {
    let bytes = Decompressor::upper_bound(code).filter(|bytes| *bytes <= MAX_TEXT_BYTES)?;
    let text = DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            empty => empty.insert(Decompressor::new().ok()?),
        };
        decompressor.decompress(code, bytes).ok()
    })?;
    String::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A frame with a valid start and wrong bytes does not change the context.
    #[test]
    fn damaged_frames_leave_the_decoder_usable() {
        let text = (0..500).map(|at| format!("word {at} ")).collect::<Vec<_>>().concat();
        let code = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
        for at in 1..code.len() {
            let mut damaged = code.clone();
            damaged[at] ^= 0x55;
            let _ = decode(&damaged);
            assert_eq!(decode(&code[..at]), None, "{at}");
            assert_eq!(decode(&code).as_deref(), Some(&text[..]), "{at}");
        }
    }

    #[test]
    fn invalid_text_frames_return_none() {
        let of = |bytes: &[u8]| decode(&zstd::bulk::compress(bytes, 3).unwrap());
        assert_eq!(of(b"").as_deref(), Some(""));
        assert_eq!(of(b"\xff\xfe"), None);
        // A frame without blocks that declares one byte more than a text may have. The length has 4
        // bytes; window and checksum are absent.
        let mut long = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
        long.extend((MAX_TEXT_BYTES as u32 + 1).to_le_bytes());
        long.extend([1, 0, 0]);
        assert_eq!(Decompressor::upper_bound(&long), Some(MAX_TEXT_BYTES + 1));
        assert_eq!(decode(&long), None);
    }

    proptest! {
        #[test]
        fn text_codes_round_trip(text in any::<String>(), before in any::<Vec<u8>>()) {
            let mut code = before.clone();
            encode(&text, &mut code).unwrap();
            let (start, code) = code.split_at(before.len());
            prop_assert_eq!(start, before);
            prop_assert_eq!(code, zstd::bulk::compress(text.as_bytes(), LEVEL).unwrap());
            prop_assert_eq!(decode(code), Some(text));
        }
    }
}
