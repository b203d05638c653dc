//! The documents that go → a list of them, with what stays in their place and why.

use super::Decision;
use super::annotation::AnnotationValues;
use crate::error::Error;
use crate::report::csv::{CellRule, quoted};
use crate::report::{Output, OutputFormat, Target};
use lookalike_core::params::Measure;
use std::io::Write;

/// A list of the removed documents, being written.
pub struct RemovedList {
    output: Output,
    format: OutputFormat,
    measure: Measure,
    cells: CellRule,
    line: Vec<u8>,
}

impl RemovedList {
    /// Begins the list; in CSV with its header: `id,source,group,keeper,jaccard,reason`.
    /// The similarity has the name of `measure`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn create(target: &Target, measure: Measure) -> Result<Self, Error> {
        let output = Output::create(target)?;
        let format = target.format();
        let mut this = Self { output, format, measure, cells: CellRule::Exact, line: Vec::new() };
        if this.format != OutputFormat::Jsonl {
            this.line.extend(format!("id,source,group,keeper,{measure},reason\n").into_bytes());
            this.write()?;
        }
        Ok(this)
    }

    /// Writes the texts of a list in CSV so.
    #[must_use]
    pub fn with_cells(mut self, cells: CellRule) -> Self {
        self.cells = cells;
        self
    }

    /// Lists a document of the file `source`, if it goes.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn document(
        &mut self,
        id: &str,
        source: &str,
        decision: &Decision<'_>,
    ) -> Result<(), Error> {
        if decision.is_kept() {
            return Ok(());
        }
        let values = AnnotationValues::of(decision);
        if self.format == OutputFormat::Jsonl {
            let (id, source) = (serde_json::Value::from(id), serde_json::Value::from(source));
            self.line.extend(format!("{{\"id\":{id},\"source\":{source},").into_bytes());
            values.json_removed(self.measure, &mut self.line);
            self.line.push(b'}');
        } else {
            let [_, group, keeper, similarity, reason, ..] = values.columns();
            quoted(b',', &self.cells.text(id), &mut self.line);
            for value in [source, &group, &keeper, &similarity, &reason] {
                self.line.push(b',');
                quoted(b',', &self.cells.text(value), &mut self.line);
            }
        }
        self.line.push(b'\n');
        self.write()
    }

    fn write(&mut self) -> Result<(), Error> {
        let written = self.output.write_all(&self.line);
        self.line.clear();
        written.map_err(|source| Error::Write { path: self.output.path().to_owned(), source })
    }

    /// Brings the list to the disk and gives it its name.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> Result<(), Error> {
        self.output.finish(|_| Ok(()))
    }
}
