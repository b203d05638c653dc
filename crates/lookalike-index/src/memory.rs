//! An index in memory: one map, searched linearly. The tests compare the other backends with it. It
//! is too slow for more than a few thousand documents.

use crate::backend::{
    Backend, Change, ChangeOutcome, IndexProblem, SideTableChanges, SideTables, Snapshot, Stats,
    posting_keys,
};
use crate::category_table::{CategoryMember, CategoryState};
use crate::decision_log::DecisionCallback;
use crate::duplicate_table::{self, DuplicateCallback, DuplicateEntry};
use crate::entry::{DocumentNumber, IndexEntry, IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::original::DocumentVersion;
use crate::original_limits::original_of;
use crate::settings::{IndexSettings, StoredContent};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The name of an index in messages.
const NAME: &str = "the index in memory";

/// An index in memory.
pub struct MemoryBackend {
    settings: IndexSettings,
    state: Mutex<Arc<MemoryState>>,
}

#[derive(Debug, Clone, Default)]
struct MemoryState {
    version: u64,
    last: DocumentNumber,
    records: BTreeMap<DocumentNumber, IndexRecord>,
    numbers: BTreeMap<String, DocumentNumber>,
    decisions: BTreeMap<u64, String>,
    categories: Option<(CategoryState, Vec<u8>)>,
    members: BTreeMap<DocumentNumber, u32>,
    /// The numbers of keepers by the ids of duplicates.
    duplicates: BTreeMap<String, DocumentNumber>,
    /// Versions by id.
    versions: BTreeMap<String, Vec<StoredVersion>>,
}

/// A version, its original and its text.
#[derive(Debug, Clone)]
struct StoredVersion {
    version: DocumentVersion,
    original: Vec<u8>,
    text: Option<String>,
}

impl MemoryBackend {
    /// An empty index.
    pub fn new(settings: IndexSettings) -> Self {
        Self { settings, state: Mutex::default() }
    }

    fn state(&self) -> Arc<MemoryState> {
        Arc::clone(&self.state.lock())
    }

    /// Applies `work` to a copy of the state, which then replaces the state. `work` returns whether
    /// readers can observe the change.
    fn change<T>(
        &self,
        work: impl FnOnce(&mut MemoryState) -> Result<(T, bool), IndexError>,
    ) -> Result<T, IndexError> {
        let mut guard = self.state.lock();
        let mut state = MemoryState::clone(&guard);
        let (result, is_visible) = work(&mut state)?;
        state.version += u64::from(is_visible);
        *guard = Arc::new(state);
        Ok(result)
    }
}

impl MemoryState {
    /// The members whose documents still exist.
    fn members(&self) -> impl Iterator<Item = CategoryMember> {
        let members = self.members.iter();
        let existing = members.filter(|(document, _)| self.records.contains_key(document));
        existing
            .map(|(document, category)| CategoryMember { document: *document, category: *category })
    }

    fn insert_entry(&mut self, entry: &IndexEntry<'_>, store: StoredContent) -> ChangeOutcome {
        let before = self.numbers.get(entry.id).copied();
        let old = before.and_then(|number| self.records.remove(&number));
        let replaced = old.filter(|old| !old.is_expired(entry.added));
        let is_replaced = replaced.is_some();
        let is_same = replaced.is_some_and(|old| old.fingerprint == entry.fingerprint);
        self.last = self.last.next();
        self.duplicates.remove(entry.id);
        for keeper in self.duplicates.values_mut().filter(|keeper| before == Some(**keeper)) {
            // No document has the number 0.
            *keeper = if is_same { self.last } else { DocumentNumber(0) };
        }
        self.duplicates.retain(|_, keeper| *keeper != DocumentNumber(0));
        let record = IndexRecord {
            number: self.last,
            id: entry.id.to_owned(),
            fingerprint: entry.fingerprint,
            bytes: entry.bytes,
            signature: entry.signature.to_vec(),
            set: store.has_sets().then(|| entry.set.to_vec()),
            metadata: entry.metadata.clone(),
            text: entry.text.filter(|_| store.has_texts()).map(|text| text.text.to_owned()),
            added: entry.added,
            modified: entry.modified,
            expires: entry.expires,
        };
        self.records.insert(self.last, record);
        self.numbers.insert(entry.id.to_owned(), self.last);
        if is_replaced { ChangeOutcome::Replaced } else { ChangeOutcome::Added }
    }

    /// Records the version of the document that was stored last.
    fn put_version(&mut self, entry: &IndexEntry<'_>) -> Result<(), IndexError> {
        let original = original_of(entry)?;
        let document = self.last;
        let sha256 = original.sha256;
        let versions = self.versions.entry(entry.id.to_owned()).or_default();
        let number = versions.len() as u64 + 1;
        if let Some(StoredVersion { version, text, .. }) = versions.last_mut() {
            if version.sha256 == sha256 {
                version.document = document;
                version.describe(&original);
                *text = entry.text.map(|text| text.text.to_owned());
                return Ok(());
            }
            version.ended = Some(entry.added);
        }
        versions.push(StoredVersion {
            version: entry.version(number, document, document.0, &original),
            original: original.bytes.to_vec(),
            text: entry.text.map(|text| text.text.to_owned()),
        });
        Ok(())
    }

    fn apply(
        &mut self,
        change: &Change<'_>,
        settings: &IndexSettings,
    ) -> Result<ChangeOutcome, IndexError> {
        let Some(entry) = change.entry() else {
            let removed = self.numbers.remove(change.id());
            let is_known = removed.is_some() || self.duplicates.remove(change.id()).is_some();
            self.duplicates.retain(|_, keeper| removed != Some(*keeper));
            self.versions.remove(change.id());
            removed.and_then(|number| self.records.remove(&number));
            return Ok(if is_known { ChangeOutcome::Removed } else { ChangeOutcome::Absent });
        };
        settings.check_entry(entry)?;
        let stored = self.numbers.get(entry.id).and_then(|number| self.records.get(number));
        let exists = stored.is_some_and(|record| !record.is_expired(entry.added));
        if matches!(change, Change::Add(_)) && exists {
            return Err(IndexError::IdTaken { id: entry.id.to_owned() });
        }
        let outcome = self.insert_entry(entry, settings.store);
        if settings.store.has_originals() {
            self.put_version(entry)?;
        }
        Ok(outcome)
    }
}

impl SideTableChanges for MemoryBackend {
    fn add_decisions(
        &self,
        entries: &[&str],
        last: Option<u64>,
    ) -> Result<Option<u64>, IndexError> {
        self.change(|state| {
            let before = state.decisions.last_key_value().map_or(0, |(number, _)| *number);
            if last.is_some_and(|last| before > last) {
                return Ok((None, false));
            }
            let numbered = (before + 1..).zip(entries);
            state.decisions.extend(numbered.map(|(number, entry)| (number, (*entry).to_owned())));
            Ok((Some(before + entries.len() as u64), !entries.is_empty()))
        })
    }

    fn remove_decisions(&self, numbers: &[u64]) -> Result<u64, IndexError> {
        self.change(|state| {
            let last = state.decisions.last_key_value().map(|(number, _)| *number);
            let removed = numbers.iter().filter(|number| Some(**number) != last);
            let removed = removed.filter_map(|number| state.decisions.remove(number)).count();
            Ok((removed as u64, removed > 0))
        })
    }

    fn add_duplicates(&self, entries: &[DuplicateEntry<'_>]) -> Result<u64, IndexError> {
        duplicate_table::check(entries)?;
        self.change(|state| {
            let mut recorded = 0;
            let mut is_changed = false;
            for entry in entries {
                let keeper = state.numbers.get(entry.keeper).copied();
                let Some(keeper) = keeper.filter(|_| !state.numbers.contains_key(entry.id)) else {
                    continue;
                };
                let before = state.duplicates.insert(entry.id.to_owned(), keeper);
                recorded += u64::from(before.is_none());
                is_changed |= before != Some(keeper);
            }
            Ok((recorded, is_changed))
        })
    }

    fn replace_categories(
        &self,
        model: &[u8],
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<u64, IndexError> {
        self.change(|state| {
            let number = state.categories.as_ref().map_or(0, |(before, _)| before.number) + 1;
            state.categories = Some((CategoryState { number, through }, model.to_vec()));
            state.members.clear();
            state.members.extend(members.iter().map(|member| (member.document, member.category)));
            Ok((number, true))
        })
    }

    fn add_category_members(
        &self,
        number: u64,
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<bool, IndexError> {
        self.change(|state| match &mut state.categories {
            Some((stored, _)) if stored.number == number => {
                stored.through = stored.through.max(through);
                let members = members.iter().map(|member| (member.document, member.category));
                state.members.extend(members);
                Ok((true, false))
            }
            _ => Ok((false, false)),
        })
    }
}

impl Backend for MemoryBackend {
    fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
        self.change(|state| {
            let outcomes = changes.iter().map(|change| state.apply(change, &self.settings));
            let outcomes = outcomes.collect::<Result<Vec<ChangeOutcome>, IndexError>>()?;
            let is_changed = outcomes.iter().any(|outcome| *outcome != ChangeOutcome::Absent);
            Ok((outcomes, is_changed))
        })
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError> {
        Ok(Box::new(MemorySnapshot { state: self.state(), settings: self.settings.clone() }))
    }

    fn compact(&self, now: i64) -> Result<(), IndexError> {
        let state = self.state();
        let expired = state.records.values().filter(|record| record.is_expired(now));
        let changes: Vec<_> = expired.map(|record| Change::Remove(&record.id)).collect();
        self.write(&changes).map(drop)
    }

    fn check(&self) -> Result<Vec<IndexProblem>, IndexError> {
        Ok(Vec::new())
    }

    fn repair(&self) -> Result<(), IndexError> {
        Ok(())
    }

    fn stats(&self) -> Result<Stats, IndexError> {
        let state = self.state();
        let empty = |record: &&IndexRecord| record.signature.is_empty();
        Ok(Stats {
            documents: state.records.len() as u64,
            without_shingles: state.records.values().filter(empty).count() as u64,
            ..Stats::default()
        })
    }

    fn backup(&self, _: &Path) -> Result<(), IndexError> {
        Err(IndexError::Database {
            index: NAME.to_owned(),
            why: "it is on no disk and cannot be copied to one".to_owned(),
            transient: false,
        })
    }
}

struct MemorySnapshot {
    state: Arc<MemoryState>,
    settings: IndexSettings,
}

impl MemorySnapshot {
    fn stored(&self, version: &DocumentVersion) -> Option<&StoredVersion> {
        let mut all = self.state.versions.values().flatten();
        all.find(|stored| stored.version.original == version.original)
    }

    /// A record with the requested fields only.
    fn with_fields(record: &IndexRecord, wanted: RecordFields) -> IndexRecord {
        let mut record = record.clone();
        if !wanted.signature {
            record.signature.clear();
        }
        if !wanted.metadata {
            record.metadata.clear();
        }
        let set = record.set.take();
        let text = record.text.take();
        IndexRecord {
            set: set.filter(|_| wanted.set),
            text: text.filter(|_| wanted.text),
            ..record
        }
    }
}

impl SideTables for MemorySnapshot {
    fn decisions(
        &mut self,
        after: u64,
        most: usize,
        each: DecisionCallback<'_>,
    ) -> Result<usize, IndexError> {
        let later = self.state.decisions.range(after.saturating_add(1)..).take(most);
        let mut count = 0;
        for (number, entry) in later {
            each(*number, entry)?;
            count += 1;
        }
        Ok(count)
    }

    fn group_sizes(&mut self, numbers: &[DocumentNumber]) -> Result<Vec<u64>, IndexError> {
        let count = |number: &DocumentNumber| {
            let duplicates = self.state.duplicates.values().filter(|keeper| *keeper == number);
            1 + duplicates.count() as u64
        };
        Ok(numbers.iter().map(count).collect())
    }

    fn duplicates(
        &mut self,
        numbers: &[DocumentNumber],
        each: DuplicateCallback<'_>,
    ) -> Result<(), IndexError> {
        for number in numbers {
            let ids = self.state.duplicates.iter().filter(|(_, keeper)| *keeper == number);
            ids.into_iter().try_for_each(|(id, _)| each(*number, id))?;
        }
        Ok(())
    }

    fn categories(&mut self) -> Result<Option<CategoryState>, IndexError> {
        Ok(self.state.categories.as_ref().map(|(state, _)| *state))
    }

    fn category_model(&mut self) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(self.state.categories.as_ref().map(|(_, model)| model.clone()))
    }

    fn category_counts(&mut self) -> Result<Vec<(u32, u64)>, IndexError> {
        let mut counts = BTreeMap::new();
        for member in self.state.members() {
            *counts.entry(member.category).or_default() += 1;
        }
        Ok(counts.into_iter().collect())
    }

    fn category_members(
        &mut self,
        (first, last): (u32, u32),
        after: DocumentNumber,
        most: usize,
    ) -> Result<Vec<CategoryMember>, IndexError> {
        let members = self.state.members().filter(|member| member.document > after);
        let matching = members.filter(|member| (first..=last).contains(&member.category));
        Ok(matching.take(most).collect())
    }

    fn versions(&mut self, id: &str) -> Result<Vec<DocumentVersion>, IndexError> {
        self.settings.store.expect_originals(NAME)?;
        let versions = self.state.versions.get(id).into_iter().flatten();
        Ok(versions.map(|stored| stored.version.clone()).collect())
    }

    fn original(&mut self, version: &DocumentVersion) -> Result<Vec<u8>, IndexError> {
        self.settings.store.expect_originals(NAME)?;
        let missing =
            || IndexError::damaged(format!("original {}", version.original), "it is missing");
        self.stored(version).map(|stored| stored.original.clone()).ok_or_else(missing)
    }
}

impl Snapshot for MemorySnapshot {
    fn version(&self) -> u64 {
        self.state.version
    }

    fn len(&self) -> u64 {
        self.state.records.len() as u64
    }

    fn number_of(&mut self, id: &str) -> Result<Option<DocumentNumber>, IndexError> {
        Ok(self.state.numbers.get(id).copied())
    }

    fn candidates(
        &mut self,
        keys: &[u64],
        numbers: &mut Vec<DocumentNumber>,
    ) -> Result<(), IndexError> {
        numbers.clear();
        let mut own_keys = Vec::new();
        for (number, record) in &self.state.records {
            let set = record.set.as_deref().unwrap_or_default();
            posting_keys(&self.settings, &record.signature, set, &mut own_keys)?;
            if own_keys.iter().any(|key| keys.contains(key)) {
                numbers.push(*number);
            }
        }
        Ok(())
    }

    fn records(
        &mut self,
        numbers: &[DocumentNumber],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let records = numbers.iter().filter_map(|number| self.state.records.get(number));
        records.into_iter().try_for_each(|record| each(&Self::with_fields(record, wanted)))
    }

    fn version_text(&mut self, version: &DocumentVersion) -> Result<Option<String>, IndexError> {
        self.settings.store.expect_originals(NAME)?;
        Ok(self.stored(version).and_then(|stored| stored.text.clone()))
    }

    fn scan(
        &mut self,
        from: DocumentNumber,
        most: usize,
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError> {
        let mut count = 0;
        for record in self.state.records.range(from..).map(|(_, record)| record).take(most) {
            each(&Self::with_fields(record, wanted))?;
            count += 1;
        }
        Ok(count)
    }
}
