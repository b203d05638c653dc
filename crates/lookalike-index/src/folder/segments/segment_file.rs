//! Writes a segment file, with ascending keys in each list.

use crate::error::IndexError;
use crate::folder::index_folder::{self, IndexFolder};
use crate::folder::segments::layout::{
    BLOCK, CHECKSUM, COUNT, NUMBERS, PER_BLOCK, PLACE, SegmentHeader, checksum,
};
use crate::folder::segments::segment::{Segment, SegmentEntry};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A segment file that is being written. It is removed unless it is finished.
pub(crate) struct SegmentFile<'a> {
    place: &'a IndexFolder,
    name: String,
    path: PathBuf,
    out: BufWriter<File>,
    block: Box<[u8; BLOCK]>,
    block_postings: usize,
    list: usize,
    header: SegmentHeader,
    fences: Vec<u8>,
    sums: Vec<u8>,
    finished: bool,
}

impl<'a> SegmentFile<'a> {
    /// Creates a file. The postings of bands come first.
    pub(crate) fn create(place: &'a IndexFolder, name: String) -> Result<Self, IndexError> {
        let path = place.folder.join(&name);
        // An existing file with this name is not in the list of segments. Replace it, so that a
        // link is not followed.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(place.writing(&path, error));
            }
            _ => {}
        }
        let file = place.new_file(&path)?;
        let mut segment_file = Self {
            place,
            name,
            path,
            out: BufWriter::with_capacity(1 << 18, file),
            block: Box::new([0; BLOCK]),
            block_postings: 0,
            list: 0,
            header: SegmentHeader { first: u32::MAX, ..SegmentHeader::default() },
            fences: Vec::new(),
            sums: Vec::new(),
            finished: false,
        };
        // The header is written last: until then, the file is not a valid segment.
        segment_file.write(&[0; BLOCK])?;
        Ok(segment_file)
    }

    /// Adds a posting, whose key is at least the previous key.
    pub(crate) fn push(&mut self, key: u64, number: u32) -> Result<(), IndexError> {
        let at = self.block_postings;
        self.block[8 * at..8 * at + 8].copy_from_slice(&key.to_le_bytes());
        self.block[NUMBERS + 4 * at..NUMBERS + 4 * at + 4].copy_from_slice(&number.to_le_bytes());
        self.block_postings += 1;
        self.header.postings[self.list] += 1;
        if self.block_postings == PER_BLOCK { self.end_block() } else { Ok(()) }
    }

    /// Ends the list of bands; the list of ids follows.
    pub(crate) fn end_bands(&mut self) -> Result<(), IndexError> {
        self.end_block()?;
        self.list = 1;
        Ok(())
    }

    /// Completes the file, which contains the documents from `first` to `last`, and makes it
    /// durable.
    pub(crate) fn finish(
        mut self,
        (first, last): (u32, u32),
        level: u32,
        dropped: u64,
    ) -> Result<Segment, IndexError> {
        self.end_block()?;
        self.header.first = first;
        self.header.last = last;
        self.header.fences = checksum(&self.fences);
        self.header.blocks = checksum(&self.sums);
        let fences = std::mem::take(&mut self.fences);
        self.write(&fences)?;
        let header = self.header.to_bytes();
        let result = self.out.seek(SeekFrom::Start(0)).and_then(|_| self.out.write_all(&header));
        let result =
            result.and_then(|()| self.out.flush()).and_then(|()| self.out.get_ref().sync_all());
        result.map_err(|error| self.place.writing(&self.path, error))?;
        index_folder::sync_folder(self.place)?;
        let checksum = self.header.blocks;
        let entry = SegmentEntry { name: self.name.clone(), first, last, level, dropped, checksum };
        let segment = Segment::open(&self.place.folder, entry)?;
        self.finished = true;
        Ok(segment)
    }

    fn end_block(&mut self) -> Result<(), IndexError> {
        if self.block_postings == 0 {
            return Ok(());
        }
        let index = (self.sums.len() / 8) as u32;
        let block_postings = self.block_postings;
        let block = &mut *self.block;
        block[8 * block_postings..NUMBERS].fill(0);
        block[NUMBERS + 4 * block_postings..COUNT].fill(0);
        block[COUNT..PLACE].copy_from_slice(&(block_postings as u32).to_le_bytes());
        block[PLACE..CHECKSUM].copy_from_slice(&index.to_le_bytes());
        let sum = checksum(&block[..CHECKSUM]).to_le_bytes();
        block[CHECKSUM..].copy_from_slice(&sum);
        self.fences.extend_from_slice(&block[..8]);
        self.sums.extend_from_slice(&sum);
        self.block_postings = 0;
        let written = self.out.write_all(&*self.block);
        written.map_err(|error| self.place.writing(&self.path, error))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), IndexError> {
        self.out.write_all(bytes).map_err(|error| self.place.writing(&self.path, error))
    }
}

impl Drop for SegmentFile<'_> {
    fn drop(&mut self) {
        if !self.finished {
            // If this fails, the next writer removes the file, because it is not listed.
            let _ = Path::new(&self.path).exists().then(|| std::fs::remove_file(&self.path));
        }
    }
}
