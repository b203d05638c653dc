//! A run over files, and the bytes of all its reports.
#![allow(clippy::unwrap_used, reason = "this is a part of tests")]

use lookalike::find::{self, FindOptions, Findings};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use lookalike::report;
use serde_json::Value;
use std::path::PathBuf;

/// Runs `find` over some files.
pub(crate) fn find(inputs: &[PathBuf], options: &FindOptions) -> Findings {
    let reading = ReadOptions { fields: options.fields(), ..ReadOptions::default() };
    find::in_collection(&Collection::open(inputs, &reading).unwrap(), options, &NoProgress).unwrap()
}

/// Returns all findings in the form of reports.
pub(crate) fn reported(findings: &Findings, options: &FindOptions) -> String {
    let measure = options.params.measure();
    let mut out = Vec::new();
    report::jsonl::groups(&mut out, &findings.groups, measure).unwrap();
    if let Some(pairs) = &findings.pairs {
        report::csv::pairs(&mut out, pairs, measure, report::csv::CellRule::Exact).unwrap();
    }
    let mut summary = Vec::new();
    report::json::summary(&mut summary, findings, options, None).unwrap();
    let mut summary: Value = serde_json::from_slice(&summary).unwrap();
    // Sources have other names, and times differ. The effect of folding is measured on texts, which
    // a run over an index does not read.
    for member in ["sources", "times", "seconds", "folding"] {
        summary.as_object_mut().unwrap().remove(member);
    }
    if options.params.exact() {
        // For texts, repeats of rare shingles are counted. Stored shingle sets have no repeats.
        summary["counts"]["candidates"] = Value::Null;
    }
    String::from_utf8(out).unwrap() + &format!("{summary:#}")
}
