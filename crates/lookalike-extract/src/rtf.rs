//! Rich Text Format 1.9, of its control words those that matter for text.
//!
//! Left out as in other office files: headers, footers, comments, deleted text, field codes,
//! pictures, numbers of lists. Text boxes follow their paragraph, footnotes the whole text.

use crate::date;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use encoding_rs::{self as encodings, Encoding};
use std::collections::HashMap;

/// Steps between two looks at the clock.
const STEPS: u32 = 1 << 16;
/// Bytes of a name that are compared; there is no longer one.
const MAX_WORD: usize = 32;
/// Groups within one another. Writers nest some dozens; each takes memory until it ends.
const MAX_GROUPS: usize = 10_000;

/// The text of an RTF file.
pub(crate) fn text(
    bytes: &[u8],
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
) -> Result<(), Failure> {
    if !bytes.starts_with(b"{\\rtf") {
        return Err(Failure::damaged("RTF that does not begin with {\\rtf"));
    }
    let mut reader = Reader::new(bytes, job, out);
    reader.read()?;
    let notes = std::mem::take(&mut reader.notes);
    let aside = std::mem::take(&mut reader.aside);
    let [title, author] = std::mem::take(&mut reader.info);
    let date = reader.dates.into_iter().find_map(date::seconds).and_then(date::iso);
    out.push_str(&aside);
    if !notes.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&notes);
    fields.set("title", &title);
    fields.set("author", &author);
    fields.set("date", &date.unwrap_or_default());
    Ok(())
}

/// Where text goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Text,
    Nowhere,
    /// The same text twice; what counts is a group in it.
    Twice,
    Fonts,
    Info,
    /// Places in [`Reader::info`].
    Named(usize),
    /// Places in [`Reader::dates`].
    Date(usize),
}

/// What a group is, when it stands within text but is not part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    No,
    Box,
    Note,
}

/// What ends with a group.
#[derive(Clone, Copy)]
struct State {
    target: Target,
    piece: Piece,
    deleted: bool,
    /// Characters that stand behind one in Unicode, for programs that do not know it.
    fallback: u32,
    encoding: Option<&'static Encoding>,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    job: &'a Job<'a>,
    out: &'a mut String,
    state: State,
    stack: Vec<State>,
    /// Bytes that have not been decoded yet: a character can have two.
    pending: Vec<u8>,
    /// The first half of a character beyond U+FFFF.
    high: Option<u32>,
    /// How many characters are still to be left out.
    left_out: u32,
    /// Whether the group may be left out by programs that do not know its name.
    optional: bool,
    code_page: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    /// The font that is being described, or that texts begin with.
    font: i32,
    default_font: i32,
    /// Where the outermost piece began, and how many groups were open then.
    piece: Option<(usize, usize)>,
    aside: String,
    notes: String,
    /// Title and author.
    info: [String; 2],
    /// When changed, when made.
    dates: [[u32; 6]; 2],
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], job: &'a Job<'a>, out: &'a mut String) -> Self {
        let state = State {
            target: Target::Text,
            piece: Piece::No,
            deleted: false,
            fallback: 1,
            encoding: None,
        };
        Self {
            bytes,
            at: 0,
            job,
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
            aside: String::new(),
            notes: String::new(),
            info: [String::new(), String::new()],
            dates: [[0; 6]; 2],
        }
    }

    fn read(&mut self) -> Result<(), Failure> {
        let mut steps = 0u32;
        while let Some(&byte) = self.bytes.get(self.at) {
            steps += 1;
            if steps == STEPS {
                steps = 0;
                self.job.in_time()?;
            }
            self.at += 1;
            match byte {
                b'{' => {
                    self.flush()?;
                    self.left_out = 0;
                    self.optional = false;
                    if self.stack.len() == MAX_GROUPS {
                        let what = format!("RTF with more than {MAX_GROUPS} groups in a group");
                        return Err(Failure::damaged(what));
                    }
                    self.stack.push(self.state);
                    self.state.piece = Piece::No;
                }
                b'}' => {
                    self.flush()?;
                    self.left_out = 0;
                    self.optional = false;
                    self.end_piece();
                    match self.stack.pop() {
                        Some(state) if !self.stack.is_empty() => self.state = state,
                        // What stands behind the outermost group is none of the file's.
                        _ => return Ok(()),
                    }
                }
                b'\\' => self.control()?,
                b'\r' | b'\n' | 0 => {}
                _ => self.byte(byte),
            }
        }
        let open = self.stack.len();
        Err(Failure::damaged(format!("RTF that ends too early: {open} groups are open")))
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
    fn char(&mut self, c: char) -> Result<(), Failure> {
        if self.left_out > 0 {
            self.left_out -= 1;
            return Ok(());
        }
        self.flush()?;
        self.give(c.encode_utf8(&mut [0; 4]))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if self.high.is_some() && !self.pending.is_empty() {
            self.high = None;
            self.give("\u{fffd}")?;
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let encoding = self.state.encoding.unwrap_or(self.code_page);
        let given = self.give(&encoding.decode_without_bom_handling(&pending).0);
        // Its room is used again.
        self.pending = pending;
        self.pending.clear();
        given
    }

    fn give(&mut self, text: &str) -> Result<(), Failure> {
        match self.state.target {
            Target::Text if !self.state.deleted => {
                self.job.expand(text.len())?;
                self.out.push_str(text);
            }
            Target::Named(which) => {
                self.job.expand(text.len())?;
                self.info[which].push_str(text);
            }
            _ => {}
        }
        Ok(())
    }

    /// The piece that began with the group that ends here goes to its place. One within another
    /// stays in it, so that this is linear.
    fn end_piece(&mut self) {
        let Some((start, depth)) = self.piece else { return };
        if self.stack.len() != depth {
            return;
        }
        let place = if self.state.piece == Piece::Note { &mut self.notes } else { &mut self.aside };
        if start < self.out.len() {
            place.push_str(&self.out[start..]);
            if !place.ends_with('\n') {
                place.push('\n');
            }
            self.out.truncate(start);
        }
        self.piece = None;
    }

    fn begin_piece(&mut self, piece: Piece) {
        if self.piece.is_none() {
            self.piece = Some((self.out.len(), self.stack.len()));
            self.state.piece = piece;
        }
    }

    /// What follows a backslash.
    fn control(&mut self) -> Result<(), Failure> {
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

    /// A control word, its number, and the blank behind it.
    fn word(&mut self) -> Result<(), Failure> {
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
        self.spoken(word)
    }

    /// `\uN`: a unit of UTF-16, below zero from 0x8000 on. Behind it stands what other programs
    /// show.
    fn unicode(&mut self, number: i32) -> Result<(), Failure> {
        self.flush()?;
        // In what is left out it counts as any other character.
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

    fn line(&mut self) -> Result<(), Failure> {
        self.char('\n')?;
        if self.piece.is_none() && self.state.target == Target::Text && !self.aside.is_empty() {
            self.out.push_str(&self.aside);
            self.aside.clear();
        }
        Ok(())
    }
}

/// Names of groups without text of the document.
fn is_apart(word: &str) -> bool {
    matches!(
        word,
        "colortbl"
            | "stylesheet"
            | "filetbl"
            | "listtable"
            | "listoverridetable"
            | "revtbl"
            | "pict"
            | "object"
            | "nonshppict"
            | "shprslt"
            | "sp"
            | "fldinst"
            | "header"
            | "headerl"
            | "headerr"
            | "headerf"
            | "footer"
            | "footerl"
            | "footerr"
            | "footerf"
            | "ftnsep"
            | "ftnsepc"
            | "ftncn"
            | "aftnsep"
            | "aftnsepc"
            | "aftncn"
            | "annotation"
            | "xe"
            | "tc"
            | "rxe"
            | "bkmkstart"
            | "bkmkend"
            | "pntext"
            | "listtext"
            | "pntxta"
            | "pntxtb"
            | "template"
            | "private"
            | "keycode"
            | "nonesttables"
            | "themedata"
            | "operator"
            | "manager"
            | "company"
            | "category"
            | "keywords"
            | "comment"
            | "doccomm"
            | "hlinkbase"
            | "subject"
            | "falt"
            | "panose"
    )
}

impl Reader<'_> {
    /// Whether a word begins a group of its own, which then goes elsewhere.
    fn destination(&mut self, word: &str, optional: bool) -> bool {
        let state = &mut self.state;
        let target = match word {
            "fonttbl" => Target::Fonts,
            "info" => Target::Info,
            "title" | "author" | "revtim" | "creatim" => match (state.target, word) {
                (Target::Info, "title") => Target::Named(0),
                (Target::Info, "author") => Target::Named(1),
                (Target::Info, "revtim") => Target::Date(0),
                (Target::Info, _) => Target::Date(1),
                _ => return false,
            },
            "upr" => Target::Twice,
            "ud" if state.target == Target::Twice => {
                state.target = Target::Text;
                return true;
            }
            "shptxt" | "footnote" if state.target == Target::Text => {
                self.begin_piece(if word == "footnote" { Piece::Note } else { Piece::Box });
                return true;
            }
            // Shapes are optional, and hold text boxes.
            "shpinst" => return true,
            word if optional || is_apart(word) => Target::Nowhere,
            _ => return false,
        };
        // Nothing leads back into the text.
        let free = matches!(state.target, Target::Text | Target::Info);
        state.target = if free { target } else { Target::Nowhere };
        true
    }

    /// Code pages, fonts, and what else changes how text is read.
    fn format(&mut self, word: &str, number: Option<i32>) {
        let value = number.unwrap_or(0);
        match word {
            "ansicpg" => self.code_page = code_page(value).unwrap_or(self.code_page),
            "mac" => self.code_page = encodings::MACINTOSH,
            "deff" => self.default_font = value,
            "f" if self.state.target == Target::Fonts => self.font = value,
            "f" => self.state.encoding = self.fonts.get(&value).copied(),
            "fcharset" | "cpg" if self.state.target == Target::Fonts => {
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
                if let (Target::Date(which), Some(place)) =
                    (self.state.target, names.iter().position(|name| *name == word))
                {
                    self.dates[which][place] = u32::try_from(value).unwrap_or(u32::MAX);
                }
            }
            _ => {}
        }
    }

    /// Words that stand for text.
    fn spoken(&mut self, word: &str) -> Result<(), Failure> {
        let c = match word {
            "par" | "line" | "sect" | "page" | "column" | "softline" => return self.line(),
            "row" | "nestrow" => {
                let start = self.piece.map_or(0, |(start, _)| start);
                let is_text = self.state.target == Target::Text && !self.state.deleted;
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
        874 => encodings::WINDOWS_874,
        932 => encodings::SHIFT_JIS,
        936 => encodings::GBK,
        949 => encodings::EUC_KR,
        950 => encodings::BIG5,
        1250 => encodings::WINDOWS_1250,
        1251 => encodings::WINDOWS_1251,
        1252 => encodings::WINDOWS_1252,
        1253 => encodings::WINDOWS_1253,
        1254 => encodings::WINDOWS_1254,
        1255 => encodings::WINDOWS_1255,
        1256 => encodings::WINDOWS_1256,
        1257 => encodings::WINDOWS_1257,
        1258 => encodings::WINDOWS_1258,
        10000 => encodings::MACINTOSH,
        65001 => encodings::UTF_8,
        _ => return None,
    })
}

/// Of a font; `None` where it is that of the file.
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
