//! Rich Text Format 1.9: the control words that affect text.
//!
//! This reader excludes groups, supports code pages per font, and applies limits. The crate
//! rtf-parser does none of this (`contributing/libraries.md`).
//!
//! Excluded, as in other office files: headers, footers, comments, deleted text, field codes,
//! pictures, list numbers. Text boxes follow their paragraph; footnotes follow the whole text.

use crate::date;
use crate::reading::{ExtractError, LimitTracker, TextOutput};
use encoding_rs::{self as encodings, Encoding};
use std::collections::HashMap;

/// Bytes or groups between two time checks.
const STEPS: u32 = 1 << 16;
/// Maximum length of a control word.
const MAX_WORD: usize = 32;
/// Maximum nesting of groups. Programs nest some dozens; each open group takes memory.
const MAX_GROUPS: usize = 10_000;

/// Appends the text of an RTF file.
pub(crate) fn text(bytes: &[u8], output: &mut TextOutput<'_>) -> Result<(), ExtractError> {
    if !bytes.starts_with(b"{\\rtf") {
        return Err(ExtractError::damaged("RTF that does not begin with {\\rtf"));
    }
    let TextOutput { tracker, text: out, fields } = output;
    let mut reader = RtfReader::new(bytes, tracker, out);
    reader.read()?;
    let notes = std::mem::take(&mut reader.notes);
    let box_text = std::mem::take(&mut reader.box_text);
    let [title, author] = std::mem::take(&mut reader.info);
    let date = reader.dates.into_iter().find_map(date::seconds).and_then(date::iso);
    out.push_str(&box_text);
    if !notes.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&notes);
    fields.set("title", &title);
    fields.set("author", &author);
    fields.set("date", &date.unwrap_or_default());
    Ok(())
}

/// The destination of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextTarget {
    Text,
    Nowhere,
    /// `\upr`: the same text twice. Only the nested group `\ud` is read.
    Twice,
    Fonts,
    Info,
    /// Index in [`RtfReader::info`].
    Named(usize),
    /// Index in [`RtfReader::dates`].
    Date(usize),
}

/// Whether a group within text is moved elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GroupKind {
    No,
    Box,
    Note,
}

/// State that is restored at the end of a group.
#[derive(Clone, Copy)]
struct GroupState {
    target: TextTarget,
    piece: GroupKind,
    deleted: bool,
    /// Number of fallback characters after a Unicode character.
    fallback: u32,
    encoding: Option<&'static Encoding>,
}

struct RtfReader<'a> {
    bytes: &'a [u8],
    at: usize,
    tracker: &'a LimitTracker<'a>,
    out: &'a mut String,
    state: GroupState,
    stack: Vec<GroupState>,
    /// Bytes not yet decoded: a character can have two bytes.
    pending: Vec<u8>,
    /// The first half of a character beyond U+FFFF.
    high: Option<u32>,
    /// Fallback characters still to skip.
    left_out: u32,
    /// Whether `\*` marks the group as optional.
    optional: bool,
    code_page: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    /// The font being defined.
    font: i32,
    default_font: i32,
    /// Start of the outermost text box or note, and the number of groups open there.
    piece: Option<(usize, usize)>,
    box_text: String,
    notes: String,
    /// Title and author.
    info: [String; 2],
    /// Date of the last change, and date of creation.
    dates: [[u32; 6]; 2],
}

impl<'a> RtfReader<'a> {
    fn new(bytes: &'a [u8], tracker: &'a LimitTracker<'a>, out: &'a mut String) -> Self {
        let state = GroupState {
            target: TextTarget::Text,
            piece: GroupKind::No,
            deleted: false,
            fallback: 1,
            encoding: None,
        };
        Self {
            bytes,
            at: 0,
            tracker,
            out,
            state,
            stack: Vec::new(),
            pending: Vec::new(),
            high: None,
            left_out: 0,
            optional: false,
            code_page: encodings::WINDOWS_1252,
            fonts: HashMap::new(),
            font: 0,
            default_font: 0,
            piece: None,
            box_text: String::new(),
            notes: String::new(),
            info: [String::new(), String::new()],
            dates: [[0; 6]; 2],
        }
    }

    fn read(&mut self) -> Result<(), ExtractError> {
        let mut steps = 0u32;
        while let Some(&byte) = self.bytes.get(self.at) {
            steps += 1;
            if steps == STEPS {
                steps = 0;
                self.tracker.check_time()?;
            }
            self.at += 1;
            match byte {
                b'{' => {
                    self.flush()?;
                    self.left_out = 0;
                    self.optional = false;
                    if self.stack.len() == MAX_GROUPS {
                        let message = format!("RTF with more than {MAX_GROUPS} groups in a group");
                        return Err(ExtractError::damaged(message));
                    }
                    self.stack.push(self.state);
                    self.state.piece = GroupKind::No;
                }
                b'}' => {
                    self.flush()?;
                    self.left_out = 0;
                    self.optional = false;
                    self.end_piece();
                    match self.stack.pop() {
                        Some(state) if !self.stack.is_empty() => self.state = state,
                        // Data after the outermost group is not part of the document.
                        _ => return Ok(()),
                    }
                }
                b'\\' => self.control()?,
                b'\r' | b'\n' | 0 => {}
                _ => self.byte(byte),
            }
        }
        let open = self.stack.len();
        Err(ExtractError::damaged(format!("RTF that ends too early: {open} groups are open")))
    }

    /// A byte of text.
    fn byte(&mut self, byte: u8) {
        self.optional = false;
        if self.left_out > 0 {
            self.left_out -= 1;
        } else {
            self.pending.push(byte);
        }
    }

    /// A character of text.
    fn char(&mut self, c: char) -> Result<(), ExtractError> {
        if self.left_out > 0 {
            self.left_out -= 1;
            return Ok(());
        }
        self.flush()?;
        self.append(c.encode_utf8(&mut [0; 4]))
    }

    fn flush(&mut self) -> Result<(), ExtractError> {
        if self.high.is_some() && !self.pending.is_empty() {
            self.high = None;
            self.append("\u{fffd}")?;
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let encoding = self.state.encoding.unwrap_or(self.code_page);
        let appended = self.append(&encoding.decode_without_bom_handling(&pending).0);
        // Reuses the buffer.
        self.pending = pending;
        self.pending.clear();
        appended
    }

    fn append(&mut self, text: &str) -> Result<(), ExtractError> {
        match self.state.target {
            TextTarget::Text if !self.state.deleted => {
                self.tracker.charge_bytes(text.len())?;
                self.out.push_str(text);
            }
            TextTarget::Named(field) => {
                self.tracker.charge_bytes(text.len())?;
                self.info[field].push_str(text);
            }
            _ => {}
        }
        Ok(())
    }

    /// Moves the text box or note that ends with this group. Nested ones stay in the outermost one,
    /// so that the time is linear.
    fn end_piece(&mut self) {
        let Some((start, depth)) = self.piece else { return };
        if self.stack.len() != depth {
            return;
        }
        let place =
            if self.state.piece == GroupKind::Note { &mut self.notes } else { &mut self.box_text };
        if start < self.out.len() {
            place.push_str(&self.out[start..]);
            if !place.ends_with('\n') {
                place.push('\n');
            }
            self.out.truncate(start);
        }
        self.piece = None;
    }

    fn begin_piece(&mut self, piece: GroupKind) {
        if self.piece.is_none() {
            self.piece = Some((self.out.len(), self.stack.len()));
            self.state.piece = piece;
        }
    }

    /// Reads a control word or symbol.
    fn control(&mut self) -> Result<(), ExtractError> {
        let Some(&first) = self.bytes.get(self.at) else { return Ok(()) };
        if first.is_ascii_alphabetic() {
            return self.word();
        }
        self.at += 1;
        match first {
            b'\'' => {
                let digits = self.bytes.get(self.at..self.at + 2);
                let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
                let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
                if let Some(byte) = digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
                    self.at += 2;
                    self.byte(byte);
                }
            }
            b'\\' | b'{' | b'}' => self.byte(first),
            b'*' => self.optional = true,
            b'~' => self.char('\u{a0}')?,
            b'_' => self.byte(b'-'),
            b'\r' | b'\n' => self.line()?,
            _ => {}
        }
        Ok(())
    }

    /// Reads a control word, its number, and the blank after it.
    fn word(&mut self) -> Result<(), ExtractError> {
        let rest = &self.bytes[self.at..];
        let letters = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let (word, rest) = rest.split_at(letters);
        let word = std::str::from_utf8(&word[..letters.min(MAX_WORD)]).unwrap_or_default();
        let minus = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[minus..].iter().take_while(|b| b.is_ascii_digit()).count();
        let number = (digits > 0).then(|| {
            let number = rest[minus..minus + digits].iter().fold(0i32, |number, digit| {
                number.saturating_mul(10).saturating_add(i32::from(digit - b'0'))
            });
            if minus == 1 { -number } else { number }
        });
        let used = if digits > 0 { minus + digits } else { 0 };
        let blank = usize::from(rest.get(used) == Some(&b' '));
        self.at += letters + used + blank;
        if word == "bin" {
            let len = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
            self.at = self.at.saturating_add(len).min(self.bytes.len());
            self.left_out = self.left_out.saturating_sub(1);
            return Ok(());
        }
        let optional = std::mem::take(&mut self.optional);
        if word == "u" {
            return self.unicode(number.unwrap_or(0));
        }
        self.flush()?;
        if self.left_out > 0 {
            self.left_out -= 1;
            return Ok(());
        }
        if self.destination(word, optional) {
            return Ok(());
        }
        self.format(word, number);
        self.text_word(word)
    }

    /// `\uN`: a UTF-16 code unit, negative from 0x8000 on, followed by fallback characters.
    fn unicode(&mut self, number: i32) -> Result<(), ExtractError> {
        self.flush()?;
        self.left_out = 0;
        let unit = if number < 0 { number + 0x1_0000 } else { number };
        let unit = u32::try_from(unit).unwrap_or(0xFFFD);
        let high = self.high.take();
        match (high, unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                self.char(char::from_u32(code).unwrap_or('\u{fffd}'))?;
            }
            (_, 0xD800..=0xDBFF) => self.high = Some(unit),
            // Some writers put bytes of symbol fonts here.
            (_, 0xE000..=0xF8FF) => {}
            (_, unit) => self.char(char::from_u32(unit).unwrap_or('\u{fffd}'))?,
        }
        self.left_out = self.state.fallback;
        Ok(())
    }

    fn line(&mut self) -> Result<(), ExtractError> {
        self.char('\n')?;
        if self.piece.is_none()
            && self.state.target == TextTarget::Text
            && !self.box_text.is_empty()
        {
            self.out.push_str(&self.box_text);
            self.box_text.clear();
        }
        Ok(())
    }
}

/// Whether a group has no text of the document.
fn is_skipped_group(word: &str) -> bool {
    matches!(
        word,
        "header" | "headerl" | "headerr" | "headerf" | "footer" | "footerl" | "footerr"
        | "footerf" | "ftnsep" | "ftnsepc" | "ftncn" | "aftnsep" | "aftnsepc" | "aftncn"
        | "annotation" | "xe" | "tc" | "rxe" | "bkmkstart" | "bkmkend" | "pntext" | "listtext"
        | "pntxta" | "pntxtb" | "fldinst" | "pict" | "object" | "nonshppict" | "shprslt" | "sp"
        | "colortbl" | "stylesheet" | "filetbl" | "listtable" | "listoverridetable" | "revtbl"
        | "template" | "private" | "keycode" | "nonesttables" | "themedata" | "falt" | "panose"
            // Fields of the document that are not used.
            | "operator" | "manager" | "company" | "category" | "keywords" | "comment" | "doccomm"
            | "subject" | "hlinkbase"
    )
}

impl RtfReader<'_> {
    /// Whether a word is a destination; sets the target of the group.
    fn destination(&mut self, word: &str, optional: bool) -> bool {
        let state = &mut self.state;
        let target = match word {
            "fonttbl" => TextTarget::Fonts,
            "info" => TextTarget::Info,
            "title" | "author" | "revtim" | "creatim" => match (state.target, word) {
                (TextTarget::Info, "title") => TextTarget::Named(0),
                (TextTarget::Info, "author") => TextTarget::Named(1),
                (TextTarget::Info, "revtim") => TextTarget::Date(0),
                (TextTarget::Info, _) => TextTarget::Date(1),
                _ => return false,
            },
            "upr" => TextTarget::Twice,
            "ud" if state.target == TextTarget::Twice => {
                state.target = TextTarget::Text;
                return true;
            }
            "shptxt" | "footnote" if state.target == TextTarget::Text => {
                self.begin_piece(if word == "footnote" { GroupKind::Note } else { GroupKind::Box });
                return true;
            }
            // Shapes are optional, but contain text boxes.
            "shpinst" => return true,
            word if optional || is_skipped_group(word) => TextTarget::Nowhere,
            _ => return false,
        };
        // A nested destination does not return to the text.
        let free = matches!(state.target, TextTarget::Text | TextTarget::Info);
        state.target = if free { target } else { TextTarget::Nowhere };
        true
    }

    /// Handles words that change how text is decoded, and dates.
    fn format(&mut self, word: &str, number: Option<i32>) {
        let value = number.unwrap_or(0);
        match word {
            "ansicpg" => self.code_page = code_page(value).unwrap_or(self.code_page),
            "mac" => self.code_page = encodings::MACINTOSH,
            "deff" => self.default_font = value,
            "f" if self.state.target == TextTarget::Fonts => self.font = value,
            "f" => self.state.encoding = self.fonts.get(&value).copied(),
            "fcharset" | "cpg" if self.state.target == TextTarget::Fonts => {
                let encoding = if word == "cpg" { code_page(value) } else { charset(value) };
                if let Some(encoding) = encoding {
                    self.fonts.insert(self.font, encoding);
                }
            }
            "plain" => {
                self.state.encoding = self.fonts.get(&self.default_font).copied();
                self.state.deleted = false;
            }
            "deleted" => self.state.deleted = number != Some(0),
            "uc" => self.state.fallback = u32::try_from(value).unwrap_or(0).min(100),
            "yr" | "mo" | "dy" | "hr" | "min" | "sec" => {
                let names = ["yr", "mo", "dy", "hr", "min", "sec"];
                if let (TextTarget::Date(field), Some(place)) =
                    (self.state.target, names.iter().position(|name| *name == word))
                {
                    self.dates[field][place] = u32::try_from(value).unwrap_or(u32::MAX);
                }
            }
            _ => {}
        }
    }

    /// Handles words that represent characters.
    fn text_word(&mut self, word: &str) -> Result<(), ExtractError> {
        let c = match word {
            "par" | "line" | "sect" | "page" | "column" | "softline" => return self.line(),
            "row" | "nestrow" => {
                let start = self.piece.map_or(0, |(start, _)| start);
                let is_text = self.state.target == TextTarget::Text && !self.state.deleted;
                if is_text && self.out.len() > start && self.out.ends_with('\t') {
                    self.out.pop();
                }
                return self.line();
            }
            "tab" | "cell" | "nestcell" => '\t',
            "emdash" => '—',
            "endash" => '–',
            "lquote" => '‘',
            "rquote" => '’',
            "ldblquote" => '“',
            "rdblquote" => '”',
            "bullet" => '•',
            "emspace" | "enspace" | "qmspace" => ' ',
            _ => return Ok(()),
        };
        self.char(c)
    }
}

fn code_page(number: i32) -> Option<&'static Encoding> {
    Some(match number {
        866 => encodings::IBM866,
        932 => encodings::SHIFT_JIS,
        936 => encodings::GBK,
        949 => encodings::EUC_KR,
        950 => encodings::BIG5,
        10000 => encodings::MACINTOSH,
        65001 => encodings::UTF_8,
        874 | 1250..=1258 => return Encoding::for_label(format!("windows-{number}").as_bytes()),
        _ => return None,
    })
}

/// The encoding of a font character set; `None` for the code page of the file.
fn charset(number: i32) -> Option<&'static Encoding> {
    code_page(match number {
        77 => 10000,
        128 => 932,
        129 | 130 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
