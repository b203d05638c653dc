//! The files that `dedup` writes: kept documents, the list of removed ones, and skipped records.

use super::RunInputs;
use crate::dedup::{
    Annotate, AnnotationSubject, DedupError, Destination, Others, RemovedList, Survivors,
};
use crate::engine::Findings;
use crate::read::Collection;
use crate::report::csv::{self, CellRule};
use crate::report::{Output, OutputError, Target, check_places};
use std::path::{Path, PathBuf};

/// The files that `dedup` writes.
#[derive(Debug, Clone, Default)]
pub struct DedupOutputs {
    /// The kept documents, in the format of the input. `-` is standard output.
    pub survivors: Option<PathBuf>,
    /// The prefix of the names of annotations. If it is set, all documents are written.
    pub annotate: Option<String>,
    /// Whether a folder also gets copies of the files that are not documents.
    pub copies_others: bool,
    /// The list of removed documents.
    pub removed: Option<Target>,
    /// The list of skipped records and empty documents, a CSV file.
    pub skipped: Option<Target>,
    /// How values of CSV files are written.
    pub cells: CellRule,
}

impl DedupOutputs {
    /// The lists of removed documents and of skipped records.
    pub fn lists(&self) -> impl Iterator<Item = &Target> {
        self.removed.iter().chain(&self.skipped)
    }

    /// Checks that no output is an input or another output. `script` is a further output.
    pub(super) fn check_places(
        &self,
        script: Option<&Path>,
        inputs: &RunInputs,
    ) -> Result<(), DedupError> {
        let files = self.lists().map(Target::path).chain(script);
        let survivors = self.survivors.as_deref().filter(|path| *path != Path::new("-"));
        let [documents, reference] = inputs.paths();
        Ok(check_places(files, survivors, documents, reference).map_err(OutputError::Taken)?)
    }

    /// Writes the list of skipped records, if there is one.
    pub(super) fn finish_skipped(
        &self,
        output: Option<Output>,
        findings: &Findings,
    ) -> Result<(), DedupError> {
        let Some(output) = output else { return Ok(()) };
        let Findings { skipped, textless_copies, empty, .. } = findings;
        Ok(output.finish(|out| csv::skipped(out, skipped, textless_copies, empty, self.cells))?)
    }
}

/// The destination of kept documents, and the form in which they are written.
pub(super) struct OutputPlan {
    destination: Option<Destination>,
    annotate: Option<Annotate>,
    others: Option<Others>,
}

impl OutputPlan {
    /// Plans the outputs for a collection. Annotations are about `subject`.
    ///
    /// # Errors
    /// [`DedupError::Survivors`] if the output cannot hold the documents.
    pub(super) fn new(
        outputs: &DedupOutputs,
        inputs: &RunInputs,
        collection: &Collection,
        subject: AnnotationSubject,
    ) -> Result<Self, DedupError> {
        let annotate = outputs.annotate.clone().map(|field| Annotate { field, subject });
        let others = outputs.copies_others.then(|| Others {
            follow_links: inputs.reading.follow_links,
            leave_out: inputs.reading.leave_out.clone(),
        });
        let [documents, reference] = inputs.paths();
        let destination = match outputs.survivors.as_deref() {
            None => None,
            Some(path) if path == Path::new("-") => {
                Some(Destination::standard_output(collection, annotate.as_ref())?)
            }
            Some(path) => {
                let annotate = annotate.as_ref();
                Some(Destination::new(path, documents, reference, collection, annotate)?)
            }
        };
        Ok(Self { destination, annotate, others })
    }

    /// Checks whether passages can be cut from texts of this output.
    ///
    /// # Errors
    /// [`DedupError::Survivors`].
    pub(super) fn takes_passages(&self) -> Result<(), DedupError> {
        let takes = |destination: &Destination| destination.takes_passages(self.annotate.as_ref());
        self.destination.as_ref().map_or(Ok(()), takes)
    }

    pub(super) fn is_folder(&self) -> bool {
        self.destination.as_ref().is_some_and(Destination::is_folder)
    }

    /// Creates the files under temporary names. `list` creates the list of removed documents.
    /// With `lists_only`, the kept documents are not written.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub(super) fn create(
        &self,
        outputs: &DedupOutputs,
        lists_only: bool,
        list: impl Fn(&Target) -> Result<RemovedList, DedupError>,
    ) -> Result<DedupFiles, DedupError> {
        let mut survivors = None;
        if let Some(destination) = self.destination.as_ref().filter(|_| !lists_only) {
            let writer = Survivors::create(destination.clone(), self.annotate.clone())?;
            let writer = writer.with_cells(outputs.cells);
            survivors = Some(match &self.others {
                Some(others) => writer.with_others(others.clone()),
                None => writer,
            });
        }
        Ok(DedupFiles {
            survivors,
            removed: outputs.removed.as_ref().map(list).transpose()?,
            skipped: outputs.skipped.as_ref().map(Output::create).transpose()?,
        })
    }
}

/// The files under temporary names.
pub(super) struct DedupFiles {
    pub(super) survivors: Option<Survivors>,
    pub(super) removed: Option<RemovedList>,
    pub(super) skipped: Option<Output>,
}

impl DedupFiles {
    /// Checks whether the kept documents can be written.
    ///
    /// # Errors
    /// [`OutputError::Write`] and [`DedupError::Survivors`].
    pub(super) fn check_writable(self, collection: &Collection) -> Result<(), DedupError> {
        self.survivors.map_or(Ok(()), |survivors| survivors.check_writable(collection))
    }
}
