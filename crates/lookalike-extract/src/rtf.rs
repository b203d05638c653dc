//! Rich Text Format.

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;

/// The text of an RTF file.
pub(crate) fn text(
    _bytes: &[u8],
    _job: &Job<'_>,
    _out: &mut String,
    _fields: &mut Fields,
) -> Result<(), Failure> {
    Err(Failure::Unsupported { kind: "an RTF file".to_owned() })
}
