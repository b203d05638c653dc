//! Some rows of documents in memory, in any order, without a copy of their texts.

use super::in_memory::{DocumentRowError, DocumentRows, InMemoryDocuments};
use crate::error::SkipReason;
use std::sync::Arc;

/// The rows of documents in a list, in the order of the list.
struct SelectedRows {
    rows: Arc<dyn DocumentRows>,
    selected: Vec<usize>,
}

impl InMemoryDocuments {
    /// The documents of `rows`, in this order, under the same name. The first of them becomes row
    /// 0. `None` if one of `rows` does not exist.
    #[must_use]
    pub fn select(&self, rows: Vec<usize>) -> Option<Self> {
        let len = self.rows.len();
        let is_valid = rows.iter().all(|row| *row < len);
        is_valid.then(|| Self {
            name: self.name.clone(),
            rows: Arc::new(SelectedRows { rows: Arc::clone(&self.rows), selected: rows }),
        })
    }
}

impl DocumentRows for SelectedRows {
    fn len(&self) -> usize {
        self.selected.len()
    }

    fn id<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, SkipReason> {
        self.rows.id(self.selected[row], buffer)
    }

    fn text<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, DocumentRowError> {
        self.rows.text(self.selected[row], buffer)
    }

    fn bytes(&self, row: usize) -> usize {
        self.rows.bytes(self.selected[row])
    }

    fn buffered_bytes(&self, row: usize) -> usize {
        self.rows.buffered_bytes(self.selected[row])
    }

    fn held_bytes(&self) -> u64 {
        self.rows.held_bytes()
    }

    fn field(&self, row: usize, field: usize, buffer: &mut String) -> bool {
        self.rows.field(self.selected[row], field, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Letters(&'static str);

    impl DocumentRows for Letters {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn id<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a str, SkipReason> {
            *buffer = format!("row {row}");
            Ok(buffer)
        }

        fn text<'a>(&'a self, row: usize, _: &'a mut String) -> Result<&'a str, DocumentRowError> {
            Ok(&self.0[row..=row])
        }

        fn field(&self, row: usize, field: usize, buffer: &mut String) -> bool {
            buffer.extend([field, row].map(|number| number.to_string()));
            row != 1
        }
    }

    #[test]
    fn selected_rows_follow_the_list() {
        let name = "documents".to_owned();
        let documents = InMemoryDocuments { name, rows: Arc::new(Letters("abcd")) };
        let selected = documents.select(vec![3, 1, 1]).unwrap();
        let (rows, mut buffer) = (&selected.rows, String::new());
        assert_eq!((selected.name.as_str(), rows.len(), rows.is_empty()), ("documents", 3, false));
        let texts = (0..3).map(|row| rows.text(row, &mut String::new()).unwrap().to_owned());
        assert_eq!(texts.collect::<String>(), "dbb");
        assert_eq!(rows.id(0, &mut buffer).unwrap(), "row 3");
        let mut value = String::new();
        assert!(rows.field(0, 7, &mut value) && !rows.field(1, 0, &mut String::new()));
        assert_eq!((value.as_str(), rows.bytes(2)), ("73", 1));
        assert!(documents.select(vec![0, 4]).is_none());
        assert!(documents.select(Vec::new()).unwrap().rows.is_empty());
    }
}
