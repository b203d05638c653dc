//! Writes the differences of two texts as lines for a terminal, with context and colours.

use crate::output::terminal::Style;
use crate::output::text_width::{columns, visible};
use anstyle::AnsiColor;
use lookalike::difference::{DifferenceKind, Differences, WordPositions};
use lookalike::report::phrases::count;
use std::io::{self, Write};
use std::ops::Range;

/// Words that both texts share, shown before and after a difference.
const CONTEXT: usize = 8;
/// Maximum words of a stretch of one text that is shown whole. A longer stretch is shown by its
/// first and last words.
const LONGEST: usize = 80;
const LONGEST_ENDS: (usize, usize) = (40, 20);
/// Maximum number of shown differences of each kind: of words, and of case, punctuation and white
/// space.
const MOST: usize = 100;

const ONLY_A: Style = Style::new(AnsiColor::Red.on_default().strikethrough());
const ONLY_B: Style = Style::new(AnsiColor::Green.on_default().underline());
const SAME_WORDS_A: Style = Style::new(AnsiColor::Red.on_default().dimmed());
const SAME_WORDS_B: Style = Style::new(AnsiColor::Green.on_default().dimmed());
const QUIET: Style = Style::DIMMED;

/// How differences are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DifferenceLayout {
    /// Columns of a line.
    pub(crate) width: usize,
    /// Whether differences have marks, for output without colours: `[-…-]` around text that only
    /// the first text has, `{+…+}` around text that only the second has, and `(-…-)(+…+)` around
    /// both spellings of the same words.
    pub(crate) marks: bool,
    /// Whether all differences are printed in full. Otherwise, only the first hundred of each kind
    /// are printed, and long ones are shortened.
    pub(crate) all: bool,
}

/// Writes the differences with some words around them.
pub(crate) fn write(
    found: &Differences,
    out: &mut impl Write,
    layout: DifferenceLayout,
) -> io::Result<()> {
    let DifferenceLayout { width, marks, all } = layout;
    let most = if all { usize::MAX } else { MOST };
    let longest = if all { usize::MAX } else { LONGEST };
    let mut lines = WrappedLines { out, width, column: 0, blank: false, marks };
    let parts = parts(found, most);
    let last = parts.len().saturating_sub(1);
    for (at, part) in parts.iter().enumerate() {
        match part {
            PrintedPart::Shared(b) => {
                let before = if at == 0 { 0 } else { CONTEXT };
                let after = if at == last { 0 } else { CONTEXT };
                shared(&found.b, &mut lines, b, before, after)?;
            }
            PrintedPart::Changed(a, b) => {
                one_sided(&mut lines, &found.a, a, longest, ONLY_A, ["[-", "-]"])?;
                if found.b.slice(0..b.start).ends_with(char::is_whitespace) {
                    lines.blank();
                }
                one_sided(&mut lines, &found.b, b, longest, ONLY_B, ["{+", "+}"])?;
            }
            PrintedPart::SameWords(a, b) => {
                let [a, b] = [found.a.slice(a.clone()), found.b.slice(b.clone())];
                lines.variation(a, SAME_WORDS_A, ["(-", "-)"])?;
                lines.variation(b, SAME_WORDS_B, ["(+", "+)"])?;
            }
        }
    }
    lines.end()?;
    let more = found.places.words.saturating_sub(most);
    if more > 0 {
        lines.note(&format!("… {} more; --all shows them", count(more as u64, "difference")))?;
    }
    let more = found.places.same_words.saturating_sub(most);
    if more > 0 {
        let more = count(more as u64, "more place");
        lines.note(&format!(
            "… {more} with the same words in other case, punctuation or white space; --all shows \
             them"
        ))?;
    }
    Ok(())
}

/// A part of the output, by bytes of the texts.
enum PrintedPart {
    /// Text that both have, as a range of the second text.
    Shared(Range<usize>),
    /// Different words, in the first and in the second text.
    Changed(Range<usize>, Range<usize>),
    /// Equal words in different spellings, in the first and in the second text.
    SameWords(Range<usize>, Range<usize>),
}

/// Returns the parts up to the last one shown: at most `most` of each kind of difference. Further
/// differences in spelling are shown as shared text, in the spelling of the second text.
fn parts(found: &Differences, most: usize) -> Vec<PrintedPart> {
    let mut parts: Vec<PrintedPart> = Vec::new();
    let mut changed = 0;
    let mut same_words = 0;
    for stretch in &found.stretches {
        let a = stretch.a.clone();
        let b = stretch.b.clone();
        match stretch.kind {
            DifferenceKind::Changed if changed == most => break,
            DifferenceKind::Changed => {
                changed += 1;
                parts.push(PrintedPart::Changed(a, b));
            }
            DifferenceKind::SameWords(_) if same_words < most => {
                same_words += 1;
                parts.push(PrintedPart::SameWords(a, b));
            }
            DifferenceKind::SameWords(_) | DifferenceKind::Equal => match parts.last_mut() {
                Some(PrintedPart::Shared(last)) => last.end = b.end,
                _ => parts.push(PrintedPart::Shared(b)),
            },
        }
    }
    parts
}

/// Writes shared words: `before` of them after a difference, and `after` before the next one.
fn shared(
    text: &WordPositions,
    lines: &mut WrappedLines<impl Write>,
    bytes: &Range<usize>,
    before: usize,
    after: usize,
) -> io::Result<()> {
    let first = text.word_from(bytes.start);
    let last = text.word_from(bytes.end);
    // Leaving out a word or two saves nothing.
    if last - first <= before + after + 3 {
        return lines.words(text.slice(bytes.clone()), Style::PLAIN, ["", ""]);
    }
    let head = first + before;
    let tail = last - after;
    let head_end = text.start(head);
    let tail_start = text.start(tail).min(bytes.end);
    if before > 0 {
        lines.words(text.slice(bytes.start..head_end), Style::PLAIN, ["", ""])?;
    }
    lines.end()?;
    lines.note(&format!("… {} …", count((tail - head) as u64, "word")))?;
    if after > 0 {
        lines.words(text.slice(tail_start..bytes.end), Style::PLAIN, ["", ""])?;
    }
    Ok(())
}

/// Writes words that only one text has, shortened in the middle if there are more than `longest`.
fn one_sided(
    lines: &mut WrappedLines<impl Write>,
    text: &WordPositions,
    bytes: &Range<usize>,
    longest: usize,
    style: Style,
    marks: [&str; 2],
) -> io::Result<()> {
    let first = text.word_from(bytes.start);
    let last = text.word_from(bytes.end);
    if last - first <= longest {
        return lines.words(text.slice(bytes.clone()), style, marks);
    }
    let head = first + LONGEST_ENDS.0;
    let tail = last - LONGEST_ENDS.1;
    lines.words(text.slice(bytes.start..text.start(head)), style, [marks[0], ""])?;
    lines.words(&format!(" … {} … ", count((tail - head) as u64, "word")), QUIET, ["", ""])?;
    lines.words(text.slice(text.start(tail)..bytes.end), style, ["", marks[1]])
}

/// Writes words in lines of a width, indented by two.
struct WrappedLines<'a, W: Write> {
    out: &'a mut W,
    width: usize,
    /// Columns used; 0 before anything is written.
    column: usize,
    /// Whether a blank is before the next word, unless the word begins a line.
    blank: bool,
    marks: bool,
}

impl<W: Write> WrappedLines<'_, W> {
    /// Writes a text's words in one style, between marks if these are wanted.
    fn words(&mut self, text: &str, style: Style, marks: [&str; 2]) -> io::Result<()> {
        if text.starts_with(char::is_whitespace) {
            self.blank();
        }
        let mut words = text.split_whitespace().peekable();
        let mut first = true;
        // A text that was cut inside a script without blanks continues without a blank.
        let glued = !text.starts_with(char::is_whitespace);
        while let Some(word) = words.next() {
            let mut marked = String::new();
            if self.marks && first {
                marked.push_str(marks[0]);
            }
            marked.push_str(word);
            if self.marks && words.peek().is_none() {
                marked.push_str(marks[1]);
            }
            self.word(&marked, style, first && glued)?;
            first = false;
            if words.peek().is_some() || text.ends_with(char::is_whitespace) {
                self.blank();
            }
        }
        Ok(())
    }

    /// Writes one spelling of text that both have. Shows white space as signs if there is nothing
    /// else.
    fn variation(&mut self, text: &str, style: Style, marks: [&str; 2]) -> io::Result<()> {
        if text.is_empty() || text.contains(|c: char| !c.is_whitespace()) {
            return self.words(text, style, marks);
        }
        let sign = |c| match c {
            ' ' => "␣".to_owned(),
            '\n' => "↵".to_owned(),
            '\t' => "⇥".to_owned(),
            '\r' => "␍".to_owned(),
            c => c.escape_unicode().to_string(),
        };
        let signs: String = text.chars().map(sign).collect();
        self.words(&signs, style, marks)
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

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::core::params::ShingleRule;

    fn printed(a: &str, b: &str) -> String {
        let found = Differences::between(a, b, &ShingleRule::default(), None);
        let layout = DifferenceLayout { width: 60, marks: true, all: false };
        crate::output::terminal::piped(|out| write(&found, out, layout).unwrap())
    }

    #[test]
    fn words_change_in_their_place() {
        let a = "The quick brown fox jumps, over the lazy dog.";
        let found = printed(a, "the quick red fox jumps over the very lazy dog");
        let expected = "(-The-)(+the+) quick [-brown-] {+red+} fox jumps(-,-) over the {+very+} \
                        lazy dog(-.-)";
        assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn differing_blanks_print_as_symbols() {
        assert_eq!(printed("one two", "one  two\n"), "  one (+␣+)two(+↵+)\n");
        assert_eq!(printed("one two", "one\ttwo"), "  one(-␣-)(+⇥+)two\n");
    }

    #[test]
    fn more_than_a_hundred_spellings() {
        let word = |i: usize, odd: &str| if i % 2 == 1 { format!("{odd}{i}") } else { "w".into() };
        let text = |odd| (0..300).map(|i| word(i, odd)).collect::<Vec<_>>().join(" ");
        let found = printed(&text("x"), &format!("{} end", text("X")));
        assert_eq!(found.matches("(+").count(), 100);
        assert!(found.contains("{+end+}") && found.contains("… 50 more places"), "{found}");
    }

    #[test]
    fn shared_stretches_are_shortened() {
        let many: Vec<String> = (0..300).map(|i| format!("w{i}")).collect();
        let a = many.join(" ");
        let found = printed(&a, &format!("{a} end"));
        assert_eq!(found, "  … 292 words …\n  w292 w293 w294 w295 w296 w297 w298 w299 {+end+}\n");
        assert_eq!(printed(&a, &a), "  … 300 words …\n");
        let found = printed("x", &a);
        assert!(found.contains("… 240 words …"), "{found}");
        assert!(found.lines().all(|line| line.chars().count() <= 60), "{found}");
    }

    #[test]
    fn scripts_without_blanks_stay_together() {
        let found = printed("我喜欢吃苹果", "我喜欢吃香蕉");
        assert_eq!(found, "  我喜欢吃[-苹果-]{+香蕉+}\n");
    }

    #[test]
    fn escaped_words_wrap_by_escaped_width() {
        let word = "\u{1b}".repeat(12);
        assert_eq!(printed("", &format!("{word} end")), format!("  {{+{word}\n  end+}}\n"));
    }

    #[test]
    fn empty_texts() {
        assert_eq!(printed("", ""), "");
        assert_eq!(printed("", "one two"), "  {+one two+}\n");
        assert_eq!(printed("one two", " -- "), "  [-one two-] {+--+}\n");
        assert_eq!(printed("", " -- "), "  (+--+)\n");
    }

    #[test]
    fn more_than_a_hundred() {
        let a: Vec<String> = (0..400).map(|i| format!("w{i}")).collect();
        let b: Vec<String> =
            (0..400).map(|i| if i % 3 == 1 { format!("x{i}") } else { format!("w{i}") }).collect();
        let found = printed(&a.join(" "), &b.join(" "));
        assert!(found.ends_with("  … 33 differences more; --all shows them\n"), "{found}");
        assert_eq!(found.matches("{+").count(), 100);
    }

    #[test]
    fn numbers_and_their_things() {
        assert_eq!(
            [0, 12, 999, 1_000, 1_234_567].map(lookalike::report::phrases::thousands).join(" "),
            "0 12 999 1,000 1,234,567"
        );
        assert_eq!(
            (count(1, "word"), count(2_000, "word")),
            ("1 word".into(), "2,000 words".into())
        );
    }
}
