//! The readers of files that are one text, by kind.

use crate::encoding;
use crate::kind::{ENCRYPTED_OFFICE, FileKind};
use crate::reading::{ExtractError, TextOutput};

/// Appends the text of a file that is one text, and sets its fields.
pub(crate) fn read_text(
    kind: FileKind,
    bytes: &[u8],
    out: &mut TextOutput<'_>,
) -> Result<(), ExtractError> {
    match kind {
        FileKind::Text => {
            out.text.push_str(&encoding::decode(bytes, None).ok_or(ExtractError::Binary)?);
            Ok(())
        }
        #[cfg(feature = "html")]
        FileKind::Html => crate::html::text(bytes, None, out),
        #[cfg(feature = "pdf")]
        FileKind::Pdf => crate::pdf::text(bytes, out),
        FileKind::Rtf => crate::rtf::text(bytes, out),
        #[cfg(feature = "office")]
        FileKind::Docx | FileKind::Pptx | FileKind::Xlsx | FileKind::Odf | FileKind::Epub => {
            crate::office::text(kind, bytes, out)
        }
        FileKind::Binary => Err(ExtractError::Binary),
        FileKind::Other(ENCRYPTED_OFFICE) => Err(ExtractError::Encrypted),
        other => Err(ExtractError::Unsupported { kind: other.name().to_owned() }),
    }
}
