//! Memory of responses, counted until they are sent.

use crate::http::body::BodyMemory;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::OwnedSemaphorePermit;

/// Responses of up to this size are not counted, so that problems can always be sent.
const SMALL: u64 = 16 << 10;

/// Counts the memory of a response until it is sent. Returns the problem `busy` instead of the
/// response if not enough memory is free.
pub(crate) fn track(memory: &BodyMemory, response: Response) -> Response {
    let bytes = response.body().size_hint().lower();
    if bytes <= SMALL {
        return response;
    }
    let mut permit = None;
    match memory.take_at_most(bytes, &mut permit) {
        Ok(()) => response.map(|body| Body::new(LimitedBody { body, permit })),
        Err(problem) => problem.into_response(),
    }
}

struct LimitedBody {
    body: Body,
    permit: Option<OwnedSemaphorePermit>,
}

/// Bytes that release their memory when they are dropped, after they are sent. The body cannot
/// release it, because the body is dropped before its bytes are sent.
struct LimitedBytes {
    bytes: Bytes,
    _permit: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for LimitedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for LimitedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        // Responses have a single piece.
        let permit = &mut self.permit;
        let hold = |bytes| Bytes::from_owner(LimitedBytes { bytes, _permit: permit.take() });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(hold))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
