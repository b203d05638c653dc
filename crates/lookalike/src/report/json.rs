//! A whole run, and an audit, as one JSON object each.

use super::option_name;
use super::{FORMAT_VERSION, jsonl};
use crate::audit::Audit;
use crate::find::{BetterSetting, CutFromMail, FindOptions, Findings, Grouping};
use crate::folding::FoldingEffect;
use crate::read::Normalization;
use crate::tune::SettingProfile;
use lookalike_core::parameter::NamesParameters;
use lookalike_core::params::Params;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The parameters of a run.
#[derive(Serialize)]
struct ParametersView<'a> {
    unit: &'a str,
    shingle_size: usize,
    tokens: String,
    case: String,
    frequencies: bool,
    stop_words: Option<&'a str>,
    threshold: f64,
    recall: f64,
    predicted_recall: f64,
    /// Why that may not be reached; only where there is a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_caveat: Option<String>,
    measure: String,
    exact: bool,
    scheme: String,
    num_hashes: usize,
    bands: usize,
    rows: usize,
    /// Documents drawn to choose them; left out where none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    bands_sample: Option<usize>,
    seed: u64,
    keep: String,
    group: &'a str,
}

#[derive(Serialize)]
struct CountsView {
    documents: u64,
    reference: u64,
    empty: u64,
    skipped: u64,
    copies: u64,
    candidates: u64,
    verified: u64,
    groups: u64,
    duplicates: u64,
}

/// Only where one group has most of the pairs.
#[derive(Serialize)]
struct ClusteringView {
    largest_group: u64,
    share_of_pairs: f64,
}

#[derive(Serialize)]
struct SkippedView<'a> {
    source: &'a str,
    line: Option<u64>,
    id: Option<&'a str>,
    reason: String,
    /// The first file with the same bytes; only of files without text, and only where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_bytes_as: Option<&'a str>,
}

#[derive(Serialize)]
struct AsTextView<'a> {
    source: &'a str,
    reason: String,
}

#[derive(Serialize)]
struct EmptyCopyView<'a> {
    id: &'a str,
    same_text_as: &'a str,
}

/// How many documents of a sample the normal form `fold` changes; `docs/reference/report.md` has
/// the members.
#[derive(Debug, Serialize)]
pub struct FoldingView {
    documents: u64,
    changed: u64,
    /// By the name of the script.
    scripts: BTreeMap<String, u64>,
}

impl FoldingView {
    /// The members of an effect.
    pub fn of(effect: &FoldingEffect) -> Self {
        let scripts = effect.by_script().map(|(script, count)| (script.to_string(), count));
        Self {
            documents: effect.documents(),
            changed: effect.changed(),
            scripts: scripts.collect(),
        }
    }
}

/// A setting that finds more than that of a run; `docs/reference/report.md` has the members.
#[derive(Debug, Serialize)]
pub struct BetterSettingView {
    #[serde(rename = "in_use")]
    used: SettingView,
    better: SettingView,
}

impl From<&BetterSetting> for BetterSettingView {
    fn from(BetterSetting { used, better }: &BetterSetting) -> Self {
        Self { used: used.into(), better: better.into() }
    }
}

/// A setting, and how many documents have a neighbour by it; `docs/reference/report.md` has the
/// members.
#[derive(Debug, Serialize)]
pub struct SettingView {
    job: &'static str,
    measure: String,
    shingle: String,
    threshold: f64,
    documents: u64,
    with_neighbour: u64,
    with_passage: u64,
    pairs: u64,
    background: f64,
}

impl From<&SettingProfile> for SettingView {
    fn from(profile: &SettingProfile) -> Self {
        let setting = &profile.setting;
        Self {
            job: setting.job.name(),
            measure: setting.measure.to_string(),
            shingle: setting.rule.to_string(),
            threshold: setting.threshold,
            documents: profile.documents,
            with_neighbour: profile.with_neighbour,
            with_passage: profile.with_passage,
            pairs: profile.pairs,
            background: (profile.background * 1e6).round() / 1e6,
        }
    }
}

#[derive(Serialize)]
struct TimeView {
    stage: String,
    seconds: f64,
}

/// An audit; `docs/audit.md` has its members.
#[derive(Serialize)]
struct AuditView<'a> {
    format: u32,
    threshold: f64,
    predicted_recall: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_caveat: Option<String>,
    #[serde(flatten)]
    audit: &'a Audit,
}

/// Writes what an audit measured, without a line end; `params` are those of the run.
///
/// # Errors
/// Those of `out`.
pub fn audit(out: &mut dyn Write, audit: &Audit, params: &Params) -> io::Result<()> {
    let view = AuditView {
        format: FORMAT_VERSION,
        threshold: params.threshold(),
        predicted_recall: params.predicted_recall(),
        recall_caveat: params.recall_caveat().map(|caveat| caveat.to_string()),
        audit,
    };
    Ok(serde_json::to_writer(out, &view)?)
}

/// Writes version of the format, parameters, counts, what an audit measured (null without one),
/// groups, what was skipped, empty documents, and times; everything but the times depends on the
/// input and the parameters only. One member of the object, one group or one skipped record per
/// line.
///
/// # Errors
/// Those of `out`.
pub fn summary(
    out: &mut dyn Write,
    findings: &Findings,
    options: &FindOptions,
    measured: Option<&Audit>,
) -> io::Result<()> {
    write!(out, "{{\"format\":{FORMAT_VERSION},\n\"lookalike\":")?;
    serde_json::to_writer(&mut *out, env!("CARGO_PKG_VERSION"))?;
    out.write_all(b",\n\"parameters\":")?;
    serde_json::to_writer(&mut *out, &parameters(options))?;
    out.write_all(b",\n\"inputs\":")?;
    serde_json::to_writer(&mut *out, &findings.inputs)?;
    out.write_all(b",\n\"counts\":")?;
    serde_json::to_writer(&mut *out, &counts(findings))?;
    clustering(out, findings, options)?;
    out.write_all(b",\n\"audit\":")?;
    match measured {
        Some(measured) => audit(out, measured, &options.params)?,
        None => out.write_all(b"null")?,
    }
    out.write_all(b",\n\"groups\":[")?;
    let measure = options.params.measure();
    for (number, group) in (1u64..).zip(findings.groups.iter()) {
        out.write_all(if number == 1 { b"\n" } else { b",\n" })?;
        jsonl::group(out, number, &group?, measure)?;
    }
    out.write_all(b"],\n\"skipped\":[")?;
    for (i, each) in findings.skipped.iter().enumerate() {
        let each = each?;
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        let view = SkippedView {
            source: &each.source,
            line: each.line,
            id: each.id.as_deref(),
            reason: each.reason.spelled(option_name),
            same_bytes_as: findings.identical.first_of(&each),
        };
        serde_json::to_writer(&mut *out, &view)?;
    }
    out.write_all(b"],\n")?;
    if findings.ids_by_file {
        out.write_all(b"\"ids_by_file\":true,\n")?;
    }
    read_as_text(out, findings)?;
    out.write_all(b"\"empty\":[")?;
    for (i, id) in findings.empty.iter().enumerate() {
        out.write_all(if i == 0 { b"" } else { b"," })?;
        serde_json::to_writer(&mut *out, &id?)?;
    }
    out.write_all(b"],\n")?;
    empty_copies(out, findings)?;
    text_notes(out, findings)?;
    out.write_all(b"\"sources\":[")?;
    for (i, source) in findings.sources.iter().enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, source)?;
    }
    out.write_all(b"],\n\"times\":")?;
    let times = findings.times.iter().map(|(stage, elapsed)| TimeView {
        stage: stage.to_string(),
        seconds: elapsed.as_secs_f64(),
    });
    serde_json::to_writer(&mut *out, &times.collect::<Vec<_>>())?;
    out.write_all(b"}\n")
}

/// The member `empty_copies`, where there are such documents.
fn empty_copies(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    let copies = findings.identical.empty_copies();
    if copies.is_empty() {
        return Ok(());
    }
    out.write_all(b"\"empty_copies\":[")?;
    for (i, each) in copies.iter().enumerate() {
        let (id, same_text_as) = each?;
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        let view = EmptyCopyView { id: &id, same_text_as: &same_text_as };
        serde_json::to_writer(&mut *out, &view)?;
    }
    out.write_all(b"],\n")
}

/// The members `cut_from_mail`, `wording`, `better_setting` and `folding`, each where it says
/// something.
fn text_notes(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    if findings.cut_from_mail != CutFromMail::default() {
        out.write_all(b"\"cut_from_mail\":")?;
        serde_json::to_writer(&mut *out, &findings.cut_from_mail)?;
        out.write_all(b",\n")?;
    }
    if findings.wording != Normalization::default() {
        out.write_all(b"\"wording\":")?;
        serde_json::to_writer(&mut *out, &findings.wording.to_string())?;
        out.write_all(b",\n")?;
    }
    if let Some(better) = &findings.better_setting {
        out.write_all(b"\"better_setting\":")?;
        serde_json::to_writer(&mut *out, &BetterSettingView::from(better))?;
        out.write_all(b",\n")?;
    }
    if findings.folding.changed() > 0 {
        out.write_all(b"\"folding\":")?;
        serde_json::to_writer(&mut *out, &FoldingView::of(&findings.folding))?;
        out.write_all(b",\n")?;
    }
    Ok(())
}

/// The member `read_as_text`, where there are such files.
fn read_as_text(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    if findings.read_as_text.is_empty() {
        return Ok(());
    }
    out.write_all(b"\"read_as_text\":[")?;
    for (i, each) in findings.read_as_text.iter().enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        let view = AsTextView { source: &each.source, reason: each.reason.spelled(option_name) };
        serde_json::to_writer(&mut *out, &view)?;
    }
    out.write_all(b"],\n")
}

fn parameters(options: &FindOptions) -> ParametersView<'_> {
    use lookalike_core::params::Unit;
    let (params, shingle) = (&options.params, options.params.shingle());
    ParametersView {
        unit: match shingle.unit() {
            Unit::Words => "words",
            Unit::Chars => "chars",
            Unit::Bytes => "bytes",
        },
        shingle_size: shingle.size(),
        tokens: shingle.tokens().to_string(),
        case: shingle.case().to_string(),
        frequencies: shingle.frequencies(),
        stop_words: shingle.stop_words().map(lookalike_core::params::StopWords::name),
        threshold: params.threshold(),
        recall: params.recall(),
        predicted_recall: params.predicted_recall(),
        recall_caveat: params.recall_caveat().map(|caveat| caveat.to_string()),
        measure: params.measure().to_string(),
        exact: params.exact(),
        scheme: params.scheme().to_string(),
        num_hashes: params.num_hashes(),
        bands: params.bands(),
        rows: params.rows(),
        bands_sample: options.bands_sample,
        seed: params.seed(),
        keep: options.keep.to_string(),
        group: match options.grouping {
            Grouping::Stars => "stars",
            Grouping::Components => "components",
        },
    }
}

/// What makes the recall of one run depend on one cluster.
fn clustering(out: &mut dyn Write, findings: &Findings, options: &FindOptions) -> io::Result<()> {
    let clustering = findings.clustering;
    if options.params.exact() || !clustering.is_concentrated() {
        return Ok(());
    }
    let share_of_pairs = (clustering.largest_share() * 1e6).round() / 1e6;
    let view = ClusteringView { largest_group: clustering.largest, share_of_pairs };
    out.write_all(b",\n\"concentrated\":")?;
    Ok(serde_json::to_writer(&mut *out, &view)?)
}

fn counts(findings: &Findings) -> CountsView {
    let counts = &findings.counts;
    CountsView {
        documents: counts.documents,
        reference: counts.reference,
        empty: counts.empty,
        skipped: counts.skipped,
        copies: counts.copies,
        candidates: counts.candidates,
        verified: counts.verified,
        groups: counts.groups,
        duplicates: counts.duplicates,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::read::{Collection, ReadOptions};
    use lookalike_core::params::{Params, ParamsBuilder};

    #[test]
    fn the_whole_is_one_object() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in.jsonl");
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let lines = format!(
            "{{\"id\":\"a\",\"text\":\"{text}\"}}\n{{\"id\":\"b\",\"text\":\"{text}!\"}}\n[7]\n\
             {{\"id\":\"nothing\",\"text\":\"\"}}\n"
        );
        std::fs::write(&input, lines).unwrap();
        let read = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let collection = Collection::open(&[input], &read).unwrap();
        let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
        let findings = crate::find::in_collection(&collection, &options, &NoProgress).unwrap();
        let mut bytes = Vec::new();
        summary(&mut bytes, &findings, &options, None).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["format"], 1);
        assert_eq!(value["parameters"]["unit"], "words");
        assert_eq!(value["parameters"]["num_hashes"], 128);
        assert_eq!(value["counts"]["documents"], 3);
        assert_eq!(value["inputs"]["documents"], 3);
        assert_eq!(value["inputs"]["digest"].as_str().map(str::len), Some(32));
        assert_eq!(value["groups"][0]["duplicates"][0]["jaccard"], 1.0);
        assert_eq!(value["skipped"][0]["line"], 3);
        assert_eq!(value["empty"][0], "nothing");
        assert!(value.as_object().unwrap()["audit"].is_null());
        assert_eq!(value["sources"][0]["duplicates"], 1);
        assert!(value["times"][0]["seconds"].as_f64().is_some());
    }
}
