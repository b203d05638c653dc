//! The outcome of each document in memory, as a table: the columns of `--annotate`
//! (`docs/guides/dedup.md`).

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::input::ids::IdColumn;
use crate::results::run_findings::RunFindings;
use arrow_array::builder::{BooleanBuilder, Float64Builder, UInt64Builder};
use lookalike::core::params::Measure;
use lookalike::dedup::AnnotationValues;
use lookalike::error::Error;
use lookalike::outcome::{Outcome, Outcomes};
use pyo3::prelude::*;
use std::sync::Arc;

/// The columns of the table, with one row for each document in memory.
pub(crate) struct OutcomeColumns {
    kept: BooleanBuilder,
    groups: UInt64Builder,
    keepers: IdColumn,
    similarities: Float64Builder,
    reasons: TextColumn,
    neighbours: IdColumn,
    neighbour_similarities: Float64Builder,
    group_sizes: UInt64Builder,
}

impl OutcomeColumns {
    /// Collects the outcomes of `rows` rows in memory. Skipped rows have the outcome
    /// [`Outcome::RepeatedId`], whose reason is `skipped`.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(crate) fn of(found: &RunFindings, rows: usize) -> Result<Self, Error> {
        let outcomes = Outcomes::of(&found.findings, &found.options)?;
        let mut cursor = outcomes.cursor();
        let mut columns = Self {
            kept: BooleanBuilder::new(),
            groups: UInt64Builder::new(),
            keepers: found.rows.id_column(),
            similarities: Float64Builder::new(),
            reasons: TextColumn::default(),
            neighbours: found.rows.id_column(),
            neighbour_similarities: Float64Builder::new(),
            group_sizes: UInt64Builder::new(),
        };
        for row in 0..rows {
            let outcome = match found.document_of(row) {
                Some(document) => cursor.of(document, found.findings.status(document)?)?,
                None => Outcome::RepeatedId,
            };
            columns.push(&AnnotationValues::of(&outcome));
        }
        Ok(columns)
    }

    fn push(&mut self, values: &AnnotationValues<'_>) {
        // Files contain six decimals. Parse these, so that tables contain the same numbers.
        let number = |similarity: Option<&str>| similarity.and_then(|text| text.parse().ok());
        self.kept.append_value(values.kept);
        self.groups.append_option(values.group);
        self.keepers.push(values.keeper);
        self.similarities.append_option(number(values.similarity));
        self.reasons.push(Some(values.reason));
        self.neighbours.push(values.neighbour.map(|(id, _)| id));
        let neighbour_similarity = values.neighbour.map(|(_, similarity)| similarity);
        self.neighbour_similarities.append_option(number(neighbour_similarity));
        self.group_sizes.append_option(values.group_size);
    }

    /// Returns the columns `kept`, `group`, `keeper`, the similarity with the keeper, `reason`,
    /// `neighbour`, the similarity with the neighbour, and `group_size`. The two similarity columns
    /// are named after `measure`.
    ///
    /// # Errors
    /// If the columns do not form a table.
    pub(crate) fn table(mut self, measure: Measure) -> PyResult<ArrowTable> {
        let (similarity, neighbour_similarity) = match measure {
            Measure::Jaccard => ("jaccard", "neighbour_jaccard"),
            Measure::Containment => ("containment", "neighbour_containment"),
        };
        ArrowTable::new(vec![
            ("kept", Arc::new(self.kept.finish()), false),
            ("group", Arc::new(self.groups.finish()), true),
            ("keeper", self.keepers.finish(), true),
            (similarity, Arc::new(self.similarities.finish()), true),
            ("reason", self.reasons.finish(), false),
            ("neighbour", self.neighbours.finish(), true),
            (neighbour_similarity, Arc::new(self.neighbour_similarities.finish()), true),
            ("group_size", Arc::new(self.group_sizes.finish()), true),
        ])
    }
}
