//! Office files: XML in a ZIP archive.
//!
//! The crate quick-xml reads the XML, and flate2 decompresses the parts. One reader handles all
//! these formats and applies the limits everywhere. No crate for a single format, such as calamine
//! for sheets, has been compared (November 2026).
//!
//! The text of the body:
//!
//! | format | text, in this order |
//! |---|---|
//! | DOCX, ODT | body with tables and text boxes, footnotes, endnotes |
//! | PPTX, ODP | slides as shown, each with its notes |
//! | XLSX, ODS | sheets, row by row |
//! | EPUB | chapters |
//!
//! Excluded are headers, footers, comments, deleted text, field codes, formulas, sheet names, slide
//! numbers, masters and layouts, charts and diagrams, descriptions of pictures. Headers and footers
//! are excluded because different documents share them.
//!
//! Damage in a part with text is an error; a partial text is never returned.

mod epub;
mod flow;
mod metadata;
mod odf;
mod package;
mod sheet;
mod text_writer;
mod xml;

use crate::kind::FileKind;
use crate::reading::{ExtractError, TextOutput};
use package::Package;
use text_writer::TextWriter;

/// Appends the text of an office file, and sets its fields.
pub(crate) fn text(
    kind: FileKind,
    bytes: &[u8],
    output: &mut TextOutput<'_>,
) -> Result<(), ExtractError> {
    let TextOutput { tracker, text: out, fields } = output;
    let package = &Package::open(bytes, tracker)?;
    if kind == FileKind::Epub {
        return epub::chapters(package, out, fields);
    }
    let out = &mut TextWriter::new(out, tracker);
    if kind == FileKind::Odf {
        odf::content(package, out)?;
        return metadata::read(package, "meta.xml", metadata::META, fields);
    }
    let relations = package.relations("")?;
    let (usual, read): (_, fn(&Package<'_>, &str, &mut TextWriter<'_>) -> _) = match kind {
        FileKind::Docx => ("word/document.xml", flow::document),
        FileKind::Pptx => ("ppt/presentation.xml", flow::slides),
        FileKind::Xlsx => ("xl/workbook.xml", sheet::sheets),
        other => return Err(ExtractError::Unsupported { kind: other.name().to_owned() }),
    };
    read(package, relations.role("officeDocument").unwrap_or(usual), out)?;
    let core = relations.role("core-properties").unwrap_or("docProps/core.xml");
    metadata::read(package, core, metadata::CORE, fields)
}
