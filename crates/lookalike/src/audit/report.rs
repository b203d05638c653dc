//! Reads the report of a run, as written by `find --json`. One pass reads the parameters, another
//! one reads the groups one by one. The report is never in memory as a whole.

use super::neighbours::Neighbours;
use super::outcome::{Audit, JudgedBy};
use crate::audit::error::AuditError;
use crate::digest::InputsDigest;
use crate::evaluate::open_table;
use crate::report::FORMAT_VERSION;
use crate::stop_words::stop_words;
use lookalike_core::params::{Measure, Params, ParamsBuilder, ShingleRule, Unit};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

/// A report on a disk.
#[derive(Debug, Clone)]
pub struct Report {
    path: PathBuf,
    /// The parameters of the run.
    pub params: Params,
    /// The documents of the run.
    pub inputs: InputsDigest,
    /// Whether ids of records found in folders begin with the name of their file:
    /// [`AuditOptions::ids_by_file`](super::AuditOptions::ids_by_file).
    pub ids_by_file: bool,
    /// Whether the run listed only pairs with a reference document.
    reference_pairs: bool,
}

impl Report {
    /// Reads the parameters and the inputs of the run. The report may be compressed with gzip or
    /// zstd.
    ///
    /// # Errors
    /// The file cannot be read, is not the report of a whole run, or has another version.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        let mut input = open_table(path)?;
        let start = input.fill_buf().map_err(|error| unreadable(path, error))?;
        if start.trim_ascii_start().first() != Some(&b'{') {
            let got = if start.is_empty() { "an empty file" } else { "a table, or no report" };
            return Err(not_a_run(path, got));
        }
        let mut head = ReportHead::default();
        let visitor = ReportVisitor { head: Some(&mut head), each: &mut |_| {} };
        let mut json = serde_json::Deserializer::from_reader(input);
        (&mut json).deserialize_map(visitor).map_err(|error| not_understood(path, &error))?;
        let ReportHead { format, parameters, inputs, ids_by_file, reference_pairs, group } = head;
        match format {
            None if group => return Err(not_a_run(path, "groups alone")),
            None => return Err(not_a_run(path, "an object without the member format")),
            Some(format) if format != FORMAT_VERSION => {
                let path = path.to_owned();
                let got = format.to_string();
                return Err(AuditError::OtherVersion { path, expected: FORMAT_VERSION, got });
            }
            Some(_) => {}
        }
        let Some(Value::Object(parameters)) = parameters else {
            return Err(not_a_run(path, "a report without parameters"));
        };
        let inputs = match inputs {
            Some(inputs) => serde_json::from_value(inputs)
                .map_err(|error| not_a_run(path, &format!("the member inputs with {error}")))?,
            None => return Err(not_a_run(path, "a report without the member inputs")),
        };
        let params = ParameterMembers { path, of: &parameters }.params()?;
        Ok(Self { path: path.to_owned(), params, inputs, ids_by_file, reference_pairs })
    }

    /// Refuses documents that differ from the run's documents.
    ///
    /// # Errors
    /// [`AuditError::OtherInputs`] with both sides.
    pub fn check(&self, got: InputsDigest) -> Result<(), AuditError> {
        if self.inputs == got {
            return Ok(());
        }
        Err(AuditError::OtherInputs { expected: self.inputs, got })
    }

    /// Compares the report with [`Neighbours`] of its inputs. Uses the file `pairs` if there is one
    /// (see [`pairs_file`]), otherwise the groups of the report.
    ///
    /// # Errors
    /// See [`open`](Self::open) and [`pairs_file`].
    pub fn judge(
        &self,
        neighbours: &Neighbours,
        pairs: Option<&Path>,
    ) -> Result<Audit, AuditError> {
        let Some(pairs) = pairs else {
            let mut judge = neighbours.judge_by(JudgedBy::Groups);
            self.duplicates(&mut |id| judge.duplicate(id))?;
            return Ok(judge.finish());
        };
        if self.reference_pairs {
            return Err(AuditError::ReferencePairs { path: self.path.clone() });
        }
        let mut judge = neighbours.judge_by(JudgedBy::Pairs);
        for pair in pairs_file(pairs)? {
            let (a, b) = pair.map_err(|error| unreadable(pairs, error))?;
            judge.pair(&a, &b);
        }
        Ok(judge.finish())
    }

    /// Passes every duplicate's id to `each`.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn duplicates(&self, each: &mut dyn FnMut(&str)) -> Result<(), AuditError> {
        let mut json = serde_json::Deserializer::from_reader(open_table(&self.path)?);
        let mut group = |group: ReportGroup| {
            for duplicate in &group.duplicates {
                each(&duplicate.id);
            }
        };
        let visitor = ReportVisitor { head: None, each: &mut group };
        (&mut json).deserialize_map(visitor).map_err(|error| not_understood(&self.path, &error))
    }
}

/// Iterates over the pairs of a file that `find --pairs` wrote. The file may be compressed with
/// gzip or zstd.
///
/// # Errors
/// Returns an error if the file cannot be read, and [`AuditError::Pairs`] if it lacks the columns
/// `id_a` and `id_b`. The iterator returns an error for a broken line.
pub fn pairs_file(
    path: &Path,
) -> Result<impl Iterator<Item = io::Result<(String, String)>> + use<>, AuditError> {
    let mut reader = csv::Reader::from_reader(open_table(path)?);
    let name = path.display().to_string();
    let failed = |error: csv::Error| AuditError::Pairs { problem: format!("{name}: {error}") };
    let header = reader.headers().map_err(failed)?;
    let column = |title: &str| header.iter().position(|found| found == title);
    let (Some(a), Some(b)) = (column("id_a"), column("id_b")) else {
        let got = header.iter().take(5).collect::<Vec<_>>().join(", ");
        let problem = format!("{name}: expected the columns id_a and id_b, got {got:?}");
        return Err(AuditError::Pairs { problem });
    };
    Ok(reader.into_records().map(move |record| {
        let record = record.map_err(|error| broken(&name, &error.to_string()))?;
        match (record.get(a), record.get(b)) {
            (Some(a), Some(b)) => Ok((a.to_owned(), b.to_owned())),
            _ => Err(broken(&name, "expected two ids")),
        }
    }))
}

fn broken(name: &str, problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{name}: {problem}"))
}

fn not_a_run(path: &Path, got: &str) -> AuditError {
    AuditError::NotARun { path: path.to_owned(), got: got.to_owned() }
}

fn unreadable(path: &Path, error: io::Error) -> AuditError {
    let source_name = path.display().to_string();
    crate::read::ReadError::Io { source_name, error }.into()
}

fn not_understood(path: &Path, error: &serde_json::Error) -> AuditError {
    if error.is_io() {
        return unreadable(path, io::Error::other(error.to_string()));
    }
    not_a_run(path, &format!("an incomplete or invalid JSON object: {error}"))
}

/// A group in the form that [`report::json`](crate::report::json) writes.
#[derive(Deserialize)]
struct ReportGroup {
    duplicates: Vec<ReportDuplicate>,
}

#[derive(Deserialize)]
struct ReportDuplicate {
    id: String,
}

/// The members of a report besides its groups.
#[derive(Default)]
struct ReportHead {
    format: Option<Value>,
    parameters: Option<Value>,
    inputs: Option<Value>,
    ids_by_file: bool,
    reference_pairs: bool,
    /// Whether the report has the members of a single group instead of a run.
    group: bool,
}

/// Visits an object member by member, to read either the head or the groups.
struct ReportVisitor<'a> {
    head: Option<&'a mut ReportHead>,
    each: &'a mut dyn FnMut(ReportGroup),
}

impl<'de> Visitor<'de> for ReportVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match (&mut self.head, key.as_str()) {
                (Some(head), "format") => head.format = map.next_value()?,
                (Some(head), "parameters") => head.parameters = map.next_value()?,
                (Some(head), "inputs") => head.inputs = map.next_value()?,
                (Some(head), "ids_by_file") => head.ids_by_file = map.next_value()?,
                (Some(head), "reference_pairs") => head.reference_pairs = map.next_value()?,
                (Some(head), "keeper") => {
                    head.group = true;
                    map.next_value::<IgnoredAny>()?;
                }
                (None, "groups") => map.next_value_seed(GroupsSeed { each: &mut *self.each })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct GroupsSeed<'a> {
    each: &'a mut dyn FnMut(ReportGroup),
}

impl<'de> DeserializeSeed<'de> for GroupsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for GroupsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of groups")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut groups: A) -> Result<(), A::Error> {
        while let Some(group) = groups.next_element()? {
            (self.each)(group);
        }
        Ok(())
    }
}

/// The members of `parameters`.
struct ParameterMembers<'a> {
    path: &'a Path,
    of: &'a Map<String, Value>,
}

impl ParameterMembers<'_> {
    /// The parameters that determine the true pairs and the search of the run.
    fn params(&self) -> Result<Params, AuditError> {
        let unit = match self.text("unit", "words, chars or bytes")? {
            "words" => Unit::Words,
            "chars" => Unit::Chars,
            "bytes" => Unit::Bytes,
            _ => return Err(self.wrong("unit", "words, chars or bytes")),
        };
        let size = self.number("shingle_size").and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or_else(|| self.wrong("shingle_size", "a whole number"))?;
        let frequencies = self.of.get("frequencies").and_then(Value::as_bool);
        let list = match self.of.get("stop_words") {
            None | Some(Value::Null) => None,
            Some(_) => Some(stop_words(self.text("stop_words", "a language or null")?)?),
        };
        let shingle = ShingleRule::new(unit, size)?
            .with_tokens(self.text("tokens", "a rule for words")?.parse()?)
            .with_case(self.text("case", "fold or keep")?.parse()?)
            .with_frequencies(frequencies.ok_or_else(|| self.wrong("frequencies", "a truth"))?)
            .with_stop_words(list);
        let threshold = self.of.get("threshold").and_then(Value::as_f64);
        let threshold = threshold.ok_or_else(|| self.wrong("threshold", "a number"))?;
        let mut builder = ParamsBuilder { shingle, threshold, ..ParamsBuilder::default() };
        if self.of.contains_key("measure") {
            builder.measure = self.text("measure", "jaccard or containment")?.parse()?;
        }
        builder.exact = self.of.get("exact").and_then(Value::as_bool).unwrap_or(false);
        if !builder.exact && builder.measure == Measure::Jaccard {
            let count = |name| self.number(name).and_then(|n| usize::try_from(n).ok());
            builder.num_hashes = count("num_hashes");
            builder.bands = count("bands");
            builder.rows = count("rows");
        }
        builder.recall = self.of.get("recall").and_then(Value::as_f64).unwrap_or(builder.recall);
        builder.seed = self.number("seed").unwrap_or(builder.seed);
        if let Some(Value::String(scheme)) = self.of.get("scheme") {
            builder.scheme = scheme.parse()?;
        }
        Ok(Params::new(&builder)?)
    }

    fn text(&self, name: &'static str, expected: &str) -> Result<&str, AuditError> {
        self.of.get(name).and_then(Value::as_str).ok_or_else(|| self.wrong(name, expected))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.of.get(name).and_then(Value::as_u64)
    }

    fn wrong(&self, name: &'static str, expected: &str) -> AuditError {
        let got = self.of.get(name).map_or_else(|| "nothing".to_owned(), Value::to_string);
        let path = self.path.to_owned();
        let expected = expected.to_owned();
        AuditError::Parameter { path, name, expected, got }
    }
}
