//! Finds the runs of words that benchmark items share with documents of the corpus.

use super::benchmark::{BenchmarkItems, ItemWords};
use super::item_index::{ItemIndex, run_length};
use super::matches::{self, DocumentPlace, MatchRange, RunMatch, TextExcerpt};
use super::options::{ContaminationOptions, MatchList};
use crate::document_pass::{DocumentVisitor, each_document};
use crate::engine::{Budget, FindError, explained};
use crate::progress::Progress;
use crate::read::{
    Block, BlockNumber, Collection, Document, DocumentSink, Location, Normalization, SkippedItem,
};
use crate::spill::{SortedRecords, Sorter, TempSpace};
use crate::words::{ComparedWords, Spans, TextSpan, WordRule};
use lookalike_core::shingle::Shingler;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The results of the scan.
pub(super) struct CorpusScan {
    /// The matches by item, document and position; none if the options omit them.
    pub(super) matches: SortedRecords,
    /// The documents that contain runs of items, by source and id. Each is stored with the numbers
    /// of its sets of item texts.
    pub(super) with_runs: SortedRecords,
    /// For each class of equal runs, true if a document contains the run.
    pub(super) is_found: Vec<bool>,
    /// The number of documents read.
    pub(super) documents: u64,
    /// The skipped items.
    pub(super) skipped: Vec<SkippedItem>,
}

/// Reads the corpus once.
pub(super) fn scan(
    corpus: &Collection,
    benchmark: &BenchmarkItems,
    index: &ItemIndex,
    options: &ContaminationOptions,
    progress: &dyn Progress,
) -> Result<CorpusScan, FindError> {
    let held_bytes = benchmark.bytes + corpus.held_bytes();
    let budget = Budget::of_texts(&options.memory, options.threads.get(), held_bytes)?;
    if let Some(bytes) = budget.longest_record() {
        corpus.limit_records(bytes);
    }
    let temp = budget.is_limited().then(|| Arc::new(TempSpace::new(options.memory.temp_dir())));
    let with_runs = Mutex::new(Sorter::new(temp.clone(), budget.share(8)));
    let matches = Mutex::new(Sorter::new(temp, budget.share(4)));
    let is_found: Vec<AtomicBool> =
        (0..index.class_count()).map(|_| AtomicBool::default()).collect();
    let shared = ScanInput {
        corpus,
        items: &benchmark.items,
        index,
        options,
        budget: &budget,
        is_found: &is_found,
        with_runs: &with_runs,
        matches: &matches,
    };
    let scanners = each_document(corpus, options.threads, progress, || Scanner::new(shared));
    let scanners = scanners.map_err(|error| explained(corpus, &budget, error))?;
    let mut documents = 0;
    let mut skipped = Vec::new();
    for scanner in scanners {
        documents += scanner.documents;
        skipped.extend(scanner.skipped);
    }
    let is_found = is_found.into_iter().map(AtomicBool::into_inner).collect();
    let matches = matches.into_inner().finish()?;
    let with_runs = with_runs.into_inner().finish()?;
    Ok(CorpusScan { matches, with_runs, is_found, documents, skipped })
}

/// The values that all threads share.
#[derive(Clone, Copy)]
struct ScanInput<'a> {
    corpus: &'a Collection,
    items: &'a [ItemWords],
    index: &'a ItemIndex,
    options: &'a ContaminationOptions,
    budget: &'a Budget,
    is_found: &'a [AtomicBool],
    with_runs: &'a Mutex<Sorter>,
    matches: &'a Mutex<Sorter>,
}

/// The buffers of one thread.
struct Scanner<'a> {
    shared: ScanInput<'a>,
    rule: WordRule,
    shingler: Shingler,
    block: BlockNumber,
    block_bytes: u64,
    /// The number of documents of the block so far.
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

    /// Verifies the runs of a document. If it has any, adds the document to `with_runs`, and the
    /// matches to `matches` if they are listed.
    fn document_with_hits(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        let words = self.rule.words(document.text);
        self.keep_equal(&words);
        if self.hits.is_empty() {
            return Ok(());
        }
        let ScanInput { corpus, index, options, is_found, with_runs, .. } = self.shared;
        for (class, _) in &self.hits {
            is_found[*class as usize].store(true, Ordering::Relaxed);
        }
        let sets = index.sets_of(self.hits.iter().map(|(class, _)| *class));
        let source = corpus.file_of(self.block.source, document.id);
        let place = DocumentPlace { block: self.block, position: self.position };
        let mut key = Vec::new();
        let mut payload = Vec::new();
        matches::put_document(&mut key, source, document.id, place);
        matches::encode_document(source, document.id, &sets, &mut payload);
        with_runs.lock().push(&key, &payload)?;
        if options.matches == MatchList::Omitted {
            return Ok(());
        }
        self.matches(document, source, place, &words, &sets)
    }

    /// Keeps the hits whose words in the document equal the words of the run.
    fn keep_equal(&mut self, words: &ComparedWords) {
        let ScanInput { items, index, options, .. } = self.shared;
        self.hits.retain_mut(|(class, position)| {
            let (item, at) = index.place(*class);
            let Some(item) = items.get(item as usize) else { return false };
            let length = run_length(item.tokens.len(), options.ngram);
            let is_equal = |place: &usize| item.compared.equal(at as usize, words, *place, length);
            let first = *position as usize;
            // If the words at the first position differ, a later run with this hash may have the
            // words.
            let place = is_equal(&first).then_some(first);
            let place = place.or_else(|| (first + 1..words.len()).find(is_equal));
            *position = place.unwrap_or(first) as u32;
            place.is_some()
        });
    }

    /// Compares a document with the items in these sets, and adds the matches to the sorter.
    fn matches(
        &self,
        document: &Document<'_>,
        source: &str,
        place: DocumentPlace,
        words: &ComparedWords,
        sets: &[u32],
    ) -> Result<(), FindError> {
        let ScanInput { items, index, options, matches: sorter, .. } = self.shared;
        let texts = sets.iter().flat_map(|set| index.set(*set));
        let mut candidates: Vec<u32> = texts.flat_map(|text| index.items(*text)).copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        let not_aligned = || {
            let place = Some(Location::in_source(source, None));
            FindError::NotAligned { id: document.id.to_owned(), place }
        };
        // The texts are compared without a normal form.
        let form = Normalization::default();
        let spans = |text| Spans::of(text, self.rule, form).ok_or_else(not_aligned);
        let in_document = spans(document.text)?;
        let mut key = Vec::new();
        let mut payload = Vec::new();
        for number in candidates {
            let item = &items[number as usize];
            let length = run_length(item.tokens.len(), options.ngram);
            let classes = index.classes(index.text(number));
            let runs = ItemRuns { hits: &self.hits, classes, length };
            let in_item = spans(&item.item.text)?;
            for run in runs.matched(&item.compared, words) {
                let (in_item, in_document) =
                    described(run, &in_item, &in_document).ok_or_else(not_aligned)?;
                let excerpt = (options.matches == MatchList::WithExcerpts)
                    .then(|| TextExcerpt::around(document.text, &in_document.bytes));
                let source = source.to_owned();
                let document = document.id.to_owned();
                let found = RunMatch { source, document, in_item, in_document, excerpt };
                payload.clear();
                matches::encode(&found, &mut payload);
                matches::put_key(&mut key, number, place, &found);
                sorter.lock().push(&key, &payload)?;
            }
        }
        Ok(())
    }
}

/// Describes a run in both texts.
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
        self.block = block.number();
        self.block_bytes = block.bytes();
        self.position = 0;
    }
}

impl DocumentSink for Scanner<'_> {
    type Error = FindError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), FindError> {
        self.shared.budget.text(self.block_bytes, document)?;
        let tokens = self.shingler.tokens(document.text);
        self.shared.index.hits(tokens, &mut self.hits);
        if !self.hits.is_empty() {
            self.document_with_hits(document)?;
        }
        self.position += 1;
        self.documents += 1;
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), FindError> {
        self.skipped.push(skipped);
        Ok(())
    }
}

/// The runs of one item, with their possible places in a document.
struct ItemRuns<'a> {
    hits: &'a [(u32, u32)],
    classes: &'a [u32],
    length: usize,
}

/// A run of words that an item and a document share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MatchedRun {
    item: usize,
    document: usize,
    words: usize,
}

impl ItemRuns<'_> {
    /// Returns the matches in ascending order of the item's words. Together, they
    /// cover every word of the item that belongs to a shared run.
    fn matched(&self, item: &ComparedWords, document: &ComparedWords) -> Vec<MatchedRun> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(class) = self.classes.get(at) {
            let hit = self.hits.binary_search_by_key(class, |hit| hit.0);
            let Some((_, place)) = hit.ok().and_then(|hit| self.hits.get(hit)) else {
                at += 1;
                continue;
            };
            let place = *place as usize;
            // The words of the run itself were compared before.
            let words = item.common(at, document, place).max(self.length);
            found.push(MatchedRun { item: at, document: place, words });
            // The match contains all runs that end within it.
            at += words - self.length + 1;
        }
        found
    }
}
