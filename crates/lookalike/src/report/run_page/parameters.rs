//! The parameters of a run, each with its effect.

use super::subject::RunSubject;
use crate::audit::JudgedBy;
use crate::engine::{FindOptions, Grouping};
use crate::read::Normalization;
use crate::report::html::PageParameter;
use lookalike_core::params::{Case, Measure, Params, ShingleRule, StopWords, Unit};
use lookalike_index::index::IndexLocation;
use std::path::{Path, PathBuf};

fn row(name: &'static str, value: &impl ToString, meaning: impl Into<String>) -> PageParameter {
    PageParameter { name, value: value.to_string(), meaning: meaning.into() }
}

/// Returns the parameters that affect the results, the parameters of the audit, and the digest of
/// the inputs. Leaves out threads and memory.
pub(super) fn rows(subject: &RunSubject<'_>) -> Vec<PageParameter> {
    let RunSubject { findings, options, reference, audit, .. } = *subject;
    let params = &options.params;
    let mut rows = similar(params);
    if findings.normalization != Normalization::default() {
        rows.push(row(
            "texts",
            &findings.normalization,
            "How texts are changed before they are compared",
        ));
    }
    rows.extend(found(params));
    rows.extend(kept(options, reference));
    if let Some(audit) = audit {
        let found = match audit.judged_by {
            JudgedBy::Pairs => "it is among the pairs of this run",
            JudgedBy::Groups => "the groups remove at least one of its documents",
        };
        let meaning = format!("Documents drawn to measure the recall; a pair is found if {found}");
        rows.push(row("--audit", &audit.sampled, meaning));
        rows.push(row("--audit-seed", &audit.seed, "Random seed of the sample"));
    }
    let meaning = "Tells whether another run has read the same documents";
    rows.push(row("digest", &findings.inputs.digest, meaning));
    rows
}

/// The parameters that define similarity.
fn similar(params: &Params) -> Vec<PageParameter> {
    let rule = params.shingle();
    let measure = match params.measure() {
        Measure::Jaccard => "Shared shingles divided by all shingles of both documents",
        Measure::Containment => "Shared shingles divided by the shingles of the shorter document",
    };
    let mut rows = vec![
        row("--threshold", &params.threshold(), "The least similarity of a near-duplicate"),
        row("--measure", &params.measure(), measure),
        row(
            "--shingle",
            &shingle(rule),
            "Documents are compared by their runs of this many words, characters or bytes",
        ),
    ];
    if rule.unit() == Unit::Words {
        rows.push(row("--tokens", &rule.tokens(), "Where words begin and end"));
    }
    let case = match rule.case() {
        Case::Fold => "Upper case counts as lower case",
        Case::Keep => "Upper and lower case differ",
    };
    rows.push(row("--case", &rule.case(), case));
    if rule.frequencies() {
        rows.push(row("--frequencies", &"yes", "A repeated shingle counts again"));
    }
    if let Some(words) = rule.stop_words().map(StopWords::name) {
        rows.push(row("--stop-words", &words, "Frequent words of that language are left out"));
    }
    rows
}

fn shingle(rule: &ShingleRule) -> String {
    let unit = match rule.unit() {
        Unit::Words => "words",
        Unit::Chars => "chars",
        Unit::Bytes => "bytes",
    };
    format!("{unit}:{}", rule.size())
}

/// The parameters that find candidates.
fn found(params: &Params) -> Vec<PageParameter> {
    if params.exact() {
        return vec![row(
            "--exact",
            &"yes",
            "No pair is missed: documents that share rare shingles are compared",
        )];
    }
    vec![
        row(
            "--recall",
            &params.recall(),
            "The least predicted share of found pairs, for pairs at the threshold",
        ),
        row("--scheme", &params.scheme(), "How signatures are made"),
        row("--num-hashes", &params.num_hashes(), "Values in a signature"),
        row(
            "--bands",
            &params.bands(),
            "Parts of a signature; documents that agree in a part are compared",
        ),
        row("--rows", &params.rows(), "Values in each of these parts"),
        row("--seed", &params.seed(), "Draws the hash functions"),
    ]
}

/// Returns the path or address of an input as the page shows it. Hides the password of a database.
fn input_text(input: &Path) -> String {
    let index = IndexLocation::among_inputs(input);
    index.map_or_else(|| input.display().to_string(), |index| index.shown())
}

/// The parameters that choose keepers, groups and counts.
fn kept(options: &FindOptions, reference: &[PathBuf]) -> Vec<PageParameter> {
    let (group, meaning) = match options.grouping {
        Grouping::Stars => ("stars", "Every duplicate resembles the kept document"),
        Grouping::Components => ("components", "Chains of similar documents are one group"),
    };
    let keep = "Which document of a group is kept; the first rule that distinguishes two decides";
    let mut rows = vec![row("--keep", &options.keep, keep), row("--group", &group, meaning)];
    let documents = "Documents that are always kept and not compared with each other";
    rows.extend(reference.iter().map(|path| row("--reference", &input_text(path), documents)));
    if let Some(name) = &options.source_field {
        rows.push(row(
            "--source-field",
            &name,
            "Documents are counted by the value of this field, their source",
        ));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_password() {
        assert_eq!(input_text(Path::new("old.jsonl")), "old.jsonl");
        let address = input_text(Path::new("postgres://me:secret@db/news"));
        assert!(address.starts_with("postgres://") && !address.contains("secret"), "{address}");
    }
}
