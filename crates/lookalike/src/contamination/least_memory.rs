//! Computes the least memory limit of a run that was refused because its limit was too small. The
//! error can then recommend a limit that suffices for the whole benchmark and the whole corpus.

use super::benchmark::{BenchmarkField, item_bytes};
use super::error::ContaminationError;
use super::options::ContaminationOptions;
use crate::engine::{Budget, FindError, Memory, long_words, read_within_limit};
use crate::progress::Progress;
use crate::read::{Collection, Document, DocumentSink, RecordSize, SkippedItem};
use crate::words::WordRule;

/// Raises the limit that a [`FindError::MemoryTooSmall`] recommends to the least limit of the whole
/// run. Returns any other error unchanged. Also returns the error unchanged if an input is a
/// stream, which cannot be read again.
pub(super) fn explained(
    error: ContaminationError,
    corpus: &Collection,
    benchmark: &[BenchmarkField<'_>],
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> ContaminationError {
    let ContaminationError::Find(FindError::MemoryTooSmall { got, least }) = error else {
        return error;
    };
    let mut inputs = benchmark.iter().map(|field| field.collection).chain([corpus]);
    if inputs.any(|input| input.stream().is_some()) {
        return error;
    }
    match measured(corpus, benchmark, options, progress) {
        Ok(measured) => FindError::MemoryTooSmall { got, least: least.max(measured) }.into(),
        Err(error) => error.into(),
    }
}

fn measured(
    corpus: &Collection,
    benchmark: &[BenchmarkField<'_>],
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> Result<u64, FindError> {
    let budget =
        |held_bytes| Budget::of_texts(&Memory::default(), options.threads.get(), held_bytes);
    let budget_of_items = budget(0)?;
    let measure = |budget| TextMeasure {
        budget,
        rule: WordRule::of(&options.rule.clone().with_stop_words(None)),
        block_bytes: 0,
        items: 0,
        work: 0,
    };
    let mut of_items = measure(&budget_of_items);
    for field in benchmark {
        of_items.read(field.collection, progress)?;
    }
    let budget_of_scan = budget(of_items.items + corpus.held_bytes())?;
    let mut of_scan = measure(&budget_of_scan);
    of_scan.read(corpus, progress)?;
    let reading = budget_of_items.least_for_texts(of_items.items.max(of_items.work));
    Ok(reading.max(budget_of_scan.least_for_texts(of_scan.work)))
}

/// Computes the memory for texts that are compared by words.
struct TextMeasure<'a> {
    budget: &'a Budget,
    rule: WordRule,
    block_bytes: u64,
    /// Bytes of memory for all documents, if they are items of a benchmark.
    items: u64,
    /// Bytes of working memory with which each thread can compare the longest document.
    work: u64,
}

impl TextMeasure<'_> {
    fn read(&mut self, collection: &Collection, progress: &dyn Progress) -> Result<(), FindError> {
        read_within_limit(collection, progress, self, |measure, block| {
            measure.block_bytes = block.bytes();
        })?;
        Ok(())
    }
}

impl DocumentSink for TextMeasure<'_> {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        let words = self.rule.ranges(document.text).count() as u64;
        self.items += item_bytes(document.text.len() as u64, words);
        let work = self.budget.work_for_words(self.block_bytes, long_words(document));
        self.work = self.work.max(work);
        Ok(())
    }

    fn over_memory(&mut self, size: &RecordSize) -> bool {
        self.items += item_bytes(size.bytes, size.words);
        self.work = self.work.max(self.budget.work_for_words(size.bytes, size.words));
        true
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), FindError> {
        Ok(())
    }
}
