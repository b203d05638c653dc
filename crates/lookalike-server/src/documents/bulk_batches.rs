//! Cuts the body of a request with many documents into batches of whole lines or records, and
//! reserves memory for them. The memory does not depend on the number of documents.

use crate::documents::bulk_options::BodyForm;
use crate::http::body::BodyPieces;
use crate::http::problem::{Code, Problem};
use crate::state::app::App;
use crate::threads::writer::OwnedChange;
use lookalike::extract::warc::{next_record, record_length};
use tokio::sync::OwnedSemaphorePermit;

/// Maximum size of a batch in lines or records, and in bytes.
const BATCH_LINES: usize = 2_000;
const BATCH_BYTES: usize = 4 << 20;
/// Bytes after a record that show where it ends.
const AFTER: usize = 16;
/// Up to this size of lines, the same size is reserved again for the batches being prepared and
/// written.
const TWICE_HELD: u64 = 2 * BATCH_BYTES as u64;
/// Minimum step of memory reservations; a multiple of the allocation unit.
const STEP_BYTES: u64 = 64 << 10;

/// Whole lines, or whole records of a crawl.
pub(crate) struct BodyBatch {
    pub(crate) bytes: Vec<u8>,
    /// The number of the first line or record, from 1.
    pub(crate) first: u64,
    /// The length of the first record, if it is too long and its bytes are left out.
    pub(crate) too_long: Option<u64>,
}

/// The body of a request, batch by batch.
pub(crate) struct BodyBatches {
    pub(crate) pieces: BodyPieces,
    form: BodyForm,
    buffer: Vec<u8>,
    /// The number of the next line or record.
    pub(crate) next: u64,
    ended: bool,
    held: LineMemory,
    /// Bytes of blank lines since the last batch.
    blank: u64,
}

/// Memory of one client's lines; it grows with them.
#[derive(Default)]
struct LineMemory {
    bytes: u64,
    of_all: Option<OwnedSemaphorePermit>,
    of_bulk: Option<OwnedSemaphorePermit>,
}

impl LineMemory {
    /// Reserves memory for this many bytes of lines.
    fn grow(&mut self, app: &App, lines: u64) -> Result<(), Problem> {
        let needed = app.service.bulk_memory.at_most(lines + lines.min(TWICE_HELD));
        let Some(more) = needed.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return Ok(());
        };
        let more = app.service.bulk_memory.at_most(self.bytes + more.next_multiple_of(STEP_BYTES))
            - self.bytes;
        app.service.bulk_memory.take(more, &mut self.of_bulk)?;
        app.service.memory.take(more, &mut self.of_all)?;
        self.bytes += more;
        Ok(())
    }
}

impl BodyBatches {
    pub(crate) fn new(pieces: BodyPieces, form: BodyForm) -> Self {
        let buffer = Vec::new();
        let held = LineMemory::default();
        Self { pieces, form, buffer, next: 1, ended: false, held, blank: 0 }
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn batch(&mut self, app: &App) -> Result<Option<BodyBatch>, Problem> {
        match self.form {
            BodyForm::Lines => self.lines(app).await,
            BodyForm::Records => self.records(app).await,
        }
    }

    /// Reads a piece into the buffer.
    async fn read(&mut self, app: &App) -> Result<(), Problem> {
        match self.pieces.next().await? {
            None => self.ended = true,
            Some(piece) => {
                self.held.grow(app, (self.buffer.len() + piece.len()) as u64)?;
                self.buffer.extend_from_slice(&piece);
            }
        }
        Ok(())
    }

    /// Takes the first bytes of the buffer, which are `count` lines or records.
    fn take(&mut self, end: usize, count: usize) -> BodyBatch {
        let rest = self.buffer.split_off(end);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let first = self.next;
        self.next += count as u64;
        self.blank = 0;
        BodyBatch { bytes, first, too_long: None }
    }

    /// Drops the blank lines before the next document, because they need no worker. A compressed
    /// body may have many of them, so more than `most` bytes are an error.
    fn drop_blank_lines(&mut self, most: u64) -> Result<(), Problem> {
        let is_text = |byte: &u8| !byte.is_ascii_whitespace();
        let end = self.buffer.iter().position(is_text).unwrap_or(self.buffer.len());
        let ends = self.buffer[..end].iter().filter(|byte| **byte == b'\n');
        self.next += ends.count() as u64;
        self.buffer.drain(..end);
        self.blank += end as u64;
        if self.blank > most {
            let detail = format!(
                "there are more than {most} bytes of blank lines in front of line {}: leave them \
                 out",
                self.next
            );
            return Err(Problem::new(Code::BODY_TOO_LARGE, detail));
        }
        Ok(())
    }

    async fn lines(&mut self, app: &App) -> Result<Option<BodyBatch>, Problem> {
        let most = app.service.config.limits.body_bytes;
        let mut scanned = 0;
        let mut count = 0;
        let mut end = 0;
        loop {
            if scanned == 0 {
                self.drop_blank_lines(most)?;
            }
            for (at, byte) in self.buffer[scanned..].iter().enumerate() {
                if *byte == b'\n' {
                    count += 1;
                    end = scanned + at + 1;
                    if count == BATCH_LINES {
                        break;
                    }
                }
            }
            scanned = self.buffer.len();
            if end > 0 && (self.ended || count == BATCH_LINES || scanned >= BATCH_BYTES) {
                break;
            }
            if self.ended {
                end = scanned;
                break;
            }
            if (scanned - end) as u64 > most {
                let detail = format!(
                    "a line has more than {most} bytes: shorten it, or start the server with a \
                     greater --max-body"
                );
                return Err(Problem::new(Code::BODY_TOO_LARGE, detail));
            }
            self.read(app).await?;
        }
        if end == 0 {
            return Ok(None);
        }
        Ok(Some(self.take(end, count)))
    }

    async fn records(&mut self, app: &App) -> Result<Option<BodyBatch>, Problem> {
        let most = app.service.config.limits.body_bytes;
        let mut end = 0;
        let mut count = 0;
        loop {
            while count < BATCH_LINES
                && end < BATCH_BYTES
                && let Some((size, _)) = next_record(&self.buffer[end..], self.ended)
            {
                end += size;
                count += 1;
            }
            let is_full = count == BATCH_LINES || end >= BATCH_BYTES;
            if is_full || self.ended {
                break;
            }
            let open = &self.buffer[end..];
            let stated = record_length(open);
            if stated.is_some_and(|length| length > most) || open.len() as u64 > most {
                if count > 0 {
                    break;
                }
                return self.long_record(app, stated).await.map(Some);
            }
            // An incomplete record is not scanned again before all of it can have arrived, or twice
            // the present bytes. Finding the end of a damaged record takes time.
            let target = match stated {
                Some(length) => usize::try_from(length).unwrap_or(usize::MAX).saturating_add(AFTER),
                // No more bytes than show that the record is too long.
                None => (2 * open.len()).min(usize::try_from(most).unwrap_or(usize::MAX)),
            };
            let target = end.saturating_add(target.max(open.len() + 1));
            while !self.ended && self.buffer.len() < target {
                self.read(app).await?;
            }
        }
        if count == 0 {
            // The rest is at most line ends.
            self.buffer.clear();
            return Ok(None);
        }
        Ok(Some(self.take(end, count)))
    }

    /// Discards the record at the start of the buffer, which is too long.
    async fn long_record(&mut self, app: &App, stated: Option<u64>) -> Result<BodyBatch, Problem> {
        let buffered = self.buffer.len() as u64;
        let mut remaining = stated.unwrap_or(buffered);
        while remaining > self.buffer.len() as u64 && !self.ended {
            remaining -= self.buffer.len() as u64;
            self.buffer.clear();
            self.read(app).await?;
        }
        let end = self.buffer.len().min(usize::try_from(remaining).unwrap_or(usize::MAX));
        let batch = self.take(end, 1);
        Ok(BodyBatch { bytes: Vec::new(), too_long: Some(stated.unwrap_or(buffered)), ..batch })
    }
}

/// The documents of a batch as changes.
#[derive(Default)]
pub(crate) struct PreparedBatch {
    pub(crate) changes: Vec<OwnedChange>,
    /// The number of the line or record of each change.
    pub(crate) numbers: Vec<u64>,
    pub(crate) bad: Vec<(u64, Problem)>,
    pub(crate) held: Vec<OwnedSemaphorePermit>,
    /// The part of the batch that is not prepared yet.
    pub(crate) rest: Option<BodyBatch>,
}

impl PreparedBatch {
    /// Takes the change of a line or record, or its problem. Returns true if the batch ends here:
    /// with `stop`, at the first bad line or record, and at a problem that the line or record did
    /// not cause.
    pub(crate) fn take(
        &mut self,
        number: u64,
        document: Result<OwnedChange, Problem>,
        stop: bool,
    ) -> bool {
        match document {
            Ok(change) => {
                self.changes.push(change);
                self.numbers.push(number);
                false
            }
            Err(problem) => {
                let ends = stop || problem.code.status >= 500;
                self.bad.push((number, problem));
                ends
            }
        }
    }
}

/// Memory of prepared documents, beyond the memory of their batch.
pub(crate) struct PreparedMemory {
    reserved: usize,
    needed: usize,
    held: Option<OwnedSemaphorePermit>,
}

impl PreparedMemory {
    /// `reserved` bytes are reserved for the batch already.
    pub(crate) fn new(reserved: usize) -> Self {
        Self { reserved, needed: 0, held: None }
    }

    /// The reserved memory.
    pub(crate) fn held(self) -> Option<OwnedSemaphorePermit> {
        self.held
    }

    /// Reserves memory for further bytes.
    pub(crate) fn add(&mut self, app: &App, bytes: usize) -> Result<(), Problem> {
        self.needed += bytes;
        let Some(more) = self.needed.checked_sub(self.reserved).filter(|more| *more > 0) else {
            return Ok(());
        };
        let more = more.next_multiple_of(STEP_BYTES as usize);
        app.service.memory.take(more as u64, &mut self.held)?;
        self.reserved += more;
        Ok(())
    }
}
