//! The number of a document in an index.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// The number of a document in an index. It is greater than all numbers assigned before, and never
/// reused.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct DocumentNumber(pub u64);

impl DocumentNumber {
    /// The number that no document exceeds.
    pub const MAX: Self = Self(u64::MAX);

    /// The next number, from which a scan continues.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl DocumentNumber {
    /// Converts a number from a database, whose integers are signed.
    pub(crate) fn of_signed(number: i64) -> Self {
        Self(number.cast_unsigned())
    }

    /// The number in a database.
    pub(crate) fn signed(self) -> i64 {
        self.0.cast_signed()
    }
}

impl Display for DocumentNumber {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
