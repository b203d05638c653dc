//! `--bands auto`: bands and rows for the documents that a command is about to read.

use super::CommandError;
use crate::terminal;
use lookalike::core::params::ParamsBuilder;
use lookalike::find::FindOptions;
use lookalike::progress::Progress;
use lookalike::read::Collection;
use lookalike::report::phrases::thousands;
use lookalike::tune::choose_bands;

/// Chooses the bands and rows of `options`, which were made of `builder`, for a sample of the
/// collection, and prints the choice unless `quiet`.
pub(super) fn choose(
    collection: &Collection,
    builder: &ParamsBuilder,
    options: &mut FindOptions,
    progress: &dyn Progress,
    quiet: bool,
) -> Result<(), CommandError> {
    let drawn = choose_bands(collection, builder, progress)?;
    if !quiet {
        let (values, bands) = (drawn.params.num_hashes(), drawn.params.bands());
        let flags = format!("--num-hashes {values} --bands {bands} --rows {}", drawn.params.rows());
        let documents = thousands(drawn.documents as u64);
        let message = format!("bands chosen for {documents} documents drawn: {flags}");
        terminal::stderr().message(&message)?;
    }
    options.params = drawn.params;
    options.bands_sample = Some(drawn.documents);
    Ok(())
}
