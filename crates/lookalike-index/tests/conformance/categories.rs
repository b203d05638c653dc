//! Categories: an index keeps the model and the members, except members of removed documents.

use super::documents::{Maker, settings};
use super::{Place, assert_clean};
use lookalike_index::backend::{Backend, Change};
use lookalike_index::category_table::{CategoryMember, CategoryState};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::error::IndexError;
use lookalike_index::settings::StoredContent;

fn member(document: u64, category: u32) -> CategoryMember {
    CategoryMember { document: DocumentNumber(document), category }
}

fn members(
    backend: &dyn Backend,
    range: (u32, u32),
    after: u64,
    most: usize,
) -> Vec<CategoryMember> {
    backend.snapshot().unwrap().category_members(range, DocumentNumber(after), most).unwrap()
}

const ALL: (u32, u32) = (0, u32::MAX);

/// A new model replaces the old one and its members. A removed document loses its member. A copy of
/// the index has the model and the members.
pub fn categories_are_kept_and_follow_documents<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 1);
    for id in ["a", "b", "c", "d"] {
        backend.write(&[maker.document(id, 1).put()]).unwrap();
    }
    let mut early = backend.snapshot().unwrap();
    assert_eq!(early.categories().unwrap(), None);
    assert_eq!(early.category_model().unwrap(), None);
    assert_eq!(early.category_counts().unwrap(), []);
    assert_eq!(early.category_members(ALL, DocumentNumber(0), 9).unwrap(), []);
    assert!(!backend.add_category_members(1, DocumentNumber(4), &[member(1, 1)]).unwrap());
    let some = [member(1, 2), member(2, 0), member(3, 2), member(9, 2)];
    assert_eq!(backend.replace_categories(b"model", DocumentNumber(3), &some).unwrap(), 1);
    assert_eq!(early.categories().unwrap(), None, "a later change");
    let version = early.version();
    drop(early);
    assert!(backend.snapshot().unwrap().version() > version);
    let backend = place.reopen(backend);
    let mut snapshot = backend.snapshot().unwrap();
    assert_eq!(
        snapshot.categories().unwrap(),
        Some(CategoryState { number: 1, through: DocumentNumber(3) })
    );
    assert_eq!(snapshot.category_model().unwrap().as_deref(), Some(&b"model"[..]));
    assert_eq!(snapshot.category_counts().unwrap(), [(0, 1), (2, 2)]);
    drop(snapshot);
    assert_eq!(members(&*backend, (1, 2), 0, 9), [member(1, 2), member(3, 2)]);
    assert_eq!(members(&*backend, ALL, 1, 1), [member(2, 0)]);
    assert_clean(&*backend);

    // A replaced document has a new number, whose category is added later.
    backend.write(&[maker.document("c", 1).put(), Change::Remove("b")]).unwrap();
    assert_eq!(members(&*backend, ALL, 0, 9), [member(1, 2)]);
    assert!(
        backend
            .add_category_members(1, DocumentNumber(5), &[member(4, 1), member(5, 2), member(2, 1)])
            .unwrap()
    );
    assert!(!backend.add_category_members(2, DocumentNumber(9), &[member(1, 7)]).unwrap());
    let now = [member(1, 2), member(4, 1), member(5, 2)];
    assert_eq!(members(&*backend, ALL, 0, 9), now);
    let state = |backend: &dyn Backend| backend.snapshot().unwrap().categories().unwrap();
    assert_eq!(state(&*backend), Some(CategoryState { number: 1, through: DocumentNumber(5) }));
    backend.compact(0).unwrap();
    assert_clean(&*backend);
    if let Some(reader) = place.reader() {
        assert_eq!(members(&*reader, ALL, 0, 9), now);
        let refused = reader.replace_categories(b"", DocumentNumber(0), &[]);
        assert!(matches!(refused, Err(IndexError::ReadOnly { .. })));
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy");
    let is_backed_up = backend.backup(&to).is_ok();
    if let Some(copy) = is_backed_up.then(|| place.restored(&to)).flatten() {
        assert_eq!(members(&*copy, ALL, 0, 9), now);
        assert_clean(&*copy);
    }
    assert_eq!(backend.replace_categories(b"other", DocumentNumber(0), &[]).unwrap(), 2);
    assert_eq!(members(&*backend, ALL, 0, 9), []);
    backend.add_decisions(&["{}"], None).unwrap();
    assert_eq!(state(&*backend), Some(CategoryState { number: 2, through: DocumentNumber(0) }));
}

/// If several members name one document, the last one counts, however far apart they are.
pub fn a_repeated_member_has_its_last_category<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 1);
    for id in ["a", "b"] {
        backend.write(&[maker.document(id, 1).put()]).unwrap();
    }
    let repeated = [member(2, 1), member(1, 1), member(1, 2)];
    backend.replace_categories(b"model", DocumentNumber(2), &repeated).unwrap();
    assert_eq!(members(&*backend, ALL, 0, 9), [member(1, 2), member(2, 1)]);
    let added = [member(2, 3), member(2, 4)];
    assert!(backend.add_category_members(1, DocumentNumber(2), &added).unwrap());
    assert_eq!(members(&*backend, ALL, 0, 9), [member(1, 2), member(2, 4)]);
    // Members of documents that do not exist separate the repeated ones.
    let separating = (10..30_000).map(|document| member(document, 0));
    let many: Vec<CategoryMember> =
        repeated.into_iter().chain(separating).chain([member(2, 5)]).collect();
    backend.replace_categories(b"model", DocumentNumber(2), &many).unwrap();
    assert_eq!(members(&*backend, ALL, 0, 9), [member(1, 2), member(2, 5)]);
    assert_clean(&*backend);
}
