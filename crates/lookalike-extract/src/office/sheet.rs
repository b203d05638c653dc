//! Sheets of Office Open XML.

use super::flow::relation_ids;
use super::package::Package;
use super::text_writer::TextWriter;
use super::xml::{self, XmlHandler, attribute};
use crate::reading::{ExtractError, LimitKind};
use quick_xml::events::BytesStart;
use std::ops::Range;

/// Appends the values of all sheets, row by row. Numbers are appended as stored, so that dates are
/// days since 1900. Empty cells are skipped.
pub(super) fn sheets(
    package: &Package<'_>,
    main: &str,
    out: &mut TextWriter<'_>,
) -> Result<(), ExtractError> {
    let order = relation_ids(package, main, "sheet")?;
    let relations = package.relations(main)?;
    let mut shared = SharedStrings::default();
    if let Some(name) = relations.role("sharedStrings") {
        xml::read(&package.needed(name)?, package.tracker, &mut shared)?;
    }
    let relations = relations.by_id();
    for id in &order {
        package.tracker.check_time()?;
        let sheet = relations.get(id.as_str());
        let sheet = sheet
            .ok_or_else(|| ExtractError::damaged(format!("no file is named for sheet {id}")))?;
        if sheet.role == "worksheet" {
            let mut cells = CellReader {
                out,
                shared: &shared,
                kind: CellKind::Plain,
                in_value: false,
                value: String::new(),
            };
            xml::read(&package.needed(&sheet.target)?, package.tracker, &mut cells)?;
        }
    }
    Ok(())
}

/// Texts that cells refer to by number.
#[derive(Default)]
struct SharedStrings {
    text: String,
    places: Vec<Range<u32>>,
    start: u32,
    in_text: bool,
}

impl XmlHandler for SharedStrings {
    fn start(&mut self, name: &str, _tag: &BytesStart<'_>) -> Result<bool, ExtractError> {
        match name {
            "si" => self.start = self.text.len() as u32,
            "t" => self.in_text = true,
            // Phonetic guide.
            "rPh" => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, name: &str) -> Result<(), ExtractError> {
        match name {
            "si" => self.places.push(self.start..self.text.len() as u32),
            "t" => self.in_text = false,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ExtractError> {
        if self.in_text {
            // Ranges have 32 bits.
            if self.text.len() + text.len() > u32::MAX as usize {
                return Err(ExtractError::limited(LimitKind::SharedTexts, u32::MAX));
            }
            self.text.push_str(text);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CellKind {
    /// A number, a text or an error, stored in the cell.
    Plain,
    /// The number of a shared text.
    Shared,
    Boolean,
}

struct CellReader<'o, 'a> {
    out: &'o mut TextWriter<'a>,
    shared: &'o SharedStrings,
    kind: CellKind,
    /// Whether text is part of the value.
    in_value: bool,
    value: String,
}

impl XmlHandler for CellReader<'_, '_> {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, ExtractError> {
        match name {
            "c" => {
                self.value.clear();
                self.kind = match attribute(tag, "t").as_deref() {
                    Some("s") => CellKind::Shared,
                    Some("b") => CellKind::Boolean,
                    _ => CellKind::Plain,
                };
            }
            "v" | "t" => self.in_value = true,
            // Formulas, phonetic guides, headers and footers.
            "f" | "rPh" | "headerFooter" | "extLst" => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, name: &str) -> Result<(), ExtractError> {
        match name {
            "v" | "t" => self.in_value = false,
            "c" => {
                let value = match self.kind {
                    CellKind::Plain => self.value.as_str(),
                    CellKind::Boolean if self.value.trim() == "0" => "FALSE",
                    CellKind::Boolean => "TRUE",
                    CellKind::Shared => {
                        let number = self.value.trim().parse::<usize>().ok();
                        let place = number.and_then(|number| self.shared.places.get(number));
                        match place {
                            Some(place) => {
                                &self.shared.text[place.start as usize..place.end as usize]
                            }
                            None if self.shared.places.is_empty() => {
                                return Err(ExtractError::damaged(
                                    "it has no table of shared texts",
                                ));
                            }
                            // An invalid number: U+FFFD, as for undecodable bytes.
                            None => "\u{fffd}",
                        }
                    }
                };
                if !value.is_empty() {
                    self.out.push(value)?;
                    self.out.push("\t")?;
                }
            }
            "row" => self.out.end_row()?,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ExtractError> {
        if self.in_value {
            self.value.push_str(text);
        }
        Ok(())
    }
}
