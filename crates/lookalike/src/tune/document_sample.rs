//! Draws the texts of a sample from a collection, by the hashes of ids.

use crate::engine::FindError;
use crate::id_sample::IdSample;
use crate::progress::{Progress, Stage};
use crate::read::{
    BlockNumber, Collection, Document, DocumentPosition, DocumentSink, ReadBuffers, ReadError,
    SkippedItem,
};
use crate::read_progress::ReadProgress;
use lookalike_core::hash;
use std::time::Instant;

/// The default number of documents in a sample: two million pairs, of which 2,000 lie above the
/// 99.9th percentile.
pub const SAMPLE_DOCUMENTS: usize = 2_000;

/// Documents drawn from a collection.
#[derive(Debug)]
pub struct TextSample {
    /// Texts of the sample in random order, so that the first ones are also a sample.
    pub texts: Vec<String>,
    /// The number of documents in the collection, except those without texts.
    pub documents: u64,
    /// Records and files that could not be read as documents, in any order.
    pub skipped: Vec<SkippedItem>,
}

/// Draws `size` documents, or all if there are fewer. Reads the collection once, in one thread.
/// Holds the texts of the sample in memory.
///
/// Documents without texts, from an index that only stores shingle sets, are not drawn. A document
/// is drawn by the hash of its id and the seed. So the sample depends only on the documents, not on
/// their order or their division into files.
///
/// # Errors
/// [`FindError::Read`] if the collection cannot be read, [`FindError::Interrupted`] if the caller
/// cancels.
pub fn sample(
    collection: &Collection,
    size: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<TextSample, FindError> {
    let start = Instant::now();
    progress.begin(Stage::Draw, collection.bytes());
    let mut draw = SampleSink {
        seed: hash::mix64(seed),
        block: None,
        sample: IdSample::new(size),
        documents: 0,
        skipped: Vec::new(),
    };
    let mut scratch = ReadBuffers::default();
    let read_progress = ReadProgress::new(collection, progress);
    while let Some(block) = collection.next_block()? {
        draw.block = Some(block.number());
        block.read(&mut scratch, &mut draw)?;
        read_progress.report()?;
    }
    progress.end(Stage::Draw, start.elapsed());
    let texts = draw.sample.into_values().map(|(_, text)| text).collect();
    Ok(TextSample { texts, documents: draw.documents, skipped: draw.skipped })
}

/// Receives the documents of a collection and keeps the drawn ones.
struct SampleSink {
    seed: u64,
    block: Option<BlockNumber>,
    /// The drawn texts. Block and position in the key put documents with the same id in reading
    /// order.
    sample: IdSample<(String, Option<BlockNumber>, DocumentPosition), String>,
    documents: u64,
    skipped: Vec<SkippedItem>,
}

impl DocumentSink for SampleSink {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let &Document { id, text, place, shingled, .. } = document;
        if shingled.is_some() {
            return Ok(());
        }
        self.documents += 1;
        let id_hash = hash::mix64(hash::token_hash(id.as_bytes()) ^ self.seed);
        if self.sample.wants(id_hash) {
            let key = (id.to_owned(), self.block, place);
            self.sample.insert(id_hash, key, text.to_owned(), |_, _| false);
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.skipped.push(skipped);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::read::{Format, ReadOptions};
    use std::fmt::Write;
    use std::fs;

    fn drawn(files: &[(&str, String)], size: usize, seed: u64) -> (Vec<String>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for (name, content) in files {
            paths.push(folder.path().join(name));
            fs::write(&paths[paths.len() - 1], content).unwrap();
        }
        let options = ReadOptions { format: Some(Format::Lines), ..ReadOptions::default() };
        let collection = Collection::open(&paths, &options).unwrap();
        let sample = sample(&collection, size, seed, &NoProgress).unwrap();
        (sample.texts, sample.documents)
    }

    #[test]
    fn sample_depends_on_documents_only() {
        let lines: Vec<String> = (0..5_000).map(|i| format!("d{i} text {i}\n")).collect();
        let (whole, documents) = drawn(&[("a", lines.concat())], 100, 1);
        assert_eq!((whole.len(), documents), (100, 5_000));
        let mut parts = [String::new(), String::new()];
        for (i, line) in lines.iter().rev().enumerate() {
            write!(parts[i % 2], "{line}").unwrap();
        }
        let [first, second] = parts;
        let split = drawn(&[("b", first), ("c", second)], 100, 1);
        assert_eq!(split, (whole.clone(), 5_000));
        assert_ne!(drawn(&[("a", lines.concat())], 100, 2).0, whole);
        assert_eq!(drawn(&[("a", lines.concat())], 9_000, 1).0.len(), 5_000);
        assert_eq!(drawn(&[("a", lines.concat())], 10, 1).0, whole[..10]);
    }
}
