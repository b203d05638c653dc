//! The size of a long record, from which the needed memory is computed.

/// Maximum size of a document or record in bytes: 2 GiB minus one.
pub const MAX_DOCUMENT_BYTES: usize = (1 << 31) - 1;

/// Properties of the bytes of a record, from which a caller computes the memory for it. They can be
/// computed without holding the record, by adding its bytes piece by piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordSize {
    /// Length of the record in bytes.
    pub bytes: u64,
    /// Number of words, or a few more: runs of ASCII letters and digits, and each character of
    /// three bytes or more.
    pub words: u64,
    /// Number of characters.
    pub characters: u64,
    /// Number of line feeds, escaped or not.
    pub lines: u64,
    /// Number of full stops, exclamation and question marks.
    pub stops: u64,
    /// Whether the record contains a backslash, so that a JSON string is copied to be decoded.
    pub is_escaped: bool,
    /// Whether the record contains non-ASCII letters that may be upper case.
    pub has_case: bool,
    /// Number of copies of the text that its format makes.
    pub copies: u64,
    /// The last byte.
    last: u8,
}

impl RecordSize {
    /// The size of a record whose bytes are in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let mut size = Self::default();
        size.add(bytes);
        size
    }

    /// Adds the next bytes of the record.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
        for &byte in bytes {
            let is_start = in_word(byte) && (!in_word(self.last) || byte >= 0xE0);
            self.words += u64::from(is_start);
            self.characters += u64::from(byte & 0xC0 != 0x80);
            self.lines += u64::from(byte == b'\n' || byte == b'n' && self.last == b'\\');
            self.stops += u64::from(matches!(byte, b'.' | b'!' | b'?'));
            self.is_escaped |= byte == b'\\';
            self.has_case |= matches!(byte, 0xC3..=0xD6 | 0xE1 | 0xE2 | 0xEF | 0xF0);
            self.last = byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_across_pieces() {
        for text in ["", "one", "two words", "a-b_c d9", "naïve Ärger", "語学 12"] {
            let whole = RecordSize::of(text.as_bytes());
            for at in 0..=text.len() {
                let mut pieces = RecordSize::of(&text.as_bytes()[..at]);
                pieces.add(&text.as_bytes()[at..]);
                assert_eq!(pieces, whole, "{text} {at}");
            }
        }
        let words = |text: &str| RecordSize::of(text.as_bytes()).words;
        assert_eq!(
            [words("one"), words("a-b c_d"), words("naïve Ärger"), words("語学 12")],
            [1, 4, 2, 3]
        );
    }
}
