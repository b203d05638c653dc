//! The stages of a search for passages, one after the other.

use super::candidates::CandidateRuns;
use super::checkpoint::PassageCheckpoint;
use super::cuts::TokenCuts;
use super::findings::{PassageCounts, PassageFindings, SourceRepeats};
use super::options::PassageOptions;
use super::places::{PLACE_BYTES, PlaceComparison, PlaceTaker};
use super::records::RunSelection;
use super::rows::PlaceRows;
use crate::engine::ids::Id;
use crate::engine::prepare::anchor_log::{CompleteAnchors, documents};
use crate::engine::workers::map_numbers;
use crate::engine::{Budget, DocumentNumber, FindError, TextRun};
use crate::progress::{NoProgress, Progress, Stage};
use crate::read::{Collection, ReadOptions};
use lookalike_core::passage::maximal::{TokenRange, copied_ranges, first_places, ranges_of};
use lookalike_core::passage::unitig::Unitigs;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Hash functions to try. If different words have equal hashes under all of them, the input was
/// made for that purpose.
const SEEDS: u64 = 8;
/// Bytes of memory for each place of a unitig while passages are formed.
const MAKING_BYTES: u64 = 40;

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
/// assert_eq!(found.rows.passages(), 1);
/// for row in found.rows.iter() {
///     let row = row?;
///     assert_eq!(row.passage.excerpt, "All rights are reserved by the author");
///     assert_eq!((row.passage.words, row.passage.documents), (7, 2));
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Errors of [`passages_in`] and of [`Collection::open`].
pub fn passages(
    inputs: &[PathBuf],
    options: &PassageOptions,
) -> Result<PassageFindings, FindError> {
    let read = options.read_options(ReadOptions::default());
    passages_in(&Collection::open(inputs, &read)?, options, &NoProgress)
}

/// Finds the repeated passages of an open collection.
///
/// Cost: one pass over the input, and two further reads of the documents that may have a repeated
/// passage. Memory: some 100 bytes per document, 8 per different repeated run, and the memory that
/// [`Memory`](crate::find::Memory) allows for sorting.
///
/// # Errors
/// Unreadable input, repeated ids, input that changes during the run, an index without texts,
/// memory that is too small.
pub fn passages_in(
    collection: &Collection,
    options: &PassageOptions,
    progress: &dyn Progress,
) -> Result<PassageFindings, FindError> {
    let length = options.min_words();
    let work = json!({ "min_words": length });
    let (mut run, anchors) = TextRun::read(collection, options.run(), length, &work, progress)?;
    let checkpoint = &mut PassageCheckpoint::open(&run)?;
    let anchors = anchors.finish(options.run().threads, run.budget.share(4))?;
    run.hold_anchors(anchors.held_bytes())?;
    let cuts = TokenCuts::default();
    let make =
        |unitigs: &Unitigs, budget: &Budget| PlaceRows::new(&run, budget, unitigs, length as u32);
    let search = UnitigSearch { run: &run, options, anchors: &anchors, cuts: &cuts };
    let repeats = search.compared(checkpoint, progress, make)?;
    collection.check_unchanged()?;
    let sources = sources(&run, &anchors, &repeats.unitigs, options)?;
    let ComparedUnitigs { result: places, times, .. } = repeats;
    let runs = places.passages.runs.len() as u64;
    let rows = places.finish()?;
    let sum = |of: fn(&SourceRepeats) -> u64| sources.iter().map(of).sum();
    let counts = PassageCounts {
        documents: run.findings.counts.documents,
        empty: run.findings.counts.empty,
        skipped: run.findings.counts.skipped,
        words: sum(|source| source.words),
        passages: rows.passages() as u64,
        runs,
        documents_with_repeats: sum(|source| source.documents_with_repeats),
        repeated_words: sum(|source| source.repeated_words),
        copied_words: sum(|source| source.copied_words),
    };
    let mut run = run.findings;
    run.times.extend(times);
    Ok(PassageFindings { min_words: length, rows, counts, sources, run })
}

/// Unitigs whose words were compared, and the result of `make`.
pub(super) struct ComparedUnitigs<T> {
    pub(super) unitigs: Unitigs,
    pub(super) result: T,
    pub(super) times: Vec<(Stage, Duration)>,
}

/// The input of a search for repeated runs: the documents without `cuts`.
pub(super) struct UnitigSearch<'a> {
    pub(super) run: &'a TextRun,
    pub(super) options: &'a PassageOptions,
    pub(super) anchors: &'a CompleteAnchors,
    pub(super) cuts: &'a TokenCuts,
}

impl UnitigSearch<'_> {
    /// Finds repeated runs, and compares their words. `make` builds a value from the unitigs. The
    /// value may also receive the places found in texts. The memory of the value adds to the memory
    /// that the search holds.
    pub(super) fn compared<T: PlaceTaker>(
        &self,
        checkpoint: &mut PassageCheckpoint,
        progress: &dyn Progress,
        make: impl Fn(&Unitigs, &Budget) -> Result<T, FindError>,
    ) -> Result<ComparedUnitigs<T>, FindError> {
        let Self { run, options, anchors, cuts } = *self;
        let length = options.min_words();
        let options = options.run();
        let budget = &run.budget.with_held(cuts.held_bytes())?;
        let candidates = &CandidateRuns::of(run, anchors, budget.share(16))?;
        let selection = RunSelection { run, budget, options, candidates, cuts, length };
        let total = Some(run.order.len() as u64);
        for seed in checkpoint.first_seed()..SEEDS {
            let start = Instant::now();
            progress.begin(Stage::Select, total);
            let unitigs = if let Some(unitigs) = checkpoint.selected(run, seed)? {
                unitigs
            } else {
                let unitigs = selection.unitigs(seed, progress)?;
                checkpoint.select(seed, &unitigs)?;
                unitigs
            };
            let places = unitigs.places.len() as u64;
            budget.need_beside_shares(places * (PLACE_BYTES + MAKING_BYTES))?;
            let result = make(&unitigs, budget)?;
            let selected = start.elapsed();
            progress.end(Stage::Select, selected);
            progress.begin(Stage::Compare, total);
            let first = &first_places(&unitigs, &run.order);
            let comparison =
                PlaceComparison { run, budget, options, unitigs: &unitigs, first, cuts, length };
            let is_equal = comparison.compare(&result, progress)?;
            let compared = start.elapsed().saturating_sub(selected);
            progress.end(Stage::Compare, compared);
            if is_equal {
                let times = vec![(Stage::Select, selected), (Stage::Compare, compared)];
                return Ok(ComparedUnitigs { unitigs, result, times });
            }
            checkpoint.refuse(seed)?;
        }
        Err(FindError::EqualHashes)
    }
}

/// Counts the repeated words of each source.
fn sources(
    run: &TextRun,
    anchors: &CompleteAnchors,
    unitigs: &Unitigs,
    options: &PassageOptions,
) -> Result<Vec<SourceRepeats>, FindError> {
    let length = options.min_words() as u32;
    let named = run.findings.sources.iter().map(|source| SourceRepeats {
        name: source.name.clone(),
        documents: source.documents,
        ..SourceRepeats::default()
    });
    let sources: Mutex<Vec<SourceRepeats>> = Mutex::new(named.collect());
    let copied = copied_ranges(unitigs, length, &run.order);
    let repeated = ranges_of(unitigs, length, |_| true);
    map_numbers(
        options.run().threads,
        run.blocks(),
        || (),
        |(), i| {
            let entries = anchors.block(i)?;
            let block = run.block(i)?;
            let mut copied = ranges_from(&copied, run.range(i).start);
            let mut repeated = ranges_from(&repeated, run.range(i).start);
            // A block has at most one source per document. All sources could be many more.
            let mut counted = BTreeMap::<usize, SourceRepeats>::new();
            for ((index, document), found) in run.in_block(i).zip(documents(&entries)) {
                if !run.takes_part(document) {
                    continue;
                }
                let row = block.rows.get(index)?;
                let source = counted.entry(run.source(&row).index()).or_default();
                source.words += found.tokens;
                source.copied_words += take_words(&mut copied, document);
                let words = take_words(&mut repeated, document);
                source.repeated_words += words;
                source.documents_with_repeats += u64::from(words > 0);
            }
            let mut sources = sources.lock();
            for (index, counts) in &counted {
                if let Some(source) = sources.get_mut(*index) {
                    source.add(counts);
                }
            }
            Ok::<_, FindError>(())
        },
    )?;
    Ok(sources.into_inner())
}

/// Returns the ranges of a document and of all later documents.
fn ranges_from(ranges: &[TokenRange], document: DocumentNumber) -> &[TokenRange] {
    &ranges[ranges.partition_point(|range| range.document < document.0)..]
}

/// Removes the ranges of a document from the beginning of `ranges`. Returns the number of their
/// tokens.
fn take_words(ranges: &mut &[TokenRange], document: DocumentNumber) -> u64 {
    let (in_document, rest) =
        ranges.split_at(ranges.partition_point(|range| range.document <= document.0));
    *ranges = rest;
    in_document.iter().map(|range| u64::from(range.end - range.start)).sum()
}
