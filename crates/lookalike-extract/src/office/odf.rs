//! `OpenDocument`: texts, sheets and slides.

use super::package::Package;
use super::text_writer::TextWriter;
use super::xml::{self, XmlHandler, attribute};
use crate::reading::ExtractError;
use quick_xml::events::BytesStart;

/// Maximum repetitions of a cell or row. Sheets repeat empty cells to the end of the sheet, and
/// hostile sheets repeat full cells a billion times.
const MAX_REPEATED: usize = 100;
/// Maximum blanks that one element represents.
const MAX_BLANKS: usize = 1000;

/// Appends the text of the body. Footnotes and endnotes follow the body; text boxes follow the
/// paragraph of their anchor.
pub(super) fn content(package: &Package<'_>, out: &mut TextWriter<'_>) -> Result<(), ExtractError> {
    if let Some(manifest) = package.xml("META-INF/manifest.xml")? {
        let mut encrypted = false;
        xml::each_element(&manifest, package.tracker, |name, _| {
            encrypted |= name == "encryption-data";
        })?;
        if encrypted {
            return Err(ExtractError::Encrypted);
        }
    }
    let content = package.needed("content.xml")?;
    let mut body = OdfReader {
        out,
        paragraphs: 0,
        repeats: Vec::new(),
        boxes: Vec::new(),
        notes: NoteCollector::default(),
    };
    xml::read(&content, package.tracker, &mut body)?;
    body.out.append_box_text();
    body.out.text.push_str(&body.notes.text);
    Ok(())
}

/// Footnotes and endnotes.
#[derive(Default)]
struct NoteCollector {
    text: String,
    depth: u32,
    start: usize,
}

struct OdfReader<'o, 'a> {
    out: &'o mut TextWriter<'a>,
    /// Number of open paragraphs. The paragraphs of a text box are nested in the paragraph of its
    /// anchor.
    paragraphs: u32,
    /// Start and repetitions of the open cells and rows.
    repeats: Vec<(usize, usize)>,
    /// For each open text box, whether it is set aside.
    boxes: Vec<bool>,
    notes: NoteCollector,
}

impl XmlHandler for OdfReader<'_, '_> {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, ExtractError> {
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
                    self.out.begin_box();
                }
            }
            "note" => {
                if self.notes.depth == 0 {
                    self.notes.start = self.out.text.len();
                }
                self.notes.depth += 1;
            }
            // Comments, deleted text, note and page numbers, phonetic guides, validations, macros,
            // styles.
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
            // The template of an index. The text of the index follows.
            name if name.ends_with("-source") => return Ok(false),
            "title" | "desc" if tag.name().into_inner().starts_with("svg:") => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn end(&mut self, name: &str) -> Result<(), ExtractError> {
        match name {
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.out.push("\n")?;
                if self.paragraphs == 0 {
                    self.out.append_box_text();
                }
            }
            "table-cell" | "covered-table-cell" => self.end_repeated("\t")?,
            "table-row" => self.end_repeated("\n")?,
            "text-box" if self.boxes.pop() == Some(true) => self.out.end_box(),
            "note" => self.end_note(),
            _ => {}
        }
        Ok(())
    }

    /// White space within paragraphs becomes blanks, since the XML may be indented.
    fn text(&mut self, text: &str) -> Result<(), ExtractError> {
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

impl OdfReader<'_, '_> {
    fn begin_repeated(&mut self, tag: &BytesStart<'_>, name: &str) {
        let times = attribute(tag, name).map_or(1, |times| {
            // A number that overflows is also clamped.
            times.trim().parse::<usize>().unwrap_or(MAX_REPEATED)
        });
        self.repeats.push((self.out.text.len(), times.clamp(1, MAX_REPEATED)));
    }

    /// Ends a cell or row. If it has text, appends `mark` and repeats the result.
    fn end_repeated(&mut self, mark: &str) -> Result<(), ExtractError> {
        let Some((start, times)) = self.repeats.pop() else { return Ok(()) };
        // A note or text box that began in the cell or row has been removed.
        let start = start.min(self.out.text.len());
        let kept = self.out.text[start..].trim_end_matches(['\n', '\t', ' ']).len();
        self.out.text.truncate(start + kept);
        if kept == 0 {
            return Ok(());
        }
        self.out.push(mark)?;
        let end = self.out.text.len();
        for _ in 1..times {
            self.out.tracker.charge_bytes(end - start)?;
            self.out.text.extend_from_within(start..end);
        }
        Ok(())
    }

    fn end_note(&mut self) {
        let notes = &mut self.notes;
        notes.depth = notes.depth.saturating_sub(1);
        // A note in a text box stays in it: the box is set aside as a whole.
        if notes.depth == 0 && !self.out.is_in_box() {
            let text = &mut *self.out.text;
            let start = notes.start.min(text.len());
            notes.text.push_str(&text[start..]);
            text.truncate(start);
        }
    }
}
