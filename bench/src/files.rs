//! `files`: measures the extraction of texts from the files of a folder, separately for each kind
//! of file. Extracts one file after the other from bytes in memory, and counts the CPU seconds of
//! this process.

use crate::measure;
use crate::options::{BenchError, BenchOptions};
use crate::table::TextTable;
use lookalike::extract::{
    ExtractOptions as Wanted, ExtractedPart, Extractor, FailedPart, FileKind, HtmlText, PartSink,
};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;

/// Counts the extracted texts, their bytes and the failures.
#[derive(Default)]
struct Sums {
    texts: usize,
    bytes: usize,
    failed: usize,
}

impl PartSink for Sums {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        self.texts += 1;
        self.bytes += part.text.len();
        Ok(())
    }

    fn failed(&mut self, _: &FailedPart<'_>) -> Result<(), Infallible> {
        self.failed += 1;
        Ok(())
    }
}

/// Measures every kind of file in `--folder` and its subfolders.
///
/// # Errors
///
/// If the folder does not exist, or a file in it cannot be read.
pub(crate) fn files(mut options: BenchOptions) -> Result<(), BenchError> {
    let folder = options.path("folder");
    let folder = folder.ok_or_else(|| BenchError("files needs --folder FOLDER".to_owned()))?;
    let runs: usize = options.number("runs", 5)?;
    options.finish()?;
    let mut kinds: BTreeMap<&'static str, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    gather(&folder, &mut kinds)?;
    let mut table =
        TextTable::new(&["files", "number", "MB", "texts", "MB of text", "failed", "MB/s"]);
    for (kind, files) in &kinds {
        let pages = [("main", HtmlText::Main), ("all", HtmlText::All)];
        let several = *kind == FileKind::Html.name();
        for (name, html) in pages.into_iter().take(if several { 2 } else { 1 }) {
            let name = if several { format!("{kind}, {name} text") } else { (*kind).to_owned() };
            let wanted = Wanted { html, ..Wanted::default() };
            table.row(&row(&name, files, &wanted, runs)?);
        }
    }
    println!("{table}");
    Ok(())
}

fn gather(
    folder: &Path,
    kinds: &mut BTreeMap<&'static str, Vec<(String, Vec<u8>)>>,
) -> Result<(), BenchError> {
    let failed = |error| BenchError::new(folder.display(), error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            gather(&path, kinds)?;
            continue;
        }
        let bytes = std::fs::read(&path).map_err(|error| BenchError::new(path.display(), error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        kinds.entry(FileKind::of(&name, &bytes).name()).or_default().push((name, bytes));
    }
    Ok(())
}

fn row(
    name: &str,
    files: &[(String, Vec<u8>)],
    wanted: &Wanted,
    runs: usize,
) -> Result<Vec<String>, BenchError> {
    let mut seconds = Vec::new();
    let mut sums = Sums::default();
    for _ in 0..runs.max(1) {
        let mut extractor = Extractor::new(wanted);
        let (spent, counted) = measure::process_cpu(|| {
            let mut sums = Sums::default();
            for (name, bytes) in files {
                let Ok(()) = extractor.extract(name, bytes, &mut sums);
            }
            sums
        })?;
        seconds.push(spent);
        sums = counted;
    }
    let megabytes = files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() as f64 / 1e6;
    Ok(vec![
        name.to_owned(),
        files.len().to_string(),
        format!("{megabytes:.1}"),
        sums.texts.to_string(),
        format!("{:.1}", sums.bytes as f64 / 1e6),
        sums.failed.to_string(),
        format!("{:.0}", megabytes / measure::median(seconds)),
    ])
}
