//! The output of readers.

use crate::reading::fields::Fields;
use crate::reading::limits::LimitTracker;

/// Where a reader puts the text and the fields of a file, within the limits.
pub(crate) struct TextOutput<'a> {
    pub(crate) tracker: &'a LimitTracker<'a>,
    pub(crate) text: &'a mut String,
    pub(crate) fields: &'a mut Fields,
}
