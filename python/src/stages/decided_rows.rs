//! The columns of a table of the stages `decide` and `match`.

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder};
use lookalike::core::params::Measure;
use lookalike::core::verify::Overlap;
use lookalike::shard::{MemberRole, MemberRow};
use pyo3::prelude::*;
use std::sync::Arc;

/// Rows of three kinds: `member`, `pair` (with its two ids in `keeper` and `id`) and `note`.
pub(super) struct DecidedRows {
    pub(super) measure: Measure,
    kinds: TextColumn,
    sizes: Int64Builder,
    keepers: TextColumn,
    references: BooleanBuilder,
    roles: TextColumn,
    ranks: Int64Builder,
    ids: TextColumn,
    overlaps: [Int64Builder; 3],
    similarities: [Float64Builder; 2],
    notes: TextColumn,
}

impl DecidedRows {
    pub(super) fn new(measure: Measure) -> Self {
        Self {
            measure,
            kinds: TextColumn::default(),
            sizes: Int64Builder::new(),
            keepers: TextColumn::default(),
            references: BooleanBuilder::new(),
            roles: TextColumn::default(),
            ranks: Int64Builder::new(),
            ids: TextColumn::default(),
            overlaps: Default::default(),
            similarities: Default::default(),
            notes: TextColumn::default(),
        }
    }

    pub(super) fn push_member(&mut self, row: &MemberRow<'_>) {
        self.kinds.push(Some("member"));
        self.sizes.append_value(row.size.cast_signed());
        self.keepers.push(Some(row.keeper));
        self.references.append_value(row.reference);
        let role = if row.role == MemberRole::Keeper { "keeper" } else { "duplicate" };
        self.roles.push(Some(role));
        self.ranks.append_value(row.rank.signed());
        self.ids.push(Some(row.id));
        self.push_overlap(row.overlap.as_ref());
        self.notes.push(None);
    }

    pub(super) fn push_plain(
        &mut self,
        kind: &str,
        ids: Option<(&str, &str)>,
        overlap: Option<&Overlap>,
        note: Option<&str>,
    ) {
        self.kinds.push(Some(kind));
        self.sizes.append_null();
        self.keepers.push(ids.map(|(a, _)| a));
        self.references.append_null();
        self.roles.push(None);
        self.ranks.append_null();
        self.ids.push(ids.map(|(_, b)| b));
        self.push_overlap(overlap);
        self.notes.push(note);
    }

    fn push_overlap(&mut self, overlap: Option<&Overlap>) {
        let numbers = overlap.map(|overlap| [overlap.intersection, overlap.left, overlap.right]);
        for (i, column) in self.overlaps.iter_mut().enumerate() {
            column.append_option(numbers.map(|numbers| numbers[i].cast_signed()));
        }
        let measures = [Measure::Jaccard, Measure::Containment];
        for (column, measure) in self.similarities.iter_mut().zip(measures) {
            column.append_option(overlap.map(|overlap| overlap.rounded(measure)));
        }
    }

    pub(super) fn finish(mut self) -> PyResult<ArrowTable> {
        let [intersection, left, right] = &mut self.overlaps;
        let [jaccard, containment] = &mut self.similarities;
        ArrowTable::new(vec![
            ("kind", self.kinds.finish(), false),
            ("size", Arc::new(self.sizes.finish()), true),
            ("keeper", self.keepers.finish(), true),
            ("reference", Arc::new(self.references.finish()), true),
            ("role", self.roles.finish(), true),
            ("rank", Arc::new(self.ranks.finish()), true),
            ("id", self.ids.finish(), true),
            ("intersection", Arc::new(intersection.finish()), true),
            ("left", Arc::new(left.finish()), true),
            ("right", Arc::new(right.finish()), true),
            ("jaccard", Arc::new(jaccard.finish()), true),
            ("containment", Arc::new(containment.finish()), true),
            ("note", self.notes.finish(), true),
        ])
    }
}
