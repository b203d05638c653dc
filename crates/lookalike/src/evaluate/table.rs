//! Reads report and truth files as pairs and groups of numbered documents.

use super::estimates::PairError;
use super::options::{EvaluateOptions, UnreadColumn};
use super::pair::{FileSimilarity, NumberedPair, PairScore};
use super::partition::Partition;
use super::rows;
use crate::compressed_file::open_decompressed;
use crate::engine::FindError;
use crate::read::ReadError;
use csv::{ReaderBuilder, StringRecord};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// Decimals of similarities in groups, by `docs/reference/report.md`.
const GROUP_DECIMALS: u8 = 6;
/// The maximum number of decimals that are significant in an `f64`.
const MOST_DECIMALS: u8 = 17;

/// Numbers ids in the order in which they are read.
#[derive(Default)]
pub(super) struct IdNumbers {
    numbers: HashMap<String, u32>,
}

impl IdNumbers {
    fn number(&mut self, id: &str) -> Result<u32, FindError> {
        if let Some(number) = self.numbers.get(id) {
            return Ok(*number);
        }
        let got = self.numbers.len();
        let number = u32::try_from(got).map_err(|_| FindError::TooManyDocuments { got })?;
        self.numbers.insert(id.to_owned(), number);
        Ok(number)
    }

    /// Sorts the ids. No more ids can be added.
    pub(super) fn sort(self) -> SortedIds {
        let mut ids: Vec<(String, u32)> = self.numbers.into_iter().collect();
        ids.sort_unstable();
        let mut ranks = vec![0; ids.len()];
        for (rank, (_, number)) in (0..).zip(&ids) {
            ranks[*number as usize] = rank;
        }
        SortedIds { names: ids.into_iter().map(|(id, _)| id).collect(), ranks }
    }
}

/// All ids of both files in byte order. `ranks` has the place of each id in this order, by its
/// number in [`IdNumbers`].
pub(super) struct SortedIds {
    names: Vec<String>,
    ranks: Vec<u32>,
}

impl SortedIds {
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The pairs of a table, sorted. If a pair is repeated, its first line is used.
    pub(super) fn pairs(&self, table: PairTable) -> Vec<NumberedPair> {
        let mut pairs = table.pairs;
        for pair in &mut pairs {
            let a = self.ranks[pair.a as usize];
            let b = self.ranks[pair.b as usize];
            pair.a = a.min(b);
            pair.b = a.max(b);
        }
        pairs.sort_by_key(NumberedPair::key);
        pairs.dedup_by_key(|pair| pair.key());
        pairs
    }

    /// The groups of a table, or the groups that its pairs form. Documents that the table does not
    /// name are alone.
    pub(super) fn partition(&self, table: &PairTable) -> Partition {
        let rank = |number: u32| self.ranks[number as usize];
        let Some(members) = &table.members else {
            let pairs = table.pairs.iter().map(|pair| (rank(pair.a), rank(pair.b)));
            return Partition::of_pairs(self.names.len(), pairs);
        };
        // The label of a group is its least document, which is the label of no other group.
        let mut first: HashMap<u32, u32> = HashMap::new();
        for (document, group) in members {
            let least = first.entry(*group).or_insert(u32::MAX);
            *least = (*least).min(rank(*document));
        }
        let mut labels: Vec<u32> = (0..self.names.len() as u32).collect();
        for (document, group) in members {
            labels[rank(*document) as usize] = first[group];
        }
        Partition::new(labels)
    }
}

/// The pairs or groups of a file, by the numbers of its ids.
#[derive(Default)]
pub(super) struct PairTable {
    pairs: Vec<NumberedPair>,
    errors: Vec<PairError>,
    /// Each document with its group. `None` if the file has no groups.
    members: Option<Vec<(u32, u32)>>,
    /// Whether the file has the column of labels that the options name.
    pub(super) has_label: bool,
    /// Whether the file has the column of scores that the options name.
    pub(super) has_score: bool,
    /// A third column that is neither a similarity nor named by an option.
    pub(super) unread: Option<UnreadColumn>,
}

impl PairTable {
    /// The errors of the estimates of its pairs.
    pub(super) fn errors(&self) -> impl Iterator<Item = PairError> + Clone + '_ {
        self.errors.iter().copied()
    }

    pub(super) fn has_groups(&self) -> bool {
        self.members.is_some()
    }

    pub(super) fn has_pairs(&self) -> bool {
        !self.pairs.is_empty()
    }
}

/// Reads a file of a kind that [`evaluate`](super) lists. In a file of pairs, skips the lines below
/// the threshold, as if they were missing. The threshold does not apply to groups.
pub(super) fn read(
    path: &Path,
    options: &EvaluateOptions,
    ids: &mut IdNumbers,
) -> Result<PairTable, FindError> {
    let mut input = open_table(path)?;
    let start = input.fill_buf().map_err(|error| unreadable(path, error))?;
    if start.starts_with("\u{feff}".as_bytes()) {
        input.consume(3);
    }
    let start = input.fill_buf().map_err(|error| unreadable(path, error))?;
    let first_line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_json = first_line.trim_ascii_start().starts_with(b"{");
    let is_csv = first_line.contains(&b',');
    let mut loader = Loader {
        path: path.to_owned(),
        line: 0,
        options,
        ids,
        table: PairTable::default(),
        is_grouped: Vec::new(),
    };
    if is_json && has_format(first_line) {
        loader.json_report(input)?;
    } else if is_json {
        loader.json_lines(input)?;
    } else if is_csv {
        loader.csv(input)?;
    } else {
        loader.two_ids(input)?;
    }
    Ok(loader.table)
}

/// Returns true for the first line of a JSON report, and false for a group in JSON lines.
fn has_format(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(br#"{"format":"#)
}

/// Opens a report or table, decompressed.
pub(crate) fn open_table(path: &Path) -> Result<Box<dyn BufRead>, FindError> {
    let mut input = open_decompressed(path).map_err(|error| unreadable(path, error))?;
    let start = input.fill_buf().map_err(|error| unreadable(path, error))?;
    if start.starts_with(b"PAR1") {
        return Ok(Box::new(io::Cursor::new(rows::lines(path)?)));
    }
    Ok(input)
}

fn unreadable(path: &Path, error: io::Error) -> FindError {
    let name = path.display().to_string();
    FindError::Read(match error.kind() {
        io::ErrorKind::NotFound => ReadError::Missing { path: name },
        _ => ReadError::Io { source_name: name, error },
    })
}

/// The groups of a JSON report.
#[derive(Deserialize)]
struct JsonReport {
    groups: Vec<GroupLine>,
}

/// A group as [`report::jsonl`](crate::report::jsonl) writes it.
#[derive(Deserialize)]
struct GroupLine {
    keeper: String,
    duplicates: Vec<DuplicateLine>,
}

#[derive(Deserialize)]
struct DuplicateLine {
    id: String,
    jaccard: Option<f64>,
    containment: Option<f64>,
}

struct Loader<'a> {
    path: PathBuf,
    line: u64,
    options: &'a EvaluateOptions,
    ids: &'a mut IdNumbers,
    table: PairTable,
    /// Whether each document is already in a group, by its number.
    is_grouped: Vec<bool>,
}

impl Loader<'_> {
    fn problem(&self, problem: impl Into<String>) -> FindError {
        FindError::Table { path: self.path.clone(), line: self.line, problem: problem.into() }
    }

    fn two_ids(&mut self, input: Box<dyn BufRead>) -> Result<(), FindError> {
        for line in input.lines() {
            self.line += 1;
            let line = self.text(line)?;
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (None, ..) => {}
                (Some(a), Some(b), None) => {
                    self.pair(a, b, PairScore::default())?;
                }
                _ => {
                    return Err(self.problem(
                        "expected two ids with a blank between them, or a CSV or JSON lines \
                         report; see docs/reference/report.md",
                    ));
                }
            }
        }
        Ok(())
    }

    fn json_lines(&mut self, input: Box<dyn BufRead>) -> Result<(), FindError> {
        self.table.members = Some(Vec::new());
        for (group, line) in (0u32..).zip(input.lines()) {
            self.line += 1;
            let line = self.text(line)?;
            if line.trim().is_empty() {
                continue;
            }
            let line = serde_json::from_str(&line).map_err(|error| {
                self.problem(format!(
                    "expected a group such as {{\"keeper\":…,\"duplicates\":[…]}}: {error}"
                ))
            })?;
            self.group(group, &line)?;
        }
        Ok(())
    }

    fn json_report(&mut self, input: Box<dyn BufRead>) -> Result<(), FindError> {
        self.table.members = Some(Vec::new());
        let report: JsonReport = serde_json::from_reader(input).map_err(|error| {
            self.line = error.line() as u64;
            self.problem(format!("expected a JSON report of `find` with its groups: {error}"))
        })?;
        (0u32..).zip(&report.groups).try_for_each(|(group, line)| self.group(group, line))
    }

    /// Adds a group with its number.
    fn group(&mut self, group: u32, line: &GroupLine) -> Result<(), FindError> {
        self.member(&line.keeper, group)?;
        let of_group = |value| FileSimilarity { value, decimals: GROUP_DECIMALS };
        for DuplicateLine { id, jaccard, containment } in &line.duplicates {
            self.member(id, group)?;
            let jaccard = jaccard.map(of_group);
            let containment = containment.map(of_group);
            self.pair(&line.keeper, id, PairScore { jaccard, containment })?;
        }
        Ok(())
    }

    fn text(&self, line: io::Result<String>) -> Result<String, FindError> {
        line.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => self.problem("not UTF-8; convert the file"),
            _ => unreadable(&self.path, error),
        })
    }

    fn csv(&mut self, input: Box<dyn BufRead>) -> Result<(), FindError> {
        let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input);
        let mut record = StringRecord::new();
        if !self.next(&mut reader, &mut record)? {
            return Ok(());
        }
        let header: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
        let column = |name: &str| header.iter().position(|each| each == name);
        let named = |name: &Option<String>| name.as_deref().and_then(column);
        let label = named(&self.options.label);
        let score = named(&self.options.score);
        let similarities = match score {
            Some(_) => [score, None],
            None => ["jaccard", "containment"].map(column),
        };
        // Without `estimated_jaccard`, a column `error` is not the error of an estimate.
        let estimated = column("estimated_jaccard");
        let [error, standard_error] =
            ["error", "standard_error"].map(|name| estimated.and(column(name)));
        if let (Some(a), Some(b)) = (column("id_a"), column("id_b")) {
            self.table.has_label = label.is_some();
            self.table.has_score = score.is_some();
            let is_bare = label.is_none() && similarities == [None, None];
            let third = if is_bare && header.len() == 3 { header.get(2) } else { None };
            while self.next(&mut reader, &mut record)? {
                if let Some(name) = third.filter(|_| self.table.unread.is_none()) {
                    let is_number = self.value(&record, 2)?.trim().parse::<f64>().is_ok();
                    let path = self.path.clone();
                    self.table.unread = Some(UnreadColumn { path, name: name.clone(), is_number });
                }
                if let Some(label) = label
                    && !is_pair(self.value(&record, label)?)
                {
                    continue;
                }
                let score = self.score(&record, similarities)?;
                let is_new = self.pair(self.value(&record, a)?, self.value(&record, b)?, score)?;
                if let (true, Some(error), Some(standard_error)) = (is_new, error, standard_error) {
                    let exact = score.jaccard.map(|score| score.value);
                    let error = self.number(&record, error)?;
                    let standard_error = self.number(&record, standard_error)?;
                    self.table.errors.push(PairError { exact, error, standard_error });
                }
            }
        } else if let (Some(group), Some(id), Some(role), Some(keeper)) =
            (column("group"), column("id"), column("role"), column("keeper"))
        {
            let mut groups = Labels::default();
            self.table.members = Some(Vec::new());
            while self.next(&mut reader, &mut record)? {
                let id = self.value(&record, id)?;
                let group = groups.number(self.value(&record, group)?);
                self.member(id, group)?;
                if self.value(&record, role)? == "duplicate" {
                    let score = self.score(&record, similarities)?;
                    self.pair(self.value(&record, keeper)?, id, score)?;
                }
            }
        } else if let (Some(id), Some(cluster)) = (column("id"), column("cluster")) {
            let mut groups = Labels::default();
            self.table.members = Some(Vec::new());
            while self.next(&mut reader, &mut record)? {
                let group = match self.value(&record, cluster)? {
                    "" => groups.alone(),
                    name => groups.number(name),
                };
                self.member(self.value(&record, id)?, group)?;
            }
        } else {
            let got = header.join(",");
            return Err(self.problem(format!(
                "expected a header with id_a,id_b (and jaccard), with id,cluster, or with \
                 group,id,role,keeper,jaccard; got {got:?}"
            )));
        }
        Ok(())
    }

    /// Reads the next record. Returns `false` at the end.
    fn next<R: Read>(
        &mut self,
        reader: &mut csv::Reader<R>,
        record: &mut StringRecord,
    ) -> Result<bool, FindError> {
        let read = reader.read_record(record);
        self.line = match &read {
            Ok(_) => record.position().map_or(self.line, csv::Position::line),
            Err(error) => error.position().map_or(self.line, csv::Position::line),
        };
        read.map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => unreadable(&self.path, error),
            csv::ErrorKind::Utf8 { .. } => self.problem("not UTF-8; convert the file"),
            other => self.problem(format!("not comma-separated values: {other:?}")),
        })
    }

    fn value<'r>(&self, record: &'r StringRecord, column: usize) -> Result<&'r str, FindError> {
        record.get(column).ok_or_else(|| {
            let got = record.len();
            let least = column + 1;
            self.problem(format!("expected at least {least} values, got {got}; mend the line"))
        })
    }

    /// The values of the columns of Jaccard similarity and containment.
    fn score(
        &self,
        record: &StringRecord,
        [jaccard, containment]: [Option<usize>; 2],
    ) -> Result<PairScore, FindError> {
        Ok(PairScore {
            jaccard: self.similarity(record, jaccard)?,
            containment: self.similarity(record, containment)?,
        })
    }

    fn similarity(
        &self,
        record: &StringRecord,
        column: Option<usize>,
    ) -> Result<Option<FileSimilarity>, FindError> {
        let Some(column) = column else { return Ok(None) };
        let text = self.value(record, column)?.trim();
        let decimals = match text.split_once('.') {
            Some((_, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => digits.len(),
            Some(_) => usize::from(MOST_DECIMALS),
            None => 0,
        };
        let value = text.parse().ok().filter(|value| (0.0..=1.0).contains(value));
        let value: f64 = value.ok_or_else(|| {
            self.problem(format!("the similarity is {text:?}, expected a number from 0 to 1"))
        })?;
        Ok(Some(FileSimilarity { value, decimals: decimals.min(usize::from(MOST_DECIMALS)) as u8 }))
    }

    /// A number from −1 to 1.
    fn number(&self, record: &StringRecord, column: usize) -> Result<f64, FindError> {
        let text = self.value(record, column)?.trim();
        let value = text.parse().ok().filter(|value| (-1.0..=1.0).contains(value));
        value.ok_or_else(|| {
            self.problem(format!(
                "the error of an estimate is {text:?}, expected a number from -1 to 1"
            ))
        })
    }

    /// Adds a pair. If the file has pairs and this pair is below the threshold, adds nothing and
    /// returns false.
    fn pair(&mut self, a: &str, b: &str, score: PairScore) -> Result<bool, FindError> {
        if a == b {
            return Err(self.problem(format!("a pair of {a:?} with itself; take the line out")));
        }
        let threshold = self.options.threshold.filter(|_| !self.table.has_groups());
        if score.measured().zip(threshold).is_some_and(|(score, least)| score.value < least) {
            return Ok(false);
        }
        let a = self.ids.number(a)?;
        let b = self.ids.number(b)?;
        self.table.pairs.push(NumberedPair { a, b, score });
        Ok(true)
    }

    fn member(&mut self, id: &str, group: u32) -> Result<(), FindError> {
        let number = self.ids.number(id)?;
        let place = number as usize;
        if place >= self.is_grouped.len() {
            self.is_grouped.resize((place + 1).next_power_of_two(), false);
        }
        if std::mem::replace(&mut self.is_grouped[place], true) {
            return Err(self.problem(format!(
                "{id:?} is in a group already; a document can be in one group only"
            )));
        }
        self.table.members.get_or_insert_default().push((number, group));
        Ok(())
    }
}

/// Returns true for the label of a pair.
fn is_pair(label: &str) -> bool {
    let label = label.trim();
    let is_negative = ["", "false", "no", "f", "n"].iter().any(|no| label.eq_ignore_ascii_case(no));
    !is_negative && label.parse::<f64>().map_or(true, |number| number > 0.0)
}

/// Numbers groups by their names. The numbers of groups without a name count down from `u32::MAX`.
#[derive(Default)]
struct Labels {
    numbers: HashMap<String, u32>,
    alone: u32,
}

impl Labels {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn alone(&mut self) -> u32 {
        self.alone += 1;
        u32::MAX - self.alone
    }
}
