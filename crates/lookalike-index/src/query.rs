//! A document asked for: its candidates, verified.

use crate::backend::{Snapshot, bucket_keys};
use crate::entry::{Record, Wanted};
use crate::error::IndexError;
use crate::filter::Filter;
use crate::set;
use crate::settings::{Settings, Store};
use lookalike_core::curve;
use lookalike_core::params::Measure;
use lookalike_core::verify::{self, Overlap};
use std::cmp::Ordering;
use std::collections::HashMap;

/// A document to look for: shingled and signed with the settings of the index.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// Its shingle set, ascending, without repeats; empty for a document without shingles.
    pub set: &'a [u64],
    /// Of its shingles.
    pub fingerprint: u128,
    /// Its signature; empty for a document without shingles.
    pub signature: &'a [u32],
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The least similarity: above 0, at most 1.
    pub threshold: f64,
    /// How many are wanted, the most similar ones; all where it is `None`.
    pub top: Option<usize>,
    /// Conditions that every match meets.
    pub filters: &'a [Filter],
    /// Expired documents are those that expired before; ns since 1970.
    pub now: i64,
    /// The document that is not to be found: the one that is asked about.
    pub except: Option<u64>,
    /// What the records of matches shall hold.
    pub wanted: Wanted,
}

/// How similar a match is, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Similarity {
    /// By exact comparison of shingle sets: that of the document asked for on the left.
    Exact(Overlap),
    /// By signatures only, since the index keeps no sets; 0 to 1.
    Estimated(f64),
}

impl Similarity {
    /// From 0 to 1.
    pub fn value(&self) -> f64 {
        match self {
            Self::Exact(overlap) => overlap.jaccard(),
            Self::Estimated(value) => *value,
        }
    }

    /// With six decimals, as reports have it.
    pub fn six_decimals(&self) -> String {
        match self {
            Self::Exact(overlap) => overlap.six_decimals(),
            Self::Estimated(value) => format!("{value:.6}"),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => a.compare(b, Measure::Jaccard),
            (a, b) => a.value().total_cmp(&b.value()),
        }
    }
}

/// A document that resembles the one asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The document.
    pub record: Record,
    /// How similar it is.
    pub similarity: Similarity,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The most similar first, then by id.
    pub matches: Vec<Match>,
    /// How many documents were candidates.
    pub candidates: u64,
    /// How many resemble it; more than `matches` where only some were wanted.
    pub found: u64,
    /// The probability that a document exactly at the threshold is found.
    pub predicted_recall: f64,
}

/// Buffers that one thread uses for one question after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    keys: Vec<u64>,
    numbers: Vec<u64>,
    set: Vec<u64>,
}

/// Finds what resembles a document. Cost: one look-up per band, and for every candidate the reading
/// of its row and, where sizes allow a match, the comparison of two sets. Of what is found, the
/// records of the `top` most similar documents are read and kept, no others.
///
/// # Errors
/// [`IndexError::Params`] for a threshold out of range, [`IndexError::Damaged`] for stored bytes
/// that are no set, and what keeps the index from being read.
pub fn query(
    snapshot: &mut dyn Snapshot,
    settings: &Settings,
    probe: &Probe<'_>,
    question: &Question<'_>,
    scratch: &mut Scratch,
) -> Result<Answer, IndexError> {
    let Scratch { keys, numbers, set } = scratch;
    let threshold = question.threshold;
    if !(threshold > 0.0 && threshold <= 1.0) {
        return Err(lookalike_core::error::ParamsError::Threshold { got: threshold }.into());
    }
    bucket_keys(settings, probe.signature, keys);
    snapshot.candidates(keys, numbers)?;
    let exact = settings.store != Store::Signatures;
    // What else is wanted is read for matches only.
    let wanted = Wanted {
        signature: !exact,
        set: exact,
        metadata: !question.filters.is_empty(),
        text: false,
    };
    let (mut candidates, mut found) = (0, 0);
    let mut best = Best { most: question.top.unwrap_or(usize::MAX), similar: Vec::new() };
    snapshot.records(numbers, wanted, &mut |record| {
        if record.is_expired(question.now) || question.except == Some(record.number) {
            return Ok(());
        }
        candidates += 1;
        if !question.filters.iter().all(|filter| filter.matches(&record.metadata)) {
            return Ok(());
        }
        if let Some(similarity) = similarity(probe, record, exact, threshold, set)? {
            found += 1;
            best.push(record, similarity);
        }
        Ok(())
    })?;
    let matches = read(snapshot, best.sorted(), question.wanted)?;
    let predicted_recall = curve::candidate_probability(threshold, settings.bands, settings.rows);
    Ok(Answer { matches, candidates, found, predicted_recall })
}

/// A document that is similar enough, as long as others may be more similar.
struct Similar {
    number: u64,
    id: String,
    similarity: Similarity,
}

/// The most similar documents so far, in memory that grows with `most` only.
struct Best {
    most: usize,
    similar: Vec<Similar>,
}

impl Best {
    fn push(&mut self, record: &Record, similarity: Similarity) {
        self.similar.push(Similar { number: record.number, id: record.id.clone(), similarity });
        // Twice as many as are wanted and some, so that sorting is seldom.
        if self.similar.len() > self.most.saturating_mul(2).saturating_add(64) {
            self.keep();
        }
    }

    fn keep(&mut self) {
        self.similar
            .sort_by(|a, b| b.similarity.compare(&a.similarity).then_with(|| a.id.cmp(&b.id)));
        self.similar.truncate(self.most);
    }

    fn sorted(mut self) -> Vec<Similar> {
        self.keep();
        self.similar
    }
}

/// The records of matches.
fn read(
    snapshot: &mut dyn Snapshot,
    similar: Vec<Similar>,
    wanted: Wanted,
) -> Result<Vec<Match>, IndexError> {
    let mut numbers: Vec<u64> = similar.iter().map(|one| one.number).collect();
    numbers.sort_unstable();
    let mut records = HashMap::with_capacity(numbers.len());
    if !numbers.is_empty() {
        snapshot.records(&numbers, wanted, &mut |record| {
            records.insert(record.number, record.clone());
            Ok(())
        })?;
    }
    let one = |Similar { number, id, similarity }| match records.remove(&number) {
        Some(record) => Ok(Match { record, similarity }),
        None => Err(IndexError::Damaged {
            what: format!("document {:?}", crate::entry::shown(&id)),
            why: "its row was there and is gone at the same moment".to_owned(),
        }),
    };
    similar.into_iter().map(one).collect()
}

/// How similar a candidate is, where that is enough.
fn similarity(
    probe: &Probe<'_>,
    record: &Record,
    exact: bool,
    threshold: f64,
    set: &mut Vec<u64>,
) -> Result<Option<Similarity>, IndexError> {
    if probe.signature.is_empty() {
        return Ok(None);
    }
    if !exact {
        let estimate = verify::estimate(probe.signature, &record.signature);
        return Ok((estimate >= threshold).then_some(Similarity::Estimated(estimate)));
    }
    let Some(code) = &record.set else {
        let what = format!("document {:?}", crate::entry::shown(&record.id));
        return Err(IndexError::Damaged { what, why: "it has no shingle set".to_owned() });
    };
    let left = probe.set.len() as u64;
    if probe.fingerprint == record.fingerprint {
        let overlap = Overlap { intersection: left, left, right: left };
        return Ok(Some(Similarity::Exact(overlap)));
    }
    // The similarity is at most that of a set that stands in the other as a whole.
    let right = set::len(code)? as u64;
    let best = Overlap { intersection: left.min(right), left, right };
    if !best.reaches(Measure::Jaccard, threshold) {
        return Ok(None);
    }
    set::decode(code, set)?;
    let overlap = verify::overlap_at_least(probe.set, set, Measure::Jaccard, threshold);
    Ok(overlap.map(Similarity::Exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_and_no_more() {
        let (most, mut best) = (5, Best { most: 5, similar: Vec::new() });
        let mut all = Vec::new();
        for number in 0..10_000u64 {
            let value = (number * 7919 % 1000) as f64 / 1000.0;
            let record = Record { number, id: format!("{number:05}"), ..Record::default() };
            best.push(&record, Similarity::Estimated(value));
            assert!(best.similar.len() <= 2 * most + 64);
            all.push((value, number));
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let kept: Vec<u64> = best.sorted().iter().map(|one| one.number).collect();
        let wanted: Vec<u64> = all[..most].iter().map(|one| one.1).collect();
        assert_eq!(kept, wanted);
    }
}
