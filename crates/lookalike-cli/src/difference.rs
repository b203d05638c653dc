//! Differences of two texts → lines for a terminal, in context and colour.

use crate::terminal::Style;
use crate::text_width::{columns, visible};
use anstyle::AnsiColor;
use lookalike::difference::{Differences, Words};
use std::io::{self, Write};
use std::ops::Range;

/// Words that both texts share, shown before and after a difference.
const CONTEXT: usize = 8;
/// A stretch of one text alone is shown up to this many words, else its first and last ones.
const LONGEST: usize = 80;
const LONGEST_ENDS: (usize, usize) = (40, 20);
/// Differences that are shown.
const MOST: usize = 100;

const ONLY_A: Style = Style::new(AnsiColor::Red.on_default().strikethrough());
const ONLY_B: Style = Style::new(AnsiColor::Green.on_default().underline());
const QUIET: Style = Style::DIMMED;

/// How differences are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Columns of a line.
    pub(crate) width: usize,
    /// Whether words of the first text only are in `[-…-]` and those of the second in `{+…+}`:
    /// where there are no colours.
    pub(crate) marks: bool,
    /// Whether all differences are printed in full, not the first hundred with long ones shortened.
    pub(crate) all: bool,
}

/// Writes the differences with some words around them.
pub(crate) fn write(found: &Differences, out: &mut impl Write, layout: Layout) -> io::Result<()> {
    let Layout { width, marks, all } = layout;
    let most = if all { usize::MAX } else { MOST };
    let longest = if all { usize::MAX } else { LONGEST };
    let mut lines = Lines { out, width, column: 0, blank: false, marks };
    let last = found.stretches.len().saturating_sub(1);
    let mut shown = 0;
    for (at, stretch) in found.stretches.iter().enumerate() {
        if found.a.is_after_blank(stretch.a.start) || found.b.is_after_blank(stretch.b.start) {
            lines.blank();
        }
        if stretch.shared {
            let words = &stretch.b;
            let before = if at == 0 { 0 } else { CONTEXT };
            let after = if at == last || shown == most { 0 } else { CONTEXT };
            shared(found, &mut lines, words.clone(), before, after)?;
        } else if shown == most {
            break;
        } else {
            shown += 1;
            let a = &found.a;
            one_sided(&mut lines, a, stretch.a.clone(), longest, ONLY_A, ["[-", "-]"])?;
            let b = &found.b;
            if b.is_after_blank(stretch.b.start) {
                lines.blank();
            }
            one_sided(&mut lines, b, stretch.b.clone(), longest, ONLY_B, ["{+", "+}"])?;
        }
    }
    lines.end()?;
    let more = found.changes().count() - shown;
    if more > 0 {
        lines.note(&format!("… {} more; --all shows them", differences(more)))?;
    }
    Ok(())
}

/// Shared words: `before` of them behind a difference, `after` before the next one.
fn shared(
    found: &Differences,
    lines: &mut Lines<impl Write>,
    words: Range<usize>,
    before: usize,
    after: usize,
) -> io::Result<()> {
    // Leaving out a word or two saves nothing.
    if words.len() <= before + after + 3 {
        return lines.words(found.b.text(words), Style::PLAIN, ["", ""]);
    }
    let (head, tail) = (words.start + before, words.end - after);
    lines.words(found.b.text(words.start..head), Style::PLAIN, ["", ""])?;
    lines.end()?;
    lines.note(&format!("… {} …", plural(tail - head, "word")))?;
    lines.words(found.b.text(tail..words.end), Style::PLAIN, ["", ""])
}

/// Words that one text alone has, shortened in the middle where they are more than `longest`.
fn one_sided(
    lines: &mut Lines<impl Write>,
    text: &Words,
    words: Range<usize>,
    longest: usize,
    style: Style,
    marks: [&str; 2],
) -> io::Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    if words.len() <= longest {
        return lines.words(text.text(words), style, marks);
    }
    let (head, tail) = (words.start + LONGEST_ENDS.0, words.end - LONGEST_ENDS.1);
    lines.words(text.text(words.start..head), style, [marks[0], ""])?;
    lines.words(&format!(" … {} … ", plural(tail - head, "word")), QUIET, ["", ""])?;
    lines.words(text.text(tail..words.end), style, ["", marks[1]])
}

/// Writes words in lines of a width, indented by two.
struct Lines<'a, W: Write> {
    out: &'a mut W,
    width: usize,
    /// Columns used; 0 before anything is written.
    column: usize,
    /// Whether a blank stands before the next word, unless that begins a line.
    blank: bool,
    marks: bool,
}

impl<W: Write> Lines<'_, W> {
    /// A text's words in one style, between marks where these are wanted.
    fn words(&mut self, text: &str, style: Style, marks: [&str; 2]) -> io::Result<()> {
        let mut words = text.split_whitespace().peekable();
        let mut first = true;
        // Where a text was cut inside a script without blanks, none must appear.
        let glued = !text.starts_with(char::is_whitespace);
        while let Some(word) = words.next() {
            let mut shown = String::new();
            if self.marks && first {
                shown.push_str(marks[0]);
            }
            shown.push_str(word);
            if self.marks && words.peek().is_none() {
                shown.push_str(marks[1]);
            }
            self.word(&shown, style, first && glued)?;
            first = false;
            if words.peek().is_some() || text.ends_with(char::is_whitespace) {
                self.blank();
            }
        }
        if first && !text.is_empty() {
            self.blank();
        }
        Ok(())
    }

    fn blank(&mut self) {
        self.blank = self.column > 0;
    }

    fn word(&mut self, word: &str, style: Style, glued: bool) -> io::Result<()> {
        let columns = columns(&visible(word));
        let needed = columns + usize::from(self.blank);
        // A mark or a full stop is not torn from its word.
        let torn = glued && !self.blank && columns < 4;
        if self.column > 0 && self.column + needed > self.width && !torn {
            self.end()?;
        }
        if self.column == 0 {
            write!(self.out, "  ")?;
            self.column = 2;
        } else if self.blank {
            write!(self.out, " ")?;
            self.column += 1;
        }
        self.blank = false;
        self.column += columns;
        write!(self.out, "{style}{word}{style:#}")
    }

    fn end(&mut self) -> io::Result<()> {
        self.blank = false;
        if self.column > 0 {
            self.column = 0;
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "  {QUIET}{text}{QUIET:#}")
    }
}

/// `1 difference`, `2 differences`.
pub(crate) fn differences(count: usize) -> String {
    plural(count, "difference")
}

/// A count of things, with thousands apart.
pub(crate) fn plural(count: usize, thing: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {thing}{s}", thousands(count as u64))
}

/// A number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::core::params::ShingleRule;

    fn shown(a: &str, b: &str) -> String {
        let found = Differences::between(a, b, &ShingleRule::default(), None);
        let layout = Layout { width: 60, marks: true, all: false };
        crate::terminal::piped(|out| write(&found, out, layout).unwrap())
    }

    #[test]
    fn words_change_in_their_place() {
        let a = "The quick brown fox jumps, over the lazy dog.";
        let found = shown(a, "the quick red fox jumps over the very lazy dog");
        let expected = "The quick [-brown-] {+red+} fox jumps over the {+very+} lazy dog";
        assert_eq!(
            found.split_whitespace().collect::<Vec<_>>().join(" "),
            expected.replacen("The", "the", 1)
        );
    }

    #[test]
    fn shared_stretches_are_shortened() {
        let many: Vec<String> = (0..300).map(|i| format!("w{i}")).collect();
        let a = many.join(" ");
        let found = shown(&a, &format!("{a} end"));
        assert_eq!(found, "  … 292 words …\n  w292 w293 w294 w295 w296 w297 w298 w299 {+end+}\n");
        assert_eq!(shown(&a, &a), "  … 300 words …\n");
        let found = shown("x", &a);
        assert!(found.contains("… 240 words …"), "{found}");
        assert!(found.lines().all(|line| line.chars().count() <= 60), "{found}");
    }

    #[test]
    fn scripts_without_blanks_stay_together() {
        let found = shown("我喜欢吃苹果", "我喜欢吃香蕉");
        assert_eq!(found, "  我喜欢吃[-苹果-]{+香蕉+}\n");
    }

    #[test]
    fn words_take_the_columns_of_their_escapes() {
        let word = "\u{1b}".repeat(12);
        assert_eq!(shown("", &format!("{word} end")), format!("  {{+{word}\n  end+}}\n"));
    }

    #[test]
    fn empty_texts() {
        assert_eq!(shown("", ""), "");
        assert_eq!(shown("", "one two"), "  {+one two+}\n");
        assert_eq!(shown("one two", " -- "), "  [-one two-]\n");
    }

    #[test]
    fn more_than_a_hundred() {
        let a: Vec<String> = (0..400).map(|i| format!("w{i}")).collect();
        let b: Vec<String> =
            (0..400).map(|i| if i % 3 == 1 { format!("x{i}") } else { format!("w{i}") }).collect();
        let found = shown(&a.join(" "), &b.join(" "));
        assert!(found.ends_with("  … 33 differences more; --all shows them\n"), "{found}");
        assert_eq!(found.matches("{+").count(), 100);
    }

    #[test]
    fn numbers_and_their_things() {
        assert_eq!(
            [0, 12, 999, 1_000, 1_234_567].map(thousands).join(" "),
            "0 12 999 1,000 1,234,567"
        );
        assert_eq!(
            (plural(1, "word"), plural(2_000, "word")),
            ("1 word".into(), "2,000 words".into())
        );
    }
}
