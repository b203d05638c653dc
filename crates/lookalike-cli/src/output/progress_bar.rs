//! The progress of a run, on standard error if that is a terminal.

use crate::output::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lookalike::core::curve::Choice;
use lookalike::core::params::Params;
use lookalike::progress::{Interruption, Progress, Stage, Warning};
use lookalike::report::phrases::{self, RemedySpelling, count, thousands};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a bar is drawn.
const EVERY: Duration = Duration::from_millis(100);
/// Runs that end sooner show no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// One bar that serves all stages, one after the other. Dropping it clears the bar.
pub(crate) struct StageBar {
    inner: ProgressBar,
    start: Instant,
    is_visible: AtomicBool,
    warned: AtomicBool,
    /// Whether it shows nothing and prints no warning.
    is_quiet: bool,
    /// Whether the documents are in an index, whose bands cannot change.
    is_of_index: bool,
}

impl StageBar {
    /// Creates a bar that shows nothing yet. It never shows anything if `is_quiet`, or if standard
    /// error is not a terminal.
    pub(crate) fn new(is_quiet: bool) -> Self {
        Self {
            inner: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            start: Instant::now(),
            is_visible: AtomicBool::new(false),
            warned: AtomicBool::new(false),
            is_quiet,
            is_of_index: false,
        }
    }

    /// Like [`new`](Self::new), for the groups of an index.
    pub(crate) fn of_index(is_quiet: bool) -> Self {
        let mut bar = Self::new(is_quiet);
        bar.is_of_index = true;
        bar
    }

    fn show(&self) {
        if !self.is_visible.swap(true, Ordering::Relaxed) {
            self.inner.set_draw_target(ProgressDrawTarget::stderr());
            self.inner.enable_steady_tick(EVERY);
        }
    }
}

impl Drop for StageBar {
    fn drop(&mut self) {
        self.inner.finish_and_clear();
    }
}

fn style(stage: Stage, known: bool) -> ProgressStyle {
    let template = match (stage, known) {
        (Stage::Prepare | Stage::Add | Stage::Draw | Stage::Search | Stage::Scan, true) => {
            "{msg:16} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"
        }
        (
            Stage::Prepare
            | Stage::Add
            | Stage::Draw
            | Stage::Search
            | Stage::ReadBenchmark
            | Stage::Scan,
            false,
        ) => "{msg:16} {spinner} {bytes}, {bytes_per_sec}",
        (_, true) => "{msg:16} {wide_bar} {human_pos} of {human_len}, {eta} left",
        (_, false) => "{msg:16} {spinner} {human_pos}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for StageBar {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        // Each of these calls may draw, so the style shows no numbers until all numbers are set.
        self.inner.set_style(ProgressStyle::default_spinner());
        self.inner.set_message(stage.to_string());
        self.inner.set_position(0);
        match total {
            Some(total) => self.inner.set_length(total),
            None => self.inner.unset_length(),
        }
        self.inner.set_style(style(stage, total.is_some()));
        self.inner.reset();
    }

    fn advance(&self, count: u64) -> Result<(), Interruption> {
        self.inner.inc(count);
        if !self.is_quiet && self.start.elapsed() > PATIENCE {
            self.show();
        }
        Ok(())
    }

    fn end(&self, _: Stage, _: Duration) {}

    fn chose_bands(&self, params: &Params, documents: usize) {
        if !self.is_quiet {
            let flags = setting(&Choice {
                num_hashes: params.num_hashes(),
                bands: params.bands(),
                rows: params.rows(),
            });
            let documents = thousands(documents as u64);
            let text = format!("bands chosen for {documents} documents drawn: {flags}");
            self.inner.suspend(|| drop(terminal::stderr().message(&text)));
        }
    }

    fn resumed(&self, stage: Stage, documents: u64) {
        if !self.is_quiet {
            let documents = count(documents, "document");
            let text = format!("resumed in the stage \"{stage}\": {documents} were read before");
            self.inner.suspend(|| drop(terminal::stderr().message(&text)));
        }
    }

    /// Prints the first warning.
    fn warn(&self, warning: &Warning) {
        if !self.is_quiet && !self.warned.swap(true, Ordering::Relaxed) {
            let Warning::ExcessCandidates(excess) = warning;
            let text = phrases::excess_candidates(excess, &SPELLING, self.is_of_index);
            // A failure to print has nowhere to be reported.
            let print = || drop(terminal::stderr().message(&format!("warning: {text}")));
            self.inner.suspend(print);
        }
    }
}

const SPELLING: RemedySpelling =
    RemedySpelling { setting, auto: "--bands auto", tune: "`lookalike tune`" };

fn setting(choice: &Choice) -> String {
    let Choice { num_hashes, bands, rows } = choice;
    format!("--num-hashes {num_hashes} --bands {bands} --rows {rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_can_be_read() {
        for stage in [Stage::Prepare, Stage::Bucket, Stage::Decide] {
            for known in [false, true] {
                let drawn = format!("{:?}", style(stage, known).get_tick_str(0));
                assert!(!drawn.is_empty());
            }
        }
        let bar = StageBar::new(false);
        bar.begin(Stage::Prepare, None);
        assert_eq!(bar.advance(3), Ok(()));
        bar.end(Stage::Prepare, EVERY);
        bar.begin(Stage::Decide, Some(7));
        assert_eq!((bar.inner.position(), bar.inner.length()), (0, Some(7)));
    }
}
