//! The extractor: walks the files nested in a file and emits the text of each.

use crate::archive;
use crate::encoding;
use crate::kind::FileKind;
use crate::read_text::read_text;
use crate::reading::{
    ExtractError, ExtractOptions, Fields, LimitKind, LimitTracker, LimitUsage, TextOutput,
    UniqueNames,
};
use crate::warc::{self, WarcMetadata};
use crate::worker::WorkerProcess;
use crate::worker::sandbox::{PdfTask, catch_panics};

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

/// Receives the parts of a file. The first error ends the extraction.
pub trait PartSink {
    /// The error of the sink; [`Infallible`](std::convert::Infallible) if it has none.
    type Error;

    /// Receives a text.
    ///
    /// # Errors
    /// The reason why no more parts are wanted.
    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Self::Error>;

    /// Receives a part without a text.
    ///
    /// # Errors
    /// As [`part`](Self::part).
    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Self::Error>;
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
        let options = options.clone();
        Self { options, worker, text: String::new(), fields: Fields::default() }
    }

    /// Sends all parts of a file to the sink. `name` contributes to the detection of the kind.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn extract<E>(
        &mut self,
        name: &str,
        bytes: &[u8],
        sink: &mut dyn PartSink<Error = E>,
    ) -> Result<(), E> {
        self.extract_within(&mut LimitUsage::default(), name, bytes, sink)
    }

    /// Like [`extract`](Self::extract), for a file in a container. `used` is the container's usage
    /// of the limits and is updated.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn extract_within<E>(
        &mut self,
        used: &mut LimitUsage,
        name: &str,
        bytes: &[u8],
        sink: &mut dyn PartSink<Error = E>,
    ) -> Result<(), E> {
        let Self { options, worker, text, fields } = self;
        let tracker = LimitTracker::continued(options, *used);
        let walk = Walk::new(&tracker, worker.as_mut(), (text, fields), None, sink);
        let result = walk.whole_file(name, bytes);
        *used = tracker.used();
        result
    }

    /// Like [`extract`](Self::extract), but sends only part `number`. The time limit is four times
    /// the one in the options.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn extract_part<E>(
        &mut self,
        name: &str,
        bytes: &[u8],
        number: u32,
        sink: &mut dyn PartSink<Error = E>,
    ) -> Result<(), E> {
        let Self { options, worker, text, fields } = self;
        let tracker = LimitTracker::retry(options);
        Walk::new(&tracker, worker.as_mut(), (text, fields), Some(number), sink)
            .whole_file(name, bytes)
    }
}

/// One run over a file and the files in it.
struct Walk<'a, E> {
    tracker: &'a LimitTracker<'a>,
    sink: &'a mut dyn PartSink<Error = E>,
    worker: Option<&'a mut WorkerProcess>,
    wanted: Option<u32>,
    next: u32,
    names: UniqueNames,
    /// Metadata of the enclosing WARC record.
    metadata: WarcMetadata,
    text: &'a mut String,
    fields: &'a mut Fields,
}

/// A file of a walk.
#[derive(Clone, Copy)]
struct NestedFile<'b> {
    /// The name, by which the kind is recognized.
    name: &'b str,
    /// See [`ExtractedPart::within`].
    within: &'b str,
    bytes: &'b [u8],
    depth: u32,
}

/// Why a walk ends early.
enum WalkEnd<E> {
    /// The only wanted part was sent.
    Wanted,
    /// The sink returned an error.
    Sink(E),
    /// The rest of a container cannot be read. The preceding files were sent.
    Container(ExtractError),
}

impl<E> From<ExtractError> for WalkEnd<E> {
    fn from(failure: ExtractError) -> Self {
        Self::Container(failure)
    }
}

impl<'a, E> Walk<'a, E> {
    fn new(
        tracker: &'a LimitTracker<'a>,
        worker: Option<&'a mut WorkerProcess>,
        (text, fields): (&'a mut String, &'a mut Fields),
        wanted: Option<u32>,
        sink: &'a mut dyn PartSink<Error = E>,
    ) -> Self {
        Self {
            tracker,
            sink,
            worker,
            wanted,
            next: 0,
            names: UniqueNames::default(),
            metadata: WarcMetadata::default(),
            text,
            fields,
        }
    }

    /// Reads the outermost file.
    fn whole_file(mut self, name: &str, bytes: &[u8]) -> Result<(), E> {
        match self.file(NestedFile { name, within: "", bytes, depth: 0 }) {
            Err(WalkEnd::Sink(error)) => Err(error),
            Ok(()) | Err(WalkEnd::Wanted | WalkEnd::Container(_)) => Ok(()),
        }
    }

    /// Reads a file.
    fn file(&mut self, file: NestedFile<'_>) -> Result<(), WalkEnd<E>> {
        let kind = FileKind::of(file.name, file.bytes);
        let held = self.tracker.held();
        let read = match kind {
            FileKind::Gzip | FileKind::Zstd => self.compressed(kind, file),
            FileKind::Zip | FileKind::Tar if cfg!(feature = "archive") => self.archive(kind, file),
            #[cfg(feature = "mail")]
            FileKind::Mail => self.mail(file),
            #[cfg(feature = "mail")]
            FileKind::Mbox => self.messages(file),
            FileKind::Warc => self.records(file),
            _ => self.leaf(kind, file),
        };
        self.tracker.release(held);
        match read {
            Err(WalkEnd::Container(failure)) => self.failed(kind, file, &failure),
            read => read,
        }
    }

    /// Reads a file that is one text.
    fn leaf(&mut self, kind: FileKind, file: NestedFile<'_>) -> Result<(), WalkEnd<E>> {
        let Some(number) = self.next_number() else { return Ok(()) };
        let bytes = file.bytes;
        let declared = self.metadata.encoding;
        let result = match (kind, declared) {
            (FileKind::Pdf, _) => self.read_in_sandbox(bytes),
            #[cfg(feature = "html")]
            (FileKind::Html, Some(_)) => {
                self.read_guarded(kind, bytes, |out| crate::html::text(bytes, declared, out))
            }
            (FileKind::Text, Some(_)) => self.read_guarded(kind, bytes, |out| {
                let text = encoding::decode(bytes, declared).ok_or(ExtractError::Binary)?;
                out.text.push_str(&text);
                Ok(())
            }),
            _ => self.read_guarded(kind, bytes, |out| read_text(kind, bytes, out)),
        };
        self.emit(number, kind, file, result)
    }

    /// Counts the next part. Returns its number if the part is wanted.
    fn next_number(&mut self) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        self.wanted.is_none_or(|wanted| wanted == number).then_some(number)
    }

    /// Runs a reader on the current thread. A panic becomes an error.
    fn read_guarded(
        &mut self,
        kind: FileKind,
        bytes: &[u8],
        read: impl FnOnce(&mut TextOutput<'_>) -> Result<(), ExtractError>,
    ) -> Result<(), ExtractError> {
        self.prepare(kind, bytes)?;
        let Self { tracker, text, fields, .. } = self;
        catch_panics(|| read(&mut TextOutput { tracker, text, fields }))
    }

    /// Reads a PDF in the worker process, or else on a thread with a large stack.
    fn read_in_sandbox(&mut self, bytes: &[u8]) -> Result<(), ExtractError> {
        self.prepare(FileKind::Pdf, bytes)?;
        let task = PdfTask::new(bytes, self.tracker);
        let outcome = match &mut self.worker {
            Some(worker) => worker.run(&task),
            None => task.read_on_large_stack(),
        };
        let expanded = outcome.as_ref().map_or(0, |outcome| outcome.expanded);
        self.tracker.charge_bytes(usize::try_from(expanded).unwrap_or(usize::MAX))?;
        (*self.text, *self.fields) =
            outcome.and_then(|outcome| outcome.read).map_err(|failure| match failure {
                ExtractError::TooSlow { .. } => {
                    let seconds = self.tracker.options.limits.time.as_secs();
                    ExtractError::TooSlow { seconds }
                }
                failure => failure,
            })?;
        Ok(())
    }

    /// Clears the buffers and checks the limits.
    fn prepare(&mut self, kind: FileKind, bytes: &[u8]) -> Result<(), ExtractError> {
        self.text.clear();
        self.fields.clear();
        let limit = self.tracker.options.limits.bytes;
        if kind != FileKind::Text && bytes.len() as u64 > limit {
            return Err(ExtractError::limited(LimitKind::Bytes, limit));
        }
        self.tracker.check_time()
    }

    /// Sends the result of a reader to the sink. Only text files and messages may be empty.
    fn emit(
        &mut self,
        number: u32,
        kind: FileKind,
        file: NestedFile<'_>,
        result: Result<(), ExtractError>,
    ) -> Result<(), WalkEnd<E>> {
        let within = &self.names.unique(file.within);
        let is_blank = || self.text.chars().all(char::is_whitespace);
        let result = match result {
            Ok(()) if !matches!(kind, FileKind::Text | FileKind::Mail) && is_blank() => {
                Err(ExtractError::NoText { kind: kind.name().to_owned() })
            }
            result => result,
        };
        let sent = match result {
            Ok(()) => {
                for (name, value) in &self.metadata.fields {
                    self.fields.set(name, value);
                }
                let fields = &*self.fields;
                self.sink.part(&ExtractedPart { number, within, kind, text: self.text, fields })
            }
            Err(failure) => {
                let bytes = file.bytes;
                self.sink.failed(&FailedPart { within, kind, failure: &failure, bytes })
            }
        };
        sent.map_err(WalkEnd::Sink)?;
        if self.wanted.is_some() { Err(WalkEnd::Wanted) } else { Ok(()) }
    }

    /// Reports that a container, or the rest of one, cannot be read.
    fn failed(
        &mut self,
        kind: FileKind,
        file: NestedFile<'_>,
        failure: &ExtractError,
    ) -> Result<(), WalkEnd<E>> {
        if self.wanted.is_some() {
            return Ok(());
        }
        let NestedFile { within, bytes, .. } = file;
        self.sink.failed(&FailedPart { within, kind, failure, bytes }).map_err(WalkEnd::Sink)
    }

    fn check_depth(&self, depth: u32) -> Result<(), ExtractError> {
        let limit = self.tracker.options.limits.depth;
        if depth < limit { Ok(()) } else { Err(ExtractError::limited(LimitKind::Depth, limit)) }
    }

    /// Checks that a container, which is in memory as a whole, is within the limits.
    fn check_container(&self, file: NestedFile<'_>) -> Result<(), ExtractError> {
        let limit = self.tracker.options.limits.bytes;
        if file.bytes.len() as u64 > limit {
            return Err(ExtractError::limited(LimitKind::Bytes, limit));
        }
        self.check_depth(file.depth)
    }

    /// Reads the content of a compressed file, under its name without the extension.
    fn compressed(&mut self, kind: FileKind, file: NestedFile<'_>) -> Result<(), WalkEnd<E>> {
        self.check_depth(file.depth)?;
        let inner = decompress(kind, file.bytes, self.tracker)?;
        let name = file.name.rsplit_once('.').map_or(file.name, |(stem, _)| stem);
        self.file(NestedFile { name, bytes: &inner, depth: file.depth + 1, ..file })
    }

    fn archive(&mut self, kind: FileKind, file: NestedFile<'_>) -> Result<(), WalkEnd<E>> {
        self.check_depth(file.depth)?;
        let tracker = self.tracker;
        let held = tracker.held();
        let sink = &mut |name: &str, content: Result<&[u8], ExtractError>| {
            let within = &join(file.within, name);
            let bytes = *content.as_ref().unwrap_or(&&[][..]);
            let inner = NestedFile { name, within, bytes, depth: file.depth + 1 };
            let read = match content {
                Ok(_) => self.file(inner),
                Err(failure) => {
                    self.failed(FileKind::Other("a file of an archive"), inner, &failure)
                }
            };
            tracker.release(held);
            read
        };
        if kind == FileKind::Zip {
            archive::walk_zip(file.bytes, tracker, sink)
        } else {
            archive::walk_tar(file.bytes, tracker, sink)
        }
    }

    /// Reads the messages of a mailbox, each named after its first line number.
    #[cfg(feature = "mail")]
    fn messages(&mut self, file: NestedFile<'_>) -> Result<(), WalkEnd<E>> {
        self.check_container(file)?;
        let mut rest = file.bytes;
        let mut line = 1;
        while let Some((length, message)) = crate::mail::next_message(rest, true) {
            self.tracker.check_time()?;
            self.tracker.charge_member()?;
            let held = self.tracker.held();
            let within = &format!("{}:{line}", file.within);
            self.mail(NestedFile { name: "", within, bytes: &message, depth: file.depth + 1 })?;
            self.tracker.release(held);
            line += memchr::memchr_iter(b'\n', &rest[..length]).count();
            rest = &rest[length..];
        }
        Ok(())
    }

    /// Reads the files in the records of a crawl.
    fn records(&mut self, crawl: NestedFile<'_>) -> Result<(), WalkEnd<E>> {
        self.check_container(crawl)?;
        let mut rest = crawl.bytes;
        let mut number = 0_u32;
        while let Some((length, record)) = warc::next_record(rest, true) {
            self.tracker.check_time()?;
            number += 1;
            let within = &join(crawl.within, &number.to_string());
            let held = self.tracker.held();
            let inner = NestedFile { name: "", within, bytes: &rest[..length], ..crawl };
            match record.and_then(|record| warc::file(&record, self.tracker)) {
                Ok(None) => {}
                Ok(Some(warc::WarcFile { name, bytes, metadata })) => {
                    self.tracker.charge_member()?;
                    let before = std::mem::replace(&mut self.metadata, metadata);
                    let depth = crawl.depth + 1;
                    self.file(NestedFile { name: &name, within, bytes: &bytes, depth })?;
                    self.metadata = before;
                }
                Err(failure) => {
                    self.failed(FileKind::Other("a record of a crawl"), inner, &failure)?;
                }
            }
            self.tracker.release(held);
            rest = &rest[length..];
        }
        Ok(())
    }

    /// Reads the body of a message, and its attachments if requested.
    #[cfg(feature = "mail")]
    fn mail(&mut self, file: NestedFile<'_>) -> Result<(), WalkEnd<E>> {
        let number = self.next_number();
        let mut attachments = Vec::new();
        if number.is_none() && !self.tracker.options.attachments {
            return Ok(());
        }
        let result = self.read_guarded(FileKind::Mail, file.bytes, |out| {
            crate::mail::read(file.bytes, out, &mut attachments)
        });
        if let Some(number) = number {
            self.emit(number, FileKind::Mail, file, result)?;
        }
        for (name, bytes) in attachments {
            let within = &join(file.within, &name);
            let inner = NestedFile { name: &name, within, bytes: &bytes, depth: file.depth + 1 };
            match self.check_depth(file.depth).and_then(|()| self.tracker.charge_member()) {
                Ok(()) => self.file(inner)?,
                Err(failure) => self.failed(FileKind::Other("an attachment"), inner, &failure)?,
            }
        }
        Ok(())
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
