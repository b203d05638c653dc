//! The extractor: walks the files nested in a file and emits the text of each.

use crate::encoding;
use crate::error::ExtractError;
use crate::fields::Fields;
use crate::kind::FileKind;
use crate::limits::LimitTracker;
use crate::options::{ExtractOptions, LimitUsage};
use crate::read_text::read_text;
use crate::sandbox::{Task, catch_panics};
use crate::unique_names::UniqueNames;
use crate::warc::{self, WarcMetadata};
use crate::worker::WorkerProcess;

/// A text extracted from a file.
#[derive(Debug, Clone, Copy)]
pub struct ExtractedPart<'a> {
    /// Number of the part in the file, from 0; deterministic for a file and options.
    pub number: u32,
    /// Path of the part in the file, separated by `/`; empty for the file itself. Unique in the
    /// file.
    pub within: &'a str,
    /// The kind of file.
    pub kind: FileKind,
    /// The text.
    pub text: &'a str,
    /// The metadata.
    pub fields: &'a Fields,
}

/// A file, or a part of it, without an extracted text.
#[derive(Debug, Clone, Copy)]
pub struct FailedPart<'a> {
    /// As in [`ExtractedPart`].
    pub within: &'a str,
    /// The kind of file.
    pub kind: FileKind,
    /// The reason.
    pub failure: &'a ExtractError,
    /// The content, as far as it could be read.
    pub bytes: &'a [u8],
}

/// Receives the parts of a file.
pub trait PartSink {
    /// Receives a text.
    fn part(&mut self, part: &ExtractedPart<'_>);

    /// Receives a part without a text.
    fn failed(&mut self, failed: &FailedPart<'_>);
}

/// Extracts the texts of files. Owns buffers and is meant for one thread.
pub struct Extractor {
    options: ExtractOptions,
    worker: Option<WorkerProcess>,
    text: String,
    fields: Fields,
}

impl Extractor {
    /// Creates an extractor.
    pub fn new(options: &ExtractOptions) -> Self {
        let worker = options.worker.as_ref().map(WorkerProcess::new);
        let (text, fields) = (String::new(), Fields::default());
        Self { options: options.clone(), worker, text, fields }
    }

    /// Sends all parts of a file to the sink. `name` contributes to the detection of the kind.
    pub fn extract(&mut self, name: &str, bytes: &[u8], sink: &mut dyn PartSink) {
        self.extract_within(&mut LimitUsage::default(), name, bytes, sink);
    }

    /// As [`extract`](Self::extract), for a file in a container; `used` is the usage of the
    /// container and is updated.
    pub fn extract_within(
        &mut self,
        used: &mut LimitUsage,
        name: &str,
        bytes: &[u8],
        sink: &mut dyn PartSink,
    ) {
        let Self { options, worker, text, fields } = self;
        let tracker = LimitTracker::continued(options, *used);
        walk(&tracker, worker.as_mut(), (text, fields), None, sink).file(name, "", bytes, 0);
        *used = tracker.used();
    }

    /// Sends only part `number` of those that [`extract`](Self::extract) sends. The time limit is
    /// four times that of the options.
    pub fn extract_part(&mut self, name: &str, bytes: &[u8], number: u32, sink: &mut dyn PartSink) {
        let Self { options, worker, text, fields } = self;
        let tracker = LimitTracker::retry(options);
        walk(&tracker, worker.as_mut(), (text, fields), Some(number), sink)
            .file(name, "", bytes, 0);
    }
}

fn walk<'a>(
    tracker: &'a LimitTracker<'a>,
    worker: Option<&'a mut WorkerProcess>,
    (text, fields): (&'a mut String, &'a mut Fields),
    wanted: Option<u32>,
    sink: &'a mut dyn PartSink,
) -> Walk<'a> {
    let (names, metadata) = (UniqueNames::default(), WarcMetadata::default());
    Walk { tracker, sink, worker, wanted, next: 0, names, metadata, text, fields }
}

/// One run over a file and the files in it.
struct Walk<'a> {
    tracker: &'a LimitTracker<'a>,
    sink: &'a mut dyn PartSink,
    worker: Option<&'a mut WorkerProcess>,
    wanted: Option<u32>,
    next: u32,
    names: UniqueNames,
    /// Of the enclosing WARC record.
    metadata: WarcMetadata,
    text: &'a mut String,
    fields: &'a mut Fields,
}

impl Walk<'_> {
    /// Reads the file called `name` at path `within`.
    fn file(&mut self, name: &str, within: &str, bytes: &[u8], depth: u32) {
        let kind = FileKind::of(name, bytes);
        match kind {
            FileKind::Gzip | FileKind::Zstd => self.compressed(kind, name, within, bytes, depth),
            #[cfg(feature = "archive")]
            FileKind::Zip | FileKind::Tar => self.archive(kind, within, bytes, depth),
            #[cfg(feature = "mail")]
            FileKind::Mail => self.mail(within, bytes, depth),
            #[cfg(feature = "mail")]
            FileKind::Mbox => self.container(kind, within, bytes, depth, Self::messages),
            FileKind::Warc => self.container(kind, within, bytes, depth, Self::records),
            _ => self.leaf(kind, within, bytes),
        }
    }

    /// Reads a file that is one text.
    fn leaf(&mut self, kind: FileKind, within: &str, bytes: &[u8]) {
        let Some(number) = self.next_number() else { return };
        let declared = self.metadata.encoding;
        let done = match (kind, declared) {
            (FileKind::Pdf, _) => self.read_in_sandbox(kind, bytes),
            #[cfg(feature = "html")]
            (FileKind::Html, Some(_)) => self.read_guarded(kind, bytes, |tracker, text, fields| {
                crate::html::text(bytes, declared, tracker, text, fields)
            }),
            (FileKind::Text, Some(_)) => self.read_guarded(kind, bytes, |_, text, _| {
                text.push_str(&encoding::decode(bytes, declared).ok_or(ExtractError::Binary)?);
                Ok(())
            }),
            _ => self.read_guarded(kind, bytes, |tracker, text, fields| {
                read_text(kind, bytes, tracker, text, fields)
            }),
        };
        self.emit(number, kind, within, bytes, done);
    }

    /// Counts the next part; its number if it is wanted.
    fn next_number(&mut self) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        self.wanted.is_none_or(|wanted| wanted == number).then_some(number)
    }

    /// Runs a reader on the current thread; a panic is an error.
    fn read_guarded(
        &mut self,
        kind: FileKind,
        bytes: &[u8],
        read: impl FnOnce(&LimitTracker<'_>, &mut String, &mut Fields) -> Result<(), ExtractError>,
    ) -> Result<(), ExtractError> {
        self.prepare(kind, bytes)?;
        catch_panics(|| read(self.tracker, self.text, self.fields))
    }

    /// Runs a reader in the worker process, or else on a thread with a large stack.
    fn read_in_sandbox(&mut self, kind: FileKind, bytes: &[u8]) -> Result<(), ExtractError> {
        self.prepare(kind, bytes)?;
        let task = Task::new(kind, bytes, self.tracker);
        let done = match &mut self.worker {
            Some(worker) => worker.run(&task),
            None => task.read_on_large_stack(),
        };
        self.tracker.charge_bytes(usize::try_from(done.expanded).unwrap_or(usize::MAX))?;
        match done.failure {
            Some(ExtractError::TooSlow { .. }) => {
                Err(ExtractError::TooSlow { seconds: self.tracker.options.limits.time.as_secs() })
            }
            Some(failure) => Err(failure),
            None => {
                (*self.text, *self.fields) = (done.text, done.fields);
                Ok(())
            }
        }
    }

    /// Clears the buffers and checks the limits.
    fn prepare(&mut self, kind: FileKind, bytes: &[u8]) -> Result<(), ExtractError> {
        self.text.clear();
        self.fields.clear();
        let limit = self.tracker.options.limits.bytes;
        if kind != FileKind::Text && bytes.len() as u64 > limit {
            return Err(ExtractError::bytes(limit));
        }
        self.tracker.check_time()
    }

    /// Sends the result of a reader to the sink. Only text files and messages may be empty.
    fn emit(
        &mut self,
        number: u32,
        kind: FileKind,
        within: &str,
        bytes: &[u8],
        done: Result<(), ExtractError>,
    ) {
        let within = &self.names.unique(within);
        let blank = || self.text.chars().all(char::is_whitespace);
        let done = match done {
            Ok(()) if !matches!(kind, FileKind::Text | FileKind::Mail) && blank() => {
                Err(ExtractError::NoText { kind: kind.name().to_owned() })
            }
            done => done,
        };
        match done {
            Ok(()) => {
                for (name, value) in &self.metadata.fields {
                    self.fields.set(name, value);
                }
                let (text, fields) = (self.text.as_str(), &*self.fields);
                self.sink.part(&ExtractedPart { number, within, kind, text, fields });
            }
            Err(failure) => {
                self.sink.failed(&FailedPart { within, kind, failure: &failure, bytes });
            }
        }
    }

    fn failed(&mut self, kind: FileKind, within: &str, bytes: &[u8], failure: &ExtractError) {
        if self.wanted.is_none() {
            self.sink.failed(&FailedPart { within, kind, failure, bytes });
        }
    }

    fn check_depth(&self, depth: u32) -> Result<(), ExtractError> {
        let limit = self.tracker.options.limits.depth;
        if depth < limit {
            return Ok(());
        }
        Err(ExtractError::Limit {
            what: "levels of files in files".to_owned(),
            limit: limit.into(),
        })
    }

    /// Reads the content of a compressed file, under its name without the extension.
    fn compressed(&mut self, kind: FileKind, name: &str, within: &str, bytes: &[u8], depth: u32) {
        let inner = self.check_depth(depth).and_then(|()| decompress(kind, bytes, self.tracker));
        match inner {
            Ok(inner) => {
                let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                self.file(name, within, &inner, depth + 1);
            }
            Err(failure) => self.failed(kind, within, bytes, &failure),
        }
    }

    #[cfg(feature = "archive")]
    fn archive(&mut self, kind: FileKind, within: &str, bytes: &[u8], depth: u32) {
        let tracker = self.tracker;
        let walked = self.check_depth(depth).and_then(|()| {
            crate::archive::walk(kind, bytes, tracker, &mut |name, charge_member| {
                let inside = join(within, name);
                match charge_member {
                    Ok(charge_member) => self.file(name, &inside, charge_member, depth + 1),
                    Err(failure) => {
                        let kind = FileKind::Other("a file of an archive");
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

    /// Reads a container whose files follow one another.
    fn container(
        &mut self,
        kind: FileKind,
        within: &str,
        bytes: &[u8],
        depth: u32,
        read: fn(&mut Self, &str, &[u8], u32) -> Result<(), ExtractError>,
    ) {
        let limit = self.tracker.options.limits.bytes;
        let fits = if bytes.len() as u64 <= limit {
            self.check_depth(depth)
        } else {
            Err(ExtractError::bytes(limit))
        };
        if let Err(failure) = fits.and_then(|()| read(self, within, bytes, depth + 1)) {
            self.failed(kind, within, bytes, &failure);
        }
    }

    /// Whether the only wanted part has been reached.
    fn is_done(&self) -> bool {
        self.wanted.is_some_and(|wanted| self.next > wanted)
    }

    /// Reads the messages of a mailbox, each named after its first line number.
    #[cfg(feature = "mail")]
    fn messages(&mut self, within: &str, bytes: &[u8], depth: u32) -> Result<(), ExtractError> {
        let (mut rest, mut line) = (bytes, 1);
        while let Some((done, message)) = crate::mail::next_message(rest, true) {
            if self.is_done() {
                break;
            }
            self.tracker.check_time()?;
            self.tracker.charge_member()?;
            self.mail(&format!("{within}:{line}"), &message, depth);
            line += memchr::memchr_iter(b'\n', &rest[..done]).count();
            rest = &rest[done..];
        }
        Ok(())
    }

    /// Reads the files in the records of a crawl.
    fn records(&mut self, within: &str, bytes: &[u8], depth: u32) -> Result<(), ExtractError> {
        let (mut rest, mut number) = (bytes, 0_u32);
        while let Some((done, record)) = warc::next_record(rest, true) {
            if self.is_done() {
                break;
            }
            self.tracker.check_time()?;
            number += 1;
            let inside = join(within, &number.to_string());
            match record.and_then(|record| warc::file(&record, self.tracker)) {
                Ok(None) => {}
                Ok(Some(file)) => {
                    self.tracker.charge_member()?;
                    let before = std::mem::replace(&mut self.metadata, file.metadata);
                    self.file(&file.name, &inside, &file.bytes, depth);
                    self.metadata = before;
                }
                Err(failure) => {
                    let kind = FileKind::Other("a record of a crawl");
                    self.failed(kind, &inside, &rest[..done], &failure);
                }
            }
            rest = &rest[done..];
        }
        Ok(())
    }

    /// Reads the body of a message, and its attachments if requested.
    #[cfg(feature = "mail")]
    fn mail(&mut self, within: &str, bytes: &[u8], depth: u32) {
        let number = self.next_number();
        let mut attachments = Vec::new();
        let wants_more = self.tracker.options.attachments;
        if number.is_some() || wants_more {
            let done = self.read_guarded(FileKind::Mail, bytes, |tracker, text, fields| {
                crate::mail::read(bytes, tracker, text, fields, &mut attachments)
            });
            if let Some(number) = number {
                self.emit(number, FileKind::Mail, within, bytes, done);
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
            match self.check_depth(depth).and_then(|()| self.tracker.charge_member()) {
                Ok(()) => self.file(&name, &inside, &bytes, depth + 1),
                Err(failure) => {
                    self.failed(FileKind::Other("an attachment"), &inside, &bytes, &failure);
                }
            }
        }
    }
}

fn join(within: &str, name: &str) -> String {
    if within.is_empty() { name.to_owned() } else { format!("{within}/{name}") }
}

fn decompress(
    kind: FileKind,
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
) -> Result<Vec<u8>, ExtractError> {
    if kind == FileKind::Gzip {
        return tracker.drain(flate2::read::MultiGzDecoder::new(bytes));
    }
    let stream = zstd::stream::read::Decoder::with_buffer(bytes);
    tracker.drain(stream.map_err(|error| ExtractError::damaged(error.to_string()))?)
}
