//! Documents that are sent as files: read within the limits of `POST /v1/extract`, and stored
//! unchanged if the index keeps originals.

use crate::documents::document_to_write::{DocumentToWrite, check_original, check_text};
use crate::http::problem::{Code, Problem};
use crate::threads::pool::PoolWorker;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use lookalike::extract::{ExtractedPart, FailedPart, Fields, FileKind, PartSink};
use lookalike::index::OwnedOriginal;
use lookalike::store::entry::Metadata;
use lookalike::store::original::MAX_DESCRIPTION_BYTES;
use serde_json::{Value, json};

/// Maximum length of a file's name, in bytes.
const NAME_BYTES: usize = 4096;
/// The media type of a file whose kind is recognised by its first bytes and its name.
const ANY_TYPE: &str = "application/octet-stream";
/// The most parts of a file that an answer lists as left out.
const LISTED_PARTS: usize = 1_000;
/// Media types, each with an extension with which a file is read as this type.
const READ_AS: [(&str, &str); 5] = [
    ("text/html", "html"),
    ("application/xhtml+xml", "html"),
    ("message/rfc822", "eml"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
];

/// Checks the length of the name of a file.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    if name.len() <= NAME_BYTES {
        return Ok(());
    }
    let detail = format!("name has {} bytes: expected at most {NAME_BYTES}", name.len());
    Err(Problem::new(Code::BAD_PARAMETER, detail))
}

/// Type and name of the file in the body of a request.
pub(crate) struct FileHead {
    /// As it was sent.
    media_type: String,
    name: String,
}

impl FileHead {
    /// Returns the head of a request whose body is a file. Returns `None` for JSON, and for types
    /// that no file has. The caller reads or refuses such a body as JSON.
    ///
    /// # Errors
    /// A problem for a type or a name that is too long.
    pub(crate) fn of(headers: &HeaderMap, name: Option<&str>) -> Result<Option<Self>, Problem> {
        let name = name.unwrap_or_default().to_owned();
        check_name(&name)?;
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let Some(media_type) = value.map(str::trim).filter(|value| value.contains('/')) else {
            return Ok(None);
        };
        if media_type.len() > MAX_DESCRIPTION_BYTES {
            return Ok(None);
        }
        // The types of forms are types of requests, not of files.
        let essence = essence(media_type);
        let is_other = ["application/json", "application/x-www-form-urlencoded"]
            .contains(&essence.as_str())
            || essence.starts_with("multipart/");
        Ok((!is_other).then(|| Self { media_type: media_type.to_owned(), name }))
    }

    /// The name by which the file is read: its own name. If this has no extension, the extension of
    /// the declared type is added.
    fn reading_name(&self) -> String {
        let essence = essence(&self.media_type);
        let read_as = READ_AS.iter().find(|(media_type, _)| *media_type == essence);
        match read_as {
            Some((_, extension)) if !self.name.contains('.') => {
                format!("{}.{extension}", self.name)
            }
            _ => self.name.clone(),
        }
    }

    /// The type that is stored: the declared one, or the type of the kind of file.
    fn kept_type(&self, bytes: &[u8]) -> String {
        if essence(&self.media_type) != ANY_TYPE {
            return self.media_type.clone();
        }
        FileKind::of(&self.name, bytes).media_type_of(&self.name).to_owned()
    }
}

/// A media type without parameters, in lower case.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A file, read.
pub(crate) struct FileToWrite {
    pub(crate) document: DocumentToWrite,
    /// Parts of the file that are left out of this document.
    pub(crate) left_out: Vec<Value>,
}

/// Reads a file as the document with an id. The document is the text of the file itself.
/// Attachments and other files in it are left out and listed. The original contains them.
///
/// # Errors
/// A problem for a file without a text, and for one that the index does not take.
pub(crate) fn prepare(
    head: &FileHead,
    id: String,
    bytes: &[u8],
    worker: &mut PoolWorker,
    text_bytes: u64,
) -> Result<FileToWrite, Problem> {
    check_original(&worker.preparer, &id, bytes.len())?;
    let mut own = OwnText::default();
    worker.extractor().extract(&head.reading_name(), bytes, &mut own)?;
    let OwnText { text, metadata, why, left_out } = own;
    let text = text.ok_or_else(|| no_text(why))?;
    check_text(&text, text_bytes)?;
    let preparer = &mut worker.preparer;
    let mut document = DocumentToWrite::of_file(id, text, metadata, &head.name, preparer)?;
    if preparer.originals().is_some() {
        let name = head.name.rsplit(['/', '\\']).next().unwrap_or_default();
        let original = OwnedOriginal::new(bytes, &head.kept_type(bytes), name);
        document.document.original = Some(original);
    }
    Ok(FileToWrite { document, left_out })
}

fn no_text(why: Option<String>) -> Problem {
    let detail = match why {
        Some(why) => format!("the file cannot be read: {why}"),
        None => "the file is not a document but contains some; send each of them, or add the file \
                 with `lookalike index add`"
            .to_owned(),
    };
    Problem::new(Code::UNREADABLE_FILE, detail)
}

/// The metadata that a file has, by name.
pub(crate) fn metadata_of(fields: &Fields) -> Metadata {
    let value = |name: &'static str| Some((name.to_owned(), fields.get(name)?.into()));
    Fields::NAMES.into_iter().filter_map(value).collect()
}

/// Takes the text of a file itself.
#[derive(Default)]
struct OwnText {
    text: Option<String>,
    metadata: Metadata,
    /// The reason why the file has no text.
    why: Option<String>,
    left_out: Vec<Value>,
}

impl OwnText {
    fn leave_out(&mut self, within: &str, kind: FileKind) {
        if self.left_out.len() < LISTED_PARTS {
            self.left_out.push(json!({ "within": within, "kind": kind.name() }));
        }
    }
}

impl PartSink for OwnText {
    type Error = Problem;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Problem> {
        if !part.within.is_empty() {
            self.leave_out(part.within, part.kind);
            return Ok(());
        }
        self.text = Some(part.text.to_owned());
        self.metadata = metadata_of(part.fields);
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Problem> {
        if failed.within.is_empty() {
            self.why = Some(failed.failure.to_string());
        } else {
            self.leave_out(failed.within, failed.kind);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn head(media_type: &'static str, name: &str) -> Option<FileHead> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        FileHead::of(&headers, Some(name)).unwrap()
    }

    #[test]
    fn content_types_distinguish_files_from_json() {
        for file in ["text/html; charset=utf-8", "application/pdf", "image/png", "TEXT/PLAIN"] {
            assert!(head(file, "").is_some(), "{file}");
        }
        for other in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "text",
            "",
            "multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded",
        ] {
            assert!(head(other, "").is_none(), "{other}");
        }
        assert!(FileHead::of(&HeaderMap::new(), Some(&"n".repeat(5000))).is_err());
    }

    #[test]
    fn declared_types_override_detection() {
        let page = head("text/html;charset=utf-8", "a/page").unwrap();
        assert_eq!(page.reading_name(), "a/page.html");
        assert_eq!(page.kept_type(b"%PDF-1.4"), "text/html;charset=utf-8");
        let any = head(ANY_TYPE, "x.bin").unwrap();
        assert_eq!(any.reading_name(), "x.bin");
        assert_eq!(any.kept_type(b"%PDF-1.4"), "application/pdf");
    }
}
