//! The use case `cut`: finds repeated passages, then writes documents without them.

use super::RunInputs;
use super::dedup_outputs::{DedupOutputs, OutputPlan};
use crate::dedup::{AnnotationSubject, DedupError, RemovedList, SurvivorCounts, apply_cuts};
use crate::engine::FindError;
use crate::passages::{CutOptions, PassageCuts, PassageOptions};
use crate::progress::Progress;
use crate::read::Collection;
use crate::report::Target;

/// A run of `cut`.
pub struct CutRequest {
    /// The documents, and the reference that is searched together with them.
    pub inputs: RunInputs,
    /// The options of the search.
    pub options: PassageOptions,
    /// The options of the cuts.
    pub cut: CutOptions,
    /// The files to write.
    pub outputs: DedupOutputs,
    /// Whether nothing is written, except the lists of removed passages and of skipped records.
    pub is_dry_run: bool,
}

/// A run whose inputs are open, and whose outputs are planned.
pub struct OpenCutRun {
    collection: Collection,
    options: PassageOptions,
    cut: CutOptions,
    outputs: DedupOutputs,
    plan: OutputPlan,
    is_dry_run: bool,
}

/// A run that has found the repeated passages, and has written nothing yet.
pub struct FoundCuts {
    collection: Collection,
    cuts: PassageCuts,
    outputs: DedupOutputs,
    plan: OutputPlan,
    is_dry_run: bool,
}

/// The result of `cut`.
pub struct CutOutcome {
    /// The removed words and documents.
    pub cuts: PassageCuts,
    /// The written documents, if there is an output.
    pub written: Option<SurvivorCounts>,
}

impl CutRequest {
    /// Opens the inputs, and checks whether passages can be cut from their texts.
    ///
    /// # Errors
    /// [`DedupError::Output`] if an output is an input or another output. [`DedupError::Find`] if
    /// an input cannot be opened. [`DedupError::Survivors`] if the output cannot hold these
    /// documents, is an input, or is in a format whose texts cannot be cut.
    pub fn open(self) -> Result<OpenCutRun, DedupError> {
        let Self { inputs, options, cut, outputs, is_dry_run } = self;
        outputs.check_places(None, &inputs)?;
        let (mut inputs, options) = inputs.for_passages(options);
        inputs.leave_out(outputs.lists().map(|list| list.path().to_owned()));
        let collection = inputs.open().map_err(FindError::Read)?;
        let plan = OutputPlan::new(&outputs, &inputs, &collection, AnnotationSubject::Passages)?;
        plan.takes_passages()?;
        Ok(OpenCutRun { collection, options, cut, outputs, plan, is_dry_run })
    }
}

impl OpenCutRun {
    /// Checks whether the outputs can be written, and finds the cuts. Writes nothing.
    ///
    /// # Errors
    /// [`DedupError::Output`] and [`DedupError::Survivors`] before the search, and errors of
    /// [`PassageCuts::find`].
    pub fn find(self, progress: &dyn Progress) -> Result<FoundCuts, DedupError> {
        let Self { collection, options, cut, outputs, plan, is_dry_run } = self;
        let files = plan.create(&outputs, is_dry_run, |target| list(target, &outputs))?;
        files.check_writable(&collection)?;
        let cuts = PassageCuts::find(&collection, &options, &cut, progress)?;
        Ok(FoundCuts { collection, cuts, outputs, plan, is_dry_run })
    }
}

impl FoundCuts {
    /// Writes the outputs.
    ///
    /// # Errors
    /// Errors of [`apply_cuts`].
    pub fn write(self, progress: &dyn Progress) -> Result<CutOutcome, DedupError> {
        let Self { collection, cuts, outputs, plan, is_dry_run } = self;
        let files = plan.create(&outputs, is_dry_run, |target| list(target, &outputs))?;
        let mut written = None;
        let has_survivors = files.survivors.is_some();
        if has_survivors || files.removed.is_some() {
            let counts = apply_cuts(&cuts, &collection, files.survivors, files.removed, progress)?;
            written = has_survivors.then_some(counts);
        }
        outputs.finish_skipped(files.skipped, &cuts.run)?;
        Ok(CutOutcome { cuts, written })
    }
}

fn list(target: &Target, outputs: &DedupOutputs) -> Result<RemovedList, DedupError> {
    Ok(RemovedList::of_passages(target)?.with_cells(outputs.cells))
}
