//! What each person said about each pair, in memory: read from the log of the index before it is
//! compared.

use crate::problem::Problem;
use lookalike::decisions::{self, Agreements, JudgedPairs};
use lookalike::error::Error;
use lookalike::store::Index;
use parking_lot::Mutex;

/// The judgments of an index.
#[derive(Default)]
pub(crate) struct AgreementCache(Mutex<JudgedPairs>);

impl AgreementCache {
    /// Compares the judgments that the log has now. Only entries that are new since the last call
    /// are read.
    pub(crate) fn compared(
        &self,
        index: &Index,
        after: Option<&[String; 2]>,
        most: usize,
        problem: impl FnOnce(Error) -> Problem,
    ) -> Result<Agreements, Problem> {
        let mut judged = self.0.lock();
        let last = judged.last();
        let read = decisions::each_of_index(index, last, &mut |decision| judged.add(&decision));
        read.map_err(problem)?;
        Ok(judged.agreements(after, most))
    }
}
