//! Matched runs, and their encoding as sortable records.

use crate::read::BlockNumber;
use crate::spill::codec::{FieldReader, key_part, put_bytes, put_u32, put_u64};
use std::ops::Range;

/// A run of words in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchRange {
    /// The positions of its words in the text, counted from 0.
    pub words: Range<u32>,
    /// The bytes of the text from its first word to its last.
    pub bytes: Range<u64>,
    /// The characters of the text from its first word to its last.
    pub chars: Range<u64>,
}

/// A run of words that an item and a document have in common. It was compared word by word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMatch {
    /// The file, folder or stream of the document.
    pub source: String,
    /// The id of the document.
    pub document: String,
    /// The range of the run in the item.
    pub in_item: MatchRange,
    /// The first range of the run in the document.
    pub in_document: MatchRange,
    /// The text of the document around the run. Only present with
    /// [`MatchList::WithExcerpts`](super::MatchList::WithExcerpts).
    pub excerpt: Option<TextExcerpt>,
}

/// An excerpt of a text: a run of words, or the beginning of a long run, with the surrounding text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextExcerpt {
    /// The text of the excerpt.
    pub text: String,
    /// The position of the excerpt in the whole text, in bytes.
    pub start: u64,
    /// Whether the whole text continues after the excerpt.
    pub is_cut: bool,
}

/// Bytes of text before and after a run in its excerpt.
const CONTEXT_BYTES: usize = 200;
/// The most bytes of a run in its excerpt.
const RUN_BYTES: usize = 2000;

impl TextExcerpt {
    /// Returns the excerpt around some bytes of a text.
    pub(crate) fn around(text: &str, run: &Range<u64>) -> Self {
        let start = run.start as usize;
        let end = run.end as usize;
        let end = end.min(start.saturating_add(RUN_BYTES)).saturating_add(CONTEXT_BYTES);
        let start = text.floor_char_boundary(start.saturating_sub(CONTEXT_BYTES));
        let end = text.floor_char_boundary(end);
        let part = text.get(start..end).unwrap_or_default().to_owned();
        Self { text: part, start: start as u64, is_cut: end < text.len() }
    }
}

/// The position of a document in the corpus: its block and its position in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentPlace {
    pub(super) block: BlockNumber,
    pub(super) position: u32,
}

/// Appends the key of a document: its source, id and position. The position, which depends on the
/// order of the inputs, only orders documents with the same source and id.
pub(super) fn put_document(key: &mut Vec<u8>, source: &str, id: &str, place: DocumentPlace) {
    let DocumentPlace { block, position } = place;
    key_part(key, source.as_bytes());
    key_part(key, id.as_bytes());
    for part in [block.source, block.index, position] {
        key.extend(part.to_be_bytes());
    }
}

/// The source and the id in the key of a document.
pub(super) fn name_of_document(key: &[u8]) -> Option<&[u8]> {
    key.split_last_chunk::<12>().map(|(name, _)| name)
}

/// Replaces `key` by the key of a match: item, document, first word.
pub(super) fn put_key(key: &mut Vec<u8>, item: u32, place: DocumentPlace, found: &RunMatch) {
    key.clear();
    key.extend(item.to_be_bytes());
    put_document(key, &found.source, &found.document, place);
    key.extend(found.in_item.words.start.to_be_bytes());
}

/// The item in the key of a match.
pub(super) fn item_of(key: &[u8]) -> Option<u32> {
    key.first_chunk().map(|item| u32::from_be_bytes(*item))
}

/// A document of the corpus that contains a run of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContaminatedDocument {
    /// The file, folder or stream of the document.
    pub source: String,
    /// Its id.
    pub id: String,
}

/// Appends a document to `out`, with the sets of texts whose runs it contains.
/// [`ItemIndex`](super::item_index::ItemIndex) defines sets and texts.
pub(super) fn encode_document(source: &str, id: &str, sets: &[u32], out: &mut Vec<u8>) {
    put_bytes(out, source.as_bytes());
    put_bytes(out, id.as_bytes());
    for set in sets {
        put_u32(out, *set);
    }
}

/// Decodes a document with its sets.
pub(super) fn decode_document(bytes: &[u8]) -> Option<(ContaminatedDocument, Vec<u32>)> {
    let mut fields = FieldReader::new(bytes);
    let source = fields.str()?.to_owned();
    let id = fields.str()?.to_owned();
    let mut sets = Vec::new();
    while !fields.is_empty() {
        sets.push(fields.u32()?);
    }
    Some((ContaminatedDocument { source, id }, sets))
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
    if let Some(TextExcerpt { text, start, is_cut }) = &found.excerpt {
        put_u32(out, u32::from(*is_cut));
        put_u64(out, *start);
        put_bytes(out, text.as_bytes());
    }
}

/// Decodes a match.
pub(super) fn decode(bytes: &[u8]) -> Option<RunMatch> {
    let mut fields = FieldReader::new(bytes);
    let source = fields.str()?.to_owned();
    let document = fields.str()?.to_owned();
    let in_item = range(&mut fields)?;
    let in_document = range(&mut fields)?;
    let mut excerpt = None;
    if !fields.is_empty() {
        let is_cut = fields.u32()? != 0;
        let start = fields.u64()?;
        excerpt = Some(TextExcerpt { text: fields.str()?.to_owned(), start, is_cut });
    }
    Some(RunMatch { source, document, in_item, in_document, excerpt })
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
    fn encoded_matches_round_trip() {
        let range = |at: u32| MatchRange {
            words: at..at + 13,
            bytes: 1 << 40..(1 << 40) + 99,
            chars: 7..u64::from(at) + 90,
        };
        let (source, document) = ("pages.jsonl".to_owned(), "ü\n\0".to_owned());
        let excerpt = TextExcerpt::around("Übung", &(2..7));
        let found = RunMatch {
            source,
            document,
            in_item: range(2),
            in_document: range(9),
            excerpt: Some(excerpt),
        };
        let mut bytes = Vec::new();
        encode(&found, &mut bytes);
        assert_eq!(decode(&bytes).as_ref(), Some(&found));
        let without = RunMatch { excerpt: None, ..found.clone() };
        let mut short = Vec::new();
        encode(&without, &mut short);
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), (cut == short.len()).then(|| without.clone()));
        }
        let block = BlockNumber { source: 1, index: 2 };
        let mut key = Vec::new();
        put_key(&mut key, 300, DocumentPlace { block, position: 3 }, &found);
        assert_eq!(item_of(&key), Some(300));
        assert_eq!(item_of(&key[..3]), None);
    }

    #[test]
    fn contaminated_documents_round_trip() {
        let (source, id) = ("pages.jsonl".to_owned(), "ü\n\0".to_owned());
        let mut bytes = Vec::new();
        encode_document(&source, &id, &[7, 9], &mut bytes);
        let document = ContaminatedDocument { source, id };
        assert_eq!(decode_document(&bytes), Some((document.clone(), vec![7, 9])));
        assert_eq!(decode_document(&bytes[..bytes.len() - 3]), None);
        let mut key = Vec::new();
        let place = DocumentPlace { block: BlockNumber { source: 1, index: 2 }, position: 3 };
        put_document(&mut key, &document.source, &document.id, place);
        assert_eq!(name_of_document(&key), Some(&b"pages.jsonl\0\0\xc3\xbc\n\0\xff\0\0"[..]));
        assert_eq!(name_of_document(&key[..11]), None);
    }

    #[test]
    fn excerpts_end_between_characters() {
        let text = "ü".repeat(3_000);
        for start in [0, 1, 199, 201, 3_001, 5_999] {
            let excerpt = TextExcerpt::around(&text, &(start..6_000));
            let begin = excerpt.start as usize;
            assert!(text[begin..].starts_with(&excerpt.text) && begin <= start as usize);
            assert_eq!(excerpt.is_cut, begin + excerpt.text.len() < text.len());
        }
        assert_eq!(TextExcerpt::around("", &(0..0)).text, "");
    }
}
