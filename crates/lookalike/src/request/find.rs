//! `find`: inputs and options → findings.

use super::RunInputs;
use crate::audit::{Audit, AuditError, AuditOptions, audit_findings};
use crate::engine::{FindError, FindOptions, Findings};
use crate::find::in_collection;
use crate::progress::Progress;
use crate::read::Collection;
use crate::tune::choose_bands;
use lookalike_core::params::ParamsBuilder;

/// A run of `find`.
pub struct FindRequest {
    pub(super) inputs: RunInputs,
    pub(super) options: FindOptions,
    auto_bands: Option<ParamsBuilder>,
}

/// A run whose inputs are open.
pub struct OpenedFind {
    pub(super) request: FindRequest,
    pub(super) collection: Collection,
}

/// The result of a run, with the inputs and the options that it used.
pub struct FindOutcome {
    /// Groups, pairs and counts.
    pub findings: Findings,
    /// The options, with bands and rows that were chosen for the documents.
    pub options: FindOptions,
    pub(super) collection: Collection,
    pub(super) inputs: RunInputs,
}

impl FindRequest {
    /// Finds the near-duplicates of `inputs`. With `auto_bands`, the run chooses bands and rows
    /// with this builder and a sample of the documents. `inputs.reading.skip_bad` also decides
    /// whether repeated ids are skipped.
    pub fn new(
        inputs: RunInputs,
        mut options: FindOptions,
        auto_bands: Option<ParamsBuilder>,
    ) -> Self {
        options.skip_repeated_ids = inputs.reading.skip_bad;
        let inputs = inputs.for_find(&options);
        Self { inputs, options, auto_bands }
    }

    /// Opens the inputs.
    ///
    /// # Errors
    /// [`FindError::Read`] if an input cannot be opened.
    pub fn open(self) -> Result<OpenedFind, FindError> {
        Ok(OpenedFind { collection: self.inputs.open().map_err(FindError::Read)?, request: self })
    }
}

impl OpenedFind {
    /// Runs all stages.
    ///
    /// # Errors
    /// Errors of [`in_collection`] and, with chosen bands, of [`choose_bands`].
    pub fn run(self, progress: &dyn Progress) -> Result<FindOutcome, FindError> {
        let Self { request: FindRequest { inputs, mut options, auto_bands }, collection } = self;
        options.resolve_keep(&collection);
        if let Some(builder) = auto_bands {
            let chosen = choose_bands(&inputs.open()?, &builder, progress)?;
            progress.chose_bands(&chosen.params, chosen.documents);
            options.params = chosen.params;
            options.bands_sample = Some(chosen.documents);
        }
        let findings = in_collection(&collection, &options, progress)?;
        Ok(FindOutcome { findings, options, collection, inputs })
    }
}

impl FindOutcome {
    /// The findings, the collection that they are about, and the options.
    pub fn run(&self) -> (&Findings, &Collection, &FindOptions) {
        (&self.findings, &self.collection, &self.options)
    }

    /// The size of the inputs in bytes. If it is unknown, as for streams, the number of bytes that
    /// were read.
    pub fn bytes(&self) -> Option<u64> {
        let collection = &self.collection;
        collection.bytes().or_else(|| Some(collection.bytes_read()).filter(|bytes| *bytes > 0))
    }

    /// Measures the recall of the run on a sample, and adds the times of the audit to the run.
    ///
    /// # Errors
    /// Errors of [`audit_findings`].
    pub fn audit(
        &mut self,
        how: &AuditOptions,
        progress: &dyn Progress,
    ) -> Result<Audit, AuditError> {
        let Self { findings, options, inputs, .. } = self;
        let (audit, times) = audit_findings(findings, options, || inputs.open(), how, progress)?;
        findings.times.extend(times);
        Ok(audit)
    }
}
