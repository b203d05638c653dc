//! Reserves disk space so that documents can be removed from a full disk. A removal writes before
//! it frees space. The file `reserve` holds the space and is deleted when the disk is full.
//!
//! A removal needs space for some pages of 16 KiB in the log, and for the growth of the catalogue
//! file at the next checkpoint of the log. A checkpoint grows the catalogue file by at most its own
//! size, and usually by at most [`LOG_PAGES`] pages: nothing is added while checkpoints fail, so
//! the log stays short.

use crate::folder::index_folder::IndexFolder;
use lookalike_core::hash::SplitMix64;
use std::fs::File;
use std::io::Write as _;

/// Number of pages in the log at which SQLite checkpoints it.
pub(crate) const LOG_PAGES: u32 = 512;
/// Minimum and maximum size of the reserve file.
const LEAST: u64 = 1 << 20;
const MOST: u64 = 16 << 20;
/// Size of one write.
const PIECE: u64 = 1 << 16;

/// Grows the reserve file to about the size of the catalogue, at least [`LEAST`] and at most
/// [`MOST`], or as far as the disk allows.
pub(crate) fn keep(place: &IndexFolder, catalogue_bytes: u64) {
    let target = catalogue_bytes.next_multiple_of(LEAST).clamp(LEAST, MOST);
    let path = place.reserve();
    let length = path.symlink_metadata().map_or(0, |data| data.len());
    if length >= target {
        return;
    }
    let file = place.new_file(&path).or_else(|_| File::options().append(true).open(&path));
    let Ok(mut file) = file else { return };
    // Random bytes, because file systems compress zeros, or do not store them.
    let mut random = SplitMix64::new(length);
    let mut bytes = Vec::with_capacity(PIECE as usize);
    for _ in 0..PIECE / 8 {
        bytes.extend_from_slice(&random.next_u64().to_le_bytes());
    }
    for _ in length / PIECE..target / PIECE {
        if file.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// Deletes the file. Returns whether it existed.
pub(crate) fn release(place: &IndexFolder) -> bool {
    std::fs::remove_file(place.reserve()).is_ok()
}
