//! Paragraphs and tables of Office Open XML: word processing and slides.

use super::package::Package;
use super::text_writer::TextWriter;
use super::xml::{self, XmlHandler, attribute, relation};
use crate::reading::ExtractError;
use quick_xml::events::BytesStart;

/// Appends the text of a Word file: the body, then footnotes and endnotes. Text boxes follow the
/// paragraph of their anchor.
pub(super) fn document(
    package: &Package<'_>,
    main: &str,
    out: &mut TextWriter<'_>,
) -> Result<(), ExtractError> {
    flow(package, &package.needed(main)?, out)?;
    let relations = package.relations(main)?;
    for role in ["footnotes", "endnotes"] {
        if let Some(notes) = relations.role(role) {
            flow(package, &package.needed(notes)?, out)?;
        }
    }
    Ok(())
}

/// Appends the text of the slides in their order, each with its notes.
pub(super) fn slides(
    package: &Package<'_>,
    main: &str,
    out: &mut TextWriter<'_>,
) -> Result<(), ExtractError> {
    let order = relation_ids(package, main, "sldId")?;
    let relations = package.relations(main)?;
    let relations = relations.by_id();
    for id in &order {
        package.tracker.check_time()?;
        let slide = relations.get(id.as_str());
        let slide = slide
            .ok_or_else(|| ExtractError::damaged(format!("no file is named for slide {id}")))?;
        flow(package, &package.needed(&slide.target)?, out)?;
        if let Some(notes) = package.relations(&slide.target)?.role("notesSlide") {
            flow(package, &package.needed(notes)?, out)?;
        }
    }
    Ok(())
}

/// The relation ids of the elements called `element` in a file.
pub(super) fn relation_ids(
    package: &Package<'_>,
    file: &str,
    element: &str,
) -> Result<Vec<String>, ExtractError> {
    let mut ids = Vec::new();
    xml::each_element(&package.needed(file)?, package.tracker, |name, tag| {
        if name == element {
            ids.extend(relation(tag));
        }
    })?;
    Ok(ids)
}

fn flow(package: &Package<'_>, xml: &str, out: &mut TextWriter<'_>) -> Result<(), ExtractError> {
    let mut flow = FlowReader { out, in_text: false, alternatives: Vec::new() };
    xml::read(xml, package.tracker, &mut flow)?;
    flow.out.append_box_text();
    Ok(())
}

struct FlowReader<'o, 'a> {
    out: &'o mut TextWriter<'a>,
    in_text: bool,
    /// For each enclosing `AlternateContent`, whether a choice was made.
    alternatives: Vec<bool>,
}

impl XmlHandler for FlowReader<'_, '_> {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, ExtractError> {
        match name {
            "t" => self.in_text = true,
            "tab" | "ptab" => self.out.push("\t")?,
            "br" | "cr" => self.out.push("\n")?,
            "noBreakHyphen" => self.out.push("-")?,
            // Formatting, tab stops included.
            "pPr" | "rPr" | "sectPr" | "tblPr" | "tblGrid" | "trPr" | "tcPr" | "sdtPr"
            | "bodyPr" | "lstStyle" | "tblPrEx" => return Ok(false),
            // Deleted or moved text, field codes, phonetic guides.
            "del" | "moveFrom" | "delText" | "instrText" | "delInstrText" | "rt" => {
                return Ok(false);
            }
            // Slide numbers and the current date.
            "fld" => {
                let kind = attribute(tag, "type").unwrap_or_default();
                return Ok(kind != "slidenum" && !kind.starts_with("datetime"));
            }
            "txbxContent" => self.out.begin_box(),
            "AlternateContent" => self.alternatives.push(false),
            // Forms of one content for newer and for older programs. Only the first form is read.
            "Choice" | "Fallback" => {
                if let Some(chosen) = self.alternatives.last_mut() {
                    let first = !*chosen;
                    *chosen = true;
                    return Ok(first);
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, name: &str) -> Result<(), ExtractError> {
        match name {
            "t" => self.in_text = false,
            "p" => {
                self.out.push("\n")?;
                self.out.append_box_text();
            }
            "tc" => self.out.end_cell()?,
            "tr" => self.out.end_row()?,
            "txbxContent" => self.out.end_box(),
            "AlternateContent" => {
                self.alternatives.pop();
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ExtractError> {
        if self.in_text { self.out.push(text) } else { Ok(()) }
    }
}
