//! Measures lookalike: every stage alone (`stages`), the whole command beside `wc -w` (`run`), on
//! a collection with known near-duplicates that it makes itself (`generate`). Without a command it
//! does `stages` and `run`. See `bench/README.md`; `bench/peers.py` measures other libraries.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports figures")]

mod corpus;
mod generate;
mod measure;
mod options;
mod run;
mod score;
mod stages;
mod table;
mod truth;
mod vocabulary;

use options::{Options, Problem};
use std::path::{Path, PathBuf};
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

fn command() -> Result<(), Problem> {
    let first = std::env::args().nth(1).filter(|first| !first.starts_with("--"));
    let skipped = if first.is_some() { 2 } else { 1 };
    if first.as_deref() == Some(measure::MEASURE_ONE) {
        println!("{}", measure::measure_one(std::env::args_os().skip(skipped))?);
        return Ok(());
    }
    let mut options = Options::parse(std::env::args().skip(skipped))?;
    match first.as_deref() {
        Some("generate") => generate_command(options),
        Some("stages") => {
            let collection = collection(&mut options)?;
            stages::stages(&collection, options)
        }
        Some("run") => {
            let collection = collection(&mut options)?;
            run::run(&collection, options)
        }
        None => {
            let collection = collection(&mut options)?;
            options.finish()?;
            stages::stages(&collection, Options::parse([])?)?;
            run::run(&collection, Options::parse([])?)
        }
        Some(other) => {
            Err(Problem(format!("{other:?} is not a command; there are generate, stages and run")))
        }
    }
}

/// A collection and, where there is one, its truth.
pub(crate) struct Collection {
    /// JSONL with `id` and `text`.
    pub(crate) documents: PathBuf,
    /// CSV with `id_a`, `id_b`, `jaccard`.
    pub(crate) truth: Option<PathBuf>,
}

/// The files named by `--corpus` and `--truth`, or the collection of these options in
/// `bench/data`, made first where it is not there.
fn collection(options: &mut Options) -> Result<Collection, Problem> {
    if let Some(documents) = options.path("corpus") {
        return Ok(Collection { documents, truth: options.path("truth") });
    }
    let request = generate::request(options)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    std::fs::create_dir_all(&folder).map_err(|error| Problem::new(folder.display(), error))?;
    // Every option is part of the name, so that an old file is never taken for another request.
    let name = format!(
        "{}-{}-{}-{}-{}-{}-{}",
        request.docs,
        request.seed,
        request.mean_words,
        request.planted,
        request.mega,
        request.short,
        request.empty
    );
    let documents = folder.join(format!("{name}.jsonl"));
    let truth = folder.join(format!("{name}.truth.csv"));
    if !documents.exists() {
        // The collection gets its name last: a run that was stopped leaves none.
        let unfinished = folder.join(format!("{name}.unfinished"));
        generate_reporting(request, &unfinished, &truth)?;
        std::fs::rename(&unfinished, &documents)
            .map_err(|error| Problem::new(documents.display(), error))?;
    }
    Ok(Collection { documents, truth: Some(truth) })
}

fn generate_command(mut options: Options) -> Result<(), Problem> {
    let (Some(out), Some(truth)) = (options.path("out"), options.path("truth")) else {
        return Err(Problem("generate needs --out FILE and --truth FILE".to_owned()));
    };
    let request = generate::request(&mut options)?;
    options.finish()?;
    generate_reporting(request, &out, &truth)
}

fn generate_reporting(request: corpus::Request, out: &Path, truth: &Path) -> Result<(), Problem> {
    let begun = Instant::now();
    let docs = request.docs;
    let (bytes, pairs) = generate::generate(request, out, truth)
        .map_err(|error| Problem::new(out.display(), error))?;
    eprintln!(
        "{}: {docs} documents, {bytes} bytes, {pairs} pairs of J >= 0.3, {:.1} s",
        out.display(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
