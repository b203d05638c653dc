//! Encoding of texts: a Zstandard frame for each text, with its length.

use crate::entry::MAX_TEXT_BYTES;
use std::cell::RefCell;
use zstd::bulk::Decompressor;

thread_local! {
    /// The context of a thread. Creating one takes as long as decompressing a text of a few
    /// kilobytes.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Decodes the text of a frame. `None` for an invalid frame, or a text of more than
/// [`MAX_TEXT_BYTES`].
pub(crate) fn decode(code: &[u8]) -> Option<String> {
    let bytes = Decompressor::upper_bound(code).filter(|bytes| *bytes <= MAX_TEXT_BYTES)?;
    let text = DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new().ok()?),
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
    fn a_damaged_frame_changes_no_other() {
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
    fn what_is_no_text_is_none() {
        let of = |bytes: &[u8]| decode(&zstd::bulk::compress(bytes, 3).unwrap());
        assert_eq!(of(b"").as_deref(), Some(""));
        assert_eq!(of(b"\xff\xfe"), None);
        // A frame of no block that says to have one byte more than a text may have: the length is
        // in 4 bytes, with no window and no checksum.
        let mut long = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
        long.extend((MAX_TEXT_BYTES as u32 + 1).to_le_bytes());
        long.extend([1, 0, 0]);
        assert_eq!(Decompressor::upper_bound(&long), Some(MAX_TEXT_BYTES + 1));
        assert_eq!(decode(&long), None);
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in any::<String>()) {
            let code = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
            prop_assert_eq!(decode(&code), Some(text));
        }
    }
}
