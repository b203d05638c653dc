//! Relative addresses of files, for links in the page.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::{Component, Path, PathBuf};

/// The characters to encode. They include the colon, so that no file name is mistaken for the
/// scheme of an address.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the folder of a page without `..` and links, or `None` if it is unknown.
pub(super) fn folder_of(page: &Path) -> Option<PathBuf> {
    std::path::absolute(page).ok()?.parent()?.canonicalize().ok()
}

/// Returns the address of a file relative to a folder of [`folder_of`]. `None` if the path is not a
/// file or lies on another drive.
pub(super) fn relative_address(folder: &Path, file: &Path) -> Option<String> {
    let file = file.canonicalize().ok().filter(|file| file.is_file())?;
    let mut folders = folder.components().peekable();
    let mut parts = file.components().peekable();
    while folders.peek().is_some() && folders.peek() == parts.peek() {
        folders.next();
        parts.next();
    }
    let mut address = Vec::new();
    for _ in folders {
        address.push("..".to_owned());
    }
    for part in parts {
        let Component::Normal(name) = part else { return None };
        address.push(utf8_percent_encode(name.to_str()?, &ENCODED).to_string());
    }
    Some(address.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_relative_to_the_page() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(place("a/b")).unwrap();
        std::fs::create_dir_all(place("pages")).unwrap();
        let name = "javascript:x#1 ä%.txt";
        for file in ["a/b/one.txt".to_owned(), format!("pages/{name}")] {
            std::fs::write(place(&file), "x").unwrap();
        }
        let pages = folder_of(&place("a/../pages/r.html")).unwrap();
        let of = |file: &str| relative_address(&pages, &place(file));
        assert_eq!(of("a/b/one.txt").as_deref(), Some("../a/b/one.txt"));
        assert_eq!(of("pages/../a/b/one.txt").as_deref(), Some("../a/b/one.txt"));
        let encoded = "javascript%3Ax%231%20%C3%A4%25.txt";
        assert_eq!(of(&format!("pages/{name}")).as_deref(), Some(encoded));
        assert_eq!((of("a/b"), of("a/b/none.txt")), (None, None));
    }
}
