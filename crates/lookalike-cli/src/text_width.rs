//! Text for a terminal: how many columns it takes, made visible, made shorter.

use std::borrow::Cow;

/// What stands for text that is left out.
const ELLIPSIS: char = '…';

/// First and last of the ranges whose characters take no column: combining marks, joiners,
/// directions, variation selectors.
const ZERO: &[(u32, u32)] = &[
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x0591, 0x05BD),
    (0x05BF, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x06D6, 0x06DC),
    (0x06DF, 0x06E4),
    (0x0900, 0x0902),
    (0x0941, 0x0948),
    (0x094D, 0x094D),
    (0x0E31, 0x0E31),
    (0x0E34, 0x0E3A),
    (0x0E47, 0x0E4E),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x20D0, 0x20F0),
    (0x3099, 0x309A),
    (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F),
    (0xFEFF, 0xFEFF),
    (0xE0100, 0xE01EF),
];

/// First and last of the ranges whose characters take two: East Asian wide and full-width forms,
/// pictographs.
const TWO: &[(u32, u32)] = &[
    (0x1100, 0x115F),
    (0x231A, 0x231B),
    (0x2614, 0x2615),
    (0x2E80, 0x303E),
    (0x3041, 0xA4CF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE6F),
    (0xFF01, 0xFF60),
    (0xFFE0, 0xFFE6),
    (0x16FE0, 0x18DFF),
    (0x1AFF0, 0x1B2FF),
    (0x1F18E, 0x1F18E),
    (0x1F191, 0x1F19A),
    (0x1F200, 0x1F265),
    (0x1F300, 0x1F64F),
    (0x1F680, 0x1F6FC),
    (0x1F900, 0x1FAFF),
    (0x20000, 0x3FFFD),
];

fn within(ranges: &[(u32, u32)], code: u32) -> bool {
    let place = ranges.partition_point(|(_, last)| *last < code);
    ranges.get(place).is_some_and(|(first, _)| *first <= code)
}

fn character(c: char) -> usize {
    match c as u32 {
        0..0x0300 => 1,
        code if within(ZERO, code) => 0,
        code if within(TWO, code) => 2,
        _ => 1,
    }
}

/// Columns a terminal gives to a text that is [`visible`].
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(character).sum()
}

/// Control characters, line ends and the marks that reverse writing, as escapes: what an id holds
/// can neither move the cursor nor pass for another one.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| {
        let direction = matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}')
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}');
        c.is_control() || direction
    };
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// A text of at most `width` columns (at least 3): as it is, or with its middle left out. More is
/// kept of the end, where paths have their names.
pub(crate) fn shorten(text: &str, width: usize) -> Cow<'_, str> {
    let width = width.max(3);
    if text.len() <= width || columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let head_width = (width - 1) / 3;
    let head = fitting(text.chars(), head_width);
    let tail = fitting(text.chars().rev(), width - 1 - head_width);
    let mut short: String = text.chars().take(head).collect();
    short.push(ELLIPSIS);
    let skip = text.chars().count() - tail;
    // A mark without its letter would sit on the ellipsis.
    short.extend(text.chars().skip(skip).skip_while(|c| character(*c) == 0));
    Cow::Owned(short)
}

/// How many characters fit.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> usize {
    let mut used = 0;
    let fits = |c: &char| {
        used += character(*c);
        used <= width
    };
    characters.take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_in_order() {
        for ranges in [ZERO, TWO] {
            assert!(ranges.iter().all(|(first, last)| first <= last));
            assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }

    #[test]
    fn columns_are_those_of_a_terminal() {
        assert_eq!(columns("plain"), 5);
        assert_eq!(columns("阅览室"), 6);
        assert_eq!(columns("e\u{301}te\u{301}"), 3);
        assert_eq!(columns("한글 ａ"), 7);
        assert_eq!(columns("กำลัง"), 4);
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(visible("a/ü b.txt"), "a/ü b.txt");
        assert_eq!(visible("a\n\t\u{1b}[31m"), "a\\n\\t\\u{1b}[31m");
        assert_eq!(visible("x\u{202e}txt.exe"), "x\\u{202e}txt.exe");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(shorten("letters/2024/heating-failure.txt", 20), "letter…g-failure.txt");
        let wide = shorten("阅览室阅览室阅览室", 9);
        assert_eq!((wide.as_ref(), columns(&wide)), ("阅…阅览室", 9));
        assert_eq!(shorten("abcdef", 0), "…ef");
    }
}
