//! What is compressed in a ZIP archive, within limits.

use super::zip::ZipEntry;
use crate::failure::Failure;
use crate::job::Job;
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Bytes that are made room for at first, however large an entry says it is.
const FIRST_BYTES: u64 = 1 << 20;
/// Bytes that are made room for at least, then.
const STEP_BYTES: u64 = 64 << 10;
/// The largest dictionary of LZMA.
#[cfg(feature = "archive")]
const MAX_DICTIONARY: u32 = 128 << 20;

/// How many bytes may still come out.
pub(crate) enum Budget<'a> {
    /// As many as the file under way has left.
    Job(&'a Job<'a>),
    /// That many, for this entry alone.
    Limit {
        /// The most.
        limit: u64,
        /// What is left of it.
        left: u64,
    },
}

impl Budget<'_> {
    fn left(&self) -> u64 {
        match self {
            Self::Job(job) => job.left(),
            Self::Limit { left, .. } => *left,
        }
    }

    /// Takes what has come out.
    fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        match self {
            Self::Job(job) => job.in_time().and_then(|()| job.expand(bytes)),
            Self::Limit { limit, left } => match left.checked_sub(bytes as u64) {
                Some(rest) => {
                    *left = rest;
                    Ok(())
                }
                None => Err(Failure::expanded(*limit)),
            },
        }
    }
}

/// Reads a decoder to its end, within the budget.
#[cfg(feature = "archive")]
fn drain(
    mut decoder: impl std::io::Read,
    budget: &mut Budget<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    loop {
        let start = out.len();
        out.resize(start + STEP_BYTES as usize, 0);
        let read = decoder.read(&mut out[start..]);
        out.truncate(start + read.as_ref().map_or(0, |read| *read));
        match read.map_err(|error| Failure::damaged(format!("compressed data: {error}")))? {
            0 => return Ok(()),
            read => budget.take(read)?,
        }
    }
}

impl ZipEntry {
    /// The content, of the bytes `data_offset .. data_offset + compressed_size` of the archive.
    /// Memory grows with what comes out, not with what is promised.
    ///
    /// # Errors
    /// As `failure` says, above `limit` bytes, and where length or CRC-32 are not those that the
    /// archive promises.
    pub fn inflate(&self, compressed: &[u8], limit: u64) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        let mut budget = Budget::Limit { limit, left: limit };
        if let Some(stored) = self.content(compressed, &mut budget, &mut out)? {
            budget.take(stored.len())?;
            out.extend_from_slice(stored);
        }
        Ok(out)
    }

    /// As [`inflate`](Self::inflate); what is stored as it is comes as a slice instead of in `out`.
    pub(crate) fn content<'b>(
        &self,
        compressed: &'b [u8],
        budget: &mut Budget<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<&'b [u8]>, Failure> {
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

    /// The decoder of an LZMA stream, which begins with the version of the program that wrote it,
    /// the length of the properties, and the properties: a byte and the size of the dictionary.
    #[cfg(feature = "archive")]
    fn lzma<'b>(
        &self,
        compressed: &'b [u8],
        budget: &Budget<'_>,
    ) -> Result<lzma_rust2::LzmaReader<&'b [u8]>, Failure> {
        let Some(([_, _, 5, 0, properties, dictionary @ ..], stream)) =
            compressed.split_first_chunk::<9>()
        else {
            return Err(Failure::damaged("LZMA data whose header is not that of a ZIP archive"));
        };
        // Nothing refers to more bytes than there are, so the declared dictionary need not be made.
        let most = self.size.min(budget.left()).clamp(1 << 12, u64::from(MAX_DICTIONARY));
        let declared = u32::from_le_bytes(*dictionary);
        if declared.min(u32::try_from(self.size).unwrap_or(u32::MAX)) > MAX_DICTIONARY {
            let kind = format!("LZMA with a dictionary of more than {MAX_DICTIONARY} bytes");
            return Err(Failure::Unsupported { kind });
        }
        let dictionary = declared.min(most as u32);
        lzma_rust2::LzmaReader::new_with_props(stream, self.size, *properties, dictionary, None)
            .map_err(|error| Failure::damaged(format!("compressed data: {error}")))
    }

    fn deflated(
        &self,
        compressed: &[u8],
        budget: &mut Budget<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let mut inflater = Decompress::new(false);
        out.reserve(self.size.min(FIRST_BYTES).min(budget.left()) as usize);
        loop {
            if out.len() == out.capacity() {
                // One byte more than allowed, so that the limit shows as such.
                let room = (out.len() as u64).max(STEP_BYTES).min(budget.left().saturating_add(1));
                out.reserve_exact(room as usize);
            }
            let (taken, made) = (inflater.total_in(), out.len());
            let rest = compressed.get(taken as usize..).unwrap_or_default();
            let status = inflater
                .decompress_vec(rest, out, FlushDecompress::None)
                .map_err(|e| Failure::damaged(format!("compressed data: {e}")))?;
            budget.take(out.len() - made)?;
            match status {
                Status::StreamEnd => return Ok(()),
                Status::Ok | Status::BufError => {
                    let stuck = inflater.total_in() == taken && out.len() == made;
                    if stuck && out.len() < out.capacity() {
                        return Err(Failure::damaged("compressed data that ends too early"));
                    }
                }
            }
        }
    }

    fn check(&self, content: &[u8]) -> Result<(), Failure> {
        if content.len() as u64 != self.size {
            let (is, promised) = (content.len(), self.size);
            return Err(Failure::damaged(format!("{is} bytes where {promised} are promised")));
        }
        let mut crc = Crc::new();
        crc.update(content);
        if crc.sum() != self.crc32 {
            let (is, promised) = (crc.sum(), self.crc32);
            return Err(Failure::damaged(format!("CRC-32 {is:08x}, not {promised:08x}")));
        }
        Ok(())
    }
}
