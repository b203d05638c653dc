//! EPUB: web pages in an order.

use super::meta;
use super::package::{Package, resolve};
use super::xml::{self, Handler, attribute};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use quick_xml::events::BytesStart;
use std::collections::{HashMap, HashSet};

/// Takes the bytes of a page, and adds its text.
type Page<'a> = &'a mut dyn FnMut(&[u8], &mut String) -> Result<(), Failure>;

/// The text of the chapters in their order, each read by `page`.
pub(super) fn chapters(
    package: &Package<'_>,
    text: &mut String,
    fields: &mut Fields,
    page: Page<'_>,
) -> Result<(), Failure> {
    let mut container = Listed::default();
    xml::read(&package.needed("META-INF/container.xml")?, package.job, &mut container)?;
    let book = container.book.ok_or_else(|| Failure::damaged("an EPUB that names no book"))?;
    let xml = package.needed(&book)?;
    let mut listed = Listed::default();
    xml::read(&xml, package.job, &mut listed)?;
    meta::book(&xml, package.job, fields)?;
    let encrypted = encrypted(package)?;
    for id in &listed.order {
        package.job.in_time()?;
        let Some((target, kind)) = listed.files.get(id) else {
            return Err(Failure::damaged(format!("chapter {id} is nowhere")));
        };
        // Some have pictures for pages.
        if !kind.contains("html") && !kind.contains("dtbook") {
            continue;
        }
        let name = resolve(&book, target);
        if encrypted.contains(&name) {
            return Err(Failure::Encrypted);
        }
        let Some(bytes) = package.file(&name)? else {
            return Err(Failure::damaged(format!("there is no {name} in it")));
        };
        match page(&bytes, text) {
            // A cover, for example.
            Ok(()) | Err(Failure::NoText { .. }) => {}
            Err(failure) => return Err(failure),
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(())
}

/// The text of one page.
#[cfg(feature = "html")]
pub(super) fn page(page: &[u8], job: &Job<'_>, text: &mut String) -> Result<(), Failure> {
    let (mut chapter, mut fields) = (String::new(), Fields::default());
    crate::html::all_text(page, None, job, &mut chapter, &mut fields)?;
    text.push_str(&chapter);
    Ok(())
}

/// The text of one page.
#[cfg(not(feature = "html"))]
pub(super) fn page(_page: &[u8], _job: &Job<'_>, _text: &mut String) -> Result<(), Failure> {
    Err(Failure::Unsupported { kind: "an EPUB without the feature `html`".to_owned() })
}

/// What needs a password or a device: fonts are often scrambled, too, which does not matter.
fn encrypted(package: &Package<'_>) -> Result<HashSet<String>, Failure> {
    let mut listed = Listed::default();
    if let Some(xml) = package.xml("META-INF/encryption.xml")? {
        xml::read(&xml, package.job, &mut listed)?;
    }
    Ok(listed.encrypted)
}

/// What the three lists of an EPUB say.
#[derive(Default)]
struct Listed {
    book: Option<String>,
    /// Name and kind of each file, by its id.
    files: HashMap<String, (String, String)>,
    order: Vec<String>,
    encrypted: HashSet<String>,
}

impl Handler for Listed {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, Failure> {
        let get = |name| attribute(tag, name).unwrap_or_default().into_owned();
        match name {
            "rootfile" if self.book.is_none() => self.book = Some(resolve("", &get("full-path"))),
            "item" => {
                self.files.insert(get("id"), (get("href"), get("media-type")));
            }
            "itemref" => self.order.push(get("idref")),
            "CipherReference" => {
                self.encrypted.insert(resolve("", &get("URI")));
            }
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, _name: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn text(&mut self, _text: &str) -> Result<(), Failure> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn read(book: &[u8]) -> (Result<(), Failure>, String, Fields) {
        let options = Options::default();
        let job = Job::new(&options);
        let package = Package::open(book, &job).unwrap();
        let (mut text, mut fields) = (String::new(), Fields::default());
        let page = &mut |page: &[u8], text: &mut String| {
            let page = std::str::from_utf8(page).unwrap();
            text.push_str(page.split(['<', '>']).find(|piece| piece.contains("chapter")).unwrap());
            Ok(())
        };
        (chapters(&package, &mut text, &mut fields, page), text, fields)
    }

    #[test]
    fn chapters_come_in_the_order_of_the_book() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/extract/office/");
        let book = std::fs::read(format!("{path}book.epub")).unwrap();
        let (done, text, fields) = read(&book);
        assert_eq!(done, Ok(()));
        let known = std::fs::read_to_string(format!("{path}book.epub.txt")).unwrap();
        assert_eq!(text, known.split_once("\n\n").unwrap().1);
        for (name, value) in [
            ("title", "A title &"),
            ("author", "Ada Example"),
            ("date", "2024-05-06T07:08:10Z"),
            ("language", "en-GB"),
        ] {
            assert_eq!(fields.get(name), Some(value));
        }
        let locked = std::fs::read(format!("{path}locked.epub")).unwrap();
        assert_eq!(read(&locked).0, Err(Failure::Encrypted));
    }
}
