//! The lexer of content streams. Arrays and dictionaries are returned as bracket tokens, so that
//! nesting takes no stack.

/// A token of a content stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PdfToken<'a> {
    Number(f64),
    Name(&'a [u8]),
    /// A string, as a range of [`Lexer::strings`].
    Text(usize, usize),
    /// `[`, `]`, `<<` or `>>`.
    Bracket(u8),
    Operator(&'a [u8]),
}

/// Splits a content stream, or a character map, into tokens.
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The bytes of strings since the last clear.
    pub(super) strings: Vec<u8>,
}

/// The operands of an operator.
pub(super) struct PdfOperands<'a> {
    pub(super) tokens: &'a [PdfToken<'a>],
    /// See [`Lexer::strings`].
    pub(super) strings: &'a [u8],
}

impl PdfOperands<'_> {
    /// The number at an index; 0 if there is none.
    pub(super) fn number(&self, index: usize) -> f64 {
        match self.tokens.get(index) {
            Some(PdfToken::Number(number)) => *number,
            _ => 0.0,
        }
    }

    /// The name at an index; empty if there is none.
    pub(super) fn name(&self, index: usize) -> &[u8] {
        match self.tokens.get(index) {
            Some(PdfToken::Name(name)) => name,
            _ => &[],
        }
    }

    /// The bytes of a string.
    pub(super) fn bytes(&self, token: PdfToken<'_>) -> Option<&[u8]> {
        match token {
            PdfToken::Text(from, to) => self.strings.get(from..to),
            _ => None,
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

fn is_regular(byte: u8) -> bool {
    !is_blank(byte) && !is_delimiter(byte)
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, strings: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// The next token. Invalid bytes are skipped.
    pub(super) fn token(&mut self) -> Option<PdfToken<'a>> {
        loop {
            let byte = self.peek(0)?;
            match byte {
                b'%' => self.comment(),
                b'(' => return Some(self.literal()),
                b'/' => {
                    self.at += 1;
                    return Some(PdfToken::Name(self.regular()));
                }
                b'<' | b'>' => {
                    if self.peek(1) == Some(byte) {
                        self.at += 2;
                        return Some(PdfToken::Bracket(if byte == b'<' { b'{' } else { b'}' }));
                    }
                    if byte == b'<' {
                        return Some(self.hexadecimal());
                    }
                    self.at += 1;
                }
                b'[' | b']' => {
                    self.at += 1;
                    return Some(PdfToken::Bracket(byte));
                }
                b'0'..=b'9' | b'+' | b'-' | b'.' => {
                    let word = self.regular();
                    return Some(number(word).map_or(PdfToken::Operator(word), PdfToken::Number));
                }
                _ if is_regular(byte) => return Some(PdfToken::Operator(self.regular())),
                _ => self.at += 1,
            }
        }
    }

    fn comment(&mut self) {
        while self.peek(0).is_some_and(|b| b != b'\n' && b != b'\r') {
            self.at += 1;
        }
    }

    fn regular(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&b| !is_regular(b)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// `(…)`, with balanced parentheses and escapes.
    fn literal(&mut self) -> PdfToken<'a> {
        let start = self.strings.len();
        let mut depth = 0usize;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'(' => {
                    depth += 1;
                    if depth == 1 {
                        continue;
                    }
                }
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape();
                    continue;
                }
                _ => {}
            }
            self.strings.push(byte);
        }
        PdfToken::Text(start, self.strings.len())
    }

    fn escape(&mut self) {
        let Some(byte) = self.peek(0) else { return };
        self.at += 1;
        let byte = match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'\r' => {
                self.at += usize::from(self.peek(0) == Some(b'\n'));
                return;
            }
            b'\n' => return,
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek(0) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                (code & 0xff) as u8
            }
            other => other,
        };
        self.strings.push(byte);
    }

    /// `<…>`; a missing last digit is 0.
    fn hexadecimal(&mut self) -> PdfToken<'a> {
        let start = self.strings.len();
        self.at += 1;
        let mut high = None;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            let Some(digit) = hex(byte) else { continue };
            match high.take() {
                Some(high) => self.strings.push(high << 4 | digit),
                None => high = Some(digit),
            }
        }
        self.strings.extend(high.map(|high| high << 4));
        PdfToken::Text(start, self.strings.len())
    }

    /// Skips the data of an inline image, which follows `ID`. The length is unknown: the data ends
    /// at a separate `EI` that precedes text.
    pub(super) fn skip_image(&mut self) {
        let rest = &self.bytes[self.at..];
        let ends = |found: usize| {
            let after = &rest[found + 2..];
            (found == 0 || is_blank(rest[found - 1]))
                && after.first().is_none_or(|&b| is_blank(b))
                && after.iter().take(12).all(|&b| b.is_ascii_graphic() || (b != 0 && is_blank(b)))
        };
        let end = memchr::memmem::find_iter(rest, b"EI").find(|&found| ends(found));
        self.at += end.map_or(rest.len(), |end| end + 2);
    }
}

/// Parses a decimal number, as leniently as other PDF readers: `-.5`, `4.`, `--3`, `1.2.3`.
fn number(word: &[u8]) -> Option<f64> {
    let mut value = 0f64;
    let mut scale = 0f64;
    let mut digits = false;
    let mut negative = false;
    for (index, &byte) in word.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                digits = true;
                let digit = f64::from(byte - b'0');
                if scale == 0.0 {
                    value = value.mul_add(10.0, digit);
                } else {
                    value = digit.mul_add(scale, value);
                    scale /= 10.0;
                }
            }
            b'.' if scale == 0.0 => scale = 0.1,
            b'-' if !digits => negative = true,
            b'+' if index == 0 => {}
            b'.' | b'-' if digits => break,
            _ => return None,
        }
    }
    let value = if negative { -value } else { value };
    (digits || scale > 0.0 || negative).then_some(value).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<String> {
        let mut lexer = Lexer::new(bytes);
        let mut words = Vec::new();
        while let Some(token) = lexer.token() {
            words.push(match token {
                PdfToken::Text(from, to) => format!("({})", lexer.strings[from..to].escape_ascii()),
                PdfToken::Number(value) => value.to_string(),
                PdfToken::Name(name) => format!("/{}", name.escape_ascii()),
                PdfToken::Bracket(byte) => char::from(byte).to_string(),
                PdfToken::Operator(word) => word.escape_ascii().to_string(),
            });
        }
        words
    }

    #[test]
    fn pdf_tokens_follow_the_standard() {
        let bytes = b"/F1 12 Tf[(a\\(b(c)\\051\\n\\\nd)-.5(x)]TJ<48 6>Tj % no\n<</A 1.>>BDC T* \"";
        let expected = [
            "/F1",
            "12",
            "Tf",
            "[",
            "(a(b(c))\\nd)",
            "-0.5",
            "(x)",
            "]",
            "TJ",
            "(H`)",
            "Tj",
            "{",
            "/A",
            "1",
            "}",
            "BDC",
            "T*",
            "\\\"",
        ];
        assert_eq!(words(bytes), expected);
        assert_eq!(words(b"1.5 --3 +7 4.-2 - . 1e5"), ["1.5", "-3", "7", "4", "-0", "0", "1e5"]);
        assert_eq!(words(b"(never ended \\"), ["(never ended )"]);
        assert_eq!(words(b") > <41"), ["(A)"]);
    }

    #[test]
    fn inline_image_data_is_skipped() {
        let bytes = b"BI /W 1 ID \x01EI\x02 EI\x80 (no) Tj EI\nQ (yes)";
        let mut lexer = Lexer::new(bytes);
        while lexer.token().is_some_and(|token| token != PdfToken::Operator(b"ID")) {}
        lexer.skip_image();
        assert_eq!(lexer.token(), Some(PdfToken::Operator(b"Q")));
    }
}
