//! Forms categories from the texts of an index.
//!
//! ```text
//! ids ─ least hashes ─► sample of texts ─► CategoryModel ─ all texts (threads) ─► members ─► index
//! ```

use super::index_categories::TEXT;
use crate::categories::{CategoryBuffers, CategoryModel, CategorySample, MAX_SAMPLE};
use crate::engine::FindError;
use crate::engine::workers::map_numbers;
use crate::id_sample::IdSample;
use crate::progress::{Progress, Stage};
use lookalike_core::hash::token_hash;
use lookalike_index::backend::Snapshot;
use lookalike_index::category_table::CategoryMember;
use lookalike_index::entry::{DocumentNumber, IndexRecord, RecordFields};
use lookalike_index::{Index, IndexError};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::Instant;

/// The number of documents per batch.
const BATCH: usize = 1024;

/// Options for forming categories.
#[derive(Debug, Clone, Copy)]
pub struct CategoriseOptions {
    /// The maximum number of topics, up to [`MAX_TOPICS`](crate::categories::MAX_TOPICS). `None`
    /// selects [`CategorySample::default_topics`].
    pub topics: Option<NonZeroUsize>,
    /// Threads that assign documents to categories. Their number does not change the result.
    pub threads: NonZeroUsize,
}

/// Forms categories from the documents of an index and stores them in it, replacing previous ones.
/// The model is built from the 20,000 documents whose ids have the smallest hashes. Documents that
/// expired before `now` (in ns since 1970) are not part of this sample. The model depends only on
/// the documents. It also assigns categories to documents that are added later. The category of a
/// document does not change until categories are formed again. Returns the number of the model.
///
/// Cost: one pass over the ids and two over texts. Memory: the words of the sample, and 16 bytes
/// per document.
///
/// # Errors
/// [`IndexError::NoTexts`] for an index without texts, read and write errors.
pub fn categorise(
    index: &Index,
    options: CategoriseOptions,
    now: i64,
    progress: &dyn Progress,
) -> Result<u64, FindError> {
    if !index.settings().store.has_texts() {
        return Err(IndexError::NoTexts { index: index.name().to_owned() }.into());
    }
    let start = Instant::now();
    let mut snapshot = index.snapshot()?;
    progress.begin(Stage::Categorise, Some(snapshot.len()));
    let sample = sample(&mut *snapshot, now)?;
    let topics = options.topics.map_or_else(|| sample.default_topics(), NonZeroUsize::get);
    let model = sample.model(topics);
    let mut members = Vec::new();
    let mut through = DocumentNumber(0);
    loop {
        let (numbers, texts) = batch(&mut *snapshot, through)?;
        let Some(last) = numbers.last() else { break };
        through = *last;
        let categories = categories(&model, &texts, options.threads)?;
        let batch = numbers.iter().zip(categories);
        members.extend(
            batch.map(|(document, category)| CategoryMember { document: *document, category }),
        );
        progress.advance(numbers.len() as u64)?;
    }
    drop(snapshot);
    let number = index.replace_categories(&model.encode(), through, &members)?;
    progress.end(Stage::Categorise, start.elapsed());
    Ok(number)
}

/// Returns the sample of a snapshot.
fn sample(snapshot: &mut dyn Snapshot, now: i64) -> Result<CategorySample, IndexError> {
    let mut drawn = IdSample::new(MAX_SAMPLE);
    let mut from = DocumentNumber(0);
    loop {
        let mut last = None;
        snapshot.scan(from, BATCH, RecordFields::default(), &mut |record: &IndexRecord| {
            last = Some(record.number);
            let hash = token_hash(record.id.as_bytes());
            if !record.is_expired(now) && drawn.wants(hash) {
                drawn.insert(hash, record.number, (), |(), ()| false);
            }
            Ok(())
        })?;
        let Some(last) = last else { break };
        from = last.next();
    }
    let ranks: HashMap<DocumentNumber, u64> =
        (0..).zip(drawn.into_values()).map(|(r, (n, ()))| (n, r)).collect();
    let mut numbers: Vec<DocumentNumber> = ranks.keys().copied().collect();
    numbers.sort_unstable();
    let mut sample = CategorySample::default();
    snapshot.records(&numbers, TEXT, &mut |record| {
        if let Some(rank) = ranks.get(&record.number) {
            sample.add(*rank, record.text.as_deref().unwrap_or_default());
        }
        Ok(())
    })?;
    Ok(sample)
}

/// Returns the next documents numbered above `after`, with their texts.
fn batch(
    snapshot: &mut dyn Snapshot,
    after: DocumentNumber,
) -> Result<(Vec<DocumentNumber>, Vec<String>), IndexError> {
    let mut numbers = Vec::new();
    let mut texts = Vec::new();
    snapshot.scan(after.next(), BATCH, TEXT, &mut |record: &IndexRecord| {
        numbers.push(record.number);
        texts.push(record.text.clone().unwrap_or_default());
        Ok(())
    })?;
    Ok((numbers, texts))
}

/// Returns the category of each text.
fn categories(
    model: &CategoryModel,
    texts: &[String],
    threads: NonZeroUsize,
) -> Result<Vec<u32>, FindError> {
    map_numbers(threads, texts.len(), CategoryBuffers::default, |buffers, text| {
        Ok(model.category(&texts[text], buffers))
    })
}
