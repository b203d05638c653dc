//! `lookalike watch FOLDER --index INDEX`: adds new and changed files of a folder to an index, and
//! reports the documents that they resemble.
//!
//! ```text
//! system ─ folder_watch ─► lookalike::watch (PendingFiles, FolderIntake) ─► reports
//! ```

mod args;
mod feed;
mod folder_watch;
mod reports;
mod resemblance;
mod webhook;

use crate::cmd::error::{index_message, run_message};
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::index_place::{place, refuse_inputs_within};
use crate::output::terminal;
pub(crate) use args::WatchArgs;
use folder_watch::{FolderWatch, WatchMessage};
use lookalike::read::{ReadOptions, SkippedItem};
use lookalike::store::index::{Access, IndexLocation, open};
use lookalike::watch::{
    FileChange, FolderIntake, IntakeOutcome, PendingFiles, Resemblance, WatchOptions, is_recent,
};
use reports::Reports;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the command checks whether the folder exists.
const LOOK: Duration = Duration::from_secs(1);
/// How long the work waits if another process writes to the index.
const RETRY: Duration = Duration::from_secs(1);

/// Runs the command until a signal ends it.
pub(crate) fn run(args: &WatchArgs, worker: WorkerOption<'_>) -> CommandResult {
    let location = place(&args.index)?;
    refuse_inputs_within(&args.index, std::slice::from_ref(&args.folder))?;
    let mut watch = FolderWatch::new()?;
    let reports = Reports::new(&args.output, &args.folder)?;
    let mut options = ReadOptions { unit: args.unit.unit, ..args.reading.options(worker) };
    options.leave_out.extend(args.output.feed.clone());
    let intake = intake(args, location.clone(), options)?;
    open(&location, Access::Read)?;
    if !args.once {
        start(&mut watch, &args.folder)?;
    }
    let pending = PendingFiles::new(args.settle);
    let next_scan = None;
    let is_missing = false;
    let is_busy = false;
    WatchedFolder { args, watch, pending, intake, reports, next_scan, is_missing, is_busy }.run()
}

/// The intake of the folder that the command names.
fn intake(
    args: &WatchArgs,
    location: IndexLocation,
    reading: ReadOptions,
) -> Result<FolderIntake, CommandError> {
    let WatchArgs { threshold, top, wait, .. } = *args;
    let options = WatchOptions { threshold, top, wait };
    let name = args.folder.display();
    match FolderIntake::new(args.folder.clone(), location, reading, options) {
        Ok(Some(intake)) => Ok(intake),
        Ok(None) => Err(CommandError::Usage(format!("{name} is not a folder: name a folder"))),
        Err(error) => Err(CommandError::Data(format!("{name}: {error}; name a folder"))),
    }
}

fn start(watch: &mut FolderWatch, folder: &Path) -> Result<(), CommandError> {
    watch.watch(folder).map_err(|error| {
        let more = match error.kind {
            notify::ErrorKind::MaxFilesWatch => {
                "; it has more folders than the system watches for one user: raise \
                 fs.inotify.max_user_watches, or run with --once from time to time"
            }
            _ => "",
        };
        let name = folder.display();
        CommandError::Data(format!("{name} cannot be watched: {error}{more}"))
    })
}

/// A folder that is being watched.
struct WatchedFolder<'a> {
    args: &'a WatchArgs,
    watch: FolderWatch,
    pending: PendingFiles,
    intake: FolderIntake,
    reports: Reports,
    /// When a look at all files is due.
    next_scan: Option<Instant>,
    /// Whether the folder is missing.
    is_missing: bool,
    /// Whether another process writes to the index.
    is_busy: bool,
}

impl WatchedFolder<'_> {
    fn run(mut self) -> CommandResult {
        // Files that are still being written at the start are read after they settle.
        self.look(true)?;
        if self.args.once {
            while self.next_scan.is_some() || self.pending.next().is_some() {
                if self.wait() {
                    return self.end();
                }
                self.look_if_due()?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        self.message(&format!("watching {}; Ctrl-C ends it", self.args.folder.display()))?;
        while !self.wait() {
            self.look_if_due()?;
        }
        self.end()
    }

    fn end(&self) -> CommandResult {
        self.message("stopped")?;
        Ok(ExitCode::SUCCESS)
    }

    fn message(&self, message: &str) -> std::io::Result<()> {
        if self.args.output.quiet { Ok(()) } else { terminal::stderr().message(message) }
    }

    /// Waits for messages until the next look is due. Returns true if a signal asks the process to
    /// end.
    fn wait(&mut self) -> bool {
        let start = Instant::now();
        let due = [self.pending.next(), self.next_scan].into_iter().flatten();
        let mut until = due.fold(start + LOOK, Instant::min);
        // Receives all pending messages before files are read. A busy folder may send messages
        // without end, so the loop stops after `LOOK`.
        while let Some(message) = self.watch.next(until) {
            let now = Instant::now();
            match message {
                WatchMessage::Stop => return true,
                WatchMessage::Unknown => {
                    self.next_scan.get_or_insert(now + self.args.settle);
                }
                WatchMessage::Changed(path, change) => self.pending.note(&path, change, now),
            }
            if now > start + LOOK {
                break;
            }
            until = now;
        }
        false
    }

    fn look_if_due(&mut self) -> Result<(), CommandError> {
        if !self.args.once {
            self.look_at_folder()?;
        }
        let now = Instant::now();
        let is_due = self.next_scan.is_some_and(|at| at <= now);
        if (self.pending.settle(now) || is_due) && !self.is_missing {
            self.next_scan = None;
            self.look(false)?;
        }
        Ok(())
    }

    /// Notices that the folder is gone, is back, or was replaced.
    fn look_at_folder(&mut self) -> Result<(), CommandError> {
        let folder = &self.args.folder;
        match (self.intake.is_there(), self.is_missing) {
            (true, false) | (false, true) => Ok(()),
            (true, true) => {
                // The folder may disappear between the check and the start of the watch.
                if start(&mut self.watch, folder).is_err() {
                    return Ok(());
                }
                self.is_missing = false;
                self.next_scan = Some(Instant::now() + self.args.settle);
                Ok(terminal::stderr().message(&format!("{} is back", folder.display()))?)
            }
            (false, false) => {
                self.is_missing = true;
                self.watch.unwatch();
                let text = format!(
                    "{} is missing; waiting until it exists again. The index keeps the documents \
                     that were added",
                    folder.display()
                );
                Ok(terminal::stderr().message(&text)?)
            }
        }
    }

    /// Adds the new and changed files of the folder. In the first look, a file that changed within
    /// the time to settle may be unfinished.
    fn look(&mut self, is_first: bool) -> Result<(), CommandError> {
        let now = Instant::now();
        let Some(changed) = self.intake.changed()? else {
            if is_first {
                let name = self.args.folder.display();
                return Err(CommandError::Data(format!("{name}: the folder does not exist")));
            }
            return Ok(());
        };
        for (path, stamp) in changed.iter().filter(|_| is_first) {
            if is_recent(*stamp, self.args.settle) {
                self.pending.note(path, FileChange::Named, now);
            } else {
                self.pending.trust(path);
            }
        }
        let mut is_ready = self.pending.ready(&changed, now).into_iter();
        let all = changed.len();
        let ready: Vec<_> = changed.into_iter().filter(|_| is_ready.next() == Some(true)).collect();
        if ready.len() < all {
            self.next_scan = Some(now + self.args.settle);
        }
        match self.intake.add(&ready)? {
            IntakeOutcome::Busy(error) => {
                if !self.is_busy {
                    self.message(&format!("{}; trying again", index_message(&error)))?;
                }
                self.is_busy = true;
                self.next_scan = Some(Instant::now() + RETRY);
            }
            IntakeOutcome::Again { found, skipped, error } => {
                if let Some(error) = error {
                    let message = run_message(&error.into());
                    terminal::stderr().message(&format!("{message}; trying again"))?;
                }
                self.next_scan = Some(Instant::now() + RETRY);
                self.report(&found, &skipped)?;
            }
            IntakeOutcome::Done { found, skipped } => {
                self.is_busy = false;
                self.report(&found, &skipped)?;
            }
        }
        Ok(())
    }

    fn report(
        &mut self,
        found: &[Resemblance],
        skipped: &[SkippedItem],
    ) -> Result<(), CommandError> {
        let Self { reports, watch, .. } = self;
        reports.report(found, skipped, &mut |wait| watch.pause(Instant::now() + wait))
    }
}
