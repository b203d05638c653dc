//! The readers of files that are one text, by kind.

use crate::encoding;
use crate::error::ExtractError;
use crate::fields::Fields;
use crate::kind::{ENCRYPTED_OFFICE, FileKind};
use crate::limits::LimitTracker;

/// Appends the text of a file that is one text, and sets its fields.
pub(crate) fn read_text(
    kind: FileKind,
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
    text: &mut String,
    fields: &mut Fields,
) -> Result<(), ExtractError> {
    // Unused without the features below.
    let _ = &fields;
    match kind {
        FileKind::Text => {
            let decoded = encoding::decode(bytes, None).ok_or(ExtractError::Binary)?;
            text.push_str(&decoded);
            Ok(())
        }
        #[cfg(feature = "html")]
        FileKind::Html => crate::html::text(bytes, None, tracker, text, fields),
        #[cfg(feature = "pdf")]
        FileKind::Pdf => crate::pdf::text(bytes, tracker, text, fields),
        FileKind::Rtf => crate::rtf::text(bytes, tracker, text, fields),
        #[cfg(feature = "office")]
        FileKind::Docx | FileKind::Pptx | FileKind::Xlsx | FileKind::Odf | FileKind::Epub => {
            crate::office::text(kind, bytes, tracker, text, fields)
        }
        FileKind::Binary => Err(ExtractError::Binary),
        FileKind::Other(ENCRYPTED_OFFICE) => Err(ExtractError::Encrypted),
        other => Err(ExtractError::Unsupported { kind: other.name().to_owned() }),
    }
}
