//! Encodings of records, and of keys whose byte order is the order of the encoded values.
//!
//! Each `put_…` function appends to a record, and the method of [`FieldReader`] with the same name
//! reads the value. Keys built by `key_…` functions compare bytewise like the tuples of their
//! values.

use lookalike_core::verify::Overlap;

/// The most bytes of a variable-length number.
const MAX_VARINT: usize = 10;

/// Appends a number in 1 to 10 bytes, seven bits each, the lowest first.
pub(crate) fn put_u64(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number in 1 to 5 bytes.
pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    put_u64(out, u64::from(value));
}

/// Appends bytes after their length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u64(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends the three numbers of an overlap.
pub(crate) fn put_overlap(out: &mut Vec<u8>, overlap: Overlap) {
    for value in [overlap.intersection, overlap.left, overlap.right] {
        put_u64(out, value);
    }
}

/// Appends 8 bytes to a key that sort large numbers first.
pub(crate) fn key_u64_descending(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&(!value).to_be_bytes());
}

/// Appends bytes to a key that has further parts: encodes each 0 as 0 255, and ends with 0 0.
pub(crate) fn key_part(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(zero) = memchr::memchr(0, rest) {
        let (before, after) = rest.split_at(zero);
        out.extend_from_slice(before);
        out.extend_from_slice(&[0, 0xff]);
        rest = &after[1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}

/// Reads the parts of a record in order. Every method returns `None` if the bytes are not a valid
/// part. Nothing can be read after that.
#[derive(Debug, Clone)]
pub(crate) struct FieldReader<'a> {
    rest: &'a [u8],
}

impl<'a> FieldReader<'a> {
    /// Creates a reader at the start of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything has been read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads a number that [`put_u64`] appended.
    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (at, &byte) in self.rest.iter().take(MAX_VARINT).enumerate() {
            let bits = u64::from(byte & 0x7f);
            let shift = 7 * at as u32;
            if bits.leading_zeros() < shift {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                self.rest = self.rest.get(at + 1..)?;
                return Some(value);
            }
        }
        self.fail()
    }

    /// Reads a number that [`put_u32`] appended.
    pub(crate) fn u32(&mut self) -> Option<u32> {
        match u32::try_from(self.u64()?) {
            Ok(value) => Some(value),
            Err(_) => self.fail(),
        }
    }

    /// Reads bytes that [`put_bytes`] appended.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u64()?;
        match usize::try_from(length) {
            Ok(length) => self.take(length),
            Err(_) => self.fail(),
        }
    }

    /// Reads a text that [`put_bytes`] appended.
    pub(crate) fn str(&mut self) -> Option<&'a str> {
        match str::from_utf8(self.bytes()?) {
            Ok(text) => Some(text),
            Err(_) => self.fail(),
        }
    }

    /// Reads an overlap that [`put_overlap`] appended.
    pub(crate) fn overlap(&mut self) -> Option<Overlap> {
        Some(Overlap { intersection: self.u64()?, left: self.u64()?, right: self.u64()? })
    }

    /// Reads a number that [`key_u64_descending`] appended.
    pub(crate) fn key_u64_descending(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(|bytes| !u64::from_be_bytes(bytes))
    }

    /// Reads `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let Some((bytes, rest)) = self.rest.split_at_checked(length) else { return self.fail() };
        self.rest = rest;
        Some(bytes)
    }

    fn fail<T>(&mut self) -> Option<T> {
        self.rest = &[];
        None
    }
}
