//! `lookalike query INDEX DOC…`: finds the documents of an index that resemble a document.

mod answer;
mod args;

use super::{CommandError, CommandResult};
use crate::extraction::WorkerOption;
use crate::member::FileMember;
use crate::output::summary::exit_code;
use answer::QueryOutput;
pub(crate) use args::QueryArgs;
use lookalike::categories::CategoryBuffers;
use lookalike::index::{IndexCategories, TextPreparer, time};
use lookalike::read::{
    Collection, Document, DocumentSink, Format, ReadBuffers, ReadOptions, SkippedItem,
};
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::RecordFields;
use lookalike::store::nearest::NearestRequest;
use lookalike::store::query::{QueryBuffers as Buffers, QueryRequest, query};
use lookalike::store::query_by_id::query_stored;
use lookalike::store::{Index, IndexError};
use std::num::NonZeroUsize;
use std::path::Path;

/// Number of nearest documents that are shown for a query without a match.
const NEAREST: Option<NonZeroUsize> = NonZeroUsize::new(3);

/// Runs the command.
pub(crate) fn run(args: &mut QueryArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.documents)?;
    let args = &*args;
    if args.documents.is_empty() && args.id.is_empty() {
        return Err(CommandError::Usage(
            "nothing to query; name files, - for a text on standard input, or --id ID for a \
             document of the index"
                .to_owned(),
        ));
    }
    let index = args.place.read()?;
    if args.text && !index.settings().store.has_texts() {
        return Err(CommandError::Usage(format!(
            "{} stores no texts; remove --text, or create an index with --store texts",
            index.name()
        )));
    }
    let reading = reading(args, worker);
    let members: Vec<FileMember> =
        args.documents.iter().filter_map(|path| FileMember::of(path)).collect();
    let mut files = args.documents.clone();
    files.retain(|path| FileMember::of(path).is_none());
    let documents = match files.as_slice() {
        [] => None,
        inputs => Some(Collection::open(inputs, &reading)?),
    };
    let setup = QuerySetup { index: &index, args, now: time::now() };
    let mut snapshot = index.snapshot()?;
    let categories = IndexCategories::read(&mut *snapshot, None)?;
    let mut output = QueryOutput::new(args, &index, categories);
    for id in &args.id {
        setup.stored(id, &mut *snapshot, &mut output)?;
    }
    if let Some(documents) = documents {
        setup.documents(&documents, &mut *snapshot, &mut output)?;
    }
    for member in &members {
        setup.member(member, &reading, &mut *snapshot, &mut output)?;
    }
    let skipped = output.skipped.clone();
    let found = output.finish()?;
    let skip_bad = args.reading.skip_bad();
    Ok(exit_code(skipped.into_iter().map(Ok), skip_bad, args.exit_code && found)?)
}

fn reading(args: &QueryArgs, worker: WorkerOption<'_>) -> ReadOptions {
    let mut options = ReadOptions {
        leave_out: args.place.folder().into_iter().collect(),
        ..args.reading.options(worker)
    };
    if args.documents.iter().all(|path| path == Path::new("-")) {
        options.format = options.format.or(Some(Format::Text));
    }
    options
}

/// The index to query, the arguments, and the time of the query.
struct QuerySetup<'a> {
    index: &'a Index,
    args: &'a QueryArgs,
    now: i64,
}

impl QuerySetup<'_> {
    /// Builds the request: for a number of nearest documents, or for the documents that reach the
    /// threshold.
    fn question(&self, nearest: Option<NonZeroUsize>) -> QueryRequest<'_> {
        let signatures = self.index.compact_signatures();
        let is_table = !self.args.json && !self.args.quiet;
        QueryRequest {
            threshold: self.args.threshold.unwrap_or(self.index.settings().threshold),
            top: Some(self.args.top).filter(|top| *top > 0),
            nearest: nearest.map(|count| NearestRequest { count, signatures }),
            filters: &self.args.filter,
            now: self.now,
            except: None,
            wanted: RecordFields {
                metadata: self.args.json || is_table,
                text: self.args.text || is_table && self.index.settings().store.has_texts(),
                ..RecordFields::default()
            },
        }
    }

    /// Queries with a document of the index.
    fn stored(
        &self,
        id: &str,
        snapshot: &mut dyn Snapshot,
        output: &mut QueryOutput<'_>,
    ) -> Result<(), CommandError> {
        let unknown = || {
            let id = lookalike::store::entry::shortened_id(id);
            let index = self.index.name();
            CommandError::Data(format!(
                "{index} has no document {id:?}; `lookalike index export` lists its documents"
            ))
        };
        let settings = self.index.settings();
        let question = self.question(self.args.nearest);
        let found = query_stored(snapshot, settings, id, &question, &mut Buffers::default())?;
        let (stored, answer) = found.ok_or_else(unknown)?;
        let number = snapshot.number_of(id)?;
        let category = output.categories.as_ref().zip(number);
        let category =
            category.map(|(all, number)| all.of_document(snapshot, number)).transpose()?;
        let details = output.details(&answer, category, snapshot)?;
        let probe = stored.query_document();
        output.print(id, &probe, &question, &answer, &details)?;
        if output.wants_nearest(&probe, &answer) {
            let question = self.question(NEAREST);
            let found = query_stored(snapshot, settings, id, &question, &mut Buffers::default())?;
            if let Some((_, nearest)) = found {
                output.add_nearest(id, nearest);
            }
        }
        Ok(())
    }

    /// Queries with one document of a file.
    fn member(
        &self,
        member: &FileMember,
        reading: &ReadOptions,
        snapshot: &mut dyn Snapshot,
        output: &mut QueryOutput<'_>,
    ) -> Result<(), CommandError> {
        let mut sink = QueryRunner::new(self, snapshot, output)?;
        member.read(reading, &mut |document| sink.document(document))
    }

    /// Queries with all documents of a collection, in order.
    fn documents(
        &self,
        collection: &Collection,
        snapshot: &mut dyn Snapshot,
        output: &mut QueryOutput<'_>,
    ) -> Result<(), CommandError> {
        let mut sink = QueryRunner::new(self, snapshot, output)?;
        let mut scratch = ReadBuffers::default();
        while let Some(block) = collection.next_block_in_order()? {
            block.read(&mut scratch, &mut sink)?;
        }
        for skipped in collection.listed() {
            sink.skipped(skipped.clone())?;
        }
        Ok(())
    }
}

/// Queries with every document that it receives.
struct QueryRunner<'a, 'b> {
    setup: &'a QuerySetup<'a>,
    preparer: TextPreparer,
    buffers: Buffers,
    category_buffers: CategoryBuffers,
    snapshot: &'a mut dyn Snapshot,
    output: &'a mut QueryOutput<'b>,
}

impl<'a, 'b> QueryRunner<'a, 'b> {
    fn new(
        setup: &'a QuerySetup<'a>,
        snapshot: &'a mut dyn Snapshot,
        output: &'a mut QueryOutput<'b>,
    ) -> Result<Self, CommandError> {
        Ok(Self {
            setup,
            preparer: TextPreparer::new(setup.index.settings())?,
            buffers: Buffers::default(),
            category_buffers: CategoryBuffers::default(),
            snapshot,
            output,
        })
    }
}

impl DocumentSink for QueryRunner<'_, '_> {
    type Error = CommandError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), CommandError> {
        let probe = self.preparer.prepare(document.text).query_document();
        let question = self.setup.question(self.setup.args.nearest);
        let settings = self.setup.index.settings();
        let answer = query(&mut *self.snapshot, settings, &probe, &question, &mut self.buffers);
        let answer = answer.map_err(|error: IndexError| CommandError::from(error))?;
        let category = self.output.categories.as_ref();
        let category =
            category.map(|all| all.model().category(document.text, &mut self.category_buffers));
        let details = self.output.details(&answer, category, &mut *self.snapshot)?;
        self.output.print(document.id, &probe, &question, &answer, &details)?;
        if self.output.wants_nearest(&probe, &answer) {
            let question = self.setup.question(NEAREST);
            let nearest =
                query(&mut *self.snapshot, settings, &probe, &question, &mut self.buffers);
            let nearest = nearest.map_err(|error: IndexError| CommandError::from(error))?;
            self.output.add_nearest(document.id, nearest);
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), CommandError> {
        self.output.skipped(skipped);
        Ok(())
    }
}
