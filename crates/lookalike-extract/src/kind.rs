//! Detects the kind of a file by its first bytes, and by its name if the bytes are ambiguous.
//!
//! Used instead of the crate infer, because text formats (mail, mailboxes, pages) have no magic
//! number (`contributing/libraries.md`).

use crate::encoding;
use crate::reading::Limits;
use memchr::{memchr, memmem};
use std::borrow::Cow;
use std::time::Duration;

/// Bytes at the start examined for the signs of a page or message.
const HEAD_BYTES: usize = 4 << 10;
/// Bytes at the end of an archive examined for its central directory.
const NAMES_BYTES: usize = 1 << 20;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Plain text, also Markdown and source code.
    Text,
    /// A web page.
    Html,
    /// One message (RFC 5322).
    Mail,
    /// A mailbox: messages, each after a line that begins with `From `.
    Mbox,
    /// PDF.
    Pdf,
    /// Rich Text Format.
    Rtf,
    /// Word, Office Open XML.
    Docx,
    /// `PowerPoint`, Office Open XML.
    Pptx,
    /// Excel, Office Open XML.
    Xlsx,
    /// Text, sheets or slides, `OpenDocument`.
    Odf,
    /// EPUB.
    Epub,
    /// A ZIP archive that is none of these.
    Zip,
    /// A tar archive.
    Tar,
    /// A WARC file: records of a crawl.
    Warc,
    /// A file compressed with gzip.
    Gzip,
    /// A file compressed with zstd.
    Zstd,
    /// Another known kind without a text reader. Contains the name of the kind with its article.
    Other(&'static str),
    /// Unknown, with NUL bytes.
    Binary,
}

impl FileKind {
    /// Detects the kind of a file from its first 4 KiB, and from the central directory of a ZIP
    /// archive.
    pub fn of(name: &str, bytes: &[u8]) -> Self {
        if let Some(kind) = by_magic(bytes) {
            return kind;
        }
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        let Some(head) = encoding::glance(head) else { return Self::Binary };
        let ending = name
            .rsplit_once('.')
            .map_or(Cow::Borrowed(""), |(_, ending)| Cow::Owned(ending.to_ascii_lowercase()));
        if SOURCE_CODE.contains(&&*ending) {
            Self::Text
        } else if matches!(&*ending, "html" | "htm" | "xhtml" | "shtml") || is_page(&head) {
            Self::Html
        } else {
            let named = matches!(&*ending, "eml" | "emlx");
            // A truncated line would not match a header line.
            let cut = if bytes.len() > HEAD_BYTES { head.rfind('\n') } else { None };
            let lines = &head[..cut.map_or(head.len(), |end| end + 1)];
            match () {
                () if named && is_mail(lines, true) => Self::Mail,
                () if is_mbox(lines) => Self::Mbox,
                () if !named && is_mail(lines, false) => Self::Mail,
                () => Self::Text,
            }
        }
    }

    /// The name with its article, for messages.
    pub fn name(self) -> &'static str {
        self.name_and_media_type().0
    }

    /// The media type of a file of this kind, without parameters.
    pub fn media_type(self) -> &'static str {
        self.name_and_media_type().1
    }

    fn name_and_media_type(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("a text", "text/plain"),
            Self::Html => ("a web page", "text/html"),
            Self::Mail => ("a message", "message/rfc822"),
            Self::Mbox => ("a mailbox", "application/mbox"),
            Self::Pdf => ("a PDF", "application/pdf"),
            Self::Rtf => ("an RTF file", "application/rtf"),
            Self::Docx => ("a Word file", WORD),
            Self::Pptx => ("a PowerPoint file", POWERPOINT),
            Self::Xlsx => ("an Excel file", EXCEL),
            Self::Odf => ("an OpenDocument file", "application/vnd.oasis.opendocument.text"),
            Self::Epub => ("an EPUB", "application/epub+zip"),
            Self::Zip => ("a ZIP archive", "application/zip"),
            Self::Tar => ("a tar archive", "application/x-tar"),
            Self::Warc => ("a WARC file", "application/warc"),
            Self::Gzip => ("a gzip file", "application/gzip"),
            Self::Zstd => ("a zstd file", "application/zstd"),
            Self::Other(name) => (name, "application/octet-stream"),
            Self::Binary => ("a binary file", "application/octet-stream"),
        }
    }

    /// The media type of a file with this name. The extension distinguishes, for example,
    /// `OpenDocument` sheets and slides from texts.
    pub fn media_type_of(self, name: &str) -> &'static str {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match (self, ending.as_deref()) {
            (Self::Odf, Some("ods")) => "application/vnd.oasis.opendocument.spreadsheet",
            (Self::Odf, Some("odp")) => "application/vnd.oasis.opendocument.presentation",
            (Self::Text, Some("md")) => "text/markdown",
            (Self::Text, Some("csv")) => "text/csv",
            (Self::Text, Some("json")) => "application/json",
            _ => self.media_type(),
        }
    }
}

/// Media types of Office Open XML.
const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const POWERPOINT: &str =
    "application/vnd.openxmlformats-officedocument.presentationml.presentation";
const EXCEL: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Extensions of files that are plain text regardless of their content.
const SOURCE_CODE: [&str; 34] = [
    "c", "cc", "cpp", "cs", "css", "csv", "go", "h", "hpp", "java", "js", "json", "jsonl", "jsx",
    "kt", "lua", "md", "php", "pl", "ps1", "py", "r", "rb", "rs", "rst", "scala", "sh", "sql",
    "svg", "swift", "tex", "ts", "toml", "yaml",
];

/// Magic numbers.
const MAGIC: &[(&[u8], FileKind)] = &[
    (b"{\\rtf", FileKind::Rtf),
    (b"WARC/", FileKind::Warc),
    (b"\x1f\x8b\x08", FileKind::Gzip),
    (b"\x28\xb5\x2f\xfd", FileKind::Zstd),
    (b"\x89PNG\r\n\x1a\n", FileKind::Other("a PNG image")),
    (b"\xff\xd8\xff", FileKind::Other("a JPEG image")),
    (b"GIF8", FileKind::Other("a GIF image")),
    (b"II*\0", FileKind::Other("a TIFF image")),
    (b"MM\0*", FileKind::Other("a TIFF image")),
    (b"\0\0\x01\0", FileKind::Other("an icon")),
    (b"ID3", FileKind::Other("a sound")),
    (b"OggS", FileKind::Other("a sound or film")),
    (b"fLaC", FileKind::Other("a sound")),
    (b"\x1a\x45\xdf\xa3", FileKind::Other("a film")),
    (b"7z\xbc\xaf\x27\x1c", FileKind::Other("a 7z archive")),
    (b"Rar!\x1a\x07", FileKind::Other("a RAR archive")),
    (b"\xfd7zXZ\0", FileKind::Other("an xz file")),
    (b"BZh", FileKind::Other("a bzip2 file")),
    (b"\x7fELF", FileKind::Other("a program")),
    (b"\xca\xfe\xba\xbe", FileKind::Other("a program")),
    (b"\xcf\xfa\xed\xfe", FileKind::Other("a program")),
    (b"SQLite format 3\0", FileKind::Other("an SQLite database")),
    (b"\0asm", FileKind::Other("a program")),
    (b"wOFF", FileKind::Other("a font")),
    (b"wOF2", FileKind::Other("a font")),
];

fn by_magic(bytes: &[u8]) -> Option<FileKind> {
    let at = |start: usize, magic: &[u8]| bytes.get(start..).is_some_and(|b| b.starts_with(magic));
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        // A text may begin with the same letters.
        let word =
            matches!(kind, FileKind::Other(_)) && bytes.iter().take(64).all(u8::is_ascii_graphic);
        return (!word).then_some(*kind);
    }
    if memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-").is_some() {
        return Some(FileKind::Pdf);
    }
    if at(0, b"PK\x03\x04") || at(0, b"PK\x05\x06") || at(0, b"PK\x07\x08") {
        return Some(zipped(bytes));
    }
    if at(257, b"ustar") {
        return Some(FileKind::Tar);
    }
    if at(0, &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        // Names in such a file are UTF-16.
        let names = |part: &str| {
            let name: Vec<u8> = part.bytes().flat_map(|byte| [byte, 0]).collect();
            memmem::find(bytes, &name).is_some()
        };
        return Some(FileKind::Other(match () {
            () if names("EncryptedPackage") => ENCRYPTED_OFFICE,
            () if names("__substg1.0_") => OUTLOOK_MESSAGE,
            () => OLD_OFFICE,
        }));
    }
    if at(0, b"RIFF") && bytes.len() > 12 {
        return Some(FileKind::Other(if at(8, b"WEBP") {
            "a WebP image"
        } else {
            "a sound or film"
        }));
    }
    if at(4, b"ftyp") {
        return Some(FileKind::Other("a film or image"));
    }
    if at(0, b"MZ") && memchr(0, &bytes[..bytes.len().min(64)]).is_some() {
        return Some(FileKind::Other("a program"));
    }
    None
}

/// The name of [`FileKind::Other`] for an Office file that requires a password.
pub(crate) const ENCRYPTED_OFFICE: &str = "an encrypted Office file";
/// The name of [`FileKind::Other`] for a message that Outlook saved.
const OUTLOOK_MESSAGE: &str = "an Outlook message (`msgconvert FILE.msg` converts it to .eml)";
macro_rules! old_office_conversion {
    () => {
        "soffice --headless --convert-to docx --outdir NEW FOLDER/*.doc"
    };
}

/// The command that converts a folder of Word files in the format before 2007. For `.xls` and
/// `.ppt`, the types are `xlsx` and `pptx`.
pub const OLD_OFFICE_CONVERSION: &str = old_office_conversion!();
/// The name of [`FileKind::Other`] for an Office file in the format before 2007.
pub const OLD_OFFICE: &str = concat!(
    "an old Office file (`",
    old_office_conversion!(),
    "` converts a folder; xlsx for .xls, pptx for .ppt)"
);

/// The kind of a ZIP archive, by the names of its members.
fn zipped(bytes: &[u8]) -> FileKind {
    if let Some(kind) = bytes.get(30..).and_then(|b| b.strip_prefix(b"mimetypeapplication/")) {
        if kind.starts_with(b"epub+zip") {
            return FileKind::Epub;
        }
        if kind.starts_with(b"vnd.oasis.opendocument") {
            return FileKind::Odf;
        }
    }
    let mut names = &bytes[bytes.len().saturating_sub(NAMES_BYTES)..];
    let cut_off = memmem::rfind(names, b"PK\x05\x06").is_none();
    if cut_off {
        // Names are also in the headers before each file.
        names = bytes;
    }
    let contains = |name: &str| memmem::find(names, name.as_bytes()).is_some();
    if (contains("mimetype") || contains("META-INF/"))
        && let Some(kind) = by_members(bytes)
    {
        return kind;
    }
    if !contains("[Content_Types].xml") {
        FileKind::Zip
    } else if contains("word/document") {
        FileKind::Docx
    } else if contains("ppt/presentation") {
        FileKind::Pptx
    } else if contains("xl/workbook") {
        FileKind::Xlsx
    } else if cut_off {
        FileKind::Other("an Office file that is cut off")
    } else {
        FileKind::Zip
    }
}

/// Maximum members listed to detect an EPUB or `OpenDocument` file.
const LISTED_MEMBERS: u32 = 100_000;
/// Maximum bytes read of a member that names the kind.
const NAMING_BYTES: u64 = 1 << 20;

/// Detects EPUB and `OpenDocument` by the member `mimetype`, or else by their manifests. The
/// position and compression of these members do not matter.
fn by_members(bytes: &[u8]) -> Option<FileKind> {
    let limits = Limits { members: LISTED_MEMBERS, time: Duration::MAX, ..Limits::default() };
    let listed = crate::archive::zip_entries(std::io::Cursor::new(bytes), &limits).ok()?;
    let content = |name: &str| {
        let entry = listed.entries.iter().find(|entry| entry.name == name)?;
        entry.inflate(entry.slice(bytes).ok()?, NAMING_BYTES).ok()
    };
    if let Some(kind) = content("mimetype") {
        return match kind.strip_prefix(b"application/")? {
            kind if kind.starts_with(b"epub+zip") => Some(FileKind::Epub),
            kind if kind.starts_with(b"vnd.oasis.opendocument") => Some(FileKind::Odf),
            _ => None,
        };
    }
    let names = |member: &str, kind: &[u8]| {
        content(member).is_some_and(|content| memmem::find(&content, kind).is_some())
    };
    if names("META-INF/container.xml", b"rootfile") {
        Some(FileKind::Epub)
    } else if names("META-INF/manifest.xml", b"application/vnd.oasis.opendocument") {
        Some(FileKind::Odf)
    } else {
        None
    }
}

/// Whether a text begins like a page, after optional blanks, XML declarations and comments.
fn is_page(head: &str) -> bool {
    let mut rest = head;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let end = match () {
            () if rest.starts_with("<!--") => "-->",
            () if rest.starts_with("<?xml") => "?>",
            () => break,
        };
        let Some((_, after)) = rest.split_once(end) else { return false };
        rest = after;
    }
    let begins =
        |start: &str| rest.get(..start.len()).is_some_and(|r| r.eq_ignore_ascii_case(start));
    ["<!doctype html", "<html", "<head>", "<body", "<meta ", "<title>", "<!doctype xhtml"]
        .into_iter()
        .any(begins)
}

/// Header fields. A message has at least two of them.
const HEADERS: [&str; 12] = [
    "from",
    "to",
    "subject",
    "date",
    "message-id",
    "received",
    "return-path",
    "mime-version",
    "delivered-to",
    "content-type",
    "reply-to",
    "sender",
];

/// Whether a text begins with the header of a message: fields only, down to a blank line.
fn is_mail(head: &str, named: bool) -> bool {
    let mut known_fields = 0;
    let mut lines = 0;
    let mut rest = head.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        let end = memchr(b'\n', rest.as_bytes());
        let line = &rest[..end.unwrap_or(rest.len())];
        rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
        if line.trim_end().is_empty() {
            break;
        }
        lines += 1;
        if lines > 1 && line.starts_with([' ', '\t']) {
            continue;
        }
        // The separator line of a mailbox may precede the header.
        if lines == 1 && (line.starts_with("From ") || line.starts_with(">From ")) {
            continue;
        }
        let Some(name) = memchr(b':', line.as_bytes()).map(|colon| &line[..colon]) else {
            // The first line of an `.emlx` file is the length of the message.
            if lines == 1 && named && line.trim_end().bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            return false;
        };
        if !name.bytes().all(|b| b.is_ascii_graphic()) {
            return false;
        }
        known_fields += u32::from(HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header)));
        if known_fields == 2 && named {
            // The rest of the header cannot change the result.
            return true;
        }
    }
    known_fields >= if named { 1 } else { 2 }
}

/// Whether a text begins with a line `From address date` and the header of a message.
fn is_mbox(head: &str) -> bool {
    let Some((first, rest)) = head.split_once('\n') else { return false };
    is_separator(first.as_bytes()) && is_mail(rest, false)
}

/// Whether a line separates messages of a mailbox: it begins with `From ` and contains a time and a
/// year.
pub(crate) fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    let time =
        rest.windows(6).any(|w| w[0] == b':' && w[1].is_ascii_digit() && w[2].is_ascii_digit());
    let year = rest.split(u8::is_ascii_whitespace).any(|word| {
        word.len() == 4 && word.iter().all(u8::is_ascii_digit) && matches!(word[0], b'1' | b'2')
    });
    time && year
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_and_names_determine_kinds() {
        let kinds: [(&str, &[u8], FileKind); 20] = [
            ("a", b"", FileKind::Text),
            ("a.txt", b"From the start: nothing\n", FileKind::Text),
            ("a.pdf", b"just words", FileKind::Text),
            ("a.txt", b"\n%PDF-1.7\n\0", FileKind::Pdf),
            ("a", b"\xef\xbb\xbf<!-- x -->\n<!DOCTYPE html>", FileKind::Html),
            ("a.htm", b"hello", FileKind::Html),
            ("a.rs", b"<!DOCTYPE html>", FileKind::Text),
            ("a", b"From: x\nSubject: y\n\nbody", FileKind::Mail),
            ("a", b"Note: x\nSubject: y\n\nbody", FileKind::Text),
            ("a", b"From a@b Thu Jan  1 00:00:00 1970\nFrom: x\nTo: y\n\n", FileKind::Mbox),
            ("a", b"From a point of view\nFrom: x\nTo: y\n\n", FileKind::Mail),
            ("a.eml", b"From a@b Thu Jan  1 00:00:00 1970\nFrom: x\n\n", FileKind::Mail),
            ("a.eml", b"From: x\nno field\n", FileKind::Text),
            ("a.eml", b"From: x\nTo: y\nno field\n", FileKind::Mail),
            ("a.doc", b"{\\rtf1 x}", FileKind::Rtf),
            ("a", b"\x89PNG\r\n\x1a\n\0", FileKind::Other("a PNG image")),
            ("a", b"GIF8 is a format", FileKind::Other("a GIF image")),
            ("a", b"x\0y", FileKind::Binary),
            ("a", b"\xff\xfe<\0h\0t\0m\0l\0>\0", FileKind::Html),
            ("a", b"PK\x05\x06", FileKind::Zip),
        ];
        let long =
            format!("From a@b Thu Jan  1 00:00:00 1970\nFrom: x\nTo: {}\n\n", "y, ".repeat(5000));
        let long = long.replace("y, y, ", "y,\nz: ");
        assert_eq!(FileKind::of("a", long.as_bytes()), FileKind::Mbox);
        assert_eq!(FileKind::of("a.eml", long.as_bytes()), FileKind::Mail);
        for (name, bytes, kind) in kinds {
            assert_eq!(
                FileKind::of(name, bytes),
                kind,
                "{name} {:?}",
                bytes.escape_ascii().to_string()
            );
        }
    }
}
