//! Files without text that are byte-for-byte copies of each other, and documents without a token
//! that have the same text.

use crate::engine::collect::empty_copies::EmptyCopies;
use crate::engine::prepare::skipped::SkippedRecords;
use crate::read::{Content, SkipReason, SkippedItem};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// Groups of files without text that contain the same bytes, and empty documents with the same
/// text.
#[derive(Debug, Default)]
pub struct TextlessCopies {
    groups: Vec<Vec<String>>,
    /// The group of each file that is not the first of its group.
    first: HashMap<String, usize>,
    pub(crate) empty: EmptyCopies,
}

impl TextlessCopies {
    /// Finds copies among the skipped items. A file whose bytes were not read is read only if
    /// another such file has the same length. Holds the names of all files without text in memory.
    pub(crate) fn of(skipped: &SkippedRecords) -> io::Result<Self> {
        let mut known: Vec<(Content, usize, String)> = Vec::new();
        let mut unread: HashMap<u64, Vec<(usize, String)>> = HashMap::new();
        for (at, each) in skipped.iter().enumerate() {
            let each = each?;
            let name = name(&each);
            match &each.reason {
                SkipReason::NoText { content: Some(content), .. } => {
                    known.push((**content, at, name.to_owned()));
                }
                // A record in another file cannot be read by its name.
                SkipReason::Binary | SkipReason::NoText { .. } if each.line.is_none() => {
                    let Ok(file) = std::fs::metadata(name) else { continue };
                    if file.is_file() && file.len() > 0 {
                        unread.entry(file.len()).or_default().push((at, name.to_owned()));
                    }
                }
                _ => {}
            }
        }
        for (at, source) in unread.into_values().filter(|files| files.len() > 1).flatten() {
            // A file that is unreadable now is still skipped, and is not a copy.
            if let Ok(content) = Content::of_file(Path::new(&source)) {
                known.push((content, at, source));
            }
        }
        known.sort_unstable();
        let mut groups: Vec<Vec<(usize, String)>> = Vec::new();
        for same in known.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            groups.push(same.iter().map(|(_, at, name)| (*at, name.clone())).collect());
        }
        groups.sort_unstable();
        let named = |group: Vec<(usize, String)>| group.into_iter().map(|(_, name)| name).collect();
        let groups: Vec<Vec<String>> = groups.into_iter().map(named).collect();
        let mut first = HashMap::new();
        for (number, group) in groups.iter().enumerate() {
            first.extend(group.iter().skip(1).map(|name| (name.clone(), number)));
        }
        Ok(Self { groups, first, empty: EmptyCopies::default() })
    }

    /// The groups, in reading order of their first files. The files of a group are in reading
    /// order.
    pub fn groups(&self) -> &[Vec<String>] {
        &self.groups
    }

    /// The number of files that are copies of an earlier one.
    pub fn copies(&self) -> usize {
        self.first.len()
    }

    /// Documents without a token whose text equals the text of an earlier one.
    pub fn empty_copies(&self) -> &EmptyCopies {
        &self.empty
    }

    /// Returns the first file with the same bytes, if it is another file.
    pub fn first_of(&self, skipped: &SkippedItem) -> Option<&str> {
        self.groups.get(*self.first.get(name(skipped))?)?.first().map(String::as_str)
    }
}

/// The name of a file: its path, or its id if it is a record of another file.
fn name(skipped: &SkippedItem) -> &str {
    match (&skipped.line, &skipped.id) {
        (Some(_), Some(id)) => id,
        _ => &skipped.source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_extract::ExtractError;

    #[test]
    fn textless_copies_need_equal_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let mut skipped = Vec::new();
        for (name, bytes) in [("a", "x\0y"), ("b", "x\0z"), ("c", "x\0y"), ("d", "long\0")] {
            std::fs::write(path(name), bytes).unwrap();
            let reason = SkipReason::Binary;
            skipped.push(SkippedItem { source: path(name), line: None, id: None, reason });
        }
        for name in ["e.pdf", "f.pdf"] {
            let content = Some(Box::new(Content::of(b"scan")));
            let reason = SkipReason::NoText { failure: ExtractError::Encrypted, content };
            skipped.push(SkippedItem { source: path(name), line: None, id: None, reason });
        }
        let found = TextlessCopies::of(&SkippedRecords::of(&skipped).unwrap()).unwrap();
        let groups = vec![vec![path("a"), path("c")], vec![path("e.pdf"), path("f.pdf")]];
        assert_eq!((found.groups(), found.copies()), (groups.as_slice(), 2));
        assert_eq!(found.first_of(&skipped[2]), Some(path("a").as_str()));
        assert_eq!((found.first_of(&skipped[0]), found.first_of(&skipped[1])), (None, None));
    }
}
