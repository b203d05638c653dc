//! A collection of any size with planted near-duplicates. The words of a document are a function of
//! the plan and the document's number, so only the vocabulary and the plan are in memory.
//!
//! Single documents share at most every second clause with each other, so their Jaccard similarity
//! J stays far below 0.5. The members of a cluster are edits of one text at known levels of J. The
//! level is only a target. `truth` computes the exact J of the members.

use crate::vocabulary::{Token, Vocabulary};
use lookalike_core::hash::{SplitMix64, mix64};

/// Number of tokens in a shingle, for the edits and for the truth.
pub(crate) const SHINGLE: usize = 5;
/// Lower limit of `least_words`. In a shorter document, one shared clause could be half of the
/// text.
pub(crate) const LEAST_WORDS: u64 = 40;
/// Target levels of J, in percent.
const LEVELS: [u64; 12] = [40, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100];
/// Lengths in thousandths of the mean: 33 quantiles of the log-normal distribution with σ = 0.7 and
/// mean 1, cut at 0.2 % and 99.8 %. A table ensures that every platform generates the same bytes.
const LENGTHS: [u64; 33] = [
    104, 212, 267, 311, 350, 386, 421, 455, 488, 522, 556, 591, 626, 663, 701, 741, 783, 827, 874,
    924, 978, 1037, 1102, 1174, 1255, 1348, 1456, 1587, 1751, 1969, 2291, 2883, 5869,
];

/// The size and content of the collection to generate.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Total number of documents.
    pub(crate) docs: u64,
    /// Equal seeds and requests produce equal bytes.
    pub(crate) seed: u64,
    /// Mean length in words of documents that are not short, empty, edited or excerpts.
    pub(crate) mean_words: u64,
    /// Minimum length of these documents in words, before a random number below 20 is added.
    pub(crate) least_words: u64,
    /// Number of documents in planted clusters.
    pub(crate) planted: u64,
    /// Number of documents in the mega cluster, which repeats one page.
    pub(crate) mega: u64,
    /// Number of documents of two words. Each of these texts occurs in one to eight documents.
    pub(crate) short: u64,
    /// Number of documents without a word.
    pub(crate) empty: u64,
    /// Number of excerpts. An excerpt is a run of words of a single document. Every
    /// second excerpt is edited.
    pub(crate) excerpts: u64,
}

/// The line ends of a document's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberLayout {
    /// Line ends after sentences.
    Sentences,
    /// Line ends after every twelfth word, and two blanks between some words. The
    /// words do not change.
    Reflowed,
}

/// The words and the layout of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorpusDocument {
    pub(crate) tokens: Vec<Token>,
    pub(crate) layout: MemberLayout,
}

/// The collection. A document has a *place* in the file and a number in the *plan*. The order of
/// the plan is: planted clusters, mega cluster, short documents, empty documents, excerpts, single
/// documents.
pub(crate) struct Corpus {
    request: Request,
    vocabulary: Vocabulary,
    /// The number in the plan of the first member of each planted cluster, and the end
    /// of the last cluster.
    starts: Vec<u64>,
    step: u64,
    step_back: u64,
    shift: u64,
}

impl Corpus {
    /// Plans the collection. The numbers of planted, mega, short, empty and excerpt documents in
    /// the request must not add up to more than `docs`.
    pub(crate) fn new(request: Request) -> Self {
        let mut random = SplitMix64::new(mix64(request.seed ^ 1));
        let mut starts = vec![0];
        let mut next = 0;
        while request.planted - next >= 2 {
            let size = match random.below(100) {
                0..60 => 2,
                60..78 => 3,
                78..86 => 4,
                86..96 => 5 + random.below(5),
                _ => 10 + random.below(41),
            };
            let left = request.planted - next;
            next += if size + 1 >= left { left } else { size };
            starts.push(next);
        }
        let (step, step_back) = stride(request.docs);
        let shift = mix64(request.seed ^ 2) % request.docs.max(1);
        let vocabulary = Vocabulary::new(mix64(request.seed));
        Self { request, vocabulary, starts, step, step_back, shift }
    }

    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the place in the file of the document that has this number in the plan.
    pub(crate) fn place(&self, number: u64) -> u64 {
        let product = u128::from(number) * u128::from(self.step) + u128::from(self.shift);
        (product % u128::from(self.request.docs)) as u64
    }

    /// Returns the document at `place` of the file.
    pub(crate) fn document(&self, place: u64) -> CorpusDocument {
        let docs = self.request.docs;
        let product = u128::from(place + docs - self.shift) * u128::from(self.step_back);
        let number = (product % u128::from(docs)) as u64;
        let [mega, short, empty, excerpts, single] = self.ends();
        if number < mega {
            let cluster = self.starts.partition_point(|&start| start <= number) - 1;
            let mut last = None;
            let member = number - self.starts[cluster];
            self.members(cluster, Some(member), |_, document| last = Some(document));
            last.unwrap_or(CorpusDocument { tokens: Vec::new(), layout: MemberLayout::Sentences })
        } else {
            let tokens = match number {
                _ if number < short => self.repeated_page(number - mega),
                _ if number < empty => self.short(number - short),
                _ if number < excerpts => Vec::new(),
                _ if number < single => self.excerpt(number - excerpts),
                _ => self.single(number),
            };
            CorpusDocument { tokens, layout: MemberLayout::Sentences }
        }
    }

    /// Returns a document without near-duplicates.
    pub(crate) fn single(&self, number: u64) -> Vec<Token> {
        self.prose(&mut self.random(9, number, 0))
    }

    /// The numbers in the plan at which the planted, mega, short and empty documents and the
    /// excerpts end.
    pub(crate) fn ends(&self) -> [u64; 5] {
        let mega = self.starts.last().copied().unwrap_or(0);
        let short = mega + self.request.mega;
        let empty = short + self.request.short;
        let excerpts = empty + self.request.empty;
        [mega, short, empty, excerpts, excerpts + self.request.excerpts]
    }

    /// The number of planted clusters. Each has at least two members.
    pub(crate) fn cluster_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the places of the members of a planted cluster, in the order of [`Self::members`].
    pub(crate) fn places(&self, cluster: usize) -> Vec<u64> {
        (self.starts[cluster]..self.starts[cluster + 1]).map(|number| self.place(number)).collect()
    }

    /// Returns the places of the documents in the mega cluster.
    pub(crate) fn mega_places(&self) -> Vec<u64> {
        let [mega, short, ..] = self.ends();
        (mega..short).map(|number| self.place(number)).collect()
    }

    /// Returns the places of the short documents, in groups with equal text.
    pub(crate) fn short_places(&self) -> Vec<Vec<u64>> {
        let [_, short, empty, ..] = self.ends();
        let mut groups: Vec<Vec<u64>> = Vec::new();
        for number in short..empty {
            let (text, nth) = short_text(number - short);
            if nth == 0 {
                groups.resize(text as usize + 1, Vec::new());
            }
            groups[text as usize].push(self.place(number));
        }
        groups
    }

    /// Calls `each` with the members of a planted cluster in order. With `only`, stops after that
    /// member, and omits members on which it does not depend. In one of six clusters, each member
    /// is an edit of the previous member. In the others, each is an edit of the first member.
    pub(crate) fn members(
        &self,
        cluster: usize,
        only: Option<u64>,
        mut each: impl FnMut(u64, CorpusDocument),
    ) {
        let size = self.starts[cluster + 1] - self.starts[cluster];
        let mut random = self.random(3, cluster as u64, 0);
        let chain = random.below(6) == 0;
        let mut source = self.prose(&mut random);
        let last = only.unwrap_or(size - 1);
        for member in 0..=last {
            if only.is_some_and(|wanted| member < wanted && !(chain && member > 0)) {
                continue;
            }
            if member == 0 {
                each(0, CorpusDocument { tokens: source.clone(), layout: MemberLayout::Sentences });
                continue;
            }
            let mut random = self.random(4, cluster as u64, member);
            let document = self.edit(&mut random, &source, chain);
            if chain {
                source.clone_from(&document.tokens);
            }
            each(member, document);
        }
    }

    /// Adds clauses until they reach a length drawn from `LENGTHS`, and returns them. At least one
    /// of two consecutive clauses is new, so that not both are shared with other documents.
    fn prose(&self, random: &mut SplitMix64) -> Vec<Token> {
        let x = random.below(32 * 1024);
        let slot = (x / 1024) as usize;
        let part = x % 1024;
        let per_mille = LENGTHS[slot] + (LENGTHS[slot + 1] - LENGTHS[slot]) * part / 1024;
        let length = (self.request.mean_words * per_mille / 1000)
            .max(self.request.least_words + random.below(20));
        let mut tokens = Vec::with_capacity(length as usize + 16);
        self.add_clauses(random, length as usize, &mut tokens);
        tokens
    }

    fn add_clauses(&self, random: &mut SplitMix64, length: usize, tokens: &mut Vec<Token>) {
        let topic = Vocabulary::any_topic(random);
        let mut shared = false;
        while tokens.len() < length {
            shared = !shared && random.below(5) > 0;
            if shared {
                tokens.extend_from_slice(self.vocabulary.shared_clause(random, topic));
            } else {
                self.vocabulary.fresh_clause(random, tokens);
            }
        }
    }

    fn some_words(&self, random: &mut SplitMix64, length: u64) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.add_clauses(random, length as usize, &mut tokens);
        tokens.truncate(length as usize);
        tokens
    }

    pub(crate) fn random(&self, kind: u64, number: u64, member: u64) -> SplitMix64 {
        let seed = mix64(self.request.seed.wrapping_add(kind << 56));
        SplitMix64::new(mix64(seed ^ mix64(number ^ (member << 48))))
    }

    /// Applies a random edit. Its extent brings J near a level of `LEVELS`. The J of a text of `s`
    /// shingles depends on the kind of edit:
    ///
    /// - replacing `r` shingles: (s − r) / (s + r),
    /// - adding `r`: s / (s + r),
    /// - removing `r`: (s − r) / s.
    fn edit(&self, random: &mut SplitMix64, source: &[Token], chain: bool) -> CorpusDocument {
        let drawn = LEVELS[random.below(LEVELS.len() as u64) as usize];
        let level = if chain { drawn.max(70) } else { drawn };
        if level == 100 || source.len() < 4 * SHINGLE {
            let layout =
                if random.below(5) < 3 { MemberLayout::Sentences } else { MemberLayout::Reflowed };
            return CorpusDocument { tokens: source.to_vec(), layout };
        }
        let shingles = source.len().saturating_sub(SHINGLE - 1).max(1) as u64;
        let replaced = shingles * (100 - level) / (100 + level);
        let added = (shingles * (100 - level) / level).max(1);
        let left_out = (shingles * (100 - level) / 100).max(1) as usize;
        let tokens = match random.below(100) {
            0..40 => self.replace_words(random, source, replaced),
            40..60 => self.replace_block(random, source, replaced),
            60..70 => [self.some_words(random, added), source.to_vec()].concat(),
            70..80 => [source, &self.some_words(random, added)].concat(),
            80..90 => source[left_out..].to_vec(),
            _ => source[..source.len() - left_out].to_vec(),
        };
        CorpusDocument { tokens, layout: MemberLayout::Sentences }
    }

    /// Replaces, removes or inserts single words: one in each of several stretches of equal length.
    pub(crate) fn replace_words(
        &self,
        random: &mut SplitMix64,
        source: &[Token],
        replaced: u64,
    ) -> Vec<Token> {
        let edits = (replaced / SHINGLE as u64).max(1) as usize;
        let mut tokens = Vec::with_capacity(source.len() + edits);
        for edit in 0..edits {
            let stretch = &source[source.len() * edit / edits..source.len() * (edit + 1) / edits];
            let at = random.below(stretch.len() as u64) as usize;
            tokens.extend_from_slice(&stretch[..at]);
            let word = Token::number(random.below(1 << 20) as u32);
            match random.below(20) {
                0..10 => tokens.push(self.vocabulary.any_word(random)),
                10..14 => tokens.push(word),
                14..17 => tokens.extend([word, stretch[at]]),
                _ => {}
            }
            tokens.extend_from_slice(&stretch[at + 1..]);
        }
        tokens
    }

    /// Replaces one run of words with other text.
    fn replace_block(
        &self,
        random: &mut SplitMix64,
        source: &[Token],
        replaced: u64,
    ) -> Vec<Token> {
        let length = replaced.saturating_sub(SHINGLE as u64 - 1).max(1) as usize;
        let at = random.below((source.len() - length + 1) as u64) as usize;
        let block = self.some_words(random, length as u64);
        [&source[..at], &block, &source[at + length..]].concat()
    }

    /// Returns a copy of the page of the mega cluster. Every second copy contains its own number.
    fn repeated_page(&self, copy: u64) -> Vec<Token> {
        let mut tokens = self.prose(&mut self.random(5, 0, 0));
        if copy % 2 == 1 {
            let middle = tokens.len() / 2;
            tokens[middle] = Token::number(copy as u32);
        }
        tokens
    }

    /// Returns the two words of a short document. The second word is a number that
    /// identifies the text.
    fn short(&self, number: u64) -> Vec<Token> {
        let (text, _) = short_text(number);
        let word = self.vocabulary.any_word(&mut self.random(6, text, 0));
        vec![word, Token::number(text as u32)]
    }
}

/// Returns the text number of short document `number`, and its position among the documents with
/// that text. Texts come in runs of 1, 2, … 8 documents.
fn short_text(number: u64) -> (u64, u64) {
    let round = number / 36;
    let mut rest = number % 36;
    let mut size = 1;
    while rest >= size {
        rest -= size;
        size += 1;
    }
    (round * 8 + size - 1, rest)
}

/// Returns a multiplier near the golden section of `docs` and coprime to `docs`, with its inverse.
/// They define the permutation that spreads the members of a cluster over the file.
fn stride(docs: u64) -> (u64, u64) {
    if docs < 2 {
        return (0, 0);
    }
    let mut step = (u128::from(docs) * 618_034 / 1_000_000) as u64 | 1;
    loop {
        let (divisor, inverse) = inverse(step, docs);
        if divisor == 1 {
            return (step % docs, inverse);
        }
        step += 2;
    }
}

/// Returns the greatest common divisor of `a` and `n`, with the inverse of `a` modulo `n` if the
/// divisor is 1. Uses the extended Euclidean algorithm.
fn inverse(a: u64, n: u64) -> (u64, u64) {
    let mut r0 = i128::from(n);
    let mut r1 = i128::from(a % n);
    let mut t0 = 0i128;
    let mut t1 = 1i128;
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    (r0 as u64, t0.rem_euclid(i128::from(n)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(docs: u64, seed: u64) -> Corpus {
        let planted = docs / 2;
        Corpus::new(Request {
            docs,
            seed,
            mean_words: 80,
            least_words: 50,
            planted,
            mega: 0,
            short: 0,
            empty: 0,
            excerpts: 0,
        })
    }

    #[test]
    fn places_are_a_permutation() {
        for docs in [1, 2, 3, 10, 96, 1000] {
            let corpus = corpus(docs, 3);
            let mut places: Vec<u64> = (0..docs).map(|number| corpus.place(number)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..docs), "{docs}");
        }
    }

    #[test]
    fn members_equal_documents_at_their_places() {
        let corpus = corpus(500, 4);
        for cluster in 0..corpus.cluster_count() {
            let places = corpus.places(cluster);
            corpus.members(cluster, None, |member, document| {
                assert_eq!(document, corpus.document(places[member as usize]));
            });
        }
    }

    #[test]
    fn seeds_decide() {
        let texts = |seed| {
            let corpus = corpus(50, seed);
            (0..50).map(|place| corpus.document(place).tokens).collect::<Vec<_>>()
        };
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
    }

    #[test]
    fn short_text_runs_grow_by_one() {
        let texts: Vec<_> = (0..7).map(short_text).collect();
        assert_eq!(texts, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0)]);
        assert_eq!(short_text(36), (8, 0));
    }
}
