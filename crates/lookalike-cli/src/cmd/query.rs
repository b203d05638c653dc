//! `lookalike query INDEX DOC…`: what resembles a document in an index.

mod answer;

use super::index::{Asked, PlaceArgs};
use super::{Failure, Outcome};
use crate::exit_code::ExitCode;
use crate::extraction::Worker;
use crate::member::Member;
use crate::options::{ReadArgs, threshold};
use crate::told::Told;
use answer::Asking;
use lookalike::index::Preparer;
use lookalike::index::time;
use lookalike::read::{Collection, Document, Format, ReadOptions, Scratch, Sink, Skipped, Wording};
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::Wanted;
use lookalike::store::filter::Filter;
use lookalike::store::nearest::Nearest;
use lookalike::store::query::{Question, Scratch as Buffers, query};
use lookalike::store::settings::Store;
use lookalike::store::stored::query_stored;
use lookalike::store::{Index, IndexError};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  lookalike query news draft.txt                      what resembles a file
  pbpaste | lookalike query news -                    or a text on standard input
  lookalike query news --id 4711 --threshold 0.5      or a document of the index
  lookalike query news draft.txt --nearest 5           the most similar ones, whatever they are
  lookalike query news new.jsonl --json --filter language=en --filter 'date>=2024'";

/// The exit code of `--exit-code` when something was found.
const FOUND: u8 = 3;

/// What resembles a document, in an index
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    place: PlaceArgs,

    /// Files or folders with the documents to ask for, a document in a file by its id
    /// (a.zip/x.txt), or - for a text on standard input
    #[arg(value_name = "DOC")]
    documents: Vec<PathBuf>,

    /// Ask for a document of the index; may be given again
    #[arg(long, value_name = "ID")]
    id: Vec<String>,

    /// Least similarity of a match: above 0, at most 1 [default: that of the index]
    #[arg(long, short, value_name = "J", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    threshold: Option<f64>,

    /// Show at most N matches of each document, the most similar ones; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Find the N most similar documents, whatever their similarity, by the signatures of all
    /// documents
    #[arg(long, value_name = "N", conflicts_with_all = ["threshold", "top"])]
    nearest: Option<NonZeroUsize>,

    /// A condition on metadata that matches meet, such as language=en, year>=2020 or title~budget;
    /// may be given again
    #[arg(long, value_name = "CONDITION")]
    filter: Vec<Filter>,

    /// Show the texts of matches, where the index keeps them
    #[arg(long)]
    text: bool,

    /// Print JSON: one object a line for each document asked for
    #[arg(long)]
    json: bool,

    /// End with 3 when something was found
    #[arg(long)]
    exit_code: bool,

    /// Print matches only
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    asked: Asked,

    #[command(flatten)]
    reading: Told<ReadArgs>,
}

impl Args {
    /// Adds the inputs of `--files-from`.
    pub(crate) fn read_list(&mut self) -> Result<(), Failure> {
        self.documents = self.reading.args.inputs(&self.documents)?;
        Ok(())
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, worker: Worker<'_>) -> Outcome {
    if args.documents.is_empty() && args.id.is_empty() {
        return Err(Failure::Usage(
            "nothing is asked for: name files, - for a text on standard input, or --id ID for a \
             document of the index"
                .to_owned(),
        ));
    }
    let index = args.place.read()?;
    args.asked.expect(&index, &args.reading)?;
    if args.text && index.settings().store != Store::Texts {
        return Err(Failure::Usage(format!(
            "{} keeps no texts to show: leave out --text, or create an index with --store texts",
            index.name()
        )));
    }
    let reading = reading(args, worker);
    let members: Vec<Member> = args.documents.iter().filter_map(|path| Member::of(path)).collect();
    let mut files = args.documents.clone();
    files.retain(|path| Member::of(path).is_none());
    let documents = match files.as_slice() {
        [] => None,
        inputs => Some(Collection::open(inputs, &reading)?),
    };
    let asker = Asker { index: &index, args, now: time::now() };
    let mut snapshot = index.snapshot()?;
    let mut asking = Asking::new(args, &index);
    for id in &args.id {
        asker.stored(id, &mut *snapshot, &mut asking)?;
    }
    if let Some(documents) = documents {
        asker.documents(&documents, &mut *snapshot, &mut asking)?;
    }
    for member in &members {
        asker.member(member, &reading, &mut *snapshot, &mut asking)?;
    }
    let found = asking.finish()?;
    Ok(if args.exit_code && found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
}

fn reading(args: &Args, worker: Worker<'_>) -> ReadOptions {
    let mut options = ReadOptions {
        // The index brings texts to its wording itself.
        wording: Wording::default(),
        leave_out: args.place.folder().into_iter().collect(),
        ..args.reading.args.options(worker)
    };
    if args.documents.iter().all(|path| path == Path::new("-")) {
        options.format = options.format.or(Some(Format::Text));
    }
    options
}

/// What is asked of which index.
struct Asker<'a> {
    index: &'a Index,
    args: &'a Args,
    now: i64,
}

impl Asker<'_> {
    fn question(&self) -> Question<'_> {
        let signatures = self.index.compact_signatures();
        Question {
            threshold: self.args.threshold.unwrap_or(self.index.settings().threshold),
            top: Some(self.args.top).filter(|top| *top > 0),
            nearest: self.args.nearest.map(|count| Nearest { count, signatures }),
            filters: &self.args.filter,
            now: self.now,
            except: None,
            wanted: Wanted { metadata: self.args.json, text: self.args.text, ..Wanted::default() },
        }
    }

    /// Asks for a document of the index.
    fn stored(
        &self,
        id: &str,
        snapshot: &mut dyn Snapshot,
        asking: &mut Asking<'_>,
    ) -> Result<(), Failure> {
        let unknown = || {
            let (id, index) = (lookalike::store::entry::shown(id), self.index.name());
            Failure::Data(format!(
                "there is no document {id:?} in {index}; `lookalike index export` lists those \
                 there are"
            ))
        };
        let (settings, question) = (self.index.settings(), self.question());
        let found = query_stored(snapshot, settings, id, &question, &mut Buffers::default())?;
        let (stored, answer) = found.ok_or_else(unknown)?;
        Ok(asking.tell(id, &stored.probe(), &question, &answer)?)
    }

    /// Asks for one document of a file.
    fn member(
        &self,
        member: &Member,
        reading: &ReadOptions,
        snapshot: &mut dyn Snapshot,
        asking: &mut Asking<'_>,
    ) -> Result<(), Failure> {
        let mut sink = Ask {
            asker: self,
            preparer: Preparer::new(self.index.settings())?,
            buffers: Buffers::default(),
            snapshot,
            asking,
            outcome: Ok(()),
        };
        member.read(reading, &mut |document| sink.document(document))?;
        sink.outcome
    }

    /// Asks for all documents of a collection, in order.
    fn documents(
        &self,
        collection: &Collection,
        snapshot: &mut dyn Snapshot,
        asking: &mut Asking<'_>,
    ) -> Result<(), Failure> {
        let mut sink = Ask {
            asker: self,
            preparer: Preparer::new(self.index.settings())?,
            buffers: Buffers::default(),
            snapshot,
            asking,
            outcome: Ok(()),
        };
        let mut scratch = Scratch::default();
        while let Some(block) = collection.next_block_in_order()? {
            block.read(&mut scratch, &mut sink)?;
            std::mem::replace(&mut sink.outcome, Ok(()))?;
        }
        for skipped in collection.listed() {
            sink.skipped(skipped.clone());
        }
        Ok(())
    }
}

/// Asks for every document that it is given, until something fails.
struct Ask<'a, 'b> {
    asker: &'a Asker<'a>,
    preparer: Preparer,
    buffers: Buffers,
    snapshot: &'a mut dyn Snapshot,
    asking: &'a mut Asking<'b>,
    outcome: Result<(), Failure>,
}

impl Ask<'_, '_> {
    fn ask(&mut self, document: &Document<'_>) -> Result<(), Failure> {
        let probe = self.preparer.prepare(document.text).probe();
        let question = self.asker.question();
        let settings = self.asker.index.settings();
        let answer = query(&mut *self.snapshot, settings, &probe, &question, &mut self.buffers);
        let answer = answer.map_err(|error: IndexError| Failure::from(error))?;
        Ok(self.asking.tell(document.id, &probe, &question, &answer)?)
    }
}

impl Sink for Ask<'_, '_> {
    fn document(&mut self, document: &Document<'_>) {
        if self.outcome.is_ok() {
            self.outcome = self.ask(document);
        }
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.asking.skipped(skipped);
    }
}
