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
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
        Ok(Self { listed, header, counts, path, bytes, sound })
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

    /// Appends the documents that have a key.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a block that is not as it was written.
    pub(super) fn find(&self, list: List, key: u64, out: &mut Vec<u64>) -> Result<(), IndexError> {
        let (start, count) = self.blocks(list);
        // Fences are some hundred keys apart, so the guess is closer than among keys.
        let (place, step) = (guess(count, key), count.isqrt() / 32);
        let not_before = lower_bound(count, key, place, step, |i| self.fence(start + i));
        let mut block = not_before.saturating_sub(1);
        while block < count && (block < not_before || self.fence(start + block) == key) {
            let bytes = self.block(start + block)?;
            let held = u32_at(bytes, COUNT) as usize;
            // Between this fence and the next one, keys are evenly spread again.
            let first = u64_at(bytes, 0);
            let next = if block + 1 < count { self.fence(start + block + 1) } else { u64::MAX };
            let share = key.saturating_sub(first) as f64 / next.saturating_sub(first).max(1) as f64;
            let place = (share * held as f64) as usize;
            let mut low = lower_bound(held, key, place, 8, |i| u64_at(bytes, 8 * i));
            while low < held && u64_at(bytes, 8 * low) == key {
                out.push(u64::from(u32_at(bytes, NUMBERS + 4 * low)));
                low += 1;
            }
            if low < held {
                break;
            }
            block += 1;
        }
        Ok(())
    }

    /// All postings of a list, from the least key on.
    pub(super) fn cursor(segment: &Arc<Self>, list: List) -> Cursor {
        let (start, count) = segment.blocks(list);
        Cursor { segment: Arc::clone(segment), block: start, end: start + count, at: 0 }
    }

    /// Holds every block against its checksum again, and the order of keys.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] with the first thing that is wrong.
    pub(super) fn verify(&self) -> Result<(), IndexError> {
        let mut sums = Vec::new();
        for list in List::BOTH {
            let (start, count) = self.blocks(list);
            let (mut before, mut postings) = (0, 0);
            for index in start..start + count {
                let bytes = self.check_block(index)?;
                sums.extend_from_slice(&bytes[CHECKSUM..]);
                if self.fence(index) != u64_at(bytes, 0) {
                    return Err(damaged(&self.path, &format!("fence {index} is wrong")));
                }
                let held = u32_at(bytes, COUNT) as usize;
                postings += held as u64;
                for at in 0..held {
                    let key = u64_at(bytes, 8 * at);
                    if key < before {
                        return Err(damaged(&self.path, &format!("block {index} is not sorted")));
                    }
                    before = key;
                }
            }
            if postings != self.postings(list) {
                return Err(damaged(&self.path, "it has not as many postings as its header says"));
            }
        }
        let sound = checksum(&sums) == self.header.blocks;
        if sound { Ok(()) } else { Err(damaged(&self.path, "its checksum is wrong")) }
    }

    fn blocks(&self, list: List) -> (usize, usize) {
        let [bands, ids] = self.counts;
        match list {
            List::Bands => (0, bands),
            List::Ids => (bands, ids),
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
        let held = u32_at(bytes, COUNT) as usize;
        let sound = checksum(&bytes[..CHECKSUM]) == u64_at(bytes, CHECKSUM)
            && u32_at(bytes, PLACE) as usize == index
            && (1..=PER_BLOCK).contains(&held);
        if sound {
            return Ok(bytes);
        }
        Err(damaged(&self.path, &format!("the checksum of block {index} is wrong")))
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
