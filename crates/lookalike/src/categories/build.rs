//! Builds a model of categories from a sample of documents.

use super::function_words::LanguageSample;
use super::labels::{LabelWords, WordCounts, is_name};
use super::leaders::{self, CategoryLevel, Leaders, WordKeys, WordSigner};
use super::model::{CategoryBuffers, CategoryEntry, CategoryModel, CategoryNumber};
use super::topics::Topics;
use super::vocabulary::TopicVocabulary;
use super::words::each_word;
use std::cmp::Reverse;
use std::collections::HashMap;

/// The most documents in the sample of a model.
pub const MAX_SAMPLE: usize = 20_000;
/// The most topics.
pub const MAX_TOPICS: usize = 1000;
/// A category below a topic has at least this number of documents of the sample.
const LEAST_MEMBERS: u32 = 3;

/// The documents from which a model is built.
#[derive(Debug, Default)]
pub struct CategorySample {
    /// The rank of each document, and the hashes of its distinct words, ascending.
    documents: Vec<(u64, Vec<u64>)>,
    /// Words that can be in a label.
    names: HashMap<u64, Box<str>>,
    languages: LanguageSample,
}

impl CategorySample {
    /// Adds a document. Documents with smaller ranks become leaders first. The model does not
    /// depend on the order of calls. Costs 8 bytes for each distinct word of the document, and the
    /// bytes of each new word.
    pub fn add(&mut self, rank: u64, text: &str) {
        self.languages.add(rank, text);
        let mut words = Vec::new();
        each_word(text, |hash, word| {
            words.push(hash);
            if !self.names.contains_key(&hash) && is_name(word) {
                self.names.insert(hash, word.into());
            }
        });
        words.sort_unstable();
        words.dedup();
        self.documents.push((rank, words));
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns true if the sample has no document.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The default number of topics: an eighth of the square root of the number of documents, but
    /// at least 2.
    pub fn default_topics(&self) -> usize {
        (self.documents.len().isqrt() / 8).max(2)
    }

    /// Builds the model of the documents, with at most `topics` topics. Leaves out empty topics.
    /// Takes about 100 operations per topic and word of a document.
    pub fn model(mut self, topics: usize) -> CategoryModel {
        self.documents.sort();
        let documents: Vec<Vec<u64>> = self.documents.into_iter().map(|(_, words)| words).collect();
        let all = WordCounts::of(documents.iter().map(Vec::as_slice));
        let counts = all.words.iter().map(|(hash, count)| (*hash, *count));
        let vocabulary = TopicVocabulary::new(documents.len(), counts);
        let mut signer = WordSigner::new();
        let keys: Vec<WordKeys> = documents.iter().map(|words| signer.keys(words)).collect();
        let tree = CategoryDraft::new(&documents, &keys, &vocabulary, topics);
        let mut model = tree.model(vocabulary);
        let function_words = self.languages.function_words();
        let words = LabelWords { all: &all, names: &self.names, function_words: &function_words };
        let labels = SampleLabels { documents: &documents, keys: &keys, words };
        labels.write(&mut model);
        model
    }
}

/// The input of the labels of a model.
struct SampleLabels<'a> {
    documents: &'a [Vec<u64>],
    keys: &'a [WordKeys],
    words: LabelWords<'a>,
}

impl SampleLabels<'_> {
    /// Labels the categories of a model, parents first.
    fn write(&self, model: &mut CategoryModel) {
        let mut buffers = CategoryBuffers::default();
        let numbers = self.documents.iter().zip(self.keys);
        let mut members: Vec<(CategoryNumber, usize)> = numbers
            .enumerate()
            .map(|(place, (words, keys))| (model.of_words(words, Some(keys), &mut buffers), place))
            .collect();
        members.sort_unstable();
        for number in 1..=model.categories.len() as CategoryNumber {
            let last = model.categories[number as usize - 1].last;
            let from = members.partition_point(|(other, _)| *other < number);
            let to = members.partition_point(|(other, _)| *other <= last);
            let own = members[from..to].iter().map(|(_, place)| self.documents[*place].as_slice());
            let mut parent_labels = Vec::new();
            let mut parent = model.categories[number as usize - 1].parent;
            while let Some(category) = parent.and_then(|parent| model.get(parent)) {
                parent_labels.extend_from_slice(&category.label);
                parent = category.parent;
            }
            let label = self.words.label(&WordCounts::of(own), &parent_labels);
            model.categories[number as usize - 1].label = label;
        }
    }
}

/// The categories of a sample, level by level, unsorted.
struct CategoryDraft {
    topics: Topics,
    /// The topics, then the categories of level 0.5, then of level 0.8.
    nodes: Vec<DraftNode>,
}

struct DraftNode {
    level: CategoryLevel,
    parent: Option<u32>,
    leader: Vec<u64>,
    /// The number of documents of the sample in this category.
    members: u32,
}

impl CategoryDraft {
    fn new(
        documents: &[Vec<u64>],
        keys: &[WordKeys],
        vocabulary: &TopicVocabulary,
        topics: usize,
    ) -> Self {
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); documents.len()];
        for (words, places) in documents.iter().zip(&mut places) {
            vocabulary.places(words, places);
        }
        let topics = Topics::new(vocabulary, &places, topics.min(MAX_TOPICS));
        let mut scores = Vec::new();
        let topic = |places: &Vec<u32>| {
            topics.of(&vocabulary.unit_vector(places), &mut scores).map(|topic| topic as u32)
        };
        let mut assigned: Vec<Option<u32>> = places.iter().map(topic).collect();
        let node = |_| DraftNode {
            level: CategoryLevel::Topic,
            parent: None,
            leader: Vec::new(),
            members: 0,
        };
        let mut nodes: Vec<DraftNode> = (0..topics.count).map(node).collect();
        count(&mut nodes, &assigned);
        for level in [CategoryLevel::Related, CategoryLevel::Alike] {
            divide(&mut nodes, &mut assigned, (documents, keys), level);
        }
        Self { topics, nodes }
    }

    /// Returns the model: sorts siblings by their numbers of documents, and leaves out empty
    /// topics.
    fn model(self, vocabulary: TopicVocabulary) -> CategoryModel {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len() + 1];
        let root = self.nodes.len();
        for (place, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.members > 0) {
            children[node.parent.map_or(root, |parent| parent as usize)].push(place);
        }
        for siblings in &mut children {
            siblings.sort_by_key(|place| (Reverse(self.nodes[*place].members), *place));
        }
        let topics = self.topics.select(&children[root]);
        let mut entries = Vec::with_capacity(self.nodes.len());
        let mut open: Vec<usize> = children[root].iter().rev().copied().collect();
        while let Some(place) = open.pop() {
            let DraftNode { level, leader, .. } = &self.nodes[place];
            let level = *level;
            let leader = leader.clone();
            entries.push(CategoryEntry { level, label: Vec::new(), leader });
            open.extend(children[place].iter().rev());
        }
        CategoryModel::new(vocabulary, topics, entries)
    }
}

/// Adds the documents to the counts of their nodes.
fn count(nodes: &mut [DraftNode], assigned: &[Option<u32>]) {
    for node in assigned.iter().flatten() {
        nodes[*node as usize].members += 1;
    }
}

/// Divides the current categories of documents by the leaders of a level, and assigns documents to
/// the new categories. Documents without a leader are assigned to `None`.
fn divide(
    nodes: &mut Vec<DraftNode>,
    assigned: &mut [Option<u32>],
    (documents, keys): (&[Vec<u64>], &[WordKeys]),
    level: CategoryLevel,
) {
    let first = nodes.len() as u32;
    let words = documents.iter().map(Vec::as_slice).zip(keys);
    let within = assigned.iter().zip(words.clone());
    let within = within.filter_map(|(parent, (words, keys))| Some(((*parent)?, words, keys)));
    let selected = leaders::select(within, level, LEAST_MEMBERS);
    let mut signer = WordSigner::new();
    let mut leaders = Leaders::default();
    for (parent, leader) in selected {
        let leader_keys = signer.keys(&leader);
        leaders.add(parent, leader.clone(), &leader_keys);
        nodes.push(DraftNode { level, parent: Some(parent), leader, members: 0 });
    }
    let mut found = Vec::new();
    for (node, (words, keys)) in assigned.iter_mut().zip(words) {
        let closest =
            node.and_then(|parent| leaders.closest(parent, level, (words, keys), &mut found));
        *node = closest.map(|leader| first + leader as u32);
    }
    count(nodes, assigned);
}
