//! The messages of [`Error`], in the spelling of parameters that a front end has.

use super::Error;
use crate::engine::ids::DocumentNumber;
use crate::read::Location;
use crate::temporary::system_message;
use lookalike_core::candidate::MAX_DOCUMENTS;
use lookalike_core::parameter::{NamesParameters, Parameter, ParameterSpelling};
use std::fmt;
use std::io;

impl NamesParameters for Error {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        let message = MessageWriter { f: &mut *f, name };
        match self {
            Self::Read(error) => error.fmt_with(f, name),
            Self::Params(error) => error.fmt_with(f, name),
            Self::Index(error) => error.fmt_with(f, name),
            Self::NotAdded { place, error } => {
                write!(f, "{place}: ")?;
                error.fmt_with(f, name)
            }
            Self::Audit(error) => error.fmt_with(f, name),
            Self::Contamination(error) => error.fmt_with(f, name),
            Self::Decisions(error) => fmt::Display::fmt(error, f),
            Self::RepeatedId { id, first, second } => message.repeated_id(id, first, second),
            Self::Changed { id, place } => write!(
                f,
                "document {id:?} at {place} changed while it was being read; run again when \
                 nothing writes to the input, or work on a copy"
            ),
            Self::Shard(error) => fmt::Display::fmt(error, f),
            Self::Job(error) => fmt::Display::fmt(error, f),
            Self::MemoryTooSmall { got, least } => message.memory_too_small(*got, *least),
            Self::TooManyThreads { got, most } => message.too_many_threads(*got, *most),
            Self::NoDocument { document, documents } => message.no_document(*document, *documents),
            Self::WithoutTexts { source_name } => message.without_texts(source_name),
            Self::EqualHashes => message.equal_hashes(),
            Self::NotAligned { id, place } => message.not_aligned(id, place.as_ref()),
            Self::Estimates(why) => why.fmt_with(f, name),
            Self::TooManyDocuments { got } => write!(
                f,
                "the input has at least {got} documents, one run can number {MAX_DOCUMENTS}; split \
                 the input"
            ),
            Self::TooManySources { field, got, most } => {
                message.too_many_sources(field, *got, *most)
            }
            Self::TooManyPairs { got, most } => message.too_many_pairs(*got, *most),
            Self::PairsDoNotFit { most } => message.pairs_do_not_fit(*most),
            Self::Write { path, source } => write!(
                f,
                "cannot write {}: {}; what was there before is untouched, {}",
                path.display(),
                system_message(source),
                remedy(source.kind())
            ),
            Self::OutputName(name) => fmt::Display::fmt(name, f),
            Self::OutputTaken(taken) => fmt::Display::fmt(taken, f),
            Self::NotFiles { source_name } => write!(
                f,
                "{source_name} holds records or is an archive: files are moved, linked or listed \
                 in a script if each is one document; write the kept documents to an output"
            ),
            Self::Survivors { path, problem } => {
                write!(f, "cannot write {}: ", path.display())?;
                problem.fmt_with(f, name)
            }
            Self::Spill(error) => error.fmt_with(f, name),
            Self::Interrupted => f.write_str("interrupted; nothing was written"),
            Self::Table { path, line: 0, problem } => write!(f, "{}: {problem}", path.display()),
            Self::Table { path, line, problem } => {
                write!(f, "{} line {line}: {problem}", path.display())
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with(f, Parameter::plain)
    }
}

/// Where a message is written, and how parameters are spelled in it.
struct MessageWriter<'w, 'f> {
    f: &'w mut fmt::Formatter<'f>,
    name: ParameterSpelling,
}

impl MessageWriter<'_, '_> {
    fn without_texts(self, source_name: &str) -> fmt::Result {
        write!(
            self.f,
            "passages are found in texts, and {source_name} has documents without them; name the \
             files it was made of"
        )
    }

    fn equal_hashes(self) -> fmt::Result {
        self.f.write_str(
            "different words have equal hashes with every seed that was tried; remove the \
             documents that were made for that",
        )
    }

    fn not_aligned(self, id: &str, place: Option<&Location>) -> fmt::Result {
        write!(self.f, "the words of document {id:?}")?;
        if let Some(place) = place {
            write!(self.f, " at {place}")?;
        }
        write!(
            self.f,
            " cannot be found in the text as it is written; leave out {}",
            (self.name)(Parameter::Normalize)
        )
    }

    fn repeated_id(self, id: &str, first: &Location, second: &Location) -> fmt::Result {
        if first == second {
            return write!(
                self.f,
                "{first} is read twice, so the id {id:?} would belong to two documents; name each \
                 file and folder once, and no file inside a named folder"
            );
        }
        write!(
            self.f,
            "the id {id:?} occurs at {first} and again at {second}; ids must be unique. {} names \
             another field, {} makes ids of file names and line numbers, {} leaves out the later \
             document and counts it",
            (self.name)(Parameter::IdField),
            (self.name)(Parameter::LineIds),
            (self.name)(Parameter::SkipBad)
        )
    }

    fn memory_too_small(self, got: u64, least: u64) -> fmt::Result {
        write!(
            self.f,
            "{} {} is too small: this run needs at least {}",
            (self.name)(Parameter::Memory),
            amount(got),
            amount(least.next_multiple_of(1 << 20))
        )
    }

    fn too_many_threads(self, got: usize, most: usize) -> fmt::Result {
        write!(
            self.f,
            "{} is {got}, expected 1 to {most}: more take memory and save no time",
            (self.name)(Parameter::Threads)
        )
    }

    fn no_document(self, document: DocumentNumber, documents: usize) -> fmt::Result {
        write!(
            self.f,
            "there is no document {document}: the run read {documents}, which are numbered from 0"
        )
    }

    fn too_many_sources(self, field: &str, got: usize, most: usize) -> fmt::Result {
        write!(
            self.f,
            "the field {field:?} has at least {got} values, documents are counted under at most \
             {most}; let {} name a field with fewer values, or leave it out",
            (self.name)(Parameter::SourceField)
        )
    }

    fn too_many_pairs(self, got: u64, most: u64) -> fmt::Result {
        write!(
            self.f,
            "the documents form at least {got} pairs, one run lists at most {most}; groups \
             (without {}) hold the same duplicates, or raise {}",
            (self.name)(Parameter::Pairs),
            (self.name)(Parameter::Threshold)
        )
    }

    fn pairs_do_not_fit(self, most: u64) -> fmt::Result {
        write!(
            self.f,
            "more than {most} pairs of documents are connected with each other, which do not fit \
             in {}; allow more, raise {}, or leave out {}: groups hold the same duplicates",
            (self.name)(Parameter::Memory),
            (self.name)(Parameter::Threshold),
            (self.name)(Parameter::Pairs)
        )
    }
}

/// Bytes as [`parse_memory`](crate::find::parse_memory) reads them.
fn amount(bytes: u64) -> String {
    match bytes {
        0x10_0000.. if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        0x400.. if bytes.is_multiple_of(1 << 10) => format!("{}KiB", bytes >> 10),
        bytes => format!("{bytes}B"),
    }
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "make its folder first",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room, or write elsewhere"
        }
        _ => "write to another place",
    }
}
