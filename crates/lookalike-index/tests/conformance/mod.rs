//! Tests that every backend must pass. A [`Place`] gives access to a backend. The macro `suite`
//! makes one test of each function that it lists.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "every test binary uses its part of it"
)]
#![allow(unreachable_pub, reason = "a module of several test binaries")]
#![allow(clippy::unwrap_used, clippy::cast_possible_wrap, reason = "these are tests")]

mod asking;
mod categories;
mod containment;
mod decisions;
pub mod documents;
mod duplicates;
mod histories;
mod moments;
mod nearest;
mod originals;
mod writing;

pub use asking::*;
pub use categories::*;
pub use containment::*;
pub use decisions::*;
pub use duplicates::*;
pub use histories::*;
pub use moments::*;
pub use nearest::*;
pub use originals::*;
pub use writing::*;

use lookalike_index::backend::{Backend, Snapshot};
use lookalike_index::entry::{DocumentNumber, IndexRecord, RecordFields};
use lookalike_index::settings::IndexSettings;
use std::path::Path;

/// The location of one index, with methods to create and open it.
pub trait Place {
    /// Creates the index and opens it for writing. Called once.
    fn create(&self, settings: &IndexSettings) -> Box<dyn Backend>;

    /// Closes the index and opens it again for writing.
    fn reopen(&self, backend: Box<dyn Backend>) -> Box<dyn Backend>;

    /// Opens the index for reading while the writer is open. Returns `None` if only the writer has
    /// access.
    fn reader(&self) -> Option<Box<dyn Backend>>;

    /// Opens a backup that [`Backend::backup`] wrote. Returns `None` if the backend writes none.
    fn restored(&self, backup: &Path) -> Option<Box<dyn Backend>>;
}

/// Makes one test of each function; `$fresh` creates a new [`Place`]. If `$is_there` is false, the
/// tests end at once. The expression prints the reason.
macro_rules! suite {
    ($fresh:expr) => {
        $crate::conformance::suite!($fresh, true);
    };
    ($fresh:expr, $is_there:expr) => {
        $crate::conformance::suite!($fresh, $is_there;
            histories_equal_the_model,
            long_histories_equal_the_model,
            every_store_keeps_what_it_says,
            a_snapshot_sees_one_moment,
            a_snapshot_outlives_compacting,
            versions_tell_changes,
            other_readers_see_what_was_written,
            readers_go_on_beside_a_writer,
            writers_from_several_threads_take_turns,
            a_backup_is_the_index_at_one_moment,
            categories_are_kept_and_follow_documents,
            a_repeated_member_has_its_last_category,
            decisions_are_kept_in_order,
            errors_of_a_caller_end_the_reading_of_decisions,
            entries_follow_the_last_one_seen,
            removed_entries_leave_their_numbers,
            duplicates_follow_their_keeper,
            duplicates_equal_the_model,
            ids_of_any_kind,
            documents_without_shingles,
            one_id_several_times_in_a_batch,
            a_taken_id_changes_nothing,
            what_cannot_be_stored_changes_nothing,
            numbers_are_never_used_again,
            expired_documents_stay_until_compacting,
            an_expired_id_is_free,
            scanning_goes_page_by_page,
            only_what_is_wanted_is_read,
            many_documents_of_one_bucket,
            large_groups_are_verified,
            an_empty_index_answers,
            the_nearest_are_those_of_comparing_all,
            the_nearest_of_a_stored_document,
            the_nearest_by_estimates,
            the_nearest_of_many,
        );
    };
    ($fresh:expr, $is_there:expr; $($name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                if $is_there {
                    $crate::conformance::$name($fresh);
                }
            }
        )*
    };
}
pub(crate) use suite;

/// All fields of a record.
pub const ALL: RecordFields =
    RecordFields { signature: true, set: true, metadata: true, text: true };

/// Returns every document of a snapshot, by ascending number.
pub fn everything(snapshot: &mut dyn Snapshot) -> Vec<IndexRecord> {
    let mut records = Vec::new();
    let count = snapshot.scan(DocumentNumber(0), usize::MAX, ALL, &mut |record| {
        records.push(record.clone());
        Ok(())
    });
    assert_eq!(count.unwrap(), records.len());
    assert!(records.windows(2).all(|pair| pair[0].number < pair[1].number));
    assert_eq!(snapshot.len(), records.len() as u64);
    assert_eq!(snapshot.is_empty(), records.is_empty());
    records
}

/// Returns every document of the current state.
pub fn now(backend: &dyn Backend) -> Vec<IndexRecord> {
    everything(&mut *backend.snapshot().unwrap())
}

/// Removes the document numbers, which differ between backends.
pub fn unnumbered(mut records: Vec<IndexRecord>) -> Vec<IndexRecord> {
    for record in &mut records {
        record.number = DocumentNumber(0);
    }
    records
}

/// Returns the ids of the existing documents among the candidates of these keys.
pub fn candidates(snapshot: &mut dyn Snapshot, keys: &[u64]) -> Vec<String> {
    // The backend must clear the buffer.
    let mut numbers = vec![DocumentNumber(7)];
    snapshot.candidates(keys, &mut numbers).unwrap();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "ascending, each once");
    let mut ids = Vec::new();
    let give = &mut |record: &IndexRecord| {
        ids.push(record.id.clone());
        Ok(())
    };
    snapshot.records(&numbers, RecordFields::default(), give).unwrap();
    ids
}

/// Checks that the index has no problem.
pub fn assert_clean(backend: &dyn Backend) {
    assert_eq!(backend.check().unwrap(), []);
}
