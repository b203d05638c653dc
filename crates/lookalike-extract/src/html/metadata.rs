//! Metadata of a page.
//!
//! No library is used, because the tokenizer of the text already reads the tags. Not compared with
//! a library (November 2026).

use crate::date;
use crate::reading::Fields;

/// Names of dates in order of preference: modified, published, unspecified.
const DATES: [&[u8]; 10] = [
    b"article:modified_time",
    b"dcterms.modified",
    b"dc.date.modified",
    b"datemodified",
    b"og:updated_time",
    b"last-modified",
    b"article:published_time",
    b"dc.date",
    b"dcterms.date",
    b"date",
];

/// Metadata collected while a page is read.
#[derive(Debug, Default)]
pub(super) struct PageMetadata {
    /// May end within a character.
    pub(super) title: Vec<u8>,
    pub(super) language: Vec<u8>,
    author: Vec<u8>,
    canonical: Vec<u8>,
    url: Vec<u8>,
    /// The index of its name in [`DATES`], and the date.
    date: Option<(usize, String)>,
}

impl PageMetadata {
    /// Reads a `meta` element with a name or property and a content.
    pub(super) fn meta(&mut self, key: &[u8], content: &[u8]) {
        let key = key.trim_ascii().to_ascii_lowercase();
        match &*key {
            b"author" | b"dc.creator" => first(&mut self.author, content),
            b"og:url" => first(&mut self.url, content),
            b"content-language" => first(&mut self.language, content),
            _ => {
                let Some(rank) = DATES.iter().position(|date| *date == &*key) else { return };
                if self.date.as_ref().is_none_or(|(known, _)| rank < *known)
                    && let Ok(date) = std::str::from_utf8(content)
                    && let Some(date) = date::parse_iso(date).and_then(date::iso)
                {
                    self.date = Some((rank, date));
                }
            }
        }
    }

    /// Reads a `link` element with its relations and URL.
    pub(super) fn relation(&mut self, relations: &[u8], address: &[u8]) {
        let mut relations = relations.split(u8::is_ascii_whitespace);
        if relations.any(|relation| relation.eq_ignore_ascii_case(b"canonical")) {
            first(&mut self.canonical, address);
        }
    }

    /// Sets the fields. Relative URLs are ignored.
    pub(super) fn write_fields(&self, fields: &mut Fields) {
        let mut set = |name, value: &[u8]| fields.set(name, &String::from_utf8_lossy(value));
        set("title", &self.title);
        set("author", &self.author);
        set("language", &self.language);
        if let Some((_, date)) = &self.date {
            set("date", date.as_bytes());
        }
        for url in [&self.canonical, &self.url] {
            let url = url.trim_ascii();
            if url.starts_with(b"http://") || url.starts_with(b"https://") {
                set("url", url);
            }
        }
    }
}

/// Sets a value if it is empty.
fn first(value: &mut Vec<u8>, new: &[u8]) {
    if value.is_empty() {
        value.extend_from_slice(new.trim_ascii());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_date_and_address_win() {
        let mut metadata = PageMetadata::default();
        metadata.meta(b"DC.date", b"2020-01-01");
        metadata.meta(b"article:modified_time", b"2021-01-01");
        metadata.meta(b"article:published_time", b"2019-01-01");
        metadata.meta(b"og:url", b"https://example.org/og");
        metadata.relation(b"alternate", b"https://example.org/no");
        metadata.relation(b"x Canonical", b"https://example.org/a");
        metadata.meta(b"Author", b"  A.  Writer");
        metadata.title.extend_from_slice(b" A\n title ");
        let mut fields = Fields::default();
        metadata.write_fields(&mut fields);
        assert_eq!(fields.get("date"), Some("2021-01-01T00:00:00Z"));
        assert_eq!(fields.get("url"), Some("https://example.org/a"));
        assert_eq!(fields.get("author"), Some("A. Writer"));
        assert_eq!(fields.get("title"), Some("A title"));
        let mut metadata = PageMetadata::default();
        metadata.relation(b"canonical", b"/a");
        metadata.meta(b"og:url", b"http://example.org/og");
        let mut fields = Fields::default();
        metadata.write_fields(&mut fields);
        assert_eq!(fields.get("url"), Some("http://example.org/og"));
    }
}
