//! A run over files, and everything that it finds in the bytes of reports.
#![allow(clippy::unwrap_used, reason = "this is a part of tests")]

use lookalike::find::{self, FindOptions, Findings};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use lookalike::report;
use serde_json::Value;
use std::path::PathBuf;

/// What a run over some files finds.
pub(crate) fn find(inputs: &[PathBuf], options: &FindOptions) -> Findings {
    let reading = ReadOptions { fields: options.fields(), ..ReadOptions::default() };
    find::in_collection(&Collection::open(inputs, &reading).unwrap(), options, &NoProgress).unwrap()
}

/// Everything that was found, in the bytes of reports.
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
    // Places have other names, and the clock goes on. The effect of folding is measured of texts
    // that are read, which those of an index are not.
    for member in ["sources", "times", "seconds", "folding"] {
        summary.as_object_mut().unwrap().remove(member);
    }
    if options.params.exact() {
        // Rare shingles are counted with their repeats in texts, which sets do not have.
        summary["counts"]["candidates"] = Value::Null;
    }
    String::from_utf8(out).unwrap() + &format!("{summary:#}")
}
