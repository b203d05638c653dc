//! An index has the same groups as a new run over its documents. Documents that were added before
//! an error stay in the index. `tests/histories` tests random histories of an index.
#![allow(clippy::unwrap_used, reason = "this is a test")]

mod decision_log;
mod group_sizes;

use crate::fresh_run::{find, reported};
use lookalike::core::hash::SplitMix64;
use lookalike::core::keep::KeepPolicy;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::decisions::{self, DecisionError, ReviewDecision, UnknownDocuments};
use lookalike::find::{FindOptions, PairList};
use lookalike::index::{
    AddOptions, DocumentFields, Existing, TextPreparer, add, groups, remove, remove_inputs,
};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, Content, Normalization, ReadOptions};
use lookalike::store::backend::Change;
use lookalike::store::entry::RecordFields;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike::store::{Index, IndexError};
use lookalike_index::entry::DocumentNumber;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The location of a test index.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Memory,
    #[cfg(feature = "sqlite")]
    Folder,
}

const EVERYWHERE: &[Kept] = &[
    Kept::Memory,
    #[cfg(feature = "sqlite")]
    Kept::Folder,
];

fn create(kept: Kept, at: &Path, builder: &ParamsBuilder, store: StoredContent) -> Index {
    let params = Params::new(builder).unwrap();
    let settings =
        IndexSettings::new(&params, &Normalization::default().to_string(), store).unwrap();
    match kept {
        Kept::Memory => {
            let _ = at;
            Index::new(Box::new(MemoryBackend::new(settings))).unwrap()
        }
        #[cfg(feature = "sqlite")]
        Kept::Folder => {
            use lookalike::store::index::{IndexLocation, create};
            create(&IndexLocation::Folder(at.join("x.lookalike")), &settings).unwrap()
        }
    }
}

#[test]
fn paths_in_keep_rules_are_ids() {
    let folder = TempDir::new().unwrap();
    let index = create(Kept::Memory, folder.path(), &ParamsBuilder::default(), StoredContent::Sets);
    let text = |n: usize| (0..40 + n).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ");
    put(&index, &[("copies/long", &text(3)), ("originals/short", &text(0))]);
    let keeper = |rule: &str| {
        let keep = KeepPolicy::new(vec![rule.parse().unwrap()]);
        let options = FindOptions { keep, ..FindOptions::new(index.params().clone()) };
        let findings = groups(&index, &options, 0, &NoProgress).unwrap();
        findings.groups.iter().next().unwrap().unwrap().keeper.id
    };
    assert_eq!(keeper("path:originals/**"), "originals/short");
    assert_eq!(keeper("longest"), "copies/long");
}

fn put(index: &Index, documents: &[(&str, &str)]) {
    let mut preparer = TextPreparer::new(index.settings()).unwrap();
    for (id, text) in documents {
        let fields = DocumentFields { added: 1, ..DocumentFields::default() };
        let document = preparer.document(id, text, fields);
        index.write(&[Change::Put(document.entry())]).unwrap();
    }
}

/// An index without texts cannot tell which empty documents are equal.
#[test]
fn empty_documents_need_texts_to_compare() {
    for (store, copies) in [(StoredContent::Sets, 0), (StoredContent::Texts, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let index = create(Kept::Memory, folder.path(), &ParamsBuilder::default(), store);
        put(&index, &[("a", "!!!"), ("b", "!!!"), ("c", "???"), ("d", "")]);
        let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
        let findings = groups(&index, &options, 0, &NoProgress).unwrap();
        assert_eq!(
            (findings.empty.len(), findings.textless_copies.empty_copies().len()),
            (4, copies)
        );
    }
}

#[test]
fn signature_index_has_no_groups() {
    let folder = TempDir::new().unwrap();
    let index =
        create(Kept::Memory, folder.path(), &ParamsBuilder::default(), StoredContent::Signatures);
    let options = FindOptions::new(index.params().clone());
    let error = groups(&index, &options, 0, &NoProgress).err().unwrap();
    assert!(matches!(error, lookalike::find::FindError::Index(IndexError::NoSets { .. })));
    let other = ParamsBuilder { shingle: "words:3".parse().unwrap(), ..ParamsBuilder::default() };
    let options = FindOptions::new(Params::new(&other).unwrap());
    let error = groups(&index, &options, 0, &NoProgress).err().unwrap().to_string();
    assert!(error.contains("words:3") && error.contains("words:5"), "{error}");
}

#[test]
fn indexed_folder_keeps_its_groups() {
    let folder = TempDir::new().unwrap();
    let inputs = [Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sample")];
    for (i, threads) in [1, 3].into_iter().enumerate() {
        for kept in EVERYWHERE {
            let folder = folder.path().join(format!("{i}{kept:?}"));
            std::fs::create_dir(&folder).unwrap();
            let index = create(*kept, &folder, &ParamsBuilder::default(), StoredContent::Texts);
            let collection = Collection::open(&inputs, &ReadOptions::default()).unwrap();
            let mut how = AddOptions::new(7);
            how.threads = NonZeroUsize::new(threads).unwrap();
            let added = add(&index, &collection, &how, &NoProgress).unwrap();
            assert_eq!((added.added, added.without_shingles, added.replaced), (33, 1, 0));
            let newest = KeepPolicy::new(vec!["newest".parse().unwrap()]);
            for keep in [KeepPolicy::default(), newest] {
                let options = FindOptions {
                    keep,
                    pairs: PairList::Exact,
                    ..FindOptions::new(index.params().clone())
                };
                let mut fresh = find(&inputs, &options);
                // An index has no folder of ids.
                assert!(fresh.id_folder.take().is_some());
                let same = groups(&index, &options, 0, &NoProgress).unwrap();
                assert_eq!(reported(&same, &options), reported(&fresh, &options));
                assert!(same.has_texts());
                let group = same.groups.iter().next().unwrap().unwrap();
                let text = same.text(group.keeper.document).unwrap();
                assert_eq!(text, std::fs::read_to_string(inputs[0].join(group.keeper.id)).unwrap());
            }
        }
    }
}

#[test]
fn newest_uses_the_file_time() {
    let folder = TempDir::new().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let text = (0..40).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ");
    for (name, day) in [("a", 3), ("b", 9), ("c", 5)] {
        let file = files.join(name);
        std::fs::write(&file, &text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400);
        std::fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
    }
    let index = create(Kept::Memory, folder.path(), &ParamsBuilder::default(), StoredContent::Sets);
    let collection = Collection::open(&[files], &ReadOptions::default()).unwrap();
    add(&index, &collection, &AddOptions::new(0), &NoProgress).unwrap();
    let keep = KeepPolicy::new(vec!["newest".parse().unwrap()]);
    let options = FindOptions { keep, ..FindOptions::new(index.params().clone()) };
    let findings = groups(&index, &options, 0, &NoProgress).unwrap();
    assert_eq!(findings.groups.iter().next().unwrap().unwrap().keeper.id, "b");
}

/// Returns the id, metadata and text of all documents of an index, by number.
fn stored(index: &Index) -> Vec<(String, Value, Option<String>)> {
    let wanted = RecordFields { metadata: true, text: true, ..RecordFields::default() };
    let mut all = Vec::new();
    let mut snapshot = index.snapshot().unwrap();
    let mut each = |record: &lookalike::store::entry::IndexRecord| {
        let metadata = Value::Object(record.metadata.clone());
        all.push((record.id.clone(), metadata, record.text.clone()));
        Ok(())
    };
    snapshot.scan(DocumentNumber(0), usize::MAX, wanted, &mut each).unwrap();
    all
}

fn collection(folder: &Path, name: &str, content: &str, fields: &[&str]) -> Collection {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    let fields = fields.iter().map(|&field| field.to_owned()).collect();
    Collection::open(&[path], &ReadOptions { fields, ..ReadOptions::default() }).unwrap()
}

#[test]
fn metadata_contains_chosen_fields_and_source() {
    let folder = TempDir::new().unwrap();
    let index =
        create(Kept::Memory, folder.path(), &ParamsBuilder::default(), StoredContent::Texts);
    let line =
        r#"{"id":1,"text":"one two","page":7,"tags":["a","b"],"meta":{"lang":"en"},"x":null}"#;
    let fields = ["page", "tags", "meta.lang", "x"];
    let records = collection(folder.path(), "a.jsonl", line, &fields);
    let mut how = AddOptions::new(0);
    how.metadata = fields.map(str::to_owned).to_vec();
    add(&index, &records, &how, &NoProgress).unwrap();
    let records = collection(folder.path(), "b.csv", "id,text,page\n2,one three,007\n", &["page"]);
    how.metadata.truncate(1);
    add(&index, &records, &how, &NoProgress).unwrap();
    let mail = "From: Ann <ann@example.org>\nSubject: Keys\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\
                \nThe keys are on the table.\n";
    let mail = collection(folder.path(), "c.eml", mail, &["page"]);
    add(&index, &mail, &how, &NoProgress).unwrap();
    let all = stored(&index);
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let expected =
        json!({"source": file("a.jsonl"), "page": 7, "tags": ["a", "b"], "meta.lang": "en"});
    assert_eq!(all[0], ("1".to_owned(), expected, Some("one two".to_owned())));
    assert_eq!(all[1].1, json!({"source": file("b.csv"), "page": "007"}));
    assert_eq!(all[2].1["source"], json!(file("c.eml")));
    assert_eq!(
        (&all[2].1["subject"], &all[2].1["date"]),
        (&json!("Keys"), &json!("2024-01-01T10:00:00Z"))
    );
}

#[test]
fn records_before_bad_ones_are_stored() {
    for kept in EVERYWHERE {
        let folder = TempDir::new().unwrap();
        let index = create(*kept, folder.path(), &ParamsBuilder::default(), StoredContent::Sets);
        let how = AddOptions::new(0);
        let broken = "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":3}\n";
        let error =
            add(&index, &collection(folder.path(), "x.jsonl", broken, &[]), &how, &NoProgress);
        let error = error.unwrap_err();
        assert_eq!(error.before.added, 1);
        assert!(error.error.to_string().contains("x.jsonl:2"), "{}", error.error);
        // A used id, a repeated one, and one that is too long.
        let long = "x".repeat(20_000);
        for (line, id) in [("b", "a"), ("c", "c"), ("d", long.as_str())] {
            let lines = format!(
                "{{\"id\":\"{line}\",\"text\":\"two\"}}\n{{\"id\":\"{id}\",\"text\":\"one\"}}\n\
                 {{\"id\":\"never\",\"text\":\"one\"}}\n"
            );
            let records = collection(folder.path(), "y.jsonl", &lines, &[]);
            let error = add(&index, &records, &how, &NoProgress).unwrap_err();
            assert_eq!(error.before.added, 1, "{}", error.error);
            assert!(error.error.to_string().contains("y.jsonl:2: document"), "{}", error.error);
        }
        let ids: Vec<String> = stored(&index).into_iter().map(|(id, ..)| id).collect();
        assert_eq!(ids, ["a", "b", "c", "d"]);
    }
}

#[test]
fn existing_ids_are_kept_or_replaced() {
    for kept in EVERYWHERE {
        let folder = TempDir::new().unwrap();
        let index = create(*kept, folder.path(), &ParamsBuilder::default(), StoredContent::Texts);
        let lines = |documents: &[(&str, &str)]| {
            let line = |(id, text): &(&str, &str)| json!({"id": id, "text": text}).to_string();
            documents.iter().map(line).collect::<Vec<String>>().join("\n")
        };
        let mut how = AddOptions::new(0);
        let mut next = |documents: &[(&str, &str)], existing| {
            how.existing = existing;
            let records = collection(folder.path(), "x.jsonl", &lines(documents), &[]);
            let counts = add(&index, &records, &how, &NoProgress).unwrap();
            (counts.added, counts.replaced, counts.existing)
        };
        assert_eq!(next(&[("a", "1"), ("b", "2")], Existing::Refuse), (2, 0, 0));
        assert_eq!(next(&[("b", "3"), ("c", "4"), ("c", "5")], Existing::Keep), (1, 0, 2));
        assert_eq!(next(&[("a", "6"), ("d", "7"), ("d", "8")], Existing::Replace), (1, 2, 0));
        let texts = stored(&index).into_iter().map(|(id, _, text)| (id, text.unwrap()));
        let texts: Vec<String> = texts.map(|(id, text)| id + &text).collect();
        assert_eq!(texts, ["b2", "c4", "a6", "d8"]);
        let counts = remove(&index, ["b", "nobody", "a"]).unwrap();
        assert_eq!((counts.removed, counts.absent), (2, vec!["nobody".to_owned()]));
        let records = collection(folder.path(), "y.jsonl", &lines(&[("c", ""), ("e", "")]), &[]);
        let counts = remove_inputs(&index, &records, &NoProgress).unwrap();
        assert_eq!((counts.removed, counts.absent), (1, vec!["e".to_owned()]));
        assert_eq!(stored(&index).len(), 1);
    }
}

#[test]
fn numbers_do_not_depend_on_threads() {
    let folder = TempDir::new().unwrap();
    let mut random = SplitMix64::new(3);
    for file in 0..3 {
        let line = |i| {
            let words: Vec<_> = (0..60).map(|_| format!("w{}", random.below(40))).collect();
            json!({"id": format!("{file}-{i}"), "text": words.join(" ").repeat(20)})
        };
        let lines: Vec<String> = (0..1500).map(line).map(|line| line.to_string()).collect();
        std::fs::write(folder.path().join(format!("{file}.jsonl")), lines.join("\n")).unwrap();
    }
    let with = |threads| {
        let index = create(
            Kept::Memory,
            folder.path(),
            &ParamsBuilder::default(),
            StoredContent::Signatures,
        );
        let inputs = [0, 1, 2].map(|file| folder.path().join(format!("{file}.jsonl")));
        let collection = Collection::open(&inputs, &ReadOptions::default()).unwrap();
        let mut how = AddOptions::new(0);
        how.threads = NonZeroUsize::new(threads).unwrap();
        assert_eq!(add(&index, &collection, &how, &NoProgress).unwrap().added, 4500);
        stored(&index).into_iter().map(|(id, ..)| id).collect::<Vec<String>>()
    };
    let expected = (0..3).flat_map(|file| (0..1500).map(move |i| format!("{file}-{i}")));
    let expected: Vec<String> = expected.collect();
    assert_eq!(with(1), expected);
    assert_eq!(with(4), expected);
}

fn judged(a: &str, b: &str) -> String {
    format!("{{\"decision\":\"not_duplicate\",\"documents\":[{a:?},{b:?}]}}")
}

/// The index returns many decisions in the order of their addition, from any number, with the
/// hashes of its texts. A read covers fewer decisions than there are.
#[test]
fn decisions_are_read_from_any_number() {
    for kept in EVERYWHERE {
        let folder = TempDir::new().unwrap();
        let index = create(*kept, folder.path(), &ParamsBuilder::default(), StoredContent::Texts);
        put(&index, &[("a", "one text of a few words"), ("b", "another")]);
        let lines: Vec<String> = (0..300).map(|n| judged("a", &format!("x{n}"))).collect();
        let judgments = decisions::read(lines.join("\n").as_bytes(), Path::new("given")).unwrap();
        let (now, kept_all) = ("2026-01-01T00:00:00Z", UnknownDocuments::Keep);
        let added = decisions::add_to_index(&index, judgments, now, kept_all).unwrap();
        assert_eq!((added.added, added.unknown, added.last), (300, 300, 300), "{kept:?}");
        for after in [0, 1, 127, 128, 129, 256, 299, 300, 400] {
            let found = decisions::of_index(&index, after).unwrap();
            let numbers: Vec<u64> = found.iter().map(|decision| decision.line).collect();
            assert_eq!(numbers, (after + 1..=300).collect::<Vec<u64>>(), "{kept:?}");
        }
        let stored = decisions::of_index(&index, 299).unwrap();
        let hash = Content::of(b"one text of a few words");
        assert_eq!(stored[0].documents, ["a", "x299"]);
        assert_eq!(stored[0].contents, [Some(hash), None]);
    }
}

/// An invalid entry ends the reading with an error that names its number.
#[test]
fn invalid_log_entries_end_the_reading() {
    for kept in EVERYWHERE {
        let folder = TempDir::new().unwrap();
        let index = create(*kept, folder.path(), &ParamsBuilder::default(), StoredContent::Sets);
        let good = judged("a", "b");
        let mut entries = vec![good.as_str(); 400];
        entries[199] = "{\"decision\":\"later\",\"documents\":[\"a\"]}";
        index.add_decisions(&entries, None).unwrap();
        let mut numbers = Vec::new();
        let mut take = |decision: ReviewDecision| numbers.push(decision.line);
        let error = decisions::each_of_index(&index, 0, &mut take).unwrap_err();
        let DecisionError::Line { line, .. } = error else { panic!("{error}") };
        assert_eq!((line, numbers), (200, (1..200).collect()), "{kept:?}");
        assert_eq!(decisions::of_index(&index, 200).unwrap().len(), 200, "{kept:?}");
    }
}
