//! Reads the body of a request piece by piece, within the limits.

use crate::http::gzip::{self, GzipDecoder};
use crate::http::problem::{Code, Problem};
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The hash of a request: path, parameters and body.
pub(crate) type Fingerprint = [u8; 32];

/// Allocation unit of memory, in bytes.
const UNIT: u64 = 16 << 10;

/// The memory budget of all bodies.
pub(crate) struct BodyMemory {
    free: Arc<Semaphore>,
    all: u64,
}

impl BodyMemory {
    pub(crate) fn new(bytes: u64) -> Self {
        let units = usize::try_from(bytes.div_ceil(UNIT)).unwrap_or(usize::MAX);
        let free = Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS)));
        Self { free, all: bytes }
    }

    /// The smaller of `bytes` and the budget, so that a larger body is accepted if it is alone.
    pub(crate) fn at_most(&self, bytes: u64) -> u64 {
        bytes.min(self.all)
    }

    /// Reserves memory for `bytes` more, in `held`.
    pub(crate) fn take(
        &self,
        bytes: u64,
        held: &mut Option<OwnedSemaphorePermit>,
    ) -> Result<(), Problem> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let more = Arc::clone(&self.free).try_acquire_many_owned(units).map_err(|_| {
            Problem::busy("the requests under way take all the memory that bodies may take")
        })?;
        match held {
            Some(held) => held.merge(more),
            empty => *empty = Some(more),
        }
        Ok(())
    }

    /// Reserves memory for `bytes` more, at most the budget, in `held`.
    pub(crate) fn take_at_most(
        &self,
        bytes: u64,
        held: &mut Option<OwnedSemaphorePermit>,
    ) -> Result<(), Problem> {
        self.take(self.at_most(bytes), held)
    }

    /// Waits for this many bytes, at most the budget. Requests are served in order.
    pub(crate) async fn wait(&self, bytes: u64) -> Result<OwnedSemaphorePermit, Problem> {
        let units = u32::try_from(self.at_most(bytes).div_ceil(UNIT)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.free).acquire_many_owned(units).await;
        permit.map_err(|_| Problem::busy("the server stops"))
    }
}

/// A complete body, and the memory it takes.
pub(crate) struct WholeBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) held: Option<OwnedSemaphorePermit>,
}

/// The pieces of a body.
pub(crate) struct BodyPieces {
    body: Body,
    idle_time: Duration,
    /// Expands the body, if it is compressed.
    gzip: Option<GzipDecoder>,
    /// Whether to check if the body itself is a gzip file.
    may_be_gzip: bool,
    /// A piece that was read for this check.
    first: Option<Bytes>,
    /// The hash of the bytes that were read, if it is needed.
    hash: Option<Sha256>,
    /// Bytes that were received.
    received: u64,
}

impl BodyPieces {
    /// The body of a request with these headers; a problem if it is compressed in an unknown way.
    pub(crate) fn new(
        headers: &HeaderMap,
        body: Body,
        idle_time: Duration,
    ) -> Result<Self, Problem> {
        let gzip = gzip::is_encoded(headers)?.then(GzipDecoder::new);
        Ok(Self { body, idle_time, gzip, may_be_gzip: false, first: None, hash: None, received: 0 })
    }

    /// Starts a hash of `before` and the bytes that are read.
    pub(crate) fn hash_after(&mut self, before: &[u8]) {
        self.hash = Some(Sha256::new().chain_update(before));
    }

    /// The hash of the bytes that were read.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.hash.clone().unwrap_or_default().finalize().into()
    }

    /// Expands a body that is a gzip file itself, such as `crawl.warc.gz`. Such a body begins with
    /// the first byte of gzip files, with which no text begins.
    pub(crate) fn expand_if_compressed(&mut self) {
        self.may_be_gzip = self.gzip.is_none();
    }

    /// The next piece, expanded, not empty; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        if std::mem::take(&mut self.may_be_gzip) {
            self.first = self.next_received().await?;
            let is_gzip = self.first.as_ref().is_some_and(|piece| piece[0] == gzip::FIRST_BYTE);
            self.gzip = is_gzip.then(GzipDecoder::new);
        }
        let piece = match self.gzip.take() {
            None => self.next_received().await?,
            Some(mut gzip) => {
                let piece = self.next_expanded(&mut gzip).await?;
                self.gzip = Some(gzip);
                piece
            }
        };
        if let (Some(hash), Some(piece)) = (&mut self.hash, &piece) {
            hash.update(piece);
        }
        Ok(piece)
    }

    async fn next_expanded(&mut self, gzip: &mut GzipDecoder) -> Result<Option<Bytes>, Problem> {
        loop {
            if let Some(piece) = gzip.next()? {
                // Other connections have their turn between the pieces of a body that expands to
                // many.
                tokio::task::yield_now().await;
                return Ok(Some(piece));
            }
            match self.next_received().await? {
                Some(piece) => gzip.put(piece),
                None => return gzip.end(),
            }
        }
    }

    /// The time that the work on the expanded bytes may take: `request_time`, and the same time
    /// again for each MiB that was received. `None` for a body that is not compressed, because its
    /// sender needs as long as the server.
    pub(crate) fn time_budget(&self, request_time: Duration) -> Option<Duration> {
        let times = u32::try_from(1 + (self.received >> 20)).unwrap_or(u32::MAX);
        self.gzip.as_ref().map(|_| request_time.saturating_mul(times))
    }

    /// Reads and discards the rest.
    pub(crate) async fn skip(&mut self) -> Result<(), Problem> {
        while self.next().await?.is_some() {}
        Ok(())
    }

    /// The next piece, not expanded.
    async fn next_received(&mut self) -> Result<Option<Bytes>, Problem> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            let frame = tokio::time::timeout(self.idle_time, self.body.frame()).await;
            let frame = frame.map_err(|_| {
                let seconds = self.idle_time.as_secs_f64();
                let detail = format!("no byte of the body came for {seconds} s: send it again");
                Problem::new(Code::SLOW_BODY, detail)
            })?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| {
                let detail =
                    format!("the body could not be read to its end ({error}): send it again");
                Problem::new(Code::BAD_BODY, detail)
            })?;
            if let Ok(bytes) = frame.into_data()
                && !bytes.is_empty()
            {
                self.received += bytes.len() as u64;
                return Ok(Some(bytes));
            }
        }
    }
}

/// Reads a whole JSON body.
pub(crate) async fn json(
    headers: &HeaderMap,
    body: Body,
    limits: &crate::ServerLimits,
    memory: &BodyMemory,
) -> Result<WholeBody, Problem> {
    expect_type(headers, "application/json")?;
    read_whole(headers, body, limits, memory).await
}

/// Reads a body that is a file of any kind.
pub(crate) async fn file(
    headers: &HeaderMap,
    body: Body,
    limits: &crate::ServerLimits,
    memory: &BodyMemory,
) -> Result<WholeBody, Problem> {
    // A page of another site cannot send this type unasked.
    expect_type(headers, "application/octet-stream")?;
    read_whole(headers, body, limits, memory).await
}

/// Reads a whole body whose declared type the caller has read.
pub(crate) async fn read_whole(
    headers: &HeaderMap,
    body: Body,
    limits: &crate::ServerLimits,
    memory: &BodyMemory,
) -> Result<WholeBody, Problem> {
    let most = limits.body_bytes;
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let declared: u64 = declared.unwrap_or(0);
    let is_compressed = gzip::is_encoded(headers)?;
    if declared > most {
        return Err(too_large(most));
    }
    let mut whole_body = WholeBody { bytes: Vec::new(), held: None };
    // The expanded size is not declared.
    let mut room = if is_compressed { 0 } else { declared };
    if room > 0 {
        memory.take(room, &mut whole_body.held)?;
        whole_body.bytes.reserve_exact(room as usize);
    }
    let mut pieces = BodyPieces::new(headers, body, limits.idle_time)?;
    while let Some(piece) = pieces.next().await? {
        let needed = (whole_body.bytes.len() + piece.len()) as u64;
        if needed > most {
            return Err(too_large(most));
        }
        if needed > room {
            let more = (needed - room).max(UNIT).min(most - room);
            memory.take(more, &mut whole_body.held)?;
            room += more;
        }
        whole_body.bytes.extend_from_slice(&piece);
    }
    Ok(whole_body)
}

pub(crate) fn too_large(most: u64) -> Problem {
    let detail = format!(
        "the body has more than {most} bytes: send less, many documents as lines to \
         POST /v1/documents, or start the server with a greater --max-body"
    );
    Problem::new(Code::BODY_TOO_LARGE, detail)
}

/// Whether the body is declared to be of a type.
pub(crate) fn has_type(headers: &HeaderMap, wanted: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

/// Checks the declared type of the body. UTF-8 is the only encoding.
pub(crate) fn expect_type(headers: &HeaderMap, expected: &str) -> Result<(), Problem> {
    let wrong = |got: &str| {
        let detail = format!("the body is {got}: send it with content-type: {expected}");
        Err(Problem::new(Code::WRONG_CONTENT_TYPE, detail))
    };
    let Some(value) = headers.get(CONTENT_TYPE) else { return wrong("of no declared type") };
    let Ok(value) = value.to_str() else { return wrong("of an invalid type") };
    let mut parts = value.split(';');
    let name = parts.next().unwrap_or_default().trim();
    if !name.eq_ignore_ascii_case(expected) {
        return wrong(&format!("declared as {name:?}"));
    }
    for parameter in parts {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches('"');
        if name.trim().eq_ignore_ascii_case("charset") && !value.eq_ignore_ascii_case("utf-8") {
            return wrong(&format!("declared as charset {value:?}"));
        }
    }
    Ok(())
}
