//! Lower-casing of text, and the classes of characters. Everything here follows the Unicode tables
//! of [`UNICODE_VERSION`], which are frozen with the signatures: neither the compiler nor the
//! system changes a result. Text is not normalized: `é` as one code point and as two are different
//! words.
//!
//! The class of a character is decided by its properties:
//!
//! | character | class |
//! |---|---|
//! | not a letter, mark or number (general categories L, M, N) | [`CharClass::Separator`] |
//! | decimal digit (Nd) of any script, so that a number stays one word | [`CharClass::Word`] |
//! | letter, mark or other number of a script written without spaces | [`CharClass::Unspaced`] |
//! | all others | [`CharClass::Word`] |
//!
//! The scripts written without spaces are those whose letters Unicode's line breaking (UAX #14)
//! separates without a space, except Hangul:
//!
//! * the ideographic scripts (Han, Hiragana, Katakana, Bopomofo, Yi, Tangut, Nushu),
//! * the scripts of complex context (Thai, Lao, Khmer, Myanmar, Ahom, Tai Le, New Tai Lue, Tai
//!   Tham, Tai Viet),
//! * the scripts broken at syllables (Balinese, Batak, Brahmi, Cham, Dives Akuru, Grantha, Gurung
//!   Khema, Javanese, Kawi, Makasar, Tulu-Tigalari).
//!
//! A sign that several scripts share is unspaced if all these scripts are unspaced. For example,
//! the long-vowel mark U+30FC and the voicing marks U+3099 and U+FF9E are words by themselves, like
//! the kana they follow. A mark of every script (U+0301, a variation selector) is a word character.
//! After an unspaced character, it begins a word.

use crate::params::TokenRule;
use crate::unicode_table as table;
use std::ops::Range;

/// The version of Unicode of this module: major, minor, update.
pub const UNICODE_VERSION: (u8, u8, u8) = table::UNICODE_VERSION;

/// The role of a character in the division of text into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CharClass {
    /// Ends a word and belongs to none.
    Separator,
    /// Continues or begins a word.
    Word,
    /// A word by itself: a character of a script written without spaces.
    Unspaced,
}

/// The class of `c`. A character and its lower case have the same class. Takes O(1) time.
///
/// ```
/// use lookalike_core::text::{CharClass, class};
/// assert_eq!(class('é'), CharClass::Word);
/// assert_eq!(class('語'), CharClass::Unspaced);
/// assert_eq!(class('…'), CharClass::Separator);
/// ```
#[inline]
pub fn class(c: char) -> CharClass {
    class_by_flags(flags(c), TokenRule::Words)
}

/// Returns true if lower-casing changes `c`. O(1).
#[inline]
pub(crate) fn lowers(c: char) -> bool {
    flags(c) & table::LOWERS != 0
}

/// Returns true if `c` is white space: Unicode's `White_Space`, and U+001C to U+001F, as in
/// Python's `str.split`. O(1).
#[inline]
pub fn is_white_space(c: char) -> bool {
    flags(c) & table::WHITE_SPACE != 0
}

/// Lower-cases all of `text` by the rules of Unicode: one character may become two, and a capital
/// sigma at the end of a word becomes `ς`. Equals `str::to_lowercase` of a standard library with
/// [`UNICODE_VERSION`]. O(length).
///
/// ```
/// assert_eq!(lookalike_core::text::lower_case("ΌΔΟΣ İ"), "όδος i\u{307}");
/// ```
pub fn lower_case(text: &str) -> String {
    let mut buffer = String::new();
    if fold_into(text, &mut buffer) { buffer } else { text.to_ascii_lowercase() }
}

/// Lower-cases non-ASCII text, for a caller that folds ASCII itself. Returns `text` unchanged if no
/// non-ASCII character changes. Otherwise returns [`lower_case`] of the whole text, written to
/// `buffer`, whose former content is lost. O(length).
pub fn fold_case<'a>(text: &'a str, buffer: &'a mut String) -> &'a str {
    if fold_into(text, buffer) { buffer } else { text }
}

/// Writes the lower case of `text` to `buffer` if a non-ASCII character changes, and returns
/// whether it does.
fn fold_into(text: &str, buffer: &mut String) -> bool {
    let bytes = text.as_bytes();
    let Some(mut change) = first_change(bytes, 0) else {
        return false;
    };
    buffer.clear();
    buffer.reserve(text.len());
    let mut copied = 0;
    loop {
        buffer.push_str(&text[copied..change.start]);
        match change.code_point {
            CAPITAL_SIGMA if ends_word(text, change.start, change.end) => buffer.push('ς'),
            CAPITAL_I_WITH_DOT => buffer.push_str("i\u{307}"),
            code_point => buffer.push(lower(code_point)),
        }
        copied = change.end;
        match first_change(bytes, copied) {
            Some(next) => change = next,
            None => break,
        }
    }
    buffer.push_str(&text[copied..]);
    // Lower-casing produces no upper case, so only the ASCII letters remain.
    buffer.make_ascii_lowercase();
    true
}

/// Returns the lower case of the first character of a text if it has the same number of bytes in
/// UTF-8 and does not depend on the characters around it. `None` for an empty text.
pub(crate) fn lower_of_same_length(text: &str) -> Option<char> {
    let c = text.chars().next()?;
    let lower = lower(u32::from(c));
    let is_special = matches!(u32::from(c), CAPITAL_SIGMA | CAPITAL_I_WITH_DOT);
    (!is_special && lower.len_utf8() == c.len_utf8()).then_some(lower)
}

/// Replaces the content of `out` with `text`, with a single blank for every run of white space
/// ([`is_white_space`]) and none at the ends. O(length).
///
/// ```
/// let mut out = String::new();
/// lookalike_core::text::collapse_white_space(" a\t\n b ", &mut out);
/// assert_eq!(out, "a b");
/// ```
pub fn collapse_white_space(text: &str, out: &mut String) {
    let mut bytes = std::mem::take(out).into_bytes();
    bytes.resize(text.len(), 0);
    // `after_blank` is true after a blank and at the start, where another blank is dropped.
    let mut length = 0;
    let mut after_blank = true;
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.bytes().position(|byte| byte >= 0x80).unwrap_or(rest.len());
        let (ascii, after) = rest.split_at(run);
        length += collapse_ascii(ascii.as_bytes(), &mut bytes[length..], &mut after_blank);
        let mut chars = after.chars();
        if let Some(c) = chars.next() {
            let blank = is_white_space(c);
            let character = &after.as_bytes()[..c.len_utf8()];
            let written = if blank { b" ".as_slice() } else { character };
            bytes[length..length + written.len()].copy_from_slice(written);
            length += if blank && after_blank { 0 } else { written.len() };
            after_blank = blank;
        }
        rest = chars.as_str();
    }
    bytes.truncate(length - usize::from(length > 0 && after_blank));
    // Only whole characters were copied, so the bytes are valid UTF-8.
    *out = String::from_utf8(bytes).unwrap_or_default();
}

/// [`collapse_white_space`] for ASCII, without a branch on the bytes. Returns the written length.
fn collapse_ascii(text: &[u8], out: &mut [u8], after_blank: &mut bool) -> usize {
    let mut length = 0;
    let mut after = *after_blank;
    for &byte in text {
        let blank = matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ');
        out[length] = if blank { b' ' } else { byte };
        length += usize::from(!(blank & after));
        after = blank;
    }
    *after_blank = after;
    length
}

/// The role of a character under a token rule: [`CharClass::Unspaced`] is a word by itself. O(1).
#[inline]
pub(crate) fn class_by(c: char, rule: TokenRule) -> CharClass {
    match rule {
        TokenRule::Words | TokenRule::WordRuns if c.is_ascii() => {
            if c.is_ascii_alphanumeric() {
                CharClass::Word
            } else {
                CharClass::Separator
            }
        }
        _ => class_by_flags(flags(c), rule),
    }
}

/// Like [`class_by`], for the flags of a character.
#[inline]
fn class_by_flags(flags: u8, rule: TokenRule) -> CharClass {
    let is_separator = match rule {
        TokenRule::Words | TokenRule::WordRuns => flags & table::CLASS == 0,
        TokenRule::Whitespace => flags & table::WHITE_SPACE != 0,
    };
    if is_separator {
        CharClass::Separator
    } else if rule == TokenRule::Words && flags & table::CLASS == 2 {
        CharClass::Unspaced
    } else {
        CharClass::Word
    }
}

/// The flags of the non-ASCII character at `at` in the bytes of a `str`, see
/// [`unicode_table`](crate::unicode_table). O(1).
#[inline]
pub(crate) fn flags_at(bytes: &[u8], at: usize) -> u8 {
    flags_of(decode(bytes, at).0)
}

/// The words of a text in order, as byte ranges. Their number equals the number of
/// [tokens](crate::shingle::Shingler::tokens) under a rule of words without stop words, with or
/// without case folding. O(length).
///
/// ```
/// use lookalike_core::params::TokenRule;
/// use lookalike_core::text::word_ranges;
///
/// let text = "Über 語学 …";
/// let words: Vec<&str> = word_ranges(text, TokenRule::Words).map(|word| &text[word]).collect();
/// assert_eq!(words, ["Über", "語", "学"]);
/// ```
pub fn word_ranges(text: &str, rule: TokenRule) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let of_ascii = ascii_classes(rule);
    let mut at = 0;
    // The class of the character at an index, and the index of the next one.
    let character = move |at: usize| match bytes.get(at) {
        None => None,
        Some(byte) if byte.is_ascii() => Some((of_ascii[usize::from(*byte)], at + 1)),
        Some(_) => {
            let c = text[at..].chars().next()?;
            Some((class_by(c, rule), at + c.len_utf8()))
        }
    };
    std::iter::from_fn(move || {
        loop {
            let start = at;
            let (class, mut end) = character(start)?;
            if class == CharClass::Word {
                while let Some((CharClass::Word, next)) = character(end) {
                    end = next;
                }
            }
            at = end;
            if class != CharClass::Separator {
                return Some(start..end);
            }
        }
    })
}

/// The classes of the characters of ASCII.
fn ascii_classes(rule: TokenRule) -> &'static [CharClass; 128] {
    const fn classes(by_white_space: bool) -> [CharClass; 128] {
        let mut classes = [CharClass::Separator; 128];
        let mut byte = 0;
        while byte < 128 {
            let is_word = if by_white_space {
                !matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ')
            } else {
                byte.is_ascii_alphanumeric()
            };
            if is_word {
                classes[byte as usize] = CharClass::Word;
            }
            byte += 1;
        }
        classes
    }
    static OF_WORDS: [CharClass; 128] = classes(false);
    static OF_WHITE_SPACE: [CharClass; 128] = classes(true);
    match rule {
        TokenRule::Words | TokenRule::WordRuns => &OF_WORDS,
        TokenRule::Whitespace => &OF_WHITE_SPACE,
    }
}

const CAPITAL_SIGMA: u32 = 0x03a3;
/// The only character whose lower case has several characters; the generator of the tables checks
/// this.
const CAPITAL_I_WITH_DOT: u32 = 0x0130;

/// A character that lower-casing changes, at `start..end` of the text.
struct CaseChange {
    code_point: u32,
    start: usize,
    end: usize,
}

/// The first non-ASCII character at or after `from` that lower-casing changes.
#[inline]
fn first_change(bytes: &[u8], from: usize) -> Option<CaseChange> {
    let mut at = from;
    loop {
        at = skip_ascii(bytes, at);
        // Non-ASCII text usually comes in runs, so testing eight bytes at a time does not pay here.
        while let Some(&byte) = bytes.get(at) {
            if byte < 0x80 {
                at += 1;
                if bytes.get(at).is_some_and(|next| *next < 0x80) {
                    break;
                }
                continue;
            }
            let (code_point, end) = decode(bytes, at);
            if flags_of(code_point) & table::LOWERS != 0 {
                return Some(CaseChange { code_point, start: at, end });
            }
            at = end;
        }
        if at >= bytes.len() {
            return None;
        }
    }
}

/// The first index at or after `from` whose byte is not ASCII, or the length.
#[inline]
fn skip_ascii(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    // A fold without branches, which the compiler turns into a few vector instructions.
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>)
        && chunk.iter().fold(0, |all, byte| all | byte) < 0x80
    {
        at += 64;
    }
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let high = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        if high != 0 {
            return at + high.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(u8::is_ascii) {
        at += 1;
    }
    at
}

/// The code point at `at` in the bytes of a `str`, and the index of the next one.
#[inline]
fn decode(bytes: &[u8], at: usize) -> (u32, usize) {
    let rest = &bytes[at..];
    let four = rest.first_chunk::<4>().copied().unwrap_or_else(|| {
        let mut four = [0; 4];
        four[..rest.len()].copy_from_slice(rest);
        four
    });
    // Shifts one word, because a load for each byte takes longer.
    let word = u32::from_le_bytes(four);
    let second = word >> 8 & 0x3f;
    let third = word >> 16 & 0x3f;
    match word & 0xff {
        lead @ 0..0x80 => (lead, at + 1),
        lead @ 0x80..0xe0 => ((lead & 0x1f) << 6 | second, at + 2),
        lead @ 0xe0..0xf0 => ((lead & 0xf) << 12 | second << 6 | third, at + 3),
        lead => ((lead & 7) << 18 | second << 12 | third << 6 | word >> 24 & 0x3f, at + 4),
    }
}

/// The table index of a code point up to U+10FFFF.
#[inline]
const fn record(code_point: u32) -> usize {
    let block = table::BLOCK_OF[(code_point >> table::BLOCK_BITS) as usize];
    let place = code_point as usize & (table::BLOCK_SIZE - 1);
    table::BLOCKS[block as usize][place] as usize
}

/// The lower case of a code point if it is a single code point, otherwise the code point itself.
#[inline]
fn lower(code_point: u32) -> char {
    let lower = code_point.wrapping_add_signed(table::DELTAS[record(code_point)]);
    char::from_u32(lower).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Unicode's condition `Final_Sigma` for the sigma at `start..end`: a cased character precedes it
/// and none follows it. Case-ignorable characters between them are skipped.
fn ends_word(text: &str, start: usize, end: usize) -> bool {
    let cased = |c: Option<char>| c.is_some_and(|c| flags(c) & table::CASED != 0);
    let counts = |c: &char| flags(*c) & table::CASE_IGNORABLE == 0;
    cased(text[..start].chars().rev().find(counts)) && !cased(text[end..].chars().find(counts))
}

#[inline]
fn flags(c: char) -> u8 {
    flags_of(u32::from(c))
}

/// The flags of each code point up to U+FFFF, so that a look-up is one load.
static PLANE_FLAGS: [u8; 1 << 16] = {
    let mut flags = [0; 1 << 16];
    let mut code_point = 0;
    while code_point < flags.len() {
        flags[code_point] = table::FLAGS[record(code_point as u32)];
        code_point += 1;
    }
    flags
};

/// Number of code points whose UTF-8 differs in the last byte only.
pub(crate) const PAGE: usize = 64;

/// The flags of the 64 code points of a page, which starts at `page · 64`, up to U+FFFF.
#[inline]
pub(crate) fn page_flags(page: usize) -> &'static [u8; PAGE] {
    let (pages, _) = PLANE_FLAGS.as_chunks();
    &pages[page & (pages.len() - 1)]
}

/// The flags of each of `RANGES` equal ranges up to U+FFFF, if all characters of the range have the
/// same flags. Most ranges of ideographs and Hangul syllables are uniform.
const fn uniform_flags<const RANGES: usize>() -> [Option<u8>; RANGES] {
    let mut uniform = [None; RANGES];
    let size = PLANE_FLAGS.len() / RANGES;
    let mut code_point = 0;
    while code_point < PLANE_FLAGS.len() {
        let flags = PLANE_FLAGS[code_point];
        let range = &mut uniform[code_point / size];
        *range = match *range {
            Some(other) if other == flags => Some(flags),
            _ if code_point % size == 0 => Some(flags),
            _ => None,
        };
        code_point += 1;
    }
    uniform
}

/// The flags of the characters of three bytes with this first byte, if all these flags are equal.
#[inline]
pub(crate) fn flags_of_first(first: u8) -> Option<u8> {
    static FLAGS: [Option<u8>; 16] = uniform_flags();
    FLAGS[usize::from(first & 0xf)]
}

/// The flags of the characters of three bytes with this first byte and these top bits
/// ([`SECOND_BITS`]) of the second byte, if all these flags are equal.
#[inline]
pub(crate) fn flags_of_second(first: u8, second: u8) -> Option<u8> {
    static FLAGS: [Option<u8>; 128] = uniform_flags();
    FLAGS[usize::from(first & 0xf) << 3 | usize::from(second >> 3 & 7)]
}

/// The bits of a second byte for [`flags_of_second`].
pub(crate) const SECOND_BITS: u8 = 0xf8;

#[inline]
fn flags_of(code_point: u32) -> u8 {
    match PLANE_FLAGS.get(code_point as usize) {
        Some(flags) => *flags,
        None => table::FLAGS[record(code_point)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns true if the standard library has the Unicode version of the tables. Otherwise prints
    /// that a test is skipped.
    fn std_agrees() -> bool {
        let agrees = char::UNICODE_VERSION == UNICODE_VERSION;
        if !agrees {
            let standard = char::UNICODE_VERSION;
            lookalike_test_support::print_skipped(&format!(
                "the standard library has Unicode {standard:?}, the tables {UNICODE_VERSION:?}"
            ));
        }
        agrees
    }

    fn folded(text: &str) -> String {
        fold_case(text, &mut String::from("left over")).to_ascii_lowercase()
    }

    fn collapsed(text: &str) -> String {
        let mut out = String::from("left over");
        collapse_white_space(text, &mut out);
        out
    }

    #[test]
    fn characters_lowercase_as_in_std() {
        if !std_agrees() {
            return;
        }
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            assert_eq!(lower_case(&text), text.to_lowercase(), "U+{:04X}", u32::from(c));
            assert_eq!(folded(&text), text.to_lowercase(), "U+{:04X}", u32::from(c));
            let white = c.is_whitespace() || ('\x1c'..='\x1f').contains(&c);
            assert_eq!(is_white_space(c), white, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn sigma_context_matches_std() {
        if !std_agrees() {
            return;
        }
        for c in '\0'..=char::MAX {
            for text in [format!("{c}Σ"), format!("a{c}Σ"), format!("aΣ{c}"), format!("aΣ{c}a")]
            {
                assert_eq!(lower_case(&text), text.to_lowercase(), "U+{:04X}", u32::from(c));
            }
        }
    }

    #[test]
    fn lower_casing_keeps_the_class() {
        for c in '\0'..=char::MAX {
            for lower in lower_case(&c.to_string()).chars() {
                assert_eq!(class(c), class(lower), "U+{:04X}", u32::from(c));
            }
        }
    }

    #[test]
    fn classes_by_category_and_script() {
        let all = |text: &str, expected: CharClass| {
            for c in text.chars() {
                assert_eq!(class(c), expected, "U+{:04X}", u32::from(c));
            }
        };
        all("aZ0éßЖ٣४π한ㄱ\u{301}\u{fe0f}½²Ⅷ๓៣༣ªｚ", CharClass::Word);
        all("語々〆ひカｶーｰ\u{3099}ﾞㄅกา่", CharClass::Unspaced);
        all("กำລາខ្មကြꦏᥐꪀꀀ𗀀𠀀〇〸", CharClass::Unspaced);
        all(" \t\n-_.,'’“。、·€+🙂\u{200d}\u{ad}\u{fffd}\u{10ffff}", CharClass::Separator);
    }

    #[test]
    fn text_without_unicode_changes_is_borrowed() {
        for text in ["", "Hello WORLD", "straße ΐ ﬁ 語 \u{10ffff}", "ASCII first and then é"]
        {
            let mut buffer = String::from("untouched");
            assert_eq!(fold_case(text, &mut buffer).as_ptr(), text.as_ptr());
            assert_eq!(buffer, "untouched");
        }
        let mut buffer = String::new();
        assert_eq!(fold_case("Hello ÉCOLE World", &mut buffer), "hello école world");
    }

    #[test]
    fn final_sigma_depends_on_context() {
        assert_eq!(lower_case("ΟΔΟΣ ΣΑΣ Σ Α.Σ. Α.ΣΑ ΑΣ'"), "οδος σας σ α.ς. α.σα ας'");
        assert_eq!(lower_case("ΣΣΣ"), "σσς");
        assert_eq!(lower_case("A\u{301}\u{301}Σ\u{301}"), "a\u{301}\u{301}ς\u{301}");
    }

    #[test]
    fn white_space_collapses() {
        for (text, expected) in [
            ("", ""),
            (" \u{3000}\t", ""),
            ("a", "a"),
            ("a b", "a b"),
            ("a  b c", "a b c"),
            ("a\u{a0}b\u{2003} c", "a b c"),
            ("\u{1c}é\u{85}\u{1f}語 ", "é 語"),
            ("a\u{200b}b", "a\u{200b}b"),
        ] {
            assert_eq!(collapsed(text), expected);
        }
    }

    /// Texts of characters with special rules: cased, ignorable, neither, long, growing, shrinking,
    /// ASCII.
    fn texts() -> impl Strategy<Value = String> {
        let odd = "aZ Σσς\u{301}\u{307}'’.:·\u{ad}İIıKÅẞßȺⱥǅᏣꭰ𐐀𝐀Ж語ー  \t\u{a0}\u{2003}\u{1c}";
        let odd = prop::sample::select(odd.chars().collect::<Vec<_>>());
        let one = prop_oneof![4 => odd, 1 => any::<char>()];
        prop::collection::vec(one, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn words_follow_character_classes(
            text in "([aZ9_ \\t\\x1c\\x7f\u{85}\u{a0}éİΣ漢字ก\u{301}—]|\\PC){0,40}",
        ) {
            for rule in [TokenRule::Words, TokenRule::WordRuns, TokenRule::Whitespace] {
                let mut expected: Vec<Range<usize>> = Vec::new();
                let mut before = CharClass::Separator;
                for (at, c) in text.char_indices() {
                    let class = class_by(c, rule);
                    match (class, expected.last_mut()) {
                        (CharClass::Separator, _) => {}
                        (CharClass::Word, Some(word)) if before == CharClass::Word => {
                            word.end = at + c.len_utf8();
                        }
                        _ => expected.push(at..at + c.len_utf8()),
                    }
                    before = class;
                }
                prop_assert_eq!(word_ranges(&text, rule).collect::<Vec<_>>(), expected);
            }
        }

        #[test]
        fn texts_lowercase_as_in_std(text in texts()) {
            if char::UNICODE_VERSION == UNICODE_VERSION {
                prop_assert_eq!(lower_case(&text), text.to_lowercase());
                prop_assert_eq!(folded(&text), text.to_lowercase());
            }
        }

        #[test]
        fn collapsing_is_splitting_and_joining(text in texts()) {
            let words: Vec<&str> =
                text.split(is_white_space).filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(collapsed(&text), words.join(" "));
        }
    }
}
