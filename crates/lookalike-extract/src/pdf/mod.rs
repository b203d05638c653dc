//! PDF.

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;

/// The text of a PDF, page after page.
pub(crate) fn text(
    _bytes: &[u8],
    _job: &Job<'_>,
    _out: &mut String,
    _fields: &mut Fields,
) -> Result<(), Failure> {
    Err(Failure::Unsupported { kind: "a PDF".to_owned() })
}
