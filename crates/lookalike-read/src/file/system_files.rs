//! Names of files that belong to the operating system or to an office program.

use std::path::Path;

/// Returns whether a file belongs to the operating system or is the lock of an office program, by
/// its name. Such files hold no text of the user.
pub(crate) fn is_system_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let named = |known: &str| name.eq_ignore_ascii_case(known);
    // `~$a.docx` is a lock of Microsoft Office, `.~lock.a.odt#` of LibreOffice; `._a.txt` has the
    // attributes of `a.txt` on disks that have none.
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
