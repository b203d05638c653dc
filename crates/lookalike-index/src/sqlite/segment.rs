//! A segment: a file of postings that never changes. Every block is held against its checksum when
//! it is first looked at.

use super::layout::{
    BLOCK, CHECKSUM, COUNT, Header, NUMBERS, PER_BLOCK, PLACE, checksum, u32_at, u64_at,
};
use super::map;
use super::posting::{List, Posting, guess, lower_bound};
use crate::error::IndexError;
use memmap2::Mmap;
use std::fs::File;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Keys that are looked up together.
const TOGETHER: usize = 16;

/// What the catalogue says of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// The name of its file.
    pub(super) name: String,
    /// The least number of a document in it.
    pub(super) first: u32,
    /// The greatest.
    pub(super) last: u32,
    /// How often its documents have been merged, roughly: 8 segments of a level make one of the
    /// next.
    pub(super) level: u32,
    /// Documents that were gone after this many changes may be missing in it.
    pub(super) dropped: u64,
    /// The checksum of the checksums of its blocks.
    pub(super) checksum: u64,
}

/// An opened segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) listed: Listed,
    header: Header,
    /// Blocks by list.
    counts: [usize; 2],
    /// How far from a guess a fence is searched for at first, by list.
    steps: [usize; 2],
    path: PathBuf,
    bytes: Mmap,
    /// A bit for every block that was found to be as it was written.
    sound: Vec<AtomicU64>,
}

impl Segment {
    /// Maps a file; its header, size and fences are looked at.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a file that is missing or is not what the catalogue lists,
    /// [`IndexError::Io`] for one that cannot be read.
    pub(super) fn open(folder: &Path, listed: Listed) -> Result<Self, IndexError> {
        let path = folder.join(&listed.name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(damaged(&path, "it is missing"));
            }
            Err(source) => return Err(io(&path, source)),
        };
        let length = file.metadata().map_err(|source| io(&path, source))?.len();
        if length < BLOCK as u64 {
            return Err(damaged(&path, &format!("it has {length} bytes, less than a header")));
        }
        let bytes = map::map(&file).map_err(|source| io(&path, source))?;
        let header = Header::of_bytes(&bytes).map_err(|why| damaged(&path, &why))?;
        if header.file_bytes() != Some(length) {
            return Err(damaged(&path, &format!("it has {length} bytes, which is a wrong length")));
        }
        let expected = (listed.first, listed.last, listed.checksum);
        if (header.first, header.last, header.blocks) != expected {
            return Err(damaged(&path, "it is another segment than the catalogue lists"));
        }
        let counts = header.block_counts().map(|count| count as usize);
        let blocks = counts[0] + counts[1];
        if checksum(&bytes[BLOCK * (1 + blocks)..]) != header.fences {
            return Err(damaged(&path, "the checksum of its fences is wrong"));
        }
        let sound = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let steps = counts.map(|count| count.isqrt() / 32);
        Ok(Self { listed, header, counts, steps, path, bytes, sound })
    }

    /// How many postings a list has.
    pub(super) fn postings(&self, list: List) -> u64 {
        self.header.postings[list as usize]
    }

    /// Bytes of the file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// How many documents were put into it.
    pub(super) fn documents(&self) -> u64 {
        self.postings(List::Ids)
    }

    /// Calls `each` with the place of a key and a document that has it, for all keys in order.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a block that is not as it was written.
    pub(super) fn find(
        &self,
        list: List,
        keys: &[u64],
        mut each: impl FnMut(usize, u32),
    ) -> Result<(), IndexError> {
        let span = self.span(list);
        if span.count == 0 {
            return Ok(());
        }
        // Some keys at once: what is needed of memory is fetched for all of them before any is
        // looked at, so that one does not wait for what another one waits for.
        for (chunk, keys) in keys.chunks(TOGETHER).enumerate() {
            let mut starts = [(0, 0); TOGETHER];
            let fences = keys.iter().map(|key| self.fence(span.start + guess(span.count, *key)));
            black_box(fences.fold(0, |all, fence| all ^ fence));
            let mut parts = 0;
            for (start, key) in starts.iter_mut().zip(keys) {
                let block = self.first_block(span, *key);
                let place = self.guess_in_block(span, block, *key);
                parts ^= u64_at(self.bytes_of(span.start + block), 8 * place);
                *start = (block, place);
            }
            black_box(parts);
            for (at, (key, start)) in keys.iter().zip(starts).enumerate() {
                self.find_from(span, start, *key, |number| each(TOGETHER * chunk + at, number))?;
            }
        }
        Ok(())
    }

    /// The first block of a list that may have a key.
    fn first_block(&self, span: Span, key: u64) -> usize {
        // Fences are some hundred keys apart, so the guess is closer than among keys.
        let (place, fence) = (guess(span.count, key), |i| self.fence(span.start + i));
        lower_bound(span.count, key, place, span.step, fence).saturating_sub(1)
    }

    /// Where a key would be in a block: between its fence and the next, keys are evenly spread.
    fn guess_in_block(&self, span: Span, block: usize, key: u64) -> usize {
        let first = self.fence(span.start + block);
        let is_last = block + 1 == span.count;
        let next = if is_last { u64::MAX } else { self.fence(span.start + block + 1) };
        let share = key.saturating_sub(first) as f64 / next.saturating_sub(first).max(1) as f64;
        ((share * span.held(block) as f64) as usize).min(span.held(block) - 1)
    }

    /// Documents that have a key, which is in no block before that and perhaps near that place.
    fn find_from(
        &self,
        span: Span,
        (mut block, mut place): (usize, usize),
        key: u64,
        mut each: impl FnMut(u32),
    ) -> Result<(), IndexError> {
        while block < span.count && self.fence(span.start + block) <= key {
            let (bytes, held) = (self.block(span.start + block)?, span.held(block));
            let mut low = lower_bound(held, key, place, 8, |i| u64_at(bytes, 8 * i));
            while low < held && u64_at(bytes, 8 * low) == key {
                each(u32_at(bytes, NUMBERS + 4 * low));
                low += 1;
            }
            if low < held {
                break;
            }
            (block, place) = (block + 1, 0);
        }
        Ok(())
    }

    /// All postings of a list, from the least key on.
    pub(super) fn cursor(segment: &Arc<Self>, list: List) -> Cursor {
        let Span { start, count, .. } = segment.span(list);
        Cursor { segment: Arc::clone(segment), block: start, end: start + count, at: 0 }
    }

    /// Holds every block against its checksum again, and the order of keys.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] with the first thing that is wrong.
    pub(super) fn verify(&self) -> Result<(), IndexError> {
        let mut sums = Vec::new();
        for list in List::BOTH {
            let Span { start, count, .. } = self.span(list);
            let mut before = 0;
            for index in start..start + count {
                let bytes = self.check_block(index)?;
                sums.extend_from_slice(&bytes[CHECKSUM..]);
                if self.fence(index) != u64_at(bytes, 0) {
                    return Err(damaged(&self.path, &format!("fence {index} is wrong")));
                }
                let held = u32_at(bytes, COUNT) as usize;
                for at in 0..held {
                    let key = u64_at(bytes, 8 * at);
                    if key < before {
                        return Err(damaged(&self.path, &format!("block {index} is not sorted")));
                    }
                    before = key;
                }
            }
        }
        let sound = checksum(&sums) == self.header.blocks;
        if sound { Ok(()) } else { Err(damaged(&self.path, "its checksum is wrong")) }
    }

    fn span(&self, list: List) -> Span {
        let [bands, ids] = self.counts;
        let (start, count) = match list {
            List::Bands => (0, bands),
            List::Ids => (bands, ids),
        };
        Span {
            start,
            count,
            step: self.steps[list as usize],
            postings: self.postings(list) as usize,
        }
    }

    /// The first key of a block.
    fn fence(&self, index: usize) -> u64 {
        let fences = BLOCK * (1 + self.counts[0] + self.counts[1]);
        u64_at(&self.bytes, fences + 8 * index)
    }

    fn block(&self, index: usize) -> Result<&[u8], IndexError> {
        let (word, bit) = (&self.sound[index / 64], 1 << (index % 64));
        if word.load(Ordering::Relaxed) & bit != 0 {
            return Ok(self.bytes_of(index));
        }
        let bytes = self.check_block(index)?;
        word.fetch_or(bit, Ordering::Relaxed);
        Ok(bytes)
    }

    fn bytes_of(&self, index: usize) -> &[u8] {
        let start = BLOCK * (1 + index);
        &self.bytes[start..start + BLOCK]
    }

    fn check_block(&self, index: usize) -> Result<&[u8], IndexError> {
        let bytes = self.bytes_of(index);
        let bands = self.span(List::Bands);
        let is_band = index < bands.count;
        let span = if is_band { bands } else { self.span(List::Ids) };
        let sound = checksum(&bytes[..CHECKSUM]) == u64_at(bytes, CHECKSUM)
            && u32_at(bytes, PLACE) as usize == index
            && u32_at(bytes, COUNT) as usize == span.held(index - span.start);
        if sound {
            return Ok(bytes);
        }
        Err(damaged(&self.path, &format!("block {index} is not as it was written")))
    }
}

/// The blocks of a list.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    count: usize,
    /// How far from a guess a fence is searched for at first.
    step: usize,
    postings: usize,
}

impl Span {
    /// How many postings a block has: all but the last are full.
    fn held(&self, block: usize) -> usize {
        (self.postings - block * PER_BLOCK).min(PER_BLOCK)
    }
}

/// Goes through a list of a segment.
pub(super) struct Cursor {
    segment: Arc<Segment>,
    block: usize,
    end: usize,
    at: usize,
}

impl Cursor {
    /// Appends the postings that follow with keys up to `most`, those of dead documents left out;
    /// gives how many there were with these.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a block that is not as it was written.
    pub(super) fn take_up_to(
        &mut self,
        most: u64,
        is_dead: impl Fn(u32) -> bool,
        out: &mut Vec<Posting>,
    ) -> Result<u64, IndexError> {
        let mut taken = 0;
        while self.block < self.end {
            let bytes = self.segment.block(self.block)?;
            let held = u32_at(bytes, COUNT) as usize;
            while self.at < held {
                let key = u64_at(bytes, 8 * self.at);
                if key > most {
                    return Ok(taken);
                }
                let number = u32_at(bytes, NUMBERS + 4 * self.at);
                if !is_dead(number) {
                    out.push((key, number));
                }
                self.at += 1;
                taken += 1;
            }
            self.block += 1;
            self.at = 0;
        }
        Ok(taken)
    }
}

fn damaged(path: &Path, why: &str) -> IndexError {
    IndexError::Damaged { what: path.display().to_string(), why: why.to_owned() }
}

fn io(path: &Path, source: std::io::Error) -> IndexError {
    IndexError::Io { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::fault::Place;
    use crate::sqlite::segment_file::SegmentFile;
    use proptest::prelude::*;

    fn written(folder: &Path, bands: &[Posting], ids: &[Posting]) -> Segment {
        let place = Place::new(folder);
        let mut file = SegmentFile::create(&place, "1.seg".to_owned()).unwrap();
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

        /// Few keys, so that one goes on over several blocks and many begin or end with one.
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
            for (list, postings) in List::BOTH.into_iter().zip(lists) {
                let mut found = Vec::new();
                segment.find(list, &keys, |at, number| found.push((keys[at], number))).unwrap();
                prop_assert_eq!(found, postings);
            }
            segment.verify().unwrap();
        }
    }
}
