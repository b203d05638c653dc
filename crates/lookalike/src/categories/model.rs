//! A model of categories: what decides, of a text alone, which category it is in.

use super::leaders::{CategoryLevel, Leaders, WordKeys, WordSigner};
use super::topics::Topics;
use super::vocabulary::{TopicVocabulary, WordPlace};
use super::words::word_set;

/// The number of a category: 1 for the first one, in the order of the tree, so that those below a
/// category follow it. [`NO_CATEGORY`] is none.
pub type CategoryNumber = u32;

/// The number of documents without a word of the vocabulary, which are in no category.
pub const NO_CATEGORY: CategoryNumber = 0;

/// A category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// The category that it is in; `None` for a topic.
    pub parent: Option<CategoryNumber>,
    /// The last category below it, or itself.
    pub last: CategoryNumber,
    /// How similar its documents are.
    pub level: CategoryLevel,
    /// Its place in the tree: `2.1` is the first category of topic 2. The largest come first, by
    /// the documents of the sample.
    pub path: String,
    /// Its most telling words, at most five, without function words and words of the categories
    /// above. If nothing else is left, it has such words.
    pub label: Vec<String>,
}

/// A tree of categories, and what decides which of them a text is in: always the same one,
/// whatever other documents there are.
#[derive(Debug, Clone)]
pub struct CategoryModel {
    pub(super) vocabulary: TopicVocabulary,
    pub(super) topics: Topics,
    pub(super) categories: Vec<Category>,
    /// The words of the leader of each category; none for topics.
    pub(super) leader_words: Vec<Vec<u64>>,
    /// The category of each topic.
    topic_numbers: Vec<CategoryNumber>,
    leaders: Leaders,
    /// The category of each leader.
    leader_numbers: Vec<CategoryNumber>,
}

/// A category as the model builder makes it and as it is stored: without what follows from the
/// others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CategoryEntry {
    pub(super) level: CategoryLevel,
    pub(super) label: Vec<String>,
    pub(super) leader: Vec<u64>,
}

/// Buffers of [`CategoryModel::category`]; one per thread.
#[derive(Debug)]
pub struct CategoryBuffers {
    pub(super) words: Vec<u64>,
    places: Vec<WordPlace>,
    scores: Vec<u64>,
    found: Vec<u32>,
    signer: WordSigner,
}

impl Default for CategoryBuffers {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            places: Vec::new(),
            scores: Vec::new(),
            found: Vec::new(),
            signer: WordSigner::new(),
        }
    }
}

impl CategoryModel {
    /// Of categories in the order of the tree: one of a level is in the last one of the level above
    /// it. The topics are those of `topics`, in their order.
    pub(super) fn new(
        vocabulary: TopicVocabulary,
        topics: Topics,
        entries: Vec<CategoryEntry>,
    ) -> Self {
        let mut model = Self {
            vocabulary,
            topics,
            categories: Vec::with_capacity(entries.len()),
            leader_words: Vec::with_capacity(entries.len()),
            topic_numbers: Vec::new(),
            leaders: Leaders::default(),
            leader_numbers: Vec::new(),
        };
        let mut signer = WordSigner::new();
        // The open category of each level, and how many are in it so far.
        let mut open: [(CategoryNumber, u32); 4] = [(NO_CATEGORY, 0); 4];
        for (number, entry) in (1..).zip(entries) {
            let depth = entry.level as usize;
            open[depth].1 += 1;
            open[depth + 1] = (number, 0);
            let parent = open[depth].0;
            if entry.level == CategoryLevel::Topic {
                model.topic_numbers.push(number);
            } else {
                let keys = signer.keys(&entry.leader);
                model.leaders.add(parent, entry.leader.clone(), &keys);
                model.leader_numbers.push(number);
            }
            let places = open[..=depth].iter().map(|(_, place)| place.to_string());
            model.categories.push(Category {
                parent: (parent != NO_CATEGORY).then_some(parent),
                last: number,
                level: entry.level,
                path: places.collect::<Vec<_>>().join("."),
                label: entry.label,
            });
            model.leader_words.push(entry.leader);
            for (above, _) in &open[1..=depth] {
                model.categories[*above as usize - 1].last = number;
            }
        }
        model
    }

    /// All categories; the number of the first is 1.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// A category; `None` for [`NO_CATEGORY`] and beyond the last.
    pub fn get(&self, number: CategoryNumber) -> Option<&Category> {
        self.categories.get((number as usize).checked_sub(1)?)
    }

    /// The number of the category with this path.
    pub fn find(&self, path: &str) -> Option<CategoryNumber> {
        self.categories.iter().position(|one| one.path == path).map(|at| at as u32 + 1)
    }

    /// Whether a category is another one or below it. [`NO_CATEGORY`] is within itself only.
    pub fn is_within(&self, category: CategoryNumber, above: CategoryNumber) -> bool {
        let last = self.get(above).map_or(above, |above| above.last);
        (above..=last).contains(&category)
    }

    /// The category of a text, as far down the tree as one takes it. It depends on the first 64 KiB
    /// of the text and on nothing else.
    pub fn category(&self, text: &str, buffers: &mut CategoryBuffers) -> CategoryNumber {
        let mut words = std::mem::take(&mut buffers.words);
        word_set(text, &mut words);
        let number = self.of_words(&words, None, buffers);
        buffers.words = words;
        number
    }

    /// The category of a document with these words; `keys` are their bucket keys, where they are
    /// known.
    pub(super) fn of_words(
        &self,
        words: &[u64],
        keys: Option<&WordKeys>,
        buffers: &mut CategoryBuffers,
    ) -> CategoryNumber {
        let CategoryBuffers { places, scores, found, signer, .. } = buffers;
        self.vocabulary.places(words, places);
        let topic = self.topics.of(&self.vocabulary.unit_vector(places), scores);
        let Some(mut number) = topic.and_then(|topic| self.topic_numbers.get(topic).copied())
        else {
            return NO_CATEGORY;
        };
        // No leader: no category below a topic.
        if self.leader_numbers.is_empty() {
            return number;
        }
        let keys = keys.copied().unwrap_or_else(|| signer.keys(words));
        for level in [CategoryLevel::Related, CategoryLevel::Alike] {
            match self.leaders.closest(number, level, (words, &keys), found) {
                Some(leader) => number = self.leader_numbers[leader],
                None => break,
            }
        }
        number
    }
}
