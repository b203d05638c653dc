//! The stages of a search for passages, one after the other.

use super::anchor_log::{CompleteAnchors, documents};
use super::cuts::TokenCuts;
use super::findings::{FoundPassage, PassageCounts, PassageFindings, PassagePlace, SourceRepeats};
use super::options::PassageOptions;
use super::places::{EXCERPT_BYTES, LocatedPlace, PlaceComparison, WantedPlace};
use super::records::RunSelection;
use crate::error::Error;
use crate::find::TextRun;
use crate::progress::{NoProgress, Progress, Stage};
use crate::read::{Collection, ReadOptions};
use lookalike_core::passage::maximal::{
    MaximalRun, Passage, Passages, TokenRange, copied_ranges, first_places, ranges_of,
};
use lookalike_core::passage::unitig::Unitigs;
use std::cmp::Reverse;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Hash functions that are tried before the words of different hashes are taken to be equal on
/// purpose.
const SEEDS: u64 = 8;
/// Bytes of memory for each place of a unitig while passages are made, and afterwards.
const MAKING_BYTES: u64 = 52;
const PLACE_BYTES: u64 = 16;
/// Bytes of memory for each wanted place: it, where it is found, its row, and room of vectors that
/// grow.
const ROW_BYTES: u64 =
    2 * (size_of::<WantedPlace>() + size_of::<LocatedPlace>() + size_of::<PassagePlace>()) as u64;
/// Bytes of memory for each passage with its excerpt.
const PASSAGE_BYTES: u64 =
    (size_of::<Passage>() + size_of::<FoundPassage>() + EXCERPT_BYTES + 16) as u64;

/// Finds the repeated passages of files and folders, read with the defaults of [`ReadOptions`].
///
/// ```
/// use lookalike::core::params::{Case, TokenRule};
/// use lookalike::passages::{PassageOptions, passages};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().to_owned();
/// std::fs::write(folder.join("a.txt"), "All rights are reserved by the author. First text.")?;
/// std::fs::write(folder.join("b.txt"), "Another. All rights are reserved by the author.")?;
///
/// let options = PassageOptions::new(5, TokenRule::Words, Case::Fold)?;
/// let found = passages(&[folder], &options)?;
/// assert_eq!(found.passages.len(), 1);
/// assert_eq!(found.passages[0].excerpt, "All rights are reserved by the author");
/// assert_eq!((found.passages[0].words, found.passages[0].documents), (7, 2));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`passages_in`], and those of [`Collection::open`].
pub fn passages(inputs: &[PathBuf], options: &PassageOptions) -> Result<PassageFindings, Error> {
    let read = ReadOptions { fields: options.fields(), ..ReadOptions::default() };
    passages_in(&Collection::open(inputs, &read)?, options, &NoProgress)
}

/// Finds the repeated passages of an open collection.
///
/// Cost: one pass over the input, then the documents that may have a repeated passage are read
/// twice again. Memory: some 100 bytes for each document, 12 for each different repeated run, and
/// what [`Memory`](crate::find::Memory) allows for sorting.
///
/// # Errors
/// What [`Error`] lists: unreadable input, ids that repeat, input that changes meanwhile, an index
/// without texts, memory that is too small.
pub fn passages_in(
    collection: &Collection,
    options: &PassageOptions,
    progress: &dyn Progress,
) -> Result<PassageFindings, Error> {
    let length = options.min_words();
    let (mut run, anchors) = TextRun::read(collection, options.run(), length, progress)?;
    let anchors = anchors.finish();
    let cuts = TokenCuts::default();
    let make = |unitigs: &Unitigs| {
        let passages = Passages::new(unitigs, length as u32, &run.order);
        let places = unitigs.places.len() as u64 * PLACE_BYTES;
        let rows = passages.runs.len() as u64 * ROW_BYTES;
        // A passage may have a row for its first place besides those of its runs.
        let found = passages.passages.len() as u64 * (ROW_BYTES + PASSAGE_BYTES);
        run.budget.need(places + rows + found)?;
        let wanted = wanted(&passages);
        Ok((passages, wanted))
    };
    let repeats = ComparedUnitigs::find(&run, options, &anchors, &cuts, progress, make)?;
    collection.check_unchanged()?;
    let sources = repeats.sources(&run, &anchors, length)?;
    drop(anchors);
    let times = repeats.times.clone();
    run.findings.times.extend(times);
    Ok(repeats.into_findings(run, sources, length))
}

/// Unitigs whose words were compared, and what was made of them.
pub(super) struct ComparedUnitigs<T> {
    pub(super) unitigs: Unitigs,
    pub(super) made: T,
    wanted: Vec<WantedPlace>,
    located: Vec<LocatedPlace>,
    pub(super) times: Vec<(Stage, Duration)>,
}

impl<T> ComparedUnitigs<T> {
    /// Finds repeated runs in what `cuts` leave of the documents, and compares their words. `make`
    /// gives what is made of the unitigs, and places to be found in texts.
    pub(super) fn find(
        run: &TextRun,
        options: &PassageOptions,
        anchors: &CompleteAnchors,
        cuts: &TokenCuts,
        progress: &dyn Progress,
        make: impl Fn(&Unitigs) -> Result<(T, Vec<WantedPlace>), Error>,
    ) -> Result<Self, Error> {
        let (length, options) = (options.min_words(), options.run());
        let selection = RunSelection { run, options, anchors, cuts, length };
        let total = Some(run.order.len() as u64);
        for seed in 0..SEEDS {
            let start = Instant::now();
            progress.begin(Stage::Select, total);
            let unitigs = selection.unitigs(seed, progress)?;
            run.budget.need(unitigs.places.len() as u64 * MAKING_BYTES)?;
            let (made, wanted) = make(&unitigs)?;
            let selected = start.elapsed();
            progress.end(Stage::Select, selected);
            progress.begin(Stage::Compare, total);
            let first = &first_places(&unitigs, &run.order);
            let comparison =
                PlaceComparison { run, options, unitigs: &unitigs, first, cuts, length };
            let located = comparison.compare(&wanted, progress)?;
            let compared = start.elapsed().saturating_sub(selected);
            progress.end(Stage::Compare, compared);
            if let Some(located) = located {
                let times = vec![(Stage::Select, selected), (Stage::Compare, compared)];
                return Ok(Self { unitigs, made, wanted, located, times });
            }
        }
        Err(Error::EqualHashes)
    }
}

impl ComparedUnitigs<Passages> {
    /// How much of each source is repeated.
    fn sources(
        &self,
        run: &TextRun,
        anchors: &CompleteAnchors,
        length: usize,
    ) -> Result<Vec<SourceRepeats>, Error> {
        let named = run.findings.sources.iter().map(|source| SourceRepeats {
            name: source.name.clone(),
            documents: source.documents,
            ..SourceRepeats::default()
        });
        let mut sources: Vec<SourceRepeats> = named.collect();
        let copied = copied_ranges(&self.unitigs, length as u32, &run.order);
        let repeated = ranges_of(&self.unitigs, length as u32, |_| true);
        let (mut copied, mut repeated) = (copied.as_slice(), repeated.as_slice());
        for i in 0..run.blocks() {
            let (entries, block) = (anchors.block(i)?, run.block(i)?);
            for ((place, document), found) in (0..).zip(run.range(i)).zip(documents(&entries)) {
                let row = block.rows.get(place)?;
                let Some(source) = sources.get_mut(run.source(&row) as usize) else { continue };
                source.words += found.tokens;
                source.copied_words += take_words(&mut copied, document);
                let words = take_words(&mut repeated, document);
                source.repeated_words += words;
                source.documents_with_repeats += u64::from(words > 0);
            }
        }
        Ok(sources)
    }

    /// Puts passages and places into the order of a report.
    fn into_findings(
        self,
        run: TextRun,
        sources: Vec<SourceRepeats>,
        length: usize,
    ) -> PassageFindings {
        let Self { made: Passages { passages, runs }, wanted, mut located, .. } = self;
        let order = |document: u32| run.order[document as usize];
        let mut ranked: Vec<u32> = (0..passages.len() as u32).collect();
        ranked.sort_unstable_by_key(|number| {
            let passage = passages[*number as usize];
            let most = (passage.documents, passage.places, passage.tokens);
            (Reverse(most), order(passage.document), passage.position)
        });
        let mut number_of = vec![0; ranked.len()];
        for (number, passage) in (0..).zip(&ranked) {
            number_of[*passage as usize] = number;
        }
        let mut rows: Vec<u32> = (0..wanted.len() as u32).collect();
        rows.sort_unstable_by_key(|row| {
            let place = &wanted[*row as usize];
            let passage = number_of[place.passage as usize];
            (passage, !place.is_first, order(place.document), place.position)
        });
        let mut found: Vec<FoundPassage> = Vec::with_capacity(passages.len());
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            let LocatedPlace { span, excerpt } = std::mem::take(&mut located[row as usize]);
            let place = wanted[row as usize];
            let passage = number_of[place.passage as usize];
            let WantedPlace { document, position, is_first, is_maximal, .. } = place;
            let at = places.len();
            if let Some(last) = found.last_mut().filter(|_| !is_first) {
                last.rows.end = at + 1;
            } else {
                let of = passages[ranked[passage as usize] as usize];
                let (words, documents) = (of.tokens, of.documents);
                let rows = at..at + 1;
                found.push(FoundPassage { words, places: of.places, documents, rows, excerpt });
            }
            places.push(PassagePlace { passage, document, position, span, is_first, is_maximal });
        }
        let sum = |of: fn(&SourceRepeats) -> u64| sources.iter().map(of).sum();
        let counts = PassageCounts {
            documents: run.findings.counts.documents,
            empty: run.findings.counts.empty,
            skipped: run.findings.counts.skipped,
            words: sum(|source| source.words),
            passages: found.len() as u64,
            runs: runs.len() as u64,
            documents_with_repeats: sum(|source| source.documents_with_repeats),
            repeated_words: sum(|source| source.repeated_words),
            copied_words: sum(|source| source.copied_words),
        };
        let (passages, run) = (found, run.findings);
        PassageFindings { min_words: length, passages, places, counts, sources, run }
    }
}

/// Takes the ranges of a document off the beginning; gives how many tokens they have.
fn take_words(ranges: &mut &[TokenRange], document: u32) -> u64 {
    let (here, rest) = ranges.split_at(ranges.partition_point(|range| range.document <= document));
    *ranges = rest;
    here.iter().map(|range| u64::from(range.end - range.start)).sum()
}

/// The maximal runs, and the first places of passages that are no maximal runs.
fn wanted(found: &Passages) -> Vec<WantedPlace> {
    let run = |run: &MaximalRun| {
        let passage = &found.passages[run.passage as usize];
        let is_first = (passage.document, passage.position) == (run.document, run.position);
        WantedPlace {
            document: run.document,
            position: run.position,
            tokens: run.tokens,
            passage: run.passage,
            is_maximal: true,
            is_first,
        }
    };
    let mut wanted: Vec<WantedPlace> = found.runs.iter().map(run).collect();
    let mut has_first = vec![false; found.passages.len()];
    for place in wanted.iter().filter(|place| place.is_first) {
        has_first[place.passage as usize] = true;
    }
    for ((number, passage), has_first) in (0..).zip(&found.passages).zip(has_first) {
        if !has_first {
            wanted.push(WantedPlace {
                document: passage.document,
                position: passage.position,
                tokens: passage.tokens,
                passage: number,
                is_maximal: false,
                is_first: true,
            });
        }
    }
    wanted.sort_unstable();
    wanted
}
