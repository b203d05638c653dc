//! Shows the texts of a keeper and a duplicate side by side, with differences marked and long equal
//! stretches folded.

use super::chart::ShareBar;
use super::escape::{EscapedLines, EscapedText, VisibleText};
use super::number::{Count, ExactSimilarity, Plural};
use super::page::PageSample;
use crate::difference::{DifferenceKind, Differences, Places};
use crate::report::comparison;
use lookalike_core::params::ShingleRule;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;

/// The number of shared words to show before and after a difference.
const CONTEXT: usize = 12;
/// Shorter stretches of shared words are not folded.
const LEAST_FOLDED: usize = 20;
/// The most bytes of each text to compare, to keep the page readable.
const MOST_BYTES: usize = 16_000;

/// Writes one pair, expanded or folded.
pub(super) fn pair(
    out: &mut dyn Write,
    sample: &PageSample,
    rule: &ShingleRule,
    open: bool,
) -> io::Result<()> {
    let (keeper, left_cut) = beginning(&sample.keeper_text);
    let (duplicate, right_cut) = beginning(&sample.duplicate_text);
    let found = Differences::between(keeper, duplicate, rule, None);
    let [shared, left, right] = found.counts.map(|count| count as u64);
    write!(
        out,
        "<details class=\"pair\"{}><summary><span class=\"figure\">{} {}</span><span class=\"ids\">\
         <bdi>{}</bdi> <span class=\"and\">and</span> <bdi>{}</bdi></span></summary>\n\
         <p class=\"note\">{} shared, {} only in the kept document, {} only in the duplicate.",
        if open { " open" } else { "" },
        ExactSimilarity(sample.similarity),
        ShareBar(f64::from(sample.similarity) / 1e6),
        EscapedText(&sample.keeper),
        EscapedText(&sample.duplicate),
        Plural(shared, "word"),
        Plural(left, "word"),
        Plural(right, "word")
    )?;
    same_words(out, &found.places)?;
    if left_cut || right_cut {
        write!(
            out,
            " Only the first {} bytes of each text are shown and counted here.",
            Count(MOST_BYTES as u64)
        )?;
    }
    template!(
        out,
        "pair_heads.html",
        keeper = EscapedText(&sample.keeper),
        duplicate = EscapedText(&sample.duplicate)
    )?;
    hunks(out, &found)?;
    out.write_all(b"</div></details>\n")
}

/// Writes the number of places with the same words in different spelling.
fn same_words(out: &mut dyn Write, places: &Places) -> io::Result<()> {
    if places.words == 0 {
        let rest = if places.same_words == 0 { ": both texts are equal" } else { "" };
        write!(out, " No word differs{rest}.")?;
    }
    comparison::same_words(places).map_or(Ok(()), |sentence| write!(out, " {sentence}."))
}

/// Returns the part of a text to compare, and whether more text follows. The part ends between two
/// characters.
fn beginning(text: &str) -> (&str, bool) {
    let end = text.floor_char_boundary(MOST_BYTES);
    (&text[..end], end < text.len())
}

/// Writes the rows of both sides, with folded stretches between them.
pub(super) fn hunks(out: &mut dyn Write, found: &Differences) -> io::Result<()> {
    let mut row = DifferenceRow::default();
    let last = found.stretches.len().saturating_sub(1);
    for (at, stretch) in found.stretches.iter().enumerate() {
        let [a, b] = found.texts(stretch);
        match stretch.kind {
            DifferenceKind::Changed => row.changed(a, b),
            DifferenceKind::SameWords(_) => row.same_words(a, b),
            DifferenceKind::Equal => {
                let before = if at == 0 { 0 } else { CONTEXT };
                let after = if at == last { 0 } else { CONTEXT };
                let Range { start, end } = stretch.a;
                let words = found.a.word_from(start)..found.a.word_from(end);
                if words.len() < before + after + LEAST_FOLDED {
                    row.equal(a);
                    continue;
                }
                let head = words.start + before;
                let tail = words.end - after;
                let head_end = if before == 0 { start } else { found.a.start(head) };
                let tail_start = if after == 0 { end } else { found.a.start(tail) };
                row.equal(found.a.slice(start..head_end));
                row.end(out)?;
                write!(
                    out,
                    "<details class=\"fold\"><summary>{} in both</summary>",
                    Plural((tail - head) as u64, "equal word")
                )?;
                row.equal(found.a.slice(head_end..tail_start));
                row.end(out)?;
                out.write_all(b"</details>\n")?;
                row.equal(found.a.slice(tail_start..end));
            }
        }
    }
    row.end(out)
}

/// The two sides of a row.
#[derive(Default)]
struct DifferenceRow {
    left: String,
    right: String,
}

impl DifferenceRow {
    fn equal(&mut self, text: &str) {
        let text = EscapedLines(text).to_string();
        self.left.push_str(&text);
        self.right.push_str(&text);
    }

    fn changed(&mut self, a: &str, b: &str) {
        let class = if a.is_empty() || b.is_empty() { "" } else { " class=\"changed\"" };
        for (side, tag, text) in [(&mut self.left, "del", a), (&mut self.right, "ins", b)] {
            let words = text.trim();
            let (before, after) = text.split_at(text.len() - text.trim_start().len());
            side.push_str(&EscapedLines(before).to_string());
            if !words.is_empty() {
                let text = EscapedLines(words);
                // Writing to a string cannot fail.
                let _ = write!(side, "<{tag}{class}>{text}</{tag}>");
            }
            side.push_str(&EscapedLines(after.get(words.len()..).unwrap_or_default()).to_string());
        }
    }

    fn same_words(&mut self, a: &str, b: &str) {
        for (side, tag, text) in [(&mut self.left, "del", a), (&mut self.right, "ins", b)] {
            if !text.is_empty() {
                let _ = write!(side, "<{tag} class=\"same-words\">{}</{tag}>", VisibleText(text));
            }
        }
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !(self.left.is_empty() && self.right.is_empty()) {
            let left = self.left.trim_end();
            let right = self.right.trim_end();
            writeln!(
                out,
                "<div class=\"row\"><p class=\"side\" dir=\"auto\">{left}</p>\
                 <p class=\"side\" dir=\"auto\">{right}</p></div>"
            )?;
        }
        *self = Self::default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(a: &str, b: &str) -> String {
        let sample = PageSample {
            keeper: "a".into(),
            duplicate: "b".into(),
            similarity: 900_000,
            keeper_text: a.into(),
            duplicate_text: b.into(),
        };
        let mut out = Vec::new();
        pair(&mut out, &sample, &ShingleRule::default(), true).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_side_shows_its_own_words() {
        let html = render("The quick brown fox jumps", "the quick red fox jumps <b>high");
        assert!(
            html.contains(
                "<p class=\"side\" dir=\"auto\"><del class=\"same-words\">The</del> quick \
                               <del class=\"changed\">brown</del> fox jumps</p>"
            ),
            "{html}"
        );
        assert!(
            html.contains(
                "<p class=\"side\" dir=\"auto\"><ins class=\"same-words\">the</ins> quick \
                               <ins class=\"changed\">red</ins> fox jumps <ins>&lt;b&gt;high"
            ),
            "{html}"
        );
        assert!(html.contains("4 words shared, 1 word only in the kept document, 3 words"));
        assert!(html.contains("1 place with the same words written differently (case 1)."));
    }

    #[test]
    fn spelling_changes_show_on_both_sides() {
        let html = render("Paid FOR\n-5.20 EUR", "Paid for 5,20 EUR");
        for part in [
            "<del class=\"same-words\">FOR\n-</del>5<del class=\"same-words\">.</del>20 EUR</p>",
            "<ins class=\"same-words\">for </ins>5<ins class=\"same-words\">,</ins>20 EUR</p>",
            "No word differs.",
            "2 places with the same words written differently (case 1, punctuation 2, white space \
             1).",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
        assert!(render("a b", "a b\n").contains("<ins class=\"same-words\">↵\n</ins>"));
        assert!(render("a b", "a b").contains("No word differs: both texts are equal."));
    }

    #[test]
    fn long_equal_stretches_are_folded() {
        let words: Vec<String> = (0..200).map(|i| format!("w{i}")).collect();
        let text = words.join(" ");
        let html = render(&format!("{text} x"), &format!("{text} y"));
        assert!(html.contains("<summary>188 equal words in both</summary>"), "{html}");
        assert!(words.iter().all(|word| html.matches(word.as_str()).count() >= 2));
        assert!(render(&text, &text).contains("No word differs"));
    }

    #[test]
    fn long_texts_are_truncated_with_notice() {
        let text = "ü ".repeat(40_000);
        assert!(render(&text, &text).contains("Only the first 16,000 bytes"));
        assert!(!render("", "").contains("Only the first"));
    }
}
