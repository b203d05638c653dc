//! Selects the words to remove: all places of a passage except the first, or all places of
//! boilerplate. Applies the rule to the remaining words until nothing changes.
//!
//! ```text
//! anchors ─ unitigs, compared ─ tokens to remove ─ whole units ─ cuts ─┐
//!    ▲────────────────── anchors of the documents that changed ◄───────┘
//! ```

use super::checkpoint::PassageCheckpoint;
use super::cuts::TokenCuts;
use super::options::PassageOptions;
use super::pipeline::UnitigSearch;
use super::places::PlaceTaker;
use crate::engine::ids::{Id, SourceIndex};
use crate::engine::prepare::anchor_log::{CompleteAnchors, documents, fingerprint, write_anchors};
use crate::engine::{Budget, DocumentNumber, FindError, Findings, TextRun};
use crate::progress::Progress;
use crate::read::unit::ranges;
use crate::read::{Collection, ReadBuffers, TextUnit};
use crate::words::{Spans, WordRule};
use lookalike_core::passage::anchors::AnchorFinder;
use lookalike_core::passage::maximal::{TokenRange, copied_ranges, ranges_of};
use lookalike_core::passage::unitig::Unitigs;
use lookalike_core::shingle::Shingler;
use lookalike_core::text::{CharClass, class};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Bytes of memory for each removed range: the found range, the range limited to whole units, the
/// range joined with earlier ones, and its document.
const CUT_BYTES: u64 = 4 * size_of::<TokenRange>() as u64 + 16;
/// Bytes of memory for the counts of each unitig by source.
const COUNT_BYTES: u64 = 48;

/// The rule that selects the repeated words to remove.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CutRule {
    /// Words in a copy. The first place of each passage is kept.
    Copies,
    /// Words in a run that occurs in enough documents (of the same source if `per_source` is set).
    /// No place is kept.
    Boilerplate {
        /// The minimum number of documents, at least 2.
        min_documents: u64,
        /// The minimum share of the documents, 0 to 1.
        min_share: f64,
        /// Whether to count documents per source, and to cut only in sources with enough of them.
        per_source: bool,
    },
}

/// Options for cutting words out of texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutOptions {
    /// The rule that selects the words to remove.
    pub rule: CutRule,
    /// Remove only whole lines, paragraphs or sentences, if all their words are selected. `None`
    /// removes single words.
    pub unit: Option<TextUnit>,
    /// A document is removed if fewer words than this remain; at least 1.
    pub min_left: u64,
}

impl CutOptions {
    /// The options as stored in the folder of a resumable run.
    fn description(&self) -> Value {
        let rule = match self.rule {
            CutRule::Copies => json!("copies"),
            CutRule::Boilerplate { min_documents, min_share, per_source } => json!({
                "min_documents": min_documents,
                "min_share": min_share,
                "per_source": per_source,
            }),
        };
        let unit = self.unit.map_or_else(|| "word".to_owned(), |unit| unit.to_string());
        json!({ "rule": rule, "at": unit, "min_left": self.min_left })
    }
}

/// Counts of removed words in a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceCuts {
    /// The name of the source.
    pub name: String,
    /// Documents of the source, including empty ones.
    pub documents: u64,
    /// Documents that lose words and are kept.
    pub changed: u64,
    /// Documents that are removed.
    pub removed: u64,
    /// Words of all documents of the source.
    pub words: u64,
    /// Removed words, including all words of removed documents.
    pub cut_words: u64,
}

/// The removed words of all documents.
pub struct PassageCuts {
    /// How often the rule was applied. The last time had no effect.
    pub rounds: usize,
    /// Counts of removed words in each source, in reading order.
    pub sources: Vec<SourceCuts>,
    /// The documents, without groups. They can be read again.
    pub run: Findings,
    cuts: TokenCuts,
    /// Documents that are removed, in ascending order.
    removed: Vec<DocumentNumber>,
    cut: CutOptions,
    rule: WordRule,
}

impl PassageCuts {
    /// Selects the words to remove.
    ///
    /// ```
    /// use lookalike::core::params::{Case, TokenRule};
    /// use lookalike::find::DocumentNumber;
    /// use lookalike::passages::{CutOptions, CutRule, PassageCuts, PassageOptions};
    /// use lookalike::progress::NoProgress;
    /// use lookalike::read::{Collection, ReadOptions};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().to_owned();
    /// std::fs::write(folder.join("a.txt"), "All rights are reserved. The first, longer text.")?;
    /// std::fs::write(folder.join("b.txt"), "All rights are reserved. Another text.")?;
    ///
    /// let collection = Collection::open(&[folder], &ReadOptions::default())?;
    /// let options = PassageOptions::new(4, TokenRule::Words, Case::Fold)?;
    /// let cut = CutOptions { rule: CutRule::Copies, unit: None, min_left: 1 };
    /// let cuts = PassageCuts::find(&collection, &options, &cut, &NoProgress)?;
    /// let documents = [0, 1].map(DocumentNumber);
    /// assert_eq!(documents.map(|document| cuts.is_changed(document)), [false, true]);
    /// let (text, ranges) = cuts.ranges(documents[1])?;
    /// assert_eq!(&text[ranges[0].end..], "Another text.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: as for [`passages_in`](super::passages_in), and for each further round the cost of the
    /// documents that changed in the previous one.
    ///
    /// # Errors
    /// Errors of [`passages_in`](super::passages_in).
    pub fn find(
        collection: &Collection,
        options: &PassageOptions,
        cut: &CutOptions,
        progress: &dyn Progress,
    ) -> Result<Self, FindError> {
        let length = options.min_words();
        let work = json!({ "cut": cut.description(), "min_words": length });
        let (mut run, anchors) = TextRun::read(collection, options.run(), length, &work, progress)?;
        let checkpoint = &mut PassageCheckpoint::open(&run)?;
        let count = checkpoint.rounds();
        let mut anchors = anchors.finish(options.run().threads, run.budget.share(4))?;
        // The word counts of the documents are held until the end.
        run.hold_anchors(anchors.held_bytes() + 4 * run.order.len() as u64)?;
        let run = run;
        let rule = WordRule::of(options.rule());
        let mut rounds = CutRounds { run: &run, options, cut, rule, count };
        let mut words = rounds.words(&anchors)?;
        let cuts = rounds.run(&mut anchors, checkpoint, progress)?;
        collection.check_unchanged()?;
        let (sources, removed) = rounds.sources(&cuts, &mut words)?;
        let count = rounds.count;
        let run = run.findings;
        Ok(Self { rounds: count, sources, run, cuts, removed, cut: *cut, rule })
    }

    /// Releases all resources, and removes the stored state of a resumable run. Call it after the
    /// results are written.
    ///
    /// # Errors
    /// [`FindError::Spill`] if the folder of a resumable run cannot be removed.
    pub fn finish(self) -> Result<(), FindError> {
        self.run.finish()
    }

    /// Whether the document is removed, because too few words remain.
    pub fn is_removed(&self, document: DocumentNumber) -> bool {
        self.removed.binary_search(&document).is_ok()
    }

    /// Whether the document loses words.
    pub fn is_changed(&self, document: DocumentNumber) -> bool {
        !self.cuts.of(document).is_empty()
    }

    /// The number of words that the document loses, also if it is removed.
    pub fn cut_words(&self, document: DocumentNumber) -> u64 {
        self.cuts.of(document).iter().map(|range| u64::from(range.end - range.start)).sum()
    }

    /// The rule that selected the words.
    pub fn rule(&self) -> CutRule {
        self.cut.rule
    }

    /// Returns the original text of a document, and the ranges of bytes to remove from it, in
    /// ascending order. Ranges do not touch.
    ///
    /// # Errors
    /// [`FindError::Read`] if the document has changed.
    pub fn ranges(
        &self,
        document: DocumentNumber,
    ) -> Result<(String, Vec<Range<usize>>), FindError> {
        let text = self.run.written_text(document)?;
        let cuts = self.cuts.of(document);
        let ranges = Spans::of(&text, self.rule, self.run.normalization)
            .map(|spans| byte_ranges(&text, spans.words(), cuts, self.cut.unit));
        if let Some(ranges) = ranges {
            return Ok((text, ranges));
        }
        let id = self.run.id(document)?;
        let place = self.run.location(document)?;
        Err(FindError::NotAligned { id, place: Some(place) })
    }
}

/// Ranges come from unitigs, so no places in texts are requested.
impl PlaceTaker for Vec<TokenRange> {}

struct CutRounds<'a> {
    run: &'a TextRun,
    options: &'a PassageOptions,
    cut: &'a CutOptions,
    rule: WordRule,
    count: usize,
}

impl CutRounds<'_> {
    /// Applies the rule until nothing changes.
    fn run(
        &mut self,
        anchors: &mut CompleteAnchors,
        checkpoint: &mut PassageCheckpoint,
        progress: &dyn Progress,
    ) -> Result<TokenCuts, FindError> {
        let mut cuts = self.earlier_cuts(anchors, checkpoint)?;
        loop {
            self.count += 1;
            let make = |unitigs: &Unitigs, budget: &Budget| self.selected(unitigs, budget);
            let search =
                UnitigSearch { run: self.run, options: self.options, anchors, cuts: &cuts };
            let found = search.compared(checkpoint, progress, make)?.result;
            let found = cuts.restore(found);
            let cut_count = (cuts.len() + found.len()) as u64;
            self.run.budget.need(cut_count * CUT_BYTES)?;
            let found = self.cuttable(&found, &cuts)?;
            if !cuts.add(&found) {
                return Ok(cuts);
            }
            checkpoint.cut(&found)?;
            let changed = found.iter().map(|range| DocumentNumber(range.document));
            let changed: BTreeSet<DocumentNumber> = changed.collect();
            self.read_changed(anchors, &changed, &cuts)?;
        }
    }

    /// Returns the cuts of an earlier run. Changes `anchors` to the anchors of the remaining
    /// tokens.
    fn earlier_cuts(
        &self,
        anchors: &mut CompleteAnchors,
        checkpoint: &PassageCheckpoint,
    ) -> Result<TokenCuts, FindError> {
        let mut cuts = TokenCuts::default();
        for round in checkpoint.cuts(self.run)? {
            cuts.add(&round);
        }
        let changed: BTreeSet<DocumentNumber> =
            cuts.documents().map(|(document, _)| document).collect();
        if !changed.is_empty() {
            self.read_changed(anchors, &changed, &cuts)?;
        }
        Ok(cuts)
    }

    /// Returns the tokens to remove, as ranges of the documents after previous cuts.
    fn selected(&self, unitigs: &Unitigs, budget: &Budget) -> Result<Vec<TokenRange>, FindError> {
        let length = self.options.min_words() as u32;
        Ok(match self.cut.rule {
            CutRule::Copies => copied_ranges(unitigs, length, &self.run.order),
            CutRule::Boilerplate { min_documents, min_share, per_source } => {
                budget.need(unitigs.places.len() as u64 * COUNT_BYTES)?;
                let sources = if per_source { self.sources_of(unitigs)? } else { HashMap::new() };
                let source = |document| sources.get(&document).copied().unwrap_or_default();
                let documents: Vec<u64> = if per_source {
                    self.run.findings.sources.iter().map(|source| source.documents).collect()
                } else {
                    vec![self.run.findings.counts.documents]
                };
                let least = |source: SourceIndex| {
                    let all = documents.get(source.index()).copied().unwrap_or(0);
                    ((all as f64 * min_share).ceil() as u64).max(min_documents).max(2)
                };
                frequent(unitigs, length, source, least)
            }
        })
    }

    /// Returns the sources of the documents with places.
    fn sources_of(
        &self,
        unitigs: &Unitigs,
    ) -> Result<HashMap<DocumentNumber, SourceIndex>, FindError> {
        let places = unitigs.places.chunk_by(|a, b| a.document == b.document);
        let source = |document| {
            Ok((document, self.run.with_document(document, |_, row| self.run.source(row))?))
        };
        places.map(|places| source(DocumentNumber(places[0].document))).collect()
    }

    /// Limits ranges to tokens that can be removed: with a unit, to whole units; without, to tokens
    /// whose removal does not merge the words on both sides.
    fn cuttable(
        &self,
        found: &[TokenRange],
        cuts: &TokenCuts,
    ) -> Result<Vec<TokenRange>, FindError> {
        let mut scratch = ReadBuffers::default();
        let mut all_that_can = Vec::new();
        for ranges in found.chunk_by(|a, b| a.document == b.document) {
            let document = DocumentNumber(ranges[0].document);
            let mut all = TokenCuts::default();
            let mut can_go = Vec::new();
            all.add(cuts.of(document));
            all.add(ranges);
            let is_found = self.run.with_document(document, |block, row| {
                block.fetch_written(row.place, row.id, &mut scratch, |text| {
                    let spans = Spans::of(text, self.rule, self.run.findings.normalization)?;
                    let words = spans.words();
                    let all = all.of(document);
                    match self.cut.unit {
                        None => can_go.extend(apart(text, words, all)),
                        Some(unit) => can_go.extend(whole_units(text, words, all, unit)),
                    }
                    Some(())
                })
            })??;
            is_found.ok_or_else(|| self.run.not_aligned(document))?;
            // Earlier cuts are not changes.
            let old = cuts.of(document);
            can_go.retain(|range| !TokenCuts::contain(old, range.start, range.end));
            all_that_can.append(&mut can_go);
        }
        Ok(all_that_can)
    }

    /// Replaces the anchors of documents that changed.
    fn read_changed(
        &self,
        anchors: &mut CompleteAnchors,
        changed: &BTreeSet<DocumentNumber>,
        cuts: &TokenCuts,
    ) -> Result<(), FindError> {
        let run = self.run;
        let length = self.options.min_words();
        let share = run.budget.share(8);
        let kernel = self.options.run().kernel;
        let mut shingler = Shingler::with_kernel(self.options.rule(), kernel);
        let mut finder = AnchorFinder::new(length);
        let mut scratch = ReadBuffers::default();
        let former = std::mem::replace(anchors, CompleteAnchors::empty(run.temp()));
        let threads = self.options.run().threads;
        *anchors = former.changed(run.temp(), threads, share, |i, entries| {
            let mut out = Vec::new();
            let block = if changed.range(run.range(i)).next().is_some() {
                Some(run.block(i)?)
            } else {
                None
            };
            for ((index, document), of) in run.in_block(i).zip(documents(entries)) {
                let Some(block) = block.as_ref().filter(|_| changed.contains(&document)) else {
                    of.copy(&mut out);
                    continue;
                };
                let is_same = block.fetch(index, &mut scratch, |row, text| {
                    let tokens = shingler.tokens(text);
                    let is_same = fingerprint(tokens) == row.fingerprint;
                    let tokens = TokenCuts::without(cuts.of(document), tokens.to_vec());
                    write_anchors(&tokens, &mut finder, &mut out);
                    is_same
                })?;
                if !is_same {
                    return Err(run.changed(document));
                }
            }
            Ok(out)
        })?;
        Ok(())
    }

    /// Counts the words of each source and of each document.
    fn words(&self, anchors: &CompleteAnchors) -> Result<DocumentCounts, FindError> {
        let mut counts = DocumentCounts::default();
        let named = self.run.findings.sources.iter().map(|source| SourceCuts {
            name: source.name.clone(),
            documents: source.documents,
            ..SourceCuts::default()
        });
        counts.sources = named.collect();
        for i in 0..self.run.blocks() {
            let entries = anchors.block(i)?;
            let block = self.run.block(i)?;
            for ((index, document), of) in self.run.in_block(i).zip(documents(&entries)) {
                let source = self.run.source(&block.rows.get(index)?);
                let words = of.tokens;
                counts.words.push(u32::try_from(words).unwrap_or(u32::MAX));
                if !self.run.takes_part(document) {
                    continue;
                }
                if let Some(source) = counts.sources.get_mut(source.index()) {
                    source.words += words;
                }
            }
        }
        Ok(counts)
    }

    /// Counts the removed words of each source, and lists the removed documents.
    fn sources(
        &self,
        cuts: &TokenCuts,
        counts: &mut DocumentCounts,
    ) -> Result<(Vec<SourceCuts>, Vec<DocumentNumber>), FindError> {
        let mut removed = Vec::new();
        for (document, ranges) in cuts.documents() {
            let source = self.run.with_document(document, |_, row| self.run.source(row))?;
            let cut: u64 = ranges.iter().map(|range| u64::from(range.end - range.start)).sum();
            let words = u64::from(counts.words[document.index()]);
            let remaining = words.saturating_sub(cut);
            let Some(source) = counts.sources.get_mut(source.index()) else { continue };
            if remaining < self.cut.min_left.max(1) {
                source.removed += 1;
                source.cut_words += words;
                removed.push(document);
            } else {
                source.changed += 1;
                source.cut_words += cut;
            }
        }
        Ok((std::mem::take(&mut counts.sources), removed))
    }
}

/// The word counts of sources, and of documents in reading order.
#[derive(Default)]
struct DocumentCounts {
    sources: Vec<SourceCuts>,
    words: Vec<u32>,
}

/// Returns the tokens in runs that occur in enough documents of one source, as ranges that do not
/// touch.
fn frequent(
    unitigs: &Unitigs,
    length: u32,
    source: impl Fn(DocumentNumber) -> SourceIndex,
    least: impl Fn(SourceIndex) -> u64,
) -> Vec<TokenRange> {
    // For each unitig and source: the number of documents so far, and the last of them.
    let mut counts: HashMap<(u32, SourceIndex), (u64, u32)> = HashMap::new();
    for place in &unitigs.places {
        let key = (place.unitig, source(DocumentNumber(place.document)));
        let count = counts.entry(key).or_insert((0, u32::MAX));
        if count.1 != place.document {
            *count = (count.0 + 1, place.document);
        }
    }
    ranges_of(unitigs, length, |place| {
        let of = source(DocumentNumber(place.document));
        counts.get(&(place.unitig, of)).is_some_and(|count| count.0 >= least(of))
    })
}

/// Removes the first token from a cut if removing the whole cut would merge the words on both
/// sides.
fn apart<'a>(
    text: &'a str,
    words: &'a [Range<u32>],
    cuts: &'a [TokenRange],
) -> impl Iterator<Item = TokenRange> + 'a {
    let is_word = |c: Option<char>| c.is_some_and(|c| class(c) == CharClass::Word);
    cuts.iter().filter_map(move |cut| {
        let start = cut.start as usize;
        let end = cut.end as usize;
        let before = start.checked_sub(1).and_then(|at| words.get(at));
        let first = words.get(start)?;
        let last = words.get(end - 1)?;
        let next = words.get(end);
        let touches = before.is_some_and(|before| before.end == first.start)
            && next.is_some_and(|next| next.start == last.end);
        let would_join = touches
            && is_word(text[..first.start as usize].chars().next_back())
            && is_word(text[last.end as usize..].chars().next());
        let start = cut.start + u32::from(would_join);
        (start < cut.end).then_some(TokenRange { start, ..*cut })
    })
}

/// Returns the tokens of units that consist only of selected tokens.
fn whole_units(
    text: &str,
    words: &[Range<u32>],
    cuts: &[TokenRange],
    unit: TextUnit,
) -> Vec<TokenRange> {
    let Some(document) = cuts.first().map(|cut| cut.document) else { return Vec::new() };
    let mut found = Vec::new();
    for range in ranges(text, unit) {
        let begins_before = |at: usize| move |word: &Range<u32>| (word.start as usize) < at;
        let start = words.partition_point(begins_before(range.start));
        let end = words.partition_point(begins_before(range.end));
        let is_whole = start < end
            && words[end - 1].end as usize <= range.end
            && (start == 0 || words[start - 1].end as usize <= range.start);
        let start = start as u32;
        let end = end as u32;
        if is_whole && TokenCuts::contain(cuts, start, end) {
            found.push(TokenRange { document, start, end });
        }
    }
    found
}

/// Converts ranges of tokens to ranges of bytes.
fn byte_ranges(
    text: &str,
    words: &[Range<u32>],
    cuts: &[TokenRange],
    unit: Option<TextUnit>,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut push = |range: Range<usize>| match found.last_mut() {
        Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
        _ => found.push(range),
    };
    match unit {
        None => {
            for cut in cuts {
                let cut = cut.start as usize..cut.end as usize;
                let Some(part) = words.get(cut.clone()).filter(|part| !part.is_empty()) else {
                    continue;
                };
                let start = part[0].start;
                let last = part[part.len() - 1].end;
                let before = cut.start.checked_sub(1).map_or(0, |at| words[at].end);
                // White space and punctuation after the words are also removed, unless they
                // separate the words on both sides.
                let end = match words.get(cut.end) {
                    Some(next) if cut.start == 0 || before < start => next.start,
                    _ => last,
                };
                // Several words that come from one character share its bytes.
                if start < end {
                    push(start as usize..end as usize);
                }
            }
        }
        Some(unit) => {
            for range in ranges(text, unit) {
                let begins_before = |at: usize| move |word: &Range<u32>| (word.start as usize) < at;
                let first = words.partition_point(begins_before(range.start)) as u32;
                let end = words.partition_point(begins_before(range.end)) as u32;
                if first < end && TokenCuts::contain(cuts, first, end) {
                    push(range);
                }
            }
        }
    }
    found
}
