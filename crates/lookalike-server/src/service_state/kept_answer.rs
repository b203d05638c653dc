//! The answer to a request with an idempotency key, as it is kept.

use crate::http::problem::{Code, Problem};
use axum::body::Bytes;
use axum::http::StatusCode;

/// A key and the token of its client, hashed.
pub(crate) type KeyHash = [u8; 32];
/// The hash of what was asked: path, parameters and body.
pub(crate) type Fingerprint = [u8; 32];

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptAnswer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    pub(crate) fingerprint: Fingerprint,
}

impl KeptAnswer {
    /// Checks that a repeated request is the same.
    pub(crate) fn check(&self, fingerprint: Fingerprint) -> Result<(), Problem> {
        if self.fingerprint == fingerprint {
            return Ok(());
        }
        let detail = "the header idempotency-key is that of an earlier request with another \
                      content: choose a new key for each request";
        Err(Problem::new(Code::KEY_REUSED, detail))
    }
}
