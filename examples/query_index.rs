//! Creates an index of a folder of documents and finds the one that a text is similar to.
//!
//! ```text
//! cargo run --example query_index [FOLDER [TEXT]]
//! ```

use lookalike::index::{AddOptions, TextPreparer, add};
use lookalike::read::Normalization;
use lookalike::store::entry::RecordFields;
use lookalike::store::index::{IndexLocation, create};
use lookalike::store::query::{QueryBuffers, QueryRequest};
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike::{Collection, NoProgress, Params, ParamsBuilder, ReadOptions};
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// The text that is searched for by default: the beginning of a recipe.
pub(crate) const TEXT: &str = "\
    Fry a chopped onion and two grated carrots in olive oil until they smell sweet. Add a teaspoon \
    of cumin, a little chilli and a spoonful of tomato paste, and stir for one minute so that \
    nothing sticks to the pot.";

/// Prints the number of documents in the index, and the three most similar to `text`.
pub(crate) fn run(folder: &Path, text: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let params = Params::new(&ParamsBuilder { threshold: 0.2, ..ParamsBuilder::default() })?;
    let settings =
        IndexSettings::new(&params, &Normalization::default().to_string(), StoredContent::Texts)?;
    let place = tempfile::tempdir()?;
    let index =
        create(&IndexLocation::Folder(place.path().join("documents.lookalike")), &settings)?;

    let collection = Collection::open(&[folder.to_owned()], &ReadOptions::default())?;
    let added = add(&index, &collection, &AddOptions::new(0), &NoProgress)
        .map_err(|broken| broken.error)?;
    writeln!(out, "{} documents", added.added)?;

    let mut preparer = TextPreparer::new(index.settings())?;
    let probe = preparer.prepare(text).query_document();
    let question = QueryRequest {
        threshold: 0.2,
        top: Some(3),
        nearest: None,
        filters: &[],
        now: 0,
        except: None,
        wanted: RecordFields::default(),
    };
    let answer = index.query(&probe, &question, &mut QueryBuffers::default())?;
    for found in answer.matches {
        writeln!(out, "{} {}", found.similarity.six_decimals(), found.record.id)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "fixtures/sample".to_owned());
    let text = arguments.next().unwrap_or_else(|| TEXT.to_owned());
    run(Path::new(&folder), &text, &mut std::io::stdout())
}
