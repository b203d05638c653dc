//! `GET /v1/export`: all documents as lines of JSON, streamed while they are read.

use crate::http::address::QueryParameters;
use crate::http::gzip;
use crate::http::problem::{Code, Problem};
use crate::http::response::HandlerResult;
use crate::state::app::App;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Frame;
use lookalike::index::{export, export_with_originals_in, time};
use lookalike::store::IndexError;
use serde_json::json;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of a piece that is sent at once, and number of pieces that wait for the client.
const PIECE: usize = 64 << 10;
const WAITING: usize = 4;
/// Memory for each byte of an exported original: the original twice, the original that it is a
/// difference from, and its Base64.
const ORIGINAL_FACTOR: u64 = 5;

/// `GET /v1/export`
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["count", "originals"])?;
    let has_count = parameters.flag("count")?;
    let has_originals = parameters.flag("originals")?;
    if has_originals && app.index.settings().originals.is_none() {
        let detail = "the index keeps no originals: leave out `originals`";
        return Err(Problem::new(Code::NO_ORIGINALS, detail));
    }
    let runtime = Handle::current();
    stream_lines(&app, request.headers(), move |app, out| {
        let now = time::now();
        let written = if has_originals {
            // The memory of only one original is held at a time, so that other requests have their
            // turn.
            let mut held = None;
            let mut reserve = |bytes| {
                drop(held.take());
                held = runtime.block_on(app.service.work.wait(ORIGINAL_FACTOR * bytes)).ok();
            };
            export_with_originals_in(&app.index, now, &mut reserve, out)?
        } else {
            export(&app.index, now, out)?
        };
        let documents = written.map_err(|error| LinesError::Index(error.to_string()))?;
        if has_count {
            // A client cannot tell an incomplete body without chunks or a length from a whole one.
            writeln!(out, "{}", json!({ "documents": documents }))?;
        }
        Ok(())
    })
}

/// Why lines end before the last one.
pub(crate) enum LinesError {
    /// The client disconnected, so nothing can be reported to it.
    Client,
    /// The index cannot be read.
    Index(String),
}

impl From<io::Error> for LinesError {
    fn from(_: io::Error) -> Self {
        Self::Client
    }
}

impl From<IndexError> for LinesError {
    fn from(error: IndexError) -> Self {
        Self::Index(error.to_string())
    }
}

/// Returns an answer with the lines that `write` writes, at the pace of the client.
pub(crate) fn stream_lines(
    app: &Arc<App>,
    headers: &HeaderMap,
    write: impl FnOnce(&App, &mut dyn Write) -> Result<(), LinesError> + Send + 'static,
) -> HandlerResult {
    let place = Arc::clone(&app.service.exports).try_acquire_owned();
    let place = place.map_err(|_| Problem::busy("as many exports as may be are under way"))?;
    let is_compressed = gzip::is_accepted(headers);
    let (sender, receiver) = channel(WAITING);
    let of_thread = Arc::clone(app);
    let work = move || write_lines(&of_thread, sender, is_compressed, place, write);
    let thread = std::thread::Builder::new().name("export".to_owned()).spawn(work);
    thread.map_err(|error| Problem::internal(error.to_string()))?;
    let mut response = Response::new(Body::new(Pieces(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

/// The pieces of an export. A failed export ends without the end of the body, so that the client
/// does not take it for a complete export.
struct Pieces(Receiver<io::Result<Bytes>>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = self.get_mut().0.poll_recv(cx);
        piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// Writes an export into a channel. Waits for the client.
fn write_lines(
    app: &App,
    sender: Sender<io::Result<Bytes>>,
    is_compressed: bool,
    place: OwnedSemaphorePermit,
    write: impl FnOnce(&App, &mut dyn Write) -> Result<(), LinesError>,
) {
    let mut out = PieceWriter { sender, piece: Vec::with_capacity(PIECE) };
    let written = if is_compressed {
        let mut encoder = GzEncoder::new(&mut out, Compression::fast());
        write(app, &mut encoder).and_then(|()| Ok(encoder.finish().map(drop)?))
    } else {
        write(app, &mut out)
    };
    // Otherwise the export is complete, or the client is gone.
    if let Err(LinesError::Index(why)) = written.and_then(|()| Ok(out.flush()?)) {
        app.service.log.say(&format!("an export was ended: {why}"));
        let _ = out.sender.blocking_send(Err(io::Error::other("the index cannot be read")));
    }
    drop(place);
}

struct PieceWriter {
    sender: Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        let sent = self.sender.blocking_send(Ok(Bytes::from(piece)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
