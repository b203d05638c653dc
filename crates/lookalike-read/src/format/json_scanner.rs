//! A strict, non-recursive scanner of a JSON object. It checks the syntax without building values;
//! the caller selects the id and the text. It accepts the same input as `serde_json`, and also any
//! depth of nesting.
//!
//! This scanner is used because it reads 900 MB/s of records; `serde_json`, sonic-rs and simd-json
//! read 506, 503 and 153 MB/s (November 2026, `bench/scale.md`).

use memchr::memchr2;
use std::borrow::Cow;

/// An unexpected character in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The position in the line, in bytes.
    pub(crate) at: usize,
    /// The expected syntax.
    pub(crate) expected: &'static str,
}

/// A value in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonValue {
    String(JsonString),
    /// A number's text.
    Number {
        start: usize,
        end: usize,
    },
    /// First byte of the object.
    Object {
        start: usize,
    },
    /// Another value, by its kind.
    Other(&'static str),
}

/// A string: the bytes between its quotes, and the number of escapes in them. The struct stores a
/// number instead of a flag, because a flag would leave padding. Copying a new struct would load
/// flag and padding together, and wait for the narrower store of the flag. This wait took 2 % of
/// the CPU time of `find --threads 1` on 100,000 records of 2 KB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonString {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) escapes: usize,
}

impl JsonValue {
    /// The kind of the value, for messages.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Number { .. } => "a number",
            Self::Object { .. } => "an object",
            Self::Other(kind) => kind,
        }
    }
}

/// The reason why a string is not a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringFault {
    Broken(SyntaxError),
    /// Half a surrogate pair as an escape.
    LoneSurrogate,
}

impl From<SyntaxError> for StringFault {
    fn from(broken: SyntaxError) -> Self {
        Self::Broken(broken)
    }
}

/// A scanner at a position of a line.
pub(crate) struct JsonScanner<'a> {
    line: &'a str,
    bytes: &'a [u8],
    pub(crate) at: usize,
    /// Whether the line contains control characters, which strings must not contain.
    controls: bool,
}

impl<'a> JsonScanner<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self { line, bytes: line.as_bytes(), at: 0, controls: has_controls(line.as_bytes()) }
    }

    /// A scanner of the same line at `at`, a position that this scanner has visited.
    pub(crate) fn rewound(&self, at: usize) -> Self {
        Self { at, ..*self }
    }

    fn expected<T>(&self, token: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { at: self.at, expected: token })
    }

    /// The next byte other than white space, without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Consumes white space and `byte`.
    #[inline]
    fn take(&mut self, byte: u8, token: &'static str) -> Result<(), SyntaxError> {
        if self.peek() != Some(byte) {
            return self.expected(token);
        }
        self.at += 1;
        Ok(())
    }

    /// Consumes the brace that begins the object. Call [`key`](Self::key) next.
    pub(crate) fn begin(&mut self) -> Result<(), SyntaxError> {
        self.take(b'{', "'{'")
    }

    /// The next key. Consumes the colon after it. `None` at the end of the object.
    #[inline]
    pub(crate) fn key(&mut self, first: bool) -> Result<Option<JsonString>, SyntaxError> {
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                return Ok(None);
            }
            Some(b',') if !first => {
                self.at += 1;
                self.take(b'"', "a key in double quotes")?;
            }
            Some(b'"') if first => self.at += 1,
            _ if first => return self.expected("a key in double quotes or '}'"),
            _ => return self.expected("',' or '}'"),
        }
        let key = self.string()?;
        self.take(b':', "':'")?;
        Ok(Some(key))
    }

    /// Checks that only white space remains.
    pub(crate) fn end(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.expected("the end of the line"),
        }
    }

    /// Checks the string after its opening quote. The scanner is then after the closing quote.
    #[inline]
    fn string(&mut self) -> Result<JsonString, SyntaxError> {
        let start = self.at;
        let mut escapes = 0;
        loop {
            let Some(next) = memchr2(b'"', b'\\', &self.bytes[self.at..]) else {
                self.at = self.bytes.len();
                return self.expected("'\"' at the end of a string");
            };
            self.at += next;
            if self.bytes[self.at] == b'"' {
                break;
            }
            escapes += 1;
            self.escape()?;
        }
        let end = self.at;
        self.no_controls(start, end)?;
        self.at += 1;
        Ok(JsonString { start, end, escapes })
    }

    /// Consumes an escape. Accepts any four hexadecimal digits after `\u`, and does not check that
    /// surrogates form pairs.
    fn escape(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        match self.bytes.get(self.at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                self.four_digits()?;
            }
            _ => return self.expected("one of \"\\/bfnrtu after '\\'"),
        }
        Ok(())
    }

    fn four_digits(&mut self) -> Result<u32, SyntaxError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.bytes.get(self.at).and_then(|&b| char::from(b).to_digit(16));
            let Some(digit) = digit else {
                return self.expected("four hexadecimal digits after '\\u'");
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn no_controls(&self, start: usize, end: usize) -> Result<(), SyntaxError> {
        if self.controls
            && let Some(control) = self.bytes[start..end].iter().position(|&byte| byte < b' ')
        {
            return Err(SyntaxError {
                at: start + control,
                expected: "control characters in strings as escapes",
            });
        }
        Ok(())
    }

    /// Reads a string value after its opening quote and decodes its escapes into `text` in the same
    /// pass. The text equals the result of [`text_of`](Self::text_of). Without escapes, `text` is
    /// unchanged.
    #[inline]
    pub(crate) fn decoded_string(&mut self, text: &mut String) -> Result<JsonString, StringFault> {
        let start = self.at;
        let mut copied = start;
        let mut escapes = 0;
        loop {
            let Some(next) = memchr2(b'"', b'\\', &self.bytes[self.at..]) else {
                self.at = self.bytes.len();
                return Ok(self.expected("'\"' at the end of a string")?);
            };
            self.at += next;
            if self.bytes[self.at] == b'"' {
                break;
            }
            if escapes == 0 {
                text.clear();
                text.reserve(self.bytes.len() - start);
            }
            escapes += 1;
            text.push_str(&self.line[copied..self.at]);
            let character = self.character()?;
            text.push(character);
            copied = self.at;
        }
        let end = self.at;
        if escapes > 0 {
            text.push_str(&self.line[copied..end]);
        }
        self.no_controls(start, end)?;
        self.at += 1;
        Ok(JsonString { start, end, escapes })
    }

    /// Consumes an escape and returns its character.
    #[inline]
    pub(crate) fn character(&mut self) -> Result<char, StringFault> {
        match self.bytes.get(self.at + 1).map(|&byte| ESCAPES[usize::from(byte)]) {
            Some(b'u') => self.unicode(),
            None | Some(0) => {
                self.at += 1;
                Ok(self.expected("one of \"\\/bfnrtu after '\\'")?)
            }
            Some(character) => {
                self.at += 2;
                Ok(char::from(character))
            }
        }
    }

    // A separate function, so that `character` is inlined into its callers.
    #[inline(never)]
    fn unicode(&mut self) -> Result<char, StringFault> {
        self.at += 2;
        let first = self.four_digits()?;
        let code = if (0xD800..0xDC00).contains(&first) {
            if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                return Err(StringFault::LoneSurrogate);
            }
            self.at += 2;
            let second = self.four_digits()?;
            if !(0xDC00..0xE000).contains(&second) {
                return Err(StringFault::LoneSurrogate);
            }
            0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        } else {
            first
        };
        char::from_u32(code).ok_or(StringFault::LoneSurrogate)
    }

    /// The text of a string of this line. `buffer` is used only if it has escapes.
    pub(crate) fn text_of<'b>(
        &self,
        string: JsonString,
        buffer: &'b mut String,
    ) -> Result<&'b str, StringFault>
    where
        'a: 'b,
    {
        if string.escapes == 0 {
            return Ok(&self.line[string.start..string.end]);
        }
        buffer.clear();
        self.rewound(string.start).decoded_string(buffer)?;
        Ok(buffer)
    }

    /// Checks that a string contains no half surrogate pair. As in `serde_json`, callers check the
    /// id and the keys of the record itself, but not the keys of nested objects.
    pub(crate) fn whole_string(&self, string: JsonString) -> Result<(), SyntaxError> {
        if string.escapes > 0 && self.text_of(string, &mut String::new()).is_err() {
            let expected = "whole surrogate pairs in a key";
            return Err(SyntaxError { at: string.start, expected });
        }
        Ok(())
    }

    /// Returns true if a key is `name`.
    #[inline]
    pub(crate) fn key_is(&self, key: JsonString, name: &str) -> bool {
        if key.escapes > 0 {
            return *self.key_text(key) == *name;
        }
        &self.bytes[key.start..key.end] == name.as_bytes()
    }

    /// A key's text. A key with half a surrogate pair stays undecoded, with U+FFFD appended.
    pub(crate) fn key_text(&self, key: JsonString) -> Cow<'a, str> {
        let raw = &self.line[key.start..key.end];
        if key.escapes == 0 {
            return Cow::Borrowed(raw);
        }
        let mut buffer = String::new();
        let text = self.text_of(key, &mut buffer).map(str::to_owned);
        Cow::Owned(text.unwrap_or_else(|_| format!("{raw}\u{FFFD}")))
    }

    /// Checks and skips any value.
    pub(crate) fn value(&mut self) -> Result<JsonValue, SyntaxError> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string().map(JsonValue::String)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", "true or false"),
            Some(b'f') => self.literal("false", "true or false"),
            Some(b'n') => self.literal("null", "null"),
            Some(b'{') => {
                let start = self.at;
                self.nested()?;
                Ok(JsonValue::Object { start })
            }
            Some(b'[') => {
                self.nested()?;
                Ok(JsonValue::Other("a list"))
            }
            _ => self.expected("a value"),
        }
    }

    fn literal(
        &mut self,
        word: &'static str,
        kind: &'static str,
    ) -> Result<JsonValue, SyntaxError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.expected("a value");
        }
        self.at += word.len();
        Ok(JsonValue::Other(kind))
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { self.expected("a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Result<JsonValue, SyntaxError> {
        let start = self.at;
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(JsonValue::Number { start, end: self.at })
    }

    /// Skips a list or an object with its contents. Stores the open brackets in a list, so that no
    /// depth overflows the stack.
    fn nested(&mut self) -> Result<(), SyntaxError> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            // A value begins here.
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    open.push(b'{');
                    if self.key(true)?.is_some() {
                        continue;
                    }
                    open.pop();
                }
                Some(b'[') => {
                    self.at += 1;
                    open.push(b'[');
                    if self.peek() != Some(b']') {
                        continue;
                    }
                    self.at += 1;
                    open.pop();
                }
                _ => {
                    self.value()?;
                }
            }
            // A value has ended here.
            loop {
                match open.last() {
                    None => return Ok(()),
                    Some(b'{') => {
                        if self.key(false)?.is_some() {
                            break;
                        }
                    }
                    Some(_) => match self.peek() {
                        Some(b',') => {
                            self.at += 1;
                            break;
                        }
                        Some(b']') => self.at += 1,
                        _ => return self.expected("',' or ']'"),
                    },
                }
                open.pop();
            }
        }
    }

    /// Describes the character at a byte of the line, for messages.
    pub(crate) fn seen(line: &str, at: usize) -> String {
        match line.get(at..).and_then(|rest| rest.chars().next()) {
            None => "the end of the line".to_owned(),
            Some(c) => format!("{c:?}"),
        }
    }

    /// The line of this scanner.
    pub(crate) fn line(&self) -> &'a str {
        self.line
    }
}

/// Returns true if any byte is a control character. Computes the least byte of each of 64 lanes, in
/// a loop that the compiler turns into vector instructions.
fn has_controls(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<64>();
    let mut least = [u8::MAX; 64];
    for chunk in chunks {
        // By index, because functions that `zip` calls are not always inlined.
        for lane in 0..64 {
            least[lane] = least[lane].min(chunk[lane]);
        }
    }
    least.iter().any(|&byte| byte < b' ') || rest.iter().any(|&byte| byte < b' ')
}

/// The character of each escape: `u` for a code, 0 for an invalid escape. A table instead of
/// branches, because the next escape cannot be predicted.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 8;
    table[b'f' as usize] = 12;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table[b'u' as usize] = b'u';
    table
};
