//! The number of documents that each document of an index represents, over all batches. Compares
//! the rule of `docs/guides/dedup.md` with a comparison of all documents.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::hash::SplitMix64;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::core::shingle::Shingler;
use lookalike::dedup::add_survivors;
use lookalike::find::{self, FindOptions};
use lookalike::index::{AddCounts, AddOptions};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, Normalization, ReadOptions};
use lookalike::store::Index;
use lookalike::store::backend::Change;
use lookalike::store::entry::RecordFields;
use lookalike::store::index::{Access, IndexLocation, create, open};
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike_index::entry::DocumentNumber;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const THRESHOLD: f64 = 0.5;

/// Ids and texts.
type Texts = Vec<(String, String)>;

/// An index that receives batches.
struct Place {
    folder: TempDir,
    options: FindOptions,
}

impl Place {
    fn new() -> Self {
        let builder =
            ParamsBuilder { threshold: THRESHOLD, exact: true, ..ParamsBuilder::default() };
        let keep = KeepPolicy::new(vec![KeepRule::First]);
        let options = FindOptions { keep, ..FindOptions::new(Params::new(&builder).unwrap()) };
        let place = Self { folder: TempDir::new().unwrap(), options };
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let normalization = Normalization::default().to_string();
        let settings = IndexSettings::new(&params, &normalization, StoredContent::Sets).unwrap();
        create(&IndexLocation::Folder(place.index_path()), &settings).unwrap();
        place
    }

    fn index_path(&self) -> PathBuf {
        self.folder.path().join("corpus")
    }

    /// Returns options that read the shingles of the index, which stores no texts.
    fn reading(&self) -> ReadOptions {
        let shingle = Some(self.options.params.shingle().clone());
        ReadOptions { shingle, ..ReadOptions::default() }
    }

    fn index(&self) -> Index {
        let access = Access::Write { wait: Duration::from_secs(10) };
        open(&IndexLocation::Folder(self.index_path()), access).unwrap()
    }

    /// Compares a batch with the index and adds the kept documents.
    fn add(&self, batch: &[(String, String)]) -> AddCounts {
        let input = write(&self.folder.path().join("batch.jsonl"), batch);
        let index = self.index();
        let reading = self.reading();
        let reference = [self.index_path()];
        let collection = Collection::open_with_reference(&[input], &reference, &reading).unwrap();
        let findings = find::in_collection(&collection, &self.options, &NoProgress).unwrap();
        let add = AddOptions::new(1);
        let to = (&index, &add);
        add_survivors(&findings, &collection, &self.options, to, &NoProgress).unwrap()
    }
}

fn write(path: &Path, documents: &[(String, String)]) -> PathBuf {
    let line = |(id, text): &(String, String)| {
        serde_json::json!({ "id": id, "text": text }).to_string() + "\n"
    };
    std::fs::write(path, documents.iter().map(line).collect::<String>()).unwrap();
    path.to_owned()
}

/// Returns the group size and the duplicates of each document.
fn groups(index: &Index) -> BTreeMap<String, (u64, Vec<String>)> {
    let mut snapshot = index.snapshot().unwrap();
    let mut ids = BTreeMap::new();
    let wanted = RecordFields::default();
    let scanned = snapshot.scan(DocumentNumber(0), usize::MAX, wanted, &mut |record| {
        ids.insert(record.number, record.id.clone());
        Ok(())
    });
    scanned.unwrap();
    let numbers: Vec<DocumentNumber> = ids.keys().copied().collect();
    let mut duplicates = BTreeMap::<DocumentNumber, Vec<String>>::new();
    let each = &mut |keeper: DocumentNumber, id: &str| {
        duplicates.entry(keeper).or_default().push(id.to_owned());
        Ok(())
    };
    snapshot.duplicates(&numbers, each).unwrap();
    let sizes = snapshot.group_sizes(&numbers).unwrap();
    let all = numbers.iter().zip(sizes);
    all.map(|(number, size)| {
        (ids[number].clone(), (size, duplicates.remove(number).unwrap_or_default()))
    })
    .collect()
}

/// Returns documents in random order. Documents of a family resemble each other and no others.
fn families(random: &mut SplitMix64) -> (Texts, BTreeMap<u64, u64>) {
    let (mut documents, mut sizes) = (Vec::new(), BTreeMap::new());
    for family in 0..12 {
        let size = 1 + random.below(7);
        sizes.insert(family, size);
        for member in 0..size {
            let mut words: Vec<String> = (0..60).map(|at| format!("f{family}w{at}")).collect();
            let at = random.below(60) as usize;
            words[at] = format!("x{}", random.below(9));
            documents.push((format!("{family}/{member}"), words.join(" ")));
        }
    }
    for at in (1..documents.len()).rev() {
        documents.swap(at, random.below(at as u64 + 1) as usize);
    }
    (documents, sizes)
}

/// If grouping does not depend on the batches, neither do the counts. For each division of a corpus
/// and each order, one document represents its whole family.
#[test]
fn batches_count_like_one_run() {
    for seed in 0..6 {
        let mut random = SplitMix64::new(seed);
        let (documents, expected) = families(&mut random);
        for batches in [1, 2, 5] {
            let place = Place::new();
            let mut parts = vec![Texts::new(); batches];
            for document in &documents {
                parts[random.below(batches as u64) as usize].push(document.clone());
            }
            let mut recorded = 0;
            for part in parts.iter().filter(|part| !part.is_empty()) {
                recorded += place.add(part).duplicates;
            }
            let found = groups(&place.index());
            let family = |id: &str| id.split('/').next().unwrap().parse::<u64>().unwrap();
            let sizes: BTreeMap<u64, u64> =
                found.iter().map(|(id, (size, _))| (family(id), *size)).collect();
            assert_eq!(sizes, expected, "seed {seed}, {batches} batches");
            assert_eq!(found.len(), expected.len());
            assert_eq!(recorded, (documents.len() - expected.len()) as u64);
            // Adding the same batches again changes nothing.
            for part in parts.iter().filter(|part| !part.is_empty()) {
                let repeated = place.add(part);
                assert_eq!((repeated.added, repeated.duplicates), (0, 0));
            }
            assert_eq!(groups(&place.index()), found);
        }
    }
}

/// Applies the rule by comparing all documents.
#[derive(Default)]
struct Oracle {
    /// Documents with their shingle sets, in the order of their addition.
    documents: Vec<(String, Vec<u64>)>,
    /// The keeper of each duplicate.
    duplicates: BTreeMap<String, String>,
}

fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let shared = a.iter().filter(|hash| b.contains(hash)).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

impl Oracle {
    fn has(&self, id: &str) -> bool {
        self.documents.iter().any(|(other, _)| other == id)
    }

    fn add(&mut self, batch: &[(String, String)], shingler: &mut Shingler) {
        let mut went = Vec::new();
        let before = self.documents.len();
        for (id, text) in batch {
            let mut set = Vec::new();
            shingler.set(text, &mut set);
            if set.is_empty() {
                continue;
            }
            // The first of the most similar documents.
            let mut best: Option<(f64, &str)> = None;
            for (other, kept) in &self.documents {
                let similarity = jaccard(&set, kept);
                if similarity >= THRESHOLD && best.is_none_or(|(most, _)| similarity > most) {
                    best = Some((similarity, other));
                }
            }
            match best {
                Some((_, keeper)) => went.push((id.clone(), keeper.to_owned())),
                None => self.documents.push((id.clone(), set)),
            }
        }
        for (id, _) in &self.documents[before..] {
            self.duplicates.remove(id);
        }
        for (id, keeper) in went {
            if !self.has(&id) {
                self.duplicates.insert(id, keeper);
            }
        }
    }

    fn remove(&mut self, id: &str) {
        self.documents.retain(|(other, _)| other != id);
        self.duplicates.retain(|duplicate, keeper| duplicate != id && keeper != id);
    }

    fn groups(&self) -> BTreeMap<String, (u64, Vec<String>)> {
        let of = |id: &String| -> Vec<String> {
            let own = self.duplicates.iter().filter(|(_, keeper)| *keeper == id);
            own.map(|(duplicate, _)| duplicate.clone()).collect()
        };
        let all = self.documents.iter().map(|(id, _)| (id.clone(), of(id)));
        all.map(|(id, own)| (id, (1 + own.len() as u64, own))).collect()
    }
}

/// Returns texts with edits of all degrees, chains of edits, copies and empty texts. Ids may
/// repeat.
fn batch(random: &mut SplitMix64, texts: &mut Vec<Vec<String>>) -> Texts {
    let mut documents = BTreeMap::new();
    for _ in 0..=random.below(12) {
        let mut text: Vec<String> = match random.below(12) {
            0 => Vec::new(),
            1 | 2 => (0..40).map(|_| format!("w{}", random.below(4000))).collect(),
            _ if texts.is_empty() => (0..40).map(|at| format!("v{at}")).collect(),
            _ => texts[random.below(texts.len() as u64) as usize].clone(),
        };
        for _ in 0..random.below(4) {
            if !text.is_empty() {
                let at = random.below(text.len() as u64) as usize;
                text[at] = format!("w{}", random.below(4000));
            }
        }
        texts.push(text.clone());
        documents.insert(format!("d{}", random.below(40)), text.join(" "));
    }
    documents.into_iter().collect()
}

#[test]
fn group_sizes_match_the_oracle() {
    let mut shingler = Shingler::new(&ParamsBuilder::default().shingle);
    let (mut largest, mut moved) = (0, 0);
    for seed in 0..5 {
        let (place, mut oracle) = (Place::new(), Oracle::default());
        let mut random = SplitMix64::new(70 + seed);
        let mut texts = Vec::new();
        for step in 0..12 {
            if random.below(4) == 0 {
                let id = format!("d{}", random.below(40));
                moved += u64::from(oracle.duplicates.contains_key(&id));
                place.index().write(&[Change::Remove(&id)]).unwrap();
                oracle.remove(&id);
            }
            // The index refuses a known id with another text, which other tests check.
            let mut batch = batch(&mut random, &mut texts);
            batch.retain(|(id, _)| !oracle.has(id));
            if batch.is_empty() {
                continue;
            }
            place.add(&batch);
            oracle.add(&batch, &mut shingler);
            let found = groups(&place.index());
            assert_eq!(found, oracle.groups(), "seed {seed}, step {step}");
            largest = largest.max(found.values().map(|(size, _)| *size).max().unwrap_or(0));
        }
        let index = place.index();
        index.compact(0).unwrap();
        assert_eq!(index.check().unwrap(), []);
        assert_eq!(groups(&index), oracle.groups());
    }
    assert!(largest > 5 && moved > 0, "{largest} {moved}");
}

/// A document of another reference does not count for the document of the index with the same id.
#[test]
fn keepers_of_other_references_are_ignored() {
    let place = Place::new();
    let text = |name: &str| (0..40).map(|at| format!("{name}{at}")).collect::<Vec<_>>().join(" ");
    place.add(&[("a".to_owned(), text("one")), ("b".to_owned(), text("two"))]);
    let other = write(&place.folder.path().join("other.jsonl"), &[("c".to_owned(), text("three"))]);
    let batch =
        [("c", "four"), ("x", "three"), ("y", "two")].map(|(id, name)| (id.to_owned(), text(name)));
    let input = write(&place.folder.path().join("batch.jsonl"), &batch);
    let index = place.index();
    let (reference, reading) = ([other, place.index_path()], place.reading());
    let collection = Collection::open_with_reference(&[input], &reference, &reading).unwrap();
    let findings = find::in_collection(&collection, &place.options, &NoProgress).unwrap();
    let add = AddOptions::new(1);
    let added =
        add_survivors(&findings, &collection, &place.options, (&index, &add), &NoProgress).unwrap();
    assert_eq!((added.added, added.duplicates), (1, 1));
    let found = groups(&index);
    assert_eq!((found["a"].0, found["b"].0, found["c"].0), (1, 2, 1));
}
