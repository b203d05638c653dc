//! Matched runs, and the records that they are sorted as.

use crate::read::BlockNumber;
use crate::spill::codec::{FieldReader, put_bytes, put_u32, put_u64};
use std::ops::Range;

/// A run of words in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchRange {
    /// Its words, from 0.
    pub words: Range<u32>,
    /// The bytes of the text from its first word to its last.
    pub bytes: Range<u64>,
    /// The same in characters.
    pub chars: Range<u64>,
}

/// A run of words of an item that is in a document, compared word by word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMatch {
    /// The file, folder or stream of the document.
    pub source: String,
    /// The id of the document.
    pub document: String,
    /// Where it is in the item.
    pub in_item: MatchRange,
    /// Where it is in the document, first.
    pub in_document: MatchRange,
}

/// The place of a document in the corpus: its block and its position in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentPlace {
    pub(super) block: BlockNumber,
    pub(super) position: u32,
}

/// Bytes of the key up to the item, and up to the document.
const ITEM_KEY: usize = 4;
pub(super) const DOCUMENT_KEY: usize = 16;

/// The key of a match: item, document, first word.
pub(super) fn key(item: u32, place: DocumentPlace, found: &RunMatch) -> [u8; 20] {
    let DocumentPlace { block, position } = place;
    let parts = [item, block.source, block.index, position, found.in_item.words.start];
    let mut key = [0; 20];
    for (bytes, part) in key.as_chunks_mut().0.iter_mut().zip(parts) {
        *bytes = part.to_be_bytes();
    }
    key
}

/// The item of a match by its key.
pub(super) fn item_of(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(..ITEM_KEY)?.try_into().ok()?))
}

/// Appends a match to `out`.
pub(super) fn encode(found: &RunMatch, out: &mut Vec<u8>) {
    put_bytes(out, found.source.as_bytes());
    put_bytes(out, found.document.as_bytes());
    for range in [&found.in_item, &found.in_document] {
        put_u32(out, range.words.start);
        put_u32(out, range.words.end);
        for value in [range.bytes.start, range.bytes.end, range.chars.start, range.chars.end] {
            put_u64(out, value);
        }
    }
}

/// A match that was encoded.
pub(super) fn decode(bytes: &[u8]) -> Option<RunMatch> {
    let mut fields = FieldReader::new(bytes);
    let source = fields.str()?.to_owned();
    let document = fields.str()?.to_owned();
    let (in_item, in_document) = (range(&mut fields)?, range(&mut fields)?);
    Some(RunMatch { source, document, in_item, in_document })
}

fn range(fields: &mut FieldReader<'_>) -> Option<MatchRange> {
    let words = fields.u32()?..fields.u32()?;
    let bytes = fields.u64()?..fields.u64()?;
    let chars = fields.u64()?..fields.u64()?;
    Some(MatchRange { words, bytes, chars })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_read_as_it_was_written() {
        let range = |at: u32| MatchRange {
            words: at..at + 13,
            bytes: 1 << 40..(1 << 40) + 99,
            chars: 7..u64::from(at) + 90,
        };
        let (source, document) = ("pages.jsonl".to_owned(), "ü\n".to_owned());
        let found = RunMatch { source, document, in_item: range(2), in_document: range(9) };
        let mut bytes = Vec::new();
        encode(&found, &mut bytes);
        assert_eq!(decode(&bytes).as_ref(), Some(&found));
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), None);
        }
        let block = BlockNumber { source: 1, index: 2 };
        let key = key(300, DocumentPlace { block, position: 3 }, &found);
        assert_eq!(item_of(&key), Some(300));
    }
}
