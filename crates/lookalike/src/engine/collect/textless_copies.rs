//! Files that have no text and are copies of each other, byte for byte, and documents without a
//! token that have one text.

use crate::engine::collect::empty_copies::EmptyCopies;
use crate::engine::prepare::skipped::SkippedRecords;
use crate::read::{Content, SkipReason, SkippedItem};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// Groups of files without text that hold the same bytes, and empty documents of one text.
#[derive(Debug, Default)]
pub struct TextlessCopies {
    groups: Vec<Vec<String>>,
    /// Every file of a group but the first → the first.
    first: HashMap<String, usize>,
    pub(crate) empty: EmptyCopies,
}

impl TextlessCopies {
    /// Finds them among what was skipped. A file whose bytes were not read is read only where
    /// another one of them is as long. Memory: the names of all files without text.
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
                // A record of another file cannot be read by its name.
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
            // What cannot be read now is skipped all the same, and a copy of nothing.
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

    /// The groups, in reading order of their first files, each in reading order.
    pub fn groups(&self) -> &[Vec<String>] {
        &self.groups
    }

    /// How many files are copies of an earlier one.
    pub fn copies(&self) -> usize {
        self.first.len()
    }

    /// Documents without a token whose text equals the text of an earlier one.
    pub fn empty_copies(&self) -> &EmptyCopies {
        &self.empty
    }

    /// The first file with the bytes of this one, if that is another.
    pub fn first_of(&self, skipped: &SkippedItem) -> Option<&str> {
        self.groups.get(*self.first.get(name(skipped))?)?.first().map(String::as_str)
    }
}

/// What a file is called: its path, or its id where it is a record of another file.
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
    fn copies_are_distinguished_from_files_of_the_same_length() {
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
