//! `OpenDocument`: texts, sheets and slides are all in one file.

use super::out::Out;
use super::package::Package;
use super::xml::{self, Handler, attribute};
use crate::failure::Failure;
use quick_xml::events::BytesStart;

/// How often a cell or row that says it repeats is given at most. Sheets repeat empty cells to the
/// end of the sheet, and hostile ones full cells a billion times.
const MAX_REPEATED: usize = 100;
/// How many blanks one element can stand for.
const MAX_BLANKS: usize = 1000;

/// The text of the body; footnotes and endnotes follow it, text boxes follow the paragraph that
/// they hang on.
pub(super) fn content(package: &Package<'_>, out: &mut Out<'_>) -> Result<(), Failure> {
    if let Some(manifest) = package.xml("META-INF/manifest.xml")? {
        let mut encrypted = Encrypted(false);
        xml::read(&manifest, package.job, &mut encrypted)?;
        if encrypted.0 {
            return Err(Failure::Encrypted);
        }
    }
    let content = package.needed("content.xml")?;
    let mut body = Body {
        out,
        paragraphs: 0,
        repeats: Vec::new(),
        boxes: Vec::new(),
        notes: Notes::default(),
    };
    xml::read(&content, package.job, &mut body)?;
    body.out.give_aside();
    body.out.text.push_str(&body.notes.text);
    Ok(())
}

struct Encrypted(bool);

impl Handler for Encrypted {
    fn start(&mut self, name: &str, _tag: &BytesStart<'_>) -> Result<bool, Failure> {
        self.0 |= name == "encryption-data";
        Ok(true)
    }

    fn end(&mut self, _name: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn text(&mut self, _text: &str) -> Result<(), Failure> {
        Ok(())
    }
}

/// Footnotes and endnotes so far.
#[derive(Default)]
struct Notes {
    text: String,
    depth: u32,
    start: usize,
}

struct Body<'o, 'a> {
    out: &'o mut Out<'a>,
    /// Paragraphs around this place: one in a text box lies in the one that the box hangs on.
    paragraphs: u32,
    /// Where the cells and rows around this place began, and how often each repeats.
    repeats: Vec<(usize, usize)>,
    /// Whether each text box around this place is set aside.
    boxes: Vec<bool>,
    notes: Notes,
}

impl Handler for Body<'_, '_> {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, Failure> {
        match name {
            "p" | "h" => self.paragraphs += 1,
            "s" if self.paragraphs > 0 => {
                let count = attribute(tag, "c").and_then(|count| count.trim().parse().ok());
                let count = count.unwrap_or(1).min(MAX_BLANKS);
                self.out.push(&" ".repeat(count))?;
            }
            "tab" if self.paragraphs > 0 => self.out.push("\t")?,
            "line-break" if self.paragraphs > 0 => self.out.push("\n")?,
            "table-row" => self.begin_repeated(tag, "number-rows-repeated"),
            "table-cell" | "covered-table-cell" => {
                self.begin_repeated(tag, "number-columns-repeated");
            }
            "text-box" => {
                self.boxes.push(self.paragraphs > 0);
                if self.paragraphs > 0 {
                    self.out.begin_aside();
                }
            }
            "note" => {
                if self.notes.depth == 0 {
                    self.notes.start = self.out.text.len();
                }
                self.notes.depth += 1;
            }
            // Remarks, deleted text, numbers of notes and pages, how a word is pronounced, what
            // sheets check, macros, styles.
            "annotation"
            | "tracked-changes"
            | "note-citation"
            | "page-number"
            | "page-count"
            | "ruby-text"
            | "content-validations"
            | "forms"
            | "scripts"
            | "font-face-decls"
            | "automatic-styles"
            | "styles"
            | "master-styles" => return Ok(false),
            // How an index is made; its text follows.
            name if name.ends_with("-source") => return Ok(false),
            "title" | "desc" if tag.name().into_inner().starts_with("svg:") => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, name: &str) -> Result<(), Failure> {
        match name {
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.out.push("\n")?;
                if self.paragraphs == 0 {
                    self.out.give_aside();
                }
            }
            "table-cell" | "covered-table-cell" => self.end_repeated("\t")?,
            "table-row" => self.end_repeated("\n")?,
            "text-box" if self.boxes.pop() == Some(true) => self.out.end_aside(),
            "note" => self.end_note(),
            _ => {}
        }
        Ok(())
    }

    /// White space within paragraphs is blanks, however the file is indented.
    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.paragraphs == 0 {
            return Ok(());
        }
        if !text.contains(['\n', '\r', '\t']) {
            return self.out.push(text);
        }
        let mut rest = text;
        while let Some(at) = rest.find(['\n', '\r', '\t']) {
            self.out.push(&rest[..at])?;
            if !self.out.text.ends_with([' ', '\n']) {
                self.out.push(" ")?;
            }
            rest = rest[at..].trim_start();
        }
        self.out.push(rest)
    }
}

impl Body<'_, '_> {
    fn begin_repeated(&mut self, tag: &BytesStart<'_>, name: &str) {
        let times = attribute(tag, name).map_or(1, |times| {
            // A number beyond all bounds is as good as any large one.
            times.trim().parse::<usize>().unwrap_or(MAX_REPEATED)
        });
        self.repeats.push((self.out.text.len(), times.clamp(1, MAX_REPEATED)));
    }

    /// Ends a cell or row that has any text with its mark, and repeats it.
    fn end_repeated(&mut self, mark: &str) -> Result<(), Failure> {
        let Some((start, times)) = self.repeats.pop() else { return Ok(()) };
        // A note or a box that began in it has been taken out.
        let start = start.min(self.out.text.len());
        let kept = self.out.text[start..].trim_end_matches(['\n', '\t', ' ']).len();
        self.out.text.truncate(start + kept);
        if kept == 0 {
            return Ok(());
        }
        self.out.push(mark)?;
        let end = self.out.text.len();
        for _ in 1..times {
            self.out.job.expand(end - start)?;
            self.out.text.extend_from_within(start..end);
        }
        Ok(())
    }

    fn end_note(&mut self) {
        let notes = &mut self.notes;
        notes.depth = notes.depth.saturating_sub(1);
        // In a text box it stays there: the box is set aside as a whole.
        if notes.depth == 0 && !self.out.is_aside() {
            let text = &mut *self.out.text;
            let start = notes.start.min(text.len());
            notes.text.push_str(&text[start..]);
            text.truncate(start);
        }
    }
}
