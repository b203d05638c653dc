//! Implements the public traits `SideTables` and `SideTableChanges` for every backend whose side
//! tables are in an SQL database.

use super::{TableSnapshot, TableWriter, categories, decisions, duplicates, originals, versions};
use crate::backend::{SideTableChanges, SideTables};
use crate::category_table::{CategoryMember, CategoryState};
use crate::decision_log::DecisionCallback;
use crate::duplicate_table::{DuplicateCallback, DuplicateEntry};
use crate::entry::DocumentNumber;
use crate::error::IndexError;
use crate::original::DocumentVersion;

impl<S: TableSnapshot> SideTables for S {
    fn decisions(
        &mut self,
        after: u64,
        most: usize,
        each: DecisionCallback<'_>,
    ) -> Result<usize, IndexError> {
        self.with_tables(|tables| decisions::read(tables, after, most, each))
    }

    fn group_sizes(&mut self, numbers: &[DocumentNumber]) -> Result<Vec<u64>, IndexError> {
        self.with_tables(|tables| duplicates::group_sizes(tables, numbers))
    }

    fn duplicates(
        &mut self,
        numbers: &[DocumentNumber],
        each: DuplicateCallback<'_>,
    ) -> Result<(), IndexError> {
        self.with_tables(|tables| duplicates::read(tables, numbers, each))
    }

    fn categories(&mut self) -> Result<Option<CategoryState>, IndexError> {
        self.with_tables(categories::state)
    }

    fn category_model(&mut self) -> Result<Option<Vec<u8>>, IndexError> {
        self.with_tables(categories::model)
    }

    fn category_counts(&mut self) -> Result<Vec<(u32, u64)>, IndexError> {
        self.with_tables(categories::counts)
    }

    fn category_members(
        &mut self,
        categories: (u32, u32),
        after: DocumentNumber,
        most: usize,
    ) -> Result<Vec<CategoryMember>, IndexError> {
        self.with_tables(|tables| categories::members(tables, categories, after, most))
    }

    fn versions(&mut self, id: &str) -> Result<Vec<DocumentVersion>, IndexError> {
        let store = self.settings().store;
        self.with_tables(|tables| {
            store.expect_originals(tables.name())?;
            let rows = versions::of_id(tables, id)?;
            Ok(rows.into_iter().map(|row| row.version).collect())
        })
    }

    fn original(&mut self, version: &DocumentVersion) -> Result<Vec<u8>, IndexError> {
        let store = self.settings().store;
        self.with_tables(|tables| {
            store.expect_originals(tables.name())?;
            Ok(originals::read(tables, version.original.cast_signed())?.bytes)
        })
    }
}

impl<W: TableWriter> SideTableChanges for W {
    fn add_decisions(
        &self,
        entries: &[&str],
        last: Option<u64>,
    ) -> Result<Option<u64>, IndexError> {
        decisions::check_entries(entries)?;
        self.change(|tables| decisions::add(tables, entries, last))
    }

    fn remove_decisions(&self, numbers: &[u64]) -> Result<u64, IndexError> {
        self.change(|tables| decisions::remove(tables, numbers))
    }

    fn add_duplicates(&self, entries: &[DuplicateEntry<'_>]) -> Result<u64, IndexError> {
        crate::duplicate_table::check(entries)?;
        self.change(|tables| duplicates::add(tables, entries))
    }

    fn replace_categories(
        &self,
        model: &[u8],
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<u64, IndexError> {
        categories::check_model(model)?;
        self.change(|tables| categories::replace(tables, model, through, members))
    }

    fn add_category_members(
        &self,
        number: u64,
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<bool, IndexError> {
        self.change(|tables| categories::add_members(tables, number, through, members))
    }
}
