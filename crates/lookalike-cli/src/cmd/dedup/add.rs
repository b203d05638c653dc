//! `--add`: adds the kept documents to the index of the reference.

use super::args::DedupArgs;
use crate::cmd::CommandError;
use crate::index_place;
use lookalike::index::AddCounts;
use lookalike::read::Normalization;
use lookalike::report::phrases::count;
use lookalike::store::Index;
use lookalike::store::index::{Access, open};
use std::time::Duration;

/// How long the command waits for another process that writes to the index.
const WAIT: Duration = Duration::from_secs(5);

/// Opens the only index of the reference for `--add`. The index is open during the whole run, so
/// that no other process adds documents meanwhile.
pub(super) fn reference_index(args: &DedupArgs) -> Result<Option<Index>, CommandError> {
    if !args.result.add {
        return Ok(None);
    }
    args.reading.refuse_units("compares parts of documents, --add adds whole ones")?;
    if args.reading.normalization() != Normalization::default() {
        let message = "--add stores unchanged texts, and the index brings them to its own \
                       normal form; leave out --add or the options of normalization";
        return Err(CommandError::Usage(message.to_owned()));
    }
    let named = args.run.reference().iter().map(|path| index_place::among_inputs(path));
    let indexes = named.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
    let [location] = indexes.as_slice() else {
        return Err(CommandError::Usage(format!(
            "--add needs one index among --reference, there are {}",
            indexes.len()
        )));
    };
    Ok(Some(open(location, Access::Write { wait: WAIT })?))
}

/// The line of the summary about added documents.
pub(super) fn summary(added: &AddCounts, index: &Index) -> String {
    let documents = count(added.added, "document");
    let line = format!("added to {}: {documents}", index.name());
    if added.duplicates == 0 {
        return line;
    }
    let duplicates = count(added.duplicates, "duplicate");
    format!("{line}; {duplicates} of documents there recorded")
}
