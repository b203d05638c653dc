//! Documents without a token whose text equals the text of an earlier one. Such texts are pictures
//! made of characters, punctuation, or blanks.

use crate::engine::error::FindError;
use crate::engine::memory::Budget;
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::read::{Content, ReadBuffers};
use crate::spill::{SortedRecords, Sorter, TempSpace};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Documents without a token that repeat the text of an earlier one.
#[derive(Debug, Default)]
pub struct EmptyCopies {
    /// The id of the copy → the id of the first document with its text.
    sorted: SortedRecords,
}

impl EmptyCopies {
    /// Finds these documents. Reads a document without a token again if another one has the same
    /// length.
    pub(crate) fn of(
        documents: &RunDocuments,
        budget: &Budget,
        temp: &Arc<TempSpace>,
    ) -> Result<Self, FindError> {
        let mut lengths: HashMap<u64, u32> = HashMap::new();
        for document in documents.in_state(DocumentState::EMPTY) {
            let bytes = documents.with_row(document, |_, row| row.bytes)?;
            *lengths.entry(bytes).or_default() += 1;
        }
        let sorter = || Sorter::new(Some(Arc::clone(temp)), budget.results());
        let mut same = sorter();
        let mut scratch = ReadBuffers::default();
        for document in documents.in_state(DocumentState::EMPTY) {
            documents.with_row(document, |block, row| {
                let alone = lengths.get(&row.bytes).is_none_or(|count| *count < 2);
                // An index without texts cannot compare them.
                if row.bytes == 0 || alone || !block.retained.has_texts() {
                    return Ok(());
                }
                let of = |text: &str| Content::of(text.as_bytes());
                let content = block.retained.fetch(row.place, row.id, &mut scratch, of)?;
                let key = [content.bytes().as_slice(), &document.0.to_be_bytes()].concat();
                Ok::<_, FindError>(same.push(&key, row.id.as_bytes())?)
            })??;
        }
        let mut copies = sorter();
        let mut first = None::<([u8; 32], Vec<u8>)>;
        for record in same.finish()?.iter() {
            let (key, id) = record?;
            match &first {
                Some((content, first)) if key.starts_with(content) => copies.push(&id, first)?,
                _ => first = key.first_chunk().map(|content| (*content, id)),
            }
        }
        Ok(Self { sorted: copies.finish()? })
    }

    /// Creates the list from records: the id of a copy, and the id of the first document with its
    /// text.
    pub(crate) fn new(sorted: SortedRecords) -> Self {
        Self { sorted }
    }

    /// The number of copies.
    pub fn len(&self) -> u64 {
        self.sorted.len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the ids of the copies, ascending, each with the id of the first document, in
    /// reading order, that has the same text.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<(String, String)>> + '_ {
        let text = |id: &[u8]| Some(std::str::from_utf8(id).ok()?.to_owned());
        self.sorted.decoded("an id", move |copy, first| Some((text(copy)?, text(first)?)))
    }

    /// Returns each of the ascending `ids` with the id of the first document that has the same
    /// text, or `None` if it is not a copy.
    pub fn join<'a>(
        &'a self,
        ids: impl Iterator<Item = io::Result<String>> + 'a,
    ) -> impl Iterator<Item = io::Result<(String, Option<String>)>> + 'a {
        let mut copies = self.iter().peekable();
        ids.map(move |id| {
            let id = id?;
            let copy = copies.next_if(|copy| copy.as_ref().map_or(true, |(copy, _)| *copy <= id));
            let first = copy.transpose()?.map(|(_, first)| first);
            Ok((id, first))
        })
    }
}
