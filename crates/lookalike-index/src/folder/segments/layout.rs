//! The layout of a segment file, as specified in `docs/reference/index-folder.md`.

/// The magic number of a segment file.
pub(crate) const MAGIC: [u8; 8] = *b"LKALSEGM";
/// The version of the layout.
pub(crate) const VERSION: u32 = 1;
/// Size in bytes of a block, and of the header.
pub(crate) const BLOCK: usize = 4096;
/// Postings in a full block.
pub(crate) const PER_BLOCK: usize = 340;
/// Offset of the document numbers in a block.
pub(crate) const NUMBERS: usize = 8 * PER_BLOCK;
/// Offset of the count in a block.
pub(crate) const COUNT: usize = 12 * PER_BLOCK;
/// Offset of the number of a block.
pub(crate) const PLACE: usize = COUNT + 4;
/// Offset of the checksum in a block and in the header.
pub(crate) const CHECKSUM: usize = BLOCK - 8;

/// The checksum of bytes: the frozen hash of `docs/reference/signature.md`.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    lookalike_core::hash::token_hash(bytes)
}

/// The little-endian number in the 8 bytes of a block at `at`, which is at most `BLOCK - 8`.
pub(crate) fn u64_at(block: &[u8; BLOCK], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&block[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// The little-endian number in the 4 bytes of a block at `at`, which is at most `BLOCK - 4`.
pub(crate) fn u32_at(block: &[u8; BLOCK], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&block[at..at + 4]);
    u32::from_le_bytes(bytes)
}

/// The header of a segment file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// The least document number.
    pub(crate) first: u32,
    /// The greatest document number.
    pub(crate) last: u32,
    /// Number of postings of each list.
    pub(crate) postings: [u64; 2],
    /// Checksum of the fences.
    pub(crate) fences: u64,
    /// Checksum of the checksums of all blocks, in order.
    pub(crate) blocks: u64,
}

impl SegmentHeader {
    /// Number of blocks of each list.
    pub(crate) fn block_counts(&self) -> [u64; 2] {
        self.postings.map(|count| count.div_ceil(PER_BLOCK as u64))
    }

    /// Size of the whole file in bytes; `None` for impossible counts.
    pub(crate) fn file_bytes(&self) -> Option<u64> {
        let [bands, ids] = self.block_counts();
        let blocks = bands.checked_add(ids)?;
        blocks.checked_mul(BLOCK as u64 + 8)?.checked_add(BLOCK as u64)
    }

    pub(crate) fn to_bytes(self) -> [u8; BLOCK] {
        let mut bytes = [0; BLOCK];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.first.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.last.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.postings[0].to_le_bytes());
        bytes[32..40].copy_from_slice(&self.postings[1].to_le_bytes());
        bytes[40..48].copy_from_slice(&self.fences.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.blocks.to_le_bytes());
        let sum = checksum(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the first block of a file.
    ///
    /// # Errors
    /// A description of the problem.
    pub(crate) fn of_bytes(bytes: &[u8; BLOCK]) -> Result<Self, String> {
        if bytes[..8] != MAGIC {
            return Err("it does not begin with the magic number of a segment".to_owned());
        }
        if u64_at(bytes, CHECKSUM) != checksum(&bytes[..CHECKSUM]) {
            return Err("the checksum of its header is wrong".to_owned());
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return Err(format!("its version is {version}, expected {VERSION}"));
        }
        Ok(Self {
            first: u32_at(bytes, 12),
            last: u32_at(bytes, 16),
            postings: [u64_at(bytes, 24), u64_at(bytes, 32)],
            fences: u64_at(bytes, 40),
            blocks: u64_at(bytes, 48),
        })
    }
}
