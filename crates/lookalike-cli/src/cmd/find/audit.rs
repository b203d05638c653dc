//! `find --audit N`: findings and their inputs once more in, what an audit measured out.

use crate::cmd::CommandError;
use crate::cmd::audit::{positive, refuse_confidence};
use lookalike::audit::{Audit, AuditOptions, CONFIDENCE, true_neighbours};
use lookalike::find::{FindOptions, Findings};
use lookalike::progress::{Interruption, Progress, Stage};
use lookalike::read::{Collection, ReadError, refuse_streams};
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// How the run is audited, if it is.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct AuditSampleArgs {
    /// Measure the recall of this run on N documents drawn at random, such as 2000; reads the
    /// inputs twice more
    #[arg(long, value_name = "N", value_parser = positive)]
    audit: Option<NonZeroUsize>,

    /// Random seed of the sample; the same seed draws the same documents
    #[arg(long, value_name = "N", default_value_t = 1, requires = "audit")]
    audit_seed: u64,

    /// Confidence level of the audit's intervals: above 0, below 1
    #[arg(long, value_name = "SHARE", default_value_t = CONFIDENCE, requires = "audit")]
    #[arg(allow_negative_numbers = true)]
    confidence: f64,
}

impl AuditSampleArgs {
    /// What cannot be audited is reported before the work.
    pub(super) fn refuse<'a>(
        &self,
        inputs: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<(), CommandError> {
        if self.audit.is_none() {
            return Ok(());
        }
        refuse_confidence(self.confidence)?;
        Ok(refuse_streams(inputs, "an audit")?)
    }

    /// Audits the run, if that is wanted, and adds the times of that.
    pub(super) fn measure(
        &self,
        findings: &mut Findings,
        options: &FindOptions,
        open: impl Fn() -> Result<Collection, ReadError>,
        progress: &dyn Progress,
    ) -> Result<Option<Audit>, CommandError> {
        let Some(sample) = self.audit else { return Ok(None) };
        let how = AuditOptions {
            sample,
            seed: self.audit_seed,
            confidence: self.confidence,
            threads: options.threads,
            kernel: options.kernel,
            ids_by_file: findings.ids_by_file,
            decisions: options.decisions.clone(),
        };
        let clock = Clock { progress, times: Mutex::default() };
        let neighbours = true_neighbours(open, &options.params, &how, &clock)?;
        let audit = neighbours.judge_findings(findings)?;
        findings.times.extend(clock.times.into_inner());
        Ok(Some(audit))
    }
}

/// Notes how long each stage takes.
struct Clock<'a> {
    progress: &'a dyn Progress,
    times: Mutex<Vec<(Stage, Duration)>>,
}

impl Progress for Clock<'_> {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        self.progress.begin(stage, total);
    }

    fn advance(&self, done: u64) -> Result<(), Interruption> {
        self.progress.advance(done)
    }

    fn end(&self, stage: Stage, elapsed: Duration) {
        self.times.lock().push((stage, elapsed));
        self.progress.end(stage, elapsed);
    }
}
