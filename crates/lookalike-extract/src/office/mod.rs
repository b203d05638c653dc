//! Office files: XML in a ZIP archive.

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use crate::kind::Kind;

/// The text of an office file.
pub(crate) fn text(
    kind: Kind,
    _bytes: &[u8],
    _job: &Job<'_>,
    _out: &mut String,
    _fields: &mut Fields,
) -> Result<(), Failure> {
    Err(Failure::Unsupported { kind: kind.name().to_owned() })
}
