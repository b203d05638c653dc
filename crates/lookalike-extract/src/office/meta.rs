//! What an office file says about itself.

use super::package::Package;
use super::xml::{self, Handler, attribute};
use crate::date;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use quick_xml::events::BytesStart;

/// Elements in the order in which they are preferred, and the field they are.
type Names = &'static [(&'static str, &'static str)];

/// `docProps/core.xml` of Office Open XML.
const CORE: Names =
    &[("title", "title"), ("creator", "author"), ("modified", "date"), ("language", "language")];

/// `meta.xml` of `OpenDocument`, where `creator` is who changed it last.
const META: Names = &[
    ("title", "title"),
    ("initial-creator", "author"),
    ("creator", "author"),
    ("date", "date"),
    ("creation-date", "date"),
    ("language", "language"),
];

/// The file of an EPUB that lists the others; `modified` stands for a `meta` of that property.
const BOOK: Names = &[
    ("title", "title"),
    ("creator", "author"),
    ("modified", "date"),
    ("date", "date"),
    ("language", "language"),
];

/// The fields of a file of Office Open XML.
pub(super) fn core(package: &Package<'_>, fields: &mut Fields) -> Result<(), Failure> {
    let relations = package.relations("")?;
    let name = relations.role("core-properties").unwrap_or("docProps/core.xml");
    optional(package, name, CORE, fields)
}

/// The fields of an `OpenDocument` file.
pub(super) fn open_document(package: &Package<'_>, fields: &mut Fields) -> Result<(), Failure> {
    optional(package, "meta.xml", META, fields)
}

/// The fields of an EPUB.
pub(super) fn book(xml: &str, job: &Job<'_>, fields: &mut Fields) -> Result<(), Failure> {
    set(xml, job, BOOK, fields)
}

/// A file that is damaged in these has its text all the same.
fn optional(
    package: &Package<'_>,
    name: &str,
    names: Names,
    fields: &mut Fields,
) -> Result<(), Failure> {
    let done = match package.xml(name) {
        Ok(Some(xml)) => set(&xml, package.job, names, fields),
        Ok(None) => Ok(()),
        Err(failure) => Err(failure),
    };
    match done {
        Err(failure @ (Failure::Limit { .. } | Failure::TooSlow { .. })) => Err(failure),
        _ => Ok(()),
    }
}

fn set(xml: &str, job: &Job<'_>, names: Names, fields: &mut Fields) -> Result<(), Failure> {
    let mut values = Values { names, texts: vec![String::new(); names.len()], open: None };
    xml::read(xml, job, &mut values)?;
    for ((_, field), value) in names.iter().zip(&values.texts) {
        if *field != "date" {
            fields.set(field, value);
        } else if let Some(date) = date::parse_iso(value).and_then(date::iso) {
            fields.set(field, &date);
        }
    }
    Ok(())
}

struct Values {
    names: Names,
    texts: Vec<String>,
    /// Which of them this place is in.
    open: Option<usize>,
}

impl Handler for Values {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, Failure> {
        let property = attribute(tag, "property");
        let name = match property.as_deref() {
            Some("dcterms:modified") if name == "meta" => "modified",
            _ => name,
        };
        // The first of a name counts.
        let place = self.names.iter().position(|(element, _)| *element == name);
        self.open = place.filter(|&place| self.texts[place].trim().is_empty());
        Ok(true)
    }

    fn end(&mut self, _name: &str) -> Result<(), Failure> {
        self.open = None;
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(place) = self.open {
            self.texts[place].push_str(text);
        }
        Ok(())
    }
}
