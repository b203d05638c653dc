//! Character maps, which map the codes of a font to characters or glyph numbers.

use super::lexer::{Lexer, PdfOperands, PdfToken};
use std::collections::HashMap;

/// A range of codes, and the value of the first code.
#[derive(Debug, Clone, Copy)]
struct CodeRange {
    first: u32,
    last: u32,
    value: u32,
}

/// Codes of one length.
#[derive(Debug, Clone, Copy)]
struct CodeSpace {
    length: usize,
    first: u32,
    last: u32,
}

/// A character map.
#[derive(Debug, Default)]
pub(super) struct Cmap {
    spaces: Vec<CodeSpace>,
    /// Sorted by their first code.
    ranges: Vec<CodeRange>,
    texts: HashMap<u32, Box<str>>,
}

impl Cmap {
    /// Parses a character map. Unknown operators are ignored.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(bytes);
        let mut operands = Vec::new();
        while let Some(token) = lexer.token() {
            let PdfToken::Operator(word) = token else {
                operands.push(token);
                continue;
            };
            let operand = PdfOperands { tokens: &operands, strings: &lexer.strings };
            match word {
                b"endcodespacerange" => map.codespaces(&operand),
                b"endbfchar" => map.characters(&operand),
                b"endbfrange" => map.character_ranges(&operand),
                b"endcidchar" => map.numbers(&operand, false),
                b"endcidrange" => map.numbers(&operand, true),
                _ => {}
            }
            operands.clear();
            lexer.strings.clear();
        }
        map.ranges.sort_by_key(|range| range.first);
        map
    }

    fn codespaces(&mut self, operands: &PdfOperands<'_>) {
        for pair in operands.tokens.chunks_exact(2) {
            if let (Some(first), Some(last)) = (operands.bytes(pair[0]), operands.bytes(pair[1]))
                && (1..=4).contains(&first.len())
            {
                let space = CodeSpace { length: first.len(), first: code(first), last: code(last) };
                self.spaces.push(space);
            }
        }
    }

    fn characters(&mut self, operands: &PdfOperands<'_>) {
        for pair in operands.tokens.chunks_exact(2) {
            if let (Some(from), Some(to)) = (operands.bytes(pair[0]), operands.bytes(pair[1])) {
                self.texts.insert(code(from), utf16(to));
            }
        }
    }

    fn character_ranges(&mut self, operands: &PdfOperands<'_>) {
        let mut tokens = operands.tokens.iter().copied();
        while let (Some(first), Some(last), Some(to)) =
            (tokens.next(), tokens.next(), tokens.next())
        {
            let (Some(first), Some(last)) = (operands.bytes(first), operands.bytes(last)) else {
                return;
            };
            let first = code(first);
            let last = code(last);
            if let Some(to) = operands.bytes(to) {
                self.character_range(first, last, to);
                continue;
            }
            let mut at = first;
            for token in tokens.by_ref() {
                let Some(to) = operands.bytes(token) else { break };
                if at <= last {
                    self.texts.insert(at, utf16(to));
                }
                at = at.saturating_add(1);
            }
        }
    }

    /// Maps a range of codes to consecutive characters. If `to` has several characters, only the
    /// last one is incremented.
    fn character_range(&mut self, first: u32, last: u32, to: &[u8]) {
        let text = utf16(to);
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(value), None) => {
                self.ranges.push(CodeRange { first, last, value: u32::from(value) });
            }
            (Some(_), Some(_)) => {
                let Some(tail) = text.chars().next_back() else { return };
                let head = &text[..text.len() - tail.len_utf8()];
                // Only the last byte is incremented.
                for step in 0..=last.saturating_sub(first).min(0xff) {
                    if let Some(tail) = char::from_u32(u32::from(tail) + step) {
                        self.texts.insert(first + step, format!("{head}{tail}").into());
                    }
                }
            }
            _ => {}
        }
    }

    fn numbers(&mut self, operands: &PdfOperands<'_>, ranges: bool) {
        for group in operands.tokens.chunks_exact(if ranges { 3 } else { 2 }) {
            let (first, last, value) = if ranges {
                (group[0], group[1], group[2])
            } else {
                (group[0], group[0], group[1])
            };
            if let (Some(first), Some(last), PdfToken::Number(value)) =
                (operands.bytes(first), operands.bytes(last), value)
            {
                let first = code(first);
                let last = code(last);
                self.ranges.push(CodeRange { first, last, value: value.max(0.0) as u32 });
            }
        }
    }

    /// The value of a code, as a number.
    pub(super) fn number(&self, code: u32) -> Option<u32> {
        let index = self.ranges.partition_point(|range| range.first <= code).checked_sub(1)?;
        // Checks several ranges, since they may overlap.
        let near = self.ranges[index.saturating_sub(4)..=index].iter().rev();
        let range = near.into_iter().find(|range| code <= range.last)?;
        range.value.checked_add(code - range.first)
    }

    /// Appends the text of a code; `false` if the map has none.
    pub(super) fn text(&self, code: u32, out: &mut String) -> bool {
        if let Some(text) = self.texts.get(&code) {
            out.push_str(text);
            return true;
        }
        let char = self.number(code).and_then(char::from_u32);
        out.extend(char);
        char.is_some()
    }

    pub(super) fn has_spaces(&self) -> bool {
        !self.spaces.is_empty()
    }

    /// The length in bytes of the code at the start of `bytes`, at least 1.
    pub(super) fn length(&self, bytes: &[u8]) -> usize {
        let fits = |space: &&CodeSpace| {
            let Some(head) = bytes.get(..space.length) else { return false };
            let first = space.first.to_be_bytes();
            let last = space.last.to_be_bytes();
            let skip = 4 - space.length;
            head.iter().enumerate().all(|(i, b)| (first[skip + i]..=last[skip + i]).contains(b))
        };
        let space = self.spaces.iter().find(fits);
        let least = || self.spaces.iter().map(|space| space.length).min();
        space.map(|space| space.length).or_else(least).unwrap_or(1)
    }
}

/// The code of up to four bytes.
pub(super) fn code(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |code, &byte| code << 8 | u32::from(byte))
}

/// Decodes UTF-16BE; a single byte is a character.
fn utf16(bytes: &[u8]) -> Box<str> {
    if let &[byte] = bytes {
        return char::from(byte).to_string().into();
    }
    let units = bytes.chunks_exact(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect();
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(map: &Cmap, code: u32) -> Option<String> {
        let mut text = String::new();
        map.text(code, &mut text).then_some(text)
    }

    #[test]
    fn cmap_codes_map_to_text() {
        let map = Cmap::parse(
            b"1 begincodespacerange <0000> <ffff> endcodespacerange
              2 beginbfchar <0001> <00660069> <0002> <d83dde00> endbfchar
              3 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0031> <00320033>]
              <0030> <0031> <00410061> endbfrange
              1 begincidrange <0100> <01ff> 7 endcidrange",
        );
        assert_eq!(text(&map, 1).as_deref(), Some("fi"));
        assert_eq!(text(&map, 2).as_deref(), Some("\u{1f600}"));
        assert_eq!(text(&map, 0x12).as_deref(), Some("C"));
        assert_eq!(text(&map, 0x13), None);
        assert_eq!(text(&map, 0x21).as_deref(), Some("23"));
        assert_eq!(text(&map, 0x31).as_deref(), Some("Ab"));
        assert_eq!(map.number(0x102), Some(9));
        assert_eq!(map.length(b"\x01\x02\x03"), 2);
    }

    #[test]
    fn codespace_ranges_set_code_lengths() {
        let map = Cmap::parse(b"begincodespacerange <00> <80> <8140> <9ffc> endcodespacerange");
        assert_eq!(map.length(b"A"), 1);
        assert_eq!(map.length(b"\x81\x40"), 2);
        assert_eq!(map.length(b"\x81\x20"), 1);
        assert_eq!(map.length(b""), 1);
    }

    #[test]
    fn broken_cmaps_map_nothing() {
        for bytes in [&b""[..], b"<00 endbfchar", b"<00> <01> endbfrange", b"endcidrange [ [ <<"] {
            assert_eq!(text(&Cmap::parse(bytes), 0), None);
        }
        let map = Cmap::parse(b"<00000000> <ffffffff> <0041> endbfrange");
        assert_eq!(text(&map, 0xffff_ffff), None);
    }
}
