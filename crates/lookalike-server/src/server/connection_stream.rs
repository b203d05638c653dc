//! The byte stream of a connection: time limits, problem documents for errors of the HTTP parser,
//! and a graceful close.

use crate::http::problem::{Code, Problem};
use crate::server::connections::Connection;
use crate::server::transport::Transport;
use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Limits of reading from a client that keeps sending after its response. Without reading, the
/// system discards the response when the connection is closed.
const DRAIN_TIME: Duration = Duration::from_secs(5);
const DRAIN_BYTES: usize = 256 << 20;

/// A stream whose writes fail if the client takes no byte for some time.
pub(crate) struct ConnectionStream {
    stream: Transport,
    idle_time: Duration,
    connection: Arc<Connection>,
    /// When a blocked write fails.
    deadline: Option<Pin<Box<Sleep>>>,
    /// The replacement of a response of the parser, and how much of it has been written.
    problem: Option<(Vec<u8>, usize)>,
    drain: Option<Drain>,
}

/// State of discarding further input.
struct Drain {
    deadline: Pin<Box<Sleep>>,
    bytes: usize,
}

impl ConnectionStream {
    pub(crate) fn new(stream: Transport, idle_time: Duration, connection: Arc<Connection>) -> Self {
        Self { stream, idle_time, connection, deadline: None, problem: None, drain: None }
    }

    fn within_time(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.connection.writes.store(written.is_pending(), Ordering::Relaxed);
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let idle_time = self.idle_time;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle_time)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Replaces `head` with a problem if it is a response of the parser.
    fn poll_problem(
        &mut self,
        cx: &mut Context<'_>,
        head: &[u8],
    ) -> Poll<io::Result<Option<usize>>> {
        if self.problem.is_none() {
            self.problem = parser_problem(head).map(|bytes| (bytes, 0));
        }
        let Some((bytes, mut at)) = self.problem.take() else { return Poll::Ready(Ok(None)) };
        while at < bytes.len() {
            let written = Pin::new(&mut self.stream).poll_write(cx, &bytes[at..]);
            match self.within_time(cx, written) {
                Poll::Ready(Ok(count @ 1..)) => at += count,
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    self.problem = Some((bytes, at));
                    return Poll::Pending;
                }
            }
        }
        self.connection.sends.store(true, Ordering::Relaxed);
        Poll::Ready(Ok(Some(head.len())))
    }

    /// Discards further input, within limits.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let new = || Drain { deadline: Box::pin(tokio::time::sleep(DRAIN_TIME)), bytes: 0 };
        let drain = self.drain.get_or_insert_with(new);
        let mut piece = [0; 16 << 10];
        while drain.bytes < DRAIN_BYTES {
            if drain.deadline.as_mut().poll(cx).is_ready() {
                break;
            }
            let mut buffer = ReadBuf::new(&mut piece);
            match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => drain.bytes += buffer.filled().len(),
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

/// The problem document of a parser error, which replaces a response without a body. Only responses
/// of the parser have no request id. No other write begins like a response and ends with an empty
/// line, because JSON has no line ends in strings.
fn parser_problem(head: &[u8]) -> Option<Vec<u8>> {
    let rest = head.strip_prefix(b"HTTP/1.1 ")?.strip_suffix(b"\r\n\r\n")?;
    if rest.windows(12).any(|window| window.eq_ignore_ascii_case(b"x-request-id")) {
        return None;
    }
    let (code, detail) = match rest.get(..3)? {
        b"400" => {
            (Code::BAD_HEAD, "the head of the request is not valid HTTP/1.1; check the client")
        }
        b"414" => (Code::ADDRESS_TOO_LONG, "the address has more than 65,534 bytes: shorten it"),
        b"431" => (
            Code::HEAD_TOO_LARGE,
            "the head of the request has more than 131,072 bytes, or more than 100 lines: leave \
             out headers, or shorten the address",
        ),
        _ => return None,
    };
    let body = Problem::new(code, detail).to_json().to_string();
    let line = rest.split(|byte| *byte == b'\r').next()?;
    let head = format!(
        "HTTP/1.1 {}\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n\
         connection: close\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n\r\n",
        String::from_utf8_lossy(line),
        body.len()
    );
    Some([head.as_bytes(), body.as_bytes()].concat())
}

impl AsyncRead for ConnectionStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ConnectionStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Some(count) = ready!(this.poll_problem(cx, bytes))? {
            return Poll::Ready(Ok(count));
        }
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.within_time(cx, written)
    }

    // With vectored writes, hyper sends the buffers of the response, whose memory is counted,
    // without a copy.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut full = pieces.iter().filter(|piece| !piece.is_empty());
        if let (Some(head), None) = (full.next(), full.next())
            && let Some(count) = ready!(this.poll_problem(cx, head))?
        {
            return Poll::Ready(Ok(count));
        }
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, pieces);
        this.within_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.drain.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
        }
        if this.connection.sends.load(Ordering::Relaxed) {
            ready!(this.poll_drain(cx));
        }
        Poll::Ready(Ok(()))
    }
}

/// The body of a request. If it is dropped before its end, the client is still sending it.
pub(crate) struct RequestBody {
    body: Incoming,
    connection: Arc<Connection>,
    ended: bool,
}

impl RequestBody {
    pub(crate) fn new(body: Incoming, connection: Arc<Connection>) -> Self {
        Self { body, connection, ended: false }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        this.ended = !matches!(frame, Some(Ok(_)));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.ended && !self.body.is_end_stream() {
            self.connection.sends.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parser_errors_are_replaced() {
        let head = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\
                     content-length: 0\r\ndate: Sun, 22 Nov 2026 22:00:00 GMT\r\n\r\n";
        let problem = String::from_utf8(parser_problem(head).unwrap()).unwrap();
        assert!(problem.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
        assert!(problem.contains("\"head-too-large\""));
        for other in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 400 Bad Request\r\nx-request-id: 1-2\r\n\r\n",
            b"HTTP/1.1 400 Bad Request\r\n",
            b"{\"text\":\"HTTP/1.1 400 \"}",
            b"",
        ] {
            assert!(parser_problem(other).is_none());
        }
    }
}
