//! Folders from somebody else, damaged rows, cut files, full disks.

mod checksums;
mod full_disk;
mod untrusted;
