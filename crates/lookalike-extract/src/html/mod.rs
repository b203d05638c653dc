//! Web pages.

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use encoding_rs::Encoding;

/// The text of a page, whose encoding may have been declared outside of it (by a header).
pub(crate) fn text(
    _bytes: &[u8],
    _declared: Option<&'static Encoding>,
    _job: &Job<'_>,
    _out: &mut String,
    _fields: &mut Fields,
) -> Result<(), Failure> {
    Err(Failure::Unsupported { kind: "a web page".to_owned() })
}
