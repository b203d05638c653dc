//! Prints the answers of queries, as a table for people or as one JSON object per line.
//!
//! ```text
//! similarity  resembles draft.txt
//!      0.842  office/tenancy-notice-flat-3.txt
//! ```

use super::args::QueryArgs;
use crate::output::summary::{percent, write_reasons};
use crate::output::terminal::{self, Stdout, Style};
use crate::output::text_width::{columns, cut, shorten, visible};
use lookalike::categories::{Category, CategoryNumber};
use lookalike::core::params::{Measure, RecallCaveat};
use lookalike::index::{IndexCategories, time};
use lookalike::read::SkippedItem;
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::{DocumentNumber, IndexRecord};
use lookalike::store::query::{Match, MatchSimilarity, QueryDocument, QueryRequest, QueryResult};
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike::store::{Index, IndexError};
use serde_json::{Map, Number, Value, json};
use std::io::{self, BufWriter, Write};

const LESS: Style = Style::DIMMED;
const BOLD: Style = Style::BOLD;
/// Columns of the similarity and the gap after it.
const TAKEN: usize = "similarity".len() + 2;
/// The minimum width of a shortened id, in columns.
const LEAST_ID: usize = 20;
/// Characters of a text that the table shows.
const TEXT: usize = 300;
/// Characters of a text in the line about a match.
const WORDS: usize = 60;
/// The maximum number of queries without a match for which the nearest documents are shown.
const NEAREST_QUERIES: usize = 3;

/// The minimum probability that a lower threshold finds the nearest document. Below it, no lower
/// threshold is suggested.
const LIKELY: f64 = 0.5;

/// Prints the answers as they come.
pub(super) struct QueryOutput<'a> {
    args: &'a QueryArgs,
    estimated: bool,
    /// Columns of a line, on a terminal.
    width: Option<usize>,
    out: BufWriter<Stdout>,
    queried: u64,
    with_matches: u64,
    without_shingles: u64,
    not_shown: u64,
    /// The threshold, and the smallest predicted recall of an answer so far.
    recall: Option<(f64, f64)>,
    recall_caveat: Option<RecallCaveat>,
    measure: Measure,
    settings: IndexSettings,
    /// The nearest documents of the first queries without a match, with the ids of the queries.
    nearest: Vec<(String, QueryResult)>,
    pub(super) skipped: Vec<SkippedItem>,
    /// The categories of the index, if it has some.
    pub(super) categories: Option<IndexCategories>,
}

/// The category of a queried document and, for JSON, the categories and group sizes of its matches.
#[derive(Default)]
pub(super) struct MatchDetails {
    category: Option<CategoryNumber>,
    categories: Vec<CategoryNumber>,
    group_sizes: Vec<u64>,
}

impl<'a> QueryOutput<'a> {
    pub(super) fn new(
        args: &'a QueryArgs,
        index: &Index,
        categories: Option<IndexCategories>,
    ) -> Self {
        let out = terminal::stdout().json_if(args.json);
        Self {
            args,
            estimated: index.settings().store == StoredContent::Signatures,
            width: out.is_terminal().then(terminal::columns),
            out: BufWriter::new(out),
            queried: 0,
            with_matches: 0,
            without_shingles: 0,
            not_shown: 0,
            recall: None,
            recall_caveat: index.settings().recall_caveat(),
            measure: index.params().measure(),
            settings: index.settings().clone(),
            nearest: Vec::new(),
            skipped: Vec::new(),
            categories,
        }
    }

    /// Reads the details of an answer. `category` is the category of the queried document.
    pub(super) fn details(
        &self,
        answer: &QueryResult,
        category: Option<CategoryNumber>,
        snapshot: &mut dyn Snapshot,
    ) -> Result<MatchDetails, IndexError> {
        let mut details = MatchDetails { category, ..MatchDetails::default() };
        if self.args.json {
            let numbers: Vec<DocumentNumber> =
                answer.matches.iter().map(|found| found.record.number).collect();
            details.group_sizes = snapshot.group_sizes(&numbers)?;
            if let Some(all) = &self.categories {
                let of = |number: &DocumentNumber| all.of_document(&mut *snapshot, *number);
                details.categories = numbers.iter().map(of).collect::<Result<_, _>>()?;
            }
        }
        Ok(details)
    }

    /// Returns the category as a phrase for the table.
    fn category_phrase(&self, number: Option<CategoryNumber>) -> Option<String> {
        let Category { path, label, .. } = self.category(number)?;
        Some(format!("category {path}: {}", one_line(&label.join(" "))))
    }

    fn category(&self, number: Option<CategoryNumber>) -> Option<&Category> {
        self.categories.as_ref()?.model().get(number?)
    }

    /// Stores an item that was not read, for the messages at the end.
    pub(super) fn skipped(&mut self, skipped: SkippedItem) {
        self.skipped.push(skipped);
    }

    /// Writes the matches of one document.
    pub(super) fn print(
        &mut self,
        id: &str,
        probe: &QueryDocument<'_>,
        question: &QueryRequest<'_>,
        answer: &QueryResult,
        details: &MatchDetails,
    ) -> io::Result<()> {
        self.queried += 1;
        self.with_matches += u64::from(answer.found > 0);
        self.without_shingles += u64::from(probe.signature.is_empty());
        self.not_shown += answer.found - answer.matches.len() as u64;
        let mut recall = self.recall.map_or(1.0, |(_, recall)| recall);
        // With `--nearest`, the recall is predicted for the last match, so it needs a match.
        if question.nearest.is_none() || answer.found > 0 {
            recall = recall.min(answer.predicted_recall);
        }
        self.recall = Some((question.threshold, recall));
        if self.args.json {
            let value = self.value(id, probe, question, (answer, details));
            return writeln!(self.out, "{value}");
        }
        if answer.matches.is_empty() {
            let category = self.category_phrase(details.category).filter(|_| !self.args.quiet);
            return match category {
                Some(category) => writeln!(self.out, "{}  {category}", one_line(id)),
                None => Ok(()),
            };
        }
        self.table(id, answer, details.category)
    }

    fn table(
        &mut self,
        id: &str,
        answer: &QueryResult,
        category: Option<CategoryNumber>,
    ) -> io::Result<()> {
        if self.with_matches > 1 {
            writeln!(self.out)?;
        }
        let heading = if self.estimated { "  estimate" } else { "similarity" };
        let id = one_line(id);
        let category = self.category_phrase(category);
        let category =
            category.map_or_else(String::new, |phrase| format!("{LESS}  {phrase}{LESS:#}"));
        writeln!(self.out, "{LESS}{heading}  resembles{LESS:#} {BOLD}{id}{BOLD:#}{category}")?;
        rows(&mut self.out, answer, self.args, self.width)
    }

    /// Returns true if the nearest documents of this query must also be shown. Finding them takes a
    /// scan of all signatures, so only the first queries without a match show them.
    pub(super) fn wants_nearest(&self, probe: &QueryDocument<'_>, answer: &QueryResult) -> bool {
        let is_table = !self.args.json && !self.args.quiet && self.args.nearest.is_none();
        let is_open = answer.found == 0 && self.nearest.len() < NEAREST_QUERIES;
        is_table && is_open && !probe.signature.is_empty() && self.measure == Measure::Jaccard
    }

    /// Adds the nearest documents of a query without a match.
    pub(super) fn add_nearest(&mut self, id: &str, nearest: QueryResult) {
        self.nearest.push((id.to_owned(), nearest));
    }

    /// Shows the nearest documents of queries without a match, and suggests other options.
    fn suggest(&self, err: &mut impl Write, threshold: f64) -> io::Result<()> {
        for (id, answer) in &self.nearest {
            if answer.matches.is_empty() {
                writeln!(err, "no document of the index resembles {}", one_line(id))?;
                continue;
            }
            writeln!(err, "no match for {}; the nearest documents:", one_line(id))?;
            rows(err, answer, self.args, self.width)?;
        }
        if self.with_matches > 0 || self.without_shingles == self.queried {
            return Ok(());
        }
        let best = self.nearest.iter().filter_map(|(_, answer)| answer.matches.first());
        let best = best.filter_map(|found| found.similarity.six_decimals().parse::<f64>().ok());
        let best = best.fold(0.0, f64::max);
        // Rounded down to a tenth, the best similarity is a threshold that the nearest document
        // reaches.
        let lower = if best >= 0.1 { (best * 10.0).floor() / 10.0 } else { threshold / 2.0 };
        // The bands of the index may miss documents that reach a threshold.
        let is_lower = lower < threshold && self.settings.predicted_recall(best) >= LIKELY;
        match self.measure {
            Measure::Containment if is_lower => {
                writeln!(err, "try a lower threshold, such as --threshold {lower}")
            }
            Measure::Containment => Ok(()),
            Measure::Jaccard => {
                let lower =
                    if is_lower { format!(", or --threshold {lower}") } else { String::new() };
                writeln!(
                    err,
                    "try --nearest 10 for documents at any similarity{lower}; to find excerpts, \
                     create an index with --measure containment"
                )
            }
        }
    }

    fn value(
        &self,
        id: &str,
        probe: &QueryDocument<'_>,
        question: &QueryRequest<'_>,
        (answer, details): (&QueryResult, &MatchDetails),
    ) -> Value {
        let shingles = if self.estimated { Value::Null } else { json!(probe.set.len()) };
        let nearest = question.nearest.map(|nearest| nearest.count);
        let mut value = json!({
            "document": id,
            "shingles": shingles,
            "threshold": if nearest.is_some() { 0.0 } else { question.threshold },
            "predicted_recall": answer.predicted_recall,
            "candidates": answer.candidates,
            "found": answer.found,
            "matches": answer.matches.iter().map(of_match).collect::<Vec<Value>>(),
        });
        if let Some(count) = nearest {
            value["nearest"] = json!(count);
        }
        if self.categories.is_some() {
            let named = |number| self.category(number).map(of_category);
            value["category"] = json!(named(details.category));
            let matches = value["matches"].as_array_mut().into_iter().flatten();
            for (found, number) in matches.zip(&details.categories) {
                found["category"] = json!(named(Some(*number)));
            }
        }
        let matches = value["matches"].as_array_mut().into_iter().flatten();
        for (found, size) in matches.zip(&details.group_sizes).filter(|(_, size)| **size > 1) {
            found["group_size"] = json!(size);
        }
        if let Some(caveat) = answer.recall_caveat {
            value["recall_caveat"] = json!(caveat.to_string());
        }
        value
    }

    /// Prints the messages after the table. Returns true if a query has a match.
    pub(super) fn finish(mut self) -> io::Result<bool> {
        self.out.flush()?;
        let mut err = terminal::stderr();
        if !self.skipped.is_empty() {
            writeln!(err, "{} skipped", thousands(self.skipped.len() as u64))?;
            write_reasons(&mut err, self.skipped.iter().cloned().map(Ok))?;
        }
        if self.args.quiet || self.args.json {
            return Ok(self.with_matches > 0);
        }
        if self.not_shown > 0 {
            let more = count(self.not_shown, "less similar document");
            writeln!(err, "not shown: {more}; --top 0 shows all")?;
        }
        let Some((threshold, recall)) = self.recall else {
            writeln!(err, "no document was queried")?;
            return Ok(false);
        };
        if self.args.nearest.is_none() {
            self.suggest(&mut err, threshold)?;
        }
        let least = self.args.nearest.is_none().then_some(threshold);
        writeln!(err, "{}", matches_line(self.with_matches, self.queried, least))?;
        if self.without_shingles > 0 {
            let empty = count(self.without_shingles, "document");
            writeln!(err, "{empty} without a word cannot have a match")?;
        }
        if self.estimated {
            writeln!(err, "similarities are estimates: the index keeps signatures only")?;
        }
        let found = percent(recall);
        if self.args.nearest.is_some() {
            if self.with_matches > 0 {
                writeln!(
                    err,
                    "{found} % of documents as similar as the last match are found (predicted)"
                )?;
            }
        } else {
            writeln!(
                err,
                "{found} % of documents at similarity {threshold} are found (predicted)"
            )?;
        }
        if let Some(caveat) = self.recall_caveat {
            writeln!(err, "warning: {caveat}")?;
        }
        Ok(self.with_matches > 0)
    }
}

/// Writes matches, each with a line about the document.
fn rows(
    out: &mut impl Write,
    answer: &QueryResult,
    args: &QueryArgs,
    width: Option<usize>,
) -> io::Result<()> {
    let room = width.map(|width| width.saturating_sub(TAKEN).max(LEAST_ID));
    let fitted = |text: &str| match room {
        Some(room) => shorten(&visible(text), room).into_owned(),
        None => one_line(text).into_owned(),
    };
    for Match { record, similarity } in &answer.matches {
        // Three decimals, cut and not rounded, as in the table of groups.
        let mut number = similarity.six_decimals();
        number.truncate("0.000".len());
        writeln!(out, "{number:>10}  {}", fitted(&record.id))?;
        let about = if args.quiet { String::new() } else { about(record, args.text, room) };
        if !about.is_empty() {
            writeln!(out, "{LESS}{:>10}  {}{LESS:#}", "", fitted(&about))?;
        }
        if let Some(text) = record.text.as_ref().filter(|_| args.text) {
            writeln!(out, "{LESS}{:>10}  {}{LESS:#}", "", beginning(text, TEXT))?;
        }
    }
    Ok(())
}

/// Returns the title or the first words of a document, its source and its date. They fit in `room`
/// columns if the source and the date leave room for the title. With `has_text`, the text follows,
/// so the first words are left out.
fn about(record: &IndexRecord, has_text: bool, room: Option<usize>) -> String {
    let value = |names: &[&str]| {
        let values = names.iter().filter_map(|name| record.metadata.get(*name)?.as_str());
        values.map(str::to_owned).find(|value| !value.is_empty())
    };
    let title = value(&["title", "subject"]);
    let words = record.text.as_ref().filter(|_| !has_text).map(|text| beginning(text, WORDS));
    let source = value(&["source", "url", "from"]).filter(|source| *source != record.id);
    // A time of day says little here.
    let date = value(&["date"]).map(|date| date.split('T').next().unwrap_or_default().to_owned());
    let origin = [source, date].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    with_origin(title.or(words).unwrap_or_default(), &origin, room)
}

/// Joins a title and the origin of a document. The title loses its end if both do not fit.
fn with_origin(title: String, origin: &str, room: Option<usize>) -> String {
    if title.is_empty() || origin.is_empty() {
        return title + origin;
    }
    let origin_width = columns(&visible(origin)) + columns(" · ");
    let room = room.map_or(usize::MAX, |room| room.saturating_sub(origin_width).max(LEAST_ID));
    format!("{} · {origin}", cut(&title, room))
}

/// The first words of a text, on one line.
fn beginning(text: &str, most: usize) -> String {
    let beginning: String = text.chars().take(most).collect();
    let mut words: Vec<&str> = beginning.split_whitespace().collect();
    if text.chars().nth(most).is_some() {
        // The last word may be cut off.
        words.truncate(words.len().saturating_sub(1).max(1));
        words.push("…");
    }
    words.join(" ")
}

/// States how many queries have a match at similarity `least` or more. `None` stands for any
/// similarity above 0.
fn matches_line(with_matches: u64, queries: u64, least: Option<f64>) -> String {
    let have = if with_matches == 1 { "has" } else { "have" };
    let matched = thousands(with_matches);
    let all = thousands(queries);
    let similarity = match least {
        Some(least) => format!("at similarity {least} or more"),
        None => "at any similarity above 0".to_owned(),
    };
    format!("{matched} of {all} queries {have} a match {similarity}")
}

fn of_category(category: &Category) -> Value {
    json!({ "path": category.path, "label": category.label })
}

fn of_match(found: &Match) -> Value {
    let Match { record, similarity } = found;
    let mut value = Map::new();
    let mut set = |name: &str, member: Value| value.insert(name.to_owned(), member);
    set("id", json!(record.id));
    set("similarity", number(&similarity.six_decimals()));
    set("estimated", json!(matches!(similarity, MatchSimilarity::Estimated(_))));
    if let Some(overlap) = similarity.overlap() {
        let share = |of: u64| number(&format!("{:.6}", overlap.intersection as f64 / of as f64));
        set("shared", json!(overlap.intersection));
        set("shingles", json!(overlap.right));
        set("containment_of_query", share(overlap.left));
        set("containment_of_match", share(overlap.right));
    }
    set("bytes", json!(record.bytes));
    set("metadata", Value::Object(record.metadata.clone()));
    set("added", json!(time::format(record.added)));
    for (name, at) in [("modified", record.modified), ("expires", record.expires)] {
        if let Some(at) = at {
            set(name, json!(time::format(at)));
        }
    }
    if let Some(text) = &record.text {
        set("text", json!(text));
    }
    Value::Object(value)
}

/// Parses a decimal number for JSON.
fn number(text: &str) -> Value {
    let value = text.parse().ok().and_then(Number::from_f64);
    value.map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::{beginning, matches_line, with_origin};

    #[test]
    fn titles_give_way_to_the_origin() {
        let line = |room| with_origin("Library opens again today".into(), "a/b.txt", room);
        assert_eq!(line(None), "Library opens again today · a/b.txt");
        assert_eq!(line(Some(35)), "Library opens again today · a/b.txt");
        assert_eq!(line(Some(30)), "Library opens again… · a/b.txt");
        assert_eq!(line(Some(9)), "Library opens again… · a/b.txt");
        assert_eq!(with_origin(String::new(), "a", Some(9)), "a");
        assert_eq!(with_origin("a".into(), "", Some(9)), "a");
    }

    #[test]
    fn beginnings_end_with_a_whole_word() {
        assert_eq!(beginning("one\n two", 9), "one two");
        assert_eq!(beginning("one two three", 9), "one two …");
        assert_eq!(beginning("onetwothree", 9), "onetwothr …");
    }

    #[test]
    fn queries_with_a_match_are_counted() {
        let lines = [
            (
                matches_line(0, 1, Some(0.8)),
                "0 of 1 queries have a match at similarity 0.8 or more",
            ),
            (matches_line(1, 1, Some(0.8)), "1 of 1 queries has a match at similarity 0.8 or more"),
            (matches_line(1, 3, Some(0.5)), "1 of 3 queries has a match at similarity 0.5 or more"),
            (matches_line(2, 3, Some(1.0)), "2 of 3 queries have a match at similarity 1 or more"),
            (matches_line(1, 1, None), "1 of 1 queries has a match at any similarity above 0"),
            (matches_line(3, 3, None), "3 of 3 queries have a match at any similarity above 0"),
        ];
        for (line, expected) in lines {
            assert_eq!(line, expected);
        }
    }
}
