//! A model of categories, which assigns single texts to categories.

use super::leaders::{CategoryLevel, Leaders, WordKeys, WordSigner};
use super::topics::Topics;
use super::vocabulary::{TopicVocabulary, WordPlace};
use super::words::word_set;

/// The number of a category, from 1, in the order of the tree. So the subcategories of a category
/// follow it. [`NO_CATEGORY`] represents none.
pub type CategoryNumber = u32;

/// The number for documents without a word of the vocabulary, which are not in any category.
pub const NO_CATEGORY: CategoryNumber = 0;

/// A category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// The parent category; `None` for a topic.
    pub parent: Option<CategoryNumber>,
    /// The last subcategory, or the category itself.
    pub last: CategoryNumber,
    /// The level, which determines how similar its documents are. Topics guarantee no similarity.
    pub level: CategoryLevel,
    /// Its position in the tree: `2.1` is the first category of topic 2. Siblings are ordered by
    /// their number of documents in the sample, the largest first.
    pub path: String,
    /// Its most characteristic words, at most five. Function words and words of parent categories
    /// are used only if the category has no other words.
    pub label: Vec<String>,
}

/// A tree of categories with the rule that assigns a text to one of them. The result does not
/// depend on other documents.
#[derive(Debug, Clone)]
pub struct CategoryModel {
    pub(super) vocabulary: TopicVocabulary,
    pub(super) topics: Topics,
    pub(super) categories: Vec<Category>,
    /// The words of the leader of each category; none for topics.
    pub(super) leader_words: Vec<Vec<u64>>,
    /// The category number of each topic.
    topic_numbers: Vec<CategoryNumber>,
    leaders: Leaders,
    /// The category number of each leader.
    leader_numbers: Vec<CategoryNumber>,
}

/// The part of a category that is built and stored. Parent, last subcategory and path are computed
/// from the order of all categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CategoryEntry {
    pub(super) level: CategoryLevel,
    pub(super) label: Vec<String>,
    pub(super) leader: Vec<u64>,
}

/// Buffers of [`CategoryModel::category`]. Each thread uses its own.
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
    /// Creates a model from categories in the order of the tree. The parent of a category is the
    /// last preceding category of the level above. `topics` has the vectors of the topics, in the
    /// same order.
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
        // At each depth, the current parent category and the number of its subcategories so far.
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
            for (ancestor, _) in &open[1..=depth] {
                model.categories[*ancestor as usize - 1].last = number;
            }
        }
        model
    }

    /// All categories. The number of the first is 1.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Returns a category; `None` for [`NO_CATEGORY`] and numbers after the last.
    pub fn get(&self, number: CategoryNumber) -> Option<&Category> {
        self.categories.get((number as usize).checked_sub(1)?)
    }

    /// Returns the number of the category with this path.
    pub fn find(&self, path: &str) -> Option<CategoryNumber> {
        self.categories.iter().position(|category| category.path == path).map(|at| at as u32 + 1)
    }

    /// Whether a category equals another one or is below it. [`NO_CATEGORY`] is only within itself.
    pub fn is_within(&self, category: CategoryNumber, ancestor: CategoryNumber) -> bool {
        let last = self.get(ancestor).map_or(ancestor, |ancestor| ancestor.last);
        (ancestor..=last).contains(&category)
    }

    /// Returns the lowest category in the tree that matches a text. Depends only on the first 64
    /// KiB of the text.
    pub fn category(&self, text: &str, buffers: &mut CategoryBuffers) -> CategoryNumber {
        let mut words = std::mem::take(&mut buffers.words);
        word_set(text, &mut words);
        let number = self.of_words(&words, None, buffers);
        buffers.words = words;
        number
    }

    /// Returns the category of a document with these words. `keys` are their bucket keys, if known.
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
        // Without leaders, only topics exist.
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
