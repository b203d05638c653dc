//! Documents and kept documents in; which of the kept each document resembles most out.

use crate::engine::{self, FindError, FindOptions, Findings, KeeperChoice};
use crate::progress::Progress;
use crate::read::Collection;

/// Compares documents with kept ones, which are the reference side of the collection, by the rule
/// of [`find`](crate::find()): a document that resembles kept ones is a duplicate of the most
/// similar of them, and of several of these of the earliest in the keep order. Documents are not
/// compared with each other. The pairs, where they are listed, are all verified pairs of a document
/// and a kept one.
///
/// The keepers of a component are found in rounds, without all of it in one place. The first
/// documents of it in the keep order decide about themselves, as [`CheckedDocuments`] does; those
/// that resemble a keeper of theirs are dropped; the first of the others are next. They resemble no
/// keeper before them, so they decide about themselves, too. Dropped documents are compared with
/// later keepers before them in the keep order, too: the best of all is theirs, and of equal
/// ones that of the earliest round.
///
/// [`CheckedDocuments`]: super::CheckedDocuments
///
/// # Errors
/// Errors of [`in_collection`](crate::find::in_collection).
pub fn match_kept(
    collection: &Collection,
    keepers: KeeperChoice,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Findings, FindError> {
    let options = FindOptions { keepers, related: false, ..options.clone() };
    engine::run(collection, &options, progress)
}
