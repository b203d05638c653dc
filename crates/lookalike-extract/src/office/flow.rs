//! Paragraphs and tables of Office Open XML: word processing and slides.

use super::out::Out;
use super::package::Package;
use super::xml::{self, Handler, attribute, relation};
use crate::failure::Failure;
use quick_xml::events::BytesStart;

/// The text of a Word file: the body, then footnotes and endnotes. Text boxes follow the paragraph
/// they hang on.
pub(super) fn document(
    package: &Package<'_>,
    main: &str,
    out: &mut Out<'_>,
) -> Result<(), Failure> {
    flow(package, &package.needed(main)?, out)?;
    let relations = package.relations(main)?;
    for role in ["footnotes", "endnotes"] {
        if let Some(notes) = relations.role(role) {
            flow(package, &package.needed(notes)?, out)?;
        }
    }
    Ok(())
}

/// The text of the slides in the order in which they are shown, each with its notes.
pub(super) fn slides(package: &Package<'_>, main: &str, out: &mut Out<'_>) -> Result<(), Failure> {
    let mut order = Ids { element: "sldId", ids: Vec::new() };
    xml::read(&package.needed(main)?, package.job, &mut order)?;
    let relations = package.relations(main)?;
    let relations = relations.by_id();
    for id in &order.ids {
        package.job.in_time()?;
        let slide = relations.get(id.as_str());
        let slide = slide.ok_or_else(|| Failure::damaged(format!("slide {id} is nowhere")))?;
        flow(package, &package.needed(&slide.target)?, out)?;
        if let Some(notes) = package.relations(&slide.target)?.role("notesSlide") {
            flow(package, &package.needed(notes)?, out)?;
        }
    }
    Ok(())
}

/// Relations that elements of one name refer to.
pub(super) struct Ids {
    pub(super) element: &'static str,
    pub(super) ids: Vec<String>,
}

impl Handler for Ids {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, Failure> {
        if name == self.element {
            self.ids.extend(relation(tag));
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

fn flow(package: &Package<'_>, xml: &str, out: &mut Out<'_>) -> Result<(), Failure> {
    let mut flow = Flow { out, in_text: false, alternatives: Vec::new() };
    xml::read(xml, package.job, &mut flow)?;
    flow.out.give_aside();
    Ok(())
}

struct Flow<'o, 'a> {
    out: &'o mut Out<'a>,
    in_text: bool,
    /// Whether one was chosen, of the alternatives around this place.
    alternatives: Vec<bool>,
}

impl Handler for Flow<'_, '_> {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, Failure> {
        match name {
            "t" => self.in_text = true,
            "tab" | "ptab" => self.out.push("\t")?,
            "br" | "cr" => self.out.push("\n")?,
            "noBreakHyphen" => self.out.push("-")?,
            // How things look, the stops of tabs among it.
            "pPr" | "rPr" | "sectPr" | "tblPr" | "tblGrid" | "trPr" | "tcPr" | "sdtPr"
            | "bodyPr" | "lstStyle" | "tblPrEx" => return Ok(false),
            // What was deleted or moved away, what a field computes, how a word is pronounced.
            "del" | "moveFrom" | "delText" | "instrText" | "delInstrText" | "rt" => {
                return Ok(false);
            }
            // Numbers of slides, and the date of today.
            "fld" => {
                let kind = attribute(tag, "type").unwrap_or_default();
                return Ok(kind != "slidenum" && !kind.starts_with("datetime"));
            }
            "txbxContent" => self.out.begin_aside(),
            "AlternateContent" => self.alternatives.push(false),
            // The same thing for newer and for older programs: the first one is taken.
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

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        match name {
            "t" => self.in_text = false,
            "p" => {
                self.out.push("\n")?;
                self.out.give_aside();
            }
            "tc" => self.out.end_cell()?,
            "tr" => self.out.end_row()?,
            "txbxContent" => self.out.end_aside(),
            "AlternateContent" => {
                self.alternatives.pop();
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.in_text { self.out.push(text) } else { Ok(()) }
    }
}
