//! A segment: an immutable file of postings. Every block is verified by its checksum when it is
//! first read.
//!
//! Blocks are read by position (`pread`) instead of mapped. If another process has truncated the
//! file, or the disk cannot read it, access to a mapped page ends the process with SIGBUS, while a
//! read returns an error. A look-up reads one block, mostly from the page cache, which costs about
//! a microsecond. Fences stay in memory.

use crate::error::IndexError;
use crate::folder::segments::layout::{
    BLOCK, CHECKSUM, COUNT, NUMBERS, PER_BLOCK, PLACE, SegmentHeader, checksum, u32_at, u64_at,
};
use crate::folder::segments::posting::{Posting, PostingList, guess, lower_bound};
use std::cmp::Ordering::{Equal, Greater, Less};
use std::fs::File;
use std::hint::black_box;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of keys that are looked up together.
const KEYS_AT_ONCE: usize = 16;

/// The row of a segment in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    /// The name of its file.
    pub(crate) name: String,
    /// The least document number in it.
    pub(crate) first: u32,
    /// The greatest document number in it.
    pub(crate) last: u32,
    /// Approximate number of merges of its documents: 8 segments of a level become one of the next
    /// level.
    pub(crate) level: u32,
    /// Documents that were removed up to this change may be missing in it.
    pub(crate) dropped: u64,
    /// The checksum of the checksums of its blocks.
    pub(crate) checksum: u64,
}

/// An opened segment.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) entry: SegmentEntry,
    header: SegmentHeader,
    /// Number of blocks of each list.
    counts: [usize; 2],
    /// Initial distance from the guess when a fence is searched, for each list.
    steps: [usize; 2],
    path: PathBuf,
    file: File,
    /// Size of the file in bytes.
    length: u64,
    /// The first keys of all blocks.
    fences: Vec<u64>,
    /// A bit for every block whose checksum was verified.
    verified: Vec<AtomicU64>,
}

impl Segment {
    /// Opens a file and checks its header, length and fences.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a file that is missing or differs from the catalogue,
    /// [`IndexError::Io`] for one that cannot be read.
    pub(crate) fn open(folder: &Path, entry: SegmentEntry) -> Result<Self, IndexError> {
        let path = folder.join(&entry.name);
        let unopened = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => damaged(&path, "it is missing"),
            _ => IndexError::io(&path, error),
        };
        if !path.symlink_metadata().map_err(unopened)?.is_file() {
            return Err(damaged(&path, "it is not a regular file"));
        }
        let file = File::open(&path).map_err(unopened)?;
        let length = file.metadata().map_err(|source| IndexError::io(&path, source))?.len();
        if length < BLOCK as u64 {
            return Err(damaged(&path, &format!("it has {length} bytes, less than a header")));
        }
        let mut bytes = [0; BLOCK];
        read_at(&file, &path, &mut bytes, 0)?;
        let header = SegmentHeader::of_bytes(&bytes).map_err(|why| damaged(&path, &why))?;
        if header.file_bytes() != Some(length) {
            return Err(damaged(&path, &format!("it has {length} bytes, which is a wrong length")));
        }
        let expected = (entry.first, entry.last, entry.checksum);
        if (header.first, header.last, header.blocks) != expected {
            return Err(damaged(&path, "it is another segment than the catalogue lists"));
        }
        let counts = header.block_counts().map(|count| count as usize);
        let blocks = counts[0] + counts[1];
        // The counts of the header match the length of the file, so this allocates no more than the
        // file contains.
        let mut fences = vec![0; 8 * blocks];
        read_at(&file, &path, &mut fences, Self::offset(blocks))?;
        if checksum(&fences) != header.fences {
            return Err(damaged(&path, "the checksum of its fences is wrong"));
        }
        let fences = fences.as_chunks::<8>().0.iter().map(|key| u64::from_le_bytes(*key)).collect();
        let verified = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let steps = counts.map(|count| count.isqrt() / 32);
        Ok(Self { entry, header, counts, steps, path, file, length, fences, verified })
    }

    /// Number of postings of a list.
    pub(crate) fn postings(&self, list: PostingList) -> u64 {
        self.header.postings[list as usize]
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.length
    }

    /// Number of documents that were added to it.
    pub(crate) fn documents(&self) -> u64 {
        self.postings(PostingList::Ids)
    }

    /// Calls `each` with the place of a key and a document with this key, for all keys in order.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a damaged block.
    pub(crate) fn find(
        &self,
        list: PostingList,
        keys: &[u64],
        mut each: impl FnMut(usize, u32),
    ) -> Result<(), IndexError> {
        let blocks = self.blocks(list);
        if blocks.count == 0 {
            return Ok(());
        }
        let mut block = BlockBuffer { index: None, bytes: [0; BLOCK] };
        // Fetch the fences of several keys before comparing the first one, so that their cache
        // misses overlap.
        for (chunk, keys) in keys.chunks(KEYS_AT_ONCE).enumerate() {
            let mut starts = [(0, 0); KEYS_AT_ONCE];
            let fences =
                keys.iter().map(|key| self.fence(blocks.start + guess(blocks.count, *key)));
            black_box(fences.fold(0, |all, fence| all ^ fence));
            for (start, key) in starts.iter_mut().zip(keys) {
                let first = self.first_block(blocks, *key);
                *start = (first, self.guess_in_block(blocks, first, *key));
            }
            for (at, (key, start)) in keys.iter().zip(starts).enumerate() {
                let each = |number| each(KEYS_AT_ONCE * chunk + at, number);
                self.find_from(blocks, start, *key, &mut block, each)?;
            }
        }
        Ok(())
    }

    /// The first block of a list that may contain a key.
    fn first_block(&self, blocks: BlockRange, key: u64) -> usize {
        // A fence represents a few hundred keys, so a guessed fence is closer than a guessed key.
        let place = guess(blocks.count, key);
        let fence = |i| self.fence(blocks.start + i);
        lower_bound(blocks.count, key, place, blocks.step, fence).saturating_sub(1)
    }

    /// The expected position of a key in a block: keys between two fences are evenly distributed.
    fn guess_in_block(&self, blocks: BlockRange, block: usize, key: u64) -> usize {
        let first = self.fence(blocks.start + block);
        let is_last = block + 1 == blocks.count;
        let next = if is_last { u64::MAX } else { self.fence(blocks.start + block + 1) };
        let share = key.saturating_sub(first) as f64 / next.saturating_sub(first).max(1) as f64;
        ((share * blocks.postings_in(block) as f64) as usize).min(blocks.postings_in(block) - 1)
    }

    /// Finds the documents of a key, starting at a block and a guessed position in it.
    fn find_from(
        &self,
        blocks: BlockRange,
        (mut block, mut place): (usize, usize),
        key: u64,
        read: &mut BlockBuffer,
        mut each: impl FnMut(u32),
    ) -> Result<(), IndexError> {
        while block < blocks.count && self.fence(blocks.start + block) <= key {
            let bytes = self.block(blocks.start + block, read)?;
            let count = blocks.postings_in(block);
            let mut low = lower_bound(count, key, place, 8, |i| u64_at(bytes, 8 * i));
            while low < count && u64_at(bytes, 8 * low) == key {
                each(u32_at(bytes, NUMBERS + 4 * low));
                low += 1;
            }
            if low < count {
                break;
            }
            block += 1;
            place = 0;
        }
        Ok(())
    }

    /// The number of given keys that have a posting of the document. Takes O(log n) time for each
    /// key, even if all documents share the key.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a damaged block.
    pub(crate) fn count_of(
        &self,
        list: PostingList,
        keys: &[u64],
        number: u32,
    ) -> Result<usize, IndexError> {
        let blocks = self.blocks(list);
        let mut block = BlockBuffer { index: None, bytes: [0; BLOCK] };
        let mut found = 0;
        for key in keys {
            found += usize::from(self.holds(blocks, (*key, number), &mut block)?);
        }
        Ok(found)
    }

    fn holds(
        &self,
        blocks: BlockRange,
        posting: Posting,
        read: &mut BlockBuffer,
    ) -> Result<bool, IndexError> {
        let (first, end) = self.blocks_with(blocks, posting.0);
        // Only the last block that does not begin after the posting may contain it.
        let mut low = first;
        let mut high = end;
        while low < high {
            let middle = low.midpoint(high);
            if posting_at(self.block(blocks.start + middle, read)?, 0) <= posting {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(block) = low.checked_sub(1).filter(|block| *block >= first) else {
            return Ok(false);
        };
        let bytes = self.block(blocks.start + block, read)?;
        let mut low = 0;
        let mut high = blocks.postings_in(block);
        while low < high {
            let middle = low.midpoint(high);
            match posting_at(bytes, middle).cmp(&posting) {
                Equal => return Ok(true),
                Less => low = middle + 1,
                Greater => high = middle,
            }
        }
        Ok(false)
    }

    /// The blocks of a list that may contain a key, as a start and an exclusive end.
    fn blocks_with(&self, blocks: BlockRange, key: u64) -> (usize, usize) {
        let first = self.first_block(blocks, key);
        let fences = &self.fences[blocks.start..blocks.start + blocks.count];
        (first, first + fences[first..].partition_point(|fence| *fence <= key))
    }

    /// The blocks of a list.
    pub(crate) fn blocks_of(&self, list: PostingList) -> Range<usize> {
        let BlockRange { start, count, .. } = self.blocks(list);
        start..start + count
    }

    /// Verifies the checksum of every block again, and checks the order of keys.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] with the first problem.
    pub(crate) fn verify(&self) -> Result<(), IndexError> {
        let mut sums = Vec::new();
        let mut bytes = [0; BLOCK];
        for list in PostingList::BOTH {
            let BlockRange { start, count, .. } = self.blocks(list);
            let mut before = 0;
            for index in start..start + count {
                self.read(index, &mut bytes)?;
                self.check_block(index, &bytes)?;
                sums.extend_from_slice(&bytes[CHECKSUM..]);
                if self.fence(index) != u64_at(&bytes, 0) {
                    return Err(self.damaged_block(index, "has another first key than its fence"));
                }
                let length = u32_at(&bytes, COUNT) as usize;
                for at in 0..length {
                    let key = u64_at(&bytes, 8 * at);
                    if key < before {
                        return Err(self.damaged_block(index, "is not sorted"));
                    }
                    before = key;
                }
            }
        }
        let is_sound = checksum(&sums) == self.header.blocks;
        if is_sound { Ok(()) } else { Err(damaged(&self.path, "its checksum is wrong")) }
    }

    fn blocks(&self, list: PostingList) -> BlockRange {
        let [bands, ids] = self.counts;
        let (start, count) = match list {
            PostingList::Bands => (0, bands),
            PostingList::Ids => (bands, ids),
        };
        BlockRange {
            start,
            count,
            step: self.steps[list as usize],
            postings: self.postings(list) as usize,
        }
    }

    /// The first key of a block.
    fn fence(&self, index: usize) -> u64 {
        self.fences[index]
    }

    /// Returns a block. Reads the block unless it is already in the buffer.
    fn block<'a>(
        &self,
        index: usize,
        block: &'a mut BlockBuffer,
    ) -> Result<&'a [u8; BLOCK], IndexError> {
        if block.index != Some(index) {
            block.index = None;
            self.read(index, &mut block.bytes)?;
            self.check_once(index, &block.bytes)?;
            block.index = Some(index);
        }
        Ok(&block.bytes)
    }

    /// Reads consecutive blocks.
    pub(crate) fn read(&self, index: usize, bytes: &mut [u8]) -> Result<(), IndexError> {
        read_at(&self.file, &self.path, bytes, Self::offset(index))
    }

    /// Verifies the checksum of a block, unless that was already done.
    pub(crate) fn check_once(&self, index: usize, bytes: &[u8; BLOCK]) -> Result<(), IndexError> {
        let word = &self.verified[index / 64];
        let bit = 1 << (index % 64);
        if word.load(Ordering::Relaxed) & bit == 0 {
            self.check_block(index, bytes)?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    fn check_block(&self, index: usize, bytes: &[u8; BLOCK]) -> Result<(), IndexError> {
        let bands = self.blocks(PostingList::Bands);
        let is_band = index < bands.count;
        let blocks = if is_band { bands } else { self.blocks(PostingList::Ids) };
        let is_sound = checksum(&bytes[..CHECKSUM]) == u64_at(bytes, CHECKSUM)
            && u32_at(bytes, PLACE) as usize == index
            && u32_at(bytes, COUNT) as usize == blocks.postings_in(index - blocks.start);
        if is_sound {
            return Ok(());
        }
        Err(self.damaged_block(index, "differs from the data that was written"))
    }

    fn damaged_block(&self, index: usize, why: &str) -> IndexError {
        let offset = Self::offset(index);
        damaged(&self.path, &format!("block {index}, at byte {offset}, {why}"))
    }

    /// The position of a block in the file.
    fn offset(index: usize) -> u64 {
        BLOCK as u64 * (1 + index as u64)
    }
}

/// A posting of a block.
fn posting_at(bytes: &[u8; BLOCK], at: usize) -> Posting {
    (u64_at(bytes, 8 * at), u32_at(bytes, NUMBERS + 4 * at))
}

/// The last block that was read.
struct BlockBuffer {
    index: Option<usize>,
    bytes: [u8; BLOCK],
}

/// The blocks of a list.
#[derive(Clone, Copy)]
struct BlockRange {
    start: usize,
    count: usize,
    /// Initial distance from the guess when a fence is searched.
    step: usize,
    postings: usize,
}

impl BlockRange {
    /// The number of postings of a block: all blocks but the last are full.
    fn postings_in(&self, block: usize) -> usize {
        (self.postings - block * PER_BLOCK).min(PER_BLOCK)
    }
}

/// Fills `bytes` from an offset of a file.
fn read_at(file: &File, path: &Path, bytes: &mut [u8], at: u64) -> Result<(), IndexError> {
    read_exact_at(file, bytes, at).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => {
            let end = at + bytes.len() as u64;
            damaged(path, &format!("it ends before byte {end}"))
        }
        _ => IndexError::io(path, error),
    })
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn damaged(path: &Path, why: &str) -> IndexError {
    IndexError::damaged(path.display().to_string(), why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::index_folder::IndexFolder;
    use crate::folder::segments::segment_file::SegmentFile;
    use proptest::prelude::*;

    fn written(folder: &Path, bands: &[Posting], ids: &[Posting]) -> Segment {
        let place = IndexFolder::new(folder);
        let mut file = SegmentFile::create(&place, "0000000001.seg".to_owned()).unwrap();
        for (key, number) in bands {
            file.push(*key, *number).unwrap();
        }
        file.end_bands().unwrap();
        for (key, number) in ids {
            file.push(*key, *number).unwrap();
        }
        file.finish((1, 9), 0, 0).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Few keys, so that one key extends over several blocks, and many blocks begin or end with
        /// one.
        #[test]
        fn every_key_is_found(
            kinds in 1u64..60,
            shift in 0u32..60,
            counts in (0usize..2500, 0usize..800),
            seed in any::<u64>(),
        ) {
            let mut random = lookalike_core::hash::SplitMix64::new(seed);
            let mut drawn = |count: usize| {
                let mut key = || (random.below(kinds) * 0x9e37_79b9) << shift;
                let posting = |number| (key(), number as u32);
                let mut postings: Vec<Posting> = (0..count).map(posting).collect();
                postings.sort_unstable();
                postings
            };
            let lists = [drawn(counts.0), drawn(counts.1)];
            let folder = tempfile::tempdir().unwrap();
            let segment = written(folder.path(), &lists[0], &lists[1]);
            let keys = (0..kinds).map(|kind| (kind * 0x9e37_79b9) << shift);
            let keys = keys.flat_map(|key| [key, key ^ 1]).chain([u64::MAX]);
            let mut keys: Vec<u64> = keys.collect();
            keys.sort_unstable();
            keys.dedup();
            for (list, postings) in PostingList::BOTH.into_iter().zip(lists) {
                let mut found = Vec::new();
                segment.find(list, &keys, |at, number| found.push((keys[at], number))).unwrap();
                prop_assert_eq!(&found, &postings);
                for (key, number) in postings {
                    let count = |keys: &[u64], number| segment.count_of(list, keys, number);
                    prop_assert_eq!(count(&keys, number).unwrap(), 1);
                    prop_assert_eq!(count(&[key], number).unwrap(), 1);
                    prop_assert_eq!(count(&[key ^ 1], number).unwrap(), 0);
                }
                let absent = found.len() as u32;
                prop_assert_eq!(segment.count_of(list, &keys, absent).unwrap(), 0);
            }
            segment.verify().unwrap();
        }
    }
}
