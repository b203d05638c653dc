//! Audits the findings of a run in memory, without writing and reading a report.

use super::neighbours::Neighbours;
use super::outcome::{Audit, JudgedBy};
use super::{AuditOptions, true_neighbours};
use crate::audit::error::AuditError;
use crate::engine::{FindError, FindOptions, Findings, Pairs};
use crate::progress::{Progress, Stage};
use crate::read::{Collection, ReadError};
use std::time::Duration;

/// Measures the recall of a run on a sample of its documents. Returns the audit with the times of
/// its stages. Ids are named as in the run, and the run's decisions apply.
///
/// # Errors
/// Errors of [`true_neighbours`], and [`AuditError::ChangedSinceRun`].
pub fn audit_findings(
    findings: &Findings,
    options: &FindOptions,
    open: impl Fn() -> Result<Collection, ReadError>,
    how: &AuditOptions,
    progress: &dyn Progress,
) -> Result<(Audit, Vec<(Stage, Duration)>), AuditError> {
    let decisions = options.decisions.clone();
    let how = AuditOptions { ids_by_file: findings.ids_by_file, decisions, ..how.clone() };
    let neighbours = true_neighbours(open, &options.params, &how, progress)?;
    progress.begin(Stage::Judge, None);
    // A list of only pairs with a reference document does not show which other pairs were found.
    let pairs = findings.pairs.as_ref().filter(|_| !options.reference_pairs);
    Ok((neighbours.judge_pairs_or_groups(findings, pairs)?, neighbours.times))
}

impl Neighbours {
    /// Compares the findings of a run with the neighbours: by the run's pairs if it lists them,
    /// otherwise by its groups. Reads the pairs or the groups once.
    ///
    /// # Errors
    /// [`AuditError::ChangedSinceRun`] if the neighbours come from other documents than the run,
    /// and errors of temporary files.
    pub fn judge_findings(&self, findings: &Findings) -> Result<Audit, AuditError> {
        self.judge_pairs_or_groups(findings, findings.pairs.as_ref())
    }

    fn judge_pairs_or_groups(
        &self,
        findings: &Findings,
        pairs: Option<&Pairs>,
    ) -> Result<Audit, AuditError> {
        let expected = findings.inputs;
        let got = self.inputs();
        if expected != got {
            return Err(AuditError::ChangedSinceRun { expected, got });
        }
        let Some(pairs) = pairs else {
            let mut judge = self.judge_by(JudgedBy::Groups);
            for group in findings.groups.iter() {
                for duplicate in &group.map_err(FindError::of_io)?.duplicates {
                    judge.duplicate(&duplicate.id);
                }
            }
            return Ok(judge.finish());
        };
        let mut judge = self.judge_by(JudgedBy::Pairs);
        for pair in pairs.iter() {
            let pair = pair.map_err(FindError::of_io)?;
            judge.pair(&pair.a, &pair.b);
        }
        Ok(judge.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AuditOptions, true_neighbours};
    use super::*;
    use crate::engine::{self, FindOptions};
    use crate::progress::NoProgress;
    use crate::read::{Collection, ReadOptions};
    use lookalike_core::params::{Params, ParamsBuilder};

    #[test]
    fn findings_require_the_same_input() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in.jsonl");
        let write = |ids: [&str; 3]| {
            let text = "one two three four five six seven eight nine ten eleven twelve";
            let line = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
            std::fs::write(&input, ids.map(line).concat()).unwrap();
        };
        let open = || {
            Ok::<_, AuditError>(Collection::open(
                std::slice::from_ref(&input),
                &ReadOptions::default(),
            )?)
        };
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let mut options = FindOptions::new(params.clone());
        let neighbours =
            || true_neighbours(open, &params, &AuditOptions::default(), &NoProgress).unwrap();
        write(["a", "b", "c"]);
        let before = neighbours();
        let groups = engine::run(&open().unwrap(), &options, &NoProgress).unwrap();
        let audit = before.judge_findings(&groups).unwrap();
        assert_eq!((audit.judged_by, audit.overall.found), (JudgedBy::Groups, 3));
        write(["a", "b", "d"]);
        let error = neighbours().judge_findings(&groups).unwrap_err().to_string();
        assert!(error.contains("the run read 3 documents, digest "), "{error}");
        write(["a", "b", "c"]);
        options.pairs = engine::PairList::Exact;
        let mut pairs = engine::run(&open().unwrap(), &options, &NoProgress).unwrap();
        let audit = before.judge_findings(&pairs).unwrap();
        assert_eq!((audit.judged_by, audit.overall.found), (JudgedBy::Pairs, 3));
        pairs.pairs = Some(engine::Pairs::default());
        assert_eq!(before.judge_findings(&pairs).unwrap().overall.found, 0);
    }
}
