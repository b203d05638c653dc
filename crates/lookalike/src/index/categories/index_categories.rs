//! Reads the categories of an index, including the categories of documents that were added later.
//!
//! The category of a document is a function of its text and of the model. Categories of documents
//! numbered above [`CategoryState::through`] are not stored. They are computed on demand, and
//! [`catch_up`] stores them.

use crate::categories::{Category, CategoryBuffers, CategoryModel, CategoryNumber, NO_CATEGORY};
use lookalike_index::backend::Snapshot;
use lookalike_index::category_table::{CategoryMember, CategoryState};
use lookalike_index::entry::{DocumentNumber, IndexRecord, RecordFields};
use lookalike_index::{Index, IndexError};
use std::sync::Arc;

/// The number of documents per batch.
const BATCH: usize = 1024;
/// The number of documents without stored categories at which [`catch_up`] stores them. Storing
/// costs a transaction. Computing categories on demand costs reading the texts.
const CATCH_UP: usize = 1000;

/// The fields that determine the category of a document.
pub(super) const TEXT: RecordFields =
    RecordFields { signature: false, set: false, metadata: false, text: true };

/// The categories of a snapshot of an index.
#[derive(Debug, Clone)]
pub struct IndexCategories {
    state: CategoryState,
    model: Arc<CategoryModel>,
}

impl IndexCategories {
    /// Reads the categories of a snapshot; `None` if it has none. Reuses the model of `known` if it
    /// is the model of the snapshot.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for an unreadable model.
    pub fn read(
        snapshot: &mut dyn Snapshot,
        known: Option<&Self>,
    ) -> Result<Option<Self>, IndexError> {
        let Some(state) = snapshot.categories()? else { return Ok(None) };
        if let Some(known) = known.filter(|known| known.state.number == state.number) {
            return Ok(Some(Self { state, model: Arc::clone(&known.model) }));
        }
        let Some(bytes) = snapshot.category_model()? else { return Ok(None) };
        let model = CategoryModel::decode(&bytes).map_err(|error| IndexError::Damaged {
            what: format!("model {} of categories", state.number),
            why: error.to_string(),
        })?;
        Ok(Some(Self { state, model: Arc::new(model) }))
    }

    /// The model.
    pub fn model(&self) -> &CategoryModel {
        &self.model
    }

    /// The number of the model. Every new model has another number.
    pub fn number(&self) -> u64 {
        self.state.number
    }

    /// Returns the number of documents in each category and its subcategories, including expired
    /// documents. Place 0 counts documents without a category. Reads the texts of documents whose
    /// categories are not stored.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for a category that the model lacks.
    pub fn counts(&self, snapshot: &mut dyn Snapshot) -> Result<Vec<u64>, IndexError> {
        let mut own = vec![0; self.model.categories().len() + 1];
        for (category, count) in snapshot.category_counts()? {
            self.check(category)?;
            own[category as usize] += count;
        }
        let mut after = self.state.through;
        loop {
            let members = self.later(snapshot, &mut after)?;
            if members.is_empty() {
                break;
            }
            for member in members {
                own[member.category as usize] += 1;
            }
        }
        let sum = |(number, category): (usize, &Category)| {
            own[number..=category.last as usize].iter().sum::<u64>()
        };
        let totals = (1..).zip(self.model.categories()).map(sum);
        Ok(std::iter::once(own[0]).chain(totals).collect())
    }

    /// Returns the category of a stored document.
    ///
    /// # Errors
    /// See [`counts`](Self::counts).
    pub fn of_document(
        &self,
        snapshot: &mut dyn Snapshot,
        number: DocumentNumber,
    ) -> Result<CategoryNumber, IndexError> {
        let mut category = NO_CATEGORY;
        if number <= self.state.through {
            let stored =
                snapshot.category_members(EVERY, DocumentNumber(number.0.saturating_sub(1)), 1)?;
            if let Some(member) = stored.first().filter(|member| member.document == number) {
                self.check(member.category)?;
                category = member.category;
            }
            return Ok(category);
        }
        snapshot.records(&[number], TEXT, &mut |record| {
            let text = record.text.as_deref().unwrap_or_default();
            category = self.model.category(text, &mut CategoryBuffers::default());
            Ok(())
        })?;
        Ok(category)
    }

    /// Returns at most `most` documents of a category and its subcategories, numbered above `after`
    /// and in ascending order.
    ///
    /// # Errors
    /// See [`counts`](Self::counts).
    pub fn members(
        &self,
        snapshot: &mut dyn Snapshot,
        category: CategoryNumber,
        after: DocumentNumber,
        most: usize,
    ) -> Result<Vec<DocumentNumber>, IndexError> {
        let last = self.model.get(category).map_or(category, |category| category.last);
        let stored = snapshot.category_members((category, last), after, most)?;
        let mut numbers: Vec<DocumentNumber> =
            stored.iter().map(|member| member.document).collect();
        let mut after = after.max(self.state.through);
        while numbers.len() < most {
            let members = self.later(snapshot, &mut after)?;
            if members.is_empty() {
                break;
            }
            let within =
                members.iter().filter(|member| (category..=last).contains(&member.category));
            numbers.extend(within.map(|member| member.document));
        }
        numbers.truncate(most);
        Ok(numbers)
    }

    /// Returns at most `most` documents numbered above `after`, in ascending order, with their
    /// categories. Returns an empty list at the end.
    pub(in crate::index) fn all_members(
        &self,
        snapshot: &mut dyn Snapshot,
        after: DocumentNumber,
        most: usize,
    ) -> Result<Vec<CategoryMember>, IndexError> {
        let stored = snapshot.category_members(EVERY, after, most)?;
        if stored.is_empty() {
            return self.later(snapshot, &mut after.max(self.state.through));
        }
        stored.iter().try_for_each(|member| self.check(member.category))?;
        Ok(stored)
    }

    /// Computes the categories of the next documents numbered above `after`, and sets `after` to
    /// the number of the last one. Returns an empty list at the end.
    fn later(
        &self,
        snapshot: &mut dyn Snapshot,
        after: &mut DocumentNumber,
    ) -> Result<Vec<CategoryMember>, IndexError> {
        let mut members = Vec::new();
        let mut buffers = CategoryBuffers::default();
        snapshot.scan(after.next(), BATCH, TEXT, &mut |record: &IndexRecord| {
            let text = record.text.as_deref().unwrap_or_default();
            let category = self.model.category(text, &mut buffers);
            members.push(CategoryMember { document: record.number, category });
            Ok(())
        })?;
        *after = members.last().map_or(*after, |member| member.document);
        Ok(members)
    }

    fn check(&self, category: CategoryNumber) -> Result<(), IndexError> {
        let most = self.model.categories().len();
        if category as usize <= most {
            return Ok(());
        }
        Err(IndexError::Damaged {
            what: "the categories of documents".to_owned(),
            why: format!("one has category {category}, expected at most {most}"),
        })
    }
}

/// The range of all category numbers.
const EVERY: (CategoryNumber, CategoryNumber) = (0, CategoryNumber::MAX);

/// Stores the categories of documents without stored categories, if the index has categories and at
/// least a thousand such documents wait. If fewer wait, readers compute their categories.
///
/// # Errors
/// Read and write errors.
pub fn catch_up(index: &Index) -> Result<(), IndexError> {
    loop {
        let mut snapshot = index.snapshot()?;
        let Some(state) = snapshot.categories()? else { return Ok(()) };
        let mut waiting = 0;
        let from = state.through.next();
        let wanted = RecordFields::default();
        snapshot.scan(from, CATCH_UP, wanted, &mut |_| {
            waiting += 1;
            Ok(())
        })?;
        if waiting < CATCH_UP {
            return Ok(());
        }
        // Adding documents must not fail because of the model. Readers of categories report the
        // error.
        let Ok(Some(categories)) = IndexCategories::read(&mut *snapshot, None) else {
            return Ok(());
        };
        let mut after = state.through;
        loop {
            let members = categories.later(&mut *snapshot, &mut after)?;
            if members.is_empty() {
                return Ok(());
            }
            if !index.add_category_members(state.number, after, &members)? {
                // The model was replaced.
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::categories::CategorySample;
    use crate::index::{DocumentFields, TextPreparer};
    use crate::read::Normalization;
    use lookalike_core::params::{Params, ParamsBuilder};
    use lookalike_index::backend::{Backend, Change, SideTableChanges as _};
    use lookalike_index::memory::MemoryBackend;
    use lookalike_index::settings::{IndexSettings, StoredContent};

    /// An index with this number of documents of two topics or none, and a model without members.
    fn index(documents: usize) -> Index {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let normalization = Normalization::default().to_string();
        let settings = IndexSettings::new(&params, &normalization, StoredContent::Texts).unwrap();
        let mut preparer = TextPreparer::new(&settings).unwrap();
        let backend = MemoryBackend::new(settings);
        let text = |n: usize| match n % 3 {
            0 => format!("cat dog bird {n}"),
            1 => format!("ship sail mast {n}"),
            _ => format!("{n}"),
        };
        let texts: Vec<String> = (0..documents).map(text).collect();
        let prepare = |(n, text): (usize, &String)| {
            let fields = DocumentFields::default();
            preparer.prepare(text).document(n.to_string(), Some(text.clone()), fields)
        };
        let prepared: Vec<_> = texts.iter().enumerate().map(prepare).collect();
        let changes: Vec<_> =
            prepared.iter().map(|document| Change::Put(document.entry())).collect();
        backend.write(&changes).unwrap();
        let mut sample = CategorySample::default();
        (0..).zip(&texts).take(100).for_each(|(rank, text)| sample.add(rank, text));
        backend.replace_categories(&sample.model(2).encode(), DocumentNumber(0), &[]).unwrap();
        Index::new(Box::new(backend)).unwrap()
    }

    fn read(index: &Index) -> (CategoryState, Vec<u64>, Vec<DocumentNumber>) {
        let mut snapshot = index.snapshot().unwrap();
        let all = IndexCategories::read(&mut *snapshot, None).unwrap().unwrap();
        let counts = all.counts(&mut *snapshot).unwrap();
        let second = all.model().find("2").unwrap();
        let members = all.members(&mut *snapshot, second, DocumentNumber(5), 7).unwrap();
        for number in &members {
            let category = all.of_document(&mut *snapshot, *number).unwrap();
            assert!((second..=all.model().get(second).unwrap().last).contains(&category));
        }
        (all.state, counts, members)
    }

    #[test]
    fn storing_categories_preserves_them() {
        let index = index(1_200);
        let (state, counts, members) = read(&index);
        assert_eq!((state.through.0, counts[0]), (0, 400));
        assert_eq!(members.len(), 7);
        catch_up(&index).unwrap();
        let (state, after, same) = read(&index);
        assert_eq!((state.through.0, after, same), (1_200, counts, members));
    }

    #[test]
    fn catch_up_skips_small_indexes() {
        let index = index(CATCH_UP - 1);
        catch_up(&index).unwrap();
        assert_eq!(read(&index).0.through.0, 0);
    }

    #[test]
    fn unknown_stored_categories_are_damage() {
        let index = index(6);
        let member = CategoryMember { document: DocumentNumber(1), category: 99 };
        index.add_category_members(1, DocumentNumber(6), &[member]).unwrap();
        let mut snapshot = index.snapshot().unwrap();
        let all = IndexCategories::read(&mut *snapshot, None).unwrap().unwrap();
        let error = all.counts(&mut *snapshot).unwrap_err();
        assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
        assert!(all.of_document(&mut *snapshot, DocumentNumber(1)).is_err());
    }
}
