//! Encodes and decodes models, as specified in `docs/reference/categories.md`.

use super::build::{MAX_SAMPLE, MAX_TOPICS};
use super::labels::{MAX_LABEL_WORDS, MAX_WORD_BYTES};
use super::leaders::CategoryLevel;
use super::model::{CategoryEntry, CategoryModel};
use super::topics::Topics;
use super::vocabulary::{MAX_WORDS, TopicVocabulary};
use std::fmt;

/// The first bytes of a model.
const MAGIC: [u8; 8] = *b"LkAlCat\0";
/// The version of models. It covers the format, and the rule by which words are cut and compared.
const VERSION: u32 = 1;

/// Bytes that are not a model of categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CategoryModelError {
    /// The model has another version.
    Version {
        /// Its version.
        got: u32,
        /// The version that this build reads.
        expected: u32,
    },
    /// The bytes are not a model.
    Damaged {
        /// The defect.
        why: &'static str,
    },
}

impl fmt::Display for CategoryModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { got, expected } => write!(
                f,
                "the categories of the index are of version {got}, this program has version \
                 {expected}: make them again with it"
            ),
            Self::Damaged { why } => {
                write!(f, "the categories of the index are damaged ({why}): make them again")
            }
        }
    }
}

impl std::error::Error for CategoryModelError {}

impl CategoryModel {
    /// Encodes the model.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let mut number = |value: usize| bytes.extend_from_slice(&(value as u32).to_le_bytes());
        number(VERSION as usize);
        number(self.vocabulary.hashes.len());
        number(self.topics.count);
        number(self.categories.len());
        bytes.extend(self.vocabulary.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        bytes.extend(self.vocabulary.weights.iter().flat_map(|weight| weight.to_le_bytes()));
        bytes.extend(self.topics.vectors.iter().flat_map(|value| value.to_le_bytes()));
        for (category, leader) in self.categories.iter().zip(&self.leader_words) {
            bytes.push(category.level.tenths() as u8);
            bytes.push(category.label.len() as u8);
            for word in &category.label {
                bytes.push(word.len() as u8);
                bytes.extend_from_slice(word.as_bytes());
            }
            bytes.extend_from_slice(&(leader.len() as u32).to_le_bytes());
            bytes.extend(leader.iter().flat_map(|hash| hash.to_le_bytes()));
        }
        bytes
    }

    /// Decodes a model.
    ///
    /// # Errors
    /// [`CategoryModelError`] for bytes that are not an output of [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, CategoryModelError> {
        let mut rest = ModelBytes(bytes);
        if rest.take(MAGIC.len())? != MAGIC {
            return Err(damaged("its first bytes are others"));
        }
        let got = rest.number()?;
        if got != VERSION {
            return Err(CategoryModelError::Version { got, expected: VERSION });
        }
        let [words, count, categories] = [rest.length()?, rest.length()?, rest.length()?];
        // A category below a topic has at least three documents of the sample, so a model has fewer
        // categories than `MAX_SAMPLE`.
        if words > MAX_WORDS || count > MAX_TOPICS || categories > MAX_SAMPLE {
            return Err(damaged("it has too many words, topics or categories"));
        }
        let vocabulary =
            TopicVocabulary { hashes: rest.hashes(words)?, weights: rest.small(words)? };
        let topics = Topics { count, vectors: rest.small(words * count)? };
        let mut entries = Vec::new();
        for _ in 0..categories {
            entries.push(rest.category()?);
        }
        if !rest.0.is_empty() {
            return Err(damaged("it is too long"));
        }
        check_tree(&entries, count)?;
        Ok(Self::new(vocabulary, topics, entries))
    }
}

/// Checks that the number of categories on the first level equals the number of topics, and that no
/// category skips a level.
fn check_tree(entries: &[CategoryEntry], topics: usize) -> Result<(), CategoryModelError> {
    let is_topic = |entry: &&CategoryEntry| entry.level == CategoryLevel::Topic;
    if entries.iter().filter(is_topic).count() != topics {
        return Err(damaged("its topics differ from its categories"));
    }
    let mut depth = 0;
    for entry in entries {
        if entry.level as usize > depth || entry.leader.is_empty() != is_topic(&entry) {
            return Err(damaged("its tree is invalid"));
        }
        depth = entry.level as usize + 1;
    }
    Ok(())
}

fn damaged(why: &'static str) -> CategoryModelError {
    CategoryModelError::Damaged { why }
}

/// The unread bytes of a model.
struct ModelBytes<'a>(&'a [u8]);

impl<'a> ModelBytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], CategoryModelError> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(damaged("it is too short"))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, CategoryModelError> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Result<u32, CategoryModelError> {
        let (numbers, _) = self.take(4)?.as_chunks::<4>();
        Ok(u32::from_le_bytes(numbers[0]))
    }

    fn length(&mut self) -> Result<usize, CategoryModelError> {
        Ok(self.number()? as usize)
    }

    /// Reads hashes, which must ascend.
    fn hashes(&mut self, count: usize) -> Result<Vec<u64>, CategoryModelError> {
        let bytes = self.take(count.checked_mul(8).ok_or(damaged("it is too short"))?)?;
        let (hashes, _) = bytes.as_chunks::<8>();
        let hashes: Vec<u64> = hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
        if !hashes.is_sorted_by(|a, b| a < b) {
            return Err(damaged("its words are in no order"));
        }
        Ok(hashes)
    }

    fn small(&mut self, count: usize) -> Result<Vec<u16>, CategoryModelError> {
        let (values, _) = self.take(2 * count)?.as_chunks::<2>();
        Ok(values.iter().map(|value| u16::from_le_bytes(*value)).collect())
    }

    fn category(&mut self) -> Result<CategoryEntry, CategoryModelError> {
        let level = match self.byte()? {
            2 => CategoryLevel::Topic,
            5 => CategoryLevel::Related,
            8 => CategoryLevel::Alike,
            _ => return Err(damaged("it has an unknown level")),
        };
        let words = usize::from(self.byte()?);
        if words > MAX_LABEL_WORDS {
            return Err(damaged("it has a label of too many words"));
        }
        let label = (0..words).map(|_| self.word()).collect::<Result<_, _>>()?;
        let length = self.length()?;
        Ok(CategoryEntry { level, label, leader: self.hashes(length)? })
    }

    fn word(&mut self) -> Result<String, CategoryModelError> {
        let length = usize::from(self.byte()?);
        let word = str::from_utf8(self.take(length)?).ok().filter(|_| length <= MAX_WORD_BYTES);
        word.map(str::to_owned).ok_or(damaged("a word of a label is invalid"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::categories::tests::sample;

    #[test]
    fn encoded_models_round_trip() {
        let model = sample().model(2);
        let bytes = model.encode();
        let decoded = CategoryModel::decode(&bytes).unwrap();
        assert_eq!(decoded.categories(), model.categories());
        assert_eq!(decoded.encode(), bytes);
    }

    #[test]
    fn damaged_model_bytes_never_panic() {
        let bytes = sample().model(2).encode();
        for end in 0..bytes.len() {
            assert!(CategoryModel::decode(&bytes[..end]).is_err(), "{end}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(CategoryModel::decode(&longer).unwrap_err(), damaged("it is too long"));
        for place in 0..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 0xff;
            let _ = CategoryModel::decode(&other);
        }
        let mut other = bytes;
        other[8] = 2;
        let error = CategoryModel::decode(&other).unwrap_err();
        assert_eq!(error, CategoryModelError::Version { got: 2, expected: 1 });
    }
}
