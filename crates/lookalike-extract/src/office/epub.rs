//! EPUB: chapters in HTML.

use super::metadata;
use super::package::{Package, resolve};
use super::xml::{self, attribute};
use crate::reading::{ExtractError, Fields, LimitTracker};
use quick_xml::events::BytesStart;
use std::collections::{HashMap, HashSet};

/// Appends the text of the chapters in reading order.
pub(super) fn chapters(
    package: &Package<'_>,
    text: &mut String,
    fields: &mut Fields,
) -> Result<(), ExtractError> {
    let book = book(package)?;
    let xml = package.needed(&book)?;
    // Name and media type of each file by id, and the ids in reading order.
    let mut files = HashMap::new();
    let mut order = Vec::new();
    xml::each_element(&xml, package.tracker, |name, tag| match name {
        "item" => {
            files.insert(value(tag, "id"), (value(tag, "href"), value(tag, "media-type")));
        }
        "itemref" => order.push(value(tag, "idref")),
        _ => {}
    })?;
    metadata::set(&xml, package, metadata::BOOK, fields)?;
    let encrypted = encrypted(package)?;
    for id in &order {
        package.tracker.check_time()?;
        let Some((target, kind)) = files.get(id) else {
            return Err(ExtractError::damaged(format!("no file is named for chapter {id}")));
        };
        // Some chapters are pictures.
        if !kind.contains("html") && !kind.contains("dtbook") {
            continue;
        }
        let name = resolve(&book, target);
        if encrypted.contains(&name) {
            return Err(ExtractError::Encrypted);
        }
        let Some(bytes) = package.file(&name)? else {
            return Err(ExtractError::damaged(format!("{name} is missing")));
        };
        page(&bytes, package.tracker, text)?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(())
}

/// Appends the text of one page.
#[cfg(feature = "html")]
fn page(page: &[u8], tracker: &LimitTracker<'_>, text: &mut String) -> Result<(), ExtractError> {
    let mut chapter = String::new();
    crate::html::all_text(page, None, tracker, &mut chapter)?;
    text.push_str(&chapter);
    Ok(())
}

/// Always an error without the feature `html`.
#[cfg(not(feature = "html"))]
fn page(_: &[u8], _: &LimitTracker<'_>, _: &mut String) -> Result<(), ExtractError> {
    Err(ExtractError::Unsupported { kind: "an EPUB without the feature `html`".to_owned() })
}

/// The name of the package document.
fn book(package: &Package<'_>) -> Result<String, ExtractError> {
    let mut book = None;
    let container = package.needed("META-INF/container.xml")?;
    xml::each_element(&container, package.tracker, |name, tag| {
        if name == "rootfile" && book.is_none() {
            book = Some(resolve("", &value(tag, "full-path")));
        }
    })?;
    book.ok_or_else(|| ExtractError::damaged("an EPUB that names no book"))
}

/// The encrypted files. Chapters among them require a password or device; obfuscated fonts do not
/// matter.
fn encrypted(package: &Package<'_>) -> Result<HashSet<String>, ExtractError> {
    let mut encrypted = HashSet::new();
    if let Some(xml) = package.xml("META-INF/encryption.xml")? {
        xml::each_element(&xml, package.tracker, |name, tag| {
            if name == "CipherReference" {
                encrypted.insert(resolve("", &value(tag, "URI")));
            }
        })?;
    }
    Ok(encrypted)
}

/// The value of an attribute; empty if it is missing.
fn value(tag: &BytesStart<'_>, name: &str) -> String {
    attribute(tag, name).unwrap_or_default().into_owned()
}

#[cfg(test)]
#[cfg(feature = "html")]
mod tests {
    use super::*;
    use crate::reading::ExtractOptions;

    fn read(book: &[u8]) -> (Result<(), ExtractError>, String, Fields) {
        let options = ExtractOptions::default();
        let tracker = LimitTracker::new(&options);
        let package = Package::open(book, &tracker).unwrap();
        let (mut text, mut fields) = (String::new(), Fields::default());
        (chapters(&package, &mut text, &mut fields), text, fields)
    }

    #[test]
    fn epub_chapters_follow_book_order() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/extract/office/");
        let book = std::fs::read(format!("{path}book.epub")).unwrap();
        let (result, text, fields) = read(&book);
        assert_eq!(result, Ok(()));
        let expected = std::fs::read_to_string(format!("{path}book.epub.txt")).unwrap();
        assert_eq!(text, expected.split_once("\n\n").unwrap().1);
        for (name, value) in [
            ("title", "A title &"),
            ("author", "Ada Example"),
            ("date", "2024-05-06T07:08:10Z"),
            ("language", "en-GB"),
        ] {
            assert_eq!(fields.get(name), Some(value));
        }
        let locked = std::fs::read(format!("{path}locked.epub")).unwrap();
        assert_eq!(read(&locked).0, Err(ExtractError::Encrypted));
    }
}
