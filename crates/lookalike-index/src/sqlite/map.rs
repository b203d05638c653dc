//! Files that are read where the system keeps them.
#![expect(unsafe_code, reason = "mapping a file; the safety argument is below")]

use memmap2::Mmap;
use std::fs::File;
use std::io;

/// The bytes of a whole file, which must not be empty.
///
/// # Errors
/// What the system says.
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a mapping is sound while nobody changes or shortens the file. Segments are written
    // under a name that is in no list yet, put into a list when they are complete, and never opened
    // for writing again; when they are not needed any more they are unlinked, which leaves mappings
    // as they are. A program that changes them behind our back breaks this, as it would break the
    // mapped files of any database; their bytes are only ever taken as numbers and compared with a
    // checksum, so that no value of them is unsound.
    unsafe { Mmap::map(file) }
}
