//! Finds the signatures of a message, and removes short ones.
//!
//! A signature begins with a line `-- ` or `--`, a PGP signature, or the rule above the footer of a
//! mailing list. It ends with its section: at the next quotation, or at the end. Such lines also
//! separate the articles of a newsletter. Therefore a signature has at most [`MAX_LINES`] lines
//! that are not blank, [`MAX_WORDS`] words and [`MAX_BYTES`] bytes. If a section has several
//! beginnings, the first within these bounds counts. A message of more than [`SHORT_MESSAGE`] words
//! keeps at least half of its words; its last signatures are removed first. A signature without
//! text before it is kept.
//!
//! `docs/reference/files.md` has the measurement: 98 % of the signatures in two sets of messages
//! are within the bounds.

use crate::reading::CutText;
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum lines of a signature that are not blank.
pub(super) const MAX_LINES: usize = 24;
/// Maximum words of a signature.
pub(super) const MAX_WORDS: usize = 120;
/// Maximum bytes of a signature.
pub(super) const MAX_BYTES: usize = 2_000;
/// Maximum words of a message that may lose more than half.
pub(super) const SHORT_MESSAGE: usize = 100;

/// Phrases in the footer of a mailing list.
const FOOTERS: [&str; 6] =
    phrases("mailing list|mailinglist|unsubscribe|sponsored by|listinfo|abbestell");

/// Whether `line` begins a signature or the footer of a mailing list.
pub(super) fn message_start(line: &str, rest: &str) -> bool {
    let first = line.trim_end();
    if first == "--" || first == "-----BEGIN PGP SIGNATURE-----" {
        return true;
    }
    let rule = first.len() >= 16
        && (first.starts_with("____") || first.starts_with("----") || first.starts_with("===="));
    rule && rest.lines().skip(1).take(4).any(|line| contains_phrase(line, &FOOTERS))
}

/// Whether a line of less than 200 bytes contains one of `phrases`, in any case.
pub(super) fn contains_phrase(line: &str, phrases: &[&str]) -> bool {
    line.len() < 200 && {
        let line = line.to_lowercase();
        phrases.iter().any(|phrase| line.contains(phrase))
    }
}

/// Splits a list of phrases at `|` at compile time, because each line of a message is compared with
/// some phrases.
pub(super) const fn phrases<const N: usize>(list: &'static str) -> [&'static str; N] {
    let mut phrases = [""; N];
    let mut rest = list;
    let mut found = 0;
    let mut length = 0;
    while length < rest.len() {
        if rest.as_bytes()[length] == b'|' {
            phrases[found] = rest.split_at(length).0;
            rest = rest.split_at(length + 1).1;
            found += 1;
            length = 0;
        } else {
            length += 1;
        }
    }
    assert!(found + 1 == N, "N is the number of phrases");
    phrases[found] = rest;
    phrases
}

/// The signatures of one message, as byte ranges of its text.
#[derive(Debug, Default)]
pub(super) struct MailSignatures {
    /// Beginnings in the current section that are at most [`MAX_BYTES`] before its end.
    beginnings: VecDeque<usize>,
    ranges: Vec<Range<usize>>,
    /// Whether the message has a text above its first signature.
    has_text: bool,
}

impl MailSignatures {
    /// Records that a signature may begin at the end of `text`.
    pub(super) fn begin(&mut self, text: &str) {
        self.drop_far(text);
        self.has_text = self.has_text || !text.trim().is_empty();
        if self.has_text {
            self.beginnings.push_back(text.len());
        }
    }

    /// Ends the section at the end of `text`.
    pub(super) fn end_section(&mut self, text: &str) {
        self.drop_far(text);
        // Signatures with later beginnings are shorter.
        let long = self.beginnings.partition_point(|start| !is_short(&text[*start..]));
        self.ranges.extend(self.beginnings.get(long).map(|start| *start..text.len()));
        self.beginnings.clear();
    }

    /// Drops beginnings that are too far before the end of `text`.
    fn drop_far(&mut self, text: &str) {
        while self.beginnings.front().is_some_and(|start| text.len() - start > MAX_BYTES) {
            self.beginnings.pop_front();
        }
    }

    /// Removes the signatures from the text of the message, and returns the amount removed. Takes
    /// O(length) time.
    pub(super) fn cut(self, text: &mut String) -> CutText {
        let mut cut = CutText::default();
        if self.ranges.is_empty() {
            return cut;
        }
        let count = |text: &str, most| text.split_whitespace().take(most).count();
        let words = |range: &Range<usize>| count(&text[range.clone()], usize::MAX);
        // With this many words, the message may lose all of its signatures.
        let limit = 2 * self.ranges.iter().map(words).sum::<usize>();
        let all = count(text, limit) as u64;
        let most = if all > SHORT_MESSAGE as u64 { all / 2 } else { all };
        let mut first = self.ranges.len();
        for range in self.ranges.iter().rev() {
            let words = cut.words + words(range) as u64;
            if words > most {
                break;
            }
            cut = CutText { words, bytes: cut.bytes + range.len() as u64 };
            first -= 1;
        }
        let mut kept = String::with_capacity(text.len());
        let mut at = 0;
        for range in &self.ranges[first..] {
            kept.push_str(&text[at..range.start]);
            at = range.end;
        }
        kept.push_str(&text[at..]);
        *text = kept;
        cut
    }
}

/// Whether a section is within the bounds of a signature.
fn is_short(section: &str) -> bool {
    section.len() <= MAX_BYTES
        && section.lines().filter(|line| !line.trim().is_empty()).count() <= MAX_LINES
        && section.split_whitespace().count() <= MAX_WORDS
}

#[cfg(test)]
mod tests {
    use super::super::quotes;
    use super::*;
    use crate::reading::ExtractOptions;

    fn cut(text: &str) -> (String, CutText) {
        let (mut out, mut found) = (String::new(), MailSignatures::default());
        let options =
            ExtractOptions { quotes: true, signatures: false, ..ExtractOptions::default() };
        quotes::cut(text, &options, &mut out, &mut found, &mut || Ok(())).unwrap();
        let cut = found.cut(&mut out);
        (out, cut)
    }

    fn words(count: usize) -> String {
        "word ".repeat(count) + "\n"
    }

    #[test]
    fn a_newsletter_keeps_its_articles() {
        let rule = "-".repeat(60);
        let article = format!("{rule}\nsponsored by Example\n{}", words(200));
        let newsletter = format!("News\n{article}{article}{rule}\nunsubscribe: here\n");
        let (text, lost) = cut(&newsletter);
        assert_eq!(text, format!("News\n{article}{article}"));
        assert_eq!(lost, CutText { words: 3, bytes: 79 });
    }

    #[test]
    fn a_long_message_keeps_half() {
        let signature = format!("-- \n{}", words(60));
        let quoted = format!("> {}", words(1));
        let text = format!("{}{signature}{quoted}{signature}", words(80));
        let kept = format!("{}{signature}{quoted}", words(80));
        assert_eq!(cut(&text).0, kept);
        let short = format!("{}{signature}", words(20));
        assert_eq!(cut(&short), (words(20), CutText { words: 61, bytes: signature.len() as u64 }));
    }

    #[test]
    fn overlong_signatures_stay() {
        for tail in [words(MAX_WORDS), "line\n".repeat(MAX_LINES), "x".repeat(MAX_BYTES)] {
            let text = format!("{}-- \n{tail}", words(300));
            assert_eq!(cut(&text), (text.clone(), CutText::default()));
        }
        let text = format!("{}-- \n{}", words(300), words(MAX_WORDS - 1));
        assert_eq!(cut(&text).0, words(300));
    }

    #[test]
    fn leading_signatures_are_kept() {
        assert_eq!(cut("\n-- \nAnn\n").0, "\n-- \nAnn\n");
    }

    #[test]
    fn many_beginnings_take_linear_time() {
        let text = format!("a\n{}", "--\n".repeat(200_000));
        let (text, _) = cut(&text);
        assert!(text.starts_with("a\n--\n"));
    }
}
