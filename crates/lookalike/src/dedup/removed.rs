//! Writes a list of the removed documents, with their keepers and the reasons.

use super::annotation::{AnnotationSubject, AnnotationValues, json_span};
use crate::outcome::Outcome;
use crate::report::csv::{CellRule, quoted};
use crate::report::{Output, OutputError, OutputFormat, Target};
use crate::words::TextSpan;
use lookalike_core::params::Measure;
use std::io::Write;

/// A list of the removed documents, or of the removed parts of texts, being written.
pub struct RemovedList {
    output: Output,
    format: OutputFormat,
    subject: AnnotationSubject,
    cells: CellRule,
    line: Vec<u8>,
}

impl RemovedList {
    /// Begins the list. In CSV, writes the header `id,source,group,keeper,jaccard,reason`. The
    /// column of the similarity is named after `measure`.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub fn create(target: &Target, measure: Measure) -> Result<Self, OutputError> {
        Self::begin(target, AnnotationSubject::Groups(measure))
    }

    /// Begins a list of the removed parts of texts. In CSV, writes the header
    /// `id,source,byte_start,byte_end,char_start,char_end,reason`.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub fn of_passages(target: &Target) -> Result<Self, OutputError> {
        Self::begin(target, AnnotationSubject::Passages)
    }

    fn begin(target: &Target, subject: AnnotationSubject) -> Result<Self, OutputError> {
        let output = Output::create(target)?;
        let format = target.format();
        let mut this = Self { output, format, subject, cells: CellRule::Exact, line: Vec::new() };
        if this.format != OutputFormat::Jsonl {
            let columns = match subject {
                AnnotationSubject::Groups(measure) => format!("group,keeper,{measure}"),
                AnnotationSubject::Passages => "byte_start,byte_end,char_start,char_end".to_owned(),
            };
            this.line.extend(format!("id,source,{columns},reason\n").into_bytes());
            this.write()?;
        }
        Ok(this)
    }

    /// Sets how texts are written as cells of CSV.
    #[must_use]
    pub fn with_cells(mut self, cells: CellRule) -> Self {
        self.cells = cells;
        self
    }

    /// Lists a document of the file `source`, if it is removed.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub fn document(
        &mut self,
        id: &str,
        source: &str,
        outcome: &Outcome<'_>,
    ) -> Result<(), OutputError> {
        if outcome.is_kept() {
            return Ok(());
        }
        let (AnnotationSubject::Groups(measure), values) =
            (self.subject, AnnotationValues::of(outcome))
        else {
            return Ok(());
        };
        if self.format == OutputFormat::Jsonl {
            let mut members = Vec::new();
            values.json_removed(measure, &mut members);
            self.object(id, source, &members)
        } else {
            let columns = values.columns();
            self.columns(id, source, columns.get(1..5).unwrap_or_default())
        }
    }

    /// Lists a removed part of the text of a document of the file `source`, with the reason.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub fn span(
        &mut self,
        id: &str,
        source: &str,
        span: &TextSpan,
        reason: &str,
    ) -> Result<(), OutputError> {
        if self.format == OutputFormat::Jsonl {
            let members = format!("{},\"reason\":\"{reason}\"", json_span(span));
            return self.object(id, source, members.as_bytes());
        }
        let TextSpan { bytes, chars } = span;
        let places =
            [bytes.start, bytes.end, chars.start, chars.end].map(|place| place.to_string());
        self.columns(id, source, &[&places[..], &[reason.to_owned()]].concat())
    }

    /// Writes an object.
    fn object(&mut self, id: &str, source: &str, members: &[u8]) -> Result<(), OutputError> {
        let id = serde_json::Value::from(id);
        let source = serde_json::Value::from(source);
        self.line.extend(format!("{{\"id\":{id},\"source\":{source},").into_bytes());
        self.line.extend_from_slice(members);
        self.line.extend_from_slice(b"}\n");
        self.write()
    }

    /// Writes a row.
    fn columns(&mut self, id: &str, source: &str, values: &[String]) -> Result<(), OutputError> {
        quoted(b',', &self.cells.text(id), &mut self.line);
        for value in std::iter::once(source).chain(values.iter().map(String::as_str)) {
            self.line.push(b',');
            quoted(b',', &self.cells.text(value), &mut self.line);
        }
        self.line.push(b'\n');
        self.write()
    }

    fn write(&mut self) -> Result<(), OutputError> {
        let written = self.output.write_all(&self.line);
        self.line.clear();
        written.map_err(|source| OutputError::Write { path: self.output.path().to_owned(), source })
    }

    /// Syncs the list to the disk and renames it to its final name.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub fn finish(self) -> Result<(), OutputError> {
        self.output.finish(|_| Ok(()))
    }
}
