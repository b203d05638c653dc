//! Random histories of an index: documents that are added, changed and removed, and decisions about
//! them. A model contains the expected state.

use lookalike::core::hash::SplitMix64;
use lookalike::decisions::{self, ReviewDecision, UnknownDocuments};
use lookalike::index::{DocumentFields, TextPreparer};
use lookalike::store::Index;
use lookalike::store::backend::Change;
use lookalike::store::duplicate_table::DuplicateEntry;
use lookalike::store::entry::Metadata;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Number of events of a history.
const EVENTS: usize = 200;
/// The index is compacted and reopened after this many events.
const REOPENED: usize = 50;
/// Number of different document ids.
const IDS: u64 = 60;

/// The content of a document.
#[derive(Debug, Clone)]
struct Said {
    text: String,
    year: Value,
    /// The fingerprint of its shingles.
    fingerprint: u128,
    /// The position of the last write in the history.
    at: usize,
}

/// The expected state after a history.
#[derive(Debug, Default)]
pub(crate) struct Model {
    documents: BTreeMap<String, Said>,
    /// Lines of a decision file.
    decisions: Vec<String>,
    /// The texts of all versions of the existing documents.
    versions: BTreeMap<String, Vec<String>>,
    /// The keeper of each recorded duplicate.
    duplicates: BTreeMap<String, String>,
}

/// Returns a text of few words. The texts resemble each other in different degrees; some are equal
/// or empty.
fn text(random: &mut SplitMix64) -> String {
    let family = random.below(6);
    let mut words: Vec<String> = (0..30 + family).map(|i| format!("f{family}w{i}")).collect();
    for _ in 0..random.below(4) {
        let at = random.below(words.len() as u64) as usize;
        words[at] = format!("x{}", random.below(5));
    }
    match random.below(20) {
        0 => String::new(),
        1 => words[..3].join(" "),
        _ => words.join(" ") + &" and so on".repeat(random.below(3) as usize),
    }
}

fn year(random: &mut SplitMix64) -> Value {
    match random.below(4) {
        0 => Value::Null,
        1 => json!(format!("{}", 1990 + random.below(30))),
        _ => json!(1990 + random.below(30)),
    }
}

impl Model {
    /// Returns the ids of two documents, mostly near-duplicates. They may not exist.
    fn pair(&self, random: &mut SplitMix64) -> [String; 2] {
        let any = |random: &mut SplitMix64| format!("d{}", random.below(IDS));
        let a = any(random);
        let family = |id: &String| self.documents.get(id)?.text.get(..2);
        let near: Vec<&String> = match family(&a) {
            Some(_) => self.documents.keys().filter(|id| family(id) == family(&a)).collect(),
            None => Vec::new(),
        };
        let b = match near.len() {
            0 | 1 => any(random),
            _ if random.below(6) == 0 => any(random),
            several => near[random.below(several as u64) as usize].clone(),
        };
        [a, b]
    }

    /// Returns a decision as a line of a file, or `None` if it would name one document twice.
    fn decision(&self, random: &mut SplitMix64) -> Option<String> {
        let [a, b] = self.pair(random);
        let who = ["ann", "bob"][random.below(2) as usize];
        let (decision, documents) = match random.below(9) {
            0 => ("keep", vec![a]),
            1 => ("undecided", vec![a]),
            _ if a == b => return None,
            2 => ("undecided", vec![a, b]),
            3 => ("keep_all", vec![a, b]),
            4 | 5 => ("duplicate", vec![a, b]),
            _ => ("not_duplicate", vec![a, b]),
        };
        Some(json!({"decision": decision, "documents": documents, "who": who}).to_string())
    }

    /// Adds a decision to the log of an index, which may add hashes of texts to it.
    fn decide(&mut self, index: &Index, line: &str) {
        let read = decisions::read(line.as_bytes(), Path::new("a line")).unwrap();
        let (now, seen) = ("2026-01-01T00:00:00Z", Some(u64::MAX));
        let read = read.into_iter().map(|decision| ReviewDecision { seen, ..decision }).collect();
        let added = decisions::add_to_index(index, read, now, UnknownDocuments::Keep).unwrap();
        let stored = decisions::of_index(index, added.last - 1).unwrap();
        self.decisions.extend(stored.iter().map(ReviewDecision::to_json));
    }

    fn put(&mut self, id: String, document: Said) {
        let same = |before: &Said| before.fingerprint == document.fingerprint;
        if !self.documents.get(&id).is_some_and(same) {
            self.duplicates.retain(|_, keeper| *keeper != id);
        }
        self.duplicates.remove(&id);
        let versions = self.versions.entry(id.clone()).or_default();
        if versions.last() != Some(&document.text) {
            versions.push(document.text.clone());
        }
        self.documents.insert(id, document);
    }

    fn remove(&mut self, id: &str) {
        self.documents.remove(id);
        self.versions.remove(id);
        self.duplicates.retain(|duplicate, keeper| duplicate != id && keeper != id);
    }

    /// Records duplicates of documents, some of which exist.
    fn record(&mut self, index: &Index, random: &mut SplitMix64) {
        let id = |random: &mut SplitMix64| format!("d{}", random.below(IDS));
        let pairs: Vec<(String, String)> = (0..random.below(3))
            .map(|_| match random.below(3) {
                0 => (id(random), id(random)),
                _ => (format!("c{}", random.below(IDS)), id(random)),
            })
            .collect();
        let entries: Vec<_> =
            pairs.iter().map(|(id, keeper)| DuplicateEntry { id, keeper }).collect();
        index.add_duplicates(&entries).unwrap();
        for (id, keeper) in pairs {
            if self.documents.contains_key(&keeper) && !self.documents.contains_key(&id) {
                self.duplicates.insert(id, keeper);
            }
        }
    }

    /// Compares the group sizes with an index, and the versions if the index stores originals.
    pub(crate) fn hold_archive(&self, index: &Index) {
        let mut snapshot = index.snapshot().unwrap();
        for id in self.documents.keys() {
            let number = snapshot.number_of(id).unwrap().unwrap();
            let own = self.duplicates.values().filter(|keeper| *keeper == id).count() as u64;
            assert_eq!(snapshot.group_sizes(&[number]).unwrap(), [1 + own], "{id}");
            if index.settings().originals.is_some() {
                let versions = snapshot.versions(id).unwrap().into_iter();
                let originals = versions.map(|version| snapshot.original(&version).unwrap());
                let texts = originals.map(|bytes| String::from_utf8(bytes).unwrap());
                assert_eq!(texts.collect::<Vec<_>>(), self.versions[id], "{id}");
            }
        }
        assert!(self.duplicates.len() > 3, "{}", self.duplicates.len());
        assert!(self.versions.values().any(|versions| versions.len() > 2));
    }

    /// Writes the expected documents to a file, in the order of their last write.
    pub(crate) fn write_documents(&self, folder: &Path) -> PathBuf {
        let path = folder.join("survivors.jsonl");
        let mut all: Vec<_> = self.documents.iter().collect();
        all.sort_by_key(|(_, document)| document.at);
        let mut file = std::fs::File::create(&path).unwrap();
        for (id, Said { text, year, .. }) in all {
            writeln!(file, "{}", json!({"id": id, "text": text, "year": year})).unwrap();
        }
        path
    }

    /// Writes the decisions to a file.
    pub(crate) fn write_decisions(&self, folder: &Path) -> PathBuf {
        let path = folder.join("decisions.jsonl");
        std::fs::write(&path, self.decisions.join("\n")).unwrap();
        path
    }
}

/// Applies a random history to an index, which `reopened` reopens from time to time. Returns the
/// index and the expected state. The model omits a document `gone`, which expires at 5 ns.
pub(crate) fn applied(
    mut index: Index,
    seed: u64,
    reopened: impl Fn(Index) -> Index,
) -> (Index, Model) {
    let mut random = SplitMix64::new(seed);
    // A separate generator, so that documents and decisions do not depend on duplicates.
    let mut other = SplitMix64::new(!seed);
    let mut model = Model::default();
    let mut preparer = TextPreparer::new(index.settings()).unwrap();
    for at in 0..EVENTS {
        let id = format!("d{}", random.below(IDS));
        match random.below(10) {
            0 | 1 => {
                index.write(&[Change::Remove(&id)]).unwrap();
                model.remove(&id);
            }
            2..5 => {
                if let Some(line) = model.decision(&mut random) {
                    model.decide(&index, &line);
                }
            }
            _ => {
                let (text, year) = (text(&mut random), year(&mut random));
                let mut metadata = Metadata::new();
                metadata.insert("year".to_owned(), year.clone());
                let fields = DocumentFields { metadata, added: 1, ..DocumentFields::default() };
                let document = preparer.document(&id, &text, fields);
                index.write(&[Change::Put(document.entry())]).unwrap();
                let fingerprint = document.fingerprint;
                model.put(id, Said { text, year, fingerprint, at });
            }
        }
        model.record(&index, &mut other);
        if at % REOPENED == REOPENED - 1 {
            index.compact(0).unwrap();
            index = reopened(index);
        }
    }
    // Random decisions that both have an effect rarely contradict each other, so these two do.
    let pair: Vec<String> = model.documents.keys().take(2).cloned().collect();
    for (who, decision) in [("ann", "duplicate"), ("bob", "not_duplicate")] {
        let line = json!({"decision": decision, "documents": pair, "who": who}).to_string();
        model.decide(&index, &line);
    }
    let fields = DocumentFields { added: 1, expires: Some(5), ..DocumentFields::default() };
    let expired = preparer.document("gone", "f1w0 f1w1 f1w2 f1w3 f1w4 f1w5 f1w6", fields);
    index.write(&[Change::Put(expired.entry())]).unwrap();
    (index, model)
}
