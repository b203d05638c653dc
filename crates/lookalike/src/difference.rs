//! Compares two texts word by word.
//!
//! The shingle rule determines the words and whether their case matters. If the rule measures
//! characters or bytes, the texts are divided into words as well. Texts with equal words can still
//! differ in case, punctuation and white space. Such stretches have a kind of their own,
//! [`DifferenceKind::SameWords`], so that both texts can be shown unchanged.

use crate::moved_blocks::moved_blocks;
pub use crate::moved_blocks::{MIN_MOVED_WORDS, MovedBlock};
use lookalike_core::params::{Case, ShingleRule, TokenRule, Unit};
use lookalike_core::text::{self, CharClass};
use serde::Serialize;
use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A sequence of edits from the first text to the second, as stretches of both texts in order.
#[derive(Debug, Clone)]
pub struct Differences<'a> {
    /// The first text.
    pub a: WordPositions<'a>,
    /// The second text.
    pub b: WordPositions<'a>,
    /// Stretches that cover both texts completely. Adjacent stretches are of different kinds.
    pub stretches: Vec<DifferencePart>,
    /// The numbers of words in both texts, only in the first, and only in the second.
    pub counts: [usize; 3],
    /// Number of stretches that differ.
    pub places: Places,
    /// Blocks of words in changed stretches of both texts that moved to another place. They are
    /// byte ranges of both texts, in the order of the first text.
    pub moved: Vec<MovedBlock>,
    /// Whether time ran out before the shortest sequence was found.
    pub cut_short: bool,
}

/// A part of the first text, and the corresponding part of the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferencePart {
    /// How much the two parts have in common.
    pub kind: DifferenceKind,
    /// Bytes of the first text.
    pub a: Range<usize>,
    /// Bytes of the second text.
    pub b: Range<usize>,
}

/// How much the two parts of a [`DifferencePart`] have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// All bytes are equal.
    Equal,
    /// The words are equal, but not all bytes.
    SameWords(Variation),
    /// The words differ.
    Changed,
}

/// How two parts with the same words differ. At least one field is true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Variation {
    /// Lower and upper case of a word.
    pub case: bool,
    /// Punctuation, symbols and other characters outside words, except white space.
    pub punctuation: bool,
    /// White space.
    pub white_space: bool,
}

/// Numbers of [`DifferencePart`]es that differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Places {
    /// The number of [`DifferenceKind::Changed`].
    pub words: usize,
    /// The number of [`DifferenceKind::SameWords`].
    pub same_words: usize,
    /// How many of `same_words` differ in case. A stretch can count in several of the fields
    /// `case`, `punctuation` and `white_space`.
    pub case: usize,
    /// How many of `same_words` differ in punctuation.
    pub punctuation: usize,
    /// How many of `same_words` differ in white space.
    pub white_space: usize,
}

impl DifferencePart {
    /// Whether both parts are equal byte for byte.
    pub fn is_equal(&self) -> bool {
        self.kind == DifferenceKind::Equal
    }

    /// Whether both parts have the same words.
    pub fn has_same_words(&self) -> bool {
        self.kind != DifferenceKind::Changed
    }
}

impl<'a> Differences<'a> {
    /// Compares the words of two texts (Myers 1986). Takes O(n·d) time for n words and d
    /// differences. If `patience` runs out, returns a valid but longer sequence of edits, which
    /// depends on the speed of the machine.
    pub fn between(a: &'a str, b: &'a str, rule: &ShingleRule, patience: Option<Duration>) -> Self {
        let a = WordPositions::of(a, rule);
        let b = WordPositions::of(b, rule);
        let [a_keys, b_keys] = {
            let mut numbers = HashMap::new();
            [&a, &b].map(|words| words.numbered(rule.case(), &mut numbers))
        };
        let deadline = patience.map(|patience| Instant::now() + patience);
        let found = operations(&a_keys, &b_keys, deadline);
        let cut_short = deadline.is_some_and(|deadline| Instant::now() > deadline);
        let mut runs: Vec<(bool, Range<usize>, Range<usize>)> = Vec::new();
        let mut counts = [0; 3];
        for op in found {
            let shared = matches!(op, DiffOp::Equal { .. });
            let a = op.old_range();
            let b = op.new_range();
            if shared {
                counts[0] += a.len();
            } else {
                counts[1] += a.len();
                counts[2] += b.len();
            }
            match runs.last_mut().filter(|last| last.0 == shared) {
                Some(last) => {
                    last.1.end = a.end;
                    last.2.end = b.end;
                }
                None => runs.push((shared, a, b)),
            }
        }
        let changed: Vec<_> = runs.iter().filter(|(shared, ..)| !shared).collect();
        let changed: Vec<_> = changed.iter().map(|(_, a, b)| [a.clone(), b.clone()]).collect();
        let moved = moved_blocks(&a_keys, &b_keys, &changed);
        let moved = moved.into_iter().map(|block| block.in_bytes(&a, &b)).collect();
        let mut builder = DifferenceBuilder { a: &a, b: &b, stretches: Vec::new() };
        for (shared, a, b) in runs {
            if shared {
                a.zip(b).for_each(|(a, b)| builder.shared(a, b));
            } else {
                builder.changed(&a, &b);
            }
        }
        let stretches = builder.finish();
        let places = Places::of(&stretches);
        Self { a, b, stretches, counts, places, moved, cut_short }
    }

    /// Returns the text of a stretch in the first text and in the second.
    pub fn texts(&self, stretch: &DifferencePart) -> [&'a str; 2] {
        [self.a.slice(stretch.a.clone()), self.b.slice(stretch.b.clone())]
    }

    /// The stretches whose words differ, in order.
    pub fn changes(&self) -> impl Iterator<Item = &DifferencePart> {
        self.stretches.iter().filter(|stretch| !stretch.has_same_words())
    }

    /// The stretches with the same words but different bytes, in order.
    pub fn variations(&self) -> impl Iterator<Item = &DifferencePart> {
        let is_variation = |kind| matches!(kind, DifferenceKind::SameWords(_));
        self.stretches.iter().filter(move |stretch| is_variation(stretch.kind))
    }
}

impl MovedBlock {
    /// Converts a block from ranges of words to ranges of bytes.
    fn in_bytes(&self, a: &WordPositions<'_>, b: &WordPositions<'_>) -> Self {
        Self { a: a.bytes(&self.a), b: b.bytes(&self.b) }
    }
}

impl Places {
    fn of(stretches: &[DifferencePart]) -> Self {
        let mut places = Self::default();
        for stretch in stretches {
            match stretch.kind {
                DifferenceKind::Equal => {}
                DifferenceKind::Changed => places.words += 1,
                DifferenceKind::SameWords(Variation { case, punctuation, white_space }) => {
                    places.same_words += 1;
                    places.case += usize::from(case);
                    places.punctuation += usize::from(punctuation);
                    places.white_space += usize::from(white_space);
                }
            }
        }
        places
    }
}

/// Adds stretches from the first byte of both texts to the last.
struct DifferenceBuilder<'a, 'w> {
    a: &'w WordPositions<'a>,
    b: &'w WordPositions<'a>,
    stretches: Vec<DifferencePart>,
}

impl DifferenceBuilder<'_, '_> {
    /// The ends of the stretches so far in each text.
    fn ends(&self) -> [usize; 2] {
        self.stretches.last().map_or([0, 0], |last| [last.a.end, last.b.end])
    }

    /// Adds the word `a` of the first text and the equal word `b` of the second, and the characters
    /// before them.
    fn shared(&mut self, a: usize, b: usize) {
        let (Some(a), Some(b)) = (self.a.places.get(a), self.b.places.get(b)) else { return };
        let [a_end, b_end] = [a.end, b.end];
        self.gap(a.start, b.start);
        if self.a.text[a.clone()] == self.b.text[b.clone()] {
            self.push(DifferenceKind::Equal, a_end, b_end);
        } else {
            let case = Variation { case: true, ..Variation::default() };
            self.push(DifferenceKind::SameWords(case), a_end, b_end);
        }
    }

    /// Adds the characters before the next word or the end. They reach up to the bytes `a_end` and
    /// `b_end`.
    fn gap(&mut self, a_end: usize, b_end: usize) {
        let [a_start, b_start] = self.ends();
        let a = &self.a.text[a_start..a_end];
        let b = &self.b.text[b_start..b_end];
        let prefix = common_prefix(a, b);
        let a = &a[prefix..];
        let b = &b[prefix..];
        let suffix = common_suffix(a, b);
        let parts = [a, b].map(|part| &part[..part.len() - suffix]);
        let is_seen = |c: char| !text::is_white_space(c);
        let punctuation = parts.iter().any(|part| part.contains(is_seen));
        let white_space = {
            let [a, b] = parts.map(|part| part.chars().filter(|c| text::is_white_space(*c)));
            !a.eq(b)
        };
        self.push(DifferenceKind::Equal, a_start + prefix, b_start + prefix);
        let variation = Variation { case: false, punctuation, white_space };
        self.push(DifferenceKind::SameWords(variation), a_end - suffix, b_end - suffix);
        self.push(DifferenceKind::Equal, a_end, b_end);
    }

    /// Adds words that differ, with the characters between them and the next word. Differences in
    /// the preceding characters belong to the same stretch.
    fn changed(&mut self, a: &Range<usize>, b: &Range<usize>) {
        let [a_start, b_start] = self.ends();
        let a_end = self.a.start(a.end);
        let b_end = self.b.start(b.end);
        let before = |words: &WordPositions, run: &Range<usize>, from: usize, end: usize| {
            let first = if run.is_empty() { end } else { words.start(run.start) };
            from..first
        };
        let a_gap = &self.a.text[before(self.a, a, a_start, a_end)];
        let b_gap = &self.b.text[before(self.b, b, b_start, b_end)];
        let prefix = common_prefix(a_gap, b_gap);
        self.push(DifferenceKind::Equal, a_start + prefix, b_start + prefix);
        // If one of the runs is empty, its text has only separators here. The separators that both
        // texts have before the next word are then an equal stretch.
        let suffix = if a.is_empty() || b.is_empty() {
            let a_rest = &self.a.text[a_start + prefix..a_end];
            let b_rest = &self.b.text[b_start + prefix..b_end];
            let most = [(self.a, a, a_rest), (self.b, b, b_rest)].map(|(words, run, rest)| {
                let last = words.places.get(run.end.wrapping_sub(1));
                let end = last.filter(|_| !run.is_empty()).map(|place| place.end);
                end.map_or(rest.len(), |end| words.start(run.end) - end)
            });
            let [a_most, b_most] = most;
            common_suffix(&a_rest[a_rest.len() - a_most..], &b_rest[b_rest.len() - b_most..])
        } else {
            0
        };
        self.push(DifferenceKind::Changed, a_end - suffix, b_end - suffix);
        self.push(DifferenceKind::Equal, a_end, b_end);
    }

    /// Adds the end of both texts.
    fn finish(mut self) -> Vec<DifferencePart> {
        self.gap(self.a.text.len(), self.b.text.len());
        self.stretches
    }

    /// Adds a stretch up to the bytes `a_end` and `b_end`, or extends the last one. Consecutive
    /// words that differ in case, with blanks between them, become one stretch.
    fn push(&mut self, kind: DifferenceKind, a_end: usize, b_end: usize) {
        let [a_start, b_start] = self.ends();
        if a_start == a_end && b_start == b_end {
            return;
        }
        if let (DifferenceKind::SameWords(_), [.., before, blank]) = (kind, &mut *self.stretches) {
            let text = &self.a.text[blank.a.clone()];
            let joins =
                blank.is_equal() && text.chars().all(|c| c != '\n' && text::is_white_space(c));
            if joins && matches!(before.kind, DifferenceKind::SameWords(_)) {
                before.a.end = blank.a.end;
                before.b.end = blank.b.end;
                self.stretches.pop();
            }
        }
        if let Some(last) = self.stretches.last_mut() {
            let joined = match (last.kind, kind) {
                (DifferenceKind::SameWords(one), DifferenceKind::SameWords(other)) => {
                    Some(DifferenceKind::SameWords(one.or(other)))
                }
                (one, other) => (one == other).then_some(one),
            };
            if let Some(kind) = joined {
                *last = DifferencePart { kind, a: last.a.start..a_end, b: last.b.start..b_end };
                return;
            }
        }
        self.stretches.push(DifferencePart { kind, a: a_start..a_end, b: b_start..b_end });
    }
}

impl Variation {
    fn or(self, other: Self) -> Self {
        Self {
            case: self.case || other.case,
            punctuation: self.punctuation || other.punctuation,
            white_space: self.white_space || other.white_space,
        }
    }
}

/// Returns the length of the longest common prefix that ends between characters.
fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

/// Returns the length of the longest common suffix that begins between characters.
fn common_suffix(a: &str, b: &str) -> usize {
    let pairs = a.chars().rev().zip(b.chars().rev());
    pairs.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

/// Returns the edits from `a` to `b`. Calls Myers' algorithm directly, because the function of
/// `similar` that takes an algorithm as an argument would also compile all others.
fn operations(a: &[u32], b: &[u32], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), a, b);
    match myers::diff_deadline(&mut hook, a, 0..a.len(), b, 0..b.len(), deadline) {
        Ok(()) => hook.into_inner().into_inner().into_ops(),
        Err(never) => match never {},
    }
}

/// A text and the positions of its words.
#[derive(Debug, Clone)]
pub struct WordPositions<'a> {
    text: &'a str,
    places: Vec<Range<usize>>,
}

impl<'a> WordPositions<'a> {
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

    /// Numbers words. Equal words have equal numbers.
    fn numbered(&self, case: Case, numbers: &mut HashMap<Cow<'a, str>, u32>) -> Vec<u32> {
        let number = |place: &Range<usize>| {
            let word = &self.text[place.clone()];
            let folded = (case == Case::Fold).then(|| text::lower_case(word));
            // Most words are in lower case and can be borrowed.
            let word = match folded.filter(|folded| folded != word) {
                Some(folded) => Cow::Owned(folded),
                None => Cow::Borrowed(word),
            };
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        };
        self.places.iter().map(number).collect()
    }

    /// Returns a part of the text.
    pub fn slice(&self, bytes: Range<usize>) -> &'a str {
        &self.text[bytes]
    }

    /// Returns the byte range from the start of the first of `words` to the end of the last.
    fn bytes(&self, words: &Range<usize>) -> Range<usize> {
        let last = words.end.checked_sub(1).and_then(|last| self.places.get(last));
        self.start(words.start)..last.map_or(self.text.len(), |place| place.end)
    }

    /// Returns the index of the first word that begins at `byte` or later, or the number of words
    /// if none does.
    pub fn word_from(&self, byte: usize) -> usize {
        self.places.partition_point(|place| place.start < byte)
    }

    /// Returns the byte at which a word begins, or the length of the text if there is no such word.
    pub fn start(&self, word: usize) -> usize {
        self.places.get(word).map_or(self.text.len(), |place| place.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the kind and the texts of each stretch: `=`, `~` or `!`.
    fn stretches(a: &str, b: &str) -> Vec<(char, String, String)> {
        let found = Differences::between(a, b, &ShingleRule::default(), None);
        let entry = |stretch: &DifferencePart| {
            let [a, b] = found.texts(stretch);
            let kind = match stretch.kind {
                DifferenceKind::Equal => '=',
                DifferenceKind::SameWords(_) => '~',
                DifferenceKind::Changed => '!',
            };
            (kind, a.to_owned(), b.to_owned())
        };
        found.stretches.iter().map(entry).collect()
    }

    #[track_caller]
    fn assert_stretches(a: &str, b: &str, expected: &[(char, &str, &str)]) {
        let found = stretches(a, b);
        let found: Vec<_> = found.iter().map(|(k, a, b)| (*k, a.as_str(), b.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn moved_blocks_lie_within_differences() {
        let block = "This one was at the front, and is at the end.";
        let words: Vec<String> = (0..40).map(|i| format!("word{i}")).collect();
        let rest = format!(" {}", words.join(" "));
        let (a, b) = (format!("{block}{rest} ends"), format!("{rest} begins. {block}"));
        let found = Differences::between(&a, &b, &ShingleRule::default(), None);
        let texts = found.moved.iter().map(|moved| [&a[moved.a.clone()], &b[moved.b.clone()]]);
        let words = "This one was at the front, and is at the end";
        assert_eq!(texts.collect::<Vec<_>>(), [[words; 2]]);
        for moved in &found.moved {
            let inside = |stretch: &DifferencePart| {
                let [a, b] = [(&stretch.a, &moved.a), (&stretch.b, &moved.b)]
                    .map(|(all, part)| all.start <= part.start && part.end <= all.end);
                !stretch.has_same_words() && (a || b)
            };
            assert_eq!(found.stretches.iter().filter(|stretch| inside(stretch)).count(), 2);
        }
        assert!(Differences::between(&a, &a, &ShingleRule::default(), None).moved.is_empty());
    }

    #[test]
    fn stretches_hold_all_words_of_both() {
        let (a, b) = ("The quick brown fox, it jumps.", "the quick red fox jumps over");
        let found = Differences::between(a, b, &ShingleRule::default(), None);
        assert_stretches(
            a,
            b,
            &[
                ('~', "The", "the"),
                ('=', " quick ", " quick "),
                ('!', "brown ", "red "),
                ('=', "fox", "fox"),
                ('!', ", it", ""),
                ('=', " jumps", " jumps"),
                ('!', ".", " over"),
            ],
        );
        assert_eq!(found.counts, [4, 2, 2]);
        assert_eq!(found.changes().count(), 3);
        let places = Places { words: 3, same_words: 1, case: 1, ..Places::default() };
        assert_eq!(found.places, places);
        assert!(!found.cut_short);
    }

    #[test]
    fn spelling_differences_are_marked() {
        assert_stretches(
            "paid FOR -5.20 EUR",
            "paid for 5,20 EUR",
            &[
                ('=', "paid ", "paid "),
                ('~', "FOR -", "for "),
                ('=', "5", "5"),
                ('~', ".", ","),
                ('=', "20 EUR", "20 EUR"),
            ],
        );
        assert_stretches(
            "one two\nthree",
            "one  two three\n",
            &[
                ('=', "one ", "one "),
                ('~', "", " "),
                ('=', "two", "two"),
                ('~', "\n", " "),
                ('=', "three", "three"),
                ('~', "", "\n"),
            ],
        );
        // One place instead of one per word.
        assert_stretches(
            "FOR ALL OF us",
            "for all of us",
            &[('~', "FOR ALL OF", "for all of"), ('=', " us", " us")],
        );
    }

    #[test]
    fn kinds_of_variations_are_counted() {
        let places = |a, b| Differences::between(a, b, &ShingleRule::default(), None).places;
        let counted = |a, b| {
            let Places { words, same_words, case, punctuation, white_space } = places(a, b);
            [words, same_words, case, punctuation, white_space]
        };
        assert_eq!(counted("a b", "a b"), [0; 5]);
        assert_eq!(counted("a, b C", "a b c"), [0, 2, 1, 1, 0]);
        assert_eq!(counted("a -- b", "a  b"), [0, 1, 0, 1, 0]);
        assert_eq!(counted("a - b", "a b"), [0, 1, 0, 1, 1]);
        assert_eq!(counted("", " -- "), [0, 1, 0, 1, 1]);
        assert_eq!(counted("x\ry", "x\r\ny"), [0, 1, 0, 0, 1]);
        assert_eq!(counted("a b", "a b c"), [1, 0, 0, 0, 0]);
    }

    proptest::proptest! {
        #[test]
        fn stretches_make_up_both_texts(
            a in "[aAbB ,.\n苹Ää\u{301}-]{0,40}",
            b in "[aAbB ,.\n苹Ää\u{301}-]{0,40}",
        ) {
            let found = stretches(&a, &b);
            let kinds: Vec<char> = found.iter().map(|(kind, ..)| *kind).collect();
            proptest::prop_assert!(kinds.windows(2).all(|two| two[0] != two[1]));
            let [mut left, mut right] = [String::new(), String::new()];
            for (kind, a, b) in &found {
                proptest::prop_assert_eq!(*kind == '=', a == b);
                left.push_str(a);
                right.push_str(b);
            }
            proptest::prop_assert_eq!((left, right), (a, b));
        }
    }

    #[test]
    fn missing_words_start_at_the_end() {
        let found = Differences::between("one two", "", &ShingleRule::default(), None);
        assert_eq!((found.a.start(1), found.a.start(9), found.b.start(3)), (4, 7, 0));
        assert_eq!((found.a.word_from(0), found.a.word_from(1), found.a.word_from(5)), (0, 1, 2));
    }
}
