//! Keys of requests that may be sent twice. The second request gets the answer to the first.
//!
//! Answers are kept for a day at most, and across restarts if the state of the server is a file
//! ([`ServiceState`]). Running requests are known in memory only, so a request that the end of the
//! process interrupts runs again.

use crate::http::body::Fingerprint;
use crate::http::problem::{Code, Problem};
use crate::service_state::{KeptAnswer, KeptAnswerError, KeyHash, ServiceState};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum length of a key, in bytes.
const KEY_MAX: usize = 255;

/// The requests with keys.
pub(crate) struct KeyedRequests {
    running: Mutex<HashSet<KeyHash>>,
    state: Arc<ServiceState>,
}

/// State of a key.
pub(crate) enum KeyedRequest {
    /// The key is new; the request runs now.
    First(RunningRequest),
    /// The answer that was kept for the key.
    Again(KeptAnswer),
}

/// A request with a key that runs. If it is dropped without an answer, the key is forgotten.
pub(crate) struct RunningRequest {
    all: Arc<KeyedRequests>,
    key: KeyHash,
}

impl KeyedRequests {
    pub(crate) fn new(state: &Arc<ServiceState>) -> Self {
        Self { running: Mutex::default(), state: Arc::clone(state) }
    }

    /// Looks up the key of a request; `None` if it has none. Reads the state on a thread that may
    /// wait for the disk.
    ///
    /// # Errors
    /// A problem if the key is invalid, or the first request with it still runs.
    pub(crate) async fn look_up(
        self: &Arc<Self>,
        headers: &HeaderMap,
    ) -> Result<Option<KeyedRequest>, Problem> {
        let Some(key) = key(headers)? else { return Ok(None) };
        let all = Arc::clone(self);
        waiting(move || all.find(key)).await?.map(Some)
    }

    fn find(self: &Arc<Self>, key: KeyHash) -> Result<KeyedRequest, Problem> {
        if !self.running.lock().insert(key) {
            let detail = "a request with this idempotency-key is under way: send it again when \
                          it has its answer";
            return Err(Problem::new(Code::REQUEST_RUNNING, detail).retry_after(1));
        }
        let running = RunningRequest { all: Arc::clone(self), key };
        // An answer is kept before its key is free, so either the running request or its answer is
        // found.
        match self.state.answer(&key) {
            Ok(None) => Ok(KeyedRequest::First(running)),
            Ok(Some(answer)) => Ok(KeyedRequest::Again(answer)),
            Err(KeptAnswerError::Damaged) => {
                let detail = "the stored answer for this idempotency-key is damaged: send the \
                              request with a new key";
                Err(Problem::new(Code::INTERNAL, detail))
            }
            Err(KeptAnswerError::Database(error)) => Err(unreadable(&error)),
        }
    }
}

impl KeptAnswer {
    /// Checks that a repeated request is the same.
    pub(crate) fn check(&self, fingerprint: Fingerprint) -> Result<(), Problem> {
        if self.fingerprint == fingerprint {
            return Ok(());
        }
        let detail = "an earlier request with another content used this idempotency-key: choose \
                      a new key for each request";
        Err(Problem::new(Code::KEY_REUSED, detail))
    }
}

impl RunningRequest {
    /// Keeps the answer.
    pub(crate) async fn end(self, answer: KeptAnswer) -> Result<(), Problem> {
        waiting(move || self.all.state.keep_answer(&self.key, &answer).map_err(|e| unreadable(&e)))
            .await?
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.all.running.lock().remove(&self.key);
    }
}

/// Does work that may wait for the disk.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|error| Problem::internal(error.to_string()))
}

fn unreadable(error: &rusqlite::Error) -> Problem {
    Problem::internal(format!("the answers to requests with keys: {error}"))
}

/// The hash of the key of a request and the token of its client, so that another client has other
/// keys.
fn key(headers: &HeaderMap) -> Result<Option<KeyHash>, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else { return Ok(None) };
    let bytes = value.as_bytes();
    let is_key = (1..=KEY_MAX).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    if !is_key || values.next().is_some() {
        let detail = format!(
            "the header idempotency-key is invalid: expected 1 to {KEY_MAX} visible ASCII \
             characters, once, such as a UUID"
        );
        return Err(Problem::new(Code::BAD_HEAD, detail));
    }
    let token = headers.get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    let hash = Sha256::new().chain_update(bytes).chain_update(b"\n").chain_update(token);
    Ok(Some(hash.finalize().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use axum::http::{HeaderValue, StatusCode};

    fn headers(key: &str, token: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", HeaderValue::from_str(key).unwrap());
        headers.insert(AUTHORIZATION, HeaderValue::from_str(token).unwrap());
        headers
    }

    async fn first(all: &Arc<KeyedRequests>, key: &str, token: &str) -> RunningRequest {
        match all.look_up(&headers(key, token)).await.unwrap() {
            Some(KeyedRequest::First(running)) => running,
            _ => panic!("{key} is known"),
        }
    }

    fn answer() -> KeptAnswer {
        let body = Bytes::from_static(b"done");
        KeptAnswer { status: StatusCode::OK, body, fingerprint: [1; 32] }
    }

    #[test]
    fn an_answer_is_given_again() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(ask_twice());
    }

    async fn ask_twice() {
        let all = Arc::new(KeyedRequests::new(&Arc::new(ServiceState::open(None).unwrap())));
        assert!(all.look_up(&HeaderMap::new()).await.unwrap().is_none());
        let running = first(&all, "a", "t").await;
        let problem = all.look_up(&headers("a", "t")).await.err().unwrap();
        assert_eq!(problem.code, Code::REQUEST_RUNNING);
        running.end(answer()).await.unwrap();
        for _ in 0..2 {
            let second = all.look_up(&headers("a", "t")).await.unwrap();
            let Some(KeyedRequest::Again(kept)) = second else { panic!("it is forgotten") };
            assert_eq!(kept, answer());
            assert!(kept.check([1; 32]).is_ok());
            assert_eq!(kept.check([2; 32]).unwrap_err().code, Code::KEY_REUSED);
        }
        // A key of another client is another key. A request without an answer runs again.
        drop(first(&all, "a", "u").await);
        drop(first(&all, "a", "u").await);
        for wrong in [" ", "a b", &"x".repeat(256)] {
            assert!(all.look_up(&headers(wrong, "t")).await.is_err());
        }
    }
}
