//! Originals and versions: the tests of every backend that stores them.

use super::documents::{Document, Maker, settings};
use super::{Place, assert_clean};
use lookalike_index::backend::{Backend, Change};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::error::IndexError;
use lookalike_index::memory::MemoryBackend;
use lookalike_index::original::DocumentVersion;
use lookalike_index::settings::StoredContent;

/// All data about the versions of an id, except the keys of the backend.
type Known = Vec<(DocumentVersion, Vec<u8>, Option<String>)>;

pub fn known(backend: &dyn Backend, id: &str) -> Known {
    let mut snapshot = backend.snapshot().unwrap();
    let versions = snapshot.versions(id).unwrap().into_iter();
    versions
        .map(|version| {
            let original = snapshot.original(&version).unwrap();
            assert_eq!(original.len() as u64, version.bytes);
            let text = snapshot.version_text(&version).unwrap();
            (
                DocumentVersion { document: DocumentNumber(0), original: 0, ..version },
                original,
                text,
            )
        })
        .collect()
}

/// Creates a page of a family: a long part that the family shares, and a few bytes of its own.
pub fn page(maker: &mut Maker, id: &str, family: u64) -> Document {
    let mut document = maker.document(id, family);
    let mut part = lookalike_core::hash::SplitMix64::new(family);
    let mut bytes: Vec<u8> = (0..2000).flat_map(|_| part.next_u64().to_le_bytes()).collect();
    bytes.extend_from_slice(format!("page {} of {family}", maker.below(30)).as_bytes());
    document.original = Some(bytes);
    // The times of versions ascend. A document expires only if a test sets this.
    (document.added, document.expires) = (0, None);
    document
}

/// Random additions, replacements and removals leave the same versions as in the model.
pub fn versions_equal_the_model<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Originals);
    for seed in 0..2 {
        let (place, model) = (fresh(), MemoryBackend::new(settings.clone()));
        let mut backend = place.create(&settings);
        let mut maker = Maker::new(&settings, seed);
        let ids: Vec<String> = (0..6).map(|number| format!("https://e.example/{number}")).collect();
        for step in 0..40 {
            let count = 1 + maker.below(4);
            let documents: Vec<(bool, Document)> = (0..count)
                .map(|_| {
                    let (id, family) = (maker.below(6) as usize, maker.below(2));
                    let mut document = page(&mut maker, &ids[id], family);
                    document.added = step;
                    if maker.below(5) == 0 {
                        document.original = None;
                    }
                    (maker.below(5) == 0, document)
                })
                .collect();
            let changes = documents.iter().map(|(removes, document)| match removes {
                true => Change::Remove(&document.id),
                false => document.put(),
            });
            let changes: Vec<_> = changes.collect();
            assert_eq!(backend.write(&changes).unwrap(), model.write(&changes).unwrap());
            match maker.below(12) {
                0 => backend.compact(0).unwrap(),
                1 => backend = place.reopen(backend),
                _ => {}
            }
            for id in &ids {
                assert_eq!(known(&*backend, id), known(&model, id), "seed {seed}, step {step}");
            }
        }
        assert_clean(&*backend);
        let numbered = known(&*backend, &ids[0]).into_iter().map(|(version, ..)| version.number);
        assert!((1..).zip(numbered).all(|(expected, got)| expected == got));
        let removals: Vec<_> = ids.iter().map(|id| Change::Remove(id)).collect();
        backend.write(&removals).unwrap();
        backend.compact(0).unwrap();
        if let Some(left) = backend.stats().unwrap().originals {
            assert_eq!((left.versions, left.originals, left.stored_bytes), (0, 0, 0));
        }
        assert_clean(&*backend);
    }
}

/// Versions are removed when their document expires. A backup contains them.
pub fn versions_follow_their_document<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Originals);
    let (place, temp) = (fresh(), tempfile::tempdir().unwrap());
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 7);
    for version in 0..20 {
        for id in ["a", "b"] {
            let mut document = page(&mut maker, id, 3);
            document.original.as_mut().unwrap().extend_from_slice(format!("{version}").as_bytes());
            document.added = version;
            document.expires = (id == "b").then_some(100);
            backend.write(&[document.put()]).unwrap();
        }
    }
    assert_eq!((known(&*backend, "a").len(), known(&*backend, "b").len()), (20, 20));
    let ended: Vec<_> =
        known(&*backend, "a").iter().map(|(version, ..)| (version.added, version.ended)).collect();
    let expected = (0..20).map(|at| (at, (at < 19).then_some(at + 1)));
    assert_eq!(ended, expected.collect::<Vec<_>>());
    let copy = temp.path().join("copy");
    if backend.backup(&copy).is_ok()
        && let Some(restored) = place.restored(&copy)
    {
        assert_eq!(known(&*restored, "b"), known(&*backend, "b"));
        assert_clean(&*restored);
    }
    backend.compact(100).unwrap();
    assert_eq!((known(&*backend, "a").len(), known(&*backend, "b").len()), (20, 0));
    assert_clean(&*backend);
}

/// An original is never stored as a difference from a document that the same batch removes.
/// Otherwise the removed bytes would stay until the index is compacted.
pub fn removed_documents_are_no_bases<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Originals);
    let mut maker = Maker::new(&settings, 7);
    let [first, second] = ["first", "second"].map(|id| page(&mut maker, id, 3));
    for is_removed_first in [true, false] {
        let place = fresh();
        let backend = place.create(&settings);
        backend.write(&[first.put()]).unwrap();
        let mut changes = [Change::Remove(&first.id), second.put()];
        if !is_removed_first {
            changes.reverse();
        }
        backend.write(&changes).unwrap();
        assert_eq!(known(&*backend, "second")[0].1, second.original.clone().unwrap());
        if let Some(stats) = backend.stats().unwrap().originals {
            assert_eq!((stats.versions, stats.originals, stats.differences), (1, 1, 0));
        }
        assert_clean(&*backend);
    }
}

/// A batch with an original over the limit is refused and changes nothing.
pub fn originals_over_the_limit_are_refused<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Originals).with_max_original(20_000).unwrap();
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 7);
    let small = page(&mut maker, "small", 1);
    let mut large = page(&mut maker, "large", 1);
    large.original = Some(vec![7; 20_001]);
    let error = backend.write(&[small.put(), large.put()]).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, IndexError::Document { .. }), "{text}");
    assert!(text.contains("20001 bytes") && text.contains("at most 20000"), "{text}");
    assert_eq!(known(&*backend, "small"), []);
    backend.write(&[small.put()]).unwrap();
    assert_eq!(known(&*backend, "small")[0].1, small.original.unwrap());
    assert_clean(&*backend);
}

/// An index without originals returns an error.
pub fn an_index_without_originals_says_so<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let backend = place.create(&settings);
    let error = backend.snapshot().unwrap().versions("a").unwrap_err();
    assert!(matches!(error, IndexError::NoOriginals { .. }), "{error}");
    assert!(backend.stats().unwrap().originals.is_none());
}
