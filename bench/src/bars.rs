//! `bar`: runs the program `lookalike` and compares its CPU time and peak memory with limits.
//! Prints a row for each run, and scores of the found pairs if the collection has a truth.

use crate::collection::BenchCollection;
use crate::measure::{self, ProcessCost};
use crate::options::{BenchError, BenchOptions};
use crate::run::{FIND_BY_THE_TRUTH, sibling_binary};
use crate::score::{FoundScore, score};
use crate::table::TextTable;
use lookalike::find::parse_memory;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The upper limits for a run.
#[derive(Debug, Clone, Copy, Default)]
struct RunLimit {
    /// CPU seconds.
    cpu: Option<f64>,
    /// Peak memory in bytes.
    peak: Option<u64>,
}

/// The names of the bars, for messages.
pub(crate) const NAMES: &str = "memory, exact, audit, containment, dedup, passages and many";

const MIB: u64 = 1 << 20;
/// The peak memory may exceed `--memory` by a tenth.
const TOLERANCE: f64 = 1.1;
/// Number of documents that the audit compares with all others.
const SAMPLE: &str = "2000";

/// Measures the bar `name` and prints the results. Options: `--binary FILE` (default: `lookalike`
/// next to this program) and `--runs N` (default: 1; the median counts). `many` and `passages` also
/// accept `--smaller FILE`, a smaller collection of the same kind.
pub(crate) fn bar(
    name: &str,
    collection: &BenchCollection,
    options: BenchOptions,
) -> Result<(), BenchError> {
    let mut options = options;
    let binary = options.path("binary").map_or_else(sibling_binary, Ok)?;
    let runs = options.number("runs", 1)?;
    let sibling = options.path("smaller");
    options.finish()?;
    let documents = count_lines(&collection.documents)?;
    let table = TextTable::new(&["run", "CPU s", "wall s", "peak MB", "µs each", "bar", "met"]);
    let results = measure::results_folder()?;
    let notes = Vec::new();
    let mut bench = LimitBench { binary, runs, results, collection, documents, table, notes };
    match name {
        "memory" => bench.memory()?,
        "exact" => bench.exact()?,
        "audit" => bench.audit()?,
        "containment" => bench.containment()?,
        "dedup" => bench.dedup()?,
        "passages" => bench.passages(sibling.as_deref())?,
        "many" => bench.many(sibling.as_deref())?,
        _ => return Err(BenchError(format!("{name:?} is not a bar; there are {NAMES}"))),
    }
    println!("{}: {documents} documents, median of {runs}\n", collection.documents.display());
    println!("{}", bench.table);
    bench.notes.iter().for_each(|note| println!("{note}"));
    Ok(())
}

struct LimitBench<'a> {
    binary: PathBuf,
    runs: usize,
    results: TempDir,
    collection: &'a BenchCollection,
    documents: u64,
    table: TextTable,
    /// Lines to print after the table.
    notes: Vec<String>,
}

impl LimitBench<'_> {
    /// Runs `find` with unlimited memory and with 512 MiB. Both runs must write the same bytes.
    fn memory(&mut self) -> Result<(), BenchError> {
        let free = self.result("groups.jsonl");
        let tight = self.result("limited.jsonl");
        let cpu = |seconds| (self.documents == 1_000_000).then_some(seconds);
        let bars = [cpu(6.0), cpu(14.0)].map(|cpu| RunLimit { cpu, peak: None });
        self.find("find, groups", &[], &free, bars[0])?;
        let limit: &[&str] = &["--memory", "512MiB"];
        let peak = Some((512.0 * TOLERANCE * MIB as f64) as u64);
        self.find("find --memory 512MiB", limit, &tight, RunLimit { peak, ..bars[1] })?;
        self.same(&free, &tight)?;
        self.score("unlimited", &[], "jaccard", 0.8)?;
        self.score("--memory 512MiB", limit, "jaccard", 0.8)
    }

    /// Compares exact runs with runs on signatures, at three thresholds. From a million documents
    /// on, exact runs have a memory limit of 8 GiB.
    fn exact(&mut self) -> Result<(), BenchError> {
        for (text, threshold) in [("0.8", 0.8), ("0.7", 0.7), ("0.5", 0.5)] {
            let out = self.result("groups.jsonl");
            let signatures = ["--threshold", text];
            self.find(&format!("find -t {text}"), &signatures, &out, RunLimit::default())?;
            let mut exact = vec!["--exact", "--threshold", text];
            let mut bar = RunLimit::default();
            if self.documents >= 1_000_000 {
                exact.extend(["--memory", "8GiB"]);
                bar.peak = Some((8192.0 * TOLERANCE * MIB as f64) as u64);
            }
            if text == "0.8" {
                let bars = [(100_000, 2.5), (1_000_000, 30.0)];
                bar.cpu = bars.iter().find(|(n, _)| *n == self.documents).map(|(_, cpu)| *cpu);
            }
            let name = format!("find {}", exact.join(" "));
            self.find(&name, &exact, &out, bar)?;
            self.score(&name, &exact, "jaccard", threshold)?;
        }
        Ok(())
    }

    /// Measures an audit of [`SAMPLE`] documents, which must take at most the CPU time of the run.
    fn audit(&mut self) -> Result<(), BenchError> {
        let report = self.result("report.json");
        let find = self.arguments("find", &["--json"]);
        let run = self.measure(&find, Some(&report))?;
        self.row("find --json", run, RunLimit::default());
        let outcome = self.result("audit.txt");
        let mut audit = vec![OsString::from("audit"), (&report).into()];
        audit.push((&self.collection.documents).into());
        audit.extend(["--format", "jsonl", "--sample", SAMPLE, "--quiet"].map(OsString::from));
        let spent = self.measure(&audit, Some(&outcome))?;
        let bar = RunLimit { cpu: Some(run.cpu_seconds), peak: None };
        self.row(&format!("audit --sample {SAMPLE}"), spent, bar);
        let text = std::fs::read_to_string(&outcome);
        self.notes.push(text.map_err(|error| BenchError::new(outcome.display(), error))?);
        Ok(())
    }

    /// Measures the recall of planted excerpts, and the numbers of candidates
    /// and of compared pairs.
    fn containment(&mut self) -> Result<(), BenchError> {
        let options = ["--measure", "containment"];
        let report = self.result("report.json");
        let spent = self.measure(
            &self.arguments("find", &[&options[..], &["--json"]].concat()),
            Some(&report),
        )?;
        self.row("find --measure containment", spent, RunLimit::default());
        let counts = ["candidates", "verified"];
        let [candidates, verified] = counts.map(|count| number_in(&report, count));
        self.notes
            .push(format!("candidate documents {}, pairs compared {}", candidates?, verified?));
        let Some(truth) = &self.collection.excerpts else {
            self.notes.push("no planted excerpts: generate some with --excerpts N".to_owned());
            return Ok(());
        };
        let score = self.found(&options, truth, "containment", 0.8)?;
        self.notes.push(format!(
            "excerpts: recall {:.5} ({} of {}; bar 0.99), similarities that differ: {}",
            score.recall(),
            score.found,
            score.expected,
            score.differing
        ));
        Ok(())
    }

    /// Measures `dedup`, which writes the kept documents, and for comparison `find`, which writes
    /// only groups.
    fn dedup(&mut self) -> Result<(), BenchError> {
        let groups = self.result("groups.jsonl");
        self.find("find, groups", &[], &groups, RunLimit::default())?;
        let kept = self.result("kept.jsonl");
        let arguments = self.arguments("dedup", &["--output", &kept.to_string_lossy()]);
        let spent = self.measure(&arguments, None)?;
        self.row("dedup", spent, RunLimit::default());
        let lines = count_lines(&kept)?;
        self.notes.push(format!("{lines} of {} documents stay", self.documents));
        Ok(())
    }

    /// Measures `passages` and `cut` without a memory limit and within limits. All runs of a
    /// command must write the same bytes. Without a limit, `passages` must take at most four times
    /// the CPU time of `find`, and 1 GB for less than a million documents. Within the first limit,
    /// `passages` must cost at most 1.3 times as much for a document as without a limit for a
    /// document of `smaller`. Without `smaller`, the bound is again four times the time of `find`.
    /// Lower limits have no bound on time.
    fn passages(&mut self, smaller: Option<&Path>) -> Result<(), BenchError> {
        let is_large = self.documents >= 1_000_000;
        let limits: &[&str] = if is_large { &["1GiB", "256MiB"] } else { &["200MiB"] };
        let input = self.collection.documents.clone();
        let groups = self.result("groups.jsonl");
        let find = self.measure(&output_of("find", &[], &input, &groups), None)?;
        self.row("find, groups", find, RunLimit::default());
        let free = RunLimit {
            cpu: Some(4.0 * find.cpu_seconds),
            peak: (!is_large).then_some(1_000_000_000),
        };
        let limited = match smaller {
            Some(smaller) => Some(1.3 * self.passages_each(smaller)? * self.documents as f64),
            None => free.cpu,
        };
        self.limited("passages", &[], limits, free, limited)?;
        let rows = count_lines(&self.result("passages.jsonl"))?;
        self.notes.push(format!("{rows} rows of places"));
        self.limited("cut", &[], limits, RunLimit::default(), None)
    }

    /// Measures `passages` on another collection. Returns CPU seconds per document.
    fn passages_each(&mut self, of: &Path) -> Result<f64, BenchError> {
        let documents = count_lines(of)?;
        let out = self.result("limited.jsonl");
        let spent = self.measure(&output_of("passages", &[], of, &out), None)?;
        let name = format!("passages, {documents} documents");
        self.table.row(&cells(&name, documents, spent, RunLimit::default()));
        Ok(spent.cpu_seconds / documents as f64)
    }

    /// Runs a command without a memory limit and within each limit. All runs must write the same
    /// bytes. The run within the first limit must take at most `cpu` seconds, if set.
    fn limited(
        &mut self,
        command: &str,
        options: &[&str],
        limits: &[&str],
        bar: RunLimit,
        cpu: Option<f64>,
    ) -> Result<(), BenchError> {
        let input = self.collection.documents.clone();
        let free = self.result(&format!("{command}.jsonl"));
        let tight = self.result("limited.jsonl");
        let name = [&[command], options].concat().join(" ");
        let spent = self.measure(&output_of(command, options, &input, &free), None)?;
        self.row(&name, spent, bar);
        for (place, limit) in limits.iter().enumerate() {
            let cpu = cpu.filter(|_| place == 0);
            let options = [options, &["--memory", limit]].concat();
            let spent = self.measure(&output_of(command, &options, &input, &tight), None)?;
            let bytes = parse_memory(limit).map_err(|error| BenchError::new(limit, error))?;
            let peak = Some((bytes as f64 * TOLERANCE) as u64);
            self.row(&format!("{name} --memory {limit}"), spent, RunLimit { cpu, peak });
            self.same(&free, &tight)?;
        }
        Ok(())
    }

    /// Finds groups of very many documents within 4 GiB. A document must cost at most 1.2 times a
    /// document of `sibling`.
    fn many(&mut self, sibling: Option<&Path>) -> Result<(), BenchError> {
        let limit = ["--memory", "4GiB"];
        let peak = Some((4096.0 * TOLERANCE * MIB as f64) as u64);
        let mut bar = RunLimit { cpu: None, peak };
        if let Some(sibling) = sibling {
            let fewer = BenchCollection::of(sibling.to_owned(), None);
            let documents = count_lines(sibling)?;
            let arguments = arguments(&fewer, "find", &limit, &self.result("groups.jsonl"));
            let spent = self.measure(&arguments, None)?;
            let each = spent.cpu_seconds / documents as f64;
            bar.cpu = Some(1.2 * each * self.documents as f64);
            let name = format!("find --memory 4GiB, {documents} documents");
            self.table.row(&cells(&name, documents, spent, RunLimit { cpu: None, peak }));
        }
        let name = format!("find --memory 4GiB, {} documents", self.documents);
        self.find(&name, &limit, &self.result("groups.jsonl"), bar)?;
        self.score(&name, &limit, "jaccard", 0.8)
    }

    /// Returns the path of a result in the temporary folder.
    fn result(&self, name: &str) -> PathBuf {
        self.results.path().join(name)
    }

    fn arguments(&self, command: &str, options: &[&str]) -> Vec<OsString> {
        let mut arguments = vec![OsString::from(command), (&self.collection.documents).into()];
        arguments.extend(FIND_BY_THE_TRUTH.iter().chain(options).map(OsString::from));
        arguments
    }

    fn find(
        &mut self,
        name: &str,
        options: &[&str],
        out: &Path,
        bar: RunLimit,
    ) -> Result<(), BenchError> {
        let spent = self.measure(&arguments(self.collection, "find", options, out), None)?;
        self.row(name, spent, bar);
        Ok(())
    }

    fn measure(
        &self,
        arguments: &[OsString],
        out: Option<&Path>,
    ) -> Result<ProcessCost, BenchError> {
        measure::median_run(self.runs, || measure::child_to(&self.binary, arguments, out))
    }

    fn row(&mut self, name: &str, spent: ProcessCost, bar: RunLimit) {
        self.table.row(&cells(name, self.documents, spent, bar));
    }

    fn same(&mut self, a: &Path, b: &Path) -> Result<(), BenchError> {
        if !are_equal(a, b)? {
            let a = a.display();
            let b = b.display();
            return Err(BenchError(format!("{a} and {b} differ; they must be the same")));
        }
        self.notes.push("both write the same bytes".to_owned());
        Ok(())
    }

    /// Scores all pairs of a further run with these options, if the collection has a truth.
    fn score(
        &mut self,
        name: &str,
        options: &[&str],
        column: &str,
        threshold: f64,
    ) -> Result<(), BenchError> {
        let Some(truth) = &self.collection.truth else { return Ok(()) };
        let score = self.found(options, truth, column, threshold)?;
        self.notes.push(format!("{name}: {}", crate::run::score_text(&score)));
        Ok(())
    }

    fn found(
        &self,
        options: &[&str],
        truth: &Path,
        column: &str,
        threshold: f64,
    ) -> Result<FoundScore, BenchError> {
        let pairs = self.result("found.csv");
        let file = pairs.to_string_lossy();
        let options = [options, &["--pairs", &file]].concat();
        measure::child_to(&self.binary, &self.arguments("find", &options), None)?;
        score(&pairs, truth, column, (threshold * 1e6).round() as u32)
    }
}

/// Returns the arguments of a command that reads JSON lines from `input` and writes `out`.
fn output_of(command: &str, more: &[&str], input: &Path, out: &Path) -> Vec<OsString> {
    let mut arguments = vec![OsString::from(command), input.into()];
    arguments.extend(["--format", "jsonl", "--quiet"].iter().chain(more).map(OsString::from));
    arguments.extend([OsString::from("--output"), out.into()]);
    arguments
}

/// Returns true if two files have the same bytes.
fn are_equal(a: &Path, b: &Path) -> Result<bool, BenchError> {
    let open = |path: &Path| {
        let failed = |error| BenchError::new(path.display(), error);
        Ok::<_, BenchError>(BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?))
    };
    let mut a_file = open(a)?;
    let mut b_file = open(b)?;
    loop {
        let a_bytes = a_file.fill_buf().map_err(|error| BenchError::new(a.display(), error))?;
        let b_bytes = b_file.fill_buf().map_err(|error| BenchError::new(b.display(), error))?;
        let length = a_bytes.len().min(b_bytes.len());
        if length == 0 {
            return Ok(a_bytes.is_empty() && b_bytes.is_empty());
        }
        if a_bytes[..length] != b_bytes[..length] {
            return Ok(false);
        }
        a_file.consume(length);
        b_file.consume(length);
    }
}

fn arguments(
    collection: &BenchCollection,
    command: &str,
    options: &[&str],
    out: &Path,
) -> Vec<OsString> {
    let mut arguments = vec![OsString::from(command), (&collection.documents).into()];
    arguments.extend(FIND_BY_THE_TRUTH.iter().chain(options).map(OsString::from));
    arguments.extend([OsString::from("--output"), out.into()]);
    arguments
}

fn cells(name: &str, documents: u64, spent: ProcessCost, bar: RunLimit) -> Vec<String> {
    let mut bars = Vec::new();
    bars.extend(bar.cpu.map(|most| (format!("{most:.2} s"), spent.cpu_seconds <= most)));
    bars.extend(
        bar.peak.map(|most| (format!("{} MB", most / 1_000_000), spent.peak_bytes <= most)),
    );
    let bar: Vec<&str> = bars.iter().map(|(text, _)| text.as_str()).collect();
    let met = match (bars.is_empty(), bars.iter().all(|(_, met)| *met)) {
        (true, _) => "",
        (_, true) => "yes",
        (_, false) => "no",
    };
    vec![
        name.to_owned(),
        format!("{:.2}", spent.cpu_seconds),
        format!("{:.2}", spent.wall_seconds),
        format!("{:.0}", spent.peak_bytes as f64 / 1e6),
        format!("{:.2}", spent.cpu_seconds * 1e6 / documents.max(1) as f64),
        bar.join(", "),
        met.to_owned(),
    ]
}

/// Counts the lines of a file. Reading it also loads it into the page cache.
fn count_lines(path: &Path) -> Result<u64, BenchError> {
    let failed = |error| BenchError::new(path.display(), error);
    let mut file = File::open(path).map_err(failed)?;
    let mut buffer = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            return Ok(lines);
        }
        lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
    }
}

/// Returns the number `name` in the line of counts of a report.
fn number_in(report: &Path, name: &str) -> Result<u64, BenchError> {
    let failed = |error: std::io::Error| BenchError::new(report.display(), error);
    let lines = BufReader::new(File::open(report).map_err(failed)?).lines();
    for line in lines {
        let line = line.map_err(failed)?;
        if line.starts_with("\"counts\":") {
            let after = line.split_once(&format!("\"{name}\":")).map_or("", |(_, after)| after);
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            return after[..end].parse().map_err(|error| BenchError::new(name, error));
        }
    }
    Err(BenchError(format!("{} has no line of counts", report.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_within_limits_meet_the_bar() {
        let spent = ProcessCost { cpu_seconds: 2.0, wall_seconds: 1.0, peak_bytes: 5_000_000 };
        let last = |cpu, peak| cells("x", 1_000, spent, RunLimit { cpu, peak }).pop();
        assert_eq!(last(None, None).as_deref(), Some(""));
        assert_eq!(last(Some(2.0), Some(5_000_000)).as_deref(), Some("yes"));
        assert_eq!(last(Some(1.9), Some(5_000_000)).as_deref(), Some("no"));
        assert_eq!(last(Some(2.0), Some(4_999_999)).as_deref(), Some("no"));
        assert_eq!(cells("x", 1_000, spent, RunLimit::default())[4], "2000.00");
    }
}
