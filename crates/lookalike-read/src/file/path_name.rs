//! Names of files as ids.

use std::fmt::Write;
use std::path::Path;

/// A path as an id, without loss: UTF-8 is unchanged, with `/` between the parts. Bytes that are
/// not UTF-8, and backslashes inside a part, become `\xNN` (`\x5C`). No two paths have the same
/// name.
pub fn name_of(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if std::path::is_separator(character) {
                name.push('/');
            } else if character == '\\' {
                name.push_str("\\x5C");
            } else {
                name.push(character);
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(name, "\\x{byte:02X}");
        }
    }
    name
}
