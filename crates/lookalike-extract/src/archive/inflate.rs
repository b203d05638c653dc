//! What is compressed in a ZIP archive, within limits.

use super::zip::ZipEntry;
use crate::failure::Failure;
use crate::job::Job;
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Bytes that are made room for at first, however large an entry says it is.
const FIRST_BYTES: u64 = 1 << 20;
/// Bytes that are made room for at least, then.
const STEP_BYTES: u64 = 64 << 10;

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
                None => Err(Failure::Limit { what: "expanded bytes".to_owned(), limit: *limit }),
            },
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
        self.deflated(compressed, budget, out)?;
        self.check(out)?;
        Ok(None)
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
