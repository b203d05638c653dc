//! The output of readers.

use crate::reading::fields::Fields;
use crate::reading::limits::LimitTracker;

/// The text and the fields that a reader writes, within the limits.
pub(crate) struct TextOutput<'a> {
    pub(crate) tracker: &'a LimitTracker<'a>,
    pub(crate) text: &'a mut String,
    pub(crate) fields: &'a mut Fields,
}
