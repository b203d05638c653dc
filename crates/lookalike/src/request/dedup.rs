//! The use case `dedup`: finds duplicates, then writes outputs and acts on files.

use super::dedup_outputs::{DedupFiles, DedupOutputs, OutputPlan};
use super::{FindOutcome, FindRequest, OpenedFind};
use crate::dedup::actions::{
    ActionCounts, DuplicateFiles, LinkKind, UndoScript, check_folder, link, move_to, without_files,
    write_script,
};
use crate::dedup::{
    AnnotationSubject, DedupError, RemovedList, SurvivorCounts, add_survivors, apply, find_files,
};
use crate::engine::{FindError, FindOptions, Findings};
use crate::index::{AddCounts, AddOptions, time};
use crate::progress::Progress;
use crate::read::Collection;
use crate::report::Target;
use lookalike_core::params::Measure;
use lookalike_index::Index;
use std::path::{Path, PathBuf};

/// An action on files that are duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAction {
    /// Moves them to a folder.
    MoveTo(PathBuf),
    /// Replaces them by links to their keepers.
    Link(LinkKind),
}

/// A run of `dedup`.
pub struct DedupRequest {
    /// The search for duplicates.
    pub find: FindRequest,
    /// The files to write.
    pub outputs: DedupOutputs,
    /// The action on files that are duplicates.
    pub action: Option<FileAction>,
    /// A shell script to write, which removes the files that are duplicates.
    pub script: Option<PathBuf>,
    /// The folder for a script that undoes moves and hard links. `None` writes no such script.
    pub undo_folder: Option<PathBuf>,
    /// Whether nothing is moved, linked or written, except the lists of removed documents and of
    /// skipped records.
    pub is_dry_run: bool,
}

/// A run of `dedup` whose inputs are open, and whose outputs are planned.
pub struct OpenedDedup {
    find: OpenedFind,
    effects: DedupEffects,
}

/// A run of `dedup` that has found the duplicates, and has written nothing yet.
pub struct FoundDedup {
    find: FindOutcome,
    effects: DedupEffects,
}

/// The outputs and actions of a run.
struct DedupEffects {
    outputs: DedupOutputs,
    plan: OutputPlan,
    action: Option<FileAction>,
    script: Option<PathBuf>,
    undo_folder: Option<PathBuf>,
    is_dry_run: bool,
}

impl DedupEffects {
    /// Creates the files under temporary names. In a dry run, creates only the lists.
    fn files(&self, measure: Measure) -> Result<DedupFiles, DedupError> {
        let cells = self.outputs.cells;
        let list = |target: &Target| Ok(RemovedList::create(target, measure)?.with_cells(cells));
        self.plan.create(&self.outputs, self.is_dry_run, list)
    }
}

/// The duplicate files, and the result of the action.
pub struct FileOutcome {
    /// The files.
    pub found: DuplicateFiles,
    /// The result of the action, if there is one.
    pub acted: Option<ActionCounts>,
    /// The script that undoes the action, if files were moved or linked.
    pub undo: Option<PathBuf>,
}

/// The result of `dedup`.
pub struct DedupOutcome {
    /// The result of the search.
    pub find: FindOutcome,
    /// The written documents, if there is an output.
    pub written: Option<SurvivorCounts>,
    /// Whether the output is a folder.
    pub is_folder: bool,
    /// The counts of documents that were added to the index.
    pub added: Option<AddCounts>,
    /// The duplicate files, if there is an action or a script.
    pub files: Option<FileOutcome>,
}

impl DedupRequest {
    /// Opens the inputs, and checks whether outputs and actions are possible for them.
    ///
    /// # Errors
    /// [`DedupError::Output`] if an output is an input or another output. [`DedupError::Find`] if
    /// an input cannot be opened. [`DedupError::Survivors`] if the output cannot hold these
    /// documents or is in an input. [`DedupError::NotFiles`] if an action is on records.
    pub fn open(mut self) -> Result<OpenedDedup, DedupError> {
        self.outputs.check_places(self.script.as_deref(), &self.find.inputs)?;
        self.find.options.related |= self.outputs.annotate.is_some();
        let own = self.outputs.lists().map(Target::path).chain(self.script.as_deref());
        self.find.inputs.leave_out(own.map(Path::to_owned));
        let find = self.find.open()?;
        let [documents, reference] = find.request.inputs.paths();
        if (self.action.is_some() || self.script.is_some())
            && let Some(source_name) = without_files(&find.collection)
        {
            return Err(DedupError::NotFiles { source_name });
        }
        if let Some(FileAction::MoveTo(folder)) = &self.action {
            check_folder(folder, documents, reference)?;
        }
        let subject = AnnotationSubject::Groups(find.request.options.params.measure());
        let plan = OutputPlan::new(&self.outputs, &find.request.inputs, &find.collection, subject)?;
        let Self { outputs, action, script, undo_folder, is_dry_run, .. } = self;
        Ok(OpenedDedup {
            find,
            effects: DedupEffects { outputs, plan, action, script, undo_folder, is_dry_run },
        })
    }
}

impl OpenedDedup {
    /// Checks whether the outputs can be written, and finds the duplicates. Writes nothing.
    ///
    /// # Errors
    /// [`DedupError::Output`] and [`DedupError::Survivors`] before the search, and errors of
    /// [`OpenedFind::run`].
    pub fn find(self, progress: &dyn Progress) -> Result<FoundDedup, DedupError> {
        let Self { find, effects } = self;
        let files = effects.files(find.request.options.params.measure())?;
        files.check_writable(&find.collection)?;
        Ok(FoundDedup { find: find.run(progress)?, effects })
    }
}

impl FoundDedup {
    /// Writes the outputs, adds the kept documents to the index `add_to`, and acts on files. The
    /// index is one of the reference inputs.
    ///
    /// # Errors
    /// Errors of [`apply`], [`find_files`], [`add_survivors`] and of the actions. An output appears
    /// complete under its name, or not at all.
    pub fn write(
        self,
        add_to: Option<&Index>,
        progress: &dyn Progress,
    ) -> Result<DedupOutcome, DedupError> {
        let Self { find, effects } = self;
        let FindOutcome { findings, options, collection, inputs } = &find;
        let measure = options.params.measure();
        let mut written = None;
        // Without survivors, the pass that collects files also lists the removed documents.
        let mut removed = None;
        let lists = effects.files(measure)?;
        if let Some(survivors) = lists.survivors {
            let removed = lists.removed;
            written = Some(apply(findings, collection, options, survivors, removed, progress)?);
        } else {
            removed = lists.removed;
        }
        effects.outputs.finish_skipped(lists.skipped, findings)?;
        let run = (findings, collection, options);
        let add_to = add_to.filter(|_| !effects.is_dry_run);
        let added = add_to.map(|index| add_kept(run, index, progress)).transpose()?;
        let DedupEffects { plan, action, script, undo_folder, is_dry_run, .. } = effects;
        let mut files = None;
        if action.is_some() || script.is_some() || removed.is_some() {
            let found = find_files(findings, collection, options, removed, progress)?;
            if let Some(path) = script.as_deref().filter(|_| !is_dry_run) {
                write_script(&found, path, measure)?;
            }
            let [documents, reference] = inputs.paths();
            let mut undo = undo_folder.as_deref().map(UndoScript::in_folder);
            let log = undo.as_mut();
            let acted = match &action {
                Some(FileAction::MoveTo(folder)) => {
                    Some(move_to(&found, folder, documents, reference, is_dry_run, log)?)
                }
                Some(FileAction::Link(kind)) => Some(link(&found, *kind, is_dry_run, log)),
                None => None,
            };
            let undo = undo.and_then(UndoScript::into_path);
            files = Some(FileOutcome { found, acted, undo });
        }
        Ok(DedupOutcome { find, written, is_folder: plan.is_folder(), added, files })
    }
}

/// Adds the kept documents of a run to an index, and records its duplicates.
///
/// # Errors
/// Errors of [`add_survivors`].
pub fn add_kept(
    (findings, collection, options): (&Findings, &Collection, &FindOptions),
    index: &Index,
    progress: &dyn Progress,
) -> Result<AddCounts, FindError> {
    let add = AddOptions { threads: options.threads, ..AddOptions::new(time::now()) };
    add_survivors(findings, collection, options, (index, &add), progress)
}

impl DedupOutcome {
    /// The counts of kept and removed documents in the output. Without an output, the counts that
    /// an output would have.
    pub fn counts(&self) -> SurvivorCounts {
        self.written.clone().unwrap_or_else(|| SurvivorCounts::of(&self.find.findings))
    }
}
