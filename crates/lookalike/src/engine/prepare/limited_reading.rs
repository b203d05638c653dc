//! Reading under a limit on memory. An input with long records is measured and read again with
//! memory reserved for them, or refused with the least memory for the whole input.

use crate::engine::error::FindError;
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::input_measure::measured;
use crate::engine::prepare::long_records::{LongRecords, RecordCost};
use crate::progress::Progress;
use crate::read::{Collection, ReadError};

/// The budget of a run while its input is read.
pub(crate) struct LimitedReading<'a> {
    pub(crate) collection: &'a Collection,
    pub(crate) options: &'a FindOptions,
    pub(crate) cost: RecordCost,
    pub(crate) budget: Budget,
    pub(crate) progress: &'a dyn Progress,
}

impl LimitedReading<'_> {
    /// If the limit is too small for any input, returns an error with the least limit for this
    /// input.
    pub(crate) fn check(&self) -> Result<(), FindError> {
        if self.budget.check().is_ok() {
            return Ok(());
        }
        let is_stream = self.collection.stream().is_some();
        Self { budget: self.budget.reading_once(is_stream), cost: self.cost.clone(), ..*self }
            .measured()?
            .check()
    }

    /// Limits the length of records. `is_resumable` states that the run stores finished steps,
    /// which are not repeated.
    pub(crate) fn begin(&mut self, is_resumable: bool) {
        let is_read_once = is_resumable || self.collection.stream().is_some();
        self.budget = self.budget.reading_once(is_read_once);
        self.limit_records();
    }

    fn limit_records(&self) {
        if let Some(bytes) = self.budget.longest_record() {
            self.collection.limit_records(bytes);
        }
    }

    /// Calls `read` until its result fits in memory. If long records do not fit, reserves memory
    /// for them and reads the input again. Returns the result and the budget that is left after it.
    ///
    /// # Errors
    /// Errors of `read`, and [`FindError::MemoryTooSmall`] with the least limit for the whole
    /// input.
    pub(crate) fn read<T>(
        &mut self,
        mut read: impl FnMut(&Budget, Option<&LongRecords>) -> Result<T, FindError>,
    ) -> Result<(T, Budget), FindError> {
        loop {
            let records = self.records();
            match read(&self.budget, records.as_ref()) {
                Ok(found) => {
                    let budget = self.budget.reading_once(false);
                    let memory = records.map(|records| records.memory());
                    return Ok((
                        found,
                        memory.map_or(budget, |memory| budget.with_records(memory)),
                    ));
                }
                Err(error) => self.reserve(error)?,
            }
        }
    }

    /// Counts the long records of one reading, if memory is limited.
    pub(crate) fn records(&self) -> Option<LongRecords> {
        let is_limited = self.budget.is_limited();
        is_limited.then(|| self.budget.long_records(self.cost.clone()))
    }

    fn measured(&self) -> Result<Budget, FindError> {
        let records = self.budget.long_records(self.cost.clone());
        measured(self.collection, self.options, &self.budget, &records, self.progress)
    }

    /// After an error of reading, reserves memory for long records, so that the input can be read
    /// again.
    ///
    /// # Errors
    /// The error, or [`FindError::MemoryTooSmall`] with the least limit for the whole input.
    pub(crate) fn reserve(&mut self, error: FindError) -> Result<(), FindError> {
        if !matches!(
            error,
            FindError::MemoryTooSmall { .. } | FindError::Read(ReadError::OverMemory { .. })
        ) {
            return Err(error);
        }
        let measured = self.measured()?;
        measured.check()?;
        let reserving = self.budget.with_records_of(&measured);
        if self.budget.is_read_once() || reserving.has_records_of(&self.budget) {
            return Err(error);
        }
        self.budget = reserving;
        self.limit_records();
        self.collection.rewind();
        Ok(())
    }
}
