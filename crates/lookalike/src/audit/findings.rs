//! A run's own findings in, its audit out: no report has to be written and read for that.

use super::error::AuditError;
use super::neighbours::Neighbours;
use super::outcome::{Audit, JudgedBy};
use crate::error::Error;
use crate::run::Findings;

impl Neighbours {
    /// Holds a run that is still at hand against them: by its pairs where it lists them, else by
    /// its groups. Reads each once.
    ///
    /// # Errors
    /// [`AuditError::ChangedSinceRun`] when these are neighbours in other documents than those of
    /// the run, and those of temporary files.
    pub fn judge_findings(&self, findings: &Findings) -> Result<Audit, Error> {
        let (expected, got) = (findings.inputs, self.inputs());
        if expected != got {
            return Err(AuditError::ChangedSinceRun { expected, got }.into());
        }
        let Some(pairs) = &findings.pairs else {
            let mut judge = self.judge_by(JudgedBy::Groups);
            for group in findings.groups.iter() {
                for duplicate in &group.map_err(Error::of_io)?.duplicates {
                    judge.duplicate(&duplicate.id);
                }
            }
            return Ok(judge.finish());
        };
        let mut judge = self.judge_by(JudgedBy::Pairs);
        for pair in pairs.iter() {
            let pair = pair.map_err(Error::of_io)?;
            judge.pair(&pair.a, &pair.b);
        }
        Ok(judge.finish())
    }
}
