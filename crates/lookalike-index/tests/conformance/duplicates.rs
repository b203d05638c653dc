//! Documents that were removed as duplicates. Each is recorded for its keeper and counts in the
//! keeper's group. If the keeper is removed, the record is removed as well.

use super::documents::{Maker, settings};
use super::{Place, assert_clean};
use lookalike_index::backend::{Backend, Change, ChangeOutcome, SideTableChanges as _};
use lookalike_index::duplicate_table::DuplicateEntry;
use lookalike_index::entry::DocumentNumber;
use lookalike_index::error::IndexError;
use lookalike_index::memory::MemoryBackend;
use lookalike_index::settings::StoredContent;

/// Returns the id of each keeper with the ids of its duplicates.
pub fn duplicates(backend: &dyn Backend) -> Vec<(String, Vec<String>)> {
    let mut snapshot = backend.snapshot().unwrap();
    let mut all: Vec<(DocumentNumber, String, Vec<String>)> = super::everything(&mut *snapshot)
        .into_iter()
        .map(|record| (record.number, record.id, Vec::new()))
        .collect();
    let numbers: Vec<DocumentNumber> = all.iter().map(|(number, ..)| *number).collect();
    let mut at = 0;
    let each = &mut |keeper: DocumentNumber, id: &str| {
        at += all[at..].iter().position(|one| one.0 == keeper).expect("ascending keepers");
        all[at].2.push(id.to_owned());
        Ok(())
    };
    snapshot.duplicates(&numbers, each).unwrap();
    assert!(all.iter().all(|(.., ids)| ids.is_sorted()));
    let sizes: Vec<u64> = all.iter().map(|(.., ids)| 1 + ids.len() as u64).collect();
    assert_eq!(snapshot.group_sizes(&numbers).unwrap(), sizes);
    // The sizes are in the order of the numbers. A number without a document has the size 1.
    let reversed: Vec<DocumentNumber> =
        numbers.iter().rev().copied().chain([DocumentNumber::MAX]).collect();
    let reversed = snapshot.group_sizes(&reversed).unwrap();
    assert!(reversed.into_iter().eq(sizes.into_iter().rev().chain([1])));
    all.into_iter().filter(|one| !one.2.is_empty()).map(|(_, id, ids)| (id, ids)).collect()
}

fn entry<'a>(id: &'a str, keeper: &'a str) -> DuplicateEntry<'a> {
    DuplicateEntry { id, keeper }
}

/// The record of a duplicate ends if the keeper is removed or gets another text. It also ends if
/// the duplicate's id is added or removed.
pub fn duplicates_follow_their_keeper<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let mut backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 3);
    let lasting = |maker: &mut Maker, id: &str, family| {
        let mut document = maker.document(id, family);
        (document.added, document.expires) = (1, None);
        document
    };
    let [a, b] = [("a", 1), ("b", 2)].map(|(id, family)| lasting(&mut maker, id, family));
    backend.write(&[a.put(), b.put()]).unwrap();
    assert_eq!(backend.add_duplicates(&[entry("x", "nowhere")]).unwrap(), 0);
    assert_eq!(duplicates(&*backend), []);
    let early = backend.snapshot().unwrap();
    let version = early.version();
    let some =
        [entry("x", "a"), entry("y", "a"), entry("b", "a"), entry("z", "b"), entry("a", "a")];
    assert_eq!(backend.add_duplicates(&some).unwrap(), 3);
    assert_eq!(backend.add_duplicates(&some).unwrap(), 0, "each duplicate counts as new only once");
    drop(early);
    let now = backend.snapshot().unwrap().version();
    assert_eq!(now, version + 1);
    let of = |groups: &[(&str, &[&str])]| -> Vec<(String, Vec<String>)> {
        let owned = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect();
        groups.iter().map(|(id, ids)| ((*id).to_owned(), owned(ids))).collect()
    };
    assert_eq!(duplicates(&*backend), of(&[("a", &["x", "y"]), ("b", &["z"])]));
    // Moves `y` to another keeper. Only `w` counts as new.
    assert_eq!(backend.add_duplicates(&[entry("y", "b"), entry("w", "b")]).unwrap(), 1);
    backend = place.reopen(backend);
    assert_eq!(duplicates(&*backend), of(&[("a", &["x"]), ("b", &["w", "y", "z"])]));
    let error = backend.add_duplicates(&[entry("v", "a"), entry("", "a")]).unwrap_err();
    assert!(matches!(error, IndexError::Document { .. }), "{error}");
    assert_eq!(duplicates(&*backend).len(), 2, "all or nothing");

    // The keeper can be replaced by the same text, even twice in one batch, without losing its
    // duplicates. With another text, it loses them.
    let mut replacement = a.clone();
    replacement.added = 2;
    backend.write(&[replacement.put(), replacement.put()]).unwrap();
    assert_eq!(duplicates(&*backend), of(&[("b", &["w", "y", "z"]), ("a", &["x"])]));
    assert_clean(&*backend);
    let other = lasting(&mut maker, "a", 5);
    backend.write(&[other.put(), replacement.put()]).unwrap();
    assert_eq!(duplicates(&*backend), of(&[("b", &["w", "y", "z"])]));
    // Adding a document with the id `w` removes the record of the duplicate `w`.
    let w = lasting(&mut maker, "w", 3);
    let outcomes = backend.write(&[w.add(), Change::Remove("y"), Change::Remove("y")]).unwrap();
    let expected = [ChangeOutcome::Added, ChangeOutcome::Removed, ChangeOutcome::Absent];
    assert_eq!(outcomes, expected);
    assert_eq!(duplicates(&*backend), of(&[("b", &["z"])]));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy");
    let is_backed_up = backend.backup(&to).is_ok();
    if let Some(copy) = is_backed_up.then(|| place.restored(&to)).flatten() {
        assert_eq!(duplicates(&*copy), of(&[("b", &["z"])]));
        assert_clean(&*copy);
    }
    if let Some(reader) = place.reader() {
        assert_eq!(duplicates(&*reader), of(&[("b", &["z"])]));
        assert!(matches!(reader.add_duplicates(&some), Err(IndexError::ReadOnly { .. })));
    }
    backend.write(&[Change::Remove("b")]).unwrap();
    assert_eq!(duplicates(&*backend), []);
    backend.write(&[b.add()]).unwrap();
    assert_eq!(duplicates(&*backend), [], "a document that is added again has no duplicates");
    assert_clean(&*backend);
}

/// After each step of a random history, the backend has the same duplicates as the model.
pub fn duplicates_equal_the_model<P: Place>(fresh: impl Fn() -> P) {
    for (seed, store) in [(0, StoredContent::Sets), (1, StoredContent::Originals)] {
        let settings = settings(store);
        let (place, model) = (fresh(), MemoryBackend::new(settings.clone()));
        let mut backend = place.create(&settings);
        let mut maker = Maker::new(&settings, 40 + seed);
        let id = |maker: &mut Maker| format!("d{}", maker.below(12));
        for step in 0..120 {
            match maker.below(8) {
                0 => backend = place.reopen(backend),
                1 => {
                    let now = maker.below(60) as i64;
                    backend.compact(now).unwrap();
                    model.compact(now).unwrap();
                    backend.repair().unwrap();
                }
                2..=4 => {
                    let pairs: Vec<(String, String)> =
                        (0..5).map(|_| (id(&mut maker), id(&mut maker))).collect();
                    let entries: Vec<_> = pairs.iter().map(|(a, b)| entry(a, b)).collect();
                    let added = backend.add_duplicates(&entries).unwrap();
                    assert_eq!(added, model.add_duplicates(&entries).unwrap(), "step {step}");
                }
                _ => {
                    // With three texts and twelve ids, many documents replace one with the same
                    // shingles.
                    let documents: Vec<_> = (0..3)
                        .map(|_| {
                            let id = id(&mut maker);
                            let text = maker.below(3);
                            let mut document = Maker::new(&settings, 9 + text).document(&id, text);
                            document.added = step;
                            (maker.below(4) == 0, document)
                        })
                        .collect();
                    let changes = documents.iter().map(|(removes, document)| match removes {
                        true => Change::Remove(&document.id),
                        false => document.put(),
                    });
                    let changes: Vec<_> = changes.collect();
                    let outcomes = backend.write(&changes).unwrap();
                    assert_eq!(outcomes, model.write(&changes).unwrap(), "step {step}");
                }
            }
            assert_eq!(duplicates(&*backend), duplicates(&model), "seed {seed}, step {step}");
        }
        assert_clean(&*backend);
    }
}
