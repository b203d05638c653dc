//! Writes a whole run, an audit or an evaluation as one JSON object.

use super::option_name;
use super::{FORMAT_VERSION, jsonl};
use crate::audit::Audit;
use crate::engine::SettingProfile;
use crate::engine::{BetterSetting, DecisionCounts, FindOptions, Findings, MailRemovals};
use crate::evaluate::Evaluation;
use crate::folding::FoldingEffect;
use crate::read::{Normalization, SkippedItem, TextUnit};
use lookalike_core::parameter::NamesParameters;
use lookalike_core::params::Params;
use serde::Serialize;
use serde_json::json;
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
    /// Why this recall may not be reached, if there is a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_caveat: Option<String>,
    measure: String,
    exact: bool,
    scheme: String,
    num_hashes: usize,
    bands: usize,
    rows: usize,
    /// The number of documents drawn to choose bands and rows, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    bands_sample: Option<usize>,
    seed: u64,
    keep: String,
    group: &'a str,
}

#[derive(Serialize)]
struct SkippedView<'a> {
    source: String,
    line: Option<u64>,
    id: Option<String>,
    reason: String,
    /// The first file with the same bytes, if one exists. Only for files without text.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_bytes_as: Option<&'a str>,
}

/// The effects of decisions. `docs/reference/decisions.md` specifies the members.
#[derive(Debug, Serialize)]
pub struct DecisionsView<'a> {
    read: u64,
    in_force: u64,
    applied: u64,
    unapplied: Vec<UnappliedView<'a>>,
    contradictions: Vec<ContradictionView<'a>>,
}

#[derive(Debug, Serialize)]
struct UnappliedView<'a> {
    line: u64,
    documents: &'a [String],
    reason: &'static str,
}

#[derive(Debug, Serialize)]
struct ContradictionView<'a> {
    lines: [u64; 2],
    documents: &'a [String; 2],
    kind: &'static str,
}

impl<'a> From<&'a DecisionCounts> for DecisionsView<'a> {
    fn from(counts: &'a DecisionCounts) -> Self {
        let unapplied = counts.unapplied.iter().map(|it| UnappliedView {
            line: it.line,
            documents: &it.documents,
            reason: it.reason.name(),
        });
        let contradictions = counts.contradictions.iter().map(|it| ContradictionView {
            lines: it.lines,
            documents: &it.documents,
            kind: it.kind.name(),
        });
        Self {
            read: counts.read,
            in_force: counts.in_force,
            applied: counts.applied,
            unapplied: unapplied.collect(),
            contradictions: contradictions.collect(),
        }
    }
}

#[derive(Serialize)]
struct AsTextView {
    source: String,
    reason: String,
}

/// How many documents of a sample the normal form `fold` changes. `docs/reference/report.md`
/// specifies the members.
#[derive(Debug, Serialize)]
pub struct FoldingView {
    documents: u64,
    changed: u64,
    /// The changed documents by the name of their script.
    scripts: BTreeMap<String, u64>,
}

impl FoldingView {
    /// Creates the view of an effect.
    pub fn of(effect: &FoldingEffect) -> Self {
        let scripts = effect.by_script().map(|(script, count)| (script.to_string(), count));
        Self {
            documents: effect.documents(),
            changed: effect.changed(),
            scripts: scripts.collect(),
        }
    }
}

/// A setting that finds more than the setting of a run. `docs/reference/report.md` specifies the
/// members.
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

/// A setting, and how many documents have a neighbour with it. `docs/reference/report.md` specifies
/// the members.
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

/// An audit. `docs/explanation/audit.md` specifies its members.
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

/// Writes the results of an audit, without a line end. `params` are the parameters of the run.
///
/// # Errors
/// Errors of `out`.
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

/// Writes the results of comparing a report with a truth file, without a line end. Includes the
/// estimates of signatures if the report has them.
///
/// # Errors
/// Errors of `out`.
pub fn evaluation(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let mut value = serde_json::to_value(evaluation)?;
    value["format"] = FORMAT_VERSION.into();
    value["precision"] = evaluation.precision().into();
    value["recall"] = evaluation.recall().into();
    value["f1"] = evaluation.f1().into();
    if let Some(estimates) = evaluation.estimates {
        value["estimates"] = serde_json::to_value(estimates)?;
        value["estimates"]["ranges"] = serde_json::to_value(&evaluation.estimate_ranges)?;
    }
    Ok(serde_json::to_writer(out, &value)?)
}

/// Writes the version of the format, parameters, counts, the results of an audit (null without
/// one), groups, skipped records, empty documents, and times. Only the times depend on more than
/// the input and the parameters. Each line has one member of the object, one group or one skipped
/// record.
///
/// # Errors
/// Errors of `out`.
pub fn summary(
    out: &mut dyn Write,
    findings: &Findings,
    options: &FindOptions,
    measured: Option<&Audit>,
) -> io::Result<()> {
    write!(out, "{{\"format\":{FORMAT_VERSION}")?;
    member(out, "lookalike", &env!("CARGO_PKG_VERSION"))?;
    member(out, "parameters", &parameters(options))?;
    member(out, "inputs", &findings.inputs)?;
    if let Some(folder) = &findings.id_folder {
        member(out, "folder", folder)?;
    }
    member(out, "counts", &findings.counts)?;
    let concentration = findings.concentration;
    if concentration.is_concentrated() && !options.params.exact() {
        let share_of_pairs = (concentration.largest_share() * 1e6).round() / 1e6;
        let largest = concentration.largest;
        let view = json!({ "largest_group": largest, "share_of_pairs": share_of_pairs });
        member(out, "concentrated", &view)?;
    }
    out.write_all(b",\n\"audit\":")?;
    match measured {
        Some(measured) => audit(out, measured, &options.params)?,
        None => out.write_all(b"null")?,
    }
    out.write_all(b",\n\"groups\":[")?;
    let measure = options.params.measure();
    for (number, group) in (1u64..).zip(findings.groups.iter()) {
        out.write_all(if number == 1 { b"\n" } else { b",\n" })?;
        jsonl::group(out, number, &group?, measure, findings.groups.categories())?;
    }
    out.write_all(b"]")?;
    let skipped = findings.skipped.iter().map(|each| {
        let each = each?;
        let same_bytes_as = findings.textless_copies.first_of(&each);
        let SkippedItem { source, line, id, reason } = each;
        Ok(SkippedView { source, line, id, reason: reason.spelled(option_name), same_bytes_as })
    });
    list(out, "skipped", skipped)?;
    if findings.ids_by_file {
        member(out, "ids_by_file", &true)?;
    }
    if options.reference_pairs {
        member(out, "reference_pairs", &true)?;
    }
    if !findings.line_ids.is_empty() {
        member(out, "line_ids", &findings.line_ids)?;
    }
    if !findings.read_as_text.is_empty() {
        let view = |each: &SkippedItem| {
            let source = each.source.clone();
            let reason = each.reason.spelled(option_name);
            Ok(AsTextView { source, reason })
        };
        list(out, "read_as_text", findings.read_as_text.iter().map(view))?;
    }
    out.write_all(b",\n\"empty\":[")?;
    for (i, id) in findings.empty.iter().enumerate() {
        out.write_all(if i == 0 { b"" } else { b"," })?;
        serde_json::to_writer(&mut *out, &id?)?;
    }
    out.write_all(b"]")?;
    let copies = findings.textless_copies.empty_copies();
    if !copies.is_empty() {
        let view = |(id, first): (_, _)| json!({ "id": id, "same_text_as": first });
        list(out, "empty_copies", copies.iter().map(|each| each.map(view)))?;
    }
    text_notes(out, findings)?;
    list(out, "sources", findings.sources.iter().map(Ok))?;
    let times = findings.times.iter().map(|(stage, elapsed)| TimeView {
        stage: stage.to_string(),
        seconds: elapsed.as_secs_f64(),
    });
    member(out, "times", &times.collect::<Vec<_>>())?;
    out.write_all(b"}\n")
}

/// Writes a member that is not the first.
fn member(out: &mut dyn Write, name: &str, value: &impl Serialize) -> io::Result<()> {
    write!(out, ",\n\"{name}\":")?;
    Ok(serde_json::to_writer(out, value)?)
}

/// Writes a member that is a list, each item on a line of its own.
fn list<T: Serialize>(
    out: &mut dyn Write,
    name: &str,
    items: impl Iterator<Item = io::Result<T>>,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (i, item) in items.enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &item?)?;
    }
    out.write_all(b"]")
}

/// Writes the members `decisions`, `cut_from_mail`, `wording`, `text_unit`, `better_setting` and
/// `folding`, each only if it applies to the run.
fn text_notes(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    if let Some(decisions) = &findings.decisions {
        member(out, "decisions", &DecisionsView::from(decisions))?;
    }
    if findings.cut_from_mail != MailRemovals::default() {
        member(out, "cut_from_mail", &findings.cut_from_mail)?;
    }
    if findings.normalization != Normalization::default() {
        member(out, "wording", &findings.normalization.to_string())?;
    }
    if findings.unit != TextUnit::Document {
        member(out, "text_unit", &findings.unit.to_string())?;
    }
    if let Some(better) = &findings.better_setting {
        member(out, "better_setting", &BetterSettingView::from(better))?;
    }
    if findings.folding.changed() > 0 {
        member(out, "folding", &FoldingView::of(&findings.folding))?;
    }
    Ok(())
}

fn parameters(options: &FindOptions) -> ParametersView<'_> {
    use lookalike_core::params::Unit;
    let params = &options.params;
    let shingle = options.params.shingle();
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
        group: options.grouping.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::read::{Collection, ReadOptions};
    use lookalike_core::params::{Params, ParamsBuilder};

    #[test]
    fn summary_is_one_json_object() {
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
        let findings = crate::engine::run(&collection, &options, &NoProgress).unwrap();
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
