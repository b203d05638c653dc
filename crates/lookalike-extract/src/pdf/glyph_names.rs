//! Encodings of fonts with one-byte codes, and names of glyphs.

use super::lexer::{Lexer, PdfToken};
use encoding_rs::{MACINTOSH, WINDOWS_1252};
use lopdf::{Dictionary, Document, Encoding, Object};
use std::collections::HashMap;

/// The texts of the 256 codes of a font; empty for undefined codes.
pub(super) type GlyphTable = Vec<String>;

/// A cache of glyph names.
#[derive(Default)]
pub(super) struct GlyphNames {
    known: HashMap<Vec<u8>, Option<char>>,
    empty: Document,
}

impl GlyphNames {
    /// A predefined encoding.
    pub(super) fn encoding(&self, name: &[u8]) -> GlyphTable {
        let single = |encoding: &'static encoding_rs::Encoding| {
            (0..=255u8)
                .map(|byte| match byte {
                    0..32 => String::new(),
                    _ => encoding.decode_without_bom_handling(&[byte]).0.into_owned(),
                })
                .collect()
        };
        match name {
            b"WinAnsiEncoding" => single(WINDOWS_1252),
            b"MacRomanEncoding" => single(MACINTOSH),
            _ => {
                let mut font = Dictionary::new();
                font.set("Type", Object::Name(b"Font".to_vec()));
                font.set("Encoding", Object::Name(b"StandardEncoding".to_vec()));
                let encoding = font.get_font_encoding(&self.empty);
                let text = |byte| encoding.as_ref().ok()?.bytes_to_string(&[byte]).ok();
                (0..=255u8).map(|byte| text(byte).unwrap_or_default()).collect()
            }
        }
    }

    /// The text of a glyph name by the rules of the Adobe Glyph List: `A`, `f_i`, `uni0041`,
    /// `u1F600`, each with an optional suffix `.something`.
    pub(super) fn text(&mut self, name: &[u8]) -> Option<String> {
        let stem = name.split(|&b| b == b'.').next().filter(|stem| !stem.is_empty())?;
        let mut text = String::new();
        for part in stem.split(|&b| b == b'_') {
            if let Some(char) = self.char(part) {
                text.push(char);
            } else if let Some(chars) = numbered(part) {
                text.push_str(&chars);
            }
        }
        (!text.is_empty()).then_some(text)
    }

    fn char(&mut self, name: &[u8]) -> Option<char> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let char = listed(name, &self.empty);
        self.known.insert(name.to_vec(), char);
        char
    }
}

/// The character of a name in the Adobe Glyph List. The list is in lopdf, which exposes it only
/// through font encodings.
fn listed(name: &[u8], document: &Document) -> Option<char> {
    let mut encoding = Dictionary::new();
    let differences = vec![Object::Integer(65), Object::Name(name.to_vec())];
    encoding.set("Differences", Object::Array(differences));
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", Object::Dictionary(encoding));
    let Ok(Encoding::Differences(differences)) = font.get_font_encoding(document) else {
        return None;
    };
    let unit = differences.map.get(&65)?.utf16_code_unit();
    char::from_u32(u32::from(unit)).filter(|char| !('\u{e000}'..='\u{f8ff}').contains(char))
}

/// The text of a name with hexadecimal codes: `uni` and groups of four digits, or `u` and four to
/// six digits.
fn numbered(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let char = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    if let Some(digits) = name.strip_prefix("uni")
        && digits.len() >= 4
        && digits.is_ascii()
    {
        return digits
            .as_bytes()
            .chunks_exact(4)
            .map(|group| std::str::from_utf8(group).ok().and_then(char))
            .collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    char(digits).map(String::from)
}

/// The text of a Type 3 glyph named by letters and a number, as in bitmap fonts: `a65`. The number
/// is the code of an ASCII character.
pub(super) fn drawn(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = name.len() - digits.len();
    if !(1..=2).contains(&letters) || !(2..=3).contains(&digits.len()) {
        return None;
    }
    let char = digits.parse::<u8>().ok().filter(u8::is_ascii_graphic)?;
    Some(char::from(char).to_string())
}

/// The encoding in the clear-text part of a Type 1 font program: `dup 65 /A put`. `None` for the
/// standard encoding.
pub(super) fn built_in(program: &[u8], glyph_names: &mut GlyphNames) -> Option<GlyphTable> {
    let end = memchr::memmem::find(program, b"eexec").unwrap_or(program.len());
    let head = &program[..end];
    let start = memchr::memmem::find(head, b"/Encoding")?;
    let mut lexer = Lexer::new(&head[start + 9..]);
    let mut table = vec![String::new(); 256];
    let mut code = None;
    let mut found = false;
    while let Some(token) = lexer.token() {
        match token {
            PdfToken::Number(number) => code = Some(number as usize),
            PdfToken::Name(name) => {
                if let (Some(entry), Some(text)) =
                    (code.and_then(|code| table.get_mut(code)), glyph_names.text(name))
                {
                    *entry = text;
                    found = true;
                }
                code = None;
            }
            PdfToken::Operator(b"StandardEncoding") => return None,
            PdfToken::Operator(b"def" | b"readonly") if found => break,
            _ => {}
        }
    }
    found.then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyph_names_map_to_text() {
        let mut glyph_names = GlyphNames::default();
        let known: [(&[u8], Option<&str>); 11] = [
            (b"A", Some("A")),
            (b"eacute", Some("é")),
            (b"afii57415.isol", Some("ا")),
            (b"f_f_i", Some("ffi")),
            (b"fi", Some("\u{fb01}")),
            (b"uni0041030A", Some("A\u{30a}")),
            (b"u1F600", Some("\u{1f600}")),
            (b"Euro", Some("€")),
            (b".notdef", None),
            (b"g17", None),
            (b"uniD800", None),
        ];
        for (name, text) in known {
            assert_eq!(glyph_names.text(name).as_deref(), text, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn drawings_may_have_numbers() {
        let glyph_names = ["a65", "ch126", "a20", "abc65", "65", "a300", "a6x"].map(str::as_bytes);
        let names = glyph_names.map(drawn);
        let expected = [Some("A"), Some("~"), None, None, None, None, None];
        assert_eq!(names.each_ref().map(Option::as_deref), expected);
    }

    #[test]
    fn encodings_are_distinguished() {
        let glyph_names = GlyphNames::default();
        let at = |name: &[u8], code: usize| glyph_names.encoding(name)[code].clone();
        assert_eq!(at(b"WinAnsiEncoding", 0x80), "€");
        assert_eq!(at(b"MacRomanEncoding", 0x80), "Ä");
        assert_eq!(at(b"StandardEncoding", 0x27), "\u{2019}");
        assert_eq!(at(b"StandardEncoding", 0x41), "A");
    }

    #[test]
    fn type_1_programs_bring_their_encoding() {
        let mut glyph_names = GlyphNames::default();
        let program = b"%!PS /Encoding 256 array 0 1 255 {1 index exch /.notdef put} for
            dup 65 /alpha put dup 8#102 /b put dup 66 /beta put readonly def
            /C 67 def currentfile eexec dup 68 /D put";
        let table = built_in(program, &mut glyph_names).expect("an encoding");
        assert_eq!((&*table[65], &*table[66], &*table[67], &*table[68]), ("α", "β", "", ""));
        assert!(built_in(b"/Encoding StandardEncoding def", &mut glyph_names).is_none());
    }
}
