//! `--add`: documents that stay go into the index that they were compared with.

use super::args::DedupArgs;
use crate::cmd::CommandError;
use crate::index_place;
use lookalike::dedup::add_survivors;
use lookalike::error::Error;
use lookalike::find::{FindOptions, Findings};
use lookalike::index::{AddOptions, time};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, Normalization};
use lookalike::report::phrases::count;
use lookalike::store::index::{Access, open};
use lookalike::store::{Index, IndexError};
use std::fmt::Write as _;
use std::time::Duration;

/// How long another process that writes to the index is waited for.
const WAIT: Duration = Duration::from_secs(5);

/// The index that documents are added to, opened before the work, so that nobody else adds any
/// meanwhile.
pub(super) struct ReferenceIndex(Index);

impl ReferenceIndex {
    /// The only index among the references, where documents are to be added.
    pub(super) fn open(args: &DedupArgs) -> Result<Option<Self>, CommandError> {
        if !args.result.add {
            return Ok(None);
        }
        args.reading.refuse_units("compares parts of documents, --add adds whole ones")?;
        if args.reading.normalization() != Normalization::default() {
            let message = "--add stores texts as they are, and the index brings them to its own \
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
        Ok(Some(Self(open(location, Access::Write { wait: WAIT })?)))
    }

    /// Adds what stays, and records what went; gives in words what was done.
    pub(super) fn add(
        &self,
        findings: &Findings,
        collection: &Collection,
        options: &FindOptions,
    ) -> Result<String, CommandError> {
        let how = AddOptions { threads: options.threads, ..AddOptions::new(time::now()) };
        let added = add_survivors(findings, collection, options, (&self.0, &how), &NoProgress);
        let added = added.map_err(|error| match error {
            Error::Index(IndexError::IdTaken { id }) => CommandError::Data(format!(
                "{}: document {id:?} is there already with another text; the documents before it \
                 are added: give it another id, or remove the one of the index",
                self.0.name()
            )),
            error => error.into(),
        })?;
        let mut done = format!("added to {}: {}", self.0.name(), count(added.added, "document"));
        if added.duplicates > 0 {
            let duplicates = count(added.duplicates, "duplicate");
            write!(done, "; {duplicates} of documents there recorded")
                .map_err(std::io::Error::other)?;
        }
        Ok(done)
    }
}
