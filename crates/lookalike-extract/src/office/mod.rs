//! Office files: XML in a ZIP archive.
//!
//! The text is what the author wrote into the body:
//!
//! | of | in, in this order |
//! |---|---|
//! | DOCX, ODT | body with tables and text boxes, footnotes, endnotes |
//! | PPTX, ODP | slides as shown, each with its notes |
//! | XLSX, ODS | sheets, row by row |
//! | EPUB | chapters |
//!
//! Left out are headers, footers, comments, deleted text, field codes, formulas, names of sheets,
//! numbers of slides, masters and layouts, charts and diagrams, what only describes a picture.
//!
//! Headers and footers are left out because they stand on every page of unlike documents, too.
//! A file that is damaged anywhere in these gives a failure instead of half of its text.

mod epub;
mod flow;
mod meta;
mod odf;
mod out;
mod package;
mod sheet;
mod xml;

use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use crate::kind::Kind;
use out::Out;
use package::Package;

/// The text of an office file.
pub(crate) fn text(
    kind: Kind,
    bytes: &[u8],
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
) -> Result<(), Failure> {
    let package = &Package::open(bytes, job)?;
    if kind == Kind::Epub {
        let page = &mut |bytes: &[u8], text: &mut String| epub::page(bytes, job, text);
        return epub::chapters(package, out, fields, page);
    }
    let out = &mut Out::new(out, job);
    if kind == Kind::Odf {
        odf::content(package, out)?;
        return meta::open_document(package, fields);
    }
    let relations = package.relations("")?;
    let (usual, read): (_, fn(&Package<'_>, &str, &mut Out<'_>) -> _) = match kind {
        Kind::Docx => ("word/document.xml", flow::document),
        Kind::Pptx => ("ppt/presentation.xml", flow::slides),
        Kind::Xlsx => ("xl/workbook.xml", sheet::sheets),
        other => return Err(Failure::Unsupported { kind: other.name().to_owned() }),
    };
    read(package, relations.role("officeDocument").unwrap_or(usual), out)?;
    meta::core(package, fields)
}
