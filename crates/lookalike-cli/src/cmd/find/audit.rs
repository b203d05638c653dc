//! The options of `find --audit N`.

use crate::cmd::CommandError;
use crate::cmd::audit::{positive, refuse_confidence};
use lookalike::audit::{Audit, AuditError, AuditOptions, CONFIDENCE};
use lookalike::progress::Progress;
use lookalike::read::refuse_streams;
use lookalike::request::FindOutcome;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// How the run is audited, if it is.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct AuditSampleArgs {
    /// Measure the recall of this run on N random documents, such as 2000; reads the inputs twice
    /// more
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
    /// Rejects an audit that is not possible, before the run starts.
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

    /// Audits the run if `--audit` requests it.
    pub(super) fn measure(
        &self,
        outcome: &mut FindOutcome,
        progress: &dyn Progress,
    ) -> Result<Option<Audit>, AuditError> {
        let Some(sample) = self.audit else { return Ok(None) };
        let options = AuditOptions {
            sample,
            seed: self.audit_seed,
            confidence: self.confidence,
            threads: outcome.options.threads,
            kernel: outcome.options.kernel,
            ..AuditOptions::default()
        };
        outcome.audit(&options, progress).map(Some)
    }
}
