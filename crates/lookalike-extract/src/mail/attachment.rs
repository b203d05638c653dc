//! Names of attachments.

use super::parts::MailPart;
use super::words;
use crate::reading::UniqueNames;

/// Maximum bytes of a name.
const NAME_BYTES: usize = 200;

/// Extensions by content type, for attachments without a name.
const ENDINGS: &[(&str, &str)] = &[
    ("application/pdf", "pdf"),
    ("application/rtf", "rtf"),
    ("text/rtf", "rtf"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("application/x-gzip", "gz"),
    ("application/json", "json"),
    ("application/xml", "xml"),
    ("text/xml", "xml"),
    ("application/xhtml+xml", "html"),
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/csv", "csv"),
    ("text/calendar", "ics"),
    ("text/vcard", "vcf"),
    ("text/x-vcard", "vcf"),
    ("message/rfc822", "eml"),
    ("message/global", "eml"),
    ("message/news", "eml"),
    ("message/delivery-status", "txt"),
    ("text/rfc822-headers", "txt"),
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/jpg", "jpg"),
    ("image/gif", "gif"),
    ("image/tiff", "tif"),
    ("image/svg+xml", "svg"),
    ("application/msword", "doc"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.ms-powerpoint", "ppt"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("application/vnd.oasis.opendocument.presentation", "odp"),
    ("application/epub+zip", "epub"),
];

/// The file name declared for a part.
pub(super) fn declared<'p>(part: &'p MailPart<'_>) -> Option<&'p str> {
    let name = part.disposition.params.get("filename").map(String::as_str);
    name.or(part.parameter("name")).filter(|name| !name.trim().is_empty())
}

/// Assigns unique names to the attachments of a message.
#[derive(Default)]
pub(super) struct AttachmentNames {
    count: usize,
    names: UniqueNames,
}

impl AttachmentNames {
    /// A unique name for the next attachment: the last segment of the declared name, without
    /// control characters, or else `attachment-N` with an extension.
    pub(super) fn name(&mut self, part: &MailPart<'_>) -> String {
        self.count += 1;
        let name = declared(part).map(|name| safe(&words::text(name.as_bytes())));
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| {
            let ending = ENDINGS.iter().find(|(media, _)| *media == part.media);
            format!("attachment-{}.{}", self.count, ending.map_or("bin", |(_, ending)| ending))
        });
        self.unique(&name)
    }

    fn unique(&mut self, name: &str) -> String {
        let number = self.names.number_as(name, |number| numbered(name, number));
        number.map_or_else(|| name.to_owned(), |number| numbered(name, number))
    }
}

fn numbered(name: &str, number: u32) -> String {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}-{number}.{ending}"),
        _ => format!("{name}-{number}"),
    }
}

/// The last segment of a path, without misleading characters; may be empty.
fn safe(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    // Characters that change the writing direction can hide the extension.
    let turns = |c| matches!(u32::from(c), 0x200E | 0x200F | 0x202A..=0x202E | 0x2066..=0x2069);
    let clean: String = last.chars().filter(|c| !c.is_control() && !turns(*c)).collect();
    let clean = clean.trim().trim_end_matches('.');
    if clean.trim_matches('.').is_empty() {
        return String::new();
    }
    shortened(clean)
}

/// Truncates a name to [`NAME_BYTES`], keeping its extension.
fn shortened(name: &str) -> String {
    if name.len() <= NAME_BYTES {
        return name.to_owned();
    }
    let ending = name.rfind('.').map_or("", |dot| &name[dot..]);
    let ending = if ending.len() > 16 { "" } else { ending };
    let most = NAME_BYTES - ending.len();
    let fits = |(at, char): (usize, char)| at + char.len_utf8() <= most;
    let stem: String = name.char_indices().take_while(|c| fits(*c)).map(|(_, c)| c).collect();
    format!("{stem}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe() {
        let cases = [
            ("a.pdf", "a.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\b.doc", "b.doc"),
            ("a\u{202e}\u{7}fdp.exe", "afdp.exe"),
            (" .. ", ""),
            (".", ""),
            ("a/", ""),
            ("x. ", "x"),
            (".profile", ".profile"),
        ];
        for (name, expected) in cases {
            assert_eq!(safe(name), expected, "{name:?}");
        }
        let long = safe(&format!("{}.pdf", "é".repeat(300)));
        assert!(long.len() <= NAME_BYTES && long.ends_with("é.pdf"), "{long}");
    }

    #[test]
    fn names_are_unique() {
        let mut names = AttachmentNames::default();
        let mut name = |name: &str| names.unique(name);
        assert_eq!(name("a.pdf"), "a.pdf");
        assert_eq!(name("a-2.pdf"), "a-2.pdf");
        assert_eq!(name("a.pdf"), "a-3.pdf");
        assert_eq!(name("a.pdf"), "a-4.pdf");
        assert_eq!(name("b"), "b");
        assert_eq!(name("b"), "b-2");
    }
}
