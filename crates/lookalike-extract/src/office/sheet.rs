//! Sheets of Office Open XML.

use super::flow::Ids;
use super::out::Out;
use super::package::Package;
use super::xml::{self, Handler, attribute};
use crate::failure::Failure;
use quick_xml::events::BytesStart;
use std::ops::Range;

/// The values of all sheets in their order, row by row: texts, and numbers as they are stored,
/// which makes days since 1900 of dates. Empty cells are left out.
pub(super) fn sheets(package: &Package<'_>, main: &str, out: &mut Out<'_>) -> Result<(), Failure> {
    let mut order = Ids { element: "sheet", ids: Vec::new() };
    xml::read(&package.needed(main)?, package.job, &mut order)?;
    let relations = package.relations(main)?;
    let mut shared = Shared::default();
    if let Some(name) = relations.role("sharedStrings") {
        xml::read(&package.needed(name)?, package.job, &mut shared)?;
    }
    let relations = relations.by_id();
    for id in &order.ids {
        package.job.in_time()?;
        let sheet = relations.get(id.as_str());
        let sheet = sheet.ok_or_else(|| Failure::damaged(format!("sheet {id} is nowhere")))?;
        if sheet.role == "worksheet" {
            let mut cells = Cells {
                out,
                shared: &shared,
                kind: Value::Plain,
                within: false,
                value: String::new(),
            };
            xml::read(&package.needed(&sheet.target)?, package.job, &mut cells)?;
        }
    }
    Ok(())
}

/// Texts that cells refer to by their number.
#[derive(Default)]
struct Shared {
    text: String,
    places: Vec<Range<u32>>,
    start: u32,
    in_text: bool,
}

impl Handler for Shared {
    fn start(&mut self, name: &str, _tag: &BytesStart<'_>) -> Result<bool, Failure> {
        match name {
            "si" => self.start = self.text.len() as u32,
            "t" => self.in_text = true,
            // How it is pronounced.
            "rPh" => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        match name {
            "si" => self.places.push(self.start..self.text.len() as u32),
            "t" => self.in_text = false,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.in_text {
            // Places have 32 bits.
            if self.text.len() + text.len() > u32::MAX as usize {
                let limit = u64::from(u32::MAX);
                return Err(Failure::Limit { what: "bytes of shared texts".to_owned(), limit });
            }
            self.text.push_str(text);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// A number, a text, an error: as it stands.
    Plain,
    /// The number of a shared text.
    Shared,
    Truth,
}

struct Cells<'o, 'a> {
    out: &'o mut Out<'a>,
    shared: &'o Shared,
    kind: Value,
    /// Whether text belongs to the value.
    within: bool,
    value: String,
}

impl Handler for Cells<'_, '_> {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, Failure> {
        match name {
            "c" => {
                self.value.clear();
                self.kind = match attribute(tag, "t").as_deref() {
                    Some("s") => Value::Shared,
                    Some("b") => Value::Truth,
                    _ => Value::Plain,
                };
            }
            "v" | "t" => self.within = true,
            // Formulas, pronunciation, and what is printed around the sheet.
            "f" | "rPh" | "headerFooter" | "extLst" => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        match name {
            "v" | "t" => self.within = false,
            "c" => {
                let value = match self.kind {
                    Value::Plain => self.value.as_str(),
                    Value::Truth if self.value.trim() == "0" => "FALSE",
                    Value::Truth => "TRUE",
                    Value::Shared => {
                        let number = self.value.trim().parse::<usize>().ok();
                        let place = number.and_then(|number| self.shared.places.get(number));
                        match place {
                            Some(place) => {
                                &self.shared.text[place.start as usize..place.end as usize]
                            }
                            None if self.shared.places.is_empty() => {
                                return Err(Failure::damaged("it has no table of shared texts"));
                            }
                            // A text that cannot be read, as of bytes that are no character.
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

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.within {
            self.value.push_str(text);
        }
        Ok(())
    }
}
