//! Files that are not read because of their names.

use crate::bytes::Compression;
use crate::options::Format;
use lookalike_extract::ExtractError;
use std::path::Path;

/// Returns true if a file is named like a file of the operating system or the lock of an office
/// program. Such files contain no text of the user.
pub(crate) fn is_system_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let named = |known: &str| name.eq_ignore_ascii_case(known);
    // `~$a.docx` is a lock of Microsoft Office, and `.~lock.a.odt#` is a lock of LibreOffice.
    // `._a.txt` contains the attributes of `a.txt` on disks that do not support them.
    name.starts_with("~$")
        || name.starts_with("._")
        || (name.starts_with(".~lock.") && name.ends_with('#'))
        || SYSTEM_FILES.into_iter().any(named)
}

/// Names of files that macOS and Windows put into folders.
const SYSTEM_FILES: [&str; 7] = [
    ".DS_Store",
    ".localized",
    "Icon\r",
    "Thumbs.db",
    "ehthumbs.db",
    "ehthumbs_vista.db",
    "desktop.ini",
];

/// The reason why a file with this name in an archive is not read: the file contains records, or it
/// belongs to the system.
pub(crate) fn refused_in_archive(name: &str) -> Option<ExtractError> {
    if is_system_file(Path::new(name)) {
        let kind = "a file of the system, or the lock of an office program".to_owned();
        return Some(ExtractError::Unsupported { kind });
    }
    let (_, stem) = Compression::of_name(name);
    let format = Format::of_name(stem).filter(|format| {
        matches!(format, Format::Jsonl | Format::Parquet | Format::Mbox | Format::Warc)
    })?;
    let kind = format!("a {format} file in an archive (unpacked, its records are read)");
    Some(ExtractError::Unsupported { kind })
}
