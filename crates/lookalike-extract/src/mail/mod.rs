//! Messages and mailboxes.

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use std::borrow::Cow;

/// The body of a message, and what is attached to it: name and decoded content. Attachments are
/// only decoded where options want them.
pub(crate) fn read<'a>(
    _bytes: &'a [u8],
    _job: &Job<'_>,
    _out: &mut String,
    _fields: &mut Fields,
    _attachments: &mut Vec<(String, Cow<'a, [u8]>)>,
) -> Result<(), Failure> {
    Err(Failure::Unsupported { kind: "a message".to_owned() })
}
