//! Matches documents with the most similar kept documents.

use crate::engine::{self, FindError, FindOptions, Findings, KeeperChoice};
use crate::progress::Progress;
use crate::read::Collection;

/// Compares documents with kept ones, which are the reference side of the collection, by the rule
/// of [`find`](crate::find()). A document that is similar to kept ones is a duplicate of the most
/// similar one. Among equally similar ones, the earliest in the keep order is selected. Documents
/// are not compared with each other. If pairs are listed, they are all verified pairs of a document
/// and a kept one.
///
/// Rounds of this function find the keepers of a component that does not fit in one place:
///
/// - The first documents in the keep order are decided as by [`CheckedDocuments`].
/// - Documents that are similar to one of the resulting keepers are dropped.
/// - The first of the remaining documents are next. They are similar to no earlier keeper, so they
///   are decided in the same way.
/// - Dropped documents are also compared with later keepers that precede them in the keep order.
///   Each becomes a duplicate of the most similar keeper. Among equally similar keepers, this is
///   the keeper of the earliest round.
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
