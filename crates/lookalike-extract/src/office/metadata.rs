//! Metadata of office files.

use super::package::Package;
use super::xml::{self, XmlHandler, attribute};
use crate::date;
use crate::reading::{ExtractError, Fields};
use quick_xml::events::BytesStart;

/// Elements in order of preference, and their fields.
pub(super) type ElementFields = &'static [(&'static str, &'static str)];

/// `docProps/core.xml` of Office Open XML.
pub(super) const CORE: ElementFields =
    &[("title", "title"), ("creator", "author"), ("modified", "date"), ("language", "language")];

/// `meta.xml` of `OpenDocument`, where `creator` is the last editor.
pub(super) const META: ElementFields = &[
    ("title", "title"),
    ("initial-creator", "author"),
    ("creator", "author"),
    ("date", "date"),
    ("creation-date", "date"),
    ("language", "language"),
];

/// The package document of an EPUB; `modified` represents a `meta` with the property
/// `dcterms:modified`.
pub(super) const BOOK: ElementFields = &[
    ("title", "title"),
    ("creator", "author"),
    ("modified", "date"),
    ("date", "date"),
    ("language", "language"),
];

/// Sets fields from the file `name` of a package, if it exists. Damaged metadata is ignored: the
/// text is not affected. Exceeded limits are errors.
pub(super) fn read(
    package: &Package<'_>,
    name: &str,
    names: ElementFields,
    fields: &mut Fields,
) -> Result<(), ExtractError> {
    let xml = package.xml(name);
    let read = xml.and_then(|xml| xml.map_or(Ok(()), |xml| set(&xml, package, names, fields)));
    match read {
        Err(failure) if failure.is_limit() => Err(failure),
        _ => Ok(()),
    }
}

/// Sets fields from an XML file.
pub(super) fn set(
    xml: &str,
    package: &Package<'_>,
    names: ElementFields,
    fields: &mut Fields,
) -> Result<(), ExtractError> {
    let mut values = MetadataReader { names, texts: vec![String::new(); names.len()], open: None };
    xml::read(xml, package.tracker, &mut values)?;
    for ((_, field), value) in names.iter().zip(&values.texts) {
        if *field != "date" {
            fields.set(field, value);
        } else if let Some(date) = date::parse_iso(value).and_then(date::iso) {
            fields.set(field, &date);
        }
    }
    Ok(())
}

struct MetadataReader {
    names: ElementFields,
    texts: Vec<String>,
    /// Index of the open element.
    open: Option<usize>,
}

impl XmlHandler for MetadataReader {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, ExtractError> {
        let property = attribute(tag, "property");
        let name = match property.as_deref() {
            Some("dcterms:modified") if name == "meta" => "modified",
            _ => name,
        };
        // The first non-blank element of each name is used.
        let place = self.names.iter().position(|(element, _)| *element == name);
        self.open = place.filter(|&place| self.texts[place].trim().is_empty());
        Ok(true)
    }

    fn end(&mut self, _name: &str) -> Result<(), ExtractError> {
        self.open = None;
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ExtractError> {
        if let Some(place) = self.open {
            self.texts[place].push_str(text);
        }
        Ok(())
    }
}
