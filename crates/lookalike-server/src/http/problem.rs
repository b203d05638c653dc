//! Error responses: `application/problem+json`, RFC 9457.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use lookalike::core::error::ParamsError;
use lookalike::decisions::{ConflictCause, DecisionConflict, DecisionError};
use lookalike::find::FindError;
use lookalike::store::IndexError;
use serde_json::{Map, Value, json};

/// The kind of a problem, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Code {
    pub(crate) name: &'static str,
    pub(crate) status: u16,
    title: &'static str,
}

macro_rules! codes {
    ($($constant:ident $status:literal $name:literal $title:literal;)*) => {
        impl Code {
            $(pub(crate) const $constant: Self =
                Self { name: $name, status: $status, title: $title };)*
            /// All codes.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$constant),*];
        }
    };
}

codes! {
    INVALID_JSON 400 "invalid-json" "The body is not JSON";
    INVALID_UTF8 400 "invalid-utf8" "The bytes are not UTF-8";
    UNKNOWN_MEMBER 400 "unknown-member" "A member is unknown";
    BAD_MEMBER 400 "bad-member" "A member is missing or has an invalid value";
    BAD_PARAMETER 400 "bad-parameter" "A parameter of the address is unknown or out of range";
    BAD_ID 400 "bad-id" "The id is invalid";
    BAD_LINE 400 "bad-line" "A line cannot be stored";
    BAD_BODY 400 "bad-body" "The body is incomplete or damaged";
    BAD_HEAD 400 "bad-head" "The head of the request is invalid";
    TOKEN_NEEDED 401 "token-needed" "A token is needed";
    TOKEN_EXPIRED 401 "token-expired" "The token has expired";
    READ_ONLY_TOKEN 403 "read-only-token" "The token allows only reading";
    READ_ONLY 403 "read-only" "The index is served for reading only";
    OTHER_INDEX 403 "other-index" "The token opens other indexes";
    CROSS_ORIGIN 403 "cross-origin" "The request comes from another site";
    UNKNOWN_ADDRESS 404 "unknown-address" "The address does not exist";
    UNKNOWN_INDEX 404 "unknown-index" "The index does not exist";
    UNKNOWN_DOCUMENT 404 "unknown-document" "The document does not exist";
    UNKNOWN_VERSION 404 "unknown-version" "The document has no version with this number";
    UNKNOWN_CATEGORY 404 "unknown-category" "The category does not exist";
    WRONG_METHOD 405 "wrong-method" "The address does not take this method";
    SLOW_BODY 408 "slow-body" "The body came too slowly";
    ID_TAKEN 409 "id-taken" "A document with this id exists";
    REQUEST_RUNNING 409 "request-running" "A request with this key is in progress";
    UPKEEP_RUNNING 409 "upkeep-running" "A job of upkeep is in progress";
    BACKUP_TAKEN 409 "backup-taken" "A backup with this name exists";
    DECISION_CONFLICT 409 "decision-conflict" "Others decided, or a document is gone";
    CURSOR_EXPIRED 410 "cursor-expired" "The list has expired";
    ADDRESS_TOO_LONG 414 "address-too-long" "The address is too long";
    HEAD_TOO_LARGE 431 "head-too-large" "The head of the request is too large";
    BODY_TOO_LARGE 413 "body-too-large" "The body is too large";
    TEXT_TOO_LARGE 413 "text-too-large" "The text is too large";
    WRONG_CONTENT_TYPE 415 "wrong-content-type" "The body has the wrong content type";
    UNKNOWN_HOST 421 "unknown-host" "The server does not have this name";
    ANSWER_TOO_LARGE 422 "answer-too-large" "The answer would be too large";
    BAD_TIME 422 "bad-time" "A time is invalid";
    BAD_DECISION 422 "bad-decision" "A decision is invalid";
    UNREADABLE_FILE 422 "unreadable-file" "The file has no text that can be read";
    NO_ORIGINALS 422 "no-originals" "The index keeps no originals";
    KEY_REUSED 422 "key-reused" "Another request used this idempotency key";
    NO_BACKUP_FOLDER 422 "no-backup-folder" "The server has no folder for backups";
    NO_SETS 422 "no-sets" "The index keeps too little for this";
    INTERNAL 500 "internal" "The server failed";
    DAMAGED_ORIGINAL 500 "damaged-original" "The original is damaged";
    BUSY 503 "busy" "The server is busy";
    TIMEOUT 503 "timeout" "The answer took too long";
    UNREADABLE 503 "unreadable" "The index cannot be read";
    DATABASE_UNAVAILABLE 503 "database-unavailable" "The database of the index does not answer";
    DECISIONS_FULL 507 "decisions-full" "No more decisions can be in force";
    INDEX_FULL 507 "index-full" "The index cannot number more documents";
    DISK_FULL 507 "disk-full" "The disk is full";
}

/// An error response.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    /// Expected and found values, and the remedy.
    pub(crate) detail: String,
    /// Further members.
    more: Map<String, Value>,
    /// The header `retry-after`, in seconds.
    retry_after: Option<u32>,
    /// A note for the log only.
    pub(crate) note: Option<String>,
}

/// A note for the log, as an extension of the response.
#[derive(Clone)]
pub(crate) struct Note(pub(crate) String);

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { code, detail, more: Map::new(), retry_after: None, note: None }
    }

    pub(crate) fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.more.insert(member.to_owned(), value.into());
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Adds a note for the log.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The cause for the log.
    pub(crate) fn cause(&self) -> &str {
        self.note.as_deref().unwrap_or(&self.detail)
    }

    /// All workers or all memory of bodies are in use.
    pub(crate) fn busy(reason: &str) -> Self {
        Self::new(Code::BUSY, format!("{reason}; send the request again in a second"))
            .retry_after(1)
    }

    /// A failure that the client cannot avoid; its cause is logged.
    pub(crate) fn internal(note: impl Into<String>) -> Self {
        let detail = "the server log has details, under the number in the header x-request-id of \
                      this answer";
        Self { note: Some(note.into()), ..Self::new(Code::INTERNAL, detail) }
    }

    pub(crate) fn unknown_document(id: &str) -> Self {
        let id = lookalike::store::entry::shortened_id(id);
        Self::new(
            Code::UNKNOWN_DOCUMENT,
            format!("document {id:?} does not exist or has expired; GET /v1/documents lists all"),
        )
    }

    /// The index does not exist, or the token does not open it. Both cases have the same answer, so
    /// that no client learns names.
    pub(crate) fn unknown_index(name: &str) -> Self {
        let name = lookalike::store::entry::shortened_id(name);
        Self::new(
            Code::UNKNOWN_INDEX,
            format!(
                "index {name:?} does not exist for this token; GET /v1/indexes lists all indexes"
            ),
        )
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut body = self.more.clone();
        let Code { name, status, title } = self.code;
        let members = json!({
            "type": format!("https://lookalike.invalid/problems/{name}"),
            "title": title, "status": status, "code": name, "detail": self.detail,
        });
        if let Value::Object(members) = members {
            body.extend(members);
        }
        Value::Object(body)
    }
}

impl From<IndexError> for Problem {
    fn from(error: IndexError) -> Self {
        let detail = error.to_string();
        match error {
            IndexError::IdTaken { id } => {
                let id = lookalike::store::entry::shortened_id(&id);
                let detail = format!(
                    "document {id:?} already exists; remove ?mode=add to replace it, or choose \
                     another id"
                );
                Self::new(Code::ID_TAKEN, detail)
            }
            IndexError::Document { .. } => Self::new(Code::BAD_ID, detail),
            IndexError::Decision { .. } => Self::new(Code::BODY_TOO_LARGE, detail),
            IndexError::Filter { .. }
            | IndexError::NearestMeasure { .. }
            | IndexError::Params(ParamsError::Threshold { .. }) => {
                Self::new(Code::BAD_MEMBER, detail)
            }
            // A place is a folder of the server, which no client needs.
            IndexError::NoOriginals { .. } => {
                let unnamed = IndexError::NoOriginals { index: "the index".to_owned() };
                Self::new(Code::NO_ORIGINALS, unnamed.to_string())
            }
            IndexError::NoSets { .. } => Self::new(Code::NO_SETS, detail),
            IndexError::ReadOnly { cause, .. } => {
                let unnamed = IndexError::ReadOnly { index: "the index".to_owned(), cause };
                Self::new(Code::READ_ONLY, unnamed.to_string()).note(detail)
            }
            IndexError::Interrupted { .. } => Self::busy("the server stops"),
            IndexError::InUse { .. } => {
                let note = Some(detail);
                Self { note, ..Self::busy("another process writes to the index") }
            }
            IndexError::Database { transient: true, .. } => {
                let answer = "the database of the index does not answer, or cannot do this now; \
                              send the request again in a few seconds. The server log has details";
                Self::new(Code::DATABASE_UNAVAILABLE, answer).note(detail).retry_after(5)
            }
            IndexError::Full { .. } => Self::new(Code::INDEX_FULL, detail),
            IndexError::DiskFull { .. } => {
                let answer = "the disk of the server is full; acknowledged changes are stored, \
                              this one is not. Remove documents or free space, then send it again";
                Self { note: Some(detail), ..Self::new(Code::DISK_FULL, answer) }
            }
            _ => Self::internal(detail),
        }
    }
}

impl From<DecisionError> for Problem {
    fn from(error: DecisionError) -> Self {
        FindError::from(error).into()
    }
}

impl From<FindError> for Problem {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Index(error) => error.into(),
            FindError::Params(error) => Self::new(Code::BAD_MEMBER, error.to_string()),
            FindError::MemoryTooSmall { got, least } => {
                let detail = format!(
                    "computing the groups takes at least {least} bytes, {got} are allowed: start \
                     the server with a greater --max-held, or use `lookalike index groups`"
                );
                Self::new(Code::ANSWER_TOO_LARGE, detail)
            }
            FindError::Decisions(DecisionError::Conflicts { ref conflicts, total }) => {
                let list: Vec<Value> = conflicts.iter().map(conflict_json).collect();
                let problem = Self::new(Code::DECISION_CONFLICT, error.to_string());
                problem.with("conflicts", list).with("conflicts_total", total)
            }
            error => Self::internal(error.to_string()),
        }
    }
}

/// A decision that was not added, with the present state of its pair or document.
fn conflict_json(conflict: &DecisionConflict) -> Value {
    let DecisionConflict { position, documents, cause } = conflict;
    let mut members = json!({ "position": position, "documents": documents });
    if let ConflictCause::Decided(last) = cause {
        let mut current = json!({ "number": last.line, "decision": last.judgment.name() });
        for (name, value) in [("who", &last.who), ("when", &last.when)] {
            if let Some(value) = value {
                current[name] = value.as_str().into();
            }
        }
        members["current"] = current;
    }
    members
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.code.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code.status == 401 {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(note) = self.note {
            response.extensions_mut().insert(Note(note));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_differ() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Code::ALL.iter().all(|code| (400..600).contains(&code.status)));
    }

    #[test]
    fn problems_hide_system_errors() {
        let source = std::io::Error::other("at sector 7");
        let problem = Problem::from(IndexError::Io { path: "/secret/place".into(), source });
        assert!(!problem.to_json().to_string().contains("secret"));
        assert!(problem.note.is_some_and(|note| note.contains("/secret/place")));
    }
}
