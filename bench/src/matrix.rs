//! `matrix`: measures the program by job, shingle, measure, format and script. For comparison, also
//! measures other programs on the same file (floors). Prints CPU seconds, MB per CPU second, and
//! the wall time with all threads relative to one thread.

use crate::collection::BenchCollection;
use crate::measure::{self, ProcessCost};
use crate::options::{BenchError, BenchOptions};
use crate::run::sibling_binary;
use crate::table::TextTable;
use std::ffi::OsString;
use std::fs::{File, remove_dir_all, remove_file};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Jobs on the collection, with their arguments except the input file. `OUT` represents a path in
/// the folder of results.
const JOBS: [(&str, &str); 9] = [
    ("find", "find -o OUT.csv"),
    ("find --shingle bag", "find --shingle bag -o OUT.csv"),
    ("find --shingle chars:5", "find --shingle chars:5 -o OUT.csv"),
    ("find --measure containment", "find --measure containment -o OUT.csv"),
    ("find --exact", "find --exact -o OUT.csv"),
    ("find --scheme mod-prime", "find --scheme mod-prime -o OUT.csv"),
    ("passages", "passages -o OUT.csv"),
    ("dedup", "dedup -o OUT.jsonl"),
    ("index create", "index create OUT.index"),
];

/// Scripts: the first letter, the distance between letters, and whether blanks separate words. The
/// letters replace ASCII letters, so that all scripts have the same documents.
const SCRIPTS: [(&str, u32, u32, bool); 8] = [
    ("Latin", 'a' as u32, 1, true),
    ("Cyrillic", 0x0430, 1, true),
    ("Arabic", 0x0627, 1, true),
    ("Devanagari", 0x0915, 1, true),
    ("Hangul", 0xac00, 28, true),
    ("Thai", 0x0e01, 1, false),
    ("Hiragana", 0x3042, 2, false),
    ("Han", 0x4e00, 37, false),
];

/// Maximum number of documents per script.
const SCRIPT_DOCUMENTS: usize = 20_000;

/// Measures all jobs and prints the results. Options: `--binary FILE` (default: `lookalike` next to
/// this program) and `--runs N` (default: 3; the median counts).
pub(crate) fn matrix(
    collection: &BenchCollection,
    mut options: BenchOptions,
) -> Result<(), BenchError> {
    let binary = options.path("binary").map_or_else(sibling_binary, Ok)?;
    let runs: usize = options.number("runs", 3)?;
    options.finish()?;
    let matrix = JobMatrix { binary, runs, results: measure::results_folder()? };
    let file = &collection.documents;
    let words = matrix.floor("wc -w", &[file])?;
    let mut table = TextTable::new(&[
        "job",
        "CPU s",
        "MB per CPU s",
        "× wc -w",
        "wall s, 1 thread",
        "all threads / 1 thread",
    ]);
    let mut row =
        |name: &str, bytes: u64, one_thread: ProcessCost, all_threads: Option<ProcessCost>| {
            let ratio = all_threads.map(|all_threads| {
                format!("{:.2}", all_threads.wall_seconds / one_thread.wall_seconds)
            });
            let spent = all_threads.unwrap_or(one_thread).cpu_seconds;
            table.row(&[
                name.to_owned(),
                format!("{spent:.2}"),
                format!("{:.0}", bytes as f64 / 1e6 / spent),
                format!("{:.2}", spent / words.cpu_seconds),
                format!("{:.2}", one_thread.wall_seconds),
                ratio.unwrap_or_default(),
            ]);
        };
    let bytes = size(file)?;
    row("wc -w", bytes, words, None);
    for (name, job) in JOBS {
        let (one_thread, all) = matrix.job(job, file)?;
        row(name, bytes, one_thread, Some(all));
    }
    let report = matrix.result("report.json");
    let audit = ["find".into(), file.into(), "--quiet".into(), "--report".into(), (&report).into()];
    measure::child(&matrix.binary, &audit)?;
    let (one_thread, all) = matrix.job(&format!("audit {}", report.display()), file)?;
    row("audit", bytes, one_thread, Some(all));
    for (program, ending) in [("gzip", "gz"), ("zstd", "zst")] {
        let compressed = matrix.result(&format!("documents.jsonl.{ending}"));
        let arguments = ["-c".into(), file.into()];
        measure::child_to(Path::new(program), &arguments, Some(&compressed))?;
        let floor = matrix.floor(&format!("{program} -dc"), &[&compressed])?;
        row(&format!("{program} -dc"), bytes, floor, None);
        let (one_thread, all) = matrix.job(JOBS[0].1, &compressed)?;
        row(&format!("find, .{ending}"), bytes, one_thread, Some(all));
        remove_file(&compressed).map_err(|error| BenchError::new(compressed.display(), error))?;
    }
    let values = matrix.result("documents.csv");
    let values_bytes = separate(file, &values)?;
    let (one_thread, all) = matrix.job(JOBS[0].1, &values)?;
    row("find, .csv", values_bytes, one_thread, Some(all));
    remove_file(&values).map_err(|error| BenchError::new(values.display(), error))?;
    for script in SCRIPTS {
        let text = matrix.result("script.jsonl");
        let bytes = transliterate(file, &text, script)?;
        let (one_thread, all) = matrix.job(JOBS[0].1, &text)?;
        row(&format!("find, {}", script.0), bytes, one_thread, Some(all));
    }
    println!("{} ({:.1} MB), median of {runs}\n", file.display(), bytes as f64 / 1e6);
    println!("{table}");
    Ok(())
}

struct JobMatrix {
    binary: PathBuf,
    runs: usize,
    /// The folder of results and created inputs. It is removed at the end.
    results: TempDir,
}

impl JobMatrix {
    fn result(&self, name: &str) -> PathBuf {
        self.results.path().join(name)
    }

    /// Measures another program on files.
    fn floor(&self, command: &str, files: &[&PathBuf]) -> Result<ProcessCost, BenchError> {
        let mut words = command.split(' ');
        let program = Path::new(words.next().unwrap_or_default());
        let mut arguments: Vec<OsString> = words.map(OsString::from).collect();
        arguments.extend(files.iter().map(OsString::from));
        measure::median_run(self.runs, || measure::child(program, &arguments))
    }

    /// Measures a job on a file with one thread and with all threads.
    fn job(&self, job: &str, file: &Path) -> Result<(ProcessCost, ProcessCost), BenchError> {
        let measured = |threads: &[&str]| {
            let out = self.result("out").display().to_string();
            let mut arguments: Vec<OsString> =
                job.split(' ').map(|word| word.replace("OUT", &out).into()).collect();
            arguments.push(file.into());
            arguments.extend(["--quiet"].iter().chain(threads).map(OsString::from));
            measure::median_run(self.runs, || {
                // A new index needs a new folder.
                remove_dir_all(self.result("out.index")).ok();
                measure::child(&self.binary, &arguments)
            })
        };
        Ok((measured(&["--threads", "1"])?, measured(&[])?))
    }
}

fn size(file: &Path) -> Result<u64, BenchError> {
    let found = std::fs::metadata(file);
    Ok(found.map_err(|error| BenchError::new(file.display(), error))?.len())
}

/// Writes the first documents of a file with the letters of a script. Returns the number of bytes.
fn transliterate(
    from: &Path,
    to: &Path,
    (_, first, distance, has_blanks): (&str, u32, u32, bool),
) -> Result<u64, BenchError> {
    rewrite(from, to, SCRIPT_DOCUMENTS, |number, record, out| {
        let mut text = String::new();
        for c in record["text"].as_str().unwrap_or_default().chars() {
            let letter = (c.to_ascii_lowercase() as u32).wrapping_sub('a' as u32);
            match char::from_u32(first + letter.min(26) * distance) {
                Some(other) if letter < 26 => text.push(other),
                _ if c == ' ' && !has_blanks => {}
                _ => text.push(c),
            }
        }
        let text = serde_json::Value::from(text);
        writeln!(out, "{{\"id\":\"{number}\",\"text\":{text}}}")
    })
}

/// Writes the documents of a file as CSV with quotes around all values. Returns
/// the number of bytes.
fn separate(from: &Path, to: &Path) -> Result<u64, BenchError> {
    rewrite(from, to, usize::MAX, |number, record, out| {
        if number == 0 {
            writeln!(out, "id,text")?;
        }
        let text = record["text"].as_str().unwrap_or_default().replace('"', "\"\"");
        writeln!(out, "{},\"{text}\"", record["id"])
    })
}

/// Writes the first documents of a file in another form. Returns the number of bytes.
fn rewrite(
    from: &Path,
    to: &Path,
    documents: usize,
    write: impl Fn(usize, &serde_json::Value, &mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<u64, BenchError> {
    let failed = |error| BenchError::new(to.display(), error);
    let lines = File::open(from).map_err(|error| BenchError::new(from.display(), error))?;
    let mut out = BufWriter::new(File::create(to).map_err(failed)?);
    for (number, line) in BufReader::new(lines).lines().take(documents).enumerate() {
        let line = line.map_err(|error| BenchError::new(from.display(), error))?;
        let record = serde_json::from_str(&line).map_err(|error| BenchError(error.to_string()))?;
        write(number, &record, &mut out).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    drop(out);
    size(to)
}
