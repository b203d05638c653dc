//! Measures lookalike. The commands of this program are:
//!
//! - `stages`: every stage alone
//! - `run`: the program `lookalike`, compared with `wc -w`
//! - `generate`: creates a collection with known near-duplicates
//! - `bar NAME`: the cost of runs, compared with limits
//! - `matrix`: all scripts, shingles, formats and jobs
//! - `files`: text extraction from files
//! - `index`: an index in a folder or in a PostgreSQL database
//! - `json`: the scanner of JSON records, compared with other parsers
//! - `serve`: the response times of a server
//!
//! Without a command, runs `stages` and `run`. See `contributing/measuring.md`. `bench/peers.py`
//! measures other libraries.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports figures")]

mod bars;
mod collection;
mod corpus;
mod excerpt;
mod files;
mod generate;
mod index;
#[cfg(feature = "json-peers")]
mod json;
mod matrix;
mod measure;
mod options;
mod run;
mod score;
mod serve;
mod stages;
mod table;
mod truth;
mod vocabulary;

use collection::BenchCollection;
use options::{BenchError, BenchOptions};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    match command() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Result<(), BenchError> {
    let second = std::env::args().nth(2).filter(|second| !second.starts_with("--"));
    let first = std::env::args().nth(1).filter(|first| !first.starts_with("--"));
    let skipped = if first.is_some() { 2 } else { 1 };
    if first.as_deref() == Some(measure::MEASURE_ONE) {
        println!("{}", measure::measure_one(std::env::args_os().skip(skipped))?);
        return Ok(());
    }
    if let (Some("bar"), Some(name)) = (first.as_deref(), second) {
        let mut options = BenchOptions::parse(std::env::args().skip(3))?;
        let collection = collection(&mut options)?;
        return bars::bar(&name, &collection, options);
    }
    let mut options = BenchOptions::parse(std::env::args().skip(skipped))?;
    match first.as_deref() {
        Some("generate") => generate_command(options),
        Some("passages") => {
            let collection = collection(&mut options)?;
            bars::bar("passages", &collection, options)
        }
        Some("files") => files::files(options),
        Some("serve") => serve::serve(options),
        Some("index") => index::index(options),
        #[cfg(feature = "json-peers")]
        Some("json") => {
            let collection = collection(&mut options)?;
            json::json(&collection, options)
        }
        Some("stages") => {
            let collection = collection(&mut options)?;
            stages::stages(&collection, options)
        }
        Some("matrix") => {
            let collection = collection(&mut options)?;
            matrix::matrix(&collection, options)
        }
        Some("run") => {
            let collection = collection(&mut options)?;
            run::run(&collection, options)
        }
        None => {
            let collection = collection(&mut options)?;
            options.finish()?;
            stages::stages(&collection, BenchOptions::parse([])?)?;
            run::run(&collection, BenchOptions::parse([])?)
        }
        Some("bar") => Err(BenchError(format!("bar needs a name; there are {}", bars::NAMES))),
        Some(other) => Err(BenchError(format!(
            "{other:?} is not a command; there are generate, stages, run, matrix, files, index, \
             json (with the feature json-peers), serve, bar"
        ))),
    }
}

/// Returns the files named by `--corpus` and `--truth`. Without `--corpus`, returns the collection
/// in `bench/data` for these options, and generates it if it does not exist.
fn collection(options: &mut BenchOptions) -> Result<BenchCollection, BenchError> {
    if let Some(documents) = options.path("corpus") {
        return Ok(BenchCollection::of(documents, options.path("truth")));
    }
    let request = generate::request(options)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    std::fs::create_dir_all(&folder).map_err(|error| BenchError::new(folder.display(), error))?;
    // The name contains every option, so that a file is used only for the request that created it.
    let name = format!(
        "{}-{}-{}-{}-{}-{}-{}-{}-{}",
        request.docs,
        request.seed,
        request.mean_words,
        request.least_words,
        request.planted,
        request.mega,
        request.short,
        request.empty,
        request.excerpts
    );
    let documents = folder.join(format!("{name}.jsonl"));
    let truth = folder.join(format!("{name}.truth.csv"));
    if !documents.exists() {
        // The collection gets its name last, so an interrupted run leaves no incomplete collection.
        let unfinished = folder.join(format!("{name}.unfinished"));
        generate_reporting(request, &unfinished, &truth)?;
        std::fs::rename(&unfinished, &documents)
            .map_err(|error| BenchError::new(documents.display(), error))?;
    }
    Ok(BenchCollection::of(documents, Some(truth)))
}

fn generate_command(mut options: BenchOptions) -> Result<(), BenchError> {
    let (Some(out), Some(truth)) = (options.path("out"), options.path("truth")) else {
        return Err(BenchError("generate needs --out FILE and --truth FILE".to_owned()));
    };
    let request = generate::request(&mut options)?;
    options.finish()?;
    generate_reporting(request, &out, &truth)
}

fn generate_reporting(
    request: corpus::Request,
    out: &Path,
    truth: &Path,
) -> Result<(), BenchError> {
    let begun = Instant::now();
    let docs = request.docs;
    let (bytes, pairs) = generate::generate(request, out, truth)
        .map_err(|error| BenchError::new(out.display(), error))?;
    eprintln!(
        "{}: {docs} documents, {bytes} bytes, {pairs} pairs of J >= 0.3, {:.1} s",
        out.display(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
