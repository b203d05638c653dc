//! The output files of a run: groups, pairs, skipped records and reports.
//!
//! Before a run begins, the command checks all names. It also creates a temporary file for each
//! output, to test whether the output can be written.

use super::args::FindOutputArgs;
use crate::cmd::CommandError;
use crate::output::written_files::WrittenFiles;
use crate::termination;
use lookalike::report::csv::CellRule;
use lookalike::report::run_page::RunSubject;
use lookalike::report::{self, Output, OutputError, OutputFormat, OutputKind, Target};
use std::path::{Path, PathBuf};

/// The requested files.
pub(in crate::cmd) struct FindTargets {
    targets: Vec<(OutputKind, Target)>,
    cells: CellRule,
    /// Notes for the summary: which files existed before the run, and which are in an input folder.
    pub(in crate::cmd) written: WrittenFiles,
}

impl FindTargets {
    /// Collects the requested files. Refuses a file whose extension is not a format of its output.
    pub(in crate::cmd) fn new(args: &FindOutputArgs) -> Result<Self, CommandError> {
        let single = [
            ("--output", OutputKind::Groups, &args.output),
            ("--pairs", OutputKind::Pairs, &args.pairs),
            ("--skipped", OutputKind::Skipped, &args.skipped),
        ];
        let single =
            single.into_iter().filter_map(|(o, kind, path)| Some((o, kind, path.as_ref()?)));
        let reports =
            args.whole_run.report.iter().map(|path| ("--report", OutputKind::Report, path));
        let target = |(option, kind, path): (&str, OutputKind, &PathBuf)| {
            let target = Target::new(path, kind.formats());
            let target = target.map_err(|error| CommandError::Usage(format!("{option}: {error}")));
            Ok((kind, target?))
        };
        let targets = single.chain(reports).map(target).collect::<Result<_, CommandError>>()?;
        Ok(Self { targets, cells: args.csv.cells(), written: WrittenFiles::default() })
    }

    /// Returns the names of all files.
    pub(in crate::cmd) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.targets.iter().map(|(_, target)| target.path())
    }

    /// Returns true if one of the files is an HTML page.
    pub(in crate::cmd) fn has_page(&self) -> bool {
        self.targets.iter().any(|(_, target)| target.format() == OutputFormat::Html)
    }

    /// Refuses two outputs with the same path, and outputs that are inputs or reference inputs.
    pub(in crate::cmd) fn refuse_taken(
        &self,
        inputs: &[PathBuf],
        reference: &[PathBuf],
    ) -> Result<(), CommandError> {
        report::check_places(self.paths(), None, inputs, reference)
            .map_err(|error| CommandError::Usage(error.to_string()))
    }

    /// Removes temporary files of earlier runs, and checks that all files can be written. The
    /// command calls this before the run, so that an unwritable file does not waste the work.
    pub(in crate::cmd) fn check_writable(
        &mut self,
        inputs: &[PathBuf],
    ) -> Result<(), CommandError> {
        termination::clean_up(self.paths())?;
        self.written = WrittenFiles::new(self.paths(), inputs);
        let outputs = self.targets.iter().map(|(_, target)| Output::create(target));
        outputs.collect::<Result<Vec<_>, OutputError>>()?;
        Ok(())
    }

    /// Writes all files except reports. A file gets its final name when it is complete.
    pub(in crate::cmd) fn write_results(
        &self,
        subject: &RunSubject<'_>,
    ) -> Result<(), CommandError> {
        self.write(subject, |kind| kind != OutputKind::Report)
    }

    /// Writes the reports. A file gets its final name when it is complete.
    pub(in crate::cmd) fn write_reports(
        &self,
        subject: &RunSubject<'_>,
    ) -> Result<(), CommandError> {
        self.write(subject, |kind| kind == OutputKind::Report)
    }

    fn write(
        &self,
        subject: &RunSubject<'_>,
        is_wanted: impl Fn(OutputKind) -> bool,
    ) -> Result<(), CommandError> {
        let wanted = self.targets.iter().filter(|(kind, _)| is_wanted(*kind));
        let outputs = wanted.map(|(kind, target)| Ok((*kind, target, Output::create(target)?)));
        for (kind, target, output) in outputs.collect::<Result<Vec<_>, OutputError>>()? {
            kind.write(output, target.format(), subject, self.cells)?;
        }
        Ok(())
    }
}
