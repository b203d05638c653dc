//! The clock, in the unit of the index.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time, in ns since 1970.
pub fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX)
}
