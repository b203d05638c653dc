//! Generates words and clauses from a seed: invented words with frequencies as in prose, and a pool
//! of clauses that documents share.

use lookalike_core::hash::SplitMix64;
use std::collections::HashSet;
use std::ops::Range;

/// Number of words in the vocabulary.
const WORDS: usize = 20_000;
/// Number of slots of the frequency table. The number of a word's slots is proportional to its
/// frequency. One draw in eight ignores the table, so that rare words also occur.
const SLOTS: usize = 1 << 16;
/// Number of clauses in the pool. With this number, two documents of one topic rarely share more
/// than one clause.
const CLAUSES: u64 = 120_000;
/// Number of clauses of one topic, which is a window of the pool.
const TOPIC: u64 = 4_000;

const ONSETS: [&str; 24] = [
    "b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "gr",
    "kl", "pl", "st", "tr", "sh", "",
];
const VOWELS: [&str; 12] = ["a", "e", "i", "o", "u", "a", "e", "o", "ai", "ou", "ea", "é"];
const CODAS: [&str; 12] = ["", "", "", "", "", "n", "r", "s", "l", "t", "m", "nd"];

/// One word of a text: a word of the vocabulary with its capital and punctuation, or a number. Two
/// tokens are equal exactly if their texts are equal. So shingles of tokens are equal exactly if
/// the shingles of words are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Token(u32);

impl Token {
    const NUMBER: u32 = 1 << 31;
    const CAPITAL: u32 = 1;
    const COMMA: u32 = 2;
    const STOP: u32 = 4;

    /// A token for the number `n` (below 2³¹), written in decimal digits.
    pub(crate) fn number(n: u32) -> Self {
        Self(n | Self::NUMBER)
    }

    fn word(index: u32) -> Self {
        Self(index << 3)
    }

    /// Returns true if the token ends with a full stop.
    pub(crate) fn ends_sentence(self) -> bool {
        self.0 & (Self::NUMBER | Self::STOP) == Self::STOP
    }
}

/// The words, their frequencies, and the shared clauses.
pub(crate) struct Vocabulary {
    /// All words without separators, followed by the same words with a capital.
    text: String,
    /// 0, then the end of each word in `text`. The ends of capitalised words follow
    /// those without a capital.
    ends: Vec<u32>,
    /// The word of each slot.
    slots: Vec<u16>,
    /// The clauses, one after the other. `starts` contains the start of each clause, and the end
    /// of the last one.
    clauses: Vec<Token>,
    starts: Vec<u32>,
}

impl Vocabulary {
    /// Generates the words and clauses of `seed`. Takes about 20 ms and 8 MB.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let (text, ends) = words(&mut random);
        let mut vocabulary =
            Self { text, ends, slots: slots(), clauses: Vec::new(), starts: vec![0] };
        for _ in 0..CLAUSES {
            let mut clause = Vec::new();
            vocabulary.fresh_clause(&mut random, &mut clause);
            vocabulary.clauses.extend(clause);
            vocabulary.starts.push(vocabulary.clauses.len() as u32);
        }
        vocabulary
    }

    /// Draws a word by its frequency, without capital or punctuation.
    pub(crate) fn any_word(&self, random: &mut SplitMix64) -> Token {
        let bits = random.next_u32();
        Token::word(if bits.is_multiple_of(8) {
            ((u64::from(bits >> 3) * WORDS as u64) >> 29) as u32
        } else {
            u32::from(self.slots[(bits >> 16) as usize])
        })
    }

    /// Appends a new clause of 5 to 16 words, which other documents contain only by chance.
    pub(crate) fn fresh_clause(&self, random: &mut SplitMix64, out: &mut Vec<Token>) {
        let length = 5 + random.below(12) as usize;
        let first = out.len();
        out.extend((0..length).map(|_| self.any_word(random)));
        out[first].0 |= Token::CAPITAL;
        if length > 8 {
            out[first + 3 + random.below(3) as usize].0 |= Token::COMMA;
        }
        out[first + length - 1].0 |= Token::STOP;
    }

    /// Returns the place in the pool where the clauses of a random topic begin.
    pub(crate) fn any_topic(random: &mut SplitMix64) -> u64 {
        random.below(CLAUSES)
    }

    /// Draws a clause of the pool. Three in five belong to the topic. The others are from the whole
    /// pool, with a preference for its first clauses: about one document in ten contains one of the
    /// first hundred.
    pub(crate) fn shared_clause(&self, random: &mut SplitMix64, topic: u64) -> &[Token] {
        let number = if random.below(5) < 3 {
            (topic + random.below(TOPIC)) % CLAUSES
        } else {
            let x = random.below(CLAUSES);
            x * x / CLAUSES
        } as usize;
        &self.clauses[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// Appends the text of `token`.
    pub(crate) fn write(&self, token: Token, out: &mut Vec<u8>) {
        if token.0 & Token::NUMBER != 0 {
            out.extend_from_slice((token.0 & !Token::NUMBER).to_string().as_bytes());
            return;
        }
        let capital = if token.0 & Token::CAPITAL != 0 { WORDS } else { 0 };
        out.extend_from_slice(&self.text.as_bytes()[self.range((token.0 >> 3) as usize + capital)]);
        if token.0 & Token::COMMA != 0 {
            out.push(b',');
        } else if token.0 & Token::STOP != 0 {
            out.push(b'.');
        }
    }

    fn range(&self, word: usize) -> Range<usize> {
        self.ends[word] as usize..self.ends[word + 1] as usize
    }
}

/// Generates all words, short ones first, and then the same words with a capital.
fn words(random: &mut SplitMix64) -> (String, Vec<u32>) {
    let mut seen = HashSet::new();
    let mut words = Vec::with_capacity(WORDS);
    while words.len() < WORDS {
        let syllables = match words.len() {
            0..100 => 1,
            100..2_500 => 1 + random.below(2),
            _ => 2 + random.below(2),
        };
        let word: String = (0..syllables).map(|_| syllable(random)).collect();
        if word.chars().count() > 1 && seen.insert(word.clone()) {
            words.push(word);
        }
    }
    let capitals: Vec<String> = words.iter().map(|word| capitalised(word)).collect();
    words.extend(capitals);
    let mut ends = vec![0];
    let mut text = String::new();
    for word in &words {
        text.push_str(word);
        ends.push(text.len() as u32);
    }
    (text, ends)
}

fn syllable(random: &mut SplitMix64) -> String {
    let mut pick = |from: &[&'static str]| from[random.below(from.len() as u64) as usize];
    [pick(&ONSETS), pick(&VOWELS), pick(&CODAS)].concat()
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the word of each slot. Frequencies are proportional to 1 / (rank + 3), which is Zipf's
/// law as Mandelbrot amended it.
fn slots() -> Vec<u16> {
    let weight = |rank: usize| 1.0 / (rank as f64 + 3.0);
    let total: f64 = (0..WORDS).map(weight).sum();
    let mut slots = Vec::with_capacity(SLOTS);
    let mut sum = 0.0;
    for rank in 0..WORDS {
        sum += weight(rank);
        slots.resize((sum / total * SLOTS as f64) as usize, rank as u16);
    }
    slots.resize(SLOTS, 0);
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_tokens_have_different_text() {
        let vocabulary = Vocabulary::new(7);
        let mut random = SplitMix64::new(1);
        let mut tokens = Vec::new();
        for _ in 0..5_000 {
            vocabulary.fresh_clause(&mut random, &mut tokens);
        }
        tokens.extend((0..100).map(Token::number));
        tokens.sort_unstable();
        tokens.dedup();
        let mut texts = HashSet::new();
        for token in tokens {
            let mut text = Vec::new();
            vocabulary.write(token, &mut text);
            let text = String::from_utf8(text).expect("words are UTF-8");
            assert_eq!(text.split_whitespace().count(), 1, "{text:?}");
            assert!(texts.insert(text.clone()), "{text:?} twice");
        }
    }

    #[test]
    fn frequent_words_are_frequent() {
        let slots = slots();
        let share = |rank: u16| slots.iter().filter(|&&slot| slot == rank).count();
        assert_eq!(slots.len(), SLOTS);
        assert!(share(0) > 5 * share(20) && share(20) > 5 * share(300));
    }
}
