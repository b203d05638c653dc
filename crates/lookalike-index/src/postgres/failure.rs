//! Converts errors of the server and of connections.

use crate::error::{IndexError, Unwritable};
use postgres::Error;
use postgres::error::SqlState;
use std::error::Error as _;
use std::fmt::Write as _;
use std::time::Duration;

/// Converts an error; `index` is the name of the index.
pub(super) fn failure(index: &str, error: &Error) -> IndexError {
    let index = index.to_owned();
    match error.code() {
        Some(code) if *code == SqlState::DISK_FULL => IndexError::DiskFull { index },
        Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            IndexError::ReadOnly { index, cause: Unwritable::Server }
        }
        _ => IndexError::Database { index, why: reported(error), transient: is_transient(error) },
    }
}

/// As [`failure`], with [`IndexError::InUse`] for a lock timeout.
pub(super) fn waiting(index: &str, error: &Error, waited: Duration) -> IndexError {
    if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
        return IndexError::InUse { index: index.to_owned(), waited, service: None };
    }
    failure(index, error)
}

/// Converts an error that occurred while rows were sent.
pub(super) fn sending(index: &str, error: &std::io::Error) -> IndexError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(inner) => failure(index, inner),
        None => IndexError::transient(index, format!("rows could not be sent: {error}")),
    }
}

/// The message in one line: the server's message, or the messages of all causes.
pub(super) fn reported(error: &Error) -> String {
    if let Some(server_error) = error.as_db_error() {
        let mut text = server_error.message().to_owned();
        for more in [server_error.detail(), server_error.hint()].into_iter().flatten() {
            let _ = write!(text, "; {more}");
        }
        let _ = write!(text, " ({})", server_error.code().code());
        return text;
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            let _ = write!(text, ": {more}");
        }
        cause = inner.source();
    }
    if text.contains("does not support TLS") {
        text.push_str("; sslmode=prefer and sslmode=disable connect without");
    }
    text
}

/// Returns true if the connection is lost.
pub(super) fn is_lost(error: &Error) -> bool {
    if let Some(code) = error.code() {
        // Ended by an administrator, by a crash of another session, or by a limit on idle time.
        return ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(&code.code());
    }
    error.is_closed() || has_io_error(error)
}

/// Returns true if the transaction was rolled back and can be retried at once.
pub(super) fn is_conflict(error: &Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
        || code == Some(&SqlState::T_R_DEADLOCK_DETECTED)
}

/// Returns true if a retry may succeed later: for lost connections, conflicts, lack of resources,
/// shutdowns and cancelled statements.
fn is_transient(error: &Error) -> bool {
    match error.code() {
        Some(code) => {
            let class = code.code().get(..2).unwrap_or_default();
            ["08", "40", "53", "57", "58"].contains(&class)
                || ["25P03", "55P03"].contains(&code.code())
        }
        None => error.is_closed() || has_io_error(error),
    }
}

fn has_io_error(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.is::<std::io::Error>() {
            return true;
        }
        cause = inner.source();
    }
    error.to_string().contains("timeout")
}
