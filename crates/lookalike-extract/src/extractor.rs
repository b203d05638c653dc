//! Files in, parts out: what is in a file is a file again, down to those that have text.

use crate::encoding;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::guard::{Task, caught};
use crate::job::Job;
use crate::kind::{ENCRYPTED_OFFICE, Kind};
use crate::options::{Options, Used};
use crate::unique_names::UniqueNames;
use crate::warc::{self, Outside};
use crate::worker::Worker;

/// A text of a file.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Which of the file's parts, from 0; the same for the same file and options.
    pub number: u32,
    /// Its name in the file, with `/` between; empty where it is the file itself. No two parts of
    /// a file have the same.
    pub within: &'a str,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub text: &'a str,
    /// What it says about itself.
    pub fields: &'a Fields,
}

/// A file, or a part of it, that gave no text.
#[derive(Debug, Clone, Copy)]
pub struct Failed<'a> {
    /// As in [`Part`].
    pub within: &'a str,
    /// What it is.
    pub kind: Kind,
    /// Why.
    pub failure: &'a Failure,
    /// What it holds, as far as it could be got.
    pub bytes: &'a [u8],
}

/// Takes what a file holds.
pub trait Sink {
    /// A text.
    fn part(&mut self, part: &Part<'_>);

    /// Something without a text.
    fn failed(&mut self, failed: &Failed<'_>);
}

/// Extracts the texts of files, one after the other. One for each thread: it holds buffers.
pub struct Extractor {
    options: Options,
    worker: Option<Worker>,
    text: String,
    fields: Fields,
}

impl Extractor {
    /// For what `options` want.
    pub fn new(options: &Options) -> Self {
        let worker = options.worker.as_ref().map(Worker::new);
        let (text, fields) = (String::new(), Fields::default());
        Self { options: options.clone(), worker, text, fields }
    }

    /// Gives every text of a file to the sink, and everything that has none. `name` helps to tell
    /// what it is.
    pub fn extract(&mut self, name: &str, bytes: &[u8], sink: &mut dyn Sink) {
        self.extract_within(&mut Used::default(), name, bytes, sink);
    }

    /// As [`extract`](Self::extract), for a file of a container that has used some of its limits.
    /// Adds what this one uses.
    pub fn extract_within(
        &mut self,
        used: &mut Used,
        name: &str,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) {
        let Self { options, worker, text, fields } = self;
        let job = Job::continued(options, *used);
        walk(&job, worker.as_mut(), (text, fields), None, sink).file(name, "", bytes, 0);
        *used = job.used();
    }

    /// Gives only the part of that number, which [`extract`](Self::extract) gave before. It may
    /// take four times as long as the limit says.
    pub fn extract_part(&mut self, name: &str, bytes: &[u8], number: u32, sink: &mut dyn Sink) {
        let Self { options, worker, text, fields } = self;
        let job = Job::again(options);
        walk(&job, worker.as_mut(), (text, fields), Some(number), sink).file(name, "", bytes, 0);
    }
}

fn walk<'a>(
    job: &'a Job<'a>,
    worker: Option<&'a mut Worker>,
    (text, fields): (&'a mut String, &'a mut Fields),
    wanted: Option<u32>,
    sink: &'a mut dyn Sink,
) -> Walk<'a> {
    let (names, outside) = (UniqueNames::default(), Outside::default());
    Walk { job, sink, worker, wanted, next: 0, names, outside, text, fields }
}

/// A file under way.
struct Walk<'a> {
    job: &'a Job<'a>,
    sink: &'a mut dyn Sink,
    worker: Option<&'a mut Worker>,
    wanted: Option<u32>,
    next: u32,
    /// Names of parts so far.
    names: UniqueNames,
    /// What the record of a crawl says about the file in it.
    outside: Outside,
    text: &'a mut String,
    fields: &'a mut Fields,
}

impl Walk<'_> {
    /// A file, or a file in it. `name` tells what it is, `within` where it is.
    fn file(&mut self, name: &str, within: &str, bytes: &[u8], depth: u32) {
        let kind = Kind::of(name, bytes);
        match kind {
            Kind::Gzip | Kind::Zstd => self.compressed(kind, name, within, bytes, depth),
            #[cfg(feature = "archive")]
            Kind::Zip | Kind::Tar => self.archive(kind, within, bytes, depth),
            #[cfg(feature = "mail")]
            Kind::Mail => self.mail(within, bytes, depth),
            #[cfg(feature = "mail")]
            Kind::Mbox => self.container(kind, within, bytes, depth, Self::messages),
            Kind::Warc => self.container(kind, within, bytes, depth, Self::records),
            _ => self.leaf(kind, within, bytes),
        }
    }

    /// A file that is one text.
    fn leaf(&mut self, kind: Kind, within: &str, bytes: &[u8]) {
        let Some(number) = self.number() else { return };
        let declared = self.outside.encoding;
        let done = match (kind, declared) {
            (Kind::Pdf, _) => self.apart(kind, bytes),
            #[cfg(feature = "html")]
            (Kind::Html, Some(_)) => self.guarded(kind, bytes, |job, text, fields| {
                crate::html::text(bytes, declared, job, text, fields)
            }),
            (Kind::Text, Some(_)) => self.guarded(kind, bytes, |_, text, _| {
                text.push_str(&encoding::decode(bytes, declared).ok_or(Failure::Binary)?);
                Ok(())
            }),
            _ => self
                .guarded(kind, bytes, |job, text, fields| text_of(kind, bytes, job, text, fields)),
        };
        self.give(number, kind, within, bytes, done);
    }

    /// The number of the next part, if it is wanted.
    fn number(&mut self) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        self.wanted.is_none_or(|wanted| wanted == number).then_some(number)
    }

    /// Runs a reader; a panic in it is its failure.
    fn guarded(
        &mut self,
        kind: Kind,
        bytes: &[u8],
        read: impl FnOnce(&Job<'_>, &mut String, &mut Fields) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.begin(kind, bytes)?;
        caught(|| read(self.job, self.text, self.fields))
    }

    /// Runs a reader in the worker, or at least on a stack of its own.
    fn apart(&mut self, kind: Kind, bytes: &[u8]) -> Result<(), Failure> {
        self.begin(kind, bytes)?;
        let task = Task::new(kind, bytes, self.job);
        let done = match &mut self.worker {
            Some(worker) => worker.run(&task),
            None => task.perform_on_own_stack(),
        };
        // The limits of the task were the rest of those of the file.
        self.job.expand(usize::try_from(done.expanded).unwrap_or(usize::MAX))?;
        match done.failure {
            Some(Failure::TooSlow { .. }) => {
                Err(Failure::TooSlow { seconds: self.job.options.limits.time.as_secs() })
            }
            Some(failure) => Err(failure),
            None => {
                (*self.text, *self.fields) = (done.text, done.fields);
                Ok(())
            }
        }
    }

    /// What comes before every reader.
    fn begin(&mut self, kind: Kind, bytes: &[u8]) -> Result<(), Failure> {
        self.text.clear();
        self.fields.clear();
        let limit = self.job.options.limits.bytes;
        if kind != Kind::Text && bytes.len() as u64 > limit {
            return Err(Failure::bytes(limit));
        }
        self.job.in_time()
    }

    /// Hands on what a reader gave. Text files and messages may be empty; of anything else this
    /// says that it could not be read.
    fn give(
        &mut self,
        number: u32,
        kind: Kind,
        within: &str,
        bytes: &[u8],
        done: Result<(), Failure>,
    ) {
        let within = &self.names.unique(within);
        let blank = || self.text.chars().all(char::is_whitespace);
        let done = match done {
            Ok(()) if !matches!(kind, Kind::Text | Kind::Mail) && blank() => {
                Err(Failure::NoText { kind: kind.name().to_owned() })
            }
            done => done,
        };
        match done {
            Ok(()) => {
                for (name, value) in &self.outside.fields {
                    self.fields.set(name, value);
                }
                let (text, fields) = (self.text.as_str(), &*self.fields);
                self.sink.part(&Part { number, within, kind, text, fields });
            }
            Err(failure) => self.sink.failed(&Failed { within, kind, failure: &failure, bytes }),
        }
    }

    fn failed(&mut self, kind: Kind, within: &str, bytes: &[u8], failure: &Failure) {
        if self.wanted.is_none() {
            self.sink.failed(&Failed { within, kind, failure, bytes });
        }
    }

    /// Refuses what lies too deep.
    fn deeper(&self, depth: u32) -> Result<(), Failure> {
        let limit = self.job.options.limits.depth;
        if depth < limit {
            return Ok(());
        }
        Err(Failure::Limit { what: "levels of files in files".to_owned(), limit: limit.into() })
    }

    /// The one file in a compressed one; its name is that of the file without the ending.
    fn compressed(&mut self, kind: Kind, name: &str, within: &str, bytes: &[u8], depth: u32) {
        let inner = self.deeper(depth).and_then(|()| inflated(kind, bytes, self.job));
        match inner {
            Ok(inner) => {
                let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                self.file(name, within, &inner, depth + 1);
            }
            Err(failure) => self.failed(kind, within, bytes, &failure),
        }
    }

    /// The files of an archive.
    #[cfg(feature = "archive")]
    fn archive(&mut self, kind: Kind, within: &str, bytes: &[u8], depth: u32) {
        let job = self.job;
        let walked = self.deeper(depth).and_then(|()| {
            crate::archive::walk(kind, bytes, job, &mut |name, member| {
                let inside = join(within, name);
                match member {
                    Ok(member) => self.file(name, &inside, member, depth + 1),
                    Err(failure) => {
                        let kind = Kind::Other("a file of an archive");
                        self.failed(kind, &inside, &[], &failure);
                    }
                }
                !self.is_done()
            })
        });
        if let Err(failure) = walked {
            self.failed(kind, within, bytes, &failure);
        }
    }

    /// The files of a file that holds them one after the other.
    fn container(
        &mut self,
        kind: Kind,
        within: &str,
        bytes: &[u8],
        depth: u32,
        read: fn(&mut Self, &str, &[u8], u32) -> Result<(), Failure>,
    ) {
        let limit = self.job.options.limits.bytes;
        let fits = if bytes.len() as u64 <= limit {
            self.deeper(depth)
        } else {
            Err(Failure::bytes(limit))
        };
        if let Err(failure) = fits.and_then(|()| read(self, within, bytes, depth + 1)) {
            self.failed(kind, within, bytes, &failure);
        }
    }

    /// Whether the one part that is wanted was given.
    fn is_done(&self) -> bool {
        self.wanted.is_some_and(|wanted| self.next > wanted)
    }

    /// The messages of a mailbox, each named after the line that it begins on.
    #[cfg(feature = "mail")]
    fn messages(&mut self, within: &str, bytes: &[u8], depth: u32) -> Result<(), Failure> {
        let (mut rest, mut line) = (bytes, 1);
        while let Some((done, message)) = crate::mail::next_message(rest, true) {
            if self.is_done() {
                break;
            }
            self.job.in_time()?;
            self.job.member()?;
            self.mail(&format!("{within}:{line}"), &message, depth);
            line += memchr::memchr_iter(b'\n', &rest[..done]).count();
            rest = &rest[done..];
        }
        Ok(())
    }

    /// The records of a crawl that hold a file.
    fn records(&mut self, within: &str, bytes: &[u8], depth: u32) -> Result<(), Failure> {
        let (mut rest, mut number) = (bytes, 0_u32);
        while let Some((done, record)) = warc::next_record(rest, true) {
            if self.is_done() {
                break;
            }
            self.job.in_time()?;
            number += 1;
            let inside = join(within, &number.to_string());
            match record.and_then(|record| warc::file(&record, self.job)) {
                Ok(None) => {}
                Ok(Some(file)) => {
                    self.job.member()?;
                    let before = std::mem::replace(&mut self.outside, file.outside);
                    self.file(&file.name, &inside, &file.bytes, depth);
                    self.outside = before;
                }
                Err(failure) => {
                    let kind = Kind::Other("a record of a crawl");
                    self.failed(kind, &inside, &rest[..done], &failure);
                }
            }
            rest = &rest[done..];
        }
        Ok(())
    }

    /// The body of a message, and its attachments where they are wanted.
    #[cfg(feature = "mail")]
    fn mail(&mut self, within: &str, bytes: &[u8], depth: u32) {
        let number = self.number();
        let mut attachments = Vec::new();
        let wants_more = self.job.options.attachments;
        if number.is_some() || wants_more {
            let done = self.guarded(Kind::Mail, bytes, |job, text, fields| {
                crate::mail::read(bytes, job, text, fields, &mut attachments)
            });
            if let Some(number) = number {
                self.give(number, Kind::Mail, within, bytes, done);
            }
        }
        if !wants_more {
            return;
        }
        for (name, bytes) in attachments {
            if self.is_done() {
                break;
            }
            let inside = join(within, &name);
            match self.deeper(depth).and_then(|()| self.job.member()) {
                Ok(()) => self.file(&name, &inside, &bytes, depth + 1),
                Err(failure) => {
                    self.failed(Kind::Other("an attachment"), &inside, &bytes, &failure);
                }
            }
        }
    }
}

fn join(within: &str, name: &str) -> String {
    if within.is_empty() { name.to_owned() } else { format!("{within}/{name}") }
}

/// Reads one file that is one text.
pub(crate) fn text_of(
    kind: Kind,
    bytes: &[u8],
    job: &Job<'_>,
    text: &mut String,
    fields: &mut Fields,
) -> Result<(), Failure> {
    // Fewer features use fewer of these.
    let _ = &fields;
    match kind {
        Kind::Text => {
            let decoded = encoding::decode(bytes, None).ok_or(Failure::Binary)?;
            text.push_str(&decoded);
            Ok(())
        }
        #[cfg(feature = "html")]
        Kind::Html => crate::html::text(bytes, None, job, text, fields),
        #[cfg(feature = "pdf")]
        Kind::Pdf => crate::pdf::text(bytes, job, text, fields),
        Kind::Rtf => crate::rtf::text(bytes, job, text, fields),
        #[cfg(feature = "office")]
        Kind::Docx | Kind::Pptx | Kind::Xlsx | Kind::Odf | Kind::Epub => {
            crate::office::text(kind, bytes, job, text, fields)
        }
        Kind::Binary => Err(Failure::Binary),
        Kind::Other(ENCRYPTED_OFFICE) => Err(Failure::Encrypted),
        other => Err(Failure::Unsupported { kind: other.name().to_owned() }),
    }
}

/// The content of a compressed file, within the limits.
fn inflated(kind: Kind, bytes: &[u8], job: &Job<'_>) -> Result<Vec<u8>, Failure> {
    if kind == Kind::Gzip {
        return job.drain(flate2::read::MultiGzDecoder::new(bytes));
    }
    let stream = zstd::stream::read::Decoder::with_buffer(bytes);
    job.drain(stream.map_err(|error| Failure::damaged(error.to_string()))?)
}
