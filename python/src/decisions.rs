//! What was decided about each document in memory: what `docs/dedup.md` says of `--annotate`.

use crate::run_findings::{RunFindings, SimilarityColumns};
use crate::table::ArrowTable;
use crate::text_column::TextColumn;
use arrow_array::{ArrayRef, BooleanArray, UInt64Array};
use lookalike::core::params::Measure;
use lookalike::core::verify::Overlap;
use lookalike::error::Error;
use pyo3::prelude::*;
use std::sync::Arc;

/// Another document, and the overlap with it.
#[derive(Debug, Clone)]
struct OtherDocument {
    /// The place of its id among those of the table.
    name: usize,
    overlap: Overlap,
}

/// What was decided about a document.
#[derive(Debug, Clone)]
struct DecisionRow {
    kept: bool,
    group: Option<u64>,
    /// The place of the reason among those of the table.
    reason: usize,
    /// The keeper of a duplicate, or the neighbour of a related document.
    other: Option<OtherDocument>,
    /// The documents of its group, itself among them; none where it goes.
    group_size: Option<u64>,
}

impl DecisionRow {
    fn keeper(&self) -> Option<&OtherDocument> {
        self.other.as_ref().filter(|_| self.reason != RELATED)
    }

    fn neighbour(&self) -> Option<&OtherDocument> {
        self.other.as_ref().filter(|_| self.reason == RELATED)
    }
}

/// Reasons of documents that are in no group or lead one, and of rows that are no document.
const REASONS: [&str; 6] = ["unique", "related", "empty", "keeper", "skipped", "dropped"];
const UNIQUE: usize = 0;
const RELATED: usize = 1;
const EMPTY: usize = 2;
const KEEPER: usize = 3;
const SKIPPED: usize = 4;
const DROPPED: usize = 5;

/// A row for each document in memory.
pub(crate) struct DecisionRows {
    rows: Vec<DecisionRow>,
    /// Ids of keepers and neighbours.
    names: Vec<String>,
    /// [`REASONS`], then those of duplicates: the rules of `keep`, `id`, `reference`, `decision`.
    reasons: Vec<String>,
}

impl DecisionRows {
    /// Of a run over `rows` documents in memory.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub(crate) fn of(found: &RunFindings, rows: usize) -> Result<Self, Error> {
        let rules = found.options.keep.rules();
        let mut reasons: Vec<String> = REASONS.map(str::to_owned).to_vec();
        reasons.extend(rules.iter().map(ToString::to_string));
        reasons.extend(["id", "reference", "decision"].map(str::to_owned));
        let rows = (0..rows).map(|row| Self::alone(found, row)).collect::<Result<_, _>>()?;
        let mut decisions = Self { rows, names: Vec::new(), reasons };
        decisions.add_groups(found, REASONS.len() + rules.len())?;
        for related in found.findings.related.iter() {
            let related = related.map_err(Error::of_io)?;
            let name = decisions.name(related.neighbour);
            if let Some(decision) = decisions.decision(found.rows.row(related.document, false)) {
                decision.reason = RELATED;
                decision.other = Some(OtherDocument { name, overlap: related.overlap });
            }
        }
        Ok(decisions)
    }

    /// The decision about a row that is in no group.
    fn alone(found: &RunFindings, row: usize) -> Result<DecisionRow, Error> {
        let document = found.document_of(row);
        let status = document.map(|document| found.findings.status(document)).transpose()?;
        let (kept, reason) = match status {
            // What was skipped, and the later of two documents with one id, is left out.
            None => (false, SKIPPED),
            Some(status) if status.dropped => (false, DROPPED),
            Some(status) if status.repeated_id => (false, SKIPPED),
            Some(status) if status.empty => (true, EMPTY),
            Some(_) => (true, UNIQUE),
        };
        let group_size = kept.then_some(1);
        Ok(DecisionRow { kept, group: None, reason, other: None, group_size })
    }

    /// Takes the groups; `by_id` is the place of the reason `id`.
    fn add_groups(&mut self, found: &RunFindings, by_id: usize) -> Result<(), Error> {
        for (number, group) in (1u64..).zip(found.findings.groups.iter()) {
            let group = group.map_err(Error::of_io)?;
            let keeper = group.keeper;
            if let Some(decision) = self.decision(found.rows.row(keeper.document, keeper.reference))
            {
                (decision.group, decision.reason) = (Some(number), KEEPER);
                decision.group_size = Some(1 + group.duplicates.len() as u64);
            }
            let name = self.name(keeper.id);
            for duplicate in &group.duplicates {
                let row = found.rows.row(duplicate.document, false);
                let Some(decision) = self.decision(row) else { continue };
                (decision.kept, decision.group) = (false, Some(number));
                decision.group_size = None;
                decision.other = Some(OtherDocument { name, overlap: duplicate.overlap });
                decision.reason = match duplicate.decided_by {
                    _ if keeper.reference => by_id + 1,
                    _ if keeper.by_decision => by_id + 2,
                    Some(rule) => REASONS.len() + rule as usize,
                    None => by_id,
                };
            }
        }
        Ok(())
    }

    fn name(&mut self, id: String) -> usize {
        self.names.push(id);
        self.names.len() - 1
    }

    fn decision(&mut self, row: Option<u64>) -> Option<&mut DecisionRow> {
        self.rows.get_mut(usize::try_from(row?).ok()?)
    }

    /// The columns `kept`, `group`, `keeper`, the similarity with that one, `reason`, `neighbour`,
    /// the similarity with that one, and `group_size`. The measure of the run names them, as in
    /// files.
    ///
    /// # Errors
    /// What the table refuses.
    pub(crate) fn table(self, found: &RunFindings) -> PyResult<ArrowTable> {
        let kept: Vec<bool> = self.rows.iter().map(|row| row.kept).collect();
        let groups: Vec<Option<u64>> = self.rows.iter().map(|row| row.group).collect();
        let (keepers, with_keeper) = self.others(found, DecisionRow::keeper);
        let (neighbours, with_neighbour) = self.others(found, DecisionRow::neighbour);
        let mut reasons = TextColumn::default();
        for row in &self.rows {
            reasons.push(self.reasons.get(row.reason).map(String::as_str));
        }
        let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("kept", Arc::new(BooleanArray::from(kept)), false),
            ("group", Arc::new(UInt64Array::from(groups)), true),
            ("keeper", keepers, true),
        ];
        columns.extend(with_keeper);
        columns.push(("reason", reasons.finish(), false));
        columns.push(("neighbour", neighbours, true));
        let neighbour_name = match found.options.params.measure() {
            Measure::Jaccard => "neighbour_jaccard",
            Measure::Containment => "neighbour_containment",
        };
        columns
            .extend(with_neighbour.into_iter().map(|(_, rows, null)| (neighbour_name, rows, null)));
        let sizes: Vec<Option<u64>> = self.rows.iter().map(|row| row.group_size).collect();
        columns.push(("group_size", Arc::new(UInt64Array::from(sizes)), true));
        ArrowTable::new(columns)
    }

    /// Ids of other documents, and their similarity by the measure of the run.
    fn others<'a>(
        &'a self,
        found: &RunFindings,
        other: impl Fn(&'a DecisionRow) -> Option<&'a OtherDocument>,
    ) -> (ArrayRef, Vec<(&'static str, ArrayRef, bool)>) {
        // The last one is the measure of the run.
        let measures = found.measures();
        let measures = measures.get(measures.len().saturating_sub(1)..).unwrap_or_default();
        let (mut ids, mut similarities) =
            (found.rows.id_column(), SimilarityColumns::new(measures));
        for row in &self.rows {
            let other = other(row);
            ids.push(other.and_then(|other| self.names.get(other.name)).map(String::as_str));
            similarities.push(other.map(|other| &other.overlap));
        }
        (ids.finish(), similarities.finish(true))
    }
}
