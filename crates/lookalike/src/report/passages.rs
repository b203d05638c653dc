//! Writes passages as tables and as JSON: one row for each place. `docs/reference/passages.md`
//! specifies the formats.

use super::csv::{CellRule, writer};
use super::html;
use super::passage_rows::{COLUMNS, each_place};
use super::{FORMAT_VERSION, Output, OutputFormat, option_name};
use crate::passages::{
    FoundPassage, PassageCounts, PassageFindings, PassageOptions, PassagePlace, SourceRepeats,
};
use crate::report::error::OutputError;
use lookalike_core::parameter::NamesParameters;
use serde::Serialize;
use std::io::{self, Write};

/// The content of a file of passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassageOutput {
    /// All places.
    Places,
    /// The whole run.
    Report,
}

impl PassageOutput {
    /// The possible formats.
    pub fn formats(self) -> &'static [OutputFormat] {
        match self {
            Self::Places => &[
                OutputFormat::Jsonl,
                OutputFormat::Csv,
                #[cfg(feature = "parquet")]
                OutputFormat::Parquet,
            ],
            Self::Report => &[OutputFormat::Json, OutputFormat::Html],
        }
    }

    /// Writes the file in one of the possible formats, and renames it to its final name. `cells`
    /// applies to CSV.
    ///
    /// # Errors
    /// [`OutputError::Name`] for another format. Other errors if the output cannot be written, a
    /// temporary file cannot be read, or an input cannot be read again for a page.
    pub fn write(
        self,
        output: Output,
        format: OutputFormat,
        (findings, options): (&PassageFindings, &PassageOptions),
        cells: CellRule,
    ) -> Result<(), OutputError> {
        match (self, format) {
            #[cfg(feature = "parquet")]
            (Self::Places, OutputFormat::Parquet) => super::parquet::passages(output, findings),
            (Self::Places, OutputFormat::Jsonl) => output.finish(|out| jsonl(out, findings)),
            (Self::Places, OutputFormat::Csv) => output.finish(|out| csv(out, findings, cells)),
            (Self::Report, OutputFormat::Html) => html::passages(output, findings, options),
            (Self::Report, OutputFormat::Json) => output.finish(|out| json(out, findings, options)),
            (Self::Places | Self::Report, _) => Err(output.other_format(self.formats())),
        }
    }
}

#[derive(Serialize)]
struct PlaceLine<'a> {
    passage: u64,
    words: u32,
    places: u32,
    documents: u32,
    #[serde(flatten)]
    place: PlaceView<'a>,
}

#[derive(Serialize)]
struct PlaceView<'a> {
    id: &'a str,
    bytes: [u64; 2],
    chars: [u64; 2],
    first: bool,
    maximal: bool,
}

impl<'a> PlaceView<'a> {
    fn of(place: &PassagePlace, id: &'a str) -> Self {
        Self {
            id,
            bytes: [place.span.bytes.start, place.span.bytes.end],
            chars: [place.span.chars.start, place.span.chars.end],
            first: place.is_first,
            maximal: place.is_maximal,
        }
    }
}

/// Writes one line for each place:
///
/// ```json
/// {"passage":1,"words":52,"places":3,"documents":2,"id":"a","bytes":[0,311],"chars":[0,309],
///  "first":true,"maximal":true}
/// ```
///
/// # Errors
/// Errors of `out`, and of temporary files.
pub fn jsonl(out: &mut dyn Write, findings: &PassageFindings) -> io::Result<()> {
    each_place(findings, |passage, of, place, id| {
        let words = of.words;
        let places = of.places;
        let documents = of.documents;
        let place = PlaceView::of(place, id);
        let line = PlaceLine { passage, words, places, documents, place };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")
    })
}

/// Writes one line for each place, with a header.
///
/// # Errors
/// Errors of `out`, and of temporary files.
pub fn csv(out: &mut dyn Write, findings: &PassageFindings, cells: CellRule) -> io::Result<()> {
    let mut csv = writer(out);
    csv.write_record(COLUMNS)?;
    each_place(findings, |passage, of, place, id| {
        let [bytes, chars] = [&place.span.bytes, &place.span.chars];
        let numbers = [
            passage,
            of.words.into(),
            of.places.into(),
            of.documents.into(),
            bytes.start,
            bytes.end,
            chars.start,
            chars.end,
        ]
        .map(|number| number.to_string());
        let (before, after) = numbers.split_at(4);
        let flags = [place.is_first, place.is_maximal].map(|flag| flag.to_string());
        let id = [cells.text(id).into_owned()];
        Ok(csv.write_record(before.iter().chain(&id).chain(after).chain(&flags))?)
    })?;
    csv.flush()
}

#[derive(Serialize)]
struct PassageParametersView {
    min_words: usize,
    tokens: String,
    case: String,
    normalize: String,
    keep: String,
}

#[derive(Serialize)]
struct PassageSkippedView {
    source: String,
    line: Option<u64>,
    id: Option<String>,
    reason: String,
}

#[derive(Serialize)]
struct PassageView<'a> {
    passage: u64,
    words: u32,
    places: u32,
    documents: u32,
    /// The beginning of the text at its first place.
    text: &'a str,
    runs: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct Head<'a> {
    format_version: u32,
    parameters: PassageParametersView,
    counts: &'a PassageCounts,
    sources: &'a [SourceRepeats],
    skipped: Vec<PassageSkippedView>,
}

/// Writes the run as one JSON object.
///
/// # Errors
/// Errors of `out`, and of temporary files.
pub fn json(
    out: &mut dyn Write,
    findings: &PassageFindings,
    options: &PassageOptions,
) -> io::Result<()> {
    let skipped = findings.run.skipped.iter().map(|item| {
        let item = item?;
        let reason = item.reason.spelled(option_name);
        Ok(PassageSkippedView { source: item.source, line: item.line, id: item.id, reason })
    });
    let head = Head {
        format_version: FORMAT_VERSION,
        parameters: PassageParametersView {
            min_words: findings.min_words,
            tokens: options.rule().tokens().to_string(),
            case: options.rule().case().to_string(),
            normalize: findings.run.normalization.to_string(),
            keep: options.run().keep.to_string(),
        },
        counts: &findings.counts,
        sources: &findings.sources,
        skipped: skipped.collect::<io::Result<_>>()?,
    };
    let head = serde_json::to_vec(&head)?;
    out.write_all(head.strip_suffix(b"}").unwrap_or(&head))?;
    out.write_all(b",\"passages\":[")?;
    let mut runs = Vec::new();
    each_place(findings, |number, passage, place, id| {
        runs.push(serde_json::to_value(PlaceView::of(place, id))?);
        if runs.len() < passage.rows as usize {
            return Ok(());
        }
        let FoundPassage { words, places, documents, excerpt, .. } = passage;
        let words = *words;
        let places = *places;
        let documents = *documents;
        let passage = number;
        let text = excerpt.as_str();
        let runs = std::mem::take(&mut runs);
        out.write_all(if number == 1 { b"" } else { b"," })?;
        let view = PassageView { passage, words, places, documents, text, runs };
        Ok(serde_json::to_writer(&mut *out, &view)?)
    })?;
    out.write_all(b"]}\n")
}
