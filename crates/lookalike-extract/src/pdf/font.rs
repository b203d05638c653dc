//! Fonts, which map the bytes of a string to characters and widths.

use super::cmap::{self, Cmap};
use super::glyph_names::{self, GlyphNames, GlyphTable};
use super::objects::{get, name, number};
use super::stream::readable;
use super::widths::{GlyphWidths, simple_widths};
use crate::reading::{ExtractError, LimitTracker};
use encoding_rs::{BIG5, EUC_JP, EUC_KR, GBK, SHIFT_JIS, UTF_16BE};
use lopdf::{Dictionary, Document, Object};

/// Metrics of a glyph.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    /// Advance width in ems.
    pub(super) width: f64,
    /// Length of its code in bytes.
    pub(super) bytes: usize,
    /// Whether its code is a single byte 32, to which word spacing applies.
    pub(super) space: bool,
}

/// How a string is split into codes.
enum CodeScheme {
    One,
    Two,
    /// By the code spaces of a character map.
    Spaces(Cmap),
    /// One or two bytes of an East Asian encoding.
    Legacy(&'static encoding_rs::Encoding),
}

/// The properties of a font that affect text.
pub(super) struct Font {
    codes: CodeScheme,
    /// Text of one-byte codes.
    table: GlyphTable,
    /// The map to Unicode, if the font has one.
    unicode: Option<Cmap>,
    widths: GlyphWidths,
    pub(super) vertical: bool,
    /// Height of letters in units of the font size: 1 except for Type 3 fonts.
    pub(super) em: f64,
}

impl Font {
    /// Reads a font.
    pub(super) fn read(
        document: &Document,
        font: &Dictionary,
        glyph_names: &mut GlyphNames,
        tracker: &LimitTracker<'_>,
    ) -> Result<Self, ExtractError> {
        let unicode = match get(document, font, b"ToUnicode") {
            Some(Object::Stream(stream)) => {
                // A font with a damaged map still has its encoding.
                readable(stream, tracker)?.map(|bytes| Cmap::parse(&bytes))
            }
            _ => None,
        };
        if name(document, font, b"Subtype") == b"Type0" {
            return Self::composite(document, font, unicode, tracker);
        }
        let table = table(document, font, glyph_names, tracker)?;
        let (widths, em) = simple_widths(document, font, &table);
        Ok(Self { codes: CodeScheme::One, table, unicode, widths, vertical: false, em })
    }

    fn composite(
        document: &Document,
        font: &Dictionary,
        unicode: Option<Cmap>,
        tracker: &LimitTracker<'_>,
    ) -> Result<Self, ExtractError> {
        let mut codes = CodeScheme::Two;
        let mut vertical = false;
        match get(document, font, b"Encoding") {
            Some(Object::Name(name)) => {
                vertical = name.ends_with(b"-V");
                codes = predefined(name);
            }
            Some(Object::Stream(stream)) => {
                if let Some(bytes) = readable(stream, tracker)? {
                    vertical = number(document, &stream.dict, b"WMode") == Some(1.0);
                    let map = Cmap::parse(&bytes);
                    codes =
                        if map.has_spaces() { CodeScheme::Spaces(map) } else { CodeScheme::Two };
                }
            }
            _ => {}
        }
        let descendant = get(document, font, b"DescendantFonts")
            .and_then(|fonts| fonts.as_array().ok())
            .and_then(|fonts| document.dereference(fonts.first()?).ok())
            .and_then(|(_, font)| font.as_dict().ok());
        let widths = GlyphWidths::composite(document, descendant);
        Ok(Self { codes, table: Vec::new(), unicode, widths, vertical, em: 1.0 })
    }

    /// Reads the next glyph of a non-empty string, and appends its text.
    pub(super) fn glyph(&self, bytes: &[u8], out: &mut String) -> Glyph {
        let length = match &self.codes {
            CodeScheme::One => 1,
            CodeScheme::Two => 2,
            CodeScheme::Spaces(map) => map.length(bytes),
            CodeScheme::Legacy(encoding) => match bytes[0] {
                0..=0x80 => 1,
                0xa1..=0xdf if *encoding == SHIFT_JIS => 1,
                _ => 2,
            },
        }
        .min(bytes.len());
        let head = &bytes[..length];
        let code = cmap::code(head);
        if !self.unicode.as_ref().is_some_and(|map| map.text(code, out)) {
            self.meaning(head, code, out);
        }
        let width = match &self.codes {
            CodeScheme::Spaces(map) => self.widths.get(map.number(code).unwrap_or(code)),
            // Glyph numbers of these encodings are unknown.
            CodeScheme::Legacy(_) => f64::from(u8::try_from(length).unwrap_or(2)) / 2.0,
            _ => self.widths.get(code),
        };
        Glyph { width, bytes: length, space: length == 1 && code == 32 }
    }

    /// Appends the text of a code that has no text in the map to Unicode.
    fn meaning(&self, bytes: &[u8], code: u32, out: &mut String) {
        match &self.codes {
            CodeScheme::Legacy(encoding) => {
                let text = encoding.decode_without_bom_handling(bytes).0;
                out.extend(text.chars().filter(|&c| c != char::REPLACEMENT_CHARACTER));
            }
            CodeScheme::One => {
                if let Some(text) = self.table.get(code as usize) {
                    out.push_str(text);
                }
            }
            CodeScheme::Two | CodeScheme::Spaces(_) => {}
        }
    }
}

/// The code scheme of a predefined character map.
fn predefined(name: &[u8]) -> CodeScheme {
    let has = |part: &str| memchr::memmem::find(name, part.as_bytes()).is_some();
    match () {
        () if has("UCS2") || has("UTF16") => CodeScheme::Legacy(UTF_16BE),
        () if has("RKSJ") => CodeScheme::Legacy(SHIFT_JIS),
        () if has("GB") => CodeScheme::Legacy(GBK),
        () if has("B5") => CodeScheme::Legacy(BIG5),
        () if has("KSC") => CodeScheme::Legacy(EUC_KR),
        () if has("EUC") => CodeScheme::Legacy(EUC_JP),
        () => CodeScheme::Two,
    }
}

/// The texts of a font with one-byte codes.
fn table(
    document: &Document,
    font: &Dictionary,
    glyph_names: &mut GlyphNames,
    tracker: &LimitTracker<'_>,
) -> Result<GlyphTable, ExtractError> {
    let true_type = name(document, font, b"Subtype") == b"TrueType";
    let drawings = name(document, font, b"Subtype") == b"Type3";
    let fallback: &[u8] = if true_type { b"WinAnsiEncoding" } else { b"StandardEncoding" };
    let encoding = match get(document, font, b"Encoding") {
        Some(Object::Name(name)) => return Ok(glyph_names.encoding(name)),
        Some(Object::Dictionary(encoding)) => Some(encoding),
        _ => None,
    };
    let base = encoding.and_then(|encoding| get(document, encoding, b"BaseEncoding"));
    let mut table = match base {
        Some(Object::Name(base)) => glyph_names.encoding(base),
        _ => match program(document, font, tracker)? {
            Some(program) => glyph_names::built_in(&program, glyph_names),
            None => None,
        }
        .unwrap_or_else(|| glyph_names.encoding(fallback)),
    };
    let differences = encoding.and_then(|encoding| get(document, encoding, b"Differences"));
    let mut code = 0usize;
    for entry in differences.and_then(|d| d.as_array().ok()).into_iter().flatten() {
        match document.dereference(entry) {
            Ok((_, Object::Integer(first))) => code = usize::try_from(*first).unwrap_or(256),
            Ok((_, Object::Name(name))) => {
                if let Some(entry) = table.get_mut(code) {
                    let drawn = || glyph_names::drawn(name).filter(|_| drawings);
                    *entry = glyph_names.text(name).or_else(drawn).unwrap_or_default();
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    Ok(table)
}

/// The program of an embedded Type 1 font.
fn program(
    document: &Document,
    font: &Dictionary,
    tracker: &LimitTracker<'_>,
) -> Result<Option<Vec<u8>>, ExtractError> {
    let descriptor = get(document, font, b"FontDescriptor").and_then(|d| d.as_dict().ok());
    match descriptor.and_then(|descriptor| get(document, descriptor, b"FontFile")) {
        Some(Object::Stream(stream)) => readable(stream, tracker),
        _ => Ok(None),
    }
}
