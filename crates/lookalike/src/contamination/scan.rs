//! The documents of the corpus → the runs of items that they have.

use super::benchmark::{BenchmarkItems, ItemWords};
use super::item_index::{ItemIndex, run_length};
use super::matches::{self, DocumentPlace, MatchRange, RunMatch, TextExcerpt};
use super::options::ContaminationOptions;
use crate::document_pass::{DocumentVisitor, each_document};
use crate::error::Error;
use crate::find::{Budget, explained};
use crate::progress::Progress;
use crate::read::{
    Block, BlockNumber, Collection, Document, DocumentSink, Location, Normalization, SkippedItem,
};
use crate::spill::{SortedRecords, Sorter, TempSpace};
use crate::words::{ComparedWords, Spans, TextSpan, WordRule};
use lookalike_core::shingle::Shingler;
use parking_lot::Mutex;
use std::sync::Arc;

/// What was found in the corpus.
pub(super) struct CorpusScan {
    /// The matches by item, document and position.
    pub(super) matches: SortedRecords,
    /// How many documents were read.
    pub(super) documents: u64,
    /// What was not.
    pub(super) skipped: Vec<SkippedItem>,
    /// For the documents that have matches of contaminated items.
    pub(super) contaminated: Sorter,
}

/// Reads the corpus once.
pub(super) fn scan(
    corpus: &Collection,
    benchmark: &BenchmarkItems,
    index: &ItemIndex,
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> Result<CorpusScan, Error> {
    let held = benchmark.bytes + corpus.held_bytes();
    let budget = Budget::of_texts(&options.memory, options.threads.get(), held)?;
    if let Some(bytes) = budget.longest_record() {
        corpus.limit_records(bytes);
    }
    let temp = budget.is_limited().then(|| Arc::new(TempSpace::new(options.memory.temp_dir())));
    let contaminated = Sorter::new(temp.clone(), budget.share(8));
    let sorter = Mutex::new(Sorter::new(temp, budget.share(4)));
    let items = &benchmark.items;
    let shared = ScanInput { corpus, items, index, options, budget: &budget, sorter: &sorter };
    let scanners = each_document(corpus, options.threads, progress, || Scanner::new(shared));
    let scanners = scanners.map_err(|error| explained(corpus, &budget, error))?;
    let (mut documents, mut skipped) = (0, Vec::new());
    for scanner in scanners {
        documents += scanner.documents;
        skipped.extend(scanner.skipped);
    }
    let sorter = sorter.into_inner();
    Ok(CorpusScan { matches: sorter.finish()?, documents, skipped, contaminated })
}

/// What all threads share.
#[derive(Clone, Copy)]
struct ScanInput<'a> {
    corpus: &'a Collection,
    items: &'a [ItemWords],
    index: &'a ItemIndex,
    options: &'a ContaminationOptions,
    budget: &'a Budget,
    sorter: &'a Mutex<Sorter>,
}

/// One thread's tools.
struct Scanner<'a> {
    shared: ScanInput<'a>,
    rule: WordRule,
    shingler: Shingler,
    block: BlockNumber,
    block_bytes: u64,
    /// Documents of the block so far.
    position: u32,
    /// The classes of the document with their first positions.
    hits: Vec<(u32, u32)>,
    documents: u64,
    skipped: Vec<SkippedItem>,
}

impl<'a> Scanner<'a> {
    fn new(shared: ScanInput<'a>) -> Self {
        let rule = shared.options.rule.clone().with_stop_words(None);
        Self {
            shared,
            rule: WordRule::of(&rule),
            shingler: Shingler::with_kernel(&rule, shared.options.kernel),
            block: BlockNumber { source: 0, index: 0 },
            block_bytes: 0,
            position: 0,
            hits: Vec::new(),
            documents: 0,
            skipped: Vec::new(),
        }
    }

    /// Hands on the matches of a document whose words may be those of items.
    fn matches(&self, document: &Document<'_>) -> Result<(), Error> {
        let ScanInput { corpus, items, index, options, sorter, .. } = self.shared;
        let mut candidates: Vec<u32> =
            self.hits.iter().flat_map(|(class, _)| index.items(*class)).copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        let source = corpus.file_of(self.block.source, document.id);
        let not_aligned = || {
            let place = Some(Location::in_source(source, None));
            Error::NotAligned { id: document.id.to_owned(), place }
        };
        // The texts are those that were read, in no other form.
        let form = Normalization::default();
        let spans = |text| Spans::of(text, self.rule, form).ok_or_else(not_aligned);
        let (words, in_document) =
            self.rule.words_and_spans(document.text, form).ok_or_else(not_aligned)?;
        let place = DocumentPlace { block: self.block, position: self.position };
        let (mut key, mut payload) = (Vec::new(), Vec::new());
        for number in candidates {
            let item = &items[number as usize];
            let length = run_length(item.tokens.len(), options.ngram);
            let runs = ItemRuns { hits: &self.hits, classes: index.classes(number), length };
            let runs = runs.matched(&item.compared, &words);
            if runs.is_empty() {
                continue;
            }
            let in_item = spans(&item.item.text)?;
            for run in runs {
                let (in_item, in_document) =
                    described(run, &in_item, &in_document).ok_or_else(not_aligned)?;
                let excerpt = options
                    .excerpts
                    .then(|| TextExcerpt::around(document.text, &in_document.bytes));
                let (source, document) = (source.to_owned(), document.id.to_owned());
                let found = RunMatch { source, document, in_item, in_document, excerpt };
                payload.clear();
                matches::encode(&found, &mut payload);
                matches::put_key(&mut key, number, place, &found);
                let mut sorter = sorter.lock();
                sorter.push(&key, &payload)?;
            }
        }
        Ok(())
    }
}

/// A run in both texts.
fn described(
    run: MatchedRun,
    in_item: &Spans<'_>,
    in_document: &Spans<'_>,
) -> Option<(MatchRange, MatchRange)> {
    let range = |spans: &Spans<'_>, at: usize| {
        let TextSpan { bytes, chars } = spans.span(at, run.words)?;
        Some(MatchRange { words: at as u32..(at + run.words) as u32, bytes, chars })
    };
    Some((range(in_item, run.item)?, range(in_document, run.document)?))
}

impl DocumentVisitor for Scanner<'_> {
    fn block(&mut self, block: &Block, _: bool) {
        (self.block, self.block_bytes, self.position) = (block.number(), block.bytes(), 0);
    }
}

impl DocumentSink for Scanner<'_> {
    type Error = Error;

    fn document(&mut self, document: &Document<'_>) -> Result<(), Error> {
        let words = || self.rule.ranges(document.text).count() as u64;
        self.shared.budget.text(self.block_bytes, document.text, words)?;
        let tokens = self.shingler.tokens(document.text);
        self.shared.index.hits(tokens, &mut self.hits);
        if !self.hits.is_empty() {
            self.matches(document)?;
        }
        self.position += 1;
        self.documents += 1;
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), Error> {
        self.skipped.push(skipped);
        Ok(())
    }
}

/// The runs of one item, and where a document may have them.
struct ItemRuns<'a> {
    hits: &'a [(u32, u32)],
    classes: &'a [u32],
    length: usize,
}

/// Words of an item that are equal to those of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MatchedRun {
    item: usize,
    document: usize,
    words: usize,
}

impl ItemRuns<'_> {
    /// The matches in ascending order of the item's words. All words that are in a run which the
    /// document has are in one of them.
    fn matched(&self, item: &ComparedWords, document: &ComparedWords) -> Vec<MatchedRun> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(class) = self.classes.get(at) {
            match self.place(*class, at, item, document) {
                Some(run) => {
                    found.push(run);
                    // The runs up to its end are in it.
                    at += run.words - self.length + 1;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The first place of a run in the document, by its words.
    fn place(
        &self,
        class: u32,
        at: usize,
        item: &ComparedWords,
        document: &ComparedWords,
    ) -> Option<MatchedRun> {
        let hit = self.hits.binary_search_by_key(&class, |hit| hit.0).ok()?;
        let (_, first) = self.hits.get(hit)?;
        let compared = |place: usize| {
            let words = item.common(at, document, place);
            (words >= self.length).then_some(MatchedRun { item: at, document: place, words })
        };
        // Where the first run with this hash has other words, another one may have these.
        let from = *first as usize;
        compared(from).or_else(|| (from + 1..document.len()).find_map(compared))
    }
}
