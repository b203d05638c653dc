//! Two texts → what they share and what only one has, word by word.
//!
//! Words are those of the shingle rule, so what it does not see (case, punctuation, blanks) is no
//! difference. Texts compared by characters or bytes are cut into words, too.

use lookalike_core::params::{Case, ShingleRule, TokenRule, Unit};
use lookalike_core::text::{self, CharClass};
use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// One way from the first text to the second: stretches of words in order.
#[derive(Debug, Clone)]
pub struct Differences<'a> {
    /// The first text.
    pub a: Words<'a>,
    /// The second text.
    pub b: Words<'a>,
    /// Shared and changed stretches, alternating.
    pub stretches: Vec<Stretch>,
    /// Words on the way that both texts have, that the first alone has, the second alone.
    pub counts: [usize; 3],
    /// Whether time ran out before the shortest way was found.
    pub cut_short: bool,
}

/// Words of the first text and words of the second; the same, or different ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Whether both hold the same words.
    pub shared: bool,
    /// Places of words in the first text, from 0.
    pub a: Range<usize>,
    /// Places of words in the second text, from 0.
    pub b: Range<usize>,
}

impl<'a> Differences<'a> {
    /// Compares the words of two texts (Myers 1986): O(n·d) for n words and d differences. With
    /// `patience` it ends after that time with a way that is right but longer, which then depends
    /// on how fast the machine is.
    pub fn between(a: &'a str, b: &'a str, rule: &ShingleRule, patience: Option<Duration>) -> Self {
        let (a, b) = (Words::of(a, rule), Words::of(b, rule));
        let [a_keys, b_keys] = {
            let mut numbers = HashMap::new();
            [&a, &b].map(|words| words.numbered(rule.case(), &mut numbers))
        };
        let deadline = patience.map(|patience| Instant::now() + patience);
        let found = operations(&a_keys, &b_keys, deadline);
        let cut_short = deadline.is_some_and(|deadline| Instant::now() > deadline);
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut counts = [0; 3];
        for op in found {
            let shared = matches!(op, DiffOp::Equal { .. });
            let (a, b) = (op.old_range(), op.new_range());
            if shared {
                counts[0] += a.len();
            } else {
                counts[1] += a.len();
                counts[2] += b.len();
            }
            match stretches.last_mut().filter(|last| last.shared == shared) {
                Some(last) => (last.a.end, last.b.end) = (a.end, b.end),
                None => stretches.push(Stretch { shared, a, b }),
            }
        }
        Self { a, b, stretches, counts, cut_short }
    }

    /// The changed stretches in order.
    pub fn changes(&self) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter().filter(|stretch| !stretch.shared)
    }
}

/// One way from `a` to `b`. Asking for this algorithm by name would compile all there are.
fn operations(a: &[u32], b: &[u32], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut way = Compact::new(Replace::new(Capture::new()), a, b);
    match myers::diff_deadline(&mut way, a, 0..a.len(), b, 0..b.len(), deadline) {
        Ok(()) => way.into_inner().into_inner().into_ops(),
        Err(never) => match never {},
    }
}

/// A text and where its words are.
#[derive(Debug, Clone)]
pub struct Words<'a> {
    text: &'a str,
    places: Vec<Range<usize>>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str, rule: &ShingleRule) -> Self {
        let tokens = if rule.unit() == Unit::Words { rule.tokens() } else { TokenRule::Words };
        let mut places: Vec<Range<usize>> = Vec::new();
        let mut open = false;
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let (inside, alone) = match (tokens, text::class(c)) {
                (TokenRule::Whitespace, _) => (!text::is_white_space(c), false),
                (_, CharClass::Separator) => (false, false),
                (TokenRule::Words, CharClass::Unspaced) => (true, true),
                _ => (true, false),
            };
            match places.last_mut().filter(|_| open && inside && !alone) {
                Some(word) => word.end = end,
                None if inside => places.push(at..end),
                None => {}
            }
            open = inside && !alone;
        }
        Self { text, places }
    }

    /// Equal words, equal numbers.
    fn numbered(&self, case: Case, numbers: &mut HashMap<Cow<'a, str>, u32>) -> Vec<u32> {
        let number = |place: &Range<usize>| {
            let word = &self.text[place.clone()];
            let folded = (case == Case::Fold).then(|| text::lower_case(word));
            // Most words are in lower case and need no memory of their own.
            let word = match folded.filter(|folded| folded != word) {
                Some(folded) => Cow::Owned(folded),
                None => Cow::Borrowed(word),
            };
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        };
        self.places.iter().map(number).collect()
    }

    /// Whether white space stands right before a word, or before the end.
    pub fn is_after_blank(&self, word: usize) -> bool {
        let end = self.places.get(word).map_or(self.text.len(), |place| place.start);
        self.text[..end].ends_with(char::is_whitespace)
    }

    /// Some words, each with what stands between it and the next; the first one of the text with
    /// what stands before it. Places beyond the last word count as the end of the text.
    pub fn text(&self, words: Range<usize>) -> &'a str {
        let start = |word: usize| match self.places.get(word) {
            Some(_) if word == 0 => 0,
            Some(place) => place.start,
            None => self.text.len(),
        };
        if words.is_empty() { "" } else { &self.text[start(words.start)..start(words.end)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_hold_all_words_of_both() {
        let (a, b) = ("The quick brown fox, it jumps.", "the quick red fox jumps over");
        let found = Differences::between(a, b, &ShingleRule::default(), None);
        let sides = |stretch: &Stretch| {
            let (a, b) = (found.a.text(stretch.a.clone()), found.b.text(stretch.b.clone()));
            (stretch.shared, a.to_owned(), b.to_owned())
        };
        let told: Vec<_> = found.stretches.iter().map(sides).collect();
        assert_eq!(told.iter().map(|(_, a, _)| a.as_str()).collect::<String>(), a);
        assert_eq!(told.iter().map(|(_, _, b)| b.as_str()).collect::<String>(), b);
        assert_eq!(told[1], (false, "brown ".into(), "red ".into()));
        assert_eq!(told[3], (false, "it ".into(), String::new()));
        assert_eq!(found.counts, [4, 2, 2]);
        assert_eq!(found.changes().count(), 3);
        assert!(!found.cut_short);
    }

    #[test]
    fn places_beyond_the_end_are_the_end() {
        let found = Differences::between("one two", "", &ShingleRule::default(), None);
        assert_eq!(found.a.text(1..9), "two");
        assert_eq!(found.b.text(0..3), "");
        assert!(!found.a.is_after_blank(7));
    }
}
