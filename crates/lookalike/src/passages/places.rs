//! Third reading: compares the words at every place of a unitig with the words at the unitig's
//! first place. Also finds the places of passages in the texts.

use super::cuts::TokenCuts;
use crate::engine::workers::{Counter, on_threads};
use crate::engine::{Budget, DocumentNumber, FindError, FindOptions, TextRun};
use crate::progress::Progress;
use crate::read::ReadBuffers;
use crate::words::{ComparedWords, TextSpan, WordRule};
use lookalike_core::passage::unitig::{UnitigPlace, Unitigs};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// Bytes of memory for each place of a unitig. The 8 bytes are two numbers for each unitig; there
/// are fewer unitigs than places.
pub(super) const PLACE_BYTES: u64 = size_of::<UnitigPlace>() as u64 + 8;
/// The maximum number of bytes in the excerpt of a passage.
const EXCERPT_BYTES: usize = 200;

/// A run of tokens to find in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WantedPlace {
    pub(super) document: DocumentNumber,
    pub(super) position: u32,
    pub(super) tokens: u32,
    pub(super) passage: u32,
    /// Whether the run is maximal here.
    pub(super) is_maximal: bool,
    /// Whether it is the first place of the passage.
    pub(super) is_first: bool,
}

/// The range of a run in its text, and an excerpt if it is the first place.
#[derive(Debug)]
pub(super) struct LocatedPlace {
    pub(super) place: WantedPlace,
    pub(super) span: TextSpan,
    pub(super) excerpt: String,
}

/// Receives places found in texts, from any thread.
pub(super) trait PlaceTaker: Sync {
    /// Returns the places to find in some documents, in ascending order. By default none.
    fn requested(&self, _documents: &Range<DocumentNumber>) -> Vec<WantedPlace> {
        Vec::new()
    }

    /// Receives the places found in a block of documents.
    fn take(&self, _located: &[LocatedPlace]) -> Result<(), FindError> {
        Ok(())
    }
}

/// The places to compare and to find.
#[derive(Clone, Copy)]
pub(super) struct PlaceComparison<'a> {
    pub(super) run: &'a TextRun,
    pub(super) budget: &'a Budget,
    pub(super) options: &'a FindOptions,
    pub(super) unitigs: &'a Unitigs,
    /// For each unitig, the index of its first place in `unitigs.places`.
    pub(super) first: &'a [u32],
    pub(super) cuts: &'a TokenCuts,
    /// The number of tokens of a run.
    pub(super) length: usize,
}

impl PlaceComparison<'_> {
    /// Compares all places, and finds those that `taker` requests. Returns `false` if different
    /// words have equal hashes. In that case `taker` has received only some places.
    pub(super) fn compare(
        &self,
        taker: &impl PlaceTaker,
        progress: &dyn Progress,
    ) -> Result<bool, FindError> {
        let blocks = Counter::default();
        let parts =
            on_threads::<_, FindError>(self.budget.comparing(self.options.threads), |stop| {
                let mut comparer = PlaceComparer::new(*self);
                while !stop.is_requested()
                    && let Some(i) = blocks.next(self.run.blocks())
                {
                    let range = self.run.range(i);
                    let Some(located) = comparer.block(&range, &taker.requested(&range))? else {
                        stop.request();
                        return Ok(false);
                    };
                    taker.take(&located)?;
                    progress.advance(u64::from(self.run.block_len(i)))?;
                }
                Ok(true)
            })?;
        Ok(parts.into_iter().all(|is_equal| is_equal))
    }
}

/// The state of one thread, with a cache of the words of documents. The oldest words are dropped
/// first.
struct PlaceComparer<'a> {
    of: PlaceComparison<'a>,
    rule: WordRule,
    scratch: ReadBuffers,
    cache: HashMap<DocumentNumber, Rc<ComparedWords>>,
    queue: VecDeque<DocumentNumber>,
    held_bytes: usize,
    share: usize,
}

impl<'a> PlaceComparer<'a> {
    fn new(of: PlaceComparison<'a>) -> Self {
        Self {
            rule: WordRule::of(of.options.params.shingle()),
            scratch: ReadBuffers::default(),
            cache: HashMap::new(),
            queue: VecDeque::new(),
            held_bytes: 0,
            share: of.budget.sets(),
            of,
        }
    }

    /// Compares the places in the documents of a block, and finds the requested ones. Returns
    /// `None` if different words have equal hashes.
    fn block(
        &mut self,
        documents: &Range<DocumentNumber>,
        requested: &[WantedPlace],
    ) -> Result<Option<Vec<LocatedPlace>>, FindError> {
        let all = &self.of.unitigs.places;
        let from = all.partition_point(|place| place.document < documents.start.0);
        let end = all.partition_point(|place| place.document < documents.end.0);
        let mut rest = requested;
        let mut located = Vec::with_capacity(requested.len());
        let mut index = from;
        for places in all[from..end].chunk_by(|a, b| a.document == b.document) {
            let document = DocumentNumber(places[0].document);
            let count = rest.partition_point(|place| place.document <= document);
            let (in_document, after) = rest.split_at(count);
            rest = after;
            let words = if in_document.is_empty() {
                self.words(document)?
            } else {
                self.locate(document, in_document, &mut located)?
            };
            for place in places {
                if !self.is_as_first(index as u32, *place, &words)? {
                    return Ok(None);
                }
                index += 1;
            }
        }
        Ok(Some(located))
    }

    fn is_as_first(
        &mut self,
        index: u32,
        place: UnitigPlace,
        words: &ComparedWords,
    ) -> Result<bool, FindError> {
        let PlaceComparison { unitigs, first, length, .. } = self.of;
        let first = first[place.unitig as usize];
        if first == index {
            return Ok(true);
        }
        let first = unitigs.places[first as usize];
        let count = unitigs.runs[place.unitig as usize] as usize + length - 1;
        let at = place.position as usize;
        let first_at = first.position as usize;
        if first.document == place.document {
            return Ok(words.equal(at, words, first_at, count));
        }
        let other = self.words(DocumentNumber(first.document))?;
        Ok(words.equal(at, &other, first_at, count))
    }

    /// Returns the words of a document.
    fn words(&mut self, document: DocumentNumber) -> Result<Rc<ComparedWords>, FindError> {
        if let Some(words) = self.cache.get(&document) {
            return Ok(Rc::clone(words));
        }
        let Self { rule, scratch, of, .. } = self;
        let cuts = of.cuts.of(document);
        let words = of.run.with_document(document, |block, row| {
            block.fetch(row.place, row.id, scratch, |text| {
                rule.words(text).select(|words| TokenCuts::without(cuts, words))
            })
        })??;
        Ok(self.hold(document, words))
    }

    /// Caches the words of a document.
    fn hold(&mut self, document: DocumentNumber, words: ComparedWords) -> Rc<ComparedWords> {
        let words = Rc::new(words);
        self.held_bytes += words.held_bytes();
        self.queue.push_back(document);
        self.cache.insert(document, Rc::clone(&words));
        while self.held_bytes > self.share
            && let Some(oldest) = self.queue.pop_front()
        {
            self.held_bytes -= self.cache.remove(&oldest).map_or(0, |words| words.held_bytes());
        }
        words
    }

    /// Finds places in the original text of a document, and returns the words of the document.
    fn locate(
        &mut self,
        document: DocumentNumber,
        requested: &[WantedPlace],
        located: &mut Vec<LocatedPlace>,
    ) -> Result<Rc<ComparedWords>, FindError> {
        let Self { rule, scratch, of, .. } = self;
        let cuts = of.cuts.of(document);
        let normalization = of.run.findings.normalization;
        let words = of.run.with_document(document, |block, row| {
            block.fetch_written(row.place, row.id, scratch, |text| {
                let (words, spans) = rule.words_and_spans(text, normalization)?;
                let (words, spans) = if cuts.is_empty() {
                    (words, spans)
                } else {
                    let words = words.select(|words| TokenCuts::without(cuts, words));
                    (words, spans.select(|words| TokenCuts::without(cuts, words)))
                };
                for place in requested {
                    let span = spans.span(place.position as usize, place.tokens as usize)?;
                    let excerpt = if place.is_first { excerpt(text, &span) } else { String::new() };
                    located.push(LocatedPlace { place: *place, span, excerpt });
                }
                Some(words)
            })
        })??;
        let words = words.ok_or_else(|| self.of.run.not_aligned(document))?;
        if let Some(cached) = self.cache.get(&document) {
            return Ok(Rc::clone(cached));
        }
        Ok(self.hold(document, words))
    }
}

/// Returns the beginning of a passage.
fn excerpt(text: &str, span: &TextSpan) -> String {
    let end = text.len().min(span.bytes.end as usize);
    let end = end.min(span.bytes.start as usize + EXCERPT_BYTES);
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(span.bytes.start as usize..end).unwrap_or_default().to_owned()
}
