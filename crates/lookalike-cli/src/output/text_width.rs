//! Counts the columns of text on a terminal, escapes its hidden characters, and shortens it.

use lookalike::report::phrases::{escaped, is_hidden};
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// Represents text that is left out.
const ELLIPSIS: char = '…';

/// The columns of a character by itself, as most terminals count them.
fn character(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The columns that a [`visible`] text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(character).sum()
}

/// A text as a terminal shows it, with escapes for every [hidden](is_hidden) character: for
/// texts whose width matters.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Shortens a text to at most `width` columns (at least 3). A longer text loses its middle. More of
/// its end is kept, because paths have their names there.
pub(crate) fn shorten(text: &str, width: usize) -> Cow<'_, str> {
    shorten_after(text, width, |room| room / 3)
}

/// Shortens a text to at most `width` columns (at least 3). A longer text loses its end.
pub(crate) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    shorten_after(text, width, |room| room)
}

/// Shortens a text to at most `width` columns (at least 3). `head` returns how many of the columns
/// beside the ellipsis the start of a longer text gets. The end gets the others.
fn shorten_after(text: &str, width: usize, head: impl Fn(usize) -> usize) -> Cow<'_, str> {
    let width = width.max(3);
    if text.len() <= width || columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let head_width = head(width - 1);
    let tail = fitting(text.chars().rev(), width - 1 - head_width);
    let head = fitting(text.chars(), head_width);
    let head: String = text.chars().take(head).collect();
    let mut short = head.trim_end().to_owned();
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
    use lookalike::report::phrases::one_line;

    #[test]
    fn columns_match_terminal_cells() {
        assert_eq!(columns("plain"), 5);
        assert_eq!(columns("阅览室"), 6);
        assert_eq!(columns("e\u{301}te\u{301}"), 3);
        assert_eq!(columns("한글 ａ"), 7);
        assert_eq!(columns("กำลัง"), 4);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(visible("a/ü b.txt"), "a/ü b.txt");
        assert_eq!(visible("a\n\t\u{1b}[31m"), "a\\n\\t\\u{1b}[31m");
        assert_eq!(visible("x\u{202e}txt.exe"), "x\\u{202e}txt.exe");
        assert_eq!(visible("a\u{200b}b\u{61c}"), "a\\u{200b}b\\u{61c}");
        assert_eq!(one_line("a\n\t\u{85}\u{1b}[31m\u{202e}"), "a\\n\\t\\u{85}\u{1b}[31m\u{202e}");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(shorten("letters/2024/heating-failure.txt", 20), "letter…g-failure.txt");
        let wide = shorten("阅览室阅览室阅览室", 9);
        assert_eq!((wide.as_ref(), columns(&wide)), ("阅…阅览室", 9));
        assert_eq!(shorten("abcdef", 0), "…ef");
    }

    #[test]
    fn long_sentences_lose_their_end() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("two words here", 10), "two words…");
        let wide = cut("阅览室阅览室", 8);
        assert_eq!((wide.as_ref(), columns(&wide)), ("阅览室…", 7));
        assert_eq!(cut("abcdef", 0), "ab…");
    }
}
