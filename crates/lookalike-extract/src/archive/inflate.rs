//! Decompression of ZIP entries, within limits.

use super::zip::ZipEntry;
use crate::error::ExtractError;
use crate::limits::LimitTracker;
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Maximum first allocation, whatever size an entry declares.
const FIRST_BYTES: u64 = 1 << 20;
/// Minimum of further allocations.
const STEP_BYTES: u64 = 64 << 10;
/// Maximum LZMA dictionary.
#[cfg(feature = "archive")]
const MAX_DICTIONARY: u32 = 128 << 20;

/// The limit of decompressed bytes.
pub(crate) enum InflateBudget<'a> {
    /// The remaining limit of the enclosing file.
    Shared(&'a LimitTracker<'a>),
    /// A limit for one entry.
    Limit { limit: u64, bytes_left: u64 },
}

impl InflateBudget<'_> {
    fn bytes_left(&self) -> u64 {
        match self {
            Self::Shared(tracker) => tracker.bytes_left(),
            Self::Limit { bytes_left, .. } => *bytes_left,
        }
    }

    fn take(&mut self, bytes: usize) -> Result<(), ExtractError> {
        match self {
            Self::Shared(tracker) => {
                tracker.check_time().and_then(|()| tracker.charge_bytes(bytes))
            }
            Self::Limit { limit, bytes_left } => match bytes_left.checked_sub(bytes as u64) {
                Some(rest) => {
                    *bytes_left = rest;
                    Ok(())
                }
                None => Err(ExtractError::expanded(*limit)),
            },
        }
    }
}

/// Reads a decoder to its end, within the budget.
#[cfg(feature = "archive")]
fn drain(
    mut decoder: impl std::io::Read,
    budget: &mut InflateBudget<'_>,
    out: &mut Vec<u8>,
) -> Result<(), ExtractError> {
    loop {
        let start = out.len();
        out.resize(start + STEP_BYTES as usize, 0);
        let read = decoder.read(&mut out[start..]);
        out.truncate(start + read.as_ref().map_or(0, |read| *read));
        match read.map_err(|error| ExtractError::damaged(format!("compressed data: {error}")))? {
            0 => return Ok(()),
            read => budget.take(read)?,
        }
    }
}

impl ZipEntry {
    /// Decompresses the bytes `data_offset .. data_offset + compressed_size` of the archive. Memory
    /// grows with the output, not with the declared size.
    ///
    /// # Errors
    /// `failure` if set; more than `limit` bytes; length or CRC-32 differ from the declared ones.
    pub fn inflate(&self, compressed: &[u8], limit: u64) -> Result<Vec<u8>, ExtractError> {
        let mut out = Vec::new();
        let mut budget = InflateBudget::Limit { limit, bytes_left: limit };
        if let Some(stored) = self.content(compressed, &mut budget, &mut out)? {
            budget.take(stored.len())?;
            out.extend_from_slice(stored);
        }
        Ok(out)
    }

    /// As [`inflate`](Self::inflate); stored content is returned as a slice instead of in `out`.
    pub(crate) fn content<'b>(
        &self,
        compressed: &'b [u8],
        budget: &mut InflateBudget<'_>,
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
            super::zip::BZIP2 => drain(bzip2::bufread::BzDecoder::new(compressed), budget, out)?,
            #[cfg(feature = "archive")]
            super::zip::LZMA => drain(self.lzma(compressed, budget)?, budget, out)?,
            _ => self.deflated(compressed, budget, out)?,
        }
        self.check(out)?;
        Ok(None)
    }

    /// The decoder of an LZMA stream, whose header is the version of the writer, the length of the
    /// properties, and the properties: a byte and the size of the dictionary.
    #[cfg(feature = "archive")]
    fn lzma<'b>(
        &self,
        compressed: &'b [u8],
        budget: &InflateBudget<'_>,
    ) -> Result<lzma_rust2::LzmaReader<&'b [u8]>, ExtractError> {
        let Some(([_, _, 5, 0, properties, dictionary @ ..], stream)) =
            compressed.split_first_chunk::<9>()
        else {
            return Err(ExtractError::damaged(
                "LZMA data whose header is not that of a ZIP archive",
            ));
        };
        // No reference exceeds the output, so a larger declared dictionary is not allocated.
        let most = self.size.min(budget.bytes_left()).clamp(1 << 12, u64::from(MAX_DICTIONARY));
        let declared = u32::from_le_bytes(*dictionary);
        if declared.min(u32::try_from(self.size).unwrap_or(u32::MAX)) > MAX_DICTIONARY {
            let kind = format!("LZMA with a dictionary of more than {MAX_DICTIONARY} bytes");
            return Err(ExtractError::Unsupported { kind });
        }
        let dictionary = declared.min(most as u32);
        lzma_rust2::LzmaReader::new_with_props(stream, self.size, *properties, dictionary, None)
            .map_err(|error| ExtractError::damaged(format!("compressed data: {error}")))
    }

    fn deflated(
        &self,
        compressed: &[u8],
        budget: &mut InflateBudget<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ExtractError> {
        let mut inflater = Decompress::new(false);
        out.reserve(self.size.min(FIRST_BYTES).min(budget.bytes_left()) as usize);
        loop {
            if out.len() == out.capacity() {
                // One byte more than the limit, so that exceeding it is detected.
                let room =
                    (out.len() as u64).max(STEP_BYTES).min(budget.bytes_left().saturating_add(1));
                out.reserve_exact(room as usize);
            }
            let (taken, made) = (inflater.total_in(), out.len());
            let rest = compressed.get(taken as usize..).unwrap_or_default();
            let status = inflater
                .decompress_vec(rest, out, FlushDecompress::None)
                .map_err(|e| ExtractError::damaged(format!("compressed data: {e}")))?;
            budget.take(out.len() - made)?;
            match status {
                Status::StreamEnd => return Ok(()),
                Status::Ok | Status::BufError => {
                    let stuck = inflater.total_in() == taken && out.len() == made;
                    if stuck && out.len() < out.capacity() {
                        return Err(ExtractError::damaged("compressed data that ends too early"));
                    }
                }
            }
        }
    }

    fn check(&self, content: &[u8]) -> Result<(), ExtractError> {
        if content.len() as u64 != self.size {
            let (is, promised) = (content.len(), self.size);
            return Err(ExtractError::damaged(format!("{is} bytes where {promised} are promised")));
        }
        let mut crc = Crc::new();
        crc.update(content);
        if crc.sum() != self.crc32 {
            let (is, promised) = (crc.sum(), self.crc32);
            return Err(ExtractError::damaged(format!("CRC-32 {is:08x}, not {promised:08x}")));
        }
        Ok(())
    }
}
