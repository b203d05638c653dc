//! Counts the documents of a sample that the normal form [`Fold`](NormalForm::Fold) changes.
//!
//! ```text
//! documents ─ Sampler (a thread each), SampledIds → drawn documents ─ FoldingEffect::of → shares
//! ```
//!
//! A document counts if it has letters of a [`Script`] and folding changes its shingles. The
//! counts state how many documents the form affects. Only [`tune`](crate::tune) measures whether
//! more of them become similar.

use crate::read::{NormalForm, Normalization, TextNormalizer};
use lookalike_core::params::ShingleRule;
use lookalike_core::shingle::Shingler;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of documents in the sample: those with the smallest hashes of ids.
const SAMPLE: usize = 1_000;
/// The numbers of bytes of a document to examine. More bytes are examined only if folding does not
/// change the first ones.
const HEAD_BYTES: [usize; 2] = [1 << 10, 64 << 10];

/// A group of letters that folding changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Script {
    /// Arabic letters.
    Arabic,
    /// Hebrew letters.
    Hebrew,
    /// Hangul syllables and letters.
    Hangul,
    /// Half-width katakana.
    HalfWidthKana,
    /// Greek letters.
    Greek,
    /// Cyrillic letters.
    Cyrillic,
    /// Devanagari letters.
    Devanagari,
    /// `ı`, `İ`, `ß`, full-width letters, ligatures.
    Latin,
    /// Combining marks of Latin, Greek and Cyrillic.
    CombiningMarks,
}

impl Script {
    /// All scripts.
    pub const ALL: [Self; 9] = [
        Self::Arabic,
        Self::Hebrew,
        Self::Hangul,
        Self::HalfWidthKana,
        Self::Greek,
        Self::Cyrillic,
        Self::Devanagari,
        Self::Latin,
        Self::CombiningMarks,
    ];

    fn of(c: char) -> Option<Self> {
        Some(match u32::from(c) {
            0x600..=0x6FF | 0x750..=0x77F | 0x8A0..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFE => {
                Self::Arabic
            }
            0x590..=0x5FF | 0xFB1D..=0xFB4F => Self::Hebrew,
            0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7FF | 0xFFA0..=0xFFDC => Self::Hangul,
            0xFF66..=0xFF9F => Self::HalfWidthKana,
            0x370..=0x3FF | 0x1F00..=0x1FFF => Self::Greek,
            0x400..=0x52F => Self::Cyrillic,
            0x900..=0x97F => Self::Devanagari,
            0xDF | 0x130 | 0x131 | 0x1E9E | 0xFB00..=0xFB06 | 0xFF21..=0xFF3A | 0xFF41..=0xFF5A => {
                Self::Latin
            }
            0x300..=0x36F => Self::CombiningMarks,
            _ => return None,
        })
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arabic => "Arabic",
            Self::Hebrew => "Hebrew",
            Self::Hangul => "Hangul",
            Self::HalfWidthKana => "half-width kana",
            Self::Greek => "Greek",
            Self::Cyrillic => "Cyrillic",
            Self::Devanagari => "Devanagari",
            Self::Latin => "Latin",
            Self::CombiningMarks => "combining marks",
        })
    }
}

/// A set of scripts as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
struct Scripts(u16);

impl Scripts {
    fn of(text: &str) -> Self {
        let mut bits = 0;
        let mut rest = text;
        loop {
            rest = rest.split_at(plain_prefix(rest.as_bytes())).1;
            let Some(c) = rest.chars().next() else { return Self(bits) };
            bits |= Script::of(c).map_or(0, |script| 1 << script as u16);
            rest = rest.split_at(c.len_utf8()).1;
        }
    }

    fn has(self, script: Script) -> bool {
        self.0 >> (script as u16) & 1 == 1
    }
}

/// The number of bytes before the first character that may have a [`Script`]. Skips ASCII, Thai,
/// Lao, kana and ideographs.
fn plain_prefix(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        while let Some(word) = bytes[at..].first_chunk::<8>()
            && u64::from_le_bytes(*word) & 0x8080_8080_8080_8080 == 0
        {
            at += 8;
        }
        match &bytes[at..] {
            [0..0x80, ..] => at += 1,
            [0xe0, 0xb8..=0xbb, _, ..] | [0xe3, 0x80..=0x83, _, ..] | [0xe4..=0xe9, _, _, ..] => {
                at += 3;
            }
            _ => return at,
        }
    }
}

/// Compares the shingles of original and folded texts.
struct Comparison {
    shingler: Shingler,
    words: TextNormalizer,
}

impl Comparison {
    fn new(rule: &ShingleRule) -> Self {
        Self { shingler: Shingler::new(rule), words: TextNormalizer::default() }
    }

    /// Returns the scripts of a text if the form changes its shingles, otherwise none. Examines
    /// only the beginning of a long text. `fingerprint` is the fingerprint of the text, if the
    /// caller knows it.
    fn changed(&mut self, text: &str, fingerprint: Option<u128>) -> Scripts {
        for bytes in HEAD_BYTES {
            let head = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
            let is_whole = head.len() == text.len();
            let is_plain = plain_prefix(head.as_bytes()) >= head.len();
            if !is_plain && self.changes(head, fingerprint.filter(|_| is_whole)) {
                return Scripts::of(head);
            }
            if is_whole {
                break;
            }
        }
        Scripts::default()
    }

    /// Whether the form changes the shingles of a text.
    fn changes(&mut self, text: &str, fingerprint: Option<u128>) -> bool {
        let folded = self.words.of(text, FOLD);
        if folded == text {
            return false;
        }
        let folded = self.shingler.shingle(folded).fingerprint;
        folded != fingerprint.unwrap_or_else(|| self.shingler.shingle(text).fingerprint)
    }
}

/// The normalization whose effect is measured.
pub(crate) const FOLD: Normalization = Normalization {
    normal_form: Some(NormalForm::Fold),
    stop_words_by_language: false,
    segment: false,
};

/// Whether folding can be recommended in addition to `normalization`.
fn is_open(normalization: Normalization) -> bool {
    cfg!(feature = "scripts")
        && !matches!(normalization.normal_form, Some(NormalForm::Fold | NormalForm::Unaccent))
}

/// A document of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SampledText(u64, Scripts);

/// The smallest id hashes that all threads have met. Without the hashes of the other threads, a
/// thread would draw more documents.
pub(crate) struct SampledIds {
    /// The largest hash that can still be drawn.
    limit: AtomicU64,
    smallest: Mutex<BinaryHeap<u64>>,
}

impl Default for SampledIds {
    fn default() -> Self {
        Self { limit: AtomicU64::new(u64::MAX), smallest: Mutex::default() }
    }
}

impl SampledIds {
    /// Returns true for each document of the final sample, and for some others that are met early.
    fn draws(&self, id_hash: u64) -> bool {
        if id_hash > self.limit.load(Ordering::Relaxed) {
            return false;
        }
        let mut smallest = self.smallest.lock();
        smallest.push(id_hash);
        if smallest.len() > SAMPLE {
            smallest.pop();
        }
        if let Some(largest) = smallest.peek().filter(|_| smallest.len() == SAMPLE) {
            self.limit.store(*largest, Ordering::Relaxed);
        }
        true
    }
}

/// One thread's part of the sample.
pub(crate) struct Sampler<'a> {
    /// `None` if there is nothing to measure.
    comparison: Option<Comparison>,
    sampled: &'a SampledIds,
    drawn: Vec<SampledText>,
}

impl<'a> Sampler<'a> {
    /// Creates a sampler for texts that are normalized by `normalization` and shingled by `rule`.
    pub(crate) fn new(
        rule: &ShingleRule,
        normalization: Normalization,
        sampled: &'a SampledIds,
    ) -> Self {
        let comparison = is_open(normalization).then(|| Comparison::new(rule));
        Self { comparison, sampled, drawn: Vec::new() }
    }

    /// Adds a document with the hash of its id, and the fingerprint of its shingles, if known.
    pub(crate) fn add(&mut self, id_hash: u64, text: &str, fingerprint: Option<u128>) {
        if let Some(comparison) = &mut self.comparison
            && self.sampled.draws(id_hash)
        {
            self.drawn.push(SampledText(id_hash, comparison.changed(text, fingerprint)));
        }
    }

    /// Returns the documents drawn since the last call.
    pub(crate) fn take(&mut self) -> Vec<SampledText> {
        std::mem::take(&mut self.drawn)
    }
}

/// The number of documents of a sample that the form changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoldingEffect {
    documents: u64,
    changed: u64,
    scripts: [u64; Script::ALL.len()],
}

impl FoldingEffect {
    /// Selects the documents with the smallest hashes from those drawn by all threads.
    pub(crate) fn of(mut drawn: Vec<SampledText>) -> Self {
        drawn.sort_unstable();
        drawn.truncate(SAMPLE);
        let mut effect = Self::default();
        for SampledText(_, scripts) in &drawn {
            effect.add(*scripts);
        }
        effect
    }

    /// Measures texts that are normalized by `normalization`. The result is empty if they are
    /// already folded.
    pub(crate) fn of_texts(
        texts: &[String],
        rule: &ShingleRule,
        normalization: Normalization,
    ) -> Self {
        let mut effect = Self::default();
        if is_open(normalization) {
            let mut comparison = Comparison::new(rule);
            for text in texts {
                effect.add(comparison.changed(text, None));
            }
        }
        effect
    }

    fn add(&mut self, scripts: Scripts) {
        self.documents += 1;
        self.changed += u64::from(scripts != Scripts::default());
        for (count, script) in self.scripts.iter_mut().zip(Script::ALL) {
            *count += u64::from(scripts.has(script));
        }
    }

    /// Documents that were compared with their folded form; 0 if texts are already folded.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Documents whose shingle set is different after folding.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Changed documents with letters of each script. A document may have several scripts.
    pub fn by_script(&self) -> impl Iterator<Item = (Script, u64)> + '_ {
        Script::ALL.into_iter().zip(self.scripts).filter(|(_, count)| *count > 0)
    }
}

#[cfg(all(test, feature = "scripts"))]
mod tests {
    use super::*;

    fn effect(texts: &[&str], normalization: Normalization) -> FoldingEffect {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        FoldingEffect::of_texts(&texts, &ShingleRule::default(), normalization)
    }

    #[test]
    fn text_scripts_cover_every_character() {
        let parts = [
            "plain words of more than a word",
            "é",
            "",
            "م",
            "x",
            "ﬁ",
            "가",
            "€",
            "0123456",
            "語々",
            "ไทย ຢ",
            "かなカナ",
            "ㄱ",
        ];
        for a in parts {
            for b in parts {
                for c in parts {
                    let text = [a, b, c].concat();
                    let all = text.chars().filter_map(Script::of);
                    let bits = all.fold(0, |bits, script| bits | 1 << script as u16);
                    assert_eq!(Scripts::of(&text), Scripts(bits), "{text}");
                }
            }
        }
    }

    #[test]
    fn folding_effect_counts_changed_documents() {
        let texts = ["plain words", "café", "مُحَمَّد", "محمد", "שָׁלוֹם עולם", "naïve… ½"];
        let found = effect(&texts, Normalization::default());
        assert_eq!((found.documents(), found.changed()), (6, 2));
        let scripts: Vec<_> = found.by_script().collect();
        assert_eq!(scripts, [(Script::Arabic, 1), (Script::Hebrew, 1)]);
        assert_eq!(effect(&texts, FOLD), FoldingEffect::default());
    }

    #[test]
    fn folding_sample_is_independent_of_threads() {
        let mut random = lookalike_core::hash::SplitMix64::new(5);
        let documents: Vec<(u64, &str)> = (0..5_000)
            .map(|_| (random.next_u64(), ["abc", "مُحَمَّد", "ΌΔΌΣ"][random.below(3) as usize]))
            .collect();
        let rule = ShingleRule::default();
        let mut shingler = Shingler::new(&rule);
        let mut drawn = |documents: &[(u64, &str)], sampled: &SampledIds| {
            let mut sampler = Sampler::new(&rule, Normalization::default(), sampled);
            for (i, (hash, text)) in documents.iter().enumerate() {
                let fingerprint = shingler.shingle(text).fingerprint;
                sampler.add(*hash, text, (i % 2 == 0).then_some(fingerprint));
            }
            sampler.take()
        };
        let effect = FoldingEffect::of(drawn(&documents, &SampledIds::default()));
        let shared = SampledIds::default();
        let later = drawn(&documents[2_000..], &shared);
        let earlier = drawn(&documents[..2_000], &shared);
        assert!(earlier.len() < 1_000, "{}", earlier.len());
        let halves = [later, earlier].concat();
        assert_eq!(effect, FoldingEffect::of(halves));
        assert_eq!(effect.documents(), SAMPLE as u64);
        assert!(effect.changed() > 500);
    }
}
