//! What a file is, by its first bytes, and by its name where these leave it open.

#[cfg(any(feature = "archive", feature = "office"))]
use crate::archive::Bounds;
use crate::encoding;
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Bytes in which the marks of a page or a message must begin.
const HEAD_BYTES: usize = 4 << 10;
/// Bytes at the end of an archive in which its list of names is looked for.
const NAMES_BYTES: usize = 1 << 20;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Plain text, also Markdown and source code.
    Text,
    /// A web page.
    Html,
    /// One message (RFC 5322).
    Mail,
    /// Messages one after the other, each behind a line that begins with `From `.
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
    /// Records of a crawl (WARC).
    Warc,
    /// One compressed file.
    Gzip,
    /// One compressed file.
    Zstd,
    /// Something that is no text; what it is, with its article.
    Other(&'static str),
    /// Holds NUL bytes and is nothing that is known.
    Binary,
}

impl Kind {
    /// What a file is. Looks at its first 4 KiB, and at the list of names of a ZIP archive.
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
            // A line that was cut off would not look like one of a header.
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

    /// With its article, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Html => "a web page",
            Self::Mail => "a message",
            Self::Mbox => "a mailbox",
            Self::Pdf => "a PDF",
            Self::Rtf => "an RTF file",
            Self::Docx => "a Word file",
            Self::Pptx => "a PowerPoint file",
            Self::Xlsx => "an Excel file",
            Self::Odf => "an OpenDocument file",
            Self::Epub => "an EPUB",
            Self::Zip => "a ZIP archive",
            Self::Tar => "a tar archive",
            Self::Warc => "a WARC file",
            Self::Gzip => "a gzip file",
            Self::Zstd => "a zstd file",
            Self::Other(name) => name,
            Self::Binary => "a binary file",
        }
    }
}

/// Endings of files whose content is taken as it is, whatever it looks like.
const SOURCE_CODE: [&str; 34] = [
    "c", "cc", "cpp", "cs", "css", "csv", "go", "h", "hpp", "java", "js", "json", "jsonl", "jsx",
    "kt", "lua", "md", "php", "pl", "ps1", "py", "r", "rb", "rs", "rst", "scala", "sh", "sql",
    "svg", "swift", "tex", "ts", "toml", "yaml",
];

/// First bytes, and what they begin.
const MAGIC: &[(&[u8], Kind)] = &[
    (b"{\\rtf", Kind::Rtf),
    (b"WARC/", Kind::Warc),
    (b"\x1f\x8b\x08", Kind::Gzip),
    (b"\x28\xb5\x2f\xfd", Kind::Zstd),
    (b"\x89PNG\r\n\x1a\n", Kind::Other("a PNG image")),
    (b"\xff\xd8\xff", Kind::Other("a JPEG image")),
    (b"GIF8", Kind::Other("a GIF image")),
    (b"II*\0", Kind::Other("a TIFF image")),
    (b"MM\0*", Kind::Other("a TIFF image")),
    (b"\0\0\x01\0", Kind::Other("an icon")),
    (b"ID3", Kind::Other("a sound")),
    (b"OggS", Kind::Other("a sound or film")),
    (b"fLaC", Kind::Other("a sound")),
    (b"\x1a\x45\xdf\xa3", Kind::Other("a film")),
    (b"7z\xbc\xaf\x27\x1c", Kind::Other("a 7z archive")),
    (b"Rar!\x1a\x07", Kind::Other("a RAR archive")),
    (b"\xfd7zXZ\0", Kind::Other("an xz file")),
    (b"BZh", Kind::Other("a bzip2 file")),
    (b"\x7fELF", Kind::Other("a program")),
    (b"\xca\xfe\xba\xbe", Kind::Other("a program")),
    (b"\xcf\xfa\xed\xfe", Kind::Other("a program")),
    (b"SQLite format 3\0", Kind::Other("an SQLite database")),
    (b"\0asm", Kind::Other("a program")),
    (b"wOFF", Kind::Other("a font")),
    (b"wOF2", Kind::Other("a font")),
];

fn by_magic(bytes: &[u8]) -> Option<Kind> {
    let at = |start: usize, magic: &[u8]| bytes.get(start..).is_some_and(|b| b.starts_with(magic));
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        // These letters may begin a text, too.
        let word =
            matches!(kind, Kind::Other(_)) && bytes.iter().take(64).all(u8::is_ascii_graphic);
        return (!word).then_some(*kind);
    }
    if memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-").is_some() {
        return Some(Kind::Pdf);
    }
    if at(0, b"PK\x03\x04") || at(0, b"PK\x05\x06") || at(0, b"PK\x07\x08") {
        return Some(zipped(bytes));
    }
    if at(257, b"ustar") {
        return Some(Kind::Tar);
    }
    if at(0, &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        // In UTF-16, as all names in such a file are.
        let encrypted: Vec<u8> = "EncryptedPackage".bytes().flat_map(|byte| [byte, 0]).collect();
        let found = memmem::find(bytes, &encrypted).is_some();
        let name = if found { ENCRYPTED_OFFICE } else { "an old Office file (.doc, .xls, .ppt)" };
        return Some(Kind::Other(name));
    }
    if at(0, b"RIFF") && bytes.len() > 12 {
        return Some(Kind::Other(if at(8, b"WEBP") { "a WebP image" } else { "a sound or film" }));
    }
    if at(4, b"ftyp") {
        return Some(Kind::Other("a film or image"));
    }
    if at(0, b"MZ") && memchr(0, &bytes[..bytes.len().min(64)]).is_some() {
        return Some(Kind::Other("a program"));
    }
    None
}

/// The name of [`Kind::Other`] for an Office file that needs a password.
pub(crate) const ENCRYPTED_OFFICE: &str = "an encrypted Office file";

/// What a ZIP archive is, by the names in it.
fn zipped(bytes: &[u8]) -> Kind {
    if let Some(kind) = bytes.get(30..).and_then(|b| b.strip_prefix(b"mimetypeapplication/")) {
        if kind.starts_with(b"epub+zip") {
            return Kind::Epub;
        }
        if kind.starts_with(b"vnd.oasis.opendocument") {
            return Kind::Odf;
        }
    }
    let mut names = &bytes[bytes.len().saturating_sub(NAMES_BYTES)..];
    let cut_off = memmem::rfind(names, b"PK\x05\x06").is_none();
    if cut_off {
        // They also stand before each file.
        names = bytes;
    }
    let has = |name: &str| memmem::find(names, name.as_bytes()).is_some();
    #[cfg(any(feature = "archive", feature = "office"))]
    if (has("mimetype") || has("META-INF/"))
        && let Some(kind) = by_members(bytes)
    {
        return kind;
    }
    if !has("[Content_Types].xml") {
        Kind::Zip
    } else if has("word/document") {
        Kind::Docx
    } else if has("ppt/presentation") {
        Kind::Pptx
    } else if has("xl/workbook") {
        Kind::Xlsx
    } else if cut_off {
        Kind::Other("an Office file that is cut off")
    } else {
        Kind::Zip
    }
}

/// Members of an archive that are listed to find an EPUB or `OpenDocument` file.
#[cfg(any(feature = "archive", feature = "office"))]
const LISTED_MEMBERS: u32 = 100_000;
/// Bytes that are read of a member that names the kind.
#[cfg(any(feature = "archive", feature = "office"))]
const NAMING_BYTES: u64 = 1 << 20;

/// EPUB or `OpenDocument`, wherever in the archive the members are that say so, and however they
/// are compressed: by `mimetype`, else by the list of contents that each has.
#[cfg(any(feature = "archive", feature = "office"))]
fn by_members(bytes: &[u8]) -> Option<Kind> {
    let bounds = Bounds { members: LISTED_MEMBERS, in_time: &|| Ok(()) };
    let listed = crate::archive::list(std::io::Cursor::new(bytes), &bounds).ok()?;
    let content = |name: &str| {
        let entry = listed.entries.iter().find(|entry| entry.name == name)?;
        entry.inflate(entry.slice(bytes).ok()?, NAMING_BYTES).ok()
    };
    if let Some(kind) = content("mimetype") {
        return match kind.strip_prefix(b"application/")? {
            kind if kind.starts_with(b"epub+zip") => Some(Kind::Epub),
            kind if kind.starts_with(b"vnd.oasis.opendocument") => Some(Kind::Odf),
            _ => None,
        };
    }
    let names = |member: &str, kind: &[u8]| {
        content(member).is_some_and(|content| memmem::find(&content, kind).is_some())
    };
    if names("META-INF/container.xml", b"rootfile") {
        Some(Kind::Epub)
    } else if names("META-INF/manifest.xml", b"application/vnd.oasis.opendocument") {
        Some(Kind::Odf)
    } else {
        None
    }
}

/// Whether a text begins as a page does: behind blanks, an XML declaration and comments.
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

/// Header fields of which a message has at least two.
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
    let (mut known, mut lines) = (0, 0);
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
        // The line that a mailbox puts in front of a message may have stayed.
        if lines == 1 && (line.starts_with("From ") || line.starts_with(">From ")) {
            continue;
        }
        let Some(name) = memchr(b':', line.as_bytes()).map(|colon| &line[..colon]) else {
            // In `.emlx` the first line is the length of the message.
            if lines == 1 && named && line.trim_end().bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            return known >= 2 && named;
        };
        if !name.bytes().all(|b| b.is_ascii_graphic()) {
            return known >= 2 && named;
        }
        known += u32::from(HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header)));
    }
    known >= if named { 1 } else { 2 }
}

/// Whether a text begins with a line `From address date` and the header of a message.
fn is_mbox(head: &str) -> bool {
    let Some((first, rest)) = head.split_once('\n') else { return false };
    is_separator(first.as_bytes()) && is_mail(rest, false)
}

/// Whether a line is one that stands before each message of a mailbox: `From `, an address, and
/// a date that ends with a year, a zone perhaps behind it.
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
    fn files_are_what_they_hold() {
        let kinds: [(&str, &[u8], Kind); 18] = [
            ("a", b"", Kind::Text),
            ("a.txt", b"From the start: nothing\n", Kind::Text),
            ("a.pdf", b"just words", Kind::Text),
            ("a.txt", b"\n%PDF-1.7\n\0", Kind::Pdf),
            ("a", b"\xef\xbb\xbf<!-- x -->\n<!DOCTYPE html>", Kind::Html),
            ("a.htm", b"hello", Kind::Html),
            ("a.rs", b"<!DOCTYPE html>", Kind::Text),
            ("a", b"From: x\nSubject: y\n\nbody", Kind::Mail),
            ("a", b"Note: x\nSubject: y\n\nbody", Kind::Text),
            ("a", b"From a@b Thu Jan  1 00:00:00 1970\nFrom: x\nTo: y\n\n", Kind::Mbox),
            ("a", b"From a point of view\nFrom: x\nTo: y\n\n", Kind::Mail),
            ("a.eml", b"From a@b Thu Jan  1 00:00:00 1970\nFrom: x\n\n", Kind::Mail),
            ("a.doc", b"{\\rtf1 x}", Kind::Rtf),
            ("a", b"\x89PNG\r\n\x1a\n\0", Kind::Other("a PNG image")),
            ("a", b"GIF8 is a format", Kind::Other("a GIF image")),
            ("a", b"x\0y", Kind::Binary),
            ("a", b"\xff\xfe<\0h\0t\0m\0l\0>\0", Kind::Html),
            ("a", b"PK\x05\x06", Kind::Zip),
        ];
        let long =
            format!("From a@b Thu Jan  1 00:00:00 1970\nFrom: x\nTo: {}\n\n", "y, ".repeat(5000));
        let long = long.replace("y, y, ", "y,\nz: ");
        assert_eq!(Kind::of("a", long.as_bytes()), Kind::Mbox);
        assert_eq!(Kind::of("a.eml", long.as_bytes()), Kind::Mail);
        for (name, bytes, kind) in kinds {
            assert_eq!(
                Kind::of(name, bytes),
                kind,
                "{name} {:?}",
                bytes.escape_ascii().to_string()
            );
        }
    }
}
