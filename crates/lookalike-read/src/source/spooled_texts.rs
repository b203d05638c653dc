//! Texts by row in a temporary file, for documents that a caller produces one after the other and
//! does not keep.

use crate::bytes::Spool;
use crate::error::{ReadError, SkipReason};
use crate::source::in_memory::DocumentRowError;
use std::collections::BTreeSet;
use std::path::Path;

/// Texts by row in a temporary file. Each row takes 8 bytes of memory.
///
/// ```
/// use lookalike_read::SpooledTexts;
///
/// let mut texts = SpooledTexts::in_folder(&std::env::temp_dir())?;
/// texts.append([Some("one".as_bytes()), None, Some("three".as_bytes())])?;
/// let mut buffer = String::new();
/// assert!(matches!(texts.text(2, &mut buffer), Ok(Some("three"))));
/// assert!(matches!(texts.text(1, &mut buffer), Ok(None)));
/// # Ok::<(), lookalike_read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct SpooledTexts {
    spool: Spool,
    /// The end of each text.
    ends: Vec<u64>,
    /// Rows without a text.
    missing: BTreeSet<usize>,
}

impl SpooledTexts {
    /// Creates an unnamed file in `folder`. The system removes it when this value is dropped or the
    /// process ends.
    ///
    /// # Errors
    /// [`ReadError::Spool`] with the folder.
    pub fn in_folder(folder: &Path) -> Result<Self, ReadError> {
        let path = folder.join("texts");
        match tempfile::tempfile_in(folder) {
            Ok(file) => {
                let spool = Spool::new(file, path)?;
                Ok(Self { spool, ends: Vec::new(), missing: BTreeSet::new() })
            }
            Err(error) => Err(ReadError::Spool { path, error }),
        }
    }

    /// Adds rows, whose texts should be UTF-8; `None` is a row without a text. All texts are in
    /// memory until they are written together.
    ///
    /// # Errors
    /// [`ReadError::Spool`]. The rows are unusable afterwards.
    pub fn append<'a>(
        &mut self,
        texts: impl IntoIterator<Item = Option<&'a [u8]>>,
    ) -> Result<(), ReadError> {
        let mut bytes = Vec::new();
        let start = self.total_bytes();
        for (row, text) in (self.ends.len()..).zip(texts) {
            match text {
                Some(text) => bytes.extend_from_slice(text),
                None => drop(self.missing.insert(row)),
            }
            self.ends.push(start + bytes.len() as u64);
        }
        self.spool.append(&bytes).map(drop)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the number of rows is 0.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of a row, read into `buffer`; `None` if the row has no text or does not exist. Any
    /// number of threads may read at once.
    ///
    /// # Errors
    /// [`SkipReason::NotUtf8`]; [`ReadError::Spool`].
    pub fn text<'a>(
        &self,
        row: usize,
        buffer: &'a mut String,
    ) -> Result<Option<&'a str>, DocumentRowError> {
        if row >= self.len() || self.missing.contains(&row) {
            return Ok(None);
        }
        let mut bytes = std::mem::take(buffer).into_bytes();
        bytes.resize(self.bytes(row), 0);
        self.spool.read_at(&mut bytes, self.start(row))?;
        *buffer = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to() as u64;
            SkipReason::NotUtf8 { column: valid + 1 }
        })?;
        Ok(Some(buffer))
    }

    /// The size of the text of a row in bytes; 0 if the row has no text or does not exist.
    pub fn bytes(&self, row: usize) -> usize {
        self.ends.get(row).map_or(0, |end| (end - self.start(row)) as usize)
    }

    /// The size of all texts in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The first row without a text.
    pub fn first_missing(&self) -> Option<usize> {
        self.missing.first().copied()
    }

    /// The memory of the rows in bytes.
    pub fn held_bytes(&self) -> u64 {
        /// Memory of a number in the tree, with its share of the nodes.
        const MISSING_BYTES: usize = 16;
        (self.ends.capacity() * size_of::<u64>() + self.missing.len() * MISSING_BYTES) as u64
    }

    fn start(&self, row: usize) -> u64 {
        row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spooled() -> SpooledTexts {
        SpooledTexts::in_folder(&std::env::temp_dir()).unwrap()
    }

    #[test]
    fn spooled_rows_keep_their_texts() {
        let rows = [Some("eins"), None, Some(""), Some("zwölf"), None, Some("d\0rei\n")];
        let mut texts = spooled();
        // In pieces of one, two and three rows.
        for piece in [&rows[..1], &rows[1..3], &rows[3..]] {
            texts.append(piece.iter().map(|text| text.map(str::as_bytes))).unwrap();
        }
        let mut buffer = "an earlier text".to_owned();
        for (row, expected) in rows.iter().enumerate() {
            assert_eq!(texts.text(row, &mut buffer).unwrap(), *expected, "{row}");
            assert_eq!(texts.bytes(row), expected.map_or(0, str::len), "{row}");
        }
        assert_eq!(texts.text(rows.len(), &mut buffer).unwrap(), None);
        let total: usize = rows.iter().flatten().map(|text| text.len()).sum();
        assert_eq!((texts.len(), texts.total_bytes()), (rows.len(), total as u64));
        assert_eq!((texts.first_missing(), texts.bytes(99)), (Some(1), 0));
        assert!(!texts.is_empty() && spooled().is_empty());
    }

    #[test]
    fn invalid_utf8_rows_are_skipped() {
        let mut texts = spooled();
        texts.append([Some(&b"ab\xffc"[..]), Some(b"d")]).unwrap();
        let mut buffer = String::new();
        let error = texts.text(0, &mut buffer).unwrap_err();
        let DocumentRowError::Skipped(SkipReason::NotUtf8 { column: 3 }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(texts.text(1, &mut buffer).unwrap(), Some("d"));
    }

    #[test]
    fn missing_spool_folders_are_named() {
        let folder = std::env::temp_dir().join("lookalike-no-such-folder");
        let error = SpooledTexts::in_folder(&folder).unwrap_err();
        assert!(error.to_string().contains("lookalike-no-such-folder"), "{error}");
    }
}
