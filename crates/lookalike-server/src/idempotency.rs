//! Keys of requests that may be sent twice: the answer to the first is the answer to the second.
//!
//! Answers are kept in memory, for a day at most. After a restart a request runs again.

use crate::problem::{Code, Problem};
use axum::body::Bytes;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum length of a key, in bytes.
const KEY_MAX: usize = 255;
/// Requests, and bytes of their answers, that are remembered.
const REMEMBERED: usize = 10_000;
const REMEMBERED_BYTES: usize = 16 << 20;
/// How long they are.
const KEPT: Duration = Duration::from_secs(24 * 3_600);

/// A key and the token of its client, hashed.
type KeyHash = [u8; 32];
/// The hash of what was asked: path, parameters and body.
pub(crate) type Fingerprint = [u8; 32];

/// The answer to a request.
#[derive(Clone)]
pub(crate) struct KeptAnswer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    fingerprint: Fingerprint,
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

enum State {
    Running,
    Done(KeptAnswer),
}

/// The requests with keys.
#[derive(Default)]
pub(crate) struct KeyedRequests(Mutex<KeyTable>);

#[derive(Default)]
struct KeyTable {
    states: HashMap<KeyHash, State>,
    /// Those with an answer, in the order in which they ended.
    ended: VecDeque<(Instant, KeyHash)>,
    bytes: usize,
}

/// What is known of a key.
pub(crate) enum KeyedRequest {
    /// Nothing: the request runs now.
    First(RunningRequest),
    /// Its answer.
    Again(KeptAnswer),
}

/// A request with a key that runs. If it is dropped without an answer, the key is forgotten.
pub(crate) struct RunningRequest {
    all: Arc<KeyedRequests>,
    key: KeyHash,
}

impl KeyTable {
    fn forget_old(&mut self, now: Instant) {
        while let Some((at, key)) = self.ended.front().copied() {
            let is_old = now.duration_since(at) > KEPT;
            if !is_old && self.ended.len() <= REMEMBERED && self.bytes <= REMEMBERED_BYTES {
                break;
            }
            self.ended.pop_front();
            if let Some(State::Done(answer)) = self.states.remove(&key) {
                self.bytes -= answer.body.len();
            }
        }
    }
}

impl KeyedRequests {
    fn lock(&self) -> MutexGuard<'_, KeyTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks up the key of a request; `None` if it has none.
    ///
    /// # Errors
    /// A problem if the key is invalid, or the first request with it still runs.
    pub(crate) fn look_up(
        self: &Arc<Self>,
        headers: &HeaderMap,
    ) -> Result<Option<KeyedRequest>, Problem> {
        let Some(key) = key(headers)? else { return Ok(None) };
        let mut all = self.lock();
        all.forget_old(Instant::now());
        match all.states.get(&key) {
            None => {
                all.states.insert(key, State::Running);
                let running = RunningRequest { all: Arc::clone(self), key };
                Ok(Some(KeyedRequest::First(running)))
            }
            Some(State::Done(answer)) => Ok(Some(KeyedRequest::Again(answer.clone()))),
            Some(State::Running) => {
                let detail = "a request with this idempotency-key is under way: send it again when \
                              it has its answer";
                Err(Problem::new(Code::REQUEST_RUNNING, detail).retry_after(1))
            }
        }
    }
}

impl RunningRequest {
    /// Keeps the answer.
    pub(crate) fn end(self, status: StatusCode, body: Bytes, fingerprint: Fingerprint) {
        let (now, mut all) = (Instant::now(), self.all.lock());
        all.bytes += body.len();
        all.ended.push_back((now, self.key));
        let answer = KeptAnswer { status, body, fingerprint };
        all.states.insert(self.key, State::Done(answer));
        all.forget_old(now);
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(State::Running) = all.states.get(&self.key) {
            all.states.remove(&self.key);
        }
    }
}

/// The key of a request with the token of its client: another client has other keys.
fn key(headers: &HeaderMap) -> Result<Option<KeyHash>, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else { return Ok(None) };
    let bytes = value.as_bytes();
    let is_key = (1..=KEY_MAX).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    if !is_key || values.next().is_some() {
        let detail = format!(
            "the header idempotency-key is no key: expected 1 to {KEY_MAX} visible ASCII \
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
    use axum::http::HeaderValue;

    fn headers(key: &str, token: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", HeaderValue::from_str(key).unwrap());
        headers.insert(AUTHORIZATION, HeaderValue::from_str(token).unwrap());
        headers
    }

    fn first(all: &Arc<KeyedRequests>, key: &str, token: &str) -> RunningRequest {
        match all.look_up(&headers(key, token)).unwrap() {
            Some(KeyedRequest::First(running)) => running,
            _ => panic!("{key} is known"),
        }
    }

    #[test]
    fn an_answer_is_given_again() {
        let all = Arc::new(KeyedRequests::default());
        assert!(all.look_up(&HeaderMap::new()).unwrap().is_none());
        let running = first(&all, "a", "t");
        let problem = all.look_up(&headers("a", "t")).err().unwrap();
        assert_eq!(problem.code, Code::REQUEST_RUNNING);
        running.end(StatusCode::OK, Bytes::from_static(b"done"), [1; 32]);
        let Some(KeyedRequest::Again(answer)) = all.look_up(&headers("a", "t")).unwrap() else {
            panic!("it is forgotten");
        };
        assert_eq!((answer.status, &answer.body[..]), (StatusCode::OK, &b"done"[..]));
        assert!(answer.check([1; 32]).is_ok());
        assert_eq!(answer.check([2; 32]).unwrap_err().code, Code::KEY_REUSED);
        // Of another client it is another key.
        drop(first(&all, "a", "u"));
        // One without an answer runs again.
        drop(first(&all, "a", "u"));
    }

    #[test]
    fn not_more_is_remembered_than_may_be() {
        let all = Arc::new(KeyedRequests::default());
        for number in 0..40 {
            let body = Bytes::from(vec![0; 1 << 20]);
            first(&all, &number.to_string(), "t").end(StatusCode::OK, body, [0; 32]);
        }
        let kept = all.lock();
        assert_eq!((kept.bytes, kept.ended.len(), kept.states.len()), (16 << 20, 16, 16));
        drop(kept);
        drop(first(&all, "0", "t"));
        assert!(matches!(all.look_up(&headers("39", "t")), Ok(Some(KeyedRequest::Again(_)))));
        for wrong in [" ", "a b", &"x".repeat(256)] {
            assert!(all.look_up(&headers(wrong, "t")).is_err());
        }
    }
}
