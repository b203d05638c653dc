//! Third reading: the words of every unitig are compared with those of its first place, and the
//! places of passages are found in the texts.

use super::cuts::TokenCuts;
use crate::error::Error;
use crate::find::workers::{Counter, on_threads};
use crate::find::{FindOptions, TextRun};
use crate::progress::Progress;
use crate::read::ReadBuffers;
use crate::words::{ComparedWords, Spans, TextSpan, WordRule};
use lookalike_core::passage::unitig::{UnitigPlace, Unitigs};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Bytes of a passage that are kept to show it.
pub(super) const EXCERPT_BYTES: usize = 200;

/// A run of tokens that is to be found in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WantedPlace {
    pub(super) document: u32,
    pub(super) position: u32,
    pub(super) tokens: u32,
    pub(super) passage: u32,
    /// Whether the run is maximal here.
    pub(super) is_maximal: bool,
    /// Whether it is the first place of the passage.
    pub(super) is_first: bool,
}

/// Where a run is in its text, and the beginning of it where it is the first.
#[derive(Debug, Clone, Default)]
pub(super) struct LocatedPlace {
    pub(super) span: TextSpan,
    pub(super) excerpt: String,
}

/// What is compared and found.
#[derive(Clone, Copy)]
pub(super) struct PlaceComparison<'a> {
    pub(super) run: &'a TextRun,
    pub(super) options: &'a FindOptions,
    pub(super) unitigs: &'a Unitigs,
    /// The first place of each unitig, as an index of its places.
    pub(super) first: &'a [u32],
    pub(super) cuts: &'a TokenCuts,
    /// Tokens of a run.
    pub(super) length: usize,
}

impl PlaceComparison<'_> {
    /// Compares all places, and finds those of `wanted`, which ascend. `None` where words differ
    /// whose hashes are equal.
    pub(super) fn compare(
        &self,
        wanted: &[WantedPlace],
        progress: &dyn Progress,
    ) -> Result<Option<Vec<LocatedPlace>>, Error> {
        let blocks = Counter::default();
        let parts = on_threads::<_, Error>(self.options.threads, |stop| {
            let mut comparer = PlaceComparer::new(*self);
            let mut located = Vec::new();
            while !stop.asked()
                && let Some(i) = blocks.next(self.run.blocks())
            {
                let range = self.run.range(i);
                let from = wanted.partition_point(|place| place.document < range.start);
                let end = wanted.partition_point(|place| place.document < range.end);
                let Some(found) = comparer.block(i, &wanted[from..end], progress)? else {
                    stop.ask();
                    return Ok(None);
                };
                located.push((from, found));
            }
            Ok(Some(located))
        })?;
        let mut located = Vec::new();
        for part in parts {
            let Some(part) = part else { return Ok(None) };
            located.extend(part);
        }
        located.sort_unstable_by_key(|(from, _)| *from);
        Ok(Some(located.into_iter().flat_map(|(_, found)| found).collect()))
    }
}

/// One thread's tools: documents that were read, the first ones let go first.
struct PlaceComparer<'a> {
    of: PlaceComparison<'a>,
    rule: WordRule,
    scratch: ReadBuffers,
    held: HashMap<u32, Rc<ComparedWords>>,
    queue: VecDeque<u32>,
    held_bytes: usize,
    share: usize,
}

impl<'a> PlaceComparer<'a> {
    fn new(of: PlaceComparison<'a>) -> Self {
        Self {
            rule: WordRule::of(of.options.params.shingle()),
            scratch: ReadBuffers::default(),
            held: HashMap::new(),
            queue: VecDeque::new(),
            held_bytes: 0,
            share: of.run.budget.sets(),
            of,
        }
    }

    /// Compares the places in the documents of a block.
    fn block(
        &mut self,
        i: usize,
        wanted: &[WantedPlace],
        progress: &dyn Progress,
    ) -> Result<Option<Vec<LocatedPlace>>, Error> {
        let (range, all) = (self.of.run.range(i), &self.of.unitigs.places);
        let from = all.partition_point(|place| place.document < range.start);
        let end = all.partition_point(|place| place.document < range.end);
        let (mut rest, mut located) = (wanted, Vec::with_capacity(wanted.len()));
        let mut index = from;
        for places in all[from..end].chunk_by(|a, b| a.document == b.document) {
            let document = places[0].document;
            let words = self.words(document)?;
            for place in places {
                if !self.is_as_first(index as u32, *place, &words)? {
                    return Ok(None);
                }
                index += 1;
            }
            let count = rest.partition_point(|place| place.document <= document);
            let (here, after) = rest.split_at(count);
            rest = after;
            if !here.is_empty() {
                self.locate(document, here, &mut located)?;
            }
        }
        progress.advance(u64::from(range.end - range.start))?;
        Ok(Some(located))
    }

    fn is_as_first(
        &mut self,
        index: u32,
        place: UnitigPlace,
        words: &ComparedWords,
    ) -> Result<bool, Error> {
        let PlaceComparison { unitigs, first, length, .. } = self.of;
        let first = first[place.unitig as usize];
        if first == index {
            return Ok(true);
        }
        let first = unitigs.places[first as usize];
        let count = unitigs.runs[place.unitig as usize] as usize + length - 1;
        let (at, first_at) = (place.position as usize, first.position as usize);
        if first.document == place.document {
            return Ok(words.equal(at, words, first_at, count));
        }
        let other = self.words(first.document)?;
        Ok(words.equal(at, &other, first_at, count))
    }

    /// The words of a document.
    fn words(&mut self, document: u32) -> Result<Rc<ComparedWords>, Error> {
        if let Some(words) = self.held.get(&document) {
            return Ok(Rc::clone(words));
        }
        let Self { rule, scratch, of, .. } = self;
        let cuts = of.cuts.of(document);
        let words = of.run.with_document(document, |block, row| {
            block.fetch(row.place, row.id, scratch, |text| {
                rule.words(text).select(|words| TokenCuts::without(cuts, words))
            })
        })??;
        let words = Rc::new(words);
        self.held_bytes += words.held();
        self.queue.push_back(document);
        self.held.insert(document, Rc::clone(&words));
        while self.held_bytes > self.share
            && let Some(oldest) = self.queue.pop_front()
        {
            self.held_bytes -= self.held.remove(&oldest).map_or(0, |words| words.held());
        }
        Ok(words)
    }

    /// Finds places in the text of a document, as it is written.
    fn locate(
        &mut self,
        document: u32,
        wanted: &[WantedPlace],
        located: &mut Vec<LocatedPlace>,
    ) -> Result<(), Error> {
        let Self { rule, scratch, of, .. } = self;
        let (cuts, normalization) = (of.cuts.of(document), of.run.findings.normalization);
        let is_found = of.run.with_document(document, |block, row| {
            block.fetch_written(row.place, row.id, scratch, |text| {
                let spans = Spans::of(text, *rule, normalization)?;
                let spans = spans.select(|words| TokenCuts::without(cuts, words));
                for place in wanted {
                    let span = spans.span(place.position as usize, place.tokens as usize)?;
                    let excerpt = if place.is_first { excerpt(text, &span) } else { String::new() };
                    located.push(LocatedPlace { span, excerpt });
                }
                Some(())
            })
        })??;
        is_found.ok_or_else(|| self.of.run.not_aligned(document))
    }
}

/// The beginning of a passage.
fn excerpt(text: &str, span: &TextSpan) -> String {
    let end = text.len().min(span.bytes.end as usize);
    let end = end.min(span.bytes.start as usize + EXCERPT_BYTES);
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(span.bytes.start as usize..end).unwrap_or_default().to_owned()
}
