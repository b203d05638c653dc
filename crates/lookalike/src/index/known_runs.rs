//! Finds the longest runs of words of a text that also occur in a document.
//!
//! Runs of the minimum length are looked up by their hashes. The positions of a document with a
//! matching hash are sorted by the words that follow them. A binary search finds the place of each
//! text position in this order. The longest run from the text position also begins at one of the
//! two neighbouring document positions. Then the words are compared.

use crate::engine::FindError;
use crate::passages::{PassageOptions, TextSpan};
use crate::read::{Normalization, TextNormalizer};
use crate::words::{ComparedWords, Spans, WordRule};
use lookalike_core::passage::prefix_hash::PrefixHashes;
use lookalike_core::passage::run_hash::RunHasher;
use lookalike_core::shingle::Shingler;
use lookalike_index::settings::IndexSettings;
use std::cmp::Ordering;

/// A text whose runs are searched for in documents. The rule of tokens, the case and the normal
/// form of the index define words. Stop words count as words.
pub struct KnownRuns<'a> {
    normalizer: TextNormalizer,
    shingler: Shingler,
    text: SearchedText<'a>,
}

/// The text with the hashes of its runs.
struct SearchedText<'a> {
    rule: WordRule,
    normalization: Normalization,
    hasher: RunHasher,
    least: usize,
    spans: Spans<'a>,
    tokens: Vec<u64>,
    prefixes: PrefixHashes,
    words: ComparedWords,
    /// The hashes of runs, ascending, each with a position.
    runs: Vec<(u64, u32)>,
    /// A filter with a bit for each hash. Its length is a power of two.
    filter: Vec<u64>,
}

/// A maximal run of words that both the text and a document contain: neither the word before it nor
/// the word after it extends the match. The words are compared one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRun {
    /// The position of its first word in the text.
    pub position: u32,
    /// The number of words.
    pub words: u32,
    /// Its range in the text.
    pub in_text: TextSpan,
    /// One of its ranges in the document.
    pub in_document: TextSpan,
}

impl<'a> KnownRuns<'a> {
    /// Prepares a text to find runs of at least `least` words. Memory: some 70 bytes per word.
    ///
    /// # Errors
    /// [`FindError::NotAligned`] if a word of the normal form has no range in the text, errors of
    /// [`PassageOptions::new`] for an invalid least length, and an error of settings that this
    /// build does not know.
    pub fn new(text: &'a str, least: usize, settings: &IndexSettings) -> Result<Self, FindError> {
        let params = settings.params()?;
        let rule = params.shingle();
        let options = PassageOptions::new(least, rule.tokens(), rule.case())?;
        let normalization: Normalization = settings.normalization.parse()?;
        let mut normalizer = TextNormalizer::default();
        let mut shingler = Shingler::new(options.rule());
        let normal = normalizer.of(text, normalization);
        let tokens = shingler.tokens(normal).to_vec();
        let rule = WordRule::of(options.rule());
        let words = rule.words(normal);
        let hasher = RunHasher::new(least, 0);
        let mut runs = Vec::new();
        hasher.hash(&tokens, |hash| runs.push((hash, runs.len() as u32)));
        runs.sort_unstable();
        let mut filter = vec![0; (runs.len() / 4).next_power_of_two()];
        for (hash, _) in &runs {
            let bit = *hash as usize & (filter.len() * 64 - 1);
            filter[bit / 64] |= 1 << (bit % 64);
        }
        let prefixes = PrefixHashes::new(&tokens);
        let spans = spans(text, "", rule, normalization)?;
        let text = SearchedText {
            rule,
            normalization,
            hasher,
            least,
            spans,
            tokens,
            prefixes,
            words,
            runs,
            filter,
        };
        Ok(Self { normalizer, shingler, text })
    }

    /// The number of words of the text.
    pub fn words(&self) -> usize {
        self.text.tokens.len()
    }

    /// Returns the runs of the text that a document contains, by position. Takes O(words of both)
    /// time, and O(log n) comparisons for each of the n positions with a run.
    ///
    /// # Errors
    /// [`FindError::NotAligned`] if words of a normal form cannot be found in the original text.
    pub fn in_document(&mut self, id: &str, document: &str) -> Result<Vec<KnownRun>, FindError> {
        let Self { normalizer, shingler, text } = self;
        let normal = normalizer.of(document, text.normalization);
        text.in_document(id, document, normal, shingler.tokens(normal))
    }
}

impl SearchedText<'_> {
    fn in_document(
        &self,
        id: &str,
        document: &str,
        normal: &str,
        tokens: &[u64],
    ) -> Result<Vec<KnownRun>, FindError> {
        let mut positions = Vec::new();
        let mut hashes = Vec::new();
        let mut position = 0u32;
        let runs = &self.runs;
        let filter = &self.filter;
        self.hasher.hash(tokens, |hash| {
            let bit = hash as usize & (filter.len() * 64 - 1);
            let may_be = filter[bit / 64] >> (bit % 64) & 1 == 1;
            if may_be && runs.binary_search_by_key(&hash, |run| run.0).is_ok() {
                positions.push(position);
                hashes.push(hash);
            }
            position += 1;
        });
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        hashes.sort_unstable();
        hashes.dedup();
        let prefixes = PrefixHashes::new(tokens);
        let matching =
            MatchingRuns { text: (&self.tokens, &self.prefixes), document: (tokens, &prefixes) };
        let longest = matching.longest(positions, self.positions(&hashes));
        let document_words = self.rule.words(normal);
        self.described(&longest, id, document, &document_words)
    }

    /// Returns the positions of the text that have these hashes, ascending.
    fn positions(&self, hashes: &[u64]) -> Vec<u32> {
        let mut positions = Vec::new();
        for hash in hashes {
            let start = self.runs.partition_point(|run| run.0 < *hash);
            let same = self.runs[start..].iter().take_while(|run| run.0 == *hash);
            positions.extend(same.map(|run| run.1));
        }
        positions.sort_unstable();
        positions
    }

    /// Compares the words of runs, and finds their ranges in both original texts.
    fn described(
        &self,
        longest: &[MatchingRun],
        id: &str,
        document: &str,
        words: &ComparedWords,
    ) -> Result<Vec<KnownRun>, FindError> {
        let in_document = spans(document, id, self.rule, self.normalization)?;
        let known = longest.iter().filter_map(|run| {
            let at = run.text as usize;
            let other = run.document as usize;
            // Words with equal hashes can differ.
            let count = self.words.common(at, words, other).min(run.words as usize);
            (count >= self.least).then_some(())?;
            let in_text = self.spans.span(at, count)?;
            let in_document = in_document.span(other, count)?;
            Some(KnownRun { position: run.text, words: count as u32, in_text, in_document })
        });
        Ok(known.collect())
    }
}

/// Returns the ranges of the words of a text.
fn spans<'a>(
    text: &'a str,
    id: &str,
    rule: WordRule,
    normalization: Normalization,
) -> Result<Spans<'a>, FindError> {
    let not_aligned = || FindError::NotAligned { id: id.to_owned(), place: None };
    Spans::of(text, rule, normalization).ok_or_else(not_aligned)
}

/// The tokens of the text and of a document, with the hashes of their prefixes.
struct MatchingRuns<'a> {
    text: (&'a [u64], &'a PrefixHashes),
    document: (&'a [u64], &'a PrefixHashes),
}

/// A run that occurs in both: its two positions and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MatchingRun {
    text: u32,
    document: u32,
    words: u32,
}

impl MatchingRuns<'_> {
    /// Finds, for each position in `of_text`, the longest run that also begins at one of
    /// `positions` in the document. Leaves out runs that lie within a previous one.
    fn longest(&self, mut positions: Vec<u32>, of_text: Vec<u32>) -> Vec<MatchingRun> {
        positions
            .sort_unstable_by(|a, b| order(self.document, *a, self.document, *b).then(a.cmp(b)));
        let mut found = Vec::new();
        let mut end = 0;
        for at in of_text {
            let after = positions
                .partition_point(|other| order(self.document, *other, self.text, at).is_lt());
            let neighbours = [after.checked_sub(1), Some(after)];
            let neighbours = neighbours.into_iter().flatten();
            let runs = neighbours.filter_map(|number| {
                let document = *positions.get(number)?;
                let words = common(self.text, at, self.document, document);
                Some(MatchingRun { text: at, document, words })
            });
            let Some(run) = runs.max_by_key(|run| run.words) else { continue };
            if run.text + run.words > end {
                end = run.text + run.words;
                found.push(run);
            }
        }
        found
    }
}

/// The number of equal tokens starting at two positions.
fn common(a: (&[u64], &PrefixHashes), at: u32, b: (&[u64], &PrefixHashes), other: u32) -> u32 {
    let at = at as usize;
    let other = other as usize;
    let most = (a.0.len() - at).min(b.0.len() - other);
    let equal = |count: usize| a.1.hash(at..at + count) == b.1.hash(other..other + count);
    // Double the step until tokens differ, then halve it.
    let mut known = 0;
    let mut step = 1;
    while known + step <= most && equal(known + step) {
        known += step;
        step *= 2;
    }
    while step > 0 {
        if known + step <= most && equal(known + step) {
            known += step;
        }
        step /= 2;
    }
    known as u32
}

/// Compares the tokens that follow two positions.
fn order(a: (&[u64], &PrefixHashes), at: u32, b: (&[u64], &PrefixHashes), other: u32) -> Ordering {
    let count = common(a, at, b, other) as usize;
    a.0.get(at as usize + count).cmp(&b.0.get(other as usize + count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::params::{Params, ParamsBuilder};
    use lookalike_index::settings::StoredContent;
    use lookalike_test_support::is_soak;
    use proptest::prelude::*;

    fn known(text: &str, document: &str, least: usize) -> Vec<KnownRun> {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let normalization = Normalization::default().to_string();
        let settings = IndexSettings::new(&params, &normalization, StoredContent::Texts).unwrap();
        let mut runs = KnownRuns::new(text, least, &settings).unwrap();
        runs.in_document("d", document).unwrap()
    }

    /// The definition: maximal runs of the text that occur in the document.
    fn naive(text: &[String], document: &[String], least: usize) -> Vec<(usize, usize)> {
        let is_known = |start: usize, end: usize| {
            document.windows(end - start).any(|run| *run == text[start..end])
        };
        let mut runs = Vec::new();
        for start in 0..text.len() {
            for end in start + least..=text.len() {
                let left = start > 0 && is_known(start - 1, end);
                let right = end < text.len() && is_known(start, end + 1);
                if is_known(start, end) && !left && !right {
                    runs.push((start, end - start));
                }
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn known_runs_equal_naive_comparison(
            text in prop::collection::vec("[a-c]", 0..40),
            document in prop::collection::vec("[a-c]", 0..40),
            least in 2..5usize,
        ) {
            let (written, other) = (text.join(", "), document.join("\r\nü, "));
            let other = other.replace("ü, ", " ");
            let found = known(&written, &other.to_uppercase(), least);
            let expected = naive(&text, &document, least);
            let places = found.iter().map(|run| (run.position as usize, run.words as usize));
            prop_assert_eq!(places.collect::<Vec<_>>(), expected);
            for run in found {
                let part = |text: &str, span: &TextSpan| {
                    let part = &text[span.bytes.start as usize..span.bytes.end as usize];
                    let letters = part.chars().filter(|c| c.is_alphabetic());
                    letters.collect::<String>().to_lowercase()
                };
                prop_assert_eq!(part(&written, &run.in_text), part(&other, &run.in_document));
            }
        }
    }

    #[cfg(feature = "scripts")]
    #[test]
    fn runs_use_the_index_normalization() {
        use crate::read::NormalForm;
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let form = Some(NormalForm::Nfkc);
        let normalization = Normalization { normal_form: form, ..Normalization::default() };
        let store = StoredContent::Texts;
        let settings = IndexSettings::new(&params, &normalization.to_string(), store).unwrap();
        let text = "Ü: a ﬁne Ｗｉｄｅ street";
        let mut runs = KnownRuns::new(text, 3, &settings).unwrap();
        let found = runs.in_document("d", "„A fine\r\nwide ｓｔreet“").unwrap();
        let [run] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((run.position, run.words), (1, 4));
        assert_eq!((&run.in_text.bytes, &run.in_text.chars), (&(4..31), &(3..20)));
        assert_eq!(run.in_document.chars, 1..20);
        assert!(KnownRuns::new(text, 1, &settings).is_err());
    }

    #[test]
    fn repeated_lines_form_one_run() {
        let line = "this line of ten words is repeated again and again\n";
        let lines = if is_soak() { 10_000 } else { 2_000 };
        let found = known(&line.repeat(2 * lines), &line.repeat(lines), 5);
        assert_eq!((found[0].position, found[0].words as usize), (0, 10 * lines));
    }
}
