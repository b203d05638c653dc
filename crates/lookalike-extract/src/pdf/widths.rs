//! Glyph widths, which distinguish gaps between words from gaps between letters.

use super::glyph_names::GlyphTable;
use super::objects::{get, name, number, value};
use lopdf::{Dictionary, Document, Object};
use std::collections::HashMap;

/// Widths by code or glyph number, in ems.
pub(super) struct GlyphWidths {
    first: usize,
    list: Vec<f64>,
    single: HashMap<u32, f64>,
    /// First, last, width; sorted.
    ranges: Vec<(u32, u32, f64)>,
    default: f64,
}

impl GlyphWidths {
    fn list(first: usize, list: Vec<f64>, default: f64) -> Self {
        Self { first, list, single: HashMap::new(), ranges: Vec::new(), default }
    }

    pub(super) fn get(&self, code: u32) -> f64 {
        if let Some(width) = (code as usize).checked_sub(self.first).and_then(|i| self.list.get(i))
        {
            return *width;
        }
        if let Some(width) = self.single.get(&code) {
            return *width;
        }
        let index = self.ranges.partition_point(|range| range.0 <= code).checked_sub(1);
        let range = index.map(|index| self.ranges[index]).filter(|range| code <= range.1);
        range.map_or(self.default, |range| range.2)
    }

    /// Widths of a font with numbered glyphs: `/W [first [w w w] first last w]`.
    pub(super) fn composite(document: &Document, font: Option<&Dictionary>) -> Self {
        let mut widths = Self::list(0, Vec::new(), 1.0);
        let Some(font) = font else { return widths };
        widths.default = number(document, font, b"DW").unwrap_or(1000.0) / 1000.0;
        let entries = get(document, font, b"W").and_then(|entries| entries.as_array().ok());
        let mut pending = Vec::with_capacity(2);
        for entry in entries.into_iter().flatten() {
            let Ok((_, entry)) = document.dereference(entry) else { continue };
            if let (Object::Array(list), Some(&first)) = (entry, pending.first()) {
                for (code, width) in (first as u32..).zip(list) {
                    let width = document.dereference(width).ok().and_then(|(_, w)| value(w));
                    widths.single.insert(code, width.unwrap_or(0.0) / 1000.0);
                }
                pending.clear();
                continue;
            }
            let Some(number) = value(entry) else { continue };
            pending.push(number);
            if let &[first, last, width] = pending.as_slice() {
                widths.ranges.push((first as u32, last as u32, width / 1000.0));
                pending.clear();
            }
        }
        widths.ranges.sort_by_key(|range| range.0);
        widths
    }
}

/// Widths and em of a font with one-byte codes.
pub(super) fn simple_widths(
    document: &Document,
    font: &Dictionary,
    table: &GlyphTable,
) -> (GlyphWidths, f64) {
    let list = get(document, font, b"Widths").and_then(|list| list.as_array().ok());
    let Some(list) = list else {
        return (standard(name(document, font, b"BaseFont"), table), 1.0);
    };
    let drawn = name(document, font, b"Subtype") == b"Type3";
    let scale = if drawn { drawn_scale(document, font) } else { 0.001 };
    let widths: Vec<f64> = list
        .iter()
        .take(256)
        .map(|w| document.dereference(w).ok().and_then(|(_, w)| value(w)).unwrap_or(0.0) * scale)
        .collect();
    let first = number(document, font, b"FirstChar").unwrap_or(0.0).max(0.0) as usize;
    let descriptor = get(document, font, b"FontDescriptor").and_then(|d| d.as_dict().ok());
    let missing = descriptor.and_then(|d| number(document, d, b"MissingWidth")).unwrap_or(0.0);
    let em = if drawn { drawn_em(&widths) } else { 1.0 };
    (GlyphWidths::list(first, widths, missing * scale), em)
}

/// The unit of a Type 3 font, in units of the font size.
fn drawn_scale(document: &Document, font: &Dictionary) -> f64 {
    let matrix = get(document, font, b"FontMatrix").and_then(|matrix| matrix.as_array().ok());
    matrix.and_then(|matrix| value(matrix.first()?)).map_or(0.001, f64::abs)
}

/// Estimates the height of letters as twice their mean width.
fn drawn_em(widths: &[f64]) -> f64 {
    let drawn = || widths.iter().copied().filter(|&width| width > 0.0);
    let count = drawn().count();
    if count == 0 { 1.0 } else { 2.0 * drawn().sum::<f64>() / count as f64 }
}

/// Widths of Helvetica, from the blank to the tilde, in thousandths of an em.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Approximate widths of one of the standard fonts, which files need not embed. Times is narrower
/// than Helvetica by about a tenth; gaps between words are wider than the error.
fn standard(name: &[u8], table: &GlyphTable) -> GlyphWidths {
    let has = |part: &str| memchr::memmem::find(name, part.as_bytes()).is_some();
    let scale = if has("Times") { 0.0009 } else { 0.001 };
    let width = |text: &String| {
        let char = text.chars().next()?;
        let index = (char as usize).checked_sub(32)?;
        Some(HELVETICA.get(index).map_or(0.556, |width| f64::from(*width) * scale))
    };
    let list =
        table.iter().map(|text| if has("Courier") { 0.6 } else { width(text).unwrap_or(0.5) });
    GlyphWidths::list(0, list.collect(), 0.5)
}
