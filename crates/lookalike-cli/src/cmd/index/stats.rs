//! `lookalike index stats INDEX`: the sizes, counts and settings of an index.

use super::open::{PlaceArgs, ReadingArgs};
use crate::cmd::CommandResult;
use crate::exit_code::ExitCode;
use crate::output::summary::percent;
use crate::output::terminal;
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::store::Index;
use lookalike::store::backend::{OriginalStats, Stats};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Sizes, counts and settings of an index
#[derive(Debug, clap::Args)]
pub(super) struct StatsArgs {
    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    output: ReadingArgs,
}

/// Runs the command.
pub(super) fn run(args: &StatsArgs) -> CommandResult {
    let index = args.place.read()?;
    let stats = index.stats()?;
    let mut out = terminal::stdout().json_if(args.output.json);
    if args.output.json {
        writeln!(out, "{:#}", value(&index, &stats)?)?;
    } else {
        write(&mut out, &index, &stats)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn value(index: &Index, stats: &Stats) -> io::Result<Value> {
    let mut value = json!({
        "index": index.name(),
        "predicted_recall": index.settings().predicted_recall(index.params().threshold()),
        "recall_caveat": index.params().recall_caveat().map(|caveat| caveat.to_string()),
    });
    let settings = serde_json::to_value(index.settings())?;
    if let (Value::Object(all), Value::Object(stats)) = (&mut value, serde_json::to_value(stats)?) {
        all.insert("settings".to_owned(), settings);
        all.extend(stats);
    }
    Ok(value)
}

fn write(out: &mut impl Write, index: &Index, stats: &Stats) -> io::Result<()> {
    let settings = index.settings();
    let params = index.params();
    let kept = format!("{:?}", settings.store).to_lowercase();
    let lines = [
        ("documents", thousands(stats.documents)),
        ("without a token", thousands(stats.without_shingles)),
        ("postings", thousands(stats.postings)),
        ("segments", thousands(stats.segments)),
        ("not in a segment yet", count(stats.tail, "document")),
        ("catalogue", size(stats.catalogue_bytes)),
        ("shingle sets in it", size(stats.set_bytes)),
        ("texts in it", size(stats.text_bytes)),
        ("postings on the disk", size(stats.segment_bytes)),
        ("keeps", kept),
        ("made with", params.to_string()),
        ("texts are cut", settings.normalization.clone()),
        (
            "finds",
            match params.recall_caveat() {
                Some(caveat) => format!("warning: {caveat}"),
                None => format!(
                    "{} % of documents at similarity {} (predicted)",
                    percent(settings.predicted_recall(params.threshold())),
                    params.threshold()
                ),
            },
        ),
    ];
    let originals = stats.originals.map(|originals| {
        let OriginalStats { versions, originals, differences, bytes, stored_bytes } = originals;
        [
            ("versions", thousands(versions)),
            ("originals in it", format!("{} in {}", size(bytes), size(stored_bytes))),
            ("distinct originals", thousands(originals)),
            ("of these differences", thousands(differences)),
        ]
    });
    writeln!(out, "{}", one_line(index.name()))?;
    for (name, value) in lines.into_iter().chain(originals.into_iter().flatten()) {
        writeln!(out, "  {name:<22}{value}")?;
    }
    Ok(())
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(5 << 30), "5.0 GiB");
    }
}
