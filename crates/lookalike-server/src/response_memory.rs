//! Bodies of answers that are counted until the client has taken them.

use crate::body::BodyMemory;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::OwnedSemaphorePermit;

/// Answers of up to this many bytes are not counted, so that there is always room for a problem.
const SMALL: u64 = 16 << 10;

/// The same answer, counted until it is sent; `busy` where there is no memory for it.
pub(crate) fn held(memory: &BodyMemory, response: Response) -> Response {
    let bytes = response.body().size_hint().lower();
    if bytes <= SMALL {
        return response;
    }
    let mut permit = None;
    match memory.take(memory.at_most(bytes), &mut permit) {
        Ok(()) => response.map(|body| Body::new(LimitedBody { body, permit })),
        Err(problem) => problem.into_response(),
    }
}

struct LimitedBody {
    body: Body,
    permit: Option<OwnedSemaphorePermit>,
}

/// Bytes that give their memory back when they are dropped, which is when they are sent: the body
/// itself is dropped as soon as they wait to be sent.
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
        // Answers are made whole: the first piece is the only one.
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
