//! A keeper and a duplicate → their texts side by side, differences marked, long equal stretches
//! folded.

use super::chart::Bar;
use super::escape::{Lines, Text};
use super::number::{Count, Plural, Similarity};
use super::page::Sample;
use crate::difference::{Differences, Stretch};
use lookalike_core::params::ShingleRule;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;

/// Words that both texts share, shown before and after a difference.
const CONTEXT: usize = 12;
/// A stretch of fewer shared words is not folded.
const LEAST_FOLDED: usize = 20;
/// Bytes of each text that are compared; a page is for looking at.
const MOST_BYTES: usize = 40_000;

/// Writes one pair, open or to be opened.
pub(super) fn pair(
    out: &mut dyn Write,
    sample: &Sample,
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
         <p class=\"note\">{} shared, {} only in the document that stays, {} only in the one that \
         would go.",
        if open { " open" } else { "" },
        Similarity(sample.similarity),
        Bar(f64::from(sample.similarity) / 1e6),
        Text(&sample.keeper),
        Text(&sample.duplicate),
        Plural(shared, "word"),
        Plural(left, "word"),
        Plural(right, "word")
    )?;
    if found.changes().next().is_none() {
        out.write_all(b" No word differs; what may differ is case, punctuation or blanks.")?;
    }
    if left_cut || right_cut {
        write!(out, " Only the first {} bytes of each text are shown.", Count(MOST_BYTES as u64))?;
    }
    write!(
        out,
        "</p>\n<div class=\"sides\" tabindex=\"0\" role=\"group\" aria-label=\"Both texts side by \
         side\"><div class=\"row heads\"><p>Stays: <bdi>{}</bdi></p><p>Would go: <bdi>{}</bdi></p>\
         </div>\n",
        Text(&sample.keeper),
        Text(&sample.duplicate)
    )?;
    hunks(out, &found)?;
    out.write_all(b"</div></details>\n")
}

/// The part of a text that is compared, ending between characters, and whether there is more.
fn beginning(text: &str) -> (&str, bool) {
    let mut end = MOST_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text.get(..end).unwrap_or(text), end < text.len())
}

/// Rows of both sides; between them what is folded.
fn hunks(out: &mut dyn Write, found: &Differences) -> io::Result<()> {
    let mut row = Row::default();
    let last = found.stretches.len().saturating_sub(1);
    for (at, stretch) in found.stretches.iter().enumerate() {
        if !stretch.shared {
            row.changed(found, stretch);
            continue;
        }
        let before = if at == 0 { 0 } else { CONTEXT };
        let after = if at == last { 0 } else { CONTEXT };
        let length = stretch.a.len();
        if length < before + after + LEAST_FOLDED {
            row.shared(found, stretch.a.clone(), stretch.b.clone());
            continue;
        }
        let part = |range: &Range<usize>, from, to| range.start + from..range.start + to;
        row.shared(found, part(&stretch.a, 0, before), part(&stretch.b, 0, before));
        row.end(out)?;
        let tail = length - after;
        write!(
            out,
            "<details class=\"fold\"><summary>{} in both</summary>",
            Plural((tail - before) as u64, "equal word")
        )?;
        row.shared(found, part(&stretch.a, before, tail), part(&stretch.b, before, tail));
        row.end(out)?;
        out.write_all(b"</details>\n")?;
        row.shared(found, part(&stretch.a, tail, length), part(&stretch.b, tail, length));
    }
    row.end(out)
}

/// What stands side by side.
#[derive(Default)]
struct Row {
    left: String,
    right: String,
}

impl Row {
    fn shared(&mut self, found: &Differences, a: Range<usize>, b: Range<usize>) {
        self.left.push_str(&Lines(found.a.text(a)).to_string());
        self.right.push_str(&Lines(found.b.text(b)).to_string());
    }

    fn changed(&mut self, found: &Differences, stretch: &Stretch) {
        let (a, b) = (found.a.text(stretch.a.clone()), found.b.text(stretch.b.clone()));
        let class = if a.is_empty() || b.is_empty() { "" } else { " class=\"changed\"" };
        for (side, tag, text) in [(&mut self.left, "del", a), (&mut self.right, "ins", b)] {
            let words = text.trim_end();
            if !words.is_empty() {
                let text = Lines(words);
                // Writing to a string does not fail.
                let _ = write!(side, "<{tag}{class}>{text}</{tag}>");
            }
            side.push_str(&Lines(text.get(words.len()..).unwrap_or_default()).to_string());
        }
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !(self.left.is_empty() && self.right.is_empty()) {
            let (left, right) = (self.left.trim_end(), self.right.trim_end());
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

    fn shown(a: &str, b: &str) -> String {
        let sample = Sample {
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
        let html = shown("The quick brown fox jumps", "the quick red fox jumps <b>high");
        assert!(
            html.contains(
                "<p class=\"side\" dir=\"auto\">The quick \
                               <del class=\"changed\">brown</del> fox jumps</p>"
            ),
            "{html}"
        );
        assert!(
            html.contains(
                "<p class=\"side\" dir=\"auto\">the quick \
                               <ins class=\"changed\">red</ins> fox jumps &lt;<ins>b&gt;high"
            ),
            "{html}"
        );
        assert!(html.contains("4 words shared, 1 word only in the document that stays, 3 words"));
    }

    #[test]
    fn long_equal_stretches_are_folded_and_complete() {
        let words: Vec<String> = (0..200).map(|i| format!("w{i}")).collect();
        let text = words.join(" ");
        let html = shown(&format!("{text} x"), &format!("{text} y"));
        assert!(html.contains("<summary>188 equal words in both</summary>"), "{html}");
        assert!(words.iter().all(|word| html.matches(word.as_str()).count() >= 2));
        assert!(shown(&text, &text).contains("No word differs"));
    }

    #[test]
    fn long_texts_are_cut_and_it_is_said() {
        let text = "ü ".repeat(40_000);
        assert!(shown(&text, &text).contains("Only the first 40,000 bytes"));
        assert!(!shown("", "").contains("Only the first"));
    }
}
