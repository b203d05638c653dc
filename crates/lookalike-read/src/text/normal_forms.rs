//! The normal forms `fold` and `unaccent`, which unify spellings that readers take for the same
//! word. `docs/reference/normalize.md` specifies both; its version 1 is frozen, and
//! `fixtures/normalize_v1.txt` contains known answers.
//!
//! `icu_normalizer` implements the forms of Unicode; the mappings are specific to this program. No
//! crate has been compared (November 2026).

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use lookalike_core::text;
use std::sync::OnceLock;

/// The script of the letter to which a mark belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Latin,
    Greek,
    Other,
}

/// Writes the folded form of `text` to `out`, whose former content is lost. With `unaccent`, also
/// removes the marks of Latin letters. ASCII is unchanged. Takes O(length) time.
pub(crate) fn fold_into(text: &str, unaccent: bool, out: &mut String) {
    let keeps = |c: char| c.is_ascii() || is_syllable(c) || is_stable(c, unaccent);
    if text.chars().all(keeps) && ComposingNormalizerBorrowed::new_nfc().is_normalized(text) {
        // Decomposition and composition cancel out for these characters.
        out.clear();
        finish(text, out);
    } else {
        fold_characters(text, unaccent, out);
    }
}

/// Like [`fold_into`], without its shortcut.
fn fold_characters(text: &str, unaccent: bool, out: &mut String) {
    out.clear();
    let mut folder =
        CharacterFolder { unaccent, base: Base::Other, last: '\0', out: String::new() };
    folder.out.reserve(text.len());
    for c in DecomposingNormalizerBorrowed::new_nfkd().normalize(text).chars() {
        folder.push(c);
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&folder.out);
    finish(&composed, out);
}

/// Returns true only if the form does not change `text`, which must be in the form NFC. May also
/// return false for an unchanged text. Takes O(length) time, without decomposing the text.
pub(crate) fn is_unchanged(text: &str, unaccent: bool) -> bool {
    text.chars().all(|c| c.is_ascii() || is_stable(c, unaccent))
}

/// Number of characters in a page. Pages divide the code points up to U+FFFF.
const PAGE: usize = 256;

/// Returns true if the form does not change the character, and the character does not affect the
/// form of its neighbours.
fn is_stable(c: char, unaccent: bool) -> bool {
    /// A bit for each character of a page. Computed when a text first contains a character of the
    /// page.
    static PAGES: [[OnceLock<[u64; PAGE / 64]>; 256]; 2] =
        [const { [const { OnceLock::new() }; 256] }; 2];
    let code_point = u32::from(c) as usize;
    let Some(page) = PAGES[usize::from(unaccent)].get(code_point / PAGE) else { return false };
    let stable = page.get_or_init(|| stable_characters(code_point / PAGE, unaccent));
    stable[code_point % PAGE / 64] >> (code_point % 64) & 1 == 1
}

fn stable_characters(page: usize, unaccent: bool) -> [u64; PAGE / 64] {
    let mut stable = [0; PAGE / 64];
    let mut folded = String::new();
    for at in 0..PAGE {
        let Some(c) = char::from_u32((page * PAGE + at) as u32) else { continue };
        // The effect of marks and joining characters depends on the characters around them.
        let is_mark = is_ignored(c) || is_diacritic(c) || is_point(c);
        let joins = matches!(c, ZWNJ | VIRAMA | '\u{e4d}' | '\u{ecd}') || is_syllable(c);
        // NFKD moves a foreign mark between these letters and their hamza, which is then removed.
        let may_lose_hamza = matches!(c, 'ؤ' | 'ئ');
        fold_characters(c.encode_utf8(&mut [0; 4]), unaccent, &mut folded);
        let is_alone_stable = folded.chars().eq([c]);
        stable[at / 64] |=
            u64::from(is_alone_stable && !is_mark && !joins && !may_lose_hamza) << (at % 64);
    }
    stable
}

struct CharacterFolder {
    unaccent: bool,
    /// The script of the last letter that is not a mark.
    base: Base,
    /// The last letter in its original form.
    last: char,
    out: String,
}

impl CharacterFolder {
    /// Appends the next character of the decomposed text.
    fn push(&mut self, c: char) {
        if c.is_ascii() {
            self.base = Base::Latin;
            self.last = c;
            return self.out.push(c);
        }
        if is_ignored(c) || c == ZWNJ && is_indic(self.last) {
            return;
        }
        if is_diacritic(c) {
            if !self.drops(c) {
                self.out.push(c);
            }
            return;
        }
        if is_point(c) {
            let keeps_hamza = c == HAMZA_ABOVE && matches!(self.last, 'و' | 'ي' | 'ى' | 'ی');
            if keeps_hamza {
                self.out.push(c);
            }
            return;
        }
        self.join_nasal(c);
        self.base = base(c);
        self.last = c;
        match letters(c).or_else(|| plain(c).filter(|_| self.unaccent)) {
            Some(folded) => self.out.push_str(folded),
            None => self.out.push(digit(c).unwrap_or(c)),
        }
    }

    /// Returns true if a mark after the last letter is removed.
    fn drops(&self, mark: char) -> bool {
        match (self.base, self.last, mark) {
            // The dot of İ, and of its lower case, which has two characters.
            (_, 'I' | 'i', DOT_ABOVE) | (Base::Greek, ..) => true,
            (Base::Latin, ..) => self.unaccent,
            (_, 'е' | 'Е', DIAERESIS) => true,
            // The stress of a Russian word. ѓ and ќ are letters of their own.
            (_, last, ACUTE) => CYRILLIC_VOWELS.contains(last),
            _ => false,
        }
    }

    /// Replaces a Devanagari nasal and its virama by an anusvara, if a consonant of the nasal's
    /// class follows.
    fn join_nasal(&mut self, next: char) {
        let class = |c: char| match c {
            'क'..='ङ' => 1,
            'च'..='ञ' => 2,
            'ट'..='ण' => 3,
            'त'..='न' => 4,
            'प'..='म' => 5,
            _ => 0,
        };
        let is_nasal = |c: char| matches!(c, 'ङ' | 'ञ' | 'ण' | 'न' | 'म');
        if self.last != VIRAMA || class(next) == 0 || is_nasal(next) {
            return;
        }
        let mut before = self.out.chars().rev().skip(1);
        let Some(nasal) = before.next().filter(|c| is_nasal(*c) && class(*c) == class(next)) else {
            return;
        };
        // The first letter of a word is never an anusvara.
        if before.next().is_some_and(|c| text::class(c) != text::CharClass::Separator) {
            self.out.truncate(self.out.len() - VIRAMA.len_utf8() - nasal.len_utf8());
            self.out.push('ं');
        }
    }
}

const ZWNJ: char = '\u{200c}';
const HAMZA_ABOVE: char = '\u{654}';
const DOT_ABOVE: char = '\u{307}';
const DIAERESIS: char = '\u{308}';
const ACUTE: char = '\u{301}';
const VIRAMA: char = '\u{94d}';
const CYRILLIC_VOWELS: &str = "аеиоуыэюяіАЕИОУЫЭЮЯІ";

/// Returns true for invisible characters that affect the display of others: soft hyphen, joiner,
/// direction, variation. The zero-width space and the non-joiner are excluded, because they
/// separate words.
fn is_ignored(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x34F | 0x61C | 0x180B..=0x180F | 0x200D..=0x200F | 0x202A..=0x202E
        | 0x2060..=0x2064 | 0x2066..=0x206F | 0xFE00..=0xFE0F | 0xFEFF | 0xE0100..=0xE01EF)
}

/// Marks of Latin, Greek and Cyrillic letters.
fn is_diacritic(c: char) -> bool {
    matches!(u32::from(c),
        0x300..=0x36F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F)
}

/// Marks and strokes of Arabic, Hebrew and Devanagari whose use is optional.
fn is_point(c: char) -> bool {
    matches!(u32::from(c),
        0x591..=0x5BD | 0x5BF | 0x5C1..=0x5C2 | 0x5C4..=0x5C5 | 0x5C7
        | 0x610..=0x61A | 0x640 | 0x64B..=0x65F | 0x670 | 0x6D6..=0x6DC | 0x6DF..=0x6E4
        | 0x6E7..=0x6E8 | 0x6EA..=0x6ED | 0x8CA..=0x8E1 | 0x8E3..=0x8FF
        | 0x93C)
}

fn is_indic(c: char) -> bool {
    ('\u{900}'..='\u{dff}').contains(&c)
}

/// The script of a letter, for the marks after it.
fn base(c: char) -> Base {
    match u32::from(c) {
        0x41..=0x24F | 0x250..=0x2AF | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF => {
            Base::Latin
        }
        0x370..=0x3FF | 0x1F00..=0x1FFF => Base::Greek,
        _ => Base::Other,
    }
}

/// The replacement of a letter in both forms.
fn letters(c: char) -> Option<&'static str> {
    Some(match c {
        'ı' => "i",
        'ß' => "ss",
        'ẞ' => "SS",
        // Alef wasla; alef maksura and Farsi yeh; keheh and swash kaf; teh marbuta, heh goal, ae.
        'ٱ' => "ا",
        'ى' | 'ی' => "ي",
        'ک' | 'ڪ' => "ك",
        'ة' | 'ہ' | 'ە' | 'ۃ' => "ه",
        // Candrabindu.
        'ँ' => "ं",
        _ => return None,
    })
}

/// The replacement of a Latin letter with a stroke, which has no decomposition.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'ł' => "l",
        'Ł' => "L",
        'ø' => "o",
        'Ø' => "O",
        'ħ' => "h",
        'Ħ' => "H",
        'ŧ' => "t",
        'Ŧ' => "T",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'þ' => "th",
        'Þ' => "TH",
        _ => return None,
    })
}

/// The zeros of decimal digits. The nine other digits follow each zero.
const ZEROS: [u32; 36] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0x104A0,
];

/// For each row of 16 characters up to the last digit, whether it contains digits. The ten digits
/// of a script are always in one row.
static DIGIT_ROWS: [bool; ZEROS[ZEROS.len() - 1] as usize / 16 + 1] = {
    let mut rows = [false; ZEROS[ZEROS.len() - 1] as usize / 16 + 1];
    let mut i = 0;
    while i < ZEROS.len() {
        rows[ZEROS[i] as usize / 16] = true;
        i += 1;
    }
    rows
};

/// The ASCII digit with the value of a decimal digit.
fn digit(c: char) -> Option<char> {
    let code_point = u32::from(c);
    if !*DIGIT_ROWS.get(code_point as usize / 16)? {
        return None;
    }
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code_point)].last()?;
    char::from_digit(code_point - zero, 10)
}

fn is_syllable(c: char) -> bool {
    ('가'..='힣').contains(&c)
}

/// Recomposes the Thai and the Lao vowel am, which NFKD decomposes. Inserts a blank between a
/// Hangul syllable and its neighbours, so that blanks between words do not matter.
fn finish(text: &str, out: &mut String) {
    let mut last = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let am = match c {
            '\u{e4d}' => chars.next_if_eq(&'\u{e32}').map(|_| '\u{e33}'),
            '\u{ecd}' => chars.next_if_eq(&'\u{eb2}').map(|_| '\u{eb3}'),
            _ => None,
        };
        let c = am.unwrap_or(c);
        let touches = !text::is_white_space(last) && !text::is_white_space(c);
        if touches && (is_syllable(last) || is_syllable(c)) {
            out.push(' ');
        }
        out.push(c);
        last = c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(text: &str, unaccent: bool) -> String {
        let mut out = String::new();
        fold_into(text, unaccent, &mut out);
        out
    }

    #[test]
    fn common_scripts_need_no_normalization() {
        for text in ["Äpfel für Gäste", "Ночной поезд, йод", "ภาษาไทย ทำ", "汉字かな", "हिमालय"]
        {
            assert!(is_unchanged(text, false), "{text}");
        }
        assert!(is_unchanged("Île de Ré", false) && !is_unchanged("Île de Ré", true));
        for text in ["ёлка", "한국", "محمّد", "e\u{301}", "ﬁ", "٣", "a\u{ad}b"] {
            assert!(!is_unchanged(text, false), "{text}");
        }
    }

    #[test]
    fn foreign_marks_remove_the_hamza() {
        assert_eq!(folded("ؤ", false), "ؤ");
        assert_eq!(folded("ؤ\u{f71}", false), "و\u{f71}");
        assert!(!is_unchanged("ؤ\u{f71}", false));
    }

    proptest! {
        #[test]
        fn shortcuts_do_not_change_the_form(
            parts in prop::collection::vec(
                prop_oneof![
                    "[ aeiI\u{44f}\u{457}\u{439}\u{e9}\u{df}\u{f8}\u{3a3}\u{3ac}漢한ㄱก]{1,4}",
                    "[\u{e33}\u{e4d}\u{e32}\u{928}\u{94d}\u{915}\u{93c}\u{902}]{1,4}",
                    "[\u{ac7}\u{abe}\u{9c7}\u{9be}\u{905}]{1,4}",
                    "[\u{300}-\u{310}\u{654}\u{5b4}\u{200c}\u{200d}\u{f71}\u{f72}\u{1161}가]{1,2}",
                    "[ء-ۿԱ-֏ऀ-෿]{1,3}",
                    "[가-힣]{1,4}",
                    "[ᄀ-ᇿㄱ-ㆎ]{1,2}",
                    any::<char>().prop_map(String::from),
                ],
                0..12,
            ),
        ) {
            let parts = parts.concat();
            let text = ComposingNormalizerBorrowed::new_nfc().normalize(&parts);
            for unaccent in [false, true] {
                let mut expected = String::new();
                fold_characters(&parts, unaccent, &mut expected);
                prop_assert_eq!(folded(&parts, unaccent), &*expected);
                prop_assert_eq!(folded(&text, unaccent), &*expected);
                if is_unchanged(&text, unaccent) {
                    prop_assert_eq!(&*text, expected);
                }
            }
        }
    }
}
