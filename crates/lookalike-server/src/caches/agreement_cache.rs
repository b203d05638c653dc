//! The judgments of each person about each pair, in memory. They are read from the log of the index
//! before they are compared.

use crate::http::problem::{Code, Problem};
use lookalike::decisions::{self, Agreements, JudgedPairs};
use lookalike::store::Index;
use parking_lot::Mutex;

/// The most people who are compared, each with each other.
const PEOPLE: usize = 100;

/// The judgments of an index.
pub(crate) struct AgreementCache {
    judged: Mutex<JudgedPairs>,
    /// The most memory of the judgments.
    most: u64,
}

impl AgreementCache {
    pub(crate) fn new(most: u64) -> Self {
        Self { judged: Mutex::default(), most }
    }

    /// Compares the judgments that the log has now. Only entries that are new since the last call
    /// are read.
    pub(crate) fn compared(
        &self,
        index: &Index,
        after: Option<&[String; 2]>,
        most: usize,
    ) -> Result<Agreements, Problem> {
        let mut judged = self.judged.lock();
        let last = judged.last();
        let mut is_too_much = false;
        let read = decisions::each_of_index(index, last, &mut |decision| {
            if !is_too_much {
                judged.add(&decision);
                is_too_much = judged.memory() > self.most || judged.people() > PEOPLE;
            }
        });
        if is_too_much {
            *judged = JudgedPairs::default();
            let detail = format!(
                "the judgments take more than {} bytes of memory (an eighth of --max-held), or \
                 more than {PEOPLE} people made them: start the server with a greater --max-held, \
                 or count them in GET /v1/review/decisions",
                self.most
            );
            return Err(Problem::new(Code::ANSWER_TOO_LARGE, detail));
        }
        read?;
        Ok(judged.agreements(after, most))
    }
}
