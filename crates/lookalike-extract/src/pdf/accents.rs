//! Accents drawn before their letter, as by TeX with old fonts.

use icu_normalizer::properties::CanonicalCompositionBorrowed;

/// The combining mark of a spacing accent.
pub(super) fn combining(accent: char) -> Option<char> {
    Some(match accent {
        '`' | '\u{2cb}' => '\u{300}',
        '\u{b4}' => '\u{301}',
        '^' | '\u{2c6}' => '\u{302}',
        '~' | '\u{2dc}' => '\u{303}',
        '\u{af}' | '\u{2c9}' => '\u{304}',
        '\u{2d8}' => '\u{306}',
        '\u{2d9}' => '\u{307}',
        '\u{a8}' => '\u{308}',
        '\u{2da}' => '\u{30a}',
        '\u{2dd}' => '\u{30b}',
        '\u{2c7}' => '\u{30c}',
        '\u{b8}' => '\u{327}',
        '\u{2db}' => '\u{328}',
        _ => return None,
    })
}

/// Appends a letter with a mark, as one composed character if it exists.
pub(super) fn append(letter: char, mark: char, out: &mut String) {
    // TeX combines accents with dotless letters.
    let letter = match letter {
        '\u{131}' => 'i',
        '\u{237}' => 'j',
        letter => letter,
    };
    match CanonicalCompositionBorrowed::new().compose(letter, mark) {
        Some(composed) => out.push(composed),
        None => out.extend([letter, mark]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_get_their_accents() {
        let pairs = [
            ('u', '\u{b4}', "\u{fa}"),
            ('\u{131}', '\u{a8}', "\u{ef}"),
            ('z', '\u{2c7}', "\u{17e}"),
            ('a', '\u{2c7}', "\u{1ce}"),
            ('n', '`', "\u{1f9}"),
            ('q', '\u{2c6}', "q\u{302}"),
        ];
        for (letter, accent, expected) in pairs {
            let mut out = String::new();
            append(letter, combining(accent).expect("an accent"), &mut out);
            assert_eq!(out, expected);
        }
        assert_eq!(combining('x'), None);
    }
}
