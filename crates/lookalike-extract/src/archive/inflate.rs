//! Decompression of ZIP entries, within limits.

use super::zip::ZipEntry;
use crate::reading::{ExtractError, ExtractOptions, LimitTracker, Limits};
use flate2::Crc;
use std::time::Duration;

/// Maximum bytes of the first allocation, regardless of the declared size.
const FIRST_BYTES: u64 = 1 << 20;
/// Maximum LZMA dictionary.
#[cfg(feature = "archive")]
const MAX_DICTIONARY: u32 = 128 << 20;

fn damaged(error: impl std::fmt::Display) -> ExtractError {
    ExtractError::damaged(format!("compressed data: {error}"))
}

/// Reads a decoder to its end.
#[cfg(feature = "archive")]
fn drain(decoder: impl std::io::Read, tracker: &LimitTracker<'_>) -> Result<Vec<u8>, ExtractError> {
    tracker.drain(decoder).map_err(|failure| match failure {
        ExtractError::Damaged { what } => damaged(what),
        failure => failure,
    })
}

impl ZipEntry {
    /// Decompresses the bytes `data_offset .. data_offset + compressed_size` of the archive. Memory
    /// grows with the output, not with the declared size.
    ///
    /// # Errors
    /// Returns `failure` if it is set. Fails if the content exceeds `limit` bytes, or if its length
    /// or CRC-32 differs from the declared value.
    pub fn inflate(&self, compressed: &[u8], limit: u64) -> Result<Vec<u8>, ExtractError> {
        let limits = Limits { expanded: limit, time: Duration::MAX, ..Limits::default() };
        let options = ExtractOptions { limits, ..ExtractOptions::default() };
        let tracker = LimitTracker::new(&options);
        let mut out = Vec::new();
        if let Some(stored) = self.content(compressed, &tracker, &mut out)? {
            tracker.charge_bytes(stored.len())?;
            out.extend_from_slice(stored);
        }
        Ok(out)
    }

    /// Like [`inflate`](Self::inflate), but decompresses into `out`. Returns stored content as a
    /// slice.
    pub(crate) fn content<'b>(
        &self,
        compressed: &'b [u8],
        tracker: &LimitTracker<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<&'b [u8]>, ExtractError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        out.clear();
        if self.method == super::zip::STORED {
            self.check(compressed)?;
            return Ok(Some(compressed));
        }
        match self.method {
            #[cfg(feature = "archive")]
            super::zip::BZIP2 => {
                *out = drain(bzip2::bufread::BzDecoder::new(compressed), tracker)?;
            }
            #[cfg(feature = "archive")]
            super::zip::LZMA => *out = drain(self.lzma(compressed, tracker)?, tracker)?,
            _ => {
                let first = self.size.min(FIRST_BYTES);
                tracker.inflate("compressed data", compressed, first, out)?;
            }
        }
        self.check(out)?;
        Ok(None)
    }

    /// The decoder of an LZMA stream. Its header consists of the writer's version, the length of
    /// the properties, a properties byte and the dictionary size.
    #[cfg(feature = "archive")]
    fn lzma<'b>(
        &self,
        compressed: &'b [u8],
        tracker: &LimitTracker<'_>,
    ) -> Result<lzma_rust2::LzmaReader<&'b [u8]>, ExtractError> {
        let Some(([_, _, 5, 0, properties, dictionary @ ..], stream)) =
            compressed.split_first_chunk::<9>()
        else {
            return Err(ExtractError::damaged(
                "LZMA data without the header that a ZIP archive needs",
            ));
        };
        // Back-references cannot exceed the output, so a larger dictionary is not allocated.
        let most = self.size.min(tracker.bytes_left()).clamp(1 << 12, u64::from(MAX_DICTIONARY));
        let declared = u32::from_le_bytes(*dictionary);
        if declared.min(u32::try_from(self.size).unwrap_or(u32::MAX)) > MAX_DICTIONARY {
            let kind = format!("LZMA with a dictionary of more than {MAX_DICTIONARY} bytes");
            return Err(ExtractError::Unsupported { kind });
        }
        let dictionary = declared.min(most as u32);
        lzma_rust2::LzmaReader::new_with_props(stream, self.size, *properties, dictionary, None)
            .map_err(damaged)
    }

    fn check(&self, content: &[u8]) -> Result<(), ExtractError> {
        if content.len() as u64 != self.size {
            return Err(ExtractError::damaged(format!(
                "{} bytes where {} are promised",
                content.len(),
                self.size
            )));
        }
        let mut crc = Crc::new();
        crc.update(content);
        if crc.sum() != self.crc32 {
            let found = crc.sum();
            let declared = self.crc32;
            return Err(ExtractError::damaged(format!("CRC-32 {found:08x}, not {declared:08x}")));
        }
        Ok(())
    }
}
