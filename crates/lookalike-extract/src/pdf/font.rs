//! Fonts: from the bytes of a string to characters and widths.

use super::cmap::{self, Cmap};
use super::names::{self, Names, Table};
use super::stream::readable;
use super::widths::{Widths, simple_widths};
use crate::failure::Failure;
use crate::job::Job;
use encoding_rs::{BIG5, EUC_JP, EUC_KR, GBK, SHIFT_JIS, UTF_16BE};
use lopdf::{Dictionary, Document, Object};

/// What a glyph is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    /// How far it moves, in ems.
    pub(super) width: f64,
    /// How many bytes its code has.
    pub(super) bytes: usize,
    /// Whether its code is a single 32, to which word spacing applies.
    pub(super) space: bool,
}

/// How a string is cut into codes.
enum Codes {
    One,
    Two,
    /// As its character map says.
    Spaces(Cmap),
    /// One or two bytes of an encoding of East Asia, which says what they mean.
    Legacy(&'static encoding_rs::Encoding),
}

/// A font, as far as text needs it.
pub(super) struct Font {
    codes: Codes,
    /// What codes of one byte mean.
    table: Table,
    /// What codes mean, where the font says it in Unicode.
    unicode: Option<Cmap>,
    widths: Widths,
    pub(super) vertical: bool,
    /// How tall its letters are, in units of the font size: 1 but for fonts of drawings.
    pub(super) em: f64,
}

impl Font {
    /// Reads a font.
    pub(super) fn read(
        document: &Document,
        font: &Dictionary,
        names: &mut Names,
        job: &Job<'_>,
    ) -> Result<Self, Failure> {
        let unicode = match get(document, font, b"ToUnicode") {
            Some(Object::Stream(stream)) => {
                // A font with a broken map still has its encoding.
                readable(stream, job)?.map(|bytes| Cmap::parse(&bytes))
            }
            _ => None,
        };
        if name(document, font, b"Subtype") == b"Type0" {
            return Self::composite(document, font, unicode, job);
        }
        let table = table(document, font, names, job)?;
        let (widths, em) = simple_widths(document, font, &table);
        Ok(Self { codes: Codes::One, table, unicode, widths, vertical: false, em })
    }

    fn composite(
        document: &Document,
        font: &Dictionary,
        unicode: Option<Cmap>,
        job: &Job<'_>,
    ) -> Result<Self, Failure> {
        let (mut codes, mut vertical) = (Codes::Two, false);
        match get(document, font, b"Encoding") {
            Some(Object::Name(name)) => {
                vertical = name.ends_with(b"-V");
                codes = predefined(name);
            }
            Some(Object::Stream(stream)) => {
                if let Some(bytes) = readable(stream, job)? {
                    vertical = number(document, &stream.dict, b"WMode") == Some(1.0);
                    let map = Cmap::parse(&bytes);
                    codes = if map.has_spaces() { Codes::Spaces(map) } else { Codes::Two };
                }
            }
            _ => {}
        }
        let descendant = get(document, font, b"DescendantFonts")
            .and_then(|fonts| fonts.as_array().ok())
            .and_then(|fonts| document.dereference(fonts.first()?).ok())
            .and_then(|(_, font)| font.as_dict().ok());
        let widths = Widths::composite(document, descendant);
        Ok(Self { codes, table: Vec::new(), unicode, widths, vertical, em: 1.0 })
    }

    /// The next glyph of a string that is not empty; what it means is appended.
    pub(super) fn glyph(&self, bytes: &[u8], out: &mut String) -> Glyph {
        let length = match &self.codes {
            Codes::One => 1,
            Codes::Two => 2,
            Codes::Spaces(map) => map.length(bytes),
            Codes::Legacy(encoding) => match bytes[0] {
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
            Codes::Spaces(map) => self.widths.get(map.number(code).unwrap_or(code)),
            // The numbers of their glyphs are not known here.
            Codes::Legacy(_) => f64::from(u8::try_from(length).unwrap_or(2)) / 2.0,
            _ => self.widths.get(code),
        };
        Glyph { width, bytes: length, space: length == 1 && code == 32 }
    }

    /// What a code means where the font does not say it in Unicode.
    fn meaning(&self, bytes: &[u8], code: u32, out: &mut String) {
        match &self.codes {
            Codes::Legacy(encoding) => {
                let text = encoding.decode_without_bom_handling(bytes).0;
                out.extend(text.chars().filter(|&c| c != char::REPLACEMENT_CHARACTER));
            }
            Codes::One => {
                if let Some(text) = self.table.get(code as usize) {
                    out.push_str(text);
                }
            }
            Codes::Two | Codes::Spaces(_) => {}
        }
    }
}

/// How the character maps that PDF has names for cut strings.
fn predefined(name: &[u8]) -> Codes {
    let has = |part: &str| memchr::memmem::find(name, part.as_bytes()).is_some();
    match () {
        () if has("UCS2") || has("UTF16") => Codes::Legacy(UTF_16BE),
        () if has("RKSJ") => Codes::Legacy(SHIFT_JIS),
        () if has("GB") => Codes::Legacy(GBK),
        () if has("B5") => Codes::Legacy(BIG5),
        () if has("KSC") => Codes::Legacy(EUC_KR),
        () if has("EUC") => Codes::Legacy(EUC_JP),
        () => Codes::Two,
    }
}

/// What the codes of a font with one byte a character mean.
fn table(
    document: &Document,
    font: &Dictionary,
    names: &mut Names,
    job: &Job<'_>,
) -> Result<Table, Failure> {
    let true_type = name(document, font, b"Subtype") == b"TrueType";
    let drawings = name(document, font, b"Subtype") == b"Type3";
    let fallback: &[u8] = if true_type { b"WinAnsiEncoding" } else { b"StandardEncoding" };
    let encoding = match get(document, font, b"Encoding") {
        Some(Object::Name(name)) => return Ok(names.encoding(name)),
        Some(Object::Dictionary(encoding)) => Some(encoding),
        _ => None,
    };
    let base = encoding.and_then(|encoding| get(document, encoding, b"BaseEncoding"));
    let mut table = match base {
        Some(Object::Name(base)) => names.encoding(base),
        _ => match program(document, font, job)? {
            Some(program) => names::built_in(&program, names),
            None => None,
        }
        .unwrap_or_else(|| names.encoding(fallback)),
    };
    let differences = encoding.and_then(|encoding| get(document, encoding, b"Differences"));
    let mut code = 0usize;
    for entry in differences.and_then(|d| d.as_array().ok()).into_iter().flatten() {
        match document.dereference(entry) {
            Ok((_, Object::Integer(first))) => code = usize::try_from(*first).unwrap_or(256),
            Ok((_, Object::Name(name))) => {
                if let Some(entry) = table.get_mut(code) {
                    let drawn = || names::drawn(name).filter(|_| drawings);
                    *entry = names.text(name).or_else(drawn).unwrap_or_default();
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
    job: &Job<'_>,
) -> Result<Option<Vec<u8>>, Failure> {
    let descriptor = get(document, font, b"FontDescriptor").and_then(|d| d.as_dict().ok());
    match descriptor.and_then(|descriptor| get(document, descriptor, b"FontFile")) {
        Some(Object::Stream(stream)) => readable(stream, job),
        _ => Ok(None),
    }
}

/// A value of a dictionary, wherever it lies.
pub(super) fn get<'a>(
    document: &'a Document,
    dictionary: &'a Dictionary,
    key: &[u8],
) -> Option<&'a Object> {
    document.dereference(dictionary.get(key).ok()?).ok().map(|(_, object)| object)
}

/// A name in a dictionary; empty where there is none.
pub(super) fn name<'a>(document: &'a Document, dictionary: &'a Dictionary, key: &[u8]) -> &'a [u8] {
    get(document, dictionary, key).and_then(|object| object.as_name().ok()).unwrap_or_default()
}

/// A number in a dictionary.
pub(super) fn number(document: &Document, dictionary: &Dictionary, key: &[u8]) -> Option<f64> {
    get(document, dictionary, key).and_then(value)
}

/// A number.
pub(super) fn value(object: &Object) -> Option<f64> {
    object.as_float().ok().map(f64::from).filter(|value| value.is_finite())
}
